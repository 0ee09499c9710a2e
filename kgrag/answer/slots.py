"""Whether a statement has what a question asks for: a quantity of its dimension, a number, a name, a person, yes or no, steps, ..."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set

from kgrag.answer.cues import (
    BARE_DEFAULT,
    DEFAULT_SAID,
    DIGITS,
    NO_VALUE,
    NUMBER,
    OF_DEFAULT,
    SAYS_DEFAULT,
    SETTING_WORD,
    asks_default,
    asks_limit,
    cued,
    is_cue_asked,
    is_of_another_cue,
    is_of_limit_asked,
)
from kgrag.answer.labels import values_of
from kgrag.answer.statements import Statement
from kgrag.text.abbreviations import initials
from kgrag.text.answer_shapes import (
    IDENTIFIER_SORTS,
    ROLE_ASKED,
    AnswerKind,
    asks_for_figure,
    asks_for_recommendation,
    chosen_noun,
)
from kgrag.text.equal_quantities import is_said
from kgrag.text.name_shapes import IDENTIFIER, identifiers, is_code_name
from kgrag.text.numerals import COUNT_BY_WORD
from kgrag.text.periods import asks_when_at_all
from kgrag.text.quantities import Quantity, quantities
from kgrag.text.questions import Question
from kgrag.text.units import SYMBOLS, UNIT_WORDS, canonical_unit, dimension
from kgrag.text.words import FUNCTION_WORDS, content_terms, singular, stem, stems, words

__all__ = ["amounts", "fits", "heading_names"]

YEAR = re.compile(r"\b(?:19|20)\d\d\b")
FIGURE_WORDS = 8
"""First words of a sentence that say which figure it is about: `Net sales increased 18.3% to ...`."""
OF_FIGURE = re.compile(
    r"^(?:as an? (?:percent(?:age)?|share|proportion) of|relative to|compared (?:to|with)|excluding) [^,]{3,60}, ",
    re.IGNORECASE,
)
"""`As a percentage of net sales, gross profit ...`: no figure of net sales."""
FIGURE_ELSEWHERE = 0.4
_PERIOD_WORDS = "fiscal year years quarter month months week weeks ended first second third fourth full prior"
PERIOD_TERMS = frozenset(stem(word) for word in words(_PERIOD_WORDS))
"""Say when, not what."""
ASSIGNS = re.compile(r"(?P<name>[A-Za-z][\w.-]*[\w]) ?= ?[^\s<{\[]")
"""`MaxClients = 150`, and no `MaxClients = <number>`."""
ASKS_A_VALUE = frozenset(["plain", "number", "quantity", "count", "definition"])
_GOES_ON = r"(?!(?:for|to|from|with|at|by|per|as|is|are|was|were|when|if|that|which|because|while)\b)"
COUNTED = re.compile(rf"\b(?:\d[\d,.]*|{'|'.join(COUNT_BY_WORD)})\b(?:[\s-]+{_GOES_ON}[\w®]+){{0,4}}", re.IGNORECASE)
"""A number and what it counts: of `a 452 response for all recipients` the response."""
DATE = re.compile(
    r"\b(?:1[0-9]{3}|20[0-9]{2})\b|\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
)
PLACE = re.compile(r"\b(?:in|at|near|from|to)\s+(?:the\s+)?[A-Z]\w+")
LOCATION = re.compile(
    r"\b(?:director(?:y|ies)|folders?|standard output|stdout|stderr|located|stored|installed|found) (?:in|at|under|below|is|of)\b"
    r"|\b(?:placed|put|kept|saved|written|stored|located|found|shown|displayed|appears?|drawn|positioned)"
    r" (?:\w+ )?(?:in|into|at|on|under|below|above|inside|next to)\b"
    r"|\b(?:in|to|into|at|under) (?:the |a |an )?(?:[\w-]+ ){0,2}(?:director(?:y|ies)|folders?|file|stdout|standard output)\b",
    re.IGNORECASE,
)
PERSON = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+(?:\s[A-Z][\w.'’-]+)+|\bby [A-Z]\w+")
BECAUSE = re.compile(
    r"\b(?:because|since|caused? by|(?:affected|impacted|driven|helped|hurt|offset) (?:\w+ )?by|attributable to"
    r"|reasons?|requirement of|due to|so that|in order to|therefore|thus"
    r"|as a result|allow|enabl|to avoid|to prevent|must not|be aware|beware|otherwise)",
    re.IGNORECASE,
)
COUNTED_THINGS = re.compile(
    rf"(?<![\w.])(?:\d[\d,.]*|one|half|{'|'.join(COUNT_BY_WORD)})[ -]"
    r"(?:bit|byte|pixel|point|dot|line|column|row|character|char|digit|decimal|decimal place|level|step|sample|page)s?\b",
    re.IGNORECASE,
)
"""An amount of what has no unit: `six pixels`."""
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
MONEY = re.compile(r"[$€£¥] ?\d")
CONDITION = re.compile(
    r"\b(?:when|whenever|once|if|unless|until|after|before|as soon as|each time|every|only on|at the (?:end|start|beginning) of)\b",
    re.IGNORECASE,
)
"""`When does it reconnect?` asks for what has to be so, not for a date."""
RECOMMENDS = re.compile(
    r"\b(?:recommend\w*|should|advis\w+|suggest\w*|prefer\w*|best|better|ideal\w*|good (?:idea|choice)|avoid)\b",
    re.IGNORECASE,
)
OFTEN_ASKED = re.compile(r"\bhow often\b", re.IGNORECASE)
_PERIOD = r"(?:millisecond|second|minute|hour|day|night|week|month|year)"
OFTEN_SAID = re.compile(
    rf"\b(?:once|twice|times) (?:(?:a|an|per|each|every|in) ){{1,2}}{_PERIOD}s?\b|\bevery (?:\w+ )?{_PERIOD}s?\b"
    r"|\b(?:hourly|daily|nightly|weekly|monthly|yearly|annually)\b"
    rf"|\b(?:period|interval|frequency)\b[^.;]{{0,30}}?\b(?:an?|one) {_PERIOD}\b",
    re.IGNORECASE,
)
"""`three times an hour`, `every minute`, `the usual interval is a day`: how often, without an amount of time."""
BEYOND = re.compile(r"\b(?:below|above|exceed(?:s|ed|ing)?|(?:less|more|greater|higher|lower) than) $", re.IGNORECASE)
LIMIT_ASKED = re.compile(
    r"\b(?:below|above|exceed\w*|limit|threshold|trip\w*|until|(?<!wait )before|than|when|too)\b", re.IGNORECASE
)
AS_CONDITION = 0.5
"""What has the amount only as the limit at which something happens."""
RANGE_ASKED = re.compile(
    r"\b(?:which|what) (?:\w+ )?range\b|\brange of\b|^(?:between )?(?:which|what) values\b", re.IGNORECASE
)
RANGE = re.compile(r"\d\S*\s?(?:to|through|[-–—…]|\.{2,3})\s?[-+]?\d|\bbetween\s[-+]?\d|\bfrom\s[-+]?\d", re.IGNORECASE)
SAID_BY_DEFAULT = frozenset(["name", "list", "plain", "yes/no", "definition", "where"])
BITS_ASKED = re.compile(r"\bbits?\b|\bresolution\b|\bwidth\b|\bdepth\b|\bfine\b|\bprecis", re.IGNORECASE)
UNIT_LETTERS = 3
"""`min` and longer: `m` and `s` are too often something else."""
NOT_SAID_AS_DEFAULT = 0.8
"""A name in a sentence about a default need not be the default."""
SWITCHED = re.compile(r"\b(?:yes|no|on|off|true|false|enabled|disabled)\W*$", re.IGNORECASE)
NO_NAME = 0.3
"""`Defaults to no.` is a default, and no signal's."""
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
    r"|to \w+[^.]{0,60}, (?:use|run|set|call|add|press|click|type|select)|can be \w+ed by)\b"
    rf"|^(?:(?!(?:{_BEGINS_NO_STEP})\b)[A-Z][a-z]+ (?:the|a|an|your|it|to|on|in|and)\b"
    r"|(?:use|run|set|add|press|open|select|click|enter|type|call|create|edit|go|make|start|stop|install|choose|tap|specify|pass|give"
    r"|define|put|turn|change|enable|disable|remove|copy)\b)",
    re.IGNORECASE,
)
CONTRASTS = re.compile(
    r"\b(?:whereas|while|unlike|but|however|instead|only|difference|differs?|than|other|except|without|exactly like|twice|double"
    r"|half (?:of|the|as)|times (?:as|the)|(?:a|one) (?:half|third|fourth|forth|quarter|fifth|tenth) of)\b",
    re.IGNORECASE,
)
DEFINES = re.compile(
    r"\b(?:is|are|was|were|means?|defines?|specif(?:y|ies)|refers? to|stands? for|denotes?|describes?|called|known as|consists? of"
    r"|controls?|sets?|determines?|performs?|configures?|indicates?|causes?|enables?|disables?|allows?)\b"
)
PASSIVE = re.compile(r" (?!(?:called|known|defined|described|meant|made|composed)\b)(?:\w+ly )?\w{2,}ed\b")
"""`is invoked`: says what is done with a thing, not what it is."""
PASSIVE_DEFINES = 0.5
WORD = re.compile(r"[A-Za-z]+")
SAID_ELSEWHERE = re.compile(
    r"[(,;] ?(?:see|as described|described|explained) (?:also )?(?:above|below|earlier|later)\b", re.IGNORECASE
)
"""`Sets the state to idle (see above).`: what that means is said elsewhere."""
ELSEWHERE = re.compile(r"\s*(?:something|nothing|another|a different)\b", re.IGNORECASE)
"""`means something else`: not what."""
BEGINS_SECTION = 0.8
"""What begins a paragraph of the section that is headed by what is asked for (`Needs Checkout`)."""
FROM_ABOVE = 0.5
"""How much a term of the thing counts that only stands above a sentence that says the others."""
ASKS = re.compile(r"^(?:.*[,:;] )?(?:what|who) (?:is|are|was|were|does|do|did)\b", re.IGNORECASE)
OF_WHAT = re.compile(r"\b(?:of|in|on|for|mean|stand|do)\b", re.IGNORECASE)
MOST_BEFORE = 4
"""Other words before what defines: in a sentence about the thing it is the subject."""
KEYS = re.compile(
    r"\b(?:ctrl|control|strg|alt|shift|cmd|command|option|meta|super|windows|win|fn)\s?[-+–]\s?\S|[⌘⌥⇧⌃]|\b[CM]-[\w<%]"
    r"|\b(?:F(?:[1-9]|1[0-2])|Esc(?:ape)?|Enter|Return|Tab|Del(?:ete)?|Backspace|PgUp|PgDn|Page (?:Up|Down))\b",
    re.IGNORECASE,
)
"""What is pressed on a keyboard."""
KEY_COLUMN = re.compile(r"(?:key|shortcut|hot ?key|accelerator)s?\b(?! (?:words?|size|length|file))", re.IGNORECASE)
"""Heads a column of keys: `Key Stroke`, `Shortcut`."""
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
OF_OTHER_AMOUNT = 0.5
"""What decides something, but says nothing of the amount that is asked about: `Does it run on 24 V?`."""
VALUE_BEHIND_UNIT = re.compile(r"<(\w+)> [\[(](\d[\d.]*)[\])]")
"""`PingInterval = <seconds> (60)`: what is to be given, and its default."""
PORT = re.compile(r"\bports?\b", re.IGNORECASE)
IN_DIGITS = re.compile(r"(?<![\w.])\d")
"""No port is called by a word: `if there is more than one` has none."""
UNIT_COLUMN = re.compile(r"units?", re.IGNORECASE)
BARE_NUMBER = re.compile(r"[-−–+±]?\d[\d.,]*")
MAX_NAMED_WORDS = 9
ON_A_PANEL = frozenset(["option", "setting", "button", "parameter"])
_UNIT = rf"(?:{UNIT_WORDS}|ms|kB|KB|MB|GB|kHz|MHz|Hz|points?)"
SAYS_UNIT = re.compile(
    rf"\b(?:in|as|are|is|of|unit(?:s)?:?|number of|per) (?:(?:the |an? )?(?:units?|tenths?|hundredths?|thousandths?|multiples|steps) of )?"
    rf"(?:an? |the |\w+[- ])?{_UNIT}\b|[(\[<=]{_UNIT}[)\]>]|\b(?:tenths|hundredths|thousandths) of\b|^{_UNIT} "
    rf"|\b(?:time|period|interval|delay|timeout|size|length|limit|rate|distance|angle)s?,? \(?(?:in )?{_UNIT}\b",
)
"""`The time in milliseconds`, `number of seconds`, `<seconds>`."""
NAMES_UNIT = re.compile(rf"\b{_UNIT}\b")
AMOUNT_HAS_UNIT = 0.7
NAMED_BEFORE_ITS_SORT = re.compile(r"(?:the )?(?P<name>.+) (?P<sort>\w+)(?: \((?P<written>[^()]+)\))?", re.IGNORECASE)
NAME_ALONE = re.compile(r"[‘'\"“`]?[a-z][\w.-]*[’'\"”`]?")
"""A heading that is one word written small is a name."""
QUOTED_NAME = re.compile(r"[‘'\"“].+[’'\"”](?: .{0,20})?")
CHOICE = re.compile(r"^.*?\b(?:which|what)\b", re.IGNORECASE)
OF_TWO = re.compile(r"\b(?:two|both|either)\b", re.IGNORECASE)
ENUMERATES = re.compile(r":\s|\b(?:are|includes?|namely|such as)\b")
JOINS = re.compile(r",\s|\band\b|\bor\b|;\s|\|")
MIN_JOINS = 2
_NAMED = r"[‘'\"“`]?(?:[A-Z][\w./-]*|--?[A-Za-z][\w-]*|\w+[_.]\w+)[’'\"”`]?"
NAMES_IN_A_ROW = re.compile(rf"\s(?:{_NAMED}, )+(?:{_NAMED},? )?(?:and|or) {_NAMED}")
"""Behind what they are: `the commands OPEN, READ and CLOSE`."""


