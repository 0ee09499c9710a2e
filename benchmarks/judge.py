"""How far judges agree with people: `rules`, word F1, and the judges that the calibration files record.

    python -m benchmarks.judge [--data ../shared/data]

Two tables: right or wrong of answers to HotpotQA questions (accuracy and kappa), and which of two long answers is better (Pearson). The
rules were written with the HotpotQA answers in view; leaving the question's words out of the comparison is their only choice that was
made on the pairs, and the other halves of both files were not looked at.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import DATA
from benchmarks.json_lines import read_rows
from benchmarks.tables import print_table
from kgrag.evaluate.judge import rules
from kgrag.evaluate.judge.calibration import Pairs, agreement, pair_agreement, read_calibration
from kgrag.evaluate.judge.metrics import category
from kgrag.evaluate.judge.presets import load_preset
from kgrag.evaluate.overlap import word_f1
from kgrag.evaluate.statistics import Interval

ASPECTS = ("correctness", "completeness", "overall")


def shown(interval: Interval | None) -> str:
    """Write a figure with its interval."""
    return "not defined" if interval is None else f"{interval:.2f}"


def main() -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    folder = parser.parse_args().data / "judge_calibration"
    if not folder.is_dir():
        print(f"{folder} is not there: skipped.")
        return 0
    scored, _ = read_calibration(folder / "human_scored_answers.jsonl")
    preset = load_preset("thesis")
    judges: dict[str, list[bool | None]] = {
        "rules": [
            category(rules.correctness(one.question, [one.reference], one.answer), preset=preset) in ("TP", "PARTIAL")
            and rules.correctness(one.question, [one.reference], one.answer).coverage >= 0.5
            for one in scored
        ],
        "word F1 from 0.2": [word_f1(one.answer, [one.reference]) >= 0.2 for one in scored],
        "recorded LLM judge": [None if one.other is None else one.other >= 0.5 for one in scored],
    }
    rows = []
    for name, judged in judges.items():
        found = agreement([one.human for one in scored], judged)
        rows.append(
            [
                name,
                str(found.n),
                shown(found.accuracy),
                f"{found.kappa:.2f}",
                f"{found.right[0]}/{found.right[1]}",
                f"{found.wrong[0]}/{found.wrong[1]}",
            ]
        )
    print_table("Right or wrong, against people", ["judge", "n", "accuracy", "kappa", "right", "wrong"], rows, [""])
    file = folder / "human_preferences.jsonl"
    _, pairs = read_calibration(file)
    recorded = [row["ragchecker"] for row in read_rows(file)]
    columns: dict[str, Callable[[str], Sequence[float]]] = {
        "rules": lambda _: differences(pairs, rules.preference),
        "word F1": lambda _: differences(pairs, lambda question, reference, answer: word_f1(answer, [reference])),
        "recorded LLM (claims)": lambda aspect: [one["b"][aspect] - one["a"][aspect] for one in recorded],
    }
    rows = [
        [name, *(shown(pair_agreement(pairs, of(aspect), aspect=aspect).pearson) for aspect in ASPECTS)]
        for name, of in columns.items()
    ]
    ceilings = [
        pair_agreement(pairs, [0.0, 1.0] * (len(pairs) // 2), aspect=aspect).human_ceiling for aspect in ASPECTS
    ]
    rows.append(["one person against the other", *(f"{one:.2f}" for one in ceilings if one is not None)])
    print_table(f"Which answer is better, Pearson with people, {len(pairs)} pairs", ["judge", *ASPECTS], rows, [])
    return 0


def differences(pairs: Sequence[Pairs], score: Callable[[str, str, str], float]) -> list[float]:
    """Score b minus a."""
    return [
        score(one.question, one.reference, one.answer_b) - score(one.question, one.reference, one.answer_a)
        for one in pairs
    ]


if __name__ == "__main__":
    raise SystemExit(main())
