"""Units of measurement as technical documents write them: a fixed list, because any word can be a unit to a library.

A symbol that is an ordinary word or a letter with many meanings (`in`, `C`, `G`) is in the list only where a prefix or a sign makes it
plain. pint says what a unit measures.
"""

from __future__ import annotations

import hashlib
import json
import os
import unicodedata
from fractions import Fraction
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from platformdirs import user_cache_path

from kgrag.common.kept_files import keep_file

if TYPE_CHECKING:
    from pint import UnitRegistry

__all__ = ["SYMBOLS", "UNIT_CASEFOLDS", "canonical_unit", "converted", "dimension", "scale"]

PREFIXES_BY_SYMBOL = {
    symbol: prefixes
    for prefixes, symbols in {
        "pnµmkMG": "V A W Ω ohm Ohm",
        "mkMGT": "Hz",
        "pnµm": "F H s",
        "µm": "S mol",
        "nµmcdk": "m",
        "µmk": "g",
        "mhkMG": "Pa",
        "µmkM": "J",
        "mk": "N Ah",
        "nµm": "T",
        "kMGT": "B b bit bps B/s b/s bit/s",
        "kM": "SPS Sps sps",
        "mkM": "Wh VA",
        "m": "bar lm cd",
        "KMGT": "iB",
    }.items()
    for symbol in symbols.split()
}
"""Which prefixes a symbol is met with."""

WITHOUT_PREFIX = """
    V A W Ω Hz s m g Pa J cal kcal
    B bit bps B/s bit/s SPS Ah Wh VA bar lm cd K °C °F ° % ‰ ppm ppb rpm psi dB dBm dBi dBA dBc dBV lx h min m/s
    km/h litre m/s² m/s2 N·m Nm mNm µg/m³ mg/m³ g/cm³ mm² cm² m² mm³ cm³ VDC VAC Vdc Vac Vpp Vrms mVpp mVrms AWG dps mdps °/s LSB MIPS DMIPS
    fps FPS baud RH %RH µV/°C mV/°C ppm/°C %/°C inch px DPI dpi V/m W/m²
"""

WORDS_BY_SYMBOL = {
    "V": "volt volts",
    "A": "amp amps ampere amperes",
    "W": "watt watts",
    "Hz": "hertz",
    "Ω": "ohm ohms",
    "F": "farad farads",
    "H": "henry henries henrys",
    "s": "second seconds",
    "m": "metre metres meter meters",
    "g": "gram grams",
    "Pa": "pascal pascals",
    "J": "joule joules",
    "N": "newton newtons",
    "T": "tesla teslas",
    "lm": "lumen lumens",
    "B": "byte bytes",
    "bit": "bit bits",
    "bar": "bar bars",
    "Wh": "watt-hour watt-hours",
    "Ah": "amp-hour amp-hours ampere-hour ampere-hours",
}
WORDS_OF_PREFIXES = {
    "p": "pico", "n": "nano", "µ": "micro", "m": "milli", "c": "centi", "d": "deci", "h": "hecto", "k": "kilo", "M": "mega", "G": "giga",
    "T": "tera",
}  # fmt: skip
ONLY_WITH_PREFIX = frozenset("F H N T bar".split())  # noqa: SIM905
"""Whose word alone is something else as often: `8 Tesla cards`, `Henry`, `two bars`."""
OTHER_WORDS = {
    "V": "v",
    "kΩ": "kohms kOhms kilohm kilohms",
    "MΩ": "Mohms MOhms megohm megohms",
    "s": "sec secs",
    "ms": "msec msecs",
    "µs": "usec usecs",
    "min": "minute minutes mins",
    "h": "hour hours hr hrs",
    "day": "day days",
    "week": "week weeks",
    "month": "month months",
    "year": "year years",
    "µm": "micron microns",
    "K": "kelvin kelvins",
    "baud": "Bd",
    "rpm": "RPM",
    "kcal": "Kcal",
    "%": "percent",
    "°": "degree degrees",
    "°C": "℃ degC",
    "°F": "℉ degF",
    "dB": "decibel decibels",
    "lx": "lux",
    "inch": "inch inches ″",
    "px": "pixel pixels",
    "litre": "litre litres liter liters",
    "mm²": "mm2",
    "cm²": "cm2",
    "µg/m³": "µg/m3",
}
SCALES = {"°C": "C celsius centigrade", "°F": "F fahrenheit"}
SHORTEST_WORD = 3


