"""Names with known facts, spelled in many ways: what resolution is tested with.

A fact is drawn with the truth about it (a value that is equal for equal facts and for no others) and spelled at random in one of the ways
in which documents write it. The truth comes from the generator, never from the code under test.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random

__all__ = ["GeneratedName", "Truth", "corpus_names", "different_names", "same_names", "spell", "truth"]

SIZE_BY_PREFIX = {"p": -12, "n": -9, "µ": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9}
PREFIXES_BY_UNIT = {
    "V": ["µ", "m", "k", ""],
    "A": ["n", "µ", "m", "k", "M", ""],
    "W": ["µ", "m", "k", "M", ""],
    "Ω": ["m", "k", "M", ""],
    "Hz": ["m", "k", "M", "G", ""],
    "F": ["p", "n", "µ", "m"],
    "H": ["n", "µ", "m"],
    "s": ["n", "µ", "m", ""],
    "B": ["k", "M", "G", ""],
    "b": ["k", "M", "G"],
    "Pa": ["k", "M", ""],
    "m": ["n", "µ", "m", "k", ""],
    "Ah": ["m", ""],
}
UNITS_AS_THEY_ARE = ["°C", "%", "dB", "dBm", "ppm", "rpm", "VAC", "VDC", "lx", "K"]
ORDINAL_WORDS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
NUMBER_WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
ROMAN = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"]
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
LEADS = [
    "Supply", "Nano", "Sense board", "Portenta Carrier", "Sensor", "Motor Shield", "Carrier", "Input stage", "Battery pack",
    "Edge Control", "Wi-Fi module", "Core", "Flash memory", "Bus", "Regulator",
]  # fmt: skip
TAILS = ["", "", "", "output", "board", "connector", "interface", "range", "supply", "module"]
MODEL_LETTERS = "ABCDEFGKLNPQSTUXYZ"

Truth = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class GeneratedName:
    """A spelling, what it says (equal for equal things only), and which kind of fact it has."""

    name: str
    truth: Truth
    kind: str


def truth(random: Random) -> Truth:
    """Draw a fact: its kind, then what tells it from others of the kind."""
    return FACTS[random.choice(KINDS)][0](random)


def spell(fact: Truth, random: Random) -> str:
    """Write a fact in one of its ways."""
    return FACTS[str(fact[0])][1](fact, random)


def same_names(random: Random) -> tuple[GeneratedName, GeneratedName]:
    """Return two spellings of one name."""
    lead, tail, fact = random.choice(LEADS), random.choice(TAILS), truth(random)
    return _named(lead, fact, tail, random), _named(lead, fact, tail, random)


def different_names(random: Random) -> tuple[GeneratedName, GeneratedName]:
    """Return two names that differ in one fact and nothing else: as often as can be by little (another prefix, sign, digit)."""
    lead, tail, fact = random.choice(LEADS), random.choice(TAILS), truth(random)
    other = _near(fact, random)
    return _named(lead, fact, tail, random), _named(lead, other, tail, random)


def _named(lead: str, fact: Truth, tail: str, random: Random) -> GeneratedName:
    written = f"{random.choice([lead, lead, lead.lower(), lead.upper()])} {spell(fact, random)} {tail}".strip()
    return GeneratedName(written, (lead, fact, tail), str(fact[0]))


def _near(fact: Truth, random: Random) -> Truth:
    """Another fact of the same kind that differs in one thing, or in everything."""
    for _ in range(200):
        other = FACTS[str(fact[0])][0](random)
        one_off = tuple(
            b if i == at else a
            for at in [random.randrange(1, len(fact))]
            for i, (a, b) in enumerate(zip(fact, other, strict=True))
        )
        for candidate in random.sample([one_off, other], 2):
            if candidate != fact:
                return candidate
    raise AssertionError(f"no other fact of kind {fact[0]}")


# Numbers and units


def _digits(random: Random) -> Fraction:
    whole = random.choice([0, 1, 2, 3, 5, 10, 12, 24, 33, 100, 123, 260, 1000, 1260, random.randrange(1, 10000)])
    part = random.choice(["", "", "3", "5", "25", "05", "125"])
    value = Fraction(f"{whole}.{part or 0}")
    return value or Fraction(1)


def _decimal(value: Fraction, random: Random) -> str:
    """Write an exact decimal, with a comma or with separators now and then; only where that reads one way."""
    digits = 0
    while (value * 10**digits).denominator != 1:
        digits += 1
    plain = str(value.numerator * 10**digits // value.denominator).rjust(digits + 1, "0")
    whole, part = (plain[:-digits], plain[-digits:]) if digits else (plain, "")
    if len(whole) > 3 and random.random() < 0.3:
        separator = random.choice([",", "\u202f", "\u00a0"])
        groups = []
        while whole:
            groups.append(whole[-3:])
            whole = whole[:-3]
        whole = separator.join(reversed(groups))
        return f"{whole}.{part}" if part else whole
    if part and len(part) != 3 and random.random() < 0.25:
        return f"{whole},{part}"
    if part and random.random() < 0.1:
        return f"{whole}.{part}0" if len(part) != 2 else f"{whole}.{part}"
    return f"{whole}.{part}" if part else whole


def _unit(random: Random) -> str:
    return random.choice([*PREFIXES_BY_UNIT] * 3 + UNITS_AS_THEY_ARE)


def _measured(value: Fraction, unit: str, random: Random) -> tuple[str, str]:
    """Write a value with one of the prefixes of its unit; return number and unit as written."""
    if unit not in PREFIXES_BY_UNIT:
        return _decimal(value, random), unit
    for _ in range(8):
        prefix = random.choice(PREFIXES_BY_UNIT[unit])
        scaled = value / Fraction(10) ** SIZE_BY_PREFIX[prefix]
        if Fraction(1, 10**4) <= scaled <= 10**7 and (scaled * 10**6).denominator == 1:
            break
    else:
        prefix = next(
            p for p in PREFIXES_BY_UNIT[unit] if (value / Fraction(10) ** SIZE_BY_PREFIX[p]).numerator < 10**18
        )
        scaled = value / Fraction(10) ** SIZE_BY_PREFIX[prefix]
    written = {"µ": random.choice("µμu")}.get(prefix, prefix) + (
        random.choice(["Ω", "Ω", "ohm"]) if unit == "Ω" else unit
    )
    return _decimal(scaled, random), written


def _join(number: str, unit: str, random: Random) -> str:
    return f"{number}{random.choice(['', ' ', ' ', chr(0xA0)])}{unit}"


def _base_value(random: Random, unit: str) -> Fraction:
    prefixes = PREFIXES_BY_UNIT.get(unit, [""])
    return _digits(random) * Fraction(10) ** SIZE_BY_PREFIX[random.choice(prefixes)]


def _draw_quantity(random: Random) -> Truth:
    unit = _unit(random)
    return ("quantity", random.choice(["", "", "", "-", "±", "+", "<", "≥", "~"]), _base_value(random, unit), unit)


def _spell_quantity(fact: Truth, random: Random) -> str:
    _, sign, value, unit = fact
    written = {
        "-": random.choice(["-", "−"]),
        "±": random.choice(["±", "+/-", "± "]),
        "≥": random.choice(["≥", ">=", "≥ "]),
    }.get(str(sign), str(sign))
    assert isinstance(value, Fraction)
    return written + _join(*_measured(value, str(unit), random), random)


def _draw_range(random: Random) -> Truth:
    unit = _unit(random)
    low = _base_value(random, unit)
    return ("range", random.choice(["", "", "-"]), low, low * random.choice([2, 3, 5, 10]), unit)


def _spell_range(fact: Truth, random: Random) -> str:
    _, sign, low, high, unit = fact
    assert isinstance(low, Fraction) and isinstance(high, Fraction)
    minus = random.choice(["-", "−"]) if sign else ""
    number, written = _measured(low, str(unit), random)
    if random.random() < 0.5:
        top, top_unit = _measured(high, str(unit), random)
        return f"{minus}{_join(number, written, random)}{random.choice([' to ', ' – ', ' - ', '…'])}{_join(top, top_unit, random)}"
    size = Fraction(number_value(number)) and low / number_value(number)
    top = _decimal(high / size, random)
    return f"{minus}{number}{random.choice([' to ', ' – ', '–', '...'])}{_join(top, written, random)}"


def number_value(written: str) -> Fraction:
    """Read back a number that `_decimal` wrote."""
    plain = written.replace("\u202f", "").replace("\u00a0", "")
    if "," in plain and "." not in plain and len(plain.rpartition(",")[2]) != 3:
        plain = plain.replace(",", ".")
    return Fraction(plain.replace(",", ""))


def _draw_tolerance(random: Random) -> Truth:
    unit = random.choice(["V", "Ω", "A", "m"])
    value = _base_value(random, unit)
    return ("tolerance", value, unit, random.choice([1, 2, 5, 10, 20]))


def _spell_tolerance(fact: Truth, random: Random) -> str:
    _, value, unit, percent = fact
    assert isinstance(value, Fraction)
    measured = _join(*_measured(value, str(unit), random), random)
    return f"{measured} {random.choice(['±', '± ', '+/-', '+/- '])}{percent}{random.choice(['', ' '])}%"


def _draw_dimensions(random: Random) -> Truth:
    return ("dimensions", Fraction(random.randrange(1, 400), 1000), Fraction(random.randrange(1, 400), 1000))


def _spell_dimensions(fact: Truth, random: Random) -> str:
    _, width, height = fact
    assert isinstance(width, Fraction) and isinstance(height, Fraction)
    size, unit = random.choice([(1000, "mm"), (100, "cm"), (1, "m")])
    times = random.choice(["x", " x ", " × ", "×"])
    w, h = _decimal(width * size, random), _decimal(height * size, random)
    return random.choice([f"{w}{times}{h} {unit}", f"{w} {unit} x {h} {unit}", f"{w}{unit} × {h}{unit}"])


# Versions, ordinals, counts, dates, models


def _draw_version(random: Random) -> Truth:
    parts = [random.randrange(0, 13) for _ in range(random.choice([1, 2, 2, 3]))]
    return ("version", ".".join(map(str, parts)) + random.choice(["", "", "", "-rc1", "-rc2", "-beta"]))


def _spell_version(fact: Truth, random: Random) -> str:
    return random.choice(["v{}", "V{}", "v {}", "version {}", "Version {}", "ver. {}", "v.{}"]).format(fact[1])


def _draw_revision(random: Random) -> Truth:
    return (
        "revision",
        random.choice(
            [
                str(random.randrange(1, 11)),
                f"{random.randrange(1, 9)}.{random.randrange(0, 9)}",
                random.choice("ABCDEF"),
            ]
        ),
    )


def _spell_revision(fact: Truth, random: Random) -> str:
    value = str(fact[1])
    ways = ["Rev {}", "Rev. {}", "rev {}", "revision {}", "Revision {}", "REV-{}"]
    if value.isdigit():
        ways += ["Rev{}", "rev{}", "R{}"]
        if random.random() < 0.2:
            return f"{ORDINAL_WORDS[int(value) - 1]} revision"
    return random.choice(ways).format(value)


def _draw_mark(random: Random) -> Truth:
    return ("mark", random.randrange(1, 13))


def _spell_mark(fact: Truth, random: Random) -> str:
    number = int(str(fact[1]))
    return (
        random.choice(["Mk {}", "Mk. {}", "Mark {}", "mk{}", "MK-{}"]).format(number)
        if random.random() < 0.5
        else random.choice(["Mk {}", "Mark {}", "MK {}"]).format(ROMAN[number - 1])
    )


def _draw_numbered(random: Random) -> Truth:
    return ("numbered", random.choice(["edition", "generation"]), random.randrange(1, 11))


def _spell_numbered(fact: Truth, random: Random) -> str:
    noun, number = str(fact[1]), int(str(fact[2]))
    short = {"edition": "ed.", "generation": "Gen"}[noun]
    return random.choice(
        [
            f"{ORDINAL_WORDS[number - 1]} {noun}",
            f"{_nth(number)} {noun}",
            f"{noun} {number}",
            f"{noun.title()} {number}",
            f"{_nth(number)} {short}",
        ]
    )


def _nth(number: int) -> str:
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number if number < 20 else number % 10, 'th') }"


def _draw_ordinal(random: Random) -> Truth:
    return ("ordinal", random.randrange(1, 11))


def _spell_ordinal(fact: Truth, random: Random) -> str:
    number = int(str(fact[1]))
    return f"{random.choice([ORDINAL_WORDS[number - 1], ORDINAL_WORDS[number - 1].title(), _nth(number)])} stage"


def _draw_count(random: Random) -> Truth:
    return ("count", random.randrange(2, 13))


def _spell_count(fact: Truth, random: Random) -> str:
    number = int(str(fact[1]))
    return f"{random.choice([NUMBER_WORDS[number - 1], str(number), f'{number}x', f'{number} ×'])} {random.choice(['ESLOV connectors'])}"


def _draw_date(random: Random) -> Truth:
    return ("date", random.randrange(1950, 2030), random.randrange(1, 13), random.randrange(1, 29))


def _spell_date(fact: Truth, random: Random) -> str:
    year, month, day = (int(str(part)) for part in fact[1:])
    name = MONTHS[month - 1]
    return random.choice(
        [
            f"{year}-{month:02}-{day:02}",
            f"{day} {name} {year}",
            f"{name} {day}, {year}",
            f"{day} {name[:3]} {year}",
            f"{_nth(day) if day < 4 or (day > 20 and day < 24) or (day > 3 and day < 21) else day} {name} {year}",
        ]
    )


def _draw_model(random: Random) -> Truth:
    letters = "".join(random.choice(MODEL_LETTERS) for _ in range(random.choice([2, 3, 4])))
    return ("model", letters, str(random.randrange(10, 10000)), random.choice(["", "", "HB", "HH", "A", "C", "XI"]))


def _spell_model(fact: Truth, random: Random) -> str:
    _, letters, digits, suffix = fact
    joint = random.choice(["", "", "-"])
    return random.choice([str.upper, str.lower])(f"{letters}{joint}{digits}{suffix}")


def _draw_number(random: Random) -> Truth:
    return (
        "number",
        random.choice(
            [
                str(random.randrange(1, 3000)),
                f"{random.randrange(1, 9)}.{random.randrange(0, 30)}",
                f"{random.randrange(1, 9)}.{random.randrange(1, 9)}.{random.randrange(1, 30)}",
            ]
        ),
    )


def _spell_number(fact: Truth, random: Random) -> str:
    return f"port {fact[1]}"


FACTS = {
    "quantity": (_draw_quantity, _spell_quantity),
    "range": (_draw_range, _spell_range),
    "tolerance": (_draw_tolerance, _spell_tolerance),
    "dimensions": (_draw_dimensions, _spell_dimensions),
    "version": (_draw_version, _spell_version),
    "revision": (_draw_revision, _spell_revision),
    "mark": (_draw_mark, _spell_mark),
    "numbered": (_draw_numbered, _spell_numbered),
    "ordinal": (_draw_ordinal, _spell_ordinal),
    "count": (_draw_count, _spell_count),
    "date": (_draw_date, _spell_date),
    "model": (_draw_model, _spell_model),
    "number": (_draw_number, _spell_number),
}
KINDS = ["quantity"] * 5 + [kind for kind in FACTS if kind != "quantity"]


# A corpus


def corpus_names(count: int, *, seed: int) -> list[str]:
    """Make so many distinct names as a large corpus has them: words, words with facts, part numbers; a fifth are other spellings."""
    random = Random(seed)
    starts, vowels, ends = (
        ["b", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "z", "br", "tr", "st"],
        "aeiou",
        ["", "n", "r", "l", "x"],
    )
    words = [
        "".join(random.choice(starts) + random.choice(vowels) for _ in range(random.choice([2, 2, 3])))
        + random.choice(ends)
        for _ in range(6000)
    ]
    names: dict[str, None] = {}
    while len(names) < count:
        named = " ".join(random.choice(words).title() for _ in range(random.choice([1, 2, 2, 3])))
        kind = random.random()
        if kind < 0.3:
            named = f"{named} {spell(truth(random), random)}"
        elif kind < 0.55:
            named = f"{random.choice(words).upper()[:3]}-{random.randrange(100, 99999)} {named}"
        names[named] = None
        while random.random() < 0.25:
            names[_variant(named, random)] = None
    made = list(names)[:count]
    random.shuffle(made)
    return made


def _variant(name: str, random: Random) -> str:
    """The same name as another writer spells it, with a slip of the pen now and then."""
    at = random.randrange(len(name))
    ways = [name.replace(" ", "-", 1), name.lower(), f"{name}s", f"the {name}", name[:at] + name[at] + name[at:]]
    return random.choice(ways)
