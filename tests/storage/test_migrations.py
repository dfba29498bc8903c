"""Migrations: a file opens from its oldest schema, and no other file is written."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from hippocampus.errors import StoreError
from hippocampus.storage.ledger import Ledger
from hippocampus.storage.salvage import columns_of
from hippocampus.storage.schema import SCRIPTS, is_state, migrate, name_of
from hippocampus.storage.sqlite import connected
from hippocampus.storage.state import DirectoryState
from hippocampus.storage.state_dir import StateDir


def layout(db: sqlite3.Connection) -> object:
    return {name: columns for name, columns in columns_of(db).items() if name != "migration"}


def opened(state: StateDir) -> Path:
    """Open and close the database by the class that owns it; return where it is."""
    Ledger(DirectoryState(state), "s").close()
    return state.database


def test_a_file_of_each_earlier_version_gets_what_came_later(tmp_path: Path) -> None:
    expected = opened(StateDir(tmp_path / "fresh"))
    for count in range(1, len(SCRIPTS) + 1):
        state = StateDir(tmp_path / str(count))
        path = state.root / expected.relative_to(tmp_path / "fresh")
        path.parent.mkdir(parents=True)
        with closing(sqlite3.connect(path, isolation_level=None)) as old:
            migrate(old, str(path), SCRIPTS[:count])
        assert opened(state) == path
        with closing(sqlite3.connect(path)) as db, closing(sqlite3.connect(expected)) as fresh:
            assert layout(db) == layout(fresh)
            names = db.execute("SELECT name FROM migration ORDER BY number").fetchall()
            assert names == [(name_of(script),) for script in SCRIPTS]


def test_a_file_of_a_later_version_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    path = opened(StateDir(tmp_path))
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("INSERT INTO migration VALUES (99, 'later')")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"later version of hippocampus: upgrade"):
        opened(StateDir(tmp_path))
    assert path.read_bytes() == before


def test_a_file_of_another_checkout_is_refused_and_names_the_way_out(tmp_path: Path) -> None:
    path = StateDir(tmp_path).database
    earlier = (SCRIPTS[0].replace("note BLOB NOT NULL,", ""),)
    with closing(connected(path)) as db:
        migrate(db, str(path), earlier)
    with pytest.raises(StoreError, match="another checkout, which exports it"):
        opened(StateDir(tmp_path))


def test_a_comment_changes_no_version() -> None:
    assert name_of("-- One table.\nCREATE  TABLE one (a)") == name_of(
        "CREATE TABLE one (a) -- more"
    )


def text(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as db:
        return {name for (name,) in db.execute("SELECT name FROM sqlite_schema")}


def test_a_file_of_another_program_gets_no_table_of_ours(tmp_path: Path) -> None:
    path = opened(StateDir(tmp_path))
    path.unlink()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE theirs (text TEXT)")
    with pytest.raises(StoreError, match="a SQLite file of something else; name another"):
        opened(StateDir(tmp_path))
    assert text(path) == {"theirs"}


def test_a_database_with_damaged_names_is_no_state(tmp_path: Path) -> None:
    path = tmp_path / "damaged"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE aaaa (b)")
    content = path.read_bytes().replace(b"aaaa (b", b"aaaa ((")
    path.write_bytes(content.replace(b"aaaa", b"\xff" * 4))
    assert not is_state(path)


def test_a_migration_that_fails_leaves_the_version_before_it(tmp_path: Path) -> None:
    first, mended = "CREATE TABLE one (a TEXT)", "CREATE TABLE two (a TEXT)"
    broken = f"{mended}; INSERT INTO none VALUES (1)"
    with closing(connected(tmp_path / "f.sqlite3")) as db:
        migrate(db, "f", (first,))
        with pytest.raises(sqlite3.OperationalError):
            migrate(db, "f", (first, broken))
        assert layout(db) == {"one": ("a",)}
        migrate(db, "f", (first, mended))
        assert layout(db) == {"one": ("a",), "two": ("a",)}
        with pytest.raises(StoreError, match="later version"):
            migrate(db, "f", (first,))


OPEN = """
import sys
from pathlib import Path
from hippocampus.facts.words import TEXT_RULES
from hippocampus.storage.database import SqliteDatabase
from hippocampus.storage.ledger import Ledger
from hippocampus.storage.state import DirectoryState
from hippocampus.storage.state_dir import StateDir
state = StateDir(Path(sys.argv[1]))
sys.stdin.readline()
for number in range(20):
    Ledger(DirectoryState(state), str(number)).close()
SqliteDatabase(state.database, TEXT_RULES).close()
"""


def test_processes_that_make_a_file_at_once_all_get_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPEN, str(tmp_path)]
    racing = [subprocess.Popen(command, stdin=subprocess.PIPE, text=True) for _ in range(4)]
    for each in racing:
        assert each.stdin
        each.stdin.write("\n")
        each.stdin.close()
    assert [each.wait(60) for each in racing] == [0, 0, 0, 0]
