"""Whether the sentences of a generated answer are grounded: each is held against the passages that it cites.

Numbers with their units, names and part numbers of a sentence must be in a passage that it cites, or follow from one by a unit conversion;
a number that a passage says of another part or product does not count. Beyond that a sentence must be near a statement of what it cites
in meaning and share its content terms (thresholds: `python -m benchmarks.planted_answers`), and must not say the opposite of the statement
that it is nearest to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from kgrag.answer.citations import citation_marks, numbers_of_mark, without_marks
from kgrag.models.base import Embedder, Vectors
from kgrag.text.name_shapes import NAME, part_numbers
from kgrag.text.names import Gazetteer, normal_form
from kgrag.text.numerals import COUNT_BY_WORD
from kgrag.text.quantities import Quantity, quantities
from kgrag.text.sentences import Sentence, sentences
from kgrag.text.units import converted, scale
from kgrag.text.words import FUNCTION_WORDS, content_terms, stem, stems
from kgrag.types import Evidence

__all__ = ["Claim", "Thresholds", "check_claims", "ungrounded_notes", "with_claims_marked", "without_ungrounded"]

UNVERIFIED = "[unverified]"
"""What a sentence that fails is marked with in the text."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Below `support` (similarity plus `coverage_weight` times the share of content terms) a sentence is not grounded."""

    support: float = 0.52
    coverage_weight: float = 0.6
    opposite: float = 0.64
    """From this similarity on a sentence and a statement that differ in a negation are taken to contradict each other."""


@dataclass(slots=True)
class Claim:
    """A sentence of an answer, `text[start:end]` with its marks, the passages that it is held against, and what is wrong with it."""

    text: str
    """Without marks."""
    start: int
    end: int
    cited: tuple[int, ...]
    """Numbers of passages, from 1: those of its marks, else of the next sentence of its line with some, else all of the answer's."""
    problems: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    """Of each problem: quantity, number, name, subject, support, opposite."""
    similarity: float = 1.0
    coverage: float = 1.0

    opposes: bool = False
    """Whether it and the statement that it is nearest to differ in a negation."""

    def fails_by(self, limits: Thresholds) -> str:
        """Say how its meaning fails: `support`, `opposite`, or not at all."""
        unsaid = self.coverage < LEAST_COVERAGE and self.similarity < OTHER_WORDS_SIMILARITY
        if unsaid or self.similarity + limits.coverage_weight * self.coverage < limits.support:
            return "support"
        return "opposite" if self.opposes and self.similarity >= limits.opposite else ""

    def fail(self, kind: str, problem: str) -> None:
        """Note a problem."""
        self.kinds.append(kind)
        self.problems.append(problem)


NUMBER_WORDS = {word: str(number) for word, number in COUNT_BY_WORD.items()} | {"zero": "0"}
UNCOUNTED = frozenset(["one", "two", "single", "both", "double"])
"""Number words that more often join than count."""
NUMBER = re.compile(r"(?<![\w.,])[-−–+]?\d+(?:[.,]\d+)*(?![\w%])")
LACK = re.compile(
    r"\b(?:passages?|documents?|documentation|datasheets?|manuals?|sources?|evidence|text)\b[^.;]{0,60}"
    r"\b(?:(?:do|does|did) not|don't|doesn't|never|no\b|nowhere|nothing|lacks?)"
    r"|\b(?:they|it) (?:(?:do|does|did) not|don't|doesn't|never) (?:say|state|mention|specif|describe|indicate|document|tell|name)"
    r"|\b(?:is|are|was|were) (?:not|nowhere) (?:said|stated|mentioned|documented|specified|described|given|named|found)"
    r"|\bno (?:passage|document|information|mention)",
    re.IGNORECASE,
)
"""A sentence about what the documents do not say."""
NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|unable|un(?:supported|available|suitable|necessary)|lacks?|lacking|n/a)\b|n['’]t\b",
    re.IGNORECASE,
)
ANSWERING = re.compile(r"^(?:no|yes|not? (?:quite|exactly))\b[,.:;—–-]?\s*", re.IGNORECASE)
NEGATION_END = re.compile(r"[,;:.()](?!\d)|\b(?:but|and|or|because|so|which|that|while|whereas|only)\b", re.IGNORECASE)
ELLIPSIS = re.compile(
    r"\b(?:(?:do|does|did|is|are|was|were|can|has|have|will|should|must|may) not|cannot|\w+n['’]t) *(?:[,;:.()]|$)",
    re.IGNORECASE,
)
"""A negation whose verb stands elsewhere (`X runs, but Y does not.`): what it denies cannot be read."""
NEGATED_WORDS = 5
DENIED_SHARE = 0.6
ENUMERATION = re.compile(r"^\s*(?:[-*•]|\(?\d{1,2}[.)])\s+")
LEAST_COVERAGE, OTHER_WORDS_SIMILARITY = 0.2, 0.75
"""A sentence hardly a word of which is in what it cites, names aside, has to say the same in other words."""
MIN_CONTENT_TERMS = 3
EMBEDDED_STATEMENTS = 8
"""Of what a sentence cites, for each sentence: those that share most words with it."""
CODE_MARKS = re.compile(r"[`*_]{1,3}(?=\S)|(?<=\S)[`*]{1,3}")


