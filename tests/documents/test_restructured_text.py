"""reStructuredText: docutils' own marks, Sphinx's, and those that nobody knows; no text is lost, and nothing is fetched."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgrag.documents.blocks import BlockDocument
from kgrag.documents.text_files import convert_text


def converted(text: str, name: str = "manual.rst") -> BlockDocument:
    return convert_text(text.encode(), Path(name), document_path=f"docs/{name}")


def read(text: str) -> list[tuple[str, str]]:
    return [(block.kind, block.written) for block in converted(text).blocks]


MANUAL = """\
:orphan:
:Product: X-100

.. _intro:

============
X-100 manual
============

.. toctree::
   :maxdepth: 2

   setup

Supplied with :samp:`3.3 V`, see :ref:`supply`, :ref:`its pins <supply>`, :doc:`setup` and :func:`~lib.open`.

.. _supply:

Supply
======

.. option:: -U <name>, --user <name>

   Who logs in. Default is ``admin``.

   .. versionadded:: 3.2
      Also for the X-1000.

.. list-table:: Ratings
   :header-rows: 1

   * - Name
     - Value
   * - Vcc
     - 5 V

.. code-block:: c
   :caption: A listing
   :linenos:

   int x = 3;

.. only:: html

   Pins
   ----

   Two of them.
