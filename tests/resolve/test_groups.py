"""Groups: what may never be one never is, whatever the order, the chains and the decisions."""

from __future__ import annotations

from itertools import combinations
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.generated_names import different_names, same_names
from benchmarks.resolution_properties import group_wrong
from kgrag.resolve import GraphEntity, MergePlan, conflict, make_plan, read_name
from kgrag.resolve.plan import Decisions, Found
from kgrag.resolve.rules import decide_by_rules
from kgrag.resolve.type_families import types_exclude

SEEDS = st.integers(0, 2**32)


def planned(
    entities: list[GraphEntity], same: dict[tuple[int, int], Found], apart: dict[tuple[int, int], Found] | None = None
) -> MergePlan:
    readings = [read_name(entity.name) for entity in entities]
    return make_plan("g", entities, readings, Decisions(same, apart or {}, len(same)), method="test", settings={})


def groups(plan: MergePlan) -> set[frozenset[str]]:
    return {frozenset(member.key for member in group.members) for group in plan.groups}


def ruled(entities: list[GraphEntity]) -> MergePlan:
    readings = [read_name(entity.name) for entity in entities]
    return make_plan("g", entities, readings, decide_by_rules(entities, readings), method="rules", settings={})


@settings(max_examples=15, deadline=None)
@given(SEEDS)
def test_the_worst_decisions_bring_no_two_facts_together_in_any_order(seed: int) -> None:
    random = Random(seed)
    names = [name for _ in range(12) for name in (*same_names(random), *different_names(random))]
    _, wrong = group_wrong(names, random)
    assert wrong == []


def test_a_cannot_link_holds_through_chains() -> None:
    entities = [GraphEntity(key, key, "Product") for key in ("alpha", "beta", "gamma", "delta")]
    same = {pair: Found("same", "said so", score) for pair, score in (((0, 1), 0.99), ((1, 2), 0.98), ((2, 3), 0.97))}
    plan = planned(entities, same, {(0, 3): Found("different", "a model saw both", 0.0)})
    assert groups(plan) == {frozenset({"alpha", "beta", "gamma"})}
    assert [(pair.a, pair.b) for pair in plan.refused] == [("delta", "gamma")]
    assert "another thing" in plan.refused[0].reason


def test_types_that_exclude_each_other_are_not_joined_through_a_type_that_says_little() -> None:
    entities = [
        GraphEntity("1", "Mercury", "Person"),
        GraphEntity("2", "Mercury", "Thing"),
        GraphEntity("3", "Mercury", "Location"),
    ]
    same = {pair: Found("same", "said so", 0.9) for pair in combinations(range(3), 2)}
    assert len(groups(planned(entities, same))) == 1
    assert all(len(group) == 2 for group in groups(planned(entities, same)))
    assert (
        types_exclude("Person", "Places")
        and not types_exclude("Board", "Module")
        and not types_exclude("Person", "Thing")
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 12), st.data())
def test_groups_do_not_depend_on_the_order_of_entities_or_decisions(count: int, data: st.DataObject) -> None:
    keys = [f"name {letter}" for letter in "abcdefghijkl"[:count]]
    pairs = list(combinations(keys, 2))
    yes = data.draw(st.lists(st.sampled_from(pairs), unique=True))
    no = data.draw(st.lists(st.sampled_from(pairs), unique=True))
    scores = {pair: data.draw(st.sampled_from([0.9, 0.95])) for pair in yes}
    found = []
    for order in (keys, data.draw(st.permutations(keys))):
        index = {key: at for at, key in enumerate(order)}
        entities = [GraphEntity(key, key, "Product") for key in order]
        same = {
            tuple(sorted((index[a], index[b]))): Found("same", "said", scores[a, b])
            for a, b in data.draw(st.permutations(yes))
        }
        apart = {tuple(sorted((index[a], index[b]))): Found("different", "said", 0.0) for a, b in no}
        plan = planned(entities, same, apart)  # type: ignore[arg-type]
        found.append((groups(plan), [(p.a, p.b, p.reason) for p in plan.refused]))
        forbidden = {frozenset(pair) for pair in no}
        assert not any(frozenset(pair) in forbidden for group in groups(plan) for pair in combinations(group, 2))
    assert found[0] == found[1]


@settings(max_examples=15, deadline=None)
@given(SEEDS)
def test_the_rules_do_not_depend_on_order_and_join_equal_forms_and_no_conflicts(seed: int) -> None:
    random = Random(seed)
    names = sorted({name.name for _ in range(15) for name in (*same_names(random), *different_names(random))})
    entities = [GraphEntity(name, name, "Product", mentions=random.randrange(1, 5)) for name in names]
    plan = ruled(entities)
    assert ruled(random.sample(entities, len(entities))) == plan
    group_of = {member.name: number for number, group in enumerate(plan.groups) for member in group.members}
    for a, b in combinations(names, 2):
        together = a in group_of and group_of[a] == group_of.get(b)
        assert not (together and conflict(read_name(a), read_name(b)))
        assert together or read_name(a).form != read_name(b).form


def test_one_name_with_two_types_is_one_thing_only_where_the_types_allow_it() -> None:
    def merged(type_: str, other: str) -> bool:
        return bool(ruled([GraphEntity("1", "Portenta H7", type_), GraphEntity("2", "Portenta H7", other)]).groups)

    assert merged("Board", "Product") and merged("Product", "Thing")
    assert not merged("Board", "Person") and not merged("Protocol", "Spaceship")


def test_every_pair_of_a_group_has_a_reason_and_the_most_mentioned_stays() -> None:
    entities = [
        GraphEntity("1", "ESLOV connectors", "Part", mentions=1),
        GraphEntity("2", "ESLOV connector", "Part", mentions=9),
        GraphEntity("3", "the Eslov-Connector", "Part", mentions=2),
    ]
    (group,) = ruled(entities).groups
    assert group.survivor == "2"
    assert {(pair.a, pair.b) for pair in group.pairs} == {("1", "2"), ("1", "3"), ("2", "3")}
    assert all(pair.reason and pair.verdict in ("always", "same", "joined") for pair in group.pairs)


def test_a_threshold_below_the_rules_still_merges_no_conflict() -> None:
    entities = [
        GraphEntity(name, name, "Part")
        for name in (
            "analog voltage input",
            "analogue voltage input",
            "analog voltage input 1",
            "analog voltage input 2",
        )
    ]
    readings = [read_name(entity.name) for entity in entities]
    plan = make_plan(
        "g", entities, readings, decide_by_rules(entities, readings, threshold=0.1), method="rules", settings={}
    )
    assert groups(plan) == {frozenset({"analog voltage input", "analogue voltage input"})}
