"""What a comparison would still do and cost, by the pace of what its run has, before anything is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgrag.evaluate.runs import Cell, Run, judge_key
from kgrag.jobs.comparison import Comparison, Rejudge, judged_cells
from kgrag.models import CHAT_MODELS
from kgrag.models.prices import PriceTable
from kgrag.types import Usage

__all__ = ["Outlook", "outlook"]

JUDGE_CALLS = 8
"""Calls of a model that judges one answer: one for each part, two for nuggets."""
MEASURED_CELLS = 200
ASSUMED_PROMPT_TOKENS, ASSUMED_COMPLETION_TOKENS, ASSUMED_SECONDS = 3000, 150, 2.0
"""Of one call, until a run has answers to measure."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a comparison would still do."""

    cells: int
    answers: int
    judgements: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    """US dollars; None where a model is needed that has no known price."""
    seconds: float
    """One after the other, at the pace of what the run has; else a guess."""
    measured: bool


def outlook(
    run: Run | None,
    comparison: Comparison,
    *,
    prices: PriceTable,
    rejudge: Rejudge = "missing",
) -> Outlook:
    """Say what is missing in a run (None: it was not begun) and what it would take, with all that `compare` would judge again.

    Calls nothing and writes nothing.
    """
    settings, cells = comparison.settings, comparison.cells
    judges = [judge_key(settings.judge_fingerprint, repeat) for repeat in range(settings.judge_repeats)]
    answered = set[str]() if run is None else run.answered()
    judged = {judge: set[str]() if run is None else judged_cells(run, judge, rejudge) for judge in judges}
    unanswered = sum(cell.key not in answered for cell in cells)
    unjudged = sum(cell.key not in judged[judge] for judge in judges for cell in cells)
    answers, judgements = ([], []) if run is None else _measured(run, cells, answered, judges[0])
    expected, costs = Usage(), list[float | None]()
    for model, known, calls, count in (
        (settings.model, answers, 1, unanswered),
        (settings.judge, judgements, JUDGE_CALLS, unjudged),
    ):
        usage = _expected(model, known, calls=calls, count=count)
        price = prices.of(model)
        costs.append(0.0 if not usage.calls else None if price is None else price.of(usage))
        expected += usage
    return Outlook(
        cells=len(cells),
        answers=unanswered,
        judgements=unjudged,
        calls=expected.calls,
        prompt_tokens=expected.prompt_tokens,
        completion_tokens=expected.completion_tokens,
        cost=None if None in costs else round(sum(one or 0.0 for one in costs), 4),
        seconds=round(expected.seconds, 1),
        measured=bool(answers),
    )


def _measured(run: Run, cells: Sequence[Cell], answered: set[str], judge: str) -> tuple[list[Usage], list[Usage]]:
    """Return what the first answers and the first judgements of a run took, so many of each at most."""
    answers, judgements = list[Usage](), list[Usage]()
    for cell in cells:
        if cell.key in answered and len(answers) < MEASURED_CELLS and (answer := run.answer(cell.key)) is not None:
            answers.append(answer.usage.model_copy(update={"seconds": answer.seconds}))
        if len(judgements) < MEASURED_CELLS and (judgement := run.judgement(cell.key, judge)) is not None:
            judgements.append(judgement.usage)
        if len(answers) == len(judgements) == MEASURED_CELLS:
            break
    return answers, judgements


def _expected(model: str, known: Sequence[Usage], *, calls: int, count: int) -> Usage:
    """Expect of so many more cells what those that are known took on average, or what is assumed of one call."""
    asks = model not in CHAT_MODELS
    # What came from the cache of replies cost nothing and says nothing of what is not in it.
    paid = [one for one in known if one.calls] if asks else known
    if not paid:
        assumed = ASSUMED_SECONDS * calls if asks or not known else 0.0
        each = Usage(
            calls=calls * asks,
            prompt_tokens=ASSUMED_PROMPT_TOKENS * calls * asks,
            completion_tokens=ASSUMED_COMPLETION_TOKENS * calls * asks,
            seconds=assumed if asks or calls == 1 else 0.0,
        )
        return _times(each, count)
    return _times(sum(paid, Usage()), count / len(paid))


def _times(usage: Usage, factor: float) -> Usage:
    return Usage(
        calls=round(usage.calls * factor),
        prompt_tokens=round(usage.prompt_tokens * factor),
        completion_tokens=round(usage.completion_tokens * factor),
        seconds=usage.seconds * factor,
    )
