"""Measuring what kgrag makes against what people wrote down; nothing here knows a concrete pipeline or extractor."""

from __future__ import annotations

from kgrag.evaluate.triple_files import read_triples
from kgrag.evaluate.triples import GoldTriple, Triple, TripleScore, score_triples

__all__ = ["GoldTriple", "Triple", "TripleScore", "read_triples", "score_triples"]