"""


def test_headings_definitions_tables_and_listings_are_told_apart() -> None:
    assert [(block.kind, block.level, block.written) for block in converted(MANUAL).blocks] == [
        ("heading", 1, "X-100 manual"),
        ("paragraph", 0, "Supplied with 3.3 V, see Supply, its pins, setup and lib.open."),
        ("heading", 2, "Supply"),
        ("paragraph", 0, "-U <name>, --user <name>: Who logs in. Default is admin."),
        ("paragraph", 0, "New in version 3.2: Also for the X-1000."),
        ("paragraph", 0, "Ratings"),
        ("table", 0, "| Name | Value |\n| --- | --- |\n| Vcc | 5 V |"),
        ("paragraph", 0, "A listing"),
        ("code", 0, "int x = 3;"),
        ("heading", 3, "Pins"),
        ("paragraph", 0, "Two of them."),
    ]


def test_references_are_links_where_what_they_lead_to_is_known() -> None:
    blocks = converted(MANUAL).blocks
    assert [(link.href, link.anchor) for link in blocks[1].links] == [
        ("docs/manual.rst#supply", "Supply"),
        ("docs/manual.rst#supply", "its pins"),
        ("docs/setup.rst", "setup"),
    ]
    assert "supply" in blocks[2].anchors
    assert converted("See :doc:`setup`.\n\n.. _a:\n", "a.txt").blocks[0].links[0].href == "docs/setup.txt"


def test_fields_at_the_start_are_metadata_and_what_is_left_out_is_counted() -> None:
    document = converted(MANUAL)
    assert document.metadata == {"orphan": "", "product": "X-100"}
    assert [str(line) for line in document.removed if line.rule == "table of contents"] == [
        ".. toctree::",
        "   :maxdepth: 2",
        "   setup",
    ]
    assert ":linenos: None" not in {str(line) for line in document.removed}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".. class:: Part(name)\n\n   A part.\n", [("paragraph", "Part(name): A part.")]),
        (".. c:function:: int f(void)\n                int g(void)\n", [("paragraph", "int f(void), int g(void)")]),
        (".. frobnicate:: Speed\n   :unit: rpm\n\n   At most 300.\n", [("paragraph", "Speed: At most 300.")]),
        (".. frobnicate::\n\n   At most 300.\n", [("paragraph", "At most 300.")]),
        (".. deprecated:: 2.0 Use ``b``.\n", [("paragraph", "Deprecated since version 2.0: Use b.")]),
        (".. seealso:: The `guide`\n", [("paragraph", "See also: The guide")]),
        (".. note:: See `a <b.rst>`_.\n", [("paragraph", "Note"), ("paragraph", "See a.")]),
        (
            ".. figure:: a.png\n   :width: much\n\n   Wires\n",
            [("code", ".. figure:: a.png\n   :width: much\n\n   Wires")],
        ),
        (
            "Press :kbd:`F1`, :menuselection:`&File --> Open` or :frob:`x <y>`.\n",
            [("paragraph", "Press F1, File --> Open or x.")],
        ),
        ("x\\ :sup:`2`, |none|, broken_ and `broken`_\n", [("paragraph", "x², |none|, broken_ and `broken`_")]),
        (".. |v| replace:: 3.3 V\n\nUp to |v|.\n", [("paragraph", "Up to 3.3 V.")]),
        ("a\n=\n\nb\n-\n\nc\n~\n\nd\n=\n\ne\n~\n", [*(("heading", letter) for letter in "abcd"), ("code", "e\n~")]),
    ],
)
def test_marks_of_sphinx_and_of_nobody_are_read_by_what_they_say(text: str, expected: list[tuple[str, str]]) -> None:
    assert read(text) == expected


def test_options_of_a_directive_that_nobody_knows_are_counted() -> None:
    removed = converted(".. change::\n   :tickets: 4291\n\n   Mended.\n").removed
    assert [(line.rule, str(line)) for line in removed] == [("directive", ":tickets: 4291")]


@pytest.mark.parametrize(
    "text",
    [
        ".. include:: secret.txt\n",
        ".. literalinclude:: secret.txt\n",
        ".. csv-table:: a\n   :file: secret.txt\n",
        ".. raw:: html\n   :file: secret.txt\n",
        ".. raw:: html\n\n   <script>secret</script>\n",
        ".. |x| date:: secret\n\n|x|\n",
    ],
)
def test_no_file_is_included_and_no_html_is_taken(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.txt").write_text("a secret\n")
    (tmp_path / "docutils.conf").write_text("[general]\nfile_insertion_enabled: yes\nraw_enabled: yes\n")
    words = " ".join(block.written for block in converted(f"Before.\n\n{text}\nAfter.\n").blocks)
    assert "Before." in words and "After." in words
    assert "a secret" not in words and "<script>" not in words


def test_comments_are_counted_and_an_option_without_a_value_is_no_text() -> None:
    document = converted(".. warning: one colon makes a comment\n\n.. frob:: Speed\n   :fast:\n\n   At most 300.\n")
    assert [(line.rule, str(line)) for line in document.removed] == [
        ("directive", ":fast:"),
        ("comment", "warning: one colon makes a comment"),
    ]
    assert read(".. code-block:: c\n   :caption:\n\n   int x;\n") == [("code", "int x;")]


def test_substitutions_that_grow_without_measure_stay_as_they_are_written() -> None:
    bomb = (
        "".join(f".. |a{i}| replace:: |a{i + 1}| |a{i + 1}|\n" for i in range(60))
        + ".. |a60| replace:: x\n\n|a0| of all\n"
    )
    assert read(bomb) == [("paragraph", "|a0| of all")]
    assert read(".. |a| replace:: |b|\n.. |b| replace:: |a|\n\nup to |a|\n") == [("paragraph", "up to |a|")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("".join(" " * 2 * i + f"- item{i}\n\n" for i in range(500)), "nested too deeply"),
        (f"Short.\n\n{'word ' * 3_000}end\n", "a line of more than 10,000 characters"),
    ],
)
def test_what_docutils_makes_nothing_of_is_read_as_plain_text_and_said(text: str, reason: str) -> None:
    document = converted(text)
    assert len(document.notes) == 1 and reason in document.notes[0]
    words = " ".join(block.written for block in document.blocks).split()
    assert set(words) >= {word for word in text.split() if word != "-"}


def test_a_text_file_with_the_marks_of_restructured_text_is_read_as_that() -> None:
    page = "Title\n=====\n\n.. note:: Mind *this*.\n"
    assert read(page) == [(block.kind, block.written) for block in converted(page, "a.txt").blocks]
    assert read(page) == [
        (block.kind, block.written) for block in converted(page.replace(".. ", "..  "), "a.txt").blocks
    ]
    plain = "Title\n=====\n\n.. and so on: mind *this*.\n"
    assert ("paragraph", ".. and so on: mind *this*.") in [
        (block.kind, block.written) for block in converted(plain, "a.txt").blocks
    ]


COMMANDS = """\
.. program:: xset

