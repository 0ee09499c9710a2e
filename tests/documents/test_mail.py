"""Mail: who wrote what to whom, what is quoted and attached, boxes, and mails that are no good."""

from __future__ import annotations

import gzip
import io
import mailbox
from email.message import EmailMessage
from email.mime.text import MIMEText
from pathlib import Path

import pytest
from openpyxl import Workbook

from kgrag.documents import discover, read
from kgrag.documents.blocks import BlockDocument
from kgrag.documents.discovery import Source
from kgrag.documents.reading import convert_file
from kgrag.errors import DocumentError

HEADER = "From: Jane Doe <jane@acme.example>\nTo: support@acme.example\nSubject: Pump stops\nDate: Tue, 5 Mar 2024 10:22:00 +0100\n"
WHO = "From: Jane Doe <jane@acme.example>; To: support@acme.example; Date: 2024-03-05 10:22+01:00"


def of(tmp_path: Path, content: str | bytes, name: str = "a.eml") -> BlockDocument:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return convert_file(Source(path=path, stored_path=name, format="mail"))


def texts(document: BlockDocument) -> list[str]:
    return [block.written for block in document.blocks]


def ticket(body: str = "The pump shows E07.\n") -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "Jörg <j@acme.example>", "support@acme.example", "Pumpe fällt aus"
    mail["Date"] = "Tue, 5 Mar 2024 10:22:00 +0100"
    mail.set_content(body)
    return mail


def test_a_mail_is_its_subject_who_wrote_it_and_what(tmp_path: Path) -> None:
    document = of(tmp_path, f"{HEADER}\nThe pump shows E07.\n\nWhat is to be done?\n")
    assert document.title == "Pump stops"
    assert texts(document) == [WHO, "The pump shows E07.", "What is to be done?"]
    assert document.metadata == {
        "from": "Jane Doe <jane@acme.example>",
        "to": "support@acme.example",
        "date": "2024-03-05 10:22+01:00",
    }


def test_signatures_footers_and_seals_are_left_out_and_counted(tmp_path: Path) -> None:
    body = (
        "It works.\n\nSent from my iPhone\n\n-- \nJane Doe\nACME Ltd.\n____________________________\n"
        "pumps mailing list\nhttps://lists.example/pumps\n"
    )
    document = of(tmp_path, f"{HEADER}\n{body}")
    assert texts(document) == [WHO, "It works."]
    assert sorted((line.rule, line.text) for line in document.removed) == [
        ("signature", "ACME Ltd."),
        ("signature", "Jane Doe"),
        ("signature", "Sent from my iPhone"),
        ("signature", "____________________________"),
        ("signature", "https://lists.example/pumps"),
        ("signature", "pumps mailing list"),
    ]


def test_what_a_mail_quotes_stays(tmp_path: Path) -> None:
    body = "> Does it run at 5 V?\n> Or at 12 V?\n\nNo, at 3.3 V only.\n\nOn Monday Bob wrote:\n> It stops.\n> Why?\n"
    assert texts(of(tmp_path, f"{HEADER}\n{body}"))[1:] == [
        "Does it run at 5 V?",
        "Or at 12 V?",
        "No, at 3.3 V only.",
        "On Monday Bob wrote:",
        "It stops.",
        "Why?",
    ]


def test_of_the_same_in_several_ways_one_is_read_and_a_table_is_a_table(tmp_path: Path) -> None:
    mail = ticket("Plain words.")
    mail.add_alternative("<p>Words in <b>HTML</b>.</p>", subtype="html")
    assert texts(of(tmp_path, bytes(mail)))[1:] == ["Plain words."]
    mail = ticket("Code Meaning E07 dry")
    mail.add_alternative("<table><tr><th>Code<th>Meaning</tr><tr><td>E07<td>runs dry</tr></table>", subtype="html")
    assert texts(of(tmp_path, bytes(mail)))[1:] == ["| Code | Meaning |\n| --- | --- |\n| E07 | runs dry |"]