def _as_words() -> dict[str, str]:
    """The ways in which units are written as words, to their symbols: `kilowatts`, `Volts`, `degrees Celsius`."""
    found: dict[str, str] = {}
    for symbol, words in WORDS_BY_SYMBOL.items():
        for prefix in ("", *PREFIXES_BY_SYMBOL[symbol]):
            if prefix in WORDS_OF_PREFIXES or (not prefix and symbol not in ONLY_WITH_PREFIX):
                found |= {f"{WORDS_OF_PREFIXES.get(prefix, '')}{word}": prefix + symbol for word in words.split()}
    for symbol, words in OTHER_WORDS.items():
        found |= dict.fromkeys(words.split(), symbol)
    for symbol, names in SCALES.items():
        for name in names.split():
            found |= {
                f"{degrees} {written}": symbol
                for degrees in ("degree", "degrees", "deg")
                for written in {name, name.title()}
            }
    plain = {word: symbol for word, symbol in found.items() if len(word) >= SHORTEST_WORD and word.islower()}
    return found | {form: symbol for word, symbol in plain.items() for form in (word.title(), word.upper())}


SAME_AS = _as_words() | {"% RH": "%RH"}
UNIT_WORDS = "|".join(
    sorted((word for word in SAME_AS if word.isalpha() and word.islower() and len(word) > SHORTEST_WORD), key=len)[::-1]
)
"""The words of units, the longest first, as a part of patterns: `milliseconds|...`."""

ONLY_AS_CASE = "Cal L l d in ft mil eV keV MeV Gal G C F H S N T b kvar"
"""Symbols too ambiguous to make a quantity, whose case still matters after a number."""

PINT_NAMES = {
    "Ω": "ohm", "°C": "degC", "°F": "degF", "b": "bit", "bps": "bit/s", "B": "byte", "iB": "byte", "lx": "lux",
    "SPS": "1/s", "Sps": "1/s", "sps": "1/s", "fps": "1/s", "FPS": "1/s", "Ah": "A*hour", "Wh": "W*hour", "VA": "V*A",
    "VDC": "V", "VAC": "V", "Vdc": "V", "Vac": "V", "Vpp": "V", "Vrms": "V", "h": "hour", "Nm": "N*m", "N·m": "N*m",
    "m/s2": "m/s**2", "m/s²": "m/s**2", "min": "minute", "g": "gram",
}  # fmt: skip
"""Symbols that pint calls otherwise, to be put behind a prefix where there is one."""

DIMENSION_BY_SYMBOL = {
    "°": "angle", "%": "share", "‰": "share",
    "ppm": "share", "ppb": "share", "RH": "humidity", "%RH": "humidity", "x": "count", "px": "pixels",
    "dps": "angular rate", "mdps": "angular rate", "°/s": "angular rate", "rpm": "angular rate",
    "dB": "level", "dBm": "level", "dBi": "level", "dBA": "level", "dBc": "level", "dBV": "level",
}  # fmt: skip
"""What pint takes to have no dimension, or the dimension of a frequency."""

DIMENSION_BY_PINT_UNIT = {
    "volt": "voltage", "ampere": "current", "watt": "power", "ohm": "resistance", "farad": "capacitance", "henry": "inductance",
    "hertz": "frequency", "second": "time", "meter": "length", "gram": "mass", "pascal": "pressure", "joule": "energy",
    "newton": "force", "kelvin": "temperature", "coulomb": "charge", "siemens": "conductance",
    "meter/second": "speed", "meter/second**2": "acceleration", "meter**2": "area", "meter**3": "volume", "gram/meter**3": "density",
    "tesla": "magnetic field", "lux": "illuminance", "lumen": "luminous flux", "candela": "luminous intensity",
}  # fmt: skip


