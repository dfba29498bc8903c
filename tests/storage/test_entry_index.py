"""Which session has an entry: found by one table, whatever happened to the ledgers since."""

from __future__ import annotations

from pathlib import Path

import pytest

from hippocampus.entries.entry import Entry, Record, Source, Stage
from hippocampus.entries.origin import MemoryOrigin
from hippocampus.storage import entry_index
from hippocampus.storage.ledger import Ledger, ModelCall, owner_of
from hippocampus.storage.state_dir import StateDir


@pytest.fixture
def state(tmp_path: Path) -> StateDir:
    return StateDir(tmp_path)


def write(state: StateDir, session: str, *ids: str) -> None:
    entries = [
        Entry(id=each, type="tool_result", source=Source(type="t", ref="k", turn=1), summary="s")
        for each in ids
    ]
    records = [
        Record(
            each, MemoryOrigin(each.id), "k", "text", "json", "t", "{}", 9, Stage.INDEXED, "shown"
        )
        for each in entries
    ]
    ledger = Ledger(state, session)
    ledger.commit(records, [], ModelCall(1, 1, 1, 1))
    ledger.close()


def test_what_is_written_after_a_lookup_is_found_by_the_next_one(state: StateDir) -> None:
    write(state, "one", "aaaa2222")
    assert owner_of(state, "bbbb2222") is None
    write(state, "one", "bbbb2222")
    write(state, "two", "cccc2222")
    owners = [owner_of(state, each) for each in ("aaaa2222", "bbbb2222", "cccc2222", "dddd2222")]
    assert owners == ["one", "one", "two", None]


def test_an_entry_whose_ledger_is_gone_has_no_owner(state: StateDir) -> None:
    write(state, "one", "aaaa2222")
    assert owner_of(state, "aaaa2222") == "one"
    state.ledger("one").unlink()
    assert owner_of(state, "aaaa2222") is None


def test_a_ledger_that_did_not_change_is_not_read_again(
    state: StateDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry_index, "SETTLED_NS", 0)
    write(state, "one", "aaaa2222")
    read: list[Path] = []
    for _ in range(2):
        found = entry_index.ledgers_with(
            state, "aaaa2222", lambda path: read.append(path) or ["aaaa2222"]
        )
        assert found == [state.ledger("one")]
    assert read == [state.ledger("one")]


def test_a_damaged_ledger_or_index_hides_no_other(state: StateDir) -> None:
    write(state, "one", "aaaa2222")
    (state.sessions / "broken.sqlite3").write_bytes(b"no database" * 100)
    assert owner_of(state, "aaaa2222") == "one"
    state.entry_index.write_bytes(b"no database" * 100)
    assert owner_of(state, "aaaa2222") == "one"
