from pathlib import Path

import pytest

from kgrag.common.question_files import read_questions
from kgrag.errors import InputError


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
