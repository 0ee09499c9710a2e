"""Conditions of manual pages, followed as on a terminal: pandoc knows the plainest of them, and leaves out in silence what others choose.

`.if`, `.ie` and `.el` are followed with the registers and strings that the page has set up to there. A macro of the page's own that has
conditions is written as what it says with the arguments of each call.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterator

__all__ = ["with_followed_conditions"]

REQUEST = re.compile(r"[.'][ \t]*(if|ie|el)(?![A-Za-z])[ \t]*(.*)")
DEFINES = re.compile(
    r"[.'][ \t]*(?:do[ \t]+)?(de1?|dei1?|am1?|ami1?|ig)(?:[ \t]+(\S+)(?:[ \t]+(\S+))?)?[ \t]*(?:\\\".*)?$"
)
SETS_NUMBER = re.compile(r"[.'][ \t]*nr[ \t]+(\S+)[ \t]+([-+]?)(\S+)")
SETS_STRING = re.compile(r"[.'][ \t]*ds1?[ \t]+(\S+)(?:[ \t]+\"?(.*))?")
FAMILY = re.compile(r"\\+F(?:\[(?:[^\[\]]|\[[^\]]*\])*\]|\(..|\w)")
"""A change of the family of fonts, which pandoc writes as its letters, in a string that DocBook's pages put before each name."""
NAME = r"(?:\((?P<two>..)|\[(?P<long>[^\]\s]*)\]|(?P<one>[^\s(\[]))"
REGISTER = re.compile(rf"\\+n[-+]?{NAME}")
STRING = re.compile(rf"\\+\*{NAME}")
ESCAPED = re.compile(r"\\(?:[\"#].*|[{}]|.)")
TOKEN = re.compile(r"\d+(?:\.\d+)?[a-zA-Z]?|<=|>=|==|<>|[-+*/%<>=&:()!]")
OPENS = re.compile(r"\\\{[ \t]*(?:\\$)?")
ON_A_TERMINAL = {"n": True, "o": True, "t": False, "e": False, "v": False}
"""Conditions of one letter: nroff, an odd page, troff, an even page, vtroff."""
REGISTERS = {".g": 1, ".H": 24, ".V": 40, ".x": 1, ".y": 22, "cR": 1}
"""What groff sets on a terminal before a page says anything. Any other is 0."""
STRINGS = {".T": "utf8"}
ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|([^\s"]\S*)')
PARAMETER = re.compile(r"\\\$(?:\((\d\d)|\[(\d+)\]|([1-9*@]))")
SHIFTS = re.compile(r"[.'][ \t]*shift\b[ \t]*(\d{0,3})")
REMARK = re.compile(r"(?<!\\)\\\".*")
CALL = re.compile(r"[.'][ \t]*([^\s\\]+)[ \t]*(.*)")
HAS_CONDITION = re.compile(r"^[.'][ \t]*(?:if|ie|nop)\b", re.MULTILINE)
LOOPS = re.compile(r"^[.'][ \t]*(?:while|return)\b", re.MULTILINE)
SAYS = re.compile(r"\A[.'][ \t]*nop[ \t]+(.*)")
"""What stands behind it is a line of text."""
_LAYOUT_MACROS = "TH SH SS TP TQ IP HP PP P LP RS RE UR UE MT ME SY YS OP"
_FONT_MACROS = "B I BI BR IB IR RB RI SB SM EX EE TS TE"
KNOWN = frozenset(f"{_LAYOUT_MACROS} {_FONT_MACROS}".split())
"""Macros that pandoc reads by itself: what a page makes of them is how they look."""
DEEPEST = 20
"""Conditions within the line of a condition, macros within macros, brackets and signs of an expression within each other."""
MAX_CALLS = 20_000
"""Of a page, after which calls stay as they are: macros can call each other twice, and so on."""


def with_followed_conditions(page: str) -> str:
    """Return a page with what its conditions choose on a terminal, and not what they do not; those that cannot be told as they are."""
    if not HAS_CONDITION.search(page):
        return page
    return "\n".join(_Reading().followed(page.split("\n")))


class _Reading:
    """A page as far as it was read."""

    def __init__(self) -> None:
        self._numbers = dict(REGISTERS)
        self._strings = dict(STRINGS)
        self._defined: set[str] = set()
        self._macros: dict[str, list[str]] = {}
        """Those that have conditions, by their names."""
        self._definition: list[str] = []
        """The lines of the definition that is being read, its first one among them."""
        self._calls = 0
        self._chosen: list[bool | None] = []
        """What each `.ie` that has no `.el` yet chose; None: that cannot be told."""
        self._blocks: list[bool] = []
        """Of each block that is open, whether its braces are left in the page."""
        self._skipped = 0
        """Braces that are open in what was not chosen."""
        self._ends: str | None = None
        """What the definition that is being read ends with."""

    def followed(self, lines: list[str]) -> Iterator[str]:
        yield from self._lines(lines, depth=0)
        yield from self._definition

    def _lines(self, lines: list[str], *, depth: int) -> Iterator[str]:
        for line in lines:
            if self._skipped:
                self._skip(line)
            elif self._ends is not None:
                self._definition.append(line)
                if re.fullmatch(rf"[.'][ \t]*{re.escape(self._ends)}[ \t]*(?:\\\".*)?", line):
                    yield from self._defined_macro()
            else:
                yield from self._line(line, depth=depth)

    def _line(self, line: str, *, depth: int) -> Iterator[str]:
        request = REQUEST.match(line)
        if request is None or depth > DEEPEST:
            closed = self._without_closed(line)
            if self._begins_definition(closed):
                return
            self._note(closed)
            call = CALL.match(closed)
            if call and call[1] in self._macros and depth <= DEEPEST and self._calls < MAX_CALLS:
                yield from self._said(self._macros[call[1]], call[2], depth=depth)
            elif closed == line or closed.strip(".' \t"):
                yield FAMILY.sub("", closed) if SETS_STRING.match(closed) else SAYS.sub(r"\1", closed)
            return
        holds, rest = self._decided(request[1], request[2])
        if request[1] == "ie":
            self._chosen.append(holds)
        if holds is None:
            self._blocks += [True] * line.count(r"\{")
            yield self._without_closed(line)
        elif holds:
            if opened := OPENS.match(rest):
                self._blocks.append(False)
                rest = rest[opened.end() :]
            if rest:
                yield from self._line(rest, depth=depth + 1)
        else:
            self._skip(rest)

    def _begins_definition(self, line: str) -> bool:
        definition = DEFINES.match(line)
        if definition is None:
            return False
        is_ignored = definition[1] == "ig"
        self._ends = definition[2 if is_ignored else 3] or "."
        self._definition = [line]
        if not is_ignored:
            self._defined.add(definition[2] or "")
        return True

    def _defined_macro(self) -> Iterator[str]:
        """Keep a macro that has conditions; yield the lines of any other definition."""
        first, *body, _ = lines = self._definition
        self._definition, self._ends = [], None
        definition = DEFINES.match(first)
        name = (definition[2] or "") if definition and definition[1] != "ig" else ""
        adds = definition is not None and definition[1].startswith("am")
        text = "\n".join(body)
        has_conditions = HAS_CONDITION.search(text) or (adds and name in self._macros)
        if not name or name in KNOWN or not has_conditions or LOOPS.search(text):
            if not adds:
                self._macros.pop(name, None)
            yield from lines
            return
        copied = [line.replace("\\\\", "\\") for line in body]
        self._macros[name] = [*self._macros.get(name, ()), *copied] if adds else copied

    def _said(self, body: list[str], arguments: str, *, depth: int) -> Iterator[str]:
        """Yield what a macro says with the arguments of a call."""
        self._calls += 1
        given = [quoted.replace('""', '"') or plain for quoted, plain in ARGUMENT.findall(REMARK.sub("", arguments))]
        before, chosen = self._numbers.get(".$", 0), self._chosen
        self._numbers[".$"], self._chosen = len(given), []

        def argument(found: re.Match[str]) -> str:
            which = found[1] or found[2] or found[3]
            if which == "@":
                return " ".join(f'"{one}"' for one in given)
            return " ".join(given) if which == "*" else "".join(given[int(which) - 1 : int(which)])

        for line in body:
            shift = SHIFTS.match(line)
            if shift and not self._skipped:
                del given[: int(shift[1] or 1)]
                self._numbers[".$"] = len(given)
            else:
                yield from self._lines([PARAMETER.sub(argument, line)], depth=depth + 1)
        self._numbers[".$"], self._chosen = before, chosen

    def _decided(self, request: str, said: str) -> tuple[bool | None, str]:
        """Return whether what stands behind a condition is chosen (None: that cannot be told), and that."""
        if request == "el":
            before = self._chosen.pop() if self._chosen else True
            return (None if before is None else not before), said
        holds, rest = self._condition(said)
        return holds, rest.lstrip(" \t")

    def _condition(self, said: str) -> tuple[bool | None, str]:
        if said.startswith("!"):
            holds, rest = self._condition(said[1:].lstrip(" \t"))
            return (None if holds is None else not holds), rest
        if said[:1] in ("'", '"'):
            return self._equal(said)
        if named := re.match(r"([dr])[ \t]*(\S+)", said):
            known = self._numbers if named[1] == "r" else self._strings.keys() | self._defined
            return named[2] in known, said[named.end() :]
        if drawn := re.match(r"[cFS][ \t]*\S+", said):
            return True, said[drawn.end() :]
        if (holds := ON_A_TERMINAL.get(said[:1])) is not None and not said[1:2].isalpha():
            return holds, said[1:]
        if said[:1].isalpha():
            return None, said
        return self._number(said)

    def _equal(self, said: str) -> tuple[bool | None, str]:
        left, _, others = said[1:].partition(said[0])
        right, closing, rest = others.partition(said[0])
        if not closing or r"\w" in left + right:
            return None, said
        return self._read(left) == self._read(right), rest

    def _number(self, said: str) -> tuple[bool | None, str]:
        depth, end = 0, len(said)
        for at, letter in enumerate(said):
            if letter == "(" and not re.search(r"\\+[n*][-+]?$", said[max(0, at - 3) : at]):
                depth += 1
            elif letter == ")":
                depth -= 1
            elif depth <= 0 and (letter in " \t" or said.startswith(r"\{", at)):
                end = at
                break
        value = _value(self._read(said[:end]))
        return (None if value is None else value > 0), said[end:]

    def _read(self, text: str) -> str:
        """Write the registers and strings of a text as what they are."""
        text = STRING.sub(lambda found: self._strings.get(_name(found), ""), text)
        return REGISTER.sub(lambda found: str(self._numbers.get(_name(found), 0)), text)

    def _note(self, line: str) -> None:
        """Keep what a line sets or defines."""
        if number := SETS_NUMBER.match(line):
            value = _value(self._read(number[3]))
            if value is None:
                return
            before = self._numbers.get(number[1], 0)
            self._numbers[number[1]] = int({"+": before + value, "-": before - value}.get(number[2], value))
        elif string := SETS_STRING.match(line):
            self._strings[string[1]] = string[2] or ""

    def _without_closed(self, line: str) -> str:
        """Return a line without the braces that close a block whose condition is no longer there."""

        def kept(escaped: re.Match[str]) -> str:
            is_closed = escaped[0] == r"\}" and self._blocks
            return "" if is_closed and not self._blocks.pop() else escaped[0]

        return ESCAPED.sub(kept, line)

    def _skip(self, line: str) -> None:
        for escaped in ESCAPED.findall(line):
            self._skipped += {r"\{": 1, r"\}": -1}.get(escaped, 0)
        self._skipped = max(0, self._skipped)


def _name(found: re.Match[str]) -> str:
    return found["two"] or found["long"] or found["one"] or ""


def _value(expression: str) -> float | None:
    """Return what an expression is, read from left to right as troff does; None where it has anything but numbers or is beyond them."""
    tokens = deque(TOKEN.findall(expression))
    if not tokens or "".join(tokens) != "".join(expression.split()):
        return None
    value = _operation(tokens)
    return None if tokens or value is None or not math.isfinite(value) else value


def _operation(tokens: deque[str], depth: int = 0) -> float | None:
    value = _operand(tokens, depth)
    while tokens and tokens[0] != ")":
        operator = tokens.popleft()
        other = _operand(tokens, depth)
        if value is None or other is None or (operator in "/%" and not other):
            return None
        match operator:
            case "+":
                value += other
            case "-":
                value -= other
            case "*":
                value *= other
            case "/":
                value /= other
            case "%":
                value %= other
            case "<":
                value = float(value < other)
            case ">":
                value = float(value > other)
            case "<=":
                value = float(value <= other)
            case ">=":
                value = float(value >= other)
            case "=" | "==":
                value = float(value == other)
            case "&":
                value = float(value > 0 and other > 0)
            case ":":
                value = float(value > 0 or other > 0)
            case _:
                return None
    return value


def _operand(tokens: deque[str], depth: int) -> float | None:
    if not tokens or depth > DEEPEST:
        return None
    first = tokens.popleft()
    if first in "+-":
        value = _operand(tokens, depth + 1)
        return value if value is None or first == "+" else -value
    if first == "(":
        value = _operation(tokens, depth + 1)
        return value if tokens and tokens.popleft() == ")" else None
    return float(first.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")) if first[0].isdigit() else None
