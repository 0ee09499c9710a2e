"""What of a pipeline is run where a model or a graph that it asks for is not there."""

from __future__ import annotations

from kgrag.errors import InputError, PipelineError
from kgrag.models.base import ChatModel, Reranker
from kgrag.retrieve.pipeline import Pipeline
from kgrag.retrieve.preparation.steps import MODEL_KINDS
from kgrag.retrieve.settings import GlobalSeeds, QueryStep, Rerank, SeedsOfAKind
from kgrag.store.graph import GraphStore

__all__ = ["graph_for", "variant"]

CHAT_HINT = "Set --model openai:NAME (or azure:, ollama:), or KGRAG_MODEL"
RERANKER_HINT = "Set KGRAG_RERANKER to sentence-transformers:NAME or cohere:NAME"
COHERE = "cohere:"


def variant(pipeline: Pipeline, *, chat: ChatModel | None, reranker: Reranker | None) -> Pipeline:
    """Return the pipeline as it runs with these models: steps that lack theirs in the model-free variant that the file declares.

    Raises `PipelineError` that names the model where the file declares none.
    """
    return pipeline.model_copy(
        update={
            "query": tuple(_query(pipeline, step, chat) for step in pipeline.query),
            "seeds": tuple(_seeds(pipeline, seeds, chat) for seeds in pipeline.seeds),
            "rerank": None if pipeline.rerank is None else _rerank(pipeline, pipeline.rerank, chat, reranker),
        }
    )


def graph_for(store: GraphStore, pipeline: Pipeline, chosen: str | None) -> tuple[str, bool, str]:
    """Return the graph that a pipeline runs on, whether it is there, and a remark where it is not or is another one (else empty).

    Raises `InputError` where the user chose a graph that the store does not have.
    """
    if chosen is not None:
        if not has_graph(store, chosen):
            raise InputError(f"Expected --graph to be one of the store's: {_graphs(store)}; got {chosen!r}.")
        return chosen, True, ""
    if has_graph(store, pipeline.graph):
        return pipeline.graph, True, ""
    missing = f"{pipeline.name}: the store has no graph {pipeline.graph!r}"
    if pipeline.without_graph is not None and has_graph(store, pipeline.without_graph):
        return pipeline.without_graph, True, f"{missing}; {pipeline.without_graph!r} is used, as the file says"
    known = _graphs(store)
    return pipeline.graph, False, f"{missing} (it has {known}): steps that use it find nothing. Choose one with --graph"


def has_graph(store: GraphStore, graph: str) -> bool:
    """Whether anything was extracted into a graph of that name."""
    return bool(store.search.read("retrieve/graph_entity", graph=graph))


def _graphs(store: GraphStore) -> str:
    return ", ".join(row["graph"] for row in store.search.read("retrieve/graph_names")) or "no graph"


def _query(pipeline: Pipeline, step: QueryStep, chat: ChatModel | None) -> QueryStep:
    if chat is not None or step.kind not in MODEL_KINDS:
        return step
    if step.without_model is None:
        raise _missing(pipeline, f"query: {step.kind}", "a chat model", CHAT_HINT)
    return step.model_copy(update={"kind": step.without_model})


def _seeds(pipeline: Pipeline, seeds: SeedsOfAKind, chat: ChatModel | None) -> SeedsOfAKind:
    if isinstance(seeds, GlobalSeeds) and chat is None and seeds.without_model is None:
        raise _missing(pipeline, "seeds: global", "a chat model", CHAT_HINT)
    return seeds


def _rerank(pipeline: Pipeline, rerank: Rerank, chat: ChatModel | None, reranker: Reranker | None) -> Rerank:
    match rerank.kind:
        case "late_interaction":
            return rerank
        case "listwise":
            there, what, hint = chat is not None, "a chat model", CHAT_HINT
        case "cross_encoder":
            there, what, hint = reranker is not None, "a reranker", RERANKER_HINT
        case "cohere":
            there = reranker is not None and reranker.name.startswith(COHERE)
            what, hint = "a reranker of Cohere", RERANKER_HINT
    if there:
        return rerank
    if rerank.without_model is None:
        raise _missing(pipeline, f"rerank: {rerank.kind}", what, hint)
    return rerank.model_copy(update={"kind": rerank.without_model})


def _missing(pipeline: Pipeline, step: str, what: str, hint: str) -> PipelineError:
    return PipelineError(
        f"Pipeline {pipeline.name}: the step {step!r} needs {what}, and none is set. {hint}; or take a pipeline without it "
        "(kgrag pipelines), or a file whose step says without_model."
    )
