"""Letters of RTF: bytes in the code page of their font, numbers of Unicode, and what stands behind these for older programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgrag.documents.pandoc import convert_with_pandoc
from kgrag.documents.rtf_text import with_letters


def letters(body: str, *, fonts: str = r"{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial;}", head: str = r"\ansi") -> str:
    """Return what is written of a body."""
    written = with_letters(rf"{{\rtf1{head}\deff0{{\fonttbl{fonts}}}{body}}}")
    return written.partition("}}")[2].removesuffix("}")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (r"\f1 \'cf\'f0\'e8\f0  \'e9", r"\f1 При\f0  é"),
        (r"{\f1\'cf}\'cf", r"{\f1 П}Ï"),
        (r"\f1\'cf\plain\'cf", r"\f1 П\plain Ï"),
        (r"\u8217's and \u8211-5", "’s and –5"),
        (r"{\uc2\u1087\'cf\'cf x}\u1087?y", "{п x}пy"),
        (r"{\uc0\u1087\u1088}\b\uc0 two", r"{пр}\b two"),
        (r"\u-10179?\u-8704? \u123?", r"😀 \'7b"),
        (r"\{\'7b\'5c\}\'0a", r"\{\'7b\'5c\}\'0a"),
        ("\\bin3 \\'e9 \\'e9", "\\bin3 \\'e9 é"),
        (r"\u1087", "п"),
    ],
)
def test_letters_are_written_as_they_are(body: str, expected: str) -> None:
    assert letters(body) == expected


@pytest.mark.parametrize(
    ("head", "fonts", "body", "expected"),
    [
        (r"\ansi\ansicpg1253", r"{\f0 Arial;}", r"\f0 \'e1\'e2", r"\f0 αβ"),
        (r"\mac", r"{\f0 Times;}", r"caf\'8e", "café"),
        (r"\ansi", r"{\f0\fcharset128 MS Mincho;}", "\\f0 \\'93\\'fa\\'83A\r\n\\'83\r\n\\'41", "\\f0 日ア\r\nア"),
        (r"\ansi\ansicpg10007", r"{\f0 Times;}", r"\'80", "А"),
        (r"\ansi\ansicpg99999", r"{\f0 Times;}", r"\'e9", "é"),
        (r"\ansi", r"{\f0\fcharset2 Symbol;}", r"\f0 \'b7", r"\f0 \'b7"),
    ],
)
def test_bytes_are_in_the_code_page_of_their_font_or_else_of_the_document(
    head: str, fonts: str, body: str, expected: str
) -> None:
    assert letters(body, head=head, fonts=fonts) == expected


@pytest.mark.parametrize("encoding", ["cp1251", "utf-8"])
def test_letters_beyond_ascii_may_stand_there_as_they_are(encoding: str) -> None:
    rtf = r"{\rtf1\ansi\ansicpg1251 Напряжение 5 \'c2}".encode(encoding)
    assert with_letters(rtf.decode("latin-1")) == r"{\rtf1\ansi\ansicpg1251 Напряжение 5 В}"


def test_a_russian_text_is_read() -> None:
    rtf = rb"{\rtf1\ansi\ansicpg1251\deff0{\fonttbl{\f0\fcharset204 Arial;}}\f0 \'cd\'e0\'ef\'f0\'ff\'e6\'e5\'ed\'e8\'e5 5\'c2\par}"
    read = convert_with_pandoc(rtf, Path("a.rtf"), format_="rtf", document_path="a.rtf")
    assert [block.text for block in read.blocks] == ["Напряжение 5В"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            r"Needs {\deleted\revauth1 5 V}{\revised\revauth1 3 V}.",
            r"Needs {\deleted\revauth1 }{\revised\revauth1 3 V}.",
        ),
        (r"Needs \deleted 5 \'b5V\u937?\deleted0 3 V.", r"Needs \deleted \deleted0 3 V."),
        (r"Needs \deleted 5 V\plain  3 V.", r"Needs \deleted \plain  3 V."),
    ],
)
def test_what_was_deleted_while_changes_were_tracked_is_not_read(body: str, expected: str) -> None:
    assert letters(body) == expected


def test_notes_are_read_however_they_are_written() -> None:
    rtf = r"{\rtf1\ansi A{\super\chftn{\*\footnote\chftn\pard\plain By USB.}} is 5 V{\footnote By the jack.}.\par}"
    read = convert_with_pandoc(rtf.encode(), Path("a.rtf"), format_="rtf", document_path="a.rtf")
    written = "\n".join(block.text for block in read.blocks)
    assert "By USB." in written
    assert "By the jack." in written


CELLS = r"\pard\intbl {A\cell }{B\cell }"
ENDED = r"\pard\intbl {\trowd\cellx100\cellx200\row}"
INNER = r"\pard\intbl\itap2 n1\nestcell n2\nestcell{\*\nesttableprops\trowd\cellx50\cellx99\nestrow}"


@pytest.mark.parametrize(
    ("body", "rows"),
    [
        (rf"\trowd\cellx100\cellx200 {CELLS}\row{CELLS}\row", ["A | B", "A | B"]),  # the same properties
        (rf"\trowd\cellx100\cellx200 {CELLS}\row <c>\par d\cell E\cell\row", ["A | B", "<c>; d | E"]),
        (rf"\trowd\cellx100\cellx200 {CELLS}{ENDED}\trowd\cellx100 {CELLS}{ENDED}", ["A | B", "A | B"]),
        (rf"{CELLS}{ENDED}{{\*\bkmkstart x}}{CELLS}{ENDED}", ["A | B", "A | B"]),  # behind the cells alone
        (
            rf"\trowd {CELLS}\row\trowd\pard\intbl C\par{INNER}\pard\intbl D\cell E\cell\row",
            ["A | B", "C; n1; n2; D | E"],
        ),
    ],
)
def test_rows_of_tables_are_rows_wherever_their_properties_stand(body: str, rows: list[str]) -> None:
    rtf = rf"{{\rtf1\ansi {body}\pard after\par}}"
    table, after = convert_with_pandoc(rtf.encode(), Path("a.rtf"), format_="rtf", document_path="a.rtf").blocks
    assert list(table.lines) == rows
    assert after.text == "after"


def test_paragraphs_in_a_style_of_headings_are_headings() -> None:
    styles = r"{\stylesheet{\s0 Normal;}{\s1\b\snext0 heading 1;}{\s2\sbasedon1 Heading 2,h2;}{\s3 heading for notes;}}"
    rtf = rf"{{\rtf1\ansi{styles}\pard\s1 Power\par\pard\plain\s2\b Supply\par\pard\s3 Note\par\pard\s0 5 V\par}}"
    read = convert_with_pandoc(rtf.encode(), Path("a.rtf"), format_="rtf", document_path="a.rtf")
    assert [(block.kind, block.level, block.text) for block in read.blocks] == [
        ("heading", 1, "Power"),
        ("heading", 2, "Supply"),
        ("paragraph", 0, "Note"),
        ("paragraph", 0, "5 V"),
    ]


@pytest.mark.parametrize("pard", [r"\pard", r"\pard\plain\f0\li720 "])
def test_bullets_that_are_text_make_items_of_a_list_and_numbers_stay_text(pard: str) -> None:
    mark = r"{\pntext\f1\'B7\tab}"
    items = rf"{pard}{mark}{{\*\pn\pnlvlblt\pnf1{{\pntxtb\'B7}}}}oil, 5 l\par {mark}water\par"
    steps = r"\pard{\pntext\f0 3.\tab}{\*\pn\pnlvlbody\pnstart3\pndec{\pntxta.}}close it\par"
    rtf = rf"{{\rtf1\ansi It needs:\par {items}\pard Then:\par{steps}\pard The end.\par}}"
    read = convert_with_pandoc(rtf.encode(), Path("a.rtf"), format_="rtf", document_path="a.rtf")
    assert [(block.kind, block.text) for block in read.blocks] == [
        ("paragraph", "It needs:"),
        ("list_item", "- oil, 5 l"),
        ("list_item", "- water"),
        ("paragraph", "Then:"),
        ("paragraph", "3. close it"),
        ("paragraph", "The end."),
    ]
