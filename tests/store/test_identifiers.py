"""Labels and relationship types made of what users and language models write."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kgrag.errors import IdentifierError
from kgrag.store.identifiers import entity_type, graph_label, quoted, relation_type
from kgrag.store.statements import statement


@pytest.mark.parametrize(
    ("written", "label", "relation"),
    [
        ("Product", "Product", "PRODUCT"),
        ("ORGANIZATION", "Organization", "ORGANIZATION"),
        ("PartNumber", "PartNumber", "PARTNUMBER"),
        ("has part", "has part", "HAS_PART"),
        ("HAS_PART", "Has_part", "HAS_PART"),
        ("Chunk", "Chunk_", "CHUNK"),
        ("from chunk", "from chunk", "FROM_CHUNK_"),
        ("__Entity__", "Entity", "ENTITY"),
        ("", "Thing", "RELATED_TO"),
        ("`})-->() //", "Thing", "RELATED_TO"),
        ("V", "v", "V"),
        ("部品", "部品", "REL_部品"),
        ("ŞEHİR", "Şehir", "ŞEHİR"),
        ("ταΐζει", "ταΐζει", "ΤΑΪΖΕΙ"),
    ],
)
def test_types_become_identifiers(written: str, label: str, relation: str) -> None:
    assert (entity_type(written), relation_type(written)) == (label, relation)


@example("A0", "a0")
@example("À0", "À0")
@example("İ", "ǰ")
@example("GEMİ", "ταΐζει")
@given(st.text(max_size=400), st.text(max_size=400))
def test_any_text_becomes_a_safe_identifier(one: str, other: str) -> None:
    for identifier in (entity_type(one), relation_type(one)):
        assert quoted(identifier) == f"`{identifier}`"
        assert "`" not in identifier
        assert not identifier.startswith("__")
        assert 0 < len(identifier) <= 64
    assert entity_type(entity_type(one)) == entity_type(one)
    assert relation_type(relation_type(one)) == relation_type(one)
    assert entity_type(one) != relation_type(other)
    assert entity_type(one) not in ("Chunk", "Document")
    assert relation_type(one) not in ("FROM_CHUNK", "FROM_DOCUMENT", "NEXT_CHUNK", "LINKS_TO")


def test_long_types_stay_apart() -> None:
    long = [f"{'x' * 5000}{end}" for end in "ab"]
    assert len({entity_type(written) for written in long}) == 2
    assert len({relation_type(written) for written in long}) == 2


@pytest.mark.parametrize("name", ["a`b", "", "a\nb", "x" * 200, "a:b", "a}"])
def test_what_cannot_be_an_identifier_is_refused(name: str) -> None:
    with pytest.raises(IdentifierError):
        quoted(name)
    with pytest.raises(IdentifierError, match="Graph name"):
        graph_label(name)


def test_statements_are_loaded_with_their_identifiers() -> None:
    text = statement("store/put_entities", graph="mention", entity="Part`Number")
    assert text.startswith("UNWIND")
    assert "CREATE (entity:__Entity__:`__Graph_mention__`:`Part Number`)\n" in text


@pytest.mark.parametrize("name", ["store/nothing", "../pyproject", "/etc/passwd", "store/../../README", ""])
def test_a_statement_that_is_not_there_is_an_error(name: str) -> None:
    with pytest.raises(IdentifierError, match="Statement"):
        statement(name)


def test_an_identifier_that_is_needed_has_to_be_given() -> None:
    with pytest.raises(IdentifierError, match="GRAPH_LABEL"):
        statement("store/count_graph")
