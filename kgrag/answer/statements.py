"""The statements of a passage with what they are about: a sentence, item or row says its subject often only above itself.

The subject stands in the headings, in the term that a definition begins with (`buffer-limit: ...`, `-t threads  ...`), in the sentences
before (`Its default is 4.`), or in the header of a table. Lists and the lines after a colon are also read as one statement: what a
question for several things is answered by.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kgrag.answer.preformatted import Reflowed, reflow
from kgrag.text.name_shapes import identifiers
from kgrag.text.quantities import has_quantity, quantities
from kgrag.text.sentences import SETTING, Sentence, sentences
from kgrag.text.words import folded_words
from kgrag.types import Evidence

__all__ = ["Statement", "is_heading", "statements"]

METADATA_LINE = re.compile(r"^(?:\[[A-Z]\w+: [^\]]*\]\s*)+$")
"""`[Product: ...] [Category: ...]`: some corpora begin each passage with it."""
HEADING = re.compile(r"^(?:#+ |\d+(?:\.\d+)+\.? |\d+ (?=[A-Z]))(?!.*[.!?;:]$)")
HEADING_NUMBER = re.compile(r"^(?:#+ )?(?:\d+(?:\.\d+)*\.? )?")
ADMONITION = re.compile(
    r"(?:notes?|tips?|hints?|warnings?|cautions?|attention|danger|important|see also)[:!]?", re.IGNORECASE
)
"""What heads a box heads no section: what stands below it is about what the section is about."""
SECTION_NUMBER = re.compile(r"\d{1,2}(?:\.\d{1,2})+\.?")
"""A line of nothing else: the next one is its heading, `4.7` above `Compress Type Option (--compress-type)`."""
MAX_HEADING_WORDS = 12
MAX_PLAIN_HEADING_WORDS = 8
MIN_STATEMENT_WORDS = 4
ITEM_MARK = re.compile(r"\s*(?:[-*•‣◦▪–]|\(?\w{1,2}[.)])\s+$")
LABEL = re.compile(
    r"(?P<label>[^\s:.!?](?>[^:.!?\[]|::?(?=[A-Za-z_])|\[[^\]\n]{0,30}\]|\[){0,70}?|[^\s:]{1,60}):\s+(?=\S)"
)
OPTION = re.compile(
    r"(?P<label>[-−‐]{1,2}[A-Za-z][\w-]*(?:[ =,/]{1,2}(?:[-−‐]{1,2}[A-Za-z][\w-]*|[<\[{][^>\]}]*[>\]}]+))*)\s+(?=[A-Z(:\w])"
)
_QUOTED_OPTION = r"[‘'\"“](?P<{}>--?[A-Za-z][^’'\"”\n]*)[’'\"”]"
OPTIONS_ALONE = re.compile(rf"{_QUOTED_OPTION.format('label')}(?:[\s,/]+(?:or )?{_QUOTED_OPTION.format('other')})*")
SETTING_ALONE = re.compile(r"(?P<label>[A-Za-z][\w.-]+)\s?=\s?(?:value|(?!on|off|yes|no)[A-Z]*|<[^<>]+>|\{[^{}]+\})")
"""A line of nothing but options in quotation marks, or a setting without its value: what the paragraphs below it are about."""
DASH = re.compile(r"(?P<label>(?:[`\"“‘']?[\w./-]*[\w][`\"”’']?)(?: \([^()\n]{1,30}\))?) [-–—] (?=[\w(])")
"""An item that begins with a name and a dash: `max-time - the longest time that ...`."""
COLUMN = re.compile(r"(?P<label>\S(?:[^\n]{0,40}?\S)?) {3,}(?=\S)")
"""A listing in columns: what stands left says what the rest is about."""
_TITLE_WORD = r"(?:[A-Z0-9][\w'’-]*|of|the|an?|and|or|for|in|on|to|with|by)"
TITLE_ITEM = re.compile(rf"{_TITLE_WORD}(?: {_TITLE_WORD})+")
"""A numbered item of nothing but capitalised words heads the paragraphs that follow it."""
MAX_ASKED_WORDS = 60
ENDS_SENTENCE = re.compile(r"[.!?] ")
OWN = re.compile(r"\b(?:I|my|we|our)\b")
"""Who asks speaks of himself."""
CLAUSE = re.compile(
    r"(?:if|when|while|now|here|there|thus|so|then|also|because|since|although|unless|and|but|or|this|these|you|we|it|they)(?: \S+){3,}",
    re.IGNORECASE,
)
"""A line that a colon ends in mid-sentence (`Now a request with a Content-Encoding: gzip header is ...`): no term stands before it."""
MAX_LABEL_WORDS = 9
MAX_FIELD_WORDS = 6
"""A label with so few words is a field of a record (`Module: mod_auth`): no paragraph below it is about it."""
PROPERTY = re.compile(
    r"(?:(?:default|allowed|possible|valid|initial|factory|recommended)s?\b|(?:type|range|unit|value|min|max|minimum|maximum|effect|units)\b"
    r"|(?:specifies|description|notes?|examples?|syntax|context|format|scope|since|available|availability|required|optional)$)",
    re.IGNORECASE,
)
"""A label that names no thing but what is said of one (`Default value: 60`): of what stands before it under the same heading."""
DESCRIBES = re.compile(r"(?:specifies|description)$", re.IGNORECASE)
"""A property that says what its thing is, and so what the others are of."""
CODE = re.compile(r"[=<>{}$#|\\/_]|(?:^|\s)--?\w|\w\(|\d|\b[a-z]+\.[a-z]+\b")
"""What a line of a program, of a session or of settings has, and a heading has not."""
PROGRAM = re.compile(r"[=<>{}#|;$]|\s--?\w")
CODE_INDENT = 4
"""A line of a program or of settings announces nothing: it has such a character, or stands so many blanks from the margin."""
POINTS_BACK = re.compile(
    r"(?:it|its|this|these|they|their|such|that|those|he|she|his|her|hence|therefore|the default|otherwise)\b",
    re.IGNORECASE,
)
DECIDED = re.compile(r"(?:yes|no)\b[^.!?]{0,30}[.!]", re.IGNORECASE)
"""`No, it cannot.`: says nothing alone, and everything beside the sentence that follows."""
REFERS = re.compile(
    r"(?:please |also )*(?:see|refer to|consult) (?:also )?(?:the |our )?(?:[‘'\"“]?[\w’'\"”-]+ ){0,6}?"
    r"(?:section|chapter|appendix|page|manual|documentation|guide|instructions)\b(?: \w+(?:\.\w+)*)?(?:,? ?[‘'\"“][^’'\"”]+[’'\"”])?"
    r"(?: (?:for|to|about|on) [^.;]{0,60})?\.?",
    re.IGNORECASE,
)
"""`See section 4.2.2 for details.`: says where something is said, and not what."""
INDEXED_PAGE = re.compile(r"(?<=, )\d{1,4}(?=,| [^\W\d]|$)")
MIN_INDEXED_PAGES, INDEXED_SHARE = 6, 0.3
BREAKS_OFF = re.compile(
    r"\b(?:in|at|to|is|are|the|directory|folder|file|location|path|command|key|line|registry|under|below)$",
    re.IGNORECASE,
)
MAX_PLACE_CHARACTERS = 120
PLACE_ALONE = re.compile(r"(?:~?[/\\]|[A-Z]:\\|%\w+%|\$\w+[/\\]|[A-Z][A-Z_]{3,}\\)\S.*")
"""A line of nothing but a path: a line that breaks off before it (`Logs are found in the directory`) goes on with it."""
BROKEN_WORD = re.compile(r"(?<=[a-z]{2})- (?=[a-z]{2})")
"""Of a line's end in a preformatted passage: `mes- sage`."""
SENTENCES_BEFORE = 2
MIN_ITEMS, MAX_ITEMS = 2, 30
MAX_GROUP_CHARACTERS, MAX_ITEM_CHARACTERS = 900, 160
MAX_CODE_LINES = 3
TOTAL = re.compile(r"(?:grand )?totals?\b", re.IGNORECASE)
"""A row below the last group that is of all groups."""
GROUP_BARS = 3
"""Of a row of more than two cells."""
PARALLEL = 0.5
"""Share of their words that lines which say the like of several things have in common."""
ITEM_END = re.compile(r"[;, ]*(?:[;, ](?:and|or))?[;, ]*$")
"""What joins an item to the next one."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a passage. `text` is how it is quoted, `quote` the words of the passage, `start` and `end` where they stand."""

    text: str
    quote: str
    start: int
    end: int
    heading: str = ""
    """The nearest heading above it in the passage, or the last of the passage's section."""
    label: str = ""
    """The term that its paragraph, or the one above, begins with."""
    before: str = ""
    """The sentences before it that it goes on from."""
    cells: tuple[tuple[str, str], ...] = ()
    lead: str = ""
    """Of a list: what announces it."""
    items: tuple[str, ...] = ()
    """Of a list: its items."""
    of_rows: bool = False
    """The items are a table's rows."""
    is_item: bool = False
    is_code: bool = False
    """Whether it is a line of a program, of a session or of settings."""

    @property
    def is_property(self) -> bool:
        """Whether it says something (`Default value: 60`) of what `before` describes."""
        return self.own_label and bool(self.before) and PROPERTY.match(self.label) is not None

    @property
    def own_label(self) -> bool:
        """Whether it begins with its label itself."""
        return bool(self.label) and self.text.startswith(self.label)


