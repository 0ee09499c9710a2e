"""A comparison's run: resumed, judged anew, accounted for; and its report."""

import asyncio
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from kgrag.cli import run as command_line
from kgrag.errors import InputError, ModelReplyError, ModelUnavailable
from kgrag.evaluate.answer_table import COLUMNS, write_answers
from kgrag.evaluate.figures_table import write_figures
from kgrag.evaluate.gold_questions import GoldQuestion
from kgrag.evaluate.judge.calibration import agreement
from kgrag.evaluate.judge.judgement import Judgement
from kgrag.evaluate.judge.judges import RulesJudge
from kgrag.evaluate.judge.presets import load_preset
from kgrag.evaluate.report import answer_in_three_sentences, threats, write_csv, write_html, write_markdown
from kgrag.evaluate.runs import Run, RunSettings
from kgrag.evaluate.statistics import rate_interval
from kgrag.evaluate.summary import ALL, summarise
from kgrag.jobs.compare import compare, dollars
from kgrag.jobs.compare_outlook import outlook
from kgrag.jobs.comparison import Asking, CompareOptions, Comparison
from kgrag.jobs.pairs import compare_pairs
from kgrag.models.prices import load_prices
from kgrag.settings import load_settings
from kgrag.testing import HashingEmbedder, ScriptedChatModel
from kgrag.types import Answer, Citation, Evidence, Usage

PRESET = load_preset("strict")
QUESTIONS = [
    GoldQuestion(
        id=f"q{n}",
        question=f"What does part {n} draw?",
        facts=(frozenset({f"doc{n % 4}.pdf#page=1"}),),
        query_type="factual" if n % 2 else "summary",
        references=(f"It draws {n}5 mA in standby.",),
        answerable=True,
    )
    for n in range(1, 13)
]


def settings(**changes) -> RunSettings:
    known = {
        "questions_file": "questions.jsonl",
        "store": "s",
        "corpus": "c",
        "embedder": "e",
        "model": "rules",
        "judge": "rules",
        "judge_fingerprint": RulesJudge().fingerprint,
        "preset": "strict",
        "template": "t",
        "pipelines": ("good", "bad"),
        "baseline": "bad",
    }
    return RunSettings(**{**known, **changes})


def answering(said: str, *, counted: list[str] | None = None, fail: dict[str, Exception] | None = None):
    async def ask(asked: GoldQuestion) -> Answer:
        question = asked.question
        if fail and question in fail:
            raise fail[question]
        if counted is not None:
            counted.append(question)
        number = re.search(r"\d+", question)[0]
        text = f"Part {number} draws {number}5 mA in standby. <b>&"
        piece = Evidence(
            chunk_id=f"c{number}", source_id="s", document="a.pdf", page_start=3, text=text, tokens=9, score=1.0
        )
        return Answer(
            question=question,
            text=said.format(n=number),
            citations=(Citation(number=1, chunk_id=piece.chunk_id, document="a.pdf", page_start=3),),
            model="rules",
            pipeline="p",
            evidence=(piece,),
            seconds=0.01,
        )

    return ask


def askings(counted=None, fail=None):
    return [
        Asking("good", "1", answering("It draws {n}5 mA in standby [1].", counted=counted, fail=fail)),
        Asking("bad", "1", answering("It draws nothing <script>alert(1)</script> [1].", counted=counted)),
    ]


def run_it(folder: Path, *, chosen=None, with_=None, judge=None, questions=QUESTIONS):
    prepared = Comparison(chosen or settings(), questions, with_ or askings(), judge or RulesJudge())
    with Run(folder, create=True) as run:
        return asyncio.run(compare(run, prepared, concurrency=3))


def test_the_same_comparison_again_asks_and_judges_nothing(tmp_path):
    counted: list[str] = []
    first = run_it(tmp_path, with_=askings(counted))
    assert (first.cells, first.answered, first.judged, first.complete) == (24, 24, 24, True)
    again = run_it(tmp_path, with_=askings(counted))
    assert (again.answered, again.judged, len(counted)) == (0, 0, 24)


