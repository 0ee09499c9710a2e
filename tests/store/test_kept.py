"""What is made from a store's content once."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import kgrag
from kgrag.store.kept import KeptUntilBuilt


def test_a_value_is_made_anew_when_the_state_is_another_one_and_after_forgetting() -> None:
    states, made = [1], []

    def make() -> int:
        made.append(states[-1])
        return len(made)

    kept = KeptUntilBuilt(lambda: states[-1], checked_every_s=0)
    assert [kept.get("a", make), kept.get("a", make)] == [1, 1]
    states.append(2)
    assert kept.get("a", make) == 2
    kept.forget()
    assert kept.get("a", make) == 3


def test_the_state_is_not_asked_for_more_often_than_said() -> None:
    asked: list[int] = []

    def state() -> int:
        asked.append(0)
        return len(asked)

    kept = KeptUntilBuilt(state, checked_every_s=3600)
    assert [kept.get("a", lambda: "x"), kept.get("a", lambda: "y")] == ["x", "x"]
    assert len(asked) == 1


def test_an_open_store_says_why_it_cannot_be_pickled_and_which_it_is(tmp_path: Path) -> None:
    with kgrag.open(tmp_path / "a.kg") as kg:
        assert repr(kg) == f"kgrag.open({str(tmp_path / 'a.kg')!r})"
        with pytest.raises(TypeError, match=r"cannot be pickled.*kgrag\.open"):
            pickle.dumps(kg)
