"""PDF to a structured document, without models (or with Docling's, where they are installed)."""

from kgrag.documents.pdf.conversion import PdfConversion, PdfReport, convert_pdf
from kgrag.documents.pdf.docling_document import PdfLink
from kgrag.documents.pdf.furniture import RemovedLine

__all__ = ["PdfConversion", "PdfLink", "PdfReport", "RemovedLine", "convert_pdf"]
