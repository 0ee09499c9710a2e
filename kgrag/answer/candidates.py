"""The statements of the evidence that could answer a question, each with what speaks for it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kgrag.answer.amounts_asked import amounts, says_only_change
from kgrag.answer.cues import ABBREVIATED_DEFAULT
from kgrag.answer.labels import label_of
from kgrag.answer.names_asked import heading_names, label_names
from kgrag.answer.slots import fits
from kgrag.answer.statement import Statement
from kgrag.answer.statements import statements
from kgrag.answer.subject import AskedSections, Subject, exact_settings, has_identifier, otherwise_written
from kgrag.text.answer_shapes import IDENTIFIER_SORTS, ONE_THING, chosen_noun, measure_asked, said_by_unit
from kgrag.text.compounds import compounds, written_together
from kgrag.text.equal_quantities import is_said
from kgrag.text.name_shapes import exact_identifiers, identifiers, is_code_name, names_of_row
from kgrag.text.opposites import says_opposite
from kgrag.text.periods import is_of_another_period, is_of_another_year
from kgrag.text.planted_instructions import is_planted_instruction
from kgrag.text.questions import Question
from kgrag.text.words import SAID_BY, content_terms, singular, stem, stems, words
from kgrag.types import Evidence

__all__ = ["PLACE_WEIGHTS", "Candidate", "candidates", "for_reader", "in_context", "share_said"]

LABEL_WEIGHT, BEFORE_WEIGHT, HEADING_WEIGHT, TITLE_WEIGHT = 0.95, 0.8, 0.8, 0.6
"""How much a term of the question counts that stands in the statement's label, before it, above it, or in title and section."""
TOGETHER_WEIGHT = 0.7
"""The same of a term that another statement below the same name says."""
PLACE_WEIGHTS = (1.0, LABEL_WEIGHT, BEFORE_WEIGHT, HEADING_WEIGHT, TITLE_WEIGHT)
"""Of the statement itself, its label, what stands before, its heading, and its passage's title and section."""
NONE: frozenset[str] = frozenset()
KEY_TERMS = frozenset(map(stem, "binding combination hotkey key keyboard keystroke press shortcut stroke".split()))  # noqa: SIM905
"""What `Ctrl+M` says without a word."""
INSTRUCTION_TERMS = frozenset(map(stem, ("instruction", "prompt")))
"""Who asks for these may mean what a document tells a model."""
UNIT = stem("unit")
"""What `in seconds` says without the word."""
PATH = re.compile(r"(?<![\w.:/])~?(?:/[\w.-]*\w)+")
"""Of a file or folder: `/etc/hosts`."""
DEFAULT = stem("default")
STATES_DEFAULT = re.compile(
    r"\b(?:if|when|where|unless)\b[^.;]{0,60}?\b(?:(?:not|no|none|nothing|never|neither)\b[^.;]{0,50}?"
    r"\b(?:set|given|specified|configured|defined|provided|supplied|specify|passed)"
    r"|omitted|unset|unspecified|absent|left (?:out|blank|empty))\b",
    re.IGNORECASE,
)
"""What says a default without the word: `... is set to 4 when no other number has been given`."""
PART_OF_NAME = 0.6
MEASURES = 0.8
"""What fits so well has the amount that is asked for."""
HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
FISCAL_YEAR = re.compile(r"\bFY ?'?(?:20)?(\d\d)\b")
TYPE_BEHIND = re.compile(r" \((?:boolean|enum|floating point|integer|real|string)\)$")
"""`max_connections (integer)`: no part of the name."""
SOFTENED = 3.0
"""What a logit is divided by. Chosen, as the weight of `read`, on the training questions, each half by a network that learnt from the
other."""
DECLARED = re.compile(
    r"(?:[A-Z][a-z]+ )?(?:Command|Function|Macro|Option|Variable|Method|Directive|Procedure|Operator|Event)s? \S"
)
"""How a manual of commands or functions heads what it says of one: `Command lift LID`."""
OF_THIS = re.compile(
    rf"\bthis (?:{'|'.join(sorted(IDENTIFIER_SORTS - {'file', 'folder', 'directory', 'path', 'program', 'tool', 'service', 'type'}))})\b",
    re.IGNORECASE,
)
"""`Set this option to fast`: which one the term above says."""
FOLLOWING = re.compile(r"\bfollowing\b|\bbelow\b", re.IGNORECASE)
"""With a colon at the end: what is asked for stands below, and not in `It is looked for in the following two folders:`."""
NAME_CELL_WORDS = 4
"""A cell of so few words may name what its row is about: `-s`, `--socket-file=FILE`."""
BESIDE_IDENTIFIER = 0.7
"""A statement that has the identifier asked for only among its other words is less about it than its definition is."""


