"""An access by a message is written down: housekeeping and consolidation know of it."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from conversations import EAGER, chat_step, managed, reading

from hippocampus import Hippocampus, Stage
from hippocampus.errors import StoreError
from hippocampus.storage.state_dir import StateDir


def test_a_mention_of_an_entry_stands_in_the_ledger(tmp_path: Path) -> None:
    rows = json.dumps([{"id": f"order-{n:04}", "state": "paid"} for n in range(900)])
    listed = chat_step("c1", "list_orders", {}, rows)
    messages = [{"role": "user", "content": "List them."}, *listed]
    memory = Hippocampus(tmp_path)
    with memory.session("s") as session:
        session(messages)
        messages += [
            {"role": "assistant", "content": "Which?"},
            {"role": "user", "content": "The one with order-0417."},
        ]
        session(messages)
    again = memory.session("s")
    (entry,) = again.entries
    assert entry.decay.last_access == entry.lifecycle.created + 1
    again.close()
    memory.close()


def test_a_second_read_of_its_file_is_an_access_that_stands_in_the_ledger(tmp_path: Path) -> None:
    """Else a process that opens the session once a digest has the entry would not know of it."""
    messages = reading(4)
    call, result = reading(1)[1:]
    with Hippocampus(tmp_path, policy=EAGER) as memory, memory.session("s") as session:
        session(messages)
        entry = session.entries[0]
        session([*messages, call, {**result, "content": "gone"}])
    with Hippocampus(tmp_path, policy=EAGER) as memory, memory.session("s") as session:
        assert entry.decay.last_access < session.entries[0].decay.last_access == 5


def test_a_recall_is_not_undone_by_a_text_that_was_written_before_it(tmp_path: Path) -> None:
    with Hippocampus(tmp_path, policy=EAGER) as memory, memory.session("s") as session:
        items = reading(4)
        session(items)
        run = session._run
        [payload, *_] = run.state.payloads.outside_digests()
        number = run.state.payloads.numbers[payload.id]
        weighed = payload._replace(shorter=replace(payload.record, stage=Stage.DORMANT))
        run.state.payloads.change({number: weighed}, run.rules)
        session.recall(payload.id, head=1)
        run.state.payloads.move_on([payload.id], run.rules)
        assert (
            run.state.payloads.items[number].record.entry.decay.last_access
            == run.state.history.turn
            > 1
        )


def test_a_recall_of_what_a_turn_has_shortened_meanwhile_does_not_bring_its_old_stage_back(
    tmp_path: Path,
) -> None:
    with Hippocampus(tmp_path, policy=EAGER) as memory, memory.session("s") as session:
        session(reading(4))
        [record, *_] = session.report.records()
        assert record.stage is not Stage.FULL
        session._recalls._note_access([replace(record, stage=Stage.FULL, shown="")])
        assert session.report.records()[0].stage is record.stage
        assert session.entries[0].decay.last_access == session.status()["turn"]


def test_what_the_last_answer_names_is_written_down_when_the_session_closes(tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER)
    items = reading(4)
    session = memory.session("s")
    session(items)
    named = session.entries[0].id
    session.close([*items, {"role": "assistant", "content": f"All of it is in {named}."}])
    again = memory.session("s")
    assert again.entries[0].decay.last_access == session.status()["turn"] > 1
    again.close()
    memory.close()


def test_a_state_that_the_disk_refuses_is_not_there(tmp_path: Path) -> None:
    with managed(tmp_path, policy=EAGER, deadline_seconds=0.25) as session:
        session(reading(1))
        other = sqlite3.connect(StateDir(tmp_path).database)
        other.execute("BEGIN IMMEDIATE")
        before = len(session.entries)
        with pytest.raises(StoreError):
            session.state("deploying to staging")
        other.rollback()
        other.close()
        assert len(session.entries) == before
        first = session.state("deploying to staging")
        assert session.state("deploying to staging") == first
        assert len(session.entries) == before + 1
