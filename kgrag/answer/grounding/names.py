"""Whether what a sentence names is in what it cites, and whether its numbers are said there of that and not of a sibling."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from kgrag.answer.grounding.claims import Claim
from kgrag.answer.grounding.passages import Passage, PassageStatement, masked, without_code_marks
from kgrag.text.equal_quantities import ends, is_end
from kgrag.text.name_shapes import NAME, part_numbers
from kgrag.text.names import Gazetteer, normal_form
from kgrag.text.quantities import Quantity, quantities
from kgrag.text.words import FUNCTION_WORDS, stem

__all__ = ["check_names", "check_subject", "names_of_claim"]


def names_of_claim(text: str) -> list[str]:
    """Return what a sentence names: words with a capital or a digit in a row, without the capital of its beginning."""
    said = without_code_marks(text)
    rest = masked(said, [(q.start, q.end) for q in quantities(said) if not _inside_name(q, said)])
    found = []
    for match in NAME.finditer(rest):
        words = match.group().rstrip(".,").split()
        begins = not rest[: match.start()].strip(" \"'“‘(") or rest[: match.start()].rstrip()[-1:] in ".!?:"
        while words and words[0].casefold() in FUNCTION_WORDS:
            words.pop(0)
            begins = False
        if words and begins and words[0][1:].islower():
            words.pop(0)
        if words and any(c.isalpha() for c in "".join(words)):
            found.append(" ".join(words))
    return found


def _inside_name(quantity: Quantity, said: str) -> bool:
    return said[quantity.start - 1 : quantity.start].isalnum() or said[quantity.end : quantity.end + 1] == "-"


def check_names(claim: Claim, cited: Sequence[Passage], asked: Passage) -> None:
    """Fail a claim for each name that its passages lack; one that denies may have it from the question (`asked`)."""
    for name in names_of_claim(claim.text):
        if any(source.has_name(name) for source in cited) or (claim.denies and asked.has_name(name)):
            continue
        missing = [part for part in _name_parts(name) if not _has_part(part, cited, asked, denies=claim.denies)]
        if missing:
            claim.fail("name", f"{name} is not in {claim.marks}")


def _name_parts(name: str) -> Iterator[str]:
    """What of a name must be found: numbers with the word that they belong to, and the other words."""
    words = name.split()
    for place, word in enumerate(words):
        if word.isdigit() and place:
            yield f"{words[place - 1]} {word}"
        elif not (place + 1 < len(words) and words[place + 1].isdigit()):
            yield word


def _has_part(part: str, cited: Sequence[Passage], asked: Passage, *, denies: bool) -> bool:
    if any(c.isdigit() for c in part):
        sources = [*cited, asked] if denies else list(cited)
        plain = part.removesuffix("s").partition("-based")[0]
        return any(s.has_name(part) or s.has_name(plain) or s.has_name_around_a_word(plain) for s in sources)
    pieces = [p for p in re.split(r"[-/.+_]", part) if p]
    known = frozenset().union(*(source.terms for source in cited)) | asked.terms
    return all(stem(piece.casefold()) in known or piece.casefold() in FUNCTION_WORDS for piece in pieces)


def check_subject(claim: Claim, cited: Sequence[Passage], titles: set[str]) -> None:
    """Fail a number that the passages say of a sibling of what the sentence names: `X-1000` for `X-100`."""
    said = without_code_marks(claim.text)
    named = {name for name in names_of_claim(said) if any(c.isdigit() for c in name)}
    named |= {title for title in titles if len(title) > 2 and Gazetteer([title], as_written=[title]).find(said)}
    if not named:
        return
    wrong = ""
    for value, holds in _values(said, named):
        verdicts = [
            _owners(source, statement, named, titles)
            for source in cited
            for statement in source.statements
            if holds(statement)
        ]
        if not verdicts or any(other is None for other in verdicts):
            return  # one number that is said of what is named is enough: the others may be what it is compared with
        wrong = wrong or f"{value} is said of {verdicts[0]} there, not of {', '.join(sorted(named))}"
    if wrong:
        claim.fail("subject", wrong)


def _values(said: str, named: set[str]) -> Iterator[tuple[str, Callable[[PassageStatement], bool]]]:
    """What a sentence says of the things that it names: its quantities, else its other numbers and identifiers; each with what holds it."""
    measured = quantities(said)
    for quantity in measured:
        for value, unit in ends(quantity):
            yield f"{value:g} {unit}", partial(_holds_quantity, value, unit)
    if measured:
        return
    families = {_family(name) for name in named}
    subject = next(iter(sorted(named, key=said.find)))
    for name in named - {subject}:
        if _family(name) != _family(subject) and len(families) > 1:
            yield name, partial(_holds_name, name)


def _holds_quantity(value: float, unit: str, statement: PassageStatement) -> bool:
    return is_end(value, unit, statement.quantities)


def _holds_name(name: str, statement: PassageStatement) -> bool:
    return _mentions(statement.text, name)


def _owners(source: Passage, statement: PassageStatement, named: set[str], titles: set[str]) -> str | None:
    """The sibling that a statement is about, where it is about one and about nothing that is named; looked for from near to far."""
    for place in (statement.text, statement.above, source.title):
        if any(_mentions(place, name) for name in named):
            return None
        siblings = sorted(_siblings(place, named, titles))
        if siblings:
            return siblings[0]
    return None


def _mentions(text: str, name: str) -> bool:
    return bool(Gazetteer([name]).find(text))


def _siblings(text: str, named: set[str], titles: set[str]) -> set[str]:
    families = {_family(part) for name in named for part in part_numbers(name)}
    own = {normal_form(part) for name in named for part in part_numbers(name)}
    found = {part for part in part_numbers(text) if _family(part) in families and normal_form(part) not in own}
    if named & titles:
        found |= {title for title in titles - named if Gazetteer([title], as_written=[title]).find(text)}
    return found


def _family(part: str) -> str:
    return re.sub(r"\d+", "#", part.casefold())
