import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.answer.citations import cite, without_marks
from kgrag.types import Evidence

TEXTS = [
    "The X-100 needs a supply voltage of 3.3 V. It has a USB port.",
    "The X-1000 needs 5 V.",
    "In standby the X-100 draws 0.5 mA.",
]
EVIDENCE = [
    Evidence(chunk_id=f"c{n}", source_id="s", document=f"docs/{n}.md", section="Supply", text=text, tokens=9, score=1.0)
    for n, text in enumerate(TEXTS, start=1)
]


def test_a_mark_is_the_place_of_a_passage_and_stays_as_it_is_written() -> None:
    text = "The X-100 needs 3.3 V [1]. In standby it draws 0.5 mA [3], as documents say [1][3]."
    cited = cite(text, EVIDENCE)
    assert cited.text == text
    assert [(c.number, c.chunk_id, c.document) for c in cited.citations] == [
        (1, "c1", "docs/1.md"),
        (3, "c3", "docs/3.md"),
    ]
    assert cited.unknown == ()


def test_the_quote_is_the_sentence_that_the_mark_is_for() -> None:
    (first, second) = cite("- Its port is USB [1].\n- The bigger one needs 5 V [2].", EVIDENCE).citations
    assert first.quote == "It has a USB port."
    assert second.quote == "The X-1000 needs 5 V."


def test_marks_that_mean_no_passage_are_taken_out_and_reported() -> None:
    cited = cite("Yes [9]. No [0]. Both [1, 7] and [2-4].", EVIDENCE)
    assert cited.text == "Yes. No. Both [1] and [2][3]."
    assert cited.unknown == (9, 0, 7, 4)
    assert [c.number for c in cited.citations] == [1, 2, 3]


def test_lists_and_ranges_are_read() -> None:
    assert [c.number for c in cite("So it is [1,3].", EVIDENCE).citations] == [1, 3]
    assert [c.number for c in cite("So it is [1-3].", EVIDENCE).citations] == [1, 2, 3]
    assert [c.number for c in cite("So it is [1 and 2].", EVIDENCE).citations] == [1, 2]


def test_brackets_with_anything_else_are_text() -> None:
    text = "Set CTRL[ON] and [see 1], voltage [V]."
    assert cite(text, EVIDENCE).text == text
    assert cite(text, EVIDENCE).citations == ()


def test_marks_are_read_however_a_model_writes_them() -> None:
    for mark in ("【1】", "[passage 1]", "[Passage 1]", "[1]", " [1]", "【1†source】"):
        cited = cite(f"It needs 3.3 V{mark}.", EVIDENCE)
        assert cited.text == "It needs 3.3 V [1]."
        assert [c.number for c in cited.citations] == [1]
    for mark in ("［１］", "【資料１】", "[段落1]", "［ 1 ］"):
        assert cite(f"電源は3.3 Vです{mark}。", EVIDENCE).text == "電源は3.3 Vです [1]。"
    assert cite("那是 3.3 V［１、３］。", EVIDENCE).text == "那是 3.3 V [1][3]。"
    assert cite("那是 3.3 V［１～３］，也是［９］。", EVIDENCE).unknown == (9,)
    assert cite("So it is [1, 3].", EVIDENCE).text == "So it is [1][3]."
    assert cite("So it is [passage 1, passage 3].", EVIDENCE).text == "So it is [1][3]."


@pytest.mark.parametrize(
    "mark",
    [
        "(passage 1)",
        "(see source 1)",
        "[^1]",
        "[[1]]",
        "[passage #1]",
        "[Passage: 1]",
        "[doc 1]",
        "[Quelle 1]",
        "[1, p. 4]",
        "[passage 1, page 4]",
        "[passage 1: Manual of the X-100]",
        "[1](https://example.org/x-100)",
        "[1](#supply)",
    ],
)
def test_marks_are_read_with_other_words_signs_and_places(mark: str) -> None:
    cited = cite(f"It needs 3.3 V {mark}.", EVIDENCE)
    assert cited.text == "It needs 3.3 V [1]."
    assert [c.number for c in cited.citations] == [1] and cited.unknown == ()


@pytest.mark.parametrize(
    "text", ["from [0, 5] V", "see (2) and (section 3)", "(document 2) says it", "docs(1)", "[3 V]"]
)
def test_other_numbers_in_brackets_are_no_citations(text: str) -> None:
    assert cite(text, EVIDENCE).text == text


def test_an_index_of_the_documents_own_is_no_citation() -> None:
    text = "Read buf[64] and CTRL[2], then `reg [3]` and grid[1][2]"
    cited = cite(f"{text} [passage 1].", EVIDENCE)
    assert cited.text == f"{text} [1]."
    assert [c.number for c in cited.citations] == [1]
    assert cited.unknown == ()


def test_marks_can_be_taken_out() -> None:
    assert (
        without_marks("Nothing [1] says it【2】, buf[1] is empty [passage 3].") == "Nothing says it, buf[1] is empty."
    )


@given(
    text=st.lists(
        st.sampled_from(
            ["word", "3.3 V", "[1]", " [2]", "[7]", "[1, 9]", "[2-3]", "【1】", "[passage 2]", ". ", "\n", "[", "]"]
        )
    ).map("".join)
)
def test_what_is_left_is_all_known_and_cited(text: str) -> None:
    cited = cite(text, EVIDENCE)
    left = cite(cited.text, EVIDENCE)
    assert {c.number for c in left.citations} >= {c.number for c in cited.citations}
    assert without_marks(text).replace(" ", "") == without_marks(cited.text).replace(" ", "")


def test_a_line_of_ten_thousand_sentences_with_marks_is_read_sentence_by_sentence() -> None:
    cited = cite("It has a USB port [1]. The bigger one needs 5 V [2]. " * 5000, EVIDENCE)
    assert [c.quote for c in cited.citations] == ["It has a USB port.", "The X-1000 needs 5 V."]
    assert cited.text.count("[1]") == cited.text.count("[2]") == 5000
