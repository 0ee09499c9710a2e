"""Documents that come and go while the desk is open: uploads, builds in its process, deletes, and what somebody might try."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import shutil
import socket
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx2
import pytest
from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Browser, expect

from kgrag.serve import guard
from kgrag.serve.access import Access, add_user, read_users
from kgrag.serve.problems import TooLarge
from kgrag.serve.uploads import Uploads
from kgrag.store.graph import GraphStore, open_store
from tests.documents.outlook_file import compound_file, message

from .browsing import ask, axe_faults, opened_page
from .conftest import HOSTILE, DeskServer, OpenDesk

PUMP = "# Pump P-7\n\n## Ratings\n\nThe pump P-7 delivers 12.5 l/min at 230 V. It weighs 3.4 kg.\n"
BROKEN = b"%PDF-1.7\nthis is no PDF at all"
BUILT = 20
"""Documents of a build that goes on while questions are asked."""


@pytest.fixture(scope="module")
def own_store(sample_target: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    """A store of this module's own: it is changed."""
    folder = tmp_path_factory.mktemp("changed") / "own.kg"
    shutil.copytree(f"{sample_target[:-3]}-copy.kg", folder)
    with open_store(str(folder)) as store:
        yield store


@pytest.fixture
def uploads(tmp_path: Path) -> Path:
    return tmp_path / "uploads"


@pytest.fixture
def curated(open_desk: OpenDesk, own_store: GraphStore, uploads: Path, tmp_path: Path) -> DeskServer:
    """A desk whose documents are changed."""
    return open_desk(store=own_store, uploads=uploads, folder=tmp_path / "desk")


def upload(client: httpx2.Client, name: str, content: bytes | str, **more: str) -> httpx2.Response:
    data = content.encode() if isinstance(content, str) else content
    return client.post("/api/documents", params={"name": name, **more}, content=data)


def built(client: httpx2.Client, **body: Any) -> dict[str, Any]:
    """Build, and wait until it is done."""
    started = client.post("/api/build", json=body)
    assert started.status_code == 202, started.text
    while True:
        now: dict[str, Any] = client.get("/api/build").json()
        if now["state"] != "running":
            return now
        time.sleep(0.05)


def answer(client: httpx2.Client, question: str) -> dict[str, Any]:
    reply = client.post("/api/ask", json={"question": question})
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()["answer"]
    return found


def test_an_uploaded_document_is_built_asked_and_deleted_and_a_broken_one_named(
    curated: DeskServer, uploads: Path, tmp_path: Path
) -> None:
    with curated.client() as client:
        assert answer(client, "How much does the pump P-7 deliver?")["abstained"]
        done = upload(client, "pump.md", PUMP, product="P-7")
        assert done.status_code == 201
        assert (uploads / "P-7" / "pump.md").read_text() == PUMP
        assert upload(client, "broken.pdf", BROKEN).status_code == 201
        now = built(client)
        assert now["state"] == "done"
        assert now["new_documents"] == 1
        assert [Path(one["subject"]).name for one in now["failures"]] == ["broken.pdf"]
        broken = now["failures"][0]
        assert broken["reason"] and broken["uploaded"]
        assert "12.5 l/min" in answer(client, "How much does the pump P-7 deliver?")["text"]
        documents = [one["document"] for one in client.get("/api/documents").json()]
        pump = next(one for one in documents if one["path"].endswith("pump.md"))
        assert pump["product"] == "P-7"
        assert client.get(f"/api/documents/{pump['id']}").json()["shown_from"] == "file"
        assert client.delete("/api/uploads", params={"path": pump["path"]}).status_code == 400
        for elsewhere in ("../desk/audit.jsonl", f"{broken['subject']}/../../desk/audit.jsonl", "a\0b"):
            assert client.delete("/api/uploads", params={"path": elsewhere}).status_code == 404
        assert client.delete("/api/uploads", params={"path": broken["subject"]}).json()["file_deleted"]
        assert not (uploads / "broken.pdf").exists()
        assert client.delete("/api/uploads", params={"path": broken["subject"]}).status_code == 404
        gone = client.delete(f"/api/documents/{pump['id']}").json()
        assert gone == {"documents": [pump["path"]], "file_deleted": True}
        assert not (uploads / "P-7" / "pump.md").exists()
        assert client.delete(f"/api/documents/{pump['id']}").status_code == 404
        assert answer(client, "How much does the pump P-7 deliver?")["abstained"]
    written = [json.loads(line) for line in (tmp_path / "desk" / "audit.jsonl").read_text().splitlines()]
    assert [one["action"] for one in written if "action" in one] == ["upload", "upload", "build", "delete", "delete"]


