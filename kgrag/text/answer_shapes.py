"""What shape the answer to a question must have: a person, a date, a quantity of some dimension, a number, a name, yes or no, steps, ..."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from kgrag.text.quantities import quantities
from kgrag.text.sentences import last_asking, sentences
from kgrag.text.units import UNIT_WORDS
from kgrag.text.words import FUNCTION_WORDS, plain, singular, words

__all__ = [
    "DEFINES",
    "IDENTIFIER_SORTS",
    "ONE_THING",
    "ROLE_ASKED",
    "WHEN_UNSET",
    "AnswerKind",
    "AnswerShape",
    "answer_shape",
    "asks_for_figure",
    "asks_for_recommendation",
    "by_default",
    "chosen_noun",
    "lacks_form",
    "measure_asked",
    "said_by_unit",
    "unit_asked",
]

AnswerKind = Literal[
    "who", "when", "where", "why", "count", "quantity", "number", "unit", "name", "keys", "yes/no", "steps", "definition",
    "comparison", "list", "summary", "plain",
]  # fmt: skip
ONE_THING: frozenset[AnswerKind] = frozenset(
    ["who", "when", "where", "count", "quantity", "number", "unit", "name", "keys", "yes/no"]
)
"""Kinds of questions for one thing: a list is no answer to them, one of its items is."""


class AnswerShape(NamedTuple):
    """`dimensions` are what a quantity in the answer would measure (empty: none is asked for; ("",): any)."""

    kind: AnswerKind
    dimensions: tuple[str, ...] = ()


DIMENSIONS = {
    "voltage": "voltage", "volt": "voltage", "current": "current", "power": "power", "wattage": "power", "temperature": "temperature",
    "temp": "temperature",
    "frequency": "frequency", "clock": "frequency", "rate": "frequency", "memory": "data", "flash": "data", "ram": "data",
    "sram": "data", "eeprom": "data", "storage": "data", "bits": "data", "bit": "data", "bytes": "data", "pressure": "pressure",
    "humidity": "humidity", "weight": "mass", "weigh": "mass", "mass": "mass", "heavy": "mass", "distance": "length",
    "length": "length", "width": "length", "height": "length", "far": "length", "tall": "length", "long": "time", "duration": "time",
    "latency": "time", "delay": "time", "timeout": "time", "interval": "time", "often": "time", "seconds": "time",
    "milliseconds": "time", "minutes": "time", "hours": "time", "days": "time",
    "runtime": "time", "uptime": "time", "lifetime": "time", "period": "time", "resistance": "resistance",
    "capacitance": "capacitance", "inductance": "inductance", "charge": "charge", "angle": "angle", "area": "area", "speed": "speed",
    "percent": "share", "percentage": "share",
}  # fmt: skip
"""A word of the question to what the quantity of its answer measures."""
_UNITS_SAY = "voltage volt current wattage temperature temp frequency pressure weight mass distance length width height duration resistance"
SAID_BY_UNIT = frozenset(
    f"{_UNITS_SAY} capacitance inductance area percent percentage milliseconds seconds minutes hours days".split()
)
"""Of these what an amount's unit says: `Supply: 3.3 V` need not say `voltage`."""
ALSO = {
    "frequency": ("frequency", "data rate"), "speed": ("speed", "frequency", "data rate"), "humidity": ("humidity", "share"),
    "power": ("power", "current"), "time": ("time", "length"),
}  # fmt: skip
MEASURE_WORDS = re.compile(
    r"\b(?:range|resolution|accuracy|tolerance|depth|size|capacity|speed|minimum|maximum|min|max|rating"
    r"|how (?:much|fast|slow|high|low|long|short|far|close|heavy|light|large|big|small|old|hot|cold|wide|narrow|tall|deep|strong))\b",
    re.IGNORECASE,
)
HOW_ADJECTIVE = re.compile(
    r"\bhow (exact|accurate|precise|fine|thick|thin|wide(?! (?:is|are|was|were|an?) (?:\w+ ){0,2}angle))\b", re.I
)
"""A quantity of some kind answers it, whatever the nouns beside it measure: `How exact must the clock be?` But a wide angle is an angle."""
SUPERLATIVE = re.compile(
    r"(?:(?:^|[.,:;?] )(?:what|which)(?: is|['’]s| was) the |^(?:the )?)"
    r"(short|long|larg|bigg|small|great|high|low|old|new|earli|fast|slow|wid|deep|few)est\b"
    r".*\b(?:allow(?:ed|s)?|permit(?:ted|s)?|possible|support(?:ed|s)?|accept(?:ed|s)?|can|could|may|must|still|works?|takes?|lets?|value|size)\b"
    r"|\bwhat(?: is|['’]s) the most\b(?! \w+ (?:way|one)\b)"
)
"""`What is the shortest key allowed?`, `Lowest value that it takes?`, `What's the most it can hold?` ask for a limit."""
COSTS = re.compile(
    r"^what (?:does|do|did|would|will) .*\bcost\b|^what (?:is|was|are) the (?:\w+ )?(?:prices?|fees?) (?:of|for)\b"
    r"|\b(?:at|for) (?:what|which) (?:[\w-]+ ){0,2}?(?:price|discount|fee)\b"
)
CAN_HAVE = re.compile(r"^(?:which|what) \w+ (?:can|may|could|does|do|is|are)\b")
"""`Which currents can the source give?`: one range says it."""
MAY_BE = re.compile(r"^what (?:can|may|could) [^,]+ be(?: set to)?\?$")
"""`What can the recovery method be set to?` asks for its values."""
GIVEN = re.compile(
    r"\b(\w+) (?:is|are|was|of|at|up to|from|=)(?: (?:about|at least|at most|up to|exactly|only|the|a))* *$"
)
"""Before an amount: `a current of 0.5 mA`."""
CHOSEN_BY = re.compile(r"\bwith the (?:most|least|\w+est)\b(?: [\w-]+){1,3}", re.I)
"""`The continent with the lowest average temperature` is chosen by it."""
DOES_WHAT = re.compile(r"^what (?:happens|(?:does|do|will|would) .*\bdo\b)")
"""`What does it do out of the box if the file is there?`: no value."""
NUMBER_WORDS = re.compile(
    r"\b(?:defaults?|value|port|limit|maximum|minimum|threshold|address|size|timeout|at most|at least)\b", re.IGNORECASE
)
"""A question with one of these is answered by a number, or by a setting's word: `on`, `none`, `LOG_ERR`."""
NUMBERED_THINGS = frozenset(["port", "address"])
"""Words of these that are things as well: a question that chooses another thing asks for no number."""
_SORTS = """
    argument attribute button class command constant directive directory driver environment field file flag folder format function header
    instruction keyword library macro method mode module name option package parameter path pin pragma program property protocol
    register service setting signal statement switch symbol syntax tool type utility variable
"""
IDENTIFIER_SORTS = frozenset(_SORTS.split())
"""Sorts of things whose names are identifiers."""
COMPARES = re.compile(
    r"\b(?:compar(?!ab|ed\b(?! (?:to|with)\b))\w+|differ\b|differs\b|differences?\b|versus|vs\.?|distinguish\w*|rather than|instead of)\b",
    re.I,
)
INSTEAD = re.compile(r"\b(?:rather than|instead of)\b.*$", re.I)
DOES_ONE_FOR_OTHER = re.compile(r"(?:^how|\bwhat) (?:do|can|could|should|must) (?:i|you|we)\b", re.I)
"""`How do I keep the others instead of it?` asks what to do, `What must I use instead of it?` for its name."""
CHOOSES_BETWEEN = re.compile(
    r"^(?:which|what|who) (?:one )?(?:is|are|was|were|has|have) (?:the )?(?:\w+er|more \w+|less \w+|better|worse)\b.*\bor\b",
    re.I,
)
"""`Which is faster, the first or the second?`"""
UNIT_ASKED: frozenset[AnswerKind] = frozenset(["quantity", "number", "count", "plain", "definition"])
IN_UNIT = re.compile(
    r"\b(?:in|as) (?:the unit )?(?P<unit>degrees? [a-z]+|[^\W\d_]{2,}(?:/[^\W\d_]+[²³]?)?|°\s?[CF]|%|[VAWΩKgsm])"
    r"(?=[\s.,!]+(?:of|for|is|are|on|at|the|an?)\b|[\s?.!)]*$|[?.!)])",
    re.I,
)
"""`in volts`, `in mm`; not `in days or in weeks`."""
_UNIT = rf"(?:{UNIT_WORDS}|ms|[kmg]?b|[kmg]?hz|points?)"
_NUMBER_SAID = (
    r"(?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|sixty|hundred)"
)
ASKS_UNIT = re.compile(
    r"\b(?:in|as) (?:what|which) (?:\w+ )?units?\b|\b(?:what|which) (?:\w+ )?units? (?:is|are|was) (?:(?:that|this|it)\b|.*\bin\??$)"
    rf"|\bwhat (?:is|are)\b.*\bmeasured in\??$|\b{_NUMBER_SAID} (?:of )?what(?: (?:is|are) (?:that|this|it|they))?\?"
    r"|\b(?:is|are|isn['’]t|aren['’]t) (?:this|that|it|these|those|they|(?:the|these) (?:\w+ )?numbers)(?: (?:given|said|meant))?(?: in)?"
    rf" {_UNIT}(?:,? or {_UNIT})*\?|[-–—,:] {_UNIT}(?:,? or (?:what|{_UNIT}))*\?$|^{_UNIT},? or (?:what|{_UNIT})\b"
)
"""`In which unit is it?`, `I set it to 20: 20 what?`, `Is that seconds?`"""
TIME = re.compile(r"\b(?:within|after|for) (?:what|which|how much) time\b|\bhow much time\b|\bhow soon\b", re.I)
"""`Within what time must ...?`"""
ASKS_FOR_A_SUMMARY = re.compile(
    r"\b(?:summar|overview|describe|features|capabilit|functionalit|advantages)|(?:^|[.:;,] |\b(?:please|you|and) )list\b(?! of)",
    re.I,
)
STEPS = re.compile(
    r"\b(?:the|what|which|following|all) (?:\w+ )?steps\b|\bsteps (?:to|for|of|in|are|do)\b|^how (?:can|to|should|must|could|would)\b"
    r"|^how do (?:i|you|we|one|they|people|users)\b|^what (?:do|must|should|can) (?:i|you|we) (?:type|run|execute|do)\b"
    r"|\bhow (?:do|can|should) (?:i|you|we)\b",
    re.I,
)
HOW_MANY = re.compile(r"\bhow many\b\s*(.*)", re.I | re.DOTALL)
WHY = re.compile(r"\bwhy\b|\breason\b|\bexplain\b", re.I)
YES_OR_NO = re.compile(
    r"^(?:is|are|was|were|do|does|did|can|could|may|might|must|should|will|would|has|have|had|whether)\b(?!.*\b(?:which|what|how)\b)",
    re.I,
)
ASKS_WHETHER = re.compile(
    r"(?:[,:;–—-] |\b(?:then|so) )(?:is|are|was|were|do|does|did|can|could|may|must|should|will|would|has|have)(?:n['’]t)?"
    r" (?:i|you|we|it|he|she|they|this|that|these|those|there|the|an?|my|our|your|its|their|any|all|one|some|\w+)\b"
    r"(?! (?:\w+ )*?(?:what|which|how|where|when|who|why)\b)[^,:;?.]*(?:, [^?]*)?\?$"
)
"""`If I leave the folder, does it go on?`"""
IS_THERE = re.compile(
    rf"(?:^|[,:;] )(?:is|are) there (?:an? |any )?(?:[\w-]+ ){{0,2}}?(?:{'|'.join(sorted(IDENTIFIER_SORTS))})s?\b(?! (?:called|named)\b)"
)
"""`Is there an option that ...?` asks for its name."""
_SET_BY_NAME = (
    r"(?:option|switch|flag|variable|keyword|command|subcommand|directive|parameter|argument|setting|statement|macro|function|routine|call"
    r"|attribute|property|field|tag|preset|method|action|builtin|opcode|hook|counter|placeholder|escape|token|verb|handler|entry|line)"
)
_SAID_OF = r"(?:(?!default)[\w.$/-]+ )"
_NO_ASKING = r"(?!.*\b(?:what|which|how|when|who|why|where)\b)"
ASKS_ITS_NAME = re.compile(
    r"(?:^|[:;,.] |\band )(?:(?:in|with|by|to|for|at|on|under) )?"
    rf"(?:which|what) {_SAID_OF}{{0,2}}?{_SET_BY_NAME}\b(?! (?:number|value|size|length))"
    rf"|\b(?:what|how)(?: is|['’]s) (?:the|that|this|its) {_SAID_OF}{{0,2}}?{_SET_BY_NAME} (?:called|named|for|to|that|which)\b(?! how)"
    rf"|(?:^|[.?!:;,] )(?:(?:the|an?|what(?: is|['’]s) the|name of the) )?{_SAID_OF}{{0,2}}?{_SET_BY_NAME}(?: name)?\?$"
    rf"|(?:^|[.?!:;] ){_NO_ASKING}(?:(?:an?|one|some) )?{_SAID_OF}{{0,2}}?{_SET_BY_NAME} (?:to|that|for|so)\b"
    r"|\bwhat (?:else |exactly )?(?:do|should|must|can|could|shall) (?:i|you|we)(?: (?:have|need) to)?"
    r" (?:set|pass|add|put|write|turn on|switch on|use (?:instead|in place))\b(?!.*\bto\?$)"
)
"""`Some log lines are lost: which option says how many are kept?` asks for an option, `What is the switch for it?`, `GIMP switch?` and
`What do I add to the configuration?` do."""
DEFINES = re.compile(
    r"^(?:what|who) (?:is|are|was|were) (?!\w+[^\We]ed (?:to|by|in|into|on|onto|with|from|for|at|when|if|after|before)\b)"
    r"(?:an? |the )?[\w .’'+/-]+\??$",
    re.I,
)
"""But for what something is done to: `What is added to the name?`"""
_ROLE = r"(?:control|specify|define|determine|indicate|represent|denote)"
ROLE_ASKED = re.compile(rf"what (?P<asks>does|do|did) (?P<thing>(?:[\w.$/:-]+ ){{1,4}}?){_ROLE}(?=\??$)", re.I)
"""`What does the option control?` asks what it does: an answer need not say the verb."""
ASKS_WHAT_IT_DOES = re.compile(
    r"(?:^|[,:;] )what (?:does|do|did) .*\b(?:mean|stand for|do)\??$|^what (?:does|do|did) .*\b(?:mean|stand for) (?:on|in|for|at|here)\b"
    rf"|(?:^|[,:;] ){ROLE_ASKED.pattern}",
    re.I,
)
CHOOSES = re.compile(r"\b(?:which|what)((?: [\w’'/-]+){1,6})")
_AUXILIARIES = "is are was were do does did can could may might must should will would has have had of"
AUXILIARIES = frozenset(_AUXILIARIES.split())
"""What stands behind the noun of `which ...`: any other word of function stands behind its verb."""
CHOSEN_FIRST = re.compile(r"(?:(?:to|in|with|for|by|at|on|under) )?which ")
"""`Which signal is sent to what runs too long?` asks for a signal; `what signal period` may ask for a time."""
_NAMED = """
    path name user users group groups account directory directories folder file format mode method protocol algorithm cipher encoding
    charset language locale editor shell layout engine plugin driver backend type color colour font device interface
"""
NAMED = frozenset(_NAMED.split())
"""What has a name: a number says no default of it."""
NAMED_DEFAULT = re.compile(rf"\bdefault (?:[\w-]+ ){{0,2}}?(?:{'|'.join(_NAMED.split())})\b")
KIND_BY_WORD: dict[str, AnswerKind] = {"who": "who", "whom": "who", "whose": "who", "when": "when", "where": "where"}
AMOUNT_OF_BUSINESS = re.compile(
    r"^(?:(?:what|how much) (?:is|are|was|were) (?!(?:an? )?[\w-]+\??$).*"
    r"|(?:what|which|how much) (?:(?!is|are|was|were|do|does|did)[\w-]+ ){0,3})"
    r"\b(?:sales|revenues?|income|profit|loss|margin|earnings|eps|ebitda\w*|ebit"
    r"|cash|expenses?|costs?|inventor(?:y|ies)|assets|liabilities|debt|dividends?|rate|ratio|turnover|expenditures?)\b"
    # What was once is no definition.
    r"|^what (?:was|were) (?!(?:an? )?[\w-]+\??$).*\b(?:gains?|losses|proceeds|repurchases?|spending|equity|goodwill|charges?|benefit)\b",
    re.I,
)
"""What a report states as a figure."""
FIGURES = re.compile(r"sales|revenues|earnings|expenses|costs|assets|liabilities|proceeds")
"""Of these the plural asks for one."""
_SET = (
    r"(?:set|setting|tun(?:e|ed|ing)|giv\w+|given?|specif\w+|configur\w+|nam(?:e|ed|ing)|chang\w+|touch\w*|adjust\w*|tell|told|say|said|choos\w+|chosen|pick\w*"
    r"|select\w*|ask\w*(?: for)?|request\w*|pass\w*|suppl(?:y|ied)|provid\w+|enter\w*|stat(?:e|ed)|overrid\w+)"
)
_WHO = r"(?:I|you|we|one|they|nobody|nothing|the user)"
_WHAT = r"(?: (?:so|it|that|this|them|any|anything|something|one|otherwise|differently|else|another|other)\b)*"
_IN_FILE = r"(?: in (?:the|my|its|this|that) (?:[\w.-]+ ){0,2}?[\w.-]+)?"
_UNSET_CLAUSE = (
    rf"\b(?:if|when|as long as|and) (?:none|nothing|no \w+) (?:is|was|are|were) {_SET}\b{_WHAT}{_IN_FILE}"
    r"|\b(?:if|when|as long as) (?:none|nothing|no \w+) (?:is|was|are|were)"
    r"|\b(?:if|when|as long as) (?:the|my|its) (?:[\w.-]+ ){1,2}?(?:say|set|give|name|specif|state|ha)(?:s|ies|ve)? (?:nothing|none)"
    rf"|\b(?:if|when|as long as) {_WHO} (?:(?:do|does|did|have|has)(?: not|n['’]t)|never) (?:\w+ )?{_SET}\b{_WHAT}{_IN_FILE}"
    rf"|\b(?:if|when|as long as) {_WHO} {_SET} (?:no(?: \w+|thing|ne)|nothing|none)\b"
    rf"|\b(?:if|when|as long as) {_WHO} (?:leave|keep) (?:\w+ ){{1,3}}?(?:alone|untouched|unchanged|as (?:it|they) (?:is|are)|as is)"
    r"|\bwith (?:the |its |my )?(?:stock|factory|standard) (?:settings?|config(?:uration)?)"
    rf"|\b(?:if|when|as long as) {_WHO} (?:do|does) nothing"
    rf"|\bunless (?:\w+ ){{0,2}}{_SET}\b{_WHAT}|\bwithout (?:me |my )?(?:doing|{_SET}) anything\b"
)
_LEFT_BLANK = (
    rf"\b(?:if|when) {_WHO} (?:leave|keep) (?:it|them|(?:that|this|the|those) (?:field|entry|line|box|option|setting|parameter|value)s?)"
    r" (?:blank|empty|out|unset|alone|untouched|unchanged)\b"
)
"""Names nothing, so that it stands for the default whatever follows: `if I leave that field blank in the second step`."""
_LEFT = r"left (?:alone|out|blank|empty|unset|untouched|unchanged|as (?:it|they) (?:is|are))"
_THING = r"(?:the |my |its )?(?!(?:it|they|this|that|these|those|nothing|none|no)\b)[\w.-]+(?: [\w.-]+){0,3}?"
_NOT_SET = r"(?:not|never) (?:set|given|specified|configured|changed|touched)"
THING_UNSET = re.compile(
    rf",? ?\b(?:if|when|while|as long as) (?P<thing>{_THING}) (?:(?:is|are) (?:{_LEFT}|unset|omitted|{_NOT_SET})"
    r"|(?:is|are)n['’]t (?:set|given|specified|configured|changed|touched))(?=\s*(?:[?.,;!]|$))",
    re.I,
)
"""`if max_use is left alone`, `when the delay is not set`: the default of what it names."""
UNSET_CLAUSE = re.compile(
    rf"(?:{_UNSET_CLAUSE})(?=\s*(?:[?.,;!]|$))|{_LEFT_BLANK}|\bout of the box\b|\b(?:normally|initially|from the start)(?=\?)",
    re.I,
)
WHEN_UNSET = re.compile(
    rf"{_UNSET_CLAUSE}|{_LEFT_BLANK}|\bout of the box\b|\b(?:normally|initially|from the start)\?|\bunset\b"
    rf"|\b(?:not|n['’]t|without|never) {_SET}\b|\bassumed(?:\?| (?:if|when|where|unless)\b)"
    rf"|\b(?:if|when|where) (?:[\w.-]+ ){{1,4}}?(?:is|are) (?:missing|absent|omitted|not there|{_LEFT})\b",
    re.I,
)
"""What asks for a default by other words: what holds where nothing is said."""
ASKS_FIRST = re.compile(r"\b(?:what|which|how)\b")
"""Before `when`, `where` or `who`: what is asked for is something else."""
RECOMMENDED = re.compile(
    r"\bshould (?:i|we|one)\b|\b(?:recommended|advised|advisable|best|preferred|a good idea)\b", re.I
)
SEVERAL = re.compile(
    r"^what are (?:the|some|all|its|their|possible|valid|available)"
    r" (?:[\w-]+ ){0,2}?([\w-]+s)(?: (?:of|for|in|to|when|that|on|with)\b|\??$)"
)
"""`What are the limitations of it?` asks for a list."""
_NO_KEYSTROKE = (
    r"(?:is|are|was|were|has|have|had|does|do|did|can|may|must|should|will|of|for|in|to|with|signs?|encrypts?|decrypts?|unlocks?|verif\w+"
    r"|authenticates?|belongs?|protects?|contains?|holds?|sets?|specif\w+|names?|identif\w+|defines?|controls?|needs?|requires?|match(?:es)?)\b"
)
"""Behind `which key`: a key of another kind."""
PRESSED = re.compile(
    r"\b(?:key ?(?:combinations?|bindings?|strokes?|board shortcuts?)|shortcuts?|hot ?keys?)\b"
    r"|\b(?:which|what) keys? (?:do|must|should|can|is|are) (?:.* )?(?:press|pressed|hit|hold|held|type|typed)\b"
    rf"|^(?:which|what) (?:function )?(?:key (?!{_NO_KEYSTROKE})[a-z]+s|keys (?!{_NO_KEYSTROKE})[a-z]+) "
    r"|^what (?:do|must|should|can) (?:i|you|we) (?:press|hit)\b"
)
"""`What key combination marks a packet?`"""
OF_THINGS = re.compile(r"\b(?:which|what) (?:board|sensor|product|module|device)")


