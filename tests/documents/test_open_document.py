"""OpenDocument: texts, sheets and slides, as LibreOffice writes them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from kgrag.documents.blocks import BlockDocument
from kgrag.documents.open_document import convert_open_document
from kgrag.errors import DocumentError

SPACES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
    for short, long in {
        **{name: name for name in ("office", "text", "table", "style", "presentation", "chart")},
        **{"draw": "drawing", "svg": "svg-compatible"},
    }.items()
)
NAMES = f'{SPACES} xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'


def document(body: str, *, styles: str = "", root: str = "office:document-content") -> str:
    automatic = f"<office:automatic-styles>{styles}</office:automatic-styles>"
    return f'<?xml version="1.0"?><{root} {NAMES}>{automatic}<office:body>{body}</office:body></{root}>'


def written(path: Path, body: str, *, styles: str = "", title: str = "", **parts: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("content.xml", document(body, styles=styles))
        archive.writestr(
            "meta.xml", f"<office:document-meta {NAMES}><dc:title>{title}</dc:title></office:document-meta>"
        )
        for name, text in parts.items():
            archive.writestr(name, text)
    return path


def text(tmp_path: Path, body: str, *, styles: str = "", title: str = "", **parts: str) -> BlockDocument:
    path = written(tmp_path / "a.odt", f"<office:text>{body}</office:text>", styles=styles, title=title, **parts)
    return convert_open_document(path, suffix="odt", document_path="docs/a.odt")


def test_headings_runs_and_breaks(tmp_path: Path) -> None:
    read = text(
        tmp_path,
        '<text:p text:style-name="P1">X-100</text:p><text:h text:outline-level="2">Power<text:bookmark text:name="p"/></text:h>'
        '<text:p>3.<text:span>3</text:span> V<text:s text:c="2"/>and<text:tab/>5<text:line-break/>A</text:p>',
        styles='<style:style style:name="P1" style:parent-style-name="Title"/>',
        title="The X-100",
    )
    assert read.title == "The X-100"
    assert [(block.kind, block.level, block.text) for block in read.blocks] == [
        ("heading", 1, "X-100"),
        ("heading", 2, "Power"),
        ("paragraph", 0, "3.3 V and 5\nA"),
    ]
    assert read.blocks[1].anchors == ("p",)


def test_lists_are_numbered_as_their_style_says_and_go_on(tmp_path: Path) -> None:
    styles = (
        '<text:list-style style:name="L1" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0">'
        '<text:list-level-style-number style:num-format="A"/>'
        "<text:list-level-style-bullet/></text:list-style>"
    )
    read = text(
        tmp_path,
        '<text:list text:style-name="L1"><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>in</text:p>'
        "</text:list-item></text:list></text:list-item></text:list><text:p>between</text:p>"
        '<text:list text:style-name="L1" text:continue-numbering="true"><text:list-item><text:p>two</text:p></text:list-item></text:list>',
        styles=styles,
    )
    assert [block.text for block in read.blocks] == ["A. one", "  - in", "between", "B. two"]


def test_notes_and_frames_stand_behind_their_paragraph_and_comments_are_counted(tmp_path: Path) -> None:
    note = "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>At 25 °C.</text:p></text:note-body></text:note>"
    frame = (
        "<draw:frame><draw:text-box><text:p>Figure 1<draw:frame><svg:title>The board</svg:title></draw:frame></text:p>"
        "</draw:text-box></draw:frame>"
    )
    read = text(
        tmp_path,
        f"<text:p>Hot{note} board{frame}<office:annotation><dc:creator>A</dc:creator><text:p>check</text:p></office:annotation>.</text:p>"
        "<text:p>Next.</text:p>",
    )
    assert [block.text for block in read.blocks] == ["Hot[1] board.", "[1] At 25 °C.", "Figure 1", "The board", "Next."]
    assert [(line.rule, line.text) for line in read.removed] == [("comment", "check")]


def test_what_was_deleted_and_indexes_are_no_text(tmp_path: Path) -> None:
    read = text(
        tmp_path,
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion></text:changed-region>"
        "</text:tracked-changes><text:table-of-content><text:index-body><text:p>1 Power 3</text:p></text:index-body>"
        "</text:table-of-content><text:section><text:p>kept</text:p></text:section>",
    )
    assert [block.text for block in read.blocks] == ["kept"]
    assert [(line.rule, line.text) for line in read.removed] == [("table of contents", "1 Power 3")]


def test_tables_links_listings_and_charts(tmp_path: Path) -> None:
    chart = document(
        "<office:chart><chart:chart><chart:title><text:p>Load</text:p></chart:title><table:table>"
        + "".join(
            f"<table:table-row><table:table-cell><text:p>{name}</text:p></table:table-cell><table:table-cell><text:p>{value}</text:p>"
            "</table:table-cell></table:table-row>"
            for name, value in (("idle", "2 mA"), ("busy", "7 mA"))
        )
        + "</table:table></chart:chart></office:chart>"
    )
    read = text(
        tmp_path,
        '<text:p><text:a xlink:href="../b.odt#x">the other</text:a></text:p>'
        '<text:p text:style-name="Preformatted_20_Text">int a;</text:p><text:p text:style-name="Preformatted_20_Text">int b;</text:p>'
        "<table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>Rail</text:p></table:table-cell>"
        "<table:table-cell><text:p>Voltage</text:p></table:table-cell></table:table-row></table:table-header-rows><table:table-row>"
        "<table:table-cell><text:p>VDD</text:p></table:table-cell><table:table-cell><text:p>3.3 V</text:p></table:table-cell>"
        '</table:table-row></table:table><text:p><draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></text:p>',
        **{"Object 1/content.xml": chart},
    )
    link, listing, table, title, numbers = read.blocks
    assert [one.href for one in link.links] == ["docs/b.odt#x"]
    assert (listing.kind, listing.text) == ("code", "int a;\nint b;")
    assert table.header is not None and table.header.cells == ("Rail", "Voltage")
    assert [row.cells for row in table.rows] == [("VDD", "3.3 V")]
    assert title.text == "Load"
    assert [row.cells for row in numbers.rows] == [("idle", "2 mA"), ("busy", "7 mA")]


def test_columns_named_in_a_style_of_headings_are_those_of_a_table(tmp_path: Path) -> None:
    def row(*cells: str) -> str:
        inside = "".join(f"<table:table-cell>{cell}</table:table-cell>" for cell in cells)
        return f"<table:table-row>{inside}</table:table-row>"

    named = ('<text:h text:outline-level="3">Rail</text:h>', '<text:h text:outline-level="3">Voltage</text:h>')
    values = ("<text:p>VDD</text:p>", "<text:p>3.3 V</text:p>")
    placed = ('<text:h text:outline-level="3">Rail</text:h><text:p>VDD</text:p>', "<text:p>3.3 V</text:p>")
    read = text(
        tmp_path,
        f"<office:text><table:table>{row(*named)}{row(*values)}</table:table><table:table>{row(*placed)}</table:table>"
        "</office:text>",
    )
    table, *others = read.blocks
    assert (table.header and table.header.cells, table.lines) == (
        ("Rail", "Voltage"),
        ("Rail | Voltage", "VDD | 3.3 V"),
    )
    assert [(block.kind, block.text) for block in others] == [
        ("heading", "Rail"),
        ("paragraph", "VDD"),
        ("paragraph", "3.3 V"),
    ]


def test_sheets_with_repeated_cells(tmp_path: Path) -> None:
    row = (
        '<table:table-row table:number-rows-repeated="{}"><table:table-cell><text:p>{}</text:p></table:table-cell>'
        '<table:table-cell table:number-columns-repeated="2" office:value="5"><text:p>{}</text:p></table:table-cell>'
        '<table:table-cell table:number-columns-repeated="16000"/></table:table-row>'
    )
    body = (
        '<office:spreadsheet><table:table table:name="Rails">'
        + row.format(1, "Name", "Volt")
        + row.format(2, "VDD", "5 V")
        + '<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row></table:table></office:spreadsheet>'
    )
    path = written(tmp_path / "a.ods", body)
    heading, table = convert_open_document(path, suffix="ods", document_path="a.ods").blocks
    assert (heading.text, heading.page_start) == ("Rails", 1)
    assert table.header is not None and table.header.cells == ("Name", "Volt", "Volt")
    assert [one.cells for one in table.rows] == [("VDD", "5 V", "5 V")] * 2


def test_slides_have_their_number_and_title(tmp_path: Path) -> None:
    slide = (
        '<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>'
        "<draw:frame><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame><draw:custom-shape><text:p>a shape</text:p>"
        "</draw:custom-shape><presentation:notes><draw:frame><draw:text-box><text:p>say it</text:p></draw:text-box></draw:frame>"
        "</presentation:notes></draw:page>"
    )
    body = f"<office:presentation>{slide.format('One', '3.3 V')}{slide.format('Two', '5 V')}</office:presentation>"
    read = convert_open_document(written(tmp_path / "a.odp", body), suffix="odp", document_path="a.odp")
    assert [(block.kind, block.text, block.page_start) for block in read.blocks] == [
        (kind, words, page)
        for page, title, value in ((1, "One", "3.3 V"), (2, "Two", "5 V"))
        for kind, words in (("heading", title), ("paragraph", value), ("paragraph", "a shape"), ("paragraph", "say it"))
    ]


def test_one_xml_file_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "a.fodt"
    path.write_text(document("<office:text><text:p>flat 3 V</text:p></office:text>", root="office:document"))
    assert [block.text for block in convert_open_document(path, suffix="odt", document_path="a").blocks] == ["flat 3 V"]


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"META-INF/manifest.xml": "<m><encryption-data/></m>"}, "is encrypted"),
        ({}, "is a .ods with another name"),
        ({"content.xml": "<a"}, "is broken"),
        ({"content.xml": "<a/>"}, "has neither text nor sheets nor slides"),
        (
            {"content.xml": '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>'},
            "has neither text nor sheets",
        ),
    ],
)
def test_what_is_refused(tmp_path: Path, parts: dict[str, str], reason: str) -> None:
    path = tmp_path / "a.odt"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {"content.xml": document("<office:spreadsheet/>"), **parts}.items():
            archive.writestr(name, content)
    with pytest.raises(DocumentError, match=reason):
        convert_open_document(path, suffix="odt", document_path="a.odt")


def test_a_broken_part_beside_the_text_is_named(tmp_path: Path) -> None:
    read = text(tmp_path, "<text:h text:outline-level='x'>A</text:h>", **{"styles.xml": "<a"})
    assert [block.text for block in read.blocks] == ["A"]
    assert read.notes == ("its part styles.xml is broken and was not read",)


def test_an_id_that_is_none_breaks_no_file(tmp_path: Path) -> None:
    read = text(
        tmp_path, '<text:p xml:id="geo1#r3">At 5 V.</text:p><text:p xml:id="a">At 3 V.</text:p><text:p xml:id="a"/>'
    )
    assert [block.text for block in read.blocks] == ["At 5 V.", "At 3 V."]
    with pytest.raises(DocumentError, match="is broken"):
        text(tmp_path, '<text:p xml:id="geo1#r3">At 5 V.</text:q>')


def test_other_content_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.odt"
    path.write_bytes(b"%PDF-1.7 x")
    with pytest.raises(DocumentError, match="not an OpenDocument file"):
        convert_open_document(path, suffix="odt", document_path="a.odt")


def test_a_table_within_a_table_stands_behind_it(tmp_path: Path) -> None:
    def table(*rows: tuple[str, ...], attribute: str = "") -> str:
        cells = [
            "".join(
                f"<table:table-cell>{said if said.startswith('<') else f'<text:p>{said}</text:p>'}</table:table-cell>"
                for said in row
            )
            for row in rows
        ]
        written = "".join(f"<table:table-row>{row}</table:table-row>" for row in cells)
        return f"<table:table{attribute}>{written}</table:table>"

    inner = table(("Min", "Max"), ("3 V", "5 V"))
    divided = table(("red",), ("blue",), attribute=' table:is-sub-table="true"')
    outer = table(("Rail", f"<text:p>see</text:p>{inner}<text:p>below</text:p>"), ("Colour", divided), ("Pins", "8"))
    read = text(tmp_path, f"{outer}<text:p>After.</text:p>{table((inner,))}")
    assert [(block.kind, block.lines) for block in read.blocks] == [
        ("table", ("Rail | see; below", "Colour | red", "Colour | blue", "Pins | 8")),
        ("table", ("Min | Max", "3 V | 5 V")),
        ("paragraph", ("After.",)),
        ("table", ("Min | Max", "3 V | 5 V")),
    ]


def test_cells_that_a_cell_was_divided_into_are_cells_of_rows_beside_it(tmp_path: Path) -> None:
    def row(*cells: str) -> str:
        return f"<table:table-row>{''.join(cells)}</table:table-row>"

    def cell(said: str, *, style: str = "P1", attributes: str = "") -> str:
        said = said if said.startswith("<") else f'<text:p text:style-name="{style}">{said}</text:p>'
        return f"<table:table-cell{attributes}>{said}</table:table-cell>"

    inner = "".join(row(cell(name), cell(what)) for name, what in (("-fast", "Run fast"), ("-slow", "Run slowly")))
    divided = f'<table:table table:is-sub-table="true">{inner}</table:table>'
    head = row(*(cell(name, style="P2") for name in ("Group", "Option", "Meaning")))
    whole = cell(divided, attributes=' table:number-columns-spanned="2"')
    rows = head + row(cell("Speed"), whole, "<table:covered-table-cell/>") + row(*map(cell, ("Other", "-help", "Help")))
    styles = '<style:style style:name="P2" style:parent-style-name="Table_20_Heading"/>'
    read = text(tmp_path, f"<table:table>{rows}</table:table>", styles=styles)
    assert read.blocks[0].header is not None
    assert read.blocks[0].lines == (
        "Group | Option | Meaning",
        "Speed | -fast | Run fast",
        "Speed | -slow | Run slowly",
        "Other | -help | Help",
    )