def fits(asked: Question, statement: Statement) -> float:
    """Say how well a statement has the kind of thing that is asked for, 0 to 1."""
    text = statement.text
    if statement.is_property and (of_property := _of_property(asked, statement)) is not None:
        return of_property
    if _says_of_identifier(asked, statement) or _in_column_asked_for(asked, statement) or _of_value(asked, statement):
        return 1.0
    if asked.kind in PRICED and PRICE_ASKED.search(asked.text) and not asks_for_figure(asked.text):
        return 1.0 if PRICE.search(text) else 0.0
    return FITS[asked.kind](asked, statement)


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
        return 0.4 * _value(asked, statement)
    if is_default and asked.kind in ("count", "quantity", "number"):
        return _value(asked, statement) * (1.0 if NUMBER.search(statement.text) else 0.5)
    return None


def _quantity(asked: Question, statement: Statement) -> float:
    """Whether a statement has an amount of the dimension that is asked for, or of any where the question does not tell."""
    text, measured = statement.text, amounts(statement)
    if RANGE_ASKED.search(asked.text):
        return 1.0 if RANGE.search(text) else 0.4 if measured else 0.0
    if asked.dimensions == ("",):
        if measured or COUNTED_THINGS.search(text) or MONEY.search(text):
            return cued(asked, statement, 0.8)
        return 0.3 if NUMBER.search(text) else 0.0
    of_dimension = [q for q in measured if q.dimension in asked.dimensions and not _says_width(asked, q.text)]
    if of_dimension and _are_conditions(asked, text, of_dimension):
        return AS_CONDITION
    is_often = OFTEN_ASKED.search(asked.text) and OFTEN_SAID.search(text)
    if of_dimension or is_often or _number_with_unit_apart(asked, statement):
        return cued(asked, statement, 0.8)
    return 0.4 * _value(asked, statement)


