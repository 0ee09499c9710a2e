import os
import resource
import signal
import threading
from pathlib import Path

import pytest

from kgrag.common.whole_files import append_whole, expect_place, part_of, whole_file
from kgrag.errors import DISK_FULL, InputError


def write(file: Path, *lines: str) -> None:
    with whole_file(file) as opened:
        opened.writelines(f"{line}\n" for line in lines)


def test_a_file_that_is_not_written_to_its_end_leaves_the_one_before(tmp_path: Path) -> None:
    file = tmp_path / "out put.jsonl"
    write(file, "old")
    file.chmod(0o640)
    with pytest.raises(ZeroDivisionError), whole_file(file) as opened:
        opened.write("new\n")
        raise ZeroDivisionError
    assert file.read_text() == "old\n" and part_of(file).read_text() == "new\n"
    write(file, "newer")
    assert file.read_text() == "newer\n" and file.stat().st_mode & 0o777 == 0o640
    assert [one.name for one in tmp_path.iterdir()] == ["out put.jsonl"]


def test_a_link_stays_one_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "file")
    write(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "elsewhere" / "file").read_text() == "text\n"


def test_a_pipe_is_written_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    taken: list[str] = []
    reader = threading.Thread(target=lambda: taken.append((tmp_path / "pipe").read_text()))
    reader.start()
    write(tmp_path / "pipe", "text")
    reader.join()
    assert taken == ["text\n"] and [one.name for one in tmp_path.iterdir()] == ["pipe"]
    write(Path("/dev/null"), "text")


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "none" / "file"):
        with pytest.raises(OSError) as told, whole_file(place):
            pass
        assert told.value.filename == str(place)


def test_a_place_that_takes_no_file_is_told_before_it_is_written(tmp_path: Path) -> None:
    expect_place(tmp_path / "new" / "folder" / "file")
    assert [one.name for one in (tmp_path / "new").iterdir()] == ["folder"]
    (tmp_path / "file").touch()
    expect_place(tmp_path / "file")
    expect_place(Path("/dev/stdout"))
    with pytest.raises(InputError, match="got a folder: name a file in it"):
        expect_place(tmp_path)
    with pytest.raises(InputError, match="a folder that cannot be made"):
        expect_place(tmp_path / "file" / "below")


def test_what_does_not_fit_is_not_added_in_part(tmp_path: Path) -> None:
    file = tmp_path / "log"
    append_whole(file, b"one\n")
    assert file.stat().st_mode & 0o777 == 0o600
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(OSError) as told:
            append_whole(file, b"two and more\n")
        with pytest.raises(OSError) as of_whole:
            write(tmp_path / "large", "x" * 100)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert told.value.errno in DISK_FULL and of_whole.value.filename == str(tmp_path / "large")
    assert file.read_bytes() == b"one\n"
    append_whole(file, b"three\n")
    assert file.read_bytes() == b"one\nthree\n"
