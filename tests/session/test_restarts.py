"""Law 1: what left the window is on disk, whoever is killed, restarted or runs beside us."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conversations import EAGER, FRAME, managed, no_fallback, reading

from hippocampus import Hippocampus
from hippocampus.prices import TABLES

HERE = Path(__file__).parents[1]
TURNS = 60
AGENT = f"""
import json, sys
sys.path.insert(0, {str(HERE)!r})
from conversations import EAGER, no_fallback, reading
from hippocampus import Hippocampus
from hippocampus.prices import TABLES
folder, name, first, last, salt = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
items = reading({TURNS}, start=salt)
print("ready", flush=True)
with Hippocampus(folder, policy=EAGER).session(name) as session, no_fallback():
    for end in range(first, last):
        sys.stdin.readline()
        print(json.dumps(session(items[: 2 * end + 1])), flush=True)
"""


def agent(folder: Path, name: str, first: int, last: int, salt: int = 0) -> Any:
    """Start an agent in a process of its own; it takes a turn for every line that it is written."""
    command = [sys.executable, "-c", AGENT, str(folder), name, str(first), str(last), str(salt)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )


def wait_for(*processes: Any) -> None:
    """Wait until all have their modules loaded."""
    for process in processes:
        assert process.stdout.readline() == "ready\n"


def go(*processes: Any, turns: int = TURNS) -> None:
    """Let all take their next turns at once."""
    for process in processes:
        process.stdin.write("go\n" * turns)
        process.stdin.flush()


def lines_of(process: Any) -> list[str]:
    with process:
        return process.stdout.read().splitlines()


def assert_all_come_back(folder: Path, name: str, sent: list[str], items: list[Any]) -> int:
    """Another process than the one that sent them recalls everything that any view named."""
    memory = Hippocampus(folder, policy=EAGER)
    named = set()
    with memory.session(name) as session:
        for line in sent:
            for shown, raw in zip(json.loads(line), items, strict=False):
                if shown != raw:
                    [entry_id] = FRAME.findall(shown["content"])
                    named.add(entry_id)
                    assert session.entries.content(entry_id) == raw["content"]
        assert session._run.ledger._db.check() == []
    assert memory._store.check() == []
    memory.close()
    return len(named)


@pytest.mark.slow
def test_everything_comes_back_after_kills_at_random_moments(tmp_path: Path) -> None:
    items = reading(TURNS)
    chance = random.Random(7)
    sent: list[str] = []
    for _ in range(4):
        process = agent(tmp_path, "s", max(1, len(sent) - 1), TURNS + 1)
        wait_for(process)
        go(process)
        sent += [process.stdout.readline() for _ in range(chance.randint(3, 6))]
        time.sleep(chance.random() * 0.05)
        process.kill()
        with process:
            rest = process.stdout.read().split("\n")
        sent += [line for line in rest[:-1] if line]
    assert assert_all_come_back(tmp_path, "s", sent, items) > 4


@pytest.mark.parametrize(
    "names", [("same", "same"), pytest.param(("one", "two"), marks=pytest.mark.slow)]
)
def test_two_processes_may_work_in_one_directory(tmp_path: Path, names: tuple[str, str]) -> None:
    """In step on one session they send the same bytes, as a third does; on two neither sees the other."""
    salts = (0, 0) if names[0] == names[1] else (0, 500)
    both = [agent(tmp_path, name, 1, 10, salt) for name, salt in zip(names, salts, strict=True)]
    wait_for(*both)
    sent: list[list[str]] = [[], []]
    for _ in range(9):
        go(*both, turns=1)
        for lines, process in zip(sent, both, strict=True):
            lines.append(process.stdout.readline().rstrip("\n"))
    assert [lines_of(process) for process in both] == [[], []]
    assert [process.returncode for process in both] == [0, 0]
    assert (sent[0] == sent[1]) is (names[0] == names[1])
    for name, salt, lines in zip(names, salts, sent, strict=True):
        assert len(lines) == 9
        items = reading(TURNS, start=salt)
        assert assert_all_come_back(tmp_path, name, lines, items) >= 8
        with Hippocampus(tmp_path, policy=EAGER).session(name) as session, no_fallback():
            assert json.dumps(session(items[:19])) == lines[-1]


def test_what_another_process_has_just_put_away_is_known(tmp_path: Path) -> None:
    one, two = (Hippocampus(tmp_path, policy=EAGER) for _ in range(2))
    with one.session("s") as writer, two.session("s") as reader:
        writer(reading(1))
        [entry] = writer.entries
        assert reader.entries.content(entry.id) == reading(1)[2]["content"]
    one.close()
    two.close()


@pytest.mark.slow
def test_a_directory_may_be_opened_by_many_at_once(tmp_path: Path) -> None:
    """The first to come makes the tables."""
    crowd = [agent(tmp_path, "s", 1, 2) for _ in range(3)]
    wait_for(*crowd)
    go(*crowd)
    assert len({tuple(lines_of(process)) for process in crowd}) == 1
    assert [process.returncode for process in crowd] == [0] * 3


def test_a_list_cut_short_before_a_restart_starts_from_what_was_sent_last(tmp_path: Path) -> None:
    """New results behind the cut are new: they shrink on arrival."""
    items = reading(6)
    with managed(tmp_path, policy=EAGER) as session:
        session(items)
        session(items[:3])
        assert session._run.ledger.last_call().messages == 3
    with managed(tmp_path, policy=EAGER) as session:
        session([*items[:3], *reading(1, start=40)])
        turn, decision = session.report.decisions()[-1]
        assert (turn, decision.costs) == (2, 0.0)


def test_the_same_conversation_in_two_sessions_has_ids_of_its_own(tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER)
    with memory.session("one") as one, memory.session("two") as two:
        one(reading(2))
        two(reading(2))
        assert not {e.id for e in one.entries} & {e.id for e in two.entries}
    memory.close()


def test_a_recall_is_remembered_and_changes_no_order(tmp_path: Path) -> None:
    """An access resets the strength; entries stay listed oldest first."""
    with managed(tmp_path, policy=EAGER) as session:
        session(reading(3))
        ids = [entry.id for entry in session.entries]
        session.recall(ids[0], head=1)
        assert session.entries[0].decay.last_access == 3
    with managed(tmp_path, policy=EAGER) as session:
        assert [entry.id for entry in session.entries] == ids
        assert session.entries[0].decay.last_access == 3


def test_the_decisions_and_calls_of_a_session_stay(tmp_path: Path) -> None:
    with managed(tmp_path, policy=EAGER) as session:
        session(reading(2))
        decided = session.report.decisions()
    with managed(tmp_path, policy=EAGER) as session:
        assert session.report.decisions() == decided


def test_a_restart_stores_nothing_that_no_entry_refers_to(tmp_path: Path) -> None:
    """Else `forget` would leave what a session has read."""
    items = [{"role": "user", "content": "Always read all."}, *reading(3, lines=60)[1:]]
    for _ in range(2):
        memory = Hippocampus(tmp_path)
        session = memory.session("s")
        with no_fallback():
            assert session(items) == items
            items += reading(1, lines=60, start=len(items))
        [words] = session.report.records()
        session.release()
        assert [each.key for each in memory._store.stored()] == [words.content]
        memory.close()


def test_a_list_cut_while_nobody_ran_decides_as_without_a_restart(tmp_path: Path) -> None:
    """What the ledger counts as sent is what the list still has: new results are new."""
    items = reading(8)
    trimmed = [*items[:3], *items[-2:], *reading(1, start=40)]
    with managed(tmp_path / "live", policy=EAGER) as live:
        live(items)
        shutil.copytree(tmp_path / "live", tmp_path / "copy")
        view = live(trimmed)
        decided = live.report.decisions()
    assert view[-1] != trimmed[-1]
    with managed(tmp_path / "copy", policy=EAGER) as again:
        assert again(trimmed) == view
        assert again.report.decisions() == decided


def test_two_who_make_one_change_tell_it_once(tmp_path: Path) -> None:
    one, two = (Hippocampus(tmp_path, policy=EAGER) for _ in range(2))
    with one.session("s") as first, two.session("s") as second, no_fallback():
        assert first(reading(3)) == second(reading(3))
        changes = [(told.entry_id, told.stage) for _, told in first.report.decisions()]
        assert len(changes) == len(set(changes)) == 3
    one.close()
    two.close()


def test_of_two_processes_the_second_sends_what_the_first_has_committed(tmp_path: Path) -> None:
    """Each takes turns with one list; what stands in a view stands there in the next one."""
    items = reading(12)
    one, other = (Hippocampus(tmp_path, policy=EAGER) for _ in range(2))
    sessions = [one.session("s"), other.session("s")]
    with no_fallback():
        before: list[Any] = []
        for turn in range(12):
            said = [*items[: 2 * turn + 1]]
            view = sessions[turn % 2](said)
            assert view[: len(before)] == before
            before = view
        assert sessions[0](said) == sessions[1](said) == view
    for memory in (one, other):
        memory.close()


def test_a_list_that_another_process_sends_again_has_the_same_view(tmp_path: Path) -> None:
    """All is weak at once under this policy, so that another turn would shorten it further."""
    weak = {"fade_below": 1.0, "sleep_below": 1.0, "fade_view_tokens": 0}
    policy = EAGER.model_copy(update={**weak, "fresh_turns": {}, "read_turns": 0})
    items = [each for n in range(10) for each in reading(1, 30 + 10 * n, start=n)]
    for end in range(3, len(items) + 1, 2):
        views, decided = [], []
        for _ in range(2):
            memory = Hippocampus(tmp_path, policy=policy, prices=TABLES["none"])
            with no_fallback():
                session = memory.session("s")
                views.append(session(items[:end]))
                decided.append(session.report.decisions())
                session.release()
            memory.close()
        assert views[0] == views[1]
        assert decided[0] == decided[1]


@pytest.mark.parametrize("model", [None, "gpt-4"])
def test_a_restart_has_the_tokens_of_its_list_under_any_encoding(
    tmp_path: Path, model: str | None
) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aaaa"}}
    items = [*reading(3), {"role": "user", "content": [{"type": "text", "text": "see"}, image]}]
    with Hippocampus(tmp_path).session("s") as session:
        session(items)
    with Hippocampus(tmp_path, model=model).session("s") as session:
        session(items)
        restarted = session.status()["raw_tokens"]
    with Hippocampus(tmp_path / "new", model=model).session("s") as session:
        session(items)
        assert session.status()["raw_tokens"] == restarted
