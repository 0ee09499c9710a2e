"""Which chunks are read for a question that lists, where very many may say something."""

from __future__ import annotations

import pytest

from kgrag.retrieve.steps import listing
from kgrag.store.search_rows import PlaceRow


def rows(**chunks: int) -> list[PlaceRow]:
    return [
        PlaceRow(id=f"{document}{place}", document_id=document, position=place)
        for document, count in chunks.items()
        for place in range(count)
    ]


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (8, "a0 a1 a2 a3 a4 b0 c0 c1"),
        (5, "a0 a1 b0 c0 c1"),
        (4, "a0 a1 b0 c0"),
        (2, "a0 b0"),
    ],
)
def test_of_very_many_the_first_of_each_document_come_in_reading_order(
    most: int, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "MOST_CHUNKS", most)
    assert [row["id"] for row in listing.of_each_document(rows(a=5, b=1, c=2))] == expected.split()
