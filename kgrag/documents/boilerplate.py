"""The rules of cleaning: tables of contents, revision histories, lists of links, regulatory statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from kgrag.documents.blocks import Block
from kgrag.documents.section_labels import SECTION_WORDS
from kgrag.text.quantities import has_quantity

__all__ = ["RULES", "Outline"]


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


NUMBERING = _any_of(rf"^(?:(?:{SECTION_WORDS})\s+)?(?:[A-Z]\.)?\d*(?:\.\d+)*\.?\s+(?=\S)")
PAGE_NUMBER = re.compile(r"\d{1,4}( ?/ ?\d{1,4})?")
TRAILING_PAGE = re.compile(r"[\s.…·_]*\b\d{1,4}$")
LOOKS_THE_PART = 0.6
"""Share of the blocks under a heading that must be what the heading says."""

CONTENTS_HEADING = _any_of(
    r"(table of )?contents|toc|contents? of this (document|manual)|in this (document|chapter|section)|on this page",
    r"list of (tables|figures)|inhalt(sverzeichnis)?|目录|目次|table des matières|índice|sommaire",
)
DOT_LEADER = re.compile(r"(?:\.\s?){3,}\s*\d{1,4}$|…\s*\d{1,4}$")
MIN_LEADER_LINES = 3
REST_OF_ENTRY = 0.25
"""Share of a line's letters that may be left when the document's headings are taken out of it."""
MIN_FRAGMENT_LINKS = 4

HISTORY_HEADING = _any_of(
    r"(document |data ?sheet |manual )?(revision|version|change|document|release)s? (history|log|record)|change ?log|revisions",
    r"history of (this document|changes|revisions)|änderungs(historie|verzeichnis)|revisionshistorie",
    r"修订历史|版本历史|变更日志|更新日志",
)
DATE = _any_of(
    r"\b\d{1,2}[./-]+\d{1,2}[./-]+\d{2,4}\b|\b\d{4}[./-]\d{1,2}([./-]\d{1,2})?\b|\b\d{1,2}\.? [a-zä]{3,9}\.? \d{4}\b",
    r"\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? (\d{1,2},? )?\d{4}\b",
)
HISTORY_COLUMNS = (
    _any_of("date|datum|日期|fecha"),
    _any_of("rev|vers|issue|edition|release|ausgabe|版本|修订"),
    _any_of("chang|descript|comment|modif|note|änderung|beschreibung|更改|变更|说明"),
)
MAX_HISTORY_COLUMNS = 5

LINKS_HEADING = _any_of(
    r"((useful|related|external|further|more|online|web|additional|other) )?(links|references|resources|reading|documentation|documents)",
    r"web ?links|reference documentation|references? and links|referenzdokumentation|参考(文档|资料|文件)",
)
URL = _any_of(r"https?://\S+|www\.\S+")
MAX_WORDS_BESIDE_URL = 8
"""A line with more words than that beside its address says something."""
MIN_LINK_LINES = 2

REGULATORY_HEADING = _any_of(
    r"\b(fcc|ised|industry canada|ic (caution|warning|sar|statement|notice)|rss|ce doc|rohs|reach|weee|ukca)\b",
    r"\b(declarations? of conformity|conformity declarations?|conflict minerals?|proposition 65|regulatory|konformitätserklärung)\b",
    r"\b(compliance (information|statements?|notices?)|sar warning|rf (radiation )?exposure|radiation exposure)\b",
    r"符合性声明|冲突矿产|警告",
)
REGULATORY_PHRASE = _any_of(
    r"part 15 of (the )?fcc|fcc rules|harmful interference|accept any interference|may not cause interference|could void the user",
    r"declaration of conformity|sole responsibility|in conformity with the (essential|following)|essential requirements",
    r"very high concern|\bsvhcs?\b|\brohs\b|\breach\b.*(regulation|1907)|regulation \(ec\) 1907|no exemptions are claimed",
    r"restriction of .*substances|conflict minerals|dodd.frank|waste electrical|\bweee\b|directive \d+/\d+/e[uc]",
    r"licen[sc]e.exempt|industry canada|innovation, science and economic|cnr d.industrie canada|brouillage|radiateur et le corps",
    r"radiation exposure|co-located or operating in conjunction|between the radiator|uncontrolled environment",
    r"sar limit|specific absorption|\bices-003\b|\bnmb-003\b",
    r"fcc 规则|有害干扰|欧盟指令|射频辐射|加拿大工业部|符合性声明",
)
REGULATORY_STATEMENT = _any_of(
    r"complies with part 15 of (the )?fcc|could void the user.{0,3}s authority|(declare|declaration).{0,40}sole responsibility",
    r"dodd.frank|substances of very high concern|complies with (industry canada|innovation, science)",
    r"conforme aux cnr d.industrie canada|must not be co-located or operating in conjunction",
)
"""Sentences that stand in no other text: they need no heading."""
REGULATORY_SHARE = 0.4
"""Share of the blocks under a regulatory heading that must have its phrases before those between them go too."""
SUBSTANCES = _any_of(r"\bppm\b|substance|cadmium|hexavalent|polybrominated|phthalate|镉")


class Outline:
    """Blocks with what stands under which heading."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = blocks
        self.headings = [index for index, block in enumerate(blocks) if block.kind == "heading"]
        self._names = {index: plain(blocks[index].text) for index in self.headings}
        self.titles = {name for name in self._names.values() if name}
        self._ends = dict.fromkeys(self.headings, len(blocks))
        open_headings: list[int] = []
        for index in self.headings:
            while open_headings and blocks[open_headings[-1]].level >= blocks[index].level:
                self._ends[open_headings.pop()] = index
            open_headings.append(index)

    def titles_of_others(self, heading: int) -> set[str]:
        """Return the names of all headings but one."""
        return {name for index, name in self._names.items() if index != heading}

    def scope(self, heading: int) -> range:
        """Return the indexes of all that stands under a heading, deeper headings included."""
        return range(heading + 1, self._ends[heading])

    def body(self, heading: int) -> list[int]:
        """Return the indexes of the blocks between a heading and the next, of whatever level."""
        return list(takewhile(lambda index: self.blocks[index].kind != "heading", range(heading + 1, len(self.blocks))))

    def written_body(self, heading: int) -> list[int]:
        """Return those of `body` that have letters: what has none, a page number, is witness to nothing."""
        return [index for index in self.body(heading) if any(map(str.isalpha, " ".join(self.blocks[index].lines)))]

    def under(self, pattern: re.Pattern[str], *, whole: bool = True) -> Iterator[int]:
        """Yield the headings whose text, without its number, matches."""
        for index in self.headings:
            name = self._names[index]
            if pattern.fullmatch(name) if whole else pattern.search(name):
                yield index


