"""The twelve real datasheets: what was compared with the rendered pages by eye, and counts that need no eye."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pypdfium2
import pytest

from kgrag.documents.blocks import BlockDocument
from kgrag.documents.pdf.blocks import TableBlock
from kgrag.documents.pdf.conversion import blocks_of_structure, check_pdf, read_structure
from kgrag.documents.pdf.geometry import lines_of
from kgrag.documents.pdf.structure import Structure
from kgrag.documents.pdf.writing import LineJoiner, cells_of, lines_in

DATASHEETS = Path(__file__).resolve().parents[4] / "shared" / "data" / "arduino" / "datasheets"
PATHS = sorted(DATASHEETS.glob("*/*/*.pdf"))

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not PATHS, reason=f"the Arduino datasheets are not in {DATASHEETS}"),
]

each_datasheet = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)

UNIT = r"[mkµμnpMG]?(?:V|A|W|Hz|Ω|s|m|Pa|g|B|Ah)|°C|℃|°F|dBm?|hPa|mm²?|cm|mil|AWG|%|ppm|dps|Mbps|kbps|bits?|[kKMG]B"
QUANTITY = re.compile(rf"(\d+(?:[.,]\d+)?)\s*({UNIT})(?![A-Za-z0-9²])")
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


@cache
def structure(path: Path) -> Structure:
    return read_structure(path)


@cache
def converted(path: Path) -> BlockDocument:
    """What `convert_pdf` makes of it in mode native."""
    return blocks_of_structure(structure(path), document_path=path.name, metadata_title=check_pdf(path))


def written(document: BlockDocument) -> str:
    """All that a conversion says, the lines that it removed included, running lines once for each of their pages."""
    parts = [part for block in document.blocks for line in block.lines for part in line.split(" | ")]
    for line in document.removed:
        pages = re.search(r" \((\d+) pages\)$", line.text)
        parts.extend([line.text] * (int(pages[1]) if pages else 1))
    return "\n".join(parts)


def quantities(text: str) -> Counter[str]:
    return Counter(f"{number} {unit}" for number, unit in QUANTITY.findall(text.translate(SUPERSCRIPTS)))


@each_datasheet
def test_every_heading_of_the_table_of_contents_is_found_with_its_level(path: Path) -> None:
    found = {block.text: block.level for block in converted(path).blocks if block.kind == "heading"}
    contents = [line.text for line in converted(path).removed if line.rule == "table of contents"]
    entries = [entry for entry, _, page in (line.rpartition(" | ") for line in contents) if page.isdigit() and entry]
    assert len(entries) > 15
    assert {entry: entry.split()[0].count(".") + 1 for entry in entries}.items() <= found.items()


@each_datasheet
def test_no_quantity_is_lost(path: Path) -> None:
    pdf = pypdfium2.PdfDocument(path)
    raw = "\n".join(page.get_textpage().get_text_range() for page in pdf)
    pdf.close()
    lost = quantities(raw) - quantities(written(converted(path)))
    # pdfium breaks turned labels (`22.86m` + `m`) and joins a raised 2 with the unit of the next cell (`² V`): no loss of ours.
    assert {quantity for quantity in lost if not re.search(r"\d m$|^\d+ mm$|^2 V$", quantity)} == set()


@each_datasheet
def test_every_block_and_row_has_its_place_on_its_page(path: Path) -> None:
    pdf = pypdfium2.PdfDocument(path)
    sizes = [page.get_size() for page in pdf]
    pdf.close()
    for block in converted(path).blocks:
        rows = [row.box for row in block.rows if row.box is not None]
        assert block.boxes
        for box in (*block.boxes, *rows):
            width, height = sizes[box.page - 1]
            assert -1 <= box.left < box.right <= width + 1
            assert -1 <= box.top < box.bottom <= height + 1


@each_datasheet
def test_no_footer_is_left(path: Path) -> None:
    lines = [line for block in converted(path).blocks for line in block.lines]
    assert not [line for line in lines if re.search(r"Modified: \d|^\d+ / \d+$", line)]


@each_datasheet
def test_the_title_comes_from_the_running_header(path: Path) -> None:
    assert converted(path).title.startswith("Arduino")


def grid(stem: str, page: int, number: int = 0) -> list[list[str]]:
    blocks = structure(next(path for path in PATHS if path.stem == f"{stem}-datasheet")).blocks
    joiner = LineJoiner(lines_in(block) for block in blocks)
    tables = [block for block in blocks if isinstance(block, TableBlock) and block.page == page]
    return [
        [joiner.join(lines_of(cell.words), cell.box.x1) if cell else "" for cell in row]
        for row in cells_of(tables[number])
    ]


def test_a_ratings_table_with_subscripts_and_footnotes_is_read_as_printed() -> None:
    assert grid("ABX00061", 8) == [
        ["Symbol", "Description", "Min", "Typ", "Max", "Unit"],
        ["VIN", "Input voltage from VIN pad", "3.5", "5.0", "5.5", "V"],
        ["VUSB", "Input voltage from USB connector", "4.8", "5.0", "5.5", "V"],
        ["VDDIO_EXT", "Level Translator Voltage", "1.8", "3.3", "3.3", "V"],
        ["VIH", "Input high-level voltage", "0.7VDDIO_EXT¹", "", "VDDIO_EXT", "V"],
        ["VIL", "Input low-level voltage", "0", "", "0.3VDDIO_EXT²", "V"],
        ["TOP", "Operating Temperature", "0", "25", "70", "°C"],
    ]


def test_a_table_with_a_cell_over_three_rows_is_read_as_printed() -> None:
    processor = "ST STM32H747XI Processor"
    assert grid("AFX00001-AFX00002-AFX00003", 5, 1) == [
        ["Component", "Details", "Details"],
        [
            processor,
            "Dual-core",
            "Arm® Cortex®-M7 core at up to 480 MHz + Arm® 32-bit Cortex®-M4 core at up to 240 MHz",
        ],
        [processor, "Flash Memory", "2 MB of Flash Memory with read-while-write support"],
        [processor, "Programming Memory", "1 MB of RAM"],
    ]


def test_a_cell_that_goes_on_over_two_page_breaks_keeps_its_text() -> None:
    first, second = grid("ABX00042-ABX00045-ABX00046", 5), grid("ABX00042-ABX00045-ABX00046", 6)
    assert {row[0] for row in first[1:] + second[1:]} == {"ST STM32H747XI Processor"}
    assert {row[3] for row in first[1:] + second[1:]} == {"All"}


def test_squares_are_raised_in_units_of_area() -> None:
    assert grid("AFX00001-AFX00002-AFX00003", 10, 2)[1] == [
        "Solid Conductor",
        "0.5 mm² (20 AWG)",
        "6 mm² (10 AWG)/2x4 mm² (2x12 AWG)",
    ]