def test_what_a_file_is_may_be_told_by_its_content_and_packed_texts_are_taken(
    curated: DeskServer, uploads: Path
) -> None:
    page = (
        b".TH PUMPCTL 1\n.SH NAME\npumpctl \\- runs the pump P-7\n.SH DESCRIPTION\nThe pump P-7 delivers 12.5 l/min.\n"
    )
    letter = compound_file(message({0x37: "The pump P-8", 0x1000: "The pump P-8 delivers 13.5 l/min."}))
    book = b"<article><title>P-9</title><section><title>Flow</title><para>The pump P-9 delivers 14.5 l/min.</para></section></article>"
    with curated.client() as client:
        for name, content in {
            "pumpctl.1": page,
            "letter.msg": letter,
            "p-9.xml": book,
            "README": b"The pump P-10 delivers 15.5 l/min.\n",
            "p-11.md.gz": gzip.compress(b"# P-11\n\nThe pump P-11 delivers 16.5 l/min.\n"),
        }.items():
            assert upload(client, name, content).status_code == 201, name
        translations = upload(client, "de.msg", b'::msgcat::mcset de "pump" "Pumpe"\n')
        assert translations.status_code == 400
        assert "expected a file that ends in .pdf" in translations.json()["detail"]
        assert upload(client, "pom.xml", b"<project><name>pump</name></project>").status_code == 400
        assert upload(client, "p-12.png.gz", gzip.compress(BROKEN)).status_code == 400
        now = built(client)
        assert (now["new_documents"], now["failures"]) == (5, [])
        for pump, flow in {"P-7": "12.5", "P-8": "13.5", "P-9": "14.5", "P-10": "15.5", "P-11": "16.5"}.items():
            assert f"{flow} l/min" in answer(client, f"How much does the pump {pump} deliver?")["text"]
    assert {file.name for file in uploads.iterdir()} == {"README", "letter.msg", "p-11.md.gz", "p-9.xml", "pumpctl.1"}


def test_a_photo_is_shown_with_a_box_around_what_is_cited(curated: DeskServer, uploads: Path, tmp_path: Path) -> None:
    plate = Image.new("RGB", (900, 1200), "#d0d0d0")
    ImageDraw.Draw(plate).text((60, 800), "Pump P-21: 21.5 l/min", font=ImageFont.load_default(size=56), fill="black")
    turned = Image.Exif()
    turned[0x0112] = 6  # as a camera that is held upright writes it
    plate.rotate(90, expand=True).save(tmp_path / "plate.jpg", exif=turned)
    with curated.client() as client:
        upload(client, "plate.jpg", (tmp_path / "plate.jpg").read_bytes(), product="P-21").raise_for_status()
        assert built(client)["failures"] == []
        found = answer(client, "How much does the pump P-21 deliver?")
        assert "21.5 l/min" in found["text"]
        citation = next(one for one in found["citations"] if one["document"].endswith("plate.jpg"))
        shown = client.get(f"/api/passages/{citation['chunk_id']}", params={"quote": citation["quote"]}).json()
        (page,) = shown["pages"]
        assert page["width"] < page["height"]
        (box,) = page["boxes"]
        assert box["top"] > 60 and box["top"] + box["height"] < 80 and box["left"] < 10
        reply = client.get(page["picture"], params={"width": 400})
        assert reply.headers["content-type"] == "image/png"
        picture = Image.open(BytesIO(reply.content))
        assert picture.width < picture.height
        assert client.get(page["picture"].replace("/1.png", "/2.png")).status_code == 422
        entry = client.get(f"/api/documents/{shown['document']['id']}").json()
        assert (entry["pages"], entry["shown_from"]) == (1, "file")


