"""A damaged database of a state directory: what can be read of it is saved, and the rest is named."""

from __future__ import annotations

import contextlib
import random
import re
import sqlite3
from collections import Counter
from pathlib import Path

import pytest
from conversations import EAGER, reading
from states import activity, execute

from hippocampus import Hippocampus, StoreError
from hippocampus.errors import DamageError
from hippocampus.facts import write
from hippocampus.facts.store import Facts
from hippocampus.facts.write import Item
from hippocampus.storage import salvage
from hippocampus.storage.deadline import bounded
from hippocampus.storage.ledger import Ledger
from hippocampus.storage.state import DirectoryState
from hippocampus.storage.state_dir import StateDir
from hippocampus.storage.verify import verify

SESSIONS, FACTS = 3, 200


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The database of some sessions."""
    folder = tmp_path_factory.mktemp("made")
    memory = Hippocampus(folder, policy=EAGER)
    for number in range(SESSIONS):
        with memory.session(f"s{number}") as session:
            session(reading(12, start=100 * number))
    items = [Item(f"Box {n} holds {n} lamps.") for n in range(FACTS)]
    write.remember_many(memory.facts.tables, items)
    memory.facts.blocks.set("persona", "kind")
    memory.close()
    return StateDir(folder).database.read_bytes()


def damaged(made: bytes, state: StateDir, pages: list[int]) -> None:
    content, rng = bytearray(made), random.Random(7)
    for page in pages:
        content[4_096 * page : 4_096 * (page + 1)] = rng.randbytes(4_096)
    state.root.mkdir(exist_ok=True)
    state.database.write_bytes(bytes(content))


OF_SESSIONS = ("entry", "call", "conversation")


def rows(state: StateDir, table: str) -> Counter[str]:
    """The rows of each session in a table."""
    query = f"SELECT name FROM {table} JOIN session ON session.number = {table}.session"
    return Counter(name for (name,) in execute(state.root, query))


@pytest.mark.slow
def test_damage_of_any_page_costs_no_more_than_what_it_has_and_is_named_by_session(
    made: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(salvage, "MAX_TRIED", 1_000)
    whole = StateDir(tmp_path / "whole")
    damaged(made, whole, [])
    expected = {table: rows(whole, table) for table in OF_SESSIONS}
    kept, facts, pages = [], [], len(made) // 4_096
    for page in range(pages):
        state = StateDir(tmp_path / str(page))
        damaged(made, state, [page])
        text = "; ".join(salvage.lost(state.database))
        salvage.salvage(state.database)
        gone = {table: expected[table] - rows(state, table) for table in OF_SESSIONS}
        for name, count in gone["entry"].items():
            assert f"session {name!r} has lost {count} of its entries" in text, page
        assert all(f"{name!r} has lost" in text for lost in gone.values() for name in lost), page
        assert set(activity(state.root)) == {f"s{number}" for number in range(SESSIONS)}, page
        kept.append(rows(state, "entry").total())
        with Facts(state.database) as store:
            assert store.check() == []
            facts.append(len(store.memories()))
    assert kept[0] == max(kept) == expected["entry"].total()
    assert facts[0] == max(facts) >= FACTS
    assert set(kept[:7]) == {max(kept)}  # among them the lists of tables and of migrations
    assert sum(kept) > 0.9 * len(kept) * max(kept)
    assert sum(facts) > 0.9 * len(facts) * max(facts)


def test_rows_after_damage_are_read_whatever_their_numbers_and_gaps_are_no_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(salvage, "MAX_TRIED", 2_000)
    state = StateDir(tmp_path)
    Ledger(DirectoryState(state), "s").close()
    with contextlib.closing(sqlite3.connect(state.database)) as db, db:
        rows = [(150_000 + 10 * n, 0.0, "s", f"event {n} {'x' * 300}") for n in range(600)]
        db.executemany("INSERT INTO hook_event VALUES (?, ?, ?, ?)", rows)
    content = state.database.read_bytes()
    middle, last = (content.index(b"event %d " % number) // 4_096 for number in (300, 599))
    damaged(content, state, [middle])
    [lost] = salvage.lost(state.database)
    assert re.fullmatch(r"up to \d+ rows of the table hook_event cannot be read", lost)
    damaged(content, state, [middle, last])
    assert salvage.lost(state.database) == ["some rows of the table hook_event cannot be read"]
    salvage.salvage(state.database)
    with contextlib.closing(sqlite3.connect(state.database)) as db:
        assert db.execute("SELECT count(*) > 560 FROM hook_event").fetchone() == (1,)


def test_a_file_of_which_nothing_can_be_read_is_set_aside(made: bytes, tmp_path: Path) -> None:
    state = StateDir(tmp_path)
    damaged(made, state, [*range(len(made) // 4_096)])
    salvage.salvage(state.database)
    assert not state.database.exists()
    assert state.database.with_name("state.sqlite3.damaged").exists()


def test_a_locked_file_is_not_damaged(made: bytes, tmp_path: Path) -> None:
    state = StateDir(tmp_path)
    damaged(made, state, [])
    with contextlib.closing(sqlite3.connect(state.database, isolation_level=None)) as db:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("BEGIN EXCLUSIVE")
        with bounded(0.05):
            found = verify(DirectoryState(state))
    assert [finding.mend for finding in found] == [None] * len(found)
    assert any("locked" in finding.text for finding in found)
    assert not any(finding.text.startswith("state") for finding in verify(DirectoryState(state)))


def test_a_damaged_file_stays_where_it_is_while_there_is_no_room_for_its_copy(
    made: bytes, tmp_path: Path
) -> None:
    resource = pytest.importorskip("resource")
    state = StateDir(tmp_path)
    damaged(made, state, [len(made) // 4_096 // 2])
    before = state.database.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8 * 4_096, hard))  # as on a full disk
    try:
        with pytest.raises(StoreError) as refused:
            salvage.salvage(state.database)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not isinstance(refused.value, DamageError)
    assert [path.name for path in tmp_path.iterdir()] == [state.database.name]
    assert state.database.read_bytes() == before
