"""Resolution with a language model: it is shown names with type, description and context, and says which are one thing, with a reason.

Pairs that a rule decides are not asked. What is left is asked in groups; a large group is split into several questions so that every pair
stands together in one of them. A pair that was shown together and not put together is kept apart for good (a cannot-link).
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from kgrag.errors import ModelReplyError
from kgrag.models.base import ChatModel, Message
from kgrag.models.reply_schema import NUMBER, TEXT, list_of, object_of
from kgrag.resolve.plan import Decisions, Found, GraphEntity
from kgrag.resolve.rules import Candidates
from kgrag.types import Usage

__all__ = ["ENTITIES_OF_A_QUESTION", "ask_model", "questions"]

ENTITIES_OF_A_QUESTION = 20
QUESTIONS_AT_ONCE = 8
DESCRIPTION_CHARACTERS = 300
CONTEXT_CHARACTERS = 300

Pair = tuple[int, int]

INSTRUCTIONS = """You decide which entries of a knowledge graph name the same real-world thing.

Rules:
- Put entries together only if they are the same thing: spelling, punctuation, spaces, case, plural, an abbreviation beside its long form.
- Never put together what differs in a number, sign, unit, version, revision, edition, ordinal or model number: X-100 is not X-1000,
  5 mA is not 5 A, Rev 2 is not Rev 3, LPS22HB is not LPS22HH.
- A part is not its whole, a variant is not its family, a product is not its maker.
- Two types that exclude each other (a person and a place) are two things, even with one name.
- If the entries do not tell, keep them apart.

Answer with every set of two or more entries that are one thing, by number, each with a short reason. Entries in no set stay apart."""

SCHEMA = object_of(groups=list_of(object_of(entries=list_of(NUMBER), reason=TEXT)))


async def ask_model(
    model: ChatModel,
    entities: Sequence[GraphEntity],
    candidates: Candidates,
    *,
    context: Callable[[Sequence[int]], Mapping[int, str]],
    advance: Callable[[], None] = lambda: None,
) -> Decisions:
    """Ask a model about the pairs that no rule decides.

    `context` gives for entities a line from a chunk that names them. Raises `ModelError` when the model cannot be reached; an answer
    that cannot be used leaves the entries of that question apart, which is said in their reasons and in `Decisions.unanswered`.
    """
    same, apart = dict(candidates.always), dict(candidates.apart)
    usage, unanswered = Usage(), list[str]()
    gate = asyncio.Semaphore(QUESTIONS_AT_ONCE)

    async def ask(shown: Sequence[int]) -> tuple[dict[Pair, Found], dict[Pair, Found], Usage]:
        async with gate:
            lines = await asyncio.to_thread(context, shown)
            try:
                reply = await model.reply(
                    [Message("system", INSTRUCTIONS), Message("user", _question(entities, shown, lines))], schema=SCHEMA
                )
            except ModelReplyError as error:
                unanswered.append(str(error))
                reason = f"the model's answer could not be used: {error}"
                return {}, {pair: Found("different", reason, 0.0) for pair in combinations(shown, 2)}, error.usage
            finally:
                advance()
        yes = _together(reply.data, shown, model.name)
        no = {
            pair: Found("different", f"{model.name} saw both and did not put them together", 0.0)
            for pair in combinations(shown, 2)
            if pair not in yes
        }
        return yes, no, reply.usage

    asked = set(candidates.ask)
    said_no: dict[Pair, Found] = {}
    for yes, no, spent in await asyncio.gather(*map(ask, questions(candidates.ask))):
        same.update(yes)
        said_no.update((pair, found) for pair, found in no.items() if pair in asked)
        usage += spent
    # Shown twice and judged twice, a pair stays apart unless both answers put it together.
    apart.update(said_no)
    same = {pair: found for pair, found in same.items() if pair not in apart}
    total = len(candidates.always) + len(candidates.ask) + len(candidates.apart)
    return Decisions(same, apart, total, usage=usage, unanswered=tuple(unanswered))


def questions(pairs: Iterable[Pair]) -> list[list[int]]:
    """Make sets of at most `ENTITIES_OF_A_QUESTION` so that each pair is inside one: connected pairs together, as far as they fit."""
    left = sorted(set(pairs))
    sets: list[list[int]] = []
    while left:
        neighbours: dict[int, list[int]] = defaultdict(list)
        for one, other in left:
            neighbours[one].append(other)
            neighbours[other].append(one)
        seen: set[int] = set()
        covered: list[set[int]] = []
        for start in neighbours:
            if start in seen:
                continue
            taken, waiting = [start], deque([start])
            seen.add(start)
            while waiting and len(taken) < ENTITIES_OF_A_QUESTION:
                for other in neighbours[waiting.popleft()]:
                    if other not in seen and len(taken) < ENTITIES_OF_A_QUESTION:
                        seen.add(other)
                        taken.append(other)
                        waiting.append(other)
            if len(taken) > 1:
                covered.append(set(taken))
        sets += [sorted(taken) for taken in covered]
        place = {index: at for at, taken in enumerate(covered) for index in taken}
        left = [(one, other) for one, other in left if place.get(one, -1) != place.get(other, -2)]
    return sets


def _question(entities: Sequence[GraphEntity], shown: Sequence[int], lines: Mapping[int, str]) -> str:
    entries = []
    for number, index in enumerate(shown, start=1):
        entity = entities[index]
        entry = {"entry": number, "name": entity.name, "type": entity.type}
        if entity.description:
            entry["description"] = entity.description[:DESCRIPTION_CHARACTERS]
        if line := lines.get(index):
            entry["context"] = line[:CONTEXT_CHARACTERS]
        entries.append(json.dumps(entry, ensure_ascii=False))
    return "\n".join(entries)


def _together(data: Any, shown: Sequence[int], model: str) -> dict[Pair, Found]:
    """Read the model's groups; numbers that were not shown are passed over."""
    yes: dict[Pair, Found] = {}
    for group in data["groups"]:
        members = sorted({shown[number - 1] for number in group["entries"] if 1 <= number <= len(shown)})
        for pair in combinations(members, 2):
            yes[pair] = Found("same", f"{model}: {group['reason']}")
    return yes
