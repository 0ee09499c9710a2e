"""The rules of cleaning: tables of contents, revision histories, lists of links, regulatory statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from kgrag.documents.blocks import Block

__all__ = ["RULES", "Outline"]

NUMBERING = re.compile(
    r"^(?:(?:section|chapter|kapitel|abschnitt|annex|appendix)\s+)?(?:[A-Z]\.)?\d*(?:\.\d+)*\.?\s+(?=\S)", re.IGNORECASE
)
TRAILING_PAGE = re.compile(r"[\s.…·_]*\b\d{1,4}$")

CONTENTS_HEADING = re.compile(
    r"(table of )?contents|toc|contents? of this (document|manual)|in this (document|chapter|section)|on this page|list of (tables|figures)|"
    r"inhalt(sverzeichnis)?|目录|目次|table des matières|índice|sommaire"
)
DOT_LEADER = re.compile(r"(?:\.\s?){3,}\s*\d{1,4}$|…\s*\d{1,4}$")
MIN_LEADER_LINES = 3
ENTRY_SHARE = 0.6
"""Of the lines under a heading that must look the part."""
REST_OF_ENTRY = 0.25
"""Of a line's letters that may be left when the document's headings are taken out of it."""
MIN_FRAGMENT_LINKS = 4

HISTORY_HEADING = re.compile(
    r"(document |datasheet |data ?sheet |manual )?(revision|version|change|document|release)s? (history|log|record)|change ?log|revisions|"
    r"history of (this document|changes|revisions)|änderungs(historie|verzeichnis)|revisionshistorie|修订历史|版本历史|变更日志|更新日志"
)
DATE = re.compile(
    r"\b(\d{1,2}[./-]+\d{1,2}[./-]+\d{2,4}|\d{4}[./-]\d{1,2}([./-]\d{1,2})?|\d{1,2}\.? (?:[a-zä]{3,9})\.? \d{4}|"
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? (?:\d{1,2},? )?\d{4})\b",
    re.IGNORECASE,
)
DATE_COLUMN = re.compile(r"date|datum|日期|fecha", re.IGNORECASE)
REVISION_COLUMN = re.compile(r"rev|vers|issue|edition|release|ausgabe|版本|修订", re.IGNORECASE)
CHANGES_COLUMN = re.compile(r"chang|descript|comment|modif|note|änderung|beschreibung|更改|变更|说明", re.IGNORECASE)

LINKS_HEADING = re.compile(
    r"((useful|related|external|further|more|online|web|additional|other) )?(links|web ?links|references|resources|reading|documentation|documents)|"
    r"reference documentation|references? and links|referenzdokumentation|参考(文档|资料|文件)"
)
URL = re.compile(r"https?://\S+|www\.\S+", re.IGNORECASE)
MAX_WORDS_BESIDE_URL = 8
"""A line with more words than that beside its address says something."""
MIN_LINK_LINES = 2

REGULATORY_HEADING = re.compile(
    r"\b(fcc|ised|industry canada|ic (caution|warning|sar|statement|notice)|rss|ce doc|declarations? of conformity|conformity declarations?|"
    r"rohs|reach|weee|ukca|conflict minerals?|proposition 65|regulatory|compliance (information|statements?|notices?)|sar warning|"
    r"rf (radiation )?exposure|radiation exposure|konformitätserklärung)\b|符合性声明|冲突矿产|警告"
)
REGULATORY_PHRASE = re.compile(
    r"part 15 of (the )?fcc|fcc rules|harmful interference|accept any interference|may not cause interference|sole responsibility|"
    r"declaration of conformity|in conformity with the (essential|following)|essential requirements|very high concern|\bsvhcs?\b|conflict minerals|"
    r"dodd.frank|licen[sc]e.exempt|industry canada|innovation, science and economic|directive \d+/\d+/e[uc]|could void the user|"
    r"radiation exposure|co-located or operating in conjunction|between the radiator|uncontrolled environment|cnr d.industrie canada|brouillage|"
    r"radiateur et le corps|\brohs\b|\breach\b.*(regulation|regulations|1907)|regulation \(ec\) 1907|no exemptions are claimed|restriction of .*substances|"
    r"waste electrical|\bweee\b|sar limit|specific absorption|fcc 规则|有害干扰|欧盟指令|射频辐射|加拿大工业部",
    re.IGNORECASE,
)
REGULATORY_STATEMENT = re.compile(
    r"complies with part 15 of (the )?fcc|could void the user.{0,3}s authority|(declare|declaration).{0,40}sole responsibility|dodd.frank|"
    r"substances of very high concern|complies with (industry canada|innovation, science)|conforme aux cnr d.industrie canada|"
    r"must not be co-located or operating in conjunction",
    re.IGNORECASE,
)
"""Sentences that stand in no other text: they need no heading."""
SUBSTANCES = re.compile(r"\bppm\b|substance|cadmium|hexavalent|polybrominated|phthalate|镉", re.IGNORECASE)
QUANTITY = re.compile(
    r"\d\s?(?:[µμmkMGnp]?(?:V|A|W|Hz|Ω|F|H|s|m|g|bps|bit|B|Pa|J|N|K)\b|°\s?[CF]|℃|℉|%|dBm?\b|[hkM]?Pa\b|[cm]m\b|Ah\b|mAh\b|ppm\b|bar\b)"
)


class Outline:
    """Blocks with what stands under which heading."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = blocks
        self.headings = [index for index, block in enumerate(blocks) if block.kind == "heading"]
        self.titles = {name for index in self.headings if (name := plain(blocks[index].text))}

    def scope(self, heading: int) -> range:
        """Return the indexes of all that stands under a heading, deeper headings included."""
        level = self.blocks[heading].level
        end = next(
            (index for index in self.headings if index > heading and self.blocks[index].level <= level),
            len(self.blocks),
        )
        return range(heading + 1, end)

    def body(self, heading: int) -> list[int]:
        """Return the indexes of the blocks between a heading and the next, of whatever level."""
        return list(takewhile(lambda index: self.blocks[index].kind != "heading", range(heading + 1, len(self.blocks))))

    def under(self, pattern: re.Pattern[str], *, whole: bool = True) -> Iterator[int]:
        """Yield the headings whose text, without its number, matches."""
        for index in self.headings:
            name = plain(self.blocks[index].text)
            if pattern.fullmatch(name) if whole else pattern.search(name):
                yield index


