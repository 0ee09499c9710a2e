"""The levels of headings: what the outline and their numbers say, and where they say none, sizes among those that are known."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from kgrag.documents.pdf.block_styles import MAX_LEVEL, SAME_SIZE, Style, style_of, text_of
from kgrag.documents.pdf.blocks import TextBlock
from kgrag.documents.pdf.contents import comparable
from kgrag.documents.pdf.outline import LABEL
from kgrag.documents.pdf.paragraphs import section_number

__all__ = ["levels_of"]

_KNOWN_SHARE = 0.2
"""Of the headings of a style whose level their numbers or labels say, for the others to have it: `18 U.S.C. Section 1350` says none."""


def levels_of(headings: Sequence[TextBlock], unfound: Mapping[str, int], counted: Mapping[int, int]) -> dict[int, int]:
    """Return the level of each heading, by its id: the outline's, or what it is `counted` as; else its number's depth; else by its size.

    `unfound` are levels of the outline's entries that were not found where they lead, by `comparable` title.
    """
    levels: dict[int, int] = {}
    votes: dict[Style, Counter[int]] = defaultdict(Counter)
    for heading in headings:
        number = section_number(heading.lines[0]) or (heading.marker.strip("().") if heading.marker != "-" else "")
        level = number.count(".") + 1 if number else unfound.get(comparable(text_of(heading)), 0)
        level = heading.level or counted.get(id(heading), 0) or level or int(bool(LABEL.match(heading.lines[0].text)))
        if level:
            levels[id(heading)] = min(level, MAX_LEVEL)
            votes[style_of(heading)][levels[id(heading)]] += 1
    styles = Counter(map(style_of, headings))
    known = {
        style: counted.most_common(1)[0][0]
        for style, counted in votes.items()
        if counted.total() >= _KNOWN_SHARE * styles[style]
    }
    ranks = _ranks(set(styles), known)
    for heading in headings:
        levels.setdefault(id(heading), ranks[style_of(heading)])
    return levels


def _ranks(styles: set[Style], known: Mapping[Style, int]) -> dict[Style, int]:
    """Rank styles, the largest first; bold before regular of the same size; a style with a known level keeps it."""
    ranks: dict[Style, int] = {}
    level = 0
    before: Style | None = None
    for style in sorted(styles, reverse=True):
        if style in known:
            level = known[style]
        elif before is None:
            above = [known[other] for other in styles if other in known]
            level = max(1, min(above) - 1) if above else 1
        elif not (abs(before[0] - style[0]) <= SAME_SIZE * before[0] and before[1] == style[1]):
            level += 1
        ranks[style] = min(max(level, 1), MAX_LEVEL)
        before = style
    return ranks
