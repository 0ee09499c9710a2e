"""Pages of MediaWiki: what its templates say, and brackets that never close."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgrag.documents.blocks import BlockDocument
from kgrag.documents.mediawiki_text import plain_wiki
from kgrag.documents.pandoc import convert_with_pandoc


def converted(text: str) -> BlockDocument:
    pytest.importorskip("pypandoc")
    return convert_with_pandoc(text.encode(), Path("a.mediawiki"), format_="mediawiki", document_path="a.mediawiki")


def texts(text: str) -> list[str]:
    return [block.text for block in converted(text).blocks]


def test_what_templates_are_called_with_is_on_the_page() -> None:
    assert texts("Install it with {{ic|apt install {{Pkg|pump}}}}, then {{Key press|Enter}}.") == [
        "Install it with apt install pump, then Enter."
    ]
    assert texts("At {{val|5|u=bar}} and {{convert|5|km|mi|abbr=on}} {{font color|text=red|x=1}}.") == [
        "At 5 bar and 5 km red."
    ]


def test_boxes_are_paragraphs_and_listings_are_listings() -> None:
    read = converted("{{Warning|1=Hot: p=5.}}\n{{bc|$ make\n$ make install}}\n{{hc|/etc/pump.conf|speed{{=}}30}}")
    assert [(block.kind, block.text) for block in read.blocks] == [
        ("paragraph", "Warning: Hot: p=5."),
        ("code", "$ make\n$ make install"),
        ("paragraph", "/etc/pump.conf"),
        ("code", "speed=30"),
    ]


def test_a_box_of_data_says_its_names_and_values() -> None:
    said = "\n".join(texts("{{Infobox pump\n| name = X-100\n| top_speed = 30 [[rpm]]\n| empty =\n}}"))
    assert "name: X-100" in said
    assert "top speed: 30 rpm" in said
    assert "empty" not in said


def test_templates_without_words_of_the_page_are_told() -> None:
    read = converted("Text{{cite web|url=http://a.example|title=A}} here.{{stub}}{{#if:x|y}}")
    assert [block.text for block in read.blocks] == ["Text here."]
    assert [(line.rule, line.text) for line in read.removed] == [
        ("template", "{{cite web|url=http://a.example|title=A}}"),
        ("template", "{{stub}}"),
        ("template", "{{#if:x|y}}"),
    ]


def test_brackets_in_listings_are_text() -> None:
    text = "<pre>{{a|b}} [[c</pre> and <nowiki>{{d}}</nowiki>"
    assert plain_wiki(text) == (text, ())


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("A [[ b {{c|d}} e", "A [[ b d e"),
        ("A {{ic|b and {{ic|c}} d", "A {{ic|b and c d"),
        ("A {{x|b [[c }} d", "A b [[c d"),
        ("A <nowiki> b", "A <nowiki> b"),
        ("A <ref> b <ref>c</ref>", "A <ref> b"),
        ("A [http://a.example b", "A [http://a.example b"),
        ("A }} b ]] c", "A }} b ]] c"),
    ],
)
def test_what_never_closes_is_text(text: str, read: str) -> None:
    assert texts(text)[0].startswith(read)


def test_a_table_that_is_not_closed_ends_with_the_page() -> None:
    (table,) = converted("{|\n! Name !! Default\n|-\n| pressure || 5 bar\n").blocks
    assert table.rows[0].cells == ("pressure", "5 bar")


@pytest.mark.parametrize("mark", ["[[", "{{", "[http://a ", "[[a|", "{{a|[[b|", "<nowiki>", "<!--", "<ref>", "}}"])
def test_many_brackets_take_no_time(mark: str) -> None:
    assert plain_wiki(mark * 20_000)[0]
    assert converted(f"Start.\n\n{mark * 1_000}").blocks[0].text == "Start."


def test_deep_templates_end() -> None:
    assert plain_wiki("{{a|" * 20_000 + "x" + "}}" * 20_000)[0] == "x"


def test_categories_are_left_out_and_counted_and_of_galleries_the_captions_are_read() -> None:
    page = (
        "The pump.\n\n<gallery mode=packed>\nFile:a.png|Open, with [[valve|its valve]]\nFile:b.png\n"
        "File:c.png|alt=A pump|Closed\nFile:d.png|alt=A pump\n</gallery>\n\nSee [[:Category:Valves]].\n"
        "[[Category:Pumps]]\n[[Kategorie:Ventile|V]]"
    )
    read = converted(page)
    assert [block.text for block in read.blocks] == [
        "The pump.",
        "Open, with its valve",
        "Closed",
        "See :Category:Valves.",
    ]
    assert [str(line) for line in read.removed if line.rule == "category"] == [
        "[[Category:Pumps]]",
        "[[Kategorie:Ventile|V]]",
    ]