@pytest.mark.parametrize("change", ["corpus", "embedder", "model", "template", "budget", "top"])
def test_whatever_can_change_an_answer_is_in_a_cells_key(change):
    value = 5 if change in ("budget", "top") else "other"
    ours, theirs = (
        {cell.key for cell in Comparison(one, QUESTIONS, askings(), RulesJudge()).cells}
        for one in (settings(), settings(**{change: value}))
    )
    assert not ours & theirs
    reworded = [GoldQuestion(id=one.id, question=one.question + " Why?", facts=()) for one in QUESTIONS]
    assert not ours & {cell.key for cell in Comparison(settings(), reworded, askings(), RulesJudge()).cells}
    without = [GoldQuestion(id=one.id, question=one.question, facts=(), hidden=frozenset({"c"})) for one in QUESTIONS]
    assert not ours & {cell.key for cell in Comparison(settings(), without, askings(), RulesJudge()).cells}
    renamed = [Asking(one.pipeline, "2", one.ask) for one in askings()]
    assert not ours & {cell.key for cell in Comparison(settings(), QUESTIONS, renamed, RulesJudge()).cells}


def test_another_judge_costs_no_answer(tmp_path):
    counted: list[str] = []
    run_it(tmp_path, with_=askings(counted))

    class Other(RulesJudge):
        fingerprint = "other"

    report = run_it(tmp_path, chosen=settings(judge_fingerprint="other"), with_=askings(counted), judge=Other())
    assert (report.answered, report.judged, len(counted)) == (0, 24, 24)


def test_a_cell_that_fails_is_named_and_tried_again_and_no_zero(tmp_path):
    bad = QUESTIONS[0].question
    report = run_it(tmp_path, with_=askings(fail={bad: ModelReplyError("no JSON", reply="x")}))
    assert report.failed == [("good", "q1", "answer", "no JSON The reply was: 'x'")]
    with Run(tmp_path) as run:
        summary = summarise(run, preset=PRESET)
        assert summary.missing == {"good": 1, "bad": 0}
        assert summary.mean("good", "nuggets") == 1.0  # the failed answer is in no mean
    assert run_it(tmp_path).complete


def test_a_model_that_goes_away_ends_the_run_and_keeps_what_was_done(tmp_path):
    away = {QUESTIONS[7].question: ModelUnavailable("the endpoint is away")}
    with pytest.raises(ModelUnavailable, match="away"):
        run_it(tmp_path, with_=askings(fail=away))
    counted: list[str] = []
    report = run_it(tmp_path, with_=askings(counted))
    assert report.complete and 0 < len(counted) < 24


def run_again(folder: Path, judge, **changes):
    prepared = Comparison(settings(judge_fingerprint=judge.fingerprint), QUESTIONS, askings(), judge)
    with Run(folder, create=True) as run:
        return asyncio.run(compare(run, prepared, concurrency=3, **changes))


class Half:
    """Cannot rate the first time; judges the other part each time that it is asked for it."""

    name, fingerprint = "half", "half"

    def __init__(self):
        self.asked = []

    async def judge(self, asked):
        self.asked.append(asked.before)
        if asked.before is None:
            return Judgement(judge="half", relevance=(0.5,), failures={"rating": "expected JSON"})
        return asked.before.model_copy(update={"rating": 4, "failures": {}})


def test_parts_that_are_missing_are_asked_for_again_on_request_and_no_others(tmp_path):
    judge = Half()
    report = run_again(tmp_path, judge)
    assert report.parts_missing == 24 and not report.complete
    assert run_again(tmp_path, judge).judged == 0 and len(judge.asked) == 24
    again = run_again(tmp_path, judge, rejudge="failed")
    assert (again.judged, again.answered, again.complete) == (24, 0, True)
    assert all(before is not None and before.relevance == (0.5,) for before in judge.asked[24:])
    assert run_again(tmp_path, judge, rejudge="failed").judged == 0


