"""Reading the pages of a PDF with docling-parse: words with font and place, ruling lines, fills, drawings, links.

docling-parse joins words into text lines across table columns, so words are what is taken from it.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from kgrag.documents.pdf.geometry import Box, Word
from kgrag.documents.pdf.pdfium_text import PdfiumText, SecondReading
from kgrag.documents.pdf.shapes import Fill, Rule, read_shapes, rules_of_images
from kgrag.documents.pdf.symbol_fonts import as_shown

if TYPE_CHECKING:
    from docling_core.types.doc.page import BoundingRectangle, SegmentedPdfPage
    from docling_parse.pdf_parser import ContentConfig

__all__ = ["Fill", "Page", "Rule", "read_pages", "with_even_heights", "with_underscores"]

_MAX_SHAPES = 50_000
"""Per page: bounds the memory for pages that are maps or circuit layouts (a datasheet's drawings have up to 14,000)."""
_OVERPRINT = 2.0
"""Points: the same word again in the same field of this size is a shadow, or bold by printing twice."""
_DEEPER, _MUCH_DEEPER = 1.05, 1.4
"""Heights of words between which one may only have the depth of a letter before it."""
_AS_HIGH = 0.06
"""Points by which heights of a font may differ."""
_SAME_TOP = 0.08
"""Share of the usual height by which the top of such a word may be off."""
_BESIDE = 0.7
"""Usual heights up to the next word of its line: more is another column."""
_BOLD = re.compile(
    r"bold|black|heavy|semib|demi|[-,_ ]bd\b|[-,]medi(?:ital)?\b|\.bi?$|^(?:cm|ec|sf|la)(?:ss)?(?:bx|b)\d|^cmss(?:bx|dc)\d|^t1xb",
    re.IGNORECASE,
)
"""The last three: Times and Palatino by URW, Computer Modern, txfonts."""
_UNDERSCORE_LENGTH = 8.0
"""Points: no underscore is longer."""
_UNDERSCORE_WIDTH = 0.2, 0.5
"""Of the height of the words beside it: how wide a rule is that TeX draws for an underscore."""
_UNDERSCORE_PLACE = 0.6, 0.95
"""Of the height of those words, from their top: between their middle and their bottom."""
_TOUCHES_UNDERSCORE = 0.22
"""Of a word's height: the gap up to which an underscore belongs to it; a space is wider."""
_MIN_CODED, _CODED = 50, 0.1
"""Characters of a page, and the share of codes from which it says nothing. Elsewhere (1,200 pages looked at) at most 0.05 are."""
_NO_LETTER = frozenset(("Cc", "Cn", "Co"))
"""Unicode's categories of controls, and of what is not assigned or for private use."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u200b\ufeff]")
_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "ft", "ﬆ": "st", "\u00a0": " "}
)
_DRAWN_HYPHEN = re.compile("\u00ad(?=\\S)")
"""A soft hyphen before another character of its word: office programs write each hyphen so that a font has no other glyph for."""
_ACCENTS = {
    "´": "\u0301",
    "`": "\u0300",
    "¨": "\u0308",
    "ˆ": "\u0302",
    "˜": "\u0303",
    "ˇ": "\u030c",
    "˚": "\u030a",
    "¸": "\u0327",
}
_ACCENTED = re.compile("([´¨ˆ˜ˇ˚]|¸(?=[csCS])|(?<=[^\\W\\d_])`|^`(?=[aA]$))([^\\W\\d_])|([csCS])(¸)")
"""An accent before its letter, a cedilla also after it: some fonts of TeX have no accented letters and draw both. Code has backticks."""


def with_accented_letters(word: str) -> str:
    """Return a word with its accents on their letters: `m´ecanique` is `mécanique`."""

    def composed(match: re.Match[str]) -> str:
        accent, letter = match[1] or match[4], match[2] or match[3]
        one = unicodedata.normalize("NFC", {"ı": "i", "ȷ": "j"}.get(letter, letter) + _ACCENTS[accent])
        return one if len(one) == 1 else match[0]

    return word if word.isascii() and "`" not in word else _ACCENTED.sub(composed, word)


@dataclass(frozen=True, slots=True)
class Page:
    """What one page shows."""

    number: int
    """From 1."""
    width: float
    height: float
    words: tuple[Word, ...]
    rules: tuple[Rule, ...]
    fills: tuple[Fill, ...]
    marks: tuple[Box, ...]
    """Small shapes: bullets are drawn as such."""
    drawings: tuple[Box, ...]
    """Shapes with curves or slanting lines."""
    images: tuple[Box, ...]
    shapes_read: bool = True
    """False where the parser refuses them (a colour out of its range): rules, fills, marks and drawings are then empty."""
    read_confidence: float | None = None
    """Mean confidence (0 to 1) of the words, where they were read from a picture."""
    unreadable: bool = False
    """Whether its fonts do not say which letters their codes are: it is left without words, as a picture is."""


def _open(path: Path) -> Any:
    from docling_parse.pdf_parser import DecodeConfig, DoclingPdfParser

    return DoclingPdfParser(loglevel="fatal").load(
        path, content_config=_wanted(), decode_config=DecodeConfig(max_num_lines=_MAX_SHAPES)
    )


def _wanted(*, shapes: bool = True) -> ContentConfig:
    from docling_parse.pdf_parser import ContentConfig, ContentLevel

    return ContentConfig(
        char_cells_content_level=ContentLevel.COMPUTE,
        line_cells_content_level=ContentLevel.SKIP,
        shapes_content_level=ContentLevel.COMPUTE_AND_MATERIALIZE if shapes else ContentLevel.SKIP,
        include_bitmap_bytes=False,
    )


def _decoded(document: Any, number: int) -> tuple[SegmentedPdfPage, bool]:
    """Return a page, and whether its shapes are in it."""
    try:
        return document.get_page(number), True
    except ValidationError:
        return document.get_page(number, content_config=_wanted(shapes=False)), False


def read_pages(path: Path, numbers: range | None = None) -> Iterator[Page]:
    """Yield the pages one by one, or those of `numbers` (from 1), letting go of each before the next: memory is bounded by the largest.

    Raises `RuntimeError` or `ValueError` where the parser cannot read the file or a page.
    """
    document = _open(path)
    try:
        with PdfiumText(path) as pdfium:
            for number in numbers or range(1, document.number_of_pages() + 1):
                page, with_shapes = _decoded(document, number)
                read = _page(number, page, pdfium.page(number))
                yield read if with_shapes else replace(read, shapes_read=False)
                document.unload_pages((number, number + 1))
    finally:
        document.unload()


def _page(number: int, segmented: SegmentedPdfPage, second: SecondReading) -> Page:
    width, height = segmented.dimension.width, segmented.dimension.height
    shapes = read_shapes(segmented.shapes, width, height)
    images = [_box(image.rect.to_bounding_box(), height) for image in segmented.bitmap_resources]
    drawn_as_images = rules_of_images(images)
    links = [
        (_box(link.rect.to_bounding_box(), height), str(link.uri))
        for link in segmented.hyperlinks
        if link.uri is not None
    ]
    links += second.links
    words = with_even_heights(tuple(_better_read(tuple(_words(segmented, height, links, second)), links, second)))
    words, rules = with_underscores(words, [*shapes.rules, *drawn_as_images.values()])
    unreadable = _says_nothing(words)
    return Page(
        number=number,
        width=width,
        height=height,
        words=() if unreadable else words,
        rules=rules,
        fills=shapes.fills,
        marks=shapes.marks,
        drawings=shapes.drawings,
        images=tuple(box for box in images if box.area < 0.9 * width * height and box not in drawn_as_images),
        unreadable=unreadable,
    )


def _says_nothing(words: Sequence[Word]) -> bool:
    """Whether many characters of a page are codes, for which neither reader knows a letter: others of it are then the wrong ones."""
    text = "".join(word.text for word in words)
    if len(text) < _MIN_CODED or text.isascii():
        return False
    codes = sum(unicodedata.category(character) in _NO_LETTER for character in text if not character.isascii())
    return codes >= _CODED * len(text)


def with_underscores(words: Sequence[Word], rules: Sequence[Rule]) -> tuple[tuple[Word, ...], tuple[Rule, ...]]:
    """Return the words with their underscores in them, and the rules that are none.

    TeX's older fonts have no underscore: a short rule stands between the words. Of others it stands apart, `max _ size`.
    """
    short = [rule for rule in rules if rule.horizontal and rule.end - rule.start <= _UNDERSCORE_LENGTH]
    beginning: dict[int, list[Word]] = defaultdict(list)
    for word in words if short else ():
        if word.level:
            beginning[int(word.box.x0)].append(word)
    drawn: dict[Word, tuple[Word, Rule]] = {}
    for rule in short:
        after = next((word for word in _words_from(rule.end, beginning) if _is_underscore_before(rule, word)), None)
        if after is not None:
            box = replace(after.box, x0=rule.start, x1=rule.end)
            drawn.setdefault(after, (replace(after, text="_", box=box, link=None), rule))
    used: set[Rule] = set()
    parts: list[Word] = []
    for word in words:
        one = drawn.get(word)
        if one and parts and _belong_together(parts[-1], one[0]):
            parts.append(one[0])
            used.add(one[1])
        parts.append(word)
    joined: list[Word] = []
    for word in parts:
        before = joined[-1] if joined else None
        if before and "_" in (before.text[-1], word.text[0]) and _belong_together(before, word):
            box = replace(
                before.box, x1=word.box.x1, y0=min(before.box.y0, word.box.y0), y1=max(before.box.y1, word.box.y1)
            )
            joined[-1] = replace(before, text=before.text + word.text, box=box)
        else:
            joined.append(word)
    return tuple(joined), tuple(rule for rule in rules if rule not in used)


def _words_from(x: float, beginning: dict[int, list[Word]]) -> Iterator[Word]:
    for place in range(int(x) - 1, int(x) + 3):
        yield from beginning.get(place, ())


def _is_underscore_before(rule: Rule, word: Word) -> bool:
    """Whether a short rule stands where an underscore right before a word would."""
    height = word.box.height
    narrow, wide = _UNDERSCORE_WIDTH
    high, low = _UNDERSCORE_PLACE
    return (
        narrow * height <= rule.end - rule.start <= wide * height
        and high * height <= rule.at - word.box.y0 <= low * height
        and abs(word.box.x0 - rule.end) <= _TOUCHES_UNDERSCORE * height
    )


def _belong_together(before: Word, word: Word) -> bool:
    """Whether two words stand beside each other without a space between, on one line."""
    height = min(before.box.height, word.box.height)
    return (
        bool(before.level and word.level)
        and abs(before.box.center[1] - word.box.center[1]) <= height / 2
        and -_TOUCHES_UNDERSCORE * height <= word.box.x0 - before.box.x1 <= _TOUCHES_UNDERSCORE * height
    )


def _box(bounds: Any, page_height: float) -> Box:
    top, bottom = page_height - max(bounds.t, bounds.b), page_height - min(bounds.t, bounds.b)
    return Box(min(bounds.l, bounds.r), top, max(bounds.l, bounds.r), bottom)


def _upright(rect: BoundingRectangle, page_height: float) -> Box:
    """The box around a rectangle that may be turned. The same by docling-core makes a validated object for each word."""
    xs = rect.r_x0, rect.r_x1, rect.r_x2, rect.r_x3
    ys = rect.r_y0, rect.r_y1, rect.r_y2, rect.r_y3
    return Box(min(xs), page_height - max(ys), max(xs), page_height - min(ys))


def _as_drawn(text: str) -> str:
    """A word without control characters, ligatures as letters, and a soft hyphen as the hyphen that is seen, but at the end of the word."""
    return _DRAWN_HYPHEN.sub("-", _CONTROL.sub("", text).translate(_LIGATURES).strip())


def _words(
    segmented: SegmentedPdfPage, page_height: float, links: list[tuple[Box, str]], second: SecondReading
) -> Iterator[Word]:
    seen: set[tuple[str, int, int]] = set()
    for cell in segmented.word_cells:
        text = _as_drawn(cell.text)
        if not text:
            continue
        box = _upright(cell.rect, page_height)
        place = text, round(box.x0 / _OVERPRINT), round(box.y0 / _OVERPRINT)
        if place in seen:
            continue
        seen.add(place)
        rise, run = cell.rect.r_y1 - cell.rect.r_y0, abs(cell.rect.r_x1 - cell.rect.r_x0)
        _, subset, font = getattr(cell, "font_name", "").lstrip("/").rpartition("+")
        if not subset:
            font = second.font_name(font, box)
        yield Word(
            text=with_accented_letters(second.with_dashes(text, box)),
            box=box,
            font=font,
            bold=bool(_BOLD.search(font)),
            turned=0 if abs(rise) <= 0.2 * run else (1 if rise > 0 else -1),
            link=next((uri for rect, uri in links if rect.holds(box.center)), None),
        )


def with_even_heights(words: Sequence[Word]) -> tuple[Word, ...]:
    """Return the words, each that the parser gives the depth of a lowered letter before it (LaTeX's logo) as high as others.

    Such words stand beside one of the same font that has the height of most of the page's, and only reach farther down.
    """
    heights: dict[str, Counter[float]] = defaultdict(Counter)
    for word in words:
        if word.level:
            heights[word.font][round(word.box.height, 1)] += len(word.text)
    usual = {font: counted.most_common(1)[0][0] for font, counted in heights.items()}
    deeper = {
        word for word in words if word.level and _DEEPER < word.box.height / max(usual[word.font], 0.1) < _MUCH_DEEPER
    }
    if not deeper:
        return tuple(words)
    tops: dict[str, list[tuple[float, Box]]] = defaultdict(list)
    for word in words:
        if word.level and abs(word.box.height - usual[word.font]) < _AS_HIGH:
            insort(tops[word.font], (word.box.y0, word.box), key=itemgetter(0))
    even: dict[Word, Word] = {}
    for word in (*(inorder := sorted(deeper, key=lambda word: word.box.x0)), *reversed(inorder)):
        found, height = tops[word.font], usual[word.font]
        start = bisect_left(found, word.box.y0 - _SAME_TOP * height, key=itemgetter(0))
        end = bisect_right(found, word.box.y0 + _SAME_TOP * height, key=itemgetter(0))
        beside = [box for _, box in found[start:end] if _gap(word.box, box) < _BESIDE * height]
        if beside and word not in even:
            box = replace(word.box, y0=beside[0].y0, y1=beside[0].y1)
            even[word] = replace(word, box=box)
            insort(found, (box.y0, box), key=itemgetter(0))
    return tuple(even.get(word, word) for word in words)


def _gap(one: Box, other: Box) -> float:
    return max(one.x0 - other.x1, other.x0 - one.x1)


def _better_read(words: tuple[Word, ...], links: list[tuple[Box, str]], second: SecondReading) -> Iterator[Word]:
    """Yield the words as the better of the two readers has them."""
    if not second.has_more_than(words):
        for word in second.mended(words):
            shown = as_shown(word.text, word.font)
            yield word if shown == word.text else replace(word, text=shown)
        return
    for word in second.words:
        text = as_shown(_as_drawn(word.text), word.font)
        if text:
            link = next((uri for rect, uri in links if rect.holds(word.box.center)), None)
            yield replace(word, text=with_accented_letters(text), bold=bool(_BOLD.search(word.font)), link=link)
