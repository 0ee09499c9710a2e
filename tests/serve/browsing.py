"""The page in a browser: opened so that whatever a hostile document does fails the test, asked, and checked for those who do not see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

SLOW_MS = 120_000
SERIOUS = {"serious", "critical"}


def opened_page(browser: Browser, url: str, **options: Any) -> Iterator[Page]:
    page = browser.new_page(**options)
    page.set_default_timeout(SLOW_MS)
    expect.set_options(timeout=SLOW_MS)
    wrong: list[str] = []
    page.on("dialog", lambda dialog: (wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on("pageerror", lambda error: wrong.append(f"error {error}"))
    page.on("request", lambda request: None if request.url.startswith(url) else wrong.append(f"request {request.url}"))
    page.goto(url)
    yield page
    page.close()
    assert wrong == []


def ask(page: Page, question: str) -> None:
    expect(page.locator("#pipeline option").first).to_be_attached()
    turns = page.locator(".turn").count()
    page.fill("#question", question)
    page.press("#question", "Enter")
    expect(page.locator(".turn")).to_have_count(turns + 1)
    expect(page.locator("#send")).to_be_enabled()


def axe_faults(page: Page) -> list[str]:
    found = Axe().run(page, options={"iframes": False}).response["violations"]
    return [f"{one['id']}: {[node['target'] for node in one['nodes']]}" for one in found if one["impact"] in SERIOUS]
