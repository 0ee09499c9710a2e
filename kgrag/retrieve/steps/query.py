"""Steps that prepare what is looked for, by a chat model or without one, and embed it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from kgrag.errors import ModelReplyError
from kgrag.models.reply_schema import TEXT, object_of, texts
from kgrag.retrieve import prompts
from kgrag.retrieve.state import Resources, State, SubQuery
from kgrag.retrieve.step import Count, Model, ModelStep, Share, StatePart, Step, Weight
from kgrag.text.questions import content_wording, coordinated_questions, keywords, topic

__all__ = [
    "ContentTerms",
    "Coordination",
    "Decompose",
    "Embed",
    "Feedback",
    "Hyde",
    "Keywords",
    "Rewrite",
    "RuleKeywords",
    "StepBack",
    "Topic",
]

Channel = Literal["dense", "sparse", "both"]


class _Asking(ModelStep):
    """Asks the chat model about the question; a reply that cannot be used leaves the query as it is, and is remarked."""

    asks: ClassVar[Model] = "a chat model"
    needs: ClassVar[tuple[StatePart, ...]] = ("query",)
    gives: ClassVar[tuple[StatePart, ...]] = ("query",)

    async def __call__(self, state: State, resources: Resources) -> State:
        """Prepare."""
        try:
            return await self._prepared(state, resources)
        except ModelReplyError as error:
            remark = f"{self.kind}: the model's reply could not be used, the question stays as it is: {error}"
            return replace(state, usage=state.usage + error.usage).remarked(remark)

    async def _prepared(self, state: State, resources: Resources) -> State:
        raise NotImplementedError

    async def _ask(
        self, state: State, resources: Resources, instruction: str, **wanted: Mapping[str, Any]
    ) -> tuple[State, Mapping[str, Any]]:
        """Ask for an object with these properties about the question."""
        if resources.chat is None:
            raise ValueError(f"{self.kind} was run without a chat model")
        reply = await resources.chat.reply(
            prompts.messages(instruction, question=state.query.question), schema=object_of(**wanted)
        )
        data = reply.data
        if not isinstance(data, Mapping) or not all(
            _is_as_wanted(data.get(name), kind) for name, kind in wanted.items()
        ):
            raise ModelReplyError(
                f"Expected an object with {', '.join(wanted)}, got {reply.text[:200]!r}.",
                reply=reply.text,
                usage=reply.usage,
            )
        return replace(state, usage=state.usage + reply.usage), data


class _OfQuestion(Step):
    """Prepares what is looked for by the wording of the question alone."""

    needs: ClassVar = ("query",)
    gives: ClassVar = ("query",)


class Rewrite(_Asking):
    """Say the question as something to search for, by the chat model."""

    kind: Literal["rewrite"] = "rewrite"
    without_model: Literal["content_terms"] | None = None

    async def _prepared(self, state: State, resources: Resources) -> State:
        state, reply = await self._ask(state, resources, prompts.REWRITE, search_text={**TEXT, "minLength": 1})
        return _looking_for(state, reply["search_text"].strip() or state.query.question)


class ContentTerms(_OfQuestion):
    """Search for the question without function words and words that only ask."""

    kind: Literal["content_terms"] = "content_terms"

    async def __call__(self, state: State, resources: Resources) -> State:
        """Prepare."""
        return _looking_for(state, content_wording(state.query.question))


class Keywords(_Asking):
    """Look for keywords besides, which the chat model names."""

    kind: Literal["keywords"] = "keywords"
    most: Annotated[int, Field(ge=1, le=20)] = 8
    channel: Channel = "both"
    """Which list they go into: they are added to the embedded text, and to the full-text query with `boost`."""
    boost: Annotated[float, Field(gt=0.0, le=100.0)] = 2.0
    without_model: Literal["rule_keywords"] | None = None

    async def _prepared(self, state: State, resources: Resources) -> State:
        state, reply = await self._ask(state, resources, prompts.KEYWORDS, keywords=texts(self.most))
        found = tuple(dict.fromkeys(word.strip() for word in reply["keywords"] if word.strip()))
        return _with_keywords(state, found[: self.most], self)


class RuleKeywords(_OfQuestion):
    """Look for the names, part numbers and quantities of the question besides, then its longest words."""

    kind: Literal["rule_keywords"] = "rule_keywords"
    most: Annotated[int, Field(ge=1, le=20)] = 8
    channel: Channel = "both"
    boost: Annotated[float, Field(gt=0.0, le=100.0)] = 2.0

    async def __call__(self, state: State, resources: Resources) -> State:
        """Prepare."""
        return _with_keywords(state, keywords(state.query.question, self.most), self)


class Decompose(_Asking):
    """Look for sub-questions too, as the chat model takes the question apart."""

    kind: Literal["decompose"] = "decompose"
    most: Annotated[int, Field(ge=1, le=10)] = 4
    weight: Share = 1.0
    """Of what a sub-question finds, beside the question's 1."""
    without_model: Literal["coordination"] | None = None

    async def _prepared(self, state: State, resources: Resources) -> State:
        state, reply = await self._ask(state, resources, prompts.DECOMPOSE, sub_questions=texts(self.most))
        parts = tuple(dict.fromkeys(part.strip() for part in reply["sub_questions"] if part.strip()))
        return _with_parts(state, parts[: self.most], self.weight)


