"""Words: how a text is divided into them, their stems, and which of them say nothing by themselves. English."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any

__all__ = [
    "ASKING_WORDS",
    "FUNCTION_WORDS",
    "LEADING_ON",
    "LIGHT_VERBS",
    "NEGATED_VERBS",
    "SAID_BY",
    "UNSPACED",
    "american",
    "content_terms",
    "folded_words",
    "plain",
    "plain_words",
    "share_said",
    "singular",
    "stem",
    "stems",
    "words",
]

WORD = re.compile(r"[^\W_]++(?:(?:[.,]\d[^\W_]*+|['’][^\W_]++)++)?+")
WORD_OF_ASCII = re.compile(r"[0-9A-Za-z]++(?:(?:[.,][0-9][0-9A-Za-z]*+|'[0-9A-Za-z]++)++)?+")
"""The same for texts in ASCII: a set of characters is found faster than a class of them."""
UNSPACED = re.compile(
    "[\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+"
)
"""A run of kana, Chinese characters or Hangul, where no space ends a word or particles are part of it."""
SUBSCRIPT_IOTA = "\u0345"
"""The one character that is part of a word only once its case is folded."""
_FUNCTION_WORDS = """
    a about above according after again against all also am among an and another any are as at be because been before being below
    between both but by can could did do does doing done down during each either every few for from further get had has have
    having he her here hers him his how i if in into is it its itself just least less many may me might more most much must my
    neither no nor not now of off on once one only onto or other our out over own per please s same shall she should so some such
    t than that the their them then there these they this those through to too under until up us use used uses using very via was
    we were what when where which while who whom whose why will with within without would you your
"""
_NEGATED = "are ca could did do does had has have is must need should was were wo would"
NEGATED_VERBS = tuple(_NEGATED.split())
"""What `n't` is written behind."""
_PRONOUNS = "i'd i'll i'm i've they're they've we're we've you'll you're you've"
_CONTRACTED = (*(f"{verb}n't" for verb in NEGATED_VERBS), *_PRONOUNS.split())
FUNCTION_WORDS = frozenset((*_FUNCTION_WORDS.split(), *_CONTRACTED, *(word.replace("'", "’") for word in _CONTRACTED)))
"""English words that half of all texts have and that name nothing: the one list of the house."""
LEADING_ON = frozenset(
    ["a", "an", "the", "and", "or", "of", "from", "with", "by", "at", "than", "your", "its", "their"]
)
"""English words that nothing ends with: what they belong to comes next. Not `on`, `off`, `to`, which values and verbs end with."""
_ASKING_WORDS = """
    belong belongs compare comparison concerning correspond corresponding corresponds describe description detail details differ
    difference differences differs
    document documentation documented documents example explain explanation find following give given identify kind kinds list
    mean meaning means mention mentioned name names outline overview provide provided refer referring refers regarding
    sentence short show state summarise summarize summary tell type types typical various versus vs way
    ways whether
