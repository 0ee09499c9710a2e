"""Tables that plain text draws with characters."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.documents.drawn_tables import drawn_table
from kgrag.documents.plain_text import plain_text_html
from kgrag.documents.text_files import convert_text

BOX = """Keys of the menu

Table 1. Keys
┌──────────┬─────┬──────────────────┐
│ Function │ Key │   Description    │
├──────────┼─────┼──────────────────┤
│<attach>  │a    │attach a file <b> │
├──────────┼─────┼──────────────────┤
│<mix>     │M    │send the message  │
│          │     │through a remailer│
└──────────┴─────┴──────────────────┘
Keys can be changed.
"""
SHELL = """mysql> SELECT id, name FROM valve;
+----+----------+
| id | name     |
+----+----------+
|  1 | V-7|b    |
|  2 | V-70     |
|    | (spare)  |
+----+----------+
3 rows in set (0.01 sec)
"""
GRID = """+-----+-----+
| A   | B   |
+=====+=====+
| 1   | two |
|     | six |
+-----+-----+
| 3   | 4   |
+-----+-----+
"""


@pytest.mark.parametrize(
    ("text", "header", "rows"),
    [
        (
            BOX,
            "Function Key Description",
            ["<attach> a attach a file <b>", "<mix> M send the message through a remailer"],
        ),
        (SHELL, "id name", ["1 V-7|b", "2 V-70 (spare)"]),
        (GRID, "A B", ["1 two six", "3 4"]),
    ],
)
def test_rows_and_header_are_those_that_are_drawn(text: str, header: str, rows: list[str]) -> None:
    html = plain_text_html(text)
    table = html[html.index("<table>") : html.index("</table>")]
    said = [re.sub(r"</t[hd]>(?=<t)", " ", row) for row in re.findall(r"<tr>(.*?)</tr>", table)]
    assert [unescape(re.sub(r"</?t[hd]>", "", row)) for row in said] == [header, *rows]
    assert table.count("<th>") == len(header.split())
    assert "│" not in html and "─" not in html and "+--" not in html


def test_what_stands_around_a_table_is_text_and_its_rows_are_cited_with_their_header() -> None:
    document = convert_text(BOX.encode(), Path("a.txt"), document_path="a.txt")
    assert [block.kind for block in document.blocks] == ["heading", "paragraph", "table", "paragraph"]
    assert document.blocks[1].text == "Table 1. Keys" and document.blocks[3].text == "Keys can be changed."
    table = document.blocks[2]
    assert table.header is not None and table.header.cells == ("Function", "Key", "Description")
    assert table.rows[-1].cells == ("<mix>", "M", "send the message through a remailer")


@pytest.mark.parametrize(
    "lines",
    [
        ["├── src", "│   └── a.py", "└── b"],
        ["+---+", "| a | b |", "+---+"],
        ["+---+---+", "+---+---+"],
        ["+---+---+", "| over both |", "+---+---+"],
        ["| a | b |", "| c | d |"],
        ["+----[ box ]----+", "| x |", "+---------------+"],
    ],
)
def test_what_is_no_table_stays_a_drawing(lines: list[str]) -> None:
    assert drawn_table(lines) == ""
    document = convert_text("\n".join(["Title", "", *lines, ""]).encode(), Path("a.txt"), document_path="a.txt")
    written = "\n".join(block.text for block in document.blocks)
    assert all(line in written for line in lines)


@given(
    st.lists(st.lists(st.text("abc é|%1", max_size=6).map(str.strip), min_size=2, max_size=4), min_size=1, max_size=6),
    st.booleans(),
)
def test_no_word_is_lost(rows: list[list[str]], ruled: bool) -> None:
    width = max(map(len, rows))
    table = [row + [""] * (width - len(row)) for row in rows]
    wide = [max(1, *(len(row[column]) for row in table)) for column in range(width)]
    frame = f"+{'+'.join('-' * size for size in wide)}+"
    lines = [frame]
    for row in table:
        lines.append(f"|{'|'.join(cell.ljust(size) for cell, size in zip(row, wide, strict=True))}|")
        lines += [frame] if ruled else []
    lines += [] if ruled else [frame]
    html = drawn_table(lines)
    assert sorted(" ".join(re.findall(r"<t[dh]>(.*?)</t[dh]>", html)).split()) == sorted(
        word for row in table for cell in row for word in cell.split()
    )
