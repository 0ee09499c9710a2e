"""`kgrag bench`: how good what kgrag makes is, measured against what people wrote down."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict, Unpack

import typer

from kgrag.cli.bench_retrieval import retrieval
from kgrag.cli.options import AsJson, BaseUrl, Model, Store, setting, takes_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kgrag.evaluate import GoldTriple, Triple, TripleScore
    from kgrag.settings import Settings

__all__ = ["app"]

app = typer.Typer(
    name="bench",
    help="Measure quality against what people wrote down.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def _bench() -> None:
    """Keep what is measured a subcommand."""


app.command("retrieval")(retrieval)


class ExtractionSettings(TypedDict):
    """Who extracts, and who compares."""

    model: Model
    base_url: BaseUrl
    embedder: Annotated[str | None, setting("--embedder", help="Compares meanings. Default: minilm.")]


@app.command("extraction")
@takes_settings
def extraction(
    gold: Annotated[Path, typer.Argument(help="CSV of gold triples: chunk_id, head, relation, tail, text.")],
    against: Annotated[
        Path | None,
        typer.Option("--against", help="CSV of extracted triples: subject, relation, object, subject_chunk, source."),
    ] = None,
    extractor: Annotated[
        str | None,
        typer.Option(
            "--extractor",
            help="Extract the gold chunks now. Their text is the store's, or the gold sentences without --store.",
        ),
    ] = None,
    store: Store = None,
    graph: Annotated[
        str | None, typer.Option("--graph", help="What the gold chunks say in a graph of --store.")
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", min=0.0, max=1.0, help="Cosine from which two triples mean the same.")
    ] = 0.8,
    as_json: AsJson = False,
    **settings: Unpack[ExtractionSettings],
) -> int:
    """Precision, recall and F1 of triples: exact, by normalised names, by names alone, and by embeddings."""
    import asyncio

    from kgrag.cli.output import print_json, stderr
    from kgrag.errors import InputError
    from kgrag.evaluate import read_triples, score_triples
    from kgrag.models import open_embedder
    from kgrag.settings import load_settings

    if sum((against is not None, extractor is not None, graph is not None)) != 1:
        raise InputError(
            "Expected one of --against FILE, --extractor NAME, and --store S --graph G, to compare with the gold triples."
        )
    chosen = load_settings(**settings)
    right, failures = read_triples(gold), dict[str, str]()
    said: Sequence[Triple]
    if against is not None:
        said = read_triples(against)
        if not any(triple.chunk for triple in said):
            right = _without_chunks(right)
    elif graph is not None:
        said = _of_graph(right, store, graph)
    else:
        said, failures = _of_extractor(right, store, str(extractor), chosen)
    sources = sorted({triple.source for triple in said if triple.source})
    groups = {name: [triple for triple in said if triple.source == name] for name in sources}
    if len(groups) != 1:
        groups[extractor or graph or "all"] = list(said)
    measured = open_embedder(chosen.embedder, settings=chosen)

    async def score() -> dict[str, list[TripleScore]]:
        return {
            name: await score_triples(right, triples, embedder=measured, threshold=threshold)
            for name, triples in groups.items()
        }

    scores = asyncio.run(score())
    if as_json:
        print_json(
            {
                "gold": str(gold),
                "embedder": chosen.embedder,
                "threshold": threshold,
                "scores": {name: [one.as_json() for one in rows] for name, rows in scores.items()},
                "failures": failures,
            }
        )
    else:
        _show(scores, f"embeddings: {chosen.embedder}, one to one, cosine from {threshold:g}; names: either direction")
        for chunk, reason in failures.items():
            stderr.print(f"failed: {chunk}: {reason}", markup=False)
    return 1 if failures else 0


def _show(scores: dict[str, list[TripleScore]], note: str) -> None:
    """Print one table."""
    from kgrag.cli.output import markdown_table, stdout

    head = ("triples of", "compared", "gold", "predicted", "matched", "precision", "recall", "F1")
    rows = [
        (
            name,
            one.compared,
            *map(str, (one.gold, one.predicted, one.matched)),
            *(f"{rate:.3f}" for rate in (one.precision, one.recall, one.f1)),
        )
        for name, some in scores.items()
        for one in some
    ]
    markdown_table(head, rows)
    stdout.print(note, markup=False)


def _without_chunks(gold: list[GoldTriple]) -> list[GoldTriple]:
    """Compare across chunks, where the other file does not say which chunk a triple is from."""
    from dataclasses import replace

    return [replace(triple, chunk="") for triple in gold]


def _of_graph(gold: list[GoldTriple], store: str | None, graph: str) -> list[Triple]:
    from kgrag.cli.output import say_remark
    from kgrag.evaluate.extraction import gold_chunks, triples_of_graph
    from kgrag.knowledge_graph import open_graph

    with open_graph(store, create=False, reads_only=True) as opened:
        say_remark(opened.store)
        return triples_of_graph(opened.store, graph, chunks=gold_chunks(gold, opened.store.documents.chunks()))


def _of_extractor(
    gold: list[GoldTriple], store: str | None, name: str, settings: Settings
) -> tuple[list[Triple], dict[str, str]]:
    import asyncio

    from kgrag.cli.output import say_remark
    from kgrag.evaluate.extraction import gold_chunks, passages_of_gold, triples_of_extractor
    from kgrag.extract import asks_model, open_extractor
    from kgrag.knowledge_graph import open_graph
    from kgrag.models import CHAT_MODELS, open_chat_model

    asks = asks_model(name) and settings.model not in CHAT_MODELS
    model = open_chat_model(settings.model, settings=settings) if asks else None
    extractor = open_extractor(name, model=model, settings=settings)
    if store is None:
        documents, chunks = passages_of_gold(gold)
        return asyncio.run(triples_of_extractor(extractor, documents, chunks.values(), chunks=chunks))
    with open_graph(store, create=False, reads_only=True) as opened:
        say_remark(opened.store)
        chunks = gold_chunks(gold, opened.store.documents.chunks())
        documents = opened.store.documents.all()
        return asyncio.run(triples_of_extractor(extractor, documents, opened.store.documents.chunks(), chunks=chunks))