PHRASE_WORDS = 8
NOT_OF_A_PHRASE = frozenset("i my we our it this that they he she you there if when who where why".split())  # noqa: SIM905


FORM_OF_YES_OR_NO = re.compile(r"^\s*(?:yes\s*(?:/|or|,)\s*no|yes-no|boolean)\b", re.I)
FORM_OF_A_NUMBER = re.compile(r"^\s*(?:an? |the )?(?:number|count|quantity|value|percentage|year)\b", re.I)
BEGINS_WITH_YES_OR_NO = re.compile(r"[\W_]*(?:yes|no|ja|nein|oui|non|sì|sí|si)\b", re.I)


def lacks_form(answer: str, form: str) -> str:
    """Say what an answer lacks of the form that was asked for; empty where it has it, or the form is one that cannot be checked.

    Checked are `yes/no` (the answer begins with one, in English, German, French, Italian or Spanish) and a number.
    """
    if FORM_OF_YES_OR_NO.match(form):
        return "" if BEGINS_WITH_YES_OR_NO.match(answer) else "yes or no at its beginning"
    if FORM_OF_A_NUMBER.match(form):
        return "" if any(character.isdigit() for character in re.sub(r"\[\d+\]", "", answer)) else "number"
    return ""


def answer_shape(question: str) -> AnswerShape:
    """Tell by its wording what shape the answer must have. The first that fits: what several ask is asked by the more specific.

    Of several sentences the last one that asks tells it, where it tells one: the others say how it came to be asked. What is asked for in
    a unit (`in volts`) is a quantity of what the unit measures, where it is no yes or no and no steps.
    """
    said = [sentence.text for sentence in sentences(question)]
    shape = _shape(said[last_asking(said)] if said else question)
    if shape.kind == "plain" and said != [question]:
        shape = _shape(question)
    _, measured = unit_asked(question)
    return AnswerShape("quantity", measured) if measured and shape.kind in UNIT_ASKED else shape


