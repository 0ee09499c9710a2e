"""Whether a statement has what a question asks for: a quantity of its dimension, a number, a name, a person, yes or no, steps, ..."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from kgrag.answer.amounts_asked import amounts, fits_count, fits_number, fits_quantity, fits_unit, fits_value
from kgrag.answer.cues import (
    DEFAULT_SAID,
    NO_VALUE,
    NUMBER,
    OF_DEFAULT,
    SAYS_DEFAULT,
    SETTING_WORD,
    asks_default,
    asks_limit,
    cued,
    is_of_another_cue,
    is_of_limit_asked,
)
from kgrag.answer.definitions_asked import fits_definition
from kgrag.answer.labels import values_of
from kgrag.answer.names_asked import fits_list, fits_name
from kgrag.answer.statement import Statement
from kgrag.text.answer_shapes import DEFINES, AnswerKind, asks_for_figure, asks_for_recommendation, chosen_noun
from kgrag.text.equal_quantities import is_said
from kgrag.text.name_shapes import identifiers
from kgrag.text.periods import MONTHS, asks_when_at_all
from kgrag.text.questions import Question
from kgrag.text.words import FUNCTION_WORDS, stem, stems

__all__ = ["fits"]

VALUES_ASKED: frozenset[AnswerKind] = frozenset(["quantity", "count", "number"])
NOT_RECOMMENDED = 0.6
"""Of what a value fits where one is asked for that is recommended, and it is the default or a limit."""
ASSIGNS = re.compile(r"(?P<name>[A-Za-z][\w.-]*[\w]) ?= ?[^\s<{\[]")
"""`MaxClients = 150`, and no `MaxClients = <number>`."""
ASKS_A_VALUE = frozenset(["plain", "number", "quantity", "count", "definition"])
DATE = re.compile(rf"\b(?:1[0-9]{{3}}|20[0-9]{{2}})\b|\b(?:{MONTHS})\b")
PLACE = re.compile(r"\b(?:in|at|near|from|to)\s+(?:the\s+)?[A-Z]\w+")
LOCATION = re.compile(
    r"\b(?:director(?:y|ies)|folders?|standard output|stdout|stderr|located|stored|installed|found) (?:in|at|under|below|is|of)\b"
    r"|\b(?:placed|put|kept|saved|written|stored|located|found|shown|displayed|appears?|drawn|positioned)"
    r" (?:\w+ )?(?:in|into|at|on|under|below|above|inside|next to)\b"
    r"|\b(?:in|to|into|at|under) (?:the |a |an )?(?:[\w-]+ ){0,2}(?:director(?:y|ies)|folders?|file|stdout|stderr|standard (?:output|error)"
    r"|screen|console|terminal|clipboard)\b",
    re.IGNORECASE,
)
PERSON = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+(?:\s[A-Z][\w.'’-]+)+|\bby [A-Z]\w+")
BECAUSE = re.compile(
    r"\b(?:because|since|caused? by|(?:affected|impacted|driven|helped|hurt|offset) (?:\w+ )?by|attributable to"
    r"|reasons?|requirement of|due to|so that|in order to|therefore|thus"
    r"|as a result|allow|enabl|to avoid|to prevent|must not|be aware|beware|otherwise)",
    re.IGNORECASE,
)
PRICE_ASKED = re.compile(
    r"\b(?:how much|what) (?:does|do|did|would|will|is|are) .*\b(?:cost|charged?|sold)\b|\b(?:price|fee)\b",
    re.IGNORECASE,
)
PRICE = re.compile(
    r"[$€£¥]|\b(?:usd|eur|gbp|chf|dollars?|euros?|pounds?|cents?|free|gratis)\b|\b(?:no|without) (?:charge|cost|fee)s?\b"
    r"|\b(?:charged?|prices?|costs?|fees?)\b.*\d|\d.*\b(?:charged?|prices?|costs?|fees?)\b",
    re.IGNORECASE,
)
"""No other amount is a price."""
CONDITION = re.compile(
    r"\b(?:when|whenever|once|if|unless|until|after|before|as soon as|each time|every|only on|at the (?:end|start|beginning) of)\b",
    re.IGNORECASE,
)
"""`When does it reconnect?` asks for what has to be so, not for a date."""
RECOMMENDS = re.compile(
    r"\b(?:recommend\w*|should|advis\w+|suggest\w*|prefer\w*|best|better|ideal\w*|good (?:idea|choice)|avoid)\b",
    re.IGNORECASE,
)
SAID_BY_DEFAULT = frozenset(["name", "list", "plain", "yes/no", "definition", "where"])
DEFAULT_HEADED = re.compile(r"[(\[](?:the )?default[)\]]$", re.IGNORECASE)
"""`Level 1 (default)`: the heading says it."""
OF_DEFAULT_HEADED = SAID_BY_DEFAULT | VALUES_ASKED
WHAT_IT_IS = 0.9
"""`What is the focal length?` may ask for a length, or for what is called so."""
OF_EXAMPLE = re.compile(r"examples?\b", re.IGNORECASE)
"""A value of an example is one that may be chosen, and not the one that is."""
DECIDES = re.compile(
    r"\b(?:not|cannot|can|never|always|must|may|only|no|yes|supports?|supported|allow(?:s|ed)?|possible|impossible|without|unable|on|off"
    r"|enabled|disabled)\b|n['’]t\b",
    re.IGNORECASE,
)
_BEGINS_NO_STEP = "|".join(sorted(FUNCTION_WORDS - {"do", "get", "use"}))
INSTRUCTS = re.compile(
    r"\b(?:you (?:can|need|have|must|should|will|may)|in order to|need to|by \w+ing|using|with the (?:command|option)"
    r"|to \w+[^.]{0,60}, (?:use|run|set|call|add|press|click|type|select)|can be \w+ed by|can be used (?:to|for))\b"
    rf"|(?:^|[?:] )(?:(?!(?:{_BEGINS_NO_STEP})\b)[A-Z][a-z]+ (?:the|a|an|your|it|to|on|in|and)\b"
    r"|(?:use|run|set|add|press|open|select|click|enter|type|call|create|edit|go|make|start|stop|install|choose|tap|specify|pass|give"
    r"|define|put|turn|change|enable|disable|remove|copy)\b)",
    re.IGNORECASE,
)
CONTRASTS = re.compile(
    r"\b(?:whereas|while|unlike|but|however|instead|only|difference|differs?|than|other|except|without|exactly like|twice|double"
    r"|half (?:of|the|as)|times (?:as|the)|(?:a|one) (?:half|third|fourth|forth|quarter|fifth|tenth) of)\b",
    re.IGNORECASE,
)
ANSWERS_HOW = re.compile(r"\bhow (?:do|can|should|could|to)\b[^?]*\?:? \w", re.IGNORECASE)
"""What follows such a question of the document's own, on the same line, says how."""
KEYS = re.compile(
    r"\b(?:ctrl|control|strg|alt|shift|cmd|command|option|meta|super|windows|win|fn)\s?[-+–]\s?\S|[⌘⌥⇧⌃]|\b[CM]-[\w<%]"
    r"|\b(?:F(?:[1-9]|1[0-2])|Esc(?:ape)?|Enter|Return|Tab|Del(?:ete)?|Backspace|PgUp|PgDn|Page (?:Up|Down))\b",
    re.IGNORECASE,
)
"""What is pressed on a keyboard."""
KEY_COLUMN = re.compile(r"(?:key|shortcut|hot ?key|accelerator)s?\b(?! (?:words?|size|length|file))", re.IGNORECASE)
"""Heads a column of keys: `Key Stroke`, `Shortcut`."""
OF_OPTION = re.compile(r"\S+ (?:option|command|directive|setting|parameter|switch)")
"""The heading of what one sets or calls to have it so: `exclude option`."""
OPTION = re.compile(r"--?[A-Za-z]")
"""How the first cell of an option's row begins: `-q | be quiet`."""
MENU_PATH = re.compile(r"[A-Z][\w/-]*(?: [\w/-]+){0,3}[’'\"”]? ?(?:→|➔|➜|⇒|▸|‣|►|->|=>|>|») ?[‘'\"“]?[A-Z][a-z]")
"""`File → Export`: which commands of menus to choose is how a thing is done."""
WEAKLY_INSTRUCTS = 0.8
TELLS_HOW = re.compile(
    r"^(?:to|in order to) (?:\w+ly )?[a-z]+[^.;:]{0,100}?, (?:you (?:can|need|have|must|should|may|will)\b"
    r"|(?:(?:then|first|simply|just) )?(?!(?:the|it|this|that|these|an?|we|they|there|one|each|all|its|for|as)\b)[a-z]+"
    r"(?: (?:down|up|on|off|out|in|into))? (?:the|a|an|your|it|them|both|all|one|two|to|on|in|[‘'\"“`A-Z-]))",
    re.IGNORECASE,
)
"""`To start it in another mode, hold down the button while ...`: says how, and what for."""
COMMAND_LINE = re.compile(r"(?:^|[:;$#>`] )[a-z][\w.-]*(?: [a-z][\w-]*){0,3} --?[A-Za-z][\w-]*")
"""A program with an option: that is how a thing is done."""
NAMES_DEFAULT = 0.6
"""`Sets the default speed.` says that there is one, and not which."""
OF_OTHER_AMOUNT = 0.5
"""What decides something, but says nothing of the amount that is asked about: `Does it run on 24 V?`."""


