"""A corpus of any size that reads like technical documentation: products, parts, sections, tables, mentions of each other.

The same `count` and `seed` give the same passages. Parts are shared between products by a Zipf law, so that there are hubs and rare
names; a fifth of the part numbers are ten times another one (KTR-41 and KTR-410), as in real product lines.
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Passage", "Planted", "passages", "planted_questions", "questions", "write_passages"]

PASSAGES_PER_PRODUCT = 31
"""As in the Arduino corpus: 2,138 chunks of 68 products."""
PRODUCTS_PER_FAMILY = 12
PARTS_PER_PRODUCT = 6
ZIPF_EXPONENT = 1.1
SENTENCES = (3, 6)
TABLE_SHARE = 0.25
"""Passages that end in a table."""
MENTION_SHARE = 0.3
"""Passages that mention another product by its name."""

CONSONANTS, VOWELS = "bdfgklmnprstv", "aeiou"
KINDS = (
    "pressure sensor",
    "humidity sensor",
    "motor driver",
    "radio module",
    "power regulator",
    "converter",
    "memory",
    "display driver",
)
UNITS = (
    ("supply current", "mA", 0.1, 400),
    ("supply voltage", "V", 0.9, 36),
    ("clock", "MHz", 1, 480),
    ("range", "hPa", 200, 4000),
    ("output current", "A", 0.1, 5),
    ("resistance", "kΩ", 0.1, 470),
    ("temperature", "°C", -40, 125),
    ("data rate", "kbit/s", 10, 4000),
)
SECTIONS = (
    "Description",
    "Features",
    "Ratings",
    "Power",
    "Processor",
    "Interfaces",
    "Pinout",
    "Sensors",
    "Radio",
    "Firmware",
    "Calibration",
    "Mechanical data",
    "Application examples",
    "Board operation",
    "Troubleshooting",
    "Error codes",
)
SENTENCE_FORMS = (
    "The {product} carries the {kind} {part}, whose {quantity} is {value}.",
    "At a {quantity} of {value} the {part} stays within its limits; beyond {value2} the {product} reports error E-{code}.",
    "The {part} is connected to bus {small} of the {product} and answers at address 0x{hex}.",
    "A typical {quantity} of {value} is reached after {small} s, and {value2} is the upper limit for continuous use.",
    "The {part} is a {kind} that the {product} switches off in standby to save {current}.",
    "Before replacing the {part}, disconnect the supply of the {product} and wait {small} s.",
    "Pin D{small} selects between {value} and {value2} when the {product} starts.",
    "Firmware {small}.{code} of the {product} reads the {part} every {small} ms and averages {code} readings.",
    "Revision {small} of the {product} replaced the {part2} by the {part}, which changes the {quantity} from {value2} to {value}.",
    "Up to {small} boards can share one bus as long as the {quantity} of each stays below {value}.",
    "The {kind} {part} needs {voltage}; the {product} derives it from its own {voltage2} rail.",
    "When the {quantity} exceeds {value}, the alarm output of the {product} is set until it falls below {value2}.",
)
MENTION_FORMS = (
    "For longer cables use the {other} instead.",
    "The {product} can be stacked on the {other}, which supplies it.",
    "Compared with the {other}, the {product} halves the {quantity}.",
    "The wiring is the same as that of the {other}.",
)
QUESTION_FORMS = (
    "What is the {quantity} of the {part} on the {product}?",
    "Which {kind} does the {product} carry?",
    "What does error E-{code} of the {product} mean?",
    "How does the {product} differ from the {other} in {quantity}?",
    "Which products use the {part}?",
)
PART = re.compile(r"\b[A-Z]{3}-\d+\b")
MOST_GOLD = 3
STACKED = re.compile(r"can be stacked on the (.+?), which supplies it\.")
PLANTED_FORMS = {
    "direct": "What is the {quantity} of the {part} on the {product}?",
    "neighbour": "What is the {quantity} of the {part} on the board that supplies the {product}?",
}


@dataclass(frozen=True, slots=True)
class Passage:
    """One line of a `.jsonl` file of ready passages (docs/documents.md)."""

    id: str
    title: str
    text: str
    product: str
    category: str


@dataclass(frozen=True, slots=True)
class Planted:
    """A question, and the ids of the passages that have its answer."""

    kind: str
    """`direct`: they are of the product that the question names; `neighbour`: of another one, which a passage of that product names."""
    question: str
    passages: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    kind: str


def passages(count: int, *, seed: int = 0) -> Iterator[Passage]:
    """Yield `count` passages, product by product."""
    catalogue = _Catalogue(count, seed)
    for index in range(count):
        number, section = divmod(index, PASSAGES_PER_PRODUCT)
        yield catalogue.passage(number, section)


def questions(number: int, *, count: int, seed: int = 0) -> list[str]:
    """Ask `number` questions about the products of the corpus of `count` passages."""
    catalogue = _Catalogue(count, seed)
    chance = random.Random(f"{seed} questions")
    found = []
    for i in range(number):
        product = chance.randrange(len(catalogue.products))
        found.append(QUESTION_FORMS[i % len(QUESTION_FORMS)].format(**catalogue.slots(product, chance)))
    return found


def planted_questions(number: int, *, count: int, seed: int = 0) -> list[Planted]:
    """Ask `number` questions, half of each kind, whose answers one to three passages of the corpus of `count` passages have.

    A passage has the answer where one sentence or row of it has the part and the quantity, and it is of the product that is asked about.
    """
    made = list(passages(count, seed=seed))
    by_product: dict[str, list[Passage]] = defaultdict(list)
    for passage in made:
        by_product[passage.product].append(passage)
    chance = random.Random(f"{seed} planted")
    chance.shuffle(made)
    found: list[Planted] = []
    for kind, form in PLANTED_FORMS.items():
        wanted = len(found) + number // len(PLANTED_FORMS)
        for passage in made:
            other = passage.product if kind == "direct" else _stacked_on(passage)
            if len(found) == wanted or other is None or (kind == "neighbour" and other == passage.product):
                continue
            facts = {(part, quantity) for one in by_product[other] for part, quantity in _facts(one)}
            for part, quantity in chance.sample(sorted(facts), len(facts)):
                gold = frozenset(one.id for one in by_product[other] if (part, quantity) in _facts(one))
                if len(gold) <= MOST_GOLD:
                    asked = form.format(quantity=quantity, part=part, product=passage.product)
                    found.append(Planted(kind, asked, gold))
                    break
    return found


def _stacked_on(passage: Passage) -> str | None:
    said = STACKED.search(passage.text)
    return said[1] if said else None


def _facts(passage: Passage) -> set[tuple[str, str]]:
    """Return which part has which quantity in one sentence or row of a passage."""
    return {
        (part, quantity)
        for said in re.split(r"(?<=\.) |\n", passage.text)
        for quantity, *_ in UNITS
        if quantity in said
        for part in PART.findall(said)
    }


def write_passages(path: Path, lines: Iterator[Passage] | Sequence[Passage]) -> int:
    """Write passages as JSON lines; returns how many."""
    written = 0
    with path.open("w", encoding="utf-8") as file:
        for passage in lines:
            fields = {name: getattr(passage, name) for name in Passage.__slots__}
            file.write(json.dumps(fields, ensure_ascii=False) + "\n")
            written += 1
    return written


class _Catalogue:
    """The products and parts of a corpus, and who uses what."""

    def __init__(self, count: int, seed: int) -> None:
        self.seed = seed
        chance = random.Random(f"{seed} catalogue")
        products = -(-count // PASSAGES_PER_PRODUCT)
        families = [_word(chance, 3).capitalize() for _ in range(-(-products // PRODUCTS_PER_FAMILY))]
        self.products = [
            f"{families[i // PRODUCTS_PER_FAMILY]} {_word(chance, 2).capitalize()} {chance.randint(2, 99)}"
            for i in range(products)
        ]
        self.families = [families[i // PRODUCTS_PER_FAMILY] for i in range(products)]
        self.parts: list[_Part] = []
        for i in range(max(40, products)):
            near = i > 0 and i % 5 == 0
            name = f"{self.parts[-1].name}0" if near else f"{_word(chance, 2)[:3].upper()}-{chance.randint(11, 999)}"
            self.parts.append(_Part(name, self.parts[-1].kind if near else chance.choice(KINDS)))
        weights = [1 / (rank + 1) ** ZIPF_EXPONENT for rank in range(len(self.parts))]
        self.used = [chance.choices(self.parts, weights, k=PARTS_PER_PRODUCT) for _ in range(products)]

    def slots(self, number: int, chance: random.Random) -> dict[str, object]:
        """Choose what a sentence about a product says."""
        part, part2 = chance.sample(self.used[number], 2)
        quantity, unit, low, high = chance.choice(UNITS)
        digits = 1 if high < 1000 else 0
        return {
            "product": self.products[number],
            "other": chance.choice(self.products),
            "part": part.name,
            "part2": part2.name,
            "kind": part.kind,
            "quantity": quantity,
            "value": f"{chance.uniform(low, high):.{digits}f} {unit}",
            "value2": f"{chance.uniform(low, high):.{digits}f} {unit}",
            "current": f"{chance.uniform(0.1, 90):.1f} mA",
            "voltage": f"{chance.uniform(0.9, 5):.1f} V",
            "voltage2": f"{chance.uniform(5, 36):.1f} V",
            "small": chance.randint(1, 16),
            "code": chance.randint(10, 140),
            "hex": f"{chance.randint(8, 119):02X}",
        }

    def passage(self, number: int, section: int) -> Passage:
        """Write one section of a product's documentation."""
        chance = random.Random(f"{self.seed} {number} {section}")
        heading = SECTIONS[section % len(SECTIONS)]
        forms = chance.sample(SENTENCE_FORMS, chance.randint(*SENTENCES))
        if chance.random() < MENTION_SHARE:
            forms.append(chance.choice(MENTION_FORMS))
        text = " ".join(form.format(**self.slots(number, chance)) for form in forms)
        if chance.random() < TABLE_SHARE:
            rows = [self.slots(number, chance) for _ in range(chance.randint(3, 7))]
            cells = "\n".join(f"| {row['part']} | {row['quantity']} | {row['value']} |" for row in rows)
            text += f"\n\n| Part | Parameter | Value |\n| --- | --- | --- |\n{cells}"
        product = self.products[number]
        return Passage(f"{number}-{section}", product, f"{heading}\n\n{text}", product, self.families[number])


def _word(chance: random.Random, syllables: int) -> str:
    return "".join(chance.choice(CONSONANTS) + chance.choice(VOWELS) for _ in range(syllables))
