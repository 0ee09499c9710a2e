"""Which elements of a page are not the document: navigation, page headers and footers, controls."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from kgrag.documents.html_bars import MAX_BAR_CHARACTERS, is_menu_beside_text, rule_of_links
from kgrag.documents.html_tags import (
    FOOTNOTES,
    HEADINGS,
    class_names,
    classes_of,
    is_mostly_links,
    letters_of,
    letters_shown,
)

__all__ = ["boilerplate_rule", "is_box_label"]

DRAWN = frozenset({"span", "i", "img"})
"""What may be for the eye alone, and says so: formulas that stand there as MathML, too (KaTeX), and names of icons."""
CONTROLS = frozenset({"button", "select", "textarea", "input", "datalist", "optgroup", "option", "progress", "meter"})
OPENS = ("accordion", "collaps", "expand")
"""What is part of the names of a button that shows and hides what stands behind it."""
PARTS = frozenset({"blockquote", "figure", "section", "table"})
"""What a footer may belong to other than the page and its articles."""
ROLES = {
    "navigation": "navigation",
    "banner": "page header",
    "contentinfo": "page footer",
    "search": "navigation",
    "menu": "navigation",
    "dialog": "dialog",
    "alertdialog": "dialog",
}
FRAMES = {
    "titlearea": "page header",
    "package-header": "page header",
    "tablist": "navigation",
    "main-nav": "navigation",
    "main-menu": "navigation",
    "mbrsel": "navigation",
    "gtoc": "navigation",
    "msearchselectwindow": "navigation",
    "msearchresultswindow": "navigation",
    "out-of-band": "navigation",
    "hideme": "navigation",
    **dict.fromkeys(("topnav", "bottomnav", "subnav", "next_page", "previous_page", "prev_page"), "navigation"),
    "docs-version-header": "page header",
    "sidemenupart": "navigation",
    "copy-popup-wrapper": "form control",
    **dict.fromkeys(
        ("header-container-left", "header-container-right", "mobile-menu", "switcher-container"), "page header"
    ),
    "docs-copyright": "page footer",
    "rustdoc-breadcrumbs": "breadcrumbs",
    **dict.fromkeys(
        (
            *("synthetic-implementations", "synthetic-implementations-list"),
            *("blanket-implementations", "blanket-implementations-list"),
        ),
        "what every type has",
    ),
    "navpath": "breadcrumbs",
    "toctitle": "table of contents",
    "icona": "drawn beside its words",
    "dynheader": "diagram",
    "dyncontent": "diagram",
    "srindex": "navigation",
    "modal": "dialog",
}
"""What only a generator's frame of a page is called: Doxygen's, Javadoc's, Haddock's, Scaladoc's, Dokka's, rustdoc's, MkDocs', Sphinx's."""
FRAME_ELEMENTS = frozenset({"rustdoc-topbar", "rustdoc-toolbar"})
SOURCE_LINKS = frozenset({"src", "link", "method-click-advice"})
"""The classes of links to the program's text: of rustdoc, Haddock and RDoc."""
SOURCE_WORDS = frozenset({"Source", "source", "click to toggle source"})
NAMES = {
    "breadcrumb": "breadcrumbs",
    "breadcrumbs": "breadcrumbs",
    "toc": "table of contents",
    "tableofcontents": "table of contents",
    "onthispage": "table of contents",
    "navbar": "navigation",
    "nav": "navigation",
    "navigation": "navigation",
    "sidebar": "navigation",
    "sidenav": "navigation",
    "menu": "navigation",
    "pagination": "navigation",
    "pager": "navigation",
    "prevnext": "navigation",
    "dropdownmenu": "navigation",
    "navpanel": "navigation",
    "navigationbar": "navigation",
    "globalnav": "navigation",
    "bar": "navigation",
    "tocset": "table of contents",
    "skiplink": "navigation",
    "footer": "page footer",
    "sitefooter": "page footer",
    "pagefooter": "page footer",
    "copyrightfooter": "page footer",
    "banner": "page header",
    "bannercontainer": "page header",
    "siteheader": "page header",
    "pageheader": "page header",
    "cookiebanner": "cookie notice",
    "cookieconsent": "cookie notice",
}
"""Whole words of `class`, and whole `id`s, small and without hyphens, by which generators and vendors' sites call such elements."""
JOINER = re.compile(r"[-_]")
PAGE_BARS = frozenset({"navheader", "navfooter", "spirit-nav"})
"""What DocBook and QuickBook call the bars with Prev, Up and Next; a title between them is the page's own, which is a heading, too."""
NODE_MODULES = frozenset({"column2", "interior"})
"""Of the list of all modules beside each page of Node.js."""
BRIEFS = frozenset({"documentablebrief", "shortcomment"})
"""What Scaladoc (3 and 2) calls the first sentence of a text that stands whole behind it."""
SAID_WHOLE = frozenset({"doc", "comment"})
"""And what it calls that text."""
PROGRAM = "javascript:"
BAR_ELEMENTS = frozenset({"div", "p", "table", "ul"})
IMPRINT = re.compile(
    r"\bcopyright\b|©|\(c\) \d{4}|^(?:produced|generated|created|built) (?:by|with|using)\b", re.IGNORECASE
)
LINE_NUMBERS = frozenset(
    {
        "lineno",
        "linenos",
        "sourcelineno",
        "source-line-no",
        "line-number",
        "line-numbers",
        "src-line-numbers",
        "hljs-ln-numbers",
        "linenum",
        "lnum",
    }
)
"""Classes of the numbers beside the lines of a listing: of Doxygen, Pygments, Javadoc, rustdoc, highlight.js."""
MAX_LINE_NUMBERS, MAX_DIGITS = 20_000, 6
"""Texts and digits of what numbers the lines of a listing."""
SKIP_LINK = re.compile(
    r"(?:skip|jump) (?:directly )?to (?:the )?(?:main |page )?(?:content|navigation|search)s?$|(?:back|return) to (?:the )?top$",
    re.IGNORECASE,
)
MOST_BESIDE = 200
"""Elements that are looked at."""
MAX_IMPRINT_CHARACTERS = 1000
BOXES = frozenset(
    {"note", "tip", "hint", "warning", "caution", "important", "danger", "attention", "admonition", "alert", "callout"}
)
"""Whole words of `class` of the boxes that generators of manuals draw around a remark."""
CONTENT_CONTAINERS = frozenset({"html", "body", "main", "article", "section"})
"""Never taken for boilerplate by their class: themes put the page's layout there (`body class="sidebar"`)."""
NOTE_ROLES = frozenset({"note", "doc-footnote", "doc-endnotes"})
WORD = re.compile(r"\s+")