def amounts(statement: Statement) -> list[Quantity]:
    """The quantities of a statement; in a row whose unit stands in a cell of its own, that of each number: `Max: 70; Unit: °C`."""
    found = quantities(statement.text)
    unit = next((value for header, value in statement.cells if UNIT_COLUMN.fullmatch(header)), "")
    if unit and canonical_unit(unit) in SYMBOLS:
        bare = [value for _, value in statement.cells if BARE_NUMBER.fullmatch(value)]
        found += [one for value in bare for one in quantities(f"{value} {unit}")]
    found += [one for match in VALUE_BEHIND_UNIT.finditer(statement.text) for one in quantities(match.expand(r"\2 \1"))]
    return found


def _are_conditions(asked: Question, text: str, amounts: Sequence[Quantity]) -> bool:
    """Whether amounts stand only as what something is above or below (`undervoltage: below 9 V`), and the question asks for no limit."""
    if asks_limit(asked) or LIMIT_ASKED.search(asked.text):
        return False
    return all(BEYOND.search(text[: amount.start]) for amount in amounts)


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


def _says_width(asked: Question, amount: str) -> bool:
    """Whether an amount says of what width a program or number is: `32-bit` where no bits are asked for."""
    return amount.casefold().endswith("-bit") and BITS_ASKED.search(asked.text) is None


