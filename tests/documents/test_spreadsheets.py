"""Excel: regions as tables, values as Excel shows them, and sheets that claim to be endless."""

from __future__ import annotations

import datetime
import zipfile
from pathlib import Path

import pytest
from openpyxl import Workbook
from openpyxl.chart import BarChart
from openpyxl.comments import Comment

from kgrag.documents.sheets import Span, sheet_blocks
from kgrag.documents.spreadsheets import convert_spreadsheet
from kgrag.errors import DocumentError


def test_what_nothing_empty_parts_is_a_table(tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.active
    sheet.title = "Pins"
    for row in [
        ("Pin", "Name", None, "Rail", "Voltage"),
        (1, "VDD", None, "R1", 1.8),
        (2, None, None, "R2", 3.3),
        (),
        ("a note",),
        (),
        (1, 2),
        (3, 4),
    ]:
        sheet.append(row)
    book.create_sheet("Empty")
    book.create_sheet("More")["B2"] = "x"
    book.save(tmp_path / "a.xlsx")
    document = convert_spreadsheet(tmp_path / "a.xlsx")
    assert document.title == "a"
    assert [(block.kind, block.page_start, block.lines) for block in document.blocks] == [
        ("heading", 1, ("Pins",)),
        ("table", 1, ("Pin | Name", "1 | VDD", "2 | ")),
        ("table", 1, ("Rail | Voltage", "R1 | 1.8", "R2 | 3.3")),
        ("paragraph", 1, ("a note",)),
        ("table", 1, ("1 | 2", "3 | 4")),
        ("heading", 3, ("More",)),
        ("paragraph", 3, ("x",)),
    ]
    assert [block.header is not None for block in document.blocks if block.kind == "table"] == [True, True, False]


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (0.1 + 0.2, "General", "0.3"),
        (3.0, "0.00", "3"),
        (1234567, "#,##0", "1234567"),
        (0.055, "0.0%", "5.5%"),
        (3.3, '0.0" V"', "3.3 V"),
        (5, '"≤ "0\\ "mA"', "≤ 5 mA"),
        (3.3, "#,##0.00 €", "3.3 €"),
        (-4, "[$CHF-807] 0", "-CHF 4"),
        (5, '_-* 0\\ "%"_-', "5 %"),
        (True, "General", "TRUE"),
        (datetime.datetime(2024, 5, 6), "yyyy-mm-dd", "2024-05-06"),
        (datetime.datetime(2024, 5, 6, 7, 8), "yyyy-mm-dd hh:mm", "2024-05-06T07:08:00"),
        ("two\nlines", "General", "two lines"),
    ],
)
def test_values_are_written_as_excel_shows_them(tmp_path: Path, value: object, number_format: str, text: str) -> None:
    book = Workbook()
    book.active["A1"] = value
    book.active["A1"].number_format = number_format
    book.save(tmp_path / "a.xlsx")
    assert convert_spreadsheet(tmp_path / "a.xlsx").blocks[1].text == text


def test_a_cell_in_the_last_corner_costs_nothing(tmp_path: Path) -> None:
    book = Workbook()
    book.active["A1"], book.active["XFD1048576"] = "first", "last"
    book.save(tmp_path / "a.xlsx")
    assert [block.text for block in convert_spreadsheet(tmp_path / "a.xlsx").blocks] == ["Sheet", "first", "last"]


def test_a_broken_file_is_an_error(tmp_path: Path) -> None:
    Workbook().save(tmp_path / "a.xlsx")
    data = (tmp_path / "a.xlsx").read_bytes()
    (tmp_path / "a.xlsx").write_bytes(data[:2000])
    with pytest.raises(DocumentError, match="broken"):
        convert_spreadsheet(tmp_path / "a.xlsx")


