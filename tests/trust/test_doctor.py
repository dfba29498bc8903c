"""`hippocampus doctor` finds what is wrong anywhere in a state directory, and mends it."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import sqlite3

import pytest
from trust.test_faults import chat
from typer.testing import CliRunner

from hippocampus import Hippocampus, StoreError
from hippocampus.cli.commands import app
from hippocampus.consolidation.housekeeping import examine, mend
from hippocampus.storage.content_store import PAGE_BYTES, damage
from hippocampus.storage.state import DirectoryState
from hippocampus.storage.state_dir import StateDir

JUNK = b"no database, no archive" * 400


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Return a directory with a session and a fact."""
    folder = tmp_path_factory.mktemp("sound") / "state"
    with Hippocampus(folder) as memory:
        with memory.session("s") as session:
            session(chat(3))
            session.recall(query="row")
        memory.facts.remember("Ann likes tea")
    return folder


@pytest.fixture
def state(sound, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return StateDir(shutil.copytree(sound, tmp_path / "state"))


DAMAGES = {
    "state": lambda state: state.database.write_bytes(JUNK),
    "half a state": lambda state: os.truncate(state.database, state.database.stat().st_size // 2),
    "empty state": lambda state: state.database.write_bytes(b""),
    "half a file": lambda state: (state.root / ".MEMORY.md.tmp").write_bytes(b"half"),
    "mode": lambda state: state.database.chmod(0o644),
}


def test_a_sound_directory_has_no_findings(state):
    assert [each.text for each in examine(DirectoryState(state))] == []


@pytest.mark.parametrize("damage", DAMAGES)
def test_each_damage_is_found_and_mended(state, damage):
    state.memory.mkdir(exist_ok=True, mode=0o700)
    DAMAGES[damage](state)
    found = examine(DirectoryState(state))
    assert found
    left = mend(found)
    assert not any(each.mend for each in left)
    after = [
        each.text
        for each in examine(DirectoryState(state))
        if "orphan" not in each.text and "mode" not in each.remedy
    ]
    assert after == []
    with Hippocampus(state.root) as memory, memory.session("s") as session:
        assert session.status()["problem"] == ""
        memory.facts.remember("Bob likes coffee")


@pytest.mark.parametrize(
    "damage",
    [lambda path: path.write_bytes(JUNK), lambda path: os.truncate(path, path.stat().st_size // 2)],
)
def test_a_content_store_that_cannot_be_read_makes_room_for_a_new_one(state, damage):
    path = state.contents / "cache.db"
    damage(path)
    [damaged] = [each for each in examine(DirectoryState(state)) if each.mend]
    assert mend([damaged]) == []
    assert path.with_name("cache.db.damaged").exists()
    with Hippocampus(state.root) as memory, memory.session("s") as session:
        assert len(str(session(chat(4)))) < len(str(chat(4))) / 2
        assert session.status()["problem"] == ""


@pytest.mark.slow
def test_damage_of_any_page_of_a_content_store_costs_no_more_than_what_it_has(state):
    path = state.contents / "cache.db"
    with Hippocampus(state.root) as memory:
        for number in range(40):
            memory._store.put(random.Random(number).randbytes(1_000))
        keys = {each.key for each in memory._store.stored()}
    content = path.read_bytes()
    kept = []
    for page in range(len(content) // PAGE_BYTES):
        damaged = bytearray(content)
        damaged[PAGE_BYTES * page : PAGE_BYTES * (page + 1)] = random.Random(page).randbytes(
            PAGE_BYTES
        )
        path.write_bytes(damaged)
        mend(examine(DirectoryState(state)))
        with Hippocampus(state.root) as memory:
            found = {each.key for each in memory._store.stored()}
            assert found <= keys
            kept.append(len(found) - sum(damage(memory._store, key) != "" for key in found))
    assert kept[0] == max(kept) == len(keys)
    assert sum(kept) > 0.8 * len(kept) * len(keys)  # one page leads to all others


def test_a_link_to_a_disk_that_is_away_is_a_fault_and_no_missing_file(state):
    state.database.replace(state.root / "elsewhere")
    state.database.symlink_to(state.root / "away" / "state.sqlite3")
    found = [each for each in examine(DirectoryState(state)) if "orphan" not in each.text]
    assert [each.is_fault for each in found] == [True]
    assert found[0].mend is None
    with pytest.raises(StoreError), DirectoryState(state).reading():
        pass


def test_what_is_wrong_with_the_file_is_listed_once(state):
    content = bytearray(state.database.read_bytes())
    content[36:40] = (7).to_bytes(4, "big")  # the free pages that its header counts
    state.database.write_bytes(content)
    assert str(examine(DirectoryState(state))).count("freelist") == 1


@pytest.mark.parametrize("column", ["tool", "arguments", "origin", "shown"])
def test_a_damaged_column_of_an_entry_is_found_and_stops_no_call(state, column):
    with contextlib.closing(sqlite3.connect(state.database)) as db, db:
        db.execute(f"UPDATE entry SET {column} = x'ff00'")
    assert "is damaged" in str(examine(DirectoryState(state)))
    with Hippocampus(state.root) as memory, memory.session("s") as session:
        assert session(chat(3)) == chat(3)
        assert "is damaged" in session.status()["problem"]


def test_a_lost_payload_is_damage_that_no_one_can_mend(state):
    with Hippocampus(state.root) as memory:
        key = next(memory._store.stored()).key
        memory._store._cache.set(key, b"damaged")
    result = CliRunner().invoke(app, ["doctor", str(state.root), "--fix", "--json"])
    assert result.exit_code == 1
    [found] = [each for each in json.loads(result.output)["findings"] if each["fault"]]
    assert key[:12] in found["text"]
    assert found["mended"] is False


def test_a_key_that_is_none_is_a_fault(state, monkeypatch):
    monkeypatch.setenv("HIPPOCAMPUS_KEY", "abc")
    [finding] = examine(DirectoryState(state))
    assert finding.is_fault
    assert "HIPPOCAMPUS_KEY has no key of 64 bytes" in finding.text
