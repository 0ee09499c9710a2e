"""Pictures of text, and which pictures are none."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from kgrag.documents import Converted, discover
from kgrag.documents.picture_pages import render_page
from kgrag.documents.pictures import convert_picture
from kgrag.errors import DocumentError

Convert = Callable[..., Converted]


def plate(text: str = "Rated voltage 230 V", mode: str = "RGB") -> Image.Image:
    picture = Image.new("RGB", (900, 300), "#d0d0d0")
    ImageDraw.Draw(picture).text((60, 110), text, font=ImageFont.load_default(size=56), fill="black")
    return picture.convert(mode)


def words(path: Path) -> str:
    return " ".join(block.text for block in convert_picture(path.read_bytes(), path, document_path=path.name).blocks)


@pytest.mark.parametrize("suffix", ["png", "jpg", "webp", "bmp", "tif"])
def test_a_picture_is_read_with_its_page_place_and_confidence(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"plate.{suffix}"
    plate().save(path)
    found = convert_picture(path.read_bytes(), path, document_path=path.name)
    (block,) = found.blocks
    assert block.text == "Rated voltage 230 V"
    assert block.page_start == 1
    assert block.boxes
    assert found.metadata["ocr_pages"] == "1"
    assert 0.6 < float(found.metadata["ocr_confidence"] or 0) <= 1
    assert "read by OCR (confidence" in found.notes[0]


@pytest.mark.parametrize("mode", ["L", "LA", "RGBA", "P", "1", "I;16", "CMYK"])
def test_every_kind_of_pixel_is_read(mode: str, tmp_path: Path) -> None:
    path = tmp_path / "plate.tif"
    picture = plate(mode="L").convert("I;16") if mode == "I;16" else plate(mode=mode)
    picture.save(path)
    assert words(path) == "Rated voltage 230 V"
    shown = Image.open(BytesIO(render_page(path, 1, width=450)))
    assert shown.size == (450, 150)
    assert (
        shown.convert("RGBA").convert("L").getextrema()[0]
        < 80
        < 180
        < shown.convert("RGBA").convert("L").getextrema()[1]
    )


def test_a_photo_is_turned_as_its_camera_says(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    path = tmp_path / "photo.jpg"
    plate().rotate(90, expand=True).save(path, exif=exif)
    assert words(path) == "Rated voltage 230 V"


def test_frames_of_a_tiff_are_pages_and_a_broken_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "fax.tif"
    plate("First page of the fax").save(path, save_all=True, append_images=[plate("Second page here")], dpi=(200, 200))
    found = convert_picture(path.read_bytes(), path, document_path=path.name)
    assert [(block.text, block.page_start) for block in found.blocks] == [
        ("First page of the fax", 1),
        ("Second page here", 2),
    ]
    assert found.blocks[0].boxes[0].left == pytest.approx(60 * 72 / 200, abs=5)


def test_of_an_animation_the_first_frame_is_read_and_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.webp"
    plate("First frame of it").save(path, save_all=True, append_images=[plate("Another"), plate("Third")])
    found = convert_picture(path.read_bytes(), path, document_path=path.name)
    assert found.blocks[0].text == "First frame of it"
    assert found.notes[0] == "has 3 frames: the first 1 are read"


def _png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 9)) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (_png(60_000, 60_000), "is refused: at most 120 million pixels"),
        (_png(12_000, 12_000), "is refused: at most 120 million pixels"),
        (_png(400, 400), "is broken"),
        (b"no picture", "is no picture of a known format"),
    ],
)
def test_bombs_and_broken_pictures_are_refused_in_plain_words(data: bytes, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason):
        convert_picture(data, Path("a.png"), document_path="a.png")


def test_what_is_wrong_with_a_picture_is_said_by_its_failure_and_not_by_libraries_on_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "fax.tif"
    plate().save(path, compression="tiff_lzw")
    data = bytearray(path.read_bytes())
    data[40:60] = b"\xff" * 20
    with pytest.raises(DocumentError, match="is broken"):
        convert_picture(bytes(data), path, document_path=path.name)
    assert capfd.readouterr() == ("", "")


def test_a_picture_without_text_is_said_to_have_none(tmp_path: Path) -> None:
    path = tmp_path / "grey.png"
    Image.new("L", (300, 300), 128).save(path)
    found = convert_picture(path.read_bytes(), path, document_path=path.name)
    assert found.blocks == () and "OCR finds no text on it" in found.notes


def test_without_the_extra_pictures_are_counted_and_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plate().save(tmp_path / "plate.png")
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))
    found = discover([tmp_path])
    assert not found.sources
    assert found.ignored == {".png": 1}
    assert "not read: 1 picture: read by OCR; " in found.notes[0]
    assert "pip install 'kgrag[ocr]'" in found.notes[0]
    with pytest.raises(DocumentError, match="is a picture, which is read by OCR"):
        words(tmp_path / "plate.png")


def test_pictures_that_pages_show_and_icons_are_no_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("img/a%20b.png", "img/own.png", "plates/x.jpg", "shown.webp", "icon.png"):
        path = Path(name.replace("%20", " "))
        path.parent.mkdir(exist_ok=True)
        (plate() if name != "icon.png" else Image.new("L", (16, 16))).save(path)
    Path("page.html").write_text('<img src="img/a%20b.png"><p>Text about "x.jpeg".</p>')
    Path("notes.md").write_text("![see](shown.webp)")
    found = discover([Path()])
    assert {source.stored_path for source in found.sources} == {"img/own.png", "notes.md", "page.html", "plates/x.jpg"}
    assert found.ignored == {"picture of a page": 2, "small picture": 1}
    assert [source.stored_path for source in discover([Path("notes.md"), Path("shown.webp")]).sources] == [
        "notes.md",
        "shown.webp",
    ]


def test_a_drawing_is_called_as_its_file_and_the_picture_of_a_page_as_its_heading(convert: Convert) -> None:
    page = Image.new("RGB", (1100, 900), "white")
    draw = ImageDraw.Draw(page)
    draw.text((60, 60), "Pump safety rules", font=ImageFont.load_default(size=60), fill="black")
    lines = [
        "Before you open the pump, take the mains plug out of its socket and",
        "wait for two minutes until the motor has come to rest. The water in the",
        "pump may be hot, and it stands under pressure while the motor runs.",
        "Only a trained person may replace the inlet valve and the seal.",
    ]
    for number, line in enumerate(lines):
        draw.text((60, 220 + 44 * number), line, font=ImageFont.load_default(size=28), fill="black")
    page.save("scan0001.png")
    drawing = Image.new("RGB", (1100, 900), "white")
    draw = ImageDraw.Draw(drawing)
    draw.text((60, 60), "Pump driver", font=ImageFont.load_default(size=60), fill="black")
    draw.text((500, 500), "Inlet valve", font=ImageFont.load_default(size=28), fill="black")
    drawing.save("wiring.png")
    assert convert("wiring.png").document.title == "wiring"
    assert convert("scan0001.png").document.title == "Pump safety rules"
