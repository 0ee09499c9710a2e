"""Formats that pandoc reads (extra `pandoc`)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from kgrag.documents import discover, read
from kgrag.documents.blocks import BlockDocument
from kgrag.documents.pandoc import convert_with_pandoc
from kgrag.documents.pandoc_formats import PANDOC_SUFFIXES
from kgrag.errors import DocumentError


def converted(text: str, format_: str) -> BlockDocument:
    return convert_with_pandoc(text.encode(), Path("a"), format_=format_, document_path="docs/a")


def lines(document: BlockDocument) -> list[str]:
    return [line for block in document.blocks for line in block.lines]


MAN = r""".TH XSET 8 2020
.ie \n(.g .ds Aq \(aq
.SH NAME
xset \- set the X\-100
.SH OPTIONS
.TP
.B \-v
supply voltage, don\*(Aqt exceed 5.5 V
"""


def test_manual_pages() -> None:
    document = converted(MAN, "man")
    assert document.title == "XSET(8)"
    assert [(block.kind, block.level) for block in document.blocks[:2]] == [("heading", 1), ("paragraph", 0)]
    assert lines(document) == [
        "NAME",
        "xset - set the X-100",
        "OPTIONS",
        "-v: supply voltage, don't exceed 5.5 V",
    ]
    assert document.notes == ()


GENERATED_MAN = r"""'\" t
.TH XSET.CONF 5 2020
.SH OPTIONS
.PP
\fBmax_load\fR \fIcount\fR
.RS 4
How many loads there may be\&. Defaults to 20\&. It takes:
.sp
.RS 4
.ie n \{\
\h'-04'\(bu\h'+03'\c
.\}
.el \{\
.sp -1
.IP \(bu 2.3
.\}
a number
.RE
.sp
.RS 4
.ie n \{\
\h'-04' 1.\h'+01'\c
.\}
.el \{\
.  sp -1
.  IP " 1." 4.2
.\}
a word
.RE
.sp
It applies to all\&.
.RE
.PP
\-\-quiet
.RS 4
Say nothing\&.
.RE
.PP
For example:
.RS 4
xset \-\-quiet
.RE
"""


def test_what_generators_of_manual_pages_indent_below_a_term_is_its_definition() -> None:
    blocks = converted(GENERATED_MAN, "man").blocks
    assert [(block.kind, block.terms, block.text) for block in blocks] == [
        ("heading", (), "OPTIONS"),
        ("paragraph", ("max_load count",), "max_load count: How many loads there may be. Defaults to 20. It takes:"),
        ("list_item", ("max_load count",), "- a number"),
        ("list_item", ("max_load count",), "1. a word"),
        ("paragraph", ("max_load count",), "It applies to all."),
        ("paragraph", ("--quiet",), "--quiet: Say nothing."),
        ("paragraph", (), "For example:"),
        ("paragraph", (), "xset --quiet"),
    ]


MACROS = r"""
.de AP
.ie !"\\$4"" .TP \\$4
.el \{\
.   ie !"\\$2"" .TP \\n()Cu
.   el          .TP 15
.\}
.ie !"\\$3"" \{\
\&\\$1 \\fI\\$2\\fP (\\$3)
.\}
..
.de BE
.ie n \l'1'
.el \{\
.el \}\
\h'1'
.\}
.\}
..
.de QW
.ie '\\*(lq'"' ``\\$1''\\$2
.el \\*(lq\\$1\\*(rq\\$2
..
.de ZN
.ie t \fB\\$1\fR\\$2
.el \fI\\$1\fP\\$2
..
"""
"""Of Tcl's manual pages but the last, which is of X11's."""
CALLS = r"""
.SH ARGUMENTS
.AP "const char" *name in
Name of the supply.
.BE
.SH DESCRIPTION
The value is
.QW "5 V" ,
as
.ZN XQuery
says.
.QW .off
ends it.
"""


def test_what_macros_say_under_conditions_is_kept_and_unbalanced_ones_are_no_failure() -> None:
    assert lines(converted(f"{MACROS}{MAN}{CALLS}", "man"))[4:] == [
        "ARGUMENTS",
        "const char *name (in): Name of the supply.",
        "DESCRIPTION",
        "The value is “5 V”, as XQuery says. “.off” ends it.",
    ]


CONDITIONS = r"""
.nr LC 2
.if \n(.g \{\
.ds T< \\FC
.ds T> \\F[\n[.fam]]
.\}
.SH CHOSEN
.ie \n(.g The \*(T<valve\*(T>
.el The lid
.if !'draft'hide' .B opens
.ie (\n[LC] > 1)&\n[LC]<3 \{\
.   ie t on paper
.   el twice\}
.el \{\
never
.\}
.ie d unknown at
.el \{ within
.if \n(SL a day of
5 s.\}
"""


def test_conditions_of_a_manual_page_are_followed_as_on_a_terminal() -> None:
    assert lines(converted(MAN + CONDITIONS, "man"))[4:] == ["CHOSEN", "The valve opens twice within 5 s."]


def test_conditions_beyond_numbers_or_nested_for_ever_cost_no_page() -> None:
    hostile = f".nr a {'9' * 400}\n.if {'(' * 5000}1 never\n.if {'-' * 5000}1 never\n.if n The valve is quiet.\n"
    assert "The valve is quiet." in " ".join(lines(converted(MAN + hostile, "man")))


REQUESTS = r"""
.de Text
.  nop \)\\$*
..
.de REQ
.  ie \\n[.$]=1 .Text \fB\\$1\fP
.  el \{\
.    Text \fB\\$1\fP \fI\\$2\fP
.    shift 2
.    if \\n[.$] (\\$*)
.  \}
..
.SH REQUESTS
.REQ .open
.REQ .close "a valve" at once
"""


def test_a_macro_with_conditions_says_what_it_does_with_the_arguments_of_each_call() -> None:
    assert lines(converted(MAN + REQUESTS, "man"))[4:] == ["REQUESTS", ".open .close a valve (at once)"]


def test_macros_that_call_each_other_end() -> None:
    endless = ".de A\n.if n .A\n.if n .A\nword\n..\n.SH END\n.A\nends\n"
    assert lines(converted(MAN + endless, "man"))[-1].endswith("ends")


def test_what_stands_behind_a_brace_that_nothing_opened_is_read() -> None:
    stray = '.\\}\n.SH FILES\n.if t \\{\\\n.ft B\n.\\} \\" end\nsupply.conf\n.\\}\n.SH END\nend\n'
    assert lines(converted(f"{MAN}{stray}", "man"))[-4:] == ["FILES", "supply.conf", "END", "end"]
    inline = ".if t .ft B \\}\n.SH END\nend \\} here \\e}\n"
    assert lines(converted(MAN + inline, "man"))[-2:] == ["END", "end here \\}"]


@pytest.mark.parametrize(
    "table",
    [
        ".TS\nl l.\nPin\tVolt\nVIN\t5\n.TE",
        ".TS\nallbox tab(:);\nlb lbx.\nPin:Volt\n_\nVIN:T{\n5\nT}\n.TE",
        ".TS\nl lp-1.\nPin\tVolt\n_\nVIN\t5\n.TE",
        ".TS\nl s\nl l.\nPin\tVolt\nVIN\t5\n.TE",
    ],
)
def test_tables_of_manual_pages_whatever_their_layout(table: str) -> None:
    document = converted(f"{MAN}{table}\n.SH END\nend\n", "man")
    assert lines(document)[-4:] == ["Pin | Volt", "VIN | 5", "END", "end"]


def test_lines_of_chinese_are_joined_without_spaces() -> None:
    body = "这个程序设置\n电源 X\\-100\n的电压。\n.nf\n第一行\n第二行\n.fi\n.TP\n电压\n是五伏，\n不是三伏。\n"
    assert lines(converted(f"{MAN}.SH 描述\n{body}", "man"))[-4:] == [
        "这个程序设置电源 X-100 的电压。",
        "第一行",
        "第二行",
        "电压: 是五伏，不是三伏。",
    ]


def test_what_groff_passes_over_is_no_error() -> None:
    assert lines(converted(".TH A 1\n.SH B\n\\f\\fIx\\fP\\fP 3 V\n", "man")) == ["B", "x 3 V"]
    assert lines(converted(".Dd May 1, 2020\n.Dt A 8\n.Os BSD 4\n.Sh NAME\n.Nm a\n.Nd b\n", "mdoc")) == [
        "NAME",
        "a — b",
    ]


NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Supply\n", "It is 3.3 V."]},
        {
            "cell_type": "code",
            "execution_count": 1,
            "metadata": {},
            "source": "print(5)",
            "outputs": [{"name": "stdout", "output_type": "stream", "text": "5 V"}],
        },
    ],
    "metadata": {"kernelspec": {"name": "python3", "language": "python", "display_name": "P"}},
    "nbformat": 4,
    "nbformat_minor": 4,
}


@pytest.mark.parametrize(
    ("format_", "text", "expected"),
    [
        ("ipynb", json.dumps(NOTEBOOK), ["Supply", "It is 3.3 V.", "print(5)", "5 V"]),
        (
            "tex",
            "\\documentclass{article}\\begin{document}\\section{Supply}It is \\textbf{3.3}~V.\\end{document}",
            ["Supply", "It is 3.3 V."],
        ),
        ("org", "* Supply\nIt is 3.3 V.\n", ["Supply", "It is 3.3 V."]),
        ("rtf", r"{\rtf1\ansi{\b Supply}\par It is 3.3 V, \'b5A.\par}", ["Supply", "It is 3.3 V, µA."]),
        ("pod", "=head1 Supply\n\nIt is 3.3 V.\n\n=cut\n", ["Supply", "It is 3.3 V."]),
        ("textile", "h1. Supply\n\nIt is *3.3 V*.\n", ["Supply", "It is 3.3 V."]),
        ("mediawiki", "= Supply =\nIt is '''3.3 V'''.\n", ["Supply", "It is 3.3 V."]),
        ("typst", "= Supply\nIt is *3.3 V*.\n", ["Supply", "It is 3.3 V."]),
    ],
)
def test_other_formats(format_: str, text: str, expected: list[str]) -> None:
    assert lines(converted(text, format_)) == expected


def test_commands_of_latex_that_are_defined_elsewhere_keep_their_words_within_a_line() -> None:
    document = converted(
        "\\input date\n\\section{Files}\nUse the \\cmd{open} command of \\app{MS \\emph{Excel}} (\\opt{x}), "
        "see \\secref{sec:x}\\hspace{1em}.\n\\thispage{empty}\n\nLast \\pair{a}{b}.\n",
        "tex",
    )
    assert lines(document) == ["Files", "Use the open command of MS Excel (x), see .", "Last ."]
    read, left_out = document.notes
    assert read == "read as its argument what is not defined in the file: \\cmd, \\app, \\opt"
    assert all(name in left_out for name in ("date.tex", "\\secref{sec:x}", "\\thispage{empty}", "\\pair{a}{b}"))


def test_an_environment_of_latex_that_pandoc_refuses_in_an_argument_is_its_text() -> None:
    text = (
        r"\section{Pump}\subsection[open]{open(\begin{Parts}\item[{int}]{speed, }\item[{}]{time}\end{Parts})}Opens it."
        r"\subsection{shut(\begin{Parts}\item{now}\end{Parts})}Shuts it."
    )
    document = converted(text, "tex")
    assert [" ".join(line.split()) for line in lines(document)] == [
        "Pump",
        "open(int speed, time)",
        "Opens it.",
        "shut(now)",
        "Shuts it.",
    ]


def test_no_file_is_read_or_included(tmp_path: Path) -> None:
    secret = tmp_path / "secret.tex"
    secret.write_text("secret")
    document = converted(
        f"\\documentclass{{article}}\\begin{{document}}Supply \\input{{{secret}}} 3 V\\end{{document}}", "tex"
    )
    assert lines(document) == ["Supply 3 V"]
    assert document.notes == (f"pandoc left out {secret}",)
    assert lines(converted(f'#+INCLUDE: "{secret}"\n3 V\n', "org")) == ["3 V"]


def test_a_file_that_pandoc_refuses_is_that_files_failure() -> None:
    with pytest.raises(DocumentError, match=r"pandoc cannot read it as latex: .*line 2"):
        converted("\\begin{document}\\begin{verbatim}", "tex")
    with pytest.raises(DocumentError, match="pandoc cannot read it as ipynb"):
        converted("{}", "ipynb")


@pytest.mark.parametrize(
    "text",
    [
        "\\catcode`@=11 % macros follow\n\\message{The pump is ready to be used}\n",
        "\\hsize=20cm\\vrule width 1pt\\par\n",
        "The pump is ready to be used.\n\\def\\p #1 {\\end}\n\\bye\n",
    ],
    ids=["macros", "lengths", "what pandoc refuses"],
)
def test_macros_and_plain_tex_are_named_and_no_text(text: str) -> None:
    with pytest.raises(DocumentError, match="plain TeX and no LaTeX"):
        converted(text, "tex")


def test_a_part_of_a_text_of_latex_needs_no_heading() -> None:
    assert lines(converted("The \\emph{pump} is ready to be used.\n", "tex")) == ["The pump is ready to be used."]


def test_manual_pages_are_told_by_their_section_and_how_they_begin(tmp_path: Path) -> None:
    (tmp_path / "xset.8").write_text(MAN)
    (tmp_path / "libx.so.1").write_text("binary")
    (tmp_path / "mail.1").write_text(".Dd May 1, 2020\n.Dt MAIL 1\n")
    (tmp_path / "xget.3x.gz").write_bytes(gzip.compress(MAN.encode()))
    (tmp_path / "cut.1.gz").write_bytes(gzip.compress(MAN.encode())[:20])
    found = discover([tmp_path])
    assert {source.path.name: source.format for source in found.sources} == {
        "mail.1": "mdoc",
        "xget.3x.gz": "man",
        "xset.8": "man",
    }
    assert found.ignored == {".1": 1, ".gz": 1}
    (page,) = read(found.sources[1], count_tokens=len, max_tokens=1000)
    assert page.document.title == "XSET(8)"


def test_without_the_extra_files_are_counted_and_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.8").write_text(MAN)
    (tmp_path / "b.tex").write_text("x")
    (tmp_path / "c.tex").write_text("x")
    (tmp_path / "d.md").write_text("x")
    monkeypatch.setattr("kgrag.documents.pandoc_formats.find_spec", lambda _: None)
    found = discover([tmp_path])
    assert [source.path.name for source in found.sources] == ["d.md"]
    assert found.notes == (
        "not read: 1 man, 2 tex: read by pandoc, which is not installed; run: pip install 'kgrag[pandoc]'",
    )
    with pytest.raises(DocumentError, match=r"pip install 'kgrag\[pandoc\]'"):
        converted(MAN, "man")


def test_every_suffix_has_a_reader(tmp_path: Path) -> None:
    for suffix in PANDOC_SUFFIXES:
        (tmp_path / f"a{suffix}").write_text("x")
    assert len(discover([tmp_path]).sources) == len(PANDOC_SUFFIXES)


BACKSLASHES = r"""#+TITLE: X-100
* Paths \(of files)
Set the folder C:\Users\anna, or \alpha{} and =\*= or \(a\,b\).
Escape an asterisk: \* no heading.

| \!  | run a command |
| M-! | run it there  |

  env PORT=1 start \
     --now

#+begin_src sh
start \
  \(now\)
#+end_src
"""


def test_a_backslash_in_an_org_text_is_one() -> None:
    document = converted(BACKSLASHES, "org")
    assert lines(document) == [
        "Paths \\(of files)",
        r"Set the folder C:\Users\anna, or α and \* or a b. Escape an asterisk: \* no heading.",
        r"\! | run a command",
        "M-! | run it there",
        "env PORT=1 start \\ --now",
        "start \\",
        r"  \(now\)",
    ]
    assert document.notes == ()


STRICT = r""".Dd June 6, 1993
.Dt PUMPD 8
.Os
.Sh NAME
.Nm pumpd
.Nd run a pump
.Sh DESCRIPTION
See
.Xr ntpd
and others, but not
.Xr who ,
before the pump
.Dq stops .
"""


def test_a_line_of_a_manual_page_that_pandoc_refuses_is_its_words() -> None:
    assert lines(converted(STRICT, "mdoc"))[-1] == "See ntpd and others, but not who, before the pump “stops”."
    page = MAN + ".SH FORMS\nThe character\n`\\f' feeds a form.\n"
    assert lines(converted(page, "man"))[-1] == r"The character `\f' feeds a form."


def test_a_literal_in_brackets_is_read() -> None:
    page = STRICT + "It marks\n.Pq Ql x or Fl z .\nAnd\n.Po so\n.Ql y Pc .\n"
    assert lines(converted(page, "mdoc"))[-1].endswith("It marks (x or -z). And (so y).")


def test_macros_of_man_that_a_page_writes_anew_are_those_of_man() -> None:
    anew = "".join(
        f".rn {name} {name.title()}\n.de {name}\n.br\n.ne 9\n.{name.title()} \\\\$1\n..\n" for name in ("TP", "SH")
    )
    document = converted(f"{anew}{MAN}.SH FORMS\n.TP\n.B round\nIt rolls.\n.TP\n.B square\nIt stands.\n", "man")
    assert lines(document)[-3:] == ["FORMS", "round: It rolls.", "square: It stands."]
    larger = '.de1 SH\n\\." larger\n.ie n \\{\\\n\\\\$*\n.\\}\n.el \\{\\\n\\\\$1\n.\\}\n..\n'
    document = converted(f"{larger}{MAN}.SH FORMS\nIt rolls.\n", "man")
    assert [block.text for block in document.blocks if block.kind == "heading"][-1] == "FORMS"


@pytest.mark.parametrize("section", ["NAME", "BEZEICHNUNG", "名前"])
def test_a_manual_page_in_any_language_says_its_name_and_purpose(section: str) -> None:
    page = STRICT.replace("NAME", section).replace("before the pump\n", "before the pump. Then\n.Nm\nand\n.Nm ,\n")
    assert lines(converted(page, "mdoc"))[:2] == [section, "pumpd — run a pump"]
    assert lines(converted(page, "mdoc"))[-1].endswith("before the pump. Then pumpd and pumpd, “stops”.")


def test_raw_cells_of_a_notebook_are_listings() -> None:
    raw = {
        "metadata": {"raw_mimetype": "text/restructuredtext"},
        "cell_type": "raw",
        "source": [".. note:: Use ``5 V``.\n", "Not 12 V."],
    }
    page = {"metadata": {"raw_mimetype": "text/html"}, "cell_type": "raw", "source": "<p>Reset <b>it</b>.</p>"}
    notebook = {"nbformat": 4, "nbformat_minor": 2, "metadata": {}, "cells": [raw, page]}
    document = converted(json.dumps(notebook), "ipynb")
    assert [(block.kind, block.text) for block in document.blocks] == [
        ("code", ".. note:: Use ``5 V``.\nNot 12 V."),
        ("paragraph", "Reset it."),
    ]
    with pytest.raises(DocumentError, match="pandoc cannot read it as ipynb"):
        converted("[1, 2", "ipynb")


def test_sections_of_an_org_text_that_are_not_printed_are_read() -> None:
    page = (
        "* X-100 :noexport:\nOne.\n* Supply :power:export:\nTwo.\n** Old :ARCHIVE:\nThree.\n* Reset\nFour :noexport:\n"
    )
    document = converted(page, "org")
    assert lines(document) == ["X-100", "One.", "Supply", "Two.", "Old", "Three.", "Reset", "Four :noexport:"]


def test_a_manual_page_that_pandoc_refuses_whole_is_read_by_its_words_and_headings() -> None:
    document = converted(
        ".Dd May 1, 2024\n.Dt PUMP 1\n.Os\n.Sh NAME\n.Nm pump\n.Nd moves water\n.Sh OPTIONS\n.Bl -tag -width Ds\n"
        "Stray \\fBtext\\fP.\n.It Fl s Ar speed\nSteps from 1 to 9.\n.Bd -literal\npump -s 3\n.Ed\n",
        "mdoc",
    )
    assert (document.title, lines(document)) == (
        "PUMP(1)",
        ["NAME", "pump — moves water", "OPTIONS", "Stray text.", "-s speed Steps from 1 to 9.", "pump -s 3"],
    )
    (note,) = document.notes
    assert note.startswith(
        "read without its layout but headings, paragraphs and listings: pandoc cannot read it as mdoc"
    )


def test_tags_of_an_org_section_and_how_far_it_is_are_counted_and_not_its_heading() -> None:
    document = converted("* TODO Replace the filter :pump:yearly:\nSwitch it off.\n** DONE Clean it\nBy hand.\n", "org")
    assert lines(document) == ["Replace the filter", "Switch it off.", "Clean it", "By hand."]
    assert [(line.rule, line.text) for line in document.removed] == [
        ("tag of a section", word) for word in ("TODO", "pump", "yearly", "DONE")
    ]


def test_what_follows_a_term_that_defines_nothing_is_no_part_of_its_block() -> None:
    settings = "".join(
        f".TP\n.B {name}\nSets {name}.\n.RS\n.TP\nThe default is: \\fB{value}\\fR\n.RE\n.\n"
        for name, value in (("a", 2), ("b", 5))
    )
    page = f".TH A 1\n.SH OPTIONS\n{settings}.TP\n.B c\nSets c.\n"
    document = converted(page, "man")
    assert lines(document)[1:] == ["a: Sets a.", "The default is: 2", "b: Sets b.", "The default is: 5", "c: Sets c."]
    assert [one.terms for one in document.blocks[1:]] == [("a",), ("a",), ("b",), ("b",), ("c",)]


def test_the_letter_o_before_items_of_a_manual_page_is_a_bullet() -> None:
    page = '.TH A 1\n.SH EXIT VALUES\n.IP o\n\\fB0\\fP \\- Success\n.IP "o" 4\n\\fB1\\fP \\- Usage error\n'
    assert lines(converted(page, "man"))[1:] == ["- 0 - Success", "- 1 - Usage error"]
    one = ".TH A 1\n.SH OPTIONS\n.IP n\nnot\n.IP o\nor\n"
    assert "- or" not in lines(converted(one, "man"))


@pytest.mark.parametrize("format_", ["man", "mdoc"])
def test_a_call_of_a_macro_may_go_on_on_the_next_line(format_: str) -> None:
    title = {
        "man": ".TH OPEN 3 2020\n.SH NAME\nopen \\- open it\n.SH SYNOPSIS\n.nf\n",
        "mdoc": ".Dd May 1, 2020\n.Dt OPEN 3\n.Os\n.Sh NAME\n.Nm open\n.Nd open it\n.Sh SYNOPSIS\n",
    }[format_]
    call = {
        "man": '.BI "int open_valve(const char *" name \\\n", int " bar );\n.fi\n',
        "mdoc": '.Ft int\n.Fn open_valve "const char *name" \\\n"int bar"\n',
    }[format_]
    said = " ".join(lines(converted(title + call + f".S{'Hh'[format_ == 'mdoc']} X\nIt opens.\n", format_)))
    assert "int open_valve(const char *name, int bar)" in said


def test_a_synopsis_says_what_is_to_be_included() -> None:
    page = """.Dd May 1, 2020
.Dt VALVE 3
.Os
.Sh NAME
.Nm valve
.Nd open it
.Sh SYNOPSIS
.In sys/valve.h
.Ft int
.Fn valve "int bar"
.Sh DESCRIPTION
See
.In math.h .
"""
    said = lines(converted(page, "mdoc"))
    assert "#include <sys/valve.h>" in said
    assert said[-1] == "See <math.h>."


def test_conditions_and_remarks_do_not_go_on() -> None:
    page = r""".TH X 1
.SH NAME
x \- y
.SH TEXT
.ie n \{\
on a terminal
.\}
.el \{\
on paper
.\}
.\" a remark \
.PP
After it, one word\
 and two.
"""
    assert lines(converted(page, "man"))[-2:] == ["on a terminal", "After it, one word and two."]


def test_a_strange_command_of_latex_that_says_a_sentence_is_a_paragraph() -> None:
    document = converted(
        "\\documentclass{article}\n\\toolset{never seen words here}\n\\begin{document}\nThe valve opens.\n\n"
        "\\tip{Close it before you leave,\n  or \\emph{it's} wet.}\n\n\\setup{pressure=five bar or so}\n\nThe end.\n\\end{document}\n",
        "tex",
    )
    assert lines(document) == ["The valve opens.", "Close it before you leave, or it’s wet.", "The end."]
    assert "read as its argument what is not defined in the file: \\tip" in document.notes


@pytest.mark.parametrize("options", ["", "#+OPTIONS: H:2 toc:nil\n"])
def test_sections_of_an_org_text_are_headings_on_all_levels(options: str) -> None:
    page = options + "".join(f"{'*' * level} Level {level}\n" for level in range(1, 7)) + "It is 3.3 V.\n"
    assert [(block.kind, block.level) for block in converted(page, "org").blocks] == [
        *(("heading", level) for level in range(1, 7)),
        ("paragraph", 0),
    ]


def test_a_block_of_an_org_text_that_never_ends_is_read_as_it_is() -> None:
    read = converted("**** Level 4\n#+begin_example\n3.3 V\n", "org")
    assert next((block.kind, block.text) for block in read.blocks) == ("heading", "Level 4")
    assert "OPTIONS" not in " ".join(block.text for block in read.blocks)


NAMES_IN_ITEMS = r""".TH "\fBXSET\fR" 1 2020
.SH OPTIONS
.PP
The X\-100 takes them.
.sp
.RS 4
.ie n \{\
\h'-04'\(bu\h'+03'\c
.\}
.el \{\
.sp -1
.IP \(bu 2.3
.\}
\fB\-\-help\fR,
\fB\-?\fR
.sp
Shows the options\&.
.RE
.sp
.RS 4
.ie n \{\
\h'-04'\(bu\h'+03'\c
.\}
.el \{\
.sp -1
.IP \(bu 2.3
.\}
\fB\-\-drain\fR
.sp
Empties it\&.
.sp
Twice: at once\&.
.RE
.sp
.RS 4
.ie n \{\
\h'-04'\(bu\h'+03'\c
.\}
.el \{\
.sp -1
.IP \(bu 2.3
.\}
an item of two paragraphs,
.sp
as any other\&.
.RE
.PP
max load at start (G)
.RS 4
In amperes\&.
.RE
.PP
what it says is this
.RS 4
xset 5
.RE
"""


def test_a_name_that_a_list_of_a_manual_page_has_for_what_is_said_below_is_its_term() -> None:
    document = converted(NAMES_IN_ITEMS, "man")
    assert document.title == "XSET(1)"
    assert [(block.kind, block.terms, block.text) for block in document.blocks] == [
        ("heading", (), "OPTIONS"),
        ("paragraph", (), "The X-100 takes them."),
        ("paragraph", ("--help, -?",), "--help, -?: Shows the options."),
        ("paragraph", ("--drain",), "--drain: Empties it."),
        ("paragraph", ("--drain",), "Twice: at once."),
        ("list_item", (), "- an item of two paragraphs,"),
        ("paragraph", (), "as any other."),
        ("paragraph", ("max load at start (G)",), "max load at start (G): In amperes."),
        ("paragraph", (), "what it says is this"),
        ("paragraph", (), "xset 5"),
    ]


OF_POD2MAN = r""".de Vb \" Begin verbatim text
.ft CW
.nf
.ne \\$1
..
.de Ve \" End verbatim text
.ft R
.fi
..
.TH XSET 8 2020
.SH "CONTROL FILE"
.IX Header "CONTROL FILE"
.SS "Checks"
.IX Subsection "Checks"
It takes:
.PP
.Vb 2
\&  pump {
\&      speed: 3
.Ve
.IP "1. Global statements" 4
.IX Item "1. Global statements"
They begin with a keyword.
.IP "2. Service entries." 4
.IX Item "2. Service entries."
.PP
\fIPressure\fR
.IX Subsection "Pressure"
.PP
Up to 5 bar.
.PP
Inlet valve
.IX Subsection "Inlet valve"
.PP
\&\fB\-c\fR \fIfile\fR
   Use this file
   for control
.PP
\&\fB\-t\fR
   Check the syntax
.SH END
"""


def test_listings_numbered_terms_and_deep_headings_of_pod2man_are_read() -> None:
    document = converted(OF_POD2MAN, "man")
    assert [(block.kind, block.level, block.text.strip()) for block in document.blocks] == [
        ("heading", 1, "CONTROL FILE"),
        ("heading", 2, "Checks"),
        ("paragraph", 0, "It takes:"),
        ("code", 0, "pump {\n      speed: 3"),
        ("paragraph", 0, "1. Global statements: They begin with a keyword."),
        ("paragraph", 0, "2. Service entries."),
        ("heading", 3, "Pressure"),
        ("paragraph", 0, "Up to 5 bar."),
        ("heading", 4, "Inlet valve"),
        ("paragraph", 0, "-c file: Use this file for control"),
        ("paragraph", 0, "-t: Check the syntax"),
        ("heading", 1, "END"),
    ]
    assert [block.terms for block in document.blocks[-3:-1]] == [("-c file",), ("-t",)]


def test_an_argument_whose_quote_ends_with_the_line_keeps_its_words_apart() -> None:
    page = '.TH X 1\n.SH MESSAGES\n.TP\n.B "too long a line\nBreak it.\n.TP\n.BI "-o " "a file\nWrite there.\n'
    read = convert_with_pandoc(page.encode(), Path("x.1"), format_="man", document_path="x.1")
    assert [block.text for block in read.blocks] == [
        "MESSAGES",
        "too long a line: Break it.",
        "-o a file: Write there.",
    ]


BRACKETS = r""".Dd May 1, 2020
.Dt PUMPD 8
.Os
.Sh NAME
.Nm pumpd
.Nd run a pump
.Sh DESCRIPTION
Use it
.Pq Fl z .
Or
.Bq Ar name ,
.Pq see Fl a Bq Ar b ;
and
.Aq Ar address .
\*(Lqslow\*(Rq \*(Le 3 \*(Ba \*[Ge] 4.
.Pq as is .
"""


def test_a_bracket_of_mdoc_ends_before_the_marks_behind_it_and_groffs_strings_are_characters() -> None:
    assert lines(converted(BRACKETS, "mdoc"))[-1] == (
        "Use it (-z). Or [name], (see -a [b]); and ⟨address⟩. “slow” ≤ 3 | ≥ 4. (as is)."
    )


def test_the_markdown_of_a_notebook_may_be_of_any_generator() -> None:
    source = "# Pump\n\nSee {doc}`start` and $a^2$.\n\n:::{note}\nKeep it dry.\n:::\n\n!!! tip\n    Fill it.\n\n> [!NOTE]\n> Soon.\n"
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": source.splitlines(keepends=True)},
        {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": "run('{x}')"},
    ]
    document = converted(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), "ipynb")
    said = ["Pump", "See start and a².", "Note", "Keep it dry.", "Tip", "Fill it.", "Note", "Soon.", "run('{x}')"]
    assert lines(document) == said
    assert {line.rule for line in document.removed} == {"generator's mark"}


def test_lines_that_begin_with_blanks_are_a_listing_and_others_flow() -> None:
    page = r""".TH VALVES 1
.SH DESCRIPTION
Shows all valves:
.PP
 # valves list
 north (open)
       6 bar  \-\- checked
.PP
 A paragraph that somebody began with a blank, and that goes on in the line below it,
is one all the same.
.TP
 \-q
be quiet
"""
    document = converted(page, "man")
    assert [(block.kind, block.text) for block in document.blocks[1:]] == [
        ("paragraph", "Shows all valves:"),
        ("code", "# valves list\nnorth (open)\n      6 bar  -- checked"),
        (
            "paragraph",
            "A paragraph that somebody began with a blank, and that goes on in the line below it, is one all the same.",
        ),
        ("paragraph", "-q: be quiet"),
    ]


def test_a_title_that_was_cut_is_the_whole_name() -> None:
    page = '.TH "VALVE_CLOSE_ALL_PIPE" "3" "2020"\n.SH NAME\nvalve_close_all_pipes \\- close the valves of all pipes\n'
    assert converted(page, "man").title == "valve_close_all_pipes(3)"
    assert converted(page.replace("valve_close_all_pipes", "vcap"), "man").title == "VALVE_CLOSE_ALL_PIPE(3)"


def test_a_text_that_pandoc_does_not_end_with_is_read_as_plain_text_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgrag.documents.pandoc.MAX_SECONDS", 1)
    document = converted("* Valves\n\n" + "open /or *shut _them " * 300, "org")
    assert " ".join(lines(document)).count("shut") == 300
    assert document.notes == ("read as plain text: pandoc has not read it within 1 s",)