def test_attachments_are_read_as_parts_of_the_mail_and_others_are_named(tmp_path: Path) -> None:
    book = Workbook()
    book.active.title = "Errors"
    for row in (("Code", "Meaning"), ("E07", "runs dry"), ("E08", "too hot")):
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    mail = ticket()
    mail.add_attachment(out.getvalue(), maintype="application", subtype="octet-stream", filename="Fehler.xlsx")
    mail.add_attachment("# Read me\n\nSee [below](#end).\n\n## End\n\nx", subtype="markdown", filename="notes.md")
    mail.add_attachment("10:22 pump stopped", subtype="x-log", filename="pump.log")
    mail.add_attachment(b"PK\3\4", maintype="application", subtype="zip", filename="all.zip")
    mail.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="cut.pdf")
    document = of(tmp_path, bytes(mail))
    assert [(block.level, block.text) for block in document.blocks if block.kind == "heading"] == [
        (1, "Attachment: Fehler.xlsx"),
        (2, "Errors"),
        (1, "Attachment: notes.md"),
        (2, "Read me"),
        (3, "End"),
        (1, "Attachment: pump.log"),
    ]
    assert "| E07 | runs dry |" in "\n".join(texts(document))
    assert texts(document)[-1] == "10:22 pump stopped"
    assert [link.href for block in document.blocks for link in block.links] == ["a.eml#notes.md:end"]
    assert "attached all.zip: not read: of no format that is read" in document.notes
    assert any(note.startswith("attached cut.pdf: truncated PDF") for note in document.notes)


def test_a_mail_within_a_mail_is_a_section_of_it(tmp_path: Path) -> None:
    outer = ticket("See the mail below.")
    outer.add_attachment(ticket("Inner words."))
    document = of(tmp_path, bytes(outer))
    assert [(block.kind, block.text) for block in document.blocks][2:] == [
        ("heading", "Pumpe fällt aus"),
        ("paragraph", "From: Jörg <j@acme.example>; To: support@acme.example; Date: 2024-03-05 10:22+01:00"),
        ("paragraph", "Inner words."),
    ]


def test_a_box_is_a_section_for_each_mail_and_what_an_answer_quotes_of_it_is_left_out_below(tmp_path: Path) -> None:
    box = mailbox.mbox(tmp_path / "tickets.mbox")
    box.add(ticket("The pump shows E07.\nFrom time to time it stops.\n"))
    box.add(ticket("Fill in water.\n\nJörg wrote:\n> The pump shows E07.\n> From time to time it stops.\n"))
    box.add(ticket("> Fill in water.\n\nIt helped.\n\n> Nobody wrote this line before.\n"))
    box.flush()
    data = (tmp_path / "tickets.mbox").read_bytes()
    document = of(tmp_path, data, "tickets.mbox")
    who = "From: Jörg <j@acme.example>; To: support@acme.example; Date: 2024-03-05 10:22+01:00"
    assert document.title == "tickets"
    assert texts(document) == [
        *("Pumpe fällt aus", who, "The pump shows E07.", "From time to time it stops."),
        *("Pumpe fällt aus", who, "Fill in water.", "Jörg wrote:"),
        *("Pumpe fällt aus", who, "> Fill in water.", "It helped.", "> Nobody wrote this line before."),
    ]
    assert [line.text for line in document.removed] == ["> The pump shows E07.", "> From time to time it stops."]
    assert document.metadata == {"mails": 3}
    assert of(tmp_path, gzip.compress(data), "tickets.mbox.gz").blocks == document.blocks


@pytest.mark.parametrize(
    ("charset", "word"),
    [("utf-8", "Größe"), ("iso-8859-1", "Größe"), ("koi8-r", "насос"), ("gb2312", "水泵"), ("shift_jis", "ポンプ")],
)
def test_declared_encodings_are_read_in_body_and_subject(charset: str, word: str, tmp_path: Path) -> None:
    from email.header import Header

    mail = MIMEText(f"{word} here.", "plain", charset)
    mail["From"], mail["Subject"] = "a@b.example", Header(word, charset)  # type: ignore[assignment]
    document = of(tmp_path, mail.as_bytes())
    assert (document.title, texts(document)[-1]) == (word, f"{word} here.")


def test_bytes_that_are_not_as_declared_and_lines_that_flow_are_read(tmp_path: Path) -> None:
    data = HEADER.replace("Pump stops", "Größe").encode() + (
        b'Content-Type: text/plain; charset="nosuch"; format=flowed\n\n' + "Die Größe \nist 5 mm.\n".encode()
    )
    document = of(tmp_path, data)
    assert (document.title, texts(document)[-1]) == ("Größe", "Die Größe ist 5 mm.")


