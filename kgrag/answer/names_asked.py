"""Whether a statement has the name that a question asks for (of an option, a command, a file), or enumerates what is asked for."""

from __future__ import annotations

import re
from collections.abc import Set

from kgrag.answer.cues import DEFAULT_SAID, asks_default, cued
from kgrag.answer.statement import Statement
from kgrag.text.answer_shapes import IDENTIFIER_SORTS, chosen_noun
from kgrag.text.name_shapes import IDENTIFIER, identifiers, is_code_name
from kgrag.text.questions import Question
from kgrag.text.words import singular, stems, words

__all__ = ["fits_list", "fits_name", "heading_names", "label_names", "names_setting"]

NOT_SAID_AS_DEFAULT = 0.8
"""A name in a sentence about a default need not be the default."""
SWITCHED = re.compile(r"\b(?:yes|no|on|off|true|false|enabled|disabled)\W*$", re.IGNORECASE)
NO_NAME = 0.3
"""`Defaults to no.` is a default, and no signal's."""
WORD = re.compile(r"[A-Za-z]+")
MAX_NAMED_WORDS = 9
ON_A_PANEL = frozenset(["option", "setting", "button", "parameter"])
NAMED_BEFORE_ITS_SORT = re.compile(r"(?:the )?(?P<name>.+) (?P<sort>\w+)(?: \((?P<written>[^()]+)\))?", re.IGNORECASE)
NAME_ALONE = re.compile(r"[‘'\"“`]?[a-z][\w.-]*[’'\"”`]?")
"""A heading that is one word written small is a name."""
SMALL_NAME = re.compile(r"(?=.{3})[a-z][a-z0-9]*(?:[-_.][a-z0-9]+)*")
"""A term of one word written small names a setting: `nosync: If set to true it is never chosen.`, `tcp-wait: ...`."""
QUOTED_NAME = re.compile(r"[‘'\"“].+[’'\"”](?: .{0,20})?")
CHOICE = re.compile(r"^.*?\b(?:which|what)\b", re.IGNORECASE)
OF_TWO = re.compile(r"\b(?:two|both|either)\b", re.IGNORECASE)
ENUMERATES = re.compile(r":\s|\b(?:are|includes?|namely|such as)\b")
ONE_OF = re.compile(r"\bone of\b(?=[^.;]*\bor\b)")
"""`The backend should be one of file or system.`: two are several there."""
JOINS = re.compile(r",\s|\band\b|\bor\b|;\s|\|")
MIN_JOINS = 2
_NAMED = r"[‘'\"“`]?(?:[A-Z][\w./-]*|--?[A-Za-z][\w-]*|\w+[_.]\w+)[’'\"”`]?"
NAMES_IN_A_ROW = re.compile(rf"\s(?:{_NAMED}, )+(?:{_NAMED},? )?(?:and|or) {_NAMED}")
"""Behind what they are: `the commands OPEN, READ and CLOSE`."""


def _names(asked: Question, statement: Statement) -> float:
    """An identifier that the question does not have: the statement's own term, or beside the sort that is asked for (`the X command`)."""
    asked_for = identifiers(asked.text)
    default = DEFAULT_SAID.search(statement.text) if asks_default(asked) else None
    if default:
        return NO_NAME if SWITCHED.search(default.group()) else 1.0
    if statement.label and identifiers(statement.label) - asked_for:
        return 1.0
    if heading_names(asked, statement):
        return 1.0
    sorts = _sorts_asked_for(asked)
    if _names_heading(statement, sorts) and statement.heading.casefold() not in asked.text.casefold():
        return 1.0
    if any(value and sorts & {singular(word) for word, _ in stems(header)} for header, value in statement.cells):
        return 1.0
    for match in IDENTIFIER.finditer(statement.text):
        if match.group().casefold().strip("\"'“”`") in asked_for:
            continue
        around = statement.text[max(0, match.start() - 24) : match.end() + 24].casefold()
        return 1.0 if any(re.search(rf"\b{sort}", around) for sort in sorts) else 0.7
    return 0.0


