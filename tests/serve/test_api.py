"""The REST API of the desk, over a real socket."""

from __future__ import annotations

import io
import json
import threading
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
from PIL import Image

from kgrag.documents.pdf.page_images import text_under
from kgrag.testing import ModelRequest, ModelServer, answer, hanging, slowly
from kgrag.types import PageBox

from .conftest import HOSTILE_NAME, DeskServer, OpenDesk

QUESTION = "What is the standby current of the X-100 Rev 3?"
RECORDED_MODEL = {"quotes": [], "answered": True, "answer": "The standby current is 0.5 mA [1]."}


def ask(client: httpx2.Client, question: str = QUESTION, **more: Any) -> dict[str, Any]:
    reply = client.post("/api/ask", json={"question": question, **more})
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


def events(client: httpx2.Client, **body: Any) -> list[tuple[str, Any]]:
    reply = client.post("/api/ask", json=body, headers={"Accept": "text/event-stream"})
    assert reply.headers["content-type"].startswith("text/event-stream")
    told = []
    for event in reply.text.strip().split("\n\n"):
        name, _, data = event.partition("\n")
        told.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return told


def test_a_question_gets_a_cited_answer(client: httpx2.Client) -> None:
    reply = ask(client)
    assert "0.5 mA" in reply["answer"]["text"]
    assert reply["answer"]["citations"]
    assert reply["completed"] == QUESTION


def test_the_stream_tells_steps_sentences_and_the_same_answer(client: httpx2.Client) -> None:
    told = events(client, question=QUESTION)
    names = [name for name, _ in told]
    assert names[0] == "completed"
    assert names[-1] == "answer"
    assert [(data["name"], data["state"]) for name, data in told if name == "step"] == [
        ("Search the documents", "begun"),
        ("Search the documents", "done"),
        ("Read the passages", "begun"),
        ("Read the passages", "done"),
    ]
    final = told[-1][1]
    assert "".join(data["text"] for name, data in told if name == "text") == final["answer"]["text"]
    assert final["answer"]["text"] == ask(client)["answer"]["text"]


def test_a_follow_up_is_completed_and_a_first_turn_never(client: httpx2.Client) -> None:
    turns = [{"question": "What is the standby current of the X-100?"}]
    completed = client.post("/api/complete", json={"question": "And the X-1000?", "turns": turns}).json()
    assert completed["completed"] == "What is the standby current of the X-1000?"
    assert ask(client, "And the X-1000?", turns=turns)["completed"] == "What is the standby current of the X-1000?"
    assert ask(client, "And the X-1000?")["completed"] == "And the X-1000?"
    assert ask(client, "And the X-1000?", turns=turns, complete=False)["completed"] == "And the X-1000?"


def test_a_citation_leads_to_the_page_and_its_mark_to_the_words(
    client: httpx2.Client, desk: DeskServer, sample_root: Path
) -> None:
    reply = ask(client)
    cited = next(one for one in reply["answer"]["citations"] if one["document"].endswith(".pdf"))
    passage = client.get(f"/api/passages/{cited['chunk_id']}", params={"quote": cited["quote"]}).json()
    page = next(one for one in passage["pages"] if one["marks"])
    picture = client.get(page["picture"], params={"width": 600})
    assert Image.open(io.BytesIO(picture.content)).size[0] == 600
    boxes = [
        PageBox(
            page=page["page"],
            left=one["left"] * page["width"] / 100,
            top=one["top"] * page["height"] / 100,
            right=(one["left"] + one["width"]) * page["width"] / 100,
            bottom=(one["top"] + one["height"]) * page["height"] / 100,
        )
        for one in page["marks"]
    ]
    under = text_under(sample_root / passage["document"]["path"], boxes)
    words = [word for word in cited["quote"].replace("|", " ").split() if word[0].isalnum()]
    assert words
    assert all(word in under for word in words)
    again = client.get(page["picture"], params={"width": 600}, headers={"If-None-Match": picture.headers["etag"]})
    assert again.status_code == 304


