"""What a community is called in the tree, made of its members: `Opta: voltages from 3 VDC to 57 VDC`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from kgrag.communities.profile import EntityRow, Profile
from kgrag.communities.summary import listed
from kgrag.text.quantities import Quantity, quantities
from kgrag.text.units import scale

__all__ = ["label"]

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
SIGNED = {"voltage", "current", "temperature", "level", "angle"}
PLURALS = {
    "voltage": "voltages",
    "current": "currents",
    "power": "power values",
    "time": "times",
    "level": "levels",
    "share": "percentages",
    "data": "data sizes",
    "data rate": "data rates",
    "temperature": "temperatures",
    "frequency": "frequencies",
    "length": "lengths",
    "mass": "masses",
    "resistance": "resistances",
    "capacitance": "capacitances",
    "pressure": "pressures",
    "count": "counts",
}


def label(profile: Profile) -> str:
    """Name a community: what it is about where one or two products prevail, then what it holds."""
    about = _about(profile)
    measured = [member for member in profile.members if member.type == "Quantity"]
    holds = ""
    if len(measured) >= MAJORITY * len(profile.members):
        holds = _measures([member.name for member in measured])
        holds = holds if about else holds[:1].upper() + holds[1:]
    if not holds:
        named = [member for member in profile.members if member.type != "Quantity"] or list(profile.members)
        holds = _names([member for member in named if member.name not in about] or named, profile)
    return f"{' and '.join(about)}: {holds}" if about else holds


def _about(profile: Profile) -> list[str]:
    """Return the one or two products, or the category, that most of a community is about."""
    products = profile.products
    if products and products[0][1] >= WHOLE_SHARE:
        return [products[0][0]]
    if len(products) > 1 and products[1][1] >= PAIR_LEAST and products[0][1] + products[1][1] >= PAIR_SHARE:
        return sorted((products[0][0], products[1][0]))
    if profile.categories and profile.categories[0][1] >= CATEGORY_SHARE:
        return [profile.categories[0][0]]
    centre = [member for member in profile.members[:CENTRE] if member.type != "Quantity"]
    known = {name for name, _ in products}
    return next(([member.name] for member in centre if member.name in known), [])


def _measures(names: Sequence[str]) -> str:
    """Say what quantities measure, and from where to where; empty where most measure nothing that is known."""
    read = [(found[0], found[0].dimension) for name in names if (found := quantities(name))]
    counts = Counter(dimension for _, dimension in read if dimension)
    if not counts or counts.total() < MAJORITY * len(names):
        return ""
    (first, count), *others = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    if count >= MAJORITY * counts.total():
        ordered = sorted((quantity for quantity, dimension in read if dimension == first), key=_size)
        low, high = ordered[0], ordered[-1]
        span = f"{_bare(low)} to {_bare(high)}" if _size(low) != _size(high) else _bare(low)
        return f"{_plural(first)} {'from ' if _size(low) != _size(high) else 'of '}{span}"
    values = list(dict.fromkeys(_bare(quantity) for quantity, _ in read))
    return f"{_plural(first)} and {_plural(others[0][0])}: {listed(values)}"


def _size(quantity: Quantity) -> tuple[float, str]:
    factor, base = scale(quantity.unit)
    return float(factor) * _value(quantity), base


def _value(quantity: Quantity) -> float:
    """Read a minus before what cannot be negative as the dash that it is."""
    return quantity.value if quantity.dimension in SIGNED else abs(quantity.value)


def _bare(quantity: Quantity) -> str:
    """Write the lower end of a quantity with its unit, without bounds and tolerances."""
    number = f"{_value(quantity):g}"
    return f"{number}{quantity.unit}" if quantity.unit in ("%", "°", "x") else f"{number} {quantity.unit}"


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


def _plural(dimension: str) -> str:
    return PLURALS.get(dimension, f"{dimension} values")