def test_what_lies_over_the_cells_comes_behind_them(tmp_path: Path) -> None:
    book = Workbook()
    book.active.title, book.active["A1"] = "Pins", "VDD"
    book.active["A1"].comment = Comment("To be checked.", "somebody")
    for sheet in (book.active, book.create_sheet("Drawn")):
        sheet.add_chart(BarChart(), "C3")
    book.save(tmp_path / "a.xlsx")
    box = (
        b'<xdr:sp><xdr:txBody xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
        b"<a:p><a:r><a:t>Never </a:t></a:r><a:r><a:t>above 3.6 V</a:t></a:r></a:p></xdr:txBody></xdr:sp>"
    )
    with zipfile.ZipFile(tmp_path / "a.xlsx") as archive, zipfile.ZipFile(tmp_path / "b.xlsx", "w") as new:
        for name in archive.namelist():
            data = archive.read(name)
            if name == "xl/drawings/drawing2.xml":
                data = data.replace(b"</wsDr>", box.replace(b"xdr:", b"") + b"</wsDr>")
            new.writestr(name, data)
    assert [block.lines for block in convert_spreadsheet(tmp_path / "b.xlsx").blocks] == [
        *(("Pins",), ("VDD",), ("A1: To be checked.",), ("Drawn",), ("Never above 3.6 V",))
    ]


def test_a_sheet_whose_styles_are_wrong_is_read_with_its_units(tmp_path: Path) -> None:
    book = Workbook()
    book.active.append(["Supply", 3.3])
    book.active["B1"].number_format = '0.0" V"'
    book.save(tmp_path / "a.xlsx")
    with zipfile.ZipFile(tmp_path / "a.xlsx") as archive, zipfile.ZipFile(tmp_path / "b.xlsx", "w") as new:
        for name in archive.namelist():
            new.writestr(name, archive.read(name).replace(b'patternType="gray125"', b'patternType="tartan"'))
    assert convert_spreadsheet(tmp_path / "b.xlsx").blocks[-1].lines == ("Supply | 3.3 V",)


def test_links_to_other_workbooks_that_are_not_there_do_not_matter(tmp_path: Path) -> None:
    book = Workbook()
    book.active.append(["Supply", 3.3])
    book.save(tmp_path / "a.xlsx")
    office = b"http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    link = b"<externalReferences xmlns:r='%s'><externalReference r:id='rId99'/></externalReferences>" % office
    relation = b"<Relationship Id='rId99' Target='externalLinks/externalLink1.xml' Type='%s/externalLink'/>" % office
    with zipfile.ZipFile(tmp_path / "a.xlsx") as archive, zipfile.ZipFile(tmp_path / "b.xlsx", "w") as new:
        for name in archive.namelist():
            data = archive.read(name).replace(b"</sheets>", b"</sheets>" + link)
            new.writestr(
                name, data.replace(b"</Relationships>", relation + b"</Relationships>") if "workbook" in name else data
            )
        new.writestr("xl/externalLinks/externalLink1.xml", "<externalLink/>")
    assert convert_spreadsheet(tmp_path / "b.xlsx").blocks[-1].lines == ("Supply | 3.3",)


def test_a_cell_of_a_style_that_the_file_does_not_have_is_read(tmp_path: Path) -> None:
    book = Workbook()
    book.active["A1"], book.active["B1"] = 24, "bar"
    book.save(tmp_path / "a.xlsx")
    with zipfile.ZipFile(tmp_path / "a.xlsx") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(b'<c r="A1"', b'<c r="A1" s="77"')
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    assert convert_spreadsheet(tmp_path / "a.xlsx").blocks[1].lines == ("24 | bar",)


def test_titles_of_a_chart_and_its_axes_follow_the_cells(tmp_path: Path) -> None:
    book = Workbook()
    book.active.append(("valve", "flow"))
    book.active.append(("A", 3))
    chart = BarChart()
    chart.title, chart.y_axis.title = "Flow by valve", "Flow (l/min)"
    book.active.add_chart(chart, "D2")
    book.save(tmp_path / "a.xlsx")
    assert [block.lines for block in convert_spreadsheet(tmp_path / "a.xlsx").blocks[2:]] == [
        ("Flow by valve",),
        ("Flow (l/min)",),
    ]