def test_questions_are_answered_while_a_build_runs_and_a_second_build_waits_its_turn(
    curated: DeskServer, own_store: GraphStore, uploads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, goes_on = own_store.documents.put_embeddings, threading.Event()

    def held_put(*args: Any, **more: Any) -> None:
        """Put vectors once questions were answered: a build that lasts however quick the machine is."""
        assert goes_on.wait(600)
        put(*args, **more)

    monkeypatch.setattr(own_store.documents, "put_embeddings", held_put)
    uploads.mkdir()
    for number in range(BUILT):
        sections = "\n\n".join(f"## Part {part}\n\nThe part T-{number}-{part} draws {part} mA." for part in range(4))
        (uploads / f"part-{number}.md").write_text(f"# Part {number}\n\n{sections}")
    with curated.client() as client:
        client.post("/api/build", json={}).raise_for_status()
        for _ in range(2):
            assert "0.5 mA" in answer(client, "What is the standby current of the X-100 Rev 3?")["text"]
        busy = client.post("/api/build", json={})
        document = client.get("/api/documents").json()[0]["document"]["id"]
        assert busy.status_code == 409
        assert client.delete(f"/api/documents/{document}").status_code == 409
        assert "being changed already" in busy.json()["detail"]
        assert client.get("/api/build").json()["state"] == "running"
        goes_on.set()
        while client.get("/api/build").json()["state"] == "running":
            assert "0.5 mA" in answer(client, "What is the standby current of the X-100 Rev 3?")["text"]
        now = client.get("/api/build").json()
        assert now["state"] == "done"
        assert [one["name"] for one in now["steps"]][:2] == ["Find files", "Read"]
        assert all(one["done"] for one in now["steps"])
        shutil.rmtree(uploads)
        uploads.mkdir()
        assert len(built(client)["removed_documents"]) == BUILT


@pytest.mark.parametrize(
    "name",
    [
        "../pump.md",
        "..",
        "/etc/pump.md",
        "a/b.md",
        "a\\b.md",
        "C:pump.md",
        ".pump.md",
        "pump.md\0.pdf",
        "pump\n.md",
        "pump\u202efdp.md",
        " pump.md",
        "x" * 300 + ".md",
        "",
        "pump.exe",
        "pump",
        "pump.png.gz",
        "~$pump.docx",
        ".md",
    ],
)
def test_a_name_that_is_no_documents_name_is_refused(curated: DeskServer, uploads: Path, name: str) -> None:
    with curated.client() as client:
        reply = upload(client, name, PUMP)
        product = upload(client, "pump.md", PUMP, product=name or "..") if "." in name[:2] else reply
    assert reply.status_code == 400
    assert product.status_code == 400
    assert not list(uploads.parent.rglob("*pump*"))


def test_a_file_that_is_too_large_or_empty_leaves_nothing(
    open_desk: OpenDesk, own_store: GraphStore, uploads: Path
) -> None:
    desk = open_desk(store=own_store, uploads=uploads, max_file_mb=1)

    def pieces() -> Iterator[bytes]:
        for _ in range(12):
            yield b"x" * 100_000

    with desk.client() as client:
        assert upload(client, "large.md", b"x" * 1_200_000).status_code == 413
        assert client.post("/api/documents", params={"name": "large.md"}, content=pieces()).status_code in (400, 413)
        assert upload(client, "empty.md", b"").status_code == 400
        assert upload(client, "fits.md", b"x" * 900_000).status_code == 201
    assert [file.name for file in uploads.rglob("*")] == ["fits.md"]


def test_a_file_that_says_it_is_too_large_is_not_waited_for(open_desk: OpenDesk, own_store: GraphStore) -> None:
    desk = open_desk(store=own_store, max_file_mb=1)
    with socket.create_connection(("127.0.0.1", desk.port), timeout=60) as raw:
        raw.sendall(b"POST /api/documents?name=large.md HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1200000\r\n\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.1 413")


def test_a_file_is_limited_where_it_is_written_too(tmp_path: Path) -> None:
    """Whatever stands before it lets through."""
    uploads = Uploads(tmp_path / "uploads", file_bytes=1_000)

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(11):
            yield b"x" * 100

    with pytest.raises(TooLarge, match="Split it"):
        asyncio.run(uploads.write("large.md", "", pieces()))
    assert not list((tmp_path / "uploads").iterdir())


def test_where_the_servers_files_lie_is_for_its_log_alone(
    open_desk: OpenDesk, own_store: GraphStore, uploads: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    desk = open_desk(store=own_store, uploads=uploads, folder=tmp_path / "desk")
    uploads.write_text("a file where a folder has to be")
    with desk.client() as client:
        refused = upload(client, "pump.md", PUMP)
        shutil.rmtree(tmp_path / "desk", ignore_errors=True)
        (tmp_path / "desk").write_text("another one")
        unwritten = client.post("/api/ask", json={"question": "What does the X-100 need?"})
        by_protocol = client.post(
            "/v1/chat/completions", json={"model": "kgrag", "messages": [{"role": "user", "content": "What is X-100?"}]}
        )
    for reply in (refused, unwritten, by_protocol):
        assert reply.status_code == 507
        assert "finds the reason in its log" in reply.text
        assert str(tmp_path) not in reply.text
    assert f"{uploads}: cannot be written" in caplog.text
    assert f"{tmp_path / 'desk'}" in caplog.text


def test_all_uploads_together_are_limited_however_many_come_at_once(
    open_desk: OpenDesk, own_store: GraphStore, uploads: Path
) -> None:
    desk = open_desk(store=own_store, uploads=uploads, uploads_mb=1)
    with desk.client() as client:
        assert upload(client, "first.md", b"x" * 600_000).status_code == 201
        refused = upload(client, "second.md", b"x" * 600_000)
        assert refused.status_code == 507
        assert "--uploads-mb" in refused.json()["detail"]
        (uploads / "first.md").unlink()

        def send(number: int) -> int:
            return upload(client, f"part-{number}.md", b"x" * 300_000, product="P-7").status_code

        with ThreadPoolExecutor(6) as pool:
            statuses = Counter(pool.map(send, range(6)))
        assert set(statuses) == {201, 507}
        assert statuses[201] <= 3
        # What was refused takes no room: there is place for one more, by the limit.
        while upload(client, f"more-{sum(statuses.values())}.md", b"x" * 300_000).status_code == 201:
            statuses[201] += 1
        assert statuses[201] == 3
    files = [file for file in uploads.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) == 900_000


def test_a_file_that_goes_while_the_room_is_counted_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the file of an upload that is refused at the same time does."""
    (tmp_path / "stays.md").write_bytes(b"x" * 40)
    (tmp_path / "goes.md").write_bytes(b"x" * 2)
    look = Path.stat

    def look_and_lose(path: Path, **options: bool) -> os.stat_result:
        found = look(path, **options)
        if path.name == "goes.md":
            path.unlink()
        return found

    async def no_more() -> AsyncIterator[bytes]:
        yield b"x" * 50

    monkeypatch.setattr(Path, "stat", look_and_lose)
    uploads = Uploads(tmp_path, file_bytes=1_000, total_bytes=95)
    assert asyncio.run(uploads.write("comes.md", "", no_more())).bytes == 50


@pytest.mark.parametrize("folder", ["..", "../..", "/etc", "docs/../../", "away", "nothing", "docs\0", "file:///etc"])
def test_only_folders_below_the_root_are_built(
    curated: DeskServer, sample_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.chdir(sample_root)
    away = sample_root / "away"
    away.symlink_to(tmp_path)
    try:
        with curated.client() as client:
            reply = client.post("/api/build", json={"folder": folder})
    finally:
        away.unlink()
    assert reply.status_code == 400
    assert "below" in reply.json()["detail"]


def test_a_folder_of_the_server_is_built(
    curated: DeskServer, sample_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(sample_root)
    extra = sample_root / "extra"
    extra.mkdir()
    (extra / "pump.md").write_text(PUMP)
    try:
        with curated.client() as client:
            assert built(client, folder="extra")["new_documents"] == 1
            document = next(
                one["document"]
                for one in client.get("/api/documents").json()
                if one["document"]["path"] == "extra/pump.md"
            )
            assert client.delete(f"/api/documents/{document['id']}").json()["file_deleted"] is False
            assert (extra / "pump.md").exists()
    finally:
        shutil.rmtree(extra)


def test_who_may_only_ask_changes_nothing(
    open_desk: OpenDesk, own_store: GraphStore, uploads: Path, tmp_path: Path
) -> None:
    file = tmp_path / "users.toml"
    tokens = {role: add_user(file, f"{role}-user", role) for role in ("ask", "curate")}  # type: ignore[arg-type]
    desk = open_desk(store=own_store, uploads=uploads, access=Access(read_users(file)))
    statuses = {}
    for role, token in tokens.items():
        with desk.client(headers={"Authorization": f"Bearer {token}"}) as client:
            statuses[role] = [
                upload(client, "pump.md", PUMP).status_code,
                upload(client, "large.md", b"x" * 300_000).status_code,
                client.delete("/api/documents/nothing").status_code,
                client.delete("/api/uploads?path=nothing").status_code,
                client.post("/api/build", json={"folder": "nothing"}).status_code,
            ]
    assert statuses == {"ask": [403, 413, 403, 403, 403], "curate": [201, 201, 404, 404, 400]}


def test_documents_are_dropped_on_the_page_built_asked_and_deleted(
    browser: Browser, curated: DeskServer, tmp_path: Path
) -> None:
    hostile = tmp_path / 'fan "><img src=x onerror=alert(1)>.html'
    hostile.write_text(HOSTILE.replace("F-9", "F-11"))
    (tmp_path / "pump.md").write_text(PUMP)
    (tmp_path / "broken.pdf").write_bytes(BROKEN)
    for page in opened_page(browser, curated.url, bypass_csp=True):
        expect(page.locator("#pipeline option").first).to_be_attached()
        page.locator("#open-documents").click()
        dropped = page.evaluate_handle(
            """() => { const data = new DataTransfer(); data.items.add(new File(["x"], "notes.exe")); return data; }"""
        )
        page.dispatch_event("#drop", "drop", {"dataTransfer": dropped})
        expect(page.locator("#upload-problems")).to_contain_text("notes.exe")
        page.set_input_files("#files", [hostile, tmp_path / "pump.md", tmp_path / "broken.pdf"])
        expect(page.locator("#document-state")).to_contain_text("Done: 2 documents read")
        failed = page.locator("#build li.problem").filter(has_text="broken.pdf")
        failed.get_by_role("button").click()
        failed.get_by_role("button").click()
        expect(failed.get_by_role("button")).to_have_count(0)
        expect(page.locator("#document-state")).to_contain_text("broken.pdf is deleted")
        expect(page.locator("#document-list")).to_contain_text("<img src=x onerror=alert(1)>")
        assert axe_faults(page) == []
        page.locator("#documents-close").click()
        ask(page, "How much does the pump P-7 deliver?")
        expect(page.locator(".answer .text").last).to_contain_text("12.5 l/min")
        ask(page, "At how many rpm does the fan F-11 turn?")
        expect(page.locator(".answer .text").last).to_contain_text("4200 rpm")
        page.locator("#open-documents").click()
        for name in ("pump.md", "fan "):
            row = page.locator("#document-list li").filter(has_text="uploads/" + name)
            row.get_by_role("button").click()
            row.get_by_role("button", name="Delete").click()
            expect(row).to_have_count(0)
        expect(page.locator("#document-state")).to_contain_text("is deleted")


def test_an_upload_whose_rest_does_not_come_leaves_nothing_and_is_no_defect(
    curated: DeskServer, uploads: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    request = b"POST /api/documents?name=a.md HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n# A"
    with socket.create_connection(("127.0.0.1", curated.port), timeout=600) as gone:
        gone.sendall(request)
        while not list(uploads.glob("*.part")):
            time.sleep(0.05)
    while list(uploads.glob("*.part")):
        time.sleep(0.05)
    monkeypatch.setattr(guard, "STALLED_S", 0.5)
    with socket.create_connection(("127.0.0.1", curated.port), timeout=600) as silent:
        silent.sendall(request)
        assert silent.recv(100).startswith(b"HTTP/1.1 408")
        while silent.recv(10_000):  # until the desk closes the connection
            pass
    assert list(uploads.iterdir()) == []
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


def test_a_body_of_which_next_to_nothing_comes_is_not_waited_for(
    curated: DeskServer, uploads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "STALLED_S", 1.0)
    with socket.create_connection(("127.0.0.1", curated.port), timeout=600) as slow:
        slow.sendall(b"POST /api/documents?name=a.md HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n# A")
        slow.settimeout(0.2)
        sent = 0
        while sent < 900:
            try:
                assert slow.recv(100).startswith(b"HTTP/1.1 408")
                break
            except TimeoutError:
                slow.sendall(b"a")
                sent += 1
    assert sent < 900
    assert list(uploads.iterdir()) == []