"""
ASKING_WORDS = frozenset(_ASKING_WORDS.split())
"""Words that say how to answer, not what about: they are content in a document and none in a question."""
_LIGHT_VERBS = (
    "take takes taken get gets got happen happens want wants need needs become becomes hold holds let lets made make makes making"
    " go goes going keep keeps keeping although though really actually simply still even together anything something nothing else"
)
LIGHT_VERBS = frozenset(_LIGHT_VERBS.split())
"""Verbs that any question may have in another's place: they say nothing of what it is about."""
_SAID_BY = {
    "maximum max most limit limited": "greatest largest highest biggest longest", "minimum min least": "smallest lowest shortest",
    "width": "wide thick narrow", "height": "high tall", "length": "long", "duration timeout": "long", "depth": "deep", "weight": "heavy",
    "interval period frequency": "often", "size": "big large",
    "speed": "fast", "payment": "paid", "slower": "faster", "faster": "slower", "temperature": "hot cold temp",
    "ram": "memory", "available": "free", "abort abortion halt cancel": "stop",
    "remove discard drop erase purge suppress": "delete throw",
    "delete": "remove", "precision accuracy accurate": "exact precise", "fail failure invalid": "bad", "begin launch invoke": "start",
    "price priced": "cost", "select": "choose pick", "modify": "change", "exit quit terminate": "close end", "print list": "show",
    "distance": "far", "age": "old", "computer system host": "machine", "system host": "computer", "directory": "folder",
    "folder": "directory", "shutdown": "halt", "permit permitted": "allow", "allow": "permit", "image": "picture", "picture": "image",
    "increase rise": "grow", "decrease decline drop reduction": "fall shrink",
    "keep": "preserve retain", "ignore omit": "skip", "replace": "exchange swap", "swap": "exchange replace",
    "simultaneous simultaneously concurrent concurrently": "time",
    "configuration": "config", "specification": "spec", "information": "info",
    "parameter flag switch argument": "option", "option argument": "parameter", "option parameter": "directive",
}  # fmt: skip
"""What documents say of what is asked for by another word: `What is the greatest ...?`, `How wide ...?`."""
INVARIABLE = frozenset(["series", "species", "means", "news", "physics", "mathematics", "electronics", "dynamics"])
SINGULAR_BY_PLURAL = {
    "buses": "bus", "statuses": "status", "viruses": "virus", "indices": "index", "matrices": "matrix", "vertices": "vertex",
    "axes": "axis", "analyses": "analysis", "appendices": "appendix", "criteria": "criterion", "children": "child", "people": "person",
    "men": "man", "women": "woman", "feet": "foot", "teeth": "tooth", "mice": "mouse", "halves": "half", "shelves": "shelf",
    "menus": "menu", "cpus": "cpu", "gpus": "gpu",
}  # fmt: skip
_IRREGULAR = """
    became become, began begin, begun begin, bought buy, broke break, broken break, brought bring, built build, came come, caught
    catch, chose choose, chosen choose, dealt deal, drawn draw, drew draw, driven drive, drove drive, eaten eat, fallen fall, fed
    feed, fell fall, forgot forget, forgotten forget, froze freeze, frozen freeze, gave give, gone go, grew grow, grown grow, held
    hold, hidden hide, kept keep, knew know, known know, lost lose, met meet, overridden override, overrode override, paid pay,
    ran run, rewritten rewrite, sent send, shaken shake, shown show, sold sell, spent spend, spun spin, stolen steal, stood stand,
    taken take, taught teach, thought think, threw throw, thrown throw, told tell, took take, understood understand, went go,
    woken wake, worn wear, written write, wrote write
"""
BASE_OF_IRREGULAR = dict(pair.split() for pair in _IRREGULAR.split(","))
"""Forms of irregular verbs that are no other word: `left` and `ground` are."""
_BRITISH = """
    armour armor, behaviour behavior, catalogue catalog, centre center, colour color, defence defense, dialogue dialog, favour favor,
    fibre fiber, flavour flavor, grey gray, harbour harbor, honour honor, humour humor, kilometre kilometer, labour labor, licence license,
    litre liter, metre meter, millimetre millimeter, neighbour neighbor, programme program, tyre tire, vapour vapor
"""
AMERICAN = dict(pair.split() for pair in _BRITISH.split(","))
"""British spellings to the American ones of the same words, as they begin a word: `colours`, `behavioural`."""
BRITISH = re.compile(rf"(?:un|re|multi|sub)?({'|'.join(AMERICAN)})(?:s|ed|ing|al|less|ful|able)?")
YSE = re.compile(r"(?P<root>anal|paral|catal)ys(?P<end>e[drs]?|ing|ers)")
ISE = re.compile(
    r"(?P<root>\w*(?:al|an|at|er|ic|id|im|in|iv|nn?|on|or|os|ust|ut|ar|gn|il|ol|ot|itic|iel|ron|om|rit|anit|has|og))is(?P<end>e[drs]?|ing|ers|ations?)"
)
_NO_ISE = """
    advise arise comprise compromise concise demise devise disguise enterprise exercise expertise franchise improvise merchandise
    paradise precise premise promise raise revise rise supervise surprise televise treatise otherwise likewise clockwise noise cruise praise
"""
NO_ISE = frozenset(_NO_ISE.split())
"""Words whose `-ise` is no verb's ending that American writes with a z."""
MIN_PLURAL_LETTERS = 4