def fits(asked: Question, statement: Statement) -> float:
    """Say how well a statement has the kind of thing that is asked for, 0 to 1."""
    found = _fits(asked, statement)
    if asked.kind in VALUES_ASKED and asks_for_recommendation(asked.text) and not RECOMMENDS.search(statement.text):
        return found * NOT_RECOMMENDED
    return found


def _fits(asked: Question, statement: Statement) -> float:
    """The same, whether it is recommended or not."""
    if statement.is_property and (of_property := _of_property(asked, statement)) is not None:
        return of_property
    if asks_default(asked) and asked.kind in OF_DEFAULT_HEADED and DEFAULT_HEADED.search(statement.heading):
        return 1.0
    if _says_of_identifier(asked, statement) or _in_column_asked_for(asked, statement) or _of_value(asked, statement):
        return 1.0
    if asked.kind in VALUES_ASKED and PRICE_ASKED.search(asked.text) and not asks_for_figure(asked.text):
        return 1.0 if PRICE.search(statement.text) else 0.0
    found = FITS[asked.kind](asked, statement)
    if asked.kind == "quantity" and DEFINES.search(asked.text) and not asks_limit(asked):
        return max(found, WHAT_IT_IS * fits_definition(asked, statement))
    return found


def _of_property(asked: Question, statement: Statement) -> float | None:
    """How well a property (`Default: 60`) fits by its label; None where that does not tell."""
    is_default = OF_DEFAULT.match(statement.label)
    if is_default and asks_default(asked) and asked.kind in SAID_BY_DEFAULT:
        return 0.5 if NO_VALUE.search(statement.text) else 1.0
    if {stem for _, stem in stems(statement.label)} <= asked.terms:
        return 1.0  # `Units: seconds`, asked for the unit.
    if OF_EXAMPLE.match(statement.label):
        return 0.3 * FITS[asked.kind](asked, statement)
    if is_of_another_cue(asked, statement.label) and not (is_default and is_of_limit_asked(asked, statement)):
        return 0.4 * fits_value(asked, statement)
    if is_default and asked.kind in ("count", "quantity", "number"):
        return fits_value(asked, statement) * (1.0 if NUMBER.search(statement.text) else 0.5)
    return None


