"""Manuals in GNU Info."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from kgrag.documents import discover, read
from kgrag.documents.blocks import BlockDocument
from kgrag.documents.info_manual import convert_info
from kgrag.errors import DocumentError

MANUAL = """This is xset.info, produced by makeinfo version 6.8 from xset.texi.

START-INFO-DIR-ENTRY
* xset: (xset).        Set the X-100.
END-INFO-DIR-ENTRY

\x1f
File: xset.info,  Node: Top,  Next: Power,  Up: (dir)

The X-100 and ‘xset’
********************

This manual is about the X-100, and about the program that sets what it
does when it is switched on.

* Menu:

* Power::                      What it needs
* Concept Index::

\x1f
File: xset.info,  Node: Power,  Next: Options,  Prev: Top,  Up: Top

1 Power
*******

It needs 3.3 V (*note Options::), at most 500 mA.  *Note the options:
Options, and *note (coreutils)ls invocation::.

1.1 Command-line
================

‘-v VOLT’
‘--volt=VOLT’
     The voltage of its output, which is between 1.2 V and 3.3 V and does
     not change until it is switched off.
\x1f
File: xset.info,  Node: Options,  Next: Concept Index,  Prev: Power,  Up: Top

2 Options
*********

     xset -v 1.8
\x1f
File: xset.info,  Node: Concept Index,  Prev: Options,  Up: Top

Index
*****

\0\x08[index\0\x08]
* Menu:

* volt:                                 Power.              (line  6)
\x1f
Tag Table:
Node: Top\x7f301
Node: Power\x7f786
\x1f
End Tag Table
"""


def manual(text: str = MANUAL) -> BlockDocument:
    return convert_info(text.encode(), Path("xset.info"), document_path="docs/xset.info")


def test_nodes_have_levels_terms_listings_and_references() -> None:
    document = manual()
    assert document.title == "The X-100 and ‘xset’"
    assert [(block.kind, block.level, block.text) for block in document.blocks] == [
        ("heading", 1, "The X-100 and ‘xset’"),
        (
            "paragraph",
            0,
            "This manual is about the X-100, and about the program that sets what it does when it is switched on.",
        ),
        ("heading", 2, "1 Power"),
        (
            "paragraph",
            0,
            "It needs 3.3 V (see Options), at most 500 mA. See the options, and see (coreutils)ls invocation.",
        ),
        ("heading", 3, "1.1 Command-line"),
        (
            "paragraph",
            0,
            "‘-v VOLT’, ‘--volt=VOLT’: The voltage of its output, which is between 1.2 V and 3.3 V and does not change until it is"
            " switched off.",
        ),
        ("heading", 2, "2 Options"),
        ("code", 0, "xset -v 1.8"),
        ("heading", 2, "Index"),
    ]
    assert [link.href for link in document.blocks[3].links] == ["docs/xset.info#Options"] * 2
    assert document.blocks[6].anchors == ("Options",)


def test_menus_indexes_and_navigation_are_counted() -> None:
    removed = manual().removed
    assert {line.rule for line in removed} == {"front matter", "navigation", "menu"}
    assert [line.text for line in removed if line.rule == "menu"] == [
        "* Menu:",
        "* Power::                      What it needs",
        "* Concept Index::",
        "* Menu:",
        "* volt:                                 Power.              (line  6)",
    ]


def test_a_picture_is_what_is_said_of_it() -> None:
    drawn = '\0\x08[image src="a.png" alt="two pins" text="o-o"\0\x08]'
    document = manual(f"\x1f\nFile: a.info,  Node: A,  Up: (dir)\n\n1 A\n***\n\nIt looks like this: {drawn}.\n")
    assert [block.text for block in document.blocks[1:]] == ["It looks like this: o-o."]


def test_what_has_no_nodes_is_refused() -> None:
    with pytest.raises(DocumentError, match="no Info manual"):
        manual("[info]\nname = 3\n")


def test_parts_of_a_manual_are_documents_and_what_lists_them_is_none(tmp_path: Path) -> None:
    before, _, after = MANUAL.partition("\x1f")
    table = f"{before}\x1f\nIndirect:\nxset.info-1: 301\n\x1f\nTag Table:\n(Indirect)\nNode: Top\x7f301\n\x1f\nEnd Tag Table\n"
    (tmp_path / "xset.info.gz").write_bytes(gzip.compress(table.encode()))
    (tmp_path / "xset.info-1.gz").write_bytes(gzip.compress(f"\x1f{after}".encode()))
    (tmp_path / "module.info").write_text("name = 3\n")
    found = discover([tmp_path])
    assert [(source.path.name, source.format) for source in found.sources] == [("xset.info-1.gz", "info")]
    assert found.ignored == {".gz": 1, ".info": 1}
    (whole,) = read(found.sources[0], count_tokens=len, max_tokens=2000)
    assert whole.document.title == "The X-100 and ‘xset’"


def test_a_later_part_and_one_without_a_heading_are_called_as_the_manual_is() -> None:
    front, _, nodes = MANUAL.partition("\x1f")
    power = nodes[nodes.index("\x1f") :]
    assert convert_info((front + power).encode(), Path("xset.info-2"), document_path="xset.info-2").title == "xset"
    other = front.replace("* xset: (xset).", "* xset: (xset)Power.\n* The X: (xset).\n* Other: (other).")
    assert convert_info((other + power).encode(), Path("a.info"), document_path="a.info").title == "The X"
    unnamed = convert_info(power.encode(), Path("a.info"), document_path="a.info")
    assert unnamed.title == "xset"


def blocks(body: str, *, before: str = "") -> list[tuple[str, str]]:
    """Return kinds and texts of the blocks of a node."""
    text = f"{before}\n\x1f\nFile: xset.info,  Node: Modes,  Up: Top\n\n{body}"
    return [(block.kind, block.text) for block in manual(text).blocks]


def test_terms_are_no_headings_however_short_what_is_said_of_them() -> None:
    body = """3 Modes