def statements(piece: Evidence, *, short: bool = False) -> list[Statement]:
    """Read a passage as its statements, those that say nothing left out, and its lists, each as one more.

    `short` items of lists (`On-board microphone`) say something where it is known what is looked for: with it they are kept.
    """
    passage = reflow(piece.text)
    single = _described(list(_single(piece, passage)))
    lists = list(_lists(passage.text, single))
    # A sentence that goes on in its items is one with them.
    whole = {(one.start, one.lead): replace(one, items=(), lead="") for one in lists if not one.lead.endswith(":")}
    return [
        *(
            whole.get((one.start, one.text), one)
            for one in single
            if short or not _says_nothing(one.text, has_label=bool(one.label))
        ),
        *lists,
        *_answers(passage.text, single),
    ]


def is_heading(written: str, *, in_list: bool) -> bool:
    """Whether a line only announces what follows: numbered, marked, or short and without a full stop or a quantity, and no list item."""
    words = len(written.split())
    if HEADING.match(written) and not _begins_with_amount(written):
        return words <= MAX_HEADING_WORDS
    return (
        not in_list
        and words <= MAX_PLAIN_HEADING_WORDS
        and written[-1:].isalnum()
        and ":" not in written
        and not has_quantity(written)
    )


def _is_title(written: str) -> bool:
    """Whether a line below a section's number is its heading: short, with a capital, and no sentence."""
    words = written.split()
    return 1 < len(words) <= MAX_HEADING_WORDS and written[0].isupper() and written[-1] not in ".:;!"


