"""What an embedder has to give: a finite vector of unit length for each text."""

import asyncio
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kgrag.errors import ModelReplyError
from kgrag.extract import open_extractor
from kgrag.jobs.build import build
from kgrag.jobs.report import BuildReport
from kgrag.jobs.status import status
from kgrag.models.base import Vectors
from kgrag.settings import Settings
from kgrag.store.graph import GraphStore, open_store
from kgrag.testing import HashingEmbedder

DIMENSIONS = HashingEmbedder().dimensions


class Odd(HashingEmbedder):
    """An embedder of a user, who makes something else of the vectors."""

    def __init__(self, change: Callable[[Vectors], Any]) -> None:
        super().__init__()
        self._change = change

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed, and change what comes."""
        return self._change(await super().embed_documents(texts))  # type: ignore[no-any-return]


def embedded(store: GraphStore, folder: Path, change: Callable[[Vectors], Any]) -> int:
    job = build([folder], store=store, embedder=Odd(change), extractors=[], settings=Settings())
    return asyncio.run(job).chunks_embedded


def with_first(value: float) -> Callable[[Vectors], Any]:
    return lambda vectors: np.concatenate([np.full((1, DIMENSIONS), value, np.float32), vectors[1:]])


def test_what_is_no_vector_of_unit_length_is_named_and_the_next_build_goes_on(
    tmp_path: Path, embedded_empty: Callable[[int], Path]
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# One\n\nThe first.\n\n# Two\n\n" + "second " * 600, encoding="utf-8")
    shutil.copytree(embedded_empty(DIMENSIONS), tmp_path / "store.kg")
    with open_store(tmp_path / "store.kg") as store:
        for change, said in (
            (with_first(np.nan), "got 1 with values that are not finite"),
            (with_first(3.0), r"expected vectors of length 1, got 1 of \d+ of another \(24\)"),
            (lambda vectors: vectors[:-1], r"another shape: \(\d+, 64\)"),
            (lambda vectors: vectors[0], r"another shape: \(64,\)"),
            (lambda vectors: ["no number"], "expected .* vectors of numbers, got list"),
        ):
            with pytest.raises(ModelReplyError, match=f"hashing-64: .*{said}"):
                embedded(store, tmp_path / "docs", change)
            assert len(store.documents.ids_without_embedding()) == store.documents.count_chunks() > 0
        # What is a list of lists, in half precision is as good.
        assert embedded(store, tmp_path / "docs", lambda vectors: vectors.astype(np.float16).tolist()) > 0
        assert not store.documents.ids_without_embedding()


class Refusing(HashingEmbedder):
    """An embedder that has no vector for some texts, and counts its calls."""

    def __init__(self, *words: str) -> None:
        super().__init__()
        self.words, self.calls = words, 0

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed, unless one of the words stands in one of the texts."""
        self.calls += 1
        if any(word in text for word in self.words for text in texts):
            raise ModelReplyError(f"hashing-64: no vector for one of {len(texts)} texts.")
        return await super().embed_documents(texts)


def test_a_text_that_has_no_vector_costs_no_other_its_own_and_is_asked_for_again(
    tmp_path: Path, embedded_empty: Callable[[int], Path]
) -> None:
    (tmp_path / "docs").mkdir()
    for number in range(40):
        text = (
            f"# Pump {number}\n\nPump {number} of Acme draws {number} mA{', it is odd' if number in (7, 31) else ''}.\n"
        )
        (tmp_path / "docs" / f"{number}.md").write_text(text, encoding="utf-8")
    shutil.copytree(embedded_empty(DIMENSIONS), tmp_path / "store.kg")

    def built(embedder: Refusing) -> BuildReport:
        extractors = [open_extractor("mention", model=None, settings=Settings())]
        return asyncio.run(
            build([tmp_path / "docs"], store=store, embedder=embedder, extractors=extractors, settings=Settings())
        )

    with open_store(tmp_path / "store.kg") as store:
        first = built(Refusing("it is odd"))
        assert status(store)["entities_without_vector"] == {}
        assert (first.complete, first.chunks_embedded) == (False, 38)
        assert [(one.stage, one.scope, one.reason) for one in first.failures] == [
            ("embed", "hashing-64", "hashing-64: no vector for one of 1 texts.")
        ] * 2
        assert sum(first.extractions["mention"].values()) == 40
        said = {(one["stage"], one["graph"], one["document"].rpartition("/")[2]) for one in status(store)["failures"]}
        assert said == {("embed", "hashing-64", "7.md"), ("embed", "hashing-64", "31.md")}
        second = built(embedder := Refusing())
        assert (second.complete, second.chunks_embedded, embedder.calls) == (True, 2, 1)
        assert status(store)["failures"] == [] and not store.documents.ids_without_embedding()


