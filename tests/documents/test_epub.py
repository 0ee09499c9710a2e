"""EPUB: the pages in reading order, and links between them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from kgrag.documents.epub import convert_epub
from kgrag.errors import DocumentError

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OPS/book.opf"/></rootfiles></container>'
)
PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>X-100 Manual</dc:title>
<dc:language>en</dc:language></metadata><manifest>
<item id="toc" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="a" href="text/a%20b.xhtml" media-type="application/xhtml+xml"/>
<item id="b" href="text/c.xhtml" media-type="application/xhtml+xml"/>
<item id="gone" href="text/gone.xhtml" media-type="application/xhtml+xml"/><item id="pic" href="p.png" media-type="image/png"/>
</manifest><spine><itemref idref="toc"/><itemref idref="b"/><itemref idref="a"/>
<itemref idref="gone"/><itemref idref="pic"/></spine></package>"""
PARTS = {
    "META-INF/container.xml": CONTAINER,
    "OPS/book.opf": PACKAGE,
    "OPS/nav.xhtml": "<html><body><nav><a href='text/c.xhtml'>C</a></nav></body></html>",
    "OPS/text/a b.xhtml": "<html><body><h1 id='top'>Second</h1><p>At 5 V.</p></body></html>",
    "OPS/text/c.xhtml": "<html><body><h1 id='top'>First</h1><p>See <a href='a%20b.xhtml#top'>the next</a> and <a href='https://e.com'>e</a>.</p></body></html>",
}


def book(path: Path, **parts: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**PARTS, **parts}.items():
            if content:
                archive.writestr(name, content)
    return path


def test_pages_are_read_in_order_and_linked(tmp_path: Path) -> None:
    read = convert_epub(book(tmp_path / "x.epub"), document_path="docs/x.epub")
    assert (read.title, dict(read.metadata)) == ("X-100 Manual", {"language": "en"})
    assert [block.text for block in read.blocks] == ["First", "See the next and e.", "Second", "At 5 V."]
    assert [link.href for link in read.blocks[1].links] == ["docs/x.epub#OPS/text/a b.xhtml:top", "https://e.com"]
    assert "OPS/text/a b.xhtml:top" in read.blocks[2].anchors
    assert "OPS/text/c.xhtml:top" in read.blocks[0].anchors
    assert read.notes == ("its page OPS/text/gone.xhtml is not in the file",)


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"META-INF/container.xml": ""}, "not an EPUB"),
        ({"OPS/book.opf": ""}, "its list of files"),
        ({"OPS/book.opf": "<a"}, "is broken"),
        (
            {
                "META-INF/encryption.xml": "<e><EncryptionMethod Algorithm='http://www.w3.org/2001/04/xmlenc#aes256-cbc'/></e>"
            },
            "DRM",
        ),
    ],
)
def test_what_is_refused(tmp_path: Path, parts: dict[str, str], reason: str) -> None:
    with pytest.raises(DocumentError, match=reason):
        convert_epub(book(tmp_path / "x.epub", **parts), document_path="x.epub")


def test_hidden_fonts_are_no_protection(tmp_path: Path) -> None:
    hidden = "<e><EncryptionMethod Algorithm='http://www.idpf.org/2008/embedding'/></e>"
    assert convert_epub(book(tmp_path / "x.epub", **{"META-INF/encryption.xml": hidden}), document_path="x").blocks


def test_a_book_that_was_packed_with_its_folder_is_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.epub", "w") as archive:
        for name, content in PARTS.items():
            archive.writestr(f"epub/{name}", content)
    read = convert_epub(tmp_path / "x.epub", document_path="docs/x.epub")
    assert [block.text for block in read.blocks] == ["First", "See the next and e.", "Second", "At 5 V."]
    assert [link.href for link in read.blocks[1].links] == ["docs/x.epub#epub/OPS/text/a b.xhtml:top", "https://e.com"]
    parts = {f"epub/{name}": content for name, content in PARTS.items()}
    drm = "<e><EncryptionMethod Algorithm='http://www.w3.org/2001/04/xmlenc#aes256-cbc'/></e>"
    with zipfile.ZipFile(tmp_path / "y.epub", "w") as archive:
        for name, content in {**parts, "epub/META-INF/encryption.xml": drm}.items():
            archive.writestr(name, content)
    with pytest.raises(DocumentError, match="DRM"):
        convert_epub(tmp_path / "y.epub", document_path="y.epub")


def test_a_page_whose_sections_are_listed_is_read_once(tmp_path: Path) -> None:
    section = '<item id="a1" href="text/a%20b.xhtml#top" media-type="application/xhtml+xml"/></manifest>'
    package = PACKAGE.replace("</manifest>", section).replace(
        '<itemref idref="a"/>', '<itemref idref="a"/><itemref idref="a1"/>'
    )
    whole = convert_epub(book(tmp_path / "x.epub"), document_path="x.epub")
    assert convert_epub(book(tmp_path / "y.epub", **{"OPS/book.opf": package}), document_path="x.epub") == whole