def _by_default(asked: Question, text: str) -> float:
    """1 where a question for a default has a statement that says what is the default, or is for none; else less."""
    return 1.0 if not asks_default(asked) or SAYS_DEFAULT.search(text) else 0.5


def _says_of_identifier(asked: Question, statement: Statement) -> bool:
    """Whether a line says the value of a setting that a question for one thing names: `MaxClients = 150`."""
    match = ASSIGNS.match(statement.text)
    return (
        asked.kind in ASKS_A_VALUE
        and match is not None
        and re.search(rf"(?<!\w){re.escape(match['name'])}(?!\w)", asked.text) is not None
    )


def _of_value(asked: Question, statement: Statement) -> bool:
    """Whether a statement is about the value of the setting that a question names: `off: Packets are dropped.`"""
    return (
        statement.own_label
        and statement.label in values_of(statement.owner)
        and all(
            re.search(rf"(?<!\w){re.escape(name)}(?!\w)", asked.text, re.IGNORECASE)
            for name in (statement.label, statement.owner.split()[0])
        )
    )


def _in_column_asked_for(asked: Question, statement: Statement) -> bool:
    """Whether a row has a cell below what is asked for: `Default key` of `Which key is ...?`."""
    if not statement.cells or asked.kind not in ("plain", "name"):
        return False
    noun = stem(chosen_noun(asked.text))
    return bool(noun) and any(
        value and noun in {one for _, one in stems(header)} for header, value in statement.cells[1:]
    )


