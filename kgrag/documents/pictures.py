"""Pictures of text (photos of type plates, scans) to blocks: read by OCR (extra `ocr`) as the scanned pages of a PDF are."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kgrag.documents.blocks import BlockDocument
from kgrag.documents.ocr_data import missing_ocr
from kgrag.documents.pdf.conversion import blocks_of_structure
from kgrag.documents.pdf.ocr import MAX_PIXELS, POINTS_PER_INCH, read_pictures
from kgrag.documents.pdf.pages import Page
from kgrag.documents.pdf.structure import recover_structure
from kgrag.errors import DocumentError

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["convert_picture", "counted_frames", "on_white", "open_picture", "pixels_per_point", "upright_frame"]

FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP")
"""As Pillow calls them."""
LARGEST_PIXELS = 120_000_000
"""Of a frame: A3 scanned at 600 dots an inch has 70 million. Whatever a file unpacks to, it is refused before it does."""
MOST_FRAMES = 2000
LIKELY_DPI = (100, 1200)
"""Dots an inch of what was scanned; cameras write 72 or nothing."""
PAGE_POINTS = 842
"""The longer side of a picture that does not say how large it is: A4."""
REDUCED = 1
"""Bit of TIFF's NewSubfileType: a smaller copy of another frame."""
NEW_SUBFILE_TYPE = 254


def convert_picture(data: bytes, path: Path, *, document_path: str) -> BlockDocument:
    """Convert a picture, each frame of a TIFF file as a page; of other files with several frames (animations) the first.

    One on which OCR finds no text has no blocks. Raises `DocumentError` where it is broken, too large, or where no OCR is installed.
    """
    if missing := missing_ocr():
        raise DocumentError(path, f"is a picture, which is read by OCR; {missing}")
    _silence_libtiff()
    with warnings.catch_warnings(action="ignore"):  # of odd metadata, and of a limit on pixels that is not ours
        return _converted(data, path, document_path)


def _converted(data: bytes, path: Path, document_path: str) -> BlockDocument:
    with open_picture(data, path) as picture:
        frames, count = int(getattr(picture, "n_frames", 1)), counted_frames(picture)
        broken: list[str] = []
        pages = list(read_pictures(_pages(picture, count, broken)))
    notes = [] if count == frames else [f"has {frames:,} frames: the first {count:,} are read"]
    notes += broken
    if not pages:
        raise DocumentError(path, "; ".join(broken))
    if not any(page.words for page in pages):
        notes.append(f"OCR finds no text on {'it' if count == 1 else f'its {count} pages'}")
    return blocks_of_structure(recover_structure(pages), document_path=document_path, notes=notes)


def _pages(picture: Image, count: int, broken: list[str]) -> Iterator[tuple[Page, Image, float]]:
    """Yield each frame as a page without words, upright and in grey, and its scale in pixels per point; say which are broken."""
    from PIL import Image

    for frame in range(count):
        which = f"frame {frame + 1} " if count > 1 else ""
        try:
            picture.seek(frame)
            if frame and int(getattr(picture, "tag_v2", {}).get(NEW_SUBFILE_TYPE, 0)) & REDUCED:
                continue
            upright = upright_frame(picture, frame)
            grey = on_white(upright)
        except Image.DecompressionBombError:
            broken.append(f"{which}is refused: {_too_large()}")
            continue
        except (OSError, EOFError, SyntaxError, ValueError) as error:
            broken.append(f"{which}is broken: {error}")
            continue
        scale = pixels_per_point(upright)
        shrunk = min(1.0, (MAX_PIXELS / max(1, grey.width * grey.height)) ** 0.5)
        if shrunk < 1:
            grey = grey.resize((max(1, int(grey.width * shrunk)), max(1, int(grey.height * shrunk))))
        size = upright.width / scale, upright.height / scale
        yield Page(frame + 1, *size, (), (), (), (), (), ()), grey, scale * shrunk


def open_picture(data: bytes, path: Path) -> Image:
    """Open a picture. Raises `DocumentError` for what is none that is read, or too large."""
    from PIL import Image, UnidentifiedImageError

    try:
        return Image.open(BytesIO(data), formats=FORMATS)
    except UnidentifiedImageError as error:
        raise DocumentError(path, "is no picture of a known format, or a broken one") from error
    except Image.DecompressionBombError as error:
        raise DocumentError(path, f"is refused: {_too_large()}") from error


def counted_frames(picture: Image) -> int:
    """Return how many frames are read: those of a TIFF file, of others the first."""
    return min(int(getattr(picture, "n_frames", 1)), MOST_FRAMES) if picture.format == "TIFF" else 1


def upright_frame(picture: Image, frame: int) -> Image:
    """Return a frame (from 0) turned as the camera says. Raises what Pillow raises, for one with too many pixels before it is unpacked."""
    from PIL import Image, ImageOps

    picture.seek(frame)
    if picture.width * picture.height > LARGEST_PIXELS:
        raise Image.DecompressionBombError(f"{picture.width:,} x {picture.height:,} pixels")
    return ImageOps.exif_transpose(picture)


@cache
def _silence_libtiff() -> None:
    """Keep the library with which Pillow reads TIFF from writing what it finds wrong to the terminal: the file's failure says it."""
    import PIL

    package = Path(PIL.__file__).parent
    for library in [*package.parent.glob("pillow.libs/libtiff*"), *package.glob(".dylibs/libtiff*")]:
        libtiff = ctypes.CDLL(str(library))
        for name in ("TIFFSetErrorHandler", "TIFFSetWarningHandler"):
            handler = getattr(libtiff, name)
            handler.argtypes, handler.restype = (ctypes.c_void_p,), ctypes.c_void_p
            handler(None)


def on_white(picture: Image) -> Image:
    """Return a picture in grey; what is transparent is white."""
    from PIL import Image

    if picture.mode.startswith(("I", "F")):  # more than 8 bits
        levels = np.asarray(picture, dtype=np.float32)
        spread = float(levels.max() - levels.min()) or 1.0
        return Image.fromarray(((levels - levels.min()) * (255 / spread)).astype(np.uint8))
    if "A" not in picture.getbands() and "transparency" not in picture.info:
        return picture.convert("L")
    coloured = picture.convert("RGBA")
    white = Image.new("RGBA", coloured.size, "white")
    white.alpha_composite(coloured)
    return white.convert("L")


def pixels_per_point(picture: Image) -> float:
    """Say by what it says of its resolution, where that is a scanner's, else as if it were a page."""
    try:
        said = float(picture.info.get("dpi", (0,))[0])
    except (TypeError, ValueError, ZeroDivisionError, IndexError):
        said = 0.0
    low, high = LIKELY_DPI
    return said / POINTS_PER_INCH if low <= said <= high else max(picture.size) / PAGE_POINTS


def _too_large() -> str:
    return f"at most {LARGEST_PIXELS // 1_000_000} million pixels are read: save it smaller"