def _tables(rows: list[tuple[object, ...]], tmp_path: Path, *merged: str) -> list[tuple[str, ...]]:
    """Write rows as a sheet, and return the lines of its blocks but its name."""
    book = Workbook()
    for row in rows:
        book.active.append(row)
    for cells in merged:
        book.active.merge_cells(cells)
    book.save(tmp_path / "a.xlsx")
    return [block.lines for block in convert_spreadsheet(tmp_path / "a.xlsx").blocks[1:]]


def test_merged_names_their_groups_and_units_are_one_header(tmp_path: Path) -> None:
    rows = [
        ("Motor", "Voltage", None, "Mass"),
        (None, "min", "max", None),
        (None, "V", "V", "kg"),
        ("M1", 12, 24, 1.5),
        ("M2", 24, 48, 2.5),
    ]
    assert _tables(rows, tmp_path, "A1:A3", "B1:C1", "D1:D2") == [
        ("Motor | Voltage min V | Voltage max V | Mass kg", "M1 | 12 | 24 | 1.5", "M2 | 24 | 48 | 2.5")
    ]
    assert _tables(rows, tmp_path) == _tables(rows, tmp_path, "A1:A3", "B1:C1", "D1:D2")


def test_a_title_stands_above_its_table_and_a_note_below_it(tmp_path: Path) -> None:
    rows = [
        ("Torques",),
        ("Screw", "Nm"),
        ("M6", 10),
        ("M8", 25),
        ("All of them for screws that are dry and were not used before.",),
    ]
    assert _tables(rows, tmp_path) == [
        ("Torques",),
        ("Screw | Nm", "M6 | 10", "M8 | 25"),
        ("All of them for screws that are dry and were not used before.",),
    ]


def test_a_cell_over_several_rows_belongs_to_each(tmp_path: Path) -> None:
    rows = [("Plant", "Line", "Tons"), ("North", "N1", 3), (None, "N2", 4), ("South", "S1", 5)]
    assert _tables(rows, tmp_path, "A2:A3") == [
        ("Plant | Line | Tons", "North | N1 | 3", "North | N2 | 4", "South | S1 | 5")
    ]


def test_rows_behind_an_empty_one_go_on_with_the_table(tmp_path: Path) -> None:
    rows = [
        ("Part", "Stock", "Price"),
        ("Nut", 3, 4),
        ("Bolt", 2, 1),
        (),
        ("All", 5, 5),
        (),
        (),
        ("x", "y", "z"),
        (1, 2, 3),
    ]
    assert _tables(rows, tmp_path) == [
        ("Part | Stock | Price", "Nut | 3 | 4", "Bolt | 2 | 1", "All | 5 | 5"),
        ("x | y | z", "1 | 2 | 3"),
    ]


def test_labels_with_their_values_have_no_header(tmp_path: Path) -> None:
    assert _tables([("Customer:", "Smith"), ("Town:", "Ulm")], tmp_path) == [("Customer: | Smith", "Town: | Ulm")]
    document = convert_spreadsheet(tmp_path / "a.xlsx")
    assert document.blocks[1].header is None


def test_a_formula_that_nobody_computed_is_read_itself(tmp_path: Path) -> None:
    assert _tables([("Item", "Total"), ("Nut", "=2*3"), ("Bolt", '=IF(B2<7,"a","b")')], tmp_path) == [
        ("Item | Total", "Nut | =2*3", 'Bolt | =IF(B2<7,"a","b")')
    ]
    assert convert_spreadsheet(tmp_path / "a.xlsx").notes == (
        "2 formulas have no computed value: they are read as formulas",
    )


def test_cells_that_claim_all_rows_and_rows_apart_without_end_cost_no_more_than_they_say() -> None:
    rows = [{1: "Part", 2: "Size", 3: "Mass"}, *({1: "Nut", 2: str(row), 3: "4"} for row in range(2_000))]
    spans = [Span(row, 1_048_575, 1, 16_384) for row in range(2_000)]
    table = sheet_blocks("S", rows, 1, (), spans=spans)[1]
    assert (len(table.rows), table.rows[-1].cells) == (2_000, ("Nut", "1999", "4"))
    apart = [part for row in rows for part in (row, {})]
    assert len(sheet_blocks("S", [rows[0], rows[1], {}, *apart[4:]], 1, ())[1].rows) == 2_000
