"""How many planted errors the check of generated answers finds, and how many true sentences it flags.

    python -m benchmarks.planted_answers [--data ../shared/data] [--show missed|flagged]

True answers are the gold answers of `examples/questions.jsonl` and of the Arduino questions whose evidence is known, each citing the chunks
that state it. Into them are planted, 20 of each kind and corpus: a wrong number, a wrong unit, a swapped product or part, a negation, and a
sentence that another passage states. No model is asked: planted answers are checked as a model's are. The thresholds of meaning are chosen
on one corpus (the highest that flag at most 2 % of its true sentences) and reported on the other, both ways.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import kgrag
from benchmarks import DATA
from benchmarks.json_lines import read_rows
from benchmarks.tables import print_table
from kgrag.answer.grounding import Claim, Thresholds, check_claims, claims_of, names_of_claim
from kgrag.models.base import Embedder, Vectors
from kgrag.models.minilm import MiniLM
from kgrag.text.name_shapes import part_numbers
from kgrag.text.quantities import quantities
from kgrag.types import Chunk, Document, Evidence

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PLANTS_OF_A_KIND = 20
MOST_TRUE_FLAGGED = 0.02
SEED = 12
OTHER_UNITS = {
    "mA": "A", "A": "mA", "µA": "mA", "V": "mV", "mV": "V", "kB": "MB", "MB": "GB", "GB": "MB", "KB": "MB", "MHz": "GHz", "GHz": "MHz",
    "kHz": "MHz", "Hz": "kHz", "°C": "K", "s": "ms", "ms": "s", "min": "s", "h": "min", "day": "h", "g": "kg", "kg": "g", "mm": "cm",
    "cm": "mm", "m": "km", "km": "m", "hPa": "kPa", "Pa": "kPa", "%": "ppm", "%RH": "%", "bit": "byte", "kΩ": "Ω", "Ω": "kΩ", "W": "mW",
    "mW": "W", "mAh": "Ah", "minutes": "seconds", "dBm": "dB", "nm": "mm", "µs": "ms",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Given:
    """An answer with the passages that it cites, all of them after each of its sentences."""

    question: str
    sentences: tuple[str, ...]
    evidence: tuple[Evidence, ...]

    def text(self) -> str:
        """Write the answer with its citations."""
        marks = "".join(f"[{number}]" for number in range(1, len(self.evidence) + 1))
        return " ".join(f"{sentence.rstrip('.')} {marks}." for sentence in self.sentences)


class Remembering:
    """An embedder that embeds a text once: planted answers differ from the true ones in one sentence."""

    def __init__(self, embedder: MiniLM) -> None:
        self._embedder, self._known = embedder, dict[str, Vectors]()
        self.name, self.dimensions, self.max_tokens = embedder.name, embedder.dimensions, embedder.max_tokens
        self.count_tokens, self.embed_queries = embedder.count_tokens, embedder.embed_queries

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed what is new."""
        new = list(dict.fromkeys(text for text in texts if text not in self._known))
        if new:
            self._known.update(zip(new, await self._embedder.embed_documents(new), strict=True))
        return np.stack([self._known[text] for text in texts])


Plant = Callable[[Given, random.Random, "Corpus"], Given | None]


@dataclass(frozen=True, slots=True)
class Corpus:
    """The true answers of one set, and the names that its documents have."""

    name: str
    answers: tuple[Given, ...]
    names: tuple[str, ...]