=======

The mode is one of the following:
‘slow’
     fewer calls

‘fast’
     more calls

STEADY
     Never changes.

‘Cannot open the port’
        * The cable is not connected.
        * Another program has the port.

‘auto’

     What it is when nothing is said about it.
"""
    assert blocks(body) == [
        ("heading", "3 Modes"),
        ("paragraph", "The mode is one of the following:"),
        ("paragraph", "‘slow’: fewer calls"),
        ("paragraph", "‘fast’: more calls"),
        ("paragraph", "STEADY: Never changes."),
        ("paragraph", "‘Cannot open the port’:"),
        ("list_item", "- The cable is not connected."),
        ("list_item", "- Another program has the port."),
        ("paragraph", "‘auto’: What it is when nothing is said about it."),
    ]
    document = manual(f"\x1f\nFile: xset.info,  Node: Modes,  Up: Top\n\n{body}")
    assert document.blocks[6].terms == ("‘Cannot open the port’",)


def test_examples_are_whole_and_no_headings() -> None:
    body = """4 Files
*******

The file looks like this:
     [power]
     -------
     volt = 3.3

     # as much as it may take
     mA = 500

It says:

     Voltage below the limit.

and ends.
"""
    assert blocks(body)[1:] == [
        ("paragraph", "The file looks like this:"),
        ("code", "[power]\n-------\nvolt = 3.3\n\n# as much as it may take\nmA = 500"),
        ("paragraph", "It says:"),
        ("paragraph", "Voltage below the limit."),
        ("paragraph", "and ends."),
    ]


def test_what_is_defined_may_have_any_kind_and_arguments_on_several_lines() -> None:
    body = """ -- xset: boolean keep
     Default: True
     Whether the voltage is kept.

 -- Function: int xset_volt (double VOLT,
          int PORT)
     Sets it.
