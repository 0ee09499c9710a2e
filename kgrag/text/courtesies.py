"""What people say around a question, in English: greetings, thanks, `could you tell me`. It asks for nothing that a document says."""

from __future__ import annotations

import re

from kgrag.text.informal import written_out

__all__ = ["without_courtesies"]

_SOMEBODY = r"(?:you|(?:any|some)(?:one|body))"
_PLEASE = r"(?:please |kindly |perhaps |maybe |possibly )?"
_ASKS = (
    r"(?=(?:i|my|we|our|is|are|can|could|do|does|did|how|what|which|where|when|why|who|please|quick|would|will|any)\b)"
)
GREETING = re.compile(
    r"(?:hi|hello|hey|greetings|good (?:morning|afternoon|evening|day)|dear)\b"
    r"(?: (?:there|all|you|everyone|everybody|folks|guys|sir|madam|or|team|support|customer|service|kgrag))*"
    rf"(?:\s*[,!.:;–—-]+\s+|\s*\n\s*|\s+{_ASKS})",
    re.IGNORECASE,
)
THANKS = re.compile(
    r"(?:(?<=[.?!,;:\n])|(?<=[.?!,;:]\s)|\A)\s*(?:(?:many |with )?(?:thanks?|thx)\b|cheers\b|(?:(?:kind|best|warm) )?regards\b"
    r"|any (?:help|hints?|pointers?|advice) (?:is|are|would be|will be|much)\b)[^.?!\n]{0,60}[.!]*\s*\Z",
    re.IGNORECASE,
)
PLEASED = re.compile(
    r"(?:(?:ok(?:ay)?|great|perfect|awesome|cool|nice|(?:many |a lot of )?thanks?(?: you)?\b"
    r"(?: (?:a lot|so much|very much|again|for [^.?!,\n]{1,40}))*"
    r"|cheers|got it|that (?:helps?|helped|works?|worked)(?: a lot)?)\s*[.!,;:–—-]+\s*)+",
    re.IGNORECASE,
)
"""What is said of the answer before: `Great, thanks! And ...`."""
FOR_ATTENTION = re.compile(
    rf"(?:sorry[^.?!:]{{0,40}}|i hope (?:you|this)[^.?!:]{{0,40}}|(?:can|could|would|will) {_SOMEBODY} {_PLEASE}help(?: me| us)?(?: out)?"
    r"(?: (?:with|on) (?:this|that|it))?(?: please)?|(?:i |we )?need (?:some |your )?help"
    rf"|(?:can|could|would|will) {_SOMEBODY} {_PLEASE}(?:advise|assist)(?: please)?|please (?:advise|help(?: me| us)?)"
    r"|(?:i have )?(?:a |one |just )*(?:quick |short |simple |small |another )*question)\s*[.?!:,;–—-]+\s+",
    re.IGNORECASE,
)
"""A sentence, or an opening before a colon, that only asks to be heard."""
PLEASE = re.compile(r"(?:please|kindly)\b,? (?!(?:tell|let|advise)\b)", re.IGNORECASE)
PLEASE_LAST = re.compile(r"(?<!\bsay)(?<!\bthe)(?<!\bword),? please(?=[.?! ]*\Z)", re.IGNORECASE)
WHETHER, WHAT_IS = "whether ", "what is "
THING = re.compile(r"(?:the|an?|its|their|your)\b", re.IGNORECASE)
_IF = r"(?P<whether> if| whether)?(?: about)?[\s,:]+"
OPENING = re.compile(
    rf"(?:please,? )?(?:(?:can|could|would|will) {_SOMEBODY} {_PLEASE}(?:tell|let) (?:me|us)(?: know)?(?: please)?"
    r"|(?:please,? |kindly )(?:tell|let) (?:me|us)(?: know)?"
    rf"|(?:do|would) you (?:happen to )?know|does {_SOMEBODY} know|(?:do you have |have you )?any ideas?"
    r"|(?:i|we)(?:[’']m| am| was|[’']re| are| were|[’']ve been| have been) (?:just |also )?"
    r"(?:wondering|curious|(?:trying|looking) to (?:find out|understand|figure out|know))"
    r"|(?:i|we)(?:[’']d| would) (?:just |also )?(?:like|love|want|need) to (?:know|find out|understand|ask(?: you)?)"
    r"|(?:i|we) (?:just |also )?(?:want|need|wish) to (?:know|find out|ask(?: you)?)|(?:i|we) (?:don[’']t|do not) (?:know|understand)"
    rf"|(?:i |we )?need (?:some |your )?help (?:with|on)"
    rf"|(?:(?:can|could|would|will) {_SOMEBODY} {_PLEASE}|please )(?:help (?:me |us )?(?:with|on)|advise(?: (?:me|us))?(?: on)?)"
    rf"|{_SOMEBODY} knows?|(?:can|could|would|will) you (?:say|explain)(?: to (?:me|us))?"
    rf"(?= (?:if|whether|how|what|which|where|when|why|who)\b)){_IF}",
    re.IGNORECASE,
)
"""What leads to a question: what follows is what is asked."""
MOST_LAYERS = 6


def without_courtesies(question: str) -> str:
    """Return the question that is asked, written out (`kgrag.text.informal`); the text itself where nothing else is left.

    `Hi, could you tell me which fuse fits? Thanks!` → `which fuse fits?`. What is asked with `if` begins with `whether`, and a thing that
    one is to be told with `what is`.
    """
    asked = PLEASE_LAST.sub("", THANKS.sub("", written_out(question)).strip())
    for _ in range(MOST_LAYERS):
        before = asked
        for pattern in (GREETING, PLEASED, FOR_ATTENTION, PLEASE):
            asked = asked[match.end() :] if (match := pattern.match(asked)) else asked
        if match := OPENING.match(asked):
            asked = asked[match.end() :]
            asked = (WHETHER if match["whether"] else WHAT_IS if THING.match(asked) else "") + asked
        if asked == before:
            break
    return asked if any(map(str.isalnum, asked)) else question
