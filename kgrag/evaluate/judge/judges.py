"""The judges: `rules`, which needs no model, and any chat model, one prompt file and one structured call for each part of a judgement."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ValidationError

from kgrag.errors import ModelReplyError
from kgrag.evaluate.gold_questions import GoldQuestion
from kgrag.evaluate.judge import rules
from kgrag.evaluate.judge.judgement import Judge, Judgement, ToJudge
from kgrag.evaluate.judge.metrics import is_refusal
from kgrag.evaluate.judge.presets import Preset, evaluation_folder
from kgrag.evaluate.judge.verdicts import (
    CitedSentence,
    CompletenessVerdict,
    CorrectnessVerdict,
    Nugget,
    NuggetVerdict,
    StatementVerdict,
    Support,
)
from kgrag.evaluate.overlap import token_overlap
from kgrag.models.base import ChatModel, Embedder, Message
from kgrag.models.reply_schema import NUMBER, TEXT, list_of, object_of
from kgrag.text.sentences import sentences
from kgrag.types import Answer, Usage, content_id

__all__ = ["ModelJudge", "Pairwise", "RulesJudge", "one_family", "open_judge"]

T = TypeVar("T")
MOST_STATEMENTS = 5
"""Statements of an answer whose faithfulness is asked for (section 10 of the notes on the thesis)."""
MOST_EVIDENCE_CHARACTERS = 12_000
"""Of evidence that a judge is shown, whole pieces, best first."""
SUPPORTS = {**TEXT, "enum": ["supported", "partly", "not"]}
FULLNESS = {**TEXT, "enum": ["full", "partial", "none"]}


def _nuggets(question: GoldQuestion) -> list[Nugget]:
    """Return the question's gold facts, or what its first reference divides into."""
    if question.gold_facts:
        return [Nugget(text=fact) for fact in question.gold_facts]
    return rules.nuggets_of(question.references[0]) if question.references else []


def _cited(answer: Answer) -> dict[int, str]:
    """Return the text of the passage behind each number of an answer."""
    texts = {piece.chunk_id: piece.text for piece in answer.evidence if piece.chunk_id is not None}
    return {one.number: texts.get(one.chunk_id or "") or one.quote for one in answer.citations}


class RulesJudge:
    """The model-free `Judge`; what it cannot see is in `kgrag.evaluate.judge.rules.BLIND`.

    `embedder`, where it gives vectors of tokens, compares the answer's tokens with the reference's; without one that part is not judged.
    """

    name = "rules"

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder

    @property
    def fingerprint(self) -> str:
        """Of these rules and the embedder."""
        return "rules 2" if self._embedder is None else content_id("rules 2", self._embedder.name)

    async def judge(self, asked: ToJudge) -> Judgement:
        """Judge by words, numbers and sentences; an abstention by what the question says of being answerable. Nothing can fail.

        All parts take no time but `similarity`.
        """
        question, answer = asked.question, asked.answer
        evidence = [piece.text for piece in answer.evidence]
        text = "" if answer.abstained else answer.text
        nuggets = _nuggets(question)
        return Judgement(
            judge=self.name,
            correctness=rules.correctness(question.question, question.references, text)
            if question.references
            else None,
            completeness=rules.completeness(question.question, nuggets, text) if nuggets else None,
            nuggets=tuple(rules.nugget_verdicts(question.question, nuggets, text, evidence)),
            statements=tuple(rules.statements(text, evidence)) if text else None,
            citations=tuple(rules.cited_sentences(text, _cited(answer))) if text else None,
            similarity=await _similarity(self._embedder, question, text) if asked.wants("similarity") else None,
        )


async def _similarity(embedder: Embedder | None, question: GoldQuestion, text: str) -> tuple[float, float] | None:
    """Compare the tokens of an answer with those of the reference that is most like it; None where there is none."""
    token_vectors = getattr(embedder, "token_vectors", None)
    if token_vectors is None or not question.references or not text:
        return None
    said, *right = await asyncio.to_thread(token_vectors, [rules.MARK.sub(" ", text), *question.references])
    best = max((token_overlap(said, one) for one in right), key=lambda one: one.f1)
    return best.precision, best.recall