def _number_with_unit_apart(asked: Question, statement: Statement) -> bool:
    """Whether a default stands as a bare number beside a unit of the dimension asked for: `The default value is 5 (minutes).`"""
    return BARE_DEFAULT.search(statement.text) is not None and any(
        len(word) >= UNIT_LETTERS and dimension(canonical_unit(word)) in asked.dimensions
        for word in words(statement.text)
    )


def _value(asked: Question, statement: Statement) -> float:
    """A number, or a word that a setting can have; more where it stands beside what makes it a default or a limit."""
    if (IN_DIGITS if PORT.search(asked.text) else NUMBER).search(statement.text):
        return cued(asked, statement, 0.5)
    if DIGITS.search(asked.text):
        return 0.0
    if statement.own_label and is_cue_asked(asked, statement.label):
        return 1.0  # `Default: root:root`, whatever the value is.
    if asks_default(asked) and DEFAULT_SAID.search(statement.text):
        return 1.0
    has_word = SETTING_WORD.search(statement.text) or identifiers(statement.text) - identifiers(asked.text)
    return 0.5 * cued(asked, statement, 0.4) if has_word else 0.0


def _is_of_figure(asked: Question, statement: Statement) -> float:
    """How much a row's first cell, or the first words of a sentence, say the figure that is asked for and no other: 0.4 to 1."""
    head = (
        statement.cells[0][1] if statement.cells else " ".join(OF_FIGURE.sub("", statement.text).split()[:FIGURE_WORDS])
    )
    said = {one for word, one in stems(head) if word not in FUNCTION_WORDS and word.isalpha()}
    terms = {one for one in asked.terms - asked.subject_terms if one.isalpha()} - PERIOD_TERMS
    for name in asked.names:
        if spelled := initials(name):
            terms.add(stem(name))
            said |= {stem(name)} if spelled.search(head) else set()
    if not NUMBER.search(YEAR.sub("", statement.text)):
        return 0.0
    if not terms or not said:
        return 1.0
    share = len(terms & said) / len(terms)
    own = len(terms & said) / len(said) if statement.cells else 1.0
    return FIGURE_ELSEWHERE + (1.0 - FIGURE_ELSEWHERE) * share * (1.0 + own) / 2