@dataclass(slots=True)
class Candidate:
    """A statement of a piece of evidence, with the features that its score is made of (each from 0 to 1)."""

    statement: Statement
    evidence: int
    """Index of its piece of evidence."""
    covered: dict[str, float] = field(default_factory=dict)
    """Terms of the question that it has, or that what it is about has (less)."""
    stems: frozenset[str] = frozenset()
    weights: dict[str, float] = field(default_factory=dict)
    """How much each term of the question weighs: the rarer in the evidence the more. The same for all statements."""
    coverage: float = 0.0
    aspect: float = 0.0
    similarity: float = 0.0
    logit: float | None = None
    """Whether it answers, by the cross-encoder, which reads it together with the question; None where that was not asked."""
    fits: float = 0.0
    subject: float = 0.0
    defines: bool = False
    """It stands below the identifier asked for: as its label, or its heading; or it is the row of it."""
    of_name: float = 1.0
    """The share of its label's parts that the question says, where the label is a setting's name: `save_history`, asked for `history`."""
    beside: bool = False
    """It stands beside what is about the thing asked for: in another section, below another identifier, or only announces it."""
    score: float = 0.0

    @property
    def text(self) -> str:
        """The statement as it is quoted."""
        return self.statement.text

    @property
    def read(self) -> float:
        """How well it answers, as read together with the question: less sure than the logit, so that all else still counts."""
        return 0.0 if self.logit is None else 1.0 / (1.0 + math.exp(-self.logit / SOFTENED))

    @property
    def rank(self) -> float:
        """How far up its passage was found: 1, 1/2, 1/3, ..."""
        return 1 / (1 + self.evidence)


def candidates(asked: Question, evidence: Sequence[Evidence]) -> list[Candidate]:
    """Split the evidence into statements and weigh them against the question.

    A term weighs as much as it is rare in the evidence. Statements about another product than the one asked for are left out.
    """
    reader = _Reader(asked, evidence)
    found = [candidate for index, piece in enumerate(evidence) for candidate in reader.candidates_of(piece, index)]
    if any(candidate.defines for candidate in found):
        for candidate in found:
            candidate.beside = candidate.beside or not candidate.defines
    if asked.kind == "name":
        _say_of_terms(found)
    weights = _weights(asked, found)
    # What is asked about the subject tells one statement about it from another; the subject is in all of them.
    aspect = asked.terms - asked.subject_terms or asked.terms
    for candidate in found:
        candidate.weights = weights
        candidate.coverage = share_said(weights, candidate.covered, asked.terms)
        candidate.aspect = share_said(weights, candidate.covered, aspect)
        if candidate.text.endswith(":") and (
            candidate.fits < 1.0 or asked.kind not in ONE_THING or FOLLOWING.search(candidate.text)
        ):
            candidate.beside = True
    return found


def _say_of_terms(found: Sequence[Candidate]) -> None:
    """Give each statement below a name what the others below it say of that name, where a name is asked for: it is what they answer."""
    said: dict[tuple[int, str], dict[str, float]] = {}
    named = [(candidate, (candidate.evidence, name)) for candidate in found if (name := _names(candidate.statement))]
    for candidate, of in named:
        together = said.setdefault(of, {})
        for term, weight in candidate.covered.items():
            together[term] = max(together.get(term, 0.0), TOGETHER_WEIGHT * weight)
    for candidate, of in named:
        for term, weight in said[of].items():
            candidate.covered[term] = max(candidate.covered.get(term, 0.0), weight)


def _names(statement: Statement) -> str:
    """The identifier that a statement stands below, its label or its heading; empty where there is none."""
    above = statement.owner or statement.label
    return above if identifiers(above) else statement.heading if is_code_name(statement.heading) else ""