async def check_claims(
    text: str,
    evidence: Sequence[Evidence],
    *,
    question: str,
    embedder: Embedder,
    thresholds: Thresholds | None = None,
) -> list[Claim]:
    """Check every sentence of an answer whose citations are written `[1]`, numbers being places in `evidence` from 1."""
    limits = thresholds or Thresholds()
    claims = claims_of(text)
    sources = {n: _Source(evidence[n - 1]) for claim in claims for n in claim.cited if 1 <= n <= len(evidence)}
    asked = _Source.of_text(question)
    known_titles = {piece.title for piece in evidence if piece.title}
    for claim in claims:
        cited = [sources[n] for n in claim.cited if n in sources]
        if not cited:
            if _says_something(claim.text) and not LACK.search(claim.text):
                claim.fail("support", "it cites no passage")
            continue
        _check_numbers(claim, cited, asked)
        _check_names(claim, cited, asked)
        if not claim.problems:
            _check_subject(claim, cited, known_titles)
    await _check_meaning(claims, sources, embedder, limits)
    return claims


def claims_of(text: str) -> list[Claim]:
    """Split an answer into its sentences, each with the passages that it cites."""
    found: list[Claim] = []
    lines: list[int] = []
    for sentence in sentences(text):
        start, end = sentence.start, sentence.end
        body = text[start:end]
        leading = _leading_marks(body)
        if leading and found and not text[found[-1].end : start].count("\n"):
            # `... 3.3 V. [1] It weighs ...`: a mark behind the full stop is that of the sentence before.
            found[-1].end = start + leading
            found[-1].cited = tuple(dict.fromkeys((*found[-1].cited, *_cited(body[:leading]))))
            start += len(body) - len(body[leading:].lstrip())
            body = text[start:end]
        if not body.strip():
            continue
        plain = without_marks(body) if sentence.cells else " ".join(without_marks(body).split())
        if not re.search(r"\w", plain):
            continue
        found.append(Claim(ENUMERATION.sub("", plain), start, end, _cited(body)))
        lines.append(text.count("\n", 0, start))
    every = tuple(dict.fromkeys(n for claim in found for n in claim.cited))
    marked = [claim.cited for claim in found]
    for place, claim in enumerate(found):
        if not claim.cited:
            following = (marked[k] for k in range(place + 1, len(found)) if lines[k] == lines[place] and marked[k])
            claim.cited = next(following, every)
    return found


def ungrounded_notes(claims: Sequence[Claim]) -> list[str]:
    """Say what is wrong with each sentence that fails."""
    return [f"Not grounded: “{claim.text}”: {'; '.join(claim.problems)}." for claim in claims if claim.problems]


def with_claims_marked(text: str, claims: Sequence[Claim]) -> str:
    """Mark the sentences that fail."""
    for claim in reversed(claims):
        if claim.problems:
            text = f"{text[: claim.end]} {UNVERIFIED}{text[claim.end :]}"
    return text