def _counted(asked: Question) -> frozenset[str]:
    """The stems of what is to be counted, or done with it."""
    after = asked.text.casefold().rpartition("how many")[2]
    return frozenset(s for w, s in stems(after) if w not in FUNCTION_WORDS)


def _is_default_of_counted(asked: Question, statement: Statement) -> bool:
    """Whether a default without its unit (`The default is 3.`) is of what is to be counted: its label or what stands before it says so."""
    if not BARE_DEFAULT.search(statement.text) or not asks_default(asked):
        return False
    above = f"{statement.label} {statement.before}"
    return bool((_counted(asked) - {stem("default")}) & {one for _, one in stems(above)})


def _counts(asked: Question, text: str) -> float:
    wanted = _counted(asked)
    counted = [{s for _, s in stems(m.group())} for m in COUNTED.finditer(text)]
    return 1.0 if any(near & wanted for near in counted) else 0.2 if counted else 0.0


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
    sorts = {singular(word) for word, _ in stems(asked.text)} & IDENTIFIER_SORTS
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
    sorts = {chosen} & IDENTIFIER_SORTS or {singular(word) for word, _ in stems(asked.text)} & IDENTIFIER_SORTS
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


def _joins(text: str) -> bool:
    return len(JOINS.findall(text)) >= MIN_JOINS


