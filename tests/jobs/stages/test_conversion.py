"""Conversion of a folder in processes beside each other: the store is the same as of one process, and a crash ends nothing."""

import asyncio
import shutil
from pathlib import Path

import pytest

from kgrag.extract import open_extractor
from kgrag.jobs.build import build
from kgrag.jobs.report import BuildReport
from kgrag.settings import Settings
from kgrag.store.graph import GraphStore, open_store
from kgrag.testing import HashingEmbedder

EXAMPLES = Path(__file__).resolve().parents[3] / "examples/documents"
CRASH = """
import os, signal, sys
def crash(event, arguments):
    if event == "open" and str(arguments[0]).endswith("crash.docx"):
        os.kill(os.getpid(), signal.SIGSEGV)
sys.addaudithook(crash)
"""


def built(store: GraphStore, **settings: object) -> BuildReport:
    return asyncio.run(
        build(
            [Path("docs")],
            store=store,
            embedder=HashingEmbedder(),
            extractors=[open_extractor("mention")],
            settings=Settings(**settings),
        )
    )


def test_processes_make_the_same_store_and_a_crash_is_its_file_s_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for file in ("sensors/TPR-400/tpr-400-datasheet.docx", "controllers/X-1000/x-1000-datasheet.pdf"):
        shutil.copy(EXAMPLES / file, "docs")
    Path("docs/notes.md").write_text("# Notes\n\nThe TPR-400 works with the X-1000.\n", encoding="utf-8")
    Path("docs/broken.pdf").write_bytes(b"%PDF-1.4 nothing more")
    with open_store(str(tmp_path / "one.kg")) as one:
        alone = built(one, processes=1)
        expected = one.digest()

    hook = tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(CRASH)
    monkeypatch.setenv("PYTHONPATH", str(hook))
    with open_store(str(tmp_path / "two.kg")) as two:
        assert built(two, processes=2).failures == alone.failures
        assert two.digest() == expected
        shutil.copy(EXAMPLES / "sensors/TPR-400/tpr-400-datasheet.docx", "docs/crash.docx")
        report = built(two, processes=2)
        assert (report.unchanged_files, report.new_documents) == (3, 0)
        assert {failure.subject: failure.reason for failure in report.failures} == {
            "docs/broken.pdf": alone.failures[0].reason,
            "docs/crash.docx": "is broken: the process that read it ended (SIGSEGV)",
        }
        assert {failed.subject for failed in two.ledger.failures()} == {"docs/broken.pdf", "docs/crash.docx"}
