"""Markdown: the same blocks as HTML, with the ids that renderers give to headings."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgrag.documents.blocks import BlockDocument
from kgrag.documents.markdown import convert_markdown
from kgrag.errors import DocumentError


def converted(text: str | bytes) -> BlockDocument:
    return convert_markdown(text.encode() if isinstance(text, str) else text, Path("a.md"), document_path="docs/a.md")


def test_structure_is_kept() -> None:
    document = converted(
        "# X-100\n\nA *sensor*,\nwith `I2C`.\n\n- 2x I2C\n  - 3.3 V\n\n1. one\n\n"
        "```c\nint x;\n```\n\n> note\n\nSetext\n------\n"
    )
    assert [(block.kind, block.level, block.text) for block in document.blocks] == [
        ("heading", 1, "X-100"),
        ("paragraph", 0, "A sensor, with I2C."),
        ("list_item", 1, "- 2x I2C"),
        ("list_item", 2, "  - 3.3 V"),
        ("list_item", 1, "1. one"),
        ("code", 0, "int x;"),
        ("paragraph", 0, "note"),
        ("heading", 2, "Setext"),
    ]


def test_tables_keep_header_and_cells_with_bars() -> None:
    (table,) = converted("| Name | Value |\n|---|--:|\n| A \\| B | 3.3 V |\n|  | 5 V |\n").blocks
    assert table.header is not None and table.header.cells == ("Name", "Value")
    assert [row.cells for row in table.rows] == [("A | B", "3.3 V"), ("", "5 V")]


def test_headings_have_the_ids_that_links_expect() -> None:
    document = converted(
        "# Supply Voltage (3.3 V)\n## `set()` & get\n# Supply voltage (33 V)\n"
        "# A\n# A\n# Own {#its-id}\n\n<a id='x'></a>\n\n# B\n"
    )
    assert [block.anchors for block in document.blocks] == [
        ("supply-voltage-33-v",),
        ("set--get",),
        ("supply-voltage-33-v-1",),
        ("a",),
        ("a-1",),
        ("its-id",),
        ("b", "x"),
    ]
    assert document.blocks[5].text == "Own"


def test_links_are_resolved_against_the_document() -> None:
    (block,) = converted("See [the power page](../b/power.md#vdd 'title') and <https://e.com>.").blocks
    assert [(link.href, link.anchor) for link in block.links] == [
        ("b/power.md#vdd", "the power page"),
        ("https://e.com", "https://e.com"),
    ]


def test_front_matter_is_metadata_and_counted() -> None:
    document = converted('---\ntitle: "X-100"\nversion: Rev 3\n---\n# H\ntext\n')
    assert (document.title, dict(document.metadata)) == ("X-100", {"version": "Rev 3"})
    assert [line.rule for line in document.removed] == ["front matter", "front matter"]
    assert len(document.blocks) == 2


def test_front_matter_is_yaml_whose_values_stay_as_written() -> None:
    document = converted(
        '---\ntitle: |\n  X-100\ntags: [power, "i2c: fast"]\nversion: 1.10\nauthor: {name: A}\ndate: 2024-10-24\n---\ntext\n'
    )
    assert document.title.strip() == "X-100"
    assert dict(document.metadata) == {
        "tags": "power, i2c: fast",
        "version": "1.10",
        "author": '{"name": "A"}',
        "date": "2024-10-24",
    }


@pytest.mark.parametrize(
    "text", ["---\na: [1\n---\ntext\n", "---\njust words\n---\ntext\n", "---\n" + "[" * 5000 + "\n---\ntext\n"]
)
def test_what_is_no_yaml_mapping_stays_text(text: str) -> None:
    document = converted(text)
    assert document.blocks[-1].text.endswith("text")
    assert not document.metadata


def test_a_rule_at_the_start_is_no_front_matter() -> None:
    assert [block.text for block in converted("---\n\ntext\n\n---\n").blocks] == ["text"]


@pytest.mark.parametrize("text", ["BMP390 pressure sensor", "ID3 tags", "MZ is no program", "GIF87a"])
def test_text_that_begins_as_other_files_do_is_text(text: str) -> None:
    assert [block.text for block in converted(text).blocks] == [text]


def test_html_in_markdown_is_read_as_html() -> None:
    (block,) = converted("Hold <kbd>A</kbd> for 3<sup>2</sup> s<br>twice.").blocks
    assert block.text == "Hold A for 3² s\ntwice."


@pytest.mark.parametrize(
    "text",
    ["one <script>\n\ntwo", "one\n\n<style>\n\ntwo", "one <!-- two", "<template>one\n\ntwo", "one <iframe>two"],
)
def test_a_tag_left_open_swallows_nothing(text: str) -> None:
    found = " ".join(block.text for block in converted(text).blocks)
    assert "one" in found and "two" in found


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings_are_detected(encoding: str) -> None:
    (block,) = converted("Temperaturbereich: -40 °C bis 85 °C, 10 µA".encode(encoding)).blocks
    assert block.text == "Temperaturbereich: -40 °C bis 85 °C, 10 µA"


@pytest.mark.parametrize("text", [">" * 5000 + " x", "- " * 3000 + "x"])
def test_nesting_beyond_all_measure_is_said(text: str) -> None:
    (note,) = converted(text + "\n\nafter").notes
    assert "nested" in note


@pytest.mark.parametrize("data", [b"PK\x03\x04abc", b"%PDF-1.7", b"a\x00b", b"  \n\t", "\ufeff ".encode()])
def test_what_is_no_text_is_refused(data: bytes) -> None:
    with pytest.raises(DocumentError):
        converted(data)


def test_many_brackets_that_never_end_are_text_at_once() -> None:
    opened = "[" * 300_000
    read = convert_markdown(f"{opened} and\n\n[a link](b.md)\n".encode(), Path("a.md"), document_path="a.md")
    assert [block.text for block in read.blocks] == [f"{opened} and", "a link"]
    assert [link.href for block in read.blocks for link in block.links] == ["b.md"]


def test_many_brackets_of_which_one_ends_are_text_at_once() -> None:
    opened = "[" * 150_000
    read = convert_markdown(f"{opened}]\n\n[[[[[a](b.md)]]]]\n".encode(), Path("a.md"), document_path="a.md")
    assert [block.text for block in read.blocks] == [f"{opened}]", "[[[[a]]]]"]
    assert [link.href for block in read.blocks for link in block.links] == ["b.md"]


def test_an_id_with_a_digit_may_be_escaped() -> None:
    (heading,) = convert_markdown(rb"# Notes of 7.0 {: #\7.0}", Path("a.md"), document_path="a.md").blocks
    assert (heading.text, heading.anchors) == ("Notes of 7.0", ("7.0",))
