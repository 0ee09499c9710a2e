"""What rows of tables say as texts of their own."""

from __future__ import annotations

from kgrag.documents.table_rows import CAPTION_CHARACTERS, ROW_CHARACTERS, row_texts
from kgrag.types import Chunk

TABLE = """| (in millions) | 2023 | 2022 |
| --- | --- | --- |
| Net sales | $ 1,343 | $ 1,207 |
| Cost \\| other |  | 12 % |"""


def chunk(text: str, *headings: str, title: str = "Report") -> Chunk:
    made = {"id": "c", "document_id": "d", "source_id": "d", "position": 0, "title": title}
    return Chunk.model_validate({**made, "headings": headings, "text": text, "tokens": 1})


def test_a_row_says_its_cells_with_their_headers_and_where_it_stands() -> None:
    assert row_texts(chunk(f"Sales rose.\nResults of the year\n\n{TABLE}\n\nThe end.", "Part", "Income")) == [
        "Report. Income. Results of the year (in millions): Net sales; 2023: $ 1,343; 2022: $ 1,207",
        "Report. Income. Results of the year (in millions): Cost | other; 2022: 12 %",
    ]


def test_without_title_heading_and_caption_a_row_is_its_cells() -> None:
    assert row_texts(chunk(TABLE, title=""))[0] == "(in millions): Net sales; 2023: $ 1,343; 2022: $ 1,207"


def test_what_is_no_row_of_a_table_has_no_text() -> None:
    assert row_texts(chunk("Net sales were $ 1,343 | in 2023.\n- an item\nModel, Value = 3. Model, Unit = V.")) == []
    assert row_texts(chunk("")) == []


def test_long_rows_and_captions_are_cut() -> None:
    wide = f"{'y' * 300}\n\n| a |\n| --- |\n| {'x' * 2000} |"
    (only,) = row_texts(chunk(wide, title=""))
    assert len(only) == ROW_CHARACTERS and only.startswith("y" * CAPTION_CHARACTERS + " a: x")
