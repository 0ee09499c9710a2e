"""Listings of LaTeX's packages and of a document's own environments."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgrag.documents.blocks import BlockDocument
from kgrag.documents.latex_listings import with_plain_listings
from kgrag.documents.pandoc import convert_with_pandoc

SCRIPT = "echo $HOME # home\nls a_b & wait"


def converted(body: str, preamble: str = "") -> BlockDocument:
    pytest.importorskip("pypandoc")
    text = f"\\documentclass{{article}}{preamble}\\begin{{document}}\nBefore.\n\n{body}\n\nAfter.\n\\end{{document}}\n"
    return convert_with_pandoc(text.encode(), Path("a.tex"), format_="tex", document_path="a.tex")


def texts(document: BlockDocument) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in document.blocks]


@pytest.mark.parametrize(
    ("preamble", "name"),
    [
        ("", "Verbatim*"),
        ("", "verbatim*"),
        ("", "BVerbatim"),
        ("", "alltt"),
        ("", "tcblisting"),
        (r"\DefineVerbatimEnvironment{shell}{Verbatim}{fontsize=\small}", "shell"),
        (r"\lstnewenvironment{shell}[1][]{\lstset{language=bash,#1}}{}", "shell"),
        (r"\newtcblisting{shell}{listing only}", "shell"),
        (r"\newminted{bash}{linenos}", "bashcode"),
        (r"\newminted[shell]{bash}{}", "shell"),
        (r"\newenvironment{shell}{\quote\verbatim}{\endverbatim\endquote}", "shell"),
    ],
)
def test_a_listing_keeps_its_lines_and_what_follows_it(preamble: str, name: str) -> None:
    document = converted(f"\\begin{{{name}}}\n{SCRIPT}\n\\end{{{name}}}\n\nIt costs \\$5.", preamble)
    assert texts(document) == [
        ("paragraph", "Before."),
        ("code", SCRIPT),
        ("paragraph", "It costs $5."),
        ("paragraph", "After."),
    ]


def test_an_environment_of_another_file_is_a_listing_where_its_content_is_no_text() -> None:
    document = converted(
        "\\begin{float}[htb]\n\\caption{How to \\emph{list}}\n\\begin{shell}[small]\n"
        + SCRIPT
        + "\n\\end{shell}\n\\end{float}\n\n"
        "\\begin{hint}\nKeep $p_1$ low.\n\nAnd warm.\n\\end{hint}\n"
    )
    assert texts(document)[1:-1] == [
        ("paragraph", "How to list"),
        ("code", SCRIPT),
        ("paragraph", "Keep p1 low."),
        ("paragraph", "And warm."),
    ]


def test_an_environment_of_another_file_is_a_listing_where_it_is_called_so() -> None:
    document = converted(
        "\\begin{mycode}\nopen valve\nclose valve\n\\end{mycode}\n\n\\begin{rows}\none\ntwo\n\\end{rows}"
    )
    assert texts(document)[1:-1] == [("code", "open valve\nclose valve"), ("paragraph", "one two")]


def test_the_caption_of_a_listing_stands_before_it() -> None:
    document = converted(
        "\\begin{lstlisting}[language=C,caption={Open, then close},label=l]\nopen();\n\\end{lstlisting}"
    )
    assert texts(document)[1:-1] == [("paragraph", "Open, then close"), ("code", "open();")]


def test_the_title_of_a_box_stands_before_its_text() -> None:
    document = converted(
        "\\begin{tcolorbox}[coltitle=black,title={Close {all} valves}, sharp corners]\nThe pump runs.\n\\end{tcolorbox}"
        "\\begin{mdframed}[frametitle=Then wait,linewidth=1pt]\nFor a minute.\n\\end{mdframed}"
    )
    assert [text for _, text in texts(document)[1:-1]] == [
        "Close all valves",
        "The pump runs.",
        "Then wait",
        "For a minute.",
    ]


@pytest.mark.parametrize("opening", [r"\begin{alltt}", r"\begin{Verbatim}[commandchars=\\\{\}]"])
def test_commands_within_a_listing_say_their_words(opening: str) -> None:
    name = opening[7:].partition("}")[0]
    document = converted(f"{opening}\nset  \\textbf{{speed \\emph{{$n}}}}\n\\{{all\\}}\n\\end{{{name}}}")
    assert texts(document)[1:-1] == [("code", "set  speed $n\n{all}")]


@pytest.mark.parametrize(
    "text",
    [
        r"\begin{shell} a_b never closes",
        "% \\begin{shell}\n% a_b\n% \\end{shell}\n",
        r"\begin{dmath} \alpha_1 = x^2 \end{dmath}",
        "\\begin{verbatim}\n\\begin{shell}\na_b\n\\end{shell}\n\\end{verbatim}",
        r"\begin{tikzpicture} \node (a_b) {x}; \end{tikzpicture}",
        "\\begin{figure}\\caption{A pump}\\end{figure}",
    ],
)
def test_what_is_no_listing_stays(text: str) -> None:
    assert with_plain_listings(text) == text
