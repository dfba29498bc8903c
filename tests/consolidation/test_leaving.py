"""What a consolidation leaves in files: as the policy says, once, and never in the way of a session."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import factual
import pytest
from conversations import EAGER

from hippocampus import Hippocampus
from hippocampus.consolidation.memory_file import publish
from hippocampus.facts.store import Facts
from hippocampus.session.resources import ConsolidationOutcome, KeptItem
from hippocampus.storage import files as shared_files
from hippocampus.storage.state_dir import StateDir

AT = 1_770_649_200.0


def kept(facts: Facts) -> ConsolidationOutcome:
    [outcome] = factual.remember_many(facts, ["The port is 8080."])
    assert outcome.memory
    told = KeptItem("The port is 8080.", "fact", "user", "s", 3, None, outcome.memory.id, "added")
    return ConsolidationOutcome("s", 4, (told,), finished=True)


def files(state: Path) -> dict[str, tuple[bytes, int]]:
    found = [StateDir(state).memory_file(), *StateDir(state).daily_logs()]
    return {
        path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in found if path.exists()
    }


def test_a_consolidation_is_in_the_memory_file_and_in_the_log_of_its_day(tmp_path: Path) -> None:
    with Facts(tmp_path / "memory.sqlite3") as facts:
        outcome = kept(facts)
        publish(StateDir(tmp_path), outcome, facts, EAGER, at=AT)
        before = files(tmp_path)
        publish(StateDir(tmp_path), outcome, facts, EAGER, at=AT)
    assert set(before) == {"MEMORY.md", "2026-02-09.md"}
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    ("off", "left"), [("memory_file", "2026-02-09.md"), ("daily_logs", "MEMORY.md")]
)
def test_a_policy_may_keep_one_without_the_other(tmp_path: Path, off: str, left: str) -> None:
    update: dict[str, Any] = {off: False}
    block = EAGER.consolidation.model_copy(update=update)
    policy = EAGER.model_copy(update={"consolidation": block})
    with Facts(tmp_path / "memory.sqlite3") as facts:
        publish(StateDir(tmp_path), kept(facts), facts, policy, at=AT)
    assert set(files(tmp_path)) == {left}


@pytest.mark.parametrize("has_file", [False, True])
def test_the_words_of_a_forgotten_fact_leave_the_logs_whatever_the_memory_file_has(
    tmp_path: Path, *, has_file: bool
) -> None:
    """Where there is none, and where its line was struck out before."""
    block = EAGER.consolidation.model_copy(update={"memory_file": has_file})
    policy, state = EAGER.model_copy(update={"consolidation": block}), StateDir(tmp_path)
    with Facts(state.database) as facts:
        outcome = kept(facts)
        publish(state, outcome, facts, policy, at=AT)
        [log] = state.daily_logs()
        assert "8080" in log.read_text()
        if has_file:
            state.memory_file().write_text("# Memory\n")
        facts.delete([str(outcome.kept[0].fact_id)])
        publish(state, ConsolidationOutcome("t", 1, (), finished=True), facts, policy, at=AT)
    assert "8080" not in log.read_text()


def test_a_file_that_cannot_be_written_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "memory").write_text("in the way")
    with Facts(tmp_path / "memory.sqlite3") as facts:
        assert not publish(StateDir(tmp_path), kept(facts), facts, EAGER, at=AT)
    assert "memory file or daily log not written" in caplog.text


def test_what_could_not_be_written_once_is_in_the_memory_file_of_the_next_consolidation(
    tmp_path: Path,
) -> None:
    (tmp_path / "memory").write_text("in the way")
    memory = Hippocampus(tmp_path)
    with memory.session("s") as session:
        session([{"role": "user", "content": "Never deploy on Fridays."}])
    assert memory.unconsolidated() == ["s"]
    (tmp_path / "memory").unlink()
    [outcome] = memory.consolidate()
    assert outcome.finished
    assert memory.unconsolidated() == []
    assert "Never deploy on Fridays." in (tmp_path / "MEMORY.md").read_text()
    assert len(memory.facts.memories(kind="fact")) == len(StateDir(tmp_path).daily_logs()) == 1
    memory.close()


def test_the_end_of_a_session_waits_its_turn_for_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the files are held for longer than a turn would wait."""
    monkeypatch.setattr(shared_files, "MAX_WAIT_SECONDS", 0.01)
    state = StateDir(tmp_path)
    held = threading.Event()

    def hold() -> None:
        with shared_files.held(state.memory_lock):
            held.set()
            time.sleep(0.3)

    with Facts(state.database) as facts:
        outcome = kept(facts)
        other = threading.Thread(target=hold)
        other.start()
        held.wait()
        assert publish(state, outcome, facts, EAGER, at=AT)
        other.join()
    assert len(state.daily_logs()) == 1
