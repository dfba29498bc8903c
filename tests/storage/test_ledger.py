"""The ledger: all of a commitment or none of it, whatever the names are."""

from __future__ import annotations

import contextlib
import math
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.entries.decision import Decision
from hippocampus.entries.entry import Entry, Record, Source, Stage
from hippocampus.entries.origin import MemoryOrigin
from hippocampus.errors import StoreError
from hippocampus.storage.ledger import (
    Ledger,
    ModelCall,
    Reactivation,
    SentMessages,
    activity,
    agent_of,
    forget,
    owner_of,
)
from hippocampus.storage.state_dir import StateDir


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    made = Ledger(StateDir(tmp_path), "s")
    yield made
    assert made.check() == []
    made.close()


def record(entry_id: str, place: str = "", shown: str = "shown") -> Record:
    entry = Entry(
        id=entry_id, type="tool_result", source=Source(type="t", ref="r", turn=1), summary="s"
    )
    return Record(
        entry,
        MemoryOrigin(place or entry_id),
        "key",
        "text",
        "json",
        "t",
        "{}",
        9,
        Stage.INDEXED,
        shown,
    )


def decision(entry_id: str) -> Decision:
    return Decision(entry_id, Stage.INDEXED, "why", 5, 0.5)


def test_what_is_committed_is_read_back(ledger: Ledger) -> None:
    ledger.commit([record("a"), record("b")], [decision("a")], ModelCall(1, 2, 3, 4))
    assert ledger.records() == [record("a"), record("b")]
    assert ledger.decisions() == [(1, decision("a"))]
    assert ledger.last_call() == ModelCall(1, 2, 3, 4)


def test_a_commitment_that_fails_leaves_nothing(ledger: Ledger) -> None:
    ledger.commit([record("a", "here")], [], ModelCall(1, 1, 1, 1))
    unnamed = Reactivation(1, "key", None, 1, "shown")  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="NOT NULL"):
        ledger.commit([record("b")], [decision("b")], ModelCall(2, 2, 2, 2), [unnamed])
    assert ledger.records() == [record("a", "here")]
    assert ledger.decisions() == []
    assert ledger.last_call() == ModelCall(1, 1, 1, 1)


def test_an_entry_saved_again_keeps_its_rank(ledger: Ledger) -> None:
    ledger.commit([record("a"), record("b")], [], ModelCall(1, 1, 1, 1))
    ledger.save(replace(record("a", shown="other"), stage=Stage.DORMANT))
    assert [each.entry.id for each in ledger.records()] == ["a", "b"]
    assert ledger.records()[0].shown == "other"


def test_a_place_that_is_known_keeps_its_entry(ledger: Ledger) -> None:
    ledger.commit([record("a", "here")], [], ModelCall(1, 1, 1, 1))
    ledger.commit([record("b"), record("c", "here")], [decision("b")], ModelCall(2, 2, 2, 2))
    assert ledger.records() == [record("a", "here"), record("b")]


@pytest.mark.parametrize("stage", Stage)
def test_the_text_of_a_stage_is_frozen(ledger: Ledger, stage: Stage) -> None:
    """Another process may have written another text of the same content and stage."""
    first = replace(record("a"), stage=stage)
    ledger.save(first)
    ledger.save(replace(first, shown="other"))
    assert ledger.records() == [first]


def test_a_ledger_hears_what_others_write(tmp_path: Path, ledger: Ledger) -> None:
    other = Ledger(StateDir(tmp_path), "s")
    ledger.save(record("a"))
    assert not ledger.has_changed()
    assert other.has_changed()
    assert not other.has_changed()
    other.commit([record("b")], [], ModelCall(1, 1, 1, 1))
    assert not other.has_changed()
    assert ledger.has_changed()
    other.close()


def test_calls_behind_a_cut_are_forgotten(ledger: Ledger) -> None:
    for turn in range(5):
        ledger.commit([], [], ModelCall(turn, turn, 0, 0))
    ledger.commit([], [], ModelCall(2, 9, 0, 0))
    assert ledger.last_call() == ModelCall(2, 9, 0, 0)


