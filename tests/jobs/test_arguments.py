"""What a caller of the Python face gives wrongly is named before anything is done."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kgrag
from kgrag.cli import run
from kgrag.errors import InputError
from kgrag.models import open_chat_model, open_embedder


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[kgrag.KnowledgeGraph]:
    with kgrag.open(tmp_path_factory.mktemp("arguments") / "store") as opened:
        yield opened


@pytest.mark.parametrize(
    ("method", "given", "named", "message"),
    [
        ("build", (), {}, r"build: expected files or folders, such as build\('manuals'\), got none"),
        ("build", ("",), {}, "Expected a file or folder, got an empty text"),
        ("build", (["manuals"],), {}, r"build: paths: expected a text or a path, got \['manuals'\]"),
        ("ask", (None,), {}, "ask: question: expected a text, got None"),
        ("ask", ("Why?",), {"top": 0}, "ask: top: expected a whole number of at least 1 or None, got 0"),
        ("retrieve", ("Why?",), {"budget": "all"}, "retrieve: budget: expected a whole number .* got 'all'"),
        ("graph_of_chunks", ("abc",), {}, "chunks: expected a list of texts, got 'abc'"),
        ("cypher", ("RETURN $x", [1]), {}, "parameters: expected a dictionary or None, got"),
        ("cypher", ("RETURN $x", {"x": object()}), {}, "expected texts, numbers, .* got 'x'"),
        ("cypher", ("RETURN $x", {"x": 2**63}), {}, "expected texts, numbers, .* got 'x'"),
        ("communities", (), {"levels": 0}, "communities: expected one of graph, .* budget; got levels"),
        ("communities", (), {"k": -1}, "communities: k: .*greater than or equal to 0"),
    ],
)
def test_a_wrong_argument_is_named(
    graph: kgrag.KnowledgeGraph, method: str, given: tuple[Any, ...], named: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        getattr(graph, method)(*given, **named)


def test_a_store_that_is_no_place_is_refused() -> None:
    with pytest.raises(InputError, match="a folder or an address, got 5"):
        kgrag.open(5)  # type: ignore[arg-type]


def test_an_unknown_extractor_is_noticed_before_a_store_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Unknown extractor 'mentoin': expected one of mention, "):
        kgrag.open(tmp_path / "new.kg", extractor=["mentoin"])
    assert not (tmp_path / "new.kg").exists()


def test_an_empty_path_is_not_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["build", "", "--store", "new.kg"]) == 2
    assert run(["build", "", "--store", "new.kg", "--dry-run"]) == 2
    assert capsys.readouterr().err.count("got an empty text") == 2
    assert not (tmp_path / "new.kg").exists()


def test_a_word_that_is_no_model_is_not_taken_for_one_of_an_endpoint() -> None:
    with pytest.raises(InputError) as raised:
        open_embedder("nope")
    assert "Did you mean" not in str(raised.value)
    with pytest.raises(InputError, match=r"expected one of rules, .*Did you mean openai:gpt-4o\?"):
        open_chat_model("gpt-4o", setting="judge")
