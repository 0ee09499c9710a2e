"""What a community is called in the tree, made of its members: `Opta: STM32H747XI, RS-485 and Ethernet`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from kgrag.communities.profile import EntityRow, Profile
from kgrag.communities.summary import listed
from kgrag.text.values import is_value

__all__ = ["label", "things"]

WHOLE_SHARE = 0.6
"""A product that so much of a community is about, or two that are together, stand before the rest of its label."""
PAIR_SHARE, PAIR_LEAST = 0.75, 0.3
CATEGORY_SHARE = 0.8
CENTRE = 3
"""Where nothing prevails, a product among so many of the most central members is what it is about."""
MAJORITY = 0.6
"""Of the members that are quantities, of one dimension, of one family of names: then the label says so."""
LABEL_NAMES = 3
FAMILY = re.compile(r"[^\W\d_]{3,}(?=[\d_])")
"""How part numbers and signals begin: ABX00042, STOBE11_P."""


def label(profile: Profile) -> str:
    """Name a community: what it is about where one or two products prevail, then its things; values only where nothing else is."""
    about = _about(profile)
    named = things(profile.members) or list(profile.members)
    holds = _names([member for member in named if member.name not in about] or named, profile)
    return f"{' and '.join(about)}: {holds}" if about else holds


def things(members: Sequence[EntityRow]) -> list[EntityRow]:
    """Leave dates, numbers and bare quantities out."""
    return [member for member in members if not is_value(member.name, member.type)]


def _about(profile: Profile) -> list[str]:
    """Return the one or two products, or the category, that most of a community is about."""
    products = profile.products
    if products and products[0][1] >= WHOLE_SHARE:
        return [products[0][0]]
    if len(products) > 1 and products[1][1] >= PAIR_LEAST and products[0][1] + products[1][1] >= PAIR_SHARE:
        return sorted((products[0][0], products[1][0]))
    if profile.categories and profile.categories[0][1] >= CATEGORY_SHARE:
        return [profile.categories[0][0]]
    centre = things(profile.members[:CENTRE])
    known = {name for name, _ in products}
    return next(([member.name] for member in centre if member.name in known), [])


def _names(members: Sequence[EntityRow], profile: Profile) -> str:
    """List central names that have little in common, or the family that most of them are of."""
    families = Counter(match[0] for member in members if (match := FAMILY.match(member.name)))
    family, count = min(families.items(), key=lambda item: (-item[1], item[0]), default=("", 0))
    if count >= max(3, MAJORITY * len(members)):
        inside = [member.name for member in members if member.name.startswith(family)]
        rest = f"{count - 2} more" if len(profile.members) == profile.size else "more"
        return f"{', '.join(inside[:2])} and {rest} {family}…"
    chosen: list[str] = []
    for member in members:
        if not any(_alike(member.name, other) for other in chosen):
            chosen.append(member.name)
        if len(chosen) == LABEL_NAMES:
            break
    return listed(chosen)


def _alike(one: str, other: str) -> bool:
    first, second = (set(re.findall(r"\w+", name.casefold())) for name in (one, other))
    return bool(first and second) and 2 * len(first & second) > min(len(first), len(second))