def _is_of_index(text: str) -> bool:
    """Whether a line is of an index at the end of a book: words with the numbers of their pages, `layers, 52, 176 layout, 172`."""
    pages = len(INDEXED_PAGE.findall(text))
    return pages >= MIN_INDEXED_PAGES and pages >= INDEXED_SHARE * len(text.split())


def _is_place_of(before: str, written: str) -> bool:
    """Whether a line is the path that the one before breaks off at."""
    return (
        len(written) <= MAX_PLACE_CHARACTERS
        and PLACE_ALONE.fullmatch(written) is not None
        and BREAKS_OFF.search(before) is not None
    )


def is_asked(paragraph: str) -> bool:
    """Whether a paragraph is a question of a list of questions and answers: what follows answers it, and it says nothing itself.

    It is one sentence, or somebody's: `I start it and nothing happens. What is wrong?`
    """
    return (
        paragraph.endswith("?")
        and len(paragraph.split()) <= MAX_ASKED_WORDS
        and (not ENDS_SENTENCE.search(paragraph) or OWN.search(paragraph) is not None)
    )


def _begins_with_amount(written: str) -> bool:
    """Whether a line begins with an amount (`4 MB flash`, `3.3 V input`) and not with a section's number."""
    return any(amount.start == 0 for amount in quantities(written))


