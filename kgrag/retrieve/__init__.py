"""Retrieval: a question → evidence, by a pipeline that is a TOML file under `pipelines/`."""

from kgrag.retrieve.adaptive import AdaptiveRetriever, open_retriever
from kgrag.retrieve.pipeline import AdaptivePipeline, Pipeline, listed_pipelines, load_pipeline, pipeline_names
from kgrag.retrieve.retriever import Retrieval, Retriever

__all__ = [
    "AdaptivePipeline",
    "AdaptiveRetriever",
    "Pipeline",
    "Retrieval",
    "Retriever",
    "listed_pipelines",
    "load_pipeline",
    "open_retriever",
    "pipeline_names",
]