class ModelJudge:
    """A `Judge` that asks a chat model: a call for each part, each with a prompt file of `eval/prompts` and a JSON schema.

    A part whose reply cannot be used is missing and named in `failures`. `embedder` compares the questions made from an answer with the
    question itself.
    """

    def __init__(self, model: ChatModel, *, embedder: Embedder, preset: Preset) -> None:
        self._model, self._embedder, self._preset = model, embedder, preset
        self._prompts = {file.stem: file.read_text(encoding="utf-8") for file in _prompt_files()}

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    @property
    def fingerprint(self) -> str:
        """Of model, prompts, embedder and constants."""
        return content_id(self.name, self._embedder.name, self._preset.model_dump_json(), *self._prompts.values())

    async def judge(self, asked: ToJudge) -> Judgement:
        """Judge every part that there is something to judge by. Raises `ModelUnavailable` and errors that no other reply would cure."""
        question, answer = asked.question, asked.answer
        calls = _Calls(self._model, self._prompts, question.question, answer)
        refused = answer.abstained or is_refusal(answer.text, how=self._preset.refusals)
        reference = "\n".join(question.references)
        parts: dict[str, Callable[[], Awaitable[Any]]] = {}
        if reference and refused:
            denied = CorrectnessVerdict(answered=False, reason="the answer says that it does not answer")
            parts["correctness"] = lambda: _done(denied)
        elif reference:
            parts["correctness"] = lambda: calls.correctness(reference)
            parts["completeness"] = lambda: calls.verdict("completeness", CompletenessVerdict, reference=reference)
        if question.gold_facts or reference:
            parts["nuggets"] = lambda: calls.nuggets(question, reference, refused)
        if not refused:
            parts["statements"] = calls.statements
            parts["citations"] = calls.citations
            parts["relevance"] = lambda: self._relevance(calls, question.question)
            parts["rating"] = calls.rating
        parts = {part: ask for part, ask in parts.items() if asked.wants(part)}
        judged: dict[str, Any] = {}
        if (before := asked.before) is not None:
            judged = {part: getattr(before, part) for part in parts if part not in before.failures}
            parts = {part: ask for part, ask in parts.items() if part in before.failures}
        results = await asyncio.gather(*(_caught(ask()) for ask in parts.values()))
        failures: dict[str, str] = {}
        for part, (value, failure) in zip(parts, results, strict=True):
            if failure:
                failures[part] = failure
            else:
                judged[part] = value
        failures |= calls.gaps
        if asked.wants("similarity"):
            judged["similarity"] = await _similarity(self._embedder, question, "" if refused else answer.text)
        return Judgement(judge=self.name, **judged, failures=failures, usage=calls.usage)

    async def _relevance(self, calls: _Calls, question: str) -> tuple[float, ...]:
        made = await calls.reverse_questions(self._preset.reverse_questions)
        vectors = await self._embedder.embed_queries([question, *made])
        return tuple(float(np.clip(cosine, -1.0, 1.0)) for cosine in vectors[1:] @ vectors[0])


def open_judge(model: ChatModel | None, *, embedder: Embedder, preset: Preset) -> Judge:
    """Return the judge that asks a model, or without one the model-free judge."""
    return RulesJudge(embedder) if model is None else ModelJudge(model, embedder=embedder, preset=preset)


