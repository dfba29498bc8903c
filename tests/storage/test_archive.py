"""The archive: the whole raw conversation of a session stays, whatever its host, policy or a crash do."""

from __future__ import annotations

import contextlib
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conversations import (
    EAGER,
    FORMATS,
    MARK,
    ONE_FORMAT,
    Rounds,
    growing,
    managed,
    no_fallback,
    reading,
    views,
)
from hypothesis import given
from hypothesis import strategies as st
from states import conversation, problems

from hippocampus import Hippocampus, Policy
from hippocampus.formats import reader
from hippocampus.policy.policy import NOTHING
from hippocampus.replay.readers import find_files, read_file
from hippocampus.storage.archive import Journal, RawList, contexts, parsed
from hippocampus.storage.ledger import ModelCall, TurnRows
from hippocampus.storage.packing import BZIP2
from hippocampus.storage.state import DirectoryState, state_of
from hippocampus.storage.state_dir import StateDir

HERE = Path(__file__).parent.parent


def records(state: Path, session: str = "s") -> list[dict[str, Any]]:
    return list(parsed(state_of(state).exported(session)))


def places(state: Path) -> Counter[int]:
    return Counter(each["at"] for each in records(state) if each["type"] == "message")


def sent(state: Path, *lists: list[Any], policy: Policy = EAGER, name: str = "s") -> None:
    """Send lists in one opening of a session."""
    memory = Hippocampus(state, policy=policy)
    with memory.session(name) as session, no_fallback():
        for items in lists:
            session(items)
    memory.close()


def anyones(name: str) -> st.SearchStrategy[Rounds]:
    return FORMATS[name]()