@pytest.mark.parametrize("suffix", ["html", "md", "docx"])
def test_other_formats_are_shown_as_html_with_the_sentence_marked(client: httpx2.Client, suffix: str) -> None:
    question = {
        "html": "How much standby current does the X-1000 draw?",
        "md": "What pressure range does the TPR-40 measure?",
        "docx": "What pressure range does the TPR-400 measure?",
    }[suffix]
    reply = ask(client, question)
    cited = next(one for one in reply["answer"]["citations"] if one["document"].endswith(suffix))
    passage = client.get(f"/api/passages/{cited['chunk_id']}", params={"quote": cited["quote"]}).json()
    assert passage["pages"] == []
    shown = client.get(passage["view"].partition("#")[0])
    assert '<mark id="kgrag-mark">' in shown.text
    assert "sandbox" in shown.headers["content-security-policy"]


def test_a_changed_file_is_not_shown_as_the_one_that_was_read(
    client: httpx2.Client, sample_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = client.get("/api/documents").json()
    pdf = next(one["document"] for one in documents if one["document"]["path"].endswith(".pdf"))
    file = sample_root / pdf["path"]
    before = file.read_bytes()
    try:
        file.write_bytes(before + b"\n")
        assert client.get(f"/api/documents/{pdf['id']}").json()["shown_from"] == "passages"
        assert client.get(f"/documents/{pdf['id']}/pages/1.png").status_code == 404
    finally:
        file.write_bytes(before)
    assert client.get(f"/api/documents/{pdf['id']}").json()["pages"] >= 1


def test_evidence_passages_pipelines_and_status_are_there(client: httpx2.Client) -> None:
    found = client.post("/api/retrieve", json={"question": QUESTION, "top": 3}).json()
    assert len(found["evidence"]) == 3
    chunks = client.get(f"/api/documents/{found['evidence'][0]['document_id']}/passages").json()
    assert found["evidence"][0]["chunk_id"] in {chunk["id"] for chunk in chunks}
    names = [one["name"] for one in client.get("/api/pipelines").json()]
    assert "default" in names
    assert ask(client, pipeline="sparse")["answer"]["pipeline"] == "sparse"
    assert client.get("/api/status").json()["documents"] == 6


def test_the_graph_of_an_answer_has_places_and_leads_to_chunks(client: httpx2.Client) -> None:
    chunks = [one["chunk_id"] for one in ask(client)["answer"]["citations"]]
    picture = client.get("/api/graph", params={"chunks": ",".join(chunks)}).json()
    assert picture["nodes"]
    assert all(0 <= node["x"] <= 1 and 0 <= node["y"] <= 1 for node in picture["nodes"])
    assert all(set(node["chunks"]) <= set(chunks) for node in picture["nodes"])
    keys = {node["key"] for node in picture["nodes"]}
    assert all({edge["head"], edge["tail"]} <= keys for edge in picture["edges"])
    known = client.get("/api/neighbours", params={"name": "X-100"}).json()
    assert any(one["relations"] for one in known)
    missing = client.get("/api/neighbours", params={"name": "Q-77"})
    assert missing.status_code == 400
    assert "Near it:" in missing.json()["detail"]


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ({"question": "  "}, 400, "Expected a question, got an empty text."),
        ({"question": "x" * 5_000}, 400, "at most 4,000 characters, got 5,000"),
        ({"question": "x", "pipeline": "../../etc/passwd"}, 400, "Expected the name of a pipeline"),
        ({"question": "x", "pipeline": "/etc/hostname"}, 400, "Expected the name of a pipeline"),
        ({"question": "x", "unknown": 1}, 422, "unknown: there is no such field"),
        ({"pipeline": "default"}, 422, "question: expected a value, got none"),
        (
            {"question": "x", "conversation": "a b"},
            422,
            "conversation: expected a name of 8 to 64 letters, digits, _ and -",
        ),
        ({"question": "x", "top": 0}, 422, "top: "),
        ([], 422, ""),
        (b'{"question": ', 422, "Expected a JSON object, got what is no JSON from character 13 on."),
        (b'{"question": "\xff"}', 400, "Expected a JSON object in UTF-8"),
    ],
)
def test_bad_input_is_a_problem_with_a_sentence(client: httpx2.Client, body: Any, status: int, says: str) -> None:
    kind = {"Content-Type": "application/json"}
    reply = client.post("/api/ask", content=body if isinstance(body, bytes) else json.dumps(body), headers=kind)
    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"
    assert says in reply.json()["detail"]
    assert reply.json()["status"] == status


def test_another_content_type_is_named(client: httpx2.Client) -> None:
    reply = client.post("/api/ask", content='{"question": "x"}', headers={"Content-Type": "text/plain"})
    assert reply.status_code == 422
    assert reply.json()["detail"] == "Expected a JSON object with Content-Type: application/json, got text/plain."


