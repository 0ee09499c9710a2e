"""The answer to a question that counts or lists: a table of what the documents state of each thing, and of how many they state it at all.

No model reads here. A statement counts for the thing that it is about: the thing of its document unless it names another, the thing that
heads its row or column in a comparison. Of several statements about one thing that counts which says the property in the fewest other
words: `Current: 1.1 mA` before `Supply current, heater on: 45 mA`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from kgrag.answer.said_of_things import ReaderOfThings, Said
from kgrag.text.names import normal_form
from kgrag.text.set_questions import SetQuestion, compare, read_set_question
from kgrag.text.words import plain, singular
from kgrag.types import Answer, Citation, Listing, Table, TableRow, Thing

__all__ = ["answer_from_listing"]

MODEL = "rules"
NEARLY_AS_DIRECT = 0.75
"""Statements that say a property at least so directly, beside the best one, count as well."""
OF_TYPICAL = frozenset(["current", "power", "mass", "time"])
"""What is said by a typical value; of anything else the limits count."""
ROWS_SHOWN, STATEMENTS_SHOWN = 200, 3
STATEMENT_CHARACTERS = 160
OWN_REFERENCE = re.compile(r"\[(\d+)\]")


def answer_from_listing(question: str, listing: Listing) -> Answer | None:
    """Answer from what was listed; None where no document states what is asked, so that it is answered as any other question.

    The text has the answer, how many of the things are spoken of at all, and the table with citations; `Answer.table` has the same as data.
    `pipeline` is left empty for the caller to fill in.
    """
    if listing.columns:
        return _of_rows(question, listing)
    asked = read_set_question(question)
    if asked is None or not listing.things:
        return None
    if not asked.aspect:
        return _of_things(asked, listing)
    reader = ReaderOfThings(asked, listing)
    said = reader.amounts() if asked.measured else reader.features()
    if not said:
        return None
    return _of_amounts(asked, listing, said) if asked.measured else _of_features(asked, listing, said)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the table on its way: the thing, what is said of it, and whether it is part of the answer."""

    thing: Thing
    said: tuple[Said, ...]
    counts: bool
    size: float = 0.0


def _of_things(asked: SetQuestion, listing: Listing) -> Answer:
    lines = [_Line(thing, (), True) for thing in listing.things]
    many = f"{len(lines)} {_noun(asked, len(lines))}"
    sentence = f"There {'is' if len(lines) == 1 else 'are'} {many}." if asked.counts else f"{many}:"
    return _written(asked, listing, lines, len(lines), sentence, column="")


def _of_features(asked: SetQuestion, listing: Listing, said: Sequence[Said]) -> Answer:
    by_thing: dict[str, list[Said]] = defaultdict(list)
    for one in said:
        by_thing[one.thing].append(one)
    lines = []
    for thing in listing.things:
        of_it = sorted(
            by_thing.get(thing.name, ()),
            key=lambda one: (one.denies, -one.score, one.evidence, one.statement.start),
        )
        if of_it:
            lines.append(_Line(thing, tuple(of_it[:STATEMENTS_SHOWN]), of_it[0].denies is asked.without))
    aspect = " ".join(asked.aspect)
    found, denied = sum(line.counts for line in lines), sum(line.said[0].denies for line in lines)
    verb = "do not have" if asked.without else "have"
    silent = len(listing.things) - len(lines)
    sentence = (
        f"{found} of {len(listing.things)} {_noun(asked, len(listing.things))} {verb} {aspect}, as far as the documents "
        f"state it: they say it of {len(lines) - denied}, deny it of {denied}, and do not state it of {silent}."
    )
    return _written(asked, listing, lines, len(lines), sentence, column=aspect)


