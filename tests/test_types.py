import json

from hypothesis import given
from hypothesis import strategies as st

from kgrag.types import Chunk, content_id, with_context


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_content_ids_keep_their_parts_apart(left: list[str], right: list[str]) -> None:
    assert (content_id(*left) == content_id(*right)) == (left == right)


def test_a_chunk_survives_json() -> None:
    chunk = Chunk(
        id="c", document_id="d", source_id="d", position=0, headings=("A", "B"), text="3.3 kΩ", tokens=4, page_start=3
    )
    assert Chunk.model_validate_json(chunk.model_dump_json()) == chunk
    assert json.loads(chunk.model_dump_json())["text"] == "3.3 kΩ"
    assert chunk.section == "A > B"


def test_context_is_said_once() -> None:
    assert with_context("body", title="X-100", headings=["X-100", "Power"]) == "X-100 > Power\nbody"
    assert with_context("[Product: X-100] body", title="X-100") == "[Product: X-100] body"
    assert with_context("Power\n3.3 V", title="X-100", headings=["Power"]) == "X-100\nPower\n3.3 V"
    assert with_context("A power supply", title="", headings=["Power"]) == "Power\nA power supply"
    assert with_context("body", title=" ", headings=[""]) == "body"