def unit_asked(question: str) -> tuple[str, tuple[str, ...]]:
    """Return the words that ask for an amount in a unit (`in millimetres`), and what the unit measures; nothing where none do."""
    said = IN_UNIT.search(question)
    measured = _measured_in(said["unit"]) if said else ()
    return (said[0], measured) if said and measured else ("", ())


def _shape(question: str) -> AnswerShape:
    text = question.strip().casefold()
    said = [plain(word) for word in words(text)]
    if ASKS_WHAT_IT_DOES.search(text):
        return AnswerShape("definition")
    if ASKS_UNIT.search(text):
        return AnswerShape("unit")
    how_many = HOW_MANY.search(text)
    if CHOSEN_FIRST.match(text) and singular(_chosen(text)) in IDENTIFIER_SORTS:
        text = INSTEAD.sub("", text)  # `Which option appends instead of overwriting?` asks for an option.
    compared = INSTEAD.sub("", text) if DOES_ONE_FOR_OTHER.search(text) or ASKS_ITS_NAME.search(text) else text
    if not how_many and (COMPARES.search(compared) or CHOOSES_BETWEEN.search(text)):
        return AnswerShape("comparison")
    if ASKS_FOR_A_SUMMARY.search(text) and not ASKS_ITS_NAME.search(text):
        return AnswerShape("summary")
    if WHY.search(text):
        return AnswerShape("why")
    if PRESSED.search(text) and not YES_OR_NO.search(text):
        return AnswerShape("keys")
    chosen = _chosen(text)
    several = SEVERAL.search(text)
    if chosen != singular(chosen) and singular(chosen) in DIMENSIONS and CAN_HAVE.search(text):
        return AnswerShape("quantity", _also(DIMENSIONS[singular(chosen)]))
    if asks_for_figure(question) and FIGURES.fullmatch(chosen):
        return AnswerShape("number")
    if singular(chosen) != chosen or (several and singular(several[1]) != several[1]):
        return AnswerShape("list")
    if MAY_BE.search(text):
        return AnswerShape("list")
    if not text.startswith("how many ") and STEPS.search(text):
        return AnswerShape("steps")
    if IS_THERE.search(text):
        return AnswerShape("name")
    if YES_OR_NO.search(text) or _asks_whether(text):
        return AnswerShape("yes/no")
    if ASKS_ITS_NAME.search(text):
        return AnswerShape("name")
    asks = re.search(r"\b(?:what|which|how)\b", text) is not None
    if how_many:
        before = text[: how_many.start()]
        measured = _measured(before) if ASKS_FIRST.search(before) else ()
        return AnswerShape("count", tuple(dict.fromkeys((*measured, *_measured_in(how_many[1])))))
    measured = _measured(question)
    if chosen in IDENTIFIER_SORTS and CHOSEN_FIRST.match(text):
        return AnswerShape("name")
    if SUPERLATIVE.search(text):
        return AnswerShape("quantity", measured) if measured else AnswerShape("number")
    if measure_asked(text) or COSTS.search(text):
        return AnswerShape("quantity", ("",))
    if measured and (asks or _is_phrase(text, said)) and not OF_THINGS.search(text):
        return AnswerShape("quantity", measured)
    if chosen in IDENTIFIER_SORTS or NAMED_DEFAULT.search(text):
        return AnswerShape("name")
    if DOES_WHAT.search(text) and WHEN_UNSET.search(text):
        return AnswerShape("plain")
    if asks_for_figure(question):
        return AnswerShape("number")
    if asks and WHEN_UNSET.search(text) and not text.startswith("when "):
        return AnswerShape("name" if singular(chosen) in NAMED else "number")
    if _asks_number(text, chosen) and (asks or not text.endswith("?")):
        return AnswerShape("number")
    if MEASURE_WORDS.search(text) and re.match(r"(?:what|how)\b", text):
        return AnswerShape("quantity", ("",))
    word = _asking_word(said)
    if word and not (asks and ASKS_FIRST.search(text[: text.index(word)])):
        return AnswerShape(KIND_BY_WORD[word])
    if re.search(r"\b(?:what|which) (?:year|date|day|month)\b", text):
        return AnswerShape("when")
    return AnswerShape("definition" if DEFINES.search(text) else "plain")


