"""Words that say the opposite of each other: what a statement says of the one it does not say of the other."""

from __future__ import annotations

import re

from kgrag.text.words import stem, stems

__all__ = ["says_opposite"]

_PAIRS = """
    beginning end; start end; start stop; maximum minimum; max min; greatest smallest; largest smallest; highest lowest; longest shortest;
    most least; input output; send receive; sent received; upload download; import export; client server; primary secondary; first last;
    oldest newest; upper lower; encrypt decrypt; compress decompress; push pull; gross net; horizontal vertical; connect disconnect;
    mount unmount; lock unlock; load unload; read write; increase decrease; internal external; inbound outbound; incoming outgoing;
"""
_OPPOSITES: dict[str, set[str]] = {}
for _pair in filter(str.strip, _PAIRS.split(";")):
    _one, _other = (stem(word) for word in _pair.split())
    _OPPOSITES.setdefault(_one, set()).add(_other)
    _OPPOSITES.setdefault(_other, set()).add(_one)


PERIOD_ENDED = re.compile(r"\b(?:days?|weeks?|months?|quarters?|years?|periods?) ended\b", re.IGNORECASE)
"""Says when, and no end of anything."""


def says_opposite(terms: frozenset[str], text: str) -> bool:
    """Whether a text has the opposite of a term of a question (`beginning`, asked for the `end`) and not the term."""
    said = {one for _, one in stems(PERIOD_ENDED.sub("", text))}
    return any(
        term not in said and not terms & opposites and said & opposites
        for term in terms
        if (opposites := _OPPOSITES.get(term))
    )