def without_ungrounded(text: str, claims: Sequence[Claim]) -> str:
    """Take the sentences that fail out; empty where nothing that says something is left."""
    left = [claim for claim in claims if not claim.problems and _says_something(claim.text)]
    if not left:
        return ""
    for claim in reversed(claims):
        if claim.problems:
            text = text[: claim.start].rstrip(" ") + text[claim.end :]
    lines = [line for line in text.splitlines() if re.search(r"\w", line) or not line.strip()]
    return "\n".join(lines).strip()


def _leading_marks(body: str) -> int:
    end = 0
    for mark in citation_marks(body):
        if mark.start() != end:
            break
        end = mark.end()
    return end


def _cited(body: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(n for mark in citation_marks(body) for n in numbers_of_mark(mark)))


def _says_something(text: str) -> bool:
    """Whether a sentence makes a claim: not a heading, not `Yes.`"""
    terms = content_terms(text)
    return not text.rstrip().endswith(":") and (len(terms) >= MIN_CONTENT_TERMS or any(c.isdigit() for c in text))


@dataclass(slots=True)
class _Statement:
    """A statement of a passage with the headings above it."""

    text: str
    above: str
    cells: tuple[tuple[str, str], ...]
    quantities: list[Quantity]
    numbers: frozenset[str]
    terms: frozenset[str]


class _Source:
    """A cited passage, read once."""

    def __init__(self, piece: Evidence) -> None:
        self.title = f"{piece.title}\n{piece.section}\n{piece.document}"
        self.text = piece.text
        self.context = f"{self.title}\n{piece.text}"
        self.terms = content_terms(self.context.replace("-", " ").replace("/", " ").replace("_", " "))
        self.terms |= content_terms(self.context)
        self.quantities = quantities(_plain(self.context))
        self.numbers = frozenset(_numbers(self.context))
        self.statements = list(_statements(piece.text))

    @classmethod
    def of_text(cls, text: str) -> _Source:
        """Read a text of no document, such as a question."""
        return cls(Evidence(chunk_id=None, source_id="", document="", text=text, tokens=0, score=0.0))

    def has_name(self, name: str) -> bool:
        """Whether a name is in the passage or in what it is headed by, in whatever spelling."""
        return bool(Gazetteer([name]).find(self.context)) or _folded(name) in _folded(self.context)

    def has_name_around_a_word(self, name: str) -> bool:
        """Whether the passage writes `NINA-W102` as `NINA module W102`; the second part has to be a designator of its own."""
        maker, _, part = name.partition("-")
        if not (maker.isalpha() and re.fullmatch(r"[A-Za-z]+\d\w*", part)):
            return False
        return bool(re.search(rf"\b{maker}[ -][A-Za-z]+[ -]{part}\b", self.context, re.IGNORECASE))


def _plain(text: str) -> str:
    return CODE_MARKS.sub("", text)


def _folded(text: str) -> str:
    return re.sub(r"[^\w]+", " ", text.casefold()).strip()


def _statements(text: str) -> Iterator[_Statement]:
    above = ""
    for statement in sentences(text):
        written = text[statement.start : statement.end]
        if not statement.cells and _is_heading(written, text[statement.end : statement.end + 2]):
            above = written
        said = _plain(statement.text)
        yield _Statement(
            statement.text,
            above,
            statement.cells,
            _quantities_of(statement, said),
            frozenset(_numbers(said)),
            content_terms(said),
        )


def _is_heading(written: str, following: str) -> bool:
    return written.startswith("#") or (
        len(written.split()) <= 8 and written[-1:].isalnum() and (not following or following.startswith("\n"))
    )


def _quantities_of(statement: Sentence, said: str) -> list[Quantity]:
    """The quantities of a statement, those of a row whose unit stands in another cell or in the header included."""
    found = quantities(said)
    if not statement.cells:
        return found
    units = [unit for header, value in statement.cells for unit in _units(header, value)]
    for header, value in statement.cells:
        own = _units(header, "") or units
        for match in NUMBER.finditer(value):
            for unit in own:
                found += quantities(f"{match.group()} {unit}")
    return found


