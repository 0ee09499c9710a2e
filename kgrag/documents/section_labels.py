"""What parts of a document are called beside their number (`Chapter 3`, `Anhang A`), in the languages of manuals."""

from __future__ import annotations

import re

__all__ = ["CHAPTER", "SECTION_WORDS"]

SECTION_WORDS = (
    "chapter|appendix|annex|part|section|kapitel|anhang|teil|abschnitt|hoofdstuk|bijlage|deel|kapitola|příloha|dodatek|rozdział|załącznik"
    "|kapittel|vedlegg|bilaga|bilag|chapitre|annexe|partie|capítulo|apéndice|anexo|apêndice|parte|capitolo|appendice"
    "|глава|приложение|часть|раздел|розділ|додаток|κεφάλαιο|παράρτημα|μέρος|chương|phụ lục|capitolul|anexa"
)
"""Alternatives of a regular expression, to be matched without regard to case."""
CHAPTER = re.compile(
    rf"(?:(?:{SECTION_WORDS})\s+(?P<number>\d{{1,3}}|[^\W\d_]|[IVXLC]{{1,6}})(?:[.:]| [-–—](?= ))"
    r"|[第제]?\s?(?P<counted>\d{1,3})\s?[章部장]\.?|(?:付録|附录|附錄|부록)\s?(?P<lettered>[A-Z])(?![A-Za-z])\.?)\s*(?=[^\W_])",
    re.IGNORECASE,
)
"""A chapter's label with its number, before its title."""