def plain(heading: str) -> str:
    """Put a heading in the form in which it is compared: no number before it, no page after it, lower case."""
    name = NUMBERING.sub("", heading.strip() + " ").strip()
    return " ".join(TRAILING_PAGE.sub("", name).rstrip(" :.-").lower().split()) or name.lower()


def contents(outline: Outline) -> Iterator[int]:
    """Tables of contents."""
    yield from (heading for heading in outline.headings if _is_entry_heading(outline, heading))
    for heading in outline.under(CONTENTS_HEADING):
        body = outline.body(heading)
        entries = [index for index in body if all(_is_entry(line, outline) for line in outline.blocks[index].lines)]
        if not body:
            yield heading
        elif len(entries) >= LOOKS_THE_PART * len(body):
            yield heading
            yield from entries
    yield from _runs(outline, lambda block: any(DOT_LEADER.search(line) for line in block.lines), MIN_LEADER_LINES)
    yield from _runs(outline, _is_fragment_link, MIN_FRAGMENT_LINKS)


def _is_entry_heading(outline: Outline, heading: int) -> bool:
    """Whether a heading is an entry of the table of contents, which was taken for a heading: `10 Dimensions 16` and nothing below."""
    text = outline.blocks[heading].text
    numbered = bool(NUMBERING.match(text) and TRAILING_PAGE.search(text))
    return numbered and not outline.written_body(heading) and plain(text) in outline.titles_of_others(heading)


def _is_entry(line: str, outline: Outline) -> bool:
    """Whether a line consists of headings of the document and page numbers."""
    if DOT_LEADER.search(line):
        return True
    text = plain(line.lstrip(" -•*"))
    if text in outline.titles or PAGE_NUMBER.fullmatch(line.strip()):
        return True
    rest = " ".join(line.lower().split())
    for title in sorted(outline.titles, key=len, reverse=True):
        rest = rest.replace(title, " ")
    letters = sum(map(str.isalpha, line))
    return letters > 0 and sum(map(str.isalpha, rest)) <= REST_OF_ENTRY * letters


def _is_fragment_link(block: Block) -> bool:
    """Whether a list item is nothing but a link; the caller counts how many follow each other."""
    if block.kind != "list_item" or len(block.links) != 1:
        return False
    link = block.links[0]
    return (
        "#" in link.href
        and "://" not in link.href
        and block.text.strip(" -•*0123456789.") == link.anchor.strip(" -•*0123456789.")
    )


