"""Cleaning: what goes, under which name, and above all what stays."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kgrag.documents.blocks import Block, Link, RemovedLine, TableRow
from kgrag.documents.boilerplate import Outline
from kgrag.documents.cleaning import clean
from kgrag.documents.text_encoding import repair_text
from kgrag.text.units import SYMBOLS


def h(text: str, level: int = 1) -> Block:
    return Block("heading", text, level)


def p(text: str, *hrefs: str) -> Block:
    return Block("paragraph", text, links=tuple(Link(href, text, text) for href in hrefs))


def li(text: str, *hrefs: str) -> Block:
    return Block("list_item", f"- {text}", 1, links=tuple(Link(href, text, text) for href in hrefs))


def table(header: str, *rows: str) -> Block:
    def cells(row: str) -> TableRow:
        return TableRow(tuple(cell.strip() for cell in row.split("|")))

    return Block("table", header=cells(header), rows=tuple(map(cells, rows)))


def left(*blocks: Block) -> list[str]:
    kept, report = clean(blocks)
    lines = [line for block in blocks for line in block.lines]
    assert len(lines) == sum(len(block.lines) for block in kept) + sum(report.counts.values()), (
        "every line is kept or counted"
    )
    return [line for block in kept for line in block.lines]


QUANTITIES = [
    *(
        "3.3 V",
        "260 – 1260 hPa",
        "2x I2C",
        "- 2.400 - 2.4835 GHz",
        "0.67 mA",
        "±0.5 °C",
        "10 µA",
        "-40 … 85 °C",
        "100 Ω ± 1 %",
    ),
    *("| 5 |", "1.8", "=5", "3×3", "5 %", "Rev 2", "800 × 480 px"),
]
HEADINGS = ["Contents of the kit", "Power", "Links", "FCC", "Version history", "TOC"]


@pytest.mark.parametrize("line", QUANTITIES)
def test_short_lines_with_quantities_survive_everywhere(line: str) -> None:
    assert left(h("Ratings"), p(line), h("2", 2), p(line)) == ["Ratings", line, "2", line]
    assert left(h("Revision History"), p(line))[-1] == line
    assert left(h("Reference Documentation"), p(line))[-1] == line


@given(st.lists(st.sampled_from(QUANTITIES), min_size=1, max_size=8), st.sampled_from(HEADINGS))
def test_no_rule_takes_a_list_of_quantities(lines: list[str], heading: str) -> None:
    assert left(h(heading), *map(li, lines)) == [heading, *(f"- {line}" for line in lines)]


def test_a_table_of_contents_goes_with_its_heading() -> None:
    body = (h("1 Power", 1), p("text"), h("1.1 Supply voltage", 2), p("text"))
    kept = ["1 Power", "text", "1.1 Supply voltage", "text"]
    assert left(h("Contents"), p("1 Power ........ 3"), p("1.1 Supply voltage .... 4"), *body) == kept
    assert left(h("Table of Contents"), li("Power"), li("Supply voltage"), *body) == kept
    assert left(h("CONTENTS"), p("1 Power 3 1.1 Supply voltage 4"), p("2 / 34"), *body) == kept
    assert left(h("Contents"), h("1.1 Supply voltage 4", 2), *body) == kept
    assert left(p("Power . . . . . 3"), p("Supply . . . . . 4"), p("Dimensions … 12"), *body) == kept


def test_what_only_looks_like_contents_stays() -> None:
    assert len(left(h("Contents"), li("1 × X-100 board"), li("2 × cable, 3 m"), h("Power"), p("text"))) == 5
    assert (
        left(p("Supply voltage ..... 3.3 V"), p("Current ..... 5 mA"), p("Weight ..... 25 g"))[0]
        == "Supply voltage ..... 3.3 V"
    )


def test_links_into_the_page_are_its_contents_and_links_to_others_are_not() -> None:
    inside = [li(name, f"docs/a.md#{name}") for name in ("power", "supply", "rails", "limits")]
    across = [li(name, f"docs/{name}.md#top") for name in ("power", "supply", "rails", "limits")]
    assert left(*inside, p("text")) == ["text"]
    assert len(left(*across, p("text"))) == 5


def test_a_revision_history_goes_and_what_is_only_called_so_stays() -> None:
    history = table("Date | Revision | Changes", "25/04/2024 | 4 | Updated link", "27/10/2023 | 3 | Corrected pins")
    assert left(h("Power"), p("text"), h("11 Revision History"), history, h("Index"), p("end")) == [
        "Power",
        "text",
        "Index",
        "end",
    ]
    assert left(history, p("text")) == ["text"]
    assert left(h("Document history"), li("2024-05-06: first issue"), li("June 2025: Rev 3")) == []
    boards = table("Revision | Wake pin | Supply", "Rev 2 | D2 | 3.3 V", "Rev 3 | D7 | 3.3 V")
    assert len(left(h("Revision history"), boards)) == 4
    assert len(left(h("Changelog"), h("3.0", 2), li("heats for 10 s"), h("2.4", 2), li("wakes by D2"))) == 5


def test_bare_lists_of_addresses_go_and_links_within_the_corpus_stay() -> None:
    prose = p("The library at https://e.com/lib drives the sensor and reads it at 50 Hz.")
    external = table("Ref | Link", "IDE | https://www.arduino.cc/en/software", "Store | https://store.arduino.cc/")
    assert left(h("Reference Documentation"), external) == []
    assert left(h("Useful links"), li("IDE", "https://e.com/a"), li("Store: https://e.com/b")) == []
    assert len(left(h("References"), li("Power page", "docs/power.html"), li("Pins", "docs/pins.html"))) == 3
    assert len(left(h("Resources"), prose, li("x", "https://e.com"))) == 3
    assert len(left(h("Interfaces"), external)) == 4


def test_regulatory_statements_go_and_what_they_say_of_the_product_stays() -> None:
    kept = left(
        h("8 FCC Caution"),
        p("This device complies with part 15 of the FCC Rules. Operation is subject to the following two conditions:"),
        li("(1) This device may not cause harmful interference"),
        li("(2) it must accept any interference received"),
        p("English:"),
        p("Important: the operating temperature can't exceed 85 ℃."),
        table("Frequency bands | Maximum output power", "2402-2480 MHz | 6.3 dBm"),
        h("8.1 RoHS", 2),
        p("The boards comply with RoHS 2 Directive 2011/65/EU."),
        table("Substance | Maximum limit (ppm)", "Lead (Pb) | 1000"),
        h("9 Dimensions"),
        p("80 mm × 60 mm"),
    )
    assert kept == [
        "8 FCC Caution",
        "Important: the operating temperature can't exceed 85 ℃.",
        "Frequency bands | Maximum output power",
        "2402-2480 MHz | 6.3 dBm",
        "9 Dimensions",
        "80 mm × 60 mm",
    ]


def test_a_heading_alone_condemns_nothing() -> None:
    for heading in ("Reach", "Compliance information", "FCC", "Table of contents", "Revision history", "References"):
        assert left(h(heading), p("The probe reaches 3 m into the tank."), li("as far as the X-1000")) != []
        assert len(left(h(heading), p("The probe reaches 3 m into the tank."), li("as far as the X-1000"))) == 3


def test_drawn_lines_go() -> None:
    assert left(p("-----"), p("text\n=====\nmore"), Block("code", "-----"), p("–"), p("+ -")) == [
        "text",
        "more",
        "-----",
        "–",
    ]


def test_an_item_that_is_one_sign_is_no_drawn_line() -> None:
    assert left(Block("list_item", "- #", level=1), Block("list_item", "- -----", level=1)) == ["- #"]


def test_what_conversion_left_out_is_in_the_report() -> None:
    _, report = clean([p("text")], removed_before=[RemovedLine("navigation", "Home", 3)])
    assert report.counts == {"navigation": 1}
    assert str(report.removed["navigation"][0]) == "p. 3: Home"


def test_double_encoded_text_is_repaired_and_counted() -> None:
    kept, report = clean([p("Itâ€™s 25 Â°C"), table("Name | Value", "Temp | Â±2 Â°C"), h("PrÃ¤zision")])
    assert [line for block in kept for line in block.lines] == [
        "It’s 25 °C",
        "Name | Value",
        "Temp | ±2 °C",
        "Präzision",
    ]
    assert (report.repaired[0].before, report.repaired[0].after) == ("Itâ€™s 25 Â°C", "It’s 25 °C")
    assert len(report.repaired) == 3


SIGNS = st.text(alphabet="µμ²³½¼±°Ω×–—…“”‘’«»•·ﬁＡ１™®©€£ 0123456789VmAkHz.,%-", max_size=60)
LANGUAGES = (
    "não SÃO IRMÃ MAÇÃ coração ÎN ÎNCĂ COLOCÂ România größer STRAßE Øl Åre ÅR l’œuvre prâ où naïve café CAFÉ",
    "Đà Nẵng ẤN Παράδειγμα Пример ПРИМЕР мова דוגמה مثال 日本語 例え 예시 x X-100 3.3",
)
LETTERS = [before + letter + after for letter in "ÂÃÉàß" for before, after in ("  ", "“”", "«»", " .", " ,")]
"""A letter by itself is no trade mark (`Ã™` was `Ù`)."""
WORDS = st.sampled_from(
    [
        *" ".join(LANGUAGES).split(),
        *LETTERS,
        " µA",
        " Ω",
        " œuvre",
    ]  # none of these follows a quotation mark after a letter
)
JOINTS = st.sampled_from([*" ‘’“”«»–—…,.:;!?/()-", " „", "(„", "™ ", "™. ", " ”", "” ", " «", "» ", "2×", ""])
"""`„` opens a quotation in every language that has it, so none writes it right after a letter: `Ã„nderung` was `Änderung`."""


@given(
    st.one_of(
        SIGNS, st.lists(st.tuples(WORDS, JOINTS), max_size=12).map(lambda pairs: "".join(a + b for a, b in pairs))
    )
)
@example("x”ß")
@example("Volume [Å³]: 12 Å³, 5 Å², e/Å³, 3 Å± 0.2")
@example("CAFÉ’S, CAFÉ‘S, CAFÉ’S, CAFÉ‘S")
@example("“IRMÃ” «Â» MAÇÃ—Ã")
def test_what_a_language_writes_is_never_rewritten(text: str) -> None:
    assert repair_text(text) == text


MISREAD = "für Änderung größer café Müller 25°C ±2 3µA it’s naïve ½ — ≤ 5 Ω™"


@given(st.lists(st.sampled_from(MISREAD.split()), min_size=1))
def test_double_encoding_is_undone_however_often_it_was_done(words: list[str]) -> None:
    text = " ".join(words)
    once = text.encode().decode("cp1252", "replace")
    twice = once.encode().decode("cp1252", "replace")
    for misread in (once, twice):
        if "\ufffd" not in misread and "ï¿½" not in misread:
            assert repair_text(misread) == text


def test_what_is_no_character_does_not_reach_the_store() -> None:
    kept, report = clean([p("a\ud800b"), p("c\x00d\x02"), p("\ud83d\ude00"), Block("code", "x\ty\n\x1bz")])
    assert [block.text for block in kept] == ["a\ufffdb", "cd", "😀", "x\ty\nz"]
    assert len(report.repaired) == 4


UNITS = sorted(
    {written for symbol in (*SYMBOLS, *SYMBOLS.values()) for written in (symbol, symbol.upper(), symbol.lower())}
)
BOILERPLATE: list[Callable[[str], tuple[Block, ...]]] = [
    lambda line: (
        h("FCC compliance"),
        p("This device complies with part 15 of the FCC Rules."),
        p(line),
        p("harmful interference"),
    ),
    lambda line: (h("FCC compliance"), p(f"This device complies with part 15 of the FCC Rules. {line}")),
    lambda line: (h("Revision history"), p(f"2024-05-06: {line}")),
    lambda line: (
        h("Revision history"),
        table("Date | Revision | Changes", f"2024-05-06 | 2 | {line}", "2024-05-07 | 3 | Logo"),
    ),
    lambda line: (h("Links"), p(f"https://e.com/a {line}"), p("https://e.com/b")),
    lambda line: (
        h("Contents"),
        p(f"{line} ........ 3"),
        p("Power ...... 4"),
        p("Supply ...... 5"),
        h("Power"),
        p("text"),
    ),
]


@pytest.mark.parametrize(
    "blocks", BOILERPLATE, ids=["regulatory", "phrase", "history", "history table", "links", "contents"]
)
@pytest.mark.parametrize("space", ["", " ", "\u00a0"], ids=["tight", "space", "fixed space"])
def test_no_rule_takes_a_line_with_a_quantity_in_any_unit_of_the_registry(
    blocks: Callable[[str], tuple[Block, ...]], space: str
) -> None:
    lines = [f"Mains input 24{space}{unit}, typical" for unit in UNITS]
    gone = [line for line in lines if not any(line in kept for kept in left(*blocks(line)))]
    assert gone == []


def test_the_other_rows_of_a_history_go_and_its_heading_stays_with_the_row_that_has_a_quantity() -> None:
    history = table("Date | Revision | Changes", "25/04/2024 | 4 | Updated link", "27/10/2023 | 3 | Supply is 5 V now")
    assert left(h("Revision history"), history) == [
        "Revision history",
        "Date | Revision | Changes",
        "27/10/2023 | 3 | Supply is 5 V now",
    ]
    assert left(h("FCC compliance"), p("complies with part 15 of the FCC Rules"), p("Mains input 24 VDC, 3 rpm."))[
        -1
    ] == ("Mains input 24 VDC, 3 rpm.")


@given(st.lists(st.integers(0, 4), max_size=30))
def test_what_stands_under_a_heading_ends_at_the_next_one_of_its_level_or_above(levels: list[int]) -> None:
    blocks = [
        Block("heading", f"Part {n}", level) if level else Block("paragraph", "Text.") for n, level in enumerate(levels)
    ]
    outline = Outline(blocks)
    for heading in outline.headings:
        scope = outline.scope(heading)
        assert all(levels[index] == 0 or levels[index] > levels[heading] for index in scope)
        assert scope.stop == len(levels) or 0 < levels[scope.stop] <= levels[heading]