def _units(header: str, value: str) -> list[str]:
    """Units that a cell is, or that its header has in brackets or alone: `mA`, `Current (mA)`, `Size [mm]`."""
    candidates = [value.strip(), *re.findall(r"[(\[]([^()\[\]]{1,8})[)\]]", header), header.strip().split(" ")[-1]]
    return [unit for unit in candidates if unit and len(unit) <= 8 and quantities(f"1 {unit}")]


def _numbers(text: str) -> Iterator[str]:
    """The numbers of a text without their thousands separators, number words included."""
    for match in NUMBER.finditer(text):
        yield _number(match.group())
    for match in re.finditer(r"\d+(?:[.,]\d+)*", text):
        yield _number(match.group())
    for word in re.findall(r"[a-z]+", text.casefold()):
        if word in NUMBER_WORDS:
            yield NUMBER_WORDS[word]


def _number(written: str) -> str:
    plain = written.lstrip("+-−–")
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", plain):
        plain = plain.replace(",", "")
    plain = plain.replace(",", ".")
    if plain.count(".") > 1:
        return plain  # a version
    return plain.rstrip("0").rstrip(".") if "." in plain else plain.lstrip("0") or "0"


def _ends(quantity: Quantity) -> Iterator[tuple[float, str]]:
    yield quantity.value, quantity.unit
    if quantity.upper is not None:
        yield quantity.upper, quantity.unit
    if quantity.tolerance is not None:
        yield quantity.tolerance, quantity.tolerance_unit


def _is_end(value: float, unit: str, among: Iterable[Quantity]) -> bool:
    return any(_same(value, unit, *other) for quantity in among for other in _ends(quantity))


def _same(value: float, unit: str, other: float, other_unit: str) -> bool:
    """Whether two ends of quantities are equal, the first rounded as it may be where it was converted from another unit."""
    if unit == other_unit:
        return value == other
    size, base = scale(unit)
    other_size, other_base = scale(other_unit)
    if base == other_base:
        one, two = float(size) * value, float(other_size) * other
        return abs(one - two) <= 1e-9 * max(abs(one), abs(two)) or _rounded(value, two / float(size))
    into = converted(other, other_unit, unit)
    return into is not None and _rounded(value, into)


def _rounded(value: float, exact: float) -> bool:
    """Whether `value` is `exact` in its own digits, two at least."""
    digits = max(2, len(f"{abs(value):.6g}".replace(".", "").strip("0")))
    return float(f"{exact:.{digits}g}") == float(f"{value:.{digits}g}")


def _masked(text: str, found: Iterable[tuple[int, int]]) -> str:
    for start, end in found:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _check_numbers(claim: Claim, cited: Sequence[_Source], asked: _Source) -> None:
    said = _plain(claim.text)
    measured = quantities(said)
    refuses = bool(NEGATION.search(said) or LACK.search(said))
    for quantity in measured:
        held = [q for source in cited for q in source.quantities]
        held += [q for source in cited for statement in source.statements for q in statement.quantities]
        if refuses:
            held += asked.quantities
        lacking = [(value, unit) for value, unit in _ends(quantity) if not _is_end(value, unit, held)]
        if all(_is_computed(value, unit, measured, held) for value, unit in lacking):
            continue
        if not (quantity.unit == "x" and _number(f"{quantity.value:g}") in _all_numbers(cited)):
            claim.fail("quantity", f"{quantity.text} is not in {_which(claim)}")
    rest = _masked(said, [(q.start, q.end) for q in measured])
    names = [match.span() for match in NAME.finditer(rest) if re.search(r"[A-Za-z]", match.group())]
    rest = _masked(rest, names)
    known = _all_numbers(cited) | (asked.numbers if refuses else frozenset())
    for match in NUMBER.finditer(rest):
        number = _number(match.group())
        if number not in known or not (refuses or _is_said_of(number, said, cited)):
            claim.fail("number", f"{match.group().strip()} is not in {_which(claim)}, or of something else")
    for word in re.findall(r"[a-z]+", rest.casefold()):
        if word in NUMBER_WORDS and word not in UNCOUNTED and NUMBER_WORDS[word] not in known:
            claim.fail("number", f"{word} is not in {_which(claim)}")