def main() -> None:
    """Plant, check, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument(
        "--show",
        choices=("missed", "flagged"),
        help="print the plants that are missed or the true sentences that are flagged",
    )
    arguments = parser.parse_args()
    asyncio.run(measure(arguments.data, arguments.show))


async def measure(data: Path, show: str | None) -> None:
    """Check every true and every planted answer of both corpora."""
    embedder = Remembering(MiniLM())
    corpora = [examples_corpus(), arduino_corpus(data / "arduino")]
    true = {c.name: [await check(given, embedder) for given in c.answers] for c in corpora}
    planted = {
        c.name: {
            kind: [(given, place, await check(given, embedder)) for given, place in plants(c, plant)]
            for kind, plant in KINDS.items()
        }
        for c in corpora
    }
    rows = []
    for one, other in (corpora, corpora[::-1]):
        limits = calibrate(true[one.name], planted[one.name])
        claims = [claim for answer in true[other.name] for claim in answer]
        flagged = [claim for claim in claims if fails(claim, limits)]
        row = [other.name, one.name, f"{limits.support:.2f}", f"{limits.opposite:.2f}", f"{len(flagged)}/{len(claims)}"]
        for kind in KINDS:
            made = planted[other.name][kind]
            caught = [fails(answer[place], limits) for _, place, answer in made if place < len(answer)]
            row.append(f"{sum(caught)}/{len(made)}")
            if show == "missed":
                for given, place, answer in made:
                    if place >= len(answer) or not fails(answer[place], limits):
                        print(
                            f"missed {kind} ({answer[place].similarity:.2f} {answer[place].opposes}): {given.sentences[place]}"
                        )
        if show == "flagged":
            for claim in flagged:
                print(
                    f"flagged ({claim.similarity:.2f} {claim.coverage:.2f} {claim.fails_by(limits)}): {claim.text}: {claim.problems}"
                )
        rows.append(row)
    print_table(
        "Planted errors found, and true sentences flagged",
        ["answers of", "thresholds from", "support", "opposite", "true flagged", *KINDS],
        rows,
        [f"Shipped: {Thresholds()}"],
    )


async def check(given: Given, embedder: Embedder) -> list[Claim]:
    """Check an answer with thresholds that fail nothing, so that any can be applied to the figures."""
    return await check_claims(
        given.text(),
        given.evidence,
        question=given.question,
        embedder=embedder,
        thresholds=Thresholds(support=-1.0, opposite=2.0),
    )


def fails(claim: Claim, limits: Thresholds) -> bool:
    """Whether a checked claim fails with these thresholds."""
    return bool(claim.problems or claim.fails_by(limits))


def calibrate(true: Sequence[Sequence[Claim]], planted: dict[str, list[tuple[Given, int, list[Claim]]]]) -> Thresholds:
    """Choose the thresholds that find most negations and foreign sentences, at most 2 % of the true ones flagged."""
    claims = [claim for answer in true for claim in answer]
    wrong = [
        answer[place]
        for kind in ("negation", "other's fact")
        for _, place, answer in planted[kind]
        if place < len(answer)
    ]
    tried = [
        Thresholds(support=support / 50, opposite=opposite / 50)
        for support in range(20, 70)
        for opposite in range(15, 51)
    ]
    allowed = [
        t for t in tried if sum(bool(c.fails_by(t)) for c in claims) <= MOST_TRUE_FLAGGED * len(claims)
    ] or tried[:1]
    return max(allowed, key=lambda t: sum(fails(c, t) for c in wrong))


def examples_corpus() -> Corpus:
    """Build the sample documents and read their questions."""
    rows = read_rows(EXAMPLES / "questions.jsonl")
    with tempfile.TemporaryDirectory() as folder, kgrag.open(Path(folder) / "store.kg") as graph:
        graph.build(EXAMPLES / "documents")
        documents = {document.id: document for document in graph.store.documents.all()}
        chunks = list(graph.store.documents.chunks())
    answers = []
    for row in rows:
        if row["answerable"]:
            gold = [
                (c, documents[c.document_id])
                for c in chunks
                if any(_is_at(c, documents[c.document_id], g) for g in row["evidence"])
            ]
            answers.append(_given(row["question"], row["gold_answer"], [_evidence(c, d) for c, d in gold]))
    names = sorted({part for chunk in chunks for part in part_numbers(f"{chunk.title} {chunk.text}")})
    return Corpus("examples", tuple(a for a in answers if a.evidence), tuple(names))


def _is_at(chunk: Chunk, document: Document, place: str) -> bool:
    path, _, anchor = place.partition("#")
    if not document.path.endswith(path):
        return False
    if not anchor:
        return True
    if anchor.startswith("page="):
        page = int(anchor.removeprefix("page="))
        return chunk.page_start is not None and chunk.page_start <= page <= (chunk.page_end or chunk.page_start)
    return anchor in chunk.anchors or not chunk.anchors


def _evidence(chunk: Chunk, document: Document) -> Evidence:
    return Evidence(
        chunk_id=chunk.id,
        source_id=chunk.source_id,
        document=document.path or document.title,
        title=document.title,
        section=chunk.section,
        text=chunk.text,
        tokens=chunk.tokens,
        score=1.0,
    )


def arduino_corpus(folder: Path) -> Corpus:
    """Read the Arduino questions whose evidence is known and complete."""
    chunks = {}
    for file in sorted((folder / "chunks").glob("*.jsonl")):
        for row in read_rows(file):
            chunks[f"{row['product']}|{row['chunk_id']}"] = row
    asked = {row["id"]: row for row in read_rows(folder / "questions.jsonl")}
    answers = []
    for row in read_rows(folder / "evidence.jsonl"):
        if row["answerable"] != "full" or row["wrong_gold"]:
            continue
        gold = list(dict.fromkeys(chunk for fact in row["facts"] for chunk in fact["evidence"]))
        pieces = [
            Evidence(
                chunk_id=g,
                source_id=g,
                document=chunks[g]["product"],
                title=chunks[g]["product"],
                text=chunks[g]["text"],
                tokens=0,
                score=1.0,
            )
            for g in gold
        ]
        answers.append(_given(asked[row["id"]]["question"], asked[row["id"]]["gold_answer"], pieces))
    products = {row["product"] for row in chunks.values()}
    parts = {part for row in chunks.values() for part in part_numbers(row["text"])}
    return Corpus("arduino", tuple(a for a in answers if a.evidence), tuple(sorted(products | parts)))


def _given(question: str, answer: str, evidence: Sequence[Evidence]) -> Given:
    return Given(question, tuple(claim.text for claim in claims_of(answer)), tuple(evidence))


def plants(corpus: Corpus, plant: Plant) -> Iterator[tuple[Given, int]]:
    """Plant one kind of error: yields answers with the place of the wrong sentence."""
    chance = random.Random(SEED)
    order = list(corpus.answers)
    made: set[str] = set()
    for _ in range(20):
        chance.shuffle(order)
        for given in order:
            place = chance.randrange(len(given.sentences))
            wrong = plant(replace(given, sentences=(given.sentences[place],)), chance, corpus)
            if wrong is None or wrong.sentences[0] in made or wrong.sentences[0] == given.sentences[place]:
                continue
            made.add(wrong.sentences[0])
            yield (
                replace(given, sentences=(*given.sentences[:place], *wrong.sentences, *given.sentences[place + 1 :])),
                place,
            )
            if len(made) == PLANTS_OF_A_KIND:
                return


def _replaced(given: Given, start: int, end: int, text: str) -> Given:
    (sentence,) = given.sentences
    return replace(given, sentences=(sentence[:start] + text + sentence[end:],))


def wrong_number(given: Given, chance: random.Random, _: Corpus) -> Given | None:
    """Change one digit of a number."""
    (sentence,) = given.sentences
    found = list(re.finditer(r"(?<![\w.-])\d+(?:[.,]\d+)*(?![\w-])", sentence))
    if not found:
        return None
    match = chance.choice(found)
    places = [i for i, c in enumerate(match.group()) if c.isdigit()]
    place = chance.choice(places)
    digit = chance.choice([d for d in "123456789" if d != match.group()[place]])
    return _replaced(given, match.start() + place, match.start() + place + 1, digit)


def wrong_unit(given: Given, chance: random.Random, _: Corpus) -> Given | None:
    """Put another unit of the same or of another dimension in a unit's place."""
    (sentence,) = given.sentences
    found = [q for q in quantities(sentence) if q.unit in OTHER_UNITS]
    if not found:
        return None
    quantity = chance.choice(found)
    written = re.search(r"[^\d\s.,]+(?:\s\w+)?$", quantity.text)
    if written is None:
        return None
    start = quantity.start + written.start()
    return _replaced(
        given, start, quantity.end, ("-" if written.group().startswith("-") else "") + OTHER_UNITS[quantity.unit]
    )