def _symbols() -> dict[str, str]:
    symbols = {symbol: symbol for symbol in WITHOUT_PREFIX.split()} | SAME_AS
    for base, prefixes in PREFIXES_BY_SYMBOL.items():
        written = base.replace("ohm", "Ω").replace("Ohm", "Ω")
        for prefix in prefixes:
            symbols[prefix + base] = prefix + written
            if prefix == "µ":
                symbols["μ" + base] = symbols["u" + base] = prefix + written
            if prefix == "k":
                symbols["K" + base] = prefix + written
    return symbols


_SCALED = {
    prefix + base: (prefix, base)
    for base, prefixes in PREFIXES_BY_SYMBOL.items()
    for prefix in prefixes
    if base.casefold() != "ohm"
} | {
    "kcal": ("k", "cal"), "mNm": ("m", "Nm"), "mVpp": ("m", "Vpp"), "mVrms": ("m", "Vrms"), "mdps": ("m", "dps"),
}  # fmt: skip
SYMBOLS = _symbols()
"""Every unit that is recognised, as written, to the one way of writing it."""

UNIT_CASEFOLDS = frozenset(
    unicodedata.normalize("NFKC", symbol).casefold() for symbol in (*SYMBOLS, *ONLY_AS_CASE.split()) if symbol.isalpha()
)
"""Words that may be a unit when a number stands before them, whatever their case."""


def canonical_unit(symbol: str) -> str:
    """Write a unit the one way: `uA` → `µA`, `KB` → `kB`, `Volts` → `V`; an unknown one as it is."""
    return SYMBOLS.get(symbol) or SAME_AS.get(symbol.lower() if len(symbol) > 2 else symbol, symbol)


CONVERTED = {
    "min": "s", "h": "s", "day": "s", "week": "s", "inch": "m", "ft": "m", "bar": "Pa", "psi": "Pa",
    "bit": "b", "bps": "b/s", "bit/s": "b/s",
}  # fmt: skip
"""Symbols of one quantity whose sizes pint relates. Months and years have no fixed length, VA is not W, VAC is not VDC: not here."""


def scale(unit: str) -> tuple[Fraction, str]:
    """Split a canonical unit into its size and the unit it is a multiple of: `mV` → (1/1000, V), `min` → (60, s), `°C` → (1, °C).

    Two quantities are the same when value times size and the second part are equal. Exact: pint computes with fractions.
    """
    known = _known_units().get(unit)
    return known[1] if known is not None else _scale(unit)


@lru_cache(maxsize=4096)
def _scale(unit: str) -> tuple[Fraction, str]:
    prefix, base = _SCALED.get(unit, ("", unit))
    if not prefix and base not in CONVERTED:
        return Fraction(1), base
    exact = _exact_registry()
    size = Fraction(1)
    if prefix:
        # The size of a prefix is that of a prefixed metre: not every symbol here is one of pint's.
        size = (
            Fraction(1024) ** ("KMGT".index(prefix) + 1)
            if base == "iB"
            else Fraction(exact.Quantity(Fraction(1), f"{prefix}m").to("m").magnitude)
        )
    if base in CONVERTED:
        target = CONVERTED[base]
        if target not in ("b", "b/s"):
            size *= Fraction(exact.Quantity(Fraction(1), _pint_name(base)).to(target).magnitude)
        base = target
    return size, "B" if base == "iB" else base


def dimension(unit: str) -> str:
    """Say what a canonical unit measures: `hPa` → pressure; "" where that is not known."""
    known = _known_units().get(unit)
    return known[0] if known is not None else _dimension(unit)