def _sorts_asked_for(asked: Question) -> Set[str]:
    """What names are asked for: `variable` of `Which variable names the file?`, else all that the question says."""
    chosen = singular(chosen_noun(asked.text))
    return {chosen} & IDENTIFIER_SORTS or {singular(word) for word, _ in stems(asked.text)} & IDENTIFIER_SORTS


def _names_heading(statement: Statement, sorts: Set[str]) -> bool:
    """Whether a statement is about the word that heads it, as a thing of a sort: `The xact command simplifies ...` below `xact`."""
    heading = statement.heading
    return heading.isalnum() and any(
        re.search(rf"(?<!\w){heading} {sort}\b", statement.text, re.IGNORECASE) for sort in sorts
    )


def heading_names(asked: Question, statement: Statement) -> bool:
    """Whether what stands above a statement names a thing of the sort that is asked for: `sat option`, `Standby Option (--standby)`.

    So does a heading in quotation marks (`‘Enable blinking text’`) of what one sets or presses, and a word below the heading of
    all of its sort (`detect` in `JTAG commands`), whatever the question chooses one of (`Which action ...?`, below `Actions`).
    """
    chosen = singular(chosen_noun(asked.text))
    sorts = _sorts_asked_for(asked)
    named_as = sorts | ({chosen} - {""})
    if asked.kind != "name" or not named_as or statement.is_code or len(statement.heading.split()) > MAX_NAMED_WORDS:
        return False
    if named := NAMED_BEFORE_ITS_SORT.fullmatch(statement.heading):
        name = {one for _, one in stems(f"{named['name']} {named['written'] or ''}")}
        if named["sort"].casefold() in named_as:
            return not name <= asked.terms
    if sorts and is_code_name(statement.heading):
        return statement.heading.casefold() not in asked.text.casefold()
    if NAME_ALONE.fullmatch(statement.heading) and not {one for _, one in stems(statement.heading)} <= asked.terms:
        of_all = words(statement.within.casefold())
        return any(word != singular(word) and singular(word) in named_as for word in of_all)
    return bool(sorts & ON_A_PANEL) and QUOTED_NAME.fullmatch(statement.heading) is not None


def label_names(statement: Statement) -> bool:
    """Whether the term that a statement is about is a setting's name: an identifier, or one word written small (`nosync`)."""
    return bool(identifiers(statement.label)) or SMALL_NAME.fullmatch(statement.label) is not None


def names_setting(statement: Statement) -> bool:
    """Whether a statement stands below a setting: its term, what it is a property of, or its heading is the name of one."""
    return label_names(statement) or bool(statement.owner) or is_code_name(statement.heading)


def _joins(text: str) -> bool:
    return len(JOINS.findall(text)) >= MIN_JOINS


def _enumerates(asked: Question, text: str) -> bool:
    """Whether a sentence says what there is of what is asked for: `There are three modes: fast, slow and off.`"""
    wanted = singular(chosen_noun(asked.text))
    if wanted and any(
        singular(m[0].casefold()) == wanted and NAMES_IN_A_ROW.match(text, m.end()) for m in WORD.finditer(text)
    ):
        return True
    one_of = ONE_OF.search(text)
    match = one_of or ENUMERATES.search(text)
    if match is None:
        return False
    after = text[match.end() :]
    if not _joins(after) and not ((one_of or OF_TWO.search(text[: match.start()])) and JOINS.search(after)):
        return False
    noun = next((s for word, s in stems(CHOICE.sub("", asked.text)) if singular(word) != word and s in asked.terms), "")
    return noun in {s for _, s in stems(text[: match.start()])}


def fits_name(asked: Question, statement: Statement) -> float:
    """A name of the sort that is asked for, as the default where that is asked."""
    as_default = DEFAULT_SAID.search(statement.text) or not asks_default(asked)
    return _names(asked, statement) * cued(asked, statement, 0.6) * (1.0 if as_default else NOT_SAID_AS_DEFAULT)


def fits_list(asked: Question, statement: Statement) -> float:
    """Several things: items of a list, what an announced enumeration has, words joined by commas."""
    if statement.items or _enumerates(asked, statement.text):
        return 1.0
    return 0.6 if _joins(statement.text) else 0.0