class Coordination(_OfQuestion):
    """Look for a question for each of the things that the question joins by and, or, versus."""

    kind: Literal["coordination"] = "coordination"
    most: Annotated[int, Field(ge=1, le=10)] = 4
    weight: Share = 1.0

    async def __call__(self, state: State, resources: Resources) -> State:
        """Prepare."""
        return _with_parts(state, coordinated_questions(state.query.question, self.most), self.weight)


class StepBack(_Asking):
    """Look for a more general question too, which the chat model asks."""

    kind: Literal["step_back"] = "step_back"
    weight: Share = 0.5
    """Of what it finds, beside the question's 1."""
    without_model: Literal["topic"] | None = None

    async def _prepared(self, state: State, resources: Resources) -> State:
        state, reply = await self._ask(state, resources, prompts.STEP_BACK, question=TEXT)
        return _with_parts(state, (reply["question"].strip(),), self.weight)


class Topic(_OfQuestion):
    """Look for the question without its names and numbers too."""

    kind: Literal["topic"] = "topic"
    weight: Share = 0.5

    async def __call__(self, state: State, resources: Resources) -> State:
        """Prepare."""
        return _with_parts(state, (topic(state.query.question),), self.weight)


class Embed(Step):
    """Embed what is looked for, the question and its parts at once."""

    kind: Literal["embed"] = "embed"
    needs: ClassVar = ("query",)
    gives: ClassVar = ("vector",)

    async def __call__(self, state: State, resources: Resources) -> State:
        """Fill in the vectors."""
        query = state.query
        texts = [query.dense, *(part.text for part in query.parts)]
        vectors = (await resources.embedder.embed_queries(texts)).tolist()
        parts = tuple(
            replace(part, vector=tuple(vector)) for part, vector in zip(query.parts, vectors[1:], strict=True)
        )
        return replace(state, query=replace(query, vector=tuple(vectors[0]), parts=parts))


class Hyde(_Asking):
    """Search with the vector of a made-up passage that answers the question (HyDE, Gao et al., ACL 2023)."""

    kind: Literal["hyde"] = "hyde"
    needs: ClassVar = ("vector",)
    gives: ClassVar = ("vector",)
    style: Literal["passage", "community"] = "passage"
    """What the passage is styled as: a passage of the documents or a report on a community."""
    without_model: Literal["feedback"] | None = None

    async def _prepared(self, state: State, resources: Resources) -> State:
        instruction = prompts.COMMUNITY_REPORT if self.style == "community" else prompts.HYPOTHETICAL
        state, reply = await self._ask(state, resources, instruction, text={**TEXT, "minLength": 1})
        text = reply["text"].strip() or state.query.dense
        (vector,) = (await resources.embedder.embed_queries([text])).tolist()
        return replace(state, query=replace(state.query, dense=text, vector=tuple(vector)))


class Feedback(Step):
    """Move the question's vector towards the mean of what it finds (Rocchio): the model-free stand-in for a made-up passage."""

    kind: Literal["feedback"] = "feedback"
    needs: ClassVar = ("vector",)
    gives: ClassVar = ("vector",)
    nearest: Count = 5
    """Chunks whose mean vector is added."""
    weight: Weight = 0.5
    """Of that mean, beside the question's 1."""

    async def __call__(self, state: State, resources: Resources) -> State:
        """Read the vectors of the nearest chunks, in one round trip, and move."""
        rows = await asyncio.to_thread(
            resources.store.search.nearest_vectors,
            vector=state.vector,
            limit=self.nearest,
            candidates=resources.store.search.candidates(self.nearest),
        )
        if not rows:
            return state
        mean = np.mean(np.array([row["embedding"] for row in rows], dtype=np.float64), axis=0)
        moved = np.array(state.query.vector, dtype=np.float64) + self.weight * mean
        unit = (moved / max(float(np.linalg.norm(moved)), 1e-12)).astype(np.float32)
        return replace(state, query=replace(state.query, vector=tuple(unit.tolist())))


def _is_as_wanted(value: Any, kind: Mapping[str, Any]) -> bool:
    """Whether a value is a text, or a list of texts, as its schema says: a model of somebody else may not have looked."""
    if kind["type"] == "array":
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    return isinstance(value, str)


def _looking_for(state: State, text: str) -> State:
    return replace(state, query=replace(state.query, dense=text, sparse=text))


def _with_keywords(state: State, found: tuple[str, ...], settings: Keywords | RuleKeywords) -> State:
    query = state.query
    if settings.channel != "sparse":
        query = replace(query, dense=" ".join((query.dense, *found)))
    if settings.channel != "dense":
        query = replace(query, keywords=found, boost=settings.boost)
    return replace(state, query=query)


def _with_parts(state: State, texts: tuple[str, ...], weight: float) -> State:
    """Look for these texts too; one that is the question itself is looked for already."""
    known = {state.query.question, *(part.text for part in state.query.parts)}
    new = tuple(SubQuery(text, weight) for text in texts if text and text not in known)
    return replace(state, query=replace(state.query, parts=(*state.query.parts, *new)))