def _runs(outline: Outline, test: Callable[[Block], bool], least: int) -> Iterator[int]:
    """Yield the blocks that pass a test where so many follow each other; a block of several lines counts as many."""
    run: list[int] = []
    for index, block in enumerate((*outline.blocks, Block("heading"))):
        if block.kind not in ("heading", "code") and test(block):
            run.append(index)
            continue
        targets = {outline.blocks[i].links[0].href.partition("#")[0] for i in run if outline.blocks[i].links}
        if sum(len(outline.blocks[i].lines) for i in run) >= least and len(targets) <= 1:
            yield from run
        run = []


def revision_history(outline: Outline) -> Iterator[int]:
    """Histories of the document's revisions: tables of dates and changes, or lines that begin with a date."""
    for heading in outline.under(HISTORY_HEADING):
        body = outline.written_body(heading)
        dated = [index for index in body if _is_history(outline.blocks[index])]
        if dated and len(dated) >= LOOKS_THE_PART * len(body):
            yield heading
            yield from dated
    for index, block in enumerate(outline.blocks):
        if block.kind == "table" and block.header and _has_history_columns(block.header.cells):
            yield index


def _is_history(block: Block) -> bool:
    if block.kind == "table":
        dated = sum(bool(DATE.search(line)) for line in block.lines)
        return dated >= LOOKS_THE_PART * len(block.rows) or bool(
            block.header and _has_history_columns(block.header.cells)
        )
    return all(DATE.search(line[:40]) for line in block.lines)


def _has_history_columns(cells: Sequence[str]) -> bool:
    named = all(any(column.search(cell) for cell in cells) for column in HISTORY_COLUMNS)
    return named and len(cells) <= MAX_HISTORY_COLUMNS


def link_list(outline: Outline) -> Iterator[int]:
    """Lists of addresses outside the corpus. Links between its documents are what a graph is made of, and stay."""
    for heading in outline.under(LINKS_HEADING):
        body = outline.written_body(heading)
        bare = [index for index in body if _is_bare(outline.blocks[index])]
        lines = sum(len(outline.blocks[index].rows) or len(outline.blocks[index].lines) for index in bare)
        if lines >= MIN_LINK_LINES and len(bare) >= LOOKS_THE_PART * len(body):
            yield heading
            yield from bare


def _is_bare(block: Block) -> bool:
    if any("://" not in link.href for link in block.links):
        return False
    if block.kind == "table":
        return sum(bool(URL.search(line)) for line in block.lines) >= LOOKS_THE_PART * len(block.rows) or len(
            block.links
        ) >= LOOKS_THE_PART * len(block.rows)
    for line in block.lines:
        beside, has_link = line, bool(URL.search(line))
        for link in block.links:
            has_link = has_link or link.anchor in line
            beside = beside.replace(link.anchor, " ")
        if not has_link or len(URL.sub(" ", beside).split()) > MAX_WORDS_BESIDE_URL:
            return False
    return True


def regulatory(outline: Outline) -> Iterator[int]:
    """Declarations of conformity, notices of radio authorities, substances: what the law wants in every document.

    What a section of this kind says about the product itself (an operating temperature, a table of output power) has quantities and none of
    the law's phrases, and stays.
    """
    for heading in outline.under(REGULATORY_HEADING, whole=False):
        scope = [index for index in outline.scope(heading) if outline.blocks[index].kind != "heading"]
        certain = {index for index in scope if _has_phrases(outline.blocks[index])}
        if not outline.written_body(heading) and _has_phrases(outline.blocks[heading]):
            yield heading
        if len(certain) >= REGULATORY_SHARE * len(scope):
            between = {index for index in scope if not has_quantity("\n".join(outline.blocks[index].lines))}
            yield from sorted(certain | between)
        else:
            yield from sorted(certain)
    for index, block in enumerate(outline.blocks):
        if block.kind in ("paragraph", "list_item") and REGULATORY_STATEMENT.search(block.text):
            yield index


def _has_phrases(block: Block) -> bool:
    text = "\n".join(block.lines)
    return bool(REGULATORY_PHRASE.search(text) or (block.kind == "table" and SUBSTANCES.search(text)))


RULES: tuple[tuple[str, Callable[[Outline], Iterator[int]]], ...] = (
    ("table of contents", contents),
    ("revision history", revision_history),
    ("list of links", link_list),
    ("regulatory statement", regulatory),
)
"""(name in the report, rule: which blocks of a document go)."""
