"""What documents say about words, and what bad decisions cannot bring together."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from kgrag.resolve import Decisions, GraphEntity, conflict, make_plan, read_name
from kgrag.resolve.plan import Found
from kgrag.resolve.rules import decide_by_rules
from kgrag.resolve.similarity import CorpusEvidence

FACTS_DIFFER = [
    ("- 40 °C", "40 °C"), ("-$5", "$5"), ("∓5 V", "5 V"), ("5 ‰", "5"), ("₹500", "₽500"), ("√2", "2"),
    ("LXXVIII", "LXXXVIII"), ("第十二届", "第二十届"), ("200 Cal", "200 cal"), ("∆V", "V"), ("C♯", "C♭"), ("Cl-", "Cl"),
    ("R̅E̅S̅E̅T̅", "RESET"), ("12 V AC", "12 V DC"), ("AC adapter", "DC adapter"), ("5 AM", "5 PM"),
    ("at least 5 V", "at most 5 V"), ("half duplex", "full duplex"), ("5 million", "5 billion"),
    ("twenty-one", "twenty-two"), ("Type A", "Type B"), ("Plan A", "Plan"), ("Louis XIV", "Louis XVI"), ("♂", "♀"),
    ("≠5", "5"), ("Super Bowl LVI", "Super Bowl LIV"), ("5 mA (max)", "5 mA (min)"), ("0x1F", "0xF1"),
]  # fmt: skip


@pytest.mark.parametrize("pair", FACTS_DIFFER, ids=" | ".join)
def test_no_decision_of_a_model_merges_what_differs_in_a_fact(pair: tuple[str, str]) -> None:
    readings = [read_name(name) for name in pair]
    assert conflict(*readings)
    entities = [GraphEntity(name, name, "Thing") for name in pair]
    said = Decisions({(0, 1): Found("same", "a model said so", 1.0)}, {}, 1)
    assert make_plan("g", entities, readings, said, method="llm", settings={}).groups == ()


def merged(*names: str, evidence: CorpusEvidence | None = None, type_: str = "Product") -> bool:
    entities = [GraphEntity(name, name, type_) for name in names]
    readings = [read_name(name) for name in names]
    return bool(decide_by_rules(entities, readings, evidence=evidence).same)


def test_an_abbreviation_is_its_long_form_where_the_documents_define_it_as_one_thing() -> None:
    defined = CorpusEvidence.of(["The microcontroller unit (MCU) sleeps.", "MCU"])
    assert merged("microcontroller unit", "MCU", evidence=defined)
    assert merged("Microcontroller units", "MCU", evidence=defined)
    assert not merged("microcontroller unit", "MCU")
    twice = CorpusEvidence.of(["The microcontroller unit (MCU)", "the motor control unit (MCU)"])
    assert not merged("microcontroller unit", "MCU", evidence=twice)


def test_a_name_that_defines_its_abbreviation_is_evidence_too() -> None:
    assert merged("microcontroller unit (MCU)", "MCU", "microcontroller unit")


def test_accents_are_folded_in_proper_names_that_the_documents_do_not_write_as_words() -> None:
    assert merged("São Paulo", "Sao Paulo")
    assert merged("Müller", "Mueller")
    assert not merged("Bär", "Bar", evidence=CorpusEvidence.of(["a bar of 3 m"]))
    assert not merged("schön", "schon")
    assert not merged("résumé", "resume")


def test_legal_forms_and_plurals_depend_on_what_a_name_is_of() -> None:
    assert merged("Acme AB", "Acme", type_="Organization") and not merged("Type AB", "Type", type_="Class")
    assert (
        merged("CONNECTORS", "connectors")
        and merged("MOTOR CONNECTORS", "MOTOR CONNECTOR")
        and not merged("HTTPS", "HTTP")
    )
    assert not merged("John Adams", "John Adam", type_="Person")
    for one, other in (
        ("server_name", "server_names"),
        ("pump.cfg", "pumps.cfg"),
        ("/etc/host", "/etc/hosts"),
        ("getPump", "getPumps"),
    ):
        assert not merged(one, other)
    assert merged("AS_PATH", "AS_PATHs") and merged("pull-down", "pull-downs")


def test_options_that_differ_in_the_case_of_their_letter_are_two() -> None:
    assert not merged("-v", "-V") and not merged("rm -r", "rm -R") and not merged("-l", "-L")
    assert merged("rm -r", "rm  -r") and merged("PLAN B", "plan b")


LIMITS = """
import resource, sys
from random import Random
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
from kgrag.resolve.reading import read_name
from kgrag.text.names import normal_form
from kgrag.text.quantities import has_quantity, quantities
read_name("5 inch")
bits = ["1", "9" * 30, " ", "\\t", "-", "±", "/", "x", ".", ",", "'", '"', "(", "V", "mA", "k", "e5", "10^", "½", "two ", "hundred ",
        "and ", "XIV", "第", "十二", "A", "v", "Rev ", "°", "%", "$", "₹", "√", "<", "to ", "…", "1/2 inch", "\\u0305", "é", "C#", "0x1F",
        "4k7", "minus ", "I", " AM", "12:30", "1.2.3", "01.05.2023", "may ", "\\u200b"]
random = Random(7)
for _ in range(600):
    pool = random.choices(bits, k=random.choice([1, 2, 3, 5]))
    text = "".join(random.choices(pool, k=1000))
    reading = read_name.__wrapped__(text[:1000])
    assert len(reading.form) < 20_000, text
    normal_form(text), quantities(text), has_quantity(text)
for text in ("1e5000 V", "10^9999 V", "9" * 5000, "9" * 5000 + " V", "1e" + "9" * 5000 + " V", "1." * 2500, "x" * 1_000_000):
    read_name(text), normal_form(text), quantities(text), has_quantity(text)
"""


def test_hostile_names_stay_within_a_minute_of_processor_time_and_a_gigabyte() -> None:
    done = subprocess.run([sys.executable, "-c", LIMITS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.returncode} (a negative one: a limit was passed) {done.stderr[-2000:]}"


def test_what_cannot_be_read_as_a_number_is_a_name_that_is_only_itself() -> None:
    for name in ("1e5000 V", "10^9999 V", "9" * 5000, "word " * 400):
        assert read_name(name).form == read_name(name.replace("9", "9")).form
        assert conflict(read_name(name), read_name(f"{name}1"))
    assert read_name("9" * 5000).signature != read_name("9" * 4999 + "8").signature


def test_every_pair_of_the_table_says_its_type_or_is_of_a_product() -> None:
    with (Path(__file__).parent / "hard_pairs.csv").open(encoding="utf-8", newline="") as file:
        assert {pair["type"] for pair in csv.DictReader(file)} >= {"", "Person", "Organization"}
