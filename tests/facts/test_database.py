"""The file of the fact store: all of a transaction or none of it, and nobody else's file."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hippocampus.errors import StoreError
from hippocampus.facts.store import Facts
from hippocampus.facts.words import TEXT_RULES
from hippocampus.storage.database import SqliteDatabase as Database
from hippocampus.storage.ledger import Ledger
from hippocampus.storage.state import state_of
from hippocampus.storage.state_dir import StateDir


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path / "facts.sqlite3", TEXT_RULES)
    yield made
    assert made.check() == []
    made.close()


def write(database: Database, *pairs: tuple[str, str]) -> None:
    with database.transaction():
        for key, value in pairs:
            database.set_meta(key, value)


def write_orphan(database: Database) -> None:
    """Write what SQLite refuses when it is to be committed."""
    with database.transaction():
        database.run("PRAGMA defer_foreign_keys = ON")
        database.run("INSERT INTO vector VALUES (7, x'00')")


def test_a_full_disk_leaves_nothing_and_the_store_usable(database: Database) -> None:
    database.run("PRAGMA max_page_count = 1")
    with pytest.raises(StoreError, match="full"):
        write(database, ("first", "x"), *((f"large {at}", "x" * 10_000_000) for at in range(9)))
    database.run("PRAGMA max_page_count = 1000000000")
    assert database.meta("first") is None
    write(database, ("second", "y"))
    assert not database._current().db.in_transaction
    assert database.meta("second") == "y"


def test_a_commit_that_fails_is_taken_back_and_the_next_one_is_not_lost(
    database: Database, tmp_path: Path
) -> None:
    database.run("PRAGMA foreign_keys = ON")
    with pytest.raises(StoreError, match="FOREIGN KEY"):
        write_orphan(database)
    write(database, ("second", "y"))
    with closing(Database(tmp_path / "facts.sqlite3", TEXT_RULES)) as other:
        assert other.meta("second") == "y"


def test_a_damaged_file_is_said_to_be_one_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "facts.sqlite3"
    path.write_bytes(b"no database" * 500)
    with pytest.raises(StoreError, match=r"is damaged or none: .*; name another, or move it away"):
        Database(path, TEXT_RULES)
    assert path.read_bytes() == b"no database" * 500


def test_a_lone_fact_store_has_the_tables_of_a_state_directory(tmp_path: Path) -> None:
    Ledger(state_of(tmp_path / "state"), "s").close()
    Database(tmp_path / "facts.sqlite3", TEXT_RULES).close()
    found = []
    for path in (StateDir(tmp_path / "state").database, tmp_path / "facts.sqlite3"):
        with closing(sqlite3.connect(path)) as db:
            found.append(db.execute("SELECT name, sql FROM sqlite_schema").fetchall())
    assert found[0] == found[1]
    Database(StateDir(tmp_path / "state").database, TEXT_RULES).close()


REMEMBER = """
import sys
from pathlib import Path
from hippocampus.facts.store import Facts

with Facts(Path(sys.argv[1])) as facts:
    sys.stdin.readline()
    for number in range(30):
        facts.remember(f"Service {sys.argv[2]}-{number} listens on port {8000 + number}.")
"""


@pytest.mark.slow
def test_eight_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "facts.sqlite3"
    command = [sys.executable, "-c", REMEMBER, str(path)]
    writers = [
        subprocess.Popen([*command, str(number)], stdin=subprocess.PIPE, text=True)
        for number in range(8)
    ]
    for each in writers:
        assert each.stdin
        each.stdin.write("\n")
        each.stdin.close()
    assert [each.wait() for each in writers] == [0] * 8
    with Facts(path) as facts:
        assert len(facts.memories()) == 8 * 30
        assert facts.check() == []
