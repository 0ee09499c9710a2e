"""The ZIP archive that a file of Word, Excel or PowerPoint is: checked, and mended where its own program reads what libraries refuse."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Collection, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from lxml import etree

from kgrag.documents.text_encoding import HEAD_BYTES, OLE_MAGIC, no_archive
from kgrag.errors import DocumentError

__all__ = ["read_package", "with_plain_styles"]

MAX_UNPACKED_MB = 1000
"""An Office file that unpacks to more is a dump or a bomb."""
ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
"""Name of the stream in which Office keeps what a password protects."""
CONTENT_TYPES = "[Content_Types].xml"
MAIN_TYPE = re.compile(
    rb"application/vnd\.[\w.-]*?(word|presentation|powerpoint|spreadsheet|excel)[\w.-]*\.main\+xml", re.IGNORECASE
)
SUFFIX_OF_TYPE = {
    b"word": "docx",
    b"presentation": "pptx",
    b"powerpoint": "pptx",
    b"spreadsheet": "xlsx",
    b"excel": "xlsx",
}
PLAIN_TYPE = {
    "docx": b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
    "pptx": b"application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml",
    "xlsx": b"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
}
"""What the libraries read; files with macros, templates and shows say another one and have the same in them."""
STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
"""Namespaces of the variant of the format that is called strict (ISO/IEC 29500-1)."""
TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006/"
EXTENDED = {
    b"relationships/extendedProperties": b"relationships/extended-properties",
    b"relationships/customProperties": b"relationships/custom-properties",
}
RELATIONS = ".rels"
RENAMED_IN = 5
"""Passes, one for each step of relations: of the file, the workbook, a sheet, its drawing, a chart."""


def read_package(path: Path, *, suffix: str) -> bytes:
    """Return the content of a `.docx`, `.pptx` or `.xlsx`. Raises `DocumentError` where it is something else, or protected.

    Parts that are named with backslashes, in other letters than they are referred to, or not there at all; the strict variant; and files
    with macros, templates and shows are brought into the form that python-docx, python-pptx and openpyxl read.
    """
    _check_container(path, suffix)
    with zipfile.ZipFile(path) as archive:
        parts = {info.filename.replace("\\", "/"): info for info in archive.infolist() if not info.is_dir()}
        if (unpacked := sum(info.file_size for info in parts.values())) > MAX_UNPACKED_MB * 1_000_000:
            raise DocumentError(
                path, f"unpacks to {unpacked / 1_000_000:.0f} MB, more than the limit of {MAX_UNPACKED_MB} MB"
            )
        listed = next((name for name in parts if name.lower() == CONTENT_TYPES.lower()), "")
        types = archive.read(parts[listed]) if listed else b""
        found = MAIN_TYPE.search(types)
        if found is None:
            raise DocumentError(path, f"is a ZIP archive, not a .{suffix} (no part of it says that it is one)")
        if (other := SUFFIX_OF_TYPE[found[1].lower()]) != suffix:
            raise DocumentError(path, f"is a .{other} with another name")
        relations = {name: archive.read(info) for name, info in parts.items() if name.endswith(RELATIONS)}
        for _ in range(RENAMED_IN):
            renamed = _wrongly_named(relations, parts)
            parts = {renamed.get(name, name): info for name, info in parts.items()}
            relations = {renamed.get(name, name): data for name, data in relations.items()}
            if not renamed:
                break
        lists = {name: _of_what_is_there(name, data, parts) for name, data in [(listed, types), *relations.items()]}
        strict = any(map(STRICT.search, relations.values()))
        if (
            found[0] == PLAIN_TYPE[suffix]
            and listed == CONTENT_TYPES
            and not (strict or any(lists.values()))
            and all(info.filename == name for name, info in parts.items())
        ):
            return path.read_bytes()
        out = BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as mended:
            for name, info in parts.items():
                data = lists.get(name) or archive.read(info)
                if strict and name.endswith((".xml", RELATIONS)):
                    data = _transitional(data)
                if name == listed:
                    mended.writestr(CONTENT_TYPES, data.replace(found[0], PLAIN_TYPE[suffix]))
                else:
                    mended.writestr(name, data)
    return out.getvalue()


def with_plain_styles(package: bytes) -> bytes:
    """Return a .xlsx without fonts, fills, borders and named styles; formats of numbers stay, which say units and percent."""
    out = BytesIO()
    with zipfile.ZipFile(BytesIO(package)) as archive, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as plain:
        for info in archive.infolist():
            data = archive.read(info)
            plain.writestr(info, _plain_styles(data) if info.filename.lower() == "xl/styles.xml" else data)
    return out.getvalue()


def _plain_styles(data: bytes) -> bytes:
    root = _parsed(data)
    if root is None:
        return data
    space = f"{{{etree.QName(root).namespace}}}"
    kept = etree.Element(root.tag, nsmap={None: etree.QName(root).namespace})
    formats = [
        one for one in root.iter(f"{space}numFmt") if one.get("numFmtId", "").isdigit() and one.get("formatCode")
    ]
    listed = etree.SubElement(kept, f"{space}numFmts") if formats else None
    for one in formats if listed is not None else ():
        etree.SubElement(listed, one.tag, numFmtId=one.get("numFmtId"), formatCode=one.get("formatCode"))
    for name, item in (("fonts", "font"), ("fills", "fill"), ("borders", "border"), ("cellStyleXfs", "xf")):
        one = etree.SubElement(etree.SubElement(kept, f"{space}{name}"), f"{space}{item}")
        if item == "fill":
            etree.SubElement(one, f"{space}patternFill")
    cells = etree.SubElement(kept, f"{space}cellXfs")
    for one in root.iterfind(f"{space}cellXfs/{space}xf"):
        number = one.get("numFmtId", "0")
        etree.SubElement(cells, one.tag, numFmtId=number if number.isdigit() else "0")
    return bytes(etree.tostring(kept))


def _check_container(path: Path, suffix: str) -> None:
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        if head.startswith(OLE_MAGIC):
            file.seek(0)
            if ENCRYPTED_STREAM in file.read():
                raise DocumentError(path, "is encrypted: save a copy without a password")
            raise DocumentError(path, f"is a document of Office 97-2003: save it as .{suffix}")
    if not zipfile.is_zipfile(path):
        raise DocumentError(path, no_archive(head, f"a .{suffix}"))


def _wrongly_named(relations: Mapping[str, bytes], parts: Collection[str]) -> dict[str, str]:
    """Parts that are referred to in other letters, with how they are: names of parts do not depend on case, those in an archive do."""
    by_letters = {name.lower(): name for name in parts}
    wanted = (target for name, data in relations.items() for _, target in _targets(name, _parsed(data)))
    renamed = {
        by_letters[target.lower()]: target for target in wanted if target not in parts and target.lower() in by_letters
    }
    of_renamed = {_list_of(name): _list_of(target) for name, target in renamed.items()}
    return renamed | {name: target for name, target in of_renamed.items() if name in parts}


def _list_of(part: str) -> str:
    """The list of a part's relations."""
    folder, name = posixpath.split(part)
    return f"{folder}/_rels/{name}.rels"


