"""Each sentence, item and row of a passage as a statement with what it is about, which often stands only above it.

The subject stands in the headings, in the term that a definition begins with (`buffer-limit: ...`, `-t threads  ...`), in the sentences
before (`Its default is 4.`), or in the header of a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from kgrag.answer.headings import (
    ADMONITION,
    HEADING,
    HEADING_NUMBER,
    MAX_HEADING_WORDS,
    SECTION_NUMBER,
    TITLE_ITEM,
    is_asked,
    is_heading,
    is_title,
    last_heading,
    repeats_context,
)
from kgrag.answer.labels import (
    ASKED_MARK,
    BEGINS_THING,
    DESCRIBES,
    MAX_FIELD_WORDS,
    PROPERTY,
    SAYS_OF_ROW,
    defined_by,
    is_synopsis,
    label_of,
    may_be_example,
    named_by_field,
    term_alone,
    values_of,
)
from kgrag.answer.left_out import CODE, DEFAULT_ALONE, REFERS, is_index, is_of_index, says_nothing
from kgrag.answer.preformatted import Reflowed
from kgrag.answer.statement import Statement
from kgrag.text.periods import YEAR, period_announced
from kgrag.text.row_groups import ends_group
from kgrag.text.sentences import IN_COLUMNS, ITEM, SETTING, Sentence, sentences
from kgrag.types import Evidence

__all__ = ["single_statements"]

METADATA_LINE = re.compile(r"^(?:\[[A-Z]\w+: [^\]]*\]\s*)+$")
"""`[Product: ...] [Category: ...]`: some corpora begin each passage with it."""
BEGINS_WITH_OPTION = re.compile(r"--?[A-Za-z]")
"""How a line of a summary of options begins, each of which is about its own."""
NO_NUMBER = -2
"""Before the first item that has one."""
ITEM_MARK = re.compile(r"\s*(?:[-*•‣◦▪–]|\(?(?P<number>\d{1,2})[.)]|\(?\w{1,2}[.)])\s+$")
PROGRAM = re.compile(r"[=<>{}#|;$]|\s--?\w")
CODE_INDENT = 4
"""A line of a program or of settings announces nothing: it has such a character, or stands so many blanks from the margin."""
POINTS_BACK = re.compile(
    r"(?:it|its|this|these|they|their|such|that|those|he|she|his|her|hence|therefore|the default|otherwise)\b",
    re.IGNORECASE,
)
MAX_DEFAULT_WORDS = 45
"""A paragraph with so few words up to its default is quoted as a whole where the sentence between hangs on the one before."""
DECIDED = re.compile(r"(?:yes|no)\b[^.!?]{0,30}[.!]", re.IGNORECASE)
"""`No, it cannot.`: says nothing alone, and everything beside the sentence that follows."""
RUN_IN = re.compile(r"(?P<term>[A-Z][\w/-]*(?: [\w/-]+){0,2})\.")
"""How an item of a list begins that says what one thing is: `Idle. The pump waits for a start.`"""
BREAKS_OFF = re.compile(
    r"\b(?:in|at|to|is|are|the|directory|folder|file|location|path|command|key|line|registry|under|below)$",
    re.IGNORECASE,
)
MAX_PLACE_CHARACTERS = 120
PLACE_ALONE = re.compile(r"(?:~?[/\\]|[A-Z]:\\|%\w+%|\$\w+[/\\]|[A-Z][A-Z_]{3,}\\)\S.*")
"""A line of nothing but a path: a line that breaks off before it (`Logs are found in the directory`) goes on with it."""
BREAKS_OFF_BEFORE_OPTION = re.compile(
    r"\b(?:using|with|by|through|via|use|option|switch|parameter|command)$", re.IGNORECASE
)
OPTION_ALONE = re.compile(r"--?[A-Za-z][\w-]*(?:\s*=\s*[^.;]{1,60}|\s+\S{1,40})?")
"""The same for an option that is set as a line of its own: `This is done using`, `-dSafe = true`."""
BROKEN_WORD = re.compile(r"(?<=[a-z]{2})- (?=[a-z]{2})")
"""Of a line's end in a preformatted passage: `mes- sage`."""
SENTENCES_BEFORE = 2
GROUP_BARS = 3
"""Of a row of more than two cells."""


