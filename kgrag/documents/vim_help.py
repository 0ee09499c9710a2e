"""Help files of Vim and Neovim to HTML, by the rules of their `syntax/help.vim`; what has no mark is laid out as in other texts.

Tags (`*tag*`) are ids of what they stand at, and words of it where it does not say them. `|tag|` is a link where the file has that tag, or
where it names another file. Headings stand below a rule, are in capitals, end in `~`, or are names with tags. The line for the editor is
left out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape, unescape
from textwrap import dedent

from kgrag.documents.blocks import RemovedLine
from kgrag.documents.plain_text import TextLayout
from kgrag.documents.text_lines import indent_of
from kgrag.text.sentences import IN_COLUMNS

__all__ = ["is_vim_help", "vim_help_html"]

FIRST_LINE = re.compile(r"\*(?P<file>[^\s*]+\.txt)\*(?:\s+(?P<about>.*))?")
EDITOR_LINE = re.compile(r"(?:^|.*\s)(?:vim?|ex):.*\b(?:ft|filetype)=help\b.*")
EDITOR_LINES, LONGEST_EDITOR_LINE = 5, 500
"""At each end of a file, in which Vim looks for its line."""
DATED = re.compile(r"\bLast [Cc]hange:")
"""In the first line, behind the version of Vim, which is no title."""
TAG = re.compile(r"(?<!\S)\*([^\s*|]+)\*(?!\S)")
LEAST_LINKED = 3
FOLD = re.compile(r"\{\{\{\d?$")
"""Where the editor begins to fold."""
LINK = re.compile(r"(?<![^\s(\[])\|([^\s|\"*]+)\|(?=[\s.,:;!?)\]]|$)")
BEGINS, ENDS = "\ue000", "\ue001"
"""What stands for the bars of a link until its text is laid out: bars at the end of a line are those of drawn tables elsewhere."""
MARKED = re.compile(f"{BEGINS}([^{ENDS}]*){ENDS}")
FILE_NAME = re.compile(r"[\w-]+\.txt")
RULE = re.compile(r"={3,}|-{3,}")
CAPITALS = re.compile(r"[A-Z][-A-Z0-9 .()_]*")
EXAMPLE_BEGINS = re.compile(r"(?:^|(?<=\s))>[a-z0-9]*$")
EXAMPLE_ENDS = re.compile(r"<(?: |$)")
COLUMNS = re.compile(r"[^\s.!?:;] {2,}\S")
LONGEST_HEADING, LONGEST_TERM = 80, 60
LETTERS = re.compile(r"\W+")
MOST_TERMS = 20
"""Of one definition, below each other."""
FILE, SECTION, PART = 1, 2, 3
"""Levels: of the file, and of what stands below a rule of `=` and of `-`. Titles in capitals are one below, names with tags below these."""


def is_vim_help(text: str) -> bool:
    """Whether a text begins with its own name as a tag, says to the editor that it is help, or has links to its tags."""
    lines = text.strip().splitlines()
    ends = lines[:EDITOR_LINES] + lines[-EDITOR_LINES:]
    if (lines and FIRST_LINE.fullmatch(lines[0].rstrip())) or any(map(_is_for_editor, ends)):
        return True
    tags = {tag for line in lines if line.rstrip().endswith("*") for tag in TAG.findall(line)}
    return len(tags) >= LEAST_LINKED and len(tags & set(LINK.findall(text))) >= LEAST_LINKED


def vim_help_html(text: str) -> tuple[str, tuple[RemovedLine, ...]]:
    """Turn a help file into HTML; also return what was left out."""
    lines = [line.rstrip() for line in text.expandtabs().splitlines()]
    ends = {*range(EDITOR_LINES), *range(len(lines) - EDITOR_LINES, len(lines))}
    removed = [n for n, line in enumerate(lines) if n in ends and _is_for_editor(line)]
    kept = [line for n, line in enumerate(lines) if n not in removed]
    return _Help(kept).html(), tuple(RemovedLine("line for the editor", lines[n].strip()) for n in removed)


def _is_for_editor(line: str) -> bool:
    return len(line) <= LONGEST_EDITOR_LINE and EDITOR_LINE.fullmatch(line) is not None


class _Help:
    """Writes the lines of one file as HTML."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._tags = {tag for line in lines for tag in TAG.findall(line)}
        self._layout = TextLayout(list(map(_said, lines)), is_sentence=lambda line: not IN_COLUMNS.search(line.strip()))
        self._ruled = FILE
        """The level of the last heading below a rule."""
        self._level = FILE
        """That of the last heading of a section or part."""

    def html(self) -> str:
        """Write everything, the first line as the title."""
        start = next((n for n, line in enumerate(self._lines) if line), len(self._lines))
        parts: list[str] = []
        if start < len(self._lines) and (first := FIRST_LINE.fullmatch(self._lines[start])):
            about = " ".join(TAG.sub("", first["about"] or "").split())
            title = first["file"] if not about or DATED.search(about) else f"{first['file']}: {about}"
            parts.append(f"<h{FILE}>{_ids(TAG.findall(self._lines[start]))}{escape(title)}</h{FILE}>")
            parts += [f"<p>{escape(about)}</p>"] if about not in title else []
            start += 1
        return "\n".join([*parts, *self._blocks(self._lines[start:])])

    def _blocks(self, lines: Sequence[str], *, margin: int | None = None, about: str = "") -> Iterator[str]:
        """Write lines with headings, definitions, examples and texts among them; `about`: the terms that they say something of."""
        text: list[str] = []
        named: list[str] = []
        """The tags of that text."""
        tags: list[str] = []
        """Of the lines right above that have nothing else."""
        n = 0
        while n < len(lines):
            end, found, said = n + 1, TAG.findall(lines[n]), _said(lines[n])
            block = self._heading(lines, n, tags) or self._entry(lines, n, tags)
            if block or (found and not (said and text and text[-1])):
                yield _tagged(named, f"{about} {' '.join(text)}") + self._text(text, margin)
                text, named = [], []
            if block:
                html, end = block
                yield html
                tags = []
            elif found and not said:
                tags += found
            else:
                text.append(said)
                if said:
                    named += [*tags, *found]
                    tags = []
                if EXAMPLE_BEGINS.search(lines[n]):
                    end = _end_of_example(lines, n + 1)
                    yield _tagged(named, f"{about} {' '.join(text)}") + self._text(text, margin)
                    yield f"<pre>{escape(dedent(chr(10).join(lines[n + 1 : end])).strip(chr(10)))}</pre>"
                    text, named = [], []
            n = end
        yield _tagged([*named, *tags], f"{about} {' '.join(text)}") + self._text(text, margin)

    def _heading(self, lines: Sequence[str], n: int, tags: Sequence[str]) -> tuple[str, int] | None:
        """Return a heading and the line behind it, where one begins here; `tags` stand right above."""
        line, after = lines[n], lines[n + 1] if n + 1 < len(lines) else ""
        if rule := RULE.fullmatch(line):
            below = next((i for i in range(n + 1, min(n + 3, len(lines))) if lines[i]), n)
            is_alone = (
                TAG.search(lines[below]) or lines[below + 1 : below + 2] in ([], [""]) or lines[below + 1][0] in " =-"
            )
            if not (title := _title(lines[below])) or not is_alone or RULE.fullmatch(lines[below]):
                return f"{_tagged(tags, '')}<hr>", n + 1
            self._ruled = self._level = SECTION if rule[0][0] == "=" else PART
            return _heading(title, [*tags, *TAG.findall(lines[below])], self._level), below + 1
        title = _title(line)
        if not title or line.startswith(" "):
            return None
        is_marked = _untagged(line).endswith("~")
        is_apart = n == 0 or (not _said(lines[n - 1]) and not after.startswith(" ") and not CAPITALS.fullmatch(after))
        if is_marked or (is_apart and CAPITALS.fullmatch(title)):
            self._level = self._ruled + 1
            return _heading(title, [*tags, *TAG.findall(line)], self._level), n + 1
        end = next((i for i in range(n + 1, len(lines)) if _untagged(lines[i]) or not lines[i]), len(lines))
        if TAG.search(line) and (end == len(lines) or not lines[end]) and (not n or not lines[n - 1]):
            own = [tag for one in lines[n:end] for tag in TAG.findall(one)]
            return _heading(title, [*tags, *own], self._level + 1), end
        return None

    def _entry(self, lines: Sequence[str], n: int, tags: Sequence[str]) -> tuple[str, int] | None:
        """Return a definition and the line behind it: terms at the margin, and what is said of them, beside them or indented below."""
        own = [*tags, *TAG.findall(lines[n])]
        if not _said(lines[n]) or lines[n].startswith(" ") or EXAMPLE_ENDS.match(lines[n]):
            return None
        ends = range(n, min(n + MOST_TERMS, len(lines)))
        last = next((i for i in ends if i + 1 == len(lines) or lines[i + 1][:1] in ("", " ")), None)
        if last is None:
            return None
        first = next((i for i in range(last + 1, len(lines)) if not lines[i] or _untagged(lines[i])), len(lines))
        indent = indent_of(lines[first]) if first < len(lines) and lines[first] else 0
        gap = COLUMNS.search(_said(lines[n])) if own and last == n else None
        column = indent or (gap.end() - 1 if gap else 0)
        terms, body = [], []
        for line in lines[n : last + 1]:
            said = _said(line)
            if said[column - (1 if own else 2) : column].isspace() and said[column : column + 1].strip():
                terms.append(said[:column].rstrip())
                body.append(" " * column + said[column:])
            elif own and not COLUMNS.search(said) and not EXAMPLE_BEGINS.search(line):
                terms.append(said)
        is_one = len(body) < 2 or not any(line[column].isupper() for line in body[1:])
        if (
            not column
            or len(terms) <= last - n
            or not (own or body)
            or not is_one
            or len(max(terms, key=len)) > LONGEST_TERM
        ):
            return None
        end = body_start = first if indent else last + 1
        while end < len(lines):
            after = next((i for i in range(end, len(lines)) if _untagged(lines[i])), len(lines))
            if after == len(lines) or not (lines[after].startswith(" ") or EXAMPLE_ENDS.match(lines[after])):
                break
            end = _end_of_example(lines, after + 1) if EXAMPLE_BEGINS.search(lines[after]) else after + 1
        own += [tag for line in lines[n + 1 : body_start] for tag in TAG.findall(line)]
        named = [self._linked(escape(term)) for term in terms]
        if unsaid := _unsaid(own, " ".join(terms)):
            named[-1] += f" ({unsaid})"
        inner = "\n".join(self._blocks([*body, *lines[body_start:end]], margin=column, about=" ".join(terms)))
        return f"<dl>{_ids(own)}{''.join(f'<dt>{term}</dt>' for term in named)}<dd>{inner}</dd></dl>", end

    def _text(self, lines: Sequence[str], margin: int | None) -> str:
        return self._linked(self._layout.part(lines, headings=False, margin=margin)) if any(lines) else ""

    def _linked(self, html: str) -> str:
        def link(match: re.Match[str]) -> str:
            tag = unescape(match[1])
            fragment = "#" if tag in self._tags else ""
            return (
                f'<a href="{fragment}{match[1]}">{match[1]}</a>' if fragment or FILE_NAME.fullmatch(tag) else match[1]
            )

        return MARKED.sub(link, html)


