"""Help files of Vim: headings, tags, links, definitions and examples by the marks of its help language."""

from __future__ import annotations

from pathlib import Path

from kgrag.documents.blocks import Block, BlockDocument
from kgrag.documents.text_files import convert_text

HELP = """\
*pump.txt*  Drives a pump from the editor

CONTENTS                                                       *pump-contents*

    Usage ........................................................ |pump-usage|

==============================================================================
1. Usage                                                          *pump-usage*

Type this in any buffer: >

    :PumpStart
      \\ slow
<
See |:PumpStart| and |valve.txt|; ask |somewhere-else| for more, the motor
waits for you.

                                                      *:PumpStart* *E901*
:PumpStart [{rate}]     Start the pump. It runs until it is told to stop,
                        or until the tank is empty: >
                            :PumpStart 20
<                       It warns before that.

:PumpStop               Stop it, wherever it
                        stands.                                   *:PumpStop*

g:pump_rate                                                      *g:pump_rate*
                                                                 *b:pump_rate*
  How many litres a minute it
  moves.

Maps ~

ps      start the pump
pq      stop the pump

 vim:tw=78:ts=8:ft=help:norl:
"""


def convert(text: str, name: str = "pump.txt") -> BlockDocument:
    return convert_text(text.encode(), Path(name), document_path=f"doc/{name}")


def block(document: BlockDocument, begins: str) -> Block:
    return next(one for one in document.blocks if one.text.startswith(begins))


def test_headings_stand_below_rules_in_capitals_or_before_a_tilde() -> None:
    headings = [(one.level, one.text) for one in convert(HELP).blocks if one.kind == "heading"]
    assert headings == [
        (1, "pump.txt: Drives a pump from the editor"),
        (2, "CONTENTS"),
        (2, "1. Usage"),
        (3, "Maps"),
    ]


def test_examples_are_listings_until_the_margin_and_their_marks_go() -> None:
    document = convert(HELP)
    assert [one.text for one in document.blocks if one.kind == "code"][1:3] == [
        ":PumpStart\n  \\ slow",
        ":PumpStart 20",
    ]
    assert block(document, "Type this").text == "Type this in any buffer:"
    assert block(document, "It warns").text == "It warns before that."


def test_what_is_said_of_a_term_is_its_definition_with_the_tags_that_it_does_not_say() -> None:
    document = convert(HELP)
    start = block(document, ":PumpStart [{rate}] (E901)")
    assert start.text.endswith(": Start the pump. It runs until it is told to stop, or until the tank is empty:")
    assert {":PumpStart", "E901"} <= set(start.anchors)
    assert block(document, ":PumpStop").text == ":PumpStop: Stop it, wherever it stands."
    assert block(document, "g:pump").text == "g:pump_rate (b:pump_rate): How many litres a minute it moves."


def test_links_lead_to_tags_of_the_file_and_to_other_files() -> None:
    seen = block(convert(HELP), "See ")
    assert seen.text == "See :PumpStart and valve.txt; ask somewhere-else for more, the motor waits for you."
    assert [link.href for link in seen.links] == ["doc/pump.txt#:PumpStart", "doc/valve.txt"]


def test_columns_stay_a_listing_and_the_line_for_the_editor_is_counted() -> None:
    document = convert(HELP)
    assert document.blocks[-1].text == "ps      start the pump\npq      stop the pump"
    assert [line.rule for line in document.removed] == ["line for the editor"]


def test_a_name_with_tags_above_its_text_is_a_heading() -> None:
    text = "*a.txt* About\n\nSPEED  *a-speed*\n\ng:a_fast    *g:a_fast*\n\n  Type: Number\n\nMore of it follows here.\n"
    headings = [(one.level, one.text) for one in convert(text, "a.txt").blocks if one.kind == "heading"]
    assert headings == [(1, "a.txt: About"), (2, "SPEED"), (3, "g:a_fast")]


def test_the_version_of_the_editor_is_no_title_and_other_texts_are_no_help() -> None:
    dated = convert("*a.txt*   For Vim version 9.0.  Last change: 2022 Nov 30\n\nSome text.\n", "a.txt")
    assert [one.text for one in dated.blocks] == [
        "a.txt",
        "For Vim version 9.0. Last change: 2022 Nov 30",
        "Some text.",
    ]
    linked = convert(
        "Notes\n\n|a| |b| |c|\n\n  *a*\nFirst {{{1\n----- SNIP -----\n  *b*\n  *c*\n\nSECOND  *d*\n\nMore.\n", "c.txt"
    )
    assert [one.text for one in linked.blocks if one.kind == "heading"] == ["SECOND"]
    assert {"First", "----- SNIP -----"} <= {line for one in linked.blocks for line in one.lines}
    other = convert("*note* this\n\nvalves are |shut| now\n", "b.txt")
    assert "|shut|" in other.blocks[-1].text