def _of_amounts(asked: SetQuestion, listing: Listing, said: Sequence[Said]) -> Answer | None:
    by_thing: dict[str, list[Said]] = defaultdict(list)
    for one in said:
        if one.amount is not None and (not asked.dimension or one.amount.unit.dimension == asked.dimension):
            by_thing[one.thing].append(one)
    lines = []
    for thing in listing.things:
        of_it = sorted(
            by_thing.get(thing.name, ()),
            key=lambda one: (-one.score, one.evidence, one.statement.start),
        )
        best = [one for one in of_it if one.score >= of_it[0].score * NEARLY_AS_DIRECT]
        if best:
            fitting = [one for one in best if asked.comparison is None or _is_as_wanted(asked, one)]
            shown = fitting or best
            sizes = [_size(asked, one) for one in shown]
            lines.append(
                _Line(thing, _distinct(shown), bool(fitting), max(sizes) if asked.select != "least" else min(sizes))
            )
    if not lines:
        return None
    if asked.select != "all":
        end = max(line.size for line in lines) if asked.select == "most" else min(line.size for line in lines)
        lines = [_Line(line.thing, line.said, line.size == end, line.size) for line in lines]
    if asked.comparison is not None or asked.select != "all":
        lines.sort(
            key=lambda line: (not line.counts, -line.size if asked.select == "most" else line.size, line.thing.name)
        )
    aspect = " ".join(asked.aspect)
    found = [line for line in lines if line.counts]
    things = f"{len(listing.things)} {_noun(asked, len(listing.things))}"
    of_all = f"of {things}, {len(lines)} {'states' if len(lines) == 1 else 'state'} {_article(aspect)}"
    if asked.select != "all":
        names = " and ".join(line.thing.name for line in found)
        which = "the most" if asked.select == "most" else "the least"
        sentence = f"{names} ({_values(found[0])}): {which} {aspect} that is stated; {of_all}."
    elif asked.comparison is not None:
        sentence = f"{len(found)} {_noun(asked, len(found))}: {', '.join(line.thing.name for line in found) or 'none'}; {of_all}."
    else:
        sentence = f"{of_all[0].upper()}{of_all[1:]}."
    return _written(asked, listing, lines, len(lines), sentence, column=aspect)


def _is_as_wanted(asked: SetQuestion, said: Said) -> bool:
    amount = said.amount
    if amount is None or asked.comparison is None:
        return False
    low, high = amount.low, amount.high
    if amount.typical is not None and amount.unit.dimension in OF_TYPICAL:
        low = high = amount.typical
    return compare(asked.comparison, low, high, of=amount.unit)


def _size(asked: SetQuestion, said: Said) -> float:
    """What a line is ordered by: the end of a range that the question asks for, and of what varies the typical value."""
    amount = said.amount
    if amount is None:
        return 0.0
    if amount.typical is not None and amount.unit.dimension in OF_TYPICAL:
        return amount.size(amount.typical)
    return amount.size(amount.low if asked.select == "least" else amount.high)


def _distinct(said: Sequence[Said]) -> tuple[Said, ...]:
    """The first statement of each amount, a few of them."""
    first: dict[str, Said] = {}
    for one in said:
        first.setdefault(normal_form(one.amount.text) if one.amount else "", one)
    return tuple(first.values())[:STATEMENTS_SHOWN]


def _values(line: _Line) -> str:
    return " / ".join(one.amount.text for one in line.said if one.amount)


def _noun(asked: SetQuestion, count: int = 2) -> str:
    *before, last = asked.noun
    if count == 1:
        return " ".join(
            [*before, last.removesuffix("s") if singular(plain(last)) == plain(last)[:-1] else singular(last)]
        )
    return " ".join([*before, last if singular(plain(last)) != plain(last) else f"{last}s"])


def _article(aspect: str) -> str:
    return f"{'an' if aspect[:1].casefold() in 'aeiou' else 'a'} {aspect}"


