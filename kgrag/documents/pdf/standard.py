"""Docling's standard PDF pipeline with its layout and table models, where they are installed (extra `docling`)."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.errors import DocumentError

if TYPE_CHECKING:
    from docling_core.types.doc.document import DoclingDocument

__all__ = ["convert_with_models", "missing_packages", "missing_weights"]

_PACKAGES = "torch", "transformers", "docling_ibm_models"
_LAYOUT_WEIGHTS = "models--docling-project--docling-layout-heron"
"""Folder of the layout model in the Hugging Face cache (docling's preset `layout_heron_default`)."""


def missing_packages() -> str:
    """Say which packages of the standard pipeline are not installed; empty when none."""
    absent = [name for name in _PACKAGES if find_spec(name) is None]
    return f"not installed: {', '.join(absent)}" if absent else ""


def missing_weights() -> str:
    """Say where the layout model's weights were looked for in vain; empty when they are there.

    Docling downloads them when the standard pipeline first runs; `auto` does not start a download.
    """
    artifacts = os.environ.get("DOCLING_ARTIFACTS_PATH")
    if artifacts:
        return "" if Path(artifacts).is_dir() else f"DOCLING_ARTIFACTS_PATH is no folder: {artifacts}"
    home = Path(os.environ.get("HF_HOME", Path.home() / ".cache" / "huggingface"))
    weights = Path(os.environ.get("HF_HUB_CACHE", home / "hub")) / _LAYOUT_WEIGHTS
    return "" if weights.is_dir() else f"layout model not downloaded: no {weights}"


def convert_with_models(path: Path) -> DoclingDocument:
    """Convert with Docling's standard pipeline. Raises `DocumentError` where it fails."""
    from docling.datamodel.base_models import ConversionStatus, InputFormat
    from docling.document_converter import DocumentConverter

    result = DocumentConverter(allowed_formats=[InputFormat.PDF]).convert(path, raises_on_error=False)
    if result.status is not ConversionStatus.SUCCESS:
        reasons = "; ".join(error.error_message for error in result.errors) or "no reason given"
        raise DocumentError(path, f"Docling's standard pipeline ended with {result.status.value}: {reasons}")
    return result.document
