"""What the cross-encoder of answers learns from: questions with texts that answer them and others (`benchmarks.train_cross_encoder`)."""

from __future__ import annotations

import json
import math
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from benchmarks.answer_sets import AnswerSet
from benchmarks.answers import has_value
from kgrag.answer import last_question, without_typing_errors
from kgrag.answer.candidates import for_reader, in_context
from kgrag.answer.weighing import first_candidates
from kgrag.models.minilm import MiniLM
from kgrag.models.minilm_graph import tokenizer
from kgrag.text.courtesies import without_courtesies
from kgrag.text.questions import read_question
from kgrag.text.sentences import sentences
from kgrag.text.words import FUNCTION_WORDS, stems, words
from kgrag.types import Answer

__all__ = ["Example", "squad_examples", "support_examples"]

SAME_PASSAGE = 0.6
"""The share of a statement's words that the passage has which says what is asked for: then it is of that passage."""
MOST_STATEMENTS = 24
"""Of a question, by all that costs no run of a model; those that answer are taken besides."""
NEAR_SENTENCES, FAR_SENTENCES = 3, 4
"""Of the paragraph and of its article, those with most words of the question."""
FEWEST_SENTENCES = 3
LONGEST_SENTENCE = 100
"""Tokens: questions of which a sentence has more are left out, as they take the most time."""

Ids = list[int]


@dataclass(frozen=True, slots=True)
class Example:
    """A question with texts that answer it and others, as tokens; none answers what the documents do not say."""

    question: Ids
    right: tuple[Ids, ...]
    others: tuple[Ids, ...]
    """The nearest first."""


def squad_examples(file: Path, rng: random.Random) -> list[Example]:
    """Return questions with the sentence that has their answer, and sentences of its paragraph and article that do not have it."""
    found = [
        example for article in json.loads(file.read_text(encoding="utf-8"))["data"] for example in _article(article)
    ]
    rng.shuffle(found)
    return found


def _article(article: dict[str, Any]) -> Iterator[Example]:
    title = unquote(article["title"].replace("_", " "))
    paragraphs = [(one, list(sentences(one["context"]))) for one in article["paragraphs"]]
    places = [(number, one) for number, (_, said) in enumerate(paragraphs) for one in said]
    written = [
        one.ids
        for one in tokenizer().encode_batch([f"{title}: {one.text}" for _, one in places], add_special_tokens=False)
    ]
    having: dict[str, list[int]] = defaultdict(list)
    for place, (_, sentence) in enumerate(places):
        for term in {stem for _, stem in stems(sentence.text)}:
            having[term].append(place)
    for number, (paragraph, _) in enumerate(paragraphs):
        own = [place for place, (of, _) in enumerate(places) if of == number]
        for asked in paragraph["qas"]:
            answer, start = asked["answers"][0]["text"], asked["answers"][0]["answer_start"]
            right = next((place for place in own if places[place][1].start <= start < places[place][1].end), None)
            if right is None or answer not in places[right][1].text:
                continue
            alike: dict[int, float] = defaultdict(float)
            for term in {stem for _, stem in stems(asked["question"])}:
                if len(having[term]) < len(places) / 2:
                    for place in having[term]:
                        alike[place] += math.log(1 + len(places) / len(having[term]))
            others = [p for p in range(len(places)) if answer.casefold() not in places[p][1].text.casefold()]
            near = sorted((p for p in others if p in own), key=lambda p: -alike[p])[:NEAR_SENTENCES]
            far = sorted((p for p in others if p not in own and p in alike), key=lambda p: -alike[p])[:FAR_SENTENCES]
            chosen = [right, *near, *far]
            if max(len(written[p]) for p in chosen) <= LONGEST_SENTENCE and len(chosen) > FEWEST_SENTENCES:
                question = tokenizer().encode(asked["question"], add_special_tokens=False).ids
                yield Example(question, (written[right],), tuple(written[p] for p in chosen[1:]))


def support_examples(one: AnswerSet, folder: Path) -> list[Example]:
    """Return the questions of a set with statements of the evidence that the default pipeline found."""
    embedder = MiniLM()
    found = (_support_example(row, answer, embedder) for row, answer in zip(one.rows, one.answers(folder), strict=True))
    return [example for example in found if example is not None]


def _support_example(row: dict[str, Any], answer: Answer, embedder: MiniLM) -> Example | None:
    question = without_typing_errors(last_question(without_courtesies(answer.question)), answer.evidence, embedder)
    asked = read_question(without_courtesies(question))
    passage = set(row.get("words", ()))
    right, others = [], []
    for place, candidate in enumerate(first_candidates(asked, answer.evidence)):
        said = _words(candidate.text)
        if row["answers"] and has_value(for_reader(candidate, asked, title=""), row["answers"]):
            if len(said & passage) >= SAME_PASSAGE * len(said):
                right.append(in_context(candidate, answer.evidence))
        elif place < MOST_STATEMENTS:
            others.append(in_context(candidate, answer.evidence))
    if not others or (row["answers"] and not right):
        return None
    ids = [
        tuple(one.ids for one in tokenizer().encode_batch(texts, add_special_tokens=False)) for texts in (right, others)
    ]
    return Example(tokenizer().encode(question, add_special_tokens=False).ids, ids[0], ids[1])


def _words(text: str) -> set[str]:
    return {word.casefold() for word in words(text)} - FUNCTION_WORDS
