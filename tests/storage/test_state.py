"""What every state has in common, whichever engine it is on: all of a commitment or none of it."""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from storage.rows import decision, record

from hippocampus import Hippocampus
from hippocampus.entries.entry import Decision, Stage
from hippocampus.errors import StoreError
from hippocampus.formats import reader
from hippocampus.storage.archive import Journal, RawList
from hippocampus.storage.ledger import (
    Ledger,
    Measure,
    ModelCall,
    NextText,
    TurnRows,
)
from hippocampus.storage.state import DirectoryState, StateStore
from hippocampus.storage.state_dir import StateDir


@pytest.fixture(params=["directory", "postgresql"])
def state(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[StateStore]:
    if request.param == "directory":
        opened: StateStore = DirectoryState(StateDir(tmp_path))
    else:
        server = request.getfixturevalue("postgres")
        from hippocampus.storage.postgres import PostgresState

        request.getfixturevalue("monkeypatch").setattr(
            "hippocampus.storage.postgres.Connections.patience_seconds", 60.0
        )
        opened = PostgresState(server.address, tenant=uuid.uuid4().hex)
    with contextlib.closing(opened):
        yield opened


@pytest.fixture
def session(state: StateStore) -> Iterator[Ledger]:
    with contextlib.closing(state.session("s")) as opened:
        yield opened


def test_what_is_committed_is_read_back(session: Ledger) -> None:
    session.commit(
        TurnRows(
            ModelCall(1, 2, 3, 4), decisions=[decision("a")], records=[record("a"), record("b")]
        )
    )
    assert session.records() == [record("a"), record("b")]
    assert session.decisions() == [(1, decision("a"))]
    assert session.last_call() == ModelCall(1, 2, 3, 4)


def test_a_commitment_that_fails_leaves_nothing(session: Ledger) -> None:
    session.commit(TurnRows(ModelCall(1, 1, 1, 1), records=[record("a", "here")]))
    unnumbered = ModelCall(2, None, 2, 2)  # type: ignore[arg-type]
    with pytest.raises(StoreError, match=r"(?i)not.null"):
        session.commit(TurnRows(unnumbered, decisions=[decision("b")], records=[record("b")]))
    assert session.records() == [record("a", "here")]
    assert session.decisions() == []
    assert session.last_call() == ModelCall(1, 1, 1, 1)


def test_an_entry_saved_again_keeps_its_rank(session: Ledger) -> None:
    session.commit(TurnRows(ModelCall(1, 1, 1, 1), records=[record("a"), record("b")]))
    session.save(replace(record("a", shown="other"), stage=Stage.DORMANT))
    assert [each.entry.id for each in session.records()] == ["a", "b"]
    assert session.records()[0].shown == "other"


def test_a_place_that_is_known_keeps_its_entry(session: Ledger) -> None:
    session.commit(TurnRows(ModelCall(1, 1, 1, 1), records=[record("a", "here")]))
    session.commit(
        TurnRows(
            ModelCall(2, 2, 2, 2),
            decisions=[decision("b")],
            records=[record("b"), record("c", "here")],
        )
    )
    assert session.records() == [record("a", "here"), record("b")]


@pytest.mark.parametrize("stage", Stage)
def test_the_text_of_a_stage_is_frozen(session: Ledger, stage: Stage) -> None:
    """Another process may have written another text of the same content and stage."""
    first = replace(record("a"), stage=stage)
    session.save(first)
    session.save(replace(first, shown="other"))
    assert session.records() == [first]


def test_a_session_hears_what_others_write(state: StateStore, session: Ledger) -> None:
    other = state.session("s")
    session.save(record("a"))
    assert not session.has_changed()
    assert other.has_changed()
    assert not other.has_changed()
    other.commit(TurnRows(ModelCall(1, 1, 1, 1), records=[record("b")]))
    assert not other.has_changed()
    assert session.has_changed()
    other.close()


def test_calls_behind_a_cut_are_forgotten(session: Ledger) -> None:
    for turn in range(5):
        session.commit(TurnRows(ModelCall(turn, turn, 0, 0)))
    session.commit(TurnRows(ModelCall(2, 9, 0, 0)))
    assert session.last_call() == ModelCall(2, 9, 0, 0)


def test_no_stage_goes_back(state: StateStore, session: Ledger) -> None:
    """A process that has not heard what another committed writes nothing over it."""
    other = state.session("s")
    ranks = [Stage.FULL, Stage.INDEXED, Stage.DORMANT]
    for before in ranks:
        for after in ranks:
            entry_id = f"{before}-{after}"
            for writer, stage in ((session, before), (other, after)):
                made = record(entry_id, shown=f"shown {stage}")
                writer.save(replace(made, stage=stage))
            [kept] = [each for each in session.records() if each.entry.id == entry_id]
            assert kept.stage is max(before, after, key=ranks.index)
            assert kept.shown == f"shown {kept.stage}"
    other.close()


def test_each_turn_adds_the_messages_from_its_first_one_on(session: Ledger) -> None:
    session.commit(TurnRows(ModelCall(1, 2, 0, 0), sent=[("a", 5), ("b", 6)]))
    session.commit(TurnRows(ModelCall(2, 3, 0, 0), first=2, sent=[("c", 7)]))
    assert session.sent() == [("a", 5), ("b", 6), ("c", 7)]
    session.go_on_from(1)
    assert session.sent() == [("a", 5), ("b", 6), ("c", 7)]
    session.commit(TurnRows(ModelCall(3, 1, 0, 0), first=1))
    assert session.sent() == [("a", 5)]


def test_a_session_that_is_opened_again_has_all_of_its_turn(
    state: StateStore, session: Ledger
) -> None:
    measure = Measure(b"0123456789abcdef", 9, "json")
    candidate = NextText("a", {"summary": "odd \x00"}, Stage.DORMANT, "next \x00", "note")
    session.commit(
        TurnRows(
            ModelCall(1, 2, 3, 4, 5.0, 6.0, 7.0, 0.5, "marks"),
            decisions=[Decision("a", Stage.INDEXED, "why \x00", 5, 0.5)],
            records=[record("a", shown="odd \x00 text")],
            candidates=[candidate],
            sent=[("a", 5)],
            measures=[measure],
        )
    )
    with contextlib.closing(state.session("s")) as other:
        assert other.records() == [record("a", shown="odd \x00 text")]
        assert other.decisions() == session.decisions()
        assert other.last_call() == ModelCall(1, 2, 3, 4, 5.0, 6.0, 7.0, 0.5, "marks")
        assert other.sent() == [("a", 5)]
        assert other.measures() == [measure]
        assert other.candidates() == [candidate]
        assert other.pending() == 1
        assert not other.is_archived()
        full = replace(record("a"), stage=Stage.FULL)
        other.commit(TurnRows(ModelCall(2, 2, 3, 4), records=[full]))
        assert other.candidates() == [candidate]  # another entry names it in full
        other.commit(TurnRows(ModelCall(2, 2, 3, 4), records=[record("a")]))
        assert other.candidates() == []
        assert session.is_shared()
        assert session.records() == other.records()


def test_a_second_call_of_a_turn_finds_what_the_first_one_paid_for(session: Ledger) -> None:
    session.commit(TurnRows(ModelCall(1, 2, 30, 40, 9.0, 8.0, 7.0, 2.0, "first")))
    session.commit(TurnRows(ModelCall(1, 3, 31, 41, 1.0, 10.0, 0.0, 1.0, "second")))
    assert session.last_call() == ModelCall(1, 3, 31, 41, 9.0, 10.0, 7.0, 2.0, "second")
    assert session.last_call(1) is None


def test_a_list_with_fewer_turns_goes_on_with_all_sums(session: Ledger) -> None:
    for turn in range(1, 6):
        session.commit(TurnRows(ModelCall(turn, turn, 0, 0, float(turn))))
    session.go_on_from(3)
    assert session.last_call(3) == ModelCall(2, 5, 0, 0, 5.0)
    assert session.last_call() == session.last_call(3)


def test_a_stage_is_decided_once(state: StateStore, session: Ledger) -> None:
    with contextlib.closing(state.session("s")) as other:
        for writer, turn in ((session, 1), (other, 1), (session, 2)):
            writer.has_changed()  # as each turn begins
            writer.commit(TurnRows(ModelCall(turn, 1, 1, 1), decisions=[decision("a")]))
    assert session.decisions() == [(1, decision("a"))]


def test_the_owner_of_a_session_is_the_first_that_is_named(
    state: StateStore, session: Ledger
) -> None:
    assert session.agent() == ""
    assert session.agent("ann") == "ann"
    with contextlib.closing(state.session("s")) as other:
        assert other.agent("ann") == "ann"
    with pytest.raises(ValueError, match="belongs to the agent 'ann'"):
        state.session("s").agent("bob")


def test_the_first_context_load_holds(state: StateStore, session: Ledger) -> None:
    assert session.context_load() is None
    assert session.settle_context_load("first \x00", 9, [record("a")]) == "first \x00"
    with contextlib.closing(state.session("s")) as other:
        assert other.settle_context_load("second", 9, [record("b")]) == "first \x00"
    assert session.records() == [record("a")]


def test_what_is_asked_over_all_sessions(state: StateStore, session: Ledger) -> None:
    session.agent("ann")
    session.commit(TurnRows(ModelCall(1, 1, 1, 1), records=[record("abcd1234")]))
    with contextlib.closing(state.session("other")) as other:
        other.agent("ann")
        assert state.entry_of("abcd1234") == ("s", record("abcd1234"))
        assert state.entry_of("none") is None
        assert state.unconsolidated() == ["s"]
        [excerpt] = state.earlier("other", "ann", 9)
        assert (excerpt.session, excerpt.records) == ("s", [record("abcd1234")])
        assert state.earlier("other", "bob", 9) == []
        assert state.tombstone("key") is None


@given(name=st.text() | st.sampled_from(["../../etc", "a/b", "\ud800", "\x00", "x" * 500, "", "."]))
def test_a_session_of_any_name_comes_back(state: StateStore, name: str) -> None:
    with contextlib.closing(state.session(name)) as first:
        first.save(record("a"))
    with contextlib.closing(state.session(name)) as second:
        assert second.records() == [record("a")]


def test_a_payload_comes_back_byte_for_byte_and_is_put_with_its_rows(
    state: StateStore, session: Ledger
) -> None:
    odd = b"\x00 odd \xff" * 99
    with state.contents() as contents:
        key = contents.put(odd)
        assert contents.get(key) == odd
        assert not session.is_lost(contents, key)
        session.put(contents, b"with the rows")
        session.commit(TurnRows(ModelCall(1, 1, 1, 1)))
        [other] = {each.key for each in contents.stored()} - {key}
        assert contents.get(other) == b"with the rows"
        assert contents.get("0" * 64) is None
        assert not contents.delete(key, put_before=0.0)
        assert contents.delete(key)
        assert not contents.delete(key)


def test_the_raw_conversation_goes_on_in_whichever_run(state: StateStore) -> None:
    items = [{"role": "user", "content": f"\x00 words {number}"} for number in range(3)]
    for end in (1, 2, 3):
        journal = Journal("s", "default")
        with contextlib.closing(state.session("s", journal)) as opened:
            messages = reader.read(items[:end])
            opened.commit(
                TurnRows(ModelCall(end, end, 1, 1), raw=RawList(messages, 0, "openai", end))
            )
            assert opened.is_archived()
            opened.pack()
    lines = [json.loads(line) for line in state.exported("s").splitlines()]
    assert [each["items"] for each in lines if each["type"] == "message"] == [
        [each] for each in items
    ]
    assert [each["turn"] for each in lines if each["type"] == "end" or each["type"] == "call"] == [
        1,
        2,
        3,
    ]


def test_a_folder_whose_name_is_no_utf_8_is_a_state(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    items = [{"role": "user", "content": "I prefer dark themes in every editor."}]
    with Hippocampus(folder) as memory, memory.session("s") as session:
        session(items)
        assert not session.report.failures
        memory.facts.remember("I prefer green tea.")
    with DirectoryState(StateDir(folder)).contents() as store:
        assert store.get(store.put(b"a payload")) == b"a payload"
    assert json.loads(DirectoryState(StateDir(folder)).exported("s").splitlines()[0])


def test_the_end_of_a_session_writes_four_times(tmp_path: Path) -> None:
    """Its last messages, its facts, that files show them, and its conversation packed."""
    state = StateDir(tmp_path)

    def commits() -> int:
        log = state.database.with_name(f"{state.database.name}-wal").read_bytes()
        size = 24 + int.from_bytes(log[8:12])
        frames = (log[at : at + 24] for at in range(32, len(log), size))
        return sum(frame[8:16] == log[16:24] and any(frame[4:8]) for frame in frames)

    with (
        Hippocampus(tmp_path) as memory,
        contextlib.closing(DirectoryState(state).database()),
    ):
        session = memory.session("s")
        items = [{"role": "user", "content": "I prefer dark themes in every editor."}]
        session(items)
        before = commits()
        session.close([*items, {"role": "assistant", "content": "That is noted for later."}])
        memory.consolidate()
        assert commits() - before == 4