def _enumerates(asked: Question, text: str) -> bool:
    """Whether a sentence says what there is of what is asked for: `There are three modes: fast, slow and off.`"""
    wanted = singular(chosen_noun(asked.text))
    if wanted and any(
        singular(m[0].casefold()) == wanted and NAMES_IN_A_ROW.match(text, m.end()) for m in WORD.finditer(text)
    ):
        return True
    match = ENUMERATES.search(text)
    if match is None:
        return False
    after = text[match.end() :]
    if not _joins(after) and not (OF_TWO.search(text[: match.start()]) and JOINS.search(after)):
        return False
    noun = next((s for word, s in stems(CHOICE.sub("", asked.text)) if singular(word) != word and s in asked.terms), "")
    return noun in {s for _, s in stems(text[: match.start()])}


def _definition(asked: Question, statement: Statement) -> float:
    """Whether a statement defines, less where it says that it is said elsewhere."""
    return _defines(asked, statement) * (PASSIVE_DEFINES if SAID_ELSEWHERE.search(statement.text) else 1.0)


def _defines(asked: Question, statement: Statement) -> float:
    """Whether what is asked for (`heartbeat` of `What is the heartbeat of a data source?`) stands before a word that defines."""
    thing = OF_WHAT.split(ASKS.sub("", ROLE_ASKED.sub(r"what \g<asks> \g<thing>mean", asked.text)), maxsplit=1)[0]
    terms = {s for w, s in stems(thing) if s in asked.terms} or asked.terms
    if statement.own_label and {s for _, s in stems(statement.label)} & terms:
        return 1.0
    if any(terms == content_terms(header) for header, value in statement.cells if value):
        return 1.0
    if len(statement.cells) > 1 and {s for _, s in stems(statement.cells[0][1])} <= terms:
        return 1.0  # the row of `E11`
    if not statement.before and _is_named(statement.heading, asked):
        return BEGINS_SECTION
    match = DEFINES.search(statement.text)
    if match is None or not terms:
        return 0.0
    if ELSEWHERE.match(statement.text, match.end()):
        return 0.0
    if PASSIVE.match(statement.text, match.end()):
        return PASSIVE_DEFINES
    said_before = {s for _, s in stems(statement.text[: match.start()])}
    if len(said_before) > len(terms) + MOST_BEFORE:
        return 0.3
    # The rest of what is asked for may be what it stands below: `A value of zero means no limit.`
    headed = {s for _, s in stems(statement.label or statement.heading)}
    above = headed - said_before if headed <= terms else set()
    return (len(said_before & terms) + FROM_ABOVE * len(above)) / len(terms) if said_before & terms else 0.0


