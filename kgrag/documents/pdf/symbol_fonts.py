"""What the characters of symbol fonts show: their codes are those of letters, or for private use, and say nothing by themselves.

Source: Adobe's encoding of the font Symbol (PDF 32000-1, annex D.5), the glyphs of Wingdings as Unicode names them (ISO/IEC 10646, N4384),
and Adobe's corporate use area.
"""

from __future__ import annotations

import re

__all__ = ["IN_PRIVATE_USE", "as_shown", "in_symbol"]

_SYMBOL = re.compile(r"symbol", re.IGNORECASE)
_WINGDINGS = re.compile(r"wingdings(?![ -]?[23])", re.IGNORECASE)
_PRIVATE = re.compile("[\uf020-\uf0ff]")
_CONTROL = re.compile("[\x80-\x9f]")
_LOWER = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"
_UPPER = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"
_SIGNS = "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|—↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑"
"""From code 161 on."""
_SYMBOLS = {
    **dict(zip(map(chr, range(65, 91)), _UPPER, strict=True)),
    **dict(zip(map(chr, range(97, 123)), _LOWER, strict=True)),
    **dict(zip(map(chr, range(161, 161 + len(_SIGNS))), _SIGNS, strict=True)),
    "\xf1": "〉",
    "\xf2": "∫",
    "-": "−",
}
_PICTURES = {
    "l": "●",
    "n": "■",
    "q": "□",
    "o": "☐",
    "¨": "☐",
    "x": "☒",
    "ý": "☒",
    "þ": "☑",
    "u": "◆",
    "v": "❖",
    "w": "◆",
    "§": "▪",
    "Ø": "➢",
    "ü": "✓",
    "û": "✗",
    "à": "→",
    "ß": "←",
    "è": "➔",
    "ð": "⇨",
}
IN_PRIVATE_USE = {"\uf8e7": "—", "\uf8e8": "®", "\uf8e9": "©", "\uf8ea": "™"}
"""Adobe's own codes for glyphs of Symbol."""


def as_shown(word: str, font: str) -> str:
    """Return a word of a font with the signs that its characters show; unchanged where nothing says which.

    Office programs write the characters of symbol fonts as codes for private use, also within a word of another font. One that stands
    alone there is a bullet or a box of Wingdings where that has one.
    """
    if _WINGDINGS.search(font):
        plain = _PRIVATE.sub(_code, word)
        if _CONTROL.fullmatch(plain):
            return "•"
        first, rest = plain[:1], plain[1:]
        # A word has the font of its first character: what stands behind a picture is text.
        is_picture = not rest or not first.isalpha() or rest[0].isupper()
        return _PICTURES.get(first, first) + rest if is_picture else plain
    if len(word) == 1 and _PRIVATE.match(word) and not _SYMBOL.search(font):
        code = chr(ord(word) - 0xF000)
        return _PICTURES.get(code, in_symbol(code))
    return _PRIVATE.sub(lambda found: in_symbol(_code(found)), word)


def in_symbol(character: str) -> str:
    """Return what a character of the font Symbol shows."""
    return _SYMBOLS.get(character, character)


def _code(found: re.Match[str]) -> str:
    return chr(ord(found[0]) - 0xF000)
