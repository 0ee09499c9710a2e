"""Statements that follow each other in a document are one line of an answer."""

import asyncio

import pytest

from kgrag.answer.joining import joined
from kgrag.answer.rules import extract_answer
from kgrag.answer.weighing import weighed_candidates
from kgrag.models.minilm import MiniLM
from kgrag.text.questions import read_question
from kgrag.types import Evidence

EMBEDDER = MiniLM()
SAVING = "The recorder keeps existing files. Instead, a dot and a number are appended to the name of the new one."
TERMS = """max_wait seconds: The longest time to wait for a reply. Small values are raised to the least.
Default: 45 seconds

max_count number: How many times a reply is waited for."""


def piece(text: str) -> Evidence:
    return Evidence(
        chunk_id="chunk",
        source_id="recorder",
        document="recorder.md",
        title="Recorder",
        section="Files",
        page_start=1,
        page_end=1,
        text=text,
        tokens=len(text.split()),
        score=1.0,
    )


def chosen(question: str, text: str, *starts: str, best_first: bool) -> list[str]:
    """The lines of those statements, in the given order, that begin so."""
    found = asyncio.run(weighed_candidates(read_question(question), [piece(text)], EMBEDDER))
    picked = [next(one for one in found if one.text.startswith(start)) for start in starts]
    return [one.text for one in joined(picked, best_first=best_first)]


def lines(question: str, text: str) -> list[str]:
    answer = asyncio.run(extract_answer(question, [piece(text)], embedder=EMBEDDER))
    return answer.text.splitlines()[1:]


def test_what_goes_on_from_the_best_statement_stands_in_its_line() -> None:
    question = "What happens to a recording whose name is taken by existing files?"
    said = lines(question, SAVING)
    assert said == [f"- {SAVING} [1]"]
    answer = asyncio.run(extract_answer(question, [piece(SAVING)], embedder=EMBEDDER))
    assert answer.citations[0].quote == SAVING


@pytest.mark.parametrize("best_first", [True, False])
def test_what_the_best_statement_goes_on_from_comes_before_it_unless_the_best_comes_first(best_first: bool) -> None:
    said = chosen(
        "What are the existing files of the recorder?", SAVING, "Instead", "The recorder", best_first=best_first
    )
    first, second = "The recorder keeps existing files.", SAVING.partition(". ")[2]
    assert said == ([second, first] if best_first else [SAVING])


def test_a_property_joins_the_description_of_its_setting_and_no_other_setting_does() -> None:
    said = chosen(
        "How long does it wait for a reply?", TERMS, "max_wait", "Default", "max_count", "Small", best_first=False
    )
    assert len(said) == 2
    assert said[0].endswith("Small values are raised to the least. Default: 45 seconds")
    assert said[1].startswith("max_count")


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("The P-300-B runs at 230 V. The P-300-A runs at 24 V.", ("The P-300-B", "The P-300-A")),
        ("- It keeps existing files.\n- It numbers new files.", ("It keeps", "It numbers")),
        ("| File | Kept |\n|---|---|\n| old files | yes |\n| new files | no |", ("File: old", "File: new")),
        ("It keeps existing files.\n\n## Names\n\nIt numbers new files.", ("It keeps", "It numbers")),
        ("It keeps existing files. Files have names. New files are numbered at 24 V.", ("It keeps", "New")),
    ],
    ids=["another product", "items", "rows", "another section", "a sentence between"],
)
def test_what_does_not_go_on_from_each_other_stays_apart(text: str, starts: tuple[str, str]) -> None:
    assert len(chosen("Which files does it keep at 24 V and at 230 V?", text, *starts, best_first=False)) == 2


def test_the_default_of_a_setting_has_the_words_of_its_name() -> None:
    text = "fast_fail\nAfter how many seconds input fails. It should be short. Setting this to off disables it. The default is: 5"
    assert "The default is: 5" in lines("What is the default of fast_fail?", text)[0]


def test_a_title_that_heads_its_page_stands_before_the_first_line_alone() -> None:
    text = "It keeps existing files.\n\nThe pump has a filter.\n\nNew files are numbered."
    evidence = piece(text).model_copy(update={"section": "", "title": "Recorder of files"})
    answer = asyncio.run(
        extract_answer("Which files does the recorder keep and number?", [evidence], embedder=EMBEDDER)
    )
    said = answer.text.splitlines()[1:]
    assert len(said) > 1
    assert [line.startswith("- Recorder of files: ") for line in said] == [True, *[False] * (len(said) - 1)]