def boilerplate_rule(element: Any) -> str | None:
    """Name the rule by which an lxml element is left out with all it contains; None for the document's own."""
    tag = element.tag
    if tag == "nav":
        return "navigation"
    if tag == "footer":
        return None if _ends_a_part(element) else "page footer"
    if tag in CONTROLS:
        return None if tag == "button" and _is_label_of_part(element) else "form control"
    if tag == "noscript":
        return "noscript"
    if tag == "caption" and any((link.get("href") or "").startswith(PROGRAM) for link in element.iter("a")):
        return "form control"  # tabs that choose rows, as Javadoc has them
    if tag in DRAWN and element.get("aria-hidden") == "true" and _is_said_beside(element):
        return "drawn beside its words"
    if tag == "span" and _is_mark_of_org(element):
        return "tag of a section"
    if tag == "span" and element.get("class") == "lang" and _is_language(element):
        return "language of a listing"
    if tag == "form" and "search" in WORD.split(f"{element.get('class') or ''} {element.get('id') or ''}".lower()):
        return "form control"
    if (
        tag == "a"
        and (element.get("href") or "").startswith("#")
        and SKIP_LINK.match("".join(element.itertext()).strip())
    ):
        return "navigation"
    if tag in FRAME_ELEMENTS or (tag in HEADINGS and _is_row_of_pictures(element)):
        return "navigation"
    if tag in ("a", "span") and element.text in SOURCE_WORDS and SOURCE_LINKS & classes_of(element):
        return "link to the source"
    if tag == "header":  # an article's own has its title
        return None if next(element.iter(*HEADINGS), None) is not None else "page header"
    if rule := ROLES.get(element.get("role", "")):
        return rule
    if element.get("role") in NOTE_ROLES or FOOTNOTES & class_names(element):
        return None
    if tag == "aside":  # a box of links, or a note that belongs to the text
        return "navigation" if not _is_box(element) and is_mostly_links(element) else None
    if tag in CONTENT_CONTAINERS:
        return None
    if tag == "td" and _is_beside_listing(element):
        return "line number"
    if tag == "td" and is_menu_beside_text(element):
        return "navigation"
    return _rule_by_name(element) or (rule_of_links(element) if tag in BAR_ELEMENTS else None)


