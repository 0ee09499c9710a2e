"""A page as it is shown: pdfium has the places of its characters on the sheet, before the page is turned and cut to its crop box."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from kgrag.documents.pdf.geometry import Box

__all__ = ["PageView", "view_of"]


@dataclass(frozen=True, slots=True)
class PageView:
    """The part of a sheet that is shown, in points from its lower left corner, and how it is turned.

    Our places are in points from the upper left corner of what is shown.
    """

    left: float
    bottom: float
    right: float
    top: float
    turned: int = 0
    """Quarter turns, clockwise: 0 to 3."""

    @property
    def height(self) -> float:
        """Height of the page as it is shown, in points."""
        return self.right - self.left if self.turned % 2 else self.top - self.bottom

    @property
    def angle(self) -> float:
        """Radians that the page turns a text by, against the clock as pdfium counts them."""
        return -self.turned * math.pi / 2

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Turn a place on the sheet into ours."""
        return (
            (x - self.left, self.top - y),
            (y - self.bottom, x - self.left),
            (self.right - x, y - self.bottom),
            (self.top - y, self.right - x),
        )[self.turned]

    def on_sheet(self, x: float, y: float) -> tuple[float, float]:
        """Turn a place of ours into one on the sheet."""
        return (
            (self.left + x, self.top - y),
            (self.left + y, self.bottom + x),
            (self.right - x, self.bottom + y),
            (self.right - y, self.top - x),
        )[self.turned]

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        """Turn a rectangle on the sheet into a box of ours."""
        (x0, y0), (x1, y1) = self.point(left, bottom), self.point(right, top)
        return Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))

    def bounds(self, box: Box) -> tuple[float, float, float, float]:
        """Turn a box of ours into left, bottom, right and top on the sheet."""
        (x0, y0), (x1, y1) = self.on_sheet(box.x0, box.y0), self.on_sheet(box.x1, box.y1)
        return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


def view_of(page: Any) -> PageView:
    """Return how a page of pypdfium2 is shown."""
    left, bottom, right, top = page.get_bbox()
    return PageView(left, bottom, right, top, turned=page.get_rotation() // 90 % 4)
