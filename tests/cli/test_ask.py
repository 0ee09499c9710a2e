"""`kgrag ask` as a session on a terminal, and with a file of questions."""

import csv
import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgrag.cli import run
from kgrag.testing import ModelRequest, ModelServer

QUESTION = "What is the standby current of the X-100?"
PROMPT = r"(?m)^> "
TIMEOUT_S = 120


@pytest.fixture(autouse=True)
def _in_the_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


class Terminal:
    """A process of kgrag on a terminal of its own."""

    def __init__(self, folder: Path, state: Path) -> None:
        self._master, slave = pty.openpty()
        environment = {**os.environ, "XDG_STATE_HOME": str(state), "TERM": "dumb"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kgrag", "ask"],
            cwd=folder,
            env=environment,
            pass_fds=(slave,),
            preexec_fn=lambda: os.login_tty(slave),  # so that Ctrl-C is a signal
        )
        os.close(slave)
        self.output = ""

    def say(self, text: str) -> None:
        os.write(self._master, text.encode())

    def wait_for(self, pattern: str, *, saying: str = "") -> str:
        """Read until the output after what was waited for before has the pattern; return that output.

        `saying` is said again where nothing comes for some seconds: Python's `input` misses a Ctrl-C between its prompt and its waiting.
        """
        deadline = time.monotonic() + TIMEOUT_S
        while not (found := re.search(pattern, self.output)):
            assert time.monotonic() < deadline and self.process.poll() is None, self.output
            if select.select([self._master], [], [], 5)[0]:
                self.output += os.read(self._master, 65536).decode(errors="replace")
            elif saying:
                self.say(saying)
        said, self.output = self.output[: found.end()], self.output[found.end() :]
        return said

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)


@pytest.fixture
def terminal(folder: Path, tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(folder, tmp_path)
    yield opened
    opened.close()


def test_a_session_answers_shows_sources_and_goes_on_after_mistakes(terminal: Terminal, tmp_path: Path) -> None:
    terminal.wait_for(PROMPT)
    terminal.say(f"{QUESTION}\n")
    assert "0.5 mA" in terminal.wait_for(r"pieces of evidence[^\n]*\n")
    terminal.say("/sources 1\n")
    terminal.wait_for(r"\[1\] docs/x-100.md, X-100 board > Standby[\s\S]*In standby the X-100 draws")
    terminal.say("/sources 9\n")
    terminal.wait_for("Expected the number of a source")
    terminal.say("/why\n")
    terminal.wait_for(r"pipeline default, answered by rules[\s\S]*\[1\] docs/x-100.md[^\n]*dense")
    terminal.say("/pipeline nowhere\n")
    terminal.wait_for("nowhere")
    terminal.say("/pipeline dense\n")
    terminal.wait_for("pipeline dense\r")
    terminal.say(f"{QUESTION}\n")
    terminal.wait_for("pipeline dense · ")
    terminal.wait_for(PROMPT)
    terminal.say("\x03")
    terminal.wait_for("Ctrl-D ends the session", saying="\x03")
    terminal.wait_for(PROMPT)  # Before it the terminal itself would take Ctrl-D for the end of a line.
    terminal.say("\x04")
    assert terminal.process.wait(TIMEOUT_S) == 0
    assert QUESTION in (tmp_path / "kgrag" / "questions").read_text()


def test_a_question_that_fails_does_not_end_the_others(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"id": "a", "question": QUESTION},
        {"id": "b", "question": " "},
        {"id": 3, "question": "What does the X-100 need?"},
    ]
    (folder / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run(["ask", "--questions", "q.jsonl", "--json"]) == 1
    printed = capsys.readouterr()
    lines = [json.loads(line) for line in printed.out.splitlines()]
    assert [line["id"] for line in lines] == ["a", "b", 3]
    assert "0.5 mA" in lines[0]["text"] and "empty" in lines[1]["error"] and "3.3 V" in lines[2]["text"]
    assert "1 of 3 questions failed" in printed.err


def test_questions_may_be_plain_lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "q.txt").write_text(f"{QUESTION}\n\nWhat does the X-100 need?\n")
    assert run(["ask", "--questions", "q.txt"]) == 0
    out = capsys.readouterr().out
    assert out.index(QUESTION) < out.index("0.5 mA") < out.index("What does the X-100 need?") < out.index("3.3 V")