@pytest.mark.parametrize("name", ONE_FORMAT)
@given(data=st.data())
def test_the_raw_list_comes_back_to_the_byte(name: str, data: st.DataObject) -> None:
    """In each format, running, finished, and continued by a later opening of the session."""
    rounds = data.draw(anyones(name))
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder)
        with managed(state, policy=EAGER) as session:
            views(session, rounds[: len(rounds) // 2 + 1])
        with managed(state, policy=EAGER) as session:
            views(session, rounds)
            running = conversation(state, "s").items
        items = list(growing(rounds))[-1]
        assert running == conversation(state, "s").items == items
        assert json.dumps(running) == json.dumps(items)
        *_, last = contexts(records(state))
        assert last.items == items


def test_what_stands_in_the_archive_is_written_once(tmp_path: Path) -> None:
    items = reading(9)
    sent(tmp_path, items[:5], items[:5], items[:11])
    sent(tmp_path, items)
    assert places(tmp_path) == Counter(range(len(items)))
    assert [each["turn"] for each in records(tmp_path) if each["type"] == "call"] == [2, 5, 9]


def test_a_call_is_kept_with_its_turn_and_its_format(tmp_path: Path) -> None:
    sent(tmp_path, reading(3))
    [call] = [each for each in records(tmp_path) if each["type"] == "call"]
    assert (call["turn"], call["messages"], call["format"]) == (3, 7, "openai")


def test_what_a_host_cuts_or_edits_stays_in_the_archive(tmp_path: Path) -> None:
    items = reading(6)
    compacted = [{"role": "user", "content": "Before: six files were read."}, *reading(1, start=9)]
    sent(tmp_path, items, compacted)
    assert [each.items for each in contexts(records(tmp_path))] == [items, compacted]
    assert conversation(tmp_path, "s").items == compacted


def test_a_cut_that_is_taken_back_starts_no_context(tmp_path: Path) -> None:
    """A retry sends a shorter list, then what it had and more."""
    items = reading(4)
    sent(tmp_path, items[:5], items[:3])
    assert [each.items for each in contexts(records(tmp_path))] == [items[:5], items[:3]]
    state = tmp_path / "grown"
    sent(state, items[:5], [*items[:4], {**items[4], "content": "other"}], items)
    found = [each.items for each in contexts(records(state))]
    assert [len(each) for each in found] == [5, 5, len(items)]


def test_cache_marks_that_move_start_no_context(tmp_path: Path) -> None:
    items = [
        {"role": "user", "content": [{"type": "text", "text": f"line {number}"}]}
        if number % 2 == 0
        else {"role": "assistant", "content": f"answer {number}"}
        for number in range(9)
    ]

    def marked(number: int) -> dict[str, Any]:
        words = {**items[number]["content"][0], "cache_control": MARK}
        return {**items[number], "content": [words]}

    lists = [[*items[:end], marked(end)] for end in (2, 4, 6, 8)]
    sent(tmp_path, *lists)
    [only] = contexts(records(tmp_path))
    assert only.items == lists[-1]


def stored(state: Path) -> list[tuple[int, bytes]]:
    with contextlib.closing(sqlite3.connect(StateDir(state).database)) as db:
        return db.execute("SELECT number, lines FROM conversation ORDER BY number").fetchall()


def test_a_session_that_ends_has_one_packed_row(tmp_path: Path) -> None:
    items = reading(6)
    sent(tmp_path, items[:3], items[:5])
    [(_, first)] = stored(tmp_path)
    assert first.startswith(BZIP2)
    sent(tmp_path, items)
    assert len(stored(tmp_path)) == 2
    assert places(tmp_path) == Counter(range(len(items)))


def test_a_session_that_is_released_packs_large_pieces_only(tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER)
    for end in (3, 5):
        session = memory.session("s")
        session(reading(2)[:end])
        session.release()
    assert [lines[:1] for _, lines in stored(tmp_path)] == [b"{", b"{"]
    session = memory.session("s")
    items = [*reading(2), *reading(3, lines=9_000, start=50)[1:]]
    session(items)
    session.release()
    assert [lines[:3] for _, lines in stored(tmp_path)] == [BZIP2]
    assert places(tmp_path) == Counter(range(len(items)))
    memory.close()


def test_what_another_process_packs_meanwhile_is_written_once(tmp_path: Path) -> None:
    items, one, other = reading(5), *(Hippocampus(tmp_path, policy=EAGER) for _ in range(2))
    with no_fallback():
        running = one.session("s")
        running(items[:5])
        with other.session("s") as session:
            session(items[:7])
        running(items)
    running.close()
    assert conversation(tmp_path, "s").items == items
    assert places(tmp_path) == Counter(range(len(items)))
    one.close()
    other.close()


def test_a_turn_that_fails_writes_no_line_of_its_list(tmp_path: Path) -> None:
    items = reading(3)
    memory = Hippocampus(tmp_path, policy=EAGER)
    with memory.session("s") as session:
        session(items[:3])
        session._run.ledger._db.run(
            "CREATE TEMP TRIGGER full BEFORE INSERT ON conversation"
            " BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
        )
        assert session(items[:5]) == items[:5]
        session._run.ledger._db.run("DROP TRIGGER full")
        assert [each["turn"] for each in records(tmp_path) if each["type"] == "call"] == [1]
        session(items)
    assert places(tmp_path) == Counter(range(len(items)))
    memory.close()


def test_a_process_that_goes_on_reads_no_line_of_the_conversation(tmp_path: Path) -> None:
    items, lines = reading(9), b"not read\n"
    sent(tmp_path, items[:7])
    with contextlib.closing(sqlite3.connect(StateDir(tmp_path).database)) as db, db:
        db.execute("UPDATE conversation SET lines = ?, crc = ?", (lines, zlib.crc32(lines)))
    sent(tmp_path, items)
    assert [*places(tmp_path)] == [*range(7, len(items))]


@pytest.mark.parametrize("listed", ["''", "'[7, '", "'null'", "replace(list, '[]', '[[99, 5]]')"])
def test_a_damaged_list_of_a_row_stops_no_call(tmp_path: Path, listed: str) -> None:
    items = reading(9)
    sent(tmp_path, items[:7])
    with contextlib.closing(sqlite3.connect(StateDir(tmp_path).database)) as db, db:
        db.execute(f"UPDATE conversation SET list = {listed}")
    sent(tmp_path, items)
    assert places(tmp_path) == Counter(range(len(items)))


def test_a_damaged_row_is_not_packed_but_healed_by_the_next_process(tmp_path: Path) -> None:
    items = reading(9)
    memory = Hippocampus(tmp_path, policy=EAGER)
    session = memory.session("s")
    session(items[:7])
    with contextlib.closing(sqlite3.connect(StateDir(tmp_path).database)) as db, db:
        damaged = "replace(CAST(lines AS TEXT), 'row_0', 'row_1')"
        db.execute(f"UPDATE conversation SET lines = CAST({damaged} AS BLOB)")
    session.close()
    memory.close()
    sent(tmp_path, items)
    assert conversation(tmp_path, "s").items == items


def words(number: int, marked: bool) -> dict[str, Any]:
    part = {"type": "text", "text": f"line {number}"}
    return {"role": "user", "content": [part | {"cache_control": MARK} if marked else part]}


@given(
    lists=st.lists(st.lists(st.builds(words, st.integers(0, 2), st.booleans())), max_size=5),
    is_packed=st.booleans(),
)
def test_each_process_goes_on_with_any_list_to_the_byte(
    lists: list[list[dict[str, Any]]], is_packed: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        state = state_of(folder)
        for turn, items in enumerate(lists):
            with contextlib.closing(state.session("s", Journal("s"))) as ledger:
                raw = RawList(reader.read(items), 0, "openai", turn)
                ledger.commit(TurnRows(ModelCall(turn, len(items), 1, 1), raw=raw))
                if is_packed:
                    ledger.pack()
            assert conversation(Path(folder), "s").items == items


@pytest.mark.parametrize("damage", [lambda packed: packed[:-9], lambda _: b"no archive"])
def test_a_damaged_row_is_left_out_and_archiving_goes_on(
    damage: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    items = reading(9)
    sent(tmp_path, items[:7])
    with contextlib.closing(sqlite3.connect(StateDir(tmp_path).database)) as db, db:
        [(number, lines)] = stored(tmp_path)
        db.execute("UPDATE conversation SET lines = ? WHERE number = ?", (damage(lines), number))
    assert any(
        "its conversation is damaged" in each
        for each in problems(DirectoryState(StateDir(tmp_path)))
    )
    with Hippocampus(tmp_path, policy=EAGER) as memory, memory.session("s") as session:
        session(items)
        assert session.report.failures == 0
    assert conversation(tmp_path, "s").items == items


TURNS = 30
AGENT = f"""
import json, sys
sys.path.insert(0, {str(HERE)!r})
from conversations import EAGER, no_fallback, reading
from hippocampus import Hippocampus
folder, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
items = reading({TURNS})
memory = Hippocampus(folder, policy=EAGER)
print("ready", flush=True)
sys.stdin.readline()
with no_fallback():
    for end in range(first, last + 1):
        session = memory.session("s")
        session(items[: 2 * end + 1])
        print(end, flush=True)
        if end % 3 == 0:
            session.close()
"""


def agent(folder: Path, first: int, last: int = TURNS) -> Any:
    process = subprocess.Popen(
        [sys.executable, "-c", AGENT, str(folder), str(first), str(last)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
    )  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.slow
def test_kills_at_random_moments_lose_and_duplicate_nothing(tmp_path: Path) -> None:
    """In the middle of turns and of packing; at most the call under way is missing."""
    chance, items, last = random.Random(11), reading(TURNS), 0
    for _ in range(5):
        if last == TURNS:
            break
        process = agent(tmp_path, last + 1)
        process.stdin.write("go\n")
        process.stdin.flush()
        done = [process.stdout.readline()]
        time.sleep(chance.random() * 0.1)
        process.kill()
        with process:
            done += process.stdout.read().splitlines(keepends=True)
        last = max(int(each) for each in done if each.endswith("\n"))
        told = conversation(tmp_path, "s").items
        assert told == items[: len(told)]
        assert len(told) >= 2 * last + 1
    sent(tmp_path, items)
    assert last >= 5
    assert conversation(tmp_path, "s").items == items
    assert places(tmp_path) == Counter(range(len(items)))


@pytest.mark.slow
def test_two_processes_on_one_session_write_one_conversation(tmp_path: Path) -> None:
    both = [agent(tmp_path, 1, last=6) for _ in range(2)]
    for process in both:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in both:
        process.communicate()
    assert [process.returncode for process in both] == [0, 0]
    sent(tmp_path, reading(6))
    assert conversation(tmp_path, "s").items == reading(6)
    longest = max(contexts(records(tmp_path)), key=lambda each: len(each.items))
    assert longest.items == reading(6)


def test_what_a_policy_redacts_is_in_no_archive(tmp_path: Path) -> None:
    rule = {"match": {"type": "tool_result"}, "action": {"redact": ["email"]}}
    policy = Policy.model_validate({"name": "private", "lifecycle_policies": [rule]})
    items = reading(1, lines=2)
    items[-1]["content"] = "Sent to ann.example@example.org by the server."
    sent(tmp_path, items, [*items, {"role": "assistant", "content": "done"}], policy=policy)
    written = json.dumps(records(tmp_path))
    assert "ann.example" not in written
    assert "[redacted email] by the server." in written


def test_a_policy_may_keep_no_archive(tmp_path: Path) -> None:
    """As replay does."""
    sent(tmp_path, reading(2), policy=EAGER.model_copy(update={"consolidation": NOTHING}))
    assert state_of(tmp_path).exported("s") == b""


def test_replay_reads_a_state_directory_its_database_and_an_export(tmp_path: Path) -> None:
    """Sessions that run or have ended; the same as the list in a file."""
    items = [*reading(3), {"role": "assistant", "content": "All read."}]
    sent(tmp_path / "state", items, name="one")
    memory = Hippocampus(tmp_path / "state", policy=EAGER)
    running = memory.session("two")
    running(items[:-1])
    plain, lines = tmp_path / "plain.json", tmp_path / "one.jsonl"
    plain.write_text(json.dumps(items))
    lines.write_bytes(state_of(tmp_path / "state").exported("one"))
    one, two = find_files([tmp_path / "state"])
    assert list(find_files([StateDir(tmp_path / "state").database])) == [one, two]
    [first], [second], [expected], [from_lines] = map(read_file, (one, two, plain, lines))
    assert (first.name, second.name) == ("one", "two")
    assert first.messages == from_lines.messages == expected.messages == items
    assert second.messages == items[:-1]
    assert {first.format, from_lines.format} == {"hippocampus"}
    assert set(find_files([tmp_path])) == {one, two, plain, lines}
    running.close()
    memory.close()


def test_a_conversation_is_read_before_its_session_is_closed(tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER)
    session = memory.session("ticket/47 ü")
    session(reading(2))
    assert conversation(tmp_path, "ticket/47 ü").turn == 2
    session.close()
    assert conversation(tmp_path, "never").items == []
    memory.close()
