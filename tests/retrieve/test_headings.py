import asyncio

from kgrag.retrieve.state import Query, Resources, State
from kgrag.retrieve.steps.headings import Headings
from kgrag.testing import HashingEmbedder
from kgrag.types import Evidence

RESOURCES = Resources(None, HashingEmbedder(), "mention")  # type: ignore[arg-type]


def asked(question: str, *places: tuple[str, str]) -> list[str]:
    """The sections that come out, best first, of pieces given as document and section."""
    pieces = [
        Evidence(
            chunk_id=str(i),
            source_id="",
            document=document,
            document_id=document,
            section=section,
            text="",
            tokens=1,
            score=0.9 - i / 20,
        )
        for i, (document, section) in enumerate(places)
    ]
    state = State(Query(question, question, question), evidence=tuple(pieces))
    return [piece.section for piece in asyncio.run(Headings(weight=0.2)(state, RESOURCES)).evidence]


def test_a_piece_under_the_heading_that_the_question_names_comes_first() -> None:
    places = [("a", "Display"), ("a", "Settings > 4.2 Screen timeout")]
    assert asked("How do I change the screen timeout?", *places) == ["Settings > 4.2 Screen timeout", "Display"]


def test_headings_of_one_word_and_those_of_several_documents_say_nothing() -> None:
    assert asked("What is the display?", ("a", "Intro"), ("a", "Display")) == ["Intro", "Display"]
    places = [("a", "Intro"), ("a", "Screen timeout"), ("b", "Screen timeout")]
    assert asked("What is the screen timeout?", *places)[0] == "Intro"
