"""The judges: `rules` by examples, a chat model by scripted replies, good and bad."""

import asyncio
import json
from dataclasses import replace

import pytest

from kgrag.errors import InputError, ModelUnavailable
from kgrag.evaluate.gold_questions import GoldQuestion, read_questions_to_judge
from kgrag.evaluate.judge import rules
from kgrag.evaluate.judge.calibration import Pairs, agreement, pair_agreement, read_calibration
from kgrag.evaluate.judge.judgement import Judgement, ToJudge, answer_category, scores
from kgrag.evaluate.judge.judges import ModelJudge, Pairwise, RulesJudge, one_family
from kgrag.evaluate.judge.metrics import category
from kgrag.evaluate.judge.presets import load_preset
from kgrag.jobs.calibrate import Calibration
from kgrag.testing import HashingEmbedder, ScriptedChatModel
from kgrag.types import Answer, Citation, Evidence

THESIS = load_preset("thesis")
QUESTION = GoldQuestion(
    id="q",
    question="What does the X-100 draw in standby?",
    facts=(),
    references=("0.5 mA, with the real-time clock on.",),
    gold_facts=("The standby current is 0.5 mA.", "The real-time clock is on."),
    answerable=True,
)
PIECES = (
    Evidence(
        chunk_id="c1",
        source_id="s",
        document="a.pdf",
        text="Standby current 0.5 mA, real-time clock on.",
        tokens=9,
        score=1.0,
    ),
    Evidence(
        chunk_id="c2", source_id="s", document="b.md", text="The X-1000 draws 5 mA in standby.", tokens=9, score=0.5
    ),
)


def answer(text: str, *, abstained: bool = False) -> Answer:
    citations = () if abstained else (Citation(number=1, chunk_id="c1", document="a.pdf", quote="0.5 mA"),)
    return Answer(
        question=QUESTION.question,
        text=text,
        abstained=abstained,
        citations=citations,
        model="m",
        pipeline="p",
        evidence=PIECES,
    )


@pytest.mark.parametrize(
    ("reference", "said", "expected"),
    [
        ("0.5 mA", "In standby it draws 0.50 mA [1].", "TP"),
        ("0.5 mA", "In standby it draws 5 mA [2].", "FP"),
        ("0.5 mA", "I'm sorry, the documents do not say it.", "FN"),
        ("Yes", "Yes, with a firmware of 2.0.", "TP"),
        ("No", "Yes, it does.", "FP"),
        ("1,260 hPa", "Up to 1260 hPa.", "TP"),
        ("a four-channel relay board", "relay boards with four channels", "TP"),
        ("about 115 miles (185 km)", "115 miles", "PARTIAL"),
    ],
)
def test_rules_tells_right_from_wrong(reference, said, expected):
    assert category(rules.correctness(QUESTION.question, [reference], said), preset=THESIS) == expected


def test_saying_the_question_again_is_no_answer():
    verdict = rules.correctness(
        QUESTION.question, ["real-time clock"], "The X-100 does draw in standby what it does draw."
    )
    assert verdict.coverage == 0.0


def test_the_first_alternative_of_an_answer_is_the_one_that_it_takes():
    question = "Which draws more, the X-100 or the X-1000?"
    assert rules.correctness(question, ["X-1000"], "The X-1000 draws more than the X-100.").coverage == 1.0
    assert rules.correctness(question, ["X-1000"], "The X-100 draws more than the X-1000.").coverage == 0.0


def test_a_nugget_is_lost_in_retrieval_or_in_answering():
    judged = asyncio.run(RulesJudge().judge(ToJudge(QUESTION, answer("The standby current is 0.5 mA [1]."))))
    assert [(one.answer, one.evidence) for one in judged.nuggets] == [("supported", "supported"), ("not", "supported")]
    measured = scores(QUESTION, answer("The standby current is 0.5 mA [1]."), judged, preset=THESIS)
    assert (measured["nuggets"], measured["lost in retrieval"], measured["lost in answering"]) == (0.5, 0.0, 0.5)
    assert measured["relevance"] is None and measured["helpfulness"] is None  # rules cannot see them


