"""Pictures of the support desk, as `docs/images/` has two of: `python -m benchmarks.desk_screenshots [--out FOLDER] [--docs]`.

Builds `examples/documents` and a hostile document into a store (in `--work`, which keeps it for the next time), opens `kgrag serve` on
it, and goes through the page in the machine's Chromium without a window, 400 and 1600 pixels wide, light and dark: an answer, its source,
a follow-up, an abstention that is passed on, feedback, two pipelines beside each other, the picture of entities, documents with an
upload, a hostile document. Writes a PNG of each with 256 colours; with `--docs` the two that the README shows into `docs/images/`.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

PROJECT = Path(__file__).resolve().parents[1]
IMAGES = PROJECT / "docs" / "images"
SLOW_MS = 180_000
SIZES = {"narrow": (400, 860), "wide": (1600, 900)}
FOR_README = {"desk-wide-light": "wide-light-2-source", "desk-narrow-dark": "narrow-dark-1-answer"}
QUESTION = "What is the standby time of the X-100 Rev 3?"
HOSTILE = """<html><head><title>Fan F-9 &lt;img src=x onerror=alert(1)&gt;</title><script>alert(2)</script></head>
<body onload="alert(3)"><h1>Fan F-9</h1><p onclick="alert(4)">The fan F-9 turns at 4200 rpm
&lt;script&gt;alert(5)&lt;/script&gt; and takes 90 mA.</p></body></html>"""


def main() -> None:
    """Write the pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--out", type=Path, default=Path("desk-screenshots"))
    parser.add_argument("--docs", action="store_true", help="write those of the README, too")
    parser.add_argument("--work", type=Path, help="keep documents and store there")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as opened:
        work = arguments.work or Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="kgrag-desk-")))
        address = opened.enter_context(opened_desk(work))
        for size, (width, height) in SIZES.items():
            for scheme in ("light", "dark"):
                with opened_page(address, width, height, scheme) as page:
                    go_through(page, work, arguments.out / f"{size}-{scheme}")
    for shown, picture in FOR_README.items() if arguments.docs else ():
        shutil.copyfile(arguments.out / f"{picture}.png", IMAGES / f"{shown}.png")


@contextmanager
def opened_desk(folder: Path) -> Iterator[str]:
    """Build the sample and serve it; yield the address of a desk that has answered once."""
    shutil.copytree(PROJECT / "examples" / "documents", folder / "documents", dirs_exist_ok=True)
    (folder / "documents" / "fan.html").write_text(HOSTILE, encoding="utf-8")
    command = [sys.executable, "-m", "kgrag"]
    subprocess.run(
        [*command, "build", "documents", "--store", "desk.kg"], cwd=folder, check=True, stdout=subprocess.DEVNULL
    )
    serving = [*command, "serve", "--store", "desk.kg", "--port", "0"]
    with subprocess.Popen(serving, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        try:
            if found is None:
                raise SystemExit(f"The desk did not open: {line}")
            httpx2.post(f"{found[0]}/api/ask", json={"question": QUESTION}, timeout=SLOW_MS / 1000).raise_for_status()
            yield found[0]
        finally:
            process.terminate()


@contextmanager
def opened_page(address: str, width: int, height: int, scheme: str) -> Iterator[Page]:
    """Open the desk in a browser of its own."""
    chromium = shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(
            viewport={"width": width, "height": height}, color_scheme="dark" if scheme == "dark" else "light"
        )
        page.set_default_timeout(SLOW_MS)
        expect.set_options(timeout=SLOW_MS)
        page.goto(address)
        expect(page.locator("#pipeline option").first).to_be_attached()
        yield page
        browser.close()


def ask(page: Page, question: str) -> None:
    """Ask, and wait for the answer."""
    turns = page.locator(".turn").count()
    page.fill("#question", question)
    page.press("#question", "Enter")
    expect(page.locator(".turn")).to_have_count(turns + 1)
    expect(page.locator("#send")).to_be_enabled()


def go_through(page: Page, folder: Path, pictures: Path) -> None:
    """Do what people do, and take a picture of each; their files begin with the name of `pictures`."""

    def take(name: str) -> None:
        shot(page, pictures.with_name(f"{pictures.name}-{name}.png"))

    ask(page, QUESTION)
    take("1-answer")
    page.locator("button.cite").first.click()
    expect(page.locator("#source-page img").first).to_be_visible()
    for picture in page.locator("#source-page img").all():
        expect(picture).to_have_js_property("complete", True)
    take("2-source")
    page.locator("#close").click()
    page.fill("#question", "And the X-1000?")
    page.press("#question", "Enter")
    expect(page.locator("#rewritten")).to_be_visible()
    take("3-follow-up")
    page.press("#completed", "Enter")
    expect(page.locator(".turn")).to_have_count(2)
    expect(page.locator("#send")).to_be_enabled()
    page.locator(".answer").last.get_by_role("button", name="Wrong source").click()
    expect(page.locator(".answer .thanks").last).to_be_visible()
    take("4-feedback")
    page.locator("#again").click()
    ask(page, "Who won the football match on Mars?")
    take("5-abstention")
    page.locator(".answer").last.get_by_role("button", name="Pass on").click()
    expect(page.locator(".answer .thanks").last).to_be_visible()
    take("6-passed-on")
    page.locator("#again").click()
    page.select_option("#other", "sparse")
    ask(page, QUESTION)
    take("7-compared")
    page.locator("summary", has_text="Evidence").first.click()
    page.locator("summary", has_text="Entities").first.click()
    expect(page.locator("svg.graph circle").first).to_be_attached()
    page.locator("svg.graph").first.scroll_into_view_if_needed()
    take("8-entities")
    page.select_option("#other", "")
    page.locator("#again").click()
    ask(page, "At how many rpm does the fan F-9 turn?")
    page.locator("button.cite").first.click()
    expect(page.frame_locator("#source-page iframe").locator("#kgrag-mark")).to_be_visible()
    take("9-hostile")
    page.locator("#close").click()
    number = 7 + len(list(folder.glob("pump-*.md")))
    pump, broken = folder / f"pump-p{number}.md", folder / "broken.pdf"
    pump.write_text(f"# Pump P-{number}\n\n## Ratings\n\nIt delivers 12.5 l/min at 230 V.\n", encoding="utf-8")
    broken.write_bytes(b"%PDF-1.7\nthis is no PDF at all")
    page.locator("#open-documents").click()
    page.set_input_files("#files", [pump, broken])
    expect(page.locator("#document-list")).to_contain_text(pump.name)
    expect(page.locator("#document-state")).to_contain_text("Done:")
    take("10-documents")


def shot(page: Page, file: Path) -> None:
    """Write what the window shows as a small PNG."""
    page.wait_for_timeout(500)  # what fades in has done so
    page.screenshot(path=file)
    with Image.open(file) as picture:
        picture.convert("RGB").quantize(256).save(file, optimize=True)


if __name__ == "__main__":
    main()
