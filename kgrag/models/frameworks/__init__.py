"""Bridges: the classes by which neo4j-graphrag, LangChain and LlamaIndex call a `ChatModel` of ours.

They translate messages and replies and nothing else, so that cache, limits, meter and ledger hold under every framework. Each needs its
extra, and each import of it says so where it is missing.
"""

from __future__ import annotations

from kgrag.errors import ModelMissing

__all__ = ["framework_missing"]


def framework_missing(package: str, *, extra: str, cause: ImportError) -> ModelMissing:
    """Make the error that says which extra brings a framework."""
    return ModelMissing(
        f"{package} is not installed ({cause}). Install it with: pip install 'kgrag[{extra}]' (or: uv pip install 'kgrag[{extra}]')."
    )
