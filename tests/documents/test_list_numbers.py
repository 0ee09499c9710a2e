"""Numbers before the items of lists are those that a reader of the document sees, in every format that is read by way of HTML."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgrag.documents.asciidoc import asciidoc_html
from kgrag.documents.docbook import convert_docbook
from kgrag.documents.html import blocks_of_html
from kgrag.documents.list_numbers import numeral
from kgrag.documents.restructured_text import restructured_text_html
from kgrag.documents.texinfo import convert_texinfo


def items(html: str) -> list[str]:
    document = blocks_of_html(f"<html><body>{html}</body></html>", Path("a.html"), document_path="a.html")
    return [block.text for block in document.blocks]


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [
        ('type="a"', "ab"),
        ('type="A" start="3"', "CD"),
        ('class="lowerroman simple" start="3"', ["iii", "iv"]),
        ('class="orderedlist" type="I"', ["I", "II"]),
        ('style="margin: 0; list-style-type: lower-alpha"', "ab"),
        ('type="1"', "12"),
        ('type="disc"', "12"),
        ('type="i" start="0"', ["0", "i"]),
    ],
)
def test_a_list_of_html_is_numbered_as_it_says(kind: str, numbers: list[str]) -> None:
    assert items(f"<ol {kind}><li>Open it.</li><li>Shut it.</li></ol>") == [
        f"{numbers[0]}. Open it.",
        f"{numbers[1]}. Shut it.",
    ]


def test_an_item_may_say_its_number_and_others_go_on_from_there() -> None:
    assert items('<ol><li>a</li><li value="7">b</li><li>c</li><li value="x">d</li></ol>') == [
        "1. a",
        "7. b",
        "8. c",
        "9. d",
    ]
    assert items('<ul><li value="7">a</li></ul>') == ["- a"]


def test_letters_go_on_behind_z_and_what_cannot_be_written_is_nothing() -> None:
    assert [numeral(number, "upperLetter") for number in (1, 26, 27, 0)] == ["A", "Z", "AA", ""]
    assert [numeral(number, "lowerRoman") for number in (4, 1994, 4000)] == ["iv", "mcmxciv", ""]


def test_numbers_of_chinese_and_japanese() -> None:
    assert [numeral(number, "chineseCounting") for number in (1, 10, 12, 20, 99, 100)] == [
        "一",
        "十",
        "十二",
        "二十",
        "九十九",
        "",
    ]
    assert [numeral(2, kind) for kind in ("decimalEnclosedCircle", "ideographTraditional", "decimalFullWidth")] == [
        "②",
        "乙",
        "\uff12",
    ]
    assert numeral(11, "ideographTraditional") == numeral(1, "iroha") == ""


def test_lists_of_other_formats_have_their_letters() -> None:
    assert items(asciidoc_html(". one\n.. in\n... deep\n. two\n")[0]) == ["1. one", "  a. in", "    i. deep", "2. two"]
    assert items(restructured_text_html("b. one\nc. two\n", suffix=".rst")[0]) == ["b. one", "c. two"]
    book = b"<article><title>T</title><orderedlist numeration='upperalpha'><listitem><para>one</para></listitem></orderedlist></article>"
    assert convert_docbook(book, Path("a.dbk"), document_path="a.dbk").blocks[-1].text == "A. one"
    texinfo = (
        b"\\input texinfo\n@settitle T\n@enumerate c\n@item one\n@item two\n@end enumerate\n"
        b"@enumerate 4\n@item four\n@end enumerate\n"
    )
    read = convert_texinfo(texinfo, Path("a.texi"), document_path="a.texi")
    assert [block.text for block in read.blocks][-3:] == ["c. one", "d. two", "4. four"]
