"""How right answers without a model are.

    python -m benchmarks.answers [MANUALS] [--sets clapnq,support-development] [--cache FOLDER] [--again | --kept] [--wrong]
    python -m benchmarks.answers MANUALS --sets support-development --store neo4j://host:7687 --embedder minilm-int8 [--named]

clapnq, its 150 answerable questions: mean of the best word F1 with a gold answer (an abstention counts 0; and without
abstentions), and the share of gold sentences that are given word for
word; with its 150 unanswerable ones the precision and recall of abstention, and balanced accuracy: the mean of the share of answerable
questions that are answered and of unanswerable ones that are refused.

Support questions (`benchmarks/support/questions.jsonl`, written from the text of the manuals before anything was asked): the right value is
there where all strings of one of the true answers are, as whole words in any case. "first line" is the first statement of the answer;
"wrong" is an answer without the right value, or any answer to what the manual does not say, as a share of all questions; the other shares
are of answerable questions. MANUALS is the folder with the unpacked packages (see `benchmarks/answer_sets.py`). `--again` asks the kept
stores anew, `--kept` answers anew from the evidence that was kept with the answers, `--wrong` prints the answers that are not right.

`--store` asks one store of many manuals (`kgrag build MANUALS --store ...`) the questions to those whose package is in MANUALS, all halves
that begin with the set's name together; with `--named` each as `In MANUAL, ...`: most were written for a store of their manual alone.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import kgrag
from benchmarks.answer_sets import (
    CACHE,
    AnswerSet,
    answer_sets,
    answered_anew,
    asked_of_packages,
    is_answerable,
    present,
)
from benchmarks.tables import print_table
from kgrag.models.minilm import MiniLM
from kgrag.types import Answer

STATEMENT = re.compile(r"^- (.*?)(?: \[\d+\])*$", re.MULTILINE)


def main() -> None:
    """Ask and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manuals", type=Path, nargs="?", help="folder with Debian's packages, unpacked")
    parser.add_argument("--sets", default="clapnq,support-development,support-reported")
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--again", action="store_true", help="ask the kept stores anew")
    parser.add_argument("--wrong", action="store_true", help="print what is not right")
    parser.add_argument(
        "--kept", action="store_true", help="answer anew from the evidence that was kept, without retrieval"
    )
    parser.add_argument("--store", help="one store of many manuals, built before")
    parser.add_argument("--embedder", default="minilm", help="of that store")
    parser.add_argument("--named", action="store_true", help="name the manual in each question to that store")
    arguments = parser.parse_args()
    if arguments.store:
        ask_one_store(arguments)
        return
    embedder = MiniLM()
    for one in present(arguments.sets.split(","), answer_sets(arguments.manuals)):
        answers = one.answers(arguments.cache, again=arguments.again)
        if arguments.kept:
            answers = [asyncio.run(answered_anew(answer, embedder)) for answer in answers]
        if one.name.startswith("support"):
            report_support(one.name, one.rows, answers, tell=arguments.wrong)
        else:
            report_passages(one, answers)


def ask_one_store(arguments: argparse.Namespace) -> None:
    """Ask one store of many manuals the questions to each of them, and print how right the answers are."""
    with kgrag.open(arguments.store, embedder=arguments.embedder) as graph:
        for name in arguments.sets.split(","):
            rows = asked_of_packages(arguments.manuals, name.removeprefix("support-"))
            answers = [graph.ask(_named(row) if arguments.named else row["question"]) for row in rows]
            report_support(name, rows, answers, tell=arguments.wrong)


def _named(row: dict[str, Any]) -> str:
    return f"In {row['manual']}, {row['question'][0].lower()}{row['question'][1:]}"


def report_passages(one: AnswerSet, answers: Sequence[Answer]) -> None:
    """Print word F1, gold sentences and abstention."""
    pairs = list(zip(one.rows, answers, strict=True))
    gold = [(row, answer) for row, answer in pairs if is_answerable(row)]
    refused = [(is_answerable(row), answer.abstained) for row, answer in pairs]
    right = sum(1 for answerable, abstained in refused if abstained and not answerable)
    abstained = sum(1 for _, abstained in refused if abstained)
    unanswerable = sum(1 for answerable, _ in refused if not answerable)
    answered = sum(1 for answerable, abstained in refused if answerable and not abstained)
    cells = [
        f"{_mean([best_f1(row, answer) for row, answer in gold if row.get('gold_answers')]):.3f}",
        f"{_mean([best_f1(row, answer) for row, answer in gold if row.get('gold_answers') and not answer.abstained]):.3f}",
        f"{_mean([gold_sentences_given(r, a) for r, a in gold if r.get('gold_sentences')]):.3f}",
        f"{right / (abstained or 1):.2f}",
        f"{right / (unanswerable or 1):.2f}",
        f"{(right / (unanswerable or 1) + answered / (len(gold) or 1)) / 2:.3f}",
    ]
    head = [
        "set",
        "questions",
        "best word F1",
        "of what is answered",
        "gold sentences given",
        "abstention: precision",
        "recall",
        "balanced accuracy",
    ]
    print_table("Answers to questions on passages", head, [[one.name, str(len(pairs)), *cells]], [])