def _untagged(line: str) -> str:
    """Return a line without its tags, what it says where it stood."""
    said = FOLD.sub("", TAG.sub(lambda tag: " " * len(tag[0]), line)).rstrip()
    return said if not TAG.match(line) else said.lstrip()


def _said(line: str) -> str:
    """Return a line without its tags and the marks of columns and examples, with links marked."""
    said = EXAMPLE_BEGINS.sub("", _untagged(line)).removesuffix(" ~").rstrip()
    said = f" {said[1:]}".rstrip() if EXAMPLE_ENDS.match(said) else said
    return LINK.sub(rf"{BEGINS}\1{ENDS}", said)


def _title(line: str) -> str:
    """Return what a line would be as a heading; empty where it is none."""
    said = _untagged(line).removesuffix("~").strip()
    is_one = 0 < len(said) <= LONGEST_HEADING and said[-1] not in ".,;>" and any(map(str.isalpha, said))
    return " ".join(said.split()) if is_one and not COLUMNS.search(said) else ""


def _heading(title: str, tags: Sequence[str], level: int) -> str:
    unsaid = _unsaid(tags, title)
    return f"<h{level}>{_ids(tags)}{escape(title)}</h{level}>" + (f"<p>{unsaid}</p>" if unsaid else "")


def _tagged(tags: Sequence[str], said: str) -> str:
    """Write tags above the text that they stand at."""
    unsaid = _unsaid(tags, said)
    return _ids(tags) + (f"<p>{unsaid}</p>" if unsaid else "")


def _ids(tags: Sequence[str]) -> str:
    return "".join(f'<a id="{escape(tag)}"></a>' for tag in tags)


def _unsaid(tags: Sequence[str], said: str) -> str:
    """Write the tags whose letters do not stand in what is said where they are: names by which it is looked for."""
    known = LETTERS.sub("", said).casefold()
    names = [
        tag
        for tag in tags
        if tag not in said and not (len(LETTERS.sub("", tag)) > 0 and LETTERS.sub("", tag).casefold() in known)
    ]
    return escape(" ".join(names))


def _end_of_example(lines: Sequence[str], start: int) -> int:
    """The first line at the margin, which `<` may stand for."""
    return next((i for i in range(start, len(lines)) if lines[i] and not lines[i].startswith(" ")), len(lines))
