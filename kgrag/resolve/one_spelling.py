"""A name in one spelling: dashes, fractions, raised digits, bounds and units that may be written in several ways are written in one."""

from __future__ import annotations

import re
import unicodedata
from math import gcd

from kgrag.text.name_pieces import DASHES, LOWERED_DIGITS, ON_THE_LINE, RAISED_DIGITS, SQUARED_UNITS
from kgrag.text.numerals import in_digits
from kgrag.text.quantities import unit_after

__all__ = ["in_one_spelling"]

OVERLINES = "\u0304\u0305\u033f"
"""Over a signal's name: active low. What composes into one letter (`ē`) is an accent."""
_CLEANED = DASHES | str.maketrans({
    "×": "x", "✕": "x", "μ": "µ", "\u2126": "Ω", "″": '"', "∆": "Δ", "♯": "#", "≃": "≈", "≅": "≈", "∼": "~", "≦": "≤", "≧": "≥",
})  # fmt: skip
_OVERLINED = re.compile(rf"(?:[^\W_][{OVERLINES}])+")
_WITHOUT_OVERLINES = str.maketrans("", "", OVERLINES)
_EM_DASH = re.compile(r"\s[—―]\s")
_VULGAR = re.compile(r"(\d{0,15})\s?([½⅓⅔¼¾⅛⅜⅝⅞⅕⅖⅗⅘⅙⅚])")
_FRACTION = re.compile(
    r"(?<![\w./-])(?:(\d{1,4})[\s-])?(\d{1,2})/(2|4|8|16|32|64)\s?-?(?=(?:inch(?:es)?|in|W|[wW]atts?)(?!\w)|\")"
)
"""A fraction in figures, before the units that are sold by such."""
_RAISED = re.compile(rf"(?<=[^\W\d_])[{RAISED_DIGITS}{LOWERED_DIGITS}]+|([{RAISED_DIGITS}{LOWERED_DIGITS}]+)")
_GROUPED = re.compile(r"(?:^|(?<=[(,;:]\s)|(?<=[-+±]))(\d{1,3})((?:\s\d{3})+)(?=\s?[^\W\d_])")
USB_TYPE = re.compile(r"\b(usb)[\s-]*type[\s-]*([abc])\b", re.IGNORECASE)
"""The rule for `USB Type-C` = `USB-C`."""
_RESISTIVE = re.compile(
    r"\b(?:resist(?:or|ors|ance)|pull-?(?:up|down)s?|potentiometers?|trimmers?|ohms?)\b", re.IGNORECASE
)
_WORDINGS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), said)
    for pattern, said in (
        (r"\b(?:at least|no(?:t)? less than)\s{1,3}(?=[-+$€£]?\s?\.?\d)", "≥"),
        (r"\b(?:at most|up to|no(?:t)? more than)\s{1,3}(?=[-+$€£]?\s?\.?\d)", "≤"),
        (r"\b(?:more than|greater than|over|above)\s{1,3}(?=[-+$€£]?\s?\.?\d)", ">"),
        (r"\b(?:less than|fewer than|under|below)\s{1,3}(?=[-+$€£]?\s?\.?\d)", "<"),
        (r"\b(?:minus|negative)\s{1,3}(?=[$€£]?\s?\.?\d)", "-"),
        (r"\bper cent\b", "percent"),
        (r"(?<=\d)(\s?)deg(?:rees?)?\.?\s?C(?:elsius)?\b", r"\1°C"),
        (r"(?<=\d)(\s?)deg(?:rees?)?\.?\s?F(?:ahrenheit)?\b", r"\1°F"),
        (r"(?<![^\W_])AWG[\s-]?(\d{1,2}(?:/0)?)(?!\w)", r"\1 AWG"),
        (r"(?<=\d)\s?([ap])\.?m\.?(?![^\W_])", r" ⟨\1m⟩"),
    )
)
"""Ways to say in words what a sign or a unit says."""
_WORDED = re.compile(
    r"\b(?:than|least|most|up|over|above|under|below|minus|negative|cent|deg|degrees?|awg)|\d\s?[ap]\.?m", re.IGNORECASE
)


def in_one_spelling(name: str) -> str:
    """Write characters one way; every word, digit and sign stays."""
    if not name.isascii():
        name = unicodedata.normalize("NFC", SQUARED_UNITS.sub(lambda m: unicodedata.normalize("NFKC", m.group()), name))
        name = _VULGAR.sub(_in_figures, name)
        name = _RAISED.sub(lambda m: ("^" if m[1] else "") + m.group().translate(ON_THE_LINE), name)
        name = _EM_DASH.sub(" ; ", name).translate(_CLEANED)
        if not name.isascii():
            name = "".join(c if c in "µ°…\u00a0\u2009\u202f‰‱" else unicodedata.normalize("NFKC", c) for c in name)
            name = unicodedata.normalize("NFC", name).replace("μ", "µ").replace("⁄", "/")
            name = "".join(c for c in name if unicodedata.category(c) != "Cf")
            name = _OVERLINED.sub(_with_overline_before, name)
    if "&" in name:
        name = name.replace("&", " and ")
    if "_" in name:
        name = name.replace("_", " ")
    if "sb" in name or "SB" in name:
        name = USB_TYPE.sub(r"\1 \2", name)
    name = in_digits(name)
    if _WORDED.search(name):
        for pattern, said in _WORDINGS:
            name = pattern.sub(said, name)
    if "/" in name:
        name = _FRACTION.sub(_in_decimals, name)
    if (" " in name and name[:1].isdigit()) or not name[:1].isalnum():
        name = _GROUPED.sub(lambda m: m[1] + re.sub(r"\s", "", m[2]), name)
    if ("k" in name or "K" in name or "M" in name) and _RESISTIVE.search(name):
        name = re.sub(r"(?<![\w.])(\d{1,9}(?:\.\d{1,9})?)\s?([kKM])(?:\s?ohms?)?(?![^\W_])", r"\1 \2Ω", name)
    return name


def _in_figures(match: re.Match[str]) -> str:
    """`½` is 1/2, before a unit 0.5, and `5½` is 5.5."""
    over, _, under = unicodedata.normalize("NFKC", match[2]).partition("⁄")
    whole = match[1]
    unit, _ = unit_after(match.string, match.end())
    if (whole or unit) and int(under) in (2, 4, 8, 5):
        return f"{int(whole or 0) + int(over) / int(under):g}" if len(whole) < 6 else f"{whole} {over}/{under}"
    return f"{whole} {over}/{under}".strip()


def _in_decimals(match: re.Match[str]) -> str:
    over, under = int(match[2]), int(match[3])
    if over >= under or gcd(over, under) > 1:
        return match.group()
    return f"{int(match[1] or 0) + over / under:.10g} "


def _with_overline_before(match: re.Match[str]) -> str:
    """Write an overline once, before the word that it stands over: all letters of one word have it."""
    return "‾" + match.group().translate(_WITHOUT_OVERLINES)