def test_status_says_how_many_entities_have_no_vector(tmp_path: Path, embedded_empty: Callable[[int], Path]) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Pump Q7\n\nThe Pump Q7 draws 5 mA.\n", encoding="utf-8")
    shutil.copytree(embedded_empty(DIMENSIONS), tmp_path / "store.kg")

    def built(embedder: Refusing) -> None:
        extractors = [open_extractor("mention", model=None, settings=Settings())]
        asyncio.run(
            build([tmp_path / "docs"], store=store, embedder=embedder, extractors=extractors, settings=Settings())
        )

    with open_store(tmp_path / "store.kg") as store:
        built(Refusing("(Quantity)"))
        assert status(store)["entities_without_vector"] == {"mention": 1}
        built(Refusing())
        assert status(store)["entities_without_vector"] == {}


def test_a_row_of_a_table_that_has_no_vector_costs_no_other_its_own_and_is_asked_for_again(
    tmp_path: Path, embedded_empty: Callable[[int], Path]
) -> None:
    (tmp_path / "docs").mkdir()
    for name in ("a", "b"):
        rows = "\n".join(f"| {name}{number} | {number} mA |" for number in range(12))
        text = f"# Pumps of list {name}\n\n| Part | Current |\n| --- | --- |\n{rows}\n"
        (tmp_path / "docs" / f"{name}.md").write_text(text, encoding="utf-8")
    shutil.copytree(embedded_empty(DIMENSIONS), tmp_path / "store.kg")

    def built(embedder: Refusing) -> BuildReport:
        settings = Settings(table_rows=True)
        return asyncio.run(build([tmp_path / "docs"], store=store, embedder=embedder, extractors=[], settings=settings))

    with open_store(tmp_path / "store.kg") as store:
        odd = Refusing("Part: a7; Current", "Part: a9; Current")
        for _ in range(2):
            report = built(odd)
            (failure,) = report.failures
            assert (failure.stage, failure.scope, report.complete) == ("embed", "hashing-64", False)
            assert failure.reason.startswith("2 of its rows, first 'Pumps of list a. Part: a7; Current: 7 mA': ")
            (said,) = status(store)["failures"]
            assert (said["stage"], said["document"]) == ("embed_rows", str(tmp_path / "docs" / "a.md"))
            assert store.search.count_table_rows() == 22
        report = built(Refusing())
        assert report.complete and store.search.count_table_rows() == 24 and status(store)["failures"] == []
        built(embedder := Refusing())
        assert embedder.calls == 0
        mended = store.digest()
    shutil.copytree(embedded_empty(DIMENSIONS), tmp_path / "whole.kg")
    with open_store(tmp_path / "whole.kg") as store:
        built(Refusing())
        assert store.digest() == mended


def test_where_an_embedder_has_no_vector_for_a_word_the_build_ends_after_one_more_call(
    tmp_path: Path, embedded_empty: Callable[[int], Path]
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("\n\n".join(f"# Part {n}\n\nIt is {n}." for n in range(30)), "utf-8")
    shutil.copytree(embedded_empty(DIMENSIONS), tmp_path / "store.kg")
    with open_store(tmp_path / "store.kg") as store:
        embedder = Refusing("")
        with pytest.raises(ModelReplyError, match=r"one of [1-9]\d* texts"):
            asyncio.run(build([tmp_path / "docs"], store=store, embedder=embedder, extractors=[], settings=Settings()))
        assert embedder.calls == 2


class Ending(HashingEmbedder):
    """An embedder at whose third call the build ends."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[int] = []

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(len(texts))
        if len(self.asked) == 3:
            raise EOFError("the process ends")
        return await super().embed_documents(texts)


def test_a_build_that_ends_early_on_keeps_the_first_vectors(
    tmp_path: Path, embedded_empty: Callable[[int], Path]
) -> None:
    (tmp_path / "docs").mkdir()
    for number in range(100):
        (tmp_path / "docs" / f"{number}.md").write_text(f"# Pump {number}\n\nIt draws {number} mA.\n", encoding="utf-8")
    shutil.copytree(embedded_empty(DIMENSIONS), tmp_path / "store.kg")
    with open_store(tmp_path / "store.kg") as store:
        embedder = Ending()
        with pytest.raises(EOFError):
            asyncio.run(build([tmp_path / "docs"], store=store, embedder=embedder, extractors=[], settings=Settings()))
        assert embedder.asked[0] == 32
        assert 100 - len(store.documents.ids_without_embedding()) >= 32