class _Reader:
    """Compares the statements of the evidence with one question."""

    def __init__(self, asked: Question, evidence: Sequence[Evidence]) -> None:
        self._asked = asked
        self._named, self._sections = Subject(asked, evidence), AskedSections(asked, evidence)
        self._exact = exact_settings(asked.text, evidence)
        numbered = (name for name in asked.names if any(map(str.isdigit, name)))
        self._codes = tuple(dict.fromkeys((*self._exact, *numbered)))
        noun = chosen_noun(asked.text)
        self._chosen = stem(noun) if noun in IDENTIFIER_SORTS else ""
        self._paths = [path for path in PATH.findall(asked.text) if any(path in piece.text for piece in evidence)]
        self._sorts = _sorts_beside(asked.text, self._exact)
        self._of_measure = frozenset(
            [stem(measure_asked(asked.text)), *map(stem, said_by_unit(asked.text, asked.dimensions))]
        )
        self._together = compounds(asked.terms, content_terms(asked.text))
        self._spelled = {stem(name): pattern for name in words(asked.text) if (pattern := otherwise_written(name))}

    def candidates_of(self, piece: Evidence, index: int) -> Iterator[Candidate]:
        """The statements of one piece of evidence that are not about something else."""
        context = _terms(f"{piece.title} {piece.section}")
        for statement in statements(piece):
            if candidate := self._candidate(statement, index, piece.title, context):
                yield candidate

    def _candidate(self, statement: Statement, index: int, title: str, context: frozenset[str]) -> Candidate | None:
        asked, text = self._asked, statement.text
        about = f"{statement.heading}\n{statement.owner}\n{statement.label}\n{statement.before}"
        if (
            text.endswith("?")
            or _says_more(asked, self._codes, statement.items)
            or is_of_another_year(asked.text, f"{text}\n{about}")
            or (asked.kind != "name" and _of_another_identifier(self._exact, statement, title))
            or (is_planted_instruction(text) and not asked.terms & INSTRUCTION_TERMS)
        ):
            return None
        subject = self._named.share(index, text, about, tuple(names_of_row(statement.cells)))
        fit = fits(asked, statement)
        if subject is None or (asked.kind == "steps" and statement.of_rows and not fit):
            return None  # a whole table of codes does not say how something is done
        own = self._own_terms(statement)
        defines = self._defines(statement, title)
        covered = self._covered(statement, own, context)
        for term in self._implied(statement, fit, defines=defines):
            covered.setdefault(term, LABEL_WEIGHT)
        return Candidate(
            statement,
            index,
            covered,
            own,
            fits=fit,
            subject=subject * BESIDE_IDENTIFIER if self._exact and not defines else subject,
            defines=defines,
            beside=self._is_beside(statement, index, about),
            of_name=_said_of_name(_name_of(statement), asked),
        )

    def _defines(self, statement: Statement, title: str) -> bool:
        """Whether a statement stands below an identifier that is asked for, or is the row of it."""
        if not self._exact:
            return False
        named = (cell for _, cell in statement.cells if len(cell.split()) <= NAME_CELL_WORDS)
        # An item is of the term that announces its list; `Description` of what it stands below.
        of_list = label_of(statement.before) if statement.is_item else ""
        around = statement.within.rpartition(" > ")[2]
        headed = "\n".join((statement.label, statement.owner, statement.heading, around, title, of_list, *named))
        # Of formats (`"%j" inserts the job's number.`) there are lists of sentences without terms.
        first = statement.text.split(maxsplit=1)[0]
        return any(has_identifier(one, f"{first if one[0] == '%' else ''}\n{headed}") for one in self._exact)

    def _own_terms(self, statement: Statement) -> frozenset[str]:
        """The terms that a statement says itself, in whatever form."""
        asked, text = self._asked, statement.text
        headed = f"{text}\n{statement.label}\n{statement.heading}"
        spelled = {term for term, words_of_it in self._spelled.items() if words_of_it.search(headed)}
        together = written_together(text, asked.terms, self._together)
        return _terms(text) | together | spelled | _amounts_said(asked, statement)

    def _covered(self, statement: Statement, own: frozenset[str], context: frozenset[str]) -> dict[str, float]:
        """The terms of the question that a statement or what stands above it says, and how much each counts there."""
        asked, label, heading = self._asked, statement.label, statement.heading
        places = (
            (own, 1.0),
            (
                _terms(label) | written_together(label, asked.terms, self._together),
                LABEL_WEIGHT * _share_of_name(label, asked),
            ),
            (_terms(statement.owner), LABEL_WEIGHT * _share_of_name(statement.owner, asked)),
            (_terms(statement.before), LABEL_WEIGHT if statement.is_property else BEFORE_WEIGHT),
            (_terms(heading), HEADING_WEIGHT * _share_of_name(heading, asked)),
            (context, TITLE_WEIGHT),
        )
        covered = {}
        for term in asked.terms:
            ways = SAID_BY.get(term, NONE) | {term}
            if weight := max((weight for said, weight in places if ways & said), default=0.0):
                covered[term] = weight
        return covered

    def _implied(self, statement: Statement, fit: float, *, defines: bool) -> frozenset[str]:
        """The terms of the question that a statement with what is asked for need not say."""
        asked = self._asked
        implied: set[str] = set()
        if defines:
            implied |= self._sorts
        if asked.kind == "name" and fit == 1.0:
            implied.add(self._chosen)  # `Which switch ...?`: the switch itself need not say that it is one.
        if fit >= MEASURES:
            implied |= self._of_measure  # `How fine is it?`: an amount need not say `fine`.
        if asked.kind == "unit" and fit:
            implied.add(UNIT)
        if DEFAULT in asked.terms and any(
            said.search(statement.text) for said in (STATES_DEFAULT, ABBREVIATED_DEFAULT)
        ):
            implied.add(DEFAULT)
        if asked.kind == "keys" and fit:
            implied |= KEY_TERMS
        return asked.terms & implied

    def _is_beside(self, statement: Statement, index: int, about: str) -> bool:
        """Whether a statement stands in another section than the one asked for, or says it of the opposite, another time or a change."""
        asked = self._asked
        of_thing = f"{about if statement.is_property else statement.label}\n{statement.text}"
        return (
            self._sections.is_beside(index, f"{statement.text}\n{about}")
            or says_opposite(asked.terms, of_thing)
            or is_of_another_period(asked.text, statement.text, about)
            or is_of_another_year(asked.text, statement.text)
            or says_only_change(asked, statement)
            or self._is_of_another_path(f"{statement.text}\n{about}")
        )

    def _is_of_another_path(self, said: str) -> bool:
        """Whether a text names files, and none that the question names: `/etc/dnsmasq.conf` for `/etc/resolv.conf`."""
        paths = PATH.findall(said) if self._paths else []
        return bool(paths) and not any(path in said for path in self._paths)


