"""Real manuals from ../shared/data: sections, links and datasheets as their makers wrote them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from kgrag.documents import Converted, discover, read
from kgrag.models.minilm import MiniLM

pytestmark = pytest.mark.data
CountTokens = Callable[[str], int]


def read_folder(folder: Path, count_tokens: CountTokens, *, limit: int | None = None) -> list[Converted]:
    sources = discover([folder]).sources[:limit]
    found = []
    for source in sources:
        if source.path.name != "docinfo.html":  # a page without words
            found.extend(read(source, count_tokens=count_tokens, max_tokens=MiniLM.max_tokens))
    return found


def test_every_section_of_a_phone_manual_has_chunks_of_its_own(shared_data: Path, count_tokens: CountTokens) -> None:
    folder = shared_data / "emanual" / "html"
    chunks = [chunk for converted in read_folder(folder, count_tokens) for chunk in converted.chunks]
    sections = [[anchor for anchor in chunk.anchors if anchor.startswith("section_")] for chunk in chunks]
    in_source = {
        match
        for page in folder.glob("*.html")
        for match in re.findall(r'<section id="(section_\d+)"', page.read_text())
    }
    assert all(len(names) == 1 for names in sections)
    assert {names[0] for names in sections} == in_source
    assert max(count_tokens(chunk.embedded_text) for chunk in chunks) <= MiniLM.max_tokens


def test_links_between_pages_lead_to_documents_and_ids_that_are_there(
    shared_data: Path, count_tokens: CountTokens
) -> None:
    read_all = read_folder(shared_data / "git_html", count_tokens, limit=30)
    anchors = {one.document.path: {anchor for chunk in one.chunks for anchor in chunk.anchors} for one in read_all}
    found: Counter[str] = Counter()
    for one in read_all:
        for chunk in one.chunks:
            for link in chunk.links:
                path, _, fragment = link.href.partition("#")
                if path in anchors:
                    found["resolved" if not fragment or fragment in anchors[path] else "no such id"] += 1
                    assert link.anchor in link.context or not link.context
    assert found["resolved"] > 50
    assert found["no such id"] <= 9  # dead in the source: git-bisect-lk2009 has notes without targets
