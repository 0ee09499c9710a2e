"""The sample documents and questions under examples/ agree with each other and with their sources."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
import zipfile
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pypdfium2
import pytest

from kgrag.documents import discover, read
from kgrag.models.minilm import MiniLM

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DOCUMENTS = EXAMPLES / "documents"
QUESTIONS = [json.loads(line) for line in (EXAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
PAGES = sorted(DOCUMENTS.rglob("*.html"))
BINARY_SIZE_LIMIT_BYTES = 300_000


class _Anchors(HTMLParser):
    """The ids of a page, the text inside each, and the links."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, str | None]] = []
        self.text: dict[str, list[str]] = {}
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "a" and found.get("href"):
            self.links.append(str(found["href"]))
        if tag != "meta":
            self.open.append((tag, found.get("id")))
            if found.get("id"):
                self.text.setdefault(str(found["id"]), [])

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        for _, anchor in self.open:
            if anchor:
                self.text[anchor].append(data)


def _squeeze(text: str) -> str:
    return " ".join(text.replace("**", "").replace("`", "").split())


def _slug(heading: str) -> str:
    return re.sub(r"[^\w-]", "", heading.strip().casefold().replace(" ", "-"))


def _anchors(page: Path) -> _Anchors:
    parser = _Anchors()
    parser.feed(page.read_text(encoding="utf-8"))
    return parser


def _markdown_sections(path: Path) -> dict[str, str]:
    parts = re.split(r"^#+ (.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {_slug(heading): text for heading, text in zip(parts[1::2], parts[2::2], strict=True)}


def _text(evidence: str) -> str:
    """Text of `path`, `path#anchor` or `path#page=N`, by no part of kgrag: the questions are to be right whatever kgrag reads."""
    name, _, fragment = evidence.partition("#")
    path = DOCUMENTS / name
    match path.suffix:
        case ".html" if fragment == "top":
            return _squeeze(html.unescape(re.sub(r"<[^>]+>", "", path.read_text(encoding="utf-8"))))
        case ".html":
            return _squeeze("".join(_anchors(path).text[fragment]))
        case ".md":
            return _squeeze(_markdown_sections(path)[fragment] if fragment else path.read_text(encoding="utf-8"))
        case ".pdf":
            pdf = pypdfium2.PdfDocument(path)
            pages = [page.get_textpage().get_text_bounded() for page in pdf]
            return _squeeze(pages[int(fragment.removeprefix("page=")) - 1] if fragment else "\n".join(pages))
        case _:
            with zipfile.ZipFile(path) as package:
                parts = [
                    package.read(name).decode()
                    for name in package.namelist()
                    if name.endswith(".xml") and "theme" not in name
                ]
            return _squeeze(html.unescape(re.sub(r"<[^>]+>", "", re.sub(r"</(?:w:p|a:p|si)>", " ", "\n".join(parts)))))


def test_made_documents_come_out_the_same_and_hand_written_pages_state_the_facts() -> None:
    pytest.importorskip("reportlab", reason="reportlab makes the sample PDFs: install the dev group")
    done = subprocess.run(
        [sys.executable, EXAMPLES / "make_documents.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_made_documents_are_small() -> None:
    made = [p for p in DOCUMENTS.rglob("*") if p.suffix in {".pdf", ".docx", ".pptx", ".xlsx"}]
    assert sum(p.stat().st_size for p in made) < BINARY_SIZE_LIMIT_BYTES


def test_every_format_is_shown() -> None:
    formats = Counter(p.suffix for p in DOCUMENTS.rglob("*") if p.is_file())
    assert set(formats) == {".pdf", ".html", ".md", ".docx", ".pptx", ".xlsx"}
    assert formats[".pdf"] >= 2


@pytest.mark.parametrize("page", [*PAGES, *sorted(DOCUMENTS.rglob("*.md"))], ids=lambda p: p.name)
def test_every_link_leads_to_a_document_and_to_an_anchor_of_it(page: Path) -> None:
    links = (
        _anchors(page).links
        if page.suffix == ".html"
        else re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    )
    for link in links:
        name, _, fragment = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        if fragment and target.suffix == ".html":
            assert fragment in _anchors(target).text, link
        if fragment and target.suffix == ".md":
            assert fragment in _markdown_sections(target), link


def test_questions_are_of_five_types_and_some_cannot_be_answered() -> None:
    assert len({q["id"] for q in QUESTIONS}) == len(QUESTIONS) >= 40
    assert set(Counter(q["query_type"] for q in QUESTIONS)) == {
        "factual",
        "reasoning",
        "disambiguation",
        "multi_hop",
        "summary",
    }
    assert sum(not q["answerable"] for q in QUESTIONS) >= 5


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q["id"])
def test_gold_facts_stand_in_the_gold_evidence(question: dict[str, object]) -> None:
    evidence, facts = question["evidence"], question["gold_facts"]
    assert isinstance(evidence, list) and isinstance(facts, list)
    assert bool(evidence) == bool(facts) == question["answerable"]
    texts = {place: _text(place) for place in evidence}
    for fact in facts:
        assert any(fact in text for text in texts.values()), (fact, texts)
    for place, text in texts.items():
        assert any(fact in text for fact in facts), f"{place} states no gold fact"


def test_gold_facts_survive_conversion_cleaning_and_chunking() -> None:
    embedder = MiniLM()
    texts: dict[str, str] = {}
    for source in discover([DOCUMENTS]).sources:
        chunks = [
            chunk
            for converted in read(source, count_tokens=embedder.count_tokens, max_tokens=embedder.max_tokens)
            for chunk in converted.chunks
        ]
        texts[source.path.relative_to(DOCUMENTS).as_posix()] = _squeeze(
            "\n".join(chunk.prompted_text for chunk in chunks)
        )
    lost = [
        (question["id"], fact)
        for question in QUESTIONS
        for fact in question["gold_facts"]
        if not any(fact in texts[place.partition("#")[0]] for place in question["evidence"])
    ]
    assert not lost
