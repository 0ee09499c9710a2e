"""How many of the relations that `mention` takes from manuals are true: `python -m benchmarks.relation_sample FOLDER --seed 1 --out FILE`.

FOLDER has one folder a manual. All of them are read into one corpus, as `kgrag build FOLDER` reads it, and as many relations of each manual
are drawn at random (`--relations` in all; where a manual has too few, the others give more). A relation is what a store would have: head,
type and tail, whatever says it; one of its sentences is drawn with it. FILE gets a line for each, tab-separated, with an empty column
`right` for a person to fill in: `y` where the sentence, read in its section, says what the relation says, else `n`. One whose head or
tail is no thing but a fragment is `n`.

`--leave-out DOCUMENTED_IN` draws only what sentences say. `--score FILE` counts what was filled in. `--counts` prints what was extracted:
entities and relations by type.
"""

from __future__ import annotations

import argparse
import csv
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.tables import print_table
from kgrag.documents import discover, read
from kgrag.errors import DocumentError
from kgrag.extract.mention import MentionExtractor
from kgrag.models.minilm import MiniLM
from kgrag.types import Chunk, Document, Extraction

COLUMNS = ("right", "manual", "head", "head type", "relation", "tail", "tail type", "sentence", "section")
SHOWN_CHARACTERS = 400


def read_manuals(folder: Path) -> tuple[list[Document], list[Chunk]]:
    """Return all documents and chunks of a folder of manuals; a file that cannot be read is named and left out."""
    embedder = MiniLM()
    documents: list[Document] = []
    chunks: list[Chunk] = []
    for source in discover([folder]).sources:
        try:
            for converted in read(source, count_tokens=embedder.count_tokens, max_tokens=embedder.max_tokens):
                documents.append(converted.document)
                chunks.extend(converted.chunks)
        except DocumentError as error:
            print(error, file=sys.stderr)
    return documents, chunks


def extract(documents: Sequence[Document], chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, Extraction]]:
    """Yield each chunk with what `mention` takes from it, having learned the names of all."""
    extractor = MentionExtractor()
    extractor.prepare(documents, chunks)
    for chunk in chunks:
        yield chunk, extractor.read(chunk)


def draw(
    folder: Path,
    documents: Sequence[Document],
    chunks: Sequence[Chunk],
    *,
    relations: int,
    seed: int,
    leave_out: Sequence[str] = (),
) -> list[dict[str, str]]:
    """Draw as many relations of each manual, each once, with one of the sentences that say it."""
    manual_of = {document.id: _manual(folder, document) for document in documents}
    found: dict[str, dict[tuple[str, ...], list[dict[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for chunk, extraction in extract(documents, chunks):
        manual = manual_of[chunk.document_id]
        for relation in extraction.relations:
            if relation.type in leave_out:
                continue
            head, tail = relation.head, relation.tail
            row = (head.name, head.type, relation.type, tail.name, tail.type)
            said = (relation.description[:SHOWN_CHARACTERS], f"{chunk.title} > {chunk.section}"[:SHOWN_CHARACTERS])
            key = (head.type, head.normal, relation.type, tail.type, tail.normal)
            found[manual][key].append(dict(zip(COLUMNS, ("", manual, *row, *said), strict=True)))
    chance = random.Random(seed)
    drawn = []
    left = relations
    # Those with few relations first: what they lack is drawn from the others.
    for nth, manual in enumerate(sorted(found, key=lambda manual: (len(found[manual]), manual))):
        keys = sorted(found[manual])
        for one in chance.sample(keys, min(len(keys), left // (len(found) - nth))):
            drawn.append(chance.choice(found[manual][one]))
        left = relations - len(drawn)
    return drawn


def _manual(folder: Path, document: Document) -> str:
    path = Path(document.path)
    parts = path.relative_to(folder.as_posix()).parts if path.is_relative_to(folder.as_posix()) else path.parts
    return parts[0]


def score(file: Path) -> None:
    """Print the share of relations that were judged right, by manual and by relation."""
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    judged = [row for row in rows if row["right"] in ("y", "n")]
    if len(judged) < len(rows):
        print(f"{len(rows) - len(judged)} of {len(rows)} rows are not judged", file=sys.stderr)
    for by in ("manual", "relation"):
        groups = defaultdict(list)
        for row in judged:
            groups[row[by]].append(row["right"] == "y")
        table = [[name, str(len(right)), f"{sum(right) / len(right):.2f}"] for name, right in sorted(groups.items())]
        if by == "manual":
            right = [row["right"] == "y" for row in judged]
            table.append(["all", str(len(right)), f"{sum(right) / max(1, len(right)):.3f}"])
        print_table(f"Relations that are right, by {by}", [by, "judged", "right"], table, [])


def counts(documents: Sequence[Document], chunks: Sequence[Chunk]) -> None:
    """Print how many entities and relations there are of each type."""
    entities: dict[str, set[str]] = defaultdict(set)
    relations: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for _, extraction in extract(documents, chunks):
        for entity in extraction.entities:
            entities[entity.type].add(entity.normal)
        for relation in extraction.relations:
            relations[relation.type].add((relation.head.normal, relation.tail.normal))
    for name, groups in (("Entities", entities), ("Relations", relations)):
        sizes = Counter({kind: len(members) for kind, members in groups.items()})
        table = [[kind, f"{size:,}"] for kind, size in sizes.most_common()]
        print_table(
            f"{name} of {len(chunks):,} chunks", ["type", "number"], [*table, ["all", f"{sizes.total():,}"]], []
        )


def main() -> None:
    """Draw, count or score."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("folder", nargs="?", type=Path, help="a folder that has a folder for each manual")
    parser.add_argument("--relations", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--leave-out", nargs="*", default=[], metavar="TYPE", help="relations that are not drawn")
    parser.add_argument("--out", type=Path, help="file for the drawn relations")
    parser.add_argument("--counts", action="store_true", help="print what was extracted")
    parser.add_argument("--score", type=Path, metavar="FILE", help="count what was judged")
    arguments = parser.parse_args()
    if arguments.score:
        score(arguments.score)
        return
    if arguments.folder is None:
        parser.error("give a folder of manuals, or --score FILE")
    documents, chunks = read_manuals(arguments.folder)
    if arguments.counts:
        counts(documents, chunks)
    if arguments.out:
        drawn = draw(
            arguments.folder,
            documents,
            chunks,
            relations=arguments.relations,
            seed=arguments.seed,
            leave_out=arguments.leave_out,
        )
        with arguments.out.open("w", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, COLUMNS, delimiter="\t", lineterminator="\n")
            writer.writeheader()
            writer.writerows(drawn)
        print(f"{len(drawn)} relations drawn into {arguments.out}")


if __name__ == "__main__":
    main()
