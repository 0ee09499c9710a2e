"""Conversion in processes of their own, on real Word files. A file whose name says so makes the process that opens it crash: an audit
hook of Python, in those processes alone, does what a fault in a parser's native code does."""

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from kgrag.documents import discover, page_parts
from kgrag.documents.processes import ConversionProcesses, Stopped
from kgrag.documents.reading import convert_file
from kgrag.errors import DocumentError

WORD_FILE = Path(__file__).resolve().parents[2] / "examples/documents/sensors/TPR-400/tpr-400-datasheet.docx"
HOOK = """
import os, signal, sys, time

def crash(event, arguments):
    if event == "open" and isinstance(arguments[0], str):
        if arguments[0].endswith("segfault.docx"):
            os.kill(os.getpid(), signal.SIGSEGV)
        if arguments[0].endswith("exit.docx"):
            os._exit(3)
        if arguments[0].endswith("hang.docx"):
            time.sleep(3600)
        if arguments[0].endswith("memory.docx"):
            bytearray(10**12)
        if "kgrag-pages-" in arguments[0] and os.environ.get("CRASH_AT_PAGES"):
            os.kill(os.getpid(), signal.SIGSEGV)

sys.addaudithook(crash)
if sys.orig_argv[1:3] == ["-m", "kgrag.documents.processes"]:
    open(os.path.join(os.path.dirname(__file__), "started"), "a").write("x")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    hook = tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(HOOK)
    monkeypatch.setenv("PYTHONPATH", str(hook))
    (tmp_path / "files").mkdir()
    yield tmp_path / "files"


def outcomes(folder: Path, *names: str, processes: int = 2, **limits: float) -> dict[str, str]:
    """What becomes of files of these names, in the order in which it comes: the reason of the failure, or nothing."""
    for name in names:
        shutil.copyfile(WORD_FILE, folder / name)
    found = {}
    with ConversionProcesses(processes, pdf="auto", stopping=threading.Event(), **limits) as conversions:  # type: ignore[arg-type]
        for source in conversions.ahead(discover([folder]).sources, lambda source: source):
            conversion = conversions.result(source)
            assert conversion is not None
            try:
                assert conversion.blocks() == convert_file(source)
                found[source.path.name] = ""
            except DocumentError as error:
                found[source.path.name] = error.reason
    return found


def test_a_file_that_ends_its_process_is_that_file_s_failure_and_the_others_are_converted_in_order(
    folder: Path,
) -> None:
    found = outcomes(folder, "a.docx", "b-segfault.docx", "c.docx", "d-exit.docx", "e-memory.docx", "f.docx")
    assert list(found) == ["a.docx", "b-segfault.docx", "c.docx", "d-exit.docx", "e-memory.docx", "f.docx"]
    assert found["a.docx"] == found["c.docx"] == found["f.docx"] == ""
    assert found["b-segfault.docx"] == "is broken: the process that read it ended (SIGSEGV)"
    assert found["d-exit.docx"] == "is broken: the process that read it ended (exit status 3)"
    assert "GB of memory to read" in found["e-memory.docx"]


def test_a_file_that_takes_too_long_is_that_file_s_failure(folder: Path) -> None:
    assert outcomes(folder, "hang.docx", processes=1, most_seconds=1.0) == {"hang.docx": "took more than 1 s to read"}


def test_a_build_that_stops_does_not_wait_for_a_file(folder: Path) -> None:
    shutil.copyfile(WORD_FILE, folder / "hang.docx")
    [source] = discover([folder]).sources
    stopping = threading.Event()
    with ConversionProcesses(1, pdf="auto", stopping=stopping) as conversions:
        assert list(conversions.ahead([source], lambda one: one)) == [source]
        stopping.set()
        with pytest.raises(Stopped):
            conversions.result(source)


def test_a_broken_file_says_what_it_says_without_processes(folder: Path) -> None:
    (folder / "broken.docx").write_bytes(b"no archive at all")
    [source] = discover([folder]).sources
    with pytest.raises(DocumentError) as expected:
        convert_file(source)
    with ConversionProcesses(1, pdf="auto", stopping=threading.Event()) as conversions:
        assert list(conversions.ahead([source], lambda one: one)) == [source]
        conversion = conversions.result(source)
    assert conversion is not None
    assert isinstance(conversion.outcome, DocumentError)
    assert conversion.outcome.reason == expected.value.reason
    assert "Traceback" in conversion.outcome.__notes__[0]


def test_a_process_ends_after_so_many_files_and_another_one_goes_on(folder: Path) -> None:
    names = [f"{number}.docx" for number in range(5)]
    assert outcomes(folder, *names, processes=1, files_of_a_process=2) == dict.fromkeys(names, "")
    assert len((folder.parent / "hook" / "started").read_text()) == 3


@pytest.fixture
def long_pdfs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A manual of seven pages, one of them without text, and what a transfer left of it."""
    monkeypatch.setattr(page_parts, "LONG_BYTES", 0)
    whole = folder / "manual.pdf"
    canvas = Canvas(str(whole))
    for number in range(1, 8):
        canvas.setFont("Helvetica", 8)
        canvas.drawString(70, 800, "The X-100 manual")
        if number != 5:
            canvas.setFont("Helvetica-Bold", 16)
            canvas.drawString(70, 760, f"Part {number}")
            canvas.setFont("Helvetica", 10)
            canvas.drawString(70, 730, f"The X-100 has the valve V-{number}, which is")
            canvas.drawString(70, 718, f"opened by the coil C-{number}.")
        canvas.showPage()
    canvas.save()
    (folder / "cut.pdf").write_bytes(whole.read_bytes()[:-300])
    return folder


def test_parts_of_a_long_pdf_are_read_apart_and_make_the_same_blocks(long_pdfs: Path) -> None:
    with pytest.raises(DocumentError) as expected:
        convert_file(discover([long_pdfs / "cut.pdf"]).sources[0])
    for pages in (1, 2, 6, 7):
        assert outcomes(long_pdfs, "a.docx", part_pages=pages) == {
            "a.docx": "",
            "cut.pdf": expected.value.reason,
            "manual.pdf": "",
        }


def test_a_part_that_ends_its_process_is_its_file_s_failure(long_pdfs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRASH_AT_PAGES", "1")
    found = outcomes(long_pdfs, "a.docx", "z.docx", part_pages=3)
    assert found["manual.pdf"] == "is broken: the process that read it ended (SIGSEGV)"
    assert found["a.docx"] == found["z.docx"] == ""
    assert outcomes(long_pdfs, part_pages=7)["manual.pdf"] == "", "in one part it needs no file for its pages"
