"""Files of Word, PowerPoint and Excel before 2007, and what is called as they are."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from kgrag.documents.blocks import BlockDocument
from kgrag.documents.discovery import discover
from kgrag.documents.old_properties import title_of
from kgrag.documents.reading import convert_file
from kgrag.errors import DocumentError
from tests.documents.old_office_files import (
    BOLD,
    DELETED,
    ENDS_ROW,
    IN_TABLE,
    LIST_ITEM,
    record,
    sheet_file,
    slides_file,
    summary,
    text_record,
    word_file,
    word_lists,
)
from tests.documents.outlook_file import compound_file


def converted(data: bytes, path: Path) -> BlockDocument:
    path.write_bytes(data)
    return convert_file(discover([path]).sources[0])


def written(document: BlockDocument) -> list[tuple[str, str]]:
    return [(block.kind, block.written) for block in document.blocks]


def item(number: int, level: int = 0) -> bytes:
    return struct.pack("<HH", 0x460B, number) + struct.pack("<HB", 0x260A, level)


def test_numbers_of_lists_headings_and_cells_are_counted_as_word_counts_them(tmp_path: Path) -> None:
    nine = [("%1.", 0), ("%1.%2", 0), ("%3)", 4), *[("", 23)] * 6]
    hidden = [("%1", 255), ("%1%2.", 3), *[("", 23)] * 7]
    data = word_file(
        [
            ("Setup\r", 4, b""),
            ("Valve\r", 0, item(1, 1)),
            ("open\r", 0, item(1, 2)),
            ("shut\r", 0, item(1, 2)),
            ("gone\r", 0, item(1, 2)),
            ("Use\r", 4, b""),
            ("Pump\r", 0, item(1, 1)),
            ("Plain\r", 4, item(0xF801)),
            ("nine\r", 0, item(2)),
            ("ten\r", 0, item(2)),
            ("on\r", 0, item(3)),
            ("letters\r", 0, item(4, 1)),
            ("dot\r", 0, item(5)),
            ("unknown\r", 0, item(99)),
            ("cell\x07", 0, IN_TABLE + item(3)),
            ("\x07", 0, IN_TABLE + ENDS_ROW),
        ],
        characters=[(0, 21, b""), (21, 26, DELETED), (26, 80, b"")],
        lists=word_lists(
            [nine, [("(%1)", 0)], hidden, [("\u2022", 23)]], [(0, None), (1, 9), (1, None), (2, None), (3, None)]
        ),
    )
    assert written(converted(data, tmp_path / "a.doc")) == [
        ("heading", "1. Setup"),
        ("list_item", "  1.1 Valve"),
        ("list_item", "    a) open"),
        ("list_item", "    b) shut"),
        ("heading", "2. Use"),
        ("list_item", "  2.1 Pump"),
        ("heading", "Plain"),
        ("list_item", "(9) nine"),
        ("list_item", "(10) ten"),
        ("list_item", "(11) on"),
        ("list_item", "  A. letters"),
        ("list_item", "- dot"),
        ("list_item", "- unknown"),
        ("paragraph", "(12) cell"),
    ]


def test_lists_that_are_cut_number_what_is_there(tmp_path: Path) -> None:
    definitions, references = word_lists([[("%1.", 0)]], [(0, None), (0, 3)])
    for lists in (
        (definitions[:20], references),
        (definitions, references[:10]),
        (definitions, b"\xff\xff\xff\x7f" + references[4:]),
    ):
        read = written(converted(word_file([("one\r", 0, LIST_ITEM)], lists=lists), tmp_path / "a.doc"))
        assert [text.split()[-1] for _, text in read] == ["one"]


def test_a_word_file_keeps_headings_lists_tables_and_links(tmp_path: Path) -> None:
    row = ("Valve\x07", 0, IN_TABLE), ("Flow\x07", 0, IN_TABLE), ("\x07", 0, IN_TABLE + ENDS_ROW)
    below = ("A\x07", 0, IN_TABLE), ("3 l/min\x07", 0, IN_TABLE), ("\x07", 0, IN_TABLE + ENDS_ROW)
    link = '\x13 HYPERLINK "https://example.org/a" \x14the sheet\x15'
    data = word_file(
        [
            ("Setup\t4\r", 3, b""),
            ("Setup\r", 1, b""),
            (f"Read {link} of\x0b\xa7 5.\r", 0, b""),
            ("Own style\r", 2, b""),
            ("first\r", 0, LIST_ITEM),
            ("second\r", 0, LIST_ITEM),
            *row,
            *below,
        ],
        title="Valves in use",
    )
    document = converted(data, tmp_path / "a.doc")
    assert document.title == "Valves in use"
    assert written(document) == [
        ("heading", "Setup"),
        ("paragraph", "Read the sheet of\n\xa7 5."),
        ("heading", "Own style"),
        ("list_item", "- first"),
        ("list_item", "- second"),
        ("table", "|  |  |\n| --- | --- |\n| Valve | Flow |\n| A | 3 l/min |"),
    ]
    assert [block.level for block in document.blocks if block.kind == "heading"] == [2, 2]
    assert [link.href for block in document.blocks for link in block.links] == ["https://example.org/a"]
    assert [(line.rule, line.text) for line in document.removed] == [("table of contents", "Setup 4")]


def test_notes_follow_what_refers_to_them_and_what_was_deleted_is_left_out(tmp_path: Path) -> None:
    data = word_file(
        [("At most 6\x02 bar.\r", 0, b""), ("Not so.\r", 0, b""), ("End.\r", 0, b"")],
        characters=[(0, 16, BOLD), (16, 24, DELETED), (24, 80, b"")],
        notes=[(9, "\x02 At 20 \xb0C.\r")],
        comments="Ask again.\r",
    )
    document = converted(data, tmp_path / "a.doc")
    assert [text for _, text in written(document)] == ["At most 6 bar.", "At 20 \xb0C.", "End."]
    assert [(line.rule, line.text) for line in document.removed] == [("comment", "Ask again.")]


def test_a_first_row_in_bold_names_the_columns(tmp_path: Path) -> None:
    cells = ["Valve\x07", "Flow\x07", "\x07", "A\x07", "3\x07", "\x07"]
    said = [IN_TABLE + (ENDS_ROW if one == "\x07" else b"") for one in cells]
    data = word_file(
        [(one, 0, properties) for one, properties in zip(cells, said, strict=True)],
        characters=[(0, 11, BOLD), (11, 99, b"")],
    )
    (table,) = converted(data, tmp_path / "a.doc").blocks
    assert table.header is not None and table.header.cells == ("Valve", "Flow")


def test_slides_are_pages_with_their_titles_texts_and_notes(tmp_path: Path) -> None:
    data = slides_file(
        text_record(0, "Valves") + text_record(1, "open\rshut"),
        record(0x0F9E, b"\0\0\0\0") + record(0x0F9E, b"\1\0\0\0") + text_record(4, "a box"),
        text_record(2, "say it twice"),
    )
    document = converted(data, tmp_path / "a.ppt")
    assert document.title == "Valves"
    assert written(document) == [
        ("heading", "Valves"),
        ("list_item", "- open"),
        ("list_item", "- shut"),
        ("paragraph", "a box"),
        ("paragraph", "say it twice"),
    ]
    assert {block.page_start for block in document.blocks} == {1}


def test_a_sheet_is_read_as_a_new_one_is(tmp_path: Path) -> None:
    document = converted(sheet_file([("valve", "flow"), ("A", 3.0), ("B", 0.1 + 0.2)]), tmp_path / "a.xls")
    assert [block.lines for block in document.blocks][1:] == [("valve | flow", "A | 3", "B | 0.3")]
    assert document.blocks[1].header is not None


def test_sectors_that_lead_back_to_themselves_are_followed_once(tmp_path: Path) -> None:
    book = compound_file({"Book": sheet_file([("valve", "A")] * 300)})
    fat = len(book) - 512  # its last sector says which sector follows which
    broken = book[: fat + 4] + (0).to_bytes(4, "little") + book[fat + 8 :]
    with pytest.raises(DocumentError):
        converted(broken, tmp_path / "a.xls")
    assert converted(book, tmp_path / "b.xls").blocks


def test_what_xlrd_has_to_say_of_a_file_is_told(tmp_path: Path) -> None:
    (note,) = converted(sheet_file([("valve", "flow"), ("A", 3.0)]), tmp_path / "a.xls").notes
    assert "No CODEPAGE record" in note


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.xls", b"<html><body><table><tr><th>valve</th></tr><tr><td>A</td></tr></table></body></html>"),
        ("a.xls", b"valve\tflow\nA\t3\n"),
        ("a.doc", b"{\\rtf1 valve A}"),
        ("a.doc", b"valve A\n"),
    ],
)
def test_what_is_only_called_so_is_read_as_what_it_is(name: str, data: bytes, tmp_path: Path) -> None:
    said = " ".join(text for _, text in written(converted(data, tmp_path / name)))
    assert "valve" in said and "A" in said


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.doc", word_file([("x\r", 0, b"")], flags=0x0100), "is encrypted"),
        ("a.doc", compound_file({"Other": b"x"}), "is no Word document"),
        ("a.ppt", compound_file({"Other": b"x"}), "is no presentation"),
        ("a.ppt", compound_file({"PowerPoint Document": b"x", "Current User": b"x"}), "PowerPoint 95"),
        ("a.xls", compound_file({"Other": b"x"}), "cannot be read as .xls"),
        ("a.ppt", b"\0\1\2\3", "is no .ppt"),
        (
            "a.xls",
            b"<?xml version='1.0'?><Workbook xmlns='urn:schemas-microsoft-com:office:spreadsheet'/>",
            "XML of Office 2003",
        ),
    ],
)
def test_other_files_are_refused_with_a_reason(name: str, data: bytes, reason: str, tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=reason):
        converted(data, tmp_path / name)


def test_properties_that_a_file_only_says_it_has_are_not_read(tmp_path: Path) -> None:
    import olefile

    (tmp_path / "a").write_bytes(compound_file({"\x05SummaryInformation": summary(b"Valves in use", count=0xFFFFFFF0)}))
    with olefile.OleFileIO(tmp_path / "a") as ole:
        assert title_of(ole) == ""
