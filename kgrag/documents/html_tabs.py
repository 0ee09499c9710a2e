"""Tabs of a page: the label of each, which stands in a row with the others, is put above what it shows.

By their roles, as WAI-ARIA has them (sphinx-tabs, Docusaurus, Starlight, Antora, Bootstrap), or as a row of `label` elements before as many
parts (Material for MkDocs, VitePress).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kgrag.documents.html_tags import classes_of

__all__ = ["label_tabs"]

TAB, TABS, PANEL = "tab", "tablist", "tabpanel"
OF_BOOTSTRAP = "nav-tabs"
"""The class of Bootstrap's rows of tabs, which lead to their parts."""
LEADS_TO = ("aria-controls", "href", "data-bs-target", "data-target")
"""Attributes by which a tab says what it shows: an id, some of them with `#` before it."""
BLOCKS = frozenset({"div", "section", "li", "article"})


def label_tabs(root: Any) -> None:
    """Put the label of each tab, as a paragraph, at the beginning of what it shows, in the tree itself; the rows of labels go."""
    rows = [row for row in root.iter() if isinstance(row.tag, str) and _is_row(row)]
    by_id = {element.get("id"): element for element in root.iter() if element.get("id")} if rows else {}
    for row in rows:
        tabs = list(_tabs(row))
        shown = [_shown_by(tab, by_id) for tab in tabs]
        if any(one is None for one in shown):
            shown = list(_parts_below(row))
        if (
            not tabs
            or len(set(shown)) != len(tabs)
            or len(shown) != len(tabs)
            or any(row in one.iterancestors() for one in shown)
        ):
            continue
        for tab, part in zip(tabs, shown, strict=True):
            _put_above(part, " ".join("".join(tab.itertext()).split()))
        _take_out(row)


def _is_row(element: Any) -> bool:
    if element.get("role") == TABS or OF_BOOTSTRAP in classes_of(element):
        return True
    inside = {one.tag for one in element if isinstance(one.tag, str)}
    return (
        element.tag == "div" and "label" in inside and inside <= {"label", "input"} and not (element.text or "").strip()
    )


def _tabs(row: Any) -> Iterator[Any]:
    """The labels of a row, in its order."""
    with_role = [one for one in row.iter() if one.get("role") == TAB]
    if with_role:
        yield from with_role
    elif any(one.tag == "label" for one in row):
        yield from row.iterchildren("label")
    else:
        yield from (one for one in row.iter("a", "button") if _target(one))


def _target(tab: Any) -> str:
    said = next((said for name in LEADS_TO if (said := tab.get(name))), "")
    return said.removeprefix("#")


def _shown_by(tab: Any, by_id: dict[str, Any]) -> Any:
    targets = [_target(tab), *(_target(link) for link in tab.iter("a", "button"))]
    return next((by_id[target] for target in targets if target in by_id), None)


def _parts_below(row: Any) -> Iterator[Any]:
    """What stands behind a row of tabs: parts with their role, or all that is in the next element."""
    beside: Sequence[Any] = [one for one in row.itersiblings() if isinstance(one.tag, str)]
    if beside and any(one.get("role") == PANEL for one in beside):
        yield from (one for one in beside if one.get("role") == PANEL)
    elif beside:
        yield from (one for one in beside[0] if isinstance(one.tag, str))


def _put_above(part: Any, label: str) -> None:
    if not label:
        return
    written = part.makeelement("p")
    written.text = label
    if part.tag in BLOCKS:
        written.tail, part.text = part.text, None
        part.insert(0, written)
    else:
        part.addprevious(written)


def _take_out(row: Any) -> None:
    around, before = row.getparent(), row.getprevious()
    if around is None:
        return
    if row.tail and before is not None:
        before.tail = (before.tail or "") + row.tail
    elif row.tail:
        around.text = (around.text or "") + row.tail
    around.remove(row)
