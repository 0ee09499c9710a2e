"""Cleaning: what is in every document and says nothing about its subject goes; what goes is counted.

A rule needs two witnesses: a heading and lines that look the part (`Revision History` over dates), or lines that cannot be anything
else (three in a row with dot leaders to page numbers). No rule looks at how many letters a line has: `3.3 V`, `260 – 1260 hPa` and
`2x I2C` are content.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kgrag.documents.blocks import Block, Link, RemovedLine, TableRow
from kgrag.documents.boilerplate import RULES, Outline
from kgrag.documents.text_encoding import CONTROLS, repair_text
from kgrag.text.quantities import has_quantity

__all__ = ["CleaningReport", "RepairedLine", "clean"]

ORNAMENT = frozenset("-=_*~·•.—–─═|#+ \t")
"""A line of nothing but these, three or more, is drawn, not written."""
MIN_ORNAMENT_CHARACTERS = 3


@dataclass(frozen=True, slots=True)
class RepairedLine:
    """A line whose characters were wrong: encoded twice (`â€™` for `’`), control characters, halves of surrogate pairs."""

    before: str
    after: str
    page: int | None = None


@dataclass(frozen=True, slots=True)
class CleaningReport:
    """What was removed, by rule, and what was repaired; nothing is removed that is not here."""

    removed: Mapping[str, tuple[RemovedLine, ...]] = field(default_factory=dict)
    """Rule → its lines in document order; rules sorted by name."""
    repaired: tuple[RepairedLine, ...] = ()

    @classmethod
    def of(cls, removed: Iterable[RemovedLine], repaired: Iterable[RepairedLine] = ()) -> CleaningReport:
        """Group removed lines by their rule."""
        groups: dict[str, list[RemovedLine]] = {}
        for line in removed:
            groups.setdefault(line.rule, []).append(line)
        return cls({rule: tuple(groups[rule]) for rule in sorted(groups)}, tuple(repaired))

    @property
    def counts(self) -> dict[str, int]:
        """Rule → number of lines."""
        return {rule: len(lines) for rule, lines in self.removed.items()}


def clean(
    blocks: Sequence[Block], *, removed_before: Iterable[RemovedLine] = ()
) -> tuple[tuple[Block, ...], CleaningReport]:
    """Repair and clean a document's blocks; `removed_before` are the lines that conversion left out, for the report."""
    repaired, changes = [], []
    for block in blocks:
        better, changed = _repaired(block)
        repaired.append(better)
        changes.extend(changed)
    removed = list(removed_before)
    kept: list[Block] = []
    for block in repaired:
        tidy, ornaments = _without_ornaments(block)
        removed.extend(ornaments)
        if tidy is not None:
            kept.append(tidy)
    outline = Outline(kept)
    verdicts: dict[int, str] = {}
    for rule_name, rule in RULES:
        for index in rule(outline):
            verdicts.setdefault(index, rule_name)
    for index in reversed(range(len(kept))):
        if kept[index].kind == "heading" and index not in verdicts and (name := _emptied_by(outline, index, verdicts)):
            verdicts[index] = name
        elif index in verdicts and any(
            body in verdicts and _with_quantities_only(kept[body]) is not None for body in outline.body(index)
        ):
            del verdicts[index]
    left: list[Block] = []
    for i, block in enumerate(kept):
        rest = _with_quantities_only(block) if i in verdicts else block
        if rest is not None:
            left.append(rest)
        if i in verdicts:
            stays = list(rest.lines) if rest is not None else []
            for line in block.lines:
                if line in stays:
                    stays.remove(line)
                else:
                    removed.append(RemovedLine(verdicts[i], line, block.page_start))
    return tuple(left), CleaningReport.of(removed, changes)


def _emptied_by(outline: Outline, heading: int, verdicts: dict[int, str]) -> str | None:
    """Name the rule that took all that stood under a heading; None where something is left or nothing stood there."""
    below = outline.scope(heading)
    if below and all(index in verdicts and not _with_quantities_only(outline.blocks[index]) for index in below):
        return verdicts[below[0]]
    return None


def _with_quantities_only(block: Block) -> Block | None:
    """Return what no rule may take of a block: its lines with a quantity (of a table, those rows under its header), or None."""
    if not any(map(has_quantity, block.lines)):
        return None
    if block.kind != "table":
        return replace(block, text="\n".join(filter(has_quantity, block.text.split("\n"))), page_break=None)
    return replace(block, rows=tuple(row for row in block.rows if has_quantity(" | ".join(row.cells))))


def _without_ornaments(block: Block) -> tuple[Block | None, list[RemovedLine]]:
    """Take drawn lines out of a text; code is not touched."""
    if block.kind in ("table", "code"):
        return block, []
    lines = block.text.split("\n")
    mark = "- " if block.kind == "list_item" else ""  # `- #` is an item that says `#`
    drawn = [
        line
        for line in lines
        if len(line.strip().removeprefix(mark)) >= MIN_ORNAMENT_CHARACTERS and set(line) <= ORNAMENT
    ]
    if not drawn:
        return block, []
    text = "\n".join(line for line in lines if line not in drawn)
    removed = [RemovedLine("ornament", line.strip(), block.page_start) for line in drawn]
    return (replace(block, text=text) if text.strip() else None), removed


def _repaired(block: Block) -> tuple[Block, list[RepairedLine]]:
    """Repair a block's words; also return which lines changed."""
    if all(line.isascii() and not CONTROLS.search(line) for line in (*block.lines, *block.terms)):
        return block, []
    repaired = replace(
        block,
        text=repair_text(block.text),
        links=_links(block.links),
        header=_row(block.header) if block.header else None,
        rows=tuple(_row(row) for row in block.rows),
        terms=tuple(map(repair_text, block.terms)),
    )
    pairs = zip(block.lines, repaired.lines, strict=False)
    changed = [RepairedLine(before, after, block.page_start) for before, after in pairs if before != after]
    return repaired, changed


def _row(row: TableRow) -> TableRow:
    return replace(row, cells=tuple(map(repair_text, row.cells)), links=_links(row.links))


def _links(links: tuple[Link, ...]) -> tuple[Link, ...]:
    return tuple(Link(link.href, repair_text(link.anchor), repair_text(link.context)) for link in links)
