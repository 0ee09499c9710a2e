"""AsciiDoc: what its marks say is read, no word is lost, and no text of anybody holds the reader up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.documents.blocks import BlockDocument
from kgrag.documents.text_files import convert_text


def converted(text: str, name: str = "manual.adoc") -> BlockDocument:
    return convert_text(text.encode(), Path(name), document_path=f"docs/{name}")


def read(text: str) -> list[tuple[str, str]]:
    return [(block.kind, block.written) for block in converted(text).blocks]


MANUAL = """\
= X-100 manual
Jane Doe <j@example.org>
:toc:
:board: X-100

The {board} needs *3.3 V*, _never_ `5 V`; see <<supply>> and xref:setup.adoc#pins[its pins].

[[supply]]
== Supply

[WARNING]
====
Mind the fuse.
====

.Ratings
[cols="1,2",options="header"]
|===
|Name |Value
|Vcc |3.3 V
.2+|Icc
|10 mA
|12 mA
|===

-U <name>::
--user <name>::
  Who logs in. Default: `admin`.
+
At most 8 letters.

Steps
-----
. First
.. Inside
. Second
+
----
int x = 3; <1>
----
<1> Three.

include::other.adoc[]
"""


def test_sections_lists_definitions_tables_and_listings_are_told_apart() -> None:
    assert [(block.kind, block.level, block.written) for block in converted(MANUAL).blocks] == [
        ("heading", 1, "X-100 manual"),
        ("paragraph", 0, "Jane Doe <j@example.org>"),
        ("paragraph", 0, "The X-100 needs 3.3 V, never 5 V; see Supply and its pins."),
        ("heading", 2, "Supply"),
        ("paragraph", 0, "Warning"),
        ("paragraph", 0, "Mind the fuse."),
        ("paragraph", 0, "Ratings"),
        (
            "table",
            0,
            "| Name | Value |\n| --- | --- |\n| Vcc | 3.3 V |\n| Icc | 10 mA |\n| Icc | 12 mA |",
        ),
        ("paragraph", 0, "-U <name>, --user <name>: Who logs in. Default: admin."),
        ("paragraph", 0, "At most 8 letters."),
        ("heading", 2, "Steps"),
        ("list_item", 1, "1. First"),
        ("list_item", 2, "  a. Inside"),
        ("list_item", 1, "2. Second"),
        ("code", 0, "int x = 3;"),
        ("list_item", 2, "  1. Three."),
    ]


def test_references_are_links_and_what_is_left_out_is_counted() -> None:
    document = converted(MANUAL)
    assert [(link.href, link.anchor) for link in document.blocks[2].links] == [
        ("docs/manual.adoc#supply", "Supply"),
        ("docs/setup.adoc#pins", "its pins"),
    ]
    assert "supply" in document.blocks[3].anchors
    assert [(line.rule, str(line)) for line in document.removed] == [
        ("front matter", ":toc:"),
        ("front matter", ":board: X-100"),
        ("directive", "include::other.adoc[]"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NAME\n----\ngit - the tracker\n", [("heading", "NAME"), ("paragraph", "git - the tracker")]),
        (
            "See linkgit:git-add[1], kbd:[F1] and menu:File[Open].",
            [("paragraph", "See git-add(1), F1 and File > Open.")],
        ),
        (
            "H~2~O, x^2^, 2 * 3 * 4, a_b_c, *.txt",
            [("paragraph", "H2O, x², 2 * 3 * 4, a_b_c, *.txt")],
        ),
        ("\\*this*", [("paragraph", "*this*")]),
        ("The `*.c` files, ``so'' and {unknown}", [("paragraph", "The *.c files, “so” and {unknown}")]),
        ("ifdef::x[]\nWith x.\nendif::[]\n", [("paragraph", "With x.")]),
        ("ifdef::x[With x.]\n", [("paragraph", "With x.")]),
        ("port::\n\n    Where to listen.\n", [("paragraph", "port: Where to listen.")]),
        ("|===\n|a |b\n\n|1 |2\n|===\n", [("table", "| a | b |\n| --- | --- |\n| 1 | 2 |")]),
        ("|===\n2+|both\n|1 |data|\n|===\n", [("table", "|  |  |\n| --- | --- |\n| both |  |\n| 1 | data |")]),
        ("  $ ls\n  a\n\n....\nb\n....\n", [("code", "$ ls\na"), ("code", "b")]),
        ("|===\nno cell\n|===\n\n----\nnever closed", [("code", "no cell"), ("code", "never closed")]),
        ("a +\nb, https://example.org/[there] // c\n// d\n", [("paragraph", "a\nb, there // c")]),
    ],
)
def test_marks_are_read_by_what_they_say(text: str, expected: list[tuple[str, str]]) -> None:
    assert read(text) == expected


def test_the_title_and_the_words_of_a_picture_are_read_however_they_are_given() -> None:
    assert read('image::a.png[title="Pump, open"]') == [("paragraph", "Pump, open")]
    assert read('image::a.png[The pump, 300, title="Pump, *open*"]') == [
        ("paragraph", "Pump, open"),
        ("paragraph", "The pump"),
    ]
    assert read("image::a.png[alt=The pump,width=300]") == [("paragraph", "The pump")]
    assert read("image::a.png[]") == []


def test_comments_are_counted_though_they_never_end() -> None:
    document = converted("Text.\n\n// one\n\n////\ntwo\n\nthree\n")
    assert [(line.rule, str(line)) for line in document.removed] == [
        ("comment", "// one"),
        ("comment", "two"),
        ("comment", "three"),
    ]


PIECES = [
    *("= w", "== w", "w\n---", "----", "....", "====", "****", "--", "|===", "|w|w", "2+|w", ".2+|w", "[source,c]"),
    *("[NOTE]", '[cols="2*,1"]', ".w", "w::", "w:: w", "w::: w", "* w", "** w", ". w", "1. w", "<1> w", "+", "", "w"),
    *("w w", " w", ":a: w", ":b: {a}{a}", "{a}{b}", "NOTE: w", "'''", "include::w[]", "ifdef::x[]", "endif::[]"),
    *(
        "*w* _w_ `w` +w+ #w#",
        "<<w,w>>",
        "link:w[w]",
        "http://w.org[w]",
        "((w))",
        "``w''",
        "w^w^",
        "w +",
        "```",
        "[w",
        "|",
    ),
]


@given(st.lists(st.sampled_from(PIECES), max_size=25))
def test_no_word_is_lost_whatever_stands_beside_what(pieces: list[str]) -> None:
    parts = re.split(r"(?<![a-z])w(?![a-z])", "\n".join(pieces))
    words = [f"word{number}x" for number in range(len(parts) - 1)]
    text = "".join(part + word for part, word in zip(parts, [*words, ""], strict=True))
    document = converted(f"Text.\n\n{text}")
    found = " ".join(
        [
            *(block.written for block in document.blocks),
            *(link.href for block in document.blocks for link in block.links),
            *(str(line) for line in document.removed),
        ]
    )
    assert set(words) <= set(re.findall(r"word\d+x", found))


def test_values_that_name_each_other_do_not_grow_without_measure() -> None:
    bomb = "\n".join([":a0: word", *(f":a{i}: {{a{i - 1}}}{{a{i - 1}}}" for i in range(1, 60))])
    assert sum(len(block.text) for block in converted(f"{bomb}\n\n{{a59}}\n").blocks) <= 1_000


def test_what_is_nested_too_deeply_is_read_as_plain_text_and_said() -> None:
    text = "".join(f"{'=' * (4 + depth)}\nword{depth}\n" for depth in range(2_000))
    document = converted(text)
    assert document.notes == ("is nested too deeply for AsciiDoc: read as plain text",)
    assert all(f"word{depth}" in " ".join(block.text for block in document.blocks) for depth in (0, 1_999))


def test_a_text_file_with_the_marks_of_asciidoc_is_read_as_that() -> None:
    page = "X-100\n=====\n\n[verse]\n'x100' [-a]\n\nifdef::x[]\n-a::\n  All.\nendif::[]\n"
    assert read(page) == [(block.kind, block.written) for block in converted(page, "a.txt").blocks]
    assert ("paragraph", "-a: All.") in read(page)


def test_labels_of_links_keep_the_code_in_them() -> None:
    page = (
        "See <<keys,`:keys`>>, link:guide.html[the `install` page], https://example.org/x[`curl`], xref:a.adoc[+raw+]"
        " and more.footnote:[Only with `--all`, or link:b.html[`so`].]\n\nlink::c.html[The `page`]\n"
    )
    assert read(page) == [
        ("paragraph", "See :keys, the install page, curl, raw and more. (Only with --all, or so.)"),
        ("paragraph", "The page"),
    ]


def test_a_picture_that_is_a_link_is_its_words() -> None:
    page = "https://example.org[image:https://example.org/a.svg[Build status]] and image:icons/b.png[a lamp,16]\n"
    assert read(page) == [("paragraph", "Build status and a lamp")]


def test_values_of_a_condition_count_where_the_text_has_none_itself() -> None:
    page = (
        "= Guide\nifdef::site[:docs: link:]\n:docs: https://example.org\nifndef::docs[:docs: other]\n"
        "ifndef::tag[:tag: 4.2]\n\n{docs}[Docs] of {tag}\n"
    )
    document = converted(page)
    assert [block.text for block in document.blocks] == ["Guide", "Docs of 4.2"]
    assert [link.href for block in document.blocks for link in block.links] == ["https://example.org"]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ('[source,shell,subs="attributes+"]', "get x:4.2"),
        ("[subs=+a]", "get x:4.2"),
        ("[source]", "get x:{tag}"),
    ],
)
def test_attributes_in_a_listing_stand_for_their_values_where_it_says_so(said: str, shown: str) -> None:
    assert ("code", shown) in [
        (block.kind, block.text) for block in converted(f":tag: 4.2\n\n{said}\n----\nget x:{{tag}}\n----\n").blocks
    ]


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        ('[%header,format=csv]\n|===\nName,Value\nVcc,"3,3 V"\n|===\n', ["Name | Value", "Vcc | 3,3 V"]),
        (",===\nName,Value\n\nVcc,`5 V`\n,===\n", ["Name | Value", "Vcc | 5 V"]),
        ('[options=header]\n:===\nName:Value\n"Vcc:5 V\n:===\n', ["Name | Value", '"Vcc | 5 V']),
        ("[%header,format=csv,separator=;]\n|===\nName;Value\nVcc;5 V\n|===\n", ["Name | Value", "Vcc | 5 V"]),
        ("[separator=!,%header]\n|===\n!Name !Value\n!a|b !5 V\n|===\n", ["Name | Value", "a|b | 5 V"]),
    ],
)
def test_tables_of_values_and_with_other_separators_are_tables(table: str, rows: list[str]) -> None:
    (block,) = converted(table).blocks
    assert block.kind == "table"
    assert list(block.lines) == rows
    assert block.header is not None


def test_a_table_within_a_cell_and_whom_a_quotation_is_from_are_read() -> None:
    page = "[cols=1a]\n|===\n|\n!===\n!Vcc !5 V\n!Icc !1 A\n!===\n|===\n\n[quote, Jane Roe, Notes]\n____\nMind the fuse.\n____\n"
    assert [block.lines for block in converted(page).blocks] == [
        ("Vcc | 5 V", "Icc | 1 A"),
        ("Mind the fuse.",),
        ("— Jane Roe, Notes",),
    ]


def test_a_reference_without_words_of_its_own_says_the_title_of_its_section() -> None:
    page = (
        "= Guide\n\nSee <<_power_supply>>, <<fuse>>, <<lamp,lamps>>, <<a-b>>, <<other>> and <<more.adoc#x>>.\n\n"
        "== Power `supply`\n\n24 V.\n\n[#fuse]\n== Fuses & more\n\n10 A.\n\n== [[lamp]]Lamps\n\n5 W.\n\n[[a-b]]\nA-B\n---\n\nOff.\n"
    )
    document = converted(page)
    assert document.blocks[1].text == "See Power supply, Fuses & more, lamps, A-B, other and x."
    assert {"_power_supply", "fuse", "lamp", "a-b"} <= {anchor for block in document.blocks for anchor in block.anchors}


def test_a_link_macro_with_a_whole_address_leaves_nothing_of_its_own() -> None:
    (block,) = converted("Read link:https://example.org/x/[the notes] or link:https://example.org/y[].\n").blocks
    assert block.written == "Read the notes or https://example.org/y."
    assert [link.anchor for link in block.links] == ["the notes", "https://example.org/y"]