.. cmd:: show load

   What is drawn.

.. cmd:: limit AMPS

.. cmd:: limit-at-start AMPS

   Above it the X-100 switches off.

Also:

.. cmd:: reset

.. youtube:: q1w2
"""


def test_a_directive_of_a_project_that_describes_elsewhere_says_its_argument_without_content_too() -> None:
    document = converted(COMMANDS)
    assert [block.written for block in document.blocks] == [
        "show load: What is drawn.",
        "limit AMPS, limit-at-start AMPS: Above it the X-100 switches off.",
        "Also:",
        "reset",
    ]
    assert [str(line) for line in document.removed] == [".. program:: xset", ".. youtube:: q1w2"]


def test_a_directive_that_names_what_the_heading_below_says_is_no_text_of_the_section_above() -> None:
    document = converted(
        "Settings\n========\n\nAll of them.\n\n.. setting:: low_speed\n.. setting:: speed\n\n"
        "``speed`` and ``low_speed``\n---------------------------\n\nDefault: 5.\n\n.. setting:: other\n\nEnd\n---\n\nText.\n"
    )
    assert [block.text for block in document.blocks] == [
        *("Settings", "All of them.", "speed and low_speed", "Default: 5.", "other", "End", "Text.")
    ]
    assert [(line.rule, line.text) for line in document.removed] == [
        ("directive", ".. setting:: low_speed"),
        ("directive", ".. setting:: speed"),
    ]


@pytest.mark.parametrize("around", ["tabs", "grid", "only", "seealso", "container"])
def test_a_directive_of_an_extension_that_another_one_begins_with_is_read(around: str) -> None:
    text = f".. {around}::\n\n   .. tab:: Linux\n\n      Open the valve.\n\n   .. tab:: Others\n\n      Close it.\n\nAfter.\n"
    said = " ".join(written for _, written in read(text))
    assert said.removeprefix("See also: ") == "Linux: Open the valve. Others: Close it. After."


@pytest.mark.parametrize(
    "start",
    [
        ".. title: The pump\n.. slug: pump\n\n:Version: 2\n",
        "..\n   slug: pump\n   title: The pump\n\n",
        ":Title: The pump\n",
    ],
)
def test_a_title_that_comments_or_fields_at_the_start_name_is_the_documents(start: str) -> None:
    document = converted(f"{start}\nIt pumps.\n\nParts\n=====\n\nA valve.\n\nCare\n====\n\nOil it.\n")
    assert document.title == "The pump"
    assert "title" not in document.metadata
    assert converted(f"Pump\n====\n\nIt pumps.\n\n{start}").title == ""


def test_the_title_of_a_card_has_marks_and_pictures_have_no_words() -> None:
    text = (
        ".. grid:: 2\n\n   .. grid-item-card:: :octicon:`zap` Fast *pumps*\n\n      Of :fas:`bolt` ``X`` kind.\n\n"
        ".. function:: run(*all, **named)\n\n   Runs.\n"
    )
    assert [written for _, written in read(text)] == ["Fast pumps: Of X kind.", "run(*all, **named): Runs."]


TEMPLATE = """\
{{ fullname | escape | underline }}

.. currentmodule:: {{ module }}

{% block methods %}
.. rubric:: {{ _('Methods') }}

.. autosummary::
{% for item in methods %}
   ~{{ name }}.{{ item }}
{%- endfor %}
{% endblock %}
"""


def test_a_template_of_a_page_has_no_text_and_a_page_about_templates_has() -> None:
    document = converted(TEMPLATE)
    assert document.blocks == ()
    assert [line.text for line in document.removed if line.rule == "template"][:2] == [
        "{{ fullname | escape | underline }}",
        "{{ module }}",
    ]
    about = converted("Loops\n=====\n\nBegin with ``{% for %}``::\n\n   {% for a in b %}\n   {% endfor %}\n")
    assert [block.text for block in about.blocks][1:] == ["Begin with {% for %}:", "{% for a in b %}\n{% endfor %}"]