def _single(piece: Evidence, passage: Reflowed) -> Iterator[Statement]:
    text = passage.text
    heading, label, lead = _last_heading(piece), "", ""
    of_item = of_field = announces = is_number = False
    earlier: list[str] = []
    described = group = ""
    term, of_term = "", ""
    begin, end_before = 0, 0
    decided: Sentence | None = None
    previous: Sentence | None = None
    question_end = 0
    first_line = text.partition("\n")[0]
    context_end = len(first_line) if _repeats_context(first_line, piece) else 0
    # Blanks in its place: else a first line that begins small (`gc.auto: ...`) would be read on from it.
    for sentence in sentences(" " * context_end + text[context_end:]):
        written = text[sentence.start : sentence.end]
        begins_paragraph = "\n" in text[end_before : sentence.start] or not end_before
        line = text[text.rfind("\n", 0, sentence.start) + 1 : sentence.start]
        in_list = ITEM_MARK.fullmatch(line) is not None
        end_before = sentence.end
        if METADATA_LINE.match(sentence.text) or _repeats_context(sentence.text, piece):
            continue
        is_code = (len(line) >= CODE_INDENT and not in_list) or (PROGRAM.search(written) and not HEADING.match(written))
        if begins_paragraph and ADMONITION.fullmatch(written):
            continue
        if begins_paragraph and not (sentence.cells or in_list or is_code):
            paragraph = text[sentence.start :].partition("\n")[0].rstrip()
            if is_asked(paragraph):
                heading, label, earlier, described = paragraph, "", [], ""
                question_end = sentence.start + len(paragraph)
        if sentence.start < question_end:
            continue
        numbered, is_number = is_number, begins_paragraph and SECTION_NUMBER.fullmatch(written) is not None
        if is_number:
            continue
        if begins_paragraph and numbered and _is_title(written):
            heading, label, earlier, described = " ".join(written.split()), "", [], ""
            continue
        if begins_paragraph and (alone := OPTIONS_ALONE.fullmatch(written) or SETTING_ALONE.fullmatch(written)):
            label, earlier, described = alone["label"], [], ""
            continue
        is_announced = announces and written[:1].islower()
        announces = sentence.text.endswith(":")
        if (
            not (sentence.cells or is_code or is_announced)
            and begins_paragraph
            and is_heading(written, in_list=in_list)
        ):
            heading, label, earlier, described = HEADING_NUMBER.sub("", " ".join(written.split())), "", [], ""
            if not CODE.search(heading):
                continue
        if in_list and TITLE_ITEM.fullmatch(sentence.text) and len(sentence.text.split()) <= MAX_HEADING_WORDS:
            heading, label, earlier, described = sentence.text, "", [], ""
        if not sentence.cells:
            group = ""
        elif _heads_group(sentence, text):
            group = sentence.cells[0][1].rstrip(": ")
            continue
        elif TOTAL.match(sentence.cells[0][1]):
            group = ""
        defined = _defined(sentence) or group
        if begins_paragraph and (defined or not sentence.cells):
            carried = "" if in_list or of_item or of_field or passage.terms or PROPERTY.match(label) else label
            label = defined or _label(written) or passage.term_at(sentence.start) or carried
            before = lead if in_list else earlier[-1] if earlier and POINTS_BACK.match(sentence.text) else ""
            is_property = PROPERTY.match(label) is not None and sentence.text.startswith(label)
            if described and is_property:
                before = before or described
            elif DESCRIBES.match(label) or not (is_property or (carried and label == carried and described)):
                described = sentence.text
            earlier, of_item = [before] if before else [], in_list
            of_field = (
                sentence.text.startswith(label)
                and len(sentence.text.split()) <= MAX_FIELD_WORDS
                and not SETTING.match(sentence.text)
                and not _is_synopsis(sentence.text, label)
            )
        if DECIDED.fullmatch(sentence.text):
            decided = sentence
            continue
        if REFERS.fullmatch(sentence.text) or _is_of_index(sentence.text):
            continue
        if not in_list and not sentence.text.endswith(":") and _says_nothing(sentence.text, has_label=bool(label)):
            continue
        said = sentence.text if passage.text == piece.text else BROKEN_WORD.sub("", sentence.text)
        start = sentence.start
        if earlier and not begins_paragraph and not sentence.cells and POINTS_BACK.match(said):
            # What it points back to is quoted with it.
            said, start, written = f"{earlier[-1]} {said}", begin, text[begin : sentence.end]
        elif begins_paragraph and previous and _is_place_of(previous.text, written):
            said, start, written = f"{previous.text} {said}", previous.start, text[previous.start : sentence.end]
        elif decided and not begins_paragraph:
            said, start, written = f"{decided.text} {said}", decided.start, text[decided.start : sentence.end]
        begin, decided, previous = sentence.start, None, sentence
        if label != term:
            term, of_term = label, ""
        just_before = earlier[-SENTENCES_BEFORE:]
        yield Statement(
            said,
            " ".join(written.split()),
            start,
            sentence.end,
            heading="" if heading == sentence.text else heading,
            label=label,
            before=" ".join(([of_term] if of_term not in ("", *just_before) else []) + just_before),
            cells=sentence.cells,
            is_item=in_list,
            is_code=begins_paragraph and bool(is_code) and not (in_list or label or sentence.cells),
        )
        if defined:
            label = ""  # A row's term is of no paragraph below the table.
        if not sentence.cells:
            # What is said first of a term says what it is, whatever stands between.
            of_term = of_term or (sentence.text if label else "")
            earlier.append(sentence.text)
            lead = lead if of_item else sentence.text


