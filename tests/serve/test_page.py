"""The page in a browser (the machine's chromium): asking, sources, follow-ups, passing on, keyboard, and what a hostile document can do."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from kgrag.serve.access import Access, add_user, read_users
from kgrag.store.graph import open_store
from kgrag.store.ledger import WorkRecord
from kgrag.testing import ModelServer, answer
from kgrag.types import Entity, Extraction

from .browsing import ask, axe_faults, opened_page
from .conftest import DeskServer, OpenDesk

NEAR = "Can the X-1000 read a thermocouple?"
"""No document says it."""
QUESTION = "What is the standby current of the X-100 Rev 3?"


@pytest.fixture
def page(browser: Browser, desk: DeskServer) -> Iterator[Page]:
    """The desk's page; a dialog, an error of a script or a request to elsewhere fails the test."""
    yield from opened_page(browser, desk.url)


def test_a_citation_opens_the_page_with_a_box_over_the_quoted_row(page: Page) -> None:
    ask(page, QUESTION)
    expect(page.locator(".answer .text").last).to_contain_text("0.5 mA")
    cite = page.locator('button.cite[aria-label*=".pdf"]').first
    cite.click()
    mark = page.locator("#source-page .mark").first
    expect(mark).to_be_visible()
    picture = page.locator("#source-page .page").filter(has=page.locator(".mark")).locator("img").first
    expect(picture).to_have_js_property("complete", True)
    inner, outer = mark.bounding_box(), picture.bounding_box()
    assert inner is not None
    assert outer is not None
    assert outer["x"] <= inner["x"] < inner["x"] + inner["width"] <= outer["x"] + outer["width"]
    assert 0 < inner["height"] < 0.1 * outer["height"]
    page.keyboard.press("Escape")
    expect(page.locator("#source")).to_be_hidden()
    expect(cite).to_be_focused()


def test_a_follow_up_is_shown_completed_and_can_be_changed(page: Page) -> None:
    ask(page, "What is the standby current of the X-100?")
    page.fill("#question", "And the X-1000?")
    page.press("#question", "Enter")
    completed = page.locator("#completed")
    expect(completed).to_have_value("What is the standby current of the X-1000?")
    completed.fill("What is the supply voltage of the X-1000?")
    completed.press("Enter")
    expect(page.locator(".turn")).to_have_count(2)
    expect(page.locator(".turn").last).to_contain_text("Asked as: What is the supply voltage of the X-1000?")
    expect(page.locator("#send")).to_be_enabled()


def test_what_the_documents_do_not_say_is_passed_on_and_answers_are_judged(
    browser: Browser, open_desk: OpenDesk, tmp_path: Path
) -> None:
    desk = open_desk(folder=tmp_path / "desk")
    for page in opened_page(browser, desk.url):
        ask(page, "Who won the football match on Mars?")
        answer = page.locator(".answer").last
        expect(answer).to_have_class("answer abstained")
        page.fill(".answer input", "please ask the makers")
        answer.get_by_role("button", name="Pass on").click()
        expect(answer.locator(".thanks")).to_contain_text("Passed on")
        ask(page, QUESTION)
        page.locator(".answer").last.get_by_role("button", name="Wrong source").click()
        expect(page.locator(".answer .thanks").last).to_contain_text("Thank you")
    assert json.loads((tmp_path / "desk" / "tickets.jsonl").read_text())["comment"] == "please ask the makers"
    assert json.loads((tmp_path / "desk" / "feedback.jsonl").read_text())["verdict"] == "wrong source"


def test_what_is_nearest_to_a_question_without_an_answer_is_shown_with_its_source_and_kept(page: Page) -> None:
    ask(page, NEAR)
    answer = page.locator(".answer").last
    expect(answer).to_have_class("answer abstained")
    expect(answer.locator(".text")).to_contain_text("Nearest in the documents, which may not answer it:")
    answer.locator(".text li button.cite").first.click()
    expect(page.locator("#source")).to_be_visible()
    page.keyboard.press("Escape")
    said = answer.locator(".text").inner_text()
    page.reload()
    expect(page.locator(".answer .text").last).to_contain_text("which may not answer it")
    assert page.locator(".answer .text").last.inner_text() == said
    assert axe_faults(page) == []


def test_a_page_that_is_loaded_again_goes_on_where_it_was(page: Page) -> None:
    ask(page, "What is the standby current of the X-100?")
    said = page.locator(".answer .text").inner_text()
    page.reload()
    expect(page.locator(".turn")).to_have_count(1)
    assert page.locator(".answer .text").inner_text() == said
    page.fill("#question", "And the X-1000?")
    page.press("#question", "Enter")
    expect(page.locator("#completed")).to_have_value("What is the standby current of the X-1000?")
    page.locator("#again").click()
    page.reload()
    expect(page.locator("#pipeline option").first).to_be_attached()
    expect(page.locator(".turn")).to_have_count(0)