def _is_named(heading: str, asked: Question) -> bool:
    """Whether a question has a heading's words as they stand there."""
    return bool(heading) and re.search(rf"(?<!\w){re.escape(heading)}(?!\w)", asked.text, re.IGNORECASE) is not None


def _number(asked: Question, statement: Statement) -> float:
    return _value(asked, statement) * (_is_of_figure(asked, statement) if asks_for_figure(asked.text) else 1.0)


def _count(asked: Question, statement: Statement) -> float:
    if _is_default_of_counted(asked, statement):
        return 1.0
    counted = max(_counts(asked, statement.text) * cued(asked, statement, 0.6), 0.7 * _value(asked, statement))
    if any(q.dimension in asked.dimensions for q in quantities(statement.text)):
        return max(counted, cued(asked, statement, 0.8))  # `how many volts`
    return counted


def _name(asked: Question, statement: Statement) -> float:
    as_default = DEFAULT_SAID.search(statement.text) or not asks_default(asked)
    return _names(asked, statement) * cued(asked, statement, 0.6) * (1.0 if as_default else NOT_SAID_AS_DEFAULT)


def _unit(asked: Question, statement: Statement) -> float:
    """In full for what says a unit without an amount (`in milliseconds`); an amount that is a default has one, too."""
    said = f"{statement.label} {statement.text}"
    if SAYS_UNIT.search(said):
        return 1.0
    return AMOUNT_HAS_UNIT if NAMES_UNIT.search(said) or any(one.unit for one in amounts(statement)) else 0.0


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
    decides = DECIDES.search(statement.text) is not None
    if not asked.amounts:
        return _by_default(asked, statement.text) if decides else 0.0
    said = amounts(statement)
    if any(is_said(one, said) for one in asked.amounts):
        return 1.0
    return OF_OTHER_AMOUNT if decides else 0.0


def _steps(asked: Question, statement: Statement) -> float:
    tells = any(how.search(statement.text) for how in (TELLS_HOW, COMMAND_LINE, MENU_PATH))
    if tells or statement.label.startswith("-") or (statement.items and not statement.of_rows):
        return 1.0
    return WEAKLY_INSTRUCTS if INSTRUCTS.search(statement.text) else 0.0


def _list(asked: Question, statement: Statement) -> float:
    if statement.items or _enumerates(asked, statement.text):
        return 1.0
    return 0.6 if _joins(statement.text) else 0.0


def _plain(asked: Question, statement: Statement) -> float:
    if asks_for_recommendation(asked.text):
        return 1.0 if RECOMMENDS.search(statement.text) else 0.0
    return 1.0 if asks_default(asked) and SAYS_DEFAULT.search(f"{statement.label} {statement.text}") else 0.0


def _says(pattern: re.Pattern[str]) -> Callable[[Question, Statement], float]:
    return lambda _, statement: 1.0 if pattern.search(statement.text) else 0.0


PRICED: frozenset[AnswerKind] = frozenset(["quantity", "count", "number"])
FITS: Mapping[AnswerKind, Callable[[Question, Statement], float]] = {
    "comparison": _says(CONTRASTS),
    "count": _count,
    "definition": _definition,
    "keys": _keys,
    "list": _list,
    "name": _name,
    "number": _number,
    "plain": _plain,
    "quantity": _quantity,
    "steps": _steps,
    "unit": _unit,
    "summary": lambda _asked, _statement: 0.0,
    "when": _when,
    "where": _where,
    "who": _says(PERSON),
    "why": _says(BECAUSE),
    "yes/no": _decision,
}
"""How well a statement has what a question of a kind asks for."""