def words(text: str) -> list[str]:
    """Return the words and numbers of a text in order, as written; a decimal number is one, a possessive belongs to its word.

    Of a run of kana, Chinese characters or Hangul each two neighbours are a word, as is usual for search where words are not divided:
    `USBメモリ` is `USB`, `メモ` and `モリ`.
    """
    if text.isascii():
        return WORD_OF_ASCII.findall(text)
    found = WORD.findall(text)
    if not UNSPACED.search(text):
        return found
    return [part for word in found for part in _parts(word)]


@lru_cache(maxsize=1 << 17)
def plain(word: str) -> str:
    """Fold a word's case and take its possessive off: `Arduino's` → `arduino`."""
    return word.casefold().removesuffix("'s").removesuffix("’s")


def plain_words(text: str) -> list[str]:
    """Return the words of a text in order, each `plain`."""
    folded = text.casefold()
    if len(folded) != len(text) or SUBSCRIPT_IOTA in text:
        return [plain(word) for word in words(text)]
    # Folding moves no other character into or out of words, so the text is folded at once: hundreds of texts are read for a question.
    found = words(folded)
    if "'s" in folded or "’s" in folded:
        return [word.removesuffix("'s").removesuffix("’s") for word in found]
    return found


def folded_words(text: str) -> frozenset[str]:
    """Return the different words of a text, each `plain`."""
    return frozenset(plain_words(text))


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """Return the stem of a word (Snowball, English): `switch` of `switches`; a word with a digit stays as it is, case folded."""
    folded = plain(word)
    if not folded.isalpha():
        return folded
    return str(_stemmer().stemWord(SINGULAR_BY_PLURAL.get(folded) or BASE_OF_IRREGULAR.get(folded) or american(folded)))


def american(word: str) -> str:
    """Return a word, case folded, in American spelling: `color` of `colour`, `initialized` of `initialised`; any other as it is."""
    if match := BRITISH.fullmatch(word):
        return word.replace(match[1], AMERICAN[match[1]], 1)
    if match := YSE.fullmatch(word):
        return f"{match['root']}yz{match['end']}"
    match = ISE.fullmatch(word)
    if match is None or f"{match['root']}ise" in NO_ISE:
        return word
    return f"{match['root']}iz{match['end']}"


def stems(text: str) -> list[tuple[str, str]]:
    """Return the words of a text in order, each `plain` and with its stem."""
    found = plain_words(text)
    return list(zip(found, map(stem, found), strict=True))


def singular(word: str) -> str:
    """Take an English plural's ending off and no other: `batteries` → `battery`; `bus`, `chess` and `series` stay."""
    if known := SINGULAR_BY_PLURAL.get(word):
        return known
    if len(word) < MIN_PLURAL_LETTERS or word[-1] != "s" or word[-2:] in ("ss", "us", "is") or word in INVARIABLE:
        return word
    if word.endswith("ies") and len(word) > MIN_PLURAL_LETTERS:
        return f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    return word[:-1]


def content_terms(text: str, *, without: Iterable[str] = ()) -> frozenset[str]:
    """Return the stems of a text's words, function words (and those in `without`) left out."""
    left = folded_words(text) - FUNCTION_WORDS
    return frozenset(map(stem, left.difference(without) if without else left))


def share_said(asked: frozenset[str], text: frozenset[str]) -> float:
    """Return which share of the terms `asked` for `text` has; 0 where nothing is asked for."""
    return len(asked & text) / len(asked) if asked else 0.0


def _parts(word: str) -> Iterator[str]:
    """Divide a word where its script changes, and a run of unspaced characters into pairs of neighbours."""
    at = 0
    for run in UNSPACED.finditer(word):
        if run.start() > at:
            yield word[at : run.start()]
        at = run.end()
        yield from map("".join, pairwise(run[0])) if len(run[0]) > 1 else run[0]
    if at < len(word):
        yield word[at:]


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


SAID_BY = {
    stem(asked): frozenset(stem(one) for said, by in _SAID_BY.items() if asked in by.split() for one in said.split())
    for words_of_one in _SAID_BY.values()
    for asked in words_of_one.split()
}
"""Stem of a question's word to the stems of those that documents may have in its place."""
