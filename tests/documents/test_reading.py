"""`read`: documents that can be rebuilt to the letter, and files that cannot be read, each with its reason."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import docx
import pytest
from reportlab.pdfgen.canvas import Canvas

from kgrag.documents import Converted, discover, read
from kgrag.documents.reading import convert_file
from kgrag.errors import DocumentError
from kgrag.types import content_id

Convert = Callable[..., Converted]


def test_a_document_knows_where_it_is_from(convert: Convert) -> None:
    converted = convert("boards/X-100/a.md", "---\nversion: Rev 3\nauthor: A\n---\n# X-100 guide\ntext")
    document = converted.document
    assert (document.path, document.title, document.format) == ("boards/X-100/a.md", "X-100 guide", "md")
    assert (document.category, document.product, document.version) == ("boards", "X-100", "Rev 3")
    assert document.metadata == {"author": "A"}
    assert document.id == content_id(document.path, "", document.sha256)
    assert [chunk.source_id for chunk in converted.chunks] == [document.id]


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        (("X-100: user guide", "# Supply", "5 V.", "# Reset", "Press it."), "X-100: user guide"),
        (
            ("User guide of the", "X-100 board", "# Supply", "5 V.", "# Reset", "Press it."),
            "User guide of the X-100 board",
        ),
        (("Print this out.", "# Supply", "5 V.", "# Reset", "Press it."), "a"),
        (("Draft", "# X-100", "## Supply", "5 V."), "X-100"),
        (("# Supply", "5 V.", "# Reset", "Press it."), "Supply"),
    ],
)
def test_the_title_of_a_word_file_may_be_a_line_without_a_style(
    convert: Convert, lines: tuple[str, ...], title: str
) -> None:
    document = docx.Document()
    document.core_properties.title = ""
    for line in lines:
        level = len(line) - len(line.lstrip("#"))
        document.add_heading(line.lstrip("# "), level) if level else document.add_paragraph(line)
    file = io.BytesIO()
    document.save(file)
    assert convert("a.docx", file.getvalue()).document.title == title


def test_reading_twice_gives_the_same_and_a_change_gives_another_document(convert: Convert) -> None:
    first, again = convert("a.md", "# A\none\n\n# B\ntwo"), convert("a.md")
    changed, moved = convert("a.md", "# A\none\n\n# B\nthree"), convert("b.md", "# A\none\n\n# B\ntwo")
    assert first == again
    assert len({first.document.id, changed.document.id, moved.document.id}) == 3
    assert {chunk.id for chunk in first.chunks}.isdisjoint(chunk.id for chunk in changed.chunks)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.pdf", b"PK\x03\x04" + bytes(100), "PDF|pdf"),
        ("a.pdf", b"", "empty"),
        ("a.html", b"", "empty"),
        ("a.md", b" \n\t \n", "empty"),
        ("a.html", b"PK\x03\x04" + bytes(100), "ZIP"),
        ("a.html", b"%PDF-1.7\n", "PDF"),
        ("a.md", bytes(range(256)), "binary"),
        ("a.docx", b"PK\x03\x04" + bytes(100), "docx"),
        ("a.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
        ("a.html", b"<div>" * 10_000 + b"x", "nested too deeply"),
        ("a.html", b"<html><head><title>T</title></head><body></body></html>", "has no text"),
        ("a.info", b"\x1f\nFile: a.info,  Node: Top\n\n* Menu:\n\n* A::\n", "no text but what cleaning removes"),
        ("a.jsonl", b"\n\n", "empty"),
        ("a.txt.gz", b"no gzip", "no gzip file"),
        ("a.txt.gz", gzip.compress(b"x" * 1000)[:-12], "broken one"),
        ("a.txt.gz", gzip.compress(bytes(100_000_001)), "when it is unpacked, more than the limit of 100 MB"),
        ("a.txt.gz", gzip.compress(b"%PDF-1.7\n"), "PDF"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(convert: Convert, name: str, content: bytes, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason) as caught:
        convert(name, content)
    assert str(caught.value).startswith(name)
    assert "\n" not in str(caught.value)


def test_the_limit_is_of_what_a_packed_file_has_when_it_is_unpacked(tmp_path: Path) -> None:
    file = tmp_path / "a.md.gz"
    file.write_bytes(gzip.compress(b"The fan turns.\n" * 100_000))
    (source,) = discover([file]).sources
    with pytest.raises(DocumentError, match=r"unpacked, more than the limit of 1 MB.*max_file_mb"):
        next(read(source, count_tokens=len, max_tokens=254, max_file_mb=1))
    assert next(read(source, count_tokens=len, max_tokens=254, max_file_mb=2)).chunks


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "FANS\n\nThe fan F-9 turns at 4200 rpm.\n"),
        ("a.rst", "Fans\n====\n\nThe fan F-9 turns at 4200 rpm.\n"),
        ("a.md", "# Fans\n\nThe fan F-9 turns at 4200 rpm.\n"),
        ("a.html", "<h1>Fans</h1><p>The fan F-9 turns at 4200 rpm."),
    ],
)
def test_a_packed_text_says_what_it_says_unpacked(convert: Convert, name: str, content: str) -> None:
    plain, packed = convert(name, content), convert(f"{name}.gz", gzip.compress(content.encode()))
    assert [(chunk.section, chunk.text) for chunk in packed.chunks] == [
        (chunk.section, chunk.text) for chunk in plain.chunks
    ]
    assert packed.document.format == name.partition(".")[2]


def test_a_file_larger_than_the_limit_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Path("big.md").open("wb") as file:
        file.truncate(200_000_000)
    (source,) = discover([Path("big.md")]).sources
    with pytest.raises(DocumentError, match=r"200 MB.*100 MB.*max_file_mb"):
        next(read(source, count_tokens=len, max_tokens=254))
    with pytest.raises(DocumentError, match="binary"):
        next(read(source, count_tokens=len, max_tokens=254, max_file_mb=201))


def test_a_file_that_vanished_is_a_document_error(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a")
    (source,) = discover([tmp_path / "a.md"]).sources
    (tmp_path / "a.md").unlink()
    with pytest.raises(DocumentError, match="cannot be read"):
        next(read(source, count_tokens=len, max_tokens=254))


def test_hostile_words_are_only_words(convert: Convert) -> None:
    hostile = "`}) DETACH DELETE n // \"\\' ${jndi} {{7*7}} [0m <script>"
    converted = convert(
        "a.md",
        f"# {hostile}\n\n```\n{hostile}\n```\n\n[{'x' * 10_000}](javascript:alert)\n\n# {'`' * 9}{'y' * 10_000}\n",
    )
    assert converted.chunks[0].text.startswith(hostile)
    assert converted.chunks[0].headings == (hostile.replace("\\'", "'"),)
    assert len(converted.document.title) <= 210
    assert max(chunk.tokens for chunk in converted.chunks) <= 254
    assert not any(chunk.links for chunk in converted.chunks)


def test_repairs_are_noted(convert: Convert) -> None:
    converted = convert("a.md", "# It\n\nItâ€™s 25 Â°C.\n")
    assert converted.chunks[0].text == "It’s 25 °C."
    assert converted.notes == ("1 lines had wrongly encoded characters, which were repaired",)


def test_nothing_heavy_is_imported_before_a_file_needs_it() -> None:
    heavy = ("docling", "docling_core", "lxml", "numpy", "docx", "openpyxl", "markdown_it", "ftfy")
    code = f"import sys, kgrag.documents; print([name for name in {heavy} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize("suffix", ["md", "html", "docx"])
def test_a_title_from_a_name_that_is_no_utf_8_can_be_written(
    tmp_path: Path, count_tokens: Callable[[str], int], suffix: str
) -> None:
    file = tmp_path / os.fsdecode(b"a\xe9." + suffix.encode())
    if suffix == "docx":
        from docx import Document as Docx

        made = Docx()
        made.add_paragraph("The X-100 needs 5 V.")
        made.save(str(tmp_path / "a.docx"))
        (tmp_path / "a.docx").rename(file)
    else:
        file.write_text("The X-100 needs 5 V.\n")
    (source,) = discover([file]).sources
    (one,) = read(source, count_tokens=count_tokens, max_tokens=64)
    assert one.document.title.encode() and one.document.path.encode()
    assert one.chunks[0].text == "The X-100 needs 5 V."


def test_the_first_of_a_texts_sections_is_not_its_title(convert: Convert) -> None:
    text = "Connect the board to the supply, and wait until the lamp is green.\n\n1. Supply\n\nIt is 5 V.\n\n2. Pins\n\nThere are 8.\n"
    assert convert("board.txt", text).document.title == "board"
    assert convert("packed.txt.gz", gzip.compress(text.encode())).document.title == "packed"
    assert convert("titled.txt", f"The X-100 board\n\n{text}").document.title == "The X-100 board"


def test_files_that_are_packed_are_read_as_unpacked_ones(convert: Convert, tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "sheet.pdf"))
    canvas.drawString(72, 700, "The supply is 5 V.")
    canvas.save()
    word = docx.Document()
    word.add_paragraph("The supply is 5 V.")
    word.save(str(tmp_path / "sheet.docx"))
    for name in ("sheet.pdf", "sheet.docx"):
        packed = convert(f"{name}.gz", gzip.compress((tmp_path / name).read_bytes()))
        assert (packed.document.title, packed.document.path) == ("sheet", f"{name}.gz")
        assert [chunk.text for chunk in packed.chunks] == ["The supply is 5 V."]
    with pytest.raises(DocumentError, match=r"^broken\.pdf\.gz: "):
        convert("broken.pdf.gz", gzip.compress(b"%PDF-1.7\n"))


@pytest.mark.parametrize(
    ("suffix", "named"), [("docx", "a .docx"), ("xlsx", "a .xlsx"), ("odt", "an OpenDocument file"), ("epub", "a book")]
)
def test_a_download_that_was_broken_off_is_said_to_be_one(tmp_path: Path, suffix: str, named: str) -> None:
    with zipfile.ZipFile(tmp_path / "whole.zip", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", "<x/>" * 100)
    path = tmp_path / f"a.{suffix}"
    path.write_bytes((tmp_path / "whole.zip").read_bytes()[:-100])
    (source,) = discover([path]).sources
    with pytest.raises(DocumentError, match=f"is {named} that was cut short .*: get the file again"):
        convert_file(source)


def test_the_first_of_several_questions_is_no_title(tmp_path: Path) -> None:
    page = tmp_path / "pump-faq.txt"
    page.write_text(
        "\n".join(f"Q: How do I set mode {mode}?\n\nA: With the knob.\n" for mode in "123"), encoding="utf-8"
    )
    (source,) = discover([page]).sources
    (whole,) = read(source, count_tokens=len, max_tokens=2000)
    assert whole.document.title == "pump-faq"