def _heads_group(row: Sentence, text: str) -> bool:
    """Whether a row has a text in its first cell alone, of three or more: what the rows below it are about, `| XARELTO | | |`."""
    return (
        len(row.cells) == 1
        and text.count("|", row.start, row.end) > GROUP_BARS
        and text[row.start : row.end].strip(" |").endswith(row.cells[0][1])
    )


def _is_synopsis(text: str, label: str) -> bool:
    """Whether a command is only followed by how it is called: `'pwd': pwd [-LP]`."""
    return text.removeprefix(label).lstrip(": ").split(" ")[0] == label.strip("'‘’`")


def _described(single: list[Statement]) -> list[Statement]:
    """Give properties that stand before what describes their thing (`Default: 60`, then a paragraph) that description."""
    after: dict[str, str] = {}
    found = []
    for statement in reversed(single):
        is_property = statement.own_label and PROPERTY.match(statement.label) is not None
        if is_property and not statement.before and statement.heading in after:
            statement = replace(statement, before=after[statement.heading])
        elif not statement.own_label:
            after[statement.heading] = statement.text
        found.append(statement)
    return found[::-1]


def _last_heading(piece: Evidence) -> str:
    return HEADING_NUMBER.sub("", piece.section.rpartition(" > ")[2] or piece.title)


def _label(text: str) -> str:
    match = COLUMN.match(text) or _dashed(text) or LABEL.match(text) or OPTION.match(text)
    label = " ".join(match["label"].split()) if match else ""
    return label if len(label.split()) <= MAX_LABEL_WORDS and not CLAUSE.match(label) else ""


def _dashed(text: str) -> re.Match[str] | None:
    """A name before a dash: one word that is an identifier, or is written small."""
    match = DASH.match(text)
    return match if match and (text[0].islower() or identifiers(match["label"])) else None


def _defined(row: Sentence) -> str:
    """The first cell of a row that says what it is: one of two cells in a table without a header; else nothing."""
    if len(row.cells) != 2 or any(header for header, _ in row.cells):
        return ""
    term = row.text.partition(": ")[0]
    return term if len(term.split()) <= MAX_LABEL_WORDS else ""


def _repeats_context(text: str, piece: Evidence) -> bool:
    folded = text.casefold()
    context = f"{piece.title} > {piece.section}".strip(" >").casefold()
    ends = f" > {context}".endswith(f" > {folded}")  # the path may begin anywhere
    return ends or folded in (piece.title.casefold(), piece.section.casefold()) or folded.startswith(context + " >")


def _says_nothing(text: str, *, has_label: bool) -> bool:
    """A heading or a fragment: too short for a statement, without a number or a term that it is said of."""
    if not any(map(str.isalnum, text)):
        return True
    short = len(text.split()) < MIN_STATEMENT_WORDS
    return short and not has_label and not any(c.isdigit() for c in text) and not CODE.search(text)


def _lists(text: str, single: Sequence[Statement]) -> Iterator[Statement]:
    """Lists, tables, rows of definitions, and the lines of a program after a colon, each with what announces it."""
    first = 0
    while first < len(single):
        last = _end_of_list(single, first, text)
        if last > first:
            before = single[first - 1] if first else None
            lead = before if before and _leads_to(single[first], before, text) else None
            yield from _list(text, lead, single[first : last + 1])
        elif single[first].text.endswith(":") and not single[first].cells:
            following = list(_code_lines(single[first + 1 :])) or list(_parallel_lines(single[first + 1 :], text))
            if following:
                yield from _list(text, single[first], following)
        first = last + 1


def _leads_to(items: Statement, before: Statement, text: str) -> bool:
    """Whether a statement announces what follows: by a colon, or as a sentence that goes on in the items below it."""
    goes_on = items.is_item and before.text[-1:].isalnum() and not text[before.end : items.start].strip(" \n-*•·")
    return before.text.endswith(":") or (goes_on and not (before.cells or before.is_item or before.is_code))