def _ends_a_part(footer: Any) -> bool:
    """Whether a footer says whose a quotation is, or of what a figure or a section of an article is, that it stands in."""
    around = next(footer.iterancestors(*PARTS, "article", "main", "body"), None)
    if around is None or around.tag not in PARTS:
        return False
    if around.tag == "section" and next(around.iterancestors("article", "main"), None) is None:
        return False
    return IMPRINT.search(" ".join(footer.itertext())) is None and not is_mostly_links(footer)


def _is_label_of_part(button: Any) -> bool:
    """Whether a button is the heading of what it opens, right behind it (`accordion`): it stands in a heading, or says that it opens."""
    said = sum(len(text.strip()) for text in button.itertext())
    if not said:
        return False
    if (heading := next(button.iterancestors(*HEADINGS), None)) is not None:
        return letters_of(heading) == said
    names = (
        f"{button.get('class') or ''} {button.get('data-toggle') or ''} {button.get('data-bs-toggle') or ''}".lower()
    )
    if button.get("aria-expanded") is None and not any(name in names for name in OPENS):
        return False
    below = next(
        (one.getnext() for one in (button, button.getparent()) if one is not None and one.getnext() is not None), None
    )
    if below is None or is_mostly_links(below):
        return False
    return letters_shown(below) - sum(map(letters_shown, below.iter(*CONTROLS))) > said


def is_box_label(heading: Any) -> bool:
    """Whether a heading is the label of a Note, Tip or Warning box, or of Scaladoc's attributes of a member: no section of its own."""
    parent, below = heading.getparent(), heading.getnext()
    if below is not None and "attributes" in classes_of(below):
        return True
    return any(
        _is_box(around)
        for around in (heading, parent, parent.getparent() if parent is not None else None)
        if around is not None and around.tag not in CONTENT_CONTAINERS - {"section", "article"}
    )


def _is_box(element: Any) -> bool:
    return not BOXES.isdisjoint(WORD.split((element.get("class") or "").lower()))


def _is_imprint(element: Any) -> bool:
    """Whether an element named like a page's header or footer says whose the page is, or is a bar of links, in few words."""
    text = " ".join(" ".join(islice(element.itertext(), MAX_IMPRINT_CHARACTERS)).split())
    inside = next(element.iter("table", "pre", "ul", "ol", "dl", *HEADINGS), None)
    if inside is not None or len(text) > MAX_IMPRINT_CHARACTERS:
        return False
    return IMPRINT.search(text) is not None or (len(text) <= MAX_BAR_CHARACTERS and is_mostly_links(element))


def _is_row_of_pictures(heading: Any) -> bool:
    """Whether a heading has two links or more and no words but those of its pictures."""
    return len(list(islice(heading.iter("a"), 2))) == 2 and not "".join(heading.itertext()).strip()


