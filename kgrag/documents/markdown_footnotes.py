"""Footnotes of Markdown: where they stand among the lines of a file."""

from __future__ import annotations

from collections.abc import Sequence

from kgrag.documents.markdown_marks import FENCE, FOOTNOTE, LIST_MARK

__all__ = ["without_footnotes"]

FOOTNOTE_LEVELS = 5


def without_footnotes(lines: Sequence[str], *, levels: int = FOOTNOTE_LEVELS) -> tuple[list[str], dict[str, list[str]]]:
    """Take the footnotes out of lines, those in footnotes up to `levels` deep: the other lines, and name → its lines."""
    notes: dict[str, list[str]] = {}
    kept: list[str] = []
    name, fence = "", ""
    for line in lines:
        if (mark := FENCE.match(line)) and not name:
            ends = fence and mark["fence"].startswith(fence) and not mark["info"].strip()
            fence = "" if ends else fence or mark["fence"]
        match = None if fence else FOOTNOTE.match(line)
        if match:
            name = match["name"]
            notes.setdefault(name, []).append(f"[{name}] {match['text']}".rstrip())
        elif name and line.startswith("    "):
            notes[name].append(line[4:])
        elif name and (not line.strip() or (notes[name][-1] and not _begins_block(line))):
            notes[name].append(line)
        else:
            kept += ["", line] if name else [line]
            name = ""
    for outer in list(notes) if levels else ():
        if any(FOOTNOTE.match(line) for line in notes[outer]):
            notes[outer], inner = without_footnotes(notes[outer], levels=levels - 1)
            for name, text in inner.items():
                notes.setdefault(name, []).extend(text)
    return kept, notes


def _begins_block(line: str) -> bool:
    return LIST_MARK.match(line) is not None or line.lstrip(" ").startswith(
        ("#", "```", "~~~", ":::", "|", ">", "!!!", "<")
    )
