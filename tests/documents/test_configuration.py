"""Configuration files: what their comments say of a setting is its definition, and no word is lost."""

from __future__ import annotations

import gzip
import re
import time
from collections import Counter
from pathlib import Path

import pytest

from kgrag.documents import discover, read
from kgrag.documents.blocks import BlockDocument
from kgrag.documents.configuration import convert_configuration
from kgrag.errors import DocumentError


def converted(text: str | bytes, name: str = "pump.conf") -> BlockDocument:
    data = text.encode() if isinstance(text, str) else text
    return convert_configuration(data, Path(name), document_path=f"etc/{name}")


def blocks(text: str) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in converted(text).blocks]


def count(text: str) -> int:
    return len(text) // 4 + 1


PUMP = """\
#############################################
#   Water pump daemon
#############################################

# Seconds that the pump waits before it starts again after it was stopped by
# hand. Shorter waits wear out the relay.
# Default: 30
#restart_delay=30

# The port on which the daemon listens for the panel.
panel_port=4100   # (needs a restart)

# How far the valve opens, and how fast it does so. Both are given in parts
# of a hundred.
valve_open=80
valve_speed=20
#valve_speed=5

[alarm]
level=3

# Who is told when the level is too high. An address that cannot be reached is
# tried again, as long as the alarm goes on:
#   * each minute of the first hour
#   * each hour after that
#notify = keeper@example.org
"""


def test_a_setting_is_the_term_of_what_is_said_about_it() -> None:
    assert converted(PUMP).title == "pump.conf"
    assert blocks(PUMP) == [
        ("heading", "Water pump daemon"),
        (
            "paragraph",
            "restart_delay=30: Seconds that the pump waits before it starts again after it was stopped by hand. "
            "Shorter waits wear out the relay.",
        ),
        ("paragraph", "Default: 30"),
        ("paragraph", "panel_port=4100: The port on which the daemon listens for the panel."),
        ("paragraph", "(needs a restart)"),
        (
            "paragraph",
            "valve_open=80, valve_speed=20, valve_speed=5: How far the valve opens, and how fast it does so. Both are given "
            "in parts of a hundred.",
        ),
        ("heading", "alarm"),
        ("code", "level=3"),
        (
            "paragraph",
            "notify = keeper@example.org: Who is told when the level is too high. An address that cannot be reached is tried "
            "again, as long as the alarm goes on:",
        ),
        ("list_item", "- each minute of the first hour"),
        ("list_item", "- each hour after that"),
    ]


ABOUT = "Says how many litres are pumped in an hour, at most."


@pytest.mark.parametrize(
    ("text", "read_as"),
    [
        (f"## {ABOUT}\n#litres 40\n\n## {ABOUT}\n#Rate high\n", ["litres 40: " + ABOUT, "Rate high: " + ABOUT]),
        (f"; {ABOUT}\n;litres =\n\n; {ABOUT}\nrate = 2\n", ["litres =: " + ABOUT, "rate = 2: " + ABOUT]),
        (f"# {ABOUT}\n; litres value\n# {ABOUT}\nrate 2\n", ["litres value: " + ABOUT, "rate 2: " + ABOUT]),
        (f"// {ABOUT}\nlitres 40;\n\n// {ABOUT}\nrate 2;\n", ["litres 40;: " + ABOUT, "rate 2;: " + ABOUT]),
        (
            f"# {ABOUT}\n#\n# litres 40\n\n# {ABOUT}\n#\n# pump-rate 2\n",
            ["litres 40: " + ABOUT, "pump-rate 2: " + ABOUT],
        ),
        (f"# {ABOUT}\n\nlitres=40\n\n# {ABOUT}\n\nrate=2\n", ["litres=40: " + ABOUT, "rate=2: " + ABOUT]),
        (f"litres=40\n# {ABOUT}\n\nrate=2\n# {ABOUT}\n", ["litres=40: " + ABOUT, "rate=2: " + ABOUT]),
        (f"! {ABOUT}\n! {ABOUT}\nlitres=40\n\n!include more\n", [f"litres=40: {ABOUT} {ABOUT}", "!include more"]),
        (f"dnl {ABOUT}\nlitres(40)\n", ["litres(40): " + ABOUT]),
    ],
    ids=["##", ";", "# and ;", "//", "alike", "apart", "below", "!", "dnl"],
)
def test_files_say_in_their_own_ways_what_is_a_setting(text: str, read_as: list[str]) -> None:
    assert [text for _, text in blocks(text)] == read_as


