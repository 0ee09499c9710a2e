"""The tree, one level, and the picture."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from kgrag.communities.picture import render_svg
from kgrag.communities.tree import render_level, render_tree
from kgrag.errors import InputError
from kgrag.types import Citation, Community


def community(
    key: str, level: int, size: int, *, parent: str | None = None, summary: str = "It is so. [1]"
) -> Community:
    return Community(
        key=key,
        graph="g",
        level=level,
        size=size,
        parent=parent,
        label=f"<{key}> & co",
        summary=summary,
        key_terms=("a", "b"),
        full_content=key,
        citations=(Citation(number=1, chunk_id="c", document="x.pdf", section="Power", page_start=3),)
        if summary
        else (),
    )


FOUND = [
    community("root", 0, 60),
    community("other", 0, 5),
    community("small", 0, 2, summary=""),
    community("left", 1, 40, parent="root"),
    community("right", 1, 20, parent="root"),
]


def test_the_tree_shows_parts_inside_their_wholes_and_counts_what_is_below_the_floor() -> None:
    assert render_tree(FOUND) == (
        "<root> & co (60)\n├─ <left> & co (40)\n└─ <right> & co (20)\n<other> & co (5)\n"
        "and 1 communities below the size floor of summaries (2 entities)"
    )


def test_a_level_shows_summaries_with_their_sources() -> None:
    text = render_level(FOUND, 1)
    assert text.startswith("<left> & co (40 entities)\n  It is so. [1]\n  Key terms: a, b\n  [1] x.pdf, page 3, Power")
    with pytest.raises(InputError, match="levels 0, 1, not at 7"):
        render_level(FOUND, 7)


def test_the_picture_is_valid_svg_with_every_community_and_parts_inside_their_wholes() -> None:
    root = ElementTree.fromstring(render_svg(FOUND, graph="g"))
    space = "{http://www.w3.org/2000/svg}"
    spans, said = {}, []
    for group in root.iter(f"{space}g"):
        if group.attrib.get("id", "").startswith("community-"):
            box, title = group.find(f"{space}path"), group.find(f"{space}title")
            assert box is not None
            assert title is not None
            said.append(title.text)
            points = [float(number) for number in re.findall(r"-?[\d.]+", box.attrib["d"])]
            spans[(title.text or "").split(" (")[0]] = (min(points[::2]), max(points[::2]), min(points[1::2]))
    assert len(spans) == len(FOUND)
    assert sorted(said) == sorted(f"{one.label} ({one.size} entities)\n{one.summary}".strip() for one in FOUND)
    assert {"<root> & co (60)", "g: 5 communities of 67 entities, 2 levels"} <= {
        text.text for text in root.iter(f"{space}text")
    }
    whole = spans["<root> & co"]
    for part in ("<left> & co", "<right> & co"):
        assert whole[0] <= spans[part][0] <= spans[part][1] <= whole[1]
        assert spans[part][2] > whole[2]
