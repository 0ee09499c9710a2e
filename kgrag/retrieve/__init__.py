"""Retrieval: a question → evidence, by a pipeline that is a TOML file under `pipelines/`."""

from kgrag.retrieve.pipeline import Pipeline, load_pipeline, pipeline_names
from kgrag.retrieve.retriever import Retriever

__all__ = ["Pipeline", "Retriever", "load_pipeline", "pipeline_names"]