def test_a_gold_fact_that_the_evidence_says_word_for_word_is_a_retrieved_sentence():
    said = answer("0.5 mA [1].")
    verbatim = replace(QUESTION, gold_facts=("The X-1000 draws 5 mA in standby.", "The real-time clock is on."))
    measured = scores(verbatim, said, Judgement(judge="m", relevance=(1.0, 0.7)), preset=THESIS)
    assert (measured["sentence precision"], measured["sentence recall"]) == (0.5, 0.5)
    assert (measured["relevance"], measured["relevant share"]) == (0.85, 0.5)
    without = scores(replace(QUESTION, gold_facts=()), said, Judgement(judge="m"), preset=THESIS)
    assert without["sentence recall"] is None is without["relevant share"]


def test_a_citation_that_does_not_say_it_is_found():
    said = "The standby current is 0.5 mA [1]. It contains plutonium [1]. It is grey."
    first, second, third = rules.cited_sentences(said, {1: PIECES[0].text})
    assert (first.together, second.together, third.together) == ("full", "none", "none")
    assert third.citations == ()


def test_an_abstention_is_no_right_answer_to_what_can_be_answered():
    said = answer("The documents do not answer this.", abstained=True)
    judged = asyncio.run(RulesJudge().judge(ToJudge(QUESTION, said)))
    assert answer_category(judged, preset=THESIS) == "FN"
    assert scores(QUESTION, said, judged, preset=THESIS)["right abstention"] == 0.0


REPLIES = {
    "Compare an answer": {"reason": "0.5 mA in both", "answered": True, "coverage": 0.5, "severity": "low"},
    "Count what": {"expected": 2, "actual": 1, "wrong": 0, "missing": 1, "overall": 0.5},
    "For each numbered fact": {"verdicts": [{"number": 1, "verdict": "supported"}, {"number": 2, "verdict": "not"}]},
    "Divide the answer": {"statements": [{"statement": "0.5 mA", "quote": "0.5 mA", "verdict": "yes"}]},
    "Each numbered sentence": {
        "sentences": [{"sentence": 1, "passages": [{"passage": 1, "verdict": "full"}], "together": "full"}]
    },
    "Write 3 questions": {"questions": [QUESTION.question, "What is grey?", ""]},
    "How helpful": {"rating": 4},
}


def judge_with(replies, text="It draws 0.5 mA in standby [1]."):
    def script(messages):
        prompt = messages[-1].content
        reply = next(reply for start, reply in replies.items() if prompt.startswith(start))
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, str) else json.dumps(reply)

    model = ScriptedChatModel(script)
    judge = ModelJudge(model, embedder=HashingEmbedder(), preset=THESIS)
    return asyncio.run(judge.judge(ToJudge(QUESTION, answer(text)))), model


def test_a_model_judges_each_part_by_a_call_of_its_own():
    judged, model = judge_with(REPLIES)
    assert judged.failures == {} and len(model.calls) == 8 == judged.usage.calls  # nuggets twice: answer and evidence
    measured = scores(QUESTION, answer("x"), judged, preset=THESIS)
    assert measured["completeness"] == 0.5 and measured["faithfulness"] == 1.0 and measured["helpfulness"] == 0.75
    assert measured["citation precision"] == measured["citation recall"] == 1.0
    assert judged.relevance[0] == pytest.approx(1.0)
    assert [one.answer for one in judged.nuggets] == ["supported", "not"]
    assert answer_category(judged, preset=THESIS) == "PARTIAL"