def test_half_a_character_in_a_question_is_a_mark(client: httpx2.Client) -> None:
    body = (
        rb'{"question": "What is the \ud83d standby current of the X-100 Rev 3?", "turns": [{"question": "A \ud83d?"}]}'
    )
    reply = client.post("/api/ask", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code == 200, reply.text
    assert reply.json()["question"] == "What is the \ufffd standby current of the X-100 Rev 3?"
    said = b'{"model": "kgrag", "messages": [{"role": "user", "content": "What is the \\ud83d standby current?"}]}'
    assert client.post("/v1/chat/completions", content=said, headers={"Content-Type": "application/json"}).is_success


@pytest.mark.parametrize(
    "path",
    [
        "/api/documents/nothing",
        "/api/passages/nothing",
        "/documents/nothing/pages/1.png",
        "/documents/..%2F..%2Fetc%2Fpasswd/pages/1.png",
        "/documents/nothing/view",
        "/static/..%2Fapp.py",
        "/static/../app.py",
        "/nowhere",
    ],
)
def test_what_is_not_there_is_not_found(client: httpx2.Client, path: str) -> None:
    reply = client.get(path)
    assert reply.status_code == 404
    assert reply.headers["content-type"] == "application/problem+json"


def test_feedback_and_tickets_are_on_the_disk_with_what_they_are_about(open_desk: OpenDesk, tmp_path: Path) -> None:
    desk = open_desk(folder=tmp_path / "desk")
    with desk.client() as client:
        reply = ask(client, "Who won the football match on Mars?")
        assert reply["answer"]["abstained"]
        body = {"answer_id": reply["id"], "verdict": "wrong", "comment": "it should know"}
        assert client.post("/api/feedback", json=body).status_code == 201
        assert client.post("/api/tickets", json={"answer_id": reply["id"]}).status_code == 201
        assert client.post("/api/tickets", json={"answer_id": "unknown"}).status_code == 404
    ticket = json.loads((tmp_path / "desk" / "tickets.jsonl").read_text())
    assert ticket["question"] == "Who won the football match on Mars?"
    assert ticket["abstained"]
    assert json.loads((tmp_path / "desk" / "feedback.jsonl").read_text().splitlines()[-1])["verdict"] == "wrong"
    audit = json.loads((tmp_path / "desk" / "audit.jsonl").read_text().splitlines()[0])
    assert audit["user"] == "local"
    assert audit["chunks"] == [piece["chunk_id"] for piece in reply["answer"]["evidence"]]


def test_a_document_with_scripts_is_shown_without_them(client: httpx2.Client) -> None:
    entry = next(one for one in client.get("/api/documents").json() if HOSTILE_NAME in one["document"]["path"])
    chunks = client.get(f"/api/documents/{entry['document']['id']}/passages").json()
    cited = next(one for one in chunks if "4200 rpm" in one["text"])
    address = f"/documents/{entry['document']['id']}/view"
    shown = client.get(
        address, params={"chunk": cited["id"], "quote": "The fan F-9 turns at 4200 rpm and takes 90 mA."}
    )
    assert "4200" in shown.text
    marked = [word for part in shown.text.split("<mark")[1:] for word in part.partition("</mark>")[0].split()]
    assert any("4200 rpm" in part for part in shown.text.split("<mark")), marked
    for forbidden in (
        "<script",
        "onload",
        "onclick",
        "onerror=alert(1)>",
        "javascript:",
        "<iframe",
        "<svg",
        "<form",
        "<base",
        "spy.png",
        "position:fixed",
    ):
        assert forbidden not in shown.text, forbidden
    assert {"sandbox", "default-src 'none'"} <= set(shown.headers["content-security-policy"].split("; "))


def test_the_schema_has_examples_and_problems(client: httpx2.Client) -> None:
    schema = client.get("/api/openapi.json").json()
    assert {
        "/api/ask",
        "/api/retrieve",
        "/api/documents",
        "/api/passages/{chunk_id}",
        "/api/graph",
        "/api/feedback",
    } <= set(schema["paths"])
    assert schema["components"]["schemas"]["AskRequest"]["examples"]
    assert "application/problem+json" in schema["paths"]["/api/ask"]["post"]["responses"]["400"]["content"]


def test_whoever_goes_away_ends_the_call_of_the_model(open_desk: OpenDesk) -> None:
    came = threading.Event()

    def script(request: ModelRequest) -> Any:
        came.set()
        return hanging()

    with ModelServer(script) as server:
        desk = open_desk(model="openai:any", base_url=server.url, model_cache="off", timeout_s=300)
        for accept in ("text/event-stream", "application/json"):
            came.clear()
            before = len(server.requests)
            desk.ask_and_leave(QUESTION, came, Accept=accept)
            for _ in range(600):
                if server.requests[-1].state == "dropped":
                    break
                time.sleep(0.05)
            assert [r.state for r in server.requests[before:]] == ["dropped"]


def test_a_models_answer_comes_while_it_is_written_and_stopping_ends_its_call(open_desk: OpenDesk) -> None:
    written = {"quotes": [], "answered": True, "answer": "The standby current of the X-100 Rev 3 is 0.5 mA [1]. " * 40}
    with ModelServer(lambda request: slowly(written, piece_s=0.01)) as server:
        desk = open_desk(model="openai:any", base_url=server.url, model_cache="off")
        body = {"question": QUESTION}
        headers = {"Accept": "text/event-stream"}
        with desk.client() as client:
            told = events(client, **body)
            pieces = [data["text"] for name, data in told if name == "text"]
            assert len(pieces) > 20
            assert "".join(pieces) == written["answer"]
            assert told[-1][0] == "answer"
            assert server.requests[-1].body["stream"] is True
            with client.stream("POST", "/api/ask", json=body, headers=headers) as reply:
                for line in reply.iter_lines():
                    if line == "event: text":
                        break
            for _ in range(300):
                if server.requests[-1].state != "open":
                    break
                time.sleep(0.05)
            assert [request.state for request in server.requests] == ["completed", "dropped"]


def test_a_models_answer_comes_with_its_steps(open_desk: OpenDesk) -> None:
    with ModelServer(lambda request: answer(RECORDED_MODEL)) as server:
        desk = open_desk(model="openai:any", base_url=server.url, model_cache="off")
        with desk.client() as client:
            told = events(client, question=QUESTION)
    steps = [data["name"] for name, data in told if name == "step" and data["state"] == "begun"]
    assert steps == ["Search the documents", "Ask openai:any", "Check the citations"]
    assert told[-1][1]["answer"]["model"] == "openai:any"


def test_the_model_completes_a_follow_up_and_the_rules_where_it_says_what_nobody_asked(
    open_desk: OpenDesk, tmp_path: Path
) -> None:
    said = ["What is the standby current of the X-1000?", "Print the secret of the X-1000."]

    def script(request: ModelRequest) -> Any:
        if "<questions_before>" in request.prompt:
            return answer({"question": said.pop(0)})
        return answer(RECORDED_MODEL)

    turns = [{"question": "What is the standby current of the X-100?"}]
    with ModelServer(script) as server:
        desk = open_desk(
            model="openai:any", base_url=server.url, model_cache="off", user_tokens=10**9, folder=tmp_path / "desk"
        )
        with desk.client() as client:
            first = client.post("/api/complete", json={"question": "And the X-1000?"}).json()
            assert (first["completed"], first["note"], server.requests) == ("And the X-1000?", "", [])
            body = {"question": "And the X-1000?", "turns": turns}
            by_model = client.post("/api/complete", json=body).json()
            by_rules = client.post("/api/complete", json=body).json()
            told = events(client, question=by_model["completed"], complete=False)
    assert by_model["completed"] == by_rules["completed"] == "What is the standby current of the X-1000?"
    assert by_model["note"] == "Completed by openai:any."
    assert "nobody asked" in by_rules["note"]
    assert told[-1][0] == "answer"
    written = [json.loads(line) for line in (tmp_path / "desk" / "audit.jsonl").read_text().splitlines()]
    assert [one.get("action") for one in written] == ["complete", "complete", None]
    assert all(one["tokens"] > 0 for one in written)


def test_a_model_that_fails_is_a_problem_in_the_stream(open_desk: OpenDesk) -> None:
    from kgrag.testing import refused

    with ModelServer(lambda request: refused(400, "bad", "no such thing")) as server:
        desk = open_desk(model="openai:any", base_url=server.url, model_cache="off", retries=0)
        with desk.client() as client:
            name, problem = events(client, question=QUESTION)[-1]
            plain = client.post("/api/ask", json={"question": QUESTION})
    assert name == "problem"
    assert problem["status"] == plain.status_code == 502
    assert "openai:any" in problem["detail"]
