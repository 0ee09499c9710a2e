"""How the terminal face shows what calls use, and what a build would."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgrag.jobs.estimate import Estimate
    from kgrag.types import Usage

__all__ = ["show_estimate", "usage_words"]


def usage_words(usage: Usage) -> str:
    """Write what calls used in one line."""
    tokens = f"{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens"
    return f"{usage.calls:,} calls, {tokens}, ${usage.cost:,.4f}"


def show_estimate(estimate: Estimate) -> None:
    """Print an estimate, also one that was interrupted."""
    from kgrag.cli.output import stdout, time_said

    def say(line: str) -> None:
        stdout.print(line, markup=False)

    say("Dry run: no model was asked, nothing was changed.")
    if estimate.times_read != 1:
        say(
            f"Of {estimate.files + estimate.unchanged_files:,} of {estimate.found_files:,} files, drawn by chance: "
            f"all together have about {estimate.times_read:,.1f} times of this."
        )
    say(
        f"Documents: {estimate.documents:,} to be read from {estimate.files:,} files, {estimate.unchanged_files:,} files unchanged"
    )
    say(f"Chunks: {estimate.chunks:,}")
    for name, graph in estimate.graphs.items():
        line = f"Graph {name}: {graph.chunks:,} chunks to extract"
        if graph.cached_calls:
            line += f", {graph.cached_calls:,} answered by the cache"
        if graph.calls:
            line += (
                f", {graph.calls:,} calls, {graph.prompt_tokens:,} + {graph.completion_tokens:,} tokens, {_dollars(graph.cost)}, "
                f"about {time_said(graph.seconds)}"
            )
        say(line)
    if estimate.embedding_cost != 0:
        say(f"Embeddings: {estimate.embedding_tokens:,} tokens of chunks, {_dollars(estimate.embedding_cost)}")
    here = {"reading": estimate.reading_seconds, "embedding of chunks": estimate.embedding_seconds}
    took = ", ".join(f"{what} about {time_said(seconds)}" for what, seconds in here.items() if seconds >= 1)
    if took:
        say(f"On this machine: {took}; the graph and its vectors come on top")
    if estimate.cost != 0 or estimate.seconds:
        say(
            f"In all: {_dollars(estimate.cost)}, about {time_said(estimate.seconds)} of model calls at the limits that are set"
        )
    for path, reason in estimate.unreadable.items():
        say(f"cannot be read: {path}: {reason}")
    for assumption in estimate.assumptions:
        say(f"note: {assumption}")


def _dollars(cost: float | None) -> str:
    return "price not known (--prices FILE)" if cost is None else f"${cost:,.4f}"