def test_the_owner_of_an_entry_is_found(tmp_path: Path, ledger: Ledger) -> None:
    ledger.commit([record("abcd1234")], [], ModelCall(1, 1, 1, 1))
    Ledger(StateDir(tmp_path), "other").close()
    assert owner_of(StateDir(tmp_path), "abcd1234") == "s"
    assert owner_of(StateDir(tmp_path), "none") is None


@given(name=st.text() | st.sampled_from(["../../etc", "a/b", "\ud800", "x" * 500, "", "."]))
def test_a_session_of_any_name_comes_back(tmp_path: Path, name: str) -> None:
    state = StateDir(tmp_path)
    Ledger(state, name).close()
    assert agent_of(state, name) == ""
    forget(state, name)
    assert agent_of(state, name) is None


def test_no_stage_goes_back(tmp_path: Path) -> None:
    """A process that has not heard what another committed writes nothing over it."""
    first, second = (Ledger(StateDir(tmp_path), "s") for _ in range(2))
    ranks = [Stage.FULL, Stage.INDEXED, Stage.DORMANT]
    for before in ranks:
        for after in ranks:
            entry_id = f"{before}-{after}"
            for ledger, stage in ((first, before), (second, after)):
                made = record(entry_id, shown=f"shown {stage}")
                ledger.save(replace(made, stage=stage))
            [kept] = [each for each in first.records() if each.entry.id == entry_id]
            assert kept.stage is max(before, after, key=ranks.index)
            assert kept.shown == f"shown {kept.stage}"
    first.close()
    second.close()


def test_tokens_of_sent_messages_count_for_the_encoding_that_counted_them(ledger: Ledger) -> None:
    ledger.commit([], [], ModelCall(1, 2, 0, 0), sent=SentMessages(0, ["a", "b"], [5, 6], "one"))
    assert ledger.sent("one").tokens == [5, 6]
    assert ledger.sent("other") == (0, ["a", "b"], [0, 0], "other")
    ledger.commit([], [], ModelCall(2, 3, 0, 0), sent=SentMessages(2, ["c"], [7], "other"))
    assert ledger.sent("other") == (0, ["a", "b", "c"], [0, 0, 7], "other")


def test_a_session_is_open_until_each_who_opened_it_has_closed_it(tmp_path: Path) -> None:
    state = StateDir(tmp_path)
    first, second = Ledger(state, "s"), Ledger(state, "s")
    first.close()
    with pytest.raises(StoreError, match="close it first"):
        forget(state, "s")
    assert activity(state)["s"] == math.inf
    second.close()
    assert activity(state)["s"] < math.inf


def test_nothing_is_written_into_a_session_that_was_removed(tmp_path: Path) -> None:
    """Not into another one either, to which SQLite would give the same number."""
    state = StateDir(tmp_path)
    ledger = Ledger(state, "s")
    with contextlib.closing(sqlite3.connect(state.database)) as db, db:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("DELETE FROM session")
    Ledger(state, "other").close()
    with pytest.raises(StoreError, match="FOREIGN KEY"):
        ledger.commit([record("a")], [], ModelCall(1, 1, 1, 1))
    with contextlib.closing(Ledger(state, "other")) as other:
        assert other.records() == []
    ledger.close()


@pytest.mark.parametrize("left", ["sessions/s-1.sqlite3", "tombstones.sqlite3", "entries.sqlite3"])
def test_a_directory_of_an_earlier_version_is_refused_in_one_sentence(
    tmp_path: Path, left: str
) -> None:
    (tmp_path / "sessions").mkdir()
    (tmp_path / left).touch()
    for opened in (lambda: Ledger(StateDir(tmp_path), "s"), lambda: activity(StateDir(tmp_path))):
        with pytest.raises(
            StoreError, match=r"is of an earlier version, .* name another directory"
        ):
            opened()
    assert not StateDir(tmp_path).database.exists()