def _amounts_said(asked: Question, statement: Statement) -> frozenset[str]:
    """The amounts of the question that a statement says in whatever unit, or has in a range."""
    if not asked.amounts:
        return NONE
    said = amounts(statement)
    return frozenset(one.text.casefold() for one in asked.amounts if is_said(one, said))


def _says_more(asked: Question, codes: Sequence[str], items: Sequence[str]) -> bool:
    """Whether a list says more than one thing, where one is asked for, or has items of those that are named among others.

    `E11 (...); E12 (...)`, asked what E11 means: its row says it. Steps name what they are for in one of them.
    """
    if len(items) < 2 or asked.kind in ("list", "summary", "steps"):
        return False
    if asked.kind in ONE_THING:
        return True
    named = [any(has_identifier(code, item) for code in codes) for item in items]
    return any(named) and not all(named)


def _sorts_beside(question: str, exact: Sequence[str]) -> frozenset[str]:
    """The stems of what a question calls its identifiers (`the option -O`): what stands below one of them need not say it."""
    near = (
        word
        for one in exact
        for beside in re.findall(rf"(\w+)\W+{re.escape(one)}(?!\w)|(?<!\w){re.escape(one)}\W+(\w+)", question)
        for word in beside
    )
    return frozenset(stem(word) for word in near if singular(word.casefold()) in IDENTIFIER_SORTS)


