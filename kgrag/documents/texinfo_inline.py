"""What stands within a paragraph of Texinfo: `@code{...}`, references, footnotes, accents, signs."""

from __future__ import annotations

import re
import unicodedata
from html import escape, unescape
from types import MappingProxyType

__all__ = ["Inline"]

TOKEN = re.compile(r"@(?P<name>[A-Za-z]+)(?P<brace>\s*\{)?|@(?P<sign>[^A-Za-z])(?P<open>\{)?|[{}]|[^@{}]+", re.DOTALL)
SIGNS = MappingProxyType(
    {
        "dots": "…",
        "enddots": "....",
        "bullet": "•",
        "copyright": "©",
        "registeredsymbol": "®",
        "result": "⇒",
        "expansion": "↦",
    }
    | {
        "print": "⊣",
        "error": "error→",
        "equiv": "≡",
        "point": "∗",
        "minus": "−",
        "pounds": "£",
        "euro": "€",
        "textdegree": "°",
    }
    | {
        "arrow": "→",
        "tie": " ",
        "comma": ",",
        "atchar": "@",
        "lbracechar": "{",
        "rbracechar": "}",
        "backslashchar": "\\",
    }
    | {
        "hashchar": "#",
        "ampchar": "&",
        "TeX": "TeX",
        "LaTeX": "LaTeX",
        "today": "",
        "click": "→",
        "geq": "≥",
        "leq": "≤",
    }
    | {
        "aa": "å",
        "AA": "Å",
        "ae": "æ",
        "AE": "Æ",
        "oe": "œ",
        "OE": "Œ",
        "o": "ø",
        "O": "Ø",
        "l": "ł",
        "L": "Ł",
        "ss": "ß",
    }
    | {"dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ", "exclamdown": "¡", "questiondown": "¿", "ordf": "ª", "ordm": "º"}
    | {
        "quotedblleft": "“",
        "quotedblright": "”",
        "quoteleft": "‘",
        "quoteright": "’",
        "quotedblbase": "„",
        "quotesinglbase": "‚",
    }
    | {"guillemetleft": "«", "guillemetright": "»", "guilsinglleft": "‹", "guilsinglright": "›"}
)
"""Commands that stand for a sign."""
ACCENTS = MappingProxyType(
    {'"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "=": "\u0304", ",": "\u0327"}
    | {"v": "\u030c", "u": "\u0306", "H": "\u030b", "ringaccent": "\u030a", "dotaccent": "\u0307", "ogonek": "\u0328"}
    | {"ubaraccent": "\u0331", "udotaccent": "\u0323", "tieaccent": "\u0361"}
)
TYPED = frozenset(
    ["code", "samp", "kbd", "key", "file", "command", "option", "env", "verb", "t", "indicateurl", "math"]
)
"""Set in a typewriter font: two hyphens are two hyphens."""
SHOWN = frozenset(
    [
        "var",
        "emph",
        "strong",
        "dfn",
        "cite",
        "i",
        "b",
        "r",
        "sc",
        "sansserif",
        "slanted",
        "asis",
        "w",
        "dmn",
        "caption",
        "shortcaption",
        "titlefont",
        "headitemfont",
        "sub",
        "dotless",
    ]
)
REFERENCES = frozenset(["ref", "xref", "pxref", "inforef", "link"])
SAID = MappingProxyType({"xref": "See ", "pxref": "see ", "inforef": "See "})
MAX_DEPTH = 60


class Inline:
    """Writes paragraphs as HTML."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        """What `@set` says."""
        self.aliases: dict[str, str] = {}
        self.unknown: dict[str, None] = {}
        """Commands that are not known; what they enclose is read."""
        self._footnotes: list[str] = []

    def html(self, text: str, *, typed: bool = False) -> str:
        """Return a text as HTML."""
        parts, _ = self._read(text, 0, typed=typed, depth=0, closes=False)
        return "".join(parts)

    def plain(self, text: str) -> str:
        """Return a text without its commands."""
        return " ".join(unescape(re.sub(r"<[^>]+>", "", self.html(text))).split())

    def anchor(self, node: str) -> str:
        """Return the id of a node, or of an anchor."""
        return "-".join(self.plain(node).split())

    def take_footnotes(self) -> list[str]:
        """Return the footnotes of what was read since."""
        notes, self._footnotes = self._footnotes, []
        return notes

    def _read(self, text: str, at: int, *, typed: bool, depth: int, closes: bool) -> tuple[list[str], int]:
        """Read up to the brace that closes, or to the end."""
        parts: list[str] = []
        while found := TOKEN.match(text, at):
            at = found.end()
            if found[0] == "}":
                if closes:
                    break
                parts.append("}")
            elif found[0] == "{":
                parts.append("{")
            elif found["name"]:
                written, at = self._command(found, text, at, typed=typed, depth=depth)
                parts.append(written)
            elif found["sign"]:
                written, at = self._sign(found, text, at)
                parts.append(written)
            else:
                parts.append(escape(found[0] if typed else _typeset(found[0])))
        return parts, at

    def _command(self, found: re.Match[str], text: str, at: int, *, typed: bool, depth: int) -> tuple[str, int]:
        name = self.aliases.get(found["name"], found["name"])
        if not found["brace"]:
            # `@item @code` and the like, and commands that are left in a line: what stands beside them is text.
            return "", at
        if depth > MAX_DEPTH:
            return "", at
        parts, end = self._read(text, at, typed=typed or name in TYPED, depth=depth + 1, closes=True)
        inner, raw = "".join(parts), text[at : end - 1]
        if name in SIGNS:
            return escape(SIGNS[name]), end
        if name == "value":
            value = self.values.get(raw.strip())
            return (self.html(value, typed=typed) if value is not None and depth < 5 else escape(raw)), end
        if name in ACCENTS:
            return _accented(inner, ACCENTS[name]), end
        if name == "U":
            return (escape(chr(int(raw, 16))) if re.fullmatch(r"[0-9A-Fa-f]{2,5}", raw.strip()) else ""), end
        if name == "footnote":
            self._footnotes.append(inner)
            return "", end
        if name == "anchor":
            return f'<a id="{escape(self.anchor(raw), quote=True)}"></a>', end
        if name in REFERENCES:
            return self._reference(name, raw), end
        if name in ("uref", "url", "email"):
            return self._address(name, raw), end
        if name in ("acronym", "abbr"):
            short, _, meaning = inner.partition(",")
            return (f"{short} ({meaning.strip()})" if meaning.strip() else short), end
        if name == "image":
            said = [*raw.split(","), *[""] * 4][3].strip()
            return escape(said), end
        if name.startswith("inline"):
            return (inner.partition(",")[2].strip() if raw.startswith(("info", "plaintext")) else ""), end
        if name == "sup":
            return f"<sup>{inner}</sup>", end
        if name == "errormsg":
            return "", end
        if name not in TYPED and name not in SHOWN:
            self.unknown[f"@{name}"] = None
        return inner, end

    def _reference(self, name: str, raw: str) -> str:
        node, _, title, file, manual = [part.strip() for part in [*raw.split(","), *[""] * 5]][:5]
        manual = manual or file
        shown = self.html(title or node)
        if manual or name == "inforef":
            of = f" in {self.html(manual)}" if manual else ""
            return f"{SAID.get(name, '')}{shown}{of}"
        return f'{SAID.get(name, "")}<a href="#{escape(self.anchor(node), quote=True)}">{shown}</a>'

    def _address(self, name: str, raw: str) -> str:
        address, said, instead = [part.strip() for part in [*raw.split(","), *[""] * 3]][:3]
        address = self.plain(address.replace("--", "@w{-}@w{-}"))
        shown = self.html(instead or said) or escape(address)
        return shown if name == "email" else f'<a href="{escape(address, quote=True)}">{shown}</a>'

    def _sign(self, found: re.Match[str], text: str, at: int) -> tuple[str, int]:
        sign = found["sign"]
        if sign in "@{}.!?&\\":
            return escape(sign) + ("{" if found["open"] else ""), at
        if sign == "*":
            return "<br>", at
        if sign in ACCENTS:
            if found["open"]:
                parts, end = self._read(text, at, typed=True, depth=MAX_DEPTH, closes=True)
                return _accented("".join(parts), ACCENTS[sign]), end
            return _accented(text[at : at + 1], ACCENTS[sign]), at + 1
        return (" " if sign.isspace() else "") + ("{" if found["open"] else ""), at


def _typeset(text: str) -> str:
    return text.replace("``", "“").replace("''", "”").replace("---", "—").replace("--", "–")


def _accented(base: str, mark: str) -> str:
    return unicodedata.normalize("NFC", base[:1] + mark + base[1:])
