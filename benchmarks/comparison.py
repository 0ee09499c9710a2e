"""The main measurement: the fifteen pipelines of the thesis, `default` and `adaptive` on the 160 Arduino questions, killed and resumed.

    python -m benchmarks.comparison --out FOLDER [--store embedded|neo4j] [--kills 2] [--questions 160] [--seed 1]

Builds the Arduino chunks of `--data` with the graph of mentions and its communities, writes the 160 questions with their gold facts
(where `evidence.jsonl` has them) as a question file, learns the map of `adaptive` on another corpus (the 61 questions on the sample
documents), and runs `kgrag compare` with `rules` in both roles in a process of its own. So many times it is killed (SIGKILL, the whole
group of processes) once it has kept a random number of answers and judgements; the last run goes on to its end, and `kgrag report` writes
the page into FOLDER. Prints how many answers and judgements each run found and left, processor time and peak memory of each process, and
the means of the main measures.

Nothing that a killed run had kept may be made again: exits with 1 where something was. With `--go-on` it goes on with a run that it was
itself stopped in.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import DATA
from benchmarks.processes import peak_memory_mb
from benchmarks.retrieval_quality import SETS, read_rows
from benchmarks.stores import fresh_store
from benchmarks.tables import print_table
from kgrag.evaluate.judge.presets import load_preset
from kgrag.evaluate.runs import Run
from kgrag.evaluate.summary import summarise
from kgrag.retrieve import listed_pipelines

PIPELINES = "default,RAG_*,SimpleKG_*,LLMGraph_*,LlamaIndex_*"
SAMPLE = Path(__file__).resolve().parents[1] / "examples"
ANSWERABLE = {"full": "full", "partial": "partial", "no": "none"}
MEASURES = (
    "nuggets",
    "right",
    "evidence nuggets",
    "right abstention",
    "citation precision",
    "evidence tokens",
    "seconds",
)
LOOK_EVERY_S = 2.0


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that came to its end or was killed."""

    killed: bool
    code: int
    seconds: float
    cpu_s: float
    peak_mb: float


def run_kgrag(arguments: Sequence[str], *, kill_when: Callable[[], bool] | None = None) -> Ended:
    """Run a kgrag command in a group of processes of its own; kill the group when it is time. Memory and time are its own."""
    started = looked = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", "from kgrag.cli import main; main()", *arguments], start_new_session=True
    )
    killed = False
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if kill_when is not None and not killed and time.perf_counter() - looked > LOOK_EVERY_S:
            looked = time.perf_counter()
            if kill_when():
                os.killpg(process.pid, signal.SIGKILL)
                killed = True
        time.sleep(0.2)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Ended(
        killed,
        process.returncode,
        time.perf_counter() - started,
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss / 1024,
    )


def write_questions(data: Path, file: Path, *, most: int) -> None:
    """Write the Arduino questions as `kgrag compare` reads them, with gold facts and answerability where somebody wrote them down."""
    gold = {row["id"]: row for row in read_rows(data / "arduino" / "evidence.jsonl")}
    with file.open("w", encoding="utf-8") as out:
        for row in list(read_rows(data / "arduino" / "questions.jsonl"))[:most]:
            known: dict[str, Any] = dict(row)
            if (evidence := gold.get(row["id"])) is not None:
                facts = [fact for fact in evidence["facts"] if fact["evidence"]]
                known |= {"answerable": ANSWERABLE[evidence["answerable"]]}
                if facts:
                    known |= {
                        "gold_facts": [fact["fact"] for fact in facts],
                        "facts": [fact["evidence"] for fact in facts],
                    }
            out.write(json.dumps(known, ensure_ascii=False) + "\n")


def prepare(store: str, graph_of: Sequence[str]) -> None:
    """Build a store and its communities; where that was done, little is done again."""
    for command in (["build", *graph_of, "--store", store], ["communities", "--store", store]):
        ended = run_kgrag(command)
        if ended.code:
            sys.exit(f"kgrag {' '.join(command)} ended with exit code {ended.code}")


