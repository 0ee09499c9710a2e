"""`kgrag report`: a run as one self-contained HTML page, as Markdown and as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from kgrag.common.spreadsheets import plain_cell
from kgrag.errors import InputError
from kgrag.evaluate import plots
from kgrag.evaluate.judge import rules
from kgrag.evaluate.judge.judges import one_family
from kgrag.evaluate.judge.presets import evaluation_folder
from kgrag.evaluate.lengths import length_lines, markdown_row
from kgrag.evaluate.runs import Run
from kgrag.evaluate.statistics import FEWEST_CLUSTERS
from kgrag.evaluate.summary import ALL, Summary

__all__ = ["answer_in_three_sentences", "threats", "write_csv", "write_html", "write_markdown"]

THESIS_COLUMNS = ("relevance", "completeness", "helpfulness")
THESIS_TABLES = ((3, "recall"), (4, "relevance"), (5, "completeness"), (6, "helpfulness"))
"""Its tables by type of question; table 2 is over all."""
FILLED = 0.9
"""Share of an equal budget of tokens from which a pipeline has filled it."""
FEW_DOCUMENTS = 20
"""Documents that a set of questions is about, below which the report says so."""
EVIDENCE_CHARACTERS = 400
"""Of a passage in the drill-down."""


def answer_in_three_sentences(summary: Summary) -> list[str]:
    """Say which pipeline to take for which type, how sure that is, and what it costs."""
    by_type = {verdict.query_type: verdict for verdict in summary.verdicts}
    if ALL not in by_type:
        return ["Nothing was judged in this run, so nothing can be said."]
    whole = by_type.pop(ALL)
    left = sum(summary.missing.values())
    unfinished = (
        f"Not finished: {left:,} answers are missing or not judged, and left out here; the same kgrag compare goes on. "
        if left
        else ""
    )
    decided = [verdict for verdict in by_type.values() if verdict.decided]
    first = (
        f"Take {whole.best}: over all questions it is better than {summary.baseline} ({summary.main} {whole.grounds})."
        if whole.decided
        else f"No pipeline is shown to be better than {summary.baseline} over all questions by {summary.main}: {whole.grounds}."
    )
    second = (
        "By type: " + "; ".join(f"{one.query_type}: {one.in_words}" for one in decided) + "."
        if decided
        else "For no single type of question is a pipeline shown to be better; see below which differences would have shown."
        if by_type
        else "The questions have no types, so there is no advice by type."
    )
    tokens, seconds = (summary.mean(whole.best, one) or 0.0 for one in ("evidence tokens", "seconds"))
    cost = summary.mean(whole.best, "cost") or 0.0
    third = f"{whole.best} shows {tokens:,.0f} tokens of evidence a question and takes {seconds:.2f} s" + (
        f" and {cost:.4f} dollars." if cost else "."
    )
    return [unfinished + first, second, third]


def threats(run: Run, summary: Summary) -> list[str]:
    """Say what speaks against the figures."""
    settings = run.settings
    asked = len(next(iter(summary.rows.values()), ()))
    found = [
        f"{asked} questions, {asked / max(len(summary.types), 1):.0f} of a type: see which differences they could have shown."
    ]
    rows = next(iter(summary.rows.values()), ())
    if made := sum(row.synthetic for row in rows):
        found.append(f"{made} of {asked} questions are made by templates: people ask otherwise.")
    if (clusters := len({row.cluster for row in rows})) < min(asked, FEW_DOCUMENTS):
        found.append(
            f"All questions are about {clusters} documents: other documents may behave otherwise"
            + (
                ", and intervals and tests are over questions, not over documents."
                if clusters < FEWEST_CLUSTERS
                else "."
            )
        )
    if settings.judge == "rules":
        found.append(f"The judge is model-free: {rules.BLIND}.")
    elif one_family(settings.judge, settings.model):
        found.append(
            f"Judge ({settings.judge}) and answerer ({settings.model}) are of one family: a judge favours its own."
        )
    if settings.model == "rules":
        found.append("Answers are extractive (rules): a language model would answer otherwise from the same evidence.")
    by_remark: dict[str, list[str]] = {}
    for pipeline, remarks in summary.remarks.items():
        for remark in remarks:
            by_remark.setdefault(remark.removeprefix(f"{pipeline}: "), []).append(pipeline)
    found += [f"{', '.join(pipelines)}: {remark}." for remark, pipelines in by_remark.items()]
    if (unpriced := settings.made_with.get("without_price")) is not None:
        found.append(f"No price is known of {unpriced} (--prices): costs are without it.")
    if settings.repeats == 1 and settings.model != "rules":
        found.append("Each question was asked once: how much answers vary from call to call is not in the intervals.")
    if missing := {one: count for one, count in summary.missing.items() if count}:
        found.append(
            "Without an answer or a judgement, left out: " + ", ".join(f"{one} {n}" for one, n in missing.items()) + "."
        )
    if summary.parts_missing:
        counted = ", ".join(f"{part} {count}" for part, count in sorted(summary.parts_missing.items()))
        found.append(f"Parts that could not be judged, left out of their means: {counted}.")
    if settings.top is None and settings.budget is None:
        found.append("Each pipeline shows as much evidence as its file says: compare at equal --budget too.")
    if settings.budget is not None:
        shown = {one: (summary.mean(one, "evidence tokens") or 0.0) / settings.budget for one in summary.pipelines}
        if short := {one: share for one, share in shown.items() if share < FILLED}:
            listed = ", ".join(f"{one} {share:.0%}" for one, share in short.items())
            found.append(
                f"All may show {settings.budget:,} tokens of evidence, but these found less to show: {listed}."
            )
    if settings.judge_repeats == 1 and settings.judge != "rules":
        found.append("The judge was asked once: how much it varies (--judge-repeats) is not in the intervals.")
    if summary.calibration is None:
        found.append(
            "The judge was not calibrated on answers that people judged (kgrag judge calibrate --run): rates are as it saw them."
        )
    return found


def write_html(run: Run, out: Path, *, summary: Summary) -> None:
    """Write the page: readable without JavaScript, without anything from elsewhere. Raises `InputError` where the extra is missing."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise InputError(
            "Reports are made with Jinja2, which is not installed. Run: pip install 'kgrag[charts]'"
        ) from error
    environment = Environment(
        loader=PackageLoader("kgrag.evaluate", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    best = sorted(summary.pipelines, key=lambda one: -(summary.mean(one, summary.main) or 0.0))
    page = environment.get_template("report.html.j2").stream(
        ALL=ALL,
        summary=summary,
        best=best,
        settings=run.settings,
        answer=answer_in_three_sentences(summary),
        threats=threats(run, summary),
        plots={
            "intervals": plots.intervals(summary),
            "tokens": plots.quality_against(summary, "evidence tokens", unit="mean a question", pipelines=best),
            "seconds": plots.quality_against(summary, "seconds", unit="mean a question", pipelines=best),
            "cost": plots.quality_against(summary, "cost", unit="dollars a question", pipelines=best)
            if any(summary.mean(one, "cost") for one in summary.pipelines)
            else "",
            "losses": plots.losses(summary, best[::-1]),
        },
        numbered=len(best) > plots.MOST_NAMES,
        measures=measures(summary),
        losses=partial(_losses, summary),
        published=published("thesis_results"),
        published_by_type={name: published(f"thesis_{name}_by_type") for _, name in THESIS_TABLES},
        thesis_tables=THESIS_TABLES,
        beside=any(pipeline in published("thesis_results") for pipeline in summary.pipelines),
        abstention=_answerability(summary),
        thesis_columns=THESIS_COLUMNS,
        questions=drill_down(run),
    )
    page.dump(str(out), encoding="utf-8")


def _answerability(summary: Summary) -> dict[str, int] | None:
    """Count the questions of which it is known whether the documents answer them; None where it is of none."""
    known = [row.answerable for row in summary.rows[summary.baseline] if row.answerable is not None]
    return {"asked": len(known), "unanswerable": known.count(False)} if known else None


def measures(summary: Summary) -> list[str]:
    """Return the measures that any answer has, in their order."""
    rows = [row for some in summary.rows.values() for row in some]
    names = dict.fromkeys(name for row in rows for name in row.scores)
    return [name for name in names if any(row.scores.get(name) is not None for row in rows)]


def published(name: str) -> dict[str, dict[str, str]]:
    """Read a published table: pipeline → column → figure as printed."""
    with (evaluation_folder() / "published" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return {row.pop("pipeline"): row for row in csv.DictReader(file)}


def drill_down(run: Run) -> Iterator[dict[str, Any]]:
    """Yield each question with its answers side by side; a passage that several pipelines found is there once."""
    for question in run.questions():
        passages: dict[str, dict[str, str]] = {}
        answers = []
        for result in run.results(question.id):
            shown = [] if result.answer is None else [_passage(piece, passages) for piece in result.answer.evidence]
            answers.append({"result": result, "evidence": shown})
        yield {"question": question, "answers": answers, "passages": passages}


def _passage(piece: Any, passages: dict[str, dict[str, str]]) -> str:
    key = piece.chunk_id or f"{piece.document}/{piece.section}/{piece.text[:40]}"
    if key not in passages:
        page = "" if piece.page_start is None else f", page {piece.page_start}"
        text = piece.text if len(piece.text) <= EVIDENCE_CHARACTERS else piece.text[: EVIDENCE_CHARACTERS - 1] + "…"
        place = f"{piece.document}{page}" + (f", {piece.section}" if piece.section else "")
        passages[key] = {"number": f"P{len(passages) + 1}", "place": place, "text": text}
    return passages[key]["number"]


def write_markdown(run: Run, out: Path, *, summary: Summary) -> None:
    """Write the answer, the table of pipelines and types, the verdicts and the threats as Markdown."""
    settings = run.settings
    columns = [ALL, *summary.types]
    lines = ["# Which way of asking is best", "", *answer_in_three_sentences(summary), ""]
    lines += [
        f"## {summary.main} by type, mean [95 % interval]",
        "",
        _with_a_score(summary),
        "",
        markdown_row(["pipeline", *columns]),
        markdown_row(["---"] * (1 + len(columns))),
    ]
    for pipeline in summary.pipelines:
        cells = []
        for query_type in columns:
            one = summary.interval(pipeline, summary.main, query_type)
            cells.append("" if one is None else f"{one:.2f}")
        lines.append(markdown_row([pipeline, *cells]))
    if summary.has_losses:
        lines += ["", "## Gold facts lost in retrieval + lost in answering", "", markdown_row(["pipeline", *columns])]
        lines.append(markdown_row(["---"] * (1 + len(columns))))
        for pipeline in summary.pipelines:
            lines.append(markdown_row([pipeline, *(_losses(summary, pipeline, one) for one in columns)]))
    if (known := _answerability(summary)) is not None:
        asked, unanswerable = known["asked"], known["unanswerable"]
        lines += ["", f"## Abstentions ({unanswerable} of {asked} questions have no answer)", ""]
        lines += [
            markdown_row(["pipeline", "right of all abstentions", "abstained of questions without an answer"]),
            markdown_row(["---"] * 3),
        ]
        for pipeline in summary.pipelines:
            lines.append(markdown_row([pipeline, *(f"{one.hits} of {one.of}" for one in summary.abstention(pipeline))]))
    lines += ["", "## By type", ""] + [f"- {one.query_type}: {one.in_words}" for one in summary.verdicts]
    lines += length_lines(summary)
    if summary.calibration is not None:
        head = ["pipeline", "seen", "corrected"]
        lines += [
            "",
            "## Right answers, corrected for the judge's errors",
            "",
            markdown_row(head),
            markdown_row(["---"] * 3),
        ]
        for pipeline in summary.pipelines:
            one, seen = summary.corrected(pipeline), summary.mean(pipeline, "right")
            corrected = "" if one is None else f"{one:.2f}"
            lines.append(markdown_row([pipeline, "" if seen is None else f"{seen:.2f}", corrected]))
    lines += ["", "## What speaks against these figures", ""] + [f"- {one}" for one in threats(run, summary)]
    lines += ["", "## Made with", ""] + [f"- {key}: {value}" for key, value in settings.model_dump().items()]
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _with_a_score(summary: Summary) -> str:
    """Say how many questions the means are over: those that have a score by the main measure, of all that were asked."""

    def counted(query_type: str) -> str:
        scored = [
            sum(row.scores.get(summary.main) is not None for row in summary.of_type(one, query_type))
            for one in summary.pipelines
        ]
        fewest, most = min(scored), max(scored)
        asked = len(summary.of_type(summary.baseline, query_type))
        return f"{query_type} {most if fewest == most else f'{fewest} to {most}'} of {asked}"

    return f"Questions with a score: {', '.join(map(counted, (ALL, *summary.types)))}."


def _losses(summary: Summary, pipeline: str, query_type: str) -> str:
    retrieval, answering = (summary.mean(pipeline, f"lost in {one}", query_type) for one in ("retrieval", "answering"))
    return "" if retrieval is None or answering is None else f"{retrieval:.2f} + {answering:.2f}"


def write_csv(out: Path, *, summary: Summary) -> None:
    """Write one line for each question and pipeline with all its scores; an empty field is what could not be judged."""
    names = measures(summary)
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["pipeline", "question", "query_type", "category", *names])
        for pipeline, rows in summary.rows.items():
            for row in rows:
                values = [_field(row.scores.get(name)) for name in names]
                writer.writerow(
                    [*map(plain_cell, (pipeline, row.question, row.query_type, row.category or "")), *values]
                )


def _field(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
