"""CSV and TSV: how they are written is found out, what stands above a table is no row of it, and nothing is lost in silence."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.documents import separated_values, separators
from kgrag.documents.blocks import Block, BlockDocument
from kgrag.documents.separated_values import convert_separated_values
from kgrag.documents.separators import Rows, Separated, separated
from kgrag.documents.table_rows import row_texts
from kgrag.errors import DocumentError

PRICES = """Preisliste Pumpen 2024;;;
Gültig ab:;01.03.2024;;

Artikel;Bezeichnung;Preis;Leistung
P-100;Pumpe, klein;1.234,50;3,5 kW
P-200;"Pumpe ""groß"";
rot";2.000,00;7,5 kW
P-300;Pumpe;;
Quelle: ACME
"""


def read(content: str | bytes, name: str = "a.csv") -> BlockDocument:
    return convert_separated_values(content.encode() if isinstance(content, str) else content, Path(name))


def table(document: BlockDocument) -> tuple[tuple[str, ...] | None, list[tuple[str, ...]]]:
    (block,) = (block for block in document.blocks if block.kind == "table")
    return block.header and block.header.cells, [row.cells for row in block.rows]


def test_a_price_list_is_a_titled_table_and_what_stands_around_it() -> None:
    document = read(PRICES)
    heading, above, _, below = document.blocks
    assert (heading, above, below) == (
        Block("heading", "Preisliste Pumpen 2024", 1),
        Block("paragraph", "Gültig ab: 01.03.2024"),
        Block("paragraph", "Quelle: ACME"),
    )
    assert table(document) == (
        ("Artikel", "Bezeichnung", "Preis", "Leistung"),
        [
            ("P-100", "Pumpe, klein", "1.234,50", "3,5 kW"),
            ("P-200", 'Pumpe "groß"; rot', "2.000,00", "7,5 kW"),
            ("P-300", "Pumpe", "", ""),
        ],
    )


@pytest.mark.parametrize(
    "data",
    [
        "\ufeff".encode() + PRICES.encode(),
        PRICES.encode("utf-16"),
        PRICES.encode("utf-16-le"),
        PRICES.encode("utf-16-be"),
        PRICES.encode("cp1252"),
        PRICES.replace("\n", "\r\n").encode(),
        PRICES.replace("\n", "\r").encode(),
    ],
    ids=["bom", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "crlf", "cr"],
)
def test_encodings_and_ends_of_lines_change_nothing(data: bytes) -> None:
    assert read(data).blocks == read(PRICES).blocks


def test_a_packed_table_and_one_that_declares_its_separator_are_read() -> None:
    assert table(read(gzip.compress(b"a\tb\n1\t2\n3\t4\n"), "a.tsv.gz")) == (("a", "b"), [("1", "2"), ("3", "4")])
    assert table(read("sep=^\nname^volts\nX,1^3.3\nX,2^5\n")) == (("name", "volts"), [("X,1", "3.3"), ("X,2", "5")])


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("a;b\n1,5;2,5\n3,5;4,5\n", Separated(";")),
        ("a,b\n1;2,x\n3;4,y\n", Separated(",")),
        ("t|v\n10:30|3,3\n10:31|3,4\n", Separated("|")),
        ("'a','b'\n'1,5','2'\n'3,5','4'\n", Separated(",", "'")),
        ('a,b\n"say \\"x\\", twice",1\n"and \\"y\\", once",2\n', Separated(",", escape="\\")),
        ('a;b\n1;"say \\"x\\" there"\n2;"5 V"\n', Separated(";", escape="\\")),
        ('a;b\n1;"C:\\dir\\"\n"D:\\";"5 V"\n', Separated(";")),
        ("one\ntwo\nthree\n", Separated("")),
        ("It works, mostly.\nIt does not, and that is known.\nYes.\nNo, no, no, never.\n", Separated("")),
        (" 1.5  2.5  3.5\n 4.5  5.5  6.5\n", Separated(" ")),
    ],
)
def test_how_cells_are_separated_is_found_out(text: str, how: Separated) -> None:
    assert separated(text, preferred=",") == how


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("code,meaning\nE01,broken\nE02,worn\n", ("code", "meaning")),
        ("E01,broken\nE02,worn\nE03,lost\n", None),
        ("1,2\n3,4\n", None),
        ("Country,2023,2024\nDE,1.5,2\nFR,3.5,4\n", ("Country", "2023", "2024")),
        ("Time,U,I\ns,V,mA\n0,1.5,3\n1,1.6,4\n", ("Time s", "U V", "I mA")),
        (",2023,,2024,\nLand,Q1,Q2,Q1,Q2\nDE,1,2,3,4\n", ("Land", "2023 Q1", "2023 Q2", "2024 Q1", "2024 Q2")),
        ("x1,x2\n\n1,2\n3,4\n", ("x1", "x2")),
        ("day,red\nMon,red\nTue,blue\n", ("day", "red")),
    ],
)
def test_the_header_is_told_from_the_rows(text: str, header: tuple[str, ...] | None) -> None:
    if "day,red" in text:
        header = None  # its second cell is a value of its column
    assert table(read(text))[0] == header


def test_a_header_that_is_written_again_is_no_row_and_counted() -> None:
    document = read("a,b\n1,2\n\na,b\n3,4\n")
    assert table(document) == (("a", "b"), [("1", "2"), ("3", "4")])
    assert [str(line) for line in document.removed] == ["a | b"]


def test_ragged_rows_keep_all_their_cells() -> None:
    lines = "".join(f"{n},{n},{n}\n" for n in range(40))
    document = read(f"a,b,c\n{lines}1,2,3,4,5\n1\n")
    assert table(document)[1][-1] == ("1", "2", "3 | 4 | 5")
    assert document.blocks[-1].text == "1"
    assert "1 rows have more cells" in document.notes[0]


def test_a_quotation_mark_that_is_not_closed_takes_no_other_line() -> None:
    rows = "".join(f'{n},"a, {n}"\n' for n in range(300))
    document = read(f'n,text\n{rows}300,"never closed\n301,fine\n')
    assert table(document)[1][-2:] == [("300", '"never closed'), ("301", "fine")]
    assert "1 lines have a quotation mark that is not closed" in document.notes[0]


def test_rows_beyond_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(separated_values, "MAX_ROWS", 11)
    document = read("a,b\n" + "".join(f"{n},{n}\n" for n in range(30)))
    assert len(table(document)[1]) == 10
    assert "has 31 rows: the first 11 are read, 20 are left out" in document.notes[0]


def test_a_file_without_a_cell_is_refused() -> None:
    with pytest.raises(DocumentError, match="no cells but empty ones"):
        read(";;;\n;;;\n")


def test_each_part_of_a_long_table_has_its_header_and_each_row_says_what_it_says(convert: object) -> None:
    rows = "".join(f"E{n:03},Sensor {n} is broken,Replace sensor {n}\n" for n in range(200))
    converted = convert("errors.csv", f"Code,Meaning,Remedy\n{rows}")  # type: ignore[operator]
    assert len(converted.chunks) > 5
    assert all(chunk.text.startswith("| Code | Meaning | Remedy |") for chunk in converted.chunks)
    said = [text for chunk in converted.chunks for text in row_texts(chunk)]
    assert len(said) == 200
    assert "E117; Meaning: Sensor 117 is broken; Remedy: Replace sensor 117" in said[117]
    assert converted.document.title == "errors"


@given(
    st.lists(st.lists(st.text("ab,;\"' 1\n|", max_size=6), min_size=2, max_size=5), min_size=1, max_size=12),
    st.sampled_from(",;\t|"),
)
def test_no_cell_is_lost_however_it_is_written(rows: list[list[str]], separator: str) -> None:
    import csv
    import io

    out = io.StringIO(newline="")
    csv.writer(out, delimiter=separator, lineterminator="\n").writerows(rows)
    found = list(Rows(out.getvalue(), Separated(separator)))
    strip = [[cell.lstrip(" ") for cell in row] for row in rows]
    assert [[cell.lstrip(" ") for cell in row] for row in found] == strip


@given(st.text("a,;\"'\n\r\t| 1\\", max_size=300))
def test_any_text_is_read_with_all_its_letters(text: str) -> None:
    how = separated(text)
    letters = "".join("".join(row) for row in Rows(text, how))
    assert letters.count("a") == text.count("a")
    assert letters.count("1") == text.count("1")
    assert separators.END not in letters
