"""Writes compound files as Outlook does, small enough to read: for tests."""

from __future__ import annotations

import struct
from collections.abc import Mapping

SECTOR, SMALL_SECTOR, LARGE = 512, 64, 4096
FREE, END, FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
Tree = Mapping[str, "bytes | Tree"]


def compound_file(tree: Tree) -> bytes:
    """Return a compound file with these streams (bytes) and folders (mappings)."""
    entries: list[list[object]] = [["Root Entry", 5, FREE, FREE, b""]]
    _add(tree, 0, entries)
    small, small_fat, places = bytearray(), [], {}
    sectors, fat = bytearray(), []

    def chained(data: bytes, size: int, target: bytearray, table: list[int]) -> int:
        start, count = len(target) // size, -(-len(data) // size)
        target += data.ljust(count * size, b"\0")
        table += [*range(start + 1, start + count), END]
        return start

    for index, (_, kind, _, _, data) in enumerate(entries):
        if kind == 2 and isinstance(data, bytes) and data:
            is_large = len(data) >= LARGE
            places[index] = (
                chained(data, SECTOR, sectors, fat) if is_large else chained(data, SMALL_SECTOR, small, small_fat)
            )
    start_of_small = chained(bytes(small), SECTOR, sectors, fat) if small else END
    start_of_table = chained(struct.pack(f"<{len(small_fat)}I", *small_fat), SECTOR, sectors, fat) if small else END
    written = b""
    for index, (name, kind, right, child, data) in enumerate(entries):
        encoded = str(name).encode("utf-16-le") + b"\0\0"
        size = len(small) if index == 0 else len(data) if isinstance(data, bytes) else 0
        start = start_of_small if index == 0 else places.get(index, END)
        written += encoded.ljust(64, b"\0") + struct.pack("<HBBIII", len(encoded), kind, 1, FREE, right, child)
        written += bytes(36) + struct.pack("<IQ", start, size)
    directory = chained(written.ljust(-(-len(written) // SECTOR) * SECTOR, b"\0"), SECTOR, sectors, fat)
    tables = 1
    while len(fat) + tables > tables * SECTOR // 4:
        tables += 1
    first = len(fat)
    fat += [FAT] * tables + [FREE] * (tables * SECTOR // 4 - len(fat) - tables)
    head = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16) + struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    head += struct.pack(
        "<IIIIIIIII", 0, tables, directory, 0, LARGE, start_of_table, -(-4 * len(small_fat) // SECTOR), END, 0
    )
    head += struct.pack("<109I", *range(first, first + tables), *[FREE] * (109 - tables))
    return head + bytes(sectors) + struct.pack(f"<{len(fat)}I", *fat)


def _add(tree: Tree, parent: int, entries: list[list[object]]) -> None:
    before = None
    for name in sorted(tree, key=lambda one: (len(one), one.upper())):
        content = tree[name]
        index = len(entries)
        entries.append(
            [name, 2 if isinstance(content, bytes) else 1, FREE, FREE, content if isinstance(content, bytes) else b""]
        )
        if before is None:
            entries[parent][3] = index
        else:
            entries[before][2] = index
        before = index
        if not isinstance(content, bytes):
            _add(content, index, entries)


def message(
    texts: Mapping[int, str] = {},
    data: Mapping[int, bytes] = {},
    numbers: Mapping[int, int] = {},
    files: list[Tree] | None = None,
    *,
    header: int = 32,
    encoding: str = "",
) -> dict[str, bytes | Tree]:
    """Return the folder of a message, or of a file (`header` 8) with its properties: texts in Unicode, or as bytes in `encoding`."""
    tree: dict[str, bytes | Tree] = {}
    fixed = bytes(header)
    for number, value in numbers.items():
        fixed += struct.pack("<HHIQ", 0x40 if value > 0xFFFFFFFF else 3, number, 6, value)
    tree["__properties_version1.0"] = fixed
    for number, text in texts.items():
        tree[f"__substg1.0_{number:04X}{'001E' if encoding else '001F'}"] = text.encode(encoding or "utf-16-le")
    for number, content in data.items():
        tree[f"__substg1.0_{number:04X}0102"] = content
    for index, file in enumerate(files or []):
        tree[f"__attach_version1.0_#{index:08X}"] = file
    return tree
