"""Texinfo sources: structure, definitions, macros, conditions, and what is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgrag.documents import discover
from kgrag.documents.blocks import BlockDocument
from kgrag.documents.reading import convert_file
from kgrag.errors import DocumentError

BEGIN = "\\input texinfo @c -*-texinfo-*-\n@setfilename pump.info\n@settitle The @code{pump} Manual\n"


def of(tmp_path: Path, text: str | bytes, name: str = "pump.texi") -> BlockDocument:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else (BEGIN + text).encode())
    (source,) = discover([path]).sources
    return convert_file(source)


def outline(document: BlockDocument) -> list[str]:
    return [f"h{block.level} {block.text}" if block.kind == "heading" else block.written for block in document.blocks]


def test_chapters_are_headings_and_references_lead_to_their_nodes(tmp_path: Path) -> None:
    text = (
        "@node Top\n@top Pump\n@menu\n* Use:: How.\n@end menu\n@node Intro, Use, Top, Top\n@chapter Introduction\n@cindex intro\n"
        "See @ref{Use, , Its use}.@c no\n@node Use\n@section Using @file{pump.conf}\nMore in @ref{Files,,, tar, Tar}.\n@bye\nnot this\n"
    )
    document = of(tmp_path, text)
    assert document.title == "The pump Manual"
    assert outline(document) == ["h2 Introduction", "See Its use.", "h3 Using pump.conf", "More in Files in Tar."]
    assert [link.href.rpartition("#")[2] for link in document.blocks[1].links] == ["Use"]
    assert document.blocks[2].anchors == ("Use",)
    assert [(line.rule, line.text) for line in document.removed] == [
        ("menu", "* Use:: How."),
        ("index", "intro"),
    ]


def test_terms_stand_with_what_is_said_of_them(tmp_path: Path) -> None:
    text = (
        "@table @code\n@item --speed=@var{n}\n@itemx -s @var{n}\n@vindex speed\nThe speed, 5 at first.\n\n@itemize @bullet\n@item one\n"
        "@end itemize\n@item --stop\nStops.\n@end table\n"
        "@deffn Command pump [@var{speed}] @dots{}\n@deffnx Command motor\nIt pumps.\n@end deffn\n"
    )
    assert outline(of(tmp_path, text)) == [
        "--speed=n, -s n: The speed, 5 at first.",
        "- one",
        "--stop: Stops.",
        "Command pump [speed] …, Command motor: It pumps.",
    ]


def test_listings_keep_their_lines_and_tables_their_header(tmp_path: Path) -> None:
    text = (
        "@example\n@group\nif (x @{ 1 @}) -- y\n  z < 2\n@end group\n@end example\n@verbatim\n@code{x} <b>\n@end verbatim\n"
        "@multitable @columnfractions .3 .7\n@headitem Name @tab Volt\n@item A @tab 3.3\n@item B\n@tab 5\n@end multitable\n"
    )
    assert outline(of(tmp_path, text)) == [
        "if (x { 1 }) -- y\n  z < 2",
        "@code{x} <b>",
        "| Name | Volt |\n| --- | --- |\n| A | 3.3 |\n| B | 5 |",
    ]


def test_signs_accents_values_macros_conditions_and_footnotes_are_read(tmp_path: Path) -> None:
    text = (
        "@set RATE 4.2\n@macro cmd{name, arg}\n@command{\\name\\} @option{\\arg\\}\n@end macro\n@alias prog=command\n"
        'J@"org runs @cmd{pump, --fast}---or @prog{motor} -- at @value{RATE}@dmn{V}, 5@tie{}@U{00B5}A, a@@b.'
        "@footnote{At 20@textdegree{}C.\n\n"
        "Twice.}\n@ifset RATE\nSet.\n@end ifset\n@ifclear RATE\nUnset.\n@end ifclear\n"
        "@iftex\nPrinted.\n@end iftex\n@ifnottex\nShown.\n@end ifnottex\n"
    )
    assert outline(of(tmp_path, text)) == [
        "Jörg runs pump --fast—or motor – at 4.2V, 5 µA, a@b. Set. Shown.",
        "At 20°C. Twice.",
    ]


def test_what_is_included_and_what_is_not_known_is_named(tmp_path: Path) -> None:
    document = of(tmp_path, "@include version.texi\nIt @strange{runs}.\n")
    assert outline(document) == ["It runs."]
    assert document.notes == (
        "left out what it includes: version.texi",
        "left out what commands say that are not known: @strange",
    )


def test_the_declared_encoding_is_the_one(tmp_path: Path) -> None:
    assert outline(of(tmp_path, b"@documentencoding ISO-8859-2\nP\xf8\xedkaz \xe8erpadla\n")) == ["Příkaz čerpadla"]


@pytest.mark.parametrize(
    "text",
    [
        "@macro a\n@b\n@b\n@end macro\n@macro b\n@a\n@a x\n@end macro\n@a\n",
        "@code{" * 5000 + "x",
        "@end table\n@item x\n@tab y\nz {\n}\n@@",
    ],
)
def test_what_is_nested_without_end_or_has_no_beginning_is_read_or_refused(text: str, tmp_path: Path) -> None:
    try:
        assert of(tmp_path, text).blocks
    except DocumentError as error:
        assert error.reason


def test_a_file_without_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="has no text of a manual in Texinfo"):
        of(tmp_path, "@set VERSION 1\n")