@pytest.mark.parametrize(
    ("start", "reply", "part"),
    [
        ("Compare an answer", '{"coverage": 7, "answered": true, "severity": "low", "reason": ""}', "correctness"),
        ("Compare an answer", "", "correctness"),
        ("Count what", {"expected": 1, "actual": 1, "wrong": 0, "missing": 5, "overall": 0.1}, "completeness"),
        ("Divide the answer", {"verdicts": []}, "statements"),
        ("Divide the answer", {"statements": []}, "statements"),
        ("Compare an answer", {"reason": "", "answered": False, "coverage": 0.9, "severity": "low"}, "correctness"),
        ("Write 3 questions", {"questions": ["", " "]}, "relevance"),
        ("How helpful", {"rating": 9}, "rating"),
    ],
)
def test_a_part_that_failed_is_missing_and_named_and_the_others_are_there(start, reply, part):
    judged, _ = judge_with({**REPLIES, start: reply})
    assert set(judged.failures) == {part} and getattr(judged, part) is None
    assert judged.nuggets and judged.citations is not None


@pytest.mark.parametrize(
    "second", [None, {"number": 1, "verdict": "not"}], ids=["without a verdict", "with two that differ"]
)
def test_a_fact_without_one_verdict_is_missing_and_the_part_is_asked_for_again(second):
    said = {"verdicts": [{"number": 2, "verdict": "supported"}, *filter(None, [second])]}
    if second:
        said["verdicts"].append({"number": 1, "verdict": "supported"})
    judged, _ = judge_with({**REPLIES, "For each numbered fact": said})
    assert [one.answer for one in judged.nuggets] == [None, "supported"]  # missing, not "not"
    assert judged.failures == {"nuggets": "2 of 4 verdicts are missing or contradict each other"}
    model = ScriptedChatModel(lambda messages: json.dumps(REPLIES["For each numbered fact"]))
    judge = ModelJudge(model, embedder=HashingEmbedder(), preset=THESIS)
    again = asyncio.run(judge.judge(ToJudge(QUESTION, answer("It draws 0.5 mA in standby [1]."), before=judged)))
    assert again.failures == {} and len(model.calls) == 2  # of answer and evidence; what was judged stays
    assert again.model_copy(update={"nuggets": (), "usage": judged.usage}) == judged.model_copy(
        update={"nuggets": (), "failures": {}}
    )


def test_a_model_that_is_away_is_not_a_failed_part():
    with pytest.raises(ModelUnavailable):
        judge_with({**REPLIES, "How helpful": ModelUnavailable("the endpoint is away")})


def test_a_refusal_is_judged_without_asking_whether_it_is_right():
    judged, model = judge_with(REPLIES, text="I cannot answer that.")
    assert judged.correctness is not None and not judged.correctness.answered
    assert all(call[-1].content.startswith("For each numbered fact") for call in model.calls)


def test_a_verdict_that_follows_the_order_is_a_tie_and_a_flip():
    always_first = ScriptedChatModel(lambda messages: json.dumps({"reason": "", "better": "first"}))
    assert asyncio.run(Pairwise(always_first).compare(QUESTION, "a", "b")) == (0, True)

    def longer(messages):
        first, second = messages[-1].content.partition("First answer:\n")[2].split("\n\nSecond answer:\n")
        return json.dumps({"reason": "", "better": "first" if len(first) > len(second) else "second"})

    assert asyncio.run(Pairwise(ScriptedChatModel(longer)).compare(QUESTION, "long answer", "short")) == (1, False)
    assert asyncio.run(Pairwise(ScriptedChatModel(longer)).compare(QUESTION, "short", "long answer")) == (-1, False)


def test_only_what_differs_is_shown_where_that_is_asked_for():
    model = ScriptedChatModel(lambda messages: json.dumps({"reason": "", "better": "tie"}))
    asyncio.run(
        Pairwise(model, only_differences=True).compare(QUESTION, "It is grey. It is big.", "It is grey. It is old.")
    )
    assert all("grey" not in call[-1].content for call in model.calls)


