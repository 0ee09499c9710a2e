"""The statements of a passage: its sentences, items and rows, and its lists.

Lists and the lines after a colon are also read as one statement: what a question for several things is answered by.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kgrag.answer.headings import repeats_context
from kgrag.answer.labels import MAX_FIELD_WORDS, PROPERTY
from kgrag.answer.left_out import CODE, says_nothing
from kgrag.answer.preformatted import reflow
from kgrag.answer.single_statements import single_statements
from kgrag.answer.statement import Statement
from kgrag.text.name_shapes import identifiers
from kgrag.text.words import folded_words
from kgrag.types import Evidence

__all__ = ["statements"]

MIN_ITEMS, MAX_ITEMS = 2, 30
MAX_GROUP_CHARACTERS, MAX_ITEM_CHARACTERS = 900, 160
MAX_CODE_LINES = 3
PARALLEL = 0.5
"""Share of their words that lines which say the like of several things have in common."""
ANNOUNCES = re.compile(r"\b(?:following|as follows|listed below)\b", re.IGNORECASE)
ANNOUNCES_LINES = re.compile(r":$|\b(?:as follows|like (?:this|so))\.?$", re.IGNORECASE)
ITEM_END = re.compile(r"[;, ]*(?:[;, ](?:and|or))?[;, ]*$")
"""What joins an item to the next one."""


def statements(piece: Evidence, *, short: bool = False) -> list[Statement]:
    """Read a passage as its statements, those that say nothing left out, and its lists, each as one more.

    `short` items of lists (`On-board microphone`) say something where it is known what is looked for: with it they are kept.
    """
    passage = reflow(piece.text, headed=repeats_context(piece.text.partition("\n")[0], piece))
    single = _described(list(single_statements(piece, passage)))
    lists = list(_lists(passage.text, single))
    # A sentence that goes on in its items is one with them.
    whole = {(one.start, one.lead): replace(one, items=(), lead="") for one in lists if not one.lead.endswith(":")}
    return [
        *(
            whole.get((one.start, one.text), one)
            for one in single
            if short or not says_nothing(one.text, label=one.label, heading=one.heading)
        ),
        *lists,
        *_answers(passage.text, single),
    ]


def _described(single: list[Statement]) -> list[Statement]:
    """Give properties that stand before what describes their thing (`Use: main`, `Default: 60`, then a paragraph) that description."""
    after: dict[tuple[str, str], str] = {}
    fields = _fields_below_headings(single)
    found: list[Statement] = []
    for statement in reversed(single):
        is_property = statement.own_label and PROPERTY.match(statement.label) is not None
        thing = statement.heading, statement.owner if is_property else statement.label
        if is_property and (not statement.before or statement.before in fields) and thing in after:
            statement = replace(statement, before=after[thing])
        elif not statement.own_label:
            goes_on = bool(found) and (found[-1].heading, found[-1].label) == thing and not found[-1].own_label
            after[thing] = f"{statement.text} {found[-1].text}" if goes_on else statement.text
        found.append(statement)
    return found[::-1]


def _fields_below_headings(single: Sequence[Statement]) -> frozenset[str]:
    """Lines right below a heading, like `Use: main`, which say something of it and do not say what it is."""
    return frozenset(
        one.text
        for before, one in zip((None, *single), single, strict=False)
        if one.own_label
        and len(one.text.split()) <= MAX_FIELD_WORDS
        and not identifiers(one.label)
        and (before is None or before.heading != one.heading)
    )


def _lists(text: str, single: Sequence[Statement]) -> Iterator[Statement]:
    """Lists, tables, rows of definitions, and the lines of a program after a colon, each with what announces it."""
    first = 0
    while first < len(single):
        last = _end_of_list(single, first, text)
        if last > first and not _are_properties(single[first : last + 1]):
            before = single[first - 1] if first else None
            is_below = before is not None and single[first].heading in ("", before.heading)
            leads = before is not None and is_below and _leads_to(single[first], before, text)
            lead = _with_announcement(single, first - 1, text) if leads else None
            yield from _list(text, lead, single[first : last + 1])
        elif (
            ANNOUNCES_LINES.search(single[first].text)
            and not single[first].cells
            and not _announces_list(single, first, text)
        ):
            following = list(_code_lines(single[first + 1 :])) or list(_parallel_lines(single[first + 1 :], text))
            if following:
                yield from _list(text, single[first], following)
        first = last + 1


def _with_announcement(single: Sequence[Statement], place: int, text: str) -> Statement:
    """What leads to a list, behind the sentence before it that announces one: `The following levels are used. Each has a colour:`."""
    lead, before = single[place], single[place - 1] if place else None
    if before is None or not ANNOUNCES.search(before.text) or ANNOUNCES.search(lead.text):
        return lead
    is_beside = before.heading == lead.heading and not text[before.end : lead.start].strip(" ")
    return replace(lead, text=f"{before.text} {lead.text}", start=before.start) if is_beside else lead


def _announces_list(single: Sequence[Statement], place: int, text: str) -> bool:
    """Whether a list begins right below a statement, which then announces that list."""
    return place + 1 < len(single) and _end_of_list(single, place + 1, text) > place + 1


def _are_properties(members: Sequence[Statement]) -> bool:
    """Whether definitions are but what is said of one setting (`Syntax: ...`, `Default: ...`, `Example: ...`), and no list of things."""
    return all(one.own_label and one.owner and PROPERTY.match(one.label) for one in members)


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
        if single[place].heading not in ("", single[first].heading):
            break
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
        if statement.text[-1:] in ".:!?" or statement.cells or statement.is_item or not CODE.search(statement.text):
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
    if member.own_label and not member.label.isdecimal() and len(member.text) > MAX_ITEM_CHARACTERS // 2:
        return member.label
    return (
        member.text
        if len(member.text) <= MAX_ITEM_CHARACTERS
        else f"{member.text[:MAX_ITEM_CHARACTERS].rsplit(' ', 1)[0]} …"
    )
