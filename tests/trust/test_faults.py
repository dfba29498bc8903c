"""A state directory that cannot be used: the agent starts all the same, and the memory comes back."""

from __future__ import annotations

import contextlib
import logging
import os
import resource
import shutil
from datetime import UTC, datetime

import pytest

from hippocampus import Hippocampus
from hippocampus.policy import load


def chat(results=1):
    """Return a conversation with large results, which a view shortens."""
    items = [{"role": "user", "content": "Read the logs."}]
    for number in range(results):
        call = {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": "run", "arguments": "{}"},
        }
        rows = "\n".join(
            f"2026-01-01T00:00:{n % 60:02d} INFO row {n} of {number} ok" for n in range(900)
        )
        items += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": rows},
        ]
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
    with contextlib.closing(Hippocampus(state)) as memory:
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
        texts = {session.text(entry.id) for entry in session.entries()}
        assert texts & {each["content"] for each in longer if each["role"] == "tool"}
        session.close()


def test_a_datetime_in_a_message_leaves_no_call_raw(tmp_path):
    items = [{**each, "at": datetime.now(UTC)} for each in chat(3)]
    with contextlib.closing(Hippocampus(tmp_path)) as memory, memory.session("s") as session:
        view = session(items)
        assert session.entries()
        assert not session.report.failures, session.report.problem
    assert len(str(view)) < len(str(items)) / 2
    assert all(each.get("at") for each in view if each in items)