def test_the_comment_at_the_end_of_a_setting_goes_on_in_the_lines_below() -> None:
    text = (
        f"# {ABOUT}\n\n# - Flow -\n\n#litres = 40\t\t# in an hour; 0 is as many\n\t\t\t# as there are\n"
        "#colour = '# 7'\t\t# of the lamp\nrate = 2\n"
    )
    assert blocks(text) == [
        ("paragraph", ABOUT),
        ("heading", "Flow"),
        ("paragraph", "litres = 40: in an hour; 0 is as many as there are"),
        ("paragraph", "colour = '# 7': of the lamp"),
        ("code", "rate = 2"),
    ]


def test_a_tag_is_a_term_with_its_default() -> None:
    text = (
        "#  TAG: litres\t(number)\n#\tHow many litres are pumped in an hour. What is more\n#\tis left in the well.\n#Default:\n"
        "# litres 40\n\n#  TAG: rate\n#\tNo longer in use, and kept for old files alone.\n#Default:\n# none\n"
    )
    assert blocks(text) == [
        ("paragraph", "litres (number): How many litres are pumped in an hour. What is more is left in the well."),
        ("paragraph", "Default: litres 40"),
        ("paragraph", "rate: No longer in use, and kept for old files alone."),
        ("paragraph", "Default: none"),
    ]


@pytest.mark.parametrize(
    "title",
    [
        "######## Wells ########",
        "# =====\n# Wells\n# =====",
        "#######\n# Wells\n#",
        "# Wells ###############",
        "# Wells\n# -----",
        "#\n# Wells\n#",
        ";;;;;;;;;\n; Wells ;\n;;;;;;;;;",
        "[Wells]",
    ],
)
def test_banners_and_sections_are_headings(title: str) -> None:
    assert blocks(f"{title}\n\n# {ABOUT}\nlitres=40\n; {ABOUT}\n")[:2] == [
        ("heading", "Wells"),
        ("paragraph", f"litres=40: {ABOUT}"),
    ]


def test_examples_and_blocks_are_listings() -> None:
    text = (
        f"# {ABOUT} For example:\n#\n#     litres 40 # of the old well\n#     litres 20\n#\n# {ABOUT}\nwell {{\n"
        "    litres 40\n}\n"
    )
    assert [(kind, text) for kind, text in blocks(text) if kind == "code"] == [
        ("code", "litres 40 # of the old well\nlitres 20"),
        ("code", "    litres 40\n}"),
    ]


def test_no_word_is_lost() -> None:
    words = re.compile(r"\w+")
    assert Counter(words.findall(PUMP)) == Counter(words.findall("\n".join(text for _, text in blocks(PUMP))))


def test_a_description_of_many_lines_or_of_many_settings_is_no_definition() -> None:
    lines = "".join(f"# {ABOUT}\n#\n" for _ in range(30))
    assert blocks(f"{lines}litres=40\n")[-1] == ("paragraph", "litres=40: " + ABOUT)
    settings = [f"litres{number}=4" for number in range(9)]
    assert blocks("\n".join([f"# {ABOUT}", *settings])) == [("paragraph", ABOUT), ("code", "\n".join(settings))]


@pytest.mark.parametrize(
    "name",
    [
        *(
            "a.conf",
            "a.CNF",
            "a.cfg",
            "a.cf",
            "a.ini",
            "a.properties",
            "a.conf.example",
            "a.conf.documented",
            "a.ini-production",
        ),
        *("a.conf.example3", "a.conf.in", "pumpd_config", "sudoers", "pumprc"),
    ],
)
def test_configurations_with_prose_are_read_packed_or_not(tmp_path: Path, name: str) -> None:
    text = PUMP + "".join(f"\n# {ABOUT}\nlitres{number}=40\n" for number in range(5))
    (tmp_path / name).write_text(text)
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    found = discover([tmp_path])
    assert [source.format for source in found.sources] == ["configuration"] * 2
    for source in found.sources:
        (document,) = read(source, count_tokens=count, max_tokens=254)
        assert document.document.title == name
        assert "litres4=40: " + ABOUT in document.chunks[-1].text


LICENCE = "# Copyright of somebody, who lets everybody copy this file.\n" * 12
WITHOUT = "\n".join(f"litres{number}=40" for number in range(99))


