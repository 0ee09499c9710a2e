"""Footnotes of Markdown: where they stand among the lines of a file."""

from __future__ import annotations

from collections.abc import Sequence, Set

from kgrag.documents.markdown_marks import FENCE, FOOTNOTE, LIST_MARK, REFERENCE

__all__ = ["without_footnotes"]

FOOTNOTE_LEVELS = 5


def without_footnotes(lines: Sequence[str]) -> tuple[list[str], dict[str, list[str]]]:
    """Take the footnotes out of lines, those in footnotes too: the other lines, and name → its lines.

    What nothing refers to stays, as it is written: `[^abc]: any other letter` may be an expression.
    """
    named = {match["name"] for line in lines for match in REFERENCE.finditer(line)}
    return _without_footnotes(lines, named, levels=FOOTNOTE_LEVELS)


def _without_footnotes(lines: Sequence[str], named: Set[str], *, levels: int) -> tuple[list[str], dict[str, list[str]]]:
    notes: dict[str, list[str]] = {}
    kept: list[str] = []
    name, fence = "", ""
    for line in lines:
        if (mark := FENCE.match(line)) and not name:
            ends = fence and mark["fence"].startswith(fence) and not mark["info"].strip()
            fence = "" if ends else fence or mark["fence"]
        match = None if fence else FOOTNOTE.match(line)
        if match and match["name"] in named:
            name = match["name"]
            notes.setdefault(name, []).append(f"[{name}] {match['text']}".rstrip())
        elif name and not match and line.startswith("    "):
            notes[name].append(line[4:])
        elif name and not match and (not line.strip() or (notes[name][-1] and not _begins_block(line))):
            notes[name].append(line)
        else:
            # Escaped, for else CommonMark takes it for the target of a link, and shows nothing.
            written = line.replace("[^", "\\[^", 1) if match else line
            kept += ["", written] if name else [written]
            name = ""
    for outer in list(notes) if levels else ():
        if any(FOOTNOTE.match(line) for line in notes[outer]):
            notes[outer], inner = _without_footnotes(notes[outer], named, levels=levels - 1)
            for name, text in inner.items():
                notes.setdefault(name, []).extend(text)
    return kept, notes


def _begins_block(line: str) -> bool:
    return LIST_MARK.match(line) is not None or line.lstrip(" ").startswith(
        ("#", "```", "~~~", ":::", "|", ">", "!!!", "<")
    )