def _answers(text: str, single: Sequence[Statement]) -> Iterator[Statement]:
    """The first paragraph below each question that heads a section, as a whole: its sentences answer together."""
    first = 0
    while first < len(single):
        last = first
        if single[first].heading.endswith("?") and not (first and single[first - 1].heading == single[first].heading):
            while last + 1 < len(single) and "\n" not in text[single[last].end : single[last + 1].start]:
                last += 1
            start, end = single[first].start, single[last].end
            said = " ".join(text[start:end].split())
            if first < last and len(said) <= MAX_GROUP_CHARACTERS and not single[first].cells:
                sentences_of_it = tuple(one.text for one in single[first : last + 1])
                yield replace(single[first], text=said, quote=said, end=end, label="", items=sentences_of_it)
        first = last + 1


def _end_of_list(single: Sequence[Statement], first: int, text: str) -> int:
    """The last statement of the list that begins at `first`; `first` itself where none does."""
    kind = _kind_of(single[first], text)
    last, item = first, single[first]
    for place in range(first + 1, len(single) if kind else 0):
        if _kind_of(single[place], text) == kind:
            item = single[place]
        elif kind == "row" or "\n" in text[item.start : single[place].start]:
            break  # The further sentences of an item or definition belong to it.
        last = place
    return last


def _kind_of(statement: Statement, text: str) -> str:
    """What a run of statements has in common: rows, items, definitions; or nothing."""
    if statement.cells:
        return "row"
    if statement.is_item:
        return "item"
    begins_line = statement.start == 0 or text[statement.start - 1] in "\n \t"
    return "definition" if statement.own_label and begins_line else ""


def _code_lines(following: Sequence[Statement]) -> Iterator[Statement]:
    for statement in following[:MAX_CODE_LINES]:
        if statement.text[-1:] in ".:!?" or statement.cells or not CODE.search(statement.text):
            return
        yield statement


def _parallel_lines(following: Sequence[Statement], text: str) -> Iterator[Statement]:
    """Paragraphs of one sentence that say the like of several things: `K: sizes in kibibytes.`, `M: sizes in mebibytes.`"""
    run: list[Statement] = []
    first: frozenset[str] = frozenset()
    for place, statement in enumerate(following[:MAX_ITEMS]):
        said = folded_words(statement.text)
        ends_line = place + 1 == len(following) or "\n" in text[statement.end : following[place + 1].start]
        first = first or said
        if statement.cells or not ends_line or len(first & said) < PARALLEL * len(first | said):
            break
        run.append(statement)
    if len(run) >= MIN_ITEMS:
        yield from run


def _list(text: str, lead: Statement | None, members: Sequence[Statement]) -> Iterator[Statement]:
    begins = [m for k, m in enumerate(members) if k == 0 or _begins_item(members[k - 1], m, text)]
    items = [_short(m) for m in begins][:MAX_ITEMS]
    if len(items) < MIN_ITEMS and lead is None:
        return
    announced = (lead or members[0]).start
    end = members[-1].end
    quote = " ".join(text[announced:end].split())
    head = lead.text if lead else f"{members[0].heading}:" if members[0].heading else ""
    said = f"{head} {'; '.join(ITEM_END.sub('', item) for item in items)}".strip()
    if len(said) > MAX_GROUP_CHARACTERS:
        said = f"{said[:MAX_GROUP_CHARACTERS].rsplit(' ', 1)[0]} …"
    label = lead.label if lead else ""
    source = replace(lead or members[0], cells=(), is_item=False, label=label)
    yield replace(
        source,
        text=said,
        quote=quote,
        start=announced,
        end=end,
        lead=head,
        items=tuple(items),
        of_rows=bool(members[0].cells),
    )


def _begins_item(before: Statement, statement: Statement, text: str) -> bool:
    return "\n" in text[before.start : statement.start]


def _short(member: Statement) -> str:
    """An item as it stands in a list: the term alone where it has one that names a thing, else its words."""
    if member.cells and not (member.own_label and len(member.text) <= MAX_ITEM_CHARACTERS):
        said = [value for _, value in member.cells]
        return said[0] if len(said) == 1 else f"{said[0]} ({', '.join(said[1:])})"
    if member.own_label and len(member.text) > MAX_ITEM_CHARACTERS // 2:
        return member.label
    return (
        member.text
        if len(member.text) <= MAX_ITEM_CHARACTERS
        else f"{member.text[:MAX_ITEM_CHARACTERS].rsplit(' ', 1)[0]} …"
    )
