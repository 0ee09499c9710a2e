"""Discovery: what is read, what is not, and what folders and a metadata file say."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from kgrag.documents import discover
from kgrag.documents.discovery import expect_paths
from kgrag.errors import InputError


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def touch(*names: str) -> None:
    for name in names:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text")


def test_folders_below_the_argument_say_category_and_product() -> None:
    touch("docs/boards/X-100/a.html", "docs/X-200/b.md", "docs/c.pdf", "docs/boards/X-100/deep/er/d.docx")
    found = {source.stored_path: (source.category, source.product) for source in discover([Path("docs")]).sources}
    assert found == {
        "docs/boards/X-100/a.html": ("boards", "X-100"),
        "docs/boards/X-100/deep/er/d.docx": ("boards", "X-100"),
        "docs/X-200/b.md": (None, "X-200"),
        "docs/c.pdf": (None, None),
    }


def test_a_file_argument_takes_the_folders_that_were_typed() -> None:
    touch("docs/boards/X-100/a.html", "a.md")
    typed, bare = discover([Path("docs/boards/X-100/a.html"), Path("./a.md")]).sources
    (absolute,) = discover([Path("docs/boards/X-100/a.html").resolve()]).sources
    assert (typed.category, typed.product) == ("boards", "X-100")
    assert (bare.category, bare.product) == (None, None)
    assert (absolute.category, absolute.product) == (None, None)


def test_stored_paths_are_relative_below_the_working_directory_and_absolute_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch("docs/a.md", "elsewhere/b.md")
    monkeypatch.chdir(tmp_path / "docs")
    sources = discover([Path(), Path("../elsewhere"), tmp_path / "docs"]).sources
    assert [source.stored_path for source in sources] == ["a.md", (tmp_path / "elsewhere/b.md").as_posix()]


def test_every_known_suffix_is_found_in_any_case_and_the_rest_is_counted_with_examples() -> None:
    names = [
        "a.PDF",
        "b.htm",
        "c.markdown",
        "d.docx",
        "e.pptx",
        "f.xlsx",
        "g.jsonl",
        "h.xhtml",
        "i.csv",
        "j.TSV",
        "k.eml",
        "l.mbox",
        "m.xht",
        "n.shtml",
    ]
    touch(*names, "p1.gif", "p2.gif", "LICENSE", ".DS_Store", "~$d.docx", ".git/x.md", ".venv/y.md")
    discovery = discover([Path()])
    assert sorted(source.path.name for source in discovery.sources) == sorted(names)
    assert discovery.ignored == {".gif": 2, "no suffix": 1, "hidden file": 1, "hidden folder": 2, "Office lock file": 1}
    assert discovery.examples[".gif"] == ("p1.gif", "p2.gif")


def test_texts_that_usually_have_no_suffix_are_read_by_their_names() -> None:
    touch(
        "README",
        "FAQ.gz",
        "Install",
        "README.Debian",
        "README.Debian.gz",
        "README-WPS",
        "HOWTO_build.gz",
        "INSTALL.Unix",
        "README.windows",
        "NEWS.gz",
        "RELEASE_NOTES",
        "install.sh",
        "README.gif",
        "README.py",
        "MYREADME",
        "COPYING",
        "ChangeLog",
    )
    discovery = discover([Path()])
    assert {source.path.name: source.format for source in discovery.sources} == dict.fromkeys(
        (
            *("README", "FAQ.gz", "Install", "README.Debian", "README.Debian.gz", "README-WPS", "HOWTO_build.gz"),
            *("INSTALL.Unix", "README.windows", "NEWS.gz", "RELEASE_NOTES"),
        ),
        "txt",
    )
    assert discovery.ignored == {".sh": 1, ".gif": 1, ".py": 1, "no suffix": 3}


def test_a_source_that_is_called_as_texts_are_is_counted_as_a_source() -> None:
    touch("tool/CMakeLists.txt", "tool/notes.txt", "tool/Makefile.DocBook", "tool/GNUmakefile.pdf", "tool/Makefile.md")
    discovery = discover([Path()])
    assert [source.path.name for source in discovery.sources] == ["Makefile.md", "notes.txt"]
    assert discovery.ignored == {"program source": 3}


def test_a_suffix_counts_more_than_such_a_name() -> None:
    touch("README.PDF", "HOWTO.MD")
    assert [source.format for source in discover([Path()]).sources] == ["md", "pdf"]


def test_packed_documents_are_read_and_other_packed_files_are_counted() -> None:
    touch("a.txt.gz", "b.RST.GZ", "c.html.gz", "d.pdf.gz", "changelog.gz", "e.jsonl.gz")
    discovery = discover([Path()])
    assert [(source.path.name, source.format) for source in discovery.sources] == [
        ("a.txt.gz", "txt"),
        ("b.RST.GZ", "rst"),
        ("c.html.gz", "html"),
        ("d.pdf.gz", "pdf"),
    ]
    assert discovery.ignored == {".gz": 2}


def test_manual_pages_are_told_by_section_and_beginning_whatever_they_belong_to() -> None:
    names = ["a.1", "b.3X11", "c.9freebsd", "d.1postgresql", "e.0p", "f.n", "g.3c++"]
    for name in names:
        Path(name).write_text('.\\" remark\n.TH X 1\n.SH NAME\n')
    Path("library.so.1").write_bytes(b"\x7fELF")
    Path("lexer.l").write_text("%%\nTH 1\n")
    discovery = discover([Path()])
    assert [(source.stored_path, source.format) for source in discovery.sources] == [(name, "man") for name in names]
    assert discovery.ignored == {".1": 1, ".l": 1}


def test_a_graph_of_graphviz_is_no_template_of_word() -> None:
    Path("a.dot").write_text('// of states\n/* * */\nstrict digraph "States" {\n  open -> closed\n}\n')
    Path("b.dot").write_text("graph{ a -- b }")
    Path("c.DOT").write_text("A graph shows values.\n")
    Path("d.dot").write_bytes(bytes.fromhex("d0cf11e0a1b11ae1"))
    discovery = discover([Path()])
    assert [(source.path.name, source.format) for source in discovery.sources] == [("c.DOT", "doc"), ("d.dot", "doc")]
    assert discovery.ignored == {".dot": 2}


def test_the_sources_of_pages_are_no_documents_beside_the_pages() -> None:
    touch("manual/index.html", "manual/_sources/index.rst.txt", "own/_sources/a.rst")
    discovery = discover([Path()])
    assert [source.stored_path for source in discovery.sources] == ["manual/index.html", "own/_sources/a.rst"]
    assert discovery.ignored == {"sources of pages": 1}
    assert discovery.examples["sources of pages"] == ("manual/_sources",)


def test_order_is_stable_and_each_file_comes_once() -> None:
    touch("b/2.md", "b/1.md", "a/z.md", "a/b/c.md")
    once = [source.stored_path for source in discover([Path("a"), Path("b"), Path("b/1.md"), Path("a")]).sources]
    assert once == ["a/z.md", "a/b/c.md", "b/1.md", "b/2.md"]


def test_loops_of_links_and_what_is_no_file_are_counted_and_named() -> None:
    touch("docs/a.md")
    Path("docs/loop").symlink_to(Path("docs").resolve())
    Path("docs/broken.md").symlink_to("nowhere.md")
    Path("docs/one.md").symlink_to("two.md")
    Path("docs/two.md").symlink_to("one.md")
    os.mkfifo("docs/pipe.pdf")
    discovery = discover([Path("docs")])
    assert [source.stored_path for source in discovery.sources] == ["docs/a.md"]
    assert discovery.ignored == {"folder loop": 1, "broken link": 1, "loop of links": 2, "pipe": 1}
    assert discovery.notes == (
        "broken link, not read: docs/broken.md",
        "folder loop, not read: docs/loop",
        "loop of links, not read: docs/one.md, docs/two.md",
        "pipe, not read: docs/pipe.pdf",
    )


def test_a_folder_linked_from_elsewhere_is_read_once() -> None:
    touch("store/a.md", "docs/b.md")
    Path("docs/one").symlink_to(Path("store").resolve())
    Path("docs/two").symlink_to(Path("store").resolve())
    assert [source.stored_path for source in discover([Path("docs")]).sources] == ["docs/b.md", "docs/one/a.md"]


def test_a_hidden_folder_is_read_when_it_is_asked_for() -> None:
    touch(".notes/a.md")
    assert [source.stored_path for source in discover([Path(".notes")]).sources] == [".notes/a.md"]


def test_a_name_that_is_no_utf_8_is_written_so_that_a_database_takes_it() -> None:
    folder, name = os.fsdecode(b"boards\xff"), os.fsdecode(b"a\xe9.md")
    touch(f"docs/{folder}/{name}", f"docs/{folder}/b.{os.fsdecode(bytes([0xFE]))}")
    discovery = discover([Path("docs")])
    (source,) = discovery.sources
    assert (source.stored_path, source.product) == ("docs/boards\\xff/a\\xe9.md", "boards\\xff")
    assert source.path.is_file() and discovery.covers(source.stored_path)
    assert discover([Path("docs", folder, name)]).sources[0].stored_path == source.stored_path
    assert [name for names in discovery.examples.values() for name in names] == ["docs/boards\\xff/b.\\xfe"]


def test_a_missing_path_is_an_error_before_anything_is_looked_through(tmp_path: Path) -> None:
    expect_paths([tmp_path])
    with pytest.raises(InputError, match="nowhere: no such file or folder"):
        expect_paths([tmp_path, Path("nowhere")])
    with pytest.raises(InputError, match=r"absent\.toml"):
        expect_paths([tmp_path], metadata=tmp_path / "absent.toml")


def test_a_missing_path_is_an_error_that_names_it() -> None:
    with pytest.raises(InputError, match="nowhere"):
        discover([Path("nowhere")])


def test_a_web_address_is_told_apart_from_a_missing_file() -> None:
    with pytest.raises(InputError, match=r"^https://pumps\.example/manual\.html: .*no web addresses\. Download"):
        discover([Path("https://pumps.example/manual.html")])


def test_a_document_is_covered_by_the_folders_that_were_searched() -> None:
    touch("docs/a.md", "other/b.md")
    discovery = discover([Path("docs"), Path("other/b.md")])
    assert discovery.covers("docs/gone.md")
    assert not discovery.covers("other/b.md")
    assert not discovery.covers("docs2/a.md")
    assert discover([Path()]).covers("docs/a.md")


METADATA = {
    "m.csv": "path,product,version,reviewed\n*.html,X-100,Rev 2,\ndocs/b/b.html,,Rev 3,yes\nnowhere.md,Z,,\n",
    "m.jsonl": '{"path": "*.html", "product": "X-100", "version": "Rev 2"}\n'
    '{"path": "docs/b/b.html", "version": "Rev 3", "reviewed": "yes"}\n{"path": "nowhere.md", "product": "Z"}\n',
    "m.json": '{"*.html": {"product": "X-100", "version": "Rev 2"}, "b/b.html": {"version": "Rev 3", "reviewed": "yes"}, "nowhere.md": {}}',
    "m.toml": '["*.html"]\nproduct = "X-100"\nversion = "Rev 2"\n["b/b.html"]\nversion = "Rev 3"\nreviewed = "yes"\n["nowhere.md"]\n',
}


@pytest.mark.parametrize("name", METADATA)
def test_a_metadata_file_has_the_last_word_and_what_it_says_of_no_file_is_reported(name: str) -> None:
    touch("docs/a/a.html", "docs/b/b.html", "docs/c/c.md")
    Path(name).write_text(METADATA[name])
    discovery = discover([Path("docs")], metadata=Path(name))
    found = {s.path.name: (s.product, s.version, dict(s.metadata)) for s in discovery.sources}
    assert found == {
        "a.html": ("X-100", "Rev 2", {}),
        "b.html": ("X-100", "Rev 3", {"reviewed": "yes"}),
        "c.md": ("c", None, {}),
    }
    (note,) = discovery.notes
    assert "nowhere.md" in note


def test_values_of_a_metadata_file_are_kept_as_they_are_written() -> None:
    touch("docs/a.md")
    Path("m.jsonl").write_text('{"path": "*", "pages": 3, "draft": true, "weight": 1.0, "owner": null, "path2": "1"}\n')
    (source,) = discover([Path("docs")], metadata=Path("m.jsonl")).sources
    kept = {"pages": 3, "draft": True, "weight": 1.0, "owner": None, "path2": "1"}
    assert {key: (type(value), value) for key, value in source.metadata.items()} == {
        key: (type(value), value) for key, value in kept.items()
    }


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("m.csv", 'path,note\na.md,"two\nlines\u2028three"\n'),
        ("m.jsonl", '{"path": "a.md", "note": "two\\nlines\u2028three"}\n'),
    ],
)
def test_an_end_of_a_line_within_a_value_is_kept(name: str, content: str) -> None:
    touch("docs/a.md")
    Path(name).write_text(content, encoding="utf-8")
    (source,) = discover([Path("docs")], metadata=Path(name)).sources
    assert dict(source.metadata) == {"note": "two\nlines\u2028three"}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("m.txt", "", "m.txt"),
        ("m.jsonl", '{"path": "a.md"}\n\n{"path"\n', "m.jsonl, line 3: expected a JSON object with `path`"),
        ("m.json", "[" * 100_000, "m.json: expected plain values by path, got lists or objects in one another"),
        ("m.toml", "a = " + "[" * 100_000, "m.toml: expected plain values by path"),
        ("m.json", '{"a.md": {"x": NaN}}', "expected a plain value (text, a finite number, true or false), got nan"),
        ("m.jsonl", '{"path": "a.md", "x": 1e999}', "a finite number, true or false), got inf"),
        ("m.csv", "file,product\na,b\n", "path"),
        ("m.csv", "path,product\na,b,c\n", "line 2"),
        ("m.csv", "path,product\nb.md,Y\n,X\n", "m.csv, line 3, 'path': expected a path, got {'product': 'X'}"),
        ("m.json", "[1]", "m.json, element 1: expected an object with `path`, got 1"),
        ("m.json", '[{"path": 3}]', "m.json, element 1, 'path': expected text, got 3"),
        ("m.json", "3", "expected an object keyed by path or a list of objects, got int"),
        ("m.json", '{"": {}}', "m.json, '': expected a path, got ''"),
        (
            "m.jsonl",
            '{"path": "a.md"}\n{"path": "b.md", "product": {}}\n',
            "m.jsonl, line 2, 'product': expected a plain value",
        ),
        ("m.toml", '["a.md"]\nversion = 2024-01-01\n', "m.toml, 'a.md', 'version': expected a plain value"),
        ("m.json", "{", "JSON"),
        ("m.toml", "=", "TOML"),
        (
            "m.json",
            '{"a.md": {"product": ["x"]}}',
            "m.json, 'a.md', 'product': expected a plain value (text, a finite number, true or false), got ['x']",
        ),
        ("m.json", '{"a.md": 3}', "m.json, 'a.md': expected keys such as product and category, got 3"),
        ("m.jsonl", b"\xff", "UTF-8"),
    ],
)
def test_a_metadata_file_that_cannot_be_used_is_an_error(name: str, content: str | bytes, words: str) -> None:
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError, match=re.escape(words)):
        discover([], metadata=Path(name))


def test_a_store_among_the_documents_is_none_of_them() -> None:
    touch(
        "docs/a.md",
        "docs/my.kg/lock",
        "docs/my.kg/database/kgrag/schema.json",
        "docs/my.kg/log/events.jsonl",
        "docs/database/b.md",
    )
    found = discover([Path("docs")])
    assert [source.stored_path for source in found.sources] == ["docs/a.md", "docs/database/b.md"]
    assert found.ignored == {"folder of a store": 1}


def test_the_file_that_says_more_about_the_others_is_no_document() -> None:
    touch("docs/a.md", "docs/about.csv")
    Path("docs/about.csv").write_text("path,version\na.md,3\n")
    found = discover([Path("docs")], metadata=Path("docs/about.csv"))
    assert [(source.stored_path, source.version) for source in found.sources] == [("docs/a.md", "3")]
    assert found.ignored == {"metadata file": 1}


def test_lists_that_installers_write_about_a_package_are_no_documents(tmp_path: Path) -> None:
    for name in ("pump.egg-info/top_level.txt", "pump-1.0.dist-info/entry_points.txt", "info/notes.txt"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("pump\n")
    discovery = discover([tmp_path])
    assert [source.path.name for source in discovery.sources] == ["notes.txt"]
    assert discovery.ignored == {"program source": 2}


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
@pytest.mark.parametrize("mode", [0o000, 0o444])
def test_a_folder_that_may_not_be_read_is_named_and_what_is_in_it_has_not_vanished(
    tmp_path: Path, mode: int, without_root: Callable[[], AbstractContextManager[None]]
) -> None:
    touch("docs/open/a.md", "docs/closed/b.md", "docs/closed/deep/c.md")
    tmp_path.chmod(0o755)
    Path("docs/closed").chmod(mode)
    try:
        with without_root():
            found = discover([Path("docs")])
    finally:
        Path("docs/closed").chmod(0o755)
    assert [source.stored_path for source in found.sources] == ["docs/open/a.md"]
    assert found.unread and set(found.unread.values()) == {"Permission denied"}
    assert not found.covers("docs/closed/b.md")
    assert found.covers("docs/open/gone.md")


def test_a_file_that_cannot_be_read_for_lack_of_a_package_has_not_vanished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch("docs/a.md", "docs/scan.png")
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))
    found = discover([Path("docs")])
    assert [source.stored_path for source in found.sources] == ["docs/a.md"]
    assert not found.covers("docs/scan.png") and found.covers("docs/other.png")