def _asks_whether(text: str) -> bool:
    """Whether a question asks for yes or no behind what it supposes, and for nothing before: `If I stop it, is the file kept?`"""
    asks = ASKS_WHETHER.search(text)
    return asks is not None and not ASKS_FIRST.search(text[: asks.start()])


def _asks_number(text: str, chosen: str) -> bool:
    """Whether a question has a word that a number answers, and that is not a thing's where it chooses another (`the Windows port`)."""
    said = set(NUMBER_WORDS.findall(text))
    return bool(said if not chosen or singular(chosen) in said else said - NUMBERED_THINGS)


def _asking_word(said: Sequence[str]) -> str:
    """Return the `who`, `when` or `where` that asks: of several the first that a verb follows (`When it ends, where is it kept?`).

    Of two that ask (`Where did it begin and when did it end?`) the one whose answer is told more surely: a person, a date, a place.
    """
    found = [(place, word) for place, word in enumerate(said) if word in KIND_BY_WORD]
    asking = [(place, word) for place, word in found if place + 1 < len(said) and said[place + 1] in AUXILIARIES]
    if any(place and said[place - 1] == "and" for place, _ in asking[1:]):
        return next(word for word in KIND_BY_WORD if word in {one for _, one in asking})
    return (asking or found or [(0, "")])[0][1]


