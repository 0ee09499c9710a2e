"""Files to documents and chunks: discovery, conversion, PDF structure, cleaning, chunking, hyperlinks.

    discovery = discover([Path("docs")])
    for source in discovery.sources:
        for converted in read(source, count_tokens=embedder.count_tokens, max_tokens=embedder.max_tokens):
            converted.document, converted.chunks, converted.cleaning

Nothing heavy is imported before `read` meets a file that needs it.
"""

from kgrag.documents.blocks import RemovedLine
from kgrag.documents.cleaning import CleaningReport, RepairedLine
from kgrag.documents.discovery import Discovery, Source, discover
from kgrag.documents.reading import Converted, read

__all__ = [
    "CleaningReport",
    "Converted",
    "Discovery",
    "RemovedLine",
    "RepairedLine",
    "Source",
    "discover",
    "read",
]
