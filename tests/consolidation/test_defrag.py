"""`hippocampus defrag`: what is used again is promoted, and what nobody uses goes."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import factual
import pytest
from commands import Done
from commands import run as hippocampus
from conversations import EAGER, no_fallback, reading, written_at
from states import stored_sessions

from hippocampus import Entry, Hippocampus, Policy, RecallError
from hippocampus.consolidation.housekeeping import PROMOTED, Defragmented, defrag, undo
from hippocampus.consolidation.memory_file import members, sync
from hippocampus.entries.entry import Record, Stage
from hippocampus.entries.origin import PartOrigin
from hippocampus.facts import upkeep
from hippocampus.facts.store import Facts
from hippocampus.storage import gc
from hippocampus.storage.content_store import DiskStore
from hippocampus.storage.facts.rows import Item, Origin
from hippocampus.storage.ledger import ModelCall, StoredSession
from hippocampus.storage.state import state_of
from hippocampus.storage.state_dir import StateDir

HERE = Path(__file__).parent.parent
HOUR = 3_600.0
DAY = 24 * HOUR
USER, TOOL = Origin("s", 1, "", "user"), Origin("s", 2, "", "tool")


def policy(sessions_kept: int = 2, **fields: Any) -> Policy:
    block = EAGER.consolidation.model_copy(update={"forget_after_sessions": sessions_kept})
    return EAGER.model_copy(update={"consolidation": block, **fields})


def lived(state: Path, names: list[str], rounds: int = 2) -> dict[str, list[str]]:
    """Let sessions live one after the other, all of them long ago; return the ids of their entries."""
    memory = Hippocampus(state, policy=EAGER)
    ids = {}
    for number, name in enumerate(names):
        with memory.session(name) as session, no_fallback():
            session(reading(rounds, start=100 * number))
            ids[name] = [entry.id for entry in session.entries]
    memory.close()
    aged(state, names)
    return ids


def aged(state: Path, names: list[str]) -> None:
    now = time.time()
    for number, name in enumerate(names):
        at = now - (len(names) - number) * DAY
        written_at(state, at, name)
    with contextlib.closing(sqlite3.connect(state / "contents" / "cache.db")) as db, db:
        db.execute("UPDATE Cache SET expire_time = expire_time - ?", (HOUR,))  # when it was put


def recalled(state: Path, name: str, entry_id: str) -> str:
    memory = Hippocampus(state, policy=EAGER)
    try:
        with memory.session(name) as session:
            return session.entries.text(entry_id)
    except RecallError as told:
        return f"{told.reason}: {told.rule} {told.when[:4]}"
    finally:
        memory.close()


@pytest.fixture
def facts(tmp_path: Path) -> Iterator[Facts]:
    with Facts(StateDir(tmp_path).database) as store:
        yield store
        assert store.check() == []


def run(state: Path, facts: Facts | None = None, **options: Any) -> Defragmented:
    chosen = options.pop("policy", policy())
    with (
        contextlib.closing(DiskStore(state / "contents")) as store,
        contextlib.ExitStack() as opened,
    ):
        known = facts or opened.enter_context(Facts(StateDir(state).database))
        return defrag(state_of(state), store, known, chosen, time.time(), **options)


def on_disk(state: Path) -> dict[str, bytes]:
    """Everything but what a database writes of itself when it is opened."""
    with contextlib.closing(DiskStore(state / "contents")) as store:
        contents = {each.key: store.get(each.key) or b"" for each in store.stored()}
    return contents | {
        str(path.relative_to(state)): path.read_bytes()
        for path in sorted(state.rglob("*"))
        if path.is_file() and not path.name.endswith(("-wal", "-shm", "cache.db"))
    }


# What goes


def test_without_apply_nothing_is_changed(tmp_path: Path) -> None:
    lived(tmp_path, ["one", "two", "three", "four"])
    before = on_disk(tmp_path)
    told = run(tmp_path)
    assert (told.applied, told.contents_pruned) == (False, 4)
    assert told.bytes_freed > 0
    after = on_disk(tmp_path)
    assert [name for name in before | after if before.get(name) != after.get(name)] == []


def test_what_later_sessions_did_not_use_goes_and_says_so(tmp_path: Path) -> None:
    ids = lived(tmp_path, ["one", "two", "three", "four"])
    assert run(tmp_path, apply=True).contents_pruned == 4
    expired = f"expired: not used in the last 2 sessions {time.strftime('%Y')}"
    assert recalled(tmp_path, "one", ids["one"][0]) == expired
    assert recalled(tmp_path, "two", ids["two"][1]) == expired
    assert "row_" in recalled(tmp_path, "three", ids["three"][0])
    assert run(tmp_path, apply=True).contents_pruned == 0


def test_zero_sessions_prunes_nothing(tmp_path: Path) -> None:
    lived(tmp_path, ["one", "two", "three"])
    assert run(tmp_path, policy=policy(0)).contents_pruned == 0


def test_pins_and_what_a_fact_refers_to_stay(tmp_path: Path, facts: Facts) -> None:
    with Hippocampus(tmp_path, policy=EAGER) as memory, memory.session("one") as session:
        session(reading(3))
        pinned, told, free = (entry.id for entry in session.entries)
        session.pin(pinned)
    factual.remember_many(facts, [Item("The row is 7.", origin=Origin("one", 2, told, "user"))])
    lived(tmp_path, ["two", "three", "four"])
    aged(tmp_path, ["one", "two", "three", "four"])
    run(tmp_path, facts, apply=True)
    assert "row_" in recalled(tmp_path, "one", pinned)
    assert "row_" in recalled(tmp_path, "one", told)
    assert recalled(tmp_path, "one", free).startswith("expired")


def test_a_content_stays_while_one_session_needs_it(tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER)
    for name in ("one", "two", "three"):
        with memory.session(name) as session:
            session(reading(1, start=5))  # the same content in each
            [entry] = session.entries
    memory.close()
    aged(tmp_path, ["one", "two", "three"])
    assert run(tmp_path, apply=True).contents_pruned == 0
    assert "row_" in recalled(tmp_path, "three", entry.id)


def test_a_session_that_may_be_running_is_left_alone(tmp_path: Path) -> None:
    lived(tmp_path, ["one", "two", "three"])
    written_at(tmp_path, time.time(), "one", "two", "three")
    assert run(tmp_path).contents_pruned == 0
    assert run(tmp_path, policy=policy(1), idle_hours=0).contents_pruned > 0


def kept(stage: str = "dormant", **fields: Any) -> Record:
    entry = {
        "id": "e", "type": "tool_result", "source": {"type": "t", "ref": "c", "turn": 0},
        "summary": "", "decay": {"rate": 1.0, "last_access": 1}, **fields,
    }  # fmt: skip
    origin = PartOrigin("result", "call", "", 0)
    made = Entry.parsed(entry)
    return Record(
        made, origin, "c", form="text", kind="text", tool="t", arguments="{}", tokens=1,
        stage=Stage(stage),
    )  # fmt: skip


def past(active_at: float, turn: int, one: Record) -> list[StoredSession]:
    return [StoredSession("s", active_at, ModelCall(turn, 0, 0, 0), (one,), ())]


@pytest.mark.parametrize(
    ("one", "turn", "goes"),
    [
        (kept(), 101, True),
        (kept(), 50, False),
        (kept("indexed"), 101, False),
        (kept(modifiers={"priority": "critical"}), 9_999, False),
        (kept(lifecycle={"persist": True}), 9_999, False),
        (kept(decay={"rate": 1.0, "last_access": 1, "floor": 0.2}), 9_999, False),
        (kept(lifecycle={"expires": 5}), 6, True),
    ],
)
def test_a_dormant_entry_goes_under_the_threshold(one: Record, turn: int, goes: bool) -> None:
    """0.1 is passed at 99 turns at the rate 1; what is pinned, persists or has a floor stays."""
    found = gc.unused(past(1.0, turn, one), EAGER, 2.0)
    assert found == ({("s", "e"): "strength under 0.1"} if goes else {})
    assert gc.unused(past(2.0, turn, one), EAGER, 2.0) == {}
    never = EAGER.model_copy(update={"forget_below": 0.0})
    assert gc.unused(past(1.0, turn, one), never, 2.0) == {}


def test_an_entry_that_was_never_used_begins_with_the_strength_of_the_policy() -> None:
    weak = EAGER.model_copy(update={"initial_strength": 0.2})
    one = kept(decay={"rate": 1.0, "last_access": 0}, lifecycle={"created": 0}, strength=0.0)
    assert not gc.unused(past(1.0, 30, one), EAGER, 2.0)
    assert gc.unused(past(1.0, 30, one), weak, 2.0)


# What is promoted


def test_facts_that_are_used_again_and_again_get_a_line(tmp_path: Path, facts: Facts) -> None:
    """By recalls, or by being said again."""
    lived(tmp_path, ["one"])
    texts = ["The key is blue.", "Ann likes tea.", "It rained once."]
    used, said, _ = (each.memory.id for each in factual.remember_many(facts, texts) if each.memory)
    factual.store_many(facts, [Item("go on", "event")] * 4)
    for _ in range(5):
        facts.recall("key")
    factual.remember_many(facts, ["Ann likes tea."] * 2)
    done = run(tmp_path, facts, apply=True)
    assert done.facts_promoted == 2
    assert members(StateDir(tmp_path), facts) == {used, said}
    assert run(tmp_path, facts).facts_promoted == 0


def test_what_faded_goes_but_not_what_the_user_said_in_the_memory_file(
    tmp_path: Path, facts: Facts
) -> None:
    lived(tmp_path, ["one"])
    old = time.time() - 400 * DAY
    outcomes = factual.store_many(
        facts,
        [
            Item("I prefer tea.", "preference", origin=USER, at=old),
            Item("The page said so.", "note", origin=TOOL, at=old),
            Item("Nobody wrote this down.", "note", origin=USER, at=old),
        ],
    )
    ids = [each.memory.id for each in outcomes if each.memory]
    sync(StateDir(tmp_path), facts, "default", ids[:2])
    done = run(tmp_path, facts, apply=True)
    assert done.facts_faded == 2
    assert [each.content for each in facts.memories()] == ["I prefer tea."]
    assert "The page said so." not in StateDir(tmp_path).memory_file().read_text()


def test_the_last_run_is_undone_once_and_brings_memories_and_lines_back(
    tmp_path: Path, facts: Facts
) -> None:
    lived(tmp_path, ["one"])
    texts = (
        "The page said so.",
        "Nobody wrote this down.",
        "Restored by hand, then replaced.",
        "Deleted meanwhile.",
    )
    notes = [Item(text, "note", origin=TOOL, at=time.time() - 400 * DAY) for text in texts]
    outcomes = factual.store_many(facts, notes)
    ids = [each.memory.id for each in outcomes if each.memory]
    state = state_of(tmp_path)
    sync(StateDir(tmp_path), facts, "default", ids[:1])
    before = StateDir(tmp_path).memory_file().read_text()
    assert undo(state, facts) == []
    assert run(tmp_path, facts, apply=True).facts_faded == 4
    assert run(tmp_path, facts).facts_faded == 0  # a plan is no run
    assert StateDir(tmp_path).memory_file().read_text() != before
    upkeep.restore(facts.tables, [ids[2]])
    facts.delete([ids[3]])
    assert [memory.id for memory in undo(state, facts)] == ids[:2]
    assert {memory.id for memory in facts.memories()} == set(ids[:3])
    assert StateDir(tmp_path).memory_file().read_text().split() == before.split()
    assert undo(state, facts) == []
    run(tmp_path, facts, apply=True)
    run(tmp_path, facts, apply=True)
    assert undo(state, facts) == []  # of the last run only


def test_a_duplicate_that_was_merged_is_back_next_to_the_other(
    tmp_path: Path, facts: Facts
) -> None:
    lived(tmp_path, ["one"])
    one, other = (facts.store(f"The key is {colour}.").memory for colour in ("blue", "red"))
    assert one
    assert other
    factual.update(facts, one.id, other.content)
    assert run(tmp_path, facts, apply=True).facts_merged == 1
    [back] = undo(state_of(tmp_path), facts)
    assert {memory.id for memory in facts.memories()} == {one.id, other.id}
    assert (back.removed, back.superseded_by) == (None, None)


def test_the_lines_of_every_agent_follow_what_was_compacted(tmp_path: Path, facts: Facts) -> None:
    lived(tmp_path, ["one"])
    old = Item("The page said so.", "note", origin=TOOL, at=time.time() - 400 * DAY)
    [faded] = factual.store_many(facts, [old], agent="writer")
    [used, *_] = factual.remember_many(facts, ["The key is blue."] * 3, agent="writer")
    assert faded.memory
    assert used.memory
    sync(StateDir(tmp_path), facts, "writer", [faded.memory.id])
    done = run(tmp_path, facts, apply=True)
    assert (done.facts_faded, done.facts_promoted) == (1, 1)
    assert members(StateDir(tmp_path), facts) == {used.memory.id}
    assert "The key is blue." in StateDir(tmp_path).memory_file("writer").read_text()


def test_a_line_that_was_struck_out_is_not_promoted_again(tmp_path: Path, facts: Facts) -> None:
    """Neither one of a session nor one that a run before has promoted."""
    with Hippocampus(tmp_path) as memory, memory.session("one") as session:
        session([{"role": "user", "content": "I prefer tea."}])
    factual.remember_many(facts, ["The key is blue."] * 3)
    for each in facts.memories(kind="fact"):
        for _ in range(5):
            facts.recall(each.content)
    assert run(tmp_path, facts, apply=True).facts_promoted == 1
    assert len(members(StateDir(tmp_path), facts)) == 2
    StateDir(tmp_path).memory_file().write_text("# Memory\n")
    assert run(tmp_path, facts, apply=True).facts_promoted == 0
    assert StateDir(tmp_path).memory_file().read_text() == "# Memory\n"


def test_the_ids_of_promoted_facts_that_are_deleted_are_not_stored(
    tmp_path: Path, facts: Facts
) -> None:
    lived(tmp_path, ["one"])
    factual.remember_many(facts, ["The key is blue."] * 3)
    [gone] = facts.memories()
    run(tmp_path, facts, apply=True)
    facts.delete([gone.id])
    factual.remember_many(facts, ["Ann likes tea."] * 3)
    [promoted] = facts.memories()
    run(tmp_path, facts, apply=True)
    assert json.loads(facts.tables.database.meta(PROMOTED) or "") == [promoted.id]


def test_a_run_does_the_rest_of_one_that_was_killed_after_it_compacted(
    tmp_path: Path, facts: Facts
) -> None:
    lived(tmp_path, ["one"])
    old = Item("The page said so.", "note", origin=TOOL, at=time.time() - 400 * DAY)
    [faded] = factual.store_many(facts, [old])
    assert faded.memory
    sync(StateDir(tmp_path), facts, "default", [faded.memory.id])
    upkeep.compact(facts.tables)
    run(tmp_path, facts, apply=True)
    assert members(StateDir(tmp_path), facts) == set()


def test_it_leaves_a_memory_file_alone_that_the_policy_does_not_keep(
    tmp_path: Path, facts: Facts
) -> None:
    lived(tmp_path, ["one"])
    [outcome] = factual.remember_many(facts, ["The key is blue."] * 3)[-1:]
    assert outcome.memory
    before = on_disk(tmp_path)
    off = EAGER.consolidation.model_copy(update={"memory_file": False})
    without = EAGER.model_copy(update={"consolidation": off})
    assert run(tmp_path, facts, policy=without, apply=True).facts_promoted == 0
    after = on_disk(tmp_path)
    changed = {name for name in before | after if before.get(name) != after.get(name)}
    assert not any(name.startswith(("MEMORY", "memory/")) for name in changed)
    assert not (tmp_path / "MEMORY.md").exists()


AGENT = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
from conversations import EAGER, no_fallback, reading
from hippocampus import Hippocampus
memory = Hippocampus(sys.argv[1], policy=EAGER)
items = reading(12, start=700)
print("ready", flush=True)
with memory.session("running") as session, no_fallback():
    for end in range(2, len(items) + 1, 2):
        session(items[:end])
    for entry, item in zip(session.entries, items[1::2], strict=True):
        assert session.entries.content(entry.id) == item["content"]
"""


