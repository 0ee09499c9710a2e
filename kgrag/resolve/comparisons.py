"""Ways to resolve that are there to be compared: the keys of the thesis, and a threshold of cosines (Pazera). Both join without a guard.

The keys are those of the thesis exactly (its code, facts section 5) with what is wrong about them: they take `1.2.3` for `1.23`, `100 µA`
for `100 A` and keep `Wi-Fi` from `WiFi`. Cosine above a threshold and connected components (Pazera, section 3.8.2) knows no numbers and
chains freely.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from kgrag.models.base import Vectors
from kgrag.resolve.keys import GENERIC_WORDS
from kgrag.resolve.plan import Decisions, Found, GraphEntity

__all__ = [
    "COSINE_THRESHOLD",
    "THESIS_KEYS",
    "decide_by_thesis",
    "decide_by_threshold",
    "strict_num_safe",
    "strict_num_safe_plural_safe",
    "tokens",
    "tokens_plural_safe",
]

MIN_KEY_CHARACTERS = 4


def strict_num_safe(name: str) -> str:
    """STRICT_NUM_SAFE: a dot between digits is `dot`, every hyphen is `neg`, all but a-z0-9 goes; "" below four characters."""
    key = re.sub(r"(?<=\d)\.(?=\d)", "dot", name.lower()).replace("-", "neg")
    key = re.sub(r"[^a-z0-9]", "", key)
    return key if len(key) >= MIN_KEY_CHARACTERS else ""


def strict_num_safe_plural_safe(name: str) -> str:
    """STRICT_NUM_SAFE_PLURAL_SAFE: the strict key without a final s where it has six characters or more."""
    key = strict_num_safe(name)
    return key[:-1] if len(key) >= MIN_KEY_CHARACTERS + 2 and key.endswith("s") else key


def tokens(name: str) -> str:
    """TOKENS: the set of words without generic ones, sorted; "" where none has four characters."""
    kept = sorted(set(re.sub(r"[^a-z0-9]+", " ", name.lower()).split()) - GENERIC_WORDS)
    return "|".join(kept) if any(len(word) >= MIN_KEY_CHARACTERS for word in kept) else ""


def tokens_plural_safe(name: str) -> str:
    """TOKENS_PLURAL_SAFE: TOKENS, each word of four characters or more without one final s unless it ends in ss."""
    words = tokens(name).split("|") if tokens(name) else []
    return "|".join(
        sorted(
            {w[:-1] if len(w) >= MIN_KEY_CHARACTERS and w.endswith("s") and not w.endswith("ss") else w for w in words}
        )
    )


THESIS_KEYS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("STRICT_NUM_SAFE", strict_num_safe),
    ("STRICT_NUM_SAFE_PLURAL_SAFE", strict_num_safe_plural_safe),
    ("TOKENS", tokens),
    ("TOKENS_PLURAL_SAFE", tokens_plural_safe),
)


def decide_by_thesis(entities: Sequence[GraphEntity]) -> Decisions:
    """Take as one all entities of one type that share a key, as where the thesis's model says yes to every group."""
    same: dict[tuple[int, int], Found] = {}
    for name, key in THESIS_KEYS:
        blocks: dict[tuple[str, str], list[int]] = defaultdict(list)
        for index, entity in enumerate(entities):
            if value := key(entity.name):
                blocks[entity.type, value].append(index)
        for block in blocks.values():
            for one, other in pairwise(block):
                same.setdefault((one, other), Found("same", f"same key {name}"))
    return Decisions(same, {}, len(same), guarded=False)


COSINE_THRESHOLD = 0.95
"""Pazera's value."""
ROWS_AT_ONCE = 1024


def decide_by_threshold(
    entities: Sequence[GraphEntity], vectors: Vectors, *, threshold: float = COSINE_THRESHOLD
) -> Decisions:
    """Take as one every pair whose vectors have a cosine above `threshold`. All pairs: quadratic in the number of entities."""
    same: dict[tuple[int, int], Found] = {}
    for start in range(0, len(entities), ROWS_AT_ONCE):
        cosines = vectors[start : start + ROWS_AT_ONCE] @ vectors[start:].T
        for row, column in zip(*np.nonzero(cosines > threshold), strict=True):
            if row < column:
                cosine = float(cosines[row, column])
                same[start + int(row), start + int(column)] = Found("same", f"cosine {cosine:.3f}", cosine)
    return Decisions(same, {}, len(entities) * (len(entities) - 1) // 2, guarded=False)