def _of_another_identifier(asked: Sequence[str], statement: Statement, title: str) -> bool:
    """Whether a statement or its label has identifiers, and neither it nor what it is about one of those asked for.

    `max_idle (100)` for `max_use`. What stands before a statement with such a label may name others, which it is not about.
    """
    if not asked:
        return False
    about = f"{statement.text}\n{statement.label}\n{statement.heading}\n{title}"
    if not exact_identifiers(statement.label):
        about += f"\n{statement.before}"
    if any(has_identifier(one, about) for one in asked):
        return False
    return bool(exact_identifiers(f"{statement.label}\n{statement.text}"))


def in_context(candidate: Candidate, evidence: Sequence[Evidence]) -> str:
    """Write a statement with all that it is about and does not say itself: title, heading, label or description. What an embedder reads."""
    statement = candidate.statement
    of = statement.before if statement.is_property else statement.label
    return _headed(statement.text, (evidence[candidate.evidence].title, statement.heading, statement.owner, of))


def for_reader(candidate: Candidate, asked: Question, *, title: str, is_said: str = "") -> str:
    """Write a statement with what a reader has to know: the title, and heading or label where they have what it lacks of the question.

    A label or heading that names a setting (`-t threads`, `buffer-limit`, `nosync`) always stands with what is said of it. What `is_said`
    right before, a title, is not said again.
    """
    statement = candidate.statement
    wanted = asked.terms - candidate.stems
    parts = [part for part in (statement.heading, statement.label) if _terms(part) & wanted]
    if statement.owner:
        parts.append(statement.owner)
    elif (
        statement.is_property or is_code_name(statement.heading) or heading_names(asked, statement)
    ) and statement.heading not in parts:
        parts.insert(0, statement.heading)
    names_thing = (
        label_names(statement)
        or DECLARED.match(statement.label)
        or (statement.label and OF_THIS.search(statement.text))
    )
    if names_thing and statement.label not in parts:
        parts.append(statement.label)
    return _headed(statement.text, [part for part in (title, *parts) if part != is_said])


def _headed(text: str, above: Sequence[str]) -> str:
    said = text.casefold()
    parts: list[str] = []
    for part in above:
        folded = part.casefold()
        is_said = re.search(rf"(?<!\w){re.escape(folded)}(?!\w)", said) is not None
        if part and not is_said and not any(folded in other.casefold() for other in parts):
            parts.append(part)
    return f"{', '.join(parts)}: {text}" if parts else text


def _terms(text: str) -> frozenset[str]:
    """The stems of a text's words; of a name with humps (`KeepAlive`) those of its words as well."""
    said = frozenset(s for _, s in stems(text)) | {f"20{year}" for year in FISCAL_YEAR.findall(text)}
    return said | frozenset(s for _, s in stems(HUMP.sub(" ", text))) if HUMP.search(text) else said


def _name_of(statement: Statement) -> str:
    """The setting that a statement is about: its label, or what a property (`Default: 60`) is said of, else the heading above it."""
    own = "" if statement.is_property else statement.label
    return TYPE_BEHIND.sub("", own or statement.owner or statement.heading)


def _said_of_name(name: str, asked: Question) -> float:
    if not (is_code_name(name) or (name.isalnum() and HUMP.search(name))) or has_identifier(name, asked.text):
        return 1.0
    parts = _terms(name) - {name.casefold()} or _terms(name)
    return len(parts & asked.terms) / len(parts)


def _share_of_name(text: str, asked: Question) -> float:
    """How much a label or heading that is a setting's name says: less where the question says only a part of the name."""
    text = TYPE_BEHIND.sub("", text)
    if not is_code_name(text):
        return 1.0
    parts = _terms(text)
    return PART_OF_NAME + (1.0 - PART_OF_NAME) * len(parts & asked.terms) / len(parts)


def share_said(weights: Mapping[str, float], covered: Mapping[str, float], terms: frozenset[str]) -> float:
    """How much of the terms is covered, by weight."""
    return sum(weights[t] * covered.get(t, 0.0) for t in terms) / (sum(weights[t] for t in terms) or 1.0)


def _weights(asked: Question, found: Sequence[Candidate]) -> dict[str, float]:
    return {
        term: math.log(1 + (len(found) + 1) / (1 + sum(1 for c in found if c.covered.get(term, 0) == 1.0)))
        for term in asked.terms
    }
