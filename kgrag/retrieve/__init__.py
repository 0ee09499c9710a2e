"""Retrieval: a question → evidence, by a pipeline, which is a list of steps in a TOML file under `pipelines/`."""

from kgrag.retrieve.adaptive import AdaptiveRetriever, open_retriever
from kgrag.retrieve.pipeline import (
    AdaptivePipeline,
    Pipeline,
    drawn,
    listed_pipelines,
    load_pipeline,
    pipeline_names,
    read_pipeline,
)
from kgrag.retrieve.retriever import Retrieval, Retriever
from kgrag.retrieve.state import Resources, State
from kgrag.retrieve.step import Step

__all__ = [
    "AdaptivePipeline",
    "AdaptiveRetriever",
    "Pipeline",
    "Resources",
    "Retrieval",
    "Retriever",
    "State",
    "Step",
    "drawn",
    "listed_pipelines",
    "load_pipeline",
    "open_retriever",
    "pipeline_names",
    "read_pipeline",
]
