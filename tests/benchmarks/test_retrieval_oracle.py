from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.retrieval_oracle import Neighbours, best_share
from kgrag.evaluate.gold_questions import states
from kgrag.types import Evidence

FACTS = tuple(frozenset({name}) for name in "abcd")


def piece(number: int, sources: frozenset[str], tokens: int) -> Evidence:
    return Evidence(
        chunk_id=str(number),
        source_id="",
        anchors=tuple(sorted(sources)),
        document="",
        text="",
        tokens=tokens,
        score=0.0,
    )


@given(
    st.lists(st.tuples(st.frozensets(st.sampled_from("abcdx")), st.integers(1, 50)), max_size=7), st.integers(1, 120)
)
def test_the_best_share_is_that_of_the_best_choice_of_pieces(
    described: list[tuple[frozenset[str], int]], tokens: int
) -> None:
    pieces = [piece(number, sources, size) for number, (sources, size) in enumerate(described)]
    choices = (some for count in range(len(pieces) + 1) for some in combinations(pieces, count))
    best = max(
        sum(any(states(one, fact) for one in some) for fact in FACTS)
        for some in choices
        if sum(one.tokens for one in some) <= tokens
    )
    assert best_share(FACTS, pieces, tokens) == best / len(FACTS)


def test_hops_go_over_shared_entities_hyperlinks_and_relations() -> None:
    beside = Neighbours(
        entities_of={"seed": {"X-100"}, "near": {"X-100"}, "far": {"TPR-40"}, "other": {"Z"}},
        chunks_of={"X-100": {"seed", "near"}, "TPR-40": {"far"}, "Z": {"other"}},
        related={"X-100": {"TPR-40"}, "TPR-40": {"X-100"}},
        linked={"seed": {"linked"}},
    )
    assert beside.one_hop(["seed"]) == {"seed", "near", "linked"}
    assert beside.two_hops(["seed"]) == {"seed", "near", "linked", "far"}
