"""Outlook's own files: what they say is read as mail is."""

from __future__ import annotations

from pathlib import Path

import pytest
from compressed_rtf import compress

from kgrag.documents import discover
from kgrag.documents.blocks import BlockDocument
from kgrag.documents.discovery import Source
from kgrag.documents.reading import convert_file
from kgrag.errors import DocumentError
from tests.documents.outlook_file import Tree, compound_file, message

SENT = {0x0039: (11644473600 + 1709630520) * 10**7}
"""2024-03-05 09:22 in UTC, as Windows counts."""
WHO = {0x0037: "Pump stops", 0x0C1A: "Jörg Doe", 0x5D01: "j@acme.example", 0x0E04: "support@acme.example"}


def of(tmp_path: Path, tree: Tree) -> BlockDocument:
    path = tmp_path / "a.msg"
    path.write_bytes(compound_file(tree))
    assert [source.format for source in discover([path]).sources] == ["outlook"]
    return convert_file(Source(path=path, stored_path="a.msg", format="outlook"))


def texts(document: BlockDocument) -> list[str]:
    return [block.written for block in document.blocks]


def test_an_outlook_file_is_read_as_a_mail(tmp_path: Path) -> None:
    document = of(tmp_path, message(WHO | {0x1000: "The pump shows E07.\r\n\r\nIt draws 4.2 A.\r\n"}, numbers=SENT))
    assert document.title == "Pump stops"
    assert texts(document) == [
        "From: Jörg Doe <j@acme.example>; To: support@acme.example; Date: 2024-03-05 09:22+00:00",
        "The pump shows E07.",
        "It draws 4.2 A.",
    ]


def test_the_date_is_the_one_that_the_mail_came_with(tmp_path: Path) -> None:
    sent = {0x007D: "Received: by x\r\nDate: Tue, 5 Mar 2024 10:22:00 +0100\r\n\r\n"}
    document = of(tmp_path, message(WHO | sent | {0x1000: "E07"}, numbers=SENT))
    assert document.metadata["date"] == "2024-03-05 10:22+01:00"


def test_texts_in_a_code_page_are_read_and_an_unknown_one_is_no_end(tmp_path: Path) -> None:
    said = {0x0037: "Насос", 0x1000: "Насос стоит."}
    assert texts(of(tmp_path, message(said, numbers={0x3FFD: 1251}, encoding="cp1251"))) == ["Насос стоит."]
    assert texts(of(tmp_path, message({0x1000: "It draws 4 A."}, numbers={0x3FFD: 54321}, encoding="cp1252"))) == [
        "It draws 4 A."
    ]


def test_a_table_of_the_html_is_a_table(tmp_path: Path) -> None:
    html = "<table><tr><th>Größe</th><th>mA</th></tr><tr><td>I1</td><td>12</td></tr></table>".encode("latin-1")
    document = of(tmp_path, message({0x1000: "Größe mA I1 12"}, {0x1013: html}, {0x3FDE: 28591}))
    assert texts(document) == ["| Größe | mA |\n| --- | --- |\n| I1 | 12 |"]


def test_files_and_mails_that_are_attached_are_read_and_others_are_named(tmp_path: Path) -> None:
    inner = message({0x0037: "Older", 0x1000: "Was E06."}, header=24)
    files: list[Tree] = [
        message({0x3707: "Drücke.csv"}, {0x3701: ("pump,bar\n" + "P1,4\nP2,5\n" * 600).encode()}, header=8),
        message({0x3707: "drawing.dwg"}, {0x3701: b"AC1032"}, header=8),
        {**message(header=8), "__substg1.0_3701000D": inner},
    ]
    document = of(tmp_path, message({0x0037: "Pump", 0x1000: "See below."}, files=files))
    written = texts(document)
    assert written[:2] == ["See below.", "Attachment: Drücke.csv"]
    assert written[2].startswith("| pump | bar |")
    assert written[2].count("P2") == 600
    assert written[-2:] == ["Older", "Was E06."]
    assert document.notes == ("attached drawing.dwg: not read: of no format that is read",)


def test_text_in_rtf_alone_is_read_by_pandoc(tmp_path: Path) -> None:
    pytest.importorskip("pypandoc")
    document = of(
        tmp_path, message({0x0037: "Pump"}, {0x1009: compress(rb"{\rtf1\ansi The pump draws \b 4.2 A\b0 .\par}")})
    )
    assert texts(document) == ["Attachment: text of the mail.rtf", "The pump draws 4.2 A."]


def test_a_compound_file_that_is_no_mail_is_refused_and_other_files_of_that_name_are_no_documents(
    tmp_path: Path,
) -> None:
    with pytest.raises(DocumentError, match="it has no properties of a message"):
        of(tmp_path, {"WordDocument": b"x"})
    (tmp_path / "de.msg").write_text("::msgcat::mcset de Yes Ja\n")
    assert discover([tmp_path / "de.msg"]).ignored == {".msg": 1}