def nested(times: int) -> str:
    text = "text/plain\n\nhello"
    for number in range(times):
        text = f'multipart/mixed; boundary="b{number}"\n\n--b{number}\nContent-Type: {text}\n--b{number}--\n'
    return f"{HEADER}Content-Type: {text}"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "its content is a PNG file"),
        ("Some words that are no mail.\n", "is no mail"),
        (nested(60), "more parts, or parts within parts"),
        (nested(2000), "nested too deeply|more parts"),
        (f"{HEADER}Content-Type: application/pkcs7-mime\n\nMIIB", "has no text: a part is encrypted"),
    ],
)
def test_what_is_no_mail_or_hostile_is_refused_in_plain_words(content: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=reason):
        of(tmp_path, content.encode("latin-1"))


def test_a_mail_of_very_many_parts_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    parts = "--b\nContent-Type: text/plain\n\nhi\n" * 5000
    document = of(tmp_path, f"{HEADER}Content-Type: multipart/mixed; boundary=b\n\n{parts}--b--\n")
    assert len(document.blocks) == 2000
    assert document.notes == ("has more parts, or parts within parts, than are read",)


def test_chunks_of_a_mail_are_under_its_subject(tmp_path: Path, count_tokens: object) -> None:
    path = tmp_path / "a.eml"
    path.write_bytes(bytes(ticket()))
    (source,) = discover([path]).sources
    (converted,) = read(source, count_tokens=count_tokens, max_tokens=254)  # type: ignore[arg-type]
    assert converted.document.title == "Pumpe fällt aus"
    assert converted.document.metadata["from"] == "Jörg <j@acme.example>"
    assert "The pump shows E07." in converted.chunks[0].text


def test_a_box_is_read_whose_first_mail_has_no_line_that_begins_it(tmp_path: Path) -> None:
    first = f"{HEADER}\nThe pump shows E07.\n"
    assert "The pump shows E07." in texts(of(tmp_path, first, "a.mbox"))
    second = f"From jane@acme.example Tue Mar  5 10:22:00 2024\n{HEADER}\nIt works.\n"
    document = of(tmp_path, f"{first}\n{second}", "b.mbox")
    assert document.metadata == {"mails": 2}
    assert {"The pump shows E07.", "It works."} <= set(texts(document))


def test_a_file_without_a_name_is_read_by_its_type_and_another_way_to_say_the_same_is_none(tmp_path: Path) -> None:
    mail = ticket()
    mail.add_alternative(b"{\\rtf1 The pump shows E07.}", maintype="application", subtype="rtf")
    document = of(tmp_path, mail.as_bytes())
    assert texts(document)[1:] == ["The pump shows E07."]
    assert document.notes == ()
    mail = ticket()
    mail.add_attachment(b"code,meaning\nE07,no water\n", maintype="text", subtype="csv")
    del mail.get_payload()[1]["Content-Disposition"]
    mail.add_attachment(b"<p>Clean the filter.</p>", maintype="application", subtype="xhtml+xml")
    document = of(tmp_path, mail.as_bytes())
    assert texts(document)[-2:] == ["Attachment: unnamed.xhtml", "Clean the filter."]


def test_what_is_packed_into_its_signature_is_said(tmp_path: Path) -> None:
    seal = "Content-Type: application/pkcs7-mime; smime-type=signed-data\nContent-Transfer-Encoding: base64\n\nMIIB\n"
    with pytest.raises(DocumentError, match="a part is packed into its signature"):
        of(tmp_path, f"{HEADER}{seal}")


def test_a_page_saved_with_all_it_needs_is_read_without_its_styles(tmp_path: Path) -> None:
    page = EmailMessage()
    page["Subject"] = "Pump"
    page.set_content("<h1>Pump</h1><p>It delivers 12 l/min.</p>", subtype="html")
    page.add_related("p { color: red }", subtype="css")
    (tmp_path / "a.mhtml").write_bytes(bytes(page))
    (tmp_path / "mason.mhtml").write_text("<%args>\n$part\n</%args>\n<p><% $part %></p>\n")
    discovery = discover([tmp_path])
    (source,) = discovery.sources
    assert texts(convert_file(source))[-2:] == ["Pump", "It delivers 12 l/min."]
    assert discovery.ignored == {".mhtml": 1}
