"""What a page declares of its encoding, and what it is."""

from pathlib import Path

import pytest

from kgrag.documents.text_encoding import decode

RUSSIAN = (
    "Для того, чтобы поддерживать список пакетов в актуальном состоянии, рекомендуется периодически обновлять его. "
)
GERMAN = "Für die Prüfung der Geräte müssen die Schlüssel geändert werden; die Größe beträgt 5 µm. "


def page(text: str) -> str:
    return f'<html><head><meta charset="utf-8"></head><body><p>{text * 4}</p></body></html>'


@pytest.mark.parametrize(("text", "encoding"), [(RUSSIAN, "koi8_r"), (RUSSIAN, "cp1251"), (GERMAN, "cp1252")])
def test_a_page_that_is_not_the_utf_8_it_declares_is_read_by_detection(text: str, encoding: str) -> None:
    decoded = decode(page(text).encode(encoding), Path("a.html"))
    assert decoded.text == page(text)
    assert decoded.note == f"is not the utf-8 that it declares; read as {encoding}"


def test_a_page_of_utf_8_with_a_few_broken_letters_stays_what_it_declares() -> None:
    decoded = decode(page(GERMAN).encode().replace("ß".encode(), b"\xdf", 1), Path("a.html"))
    assert decoded.text == page(GERMAN).replace("ß", "\ufffd", 1)
    assert decoded.note == "1 characters are not valid utf-8"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("電源電圧は5Vです。動作温度は-20℃から85℃です。", "shift_jis"),
        ("電源電圧は5Vです。動作温度は-20℃から85℃です。", "euc_jp"),
        ("额定电压:5V±5%,电流:250mA,温度:-20℃~85℃。", "gb18030"),
        ("額定電壓:5V,電流:250mA,溫度:-20℃~85℃。請先閱讀說明書。", "big5"),
        ("정격 전압: 5V, 전류: 250mA, 온도: -20℃~85℃.", "euc_kr"),
    ],
)
def test_short_texts_of_data_sheets_are_read_in_their_script(text: str, encoding: str) -> None:
    decoded = decode((text * 3).encode(encoding), Path("a.txt"))
    assert decoded.text == text * 3
    assert decoded.note == f"is not UTF-8 and declares no encoding; read as {encoding}"
