"""What stands beside the best statement in prose."""

import asyncio

from kgrag.answer.candidates import Candidate
from kgrag.answer.prose import with_the_best
from kgrag.answer.weighing import weighed_candidates
from kgrag.models.minilm import MiniLM
from kgrag.text.questions import read_question
from kgrag.types import Evidence

EMBEDDER = MiniLM()
MILL = """The Brook Mill is a water mill in the lower valley that grinds rye and oats for nine villages.
Its wheel was replaced. Two men work there.
The mill stands where the brook leaves the valley, below the old stone bridge and beside the road to the market town of Ahl."""
OTHER = "Wind mills stand on hills, where the wind that moves their sails is strong for most of the year."
WHERE = "Where does the mill stand?"


def piece(name: str, text: str) -> Evidence:
    return Evidence(
        chunk_id=name,
        source_id=name,
        document=f"{name}.md",
        title="Mills",
        section="Valley",
        page_start=1,
        page_end=1,
        text=text,
        tokens=len(text.split()),
        score=1.0,
    )


def weighed(*evidence: Evidence) -> list[Candidate]:
    """The statements of the evidence, of which the one behind the best one is as good as any other."""
    found = asyncio.run(weighed_candidates(read_question(WHERE), evidence, EMBEDDER))
    best = next(one for one in found if one.text.startswith("The mill stands"))
    others = sorted((one for one in found if one is not best), key=lambda one: len(one.text))
    best.score = 1.0
    for one in others:
        one.score = 0.8
    return [best, *others]


def test_the_beginning_of_the_passage_goes_with_the_best_statement_and_short_ones_and_other_documents_do_less() -> None:
    evidence = [piece("mill", f"Mills > Valley\n{MILL}"), piece("wind", OTHER)]
    found = weighed(*evidence)
    texts = [one.text for one in with_the_best(found, evidence)]
    assert found[1].text.endswith("Two men work there.") or found[1].text.endswith("replaced.")
    assert texts[0].startswith("The mill stands")
    assert texts[1].startswith("The Brook Mill")
    assert texts.index(OTHER) > 1
    assert [one.score for one in found] == [1.0, *[0.8] * (len(found) - 1)]


def test_the_best_statement_stays_the_first() -> None:
    evidence = [piece("mill", MILL)]
    found = weighed(*evidence)
    for one in found[1:]:
        one.score = 1.0
    ordered = with_the_best(found, evidence)
    assert ordered[0] is found[0]
    assert all(one.score <= 1.0 for one in ordered)


def test_where_the_best_statement_is_not_of_the_first_passage_the_order_stays() -> None:
    evidence = [piece("wind", OTHER), piece("mill", MILL)]
    found = weighed(*evidence)
    assert with_the_best(found, evidence) == found


def test_what_stands_below_a_term_or_in_a_list_stays_as_it_is() -> None:
    below = "mill_speed: How fast the wheel of the mill turns where the brook is high, in turns a minute."
    text = f"{MILL}\n\n{below}\n\n- The mill has rye.\n"
    evidence = [piece("mill", text)]
    found = weighed(*evidence)
    kept = {one.text: one.score for one in with_the_best(found, evidence)}
    apart = [one for one in found if one.statement.label or one.statement.is_item]
    assert apart
    assert all(kept[one.text] == one.score for one in apart)
