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
    """Print an estimate."""
    from kgrag.cli.output import stdout, time_said

    say = stdout.print
    say("Dry run: nothing was called, nothing was changed.")
    say(
        f"Documents: {estimate.documents:,} to be read from {estimate.files:,} files, {estimate.unchanged_files:,} files unchanged"
    )
    say(f"Chunks: {estimate.chunks:,}")
    for name, graph in estimate.graphs.items():
        line = f"Graph {name}: {graph.chunks:,} chunks to extract, {graph.calls:,} calls"
        if graph.cached_calls:
            line += f", {graph.cached_calls:,} answered by the cache"
        if graph.calls:
            line += (
                f", {graph.prompt_tokens:,} + {graph.completion_tokens:,} tokens, {_dollars(graph.cost)}, "
                f"about {time_said(graph.seconds)}"
            )
        say(line, markup=False)
    if estimate.embedding_tokens:
        say(f"Embeddings: {estimate.embedding_tokens:,} tokens of chunks, {_dollars(estimate.embedding_cost)}")
    say(
        f"In all: {_dollars(estimate.cost)}, about {time_said(estimate.seconds)} of model calls at the limits that are set"
    )
    for path, reason in estimate.unreadable.items():
        say(f"cannot be read: {path}: {reason}", markup=False)
    for assumption in estimate.assumptions:
        say(f"note: {assumption}", markup=False)


def _dollars(cost: float | None) -> str:
    return "price not known (--prices FILE)" if cost is None else f"${cost:,.4f}"