def _is_said_of(number: str, said: str, cited: Sequence[_Source]) -> bool:
    """Whether a passage has a bare number in its headings, or in a statement that shares a word with the sentence."""
    terms = frozenset(term for term in content_terms(said) if not term[0].isdigit())
    return any(
        number in _numbers(source.title)
        or any(
            number in s.numbers and (not terms or terms & (s.terms | content_terms(s.above))) for s in source.statements
        )
        for source in cited
    )


def _is_computed(value: float, unit: str, measured: Sequence[Quantity], held: Sequence[Quantity]) -> bool:
    """Whether a number is the sum or the difference of two others of its sentence that are grounded: `290 mA: 600 mA less 310 mA`."""
    ends = [v for q in measured for v, u in _ends(q) if u == unit and v != value and _is_end(v, u, held)]
    return any(abs(abs(value) - abs(a + sign * b)) < 1e-9 * abs(value) for a in ends for b in ends for sign in (1, -1))


def _all_numbers(cited: Sequence[_Source]) -> frozenset[str]:
    return frozenset().union(*(source.numbers for source in cited))


def _which(claim: Claim) -> str:
    return ", ".join(f"[{number}]" for number in claim.cited)


def names_of_claim(text: str) -> list[str]:
    """Return what a sentence names: words with a capital or a digit in a row, without the capital of its beginning."""
    said = _plain(text)
    rest = _masked(said, [(q.start, q.end) for q in quantities(said) if not _inside_name(q, said)])
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


def _check_names(claim: Claim, cited: Sequence[_Source], asked: _Source) -> None:
    refuses = bool(NEGATION.search(claim.text) or LACK.search(claim.text))
    for name in names_of_claim(claim.text):
        if any(source.has_name(name) for source in cited) or (refuses and asked.has_name(name)):
            continue
        missing = [part for part in _name_parts(name) if not _has_part(part, cited, asked, refuses)]
        if missing:
            claim.fail("name", f"{name} is not in {_which(claim)}")


def _name_parts(name: str) -> Iterator[str]:
    """What of a name must be found: numbers with the word that they belong to, and the other words."""
    words = name.split()
    for place, word in enumerate(words):
        if word.isdigit() and place:
            yield f"{words[place - 1]} {word}"
        elif not (place + 1 < len(words) and words[place + 1].isdigit()):
            yield word


def _has_part(part: str, cited: Sequence[_Source], asked: _Source, refuses: bool) -> bool:
    if any(c.isdigit() for c in part):
        sources = [*cited, asked] if refuses else list(cited)
        plain = part.removesuffix("s").partition("-based")[0]
        return any(s.has_name(part) or s.has_name(plain) or s.has_name_around_a_word(plain) for s in sources)
    pieces = [p for p in re.split(r"[-/.+_]", part) if p]
    known = frozenset().union(*(source.terms for source in cited)) | asked.terms
    return all(stem(piece.casefold()) in known or piece.casefold() in FUNCTION_WORDS for piece in pieces)


def _check_subject(claim: Claim, cited: Sequence[_Source], titles: set[str]) -> None:
    """Fail a number that the passages say of a sibling of what the sentence names: `X-1000` for `X-100`."""
    said = _plain(claim.text)
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


def _values(said: str, named: set[str]) -> Iterator[tuple[str, Callable[[_Statement], bool]]]:
    """What a sentence says of the things that it names: its quantities, else its other numbers and identifiers; each with what holds it."""
    measured = quantities(said)
    for quantity in measured:
        for value, unit in _ends(quantity):
            yield f"{value:g} {unit}", partial(_holds_quantity, value, unit)
    if measured:
        return
    families = {_family(name) for name in named}
    subject = next(iter(sorted(named, key=said.find)))
    for name in named - {subject}:
        if _family(name) != _family(subject) and len(families) > 1:
            yield name, partial(_holds_name, name)


def _holds_quantity(value: float, unit: str, statement: _Statement) -> bool:
    return _is_end(value, unit, statement.quantities)


def _holds_name(name: str, statement: _Statement) -> bool:
    return _mentions(statement.text, name)