def test_a_judge_of_the_answerers_family_is_told():
    assert one_family("openai:gpt-4o-mini", "openai:gpt-4.1")
    assert one_family("ollama:qwen2.5:7b", "openai:qwen3")
    assert not one_family("openai:gpt-4o", "ollama:llama3.2")


def test_questions_to_judge_need_something_to_judge_by(tmp_path):
    file = tmp_path / "questions.jsonl"
    file.write_text(
        '{"id": 1, "question": "a?", "gold_answer": ["x", "y"], "answerable": "partial"}\n{"id": 2, "question": "b?"}\n'
    )
    first, second = read_questions_to_judge(file)
    assert (first.references, first.answerable, second.references) == (("x", "y"), True, ())
    for text, problem in [
        ('{"id": 1, "question": "a?"}', "nothing to judge by"),
        ('{"id": 1, "question": "a?", "answerable": true}\n{"id": "1", "question": "b?"}', "several times"),
        ('{"id": 1, "question": "a?", "answerable": "maybe"}', "line 1"),
        ('{"id": 1, "question": "a?", "gold_answer": [3]}', "line 1"),
    ]:
        file.write_text(text)
        with pytest.raises(InputError, match=problem):
            read_questions_to_judge(file)


def test_agreement_and_kappa_by_hand():
    found = agreement([1.0, 1.0, 0.7, 0.0, 0.2, 1.0], [True, True, False, False, True, None])
    assert (found.n, found.missing, found.right, found.wrong) == (5, 1, (2, 3), (1, 2))
    assert found.accuracy.value == 0.6
    assert found.kappa == pytest.approx((0.6 - 0.52) / 0.48)


def test_pairs_of_which_none_differ_have_no_correlation():
    pair = Pairs("q", "a lamp", "a lamp", "a bell", ({"overall": 1.0}, {"overall": 1.0}))
    for pairs in ([pair], [pair, pair, pair]):
        found = pair_agreement(pairs, [0.5] * len(pairs), aspect="overall")
        assert (found.n, found.pearson, found.spearman, found.human_ceiling) == (len(pairs), None, None, None)
        assert "not defined" in Calibration(judge="rules", pairs=(found,)).lines()[-1]


def test_a_calibration_file_that_is_wrong_is_refused_with_its_line(tmp_path):
    file = tmp_path / "people.jsonl"
    pair = '"question": "q", "reference": "r", "answer_a": "a", "answer_b": "b"'
    for text, problem in [
        (
            '{"question": "q", "gold_answer": ["x", "y"], "answer": "x", "human": 1}',
            "line 1.*gold_answer: expected a text",
        ),
        (f'{{{pair}, "human_b_over_a": []}}', "line 1.*one person or more"),
        (f'{{{pair}, "human_b_over_a": [{{}}]}}', "line 1.*one person or more"),
        ('{"question": "q", "gold_answer": "x", "answer": "x", "human": 7}', "line 1.*from 0 to 1"),
    ]:
        file.write_text(text)
        with pytest.raises(InputError, match=problem):
            read_calibration(file)


@pytest.mark.data
def test_rules_agrees_with_people_as_far_as_the_docs_say(shared_data):
    folder = shared_data / "judge_calibration"
    scored, _ = read_calibration(folder / "human_scored_answers.jsonl")
    verdicts = [rules.correctness(one.question, [one.reference], one.answer) for one in scored]
    judged = [category(one, preset=THESIS) in ("TP", "PARTIAL") and one.coverage >= 0.5 for one in verdicts]
    assert agreement([one.human for one in scored], judged).accuracy.value >= 0.80
    _, pairs = read_calibration(folder / "human_preferences.jsonl")
    differences = [
        rules.preference(one.question, one.reference, one.answer_b)
        - rules.preference(one.question, one.reference, one.answer_a)
        for one in pairs
    ]
    found = pair_agreement(pairs, differences, aspect="overall")
    assert found.pearson.value >= 0.64 and found.human_ceiling == pytest.approx(0.74, abs=0.01)