def learn_adaptive(folder: Path) -> Path:
    """Learn the map of `adaptive` from the questions on the sample documents, a corpus that it is not measured on."""
    file = folder / "adaptive.toml"
    if not file.is_file():
        store = str(folder / "sample.kg")
        prepare(store, [str(SAMPLE / "documents")])
        command = ["bench", "retrieval", "--store", store, "--questions", str(SAMPLE / "questions.jsonl")]
        ended = run_kgrag([*command, "--pipelines", PIPELINES, "--learn", str(file)])
        if ended.code:
            sys.exit(f"kgrag bench retrieval ended with exit code {ended.code}")
    return file


def kept(run: Path) -> dict[tuple[str, ...], str]:
    """Return a digest of each answer and of each judgement that a run has, by table and key."""
    return {
        (table, *key): hashlib.sha256(body.encode()).hexdigest()
        for table, columns in (("answers", "key"), ("judgements", "key, judge"))
        for *key, body in _rows(run, f"SELECT {columns}, body FROM {table}")
    }


def has_kept(run: Path, wanted: int) -> bool:
    """Whether a run has so many answers and judgements together."""
    counts = [_rows(run, f"SELECT count(*) FROM {table}") for table in ("answers", "judgements")]
    return sum(int(count) for rows in counts for (count,) in rows) >= wanted


def _rows(run: Path, statement: str) -> list[tuple[Any, ...]]:
    file = run / "run.sqlite"
    if not file.is_file():
        return []
    with closing(sqlite3.connect(file, timeout=30.0)) as database:
        try:
            return database.execute(statement).fetchall()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):  # the run's first moment
                return []
            raise


