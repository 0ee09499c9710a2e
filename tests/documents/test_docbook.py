"""DocBook, versions 4 and 5, as XML."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from kgrag.documents import discover
from kgrag.documents.blocks import BlockDocument
from kgrag.documents.docbook import convert_docbook
from kgrag.errors import DocumentError

PROLOGUE = '<?xml version="1.0"?>\n<!DOCTYPE book PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN" "docbookx.dtd" [{}]>\n'


def book(body: str, *, entities: str = "", root: str = "book") -> BlockDocument:
    text = f"{PROLOGUE.format(entities)}<{root}>{body}</{root}>"
    return convert_docbook(text.encode(), Path("a.xml"), document_path="docs/a.xml")


def chapter(body: str) -> list[str]:
    """Return the lines of what stands in a chapter."""
    return [line for block in book(f"<chapter><title>C</title>{body}</chapter>").blocks[1:] for line in block.lines]


def test_sections_have_levels_ids_and_links() -> None:
    read = book(
        "<title>The X-100</title><chapter id='power'><title>Power</title>"
        "<para>See <xref linkend='supply'/> and <link linkend='gone'>more</link>.</para>"
        "<sect1 id='supply'><title>Supply of <productname>X-100</productname></title><para>3.3 V</para></sect1></chapter>"
    )
    assert read.title == "The X-100"
    assert [(block.kind, block.level, block.text) for block in read.blocks] == [
        ("heading", 1, "The X-100"),
        ("heading", 2, "Power"),
        ("paragraph", 0, "See Supply of X-100 and more."),
        ("heading", 3, "Supply of X-100"),
        ("paragraph", 0, "3.3 V"),
    ]
    assert [(link.href, link.anchor) for link in read.blocks[2].links] == [("docs/a.xml#supply", "Supply of X-100")]
    assert read.blocks[3].anchors == ("supply",)


def test_a_reference_page_has_its_name_purpose_and_synopsis() -> None:
    read = book(
        "<refmeta><refentrytitle>xset</refentrytitle><manvolnum>8</manvolnum></refmeta>"
        "<refnamediv><refname>xset</refname><refname>xget</refname><refpurpose>set the X-100</refpurpose></refnamediv>"
        "<refsynopsisdiv><cmdsynopsis><command>xset</command><arg choice='opt'>-f <replaceable>FILE</replaceable></arg>"
        "<group choice='req' rep='repeat'><arg choice='plain'>on</arg><arg choice='plain'>off</arg></group></cmdsynopsis>"
        "<funcsynopsis><funcprototype><funcdef>int <function>xset</function></funcdef><paramdef>int <parameter>on</parameter></paramdef>"
        "<varargs/></funcprototype></funcsynopsis></refsynopsisdiv>"
        "<refsect1><title>Options</title><variablelist><varlistentry><term>-f</term><term>--file</term><listitem><para>The file. See "
        "<citerefentry><refentrytitle>xget</refentrytitle><manvolnum>1</manvolnum></citerefentry>.</para></listitem></varlistentry>"
        "</variablelist></refsect1>",
        root="refentry",
    )
    assert read.title == "xset(8)"
    assert [line for block in read.blocks for line in block.lines] == [
        "xset(8)",
        "Name",
        "xset, xget - set the X-100",
        "Synopsis",
        "xset [-f FILE] {on | off}...",
        "int xset(int on, ...);",
        "Options",
        "-f, --file: The file. See xget(1).",
    ]


def test_lists_listings_boxes_and_notes() -> None:
    assert chapter(
        "<procedure><title>To reset</title>"
        "<step><para>Press <keycombo><keycap>Ctrl</keycap><keycap>R</keycap></keycombo>.</para></step></procedure>"
        "<warning><para>Hot<footnote><para>90 °C</para></footnote>!</para></warning>"
        "<itemizedlist><listitem><para>one</para></listitem></itemizedlist>"
        "<programlisting>a = 1 <co/>\n  b = 2\n</programlisting>"
        "<figure><title>The board</title><mediaobject><imageobject><imagedata fileref='a.png'/></imageobject>"
        "<textobject><phrase>two pins</phrase></textobject></mediaobject></figure>"
        "<qandaset><qandaentry><question><para>Which?</para></question><answer><para>That.</para></answer></qandaentry></qandaset>"
        "<para><menuchoice><shortcut><keycap>F5</keycap></shortcut><guimenu>File</guimenu><guimenuitem>Load</guimenuitem></menuchoice></para>"
    ) == [
        "To reset",
        "1. Press Ctrl+R.",
        "Warning",
        "Hot[1]!",
        "[1] 90 °C",
        "- one",
        "a = 1 (1)",
        "  b = 2",
        "The board",
        "two pins",
        "Which?: That.",
        "File → Load (F5)",
    ]


def test_what_stands_in_a_paragraph_keeps_its_place() -> None:
    assert chapter("<para>before <screen>ls\n-l</screen> after</para>") == ["before", "ls", "-l", "after"]


def test_tables_of_both_models() -> None:
    spans = "<colspec colname='a'/><colspec colname='b'/><colspec colname='c'/>"
    assert chapter(
        f"<table><title>Limits</title><tgroup cols='3'>{spans}"
        "<thead><row><entry>Pin</entry><entry namest='b' nameend='c'>Volt</entry></row></thead>"
        "<tbody><row><entry morerows='1'>VIN</entry><entry>5</entry><entry>6</entry></row>"
        "<row><entry>7</entry><entry>8</entry></row></tbody>"
        "</tgroup></table><informaltable><tr><th>Pin</th><th>Volt</th></tr><tr><td>GND</td><td>0</td></tr></informaltable>"
    ) == [
        "Limits",
        "Pin | Volt | Volt",
        "VIN | 5 | 6",
        "VIN | 7 | 8",
        "Pin | Volt",
        "GND | 0",
    ]


def test_entities_are_characters_texts_or_named() -> None:
    read = book(
        "<chapter><title>C</title><para>&quot;&nbsp;&mdash;&quot; &x; &elsewhere;</para><screen><![CDATA[a && b &y; <c>]]></screen>"
        "<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' href='b.xml'/></chapter>",
        entities='<!ENTITY x "the X-100"><!ENTITY % more SYSTEM "more.ent"> %more; <!ENTITY all SYSTEM "all.xml">',
    )
    assert [block.text for block in read.blocks[1:]] == ['" —" the X-100 elsewhere', "a && b &y; <c>"]
    assert read.notes == (
        "left out what it includes: b.xml",
        "left out what another file says of its entities: elsewhere",
    )


def test_no_file_beside_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    path = tmp_path / "a.xml"
    path.write_text(
        f'<!DOCTYPE book [<!ENTITY s SYSTEM "{(tmp_path / "secret").as_uri()}">]><book><para>&s; 3 V</para></book>'
    )
    read = convert_docbook(path.read_bytes(), path, document_path="a.xml")
    assert [block.text for block in read.blocks] == ["s 3 V"]


def test_entities_that_multiply_are_refused() -> None:
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 20}">' for n in range(1, 12))
    with pytest.raises(DocumentError, match="broken"):
        book("<para>&e11;</para>", entities=f'<!ENTITY e0 "word ">{levels}')


def test_front_matter_is_counted_and_an_abstract_kept() -> None:
    read = book(
        "<bookinfo><title>T</title><author><firstname>A</firstname><surname>B</surname></author><copyright><year>2020</year></copyright>"
        "<abstract><para>About 3 V.</para></abstract></bookinfo><preface><para>p</para></preface>"
    )
    assert [block.text for block in read.blocks] == ["T", "About 3 V.", "Preface", "p"]
    assert [(line.rule, line.text) for line in read.removed] == [("front matter", "A B"), ("front matter", "2020")]


def test_docbook_5_has_a_namespace() -> None:
    text = (
        "<article xmlns='http://docbook.org/ns/docbook' xmlns:xlink='http://www.w3.org/1999/xlink' version='5.0'>"
        "<info><title>T</title></info>"
        "<section xml:id='s'><title>S</title><para><link xlink:href='b.xml#x'>b</link></para></section></article>"
    )
    read = convert_docbook(text.encode(), Path("a.xml"), document_path="docs/a.xml")
    assert [(block.text, block.anchors) for block in read.blocks] == [("T", ()), ("S", ("s",)), ("b", ())]
    assert [link.href for link in read.blocks[2].links] == ["docs/b.xml#x"]


@pytest.mark.parametrize(
    ("text", "reason"), [("<book><para>", "is broken"), ("<svg><g/></svg>", "not DocBook"), ("", "empty")]
)
def test_what_is_none_is_refused(text: str, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason):
        convert_docbook(text.encode(), Path("a.docbook"), document_path="a.docbook")


def test_xml_is_docbook_by_what_it_says(tmp_path: Path) -> None:
    files = {
        "a.xml": "<!-- <svg> --><!DOCTYPE book [<!ENTITY a 'b'>]><book><para>x</para></book>",
        "b.xml": "<d:section xmlns:d='http://docbook.org/ns/docbook'><d:para>x</d:para></d:section>",
        "c.xml": "<article><body>x</body></article>",
        "d.xml": "<project/>",
        "e.docbook": "<chapter/>",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "f.xml.gz").write_bytes(gzip.compress(files["a.xml"].encode()))
    found = discover([tmp_path])
    assert [source.path.name for source in found.sources] == ["a.xml", "b.xml", "e.docbook", "f.xml.gz"]
    assert {source.format for source in found.sources} == {"docbook"}
    assert found.ignored == {".xml": 2}


def test_a_file_of_several_sections_that_another_takes_in_is_read() -> None:
    text = (
        "<!-- Taken in by manual.xml -->\n<sect1 id='a'><title>Fuses</title><para>Use &half; 10 A.</para></sect1>\n"
        "<sect1><title>Lamps</title><xi:include href='lamps.xml'/><para>Use 5 W.</para></sect1>\n"
    )
    read = convert_docbook(text.encode(), Path("parts.xml"), document_path="parts.xml")
    assert [(block.kind, block.level, block.text) for block in read.blocks] == [
        ("heading", 1, "Fuses"),
        ("paragraph", 0, "Use ½ 10 A."),
        ("heading", 1, "Lamps"),
        ("paragraph", 0, "Use 5 W."),
    ]
    assert read.notes == ("left out what it includes: lamps.xml",)


def test_brackets_and_dashes_in_comments_of_the_document_type_are_no_end() -> None:
    read = book(
        "<chapter><title>C</title><!-- a -- b --><para>&x;</para><screen><![CDATA[<!-- a -- b -->]]></screen></chapter>",
        entities="<!-- see [1]> and \" -- this --><!ENTITY x ']>10 A'>",
    )
    assert [block.text for block in read.blocks] == ["C", "]>10 A", "<!-- a -- b -->"]


def test_marks_that_begin_nothing_are_text() -> None:
    read = book("<para>check & fix, 2 < 3, a <= b, x &lt; y</para>")
    assert [block.text for block in read.blocks] == ["check & fix, 2 < 3, a <= b, x < y"]


def test_a_comment_that_never_ends_breaks_a_file_at_once() -> None:
    text = "<section><para>3.3 V</para></section>\n<section><para>5 V</para></section>" + "<!-- x" * 50_000
    with pytest.raises(DocumentError, match="is broken"):
        convert_docbook(text.encode(), Path("a.docbook"), document_path="a.docbook")
