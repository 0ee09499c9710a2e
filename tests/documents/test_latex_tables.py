"""Tables of LaTeX's packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgrag.documents.latex_tables import with_plain_tables
from kgrag.documents.pandoc import convert_with_pandoc
from kgrag.errors import DocumentError

PAGED = r"""\begin{longtable}[c]{|l|p{4cm}|}
\caption{Settings}\\ \hline
Name & Default\\ \hline
\endfirsthead
\multicolumn{2}{c}{continued}\\
Name & Default\\ \hline
\endhead
\multicolumn{2}{r}{on the next page}\\
\endfoot
\hline
\endlastfoot
pressure & 5 bar\\
speed & 30 rpm\\
\end{longtable}"""


def tables(body: str) -> list[list[tuple[str, ...]]]:
    """The tables of a document as rows of cells, the header first."""
    pytest.importorskip("pypandoc")
    text = f"\\documentclass{{article}}\\begin{{document}}\nBefore.\n\n{body}\n\nAfter.\n\\end{{document}}\n"
    read = convert_with_pandoc(text.encode(), Path("a.tex"), format_="tex", document_path="a.tex")
    assert [block.text for block in read.blocks if block.kind == "paragraph"][-1] == "After."
    return [
        [row.cells for row in (block.header, *block.rows) if row is not None]
        for block in read.blocks
        if block.kind == "table"
    ]


def test_the_header_of_a_table_over_several_pages_stands_once() -> None:
    assert tables(PAGED) == [[("Name", "Default"), ("pressure", "5 bar"), ("speed", "30 rpm")]]


@pytest.mark.parametrize(
    "opening",
    [
        r"\begin{tabulary}{\linewidth}[t]{|L|L|}",
        r"\begin{xltabular}{\textwidth}{lX}",
        r"\begin{longtabu} to \linewidth {lX}",
        r"\begin{tabu}{ll}",
        r"\begin{tblr}[caption={x}]{colspec={Q[l] X}, hlines}",
        r"\begin{supertabular}{ll}",
    ],
)
def test_tables_of_packages_are_tables(opening: str) -> None:
    name = opening.partition("{")[2].partition("}")[0]
    (table,) = tables(rf"{opening} \hline Name & Default\\ \hline A \& B & 5 bar\\ \end{{{name}}}")
    assert table[-1] == ("A & B", "5 bar")


def test_the_header_that_stands_before_its_table_is_its_first_row() -> None:
    before = (
        r"\tablefirsthead{\hline Name & Default\\ \hline}\tablehead{again & again\\}\tabletail{on the next page & \\}"
    )
    (table,) = tables(rf"{before}\begin{{supertabular}}{{ll}}pressure & 5 bar\\\end{{supertabular}}")
    assert table == [("Name", "Default"), ("pressure", "5 bar")]


def test_what_is_no_table_stays_as_it_is() -> None:
    for text in (
        r"\begin{verbatim}\begin{tabu}{l}a\end{tabu}\end{verbatim}",
        r"\begin{tabu} a & b \end{tabu}",
        r"\begin{tabulary}{\linewidth}{L" * 3,
        r"\tablehead is a command",
    ):
        assert with_plain_tables(text) == text


def test_braces_that_never_close_take_no_time() -> None:
    for mark in (r"\begin{tabu}{", r"\tablehead{", r"\begin{verbatim}", r"\begin{longtable}["):
        text = mark * 20_000
        assert with_plain_tables(text) == text


def test_what_sphinx_wrote_for_a_pdf_names_what_to_read_instead() -> None:
    pytest.importorskip("pypandoc")
    text = rb"\documentclass[letterpaper,10pt,english]{sphinxmanual}\begin{document}\sphinxAtStartPar X\end{document}"
    with pytest.raises(DocumentError, match="Sphinx wrote"):
        convert_with_pandoc(text, Path("a.tex"), format_="tex", document_path="a.tex")