def _is_list_of_groups(element: Any) -> bool:
    """Whether an element is the line of Doxygen's pages that leads to their groups: `Public Types | Public Functions`."""
    return next(element.iter("table", "li", "p", "dl", "pre"), None) is None and is_mostly_links(element)


def _rule_by_name(element: Any) -> str | None:
    """Judge by `class` and `id`; what is named like navigation must also consist of links, for names are used loosely."""
    names = element.get("class")
    words = WORD.split(names.lower()) if names else []
    if ident := element.get("id"):
        words.append(ident.lower())
    if not PAGE_BARS.isdisjoint(words) or ("summary" in words and _is_list_of_groups(element)):
        return "navigation"
    if rule := next((FRAMES[word] for word in words if word in FRAMES), None):
        return rule
    if not BRIEFS.isdisjoint(words) and _is_said_whole(element):
        return "said twice"
    if NODE_MODULES.issubset(words):
        return "navigation"
    if not LINE_NUMBERS.isdisjoint(words) and _counted_lines(element):
        return "line number"
    for word in words:
        rule = NAMES.get(JOINER.sub("", word)) or ("navigation" if "sidebar" in word or "navbar" in word else None)
        if rule is None:
            continue
        if rule in ("navigation", "table of contents") and not is_mostly_links(element):
            continue
        if (
            rule in ("page header", "page footer")
            and next(element.iter("p", "table", "pre", *HEADINGS), None) is not None
            and not _is_imprint(element)
            and not (rule == "page footer" and next(element.iter("a"), None) is not None and is_mostly_links(element))
        ):
            continue
        return rule
    return None


def _counted_lines(element: Any) -> int:
    """Count the lines that an element numbers: how many numbers it has, each one more than the one before, and nothing else; else 0."""
    numbers = "".join(islice(element.itertext(), MAX_LINE_NUMBERS)).split()
    if not numbers or not all(number.isdecimal() and len(number) <= MAX_DIGITS for number in numbers):
        return 0
    counted = range(int(numbers[0]), int(numbers[0]) + len(numbers))
    return len(numbers) if all(int(number) == at for number, at in zip(numbers, counted, strict=True)) else 0


def _is_beside_listing(cell: Any) -> bool:
    """Whether a cell numbers the lines of the listing in the next one, as gtk-doc and Pygments lay them out."""
    listing = cell.getnext()
    listing = next(listing.iter("pre"), None) if listing is not None and listing.tag == "td" else None
    if listing is None or not (lines := _counted_lines(cell)):
        return False
    return abs("".join(listing.itertext()).count("\n") - lines) <= 1


def _is_said_beside(element: Any) -> bool:
    """Whether an element stands beside words: by itself it would be all that is said there."""
    around = element.getparent()
    if around is None:
        return False
    beside = list(islice(around, MOST_BESIDE))
    own = (around.text, *(one.tail for one in beside))
    return any(text and text.strip() for text in own) or any(letters_shown(one) for one in beside if one is not element)


def _is_language(element: Any) -> bool:
    """Whether VitePress names the language of a listing so, which shows while nobody points at it."""
    around = element.getparent()
    return around is not None and any(name.startswith("language-") for name in classes_of(around))


def _is_mark_of_org(element: Any) -> bool:
    """Whether an element is a tag of a section, or says how far one is (`TODO`), as pandoc writes those of Org."""
    if element.get("data-tag-name") is not None:
        return True
    kind, _, state = (element.get("class") or "").partition(" ")
    return kind in ("todo", "done") and bool(state) and element.text == state


def _is_said_whole(brief: Any) -> bool:
    said, below = " ".join("".join(brief.itertext()).split()), brief.getnext()
    texts = below.iter("div") if below is not None else ()
    wholes = (one for one in texts if SAID_WHOLE & set(classes_of(one)))
    return any(said.rstrip(".") in " ".join("".join(whole.itertext()).split()) for whole in wholes)
