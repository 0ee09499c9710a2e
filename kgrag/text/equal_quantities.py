"""Whether quantities are equal, or in a range: in their ends, after conversion of their units, rounded as people round."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kgrag.text.quantities import Quantity
from kgrag.text.units import converted, scale

__all__ = ["ends", "is_end", "is_said"]


OF_DEGREES = frozenset(["°C", "°F"])
"""What a number of degrees may be of."""


def ends(quantity: Quantity) -> Iterator[tuple[float, str]]:
    """Yield a quantity's value, the upper end of its range and its tolerance, each with its unit."""
    yield quantity.value, quantity.unit
    if quantity.upper is not None:
        yield quantity.upper, quantity.unit
    if quantity.tolerance is not None:
        yield quantity.tolerance, quantity.tolerance_unit


def is_end(value: float, unit: str, among: Iterable[Quantity]) -> bool:
    """Whether a value with its unit equals an end of one of the quantities."""
    return any(_same(value, unit, *other) for quantity in among for other in ends(quantity))


def is_said(amount: Quantity, among: Sequence[Quantity]) -> bool:
    """Whether one of the quantities is an amount, in whatever unit (`5V`, `5 volts`), or a range around it; `70 degrees` are 70 °C too."""
    units = {one.unit for one in among if one.unit in OF_DEGREES} if amount.unit == "°" else set()
    return any(
        is_end(amount.value, unit, among) or any(_is_inside(amount.value, unit, other) for other in among)
        for unit in (amount.unit, *units)
    )


def _is_inside(value: float, unit: str, other: Quantity) -> bool:
    if other.upper is None:
        return False
    size, base = scale(unit)
    other_size, other_base = scale(other.unit)
    return base == other_base and other.value <= value * float(size / other_size) <= other.upper


def _same(value: float, unit: str, other: float, other_unit: str) -> bool:
    """Whether two ends of quantities are equal, the first rounded as it may be where it was converted from another unit."""
    if unit == other_unit:
        return value == other
    size, base = scale(unit)
    other_size, other_base = scale(other_unit)
    if base == other_base:
        one, two = float(size) * value, float(other_size) * other
        return abs(one - two) <= 1e-9 * max(abs(one), abs(two)) or _rounded(value, two / float(size))
    into = converted(other, other_unit, unit)
    return into is not None and _rounded(value, into)


def _rounded(value: float, exact: float) -> bool:
    """Whether `value` is `exact` in its own digits, two at least."""
    digits = max(2, len(f"{abs(value):.6g}".replace(".", "").strip("0")))
    return float(f"{exact:.{digits}g}") == float(f"{value:.{digits}g}")