@pytest.mark.slow
def test_a_running_session_is_not_disturbed(tmp_path: Path) -> None:
    lived(tmp_path, ["one", "two", "three", "four"])
    command = [sys.executable, "-c", AGENT, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        runs = 0
        while process.poll() is None:
            run(tmp_path, policy=policy(1), apply=True)
            runs += 1
    assert (process.returncode, runs > 0) == (0, True)
    assert len(stored_sessions(tmp_path)) == 5


# The command


def command(*arguments: str) -> Done:
    return hippocampus("defrag", *arguments, cwd=Path.cwd())


def test_the_command_says_and_does(tmp_path: Path) -> None:
    state = tmp_path / "state"
    ids = lived(state, ["one", "two", "three"])
    rules = tmp_path / "mine.yaml"
    rules.write_text("extends: default\nconsolidation:\n  forget_after_sessions: 1\n")
    told = command(str(state), "--policy", str(rules))
    assert told.returncode == 0, told.stderr
    assert "contents pruned                4\n" in told.stdout
    assert told.stdout.endswith("nothing was changed; --apply makes the changes\n")
    done = json.loads(command(str(state), "--policy", str(rules), "--apply", "--json").stdout)
    assert (done["trigger"], done["applied"], done["contents_pruned"]) == ("defrag_cycle", True, 4)
    assert recalled(state, "one", ids["one"][0]).startswith("expired: not used in the last 1 ")


def test_the_command_undoes(tmp_path: Path) -> None:
    lived(tmp_path, ["one"])
    with contextlib.closing(Facts(StateDir(tmp_path).database)) as facts:
        old = Item("Nobody wrote this down.", "note", origin=USER, at=time.time() - 400 * DAY)
        factual.store_many(facts, [old])
    assert "no memory" in command(str(tmp_path), "--undo").stdout
    command(str(tmp_path), "--apply")
    [back] = json.loads(command(str(tmp_path), "--undo", "--json").stdout)
    assert (back["content"], back["removed"]) == ("Nobody wrote this down.", None)
    assert command(str(tmp_path), "--undo", "--apply").returncode == 2


def test_the_command_refuses_what_is_no_state_directory(tmp_path: Path) -> None:
    told = command(str(tmp_path))
    assert (told.returncode, told.stderr) == (
        2,
        f"hippocampus: {tmp_path} is not a state directory\n",
    )
    assert list(tmp_path.iterdir()) == []