def swapped_name(given: Given, chance: random.Random, corpus: Corpus) -> Given | None:
    """Put another product or part of the documents in a name's place."""
    (sentence,) = given.sentences
    found = [name for name in names_of_claim(sentence) if any(c.isdigit() for c in name) or name in corpus.names]
    if not found:
        return None
    name = chance.choice(found)
    family = re.sub(r"\d+", "#", name)
    # A part of a name is no other name: `X-100` for `X-100 Rev 3` would still be true.
    others = [n for n in corpus.names if n not in name and name not in n]
    others = (
        [n for n in others if re.sub(r"\d+", "#", n) == family]
        or [n for n in others if n.split()[0] == name.split()[0]]
        or others
    )
    start = sentence.index(name)
    return _replaced(given, start, start + len(name), chance.choice(others))


def negated(given: Given, _: random.Random, __: Corpus) -> Given | None:
    """Put a `not` behind the verb, or take one out."""
    (sentence,) = given.sentences
    if match := re.search(r"\b(?:does not|do not|is not|are not|cannot|not) ", sentence):
        word = {"is not": "is ", "are not": "are ", "cannot": "can "}.get(match.group().strip(), "")
        return _replaced(given, match.start(), match.end(), word)
    if match := re.search(r"\b(?:is|are|was|can|must|has to|should|will|may)\b", sentence):
        return _replaced(given, match.end(), match.end(), " not")
    if match := re.search(
        r"\b(measures|needs|uses|supports|provides|includes|works|accepts|has|takes|draws|keeps|features)\b", sentence
    ):
        base = {
            "has": "have",
            "uses": "use",
            "provides": "provide",
            "includes": "include",
            "measures": "measure",
            "features": "feature",
        }
        verb = base.get(match[1], match[1][:-1])
        return _replaced(given, match.start(), match.end(), f"does not {verb}")
    return None


def others_fact(given: Given, chance: random.Random, corpus: Corpus) -> Given | None:
    """Put a true sentence of another answer here, whose passages are not those that are cited."""
    other = chance.choice(corpus.answers)
    if {e.chunk_id for e in other.evidence} & {e.chunk_id for e in given.evidence}:
        return None
    sentence = chance.choice(other.sentences)
    return replace(given, sentences=(sentence,)) if len(sentence.split()) > 4 else None


KINDS: dict[str, Plant] = {
    "number": wrong_number,
    "unit": wrong_unit,
    "name": swapped_name,
    "negation": negated,
    "other's fact": others_fact,
}


if __name__ == "__main__":
    main()