def main() -> int:
    """Print what each run did, and the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--store", choices=("embedded", "neo4j"), default="embedded")
    parser.add_argument("--stores", type=Path, help="where built stores and the learnt map stay; default: OUT")
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--go-on", action="store_true", help="keep what a run that was stopped has done")
    parser.add_argument("--questions", type=int, default=160)
    parser.add_argument("--pipelines", default=PIPELINES)
    parser.add_argument(
        "--against", type=Path, help="the folder of another such run, to compare answers and scores with"
    )
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if not (arguments.data / "arduino").is_dir():
        print(f"{arguments.data / 'arduino'} is not there: skipped.")
        return 0
    stores = arguments.stores or arguments.out
    arguments.out.mkdir(parents=True, exist_ok=True)
    stores.mkdir(parents=True, exist_ok=True)
    corpus = next(one for one in SETS if one.name == "arduino").corpus(arguments.data, stores)
    adaptive = learn_adaptive(stores)
    questions = arguments.out / "questions.jsonl"
    write_questions(arguments.data, questions, most=arguments.questions)
    if arguments.store == "embedded":
        return measure(str(stores / "arduino.kg"), corpus, questions, adaptive, arguments)
    with fresh_store("neo4j") as fresh:
        return measure(fresh.target, corpus, questions, adaptive, arguments, server_pid=fresh.server_pid)


def measure(
    store: str,
    corpus: Path,
    questions: Path,
    adaptive: Path,
    arguments: argparse.Namespace,
    *,
    server_pid: int | None = None,
) -> int:
    """Compare, kill, resume, report."""
    prepare(store, [str(corpus)])
    run = arguments.out / "run"
    if not arguments.go_on:
        shutil.rmtree(run, ignore_errors=True)
    pipelines = f"{arguments.pipelines},{adaptive}"
    command = ["compare", "--store", store, "--questions", str(questions), "--pipelines", pipelines, "--out", str(run)]
    cells = arguments.questions * len(listed_pipelines(pipelines))
    there = kept(run)
    # Each cell is an answer and a judgement.
    drawn = random.Random(arguments.seed).sample(range(1, 2 * cells), arguments.kills)
    moments = sorted(moment for moment in drawn if moment > len(there))
    rows = []
    for number in range(len(moments) + 1):
        moment = moments[number] if number < len(moments) else None
        ended = run_kgrag(command, kill_when=None if moment is None else partial(has_kept, run, moment))
        now = kept(run)
        made_again = sum(now.get(key) != digest for key, digest in there.items())
        answers, judgements = (
            [sum(table == name for table, *_ in one) for one in (there, now)] for name in ("answers", "judgements")
        )
        rows.append(
            [
                "killed" if ended.killed else f"ended with {ended.code}",
                f"{ended.seconds:.0f}",
                f"{ended.cpu_s:.0f}",
                f"{ended.peak_mb:,.0f}",
                *(f"{before:,} to {after:,}" for before, after in (answers, judgements)),
                str(made_again),
            ]
        )
        print(*rows[-1], sep=", ", flush=True)
        there = now
        if not ended.killed:
            break
    if server_pid is not None:
        rows.append(["Neo4j's server", "", "", f"{peak_memory_mb(server_pid):,.0f}", "", "", ""])
    columns = ["run", "s", "s of CPU", "peak MB", "answers", "judgements", "made again"]
    print_table(f"kgrag compare, {arguments.store}", columns, rows, [])
    run_kgrag(["report", str(run)])
    print_figures(run, arguments.store)
    if arguments.against is not None:
        print_differences(run, arguments.against / "run")
    return 0 if all(row[-1] in ("0", "") for row in rows) and ended.code == 0 else 1


def print_figures(run: Path, kind: str) -> None:
    """Print the means of the main measures."""
    with Run(run) as opened:
        summary = summarise(opened, preset=load_preset(opened.settings.preset))
    rows = []
    for pipeline in summary.pipelines:
        cells = []
        for measure in MEASURES:
            one = summary.interval(pipeline, measure)
            cells.append("" if one is None else f"{one.value:.3f}")
        interval = summary.interval(pipeline, summary.main)
        between = "" if interval is None else f"[{interval.low:.2f}, {interval.high:.2f}]"
        rows.append([Path(pipeline).stem, between, *cells])
    print_table(f"Means, {kind}", ["pipeline", f"{summary.main}, 95 %", *MEASURES], rows, [])


def print_differences(run: Path, other: Path) -> None:
    """Say in how many cells two runs have other evidence, another answer, other scores."""
    counted, means = Counter[str](), list[list[str]]()
    with Run(run) as ours, Run(other) as theirs:
        for mine, his in zip(ours.results(), theirs.results(), strict=True):
            if (mine.cell.question, mine.cell.pipeline) != (his.cell.question, his.cell.pipeline):
                sys.exit(f"{other}: expected the same questions and pipelines as {run}")
            if mine.answer is None or his.answer is None or mine.judgement is None or his.judgement is None:
                counted["not in both"] += 1
                continue
            counted["cells"] += 1
            shown = [
                [piece.chunk_id or piece.text for piece in one.answer.evidence] for one in (mine, his) if one.answer
            ]
            counted["other evidence"] += shown[0] != shown[1]
            counted["the same evidence in another order"] += shown[0] != shown[1] and sorted(shown[0]) == sorted(
                shown[1]
            )
            counted["another answer"] += mine.answer.text != his.answer.text
            counted["another judgement"] += mine.judgement != his.judgement
        pair = [summarise(one, preset=load_preset(one.settings.preset)) for one in (ours, theirs)]
    for pipeline in pair[0].pipelines:
        cells = []
        for measure in MEASURES[:4]:
            here, there = (summary.mean(pipeline, measure) for summary in pair)
            cells.append("" if here is None or there is None else f"{here - there:+.4f}")
        means.append([Path(pipeline).stem, *cells])
    notes = [f"{name}: {count}" for name, count in counted.items()]
    print_table(f"{run} less {other}", ["pipeline", *MEASURES[:4]], means, notes)


if __name__ == "__main__":
    sys.exit(main())