def _owners(source: _Source, statement: _Statement, named: set[str], titles: set[str]) -> str | None:
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


async def _check_meaning(
    claims: Sequence[Claim], sources: dict[int, _Source], embedder: Embedder, limits: Thresholds
) -> None:
    """Fail sentences that are far from all that they cite, or say the opposite of what they are nearest to."""
    checked = [
        claim
        for claim in claims
        if any(n in sources for n in claim.cited) and _says_something(claim.text) and not LACK.search(claim.text)
    ]
    near = [_nearest_by_words(claim, [sources[n] for n in claim.cited if n in sources]) for claim in checked]
    texts = list(dict.fromkeys(_headed(statement, source) for some in near for statement, source in some))
    if not texts:
        return
    place = {text: number for number, text in enumerate(texts)}
    vectors: Vectors = await embedder.embed_documents([*texts, *(claim.text for claim in checked)])
    for claim, some, vector in zip(checked, near, vectors[len(texts) :], strict=True):
        cosines = vectors[[place[_headed(statement, source)] for statement, source in some]] @ vector
        best = int(np.argmax(cosines))
        nearest = some[best][0].text
        claim.similarity = float(cosines[best])
        # Names and numbers have been checked; what is said of them is in the other words.
        named = content_terms(" ".join(names_of_claim(claim.text)))
        wanted = frozenset(t for t in content_terms(claim.text) - named if not any(c.isdigit() for c in t))
        known = frozenset().union(*(sources[n].terms for n in claim.cited if n in sources))
        claim.coverage = len(wanted & known) / len(wanted) if wanted else 1.0
        cited = [statement.text for n in claim.cited if n in sources for statement in sources[n].statements]
        claim.opposes = _opposes(claim.text, nearest, cited)
        failing = claim.fails_by(limits)
        if failing == "support":
            absent = sorted({w for w, s in stems(claim.text) if s in wanted - known})
            lacking = f" ({', '.join(absent[:5])} not in it)" if absent else ""
            claim.fail("support", f"{_which(claim)} says nothing near enough{lacking}")
        elif failing == "opposite":
            claim.fail("opposite", f"{_which(claim)} says “{nearest}”")


def _nearest_by_words(claim: Claim, cited: Sequence[_Source]) -> list[tuple[_Statement, _Source]]:
    """The statements of what a sentence cites that share most words with it: those are worth embedding."""
    wanted = content_terms(claim.text)
    every = [(statement, source) for source in cited for statement in source.statements]
    return sorted(every, key=lambda one: -len(wanted & one[0].terms) / (len(one[0].terms) + 1) ** 0.5)[
        :EMBEDDED_STATEMENTS
    ]


def _opposes(claim: str, statement: str, cited: Sequence[str]) -> bool:
    """Whether a sentence and a statement contradict each other: one has most of what the other negates, and does not negate it.

    What another cited statement denies in the same words may be denied.
    """
    if ELLIPSIS.search(claim) or ELLIPSIS.search(statement):
        return False
    denied, also_denied = _denied(claim), _denied(statement)
    said, also_said = content_terms(claim) - denied, content_terms(statement) - also_denied
    if not said & also_said:
        return False
    denies = _mostly(denied, also_said, also_denied) and not any(denied <= _denied(other) for other in cited)
    return denies or _mostly(also_denied, said, denied)


def _mostly(denied: frozenset[str], said: frozenset[str], also_denied: frozenset[str]) -> bool:
    return not denied & also_denied and len(denied & said) >= max(1, DENIED_SHARE * len(denied)) and bool(denied)


def _denied(text: str) -> frozenset[str]:
    """The content terms of the words behind each negation, up to a comma or the end of its clause."""
    text = ANSWERING.sub("", text)
    reach = (NEGATION_END.split(text[match.end() :], maxsplit=1)[0] for match in NEGATION.finditer(text))
    return frozenset().union(*(content_terms(" ".join(words.split()[:NEGATED_WORDS])) for words in reach))


def _headed(statement: _Statement, source: _Source) -> str:
    title = source.title.partition("\n")[0]
    return f"{title}: {statement.text}" if title else statement.text