@lru_cache(maxsize=1024)
def _dimension(unit: str) -> str:
    if unit in DIMENSION_BY_SYMBOL:
        return DIMENSION_BY_SYMBOL[unit]
    from pint.errors import PintError

    try:
        measured = _registry().Unit(_pint_name(unit))
    except (PintError, ValueError, TypeError):
        return ""
    if measured.dimensionless:
        return "data" if "bit" in str(measured) or "byte" in str(measured) else ""
    if "bit" in str(measured) or "byte" in str(measured):
        return "data rate"
    return _dimension_names().get(str(measured.dimensionality), "")


Known = tuple[str, tuple[Fraction, str]]
"""Dimension and scale of a unit."""


@lru_cache(maxsize=1)
def _known_units() -> dict[str, Known]:
    """Return what pint says of every unit in SYMBOLS: from a file in the user's cache folder, written by the first process that asks.

    pint takes half a second to import and to read its definitions, in each process.
    """
    file, units = _known_units_file(), sorted(set(SYMBOLS.values()))
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))
        read = {unit: (measured, (Fraction(size), base)) for unit, measured, size, base in rows}
    except (OSError, ValueError, TypeError):
        read = {}
    if [*read] == units:  # else it is not there, or not whole
        return read
    known = {unit: (_dimension(unit), _scale(unit)) for unit in units}
    rows = [[unit, measured, str(size), base] for unit, (measured, (size, base)) in known.items()]
    keep_file(file, json.dumps(rows, ensure_ascii=False).encode())
    return known


def _known_units_file() -> Path:
    """Name the file by all that its content depends on: pint's version and this module."""
    of = f"{version('pint')} {hashlib.sha256(Path(__file__).read_bytes()).hexdigest()}"
    return user_cache_path("kgrag", appauthor=False) / f"units-{hashlib.sha256(of.encode()).hexdigest()[:16]}.json"


def _pint_name(unit: str) -> str:
    if unit in PINT_NAMES:
        return PINT_NAMES[unit]
    if "/" in unit:
        top, _, bottom = unit.partition("/")
        return f"({_pint_name(top)})/({_pint_name(bottom)})"
    if unit[-1:] in ("²", "³"):
        return f"({_pint_name(unit[:-1])})**{'23'['²³'.index(unit[-1])]}"
    if unit[:1] in "pnµmcdhkKMGT" and unit[1:] in PINT_NAMES:
        # The prefix changes the size, never the dimension.
        return PINT_NAMES[unit[1:]]
    return unit


@lru_cache(maxsize=1)
def _registry() -> UnitRegistry[Any]:
    from pint import UnitRegistry

    return UnitRegistry(cache_folder=_cache_folder())


@lru_cache(maxsize=1)
def _exact_registry() -> UnitRegistry[Any]:
    from pint import UnitRegistry

    return UnitRegistry(non_int_type=Fraction, cache_folder=_cache_folder())


@lru_cache(maxsize=1)
def _dimension_names() -> dict[str, str]:
    registry = _registry()
    return {str(registry.Unit(unit).dimensionality): name for unit, name in DIMENSION_BY_PINT_UNIT.items()}


def converted(value: float, unit: str, into: str) -> float | None:
    """Convert a value from one canonical unit into another by pint, offsets included; None where they measure different things."""
    from pint.errors import PintError

    try:
        return float(_registry().Quantity(value, _pint_name(unit)).to(_pint_name(into)).magnitude)
    except (PintError, ValueError, TypeError, AttributeError):
        return None


def _cache_folder() -> Path | None:
    """Return where pint keeps its definitions as read (0.2 s of each process, else), or None where nothing can be kept.

    What pint keeps names its own files by their paths: each installation has a folder of its own, as another may be gone tomorrow.
    """
    import pint

    installation = hashlib.sha256(f"{pint.__version__} {pint.__file__}".encode()).hexdigest()[:16]
    folder = user_cache_path("kgrag", appauthor=False) / "pint" / installation
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None