def test_configurations_without_prose_and_other_data_are_counted(tmp_path: Path) -> None:
    prose = f"# {ABOUT}\n" * 20
    files = {
        "plain.conf": WITHOUT,
        "little.ini": f"# {ABOUT}\n{WITHOUT}",
        "legal.properties": LICENCE + WITHOUT,
        "off.conf": "\n".join(f"#litres{number}=40 one" for number in range(99)),
        "empty_config": "",
        "xml.conf": f"<?xml version='1.0'?>\n<well>\n{prose}</well>",
        "json.cfg": f'{prose}{{"litres": 40}}',
        "yaml.cfg": f"---\n{prose}litres: 40",
        "script.conf": f"#!/bin/sh\n{prose}",
        "binary.conf": f"{prose}\0\0",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    found = discover([tmp_path])
    assert found.sources == ()
    assert found.ignored == {"configuration without prose": 5, ".conf": 3, ".cfg": 2}


def test_what_was_read_as_something_else_still_is(tmp_path: Path) -> None:
    for name in ("README.Conf", "pump.conf.txt", "pump.conf.md"):
        (tmp_path / name).write_text(f"# {ABOUT}\n" * 20)
    (tmp_path / "pump.conf.5").write_text(f".TH pump.conf 5\n.SH NAME\n{ABOUT}\n")
    formats = {source.path.name: source.format for source in discover([tmp_path]).sources}
    formats.pop("pump.conf.5", None)  # needs pandoc
    assert formats == {"README.Conf": "txt", "pump.conf.txt": "txt", "pump.conf.md": "md"}


def test_lines_of_windows_and_utf_16_are_read(tmp_path: Path) -> None:
    dos = PUMP.replace("\n", "\r\n")
    assert converted(dos).blocks == converted(PUMP).blocks
    assert converted(b"\xff\xfe" + dos.encode("utf-16-le")).blocks == converted(PUMP).blocks
    (tmp_path / "a.conf").write_bytes(b"\xff\xfe" + (f"# {ABOUT}\r\n" * 20).encode("utf-16-le"))
    assert [source.format for source in discover([tmp_path]).sources] == ["configuration"]


@pytest.mark.parametrize(
    "text",
    ["#\n" * 100, "# a\n" * 9, "[", "#", "=", "# =\n#=\n", "}\n}\n", "\\\n{\n", "\t#\t#\t#\n", "TAG:"],
)
def test_whatever_is_written_is_read(text: str) -> None:
    letters = sorted(re.findall(r"\w+", text))
    assert sorted(re.findall(r"\w+", " ".join(said for _, said in blocks(text)))) == letters


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(DocumentError):
        converted(b"# text\n" + bytes(200))


@pytest.mark.parametrize(
    "text",
    [
        f"# {ABOUT}\n#litres=40\n\n" * 33_000,
        f"# {ABOUT}\n" * 100_000,
        "litres=40 # x\n" * 100_000,
        f"# {ABOUT}\nlitres=40\n" * 50_000,
        "# " + "word " * 400_000 + "\n#litres=40\n",
        "litres = " + "# " * 500_000,
        "#" * 1_000_000,
        "# " + "= " * 500_000,
        "[" * 1_000_000 + "\n# a\n",
        (f"# {ABOUT}\n#\n# " + "a_" * 900 + "( 4\n\n") * 100,
        (f"# {ABOUT}\n# " + "a" + "'" * 1900 + "a b c d e\n\n") * 100,
    ],
    ids=[
        "settings",
        "comments",
        "inline",
        "together",
        "long comment",
        "long setting",
        "rule",
        "drawn",
        "brackets",
        "name",
        "quotes",
    ],
)
def test_long_files_and_lines_take_no_longer_than_their_length(text: str) -> None:
    started = time.process_time()
    converted(text)
    assert time.process_time() - started < 20


def test_a_comment_right_above_a_section_is_about_it_and_above_the_first_one_about_the_file() -> None:
    text = """\
# These are all settings of the water pump.
[motor]
speed = 30
# What the valves of both tanks do while it runs.
[valves]
# Bar at which they open.
open_at = 2
"""
    assert blocks(text) == [
        ("paragraph", "These are all settings of the water pump."),
        ("heading", "motor"),
        ("code", "speed = 30"),
        ("heading", "valves"),
        ("paragraph", "What the valves of both tanks do while it runs."),
        ("paragraph", "open_at = 2: Bar at which they open."),
    ]
