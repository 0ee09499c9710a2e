"""The questions that answers without a model are measured on, and what a kept store answers to each.

Stores and what was found stay under a folder: the next run only reads, where corpus, questions and pipeline are what they were; where one
is another, the store is built again as far as it has to be and everything asked anew, and it is said. Changes of kgrag itself are not
noticed: `again` is for them. `support-development` and `support-reported` are asked of the manuals of Debian packages
(`benchmarks/support/manuals.toml`) unpacked into a folder of their own: for each package `apt-get download PACKAGE` and
`dpkg -x PACKAGE_*.deb FOLDER/PACKAGE` (what a manual has of other packages, `also`, goes into the same folder). Answers are developed on
the first and only reported on the second; so are the later sets (`support-development-2` and so on). `drawn-training-1` and the like are
questions to statements that were drawn from the manuals of a training set, for training alone: who wrote them saw the statement.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import kgrag
from benchmarks import DATA
from benchmarks.json_lines import read_rows
from benchmarks.retrieval_quality import CACHE as RETRIEVAL_CACHE
from benchmarks.retrieval_quality import SETS
from kgrag.answer import extract_answer, in_another_language, last_question, refuse_language, without_typing_errors
from kgrag.knowledge_graph import KnowledgeGraph
from kgrag.models.base import Embedder
from kgrag.retrieve.pipeline import drawn, load_pipeline
from kgrag.text.courtesies import without_courtesies
from kgrag.types import Answer, content_id

CACHE = RETRIEVAL_CACHE.parent / "answers"
"""Where stores and answers stay."""
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SUPPORT = Path(__file__).resolve().parent / "support"
QUESTIONS = {"support": "questions.jsonl", "drawn": "drawn.jsonl"}
"""The questions to manuals: those of users, and those to statements that were drawn."""
HALVES = (
    "development", "reported", "development-2", "reported-2", "development-3", "reported-3", "development-4", "reported-4", "development-5",
    "reported-5", "development-6", "reported-6",
)  # fmt: skip
TRAINING = tuple(f"training-{number}" for number in range(1, 18))
"""Of other manuals, for what is learnt from questions (`benchmarks.train_cross_encoder`); each may be left out and asked."""


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """A corpus and its questions; `corpus` says what `kgrag build` reads, given a folder for what has to be prepared."""

    name: str
    corpus: Callable[[Path], Path]
    rows: tuple[dict[str, Any], ...]
    store: str = ""
    """The name of its store where another set has the same; else its own name."""

    def answers(self, folder: Path, *, again: bool = False) -> list[Answer]:
        """Return the default pipeline's answer to each question: those kept of the same corpus, questions and pipeline, unless `again`."""
        folder.mkdir(parents=True, exist_ok=True)
        corpus = self.corpus(folder)
        made_of = json.dumps({"made_of": self._made_of(corpus)})
        kept = folder / f"{self.name}.answers.jsonl"
        head, *lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else [""]
        if again or head != made_of:
            if head and not again:
                changed = "has another corpus, other questions or another pipeline than now"
                print(f"{self.name}: {kept} {changed}: built where it changed, and asked anew.", file=sys.stderr)
            kept.unlink(missing_ok=True)
            with self.opened(folder) as graph:
                lines = [graph.ask(row["question"]).model_dump_json() for row in self.rows]
            kept.write_text("".join(f"{line}\n" for line in (made_of, *lines)), encoding="utf-8")
        return [Answer.model_validate_json(line) for line in lines]

    def opened(self, folder: Path) -> KnowledgeGraph:
        """Open its store, built as far as it has to be."""
        folder.mkdir(parents=True, exist_ok=True)
        graph = kgrag.open(folder / f"{self.store or self.name}.kg")
        graph.build(self.corpus(folder))
        return graph

    def _made_of(self, corpus: Path) -> str:
        """Hash what answers depend on: files of the corpus with their names, questions, the default pipeline."""
        files = sorted(file for file in corpus.rglob("*") if file.is_file()) if corpus.is_dir() else [corpus]
        parts = [json.dumps(self.rows), drawn(load_pipeline("default"))]
        for file in files:
            parts += [file.relative_to(corpus.parent).as_posix(), hashlib.sha256(file.read_bytes()).hexdigest()]
        return content_id(*parts)


async def answered_anew(answer: Answer, embedder: Embedder) -> Answer:
    """Answer a question again from the evidence that was kept with its answer, as `kgrag ask` does behind its retrieval."""
    read = last_question(without_courtesies(answer.question))
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
        found += [_support(half, manuals) for half in (*HALVES, *TRAINING)]
        found += [_support(half, manuals, of="drawn") for half in TRAINING]
    return {one.name: one for one in found if one.rows}


def present(names: Iterable[str], sets: Mapping[str, AnswerSet]) -> Iterator[AnswerSet]:
    """Return the sets of these names that are there; of the others is printed why they are left out."""
    for name in names:
        if name in sets:
            yield sets[name]
        else:
            print(f"{name}: its data is not there, or the folder of manuals was not given.")


def _rows(file: Path) -> tuple[dict[str, Any], ...]:
    return tuple(read_rows(file)) if file.is_file() else ()


@cache
def _manuals() -> dict[str, dict[str, Any]]:
    return tomllib.loads((SUPPORT / "manuals.toml").read_text(encoding="utf-8"))


@cache
def _asked(of: str) -> tuple[dict[str, Any], ...]:
    return _rows(SUPPORT / QUESTIONS[of])


def asked_of_packages(manuals: Path, halves: str) -> tuple[dict[str, Any], ...]:
    """Return the support questions to manuals whose package is in a folder, of the halves whose names begin so."""
    described = _manuals()
    known = {name: manual for name, manual in described.items() if (manuals / manual["package"]).is_dir()}
    return tuple(
        row
        for row in _asked("support")
        if row["manual"] in known and row.get("half", known[row["manual"]]["half"]).startswith(halves)
    )


def _support(half: str, manuals: Path, *, of: str = "support") -> AnswerSet:
    """A set of support questions, or of those to drawn statements, which are asked of the same store."""
    described = _manuals()

    def rows_of(kind: str) -> tuple[dict[str, Any], ...]:
        return tuple(row for row in _asked(kind) if row.get("half", described[row["manual"]]["half"]) == half)

    store = f"support-{half}"
    asked_of = {row["manual"] for row in rows_of("support")}
    chosen = {name: manual for name, manual in described.items() if name in asked_of}

    def corpus(scratch: Path) -> Path:
        folder = scratch / store
        shutil.rmtree(folder, ignore_errors=True)
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

    return AnswerSet(f"{of}-{half}", corpus, rows_of(of), store)


def _files(package: Path, manual: dict[str, Any]) -> Iterator[Path]:
    for pattern in manual["files"]:
        found = sorted((package / manual["folder"]).glob(pattern))
        if not found:
            of = [manual["package"], *manual.get("also", ())]
            unpacked = "; ".join(f"dpkg -x {one}_*.deb {package}" for one in of)
            raise SystemExit(
                f"Expected {manual['folder']}/{pattern} of Debian's {' and '.join(of)} under {package}: "
                f"apt-get download {' '.join(of)}; {unpacked}"
            )
        yield from found
