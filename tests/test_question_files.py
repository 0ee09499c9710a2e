from pathlib import Path

import pytest

from kgrag.common.question_files import read_question_table, read_questions
from kgrag.errors import InputError
from kgrag.evaluate.gold_questions import read_gold_questions, read_questions_to_judge


def test_other_keys_are_ignored_and_ids_keep_their_type(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text('{"id": 1, "question": "a?", "evidence": {"x": 1}}\n\n{"id": "b", "question": "b?"}\n')
    assert [(q.id, q.question) for q in read_questions(file)] == [(1, "a?"), ("b", "b?")]


def test_a_bad_line_is_named_with_what_was_expected(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text('{"id": 1, "question": "a?"}\n{"id": 2}\n')
    with pytest.raises(InputError, match=r"line 2.*question"):
        read_questions(file)
    with pytest.raises(InputError, match=r"missing\.jsonl"):
        read_questions(tmp_path / "missing.jsonl")


def test_a_table_where_lines_are_read_is_told_what_reads_tables(tmp_path: Path) -> None:
    file = tmp_path / "q.CSV"
    file.write_text("id,question,answerable\n1,a?,true\n", encoding="utf-8")
    for read in (read_questions, read_gold_questions, read_questions_to_judge):
        with pytest.raises(InputError, match=r"q\.CSV: expected a file of JSON lines, got a CSV table\. kgrag ask"):
            read(file)


def test_rows_without_a_question_are_counted_and_empty_ones_are_not(tmp_path: Path) -> None:
    file = tmp_path / "q.csv"
    file.write_text("id,question,owner\nA,,\nA1,What is the range?,Ann\n,,\n,,Bob\n", encoding="utf-8")
    table = read_question_table(file)
    assert [(one.id, one.question) for one in table.questions] == [("A1", "What is the range?")]
    assert table.without_question == [1, 4]


@pytest.mark.parametrize(("name", "text"), [("q.csv", "id,question\nA,\n"), ("q.jsonl", "\n"), ("q.csv", "question\n")])
def test_a_file_without_any_question_is_refused(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    read = read_question_table if name.endswith("csv") else read_questions
    with pytest.raises(InputError, match="question"):
        read(file)


def test_a_separator_of_lines_within_a_question_is_no_end_of_the_line(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    line = '{"id": 1, "question": "one\u2028two\x85?", "evidence": ["c1"]}'
    file.write_bytes(f"\ufeff{line}\r\n\r\n{line}\r\n".encode())
    assert [one.question for one in read_questions(file)] == ["one\u2028two\x85?"] * 2
    assert [one.question for one in read_gold_questions(file)[0]] == ["one\u2028two\x85?"] * 2


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("q.jsonl", b"[1]", 'line 1: expected {"id": ..., "question": "..."}: Input should be an object'),
        ("q.jsonl", b"\xff\xfe{", "expected a file of JSON lines in UTF-8: byte 0 is 0xff. Save it as UTF-8."),
        ("q.csv", b'question\n"' + b"x" * 200_000 + b'"', "expected a CSV table: field larger than field limit"),
        ("q.csv", b'id,question\n1,"How long is it?\n2,How wide is it?\n', "in line 2 is not closed"),
        ("q.csv", b'id,question\n0,"Two\nlines?"\n1,"How long?\n2,"How wide, how high?"\n', "in line 4 is not closed"),
        ("q.csv", b'id;question\r\n1;"What is ""it""?\r\n2;Why?\r\n', "in line 2 is not closed"),
    ],
)
def test_a_file_that_cannot_be_read_says_where_and_why(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    read = read_question_table if name.endswith("csv") else read_questions
    with pytest.raises(InputError) as caught:
        read(file)
    assert said in str(caught.value) and "::" not in str(caught.value)
    with pytest.raises(InputError, match=r"No such file or directory\.$"):
        read(tmp_path / f"missing-{name}")


def test_quotation_marks_that_are_closed_or_stand_within_a_cell_are_read(tmp_path: Path) -> None:
    file = tmp_path / "q.csv"
    file.write_text(
        'id,question\n1,"Is ""it"", or\nis it not?"\n2,How long is a 5" bolt?\n3,"A" or B?\n4,""\n', encoding="utf-8"
    )
    asked = [(one.id, one.question) for one in read_question_table(file).questions]
    assert asked == [("1", 'Is "it", or\nis it not?'), ("2", 'How long is a 5" bolt?'), ("3", "A or B?")]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"question": "Which supply?"}', 'expected {"id": ..., "question": "..."}, got no id.'),
        ("[1]", 'expected a JSON object ({"id": ..., "question": "..."}) on a line of its own, got [1].'),
        ("id,question", 'expected a JSON object ({"id": ..., "question": "..."}), got what is no JSON'),
        ('{"id": 1, "question": " "}', 'question: expected a text, got " ".'),
        ('{"id": 1, "question": "q", "gold_answer": 3}', "gold_answer: expected a text or a list of texts, got 3."),
        ('{"id": 1, "question": "q", "gold_facts": [3]}', "gold_facts: expected a text, got 3."),
        ('{"id": 1, "question": "q", "evidence": "a"}', 'evidence: expected a list of ids, got "a".'),
        (
            '{"id": 1, "question": "q", "answerable": []}',
            "answerable: expected true, false, full, partial or none, got [].",
        ),
    ],
)
def test_what_is_wrong_in_a_line_of_gold_is_said_by_its_field(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "q.jsonl").write_text(line + "\n")
    for read in (read_gold_questions, read_questions_to_judge):
        with pytest.raises(InputError) as told:
            read(tmp_path / "q.jsonl")
        assert f"q.jsonl, line 1: {said}" in str(told.value)


def test_one_gold_fact_may_stand_without_a_list(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text('{"id": 1, "question": "q", "gold_facts": "3.3 V"}\n')
    assert read_questions_to_judge(tmp_path / "q.jsonl")[0].gold_facts == ("3.3 V",)