def _of_what_is_there(name: str, data: bytes, parts: Collection[str]) -> bytes:
    """Return a list of relations or of types without what it says of parts that are not there; nothing where it says none."""
    root = _parsed(data)
    by_letters = {part.lower(): part for part in parts}
    changed = False
    for element, target in _targets(name, root):
        if target not in parts:
            changed = True
            if element.get("PartName") and target.lower() in by_letters:
                element.set("PartName", f"/{by_letters[target.lower()]}")
            else:
                element.getparent().remove(element)
    return bytes(etree.tostring(root)) if changed else b""


def _targets(name: str, root: Any) -> list[tuple[Any, str]]:
    """The relations, or the types of parts, in a list, with the part that each is to or of."""
    folder = posixpath.dirname(posixpath.dirname(name))
    found = []
    for element in () if root is None else root:
        target = element.get("PartName") or (element.get("Target") if element.get("TargetMode") != "External" else None)
        if target and not target.startswith("#"):
            part = posixpath.normpath(posixpath.join("/", folder, target.replace("\\", "/").partition("#")[0]))
            found.append((element, part.lstrip("/")))
    return found


def _parsed(data: bytes) -> Any:
    """Read XML; None where it is none, which is left to the library to refuse, or to pass over (`__MACOSX/_rels/._.rels`)."""
    try:
        return etree.fromstring(data, etree.XMLParser(resolve_entities=False, remove_comments=True, remove_pis=True))
    except etree.XMLSyntaxError:
        return None


def _transitional(data: bytes) -> bytes:
    """Write the namespaces of the strict variant as those of the one that everybody reads."""
    data = STRICT.sub(TRANSITIONAL, data)
    for word, hyphened in EXTENDED.items():
        data = data.replace(word, hyphened)
    return data
