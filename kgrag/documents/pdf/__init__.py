"""PDF to blocks, without models (or with Docling's, where they are installed)."""

from kgrag.documents.pdf.conversion import convert_pdf

__all__ = ["convert_pdf"]
