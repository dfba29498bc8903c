"""The archive: the whole raw conversation of a session stays, whatever its host, policy or a crash do."""

from __future__ import annotations

import json
import random
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conversations import EAGER, FORMATS, MARK, Rounds, growing, no_fallback, reading, views
from hypothesis import given
from hypothesis import strategies as st

from hippocampus import Hippocampus, Policy
from hippocampus.errors import RecordingError, StoreError
from hippocampus.policy.consolidation import NOTHING
from hippocampus.replay.readers import find_files, read_file
from hippocampus.storage.archive import conversation
from hippocampus.storage.archive.reader import unpacked
from hippocampus.storage.archive.records import contexts, parsed
from hippocampus.storage.state_dir import StateDir

HERE = Path(__file__).parent.parent


def records(state: Path, session: str = "s") -> list[dict[str, Any]]:
    journal, packed = StateDir(state).journal(session), StateDir(state).packed_archive(session)
    written = journal.read_bytes() if journal.exists() else b""
    return [*parsed(unpacked(packed)), *parsed(written)]


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


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
def test_the_raw_list_comes_back_to_the_byte(name: str, data: st.DataObject) -> None:
    """In each format, running, finished, and continued by a later opening of the session."""
    rounds = data.draw(anyones(name))
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder)
        memory = Hippocampus(state, policy=EAGER)
        with memory.session("s") as session:
            views(session, rounds[: len(rounds) // 2 + 1])
        with memory.session("s") as session:
            views(session, rounds)
            running = conversation(state, "s").items
        memory.close()
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


def test_a_call_is_kept_with_its_decisions_and_entries(tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER)
    with memory.session("s") as session:
        session(reading(3))
        decided = session.decisions()
        ids = {entry.id for entry in session.entries()}
    memory.close()
    [call] = [each for each in records(tmp_path) if each["type"] == "call"]
    assert [each["reason"] for each in call["decisions"]] == [each.reason for _, each in decided]
    assert {each["id"] for each in call["entries"]} == ids
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


@pytest.mark.parametrize("lost", [1, 2, 30, 1_000, 5_000])
def test_a_torn_end_is_repaired_by_the_next_opening(tmp_path: Path, lost: int) -> None:
    items = reading(6)
    memory = Hippocampus(tmp_path, policy=EAGER)
    memory.session("s")(items[:9])
    memory.close()
    journal = StateDir(tmp_path).journal("s")
    written = journal.read_bytes()
    journal.write_bytes(written[:-lost])
    told = conversation(tmp_path, "s").items
    assert told == items[: len(told)]
    sent(tmp_path, items)
    assert conversation(tmp_path, "s").items == items
    assert places(tmp_path) == Counter(range(len(items)))


def test_a_crash_behind_the_packing_duplicates_nothing(tmp_path: Path) -> None:
    """The journal was packed, and its file is still there."""
    items = reading(5)
    memory = Hippocampus(tmp_path, policy=EAGER)
    session = memory.session("s")
    session(items[:7])
    journal, packed = StateDir(tmp_path).journal("s"), StateDir(tmp_path).packed_archive("s")
    written = journal.read_bytes()
    session.close()
    memory.close()
    journal.write_bytes(written)
    assert conversation(tmp_path, "s").items == items[:7]
    sent(tmp_path, items)
    assert places(tmp_path) == Counter(range(len(items)))
    assert conversation(tmp_path, "s").items == items
    assert packed.exists()
    assert not journal.exists()


DAMAGE = {
    "cut short": lambda packed: packed[:-9],
    "changed": lambda packed: packed[:200] + bytes([packed[200] ^ 1]) + packed[201:],
    "foreign": lambda _: b"no archive",
    "followed by something": lambda packed: packed + b"more",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_archive_is_set_aside_and_archiving_goes_on(
    damage: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    items = reading(9)
    sent(tmp_path, items[:7])
    packed = StateDir(tmp_path).packed_archive("s")
    broken = DAMAGE[damage](packed.read_bytes())
    for number in (1, 2):
        packed.write_bytes(broken)
        with pytest.raises(StoreError, match=r"is damaged: .*; rename it to go on without it"):
            conversation(tmp_path, "s")
        memory = Hippocampus(tmp_path, policy=EAGER)
        with memory.session("s") as session:
            session(items[:9])
            session(items)
        memory.close()
        assert conversation(tmp_path, "s").items == items
        aside = packed.with_name(f"{packed.name}.damaged-{number}")
        assert aside.read_bytes() == broken
        assert [aside.name in each.message for each in caplog.records] == [True]
        with pytest.raises(RecordingError):
            read_file(aside)
        caplog.clear()


def test_a_list_sent_again_writes_what_a_dead_process_did_not(tmp_path: Path) -> None:
    """The process died between its commit and the line of the archive."""
    items, journal = reading(3), StateDir(tmp_path).journal("s")
    dead = Hippocampus(tmp_path, policy=EAGER)
    with no_fallback():
        dead.session("s")(items[:5])
        written = journal.read_bytes()
        dead.session("s")(items)
        journal.write_bytes(written)
        memory = Hippocampus(tmp_path, policy=EAGER)
        memory.session("s")(items)
    assert conversation(tmp_path, "s").items == items
    memory.close()
    dead.close()


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
    assert not StateDir(tmp_path).archive.exists()


def test_an_archive_that_cannot_be_written_changes_no_view(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    items = reading(4)
    memory, other = (
        Hippocampus(tmp_path / "a", policy=EAGER),
        Hippocampus(tmp_path / "b", policy=EAGER),
    )
    StateDir(tmp_path / "a").archive.write_text("in the way")
    with memory.session("s") as session, other.session("s") as sound:
        assert session(items[:5]) == sound(items[:5])
        assert "not in the archive yet" in caplog.text
        assert session.failures == 0
        StateDir(tmp_path / "a").archive.unlink()
        assert session(items) == sound(items)
    assert conversation(tmp_path / "a", "s").items == items
    memory.close()
    other.close()


def test_replay_reads_a_state_directory(tmp_path: Path) -> None:
    """Its archives and nothing else, running or packed; the same as the list in a file."""
    items = [*reading(3), {"role": "assistant", "content": "All read."}]
    sent(tmp_path / "state", items, name="one")
    memory = Hippocampus(tmp_path / "state", policy=EAGER)
    running = memory.session("two")
    running(items[:-1])
    plain = tmp_path / "plain.json"
    plain.write_text(json.dumps(items))
    packed, journal = sorted(find_files([tmp_path / "state"]), key=lambda path: path.name)
    assert (packed.suffix, journal.suffix) == (".zst", ".jsonl")
    [found], [expected] = read_file(packed), read_file(plain)
    assert found.messages == expected.messages == items
    assert found.format == "hippocampus"
    assert read_file(journal)[0].messages == items[:-1]
    assert sorted(find_files([tmp_path])) == sorted([packed, journal, plain])
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


def test_only_its_owner_may_read_an_archive(tmp_path: Path) -> None:
    sent(tmp_path, reading(1))
    folder = StateDir(tmp_path).archive
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())]
    assert modes == [0o700, 0o600, 0o600]


def test_an_archive_folder_that_disappears_is_made_again(tmp_path: Path) -> None:
    items = reading(6)
    memory = Hippocampus(tmp_path, policy=EAGER)
    with memory.session("s") as session, no_fallback():
        session(items[:3])
        shutil.rmtree(StateDir(tmp_path).archive)
        session(items[:5])
        session(items)
    memory.close()
    assert conversation(tmp_path, "s").items == items
