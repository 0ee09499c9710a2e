"""Docling's standard PDF pipeline with its layout and table models, where they are installed (extra `docling`)."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.errors import DocumentError

if TYPE_CHECKING:
    from docling_core.types.doc.document import DoclingDocument

__all__ = ["convert_with_models", "missing_models"]

_PACKAGES = "torch", "docling_ibm_models"


def missing_models() -> str:
    """Say what Docling's layout models lack here; empty when nothing."""
    absent = [name for name in _PACKAGES if find_spec(name) is None]
    return f"not installed: {', '.join(absent)}" if absent else ""


def convert_with_models(path: Path) -> DoclingDocument:
    """Convert with Docling's standard pipeline. Raises `DocumentError` where it fails."""
    from docling.datamodel.base_models import ConversionStatus, InputFormat
    from docling.document_converter import DocumentConverter

    result = DocumentConverter(allowed_formats=[InputFormat.PDF]).convert(path, raises_on_error=False)
    if result.status is not ConversionStatus.SUCCESS:
        reasons = "; ".join(error.error_message for error in result.errors) or "no reason given"
        raise DocumentError(path, f"Docling's standard pipeline ended with {result.status.value}: {reasons}")
    return result.document
