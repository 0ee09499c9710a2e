"""Plots of an evaluation: pipelines with their intervals, quality over what it takes, and where gold facts are lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kgrag.common.plots import INK, PALETTE, figure, svg
from kgrag.evaluate.summary import ALL, Summary

__all__ = ["intervals", "losses", "quality_against", "quality_over_tokens"]

MOST_NAMES = 5
"""Pipelines that are named in a plot of points."""
LABEL_WIDTH, LABEL_HEIGHT = 0.12, 0.05
"""Shares of a plot of points in which there is room for one label only."""


def intervals(summary: Summary) -> str:
    """Draw the mean of each pipeline with its interval, best last, by the main measure."""
    found = [
        (one, interval) for one in summary.pipelines if (interval := summary.interval(one, summary.main)) is not None
    ]
    found.sort(key=lambda pair: pair[1].value)
    drawn, axes = figure(7, 0.8 + 0.28 * max(len(found), 1))
    for row, (pipeline, one) in enumerate(found):
        colour = PALETTE[1] if pipeline == summary.baseline else PALETTE[0]
        axes.plot([one.low, one.high], [row, row], color=colour, linewidth=2)
        axes.plot([one.value], [row], "o", color=colour)
    axes.set_yticks(range(len(found)), [pipeline for pipeline, _ in found])
    axes.set_xlabel(f"{summary.main}, mean and 95 % interval; the baseline in orange")
    return svg(drawn, "Mean of each pipeline with its interval")


def quality_against(summary: Summary, measure: str, *, unit: str, pipelines: Sequence[str]) -> str:
    """Draw the main measure of each pipeline over what it takes (tokens, seconds, dollars).

    More than `MOST_NAMES` pipelines are named by their number in `pipelines`, from 1; points that cannot be told apart share a label.
    """
    points = [
        (x, y, str(number) if len(pipelines) > MOST_NAMES else pipeline, pipeline == summary.baseline)
        for number, pipeline in enumerate(pipelines, start=1)
        if (x := summary.mean(pipeline, measure)) is not None
        and (y := summary.mean(pipeline, summary.main)) is not None
    ]
    drawn, axes = figure(5, 3.4)
    for x, y, _, is_baseline in points:
        axes.plot([x], [y], "o", color=PALETTE[1] if is_baseline else PALETTE[0])
    width = max((x for x, *_ in points), default=0.0)
    height = max((y for _, y, *_ in points), default=0.0) - min((y for _, y, *_ in points), default=0.0)
    groups: list[list[tuple[float, float, str]]] = []
    for x, y, name, _ in points:
        near = (
            group
            for group in groups
            if abs(group[0][0] - x) <= LABEL_WIDTH * width and abs(group[0][1] - y) <= LABEL_HEIGHT * height
        )
        group = next(near, None)
        if group is None:
            groups.append([(x, y, name)])
        else:
            group.append((x, y, name))
    for group in groups:
        right, top = max(x for x, _, _ in group), max(y for _, y, _ in group)
        label = ", ".join(name for *_, name in group)
        axes.annotate(label, (right, top), xytext=(5, 3), textcoords="offset points", fontsize=8, color=INK)
    axes.set_xlabel(f"{measure} ({unit})")
    axes.set_ylabel(summary.main)
    axes.set_xlim(left=0)
    return svg(drawn, f"{summary.main} over {measure}")


def losses(summary: Summary, pipelines: Sequence[str]) -> str:
    """Draw for each pipeline what is answered, what retrieval lost and what answering lost, as shares of the gold facts."""
    measures = ("nuggets", "lost in answering", "lost in retrieval")
    shown = [one for one in pipelines if all(summary.mean(one, measure) is not None for measure in measures)]
    drawn, axes = figure(7, 0.9 + 0.28 * max(len(shown), 1))
    left = [0.0] * len(shown)
    for measure, colour in zip(measures, (PALETTE[2], PALETTE[1], PALETTE[4]), strict=True):
        widths = [summary.mean(one, measure, ALL) or 0.0 for one in shown]
        axes.barh(range(len(shown)), widths, left=left, color=colour, label=measure)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    axes.set_yticks(range(len(shown)), shown)
    axes.set_xlabel("share of gold facts, mean over questions")
    drawn.legend(loc="outside upper center", ncols=3, frameon=False)
    return svg(drawn, "Where gold facts are lost")


def quality_over_tokens(curves: Mapping[str, Mapping[int, float]], *, title: str) -> str:
    """Draw a line for each pipeline: the mean share of gold facts inside a budget, over that budget in tokens."""
    drawn, axes = figure(8, 4.4)
    styles = ("-", "--", ":", "-.")
    for place, (pipeline, curve) in enumerate(curves.items()):
        line = {"color": PALETTE[place % len(PALETTE)], "linestyle": styles[place // len(PALETTE) % len(styles)]}
        axes.plot(sorted(curve), [curve[budget] for budget in sorted(curve)], label=pipeline, **line)
    axes.set_title(title)
    axes.set_xlabel("tokens of evidence")
    axes.set_ylabel("share of gold facts")
    axes.set_xlim(left=0)
    axes.set_ylim(0, 1)
    axes.grid(axis="y", alpha=0.3)
    drawn.legend(loc="outside right upper", frameon=False)
    return svg(drawn, "Gold facts over tokens")