def _written(
    asked: SetQuestion, listing: Listing, lines: Sequence[_Line], stated: int, sentence: str, *, column: str
) -> Answer:
    """Write the sentence, the table with its citations, and the statement that it was read from."""
    numbers: dict[int, int] = {}
    quotes: dict[int, list[str]] = {}
    shown = [line for line in lines if line.counts or asked.select != "all"]
    rows = []
    for line in shown[:ROWS_SHOWN]:
        cited = []
        for one in line.said:
            number = numbers.setdefault(one.evidence, len(numbers) + 1)
            cited.append(number)
            if one.statement.quote not in quotes.setdefault(number, []):
                quotes[number].append(one.statement.quote)
        said = (_values(line) or line.said[0].statement.text[:STATEMENT_CHARACTERS]) if line.said else ""
        cells = (line.thing.name, *((said,) if column else ()), line.thing.group)
        rows.append(TableRow(cells=cells, citations=tuple(dict.fromkeys(cited)), answers=line.counts))
    columns = ("thing", *((column,) if column else ()), "family")
    table = Table(
        columns=columns, rows=tuple(rows), asked=len(listing.things), stated=stated, cypher=listing.cypher,
        parameters=listing.parameters,
    )  # fmt: skip
    lists = [_groups(shown), _drawn(table)] if asked.grouped else [_drawn(table)]
    more = [f"{len(shown) - ROWS_SHOWN} more rows are not shown."] if len(shown) > ROWS_SHOWN else []
    if listing.unread:
        more.append(
            f"{listing.unread:,} of {listing.unread + len(listing.evidence):,} passages that may say more were not read: ask about fewer "
            "things."
        )
    text = "\n\n".join(
        [sentence, *lists, *more, f"Read from what this statement returns:\n\n    {_one_line(listing.cypher)}"]
    )
    citations = tuple(
        Citation.of(listing.evidence[place], number=number, quote=" … ".join(quotes[number]))
        for place, number in numbers.items()
    )
    evidence = tuple(listing.evidence[place] for place in numbers)
    return Answer(
        question=asked.text, text=text, citations=citations, model=MODEL, pipeline="", evidence=evidence, table=table
    )


def _of_rows(question: str, listing: Listing) -> Answer | None:
    """Show the rows that a statement of Cypher gave, which a model wrote; None where it gave none."""
    if not listing.rows:
        return None
    places = {piece.chunk_id: number for number, piece in enumerate(listing.evidence, start=1)}
    rows = tuple(
        TableRow(cells=cells, citations=tuple(places[one] for one in chunks))
        for cells, chunks in zip(listing.rows, listing.row_chunks, strict=True)
    )
    of_documents = {piece.document_id for piece in listing.evidence}
    speaking = sum(any(document in of_documents for document in thing.documents) for thing in listing.things)
    table = Table(
        columns=listing.columns, rows=rows, asked=len(listing.things), stated=speaking, cypher=listing.cypher,
        parameters=listing.parameters,
    )  # fmt: skip
    many = f"More than {len(rows)} rows" if listing.more else f"{len(rows)} row{'' if len(rows) == 1 else 's'}"
    sentence = f"{many}, said in documents about {speaking} of {len(listing.things)} things. The model wrote the statement, not the rows."
    text = "\n\n".join(
        [sentence, _drawn(table), f"Read from what this statement returns:\n\n    {_one_line(listing.cypher)}"]
    )
    citations = tuple(
        Citation.of(piece, number=number, quote="") for number, piece in enumerate(listing.evidence, start=1)
    )
    return Answer(
        question=question,
        text=text,
        citations=citations,
        model="cypher",
        pipeline="",
        evidence=listing.evidence,
        table=table,
    )


def _drawn(table: Table) -> str:
    """Draw a table in Markdown; its last column has the citations."""
    cited = any(row.citations for row in table.rows)
    head = [*map(_cell, table.columns), *(["said in"] if cited else [])]
    lines = [head, ["---"] * len(head)]
    for row in table.rows:
        marks = " ".join(f"[{number}]" for number in row.citations)
        lines.append([*map(_cell, row.cells), *([marks] if cited else [])])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    """Write a text such that it neither ends a cell nor looks like a citation of ours."""
    return OWN_REFERENCE.sub(r"(\1)", " ".join(text.replace("|", "\\|").split()))


def _groups(lines: Sequence[_Line]) -> str:
    """How many there are of each family."""
    counted = Counter(line.thing.group or "(none)" for line in lines if line.counts)
    rows = [f"| {group} | {count} |" for group, count in sorted(counted.items())]
    return "\n".join(["| family | how many |", "| --- | --- |", *rows])


def _one_line(cypher: str) -> str:
    return " ".join(cypher.split())