def test_everything_is_judged_anew_on_request_and_nothing_asked(tmp_path):
    counted: list[str] = []
    run_it(tmp_path, with_=askings(counted))
    prepared = Comparison(settings(), QUESTIONS, askings(counted), RulesJudge())
    with Run(tmp_path, create=True) as run:
        report = asyncio.run(compare(run, prepared, concurrency=3, rejudge="all"))
    assert (report.answered, report.judged, len(counted)) == (0, 24, 24)


class Wavering:
    """Says something else each time: 4 of 5, then 2."""

    name, fingerprint = "wavering", "wavering"

    def __init__(self):
        self.times = Counter()

    async def judge(self, asked):
        said = asked.question.id, asked.answer.text
        self.times[said] += 1
        rating = 4 if self.times[said] == 1 else 2
        return Judgement(judge="wavering", rating=rating, statements=("yes",))


def test_several_judgements_of_an_answer_are_averaged_and_their_spread_is_told(tmp_path):
    chosen = settings(judge_fingerprint="wavering", judge_repeats=2, judge="openai:x")
    report = run_it(tmp_path, chosen=chosen, judge=Wavering())
    assert (report.answered, report.judged, report.complete) == (24, 48, True)
    with Run(tmp_path) as run:
        summary = summarise(run, preset=PRESET)
        assert summary.mean("good", "helpfulness") == pytest.approx(0.5)  # of (4 - 1) / 4 and (2 - 1) / 4
        assert summary.judge_spread["helpfulness"] == pytest.approx(0.25)
        write_html(run, tmp_path / "report.html", summary=summary)
    assert "How much the judge varies" in (tmp_path / "report.html").read_text()


def test_the_outlook_counts_what_is_missing_and_calls_nothing(tmp_path):
    hosted = settings(model="openai:gpt-4o-mini", judge="openai:gpt-4o-mini", judge_repeats=2)
    prices = load_prices()
    before = outlook(None, Comparison(hosted, QUESTIONS, askings(), RulesJudge()), prices=prices)
    assert (before.answers, before.judgements, before.calls, before.measured) == (24, 48, 24 + 48 * 8, False)
    price = prices.of("openai:gpt-4o-mini")
    expected = Usage(prompt_tokens=before.prompt_tokens, completion_tokens=before.completion_tokens)
    assert before.cost == pytest.approx(price.of(expected), abs=1e-4) and before.cost > 0
    unknown = settings(model="openai:nobody-knows", judge="rules")
    assert outlook(None, Comparison(unknown, QUESTIONS, askings(), RulesJudge()), prices=prices).cost is None
    run_it(tmp_path)
    with Run(tmp_path) as run:
        after = outlook(run, Comparison(settings(), QUESTIONS, askings(), RulesJudge()), prices=prices)
    assert (after.answers, after.judgements, after.calls, after.cost) == (0, 0, 0, 0.0)


def test_pipelines_take_turns_at_being_first(tmp_path):
    order: list[str] = []

    def noting(name):
        async def ask(question):
            order.append(name)
            return await answering("x")(question)

        return Asking(name, "1", ask)

    run_it(tmp_path, with_=[noting("good"), noting("bad")])
    assert order[:4] == ["good", "bad", "bad", "good"] and order.count("good") == order.count("bad") == 12


KILLED = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_runs import *
async def slow(question):
    await asyncio.sleep(0.02)
    print("asked", flush=True)
    return await answering("It draws {{n}}5 mA.")(question)
print("started", flush=True)
with Run(Path({folder!r}), create=True) as run:
    both = [Asking("good", "1", slow), Asking("bad", "1", slow)]
    asyncio.run(compare(run, Comparison(settings(), QUESTIONS, both, RulesJudge()), concurrency=1))