def said(answer: Answer) -> str:
    """Return the statements of an answer without marks; empty for an abstention."""
    return "" if answer.abstained else " ".join(STATEMENT.findall(answer.text))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def word_f1(text: str, gold: str) -> float:
    """F1 of the words of two texts, as bags."""
    one, other = Counter(_words(text)), Counter(_words(gold))
    common = sum((one & other).values())
    return 2 * common / (one.total() + other.total()) if common else 0.0


def best_f1(row: dict[str, Any], answer: Answer) -> float:
    """F1 with the gold answer that is nearest; 0 for an abstention."""
    return max(word_f1(said(answer), gold) for gold in row["gold_answers"])


def gold_sentences_given(row: dict[str, Any], answer: Answer) -> float:
    """Share of the gold sentences (of the best of several people's choices) that the answer has word for word."""
    text = "".join(_words(said(answer)))
    return max(
        (sum("".join(_words(s)) in text for s in chosen) / len(chosen) for chosen in row["gold_sentences"] if chosen),
        default=0.0,
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def report_support(name: str, rows: Sequence[dict[str, Any]], answers: Sequence[Answer], *, tell: bool) -> None:
    """Print how many answers are right, by kind of question and in all."""
    judged = [(row, verdict(row, answer)) for row, answer in zip(rows, answers, strict=True)]
    groups = [("all", judged)]
    for key in ("manual", "kind"):
        for value in dict.fromkeys(row[key] for row, _ in judged):
            groups.append((value, [(row, v) for row, v in judged if row[key] == value]))
    table = [[of, *_shares(group)] for of, group in groups]
    head = [
        "questions of",
        "answerable",
        "right in the first line",
        "in the answer",
        "wrongly refused",
        "of these with the value in what is nearest",
        "not said",
        "of these with something shown as nearest",
        "wrong",
    ]
    print_table(name, head, table, [])
    if tell:
        for (row, found), answer in zip(judged, answers, strict=True):
            if found not in ("first line", "refused rightly", "refused rightly, shown"):
                print(
                    f"\n{row['id']} {found.upper()}: {row['question']}\n  true: {row['answers'] or 'refusal'}\n{answer.text}"
                )


def verdict(row: dict[str, Any], answer: Answer) -> str:
    """Say what an answer is: first line, in the answer, refused (rightly), wrong, or said though it is not said in the manual.

    "refused, near" is refused with the right value in what is shown as nearest, "refused rightly, shown" with anything there.
    """
    if answer.abstained:
        if not row["answers"]:
            return "refused rightly, shown" if answer.nearest else "refused rightly"
        return (
            "refused, near" if has_value("\n".join(one.text for one in answer.nearest), row["answers"]) else "refused"
        )
    if not row["answers"]:
        return "made up"
    lines = STATEMENT.findall(answer.text)
    if lines and has_value(lines[0], row["answers"]):
        return "first line"
    return "in the answer" if has_value("\n".join(lines), row["answers"]) else "wrong"


def has_value(text: str, answers: Sequence[Sequence[str]]) -> bool:
    """Whether all strings of one of the true answers are in a text, as whole words."""
    plain = " ".join(text.casefold().replace("’", "'").replace(",", "").split())
    return any(all(_has(plain, value.casefold().replace(",", "")) for value in values) for values in answers)


def _has(text: str, value: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(value)}(?!\w|\.\d)", text) is not None


def _shares(judged: Sequence[tuple[dict[str, Any], str]]) -> list[str]:
    count = Counter(found for _, found in judged)
    answerable = sum(1 for row, _ in judged if row["answers"])
    said_not = len(judged) - answerable
    first, inside = count["first line"], count["first line"] + count["in the answer"]
    wrong = count["wrong"] + count["made up"]
    of = answerable or 1
    shown = count["refused rightly, shown"]
    rightly = f"{count['refused rightly'] + shown}/{said_not} refused" if said_not else "-"
    refused, near = count["refused"] + count["refused, near"], count["refused, near"]
    shares = [f"{number / of:.2f}" if answerable else "-" for number in (first, inside, refused, near)]
    return [str(answerable), *shares, rightly, str(shown) if said_not else "-", f"{wrong / len(judged):.2f}"]


if __name__ == "__main__":
    main()
