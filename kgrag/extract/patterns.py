"""What a sentence says with a verb: the pattern of each relation, and the class that a definition names.

The list is short and plain: relations that technical documents state and that a verb shows by itself, and the relations between people,
places and works that encyclopedias state in a fixed form. What a verb does not show is left out rather than guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Statement", "definition", "statements"]

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
    r"\s(?:is|are|was|were)\s(?:also\s)?(?:an?|the|one of the)\s(?P<what>[^.;:]+)|\s(?:is|are)\s(?:a type of|a kind of)\s(?P<kind>[^.;:]+)"
)
CLASS_ENDS = re.compile(
    r"[,(\[]|\s(?:that|which|who|whose|where|when|with|for|from|by|in|on|at|to|of|designed|made|based|used|located|situated|written|directed|produced"
    r"|published|released|featuring|starring|best|known|built|built-in|developed|recorded|and|or|as|during|between|about|under|after|before|into|set"
    r"|powered|enabling|allowing|covering|supporting|including|targeting|running|using|capable|intended|manufactured|founded|held|born|ideal|suitable|offering|providing|integrating|combining|is|was|has|can)\b"
)
RELATIONAL_CLASS = re.compile(
    r"(?:\S+\s){0,2}(?:grand)?(?:son|daughter|father|mother|child)|(?:\S+\s)?(?:brother|sister|wife|husband|one|part|member|name|number"
    r"|first|last|second|third|same|only|best|result|way|following|case|use|lot|set|end|main|most|need|sequel|successor|capital)",
    re.IGNORECASE,
)
"""`the maternal grandfather of ...` says whose, not what."""
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
        or not (name[0].isalnum() and name[-1].isalnum())
    ):
        return None
    return name
