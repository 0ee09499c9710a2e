"""What a sentence says with a verb: the pattern of each relation, and the class that a definition names.

The list is short and plain: relations that technical documents state and that a verb shows by itself, and the relations between people,
places and works that encyclopedias state in a fixed form. What a verb does not show is left out rather than guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = [
    "Statement",
    "available_since",
    "class_after",
    "default_value",
    "definition",
    "file_after",
    "own_default",
    "predicate_begins",
    "said_of_object",
    "statements",
]

ADVERB = r"(?:(?:also|then|now|only|fully|directly|additionally|typically|optionally|natively|mainly|currently|both|not only)\s+)?"
BE = rf"(?:is|are|was|were|been|be|being)\s+{ADVERB}"
HAVE_BEEN = rf"(?:{BE}|(?:has|have|had|can|may|must|should|shall|will)\s+(?:also\s+)?(?:been\s+|be\s+))?"
ONE_OBJECT = frozenset(
    {
        *("MADE_BY", "DIRECTED_BY", "WRITTEN_BY", "PERFORMED_BY", "FOUNDED_BY", "BASED_ON", "REPLACES"),
        *("CHILD_OF", "MARRIED_TO", "SIBLING_OF", "BORN_IN", "DIED_IN", "LOCATED_IN", "PART_OF"),
    }
)
"""Relations whose object stands right after the verb, with what `and` joins to it."""
OF_ANOTHER = re.compile(r"\bwhose\b|\b(?:who|which)\b[^,]*,[^,]*$")
"""Between a subject and a verb: the verb is said of something else."""
RELATIONS: tuple[tuple[str, str, bool], ...] = (
    (r"is compatible with|are compatible with|compatible with|works with|work with|pairs with", "COMPATIBLE_WITH", False),
    (r"includes?|features?|integrates?|incorporates?|contains?|comprises?|embeds?|houses?"
     r"|is equipped with|are equipped with|comes with|come with|is fitted with|consists of|is composed of", "HAS_PART", False),
    (r"(?:has|have) (?=(?:an?|one|two|three|four|five|six|eight|\d+|on-?board|built-in|integrated|dual|up to)\b)", "HAS_PART", False),
    (r"supports?|is capable of", "SUPPORTS", False),
    (r"connects? to|connected to|is attached to|interfaces with|communicates? with|is linked to|plugs into", "CONNECTS_TO", False),
    (r"requires?|needs?|depends on|relies on", "REQUIRES", False),
    (r"replaces?|supersedes?|is the successor (?:of|to)", "REPLACES", False),
    (r"(?:is|are|was|were) replaced by|(?:is|are|was|were) superseded by", "REPLACES", True),
    (r"is based on|are based on|was based on|based on|built around|is an adaptation of|adapted from", "BASED_ON", False),
    (r"is powered by|are powered by|powered by|is driven by|is controlled by|managed by", "POWERED_BY", False),
    (r"uses|use|is using|makes use of|employs", "USES", False),
    (r"provides?|offers?|delivers", "PROVIDES", False),
    (r"operates? (?:at|from)|runs? at|running at|clocked at|measures?|weighs?|reach(?:es)?|up to|ranges? from|consumes?",
     "HAS_VALUE", False),
    (r"(?:manufactured|made|developed|produced|published|released|designed|invented|created|built) by", "MADE_BY", False),
    (r"directed by", "DIRECTED_BY", False),
    (r"written by|authored by|composed by", "WRITTEN_BY", False),
    (r"(?:recorded|performed|sung) by|(?:song|single|album|track|EP) by", "PERFORMED_BY", False),
    (r"starring|stars", "HAS_CAST", False),
    (r"founded by|established by", "FOUNDED_BY", False),
    (r"(?:son|daughter|child|children) of", "CHILD_OF", False),
    (r"(?:father|mother|parent) of", "CHILD_OF", True),
    (r"married to|married(?= [A-Z])|(?:wife|husband|consort|widow) of|by marriage to", "MARRIED_TO", False),
    (r"(?:brother|sister|half-brother|half-sister|sibling) of", "SIBLING_OF", False),
    (r"was born in|born in|born at", "BORN_IN", False),
    (r"died in|died at|was killed in", "DIED_IN", False),
    (r"(?:is|are|was|were) located in|located in|situated in|headquartered in|based in", "LOCATED_IN", False),
    (r"part of|belongs to|member of", "PART_OF", False),
)  # fmt: skip
"""Verb, type, and whether the sentence says it the other way round."""
VERB = re.compile(
    rf"\b{HAVE_BEEN}{ADVERB}(?:" + "|".join(f"(?P<r{i}>{verb})" for i, (verb, _, _) in enumerate(RELATIONS)) + r")\b"
)
NEGATION = re.compile(r"\b(?:not|n't|never|no longer|cannot|without|neither|nor)\b[\w\s]{0,20}$", re.IGNORECASE)
OBJECT_ENDS = re.compile(
    r"[.;:]\s|,\s(?:which|who|where|while|but|so|however)\b|\s(?:which|who|that|because|while|when|where|although|if|but|so that)\s"
)
DEFINITION = re.compile(
    r"\s(?:is|are|was|were)\s(?:also\s)?(?:an?)\s(?P<what>[^.;:]+)|\s(?:is|are)\s(?:a type of|a kind of)\s(?P<kind>[^.;:]+)"
)
CLASS_ENDS = re.compile(
    r"[,(\[]|\s(?:that|which|who|whose|where|when|with|for|from|by|in|on|at|to|of|designed|made|based|used|located|situated|written|directed|produced"
    r"|published|released|featuring|starring|best|known|built|built-in|developed|recorded|and|or|as|during|between|about|under|after|before|into|set"
    r"|powered|having|similar|specific|such|not(?!-)|than|via|enabling|allowing|covering|supporting|including|targeting|running|using|capable|intended|indicating|specifying|describing|representing|containing|defining|manufactured|founded|held|born|ideal|suitable|offering|providing|integrating|combining|is|was|has|can)\b"
)
RELATIONAL_CLASS = re.compile(
    r"(?:\S+\s){0,2}(?:grand)?(?:son|daughter|father|mother|child)|(?:\S+\s)?(?:brother|sister|wife|husband|one|part|member|name|number"
    r"|first|last|second|third|same|only|best|result|way|following|case|use|lot|set|end|main|most|need|sequel|successor|capital)",
    re.IGNORECASE,
)
"""`the maternal grandfather of ...` says whose, not what."""
NO_CLASS = re.compile(
    r"(?:.*\s)?(?:place|places|way|ways|matter|question|problem|idea|thing|things|example|reason|kind|type|sort|bit|alternative|choice|mistake"
    r"|requirement|must|lot|few|pain|chance|candidate|job|task|point|step|issue|bug|trick|advantage|disadvantage|one|ones|cousin|successor"
    r"|(?:good|better|best|great|nice|bad|poor|useful|perfect|natural|reasonable|safe|wise|common|typical|simple|easy|possible)\s.*"
    r"|replacement|predecessor|equivalent|counterpart|default|guide|document|section|chapter|fork|subset|superset|variant|version|fact)",
    re.IGNORECASE,
)
"""What such a sentence says of a thing is an opinion, or its relation to something else, and no class."""
NAMES_THE_SAME = re.compile(
    r"\s*(?:\([^()]*\)\s*)?(?:boards?|modules?|devices?|carriers?|shields?|kits?|sensors?|microcontrollers?|MCUs?|processors?|chips?|SoCs?"
    r"|drivers?|commands?|programs?|tools?|daemons?|servers?|parameters?|settings?|options?|files?|families|family|series)?[®™]?"
    r"(?:\s*\([^()]*\)|,[^,]*,)?\s*"
)
"""Between a name and its verb: a word for what it is, a parenthesis, a phrase between commas (`The X-100 board (Rev 2) features`)."""
MODAL = rf"(?:(?:can|may|will|must|should|could|does|do|has|have|had|is|are|was|were|been|be|being|also)\s+)*{ADVERB}"
GOES_ON = re.compile(rf".*(?:,|\band|\bor|\bwhich|\bthat|\bis|\bare)\s+(?:it\s+)?{MODAL}", re.DOTALL)
"""A further verb of the same subject."""
OBJECT_BREAKS = re.compile(
    r"[;:()|\"“”=/]|\b(?:of|in|on|at|by|from|with|for|to|via|through|as|like|than|into|over|under|per|using|based|when|if|where|which|that|whose"
    r"|between|within|without|against|because|so|not|no|is|are|was|were|be|has|have|can|may|will|must|should)\b",
    re.IGNORECASE,
)
"""Between a verb and a name: the name is no longer the verb's object."""
ITSELF = re.compile(
    r"[®™]?(?:\s*\([^()]*\))?(?:$|\s*[,.;:)\n]|\s+(?:and|or|as|in|on|at|by|from|with|for|to|via|which|that|is|are|when|if|where|using|through|while|chip"
    r"|chipset|processor|microcontroller|MCU|SoC|module|modules|sensor|sensors|connector|connectors|board|boards|core|cores|device|devices|family|protocol"
    r"|protocols|standard|library|server|servers|command|commands|driver|drivers|file|files|parameter|parameters|daemon|program|table|tables"
    r"|database|databases|client|clients|format|port|ports|interface|interfaces|IC|radio|transceiver|accelerometer|gyroscope|IMU|magnetometer)\b)"
)
"""After a name: it is the object itself, and does not only qualify what follows (`the Z80 stack frame`)."""
DEFAULT = re.compile(
    r"(?<![\w.-])(?:(?![A-Za-z])[\w.-])*(?P<name>[A-Za-z][\w.-]*)\s+\(default:\s+(?P<value>[^\s:()\[\]$]+(?:\s[a-zµ%]+)?)\)(?=:|$|\s)"
    r"|^The default (?:value )?(?:of|for) (?P<name2>[A-Za-z][\w.-]*) is (?P<value2>[^\s:()\[\]$,;]+(?:\s[a-zµ%]+)?)\.?$"
    r"|^(?P<name3>[A-Za-z][\w.-]*) defaults to (?P<value3>[^\s:()\[\]$,;]+(?:\s[a-zµ%]+)?)\.?$"
)
"""A name is looked for where a word begins and at no other letter of it: a word may be a picture's 200,000 letters."""
OWN_DEFAULT = re.compile(
    r"defaults?(?: values?)?:\s+(?:(?P<value>[^\s:()\[\]$,;*]+(?:\s[\wµ%]+)?)(?:\s\([^()]*\)|, i\.e\. .*)?\.?$)?",
    re.IGNORECASE,
)
"""A line or sentence of its own about a setting, which stands before it."""
AVAILABLE = re.compile(
    r"^(?:This (?:feature|parameter|option|command|setting|function|driver|variable|directive|attribute) (?:is|was) )?"
    r"(?:available|introduced|added)(?: starting)? (?:in|since|with|as of|from) "
    r"(?P<version>(?:[A-Z][\w+-]*\s)?(?:[Vv]ersion\s|[Rr]elease\s|v)?\d+(?:\.\d+)+)(?![\w-])",
    re.IGNORECASE,
)
"""Of what the list item is about, in which version it came."""
IN_FILE = re.compile(
    r"\s(?:(?:parameter|setting|option|directive|variable|keyword|value|entry|line|section)\s)?(?:in|of|from)\s(?:the\s|your\s)?$"
)
"""Between the name of a setting and that of the file that has it."""
CLASS_NOUNS = {
    "program": (
        r"commands?|daemon|server|service|program|process|utility|tool|driver|manager|client|agent|function|system call"
    ),
    "file": r"configuration file|config file|file|header file|header|library|script|table",
    "setting": (
        r"parameter|setting|option|variable|directive|macro|pragma|function|keyword|restriction|attribute|field|flag|constant|register"
    ),
    "term": (
        r"protocol|standard|algorithm|daemon|command|database|library|attribute|directive|field|flag|variable|parameter|option|keyword|driver"
    ),
    "part": (
        r"microcontroller|microprocessor|processor|sensor|chip|chipset|module|board|core|MCU|IC|transceiver|transistor|diode|timer|amplifier"
        r"|op-amp|regulator|converter|accelerometer|gyroscope|magnetometer|modem|printer|phone|camera|cable|protocol|cipher"
    ),
}
CLASS_AFTER = {
    kind: re.compile(
        rf"[®™]?\s(?P<name>(?:(?:delivery|lookup|configuration|queue|temperature|pressure|humidity|motion|instruction|serial|wireless|radio|sound)\s)?"
        rf"(?:{nouns}))(?![\w-]|\s(?:file|files|name|names|value|values|library|libraries|variable|variables|code|port|ports)\b)"
    )
    for kind, nouns in CLASS_NOUNS.items()
}
"""After a name of each shape: the word for what it is (`the postmap(1) command`, `the LPS22HB pressure sensor`)."""
ONE_OF_MANY = re.compile(r"\b(?:an?|any|each|every|some|other|another|not|no)\s(?:[\w-]+\s)?$", re.IGNORECASE)
SETTING = re.compile(r"(?:\w+\s)?(?:parameter|option|attribute|directive|field|flag|variable|keyword|standard)s?")
OF_THE_NEXT = re.compile(r"\s[\"'“‘`(]?[A-Za-z][\w-]*[_.(=]\w")
"""After a class: a name with a sign in it."""
MAX_CLASS_WORDS = 6
YEAR_FIRST = re.compile(r"^(?:\d{4}\s|(?:first|second|third|fourth|only|main)\s)+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """A verb in a sentence: where it stands, where what it is said of ends, and what relation it shows."""

    type: str
    start: int
    end: int
    object_end: int
    reversed: bool = False

    @property
    def one_object(self) -> bool:
        """Whether the object stands right after the verb (`directed by X`), not somewhere in a list (`features X, a Y and Z`)."""
        return self.type in ONE_OBJECT


def statements(sentence: str) -> Iterator[Statement]:
    """Find the verbs of a sentence that show a relation, in order. Denied ones are left out."""
    matches = list(VERB.finditer(sentence))
    for i, match in enumerate(matches):
        _, kind, turned = RELATIONS[int(str(match.lastgroup)[1:])]
        if NEGATION.search(sentence, max(0, match.start() - 30), match.start()) or OF_ANOTHER.search(
            sentence[: match.start()]
        ):
            continue
        ends = OBJECT_ENDS.search(sentence, match.end())
        object_end = min(
            ends.start() if ends else len(sentence), matches[i + 1].start() if i + 1 < len(matches) else len(sentence)
        )
        yield Statement(kind, match.start(), match.end(), object_end, turned)


def definition(sentence: str, subject_end: int) -> str | None:
    """The class in `X is a CLASS ...`, as written, where `subject_end` is the end of X; None where the sentence defines nothing.

    Between X and the verb only a parenthesis, dates or a phrase between commas may stand.
    """
    match = DEFINITION.search(sentence, subject_end)
    if not match:
        return None
    between = re.sub(r"\s?\([^()]*\)|,[^,]*,", "", sentence[subject_end : match.start()]).strip(" ,®™'\"”")
    if between:
        return None
    phrase = match["what"] or match["kind"]
    ends = CLASS_ENDS.search(phrase)
    relational = ends is not None and ends.group().strip() == "of" and " " not in phrase[: ends.start()].strip()
    if relational:
        # `a ruler of ...` says whose, not what.
        return None
    name = YEAR_FIRST.sub("", (phrase[: ends.start()] if ends else phrase).strip(" \"'“”‘’")).strip()
    words = name.split()
    if (
        not words
        or len(words) > MAX_CLASS_WORDS
        or RELATIONAL_CLASS.fullmatch(name)
        or NO_CLASS.fullmatch(name)
        or not (name[0].isalnum() and name[-1].isalnum() and any(character.isalpha() for character in name))
    ):
        return None
    return name


def predicate_begins(sentence: str, end: int, verb: int, *, first: bool) -> bool:
    """Whether the verb at `verb` is said of the subject: `end` is where the subject ends (`first`) or the verb before it.

    Right after the subject only a word for what it is may stand; a further verb is joined on by `and`, a comma or a relative pronoun.
    """
    between = sentence[end:verb]
    if first:
        rest = NAMES_THE_SAME.match(between)
        if rest is not None and re.fullmatch(rf"{MODAL}", between[rest.end() :]):
            return True
    return GOES_ON.fullmatch(between) is not None and not re.search(r"[.;:]\s", between)


def said_of_object(text: str, verb_end: int, start: int, end: int, clause_end: int) -> bool:
    """Whether the name at `text[start:end]` is an object of the verb that ends at `verb_end`: no preposition leads away to it."""
    return not OBJECT_BREAKS.search(text, verb_end, start) and bool(
        start == end or ITSELF.match(text[end : max(clause_end, end) + 1])
    )


def default_value(sentence: str) -> tuple[str, str] | None:
    """The setting and the value that it has where nobody sets it, as written; None where the sentence says none."""
    match = DEFAULT.search(sentence)
    if match is None:
        return None
    name, value = (
        match["name"] or match["name2"] or match["name3"],
        match["value"] or match["value2"] or match["value3"],
    )
    return name, _value(value)


def _value(written: str) -> str:
    return written.strip(" .\"'“”‘’") or written


def own_default(sentence: str) -> str | None:
    """The value in `Default: 100 s`, "" where it is more than a value; None where the sentence is no such line."""
    match = OWN_DEFAULT.match(sentence)
    return match and _value(match["value"] or "")


def available_since(sentence: str) -> str | None:
    """The version in which what a list item is about came, as written; None where the sentence says none."""
    match = AVAILABLE.match(sentence)
    return match["version"] if match else None


def class_after(name: str, text: str, end: int) -> str | None:
    """The class in `the NAME CLASS`, where the name ends at `end`; None where what follows is no word for what such a name is.

    Nor where the class is that of a name behind it (`the PostgreSQL parameter max_connections`), or of one of many settings of what is
    named (`a TLS parameter`).
    """
    if name.endswith(")"):
        kind = "program"
    elif "." in name:
        kind = "file"
    else:
        kind = "setting" if "_" in name else "part" if any(c.isdigit() for c in name) else "term"
    match = CLASS_AFTER[kind].match(text, end)
    if match is None or OF_THE_NEXT.match(text, match.end()):
        return None
    begins = end - len(name)
    if kind == "term" and ONE_OF_MANY.search(text, max(0, begins - 30), begins) and SETTING.fullmatch(match["name"]):
        return None
    return match["name"].removesuffix("s")


def file_after(text: str, end: int, file_start: int) -> bool:
    """Whether what stands between two names says that the first is a setting in the second, a file."""
    return IN_FILE.fullmatch(text, end, file_start) is not None
