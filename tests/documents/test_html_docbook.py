from pathlib import Path

from kgrag.documents.html import convert_html

ENTRY = """<div class="refentry"><a name="{name}"></a><div class="titlepage"></div><div class="refnamediv"><h2>Name</h2>
<p>{name} — {purpose}</p></div><div class="refsection"><a name="d-{name}"></a><h2>Description</h2><p>{text}</p></div></div>"""
BOX = """<div class="note"><table border="0" summary="Note"><tr><td rowspan="2" align="center"><img alt="[Note]" src="note.png"></td>
<th align="left">{title}</th></tr><tr><td align="left"><p>Tanks without a lid are not counted.</p></td></tr></table></div>"""


def blocks(body: str) -> list[tuple[str, int | None, str]]:
    page = f"<html><head><title>Tanks</title></head><body>{body}</body></html>"
    document = convert_html(page.encode(), Path("tanks.html"), document_path="tanks.html")
    return [
        (block.kind, block.level if block.kind == "heading" else None, " ".join(block.lines))
        for block in document.blocks
    ]


def test_the_parts_of_a_reference_entry_stand_below_its_name_and_that_below_its_section() -> None:
    entries = ENTRY.format(name="mix_tanks", purpose="Stir several tanks", text="All at once.") + ENTRY.format(
        name="drain", purpose="Empty a tank", text="It takes a while."
    )
    section = (
        f'<div class="sect1"><div class="titlepage"><div><h2 class="title">Functions</h2></div></div>{entries}</div>'
    )
    assert [(level, text) for kind, level, text in blocks(section) if kind == "heading"] == [
        (2, "Functions"),
        (3, "mix_tanks"),
        (4, "Description"),
        (3, "drain"),
        (4, "Description"),
    ]


def test_a_page_that_is_one_entry_keeps_its_headings() -> None:
    entry = ENTRY.format(name="drain", purpose="Empty a tank", text="It takes a while.")
    assert [(level, text) for kind, level, text in blocks(entry) if kind == "heading"] == [
        (2, "Name"),
        (2, "Description"),
    ]


def test_a_box_of_a_picture_a_title_and_a_text_is_no_table() -> None:
    said = ("paragraph", None, "Tanks without a lid are not counted.")
    assert blocks(BOX.format(title="")) == [("paragraph", None, "Note"), said]
    assert blocks(BOX.format(title="Open tanks")) == [("paragraph", None, "Open tanks"), said]
