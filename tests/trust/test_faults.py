"""A state directory that cannot be used: the agent starts all the same, and the memory comes back."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import resource
import shutil
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime

import pytest
from conversations import chat_step

from hippocampus import Hippocampus
from hippocampus.integrations import hooks
from hippocampus.policy import load


def chat(results=1):
    """Return a conversation with large results, which a view shortens."""
    items = [{"role": "user", "content": "Read the logs."}]
    for number in range(results):
        rows = "\n".join(
            f"2026-01-01T00:00:{n % 60:02d} INFO row {n} of {number} ok" for n in range(900)
        )
        items += chat_step(f"c{number}", "run", {}, rows)
    return items


@contextlib.contextmanager
def file_in_the_way(state):
    state.write_text("no folder")
    yield
    state.unlink()


@contextlib.contextmanager
def not_writable(state):
    """Act as an account that may not write there; root may write everywhere."""
    state.mkdir(mode=0o500)
    root = os.geteuid() == 0
    try:
        if root:
            os.seteuid(65534)
        yield
    finally:
        if root:
            os.seteuid(0)
        state.chmod(0o700)


@contextlib.contextmanager
def full_disk(state):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@contextlib.contextmanager
def damaged_store(state):
    (state / "contents").mkdir(parents=True)
    (state / "contents" / "cache.db").write_bytes(b"no database" * 1_000)
    yield
    shutil.rmtree(state / "contents")


@contextlib.contextmanager
def damaged_ledger(state):
    with Hippocampus(state) as memory:
        memory.session("s").close()
    ledger = state / "state.sqlite3"
    ledger.write_bytes(b"no database" * 1_000)
    yield
    ledger.unlink()


FAULTS = [file_in_the_way, not_writable, full_disk, damaged_store, damaged_ledger]


@pytest.mark.parametrize("fault", FAULTS)
def test_an_agent_starts_without_its_memory_and_gets_it_back(tmp_path, caplog, fault):
    state, items = tmp_path / "state", chat()
    policy = load("default")  # before another account looks for it in a folder of ours
    with contextlib.ExitStack() as closing:
        with fault(state), caplog.at_level(logging.CRITICAL):
            memory = Hippocampus(state, policy=policy)
            closing.callback(memory.close)
            session = memory.session("s")
            assert session(items) == items
            assert session.status()["problem"]
            assert session.status()["failures"] == 1
        longer = [*items, *chat(2)[3:]]
        view = session(longer)
        assert session.status()["problem"] == ""
        assert len(str(view)) < len(str(longer)) / 2
        texts = {session.entries.text(entry.id) for entry in session.entries}
        assert texts & {each["content"] for each in longer if each["role"] == "tool"}
        session.close()


def test_a_datetime_in_a_message_leaves_no_call_raw(tmp_path):
    items = [{**each, "at": datetime.now(UTC)} for each in chat(3)]
    with Hippocampus(tmp_path) as memory, memory.session("s") as session:
        view = session(items)
        assert session.entries
        assert not session.report.failures, session.report.problem
    assert len(str(view)) < len(str(items)) / 2
    assert all(each.get("at") for each in view if each in items)


def test_threads_that_wait_for_a_store_wait_together(tmp_path):
    """Of a process one thread asks for the lock at a time, and the others have a deadline too."""
    deadline, items = 0.5, chat(2)
    with Hippocampus(tmp_path, deadline_seconds=deadline) as memory:
        sessions = [memory.session(f"s{number}") for number in range(12)]
        with held(tmp_path / "contents" / "cache.db", "BEGIN IMMEDIATE"):
            started = time.monotonic()
            calls = [threading.Thread(target=session, args=(items,)) for session in sessions]
            for call in calls:
                call.start()
            for call in calls:
                call.join()
            assert time.monotonic() - started < 2 * deadline + 3
        assert all(session.status()["raw"] for session in sessions)


HOLDER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
for sql in sys.argv[2:]:
    db.execute(sql)
print("held", flush=True)
sys.stdin.read()
"""


EXCLUSIVE = ("PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE", "COMMIT")
"""What keeps a database for one process, so that no other can open it."""


@contextlib.contextmanager
def held(path, *statements):
    """Let another process hold the locks of some statements on a database."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, path, *statements],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with holder:
        assert holder.stdout.readline() == b"held\n"
        try:
            yield
        finally:
            holder.kill()


@pytest.mark.parametrize("name", ["state.sqlite3", "contents/cache.db"])
def test_no_call_waits_longer_than_its_deadline_for_a_database_that_cannot_be_opened(
    tmp_path, name, monkeypatch
):
    deadline, items = 0.3, chat(2)
    monkeypatch.setattr(hooks, "WAITING_SECONDS", deadline)
    with Hippocampus(tmp_path) as memory, memory.session("s") as session:
        session(items)
        session.answer({"query": "row"})
    event = {"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Bash"}
    event |= {"tool_input": {}, "tool_response": {"stdout": items[2]["content"], "stderr": ""}}
    with held(tmp_path / name, *EXCLUSIVE), contextlib.ExitStack() as closing:
        memory = Hippocampus(tmp_path, deadline_seconds=deadline)
        closing.callback(memory.close)
        session = memory.session("s")
        calls = [
            lambda: session(items),
            lambda: session.answer({"query": "row"}),
            lambda: hooks.main(["--state-dir", str(tmp_path)]),
        ]
        closing.enter_context(contextlib.redirect_stdout(io.StringIO()))
        given = io.TextIOWrapper(io.BytesIO(json.dumps(event).encode()))
        monkeypatch.setattr("sys.stdin", given)
        for call in calls:
            started = time.monotonic()
            call()
            assert time.monotonic() - started < 4 * deadline + 3