def _keys(asked: Question, statement: Statement) -> float:
    in_column = any(value and KEY_COLUMN.match(header) for header, value in statement.cells)
    return 1.0 if in_column or KEYS.search(statement.text) else 0.0


def _when(asked: Question, statement: Statement) -> float:
    dated = "\n".join(value for _, value in statement.cells) or statement.text
    if DATE.search(dated):
        return 1.0
    conditional = asks_when_at_all(asked.text) and CONDITION.search(statement.text)
    return _by_default(asked, statement.text) if conditional else 0.0


def _where(asked: Question, statement: Statement) -> float:
    text = statement.text
    place = PLACE.search(text) or LOCATION.search(text) or identifiers(text) - identifiers(asked.text)
    return cued(asked, statement, 0.6) if place else 0.0


def _decision(asked: Question, statement: Statement) -> float:
    is_default = asks_default(asked) and DEFAULT_SAID.search(statement.text) is not None
    decides = is_default or DECIDES.search(statement.text) is not None
    if not asked.amounts:
        return _by_default(asked, statement.text) if decides else 0.0
    said = amounts(statement)
    if any(is_said(one, said) for one in asked.amounts):
        return 1.0
    return OF_OTHER_AMOUNT if decides else 0.0


def _steps(asked: Question, statement: Statement) -> float:
    tells = any(how.search(statement.text) for how in (TELLS_HOW, COMMAND_LINE, MENU_PATH, ANSWERS_HOW))
    is_option = statement.label.startswith("-") or any(OPTION.match(cell) for _, cell in statement.cells[:1])
    if tells or is_option or (statement.items and not statement.of_rows):
        return 1.0
    tells_weakly = INSTRUCTS.search(statement.text) or OF_OPTION.fullmatch(statement.heading)
    return WEAKLY_INSTRUCTS if tells_weakly else 0.0


def _plain(asked: Question, statement: Statement) -> float:
    if asks_for_recommendation(asked.text):
        return 1.0 if RECOMMENDS.search(statement.text) else 0.0
    if not asks_default(asked) or not SAYS_DEFAULT.search(f"{statement.label} {statement.text}"):
        return 0.0
    has_value = statement.own_label or DEFAULT_SAID.search(statement.text) or NUMBER.search(statement.text)
    return 1.0 if has_value or SETTING_WORD.search(statement.text) else NAMES_DEFAULT


def _says(pattern: re.Pattern[str]) -> Callable[[Question, Statement], float]:
    return lambda _, statement: 1.0 if pattern.search(statement.text) else 0.0


FITS: Mapping[AnswerKind, Callable[[Question, Statement], float]] = {
    "comparison": _says(CONTRASTS),
    "count": fits_count,
    "definition": fits_definition,
    "keys": _keys,
    "list": fits_list,
    "name": fits_name,
    "number": fits_number,
    "plain": _plain,
    "quantity": fits_quantity,
    "steps": _steps,
    "unit": fits_unit,
    "summary": lambda _asked, _statement: 0.0,
    "when": _when,
    "where": _where,
    "who": _says(PERSON),
    "why": _says(BECAUSE),
    "yes/no": _decision,
}
"""How well a statement has what a question of a kind asks for."""