"""
    assert blocks(body) == [
        ("paragraph", "xset boolean keep: Default: True"),
        ("paragraph", "Whether the voltage is kept."),
        ("paragraph", "Function int xset_volt (double VOLT, int PORT): Sets it."),
    ]


def test_lists_and_quotations_are_told_by_their_indentation() -> None:
    body = """   A paragraph begins three columns farther right than its other lines
do, where the author did not say that it should not.

  a. The first case, which takes more than one line of this list
     because it is long.

       9. A step of it.

     *Note:* Whoever reads this far knows that a quotation is a text,
     although it is indented as far as an example would be.
"""
    assert blocks(body) == [
        (
            "paragraph",
            "A paragraph begins three columns farther right than its other lines do, where the author did not say that it"
            " should not.",
        ),
        ("list_item", "- a. The first case, which takes more than one line of this list because it is long."),
        ("list_item", "  9. A step of it."),
        (
            "list_item",
            "  *Note:* Whoever reads this far knows that a quotation is a text, although it is indented as far as an example"
            " would be.",
        ),
    ]


def test_tables_have_headers_and_cells_of_several_lines() -> None:
    wide = " " * 10
    body = f"""Level     Meaning
------------------------------
0         Off
1         On, as long as
          nobody calls

{wide}
7         Above
{wide}
8         Further lines
of it     are its, too
{wide}
"""
    document = manual(f"\x1f\nFile: xset.info,  Node: Levels,  Up: Top\n\n{body}")
    assert [(block.kind, block.written) for block in document.blocks] == [
        ("table", "| Level | Meaning |\n| --- | --- |\n| 0 | Off |\n| 1 | On, as long as nobody calls |"),
        ("table", "|  |  |\n| --- | --- |\n| 7 | Above |\n| 8 of it | Further lines are its, too |"),
    ]


def test_what_follows_a_menu_is_read() -> None:
    body = """5 Ports
*******

There are two (1).

* Menu:

More of them

* First port::      Where it is, and
                    what it is for
* Second port::

   Both are behind the cover.

5.1 Covers
==========

Take it off.

   ---------- Footnotes ----------

   (1) Some have three.
"""
    assert blocks(body) == [
        ("heading", "5 Ports"),
        ("paragraph", "There are two (1)."),
        ("paragraph", "Both are behind the cover."),
        ("heading", "5.1 Covers"),
        ("paragraph", "Take it off."),
        ("paragraph", "(1) Some have three."),
    ]


@pytest.mark.parametrize(
    ("heading", "title"),
    [("Top", "X Set"), ("Overview", "X Set: Overview"), ("Using the set of X", "Using the set of X"), ("xset", "xset")],
)
def test_a_title_says_what_the_manual_is_of(heading: str, title: str) -> None:
    front = MANUAL.partition("\x1f")[0].replace("* xset: (xset)", "* X Set: (xset)")
    node = f"\x1f\nFile: xset.info,  Node: Top,  Up: (dir)\n\n{heading}\n{'*' * len(heading)}\n\nIt sets.\n"
    document = manual(front + node)
    assert (document.title, document.blocks[0].text) == (title, title)


def test_see_is_said_once() -> None:
    assert blocks("Look at it, see *note First port::.  See *note Covers::.\n") == [
        ("paragraph", "Look at it, see First port. See Covers.")
    ]


def test_what_is_defined_needs_no_kind() -> None:
    assert blocks(" -- : V = volt (X)\n     The voltage.\n") == [("paragraph", "V = volt (X): The voltage.")]


def test_a_quotation_in_a_narrow_column_is_a_text() -> None:
    body = "     Note: Whoever sets it reads\n     what the cover says, and\n     does that.\n"
    assert blocks(body) == [("paragraph", "Note: Whoever sets it reads what the cover says, and does that.")]