"""


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    script = KILLED.format(tests=str(Path(__file__).parent), folder=str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    for _ in range(5):  # "started", and four questions: at least three answers are kept
        assert process.stdout.readline()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with Run(tmp_path) as run:
        kept = len(run.answered())
    assert 3 <= kept < 24
    counted: list[str] = []
    assert run_it(tmp_path, with_=askings(counted)).complete
    assert len(counted) == 24 - kept


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no run\.sqlite"):
        Run(tmp_path)
    (tmp_path / "run.sqlite").write_text("not a database")
    with pytest.raises(InputError, match="kgrag compare"):
        Run(tmp_path)


def test_the_better_pipeline_is_decided_and_said_first(tmp_path):
    run_it(tmp_path)
    with Run(tmp_path) as run:
        summary = summarise(run, preset=PRESET)
        assert summary.main == "nuggets" and summary.types == ("factual", "summary")
        assert summary.comparisons["good", ALL].difference.value == 1.0
        assert summary.counts("good").tp == 12 and summary.counts("bad").tp == 0
        first = answer_in_three_sentences(summary)[0]
        assert first.startswith("Take good: over all questions it is better than bad (nuggets 1.00 [")
        assert first.count("good") == 1  # nothing is said twice
        unfinished = replace(summary, missing={"good": 0, "bad": 3})
        assert answer_in_three_sentences(unfinished)[0].startswith("Not finished: 3 answers are missing or not judged")
        assert {row.cluster for row in summary.rows["good"]} == {f"doc{n}.pdf" for n in range(4)}


def test_equal_pipelines_are_not_decided_and_that_is_said_in_words(tmp_path):
    same = answering("It draws {n}5 mA [1].")
    run_it(tmp_path, with_=[Asking("good", "1", same), Asking("bad", "2", same)])
    with Run(tmp_path) as run:
        first, second, _ = answer_in_three_sentences(summarise(run, preset=PRESET))
    assert first.startswith("No pipeline is shown to be better than bad") and "no difference" in first
    assert "no single type" in second


def test_a_baseline_that_is_best_is_said_once(tmp_path):
    run_it(tmp_path, chosen=settings(baseline="good"))
    with Run(tmp_path) as run:
        first, *_ = answer_in_three_sentences(summarise(run, preset=PRESET))
    assert first == (
        "No pipeline is shown to be better than good over all questions by nuggets: the baseline has the best mean (1.00 [0.76, 1.00])."
    )


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


@pytest.fixture
def report(tmp_path) -> Path:
    run_it(tmp_path / "run")
    out = tmp_path / "report.html"
    with Run(tmp_path / "run") as run:
        write_html(run, out, summary=summarise(run, preset=PRESET))
    return out


def test_the_report_is_one_file_that_needs_nothing_from_elsewhere(report):
    text = report.read_text("utf-8")
    page = Page()
    page.feed(text)
    loaded = [
        value
        for _, attrs in page.tags
        for name, value in attrs.items()
        if name in ("src", "xlink:href", "href") and value
    ]
    assert [one for one in loaded if not one.startswith("#")] == []
    assert "<script>alert" not in text and "&lt;script&gt;alert" in text  # an answer is data
    assert sum(tag == "svg" for tag, _ in page.tags) == 4
    assert text.count('class="question"') == 12 and "&lt;b&gt;&amp;" in text
    assert "Take good" in text and "could show" in text
    assert "lost in retrieval + in answering" in text and "0.00 + 0.00" in text
    assert "made by templates" not in text and "All questions are about 4 documents" in text


def test_the_report_says_which_questions_were_made(tmp_path):
    run_it(tmp_path, questions=[replace(one, synthetic=True) for one in QUESTIONS])
    with Run(tmp_path) as run:
        summary = summarise(run, preset=PRESET)
        write_markdown(run, tmp_path / "report.md", summary=summary)
    text = (tmp_path / "report.md").read_text()
    assert "12 of 12 questions are made by templates" in text and "| good | 0.00 + 0.00 |" in text


def test_the_report_opens_in_a_browser(report, tmp_path):
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs chromium")
    quiet = ["gpu", "quic", "background-networking", "component-update", "sync"]
    flags = ["--headless", "--no-sandbox", "--no-first-run", *(f"--disable-{one}" for one in quiet)]
    flags.append(f"--user-data-dir={tmp_path / 'profile'}")
    done = subprocess.run(
        [chromium, *flags, "--dump-dom", report.as_uri()], capture_output=True, text=True, timeout=300
    )
    assert "<button>pipeline</button>" in done.stdout  # the page's own script ran


def test_markdown_and_csv_have_the_same_figures(tmp_path):
    run_it(tmp_path / "run")
    with Run(tmp_path / "run") as run:
        summary = summarise(run, preset=PRESET)
        write_markdown(run, tmp_path / "r.md", summary=summary)
        write_csv(tmp_path / "r.csv", summary=summary)
    assert "| good | 1.00 [0.76, 1.00] |" in (tmp_path / "r.md").read_text("utf-8")
    lines = (tmp_path / "r.csv").read_text("utf-8").splitlines()
    assert len(lines) == 25 and lines[0].startswith("pipeline,question,query_type,category,right,nuggets")
    assert json.dumps(lines[1]).count("good") == 1


def test_every_figure_is_a_row_with_what_a_table_needs(tmp_path):
    run_it(tmp_path / "run")
    out = tmp_path / "figures.csv"
    with Run(tmp_path / "run") as run:
        summary = summarise(run, preset=PRESET)
        write_figures(out, summary=summary)
        write_markdown(run, tmp_path / "r.md", summary=summary)
    with out.open(encoding="utf-8", newline="") as file:
        rows = {(row["pipeline"], row["query_type"], row["measure"]): row for row in csv.DictReader(file)}
    whole, part = rows["good", "all", "nuggets"], rows["good", "summary", "nuggets"]
    assert (whole["n"], part["n"], whole["mean"], whole["difference"]) == ("12", "6", "1", "1")
    one = summary.comparisons["good", ALL]
    assert (whole["test"], float(whole["p"])) == (one.test, pytest.approx(one.p, rel=1e-5))
    assert float(whole["p_holm"]) == pytest.approx(summary.holm["good", ALL], rel=1e-5)
    assert rows["bad", "all", "nuggets"]["difference"] == rows["good", "all", "answer words"]["p"] == ""
    assert "Questions with a score: all 12 of 12, factual 6 of 6, summary 6 of 6." in (tmp_path / "r.md").read_text(
        "utf-8"
    )


def test_every_answer_is_a_row_with_what_it_was_made_with_and_any_text_comes_back(tmp_path):
    said = '=1+1; he said: "3.3 V";\n\n- line | two\r\n[1]'
    wrong = {QUESTIONS[0].question: ModelReplyError('no; "really"')}
    odd = [Asking("good", "1", answering(said)), Asking("bad", "1", answering("No.", fail=wrong))]
    options = {"answer_prompt": "strict", "open_knowledge": False, "seed": 7, "temperature": 0.6}
    run_it(tmp_path, chosen=settings(model="openai:m", made_with=options, top=5), with_=odd)
    out = tmp_path / "answers.csv"
    for _ in range(2):  # written anew, not appended to
        with Run(tmp_path) as run:
            write_answers(run, out)
    rows = list(csv.DictReader(out.open(encoding="utf-8", newline="")))
    assert len(rows) == 2 * len(QUESTIONS)
    assert {tuple(row) for row in rows} == {COLUMNS}
    good = [row for row in rows if row["pipeline"] == "good"]
    assert {row["answer"] for row in good} == {f"'{said}"}
    assert {(row["model"], row["top"], row["corpus"]) for row in rows} == {("openai:m", "5", "c")}
    assert all(json.loads(row["made_with"]) == options for row in rows)
    assert all(json.loads(row["cited"]) == json.loads(row["found"]) == ["a.pdf, page 3"] for row in good)
    (failed,) = [row for row in rows if row["status"] == "failed"]
    assert failed["answer"] == "" and 'no; "really"' in failed["notes"]


def prepared(model, **changes):
    return Comparison.prepare(
        "q.jsonl",
        QUESTIONS,
        CompareOptions(pipelines=("dense",)),
        retrievers={},
        judge=RulesJudge(),
        corpus="c",
        embedder=HashingEmbedder(),
        model=ScriptedChatModel([]),
        settings=load_settings(model=model, **changes),
        prices=load_prices(),
    )


@pytest.mark.parametrize(
    "change",
    [
        *({"seed": 7}, {"temperature": 0.6}, {"max_completion_tokens": 99}, {"open_knowledge": True}),
        *({"answer_strict": True}, {"answer_gate": 0.4}, {"answer_chain": "refine"}, {"answer_prompt": Path("steps")}),
    ],
    ids=str,
)
def test_every_setting_of_answers_is_in_the_record_and_in_a_cells_key(change):
    before, after = prepared("openai:m"), prepared("openai:m", **change)
    assert not {cell.key for cell in before.cells} & {cell.key for cell in after.cells}
    ((name, value),) = change.items()
    recorded = after.settings.made_with.get(name.removeprefix("answer_"), after.settings.made_with.get(name))
    assert name == "max_completion_tokens" or str(recorded) == str(value)


def test_a_model_without_a_known_price_is_named_beside_what_was_paid(tmp_path):
    def unpriced(model):
        return prepared(model).settings.made_with["without_price"]

    assert (unpriced("openai:gpt-4o-mini"), unpriced("rules")) == (None, None)
    name = unpriced("openai:nobody-priced-it")
    assert name == "openai:nobody-priced-it"
    done = run_it(tmp_path, chosen=settings(made_with={"without_price": name}))
    assert done.without_price == name and name in dollars(0.0, without_price=done.without_price)
    with Run(tmp_path) as run:
        assert any(f"No price is known of {name}" in one for one in threats(run, summarise(run, preset=PRESET)))


def test_a_calibrated_judge_lets_the_report_correct_its_rates(tmp_path):
    run_it(tmp_path)
    with Run(tmp_path) as run:
        assert summarise(run, preset=PRESET).corrected("good") is None
        known = agreement(
            [1.0] * 10 + [0.0] * 10, [True] * 8 + [False] * 2 + [False] * 9 + [True]
        )  # q1 = 0.8, q0 = 0.9
        run.put_calibration(RulesJudge().fingerprint, "strict", known)
        summary = summarise(run, preset=PRESET)
        seen = summary.mean("bad", "right")
        assert seen == 0.0
        corrected = summary.corrected("good")
        assert corrected.value == pytest.approx(min(1.0, (1.0 + 0.9 - 1) / (0.8 + 0.9 - 1)))
        assert 0.0 <= corrected.low <= corrected.value <= corrected.high <= 1.0
        assert summarise(run, preset=load_preset("thesis")).calibration is None  # its categories are others
        write_html(run, tmp_path / "report.html", summary=summary)
        write_markdown(run, tmp_path / "report.md", summary=summary)
        write_html(run, tmp_path / "thesis.html", summary=summarise(run, preset=load_preset("thesis")))
    ours, thesis = ((tmp_path / name).read_text() for name in ("report.html", "thesis.html"))
    assert "(preset strict)" in ours and "kgrag report --preset thesis</code> counts" in ours
    assert "(preset thesis)" in thesis and "--preset thesis" not in thesis
    assert "found 8 of 10 right ones and 9 of 10 wrong ones" in (tmp_path / "report.html").read_text()
    assert "corrected for the judge's errors" in (tmp_path / "report.md").read_text()


def test_rates_have_wilsons_interval_and_abstentions_precision_and_recall(tmp_path):
    unanswerable = [replace(one, answerable=n % 3 != 0) for n, one in enumerate(QUESTIONS)]
    run_it(tmp_path, questions=unanswerable)
    with Run(tmp_path) as run:
        summary = summarise(run, preset=PRESET)
    assert summary.interval("good", "right abstention") == rate_interval(8, 12)
    precision, recall = summary.abstention("good")
    assert (precision.of, recall.hits, recall.of) == (0, 0, 4)


def test_a_pair_is_judged_in_both_orders_and_flips_are_counted(tmp_path):
    run_it(tmp_path)

    def prefers_milliamperes(messages):
        prompt = messages[-1].content
        if "part 3" in prompt:
            return '{"reason": "", "better": "first"}'
        if "part 4" in prompt:
            return "no verdict at all"
        first, second = prompt.partition("First answer:\n")[2].split("\n\nSecond answer:\n")
        return json.dumps({"reason": "", "better": "first" if "mA" in first else "second" if "mA" in second else "tie"})

    with Run(tmp_path) as run:
        model = ScriptedChatModel(prefers_milliamperes)
        found = asyncio.run(compare_pairs(run, "good", "bad", model=model, concurrency=4))
        assert (found.wins, found.ties, found.losses, found.flips) == (10, 1, 0, 1)
        assert set(found.failed) == {"q4"} and "1 of 11 verdicts followed the order" in found.in_words
        with pytest.raises(InputError, match="expected one of good, bad"):
            asyncio.run(compare_pairs(run, "good", "best", model=model, concurrency=4))
        with pytest.raises(InputError, match="expected two pipelines, got good twice"):
            asyncio.run(compare_pairs(run, "good", "good", model=model, concurrency=4))


def test_what_retrieval_notes_for_every_question_is_a_threat_and_what_it_notes_once_is_none(tmp_path):
    def noting(*notes, once=""):
        async def ask(asked):
            answer = await answering("It draws 15 mA.")(asked)
            return answer.model_copy(update={"notes": (*notes, *([once] if asked.id == "q1" else []))})

        return ask

    both = [
        Asking("good", "1", noting("the graph of mentions is used", once="found nothing")),
        Asking("bad", "1", noting()),
    ]
    run_it(tmp_path, with_=both)
    with Run(tmp_path) as run:
        summary = summarise(run, preset=PRESET)
        assert summary.remarks == {"good": ("the graph of mentions is used",)}
        assert "good: the graph of mentions is used." in threats(run, summary)


def test_a_run_on_a_full_disk_says_so_keeps_what_it_has_and_goes_on(tmp_path, small_disk):
    full = small_disk / "full"
    run_it(small_disk / "run", questions=QUESTIONS[:2])
    with Run(small_disk / "run") as run:
        full.write_bytes(bytes(shutil.disk_usage(small_disk).free))
        with pytest.raises(OSError, match="No space left on device") as refused:
            run.plan(settings(template="x" * 2_000_000), QUESTIONS, [])
        assert refused.value.filename == str(small_disk / "run" / "run.sqlite")
        assert run.settings == settings() and len(run.questions()) == 2
        with pytest.raises(OSError, match="No space left on device"):
            Run(small_disk / "new", create=True)
        full.unlink()
        run.plan(settings(), QUESTIONS, [])
        assert len(run.questions()) == len(QUESTIONS)


def test_a_run_that_another_process_writes_to_is_no_defect(tmp_path, monkeypatch):
    monkeypatch.setattr("kgrag.evaluate.runs.LOCK_TIMEOUT_S", 0.01)
    busy = pytest.raises(InputError, match="another process writes to this run")
    with Run(tmp_path, create=True) as run, Run(tmp_path) as other, run._transaction(), busy:
        other.plan(settings(), QUESTIONS, [])


def test_a_baseline_that_is_not_compared_is_told_in_one_line(tmp_path, capsys):
    flags = [
        "compare",
        "--questions",
        "q.jsonl",
        "--out",
        str(tmp_path),
        "--pipelines",
        "default",
        "--baseline",
        "dense",
    ]
    assert command_line(flags) == 2
    assert capsys.readouterr().err == (
        "Error: kgrag compare: expected the baseline to be one of default, got 'dense'\n"
    )
