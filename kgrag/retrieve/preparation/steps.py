"""The steps that prepare a query, each by a chat model or without one (`kgrag.retrieve.preparation.wording`)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kgrag.errors import ModelReplyError
from kgrag.retrieve import prompts
from kgrag.retrieve.seeds import INDEX_OVERSAMPLING
from kgrag.retrieve.settings import Decompose, Hyde, Keywords, QueryStep, Rewrite, StepBack
from kgrag.retrieve.state import Part, Query, Resources, State, Step
from kgrag.store.schema import CHUNK_VECTOR_INDEX
from kgrag.text.questions import content_wording, coordinated_questions, keywords, topic

__all__ = ["MODEL_KINDS", "MoveToFeedback", "PrepareQuery", "prepare"]

MODEL_KINDS = frozenset({"rewrite", "keywords", "hyde", "decompose", "step_back"})
"""Kinds that ask the chat model."""


@dataclass(frozen=True, slots=True)
class PrepareQuery:
    """Change what is looked for; a reply of the model that cannot be used leaves the question as it is, and is remarked."""

    settings: QueryStep
    resources: Resources

    @property
    def name(self) -> str:
        """The kind of preparation."""
        return f"query: {self.settings.kind}"

    async def __call__(self, state: State) -> State:
        """Prepare."""
        try:
            return await self._prepared(state)
        except ModelReplyError as error:
            remark = f"{self.name}: the model's reply could not be used, the question stays as it is: {error}"
            return replace(state, usage=state.usage + error.usage, remarks=(*state.remarks, remark))

    async def _prepared(self, state: State) -> State:
        question = state.query.question
        match self.settings:
            case Rewrite(kind=kind):
                if kind == "terms":
                    text = content_wording(question)
                else:
                    state, reply = await self._ask(
                        state, prompts.REWRITE, search_text={"type": "string", "minLength": 1}
                    )
                    text = reply["search_text"].strip() or question
                return replace(state, query=replace(state.query, dense=text, sparse=text))
            case Keywords() as settings:
                if settings.kind == "names":
                    found = keywords(question, settings.most)
                else:
                    state, reply = await self._ask(state, prompts.KEYWORDS, keywords=prompts.strings(settings.most))
                    found = tuple(dict.fromkeys(word.strip() for word in reply["keywords"] if word.strip()))
                return replace(state, query=_with_keywords(state, found[: settings.most], settings))
            case Hyde() as settings:
                instruction = prompts.COMMUNITY_REPORT if settings.style == "community" else prompts.HYPOTHETICAL
                state, reply = await self._ask(state, instruction, text={"type": "string", "minLength": 1})
                return replace(state, query=replace(state.query, dense=reply["text"].strip() or state.query.dense))
            case Decompose() as settings:
                if settings.kind == "coordination":
                    parts = coordinated_questions(question, settings.most)
                else:
                    state, reply = await self._ask(
                        state, prompts.DECOMPOSE, sub_questions=prompts.strings(settings.most)
                    )
                    parts = tuple(dict.fromkeys(part.strip() for part in reply["sub_questions"] if part.strip()))
                return _with_parts(state, parts, settings.weight)
            case StepBack() as settings:
                if settings.kind == "topic":
                    text = topic(question)
                else:
                    state, reply = await self._ask(state, prompts.STEP_BACK, question={"type": "string"})
                    text = reply["question"].strip()
                return _with_parts(state, (text,), settings.weight)

    async def _ask(
        self, state: State, instruction: str, **wanted: Mapping[str, Any]
    ) -> tuple[State, Mapping[str, Any]]:
        """Ask for an object with these properties about the question."""
        if self.resources.chat is None:
            raise ValueError(f"{self.name} was made without a chat model")
        reply = await self.resources.chat.reply(
            prompts.messages(instruction, question=state.query.question), schema=prompts.object_schema(**wanted)
        )
        data = reply.data
        if not isinstance(data, Mapping) or wanted.keys() - data.keys():
            raise ModelReplyError(
                f"Expected an object with {', '.join(wanted)}, got {reply.text[:200]!r}.",
                reply=reply.text,
                usage=reply.usage,
            )
        return replace(state, usage=state.usage + reply.usage), data


@dataclass(frozen=True, slots=True)
class MoveToFeedback:
    """Move the question's vector towards the mean of what it finds (Rocchio): the model-free stand-in for a made-up passage."""

    settings: Hyde
    resources: Resources
    name: str = "query: feedback"

    async def __call__(self, state: State) -> State:
        """Read the vectors of the nearest chunks, in one round trip, and move."""
        rows = await asyncio.to_thread(
            self.resources.store.search.read,
            "retrieve/nearest_vectors",
            index=CHUNK_VECTOR_INDEX,
            vector=state.vector,
            limit=self.settings.nearest,
            candidates=self.settings.nearest * INDEX_OVERSAMPLING,
        )
        if not rows:
            return state
        mean = np.mean(np.array([row["embedding"] for row in rows], dtype=np.float64), axis=0)
        moved = np.array(state.query.vector, dtype=np.float64) + self.settings.weight * mean
        unit = (moved / max(float(np.linalg.norm(moved)), 1e-12)).astype(np.float32)
        return replace(state, query=replace(state.query, vector=tuple(unit.tolist())))


def prepare(settings: QueryStep, resources: Resources) -> Step:
    """Make the step of that kind."""
    return MoveToFeedback(settings, resources) if settings.kind == "feedback" else PrepareQuery(settings, resources)


def _with_keywords(state: State, found: tuple[str, ...], settings: Keywords) -> Query:
    query = state.query
    if settings.channel != "sparse":
        query = replace(query, dense=" ".join((query.dense, *found)))
    if settings.channel != "dense":
        query = replace(query, keywords=found, boost=settings.boost)
    return query


def _with_parts(state: State, texts: tuple[str, ...], weight: float) -> State:
    """Look for these texts too; one that is the question itself is looked for already."""
    known = {state.query.question, *(part.text for part in state.query.parts)}
    new = tuple(Part(text, weight) for text in texts if text and text not in known)
    return replace(state, query=replace(state.query, parts=(*state.query.parts, *new)))