def plain(heading: str) -> str:
    """Put a heading in the form in which it is compared: no number before it, no page after it, lower case."""
    name = NUMBERING.sub("", heading.strip() + " ").strip()
    return " ".join(TRAILING_PAGE.sub("", name).rstrip(" :.-").lower().split()) or name.lower()


def contents(outline: Outline) -> Iterator[int]:
    """Tables of contents."""
    for heading in outline.under(CONTENTS_HEADING):
        body = outline.body(heading)
        entries = [index for index in body if all(_is_entry(line, outline) for line in outline.blocks[index].lines)]
        if not body:
            yield heading
        elif len(entries) >= ENTRY_SHARE * len(body):
            yield heading
            yield from entries
    yield from _runs(outline, lambda block: any(DOT_LEADER.search(line) for line in block.lines), MIN_LEADER_LINES)
    yield from _runs(outline, _is_fragment_link, MIN_FRAGMENT_LINKS)


def _is_entry(line: str, outline: Outline) -> bool:
    """Whether a line consists of headings of the document and page numbers."""
    if DOT_LEADER.search(line):
        return True
    text = plain(line.lstrip(" -•*"))
    if text in outline.titles or not any(map(str.isalpha, text)):
        return True
    rest = " ".join(line.lower().split())
    for title in sorted(outline.titles, key=len, reverse=True):
        rest = rest.replace(title, " ")
    return sum(map(str.isalpha, rest)) <= REST_OF_ENTRY * sum(map(str.isalpha, line))


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
        body = outline.body(heading)
        dated = [index for index in body if _is_history(outline.blocks[index])]
        if dated and len(dated) >= ENTRY_SHARE * len(body):
            yield heading
            yield from dated
    for index, block in enumerate(outline.blocks):
        if block.kind == "table" and block.header and _has_history_columns(block.header.cells):
            yield index


def _is_history(block: Block) -> bool:
    if block.kind == "table":
        dated = sum(bool(DATE.search(line)) for line in block.lines)
        return dated >= ENTRY_SHARE * len(block.rows) or bool(block.header and _has_history_columns(block.header.cells))
    return all(DATE.search(line[:40]) for line in block.lines)


def _has_history_columns(cells: Sequence[str]) -> bool:
    columns = [
        pattern
        for pattern in (DATE_COLUMN, REVISION_COLUMN, CHANGES_COLUMN)
        if any(pattern.search(cell) for cell in cells)
    ]
    return len(columns) == 3 and len(cells) <= 5


def link_list(outline: Outline) -> Iterator[int]:
    """Lists of addresses outside the corpus. Links between its documents are what a graph is made of, and stay."""
    for heading in outline.under(LINKS_HEADING):
        body = outline.body(heading)
        bare = [index for index in body if _is_bare(outline.blocks[index])]
        lines = sum(len(outline.blocks[index].rows) or len(outline.blocks[index].lines) for index in bare)
        if lines >= MIN_LINK_LINES and len(bare) >= ENTRY_SHARE * len(body):
            yield heading
            yield from bare


def _is_bare(block: Block) -> bool:
    if any("://" not in link.href for link in block.links):
        return False
    if block.kind == "table":
        return sum(bool(URL.search(line)) for line in block.lines) >= ENTRY_SHARE * len(block.rows) or len(
            block.links
        ) >= ENTRY_SHARE * len(block.rows)
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
        heads = outline.blocks[heading].text
        if REGULATORY_PHRASE.search(heads) or any(
            REGULATORY_PHRASE.search(line) for index in scope for line in outline.blocks[index].lines
        ):
            yield from (index for index in scope if _is_regulatory(outline.blocks[index]))
    for index, block in enumerate(outline.blocks):
        if block.kind in ("paragraph", "list_item") and REGULATORY_STATEMENT.search(block.text):
            yield index


def _is_regulatory(block: Block) -> bool:
    text = "\n".join(block.lines)
    if block.kind == "table":
        return bool(SUBSTANCES.search(text) or REGULATORY_PHRASE.search(text)) or not QUANTITY.search(text)
    return bool(REGULATORY_PHRASE.search(text)) or not QUANTITY.search(text)


RULES: tuple[tuple[str, Callable[[Outline], Iterator[int]]], ...] = (
    ("table of contents", contents),
    ("revision history", revision_history),
    ("list of links", link_list),
    ("regulatory statement", regulatory),
)
"""(name in the report, rule: which blocks of a document go)."""
