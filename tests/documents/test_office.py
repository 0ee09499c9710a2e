"""Word and PowerPoint: words whole, headings, lists, tables, links; and every way in which such a file can be wrong."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from docx import Document
from docx.enum.style import WD_STYLE_TYPE
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from lxml import etree
from openpyxl import Workbook
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.opc.package import Part as SlidePart
from pptx.opc.packuri import PackURI as SlideURI

from kgrag.documents import Converted, office_package
from kgrag.documents.blocks import BlockDocument
from kgrag.documents.office import convert_office
from kgrag.documents.word_body import prepare_word
from kgrag.errors import DocumentError

DIAGRAM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def converted(path: Path) -> BlockDocument:
    return convert_office(path, suffix=path.suffix[1:], document_path=f"docs/{path.name}")


def add_link(paragraph: Any, target: str, text: str) -> None:
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), paragraph.part.relate_to(target, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    run, words = OxmlElement("w:r"), OxmlElement("w:t")
    words.text = text
    run.append(words)
    link.append(run)
    paragraph._p.append(link)


def test_runs_of_different_formatting_do_not_part_words(tmp_path: Path) -> None:
    document = Document()
    paragraph = document.add_paragraph("Supply 3.")
    paragraph.add_run("3").bold = True
    paragraph.add_run(" V, X-")
    paragraph.add_run("1000").italic = True
    paragraph.add_run(", I")
    paragraph.add_run("2").font.superscript = True
    paragraph.add_run("C, V")
    paragraph.add_run("DD").font.subscript = True
    document.save(str(tmp_path / "a.docx"))
    assert [block.text for block in converted(tmp_path / "a.docx").blocks] == ["Supply 3.3 V, X-1000, I²C, VDD"]


def test_a_word_file_keeps_headings_lists_tables_and_links(tmp_path: Path) -> None:
    document = Document()
    document.core_properties.title = "X-100 manual"
    document.sections[0].header.paragraphs[0].text = "Acme"
    document.add_heading("Power", 1)
    paragraph = document.add_paragraph("First. See ")
    add_link(paragraph, "power.html#vdd", "the power page")
    paragraph.add_run(" and ")
    add_link(paragraph, "https://example.com/a", "our site")
    paragraph.add_run(".")
    document.add_heading("Rails", 2)
    document.add_paragraph("2x I2C", style="List Bullet")
    document.add_paragraph("3.3 V", style="List Bullet 2")
    document.add_paragraph("one", style="List Number")
    table = document.add_table(rows=2, cols=3)
    for row, texts in zip(table.rows, [("Rail", "Min", "Max"), ("R1", "3.0 V", "3.6 V")], strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    merged = table.add_row().cells
    merged[0].merge(merged[2]).text = "all at 25 °C"
    document.save(str(tmp_path / "a.docx"))

    result = converted(tmp_path / "a.docx")
    assert result.title == "X-100 manual"
    assert [(block.kind, block.level, block.text) for block in result.blocks[:-1]] == [
        ("heading", 1, "Power"),
        ("paragraph", 0, "First. See the power page and our site."),
        ("heading", 2, "Rails"),
        ("list_item", 1, "- 2x I2C"),
        ("list_item", 2, "  - 3.3 V"),
        ("list_item", 1, "1. one"),
    ]
    assert [(link.href, link.anchor, link.context) for link in result.blocks[1].links] == [
        ("docs/power.html#vdd", "the power page", "See the power page and our site."),
        ("https://example.com/a", "our site", "See the power page and our site."),
    ]
    last = result.blocks[-1]
    assert last.header is not None and last.header.cells == ("Rail", "Min", "Max")
    assert [row.cells for row in last.rows] == [("R1", "3.0 V", "3.6 V"), ("all at 25 °C", "", "")]
    assert [(line.rule, line.text) for line in result.removed] == [("running header or footer", "Acme")]


def test_slides_are_pages_and_their_titles_come_first(tmp_path: Path) -> None:
    deck = Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[5])
    table = first.shapes.add_table(2, 2, 0, 0, 3_000_000, 1_000_000).table
    for row in range(2):
        for column in range(2):
            table.cell(row, column).text = f"{row}{column}"
    first.shapes.title.text = "Rails"
    first.shapes._spTree.append(first.shapes.title._element)  # the title last on the slide
    second = deck.slides.add_slide(deck.slide_layouts[1])
    second.shapes.title.text, second.placeholders[1].text = "Power", "3.3 V"
    second.notes_slide.notes_text_frame.text = "say 5 mA"
    deck.save(str(tmp_path / "a.pptx"))
    blocks = converted(tmp_path / "a.pptx").blocks
    assert [(block.kind, block.page_start, block.lines) for block in blocks] == [
        ("heading", 1, ("Rails",)),
        ("table", 1, ("00 | 01", "10 | 11")),
        ("heading", 2, ("Power",)),
        ("list_item", 2, ("- 3.3 V",)),
        ("paragraph", 2, ("say 5 mA",)),
    ]


def deck_with_charts(path: Path) -> None:
    new_data: Any = CategoryChartData  # it has no types
    deck = Presentation()
    for number in (1, 2):
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = f"Current {number}"
        drawn = new_data()
        drawn.categories = ["Standby", "Transmit"]
        drawn.add_series("X-100, mA", (0.5, 120.0))
        slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 3_000_000, 2_000_000, drawn)
    deck.save(str(path))


def test_the_numbers_of_a_chart_are_a_table(tmp_path: Path) -> None:
    deck_with_charts(tmp_path / "a.pptx")
    tables = [block for block in converted(tmp_path / "a.pptx").blocks if block.kind == "table"]
    assert [block.lines for block in tables] == [(" | X-100, mA", "Standby | 0.5", "Transmit | 120")] * 2


def test_a_chart_that_cannot_be_read_is_named_and_the_other_slides_are_kept(tmp_path: Path) -> None:
    deck_with_charts(tmp_path / "a.pptx")
    with zipfile.ZipFile(tmp_path / "a.pptx") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    chart = sorted(name for name in parts if "charts/chart" in name and name.endswith(".xml"))[0]
    parts[chart] = parts[chart].replace(b"c:barChart>", b"c:area3DChart>")
    with zipfile.ZipFile(tmp_path / "a.pptx", "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    found = converted(tmp_path / "a.pptx")
    assert [block.lines[0] for block in found.blocks] == ["Current 1", "Current 2", " | X-100, mA"]
    assert len(found.notes) == 1 and re.match(r"slide 1: a chart cannot be read and was left out", found.notes[0])


def test_a_deck_without_slides_is_said_to_have_none(tmp_path: Path) -> None:
    Presentation().save(str(tmp_path / "a.pptx"))
    with pytest.raises(DocumentError, match="has no slides"):
        converted(tmp_path / "a.pptx")


def test_a_comment_in_the_xml_of_a_word_file_is_no_element(tmp_path: Path) -> None:
    document = Document()
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "Supply", "3.3 V"
    table._tbl.append(etree.Comment("made by a program"))
    document.save(str(tmp_path / "a.docx"))
    assert [block.lines for block in converted(tmp_path / "a.docx").blocks] == [("Supply | 3.3 V",)]


def rewritten(path: Path, to: Path, change: Callable[[str, bytes], tuple[str, bytes] | None]) -> Path:
    """Write a file anew, each part as `change` gives it."""
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as new:
        for name in archive.namelist():
            if (part := change(name, archive.read(name))) is not None:
                new.writestr(*part)
    return to


CHARTS = "http://schemas.openxmlformats.org/drawingml/2006/chart"


def word(body: str, path: Path, **parts: bytes) -> Path:
    """Write a Word file with this body and parts beside it (`footnotes`, `endnotes`, or the data of a SmartArt as `diagramData`)."""
    document = Document()
    spaces = f'{nsdecls("w", "r")} xmlns:dgm="{DIAGRAM}"'
    for element in reversed(list(parse_xml(f"<w:body {spaces}>{body}</w:body>"))):
        document.element.body.insert(0, element)
    for name, content in parts.items():
        part = Part(PackURI(f"/word/{name}.xml"), "application/xml", content, document.part.package)
        identifier = document.part.relate_to(part, f"{RELATIONS}/{name}")
        for reference in document.element.body.iter(f"{{{DIAGRAM}}}relIds"):
            reference.set(qn("r:dm"), identifier)
        for reference in document.element.body.iter(f"{{{CHARTS}}}chart"):
            reference.set(qn("r:id"), identifier)
        if name == "footnotes":
            link = part.relate_to("https://example.org/a", RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
            assert link == "rId1"
    document.save(str(path))
    return path


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def cell(content: str) -> str:
    return f"<w:tc>{content}</w:tc>"


def rows(*texts: str) -> str:
    return "".join(f"<w:tr>{''.join(cell(f'<w:p>{run(one)}</w:p>') for one in row.split())}</w:tr>" for row in texts)


def lines(path: Path) -> list[str]:
    return [line for block in converted(path).blocks for line in block.lines]


@pytest.mark.parametrize(
    "inner",
    [
        *(f'<w:{name} w:id="1" w:author="a">{run("3.3 V")}</w:{name}>' for name in ("ins", "moveTo")),
        *(f"<w:{name}>{run('3.3 V')}</w:{name}>" for name in ("smartTag", "customXml", "fldSimple", "dir", "bdo")),
        f"<w:sdt><w:sdtContent>{run('3.3 V')}</w:sdtContent></w:sdt>",
        f"<w:r><w:ruby><w:rubyPr/><w:rt>{run('read so')}</w:rt><w:rubyBase>{run('3.3 V')}</w:rubyBase></w:ruby></w:r>",
        f'{run("3.3 V")}<w:moveFrom w:id="1" w:author="a">{run("gone")}</w:moveFrom>',
    ],
)
def test_text_is_read_in_whatever_word_wraps_it(tmp_path: Path, inner: str) -> None:
    assert lines(word(f"<w:p>{run('It takes ')}{inner}{run(' at most.')}</w:p>", tmp_path / "a.docx")) == [
        "It takes 3.3 V at most."
    ]


def test_controls_changes_and_tables_in_cells_are_read(tmp_path: Path) -> None:
    inner = f"<w:tbl><w:tblPr/><w:tblGrid/>{rows('Pin Use', '1 GND')}</w:tbl>"
    control = f"<w:sdt><w:sdtContent><w:p>{run('X-100')}</w:p></w:sdtContent></w:sdt>"
    table = (
        f"<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>{rows('Name Value')}"
        f"<w:tr>{cell(control)}{cell(inner + '<w:p/>')}</w:tr>"
        f"<w:sdt><w:sdtContent>{rows('Supply 5_V')}</w:sdtContent></w:sdt></w:tbl>"
    )
    blocks = converted(word(f"{table}<w:p>{run('After.')}</w:p>", tmp_path / "a.docx")).blocks
    assert [block.lines for block in blocks] == [
        ("Name | Value", "X-100 | ", "Supply | 5_V"),
        ("Pin | Use", "1 | GND"),
        ("After.",),
    ]


def test_a_table_whose_columns_are_not_listed_is_read(tmp_path: Path) -> None:
    table = f"<w:tbl>{rows('Name Value', 'Supply 5_V')}</w:tbl>"
    assert lines(word(table, tmp_path / "a.docx")) == ["Name | Value", "Supply | 5_V"]


@pytest.mark.parametrize(
    ("first", "second", "is_header"),
    [
        (("Author:", "J. Roe"), ("Date:", "May 2024"), False),
        (("-v, --verbose", "Say more"), ("-q", "Say less"), False),
        (("Rail:", "Voltage:"), ("VDD", "3.3 V"), True),
        (("Rail", "Voltage"), ("VDD", "3.3 V"), True),
    ],
)
def test_a_row_that_names_its_own_values_is_no_header(
    tmp_path: Path, first: tuple[str, str], second: tuple[str, str], is_header: bool
) -> None:
    document = Document()
    table = document.add_table(rows=0, cols=2)
    for row in (first, second):
        for cell, said in zip(table.add_row().cells, row, strict=True):
            cell.text = said
    document.save(str(tmp_path / "a.docx"))
    (block,) = converted(tmp_path / "a.docx").blocks
    assert (block.header is not None) == is_header
    assert block.lines == (" | ".join(first), " | ".join(second))


FIGURES = (("Model", "X-100"), ("Supply", "24 V"), ("Housing", "steel"), ("Flow", "10 l/min"))
WORDS = (("Maker", "Acme"), ("Housing", "steel"))


@pytest.mark.parametrize(
    ("table_rows", "bold", "is_header"),
    [
        (FIGURES, "", False),
        (FIGURES, "row", True),
        (FIGURES[:2], "", True),
        (WORDS, "", True),
        (WORDS, "column", False),
        (WORDS, "row", True),
        (WORDS, "row column", True),
        ((("Maker", "Acme", "Bolt"), ("Housing", "steel", "tin")), "column", False),
        ((("EUR million", "FY 2023"), ("Sales", "10"), ("Costs", "8")), "", True),
        ((("Code", "Meaning"), ("E1", "Pump 1"), ("E2", "Pump 2")), "", True),
        ((("Part", "Type 1"), ("Part", "Type 2"), ("Seal", "Type 3")), "", True),
    ],
)
def test_a_first_row_with_a_label_and_its_value_is_no_header(
    tmp_path: Path, table_rows: tuple[tuple[str, ...], ...], bold: str, is_header: bool
) -> None:
    document = Document()
    table = document.add_table(rows=0, cols=len(table_rows[0]))
    for number, row in enumerate(table_rows):
        for column, (cell, said) in enumerate(zip(table.add_row().cells, row, strict=True)):
            run = cell.paragraphs[0].add_run(said)
            run.bold = ("row" in bold and number == 0) or ("column" in bold and column == 0) or None
    document.save(str(tmp_path / "a.docx"))
    (block,) = converted(tmp_path / "a.docx").blocks
    assert (block.header is not None) == is_header
    assert block.lines == tuple(" | ".join(row) for row in table_rows)


def test_a_table_whose_look_has_no_first_row_has_no_header(tmp_path: Path) -> None:
    look = '<w:tblPr><w:tblLook w:firstRow="0" w:firstColumn="1"/></w:tblPr>'
    table = rows("Maker Acme", "Housing steel")
    (block,) = converted(word(f"<w:tbl>{look}{table}</w:tbl><w:p/>", tmp_path / "a.docx")).blocks
    assert block.header is None
    assert block.lines == ("Maker | Acme", "Housing | steel")


def test_words_that_docling_does_not_read_are_named(tmp_path: Path) -> None:
    table = f"<w:tbl>{rows('Name Value')}<w:p>{run('Lost between rows.')}</w:p></w:tbl>"
    document = converted(word(f"{table}<w:p>{run('After.')}</w:p>", tmp_path / "a.docx"))
    assert [block.lines for block in document.blocks] == [("Name | Value",), ("After.",)]
    assert document.notes == ("Docling did not read 3 of its words: Lost, between, rows",)


def test_notes_stand_behind_what_refers_to_them(tmp_path: Path) -> None:
    def notes(kind: str, *texts: str) -> bytes:
        separator = f'<w:{kind} w:type="separator" w:id="-1"><w:p>{run("----")}</w:p></w:{kind}>'
        of_it = (
            f'<w:{kind} w:id="{number}"><w:p>{text}</w:p></w:{kind}>' for number, text in enumerate(texts, start=1)
        )
        return f"<w:{kind}s {nsdecls('w', 'r')}>{separator}{''.join(of_it)}</w:{kind}s>".encode()

    def refer(kind: str, number: int) -> str:
        return f'<w:r><w:{kind}Reference w:id="{number}"/></w:r>'

    item = '<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>{}</w:p>'
    body = (
        f"<w:p>{run('Supply: 5 V')}{refer('footnote', 1)}{run(' or 12 V')}{refer('endnote', 1)}</w:p>"
        f"{item.format(run('first') + refer('footnote', 2))}{item.format(run('second'))}<w:p>{run('End.')}</w:p>"
    )
    link = f'<w:hyperlink r:id="rId1">{run("the sheet")}</w:hyperlink>'
    path = word(
        body,
        tmp_path / "a.docx",
        footnotes=notes("footnote", run("By USB, see ") + link, run("Of two."), run("Of nothing.")),
        endnotes=notes("endnote", run("By the jack.")),
    )
    assert lines(path) == [
        *(
            "Supply: 5 V or 12 V",
            "By USB, see the sheet",
            "By the jack.",
            "- first",
            "- second",
            "Of two.",
            "End.",
            "Of nothing.",
        )
    ]
    assert [link.href for block in converted(path).blocks for link in block.links] == ["https://example.org/a"]


SMART_ART = f"""<dgm:dataModel xmlns:dgm="{DIAGRAM}" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><dgm:ptLst>
<dgm:pt><dgm:t><a:p><a:r><a:t>Press </a:t></a:r><a:r><a:t>S1</a:t></a:r></a:p></dgm:t></dgm:pt>
<dgm:pt><dgm:t><a:p><a:r><a:t>Wait 5 s</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>"""


def test_the_words_of_smart_art_are_read(tmp_path: Path) -> None:
    picture = '<w:p><w:r><w:drawing><dgm:relIds r:dm=""/></w:drawing></w:r></w:p>'
    body = f"{picture}<w:p>{run('After.')}</w:p>"
    assert lines(word(body, tmp_path / "a.docx", diagramData=SMART_ART.encode())) == ["Press S1", "Wait 5 s", "After."]
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Reset"
    part = SlidePart(SlideURI("/ppt/diagrams/data1.xml"), "application/xml", deck.part.package, SMART_ART.encode())
    frame = slide.shapes.add_table(1, 1, 0, 0, 9, 9)._element
    drawn = parse_xml(
        f'<dgm:relIds xmlns:dgm="{DIAGRAM}" {nsdecls("r")} r:dm="{slide.part.relate_to(part, "diagramData")}"/>'
    )
    frame.graphic.graphicData.set("uri", DIAGRAM)
    frame.graphic.graphicData.append(drawn)
    frame.graphic.graphicData.remove(frame.graphic.graphicData[0])
    deck.save(str(tmp_path / "a.pptx"))
    assert lines(tmp_path / "a.pptx") == ["Reset", "Press S1", "Wait 5 s"]


def test_titles_of_a_chart_and_its_axes_are_read(tmp_path: Path) -> None:
    new_data: Any = CategoryChartData  # it has no types
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Valves"
    drawn = new_data()
    drawn.categories = ["open", "shut"]
    drawn.add_series("A", (1.0, 2.0))
    chart: Any = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 3_000_000, 2_000_000, drawn)
    chart.chart.chart_title.text_frame.text = "Flow by valve"
    chart.chart.value_axis.axis_title.text_frame.text = "Flow (l/min)"
    deck.save(str(tmp_path / "a.pptx"))
    assert lines(tmp_path / "a.pptx")[-2:] == ["Flow by valve", "Flow (l/min)"]
    title = (
        f'<c:chartSpace xmlns:c="{CHARTS}"><c:chart><c:title><c:tx><c:strRef><c:strCache><c:pt><c:v>Leakage</c:v></c:pt>'
        "</c:strCache></c:strRef></c:tx></c:title></c:chart></c:chartSpace>"
    )
    body = (
        f'<w:p><w:r><w:drawing><c:chart xmlns:c="{CHARTS}" r:id=""/></w:drawing></w:r></w:p><w:p>{run("After.")}</w:p>'
    )
    with_chart = word(body, tmp_path / "a.docx", chart=title.encode())
    assert "Leakage" in prepare_word(with_chart.read_bytes()).words


def test_shapes_of_powerpoint_that_were_pasted_into_a_text_are_read(tmp_path: Path) -> None:
    canvas = "http://schemas.openxmlformats.org/drawingml/2006/lockedCanvas"
    shape = (
        f'<lc:lockedCanvas xmlns:lc="{canvas}" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:sp><a:txSp>'
        "<a:txBody><a:p><a:r><a:t>Inlet </a:t></a:r><a:r><a:t>valve</a:t></a:r></a:p></a:txBody></a:txSp></a:sp></lc:lockedCanvas>"
    )
    body = f"<w:p>{run('Before.')}<w:r><w:drawing>{shape}</w:drawing></w:r></w:p><w:p>{run('After.')}</w:p>"
    assert lines(word(body, tmp_path / "a.docx")) == ["Before.", "Inlet valve", "After."]


def strict(name: str, data: bytes) -> tuple[str, bytes]:
    return name, re.sub(
        rb"http://schemas.openxmlformats.org/(officeDocument|\w+ml)/2006/", rb"http://purl.oclc.org/ooxml/\1/", data
    )


def with_backslashes(name: str, data: bytes) -> tuple[str, bytes]:
    return name.replace("/", "\\"), data


def in_small_letters(name: str, data: bytes) -> tuple[str, bytes]:
    return name.lower(), data


def without_a_part(name: str, data: bytes) -> tuple[str, bytes] | None:
    return None if name.endswith(("theme1.xml", "settings.xml", "sharedStrings.xml")) else (name, data)


def with_macros(name: str, data: bytes) -> tuple[str, bytes]:
    for kind, other in (
        (b"wordprocessingml.document", b"ms-word.document"),
        (b"spreadsheetml.sheet", b"ms-excel.sheet"),
    ):
        data = data.replace(b"openxmlformats-officedocument." + kind + b".main", other + b".macroEnabled.main")
    return name, data.replace(b"presentationml.presentation.main", b"presentationml.slideshow.main")


def from_a_mac(name: str, data: bytes) -> tuple[str, bytes]:
    return (f"__MACOSX/_rels/._{name}.rels", b"\0\5\x16\7 Mac OS X") if name == "docProps/app.xml" else (name, data)


@pytest.mark.parametrize("suffix", ["docx", "pptx", "xlsx"])
@pytest.mark.parametrize(
    "change",
    [strict, with_backslashes, in_small_letters, without_a_part, with_macros, from_a_mac],
    ids=lambda one: one.__name__,
)
def test_what_office_reads_is_read(
    tmp_path: Path,
    suffix: str,
    change: Callable[[str, bytes], tuple[str, bytes] | None],
    convert: Callable[..., Converted],
) -> None:
    plain = tmp_path / f"plain.{suffix}"
    if suffix == "docx":
        document = Document()
        document.add_heading("Supply", 1)
        document.add_paragraph("It takes 3.3 V.")
        document.save(str(plain))
    elif suffix == "pptx":
        deck = Presentation()
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text = "Supply", "It takes 3.3 V."
        deck.save(str(plain))
    else:
        book = Workbook()
        book.active.title = "Supply"
        book.active["A1"] = "It takes 3.3 V."
        book.save(plain)
    rewritten(plain, tmp_path / f"changed.{suffix}", change)
    assert convert(f"changed.{suffix}").chunks[0].text == convert(f"plain.{suffix}").chunks[0].text


def test_wrong_files_are_refused_with_what_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, convert: Callable[..., Converted]
) -> None:
    monkeypatch.setattr(office_package, "MAX_UNPACKED_MB", 1)
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
    Document().save(str(tmp_path / "whole.docx"))
    Presentation().save(str(tmp_path / "slides.docx"))

    def with_body(content: bytes) -> Callable[[str, bytes], tuple[str, bytes]]:
        return lambda name, data: (name, content if name == "word/document.xml" else data)

    rewritten(tmp_path / "whole.docx", tmp_path / "xml.docx", with_body(b"<x"))
    rewritten(tmp_path / "whole.docx", tmp_path / "bomb.docx", with_body(bytes(1_000_001)))
    rewritten(
        tmp_path / "whole.docx", tmp_path / "zip.docx", lambda name, data: (name, data) if "styles" in name else None
    )
    files = {
        "encrypted.docx": ole + "EncryptedPackage".encode("utf-16-le"),
        "old.docx": ole,
        "pdf.docx": b"%PDF-1.7 ...",
        "cut.docx": (tmp_path / "whole.docx").read_bytes()[:5000],
        "text.pptx": b"hello",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    reasons = {
        "encrypted.docx": "encrypted",
        "old.docx": "97-2003",
        "pdf.docx": "a PDF",
        "cut.docx": "cut short",
        "text.pptx": "not a .pptx",
        "zip.docx": "not a .docx",
        "slides.docx": "is a .pptx",
        "xml.docx": "broken",
        "bomb.docx": "unpacks to",
    }
    for name, reason in reasons.items():
        with pytest.raises(DocumentError, match=reason):
            convert(name)


def test_tables_of_contents_of_word_are_left_out_and_counted(tmp_path: Path) -> None:
    document = Document()
    styles = document.styles
    entry = styles.add_style("TM1", WD_STYLE_TYPE.PARAGRAPH)  # as French Word calls it by its id
    entry.element.find(qn("w:name")).set(qn("w:val"), "toc 1")
    document.add_paragraph("User manual")
    for line in ("I.\tOverview\t3", "II.\tSupply\tiv", "Not a line of contents"):
        document.add_paragraph(line, style=entry)
    document.add_heading("Overview", 1)
    document.add_paragraph("The supply is 5 V.")
    document.save(str(tmp_path / "a.docx"))
    read = converted(tmp_path / "a.docx")
    assert [block.text for block in read.blocks] == [
        "User manual",
        "Not a line of contents",
        "Overview",
        "The supply is 5 V.",
    ]
    assert [(line.rule, line.text) for line in read.removed] == [
        ("table of contents", "I. Overview 3"),
        ("table of contents", "II. Supply iv"),
    ]


def test_a_first_letter_over_several_lines_is_part_of_its_word(tmp_path: Path) -> None:
    def letter(way: str) -> str:
        return f'<w:p><w:pPr><w:framePr w:dropCap="{way}" w:lines="3"/></w:pPr>{run("D")}</w:p>'

    rest = f"<w:p><w:pPr><w:keepNext/></w:pPr>{run('raw the lever.')}</w:p>"
    path = word(f"{letter('drop')}{rest}{letter('margin')}{rest}{letter('none')}{rest}", tmp_path / "a.docx")
    assert lines(path) == ["Draw the lever.", "Draw the lever.", "D", "raw the lever."]


def test_what_readers_remarked_is_counted_and_no_text(tmp_path: Path) -> None:
    in_table = cell(f"<w:p>{run('a cell')}</w:p>")
    remark = f"<w:p>{run('Really ')}{run('5 V?')}</w:p><w:tbl><w:tr>{in_table}</w:tr></w:tbl>"
    comments = f'<w:comments {nsdecls("w")}><w:comment w:id="0" w:author="A">{remark}</w:comment></w:comments>'
    body = (
        f'<w:p>{run("It takes ")}<w:commentRangeStart w:id="0"/>{run("5 V")}<w:commentRangeEnd w:id="0"/>'
        f'<w:r><w:commentReference w:id="0"/></w:r>{run(".")}</w:p>'
    )
    document = converted(word(body, tmp_path / "a.docx", comments=comments.encode()))
    assert [block.text for block in document.blocks] == ["It takes 5 V."]
    assert [(line.rule, line.text) for line in document.removed] == [
        ("comment", "Really 5 V?"),
        ("comment", "a cell"),
    ]
    assert document.notes == ()


@pytest.mark.parametrize(("title", "read"), [(".", ""), ("sheet.docx", ""), ("X-100", "X-100")])
def test_a_title_in_the_properties_has_a_letter_and_is_no_file(tmp_path: Path, title: str, read: str) -> None:
    document = Document()
    document.add_paragraph("It takes 5 V.")
    document.core_properties.title = title
    document.save(str(tmp_path / "a.docx"))
    assert converted(tmp_path / "a.docx").title == read


def numbered(path: Path, lists: str, *paragraphs: tuple[str, int, int], body: str = "") -> Path:
    """Write a Word file with these lists, and paragraphs (text, number of the list, level) in them."""
    document = Document()
    root = document.part.numbering_part.element
    for child in list(root):
        root.remove(child)
    root.extend(parse_xml(f"<w:numbering {nsdecls('w')}>{lists}</w:numbering>"))
    items = "".join(in_list(*one) for one in paragraphs)
    for element in reversed(list(parse_xml(f"<w:body {nsdecls('w')}>{items}{body}</w:body>"))):
        document.element.body.insert(0, element)
    document.save(str(path))
    return path


def in_list(text: str, number: int, level: int) -> str:
    place = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'
    return f"<w:p><w:pPr>{place if number else ''}</w:pPr>{run(text)}</w:p>"


def levels(*written: tuple[str, str], key: int = 7) -> str:
    inside = "".join(
        f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/><w:lvlText w:val="{text}"/></w:lvl>'
        for at, (kind, text) in enumerate(written)
    )
    return f'<w:abstractNum w:abstractNumId="{key}">{inside}</w:abstractNum>'


def num(number: int, *, begins: int = 0, at: int = 0, key: int = 7) -> str:
    override = f'<w:lvlOverride w:ilvl="{at}"><w:startOverride w:val="{begins}"/></w:lvlOverride>' if begins else ""
    return f'<w:num w:numId="{number}"><w:abstractNumId w:val="{key}"/>{override}</w:num>'


def test_lists_that_say_what_cannot_be_lose_no_paragraph(tmp_path: Path) -> None:
    lists = levels(("lowerLetter", "%1)")) + num(1, begins=5, at=4) + num(2, begins=2_000_000_000)
    steps = (("Close the valve", 1, 0), ("Open the lid", 2, 0))
    first, second = lines(numbered(tmp_path / "a.docx", lists, *steps))
    assert first == "a) Close the valve"
    assert second.endswith("Open the lid") and len(second) < 20


def test_a_list_begins_where_it_says_and_goes_on_where_it_shares_its_definition(tmp_path: Path) -> None:
    lists = levels(("decimal", "%1.")) + num(1) + num(2) + num(3, begins=7)
    steps = (
        ("Close the valve", 1, 0),
        ("Wait.", 0, 0),
        ("Open the lid", 2, 0),
        ("Wait.", 0, 0),
        ("Dry the seal", 3, 0),
    )
    assert lines(numbered(tmp_path / "a.docx", lists, *steps)) == [
        *("1. Close the valve", "Wait.", "2. Open the lid", "Wait.", "7. Dry the seal"),
    ]


def test_levels_of_a_list_are_numbered_as_the_list_writes_them(tmp_path: Path) -> None:
    lists = levels(("upperRoman", "%1"), ("decimal", "%2)"), ("lowerLetter", "(%2%3)")) + num(1)
    steps = (("Setup", 1, 0), ("Plug", 1, 1), ("Screw", 1, 1), ("Left", 1, 2), ("Use", 1, 0), ("Press", 1, 1))
    assert [line.strip() for line in lines(numbered(tmp_path / "a.docx", lists, *steps))] == [
        *("I Setup", "1) Plug", "2) Screw", "(2a) Left", "II Use", "1) Press"),
    ]


def test_numbered_headings_and_paragraphs_in_tables_have_their_numbers(tmp_path: Path) -> None:
    heading = '<w:p><w:pPr><w:pStyle w:val="Heading{0}"/><w:numPr><w:ilvl w:val="{1}"/><w:numId w:val="1"/></w:numPr></w:pPr>{2}</w:p>'
    head = heading.format(1, 0, run("Safety")) + heading.format(2, 1, run("Power")) + f"<w:p>{run('Use 24 V.')}</w:p>"
    table = f"<w:tbl><w:tr>{cell(in_list('Open it', 2, 0))}{cell(in_list('Lid', 0, 0))}</w:tr></w:tbl>"
    lists = levels(("decimal", "%1"), ("decimal", "%1.%2")) + levels(("decimal", "%1."), key=8)
    path = numbered(tmp_path / "a.docx", lists + num(1, begins=4) + num(2, key=8), body=head + table)
    assert lines(path) == ["4 Safety", "4.1 Power", "Use 24 V.", "1. Open it | Lid"]