def test_two_pipelines_stand_side_by_side_and_the_graph_is_drawn(page: Page) -> None:
    expect(page.locator("#other option").nth(1)).to_be_attached()
    page.select_option("#other", "sparse")
    ask(page, QUESTION)
    expect(page.locator(".answer")).to_have_count(2)
    page.locator("summary", has_text="Entities").first.click()
    expect(page.locator("svg.graph circle").first).to_be_attached()
    page.locator("svg.graph a").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#source-title")).not_to_have_text("Opening…")
    page.locator("summary", has_text="Evidence").first.click()
    expect(page.locator("ol.evidence .why").first).to_contain_text("score")


@pytest.mark.parametrize("bypass_csp", [False, True])
def test_a_hostile_document_is_text(browser: Browser, desk: DeskServer, bypass_csp: bool) -> None:
    """Also without the policy, which would hide what the page itself lets through."""
    for page in opened_page(browser, desk.url, bypass_csp=bypass_csp):
        hostile_document(page)


def hostile_document(page: Page) -> None:
    ask(page, "At how many rpm does the fan F-9 turn?")
    expect(page.locator(".answer .text").last).to_contain_text("4200 rpm")
    page.locator("button.cite").first.click()
    frame = page.frame_locator("#source-page iframe")
    expect(page.locator("#source-page iframe")).to_have_attribute("sandbox", "")
    expect(frame.locator("#kgrag-mark")).to_be_visible()
    expect(frame.locator("body")).to_contain_text("90 mA")
    assert page.title() == "Support desk"
    page.locator("summary", has_text="Evidence").first.click()
    expect(page.locator("ol.evidence")).to_contain_text("<img src=x onerror=alert(7)>")


def test_what_a_model_writes_and_an_entity_is_called_is_text(
    browser: Browser, open_desk: OpenDesk, sample_target: str, tmp_path: Path
) -> None:
    name = "<img src=x onerror=alert(8)> X-100"
    folder = tmp_path / "named.kg"
    shutil.copytree(f"{sample_target[:-3]}-copy.kg", folder)
    words = {
        "quotes": [],
        "answered": True,
        "answer": "The standby current <img src=x onerror=alert(9)> is 0.5 mA [1].",
    }
    with open_store(str(folder)) as store, ModelServer(lambda request: answer(words)) as model:
        chunks = list(store.documents.chunks())
        named = Entity(name=name, type="<script>alert(10)</script>", normal="x-100")
        said = [Extraction(chunk_id=chunk.id, entities=(named,)) for chunk in chunks]
        records = [WorkRecord("extract", one.chunk_id, scope="mention", version="x", result=one.digest) for one in said]
        store.graphs.put_extractions("mention", list(zip(said, records, strict=True)))
        desk = open_desk(store=store, model="openai:any", base_url=model.url, model_cache="off")
        for page in opened_page(browser, desk.url, bypass_csp=True):
            ask(page, QUESTION)
            expect(page.locator(".answer .text")).to_contain_text("<img src=x onerror=alert(9)>")
            page.locator("summary", has_text="Entities").first.click()
            expect(page.locator("svg.graph a").first).to_have_attribute("aria-label", re.compile("^<img src=x onerror"))
            page.locator("svg.graph a").first.click()
            expect(page.locator("#source-quote")).to_contain_text(name)


def test_people_log_in_with_their_token(browser: Browser, open_desk: OpenDesk, tmp_path: Path) -> None:
    token = add_user(tmp_path / "users.toml", "anna", "ask")
    desk = open_desk(access=Access(read_users(tmp_path / "users.toml")))
    for page in opened_page(browser, desk.url):
        expect(page.locator("#login")).to_be_visible()
        page.fill("#token", "wrong")
        page.press("#token", "Enter")
        expect(page.locator("#login-problem")).to_contain_text("not known")
        page.fill("#token", token)
        page.press("#token", "Enter")
        expect(page.locator("#login")).to_be_hidden()
        ask(page, QUESTION)
        expect(page.locator(".answer .text").last).to_contain_text("0.5 mA")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1600])
def test_nothing_serious_is_wrong_for_those_who_do_not_see_and_nothing_is_wider_than_the_page(
    browser: Browser, desk: DeskServer, scheme: str, width: int
) -> None:
    options = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme, "bypass_csp": True}
    for page in opened_page(browser, desk.url, **options):
        ask(page, QUESTION)
        page.locator("summary", has_text="Evidence").first.click()
        page.locator("summary", has_text="Entities").first.click()
        expect(page.locator("svg.graph circle").first).to_be_attached()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        faults = axe_faults(page)
        page.locator("button.cite").first.click()
        expect(page.locator("#source-page img, #source-page iframe").first).to_be_visible()
        faults += axe_faults(page)
    assert faults == []
