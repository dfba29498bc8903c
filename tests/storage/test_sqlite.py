"""Files with a write-ahead log: read without a trace, and told by when they were last written."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from hippocampus.errors import DamageError
from hippocampus.storage.sqlite import error_of, reading


def opened(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    return db


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with one row, that nobody has open."""
    path = tmp_path / "a ledger?#.sqlite3"
    with closing(opened(path)) as db:
        db.execute("CREATE TABLE word (text TEXT)")
        db.execute("INSERT INTO word VALUES ('one')")
    return path


def words(path: Path) -> list[str]:
    with reading(path) as db:
        return [text for (text,) in db.execute("SELECT text FROM word")]


def names(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


def test_reading_leaves_no_log_and_the_time_of_the_last_write(path: Path) -> None:
    before = path.read_bytes(), path.stat().st_mtime_ns
    assert words(path) == ["one"]
    assert names(path.parent) == {path.name}
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_reading_takes_an_empty_log_away(path: Path) -> None:
    path.with_name(f"{path.name}-wal").touch()
    assert words(path) == ["one"]
    assert names(path.parent) == {path.name}


def test_reading_leaves_the_log_of_a_crash_as_it_is(path: Path, tmp_path: Path) -> None:
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    with closing(opened(path)) as db:
        db.execute("INSERT INTO word VALUES ('two')")
        for each in path.parent.glob(f"{path.name}*"):
            if not each.name.endswith("-shm"):
                shutil.copy2(each, crashed)
    copied = crashed / path.name
    log = copied.with_name(f"{path.name}-wal")
    before = copied.read_bytes(), log.read_bytes()
    assert words(copied) == ["one", "two"]
    assert (copied.read_bytes(), log.read_bytes()) == before


def test_reading_beside_a_writer_sees_what_it_commits_and_is_in_nobodys_way(path: Path) -> None:
    with closing(opened(path)) as db, reading(path) as other:
        db.execute("INSERT INTO word VALUES ('two')")
        assert other.execute("SELECT count(*) FROM word").fetchone() == (2,)
    assert words(path) == ["one", "two"]


def test_a_reader_cannot_write(path: Path) -> None:
    with reading(path) as db, pytest.raises(sqlite3.OperationalError, match=r"readonly|read-only"):
        db.execute("DELETE FROM word")
    assert words(path) == ["one"]


def test_reading_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError), reading(tmp_path / "none.sqlite3") as db:
        db.execute("SELECT 1")
    assert names(tmp_path) == set()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_file_is_read_whose_name_is_not_utf8(path: Path) -> None:
    odd = path.rename(path.parent / os.fsdecode(b"\xff.sqlite3"))
    with reading(odd) as db:
        assert db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] >= 0


@pytest.mark.parametrize(
    ("code", "is_damage"),
    [
        (sqlite3.SQLITE_CORRUPT_INDEX, True),
        (sqlite3.SQLITE_IOERR_SHORT_READ, True),
        (sqlite3.SQLITE_BUSY_RECOVERY, False),
        (sqlite3.SQLITE_PROTOCOL, False),
        (sqlite3.SQLITE_IOERR_WRITE, False),
    ],
)
def test_only_what_is_wrong_with_the_bytes_is_damage(code: int, *, is_damage: bool) -> None:
    failure = sqlite3.OperationalError("it failed")
    failure.sqlite_errorcode = code
    assert isinstance(error_of("x", failure), DamageError) is is_damage


def test_a_file_is_read_while_its_log_comes_and_goes(path: Path) -> None:
    """As the log does where other processes open the file and close it."""
    log = path.with_name(f"{path.name}-wal")
    toggle = "import pathlib, sys\nlog = pathlib.Path(sys.argv[1])\nwhile True:\n log.touch()\n log.unlink()"
    with subprocess.Popen([sys.executable, "-c", toggle, log]) as toggling:
        try:
            for _ in range(1_500):
                with reading(path):
                    pass
        finally:
            toggling.kill()
