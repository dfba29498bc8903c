"""MEMORY.md outlives the loss of its fact store, and a write of it that is cut off."""

from __future__ import annotations

import contextlib
import time

import factual
import pytest

from hippocampus import Hippocampus
from hippocampus.consolidation.memory_file import sync
from hippocampus.facts.store import Facts
from hippocampus.storage import files
from hippocampus.storage.facts import memories
from hippocampus.storage.state_dir import StateDir

SAID = ["I live in Rome.", "I prefer tea.", "The build needs Java 21.", "Ann is my sister."]
BY_HAND = "- My boat is blue.\n"


def memory_of(folder, said=SAID, name="s"):
    with Hippocampus(folder) as memory, memory.session(name) as session:
        session([{"role": "user", "content": f"Always remember: {each}"} for each in said])


LOSSES = {
    "moved away": lambda path: path.rename(path.with_name("elsewhere")),
    "deleted": lambda path: path.unlink(),
    "emptied": lambda path: path.write_bytes(b""),
    "damaged": lambda path: path.write_bytes(b"no database" * 500),
    "of another directory": lambda path: path.unlink() or Facts(path).close(),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_no_line_goes_with_the_fact_store(tmp_path, loss):
    memory_of(tmp_path)
    state = StateDir(tmp_path)
    path = state.memory_file()
    path.write_text(path.read_text() + BY_HAND)
    memory_of(tmp_path, ["I like figs."], "second")
    lines = {each for each in path.read_text().splitlines() if each.startswith("- ")}
    assert len(lines) >= 4
    for suffix in ("-wal", "-shm"):
        state.database.with_name(f"{state.database.name}{suffix}").unlink(missing_ok=True)
    LOSSES[loss](state.database)
    memory_of(tmp_path, ["I collect stamps."], "third")
    assert lines <= set(path.read_text().splitlines())


class CutOffError(Exception):
    """Stands where a process is killed."""


def test_a_line_that_a_killed_write_removed_can_be_written_again(tmp_path, monkeypatch):
    memory_of(tmp_path)
    state = StateDir(tmp_path)
    with contextlib.closing(Facts(state.database)) as facts:
        [gone] = [each for each in facts.memories() if "tea" in each.content]
        assert "tea" in state.memory_file().read_text()
        [(row, _)] = memories.by_id(facts.tables.database, [gone.id]).values()
        memories.remove(facts.tables.database, [(row, "faded", None)], time.time())

        def cut_off(*_arguments, **_options):
            raise CutOffError

        with monkeypatch.context() as patched, contextlib.suppress(CutOffError):
            patched.setattr(files, "replace_file", cut_off)
            sync(state, facts, "default")
        assert "tea" in state.memory_file().read_text()
        assert sync(state, facts, "default")
        assert "tea" not in state.memory_file().read_text()
        factual.restore(facts, [gone.id])
        sync(state, facts, "default", [gone.id])
        assert gone.id in {each.id for each in facts.memories()}
    assert "tea" in state.memory_file().read_text()