def _is_phrase(text: str, said: Sequence[str]) -> bool:
    """Whether nothing but a thing is said: `max temperature of the X-100`."""
    return 0 < len(said) <= PHRASE_WORDS and said[0] not in NOT_OF_A_PHRASE and AUXILIARIES.isdisjoint({*said} - {"of"})


def said_by_unit(question: str, dimensions: Sequence[str]) -> list[str]:
    """Return the words of a question that an amount of one of the dimensions says by its unit."""
    named = (word if word in DIMENSIONS else singular(word) for word in map(plain, words(question)))
    return [word for word in named if word in SAID_BY_UNIT and DIMENSIONS[word] in dimensions]


def measure_asked(question: str) -> str:
    """Return the adjective of `how exact ...?` or `what is the shortest ... allowed?` that an amount answers; empty where there is none."""
    if match := HOW_ADJECTIVE.search(question):
        return match[1].casefold()
    superlative = SUPERLATIVE.search(question.strip().casefold())
    return f"{superlative[1]}est" if superlative and superlative[1] else ""


def _measured(text: str) -> tuple[str, ...]:
    """What the words of a question say that is measured: `length` and `time` by `how far is it, and how long does it take`.

    What it gives is not asked for: `the controller whose standby current is 0.5 mA`, `the place with the lowest temperature`.
    """
    for amount in reversed(quantities(text)):
        if (given := GIVEN.search(text[: amount.start])) and DIMENSIONS.get(plain(given[1])) == amount.dimension:
            text = text[: given.start()] + text[amount.end :]
    text = CHOSEN_BY.sub(" ", text)
    named = [DIMENSIONS[word] for said in words(text) if (word := plain(said)) in DIMENSIONS]
    named += ["time"] if TIME.search(text) else []
    return tuple(dict.fromkeys(d for dimension in named for d in _also(dimension)))


