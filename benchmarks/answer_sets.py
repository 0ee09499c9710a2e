"""The questions that answers without a model are measured on, and what a kept store answers to each.

Stores and what was found stay under a folder: the next run only reads. `support-development` and `support-reported` are asked of the
manuals of Debian packages (`benchmarks/support/manuals.toml`) unpacked into a folder of their own: for each package `apt-get download
PACKAGE` and `dpkg -x PACKAGE_*.deb FOLDER/PACKAGE`. Answers are developed on the first and only reported on the second.
"""

from __future__ import annotations

import gzip
import json
import shutil
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kgrag
from benchmarks.retrieval_quality import CACHE as RETRIEVAL_CACHE
from benchmarks.retrieval_quality import DATA, SETS
from kgrag.answer import extract_answer, in_another_language, last_question, refuse_language, without_typing_errors
from kgrag.models.base import Embedder
from kgrag.types import Answer

CACHE = RETRIEVAL_CACHE.parent / "answers"
"""Where stores and answers stay."""
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SUPPORT = Path(__file__).resolve().parent / "support"
HALVES = ("development", "reported")


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """A corpus and its questions; `corpus` says what `kgrag build` reads, given a folder for what has to be prepared."""

    name: str
    corpus: Callable[[Path], Path]
    rows: tuple[dict[str, Any], ...]

    def answers(self, folder: Path, *, again: bool = False) -> list[Answer]:
        """Return the default pipeline's answer to each question, of a store that is built where it is missing; kept unless `again`."""
        kept = folder / f"{self.name}.answers.jsonl"
        if again or not kept.exists():
            kept.unlink(missing_ok=True)
            folder.mkdir(parents=True, exist_ok=True)
            store = folder / f"{self.name}.kg"
            built = store.exists()
            with kgrag.open(store) as graph:
                if not built:
                    graph.build(self.corpus(folder))
                made = [graph.ask(row["question"]) for row in self.rows]
            kept.write_text("".join(f"{answer.model_dump_json()}\n" for answer in made), encoding="utf-8")
        return [Answer.model_validate_json(line) for line in kept.read_text(encoding="utf-8").splitlines()]


async def answered_anew(answer: Answer, embedder: Embedder) -> Answer:
    """Answer a question again from the evidence that was kept with its answer, as `kgrag ask` does behind its retrieval."""
    read = last_question(answer.question)
    languages = in_another_language(read, answer.evidence)
    if languages:
        return refuse_language(answer.question, answer.evidence, *languages)
    mended = without_typing_errors(read, answer.evidence, embedder)
    return await extract_answer(mended, answer.evidence, embedder=embedder)


def is_answerable(row: dict[str, Any]) -> bool:
    """Tell whether the corpus answers a question."""
    if "answers" in row:
        return bool(row["answers"])
    return bool(row.get("answerable", row.get("query_type") != "unanswerable"))


def answer_sets(manuals: Path | None) -> dict[str, AnswerSet]:
    """Return the sets whose data is there, by name; those of support questions where a folder with unpacked packages is given."""
    found = [
        AnswerSet("clapnq", lambda _: DATA / "clapnq" / "corpus.jsonl", _rows(DATA / "clapnq" / "questions.jsonl")),
        AnswerSet("examples", lambda _: EXAMPLES / "documents", _rows(EXAMPLES / "questions.jsonl")),
    ]
    for one in SETS:
        if one.name in ("emanual", "arduino"):
            corpus = one.corpus
            found.append(
                AnswerSet(one.name, lambda scratch, c=corpus: c(DATA, scratch), _rows(DATA / one.questions))  # type: ignore[misc]
            )
    if manuals is not None:
        found += [_support(half, manuals) for half in HALVES]
    return {one.name: one for one in found if one.rows}


def _rows(file: Path) -> tuple[dict[str, Any], ...]:
    if not file.is_file():
        return ()
    return tuple(json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())


def _support(half: str, manuals: Path) -> AnswerSet:
    described = tomllib.loads((SUPPORT / "manuals.toml").read_text(encoding="utf-8"))
    chosen = {name: manual for name, manual in described.items() if manual["half"] == half}
    rows = tuple(row for row in _rows(SUPPORT / "questions.jsonl") if row["manual"] in chosen)

    def corpus(scratch: Path) -> Path:
        folder = scratch / f"support-{half}"
        for name, manual in chosen.items():
            for file in _files(manuals / manual["package"], manual):
                place = file.relative_to(manuals / manual["package"] / manual["folder"])
                copy = (folder / name / place).with_name(file.name.removesuffix(".gz"))
                copy.parent.mkdir(parents=True, exist_ok=True)
                if file.suffix == ".gz":
                    copy.write_bytes(gzip.decompress(file.read_bytes()))
                else:
                    shutil.copyfile(file, copy)
        return folder

    return AnswerSet(f"support-{half}", corpus, rows)


def _files(package: Path, manual: dict[str, Any]) -> Iterator[Path]:
    for pattern in manual["files"]:
        found = sorted((package / manual["folder"]).glob(pattern))
        if not found:
            raise SystemExit(
                f"Expected {manual['folder']}/{pattern} of Debian's package {manual['package']} under {package}: "
                f"apt-get download {manual['package']}; dpkg -x {manual['package']}_*.deb {package}"
            )
        yield from found
