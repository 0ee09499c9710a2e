"""Manual pages, LaTeX, notebooks and a few more to blocks: pandoc (extra `pandoc`) makes HTML of them, which is walked as a page.

pandoc runs as a process of its own, in its sandbox: a document can neither read another file nor an address, nor take more memory or time
than is allowed here.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from kgrag.documents.blocks import BlockDocument, RemovedLine
from kgrag.documents.html import blocks_of_html
from kgrag.documents.latex_listings import with_plain_listings
from kgrag.documents.latex_tables import with_plain_tables
from kgrag.documents.man_definitions import with_definitions
from kgrag.documents.markdown_dialects import common_markdown
from kgrag.documents.mdoc_text import with_ended_brackets, with_known_strings
from kgrag.documents.mediawiki_text import plain_wiki
from kgrag.documents.org_text import BACKSLASH, plain_org
from kgrag.documents.pandoc_formats import PANDOC_READERS, missing_pandoc
from kgrag.documents.plain_text import plain_text_html
from kgrag.documents.roff_conditions import with_followed_conditions
from kgrag.documents.roff_lines import with_typed_listings, with_whole_title
from kgrag.documents.roff_macros import (
    as_plain_page,
    with_headings,
    with_includes,
    with_items,
    with_joined_lines,
    with_marked_headings,
    with_names,
    with_plain_line,
    with_whole_calls,
    without_conditional_macros,
    without_remarks_on_definitions,
    without_renamed_macros,
    without_stray_braces,
)
from kgrag.documents.rtf_text import with_letters
from kgrag.documents.text_encoding import DecodedText, decode, unpacked
from kgrag.documents.wiki_text import plain_dokuwiki, plain_twiki
from kgrag.errors import DocumentError

__all__ = ["convert_with_pandoc"]

SKIPPED = re.compile(
    r"^\[(?:INFO|WARNING)\] (?:Skipped|Could not load include file) '?((?:(?!^\[(?:INFO|WARNING)\]).)+?)'? at line \d",
    re.MULTILINE | re.DOTALL,
)
LAYOUT = re.compile(
    r"\\(?:maketitle|tableofcontents|(?:small|med|big)skip|(?:clear|new|no)page|pagebreak|hfill|vfill|noindent|centering|[vh]space|label|index|markboth|hrule|par)\b"
)
"""Commands that say nothing."""
INPUT = re.compile(r"(\\(?:input|include))[ \t]+([^\s{}\\%]+)")
"""Of a file without braces, which pandoc refuses where the file is not there."""
STRANGE_COMMAND = re.compile(r"\\([A-Za-z]+)\{([^{}]*(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}[^{}]*)*)\}\Z")
"""With one argument."""
PROSE = re.compile(r"(?!\s*[\w./-]+\s*=)(?s:.*?)(?:[^\W\d_]{2,}[,;]?\s+){2}[^\W\d_]{2}")
"""Three words, and no setting."""
SETS_SOMETHING = re.compile(r"\w*(?:set|setup|library|package|options|hook|def|require|register)", re.IGNORECASE)
BODY = r"\begin{document}"
SAYS_NO_WORDS = re.compile(
    r"begin|end|math\w*|operatorname|(?:wide)?(?:hat|tilde)|bar|vec|d*dot|overline|underline|sqrt"
    r"|\w*(?:ref|cite\w*|label|index|glossary|colou?r|language|style|space|skip|font|size|width|height|counter|phantom|rule|box|input|include|graphics)",
    re.IGNORECASE,
)
"""Names of commands whose argument is a key, a length, a file or a part of a formula."""
ROFF = frozenset({"man", "mdoc"})
"""What pandoc leaves out of them is about layout."""
APOSTROPHE = ".ds Aq '\n"
"""A string that manual pages define under a condition, which pandoc does not follow: `don\\*(Aqt`."""
MAN_TABLE = re.compile(r"^\.TS\b.*?^\.TE\b", re.MULTILINE | re.DOTALL)
TAB_OPTION = re.compile(r"tab *\((.)\)", re.IGNORECASE)
EMPTY_FONT = re.compile(r"\\f(?=\\f)")
"""A change of font without a font, which groff passes over and pandoc refuses."""
SYSTEM = re.compile(r"^\.Os .*$", re.MULTILINE)
"""The name of a system in more words than one, which pandoc refuses."""
LATEX = "latex"
LATEX_MARK = re.compile(r"\\(?:document(?:class|style)|begin\s*\{|(?:sub)*section\b|chapter\b|part\b)")
MACROS = re.compile(r"\\catcode\s*`\\?@\s*=?\s*(?:11|\\active|\\letter)\b")
"""A file that takes `@` for a letter defines commands."""
WORDS_IN_A_ROW = re.compile(r"(?:[^\W\d_]{2,}[,;:]?\s+){3}[^\W\d_]{2}")
NO_LATEX = "is macros, or a text, of plain TeX and no LaTeX, which alone is read: give the PDF that is made of it"
OF_SPHINX = re.compile(r"\\documentclass(?:\[[^\]]*\])?\{sphinx\w*\}|\\usepackage(?:\[[^\]]*\])?\{sphinx\}")
REFUSED_BEGIN = re.compile(r"\(line (\d+), column (\d+)\): unexpected \\begin")
BEGIN = re.compile(r"\\begin\{([^{}]+)\}")
ELEMENT = re.compile(r"<[^>]*>")
LATEX_ITEM = re.compile(r"\\item\b(?:\[([^\]]*)\])?")
MAX_REFUSED = 5
"""Environments of a file that pandoc refuses where they stand, one after the other."""
TEMPLATE = Path(__file__).with_name("pandoc.html")
MAX_SECONDS, SECONDS_OF_A_MB = 30, 30
"""For which pandoc may read a file, and more for each million characters: marks that nothing closes can take it for ever."""
PLAIN_WIKIS = {"mediawiki": plain_wiki, "dokuwiki": plain_dokuwiki, "twiki": plain_twiki}
"""Format → what writes it so that pandoc reads all that it says."""
NEARLY_PLAIN = frozenset({"org", "textile", *PLAIN_WIKIS})
"""Formats that say nearly the same as plain text, where pandoc does not end or wants more memory than is there."""
MAX_MEMORY = "2G"
NAMED = 10
SHOWN = 80
"""Characters of what was left out."""
MAX_PLAIN_LINES = 20
"""Of a manual page."""


def convert_with_pandoc(data: bytes, path: Path, *, format_: str, document_path: str) -> BlockDocument:
    """Convert a file of one of `PANDOC_READERS`. Raises `DocumentError` where pandoc cannot read it, or is not installed."""
    if missing := missing_pandoc():
        raise DocumentError(path, missing)
    decoded = (
        DecodedText(with_letters(unpacked(data, path).decode("latin-1"))) if format_ == "rtf" else decode(data, path)
    )
    if format_ == "tex" and OF_SPHINX.search(decoded.text):
        raise DocumentError(
            path, "is what Sphinx wrote to make a PDF of: give its sources (.rst, .md), its pages of HTML or that PDF"
        )
    text, removed = decoded.text, tuple[RemovedLine, ...]()
    if format_ in PLAIN_WIKIS:
        text, removed = PLAIN_WIKIS[format_](text)
    elif format_ == "ipynb":
        text, removed = _plain_notebook(text)
    html, notes = _html_of(_prepared(text, format_), path, format_)
    converted = blocks_of_html(html, path, document_path=document_path)
    notes = [*([decoded.note] if decoded.note else []), *notes, *converted.notes]
    return BlockDocument(converted.blocks, converted.title, (*removed, *converted.removed), tuple(notes))


def _prepared(text: str, format_: str) -> str:
    """Write a text so that pandoc reads all that it says."""
    match format_:
        case "man":
            whole = without_remarks_on_definitions(with_whole_calls(without_renamed_macros(EMPTY_FONT.sub("", text))))
            typed = with_typed_listings(with_items(with_marked_headings(with_whole_title(whole))))
            followed = without_conditional_macros(with_followed_conditions(typed))
            return with_joined_lines(APOSTROPHE + without_stray_braces(followed))
        case "mdoc":
            whole = with_known_strings(without_stray_braces(with_followed_conditions(with_whole_calls(text))))
            return with_joined_lines(with_ended_brackets(with_includes(with_names(SYSTEM.sub(".Os", whole)))))
        case "org":
            return plain_org(text)
        case "tex":
            return with_plain_tables(with_plain_listings(text))
        case _:
            return text


def _html_of(text: str, path: Path, format_: str) -> tuple[str, list[str]]:
    """Convert a text that was prepared: HTML, and what to say about it. What pandoc leaves out of manual pages is their layout."""
    reader = PANDOC_READERS[format_]
    notes: list[str] = []
    if format_ in ROFF:
        try:
            has_table = format_ == "man" and MAN_TABLE.search(text)
            html, _ = _with_tables(text, path) if has_table else _run_roff(text, path, reader=reader)
        except DocumentError as error:
            html, _ = _run(as_plain_page(text), path, reader="man")
            notes.append(f"read without its layout but headings, paragraphs and listings: {error.reason}")
        return with_definitions(with_headings(html)), notes
    if reader == LATEX:
        is_latex = LATEX_MARK.search(text) is not None
        if not is_latex and MACROS.search(text):
            raise DocumentError(path, NO_LATEX)
        try:
            html, remarks, commands = _with_strange_commands(INPUT.sub(r"\1{\2}", text), path)
        except DocumentError as error:
            raise error if is_latex else DocumentError(path, f"{NO_LATEX} ({error.reason})") from error
        if not is_latex and not WORDS_IN_A_ROW.search(ELEMENT.sub(" ", html.partition("<body>")[2] or html)):
            raise DocumentError(path, NO_LATEX)
        if commands:
            notes.append(f"read as its argument what is not defined in the file: {_some(commands)}")
    else:
        try:
            html, remarks = _run(text, path, reader=reader)
        except DocumentError as error:
            if format_ not in NEARLY_PLAIN:
                raise
            return plain_text_html(text), [f"read as plain text: {error.reason}"]
    skipped = [
        one if len(one) <= SHOWN else f"{one[:SHOWN]}..."
        for one in dict.fromkeys(" ".join(said.split()) for said in SKIPPED.findall(remarks))
        if not (LAYOUT.match(one) or one.endswith(".sty") or one == BACKSLASH)
    ]
    if skipped:
        notes.append(f"pandoc left out {_some(skipped)}")
    return html, notes


def _plain_notebook(notebook: str) -> tuple[str, tuple[RemovedLine, ...]]:
    """Return a notebook with its Markdown, of whatever generator, as CommonMark and with raw cells, which pandoc passes over where they
    are no HTML, as listings; and the marks that were taken out."""
    try:
        content = json.loads(notebook)
        cells = [cell for cell in content["cells"] if cell["cell_type"] in ("raw", "markdown")]
        texts = ["".join(cell["source"]) for cell in cells]
    except (ValueError, TypeError, KeyError, RecursionError):  # pandoc says what is wrong with it
        return notebook, ()
    removed: list[RemovedLine] = []
    for cell, source in zip(cells, texts, strict=True):
        if cell["cell_type"] == "markdown":
            cell["source"], marks = common_markdown(source.replace("\r\n", "\n"), components=False)
            removed += marks
        elif source.strip():
            fence = "`" * (1 + max((len(run) for run in re.findall("`+", source)), default=2))
            is_html = "html" in str(cell.get("metadata", {}))
            cell.update(cell_type="markdown", source=source if is_html else f"{fence}\n{source}\n{fence}")
    return json.dumps(content), tuple(removed)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"


def _with_strange_commands(text: str, path: Path) -> tuple[str, str, list[str]]:
    r"""Convert LaTeX: HTML, remarks, and the commands that were read as their argument: `the \cmd{open} command`, or a paragraph
    of its own as in `\tip{Close the valve first.}`.

    They are defined in a file that is not read (a package, a preamble), and pandoc leaves them out with their words.
    """
    text, html, remarks = _run_latex(text, path)
    skipped = [command for one in SKIPPED.findall(remarks) if (command := STRANGE_COMMAND.match(one))]
    said: dict[str, str] = {}
    for name, argument in {command[1]: command[2] for command in skipped}.items():
        if SAYS_NO_WORDS.fullmatch(name) or LAYOUT.match(f"\\{name}"):
            continue
        if re.search(rf"[^\s{{}}\\%][ \t~(\"'`]*\\{name}\{{[^{{}}]*[^\W_]", text):
            said[name] = "#1"
        elif (
            PROSE.match(argument)
            and not SETS_SOMETHING.fullmatch(name)
            and rf"\{name}{{" in (text.partition(BODY)[2] or text)
        ):
            said[name] = r"\par #1\par "
    if said:
        # Without an end of line: those of the file stay where they are.
        definitions = "".join(rf"\providecommand{{\{name}}}[1]{{{words}}}" for name, words in said.items())
        html, remarks = _run(definitions + text, path, reader=LATEX)
    return html, remarks, [f"\\{name}" for name in said]


def _run_latex(text: str, path: Path) -> tuple[str, str, str]:
    """Run pandoc on LaTeX: the text, HTML, and remarks. Environments that it refuses, in arguments of commands, are read as their text."""
    for _ in range(MAX_REFUSED):
        try:
            return text, *_run(text, path, reader=LATEX)
        except DocumentError as error:
            refused = REFUSED_BEGIN.search(error.reason)
            line = text.split("\n")[int(refused[1]) - 1 : int(refused[1])] if refused else []
            environment = BEGIN.match(line[0], int(refused[2]) - 1) if refused and line else None
            if environment is None:
                raise
            name = re.escape(environment[1])
            plainer = re.sub(rf"\\begin\{{{name}\}}(.*?)\\end\{{{name}\}}", _without_items, text, flags=re.DOTALL)
            if plainer == text:
                raise
            text = plainer
    return text, *_run(text, path, reader=LATEX)


def _without_items(environment: re.Match[str]) -> str:
    return " ".join(LATEX_ITEM.sub(r" \1 ", environment[1]).split())  # an argument has no paragraphs


def _run(text: str, path: Path, *, reader: str) -> tuple[str, str]:
    """Run pandoc on a text: HTML, and its remarks."""
    import pypandoc

    seconds = MAX_SECONDS + SECONDS_OF_A_MB * len(text) // 1_000_000
    command = [
        pypandoc.get_pandoc_path(),
        "+RTS",
        f"-M{MAX_MEMORY}",
        "-RTS",
        "--sandbox",
        f"--from={reader}",
        "--to=html5",
    ]
    command += ["--standalone", f"--template={TEMPLATE}", "--wrap=preserve", "--syntax-highlighting=none", "--verbose"]
    try:
        done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        raise DocumentError(path, f"pandoc has not read it within {seconds} s") from error
    remarks = done.stderr.decode(errors="replace")
    if done.returncode:
        said = [line for line in remarks.splitlines() if not line.startswith(("[INFO]", "[WARNING]"))]
        raise DocumentError(path, f"pandoc cannot read it as {reader}: {' '.join(' '.join(said).split())[:300]}")
    return done.stdout.decode(), remarks


def _run_roff(text: str, path: Path, *, reader: str) -> tuple[str, str]:
    """Run pandoc on a manual page; a line that it refuses is given to it as words, where groff is less strict."""
    refusal = None
    for _ in range(MAX_PLAIN_LINES):
        try:
            return _run(text, path, reader=reader)
        except DocumentError as error:
            refusal = refusal or error
            plainer = with_plain_line(text, error.reason)
            if plainer == text:
                raise refusal from error
            text = plainer
    return _run(text, path, reader=reader)


def _with_tables(text: str, path: Path) -> tuple[str, str]:
    """Convert a manual page with tables: as they are, without what pandoc does not know of their layout, or line by line."""
    for write in (lambda table: table[0], _plain_table, _as_laid_out):
        try:
            html, remarks = _run_roff(MAN_TABLE.sub(write, text), path, reader="man")
        except DocumentError:
            if write is _as_laid_out:
                raise
            continue
        if "Skipped 'TABLE'" not in remarks:
            break
    return html, remarks


def _plain_table(table: re.Match[str]) -> str:
    """Write a table with columns and nothing else: no widths, spans, lines, nor formats of a row."""
    separator, rows = _parts_of_table(table)
    cells = [1 + row.count(separator or "\t") for row in rows if not row.startswith(("T}", "."))]
    columns = " ".join("l" * max(cells, default=1))
    options = [f"tab({separator});"] if separator else []
    return "\n".join([".TS", *options, f"{columns}.", *rows, ".TE"])


def _as_laid_out(table: re.Match[str]) -> str:
    """Write the rows of a table as lines."""
    _, rows = _parts_of_table(table)
    return "\n".join([".nf", *(row.replace("T{", "").replace("T}", "") for row in rows), ".fi"])


def _parts_of_table(table: re.Match[str]) -> tuple[str, list[str]]:
    """Return a table's separator of cells (empty: a tab) and its rows, without its formats and without the lines drawn between them."""
    lines = table[0].splitlines()[1:-1]
    separator = ""
    if lines and lines[0].rstrip().endswith(";"):
        named = TAB_OPTION.search(lines.pop(0))
        separator = named[1] if named else ""
    end = next((n for n, line in enumerate(lines) if line.rstrip().endswith(".")), -1)
    rows = [line for line in lines[end + 1 :] if line.strip() not in ("_", "=")]
    return separator, rows
