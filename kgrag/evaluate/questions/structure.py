"""Questions of what authors marked: links, headings, captions, definitions, questions that they answer themselves, references."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from kgrag.evaluate.questions.draft import Draft
from kgrag.evaluate.questions.material import Material, body
from kgrag.extract.patterns import definition
from kgrag.text.words import content_terms
from kgrag.types import content_id

__all__ = ["captions", "cross_references", "definitions", "faq", "headings", "hyperlinks"]

MASK = "…"
CONTEXT_WORDS = 12
"""On each side of a masked link or reference."""
FEWEST_TERMS = 4
"""Content words that are left of a sentence once a link, a reference or a term is masked: fewer ask for nothing in particular."""
LONGEST_PAGE = 60
"""Chunks of a page that a link may lead to as a whole: a longer one is a book."""
LONGEST_HEADING = 12
"""Words: a longer one is a sentence that was set like a heading."""
MOST_PLACES = 12
"""Chunks of a section: a longer one is a chapter, of which any chunk would be right."""

CAPTION = re.compile(
    r"(?m)^[*_ ]*(?P<label>(?:Table|Figure|Fig\.|Listing|Example|Exhibit)\s+[A-Z]?\d+(?:[.-]\d+)*)[.: –—-]+[*_]*"
    r"(?P<words>[A-Z\"“‘][^\n|]{7,160})$"
)
REFERENCE = re.compile(
    r"\(?\b(?:[Ss]ee|[Rr]efer to|(?:described|shown|listed|given|discussed|explained) in|in|[Cc]onsult)\s+(?:also\s+)?(?:the\s+)?"
    r"(?P<label>(?P<kind>[Ss]ection|[Cc]hapter|[Tt]able|[Ff]igure|Note|Item|Exhibit)\s+(?P<number>[A-Z]?\d+(?:[.-]\d+)*[A-Z]?))\)?"
)
NOTE_HEADING = re.compile(
    r"(?P<kind>Note|Item|Section|Chapter|Exhibit)\s+(?P<number>[A-Z]?\d+[A-Z]?(?:\.\d+)*)\b[.:\s–—-]*(?P<rest>.*)"
)
ASKS = re.compile(r"^(?:#+\s*)?(?P<question>[A-Z][^\n?]{10,160}\?)\s*$", re.MULTILINE)
TERM = re.compile(r"(?P<term>(?:The |An? )?[^\W\d_][^.,;:()|]{1,50}?)\s(?:is|are|was|were)\s")
FALSE_SUBJECT = re.compile(
    r"(?i)(?:it|this|that|these|those|there|he|she|they|we|you|here|what|which|if|when|note|one|each|both|such|to|in|on|for|by|as|with|and|but|or|at|from)\b"
)
NO_TERM = re.compile(
    r"(?i)\b(?:we|you|they|it|he|she|which|there)$|\b(?:these|those|this|that|such|its|their|our|your)\b|\s[-–—]\s|^\W"
)
"""The words before a verb are no term: they refer to something else, or another part of the sentence stands in them."""
HEADING_FORMS = ("{heading} of {title}", "What does {title} say about {heading}?", "{title}: {heading}", "{heading}")


def hyperlinks(material: Material) -> Iterator[Draft]:
    """Ask by the sentence around a link, the link's text masked: what it leads to has to be found, without the chunks that say it."""
    rule = "the sentence around an author's link, its text masked, leads to what it links to; chunks with that sentence are hidden"
    for chunk in material.chunks:
        for link in chunk.links:
            path, _, fragment = link.href.partition("#")
            target = material.places.get((path, fragment)) if path else None
            if not target or len(target) > (MOST_PLACES if fragment else LONGEST_PAGE):
                continue
            masked = _masked(link.context, link.anchor)
            if masked is None or content_terms(link.anchor) & content_terms(masked):
                continue
            hidden = material.stating[" ".join(link.context.split())]
            if target := target - hidden:
                where = "section" if fragment else "page"
                yield Draft(
                    "hyperlinks",
                    f"{rule} ({where})",
                    "factual",
                    masked,
                    (target,),
                    answers=(link.anchor,),
                    hidden=hidden,
                    document=material.path_of[chunk.document_id],
                )


def headings(material: Material) -> Iterator[Draft]:
    """Ask by a heading for what stands under it, with the document's title in one of four forms."""
    seen = Counter(section.heading.casefold() for section in material.sections)
    for section in material.sections:
        if len(section.chunks) > MOST_PLACES or section.heading.endswith("?"):
            continue
        if not content_terms(section.heading) or len(section.heading.split()) > LONGEST_HEADING:
            continue
        alone = seen[section.heading.casefold()] == 1 and len(section.heading.split()) > 1
        if section.heading.casefold() == section.subject.casefold() and not alone:
            continue
        form = HEADING_FORMS[
            int(content_id(section.document_id, section.heading)[:4], 16) % (len(HEADING_FORMS) - (not alone))
        ]
        if section.subject.casefold() == section.heading.casefold():
            form = "{heading}"
        yield Draft(
            "headings",
            "a heading, with the title of its document, asks for what stands under it",
            "factual",
            form.format(heading=section.heading, title=section.subject),
            (section.chunks,),
            document=material.path_of[section.document_id],
        )


