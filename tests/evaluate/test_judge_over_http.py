"""A judge behind HTTP that replies badly, contradicts itself, says nothing, is busy, goes away and comes back: all is accounted for."""

import asyncio
import json
import re

import pytest

from kgrag.errors import ModelUnavailable
from kgrag.evaluate.gold_questions import GoldQuestion
from kgrag.evaluate.judge.judges import ModelJudge
from kgrag.evaluate.judge.presets import load_preset
from kgrag.evaluate.runs import Run, RunSettings
from kgrag.evaluate.summary import summarise
from kgrag.jobs.compare import compare
from kgrag.jobs.comparison import Asking, Comparison
from kgrag.models import open_chat_model
from kgrag.testing import HashingEmbedder, ModelServer, empty, rate_limited, server_error
from kgrag.types import Answer, Citation, Evidence

PRESET = load_preset("strict")
QUESTIONS = [
    GoldQuestion(id=f"q{n}", question=f"What does part {n} draw?", facts=(), references=(f"It draws {n}5 mA.",))
    for n in range(1, 6)
]
PARTS = {
    "Compare an answer": {"reason": "", "answered": True, "coverage": 0.9, "severity": "low"},
    "Count what": {"expected": 2, "actual": 2, "wrong": 0, "missing": 1, "overall": 0.5},
    "For each numbered fact": {"verdicts": [{"number": 1, "verdict": "supported"}]},
    "Divide the answer": {"statements": [{"statement": "s", "quote": "q", "verdict": "yes"}]},
    "Each numbered sentence": {
        "sentences": [{"sentence": 1, "passages": [{"passage": 1, "verdict": "full"}], "together": "full"}]
    },
    "Write 3 questions": {"questions": ["What does it draw?"]},
    "How helpful": {"rating": 4},
    "": {"facts": [{"text": "a fact", "importance": "vital"}]},
}
BAD = {  # part of question → what is said of it
    ("Compare an answer", "part 1"): "I would say that it is quite right.",
    ("Count what", "part 2"): {"expected": 1, "actual": 1, "wrong": 0, "missing": 5, "overall": 0.9},
    ("How helpful", "part 2"): 'First {"rating": 5}, but it lacks a unit, so {"rating": 2}.',
    ("Divide the answer", "part 3"): empty(),
    ("For each numbered fact", "part 4"): {"verdicts": [{"number": 1, "verdict": v} for v in ("supported", "not")]},
}
"""No JSON, a verdict that contradicts itself, a verdict and another one, nothing, two verdicts of one fact."""


async def ask(asked: GoldQuestion) -> Answer:
    question = asked.question
    said = f"{question.removeprefix('What does ').removesuffix(' draw?')} draws 15 mA"
    return Answer(
        question=question,
        text=f"{said} [1].",
        citations=(Citation(number=1, chunk_id="c", document="a.pdf"),),
        model="rules",
        pipeline="good",
        evidence=(Evidence(chunk_id="c", source_id="s", document="a.pdf", text=said, tokens=9, score=1.0),),
    )


class Script:
    """Replies well, but badly to what is in `bad`; every fifth request finds the server busy, every seventh at fault.

    After `leave_after` requests it is away.
    """

    def __init__(self, bad):
        self.bad, self.requests = bad, 0
        self.leave_after: int | None = None

    def __call__(self, request):
        self.requests += 1
        if self.leave_after is not None and self.requests > self.leave_after:
            return server_error(503)
        prompt = next(message["content"] for message in request.body["messages"] if message["role"] == "user")
        start = next(start for start in PARTS if prompt.startswith(start))
        if self.requests % 5 == 0:
            return rate_limited(0.01)
        if self.requests % 7 == 0:
            return server_error()
        part = re.search(r"part \d+", prompt)
        return self.bad.get((start, part[0] if part else ""), PARTS[start])


@pytest.fixture
def script():
    return Script(dict(BAD))


@pytest.fixture
def server(script, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    with ModelServer(script) as running:
        yield running


def run_it(folder, server, **changes):
    options = {
        "base_url": server.url,
        "model_cache": str(folder / "replies.sqlite"),
        "retries": changes.pop("retries", 6),
    }
    judge = ModelJudge(open_chat_model("openai:judge", **options), embedder=HashingEmbedder(), preset=PRESET)
    settings = RunSettings(
        questions_file="q.jsonl",
        store="s",
        corpus="c",
        embedder="e",
        model="rules",
        judge=judge.name,
        judge_fingerprint=judge.fingerprint,
        preset=PRESET.name,
        template="t",
        pipelines=("good",),
    )
    prepared = Comparison(settings, QUESTIONS, [Asking("good", "1", ask)], judge)
    with Run(folder, create=True) as run:
        report = asyncio.run(compare(run, prepared, concurrency=4, **changes))
        judged = {result.cell.question: result.judgement for result in run.results()}
        return report, judged, summarise(run, preset=PRESET)


def test_bad_verdicts_are_missing_and_counted_and_asked_for_again(server, script, tmp_path):
    report, judged, summary = run_it(tmp_path, server)
    assert (report.answered, report.judged, report.failed, report.complete) == (5, 5, [], False)
    assert {question: set(one.failures) for question, one in judged.items()} == {
        "q1": {"correctness"},
        "q2": {"completeness", "rating"},
        "q3": {"statements"},
        "q4": {"nuggets"},
        "q5": set(),
    }
    reasons = [reason for one in judged.values() for reason in one.failures.values()]
    assert "several JSON objects, which say different things of 'rating'" in judged["q2"].failures["rating"]
    assert not any("\n" in reason for reason in reasons)
    assert report.parts_missing == 5 == sum(summary.parts_missing.values())
    assert report.first_missing in reasons
    # What is missing is in no mean: all that was judged was judged the same.
    assert summary.mean("good", "right") == 1.0 and summary.mean("good", "completeness") == 0.5
    assert [row.scores["right"] for row in summary.rows["good"]] == [None, 1.0, 1.0, 1.0, 1.0]
    assert [row.scores["nuggets"] for row in summary.rows["good"]][3] is None

    asked = len(server.requests)
    again, _, _ = run_it(tmp_path, server)
    assert (again.judged, again.parts_missing, len(server.requests)) == (0, 5, asked)

    script.bad = {}
    mended, judged, _ = run_it(tmp_path, server, rejudge="failed")
    assert (mended.answered, mended.judged, mended.parts_missing, mended.complete) == (0, 4, 0, True)
    assert all(not one.failures for one in judged.values())
    prompts = [json.dumps(request.body)[:400] for request in server.requests[asked:]]
    assert not any("Write 3 questions" in prompt for prompt in prompts)  # only what failed was asked for


def test_a_judge_that_goes_away_ends_the_run_and_the_same_command_goes_on(server, script, tmp_path):
    script.bad = {}

    script.leave_after = 12
    with pytest.raises(ModelUnavailable):
        run_it(tmp_path, server, retries=1)
    server.stop()
    script.leave_after = None
    server.start()
    report, judged, _ = run_it(tmp_path, server)
    assert (report.answered, report.complete) == (0, True)
    assert all(one is not None and not one.failures for one in judged.values())