def test_without_question_and_terminal_it_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ask"]) == 2
    assert "--questions FILE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (["ask", "--questions", "some.jsonl", "--report", "docs/a-folder.md"], "docs/a-folder.md: Is a directory"),
        (
            ["retrieve", "--questions", "some.jsonl", "--out", "none/out.jsonl"],
            "none/out.jsonl: No such file or directory",
        ),
        (
            ["compare", "--questions", "some.jsonl", "--out", "some.jsonl", "--pipelines", "default"],
            "some.jsonl: File exists",
        ),
    ],
)
def test_a_place_that_cannot_be_written_to_is_said_before_the_first_answer(
    arguments: list[str], place: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "docs/a-folder.md").mkdir(exist_ok=True)
    (folder / "some.jsonl").write_text(json.dumps({"id": "1", "question": QUESTION, "gold_facts": ["0.5 mA"]}) + "\n")
    assert run(arguments) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.splitlines()[-1].startswith(f"Error: {place}")


@pytest.mark.parametrize(
    ("question", "gate", "calls"),
    [
        ("How do I bake bread?", "0.5", 0),
        ("What is the standby current of the X-900?", "0.5", 0),
        ("How do I bake bread?", "0", 1),
        (QUESTION, "0.5", 1),
    ],
)
def test_behind_a_gate_a_model_is_asked_only_what_the_passages_probably_answer(
    question: str, gate: str, calls: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    reply = {"quotes": [], "answered": True, "answer": "The standby current of the X-100 is 0.5 mA [passage 1]."}
    with ModelServer(lambda request: reply) as server:
        model = ("--model", "openai:any", "--base-url", server.url, "--model-cache", "off")
        assert run(["ask", question, *model, "--gate", gate, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert len(server.requests) == answer["usage"]["calls"] == calls
    assert (answer["abstained"], bool(answer["citations"])) == (calls == 0, calls == 1)
    assert ("openai:any was not asked: the passages answer with a probability of 0.0" in str(answer["notes"])) == (
        calls == 0
    )


NEAR = "How many milliamps drain the battery of the X-100?"
NEAREST = """Nearest in the documents, which may not answer it:
- X-100 board: In standby the X-100 draws 0.5 mA. [1]

[1] docs/x-100.md, X-100 board > Standby
"""


@pytest.mark.parametrize("by_model", [False, True])
def test_an_abstention_shows_what_is_nearest_with_its_source(
    by_model: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    reply = {"quotes": [], "answered": False, "answer": "The passages do not say it."}
    with ModelServer(lambda request: reply) as server:
        model = ("--model", "openai:any", "--base-url", server.url, "--model-cache", "off") if by_model else ()
        assert run(["ask", NEAR, *model]) == 0
        assert capsys.readouterr().out.endswith(NEAREST)
        assert run(["ask", NEAR, *model, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["abstained"] and answer["citations"] == [] and "0.5 mA" not in answer["text"]
    assert [one["citation"]["quote"] for one in answer["nearest"]] == ["In standby the X-100 draws 0.5 mA."]


def test_a_questionnaire_is_filled_in_and_written_as_a_table_to_check(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    (folder / "sheet.CSV").write_text(
        "id,question,form,explanation,owner\n"
        f'q1,"{QUESTION}",number,"Asleep, that is.",Ada\n'
        "q2,How much does the X-100 cost?,,,Ada\n"
        ",,,,nobody\n"
        'q3,"Does the X-100 | need 3.3 V?",yes/no,,\n'
    )

    def reply(request: ModelRequest) -> dict[str, object]:
        said = {"reasoning": "It stands there.", "quotes": [], "answered": True}
        if "cost" in request.last:
            return {**said, "answered": False, "answer": "No passage says it."}
        if "3.3 V?" in request.last:
            return {**said, "answer": "=It needs 3.3 V [passage 1]."}
        return {**said, "answer": "The standby current of the X-100 is 0.5 mA [passage 1]."}

    with ModelServer(reply) as server:
        model = ("--model", "openai:any", "--base-url", server.url, "--model-cache", "off", "--answer-prompt", "steps")
        for report in ("report.csv", "report.md"):
            assert run(["ask", "--questions", "sheet.CSV", "--report", report, *model]) == 0
    assert "sheet.CSV: left out, as they have no question: rows 3." in capsys.readouterr().err.replace("\n", " ")
    first, _, third = (request.last for request in server.requests[:3])
    assert f"{QUESTION}\nWhat is meant: Asleep, that is.\nGive the answer in this form: number" in first
    assert "Give the answer in this form: yes/no" in third
    rows = list(csv.DictReader((folder / "report.csv").open(encoding="utf-8", newline="")))
    assert [(row["id"], row["form"], row["status"], row["checked"]) for row in rows] == [
        ("q1", "number", "answered", ""),
        ("q2", "", "not mentioned", ""),
        ("q3", "yes/no", "answered", ""),
    ]
    assert "0.5 mA" in rows[0]["answer"] and rows[0]["reasoning"] == "It stands there."
    assert rows[0]["sources"].startswith("[1] docs/x-100.md")
    assert rows[1]["sources"] == "searched: docs/x-100.md"
    assert "Not mentioned in any of the 1 documents: cost." in rows[1]["answer"]
    assert rows[2]["answer"].startswith("'=It needs 3.3 V")
    assert "It has no yes or no at its beginning" in rows[2]["notes"]
    lines = (folder / "report.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2 + 3 and all(len(re.findall(r"(?<!\\)\|", line)) == 10 for line in lines)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--report", "r.csv", QUESTION], "--questions FILE"),
        (["--report", "r.txt", "--questions", "q.txt"], "ends in .csv or .md"),
        (["--report", "nowhere/r.md", "--questions", "q.txt"], "there is no folder nowhere"),
        (["--questions", "bad.csv"], "a column `question`, got a, b"),
    ],
)
def test_a_report_or_a_sheet_that_cannot_be_is_said_in_one_line(
    folder: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad.csv").write_text("a,b\n1,2\n")
    assert run(["ask", *arguments]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_what_no_document_mentions_is_told_from_what_none_answers(capsys: pytest.CaptureFixture[str]) -> None:
    answers = {}
    for question in ("What is the warranty of the X-100?", "Who needs boards?", QUESTION):
        assert run(["ask", question, "--json"]) == 0
        answers[question] = json.loads(capsys.readouterr().out)
    silent, mentioned, answered = answers.values()
    assert silent["abstained"]
    assert silent["silence"] == {"terms": ["warranty"], "documents": ["docs/x-100.md"], "count": 1}
    assert silent["text"].endswith("Not mentioned in any of the 1 documents: warranty.")
    assert mentioned["silence"] is None and "Not mentioned" not in mentioned["text"]
    assert answered["silence"] is None and not answered["abstained"]


def test_a_closed_stdin_is_an_empty_one() -> None:
    command = f"{shlex.quote(sys.executable)} -m kgrag ask <&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Expected a question, --questions FILE" in " ".join(done.stderr.split())


def test_what_looks_like_html_is_text_in_a_questionnaire_of_markdown(folder: Path) -> None:
    (folder / "html.txt").write_text("Does the X-100 have a vector<int> or an <img src=x onerror=alert(1)>?\n")
    assert run(["ask", "--questions", "html.txt", "--report", "html.md"]) == 0
    row = (folder / "html.md").read_text(encoding="utf-8").splitlines()[-1]
    assert "a vector&lt;int> or an &lt;img src=x" in row
    assert re.findall(r"<(?!br>)", row) == []


def test_an_interrupted_report_says_which_questions_were_not_asked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    (folder / "three.txt").write_text(f"{QUESTION}\n{QUESTION} Say it.\n{QUESTION} Again.\n")

    def reply(request: ModelRequest) -> dict[str, object]:
        if "Say it" in request.last:
            signal.raise_signal(signal.SIGINT)
        said = {"reasoning": "It stands there.", "quotes": [], "answered": True}
        return {**said, "answer": "The standby current of the X-100 is 0.5 mA [passage 1]."}

    with ModelServer(reply) as server:
        model = ("--model", "openai:any", "--base-url", server.url, "--model-cache", "off", "--answer-prompt", "steps")
        assert run(["ask", "--questions", "three.txt", "--report", "three.csv", *model]) == 130
    assert "1 of 3 questions were asked" in " ".join(capsys.readouterr().err.split())
    rows = list(csv.DictReader((folder / "three.csv").open(encoding="utf-8", newline="")))
    assert [row["status"] for row in rows] == ["answered", "not asked", "not asked"]


def test_evidence_of_an_interrupted_command_does_not_look_whole(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    asked = [f'{{"id": {number}, "question": "{QUESTION} {number}"}}\n' for number in range(3)]
    (folder / "three.jsonl").write_text("".join(asked))
    interrupting = True

    def reply(request: ModelRequest) -> str:
        if interrupting and f"{QUESTION} 1" in request.last:
            signal.raise_signal(signal.SIGINT)
        return QUESTION

    command = ["retrieve", "--questions", "three.jsonl", "--out", "evidence.jsonl", "--pipeline", "RAG_Advanced_Dense"]
    with ModelServer(reply) as server:
        command += ["--model", "openai:any", "--base-url", server.url]
        assert run(command) == 130
        said = " ".join(capsys.readouterr().err.split())
        assert "evidence.jsonl was not written: 1 of 3 lines are in" in said and "evidence.jsonl.part" in said
        assert not (folder / "evidence.jsonl").exists()
        assert len((folder / "evidence.jsonl.part").read_text().splitlines()) == 1
        interrupting = False
        assert run(command) == 0
    assert len((folder / "evidence.jsonl").read_text().splitlines()) == 3
    assert not (folder / "evidence.jsonl.part").exists()