def captions(material: Material) -> Iterator[Draft]:
    """Ask by the caption of a table or figure, without its number, for the chunks that have it."""
    for chunk in material.chunks:
        for match in CAPTION.finditer(chunk.text):
            words = match["words"].strip(" *_.")
            if len(content_terms(words)) >= FEWEST_TERMS - 1:
                yield Draft(
                    "captions",
                    "the caption of a table or figure, without its number, asks for the chunk that has it",
                    "factual",
                    words if len(words.split()) > 5 else f"{words} ({material.subjects[chunk.document_id]})",
                    (material.having(match["words"].strip(), document_id=chunk.document_id) | {chunk.id},),
                    document=material.path_of[chunk.document_id],
                )


def definitions(material: Material) -> Iterator[Draft]:
    """Ask what a defined term is, and by the definition without the term for the term."""
    for chunk in material.chunks:
        for sentence in material.statements[chunk.id]:
            match = None if sentence.cells else TERM.match(sentence.text)
            if match is None or FALSE_SUBJECT.match(match["term"]):
                continue
            term = match["term"].strip()
            if definition(sentence.text, match.end("term")) is None or NO_TERM.search(term) or len(term.split()) > 6:
                continue
            rest = sentence.text[match.end() :].rstrip(" .")
            stating = material.stating[" ".join(sentence.text.split())]
            where = material.path_of[chunk.document_id]
            yield Draft(
                "definitions",
                "a term that a sentence defines",
                "factual",
                f"What is {_article_lowered(term)}?",
                (stating,),
                answers=(sentence.text,),
                gold_facts=(sentence.text,),
                document=where,
            )
            if len(content_terms(rest)) >= FEWEST_TERMS and not content_terms(term) & content_terms(rest):
                yield Draft(
                    "definitions",
                    "a definition without its term asks for the term",
                    "factual",
                    f"What is {_shortened(rest)}?",
                    (stating,),
                    answers=(term,),
                    gold_facts=(sentence.text,),
                    document=where,
                )


def faq(material: Material) -> Iterator[Draft]:
    """Ask what authors ask themselves in a heading or on a line of its own."""
    rule = "a question that the authors ask in a heading or on a line of its own"
    for section in material.sections:
        if section.heading.endswith("?") and len(section.chunks) <= MOST_PLACES:
            where = material.path_of[section.document_id]
            yield Draft("faq", rule, "factual", section.heading, (section.chunks,), document=where)
    for chunk in material.chunks:
        for match in ASKS.finditer(body(chunk)):
            question, where = match["question"], material.path_of[chunk.document_id]
            if len(content_terms(question)) >= FEWEST_TERMS - 1:
                stating = material.having(question, document_id=chunk.document_id) | {chunk.id}
                yield Draft("faq", rule, "factual", question, (stating,), document=where)


def cross_references(material: Material) -> Iterator[Draft]:
    """Ask by a sentence that refers to a section, note, table or figure, the reference masked, for what it refers to."""
    targets = _labelled(material)
    for chunk in material.chunks:
        for sentence in material.statements[chunk.id]:
            if sentence.cells:
                continue
            for match in REFERENCE.finditer(sentence.text):
                target = targets.get((chunk.document_id, match["kind"].casefold(), match["number"]))
                masked = _masked(sentence.text, match[0])
                if not target or masked is None:
                    continue
                hidden = material.stating[" ".join(sentence.text.split())]
                if target := target - hidden:
                    yield Draft(
                        "cross_references",
                        "a sentence that refers to a section, note, table or figure, the reference masked; chunks with it are hidden",
                        "factual",
                        masked,
                        (target,),
                        answers=(match["label"],),
                        hidden=hidden,
                        document=material.path_of[chunk.document_id],
                    )


def _labelled(material: Material) -> dict[tuple[str, str, str], frozenset[str]]:
    """Return the chunks of what a document numbers: by its id, the kind of label in small letters, and the number.

    A number that several sections of a document have (those of contracts in its annex) means none of them.
    """
    found: dict[tuple[str, str, str], set[frozenset[str]]] = defaultdict(set)
    for section in material.sections:
        if section.number:
            for kind in ("section", "chapter"):
                found[section.document_id, kind, section.number].add(section.chunks)
        elif match := NOTE_HEADING.fullmatch(section.heading):
            found[section.document_id, match["kind"].casefold(), match["number"]].add(section.chunks)
    for chunk in material.chunks:
        for match in CAPTION.finditer(chunk.text):
            kind, number = match["label"].casefold().split(maxsplit=1)
            found[chunk.document_id, kind.replace("fig.", "figure"), number].add(frozenset((chunk.id,)))
    return {key: next(iter(some)) for key, some in found.items() if len(some) == 1 and len(min(some)) <= MOST_PLACES}


def _masked(context: str, said: str) -> str | None:
    """Return the twelve words before and after what is masked; None where it does not stand there or too little is left."""
    before, found, after = " ".join(context.split()).partition(" ".join(said.split()))
    if not found or not said.strip():
        return None
    left, right = before.split()[-CONTEXT_WORDS:], after.split()[:CONTEXT_WORDS]
    masked = " ".join((*left, MASK, *right))
    return masked if len(content_terms(masked)) >= FEWEST_TERMS else None


def _article_lowered(term: str) -> str:
    first, _, rest = term.partition(" ")
    return f"{first.lower()} {rest}" if first in ("The", "A", "An") else term


def _shortened(text: str) -> str:
    return " ".join(text.split()[: 2 * CONTEXT_WORDS]).rstrip(",;: ")