def single_statements(piece: Evidence, passage: Reflowed) -> Iterator[Statement]:
    """Read a piece of evidence, whose text is `passage`, as its sentences, items and rows, in order."""
    return iter(()) if is_index(piece) else _Reader(piece, passage).statements()


def _is_place_of(before: str, written: str) -> bool:
    """Whether a line is the path or option that the one before breaks off at."""
    if len(written) > MAX_PLACE_CHARACTERS:
        return False
    if OPTION_ALONE.fullmatch(written) and BREAKS_OFF_BEFORE_OPTION.search(before):
        return True
    return PLACE_ALONE.fullmatch(written) is not None and BREAKS_OFF.search(before) is not None


class _Line(NamedTuple):
    """A sentence, an item or a row, and how it stands in its passage."""

    sentence: Sentence
    written: str
    """As the passage writes it."""
    begins_paragraph: bool
    in_list: bool
    is_code: bool
    number: str
    """Of an item that is about it."""

    @property
    def text(self) -> str:
        """As it is quoted."""
        return self.sentence.text


class _Reader:
    """Reads a passage line by line and keeps what a later line may be about."""

    def __init__(self, piece: Evidence, passage: Reflowed) -> None:
        self._piece, self._passage, self._text = piece, passage, passage.text
        self._heading = self._of_section = last_heading(piece)
        self._within = piece.section.rpartition(" > ")[0]
        self._label = self._owner = ""
        """The term that the paragraph is about, and the last one that is no property: whose `Minimum: 4` is."""
        self._earlier: list[str] = []
        """The paragraph's sentences so far, and what its first one goes on from."""
        self._described = ""
        """The sentence that says what a thing is, for the properties below it."""
        self._setting, self._setting_is, self._values = "", "", frozenset[str]()
        """The last term that enumerates its values, the first sentence about it, and the values."""
        self._row = ""
        """What the row of a table is about whose cells are lines, `Attribute: timeout` above `Description: ...`."""
        self._term, self._of_term = "", ""
        """The last term and the first sentence about it."""
        self._lead = ""
        """The last sentence before the items of a list."""
        self._group = ""
        """The row that the rows below it are about."""
        self._group_begins = False
        """Whether no row stood below it yet."""
        self._period = ""
        """Of the rows below, as the sentence above their table says it."""
        self._of_item = self._of_field = self._announces = self._is_number = False
        """Whether the last line was an item, a field of a record, ended in a colon, was a section's number alone."""
        self._of_columns = False
        """Whether the last paragraph was a line of a listing in columns, whose first one says what that line is about alone."""
        self._column = 0
        """Where the last column of the last such line begins: what stands below it is about the same."""
        self._number, self._number_means = NO_NUMBER, False
        """The last item's number, and whether those of its list mean something."""
        self._question_end = self._paragraph_start = 0
        self._decided: Sentence | None = None
        self._previous: Sentence | None = None
        self._quoted = ("", 0)
        """The last statement as it is quoted, and where that begins."""

    def statements(self) -> Iterator[Statement]:
        for line in self._lines():
            if not line.sentence.cells:
                self._period = period_announced(line.text)
            if self._only_heads(line) or self._heads_rows(line):
                continue
            defined = defined_by(line.sentence) or self._head_of_row(line)
            if line.begins_paragraph and (defined or not line.sentence.cells):
                self._begin_paragraph(line, defined)
            if self._is_left_out(line):
                continue
            yield self._statement(line)
            if defined:
                self._label = ""  # A row's term is of no paragraph below the table.
            if not line.sentence.cells:
                # What is said first of a term says what it is, whatever stands between.
                self._of_term = self._of_term or (line.text if self._label else "")
                self._earlier.append(line.text)
                self._lead = self._lead if self._of_item else line.text

    def _lines(self) -> Iterator[_Line]:
        """Sentences, items and rows in order, without those that only repeat the passage's title or section."""
        text, end_before = self._text, 0
        first_line = text.partition("\n")[0]
        context_end = len(first_line) if repeats_context(first_line, self._piece) else 0
        # Blanks in its place: else a first line that begins small (`gc.auto: ...`) would be read on from it.
        for sentence in sentences(" " * context_end + text[context_end:]):
            begins_paragraph = "\n" in text[end_before : sentence.start] or not end_before
            end_before = sentence.end
            if METADATA_LINE.match(sentence.text) or repeats_context(sentence.text, self._piece):
                continue
            written = text[sentence.start : sentence.end]
            margin = text[text.rfind("\n", 0, sentence.start) + 1 : sentence.start]
            mark = ITEM_MARK.fullmatch(margin)
            in_list = mark is not None
            number = self._meaning_number(int(mark["number"])) if mark and mark["number"] else ""
            is_program = PROGRAM.search(written) is not None and not HEADING.match(written)
            is_code = (len(margin) >= CODE_INDENT and not in_list) or is_program
            yield _Line(sentence, written, begins_paragraph, in_list, is_code, number)

    def _meaning_number(self, number: int) -> str:
        """Return the number of an item where it is what the item may be about, as in a list of exit codes.

        Its list begins with 0, or before the passage, whose first number says nothing of that.
        """
        if number != self._number + 1 or number == 0:
            self._number_means = number == 0 or (number > 1 and self._number == NO_NUMBER)
        self._number = number
        return str(number) if self._number_means else ""

    def _only_heads(self, line: _Line) -> bool:
        """Whether a line only says what the lines below it are about, which is kept: a heading, a question, options alone."""
        if line.begins_paragraph and ADMONITION.fullmatch(line.written):
            return True
        if self._is_of_question(line) or self._is_of_numbered_heading(line):
            return True
        if line.begins_paragraph and (
            alone := term_alone(line.written, below=self._line_below(line.sentence.end), in_list=line.in_list)
        ):
            is_example = self._announces and may_be_example(line.written)
            self._announces = False
            self._begin(self._heading, label=alone)
            return not is_example
        is_announced = self._announces and line.text[:1].islower()
        self._announces = line.text.endswith(":")
        is_option = BEGINS_WITH_OPTION.match(line.written)  # of a summary
        heads = line.begins_paragraph and not (line.sentence.cells or line.is_code or is_announced or is_option)
        if heads and is_heading(line.written, in_list=line.in_list):
            self._begin(HEADING_NUMBER.sub("", " ".join(line.written.split())))
            if not CODE.search(self._heading):
                return True
        if line.in_list and TITLE_ITEM.fullmatch(line.text) and len(line.text.split()) <= MAX_HEADING_WORDS:
            self._begin(line.text)
        return False

    def _begin(self, heading: str, *, label: str = "") -> None:
        """What follows stands below a heading or a label, and goes on from nothing."""
        self._heading, self._label, self._owner, self._earlier, self._described = heading, label, label, [], ""
        self._of_item = self._of_field = False
        self._setting, self._setting_is, self._values, self._row = "", "", frozenset(), ""

    def _is_of_question(self, line: _Line) -> bool:
        start = line.sentence.start
        if line.begins_paragraph and not (line.sentence.cells or line.is_code):
            paragraph = self._text[start:].partition("\n")[0].rstrip()
            end = start + len(paragraph)
            if is_asked(paragraph) and (not line.in_list or self._is_answered(end)):
                self._begin(paragraph)
                self._question_end = end
        return start < self._question_end

    def _is_answered(self, end: int) -> bool:
        """Whether an answer follows a question of a numbered list that ends there, and not the next question."""
        answer = self._line_below(end)
        return bool(answer) and not (ITEM.match(answer) or ASKED_MARK.match(answer))

    def _line_below(self, end: int) -> str:
        """The next line that is not blank."""
        return self._text[end:].lstrip().partition("\n")[0]

    def _is_of_numbered_heading(self, line: _Line) -> bool:
        """Whether a line is a section's number alone, or the heading below one."""
        below_number = self._is_number
        self._is_number = line.begins_paragraph and SECTION_NUMBER.fullmatch(line.written) is not None
        if self._is_number:
            return True
        if line.begins_paragraph and below_number and is_title(line.written):
            self._begin(" ".join(line.written.split()))
            return True
        return False

    def _heads_rows(self, line: _Line) -> bool:
        """Whether a row only says what the rows below it are about, which is kept."""
        cells = line.sentence.cells
        if cells and _heads_group(line.sentence, self._text):
            self._group, self._group_begins = cells[0][1].rstrip(": "), True
            return True
        if cells and self._group_begins:
            self._group_begins = False
        elif not cells or ends_group(self._group, cells[0][1]):
            self._group = ""
        return False

    def _head_of_row(self, line: _Line) -> str:
        """What a row is about besides its own cells: the row that heads it, and the period of its table where the row names none."""
        period = self._period if line.sentence.cells and not YEAR.search(f"{self._group}\n{line.text}") else ""
        return ", ".join(said for said in (self._group, period) if said)

    def _begin_paragraph(self, line: _Line, defined: str) -> None:
        """Keep the term that a paragraph, item or row is about, and what its first sentence goes on from."""
        of_property = PROPERTY.match(self._label) is not None
        self._paragraph_start = line.sentence.start
        carries_none = (
            line.in_list
            or self._of_item
            or (self._of_field and not of_property)
            or self._passage.terms
            or BEGINS_WITH_OPTION.match(line.written)
            or (self._of_columns and self._margin(line) < self._column)
        )
        in_columns = IN_COLUMNS.search(line.written)
        self._of_columns = in_columns is not None
        self._column = self._margin(line) + in_columns.end() - 1 if in_columns else self._column
        carried = "" if carries_none else self._owner if of_property else self._label
        label = (
            defined
            or label_of(line.written)
            or self._run_in_term(line)
            or self._passage.term_at(line.sentence.start)
            or line.number
            or carried
        )
        points_back = bool(self._earlier) and POINTS_BACK.match(line.text) is not None
        before = self._lead if line.in_list else self._earlier[-1] if points_back else ""
        if label in self._values:
            before = before or self._setting_is
        elif label not in ("", self._setting) and not PROPERTY.match(label):
            self._setting, self._setting_is, self._values = label, line.text, values_of(label)
        begins_with_label = line.text.startswith(label)
        if self._row and SAYS_OF_ROW.fullmatch(label) and begins_with_label:
            label, begins_with_label = self._row, False
        is_property = PROPERTY.match(label) is not None and begins_with_label
        if not of_property and (thing := BEGINS_THING.match(line.text)):
            self._owner, self._described = thing["name"], ""
        if self._described and is_property:
            before = before or self._described
        elif DESCRIBES.match(label) or not (is_property or self._goes_on_describing(label, carried)):
            self._described = line.text
        self._label, self._earlier, self._of_item = label, [before] if before else [], line.in_list
        self._of_field = (
            begins_with_label
            and len(line.text.split()) <= MAX_FIELD_WORDS
            and not SETTING.match(line.text)
            and not may_be_example(line.text)
            and not is_synopsis(line.text, label)
        )
        self._row = (self._row or named_by_field(line.text, label)) if self._of_field else ""
        if not is_property:
            self._owner = "" if self._of_field or self._of_item or label == line.number else label

    def _margin(self, line: _Line) -> int:
        """The number of characters before a line."""
        return line.sentence.start - self._text.rfind("\n", 0, line.sentence.start) - 1

    def _run_in_term(self, line: _Line) -> str:
        """The few words before a full stop with which an item begins that goes on with what they mean."""
        match = RUN_IN.fullmatch(line.text) if line.in_list else None
        goes_on = self._text[line.sentence.end :].partition("\n")[0].strip()
        return match["term"] if match and goes_on else ""

    def _goes_on_describing(self, label: str, carried: str) -> bool:
        """Whether a paragraph says more of what the one before describes: it is of the same term, or below the same heading of none."""
        if not self._described:
            return False
        return label == carried if carried else not (label or PROPERTY.match(self._label))

    def _is_left_out(self, line: _Line) -> bool:
        """Whether a sentence says nothing by itself.

        `No, it cannot.` is kept for the next one, unless it is all of a question's answer; so is the term that an item begins with.
        """
        if DECIDED.fullmatch(line.text):
            if self._heading.endswith("?") and not self._text[line.sentence.end :].partition("\n")[0].strip():
                return False
            self._decided = line.sentence
            return True
        if line.begins_paragraph and self._run_in_term(line):
            self._decided = line.sentence
            return True
        if REFERS.fullmatch(line.text) or is_of_index(line.text):
            return True
        announces = line.in_list or line.text.endswith(":")
        return not announces and says_nothing(line.text, label=self._label, heading=self._heading)

    def _statement(self, line: _Line) -> Statement:
        said, start = self._with_what_is_before(line)
        if line.number and self._label == line.number:
            said = f"{line.number}: {said}"
        self._decided, self._previous, self._quoted = None, line.sentence, (said, start)
        if self._label != self._term:
            self._term, self._of_term = self._label, ""
        just_before = self._earlier[-SENTENCES_BEFORE:]
        of_term = [] if self._of_term in ("", *just_before) else [self._of_term]
        return Statement(
            said,
            " ".join(self._text[start : line.sentence.end].split()),
            start,
            line.sentence.end,
            heading="" if self._heading == line.text else self._heading,
            within=self._within if self._heading == self._of_section else "",
            label=self._label,
            owner=self._owner_of_label(),
            before=" ".join([*of_term, *just_before]),
            cells=line.sentence.cells,
            is_item=line.in_list,
            is_code=line.begins_paragraph and line.is_code and not (line.in_list or self._label or line.sentence.cells),
        )

    def _paragraph_until(self, end: int) -> str:
        """The paragraph up to a place, where that is short."""
        said = " ".join(self._text[self._paragraph_start : end].split())
        return said if len(said.split()) <= MAX_DEFAULT_WORDS else ""

    def _owner_of_label(self) -> str:
        """The setting whose property or value the label is."""
        if self._label in self._values:
            return self._setting
        return self._owner if PROPERTY.match(self._label) else ""

    def _with_what_is_before(self, line: _Line) -> tuple[str, int]:
        """A sentence as it is quoted, with the one before where it needs it, and where that begins."""
        said = line.text if self._text == self._piece.text else BROKEN_WORD.sub("", line.text)
        goes_on = not line.begins_paragraph
        if self._decided and goes_on:
            return f"{self._decided.text} {said}", self._decided.start
        is_default = DEFAULT_ALONE.match(said) is not None
        hangs_together = is_default and bool(self._earlier) and POINTS_BACK.match(self._earlier[-1]) is not None
        if hangs_together and goes_on and (whole := self._paragraph_until(line.sentence.end)):
            return whole, self._paragraph_start
        if self._earlier and goes_on and not line.sentence.cells and (POINTS_BACK.match(said) or is_default):
            # What it points back to is quoted with it.
            return f"{self._earlier[-1]} {said}", self._previous.start if self._previous else 0
        if line.begins_paragraph and self._previous and _is_place_of(self._previous.text, line.written):
            before, start = self._quoted
            return f"{before} {said}", start
        return said, line.sentence.start


def _heads_group(row: Sentence, text: str) -> bool:
    """Whether a row has a text in its first cell alone, of three or more: what the rows below it are about, `| XARELTO | | |`."""
    return (
        len(row.cells) == 1
        and text.count("|", row.start, row.end) > GROUP_BARS
        and text[row.start : row.end].strip(" |").endswith(row.cells[0][1])
    )
