"""Searching over switches, on objectives whose best choices are known."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.errors import InputError, PipelineError
from kgrag.evaluate.switch_search import effects, every_combination, greedy, halves
from kgrag.evaluate.switches import composed, name_of, read_switches

OPTIONS = {"search": ("dense", "hyde"), "rerank": ("off", "listwise"), "thinking": ("off", "cot")}
QUESTIONS = 40
CLUSTERS = [f"document {number // 2}" for number in range(QUESTIONS)]


def objective(gain: Mapping[str, float], *, seen: list[str] | None = None):
    """Scores of questions to which each choice adds its gain; every second question gains twice as much, the others nothing."""

    async def ask(choices: Mapping[str, str]) -> Sequence[float]:
        if seen is not None:
            seen.append(name_of(choices))
        total = sum(gain.get(choice, 0.0) for choice in choices.values())
        both = frozenset(choices.values())
        total += sum(more for pair, more in gain.items() if "+" in pair and set(pair.split("+")) <= both)
        return [0.2 + total * (2.0 if number % 2 else 0.0) for number in range(QUESTIONS)]

    return ask


def searched(gain: Mapping[str, float], places: Sequence[int] = range(QUESTIONS)) -> tuple[dict[str, str], list[str]]:
    found = asyncio.run(greedy(OPTIONS, objective(gain), places=places, clusters=CLUSTERS))
    return dict(found.chosen), [f"{one.switch} {one.choice}" for one in found.taken]


def test_greedy_takes_what_gains_most_first_and_stops_where_nothing_is_sure() -> None:
    chosen, taken = searched({"hyde": 0.05, "listwise": 0.1, "cot": -0.02})
    assert taken == ["rerank listwise", "search hyde"]
    assert chosen == {"search": "hyde", "rerank": "listwise", "thinking": "off"}
    assert searched({})[1] == []


def test_greedy_goes_back_where_a_later_choice_makes_an_earlier_one_harmful() -> None:
    chosen, taken = searched({"listwise": 0.1, "hyde": 0.05, "hyde+listwise": -0.12, "cot": 0.3, "cot+listwise": -0.2})
    assert taken[0] == "thinking cot"
    assert chosen == {"search": "hyde", "rerank": "off", "thinking": "cot"}


def test_only_the_given_questions_count() -> None:
    even = [number for number in range(QUESTIONS) if number % 2 == 0]
    assert searched({"listwise": 0.1}, places=even)[1] == [], "these questions gain nothing"


def test_all_combinations_show_which_choices_do_not_go_together() -> None:
    ask = objective({"hyde": 0.02, "listwise": 0.1, "cot": 0.05, "cot+listwise": -0.12, "cot+hyde": 0.04})
    means = {}
    for choices in every_combination(OPTIONS):
        scores = asyncio.run(ask(choices))
        means[tuple(choices.items())] = sum(scores) / len(scores)
    assert len(means) == 8
    found = {(one.switch, one.choice, one.given): one.mean for one in effects(means, OPTIONS)}
    assert found["thinking", "cot", "rerank listwise"] == pytest.approx(0.05 - 0.12 + 0.02)
    assert found["thinking", "cot", "rerank off"] == pytest.approx(0.05 + 0.02)
    assert found["thinking", "cot", "search hyde"] > found["thinking", "cot", "search dense"]
    assert found["thinking", "cot", ""] == pytest.approx(0.05 - 0.06 + 0.02)


@given(st.lists(st.sampled_from("abcdefgh"), min_size=2, max_size=60))
def test_halves_keep_documents_together_and_lose_nothing(clusters: list[str]) -> None:
    first, second = halves(clusters)
    assert sorted(first + second) == list(range(len(clusters)))
    assert not {clusters[place] for place in first} & {clusters[place] for place in second}
    largest = max(clusters.count(one) for one in set(clusters))
    assert abs(len(first) - len(second)) <= largest


def test_every_shipped_choice_makes_a_pipeline_and_off_adds_nothing() -> None:
    switches = read_switches()
    start = {switch: next(iter(choices)) for switch, choices in switches.items()}
    plain = composed(switches, start, top=20)
    assert plain.step_names == ["embed", "dense", "read", "budget"]
    for switch, choices in switches.items():
        for choice, steps in choices.items():
            made = composed(switches, {**start, switch: choice}, top=20)
            assert {step["kind"] for step in steps} <= set(made.step_names)
            without = composed(
                switches, {key: value for key, value in start.items() if key != switch or choice != "off"}, top=20
            )
            if choice == "off":
                assert made.steps == without.steps == plain.steps


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "it has no switch"),
        ("[names]\non = []", "at least two choices"),
        ("[names]\noff = []\non = 3", "a list of steps with a kind"),
        ("[names", "expected a table"),
    ],
)
def test_a_wrong_file_of_switches_is_refused_with_what_is_expected(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "switches.toml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_switches(file)


def test_choices_that_do_not_go_together_are_named() -> None:
    switches = {"search": {"dense": [{"kind": "dense"}], "none": []}, "walk": {"on": [{"kind": "walk"}], "off": []}}
    with pytest.raises(PipelineError, match=r"search none, walk on: .*needs seeds"):
        composed(switches, {"search": "none", "walk": "on"}, top=5)
