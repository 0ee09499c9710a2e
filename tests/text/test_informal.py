"""What support customers write short is read in full, and nothing else changes."""

from __future__ import annotations

import pytest

from kgrag.text.informal import written_out


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("pls say whats on pin 3", "please say what is on pin 3"),
        ("it doesnt start and wont blink", "it doesn't start and won't blink"),
        ("how come the fan stops?", "why the fan stops?"),
        ("Is it ok to run it at 70 °C?", "can I run it at 70 °C?"),
        ("is it alright if I cut the cable w/o tools", "can I cut the cable without tools"),
        ("which sensors work w/ the X-100", "which sensors work with the X-100"),
        ("can u tell any1", "can you tell anyone"),
        ("HOW DO I CLEAN THE RS-485 SOCKET?", "how do i clean the RS-485 socket?"),
        ("2026-01-01 12:00:01 ERROR E-13: what is it?", "ERROR E-13: what is it?"),
        ("Nov  5 03:14:07 daemon: link lost", "daemon: link lost"),
        ("[2026-01-01T12:00:01.250+01:00] link lost", "link lost"),
    ],
)
def test_what_is_written_short_is_read_in_full(said: str, read: str) -> None:
    assert written_out(said) == read


@pytest.mark.parametrize(
    "question",
    [
        "What does the option -u do?",
        "What is MAX_CONNECTIONS?",
        "ROWNUM LIMIT",
        "2026-01-01 12:00:01",
        "Which file is docs/whats.new?",
        "Is it OK?",
        "What does pls_mode set?",
    ],
)
def test_names_and_what_is_written_in_full_stay(question: str) -> None:
    assert written_out(question) == question
