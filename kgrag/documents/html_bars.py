"""Bars and menus of a page: short elements of nothing but links, told by what their links say and what stands between them."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import Any

from kgrag.documents.html_tags import HEADINGS, is_mostly_links, letters_shown, link_share

__all__ = ["MAX_BAR_CHARACTERS", "is_menu_beside_text", "rule_of_links"]

BAR_PLACES = frozenset({"prev", "previous", "next", "up", "home", "top", "contents", "index"})
"""Where a bar leads to, by its words or what its links say that they are (`rel`)."""
BAR_LABEL = re.compile(rf"\b({'|'.join(sorted(BAR_PLACES))})\b", re.IGNORECASE)
BAR_KEYS = frozenset("pnuhc")
"""Keys of the links to the page before and after this one, up, home and to the contents, in whatever language (`accesskey`)."""
CRUMB_MARKS = frozenset({">", "»", "›", "→", "/", "::"})
LINK_SHARE_OF_LANGUAGES = 0.15
"""`Available languages: en | fr`: the names of languages are short."""
MAX_BAR_LINKS = 8
MAX_ROW_PIECES, LONGEST_OF_ROW, MOST_WORDS_BESIDE = 1000, 3, 3
"""Texts of a row of numbers or letters that are links, characters of one, and words beside them."""
WORDED = re.compile(r"\w")
MIN_MENU_LINKS, MENU_SHARE = 5, 0.8
"""Of a cell beside the text, by letters: a menu."""
MIN_EDGE_LINKS = 3
MAX_EDGE_SIBLINGS = 200
MIN_PAGE_LETTERS = 200
"""A page that says less beside its links is a list of them."""
MAX_BAR_CHARACTERS = 400


def rule_of_links(element: Any) -> str | None:
    """Judge a short element of nothing but links by what stands between them."""
    if _is_page_bar(element) or _is_bar_of_keys(element) or _is_edge_bar(element) or _is_row_of_numbers(element):
        return "navigation"
    links = list(islice(element.iter("a"), MAX_BAR_LINKS + 1))
    if (
        not 2 <= len(links) <= MAX_BAR_LINKS
        or next(element.iter(*HEADINGS, "pre", "li", "td", "code"), None) is not None
    ):
        return None
    if any(link.get("hreflang") for link in links) and link_share(element) >= LINK_SHARE_OF_LANGUAGES:
        return "navigation"
    between = ["".join((link.tail or "").split()) for link in links]
    return "breadcrumbs" if all(one in CRUMB_MARKS for one in between[:-1]) and is_mostly_links(element) else None


def _is_page_bar(element: Any) -> bool:
    """Whether an element leads to the pages before and after this one and says nothing else: `Next: Rails, Previous: Supply, Up: Top`.

    In a row of cells one may say a title.
    """
    links = list(islice(element.iter("a"), MAX_BAR_LINKS + 1))
    if not 2 <= len(links) <= MAX_BAR_LINKS or next(element.iter(*HEADINGS, "pre", "li"), None) is not None:
        return False
    text = " ".join(" ".join(islice(element.itertext(), MAX_BAR_CHARACTERS)).split())
    names = (one.get(name) or "" for link in links for one in link.iter("a", "img") for name in ("title", "rel", "alt"))
    places = {label.lower() for label in BAR_LABEL.findall(" ".join(names))} | {link.get("rel") for link in links}
    linked = [" ".join(" ".join(link.itertext()).split()) for link in links]  # as they stand in the text
    if title := _title_of_bar(element):
        places.update(label.lower() for label in BAR_LABEL.findall(" ".join(linked)))
    else:
        places.update(label.lower() for label in BAR_LABEL.findall(text))
    if len(text) > MAX_BAR_CHARACTERS or len(places & BAR_PLACES) < 2:
        return False
    beside = text
    for words in (*linked, title):
        beside = beside.replace(words, " ") if words else beside
    # A place without a link is none of this page: `[ > ] [Top] [Index]`.
    return not any(len(word) > 1 for word in re.findall(r"[^\W\d_]+", BAR_LABEL.sub(" ", beside)))


def _is_bar_of_keys(element: Any) -> bool:
    """Whether all links of a short element have keys of a page bar, one of them that of the page before or after."""
    links = list(islice(element.iter("a"), MAX_BAR_LINKS + 1))
    keys = {(link.get("accesskey") or "").lower() for link in links}
    if not keys or not keys <= BAR_KEYS or keys.isdisjoint("pn"):
        return False
    text = " ".join("".join(islice(element.itertext(), MAX_BAR_CHARACTERS)).split())
    return len(text) <= MAX_BAR_CHARACTERS and next(element.iter(*HEADINGS, "pre", "p", "dl"), None) is None


def _title_of_bar(element: Any) -> str:
    """Return what the only cell without a link says, of a table of one row."""
    if element.tag != "table" or len(list(islice(element.iter("tr"), 2))) != 1:
        return ""
    cells = [cell for cell in element.iter("td", "th") if next(cell.iter("a"), None) is None]
    titles = [said for cell in cells if (said := " ".join("".join(cell.itertext()).split()))]
    return titles[0] if len(titles) == 1 else ""


def _is_row_of_numbers(element: Any) -> bool:
    """Whether an element is many links that are numbers, letters or places of a bar: `Chapter: Top 1 2 3 ...`, `A B C ...`."""
    if next(element.iter("a"), None) is None or next(element.iter(*HEADINGS, "pre", "dl"), None) is not None:
        return False
    words = Counter(" ".join(islice(element.itertext(), MAX_ROW_PIECES)).split())
    links = [link for link in islice(element.iter("a"), MAX_ROW_PIECES) if link.get("href")]
    linked = ["".join(link.itertext()).strip() for link in links]
    if len(linked) <= MAX_BAR_LINKS or any(
        len(one) > LONGEST_OF_ROW and one.lower() not in BAR_PLACES for one in linked
    ):
        return False
    beside = words - Counter(word for one in linked for word in one.split())
    return sum(number for word, number in beside.items() if WORDED.search(word)) <= MOST_WORDS_BESIDE


def is_menu_beside_text(cell: Any) -> bool:
    """Whether a cell is a list of links beside a cell of text, in a table of one row that lays out the page."""
    row = cell.getparent()
    if row is None or row.tag != "tr" or len(list(islice(cell.iter("a"), MIN_MENU_LINKS))) < MIN_MENU_LINKS:
        return False
    around = row.getparent()
    if any(one.tag == "tr" for one in row.itersiblings()) or any(
        one.tag == "tr" for one in row.itersiblings(preceding=True)
    ):
        return False
    if around is None or around.tag not in ("table", "tbody") or link_share(cell) < MENU_SHARE:
        return False
    beside = [one for one in row if one is not cell and one.tag == "td"]
    texts = [one for one in beside if next(one.iter("p", "pre", "br", *HEADINGS), None) is not None]
    return any(letters_shown(one) >= MIN_PAGE_LETTERS and not is_mostly_links(one) for one in texts)


def _is_edge_bar(element: Any) -> bool:
    """Whether an element is the first or last of a page of text and nothing but links: `Home Libraries People FAQ`."""
    body = element.getparent()
    links = list(islice(element.iter("a"), MAX_BAR_LINKS + 1))
    if (
        body is None
        or body.tag != "body"
        or not MIN_EDGE_LINKS <= len(links) <= MAX_BAR_LINKS
        or next(element.iter(*HEADINGS, "pre", "li"), None) is not None
        or link_share(element) < 1
    ):
        return False
    before, behind = (
        sum(map(letters_shown, islice(element.itersiblings(preceding=preceding), MAX_EDGE_SIBLINGS)))
        for preceding in (True, False)
    )
    return min(before, behind) == 0 and max(before, behind) >= MIN_PAGE_LETTERS