class _Calls:
    """The calls about one answer: each fills a prompt, asks with a schema, and reads a typed verdict."""

    def __init__(self, model: ChatModel, prompts: Mapping[str, str], question: str, answer: Answer) -> None:
        self._model, self._prompts, self._question, self._answer = model, prompts, question, answer
        self.usage = Usage()
        self.gaps: dict[str, str] = {}
        """Parts that are judged with gaps, and what is missing in them."""

    async def ask(self, prompt: str, schema: Mapping[str, Any], **values: str) -> Mapping[str, Any]:
        """Ask once. Raises `ModelReplyError` where the reply has no valid data."""
        filled = fill(self._prompts[prompt], question=self._question, **{"answer": self._answer.text, **values})
        try:
            reply = await self._model.reply([Message("user", filled)], schema=schema)
        except ModelReplyError as error:
            self.usage += error.usage
            raise
        self.usage += reply.usage
        if not isinstance(reply.data, Mapping):
            raise ModelReplyError(f"{self._model.name}: expected a verdict, got none.", reply=reply.text)
        return reply.data

    async def verdict(self, prompt: str, kind: type[BaseModel], **values: str) -> BaseModel:
        """Ask for a verdict of a kind, whose fields are the schema."""
        fields = kind.model_json_schema()["properties"]
        schema = object_of(
            **{name: {k: v for k, v in one.items() if k not in ("default", "title")} for name, one in fields.items()}
        )
        try:
            return kind.model_validate(dict(await self.ask(prompt, schema, **values)))
        except ValidationError as error:
            raise ValueError(
                "; ".join(str(one["msg"]).removeprefix("Value error, ") for one in error.errors())
            ) from None

    async def correctness(self, reference: str) -> CorrectnessVerdict:
        """Compare with the reference. Raises `ValueError` for a verdict that contradicts itself."""
        verdict = await self.verdict("correctness", CorrectnessVerdict, reference=reference)
        assert isinstance(verdict, CorrectnessVerdict)  # noqa: S101
        if not verdict.answered and verdict.coverage:
            raise ValueError(f"an answer that does not answer covers nothing, got a coverage of {verdict.coverage}")
        return verdict

    async def nuggets(self, question: GoldQuestion, reference: str, refused: bool) -> tuple[NuggetVerdict, ...]:
        """Judge facts against the answer and, apart from it, against the evidence; facts are made by the model where none are given."""
        facts = [Nugget(text=fact) for fact in question.gold_facts] or await self._made(reference)
        of_answer: Sequence[Support | None] = (
            ["not"] * len(facts) if refused else await self._supports(facts, self._answer.text)
        )
        shown = evidence_text(self._answer)
        of_evidence: Sequence[Support | None] = await self._supports(facts, shown) if shown else ["not"] * len(facts)
        self._count_gaps("nuggets", [*of_answer, *of_evidence])
        return tuple(
            NuggetVerdict(nugget=fact, answer=a, evidence=e)
            for fact, a, e in zip(facts, of_answer, of_evidence, strict=True)
        )

    async def _made(self, reference: str) -> list[Nugget]:
        importance = {**TEXT, "enum": ["vital", "okay"]}
        schema = object_of(facts=list_of(object_of(text=TEXT, importance=importance)))
        data = await self.ask("make_nuggets", schema, reference=reference)
        made = [Nugget.model_validate(one) for one in data["facts"] if str(one["text"]).strip()]
        return _at_least_one(made, "fact")

    async def _supports(self, facts: Sequence[Nugget], text: str) -> list[Support | None]:
        schema = object_of(verdicts=list_of(object_of(number=NUMBER, verdict=SUPPORTS)))
        listed = "\n".join(f"{number}. {fact.text}" for number, fact in enumerate(facts, start=1))
        data = await self.ask("nuggets", schema, nuggets=listed, answer=text)
        said = _once([(one["number"], one["verdict"]) for one in data["verdicts"]])
        return [said.get(number) for number in range(1, len(facts) + 1)]

    async def statements(self) -> tuple[StatementVerdict, ...]:
        """Judge the answer's statements against the evidence. Raises `ModelReplyError` where none is named."""
        verdict = {**TEXT, "enum": ["yes", "partial", "no"]}
        schema = object_of(statements=list_of(object_of(statement=TEXT, quote=TEXT, verdict=verdict)))
        data = await self.ask(
            "statements", schema, most=str(MOST_STATEMENTS), evidence=evidence_text(self._answer) or "(none)"
        )
        return tuple(_at_least_one([one["verdict"] for one in data["statements"][:MOST_STATEMENTS]], "statement"))

    async def citations(self) -> tuple[CitedSentence, ...]:
        """Judge every sentence that cites something; a sentence that cites nothing needs no model: it is not supported."""
        cited = _cited(self._answer)
        rows: list[tuple[str, list[int]]] = []
        for one in sentences(self._answer.text):
            text = rules.MARK.sub(" ", one.text).strip()
            if re.search(r"\w", text):
                numbers = [int(n) for mark in rules.MARK.findall(one.text) for n in re.findall(r"\d+", mark)]
                rows.append((text, [number for number in numbers if number in cited]))
        asked = [(text, numbers) for text, numbers in rows if numbers]
        said: dict[int, Mapping[str, Any]] = {}
        if asked:
            listed = "\n\n".join(
                f"Sentence {place}: {text}\n" + "\n".join(f"Passage {number}: {cited[number]}" for number in numbers)
                for place, (text, numbers) in enumerate(asked, start=1)
            )
            passages = list_of(object_of(passage=NUMBER, verdict=FULLNESS))
            schema = object_of(sentences=list_of(object_of(sentence=NUMBER, passages=passages, together=FULLNESS)))
            data = await self.ask("citations", schema, sentences=listed)
            said = _once([(one["sentence"], one) for one in data["sentences"]])
        judged, place = [], 0
        for text, numbers in rows:
            if not numbers:
                judged.append(CitedSentence(text=text, together="none"))
                continue
            place += 1
            of = _once([(one["passage"], one["verdict"]) for one in said.get(place, {}).get("passages", ())])
            together: Literal["full", "partial", "none"] | None = said.get(place, {}).get("together")
            judged.append(CitedSentence(text=text, citations=tuple(of.get(n) for n in numbers), together=together))
        self._count_gaps("citations", [verdict for one in judged for verdict in (*one.citations, one.together)])
        return tuple(judged)

    def _count_gaps(self, part: str, verdicts: Sequence[object]) -> None:
        if missing := sum(verdict is None for verdict in verdicts):
            self.gaps[part] = f"{missing} of {len(verdicts)} verdicts are missing or contradict each other"

    async def reverse_questions(self, most: int) -> list[str]:
        """Have questions made that the answer would answer."""
        schema = object_of(questions=list_of(TEXT))
        data = await self.ask("relevance", schema, most=str(most))
        return _at_least_one([text for one in data["questions"][:most] if (text := str(one).strip())], "question")

    async def rating(self) -> int:
        """Ask how helpful the answer is, 1 to 5."""
        schema = object_of(rating={**NUMBER, "minimum": 1, "maximum": 5})
        rating = (await self.ask("helpfulness", schema))["rating"]
        if not isinstance(rating, int) or not 1 <= rating <= 5:
            raise ValueError(f"expected a rating from 1 to 5, got {rating!r}")
        return rating


