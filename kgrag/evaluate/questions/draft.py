"""A made question: what it asks, what states its answer, and by which rule it was made."""

from __future__ import annotations

import json
from dataclasses import dataclass

from kgrag.types import content_id

__all__ = ["Draft", "question_line"]


@dataclass(frozen=True, slots=True)
class Draft:
    """A question of one kind, before it is known whether it is of use."""

    kind: str
    rule: str
    """How it was made, in one sentence: the same for all questions of that rule."""
    query_type: str
    question: str
    facts: tuple[frozenset[str], ...]
    """For each fact the ids of the chunks that state it, any of which will do; none where nothing does."""
    answers: tuple[str, ...] = ()
    """What the documents answer, where the rule knows it."""
    gold_facts: tuple[str, ...] = ()
    """The sentences or rows that state the facts."""
    answerable: bool = True
    hidden: frozenset[str] = frozenset()
    """Ids of the chunks that the question's own words were taken from, which retrieval has to do without."""
    document: str = ""
    """Path or title of the document that it was made of: questions of one are not independent of each other."""

    @property
    def id(self) -> str:
        """The kind, and what tells it from others."""
        facts = sorted("|".join(sorted(fact)) for fact in self.facts)
        return f"{self.kind}-{content_id(self.question, *facts)[:12]}"


def question_line(draft: Draft, *, source_ids: dict[str, str], easy: bool, asked: str | None = None) -> str:
    """Write the line of a question file, `asked` in other words where a model gave some.

    A chunk is named by the id of its passage where it is one (`source_ids`), which stays the same in every store, else by its own.
    """
    made: dict[str, object] = {"kind": draft.kind, "rule": draft.rule, "easy": easy}
    if asked is not None:
        made["template"] = draft.question
    row: dict[str, object] = {
        "id": draft.id,
        "query_type": draft.query_type,
        "question": asked or draft.question,
        "facts": [sorted(source_ids.get(one, one) for one in fact) for fact in draft.facts],
        "gold_answer": list(draft.answers),
        "gold_facts": list(draft.gold_facts),
        "answerable": draft.answerable,
        "document": draft.document,
        "hidden": sorted(draft.hidden),
        "synthetic": made,
    }
    return json.dumps({key: value for key, value in row.items() if value not in ([], "")}, ensure_ascii=False)