def _also(dimension: str) -> tuple[str, ...]:
    return ALSO.get(dimension, (dimension,))


def _measured_in(said: str) -> tuple[str, ...]:
    """What the unit measures that stands first in what is said: `volts does it need`; empty where it is no unit."""
    found = quantities(f"1 {said}")
    if not found or found[0].start or not found[0].dimension:
        return ()
    return ("angle", "temperature") if found[0].unit == "°" else (found[0].dimension,)


def by_default(question: str) -> str:
    """Return a question with `by default` in the place of a clause that means it: `out of the box`, `if I never touch it`.

    What the clause names stays: `by default for max_use` for `if max_use is left alone`, but for what happens then.
    """
    said = UNSET_CLAUSE.sub("by default", question)
    text = said.strip().casefold()
    if DOES_WHAT.search(text) or not ASKS_FIRST.match(text):
        return said
    return THING_UNSET.sub(r" by default for \g<thing>", said)


def asks_for_recommendation(question: str) -> bool:
    """Whether a question asks what is best: `Which cipher should I choose?`"""
    return RECOMMENDED.search(question) is not None


def asks_for_figure(question: str) -> bool:
    """Whether a question asks for a figure that a report states: `What was net income in 2022?`"""
    return AMOUNT_OF_BUSINESS.search(question.strip()) is not None


def chosen_noun(question: str) -> str:
    """Return the noun of `which ...` or `what ...`, case folded: what one of is asked for; empty where there is none."""
    return _chosen(question.strip().casefold())


def _chosen(text: str) -> str:
    """The noun of `which ...` and `what ...`: `option` of `which option makes ...`, `kinds` of `which leak kinds can ...`; or empty."""
    match = CHOOSES.search(text)
    before: list[str] = []
    for word in words(match[1]) if match else []:
        if word in FUNCTION_WORDS:
            return before[-1] if before and word in AUXILIARIES else _sort(before) or (before[-2] if before[1:] else "")
        before.append(word)
    return _sort(before)


def _sort(said: list[str]) -> str:
    return next((word for word in said if word in IDENTIFIER_SORTS), "")