class Pairwise:
    """Compares two answers in both orders; where the verdict follows the order it is a tie, and counted as a flip.

    `only_differences` shows only sentences that the other answer does not have, against a judge's liking for length.
    """

    def __init__(self, model: ChatModel, *, only_differences: bool = False) -> None:
        self._model, self._only = model, only_differences
        self._prompt = (evaluation_folder() / "prompts" / "pairwise.md").read_text(encoding="utf-8")

    async def compare(self, question: GoldQuestion, first: str, second: str) -> tuple[Literal[-1, 0, 1], bool]:
        """Return 1 where the first is better, -1 the second, 0 a tie, and whether the verdict flipped. Raises `ModelReplyError`."""
        a, b = (_without(first, second), _without(second, first)) if self._only else (first, second)
        one, other = await asyncio.gather(self._ask(question, a, b), self._ask(question, b, a))
        return (one, False) if one == -other else (0, True)

    async def _ask(self, question: GoldQuestion, first: str, second: str) -> Literal[-1, 0, 1]:
        schema = object_of(reason=TEXT, better={**TEXT, "enum": ["first", "second", "tie"]})
        reference = "\n".join(question.references) or "(none)"
        prompt = fill(self._prompt, question=question.question, reference=reference, first=first, second=second)
        reply = await self._model.reply([Message("user", prompt)], schema=schema)
        verdicts: dict[str, Literal[-1, 0, 1]] = {"first": 1, "second": -1, "tie": 0}
        return verdicts[(reply.data or {})["better"]]


def one_family(judge: str, answerer: str) -> bool:
    """Whether two models are of one family, by the letters their names begin with (`gpt-4o-mini`, `gpt-4.1`): a judge favours its own."""
    families = [
        re.match(r"[a-z]+", name.rsplit("/", 1)[-1].partition(":")[2].lower() or name.lower())
        for name in (judge, answerer)
    ]
    return judge == answerer or (None not in families and families[0][0] == families[1][0])  # type: ignore[index]


def evidence_text(answer: Answer) -> str:
    """Return the evidence that a judge is shown: whole pieces, best first, inside `MOST_EVIDENCE_CHARACTERS` (always the first)."""
    shown: list[str] = []
    used = 0
    for piece in answer.evidence:
        used += len(piece.text)
        if shown and used > MOST_EVIDENCE_CHARACTERS:
            break
        shown.append(piece.text)
    return "\n\n".join(shown)


def fill(template: str, **values: str) -> str:
    """Put values where a prompt says `{name}`; braces in values and all other braces stay as they are."""
    return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), template)


def _without(text: str, other: str) -> str:
    """Leave out the sentences that the other text has too."""
    theirs = {rules.MARK.sub("", one.text).strip().casefold() for one in sentences(other)}
    own = [one.text for one in sentences(text) if rules.MARK.sub("", one.text).strip().casefold() not in theirs]
    return " ".join(own) or "(nothing that the other answer does not say)"


def _prompt_files() -> list[Any]:
    return sorted((evaluation_folder() / "prompts").glob("*.md"))


def _once(rows: Sequence[tuple[int, T]]) -> dict[int, T]:
    """Return what is said of each number; where different things are said of one, nothing is."""
    said: dict[int, T] = {}
    contradicted = set()
    for number, verdict in rows:
        if said.setdefault(number, verdict) != verdict:
            contradicted.add(number)
    return {number: verdict for number, verdict in said.items() if number not in contradicted}


def _at_least_one(found: list[T], what: str) -> list[T]:
    if not found:
        raise ValueError(f"expected at least one {what}, got none")
    return found


async def _done(value: T) -> T:
    return value


async def _caught(part: Awaitable[T]) -> tuple[T | None, str]:
    """Return what a part gives, or why it cannot be had. A model that is away is no failure of a part: it is raised."""
    try:
        return await part, ""
    except ModelReplyError as error:
        return None, str(error)
    except (ValueError, KeyError, TypeError) as error:
        return None, f"expected a verdict, got what does not fit one: {type(error).__name__}: {error}"
