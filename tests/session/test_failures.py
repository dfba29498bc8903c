"""Law 3: whatever breaks below a session, the loop gets its own messages, and a log says why."""

from __future__ import annotations

import contextlib
import json
import logging
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import zstandard
from conversations import EAGER, managed, no_fallback, reading, rows
from pydantic import BaseModel
from states import read_only
from storage.memory_store import MemoryStore

from hippocampus import Hippocampus, RecallError, StoreError
from hippocampus.errors import MessagesError
from hippocampus.policy import Consolidation, Policy
from hippocampus.session.guard import Guard
from hippocampus.session.session import Session
from hippocampus.storage import deadline
from hippocampus.storage import sqlite as store_sqlite
from hippocampus.storage.session_costs import savings
from hippocampus.storage.state import state_of


@pytest.mark.parametrize(
    "junk",
    [
        None,
        "a string",
        [None],
        ["text"],
        [{}],
        [{"content": "no role"}],
        [{"role": None}],
        [{"role": ["user"]}],
        [{"role": "user", "content": [{"type": ["text"]}]}],
        [{"role": "user", "content": "x"}, 7],
        [{"role": "assistant", "content": None, "tool_calls": "none"}],
        [{"role": "tool", "content": {"a": 1}}, {"role": "user", "content": 5}],
        [{"type": "function_call_output", "output": {"deep": 1}, "role": "tool"}],
    ],
    ids=repr,
)
def test_junk_is_sent_as_it_is(tmp_path: Path, junk: Any) -> None:
    with Hippocampus(tmp_path, policy=EAGER) as memory, memory.session("s") as session:
        assert session(junk) == junk
        items = reading(1)
        with no_fallback():
            assert session(items) != items


@pytest.mark.parametrize("idle_seconds", [None, "5", 10**400, float("nan")], ids=lambda _: "")
def test_a_pause_that_is_no_number_of_seconds_costs_one_view(
    tmp_path: Path, idle_seconds: Any
) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER)
    items = reading(1)
    with memory.session("s") as session:
        session(items, idle_seconds=idle_seconds)
        with no_fallback():
            assert session(items) != items
    memory.close()


@pytest.mark.parametrize(
    "strange",
    [
        7,
        {"role": "narrator", "words": "x"},
        {"role": "user", "content": [{"type": ["text"]}]},
        {"role": "assistant", "content": None, "tool_calls": "none"},
    ],
    ids=repr,
)
@pytest.mark.one_process
def test_an_item_of_no_format_is_sent_as_it_is_and_the_others_are_managed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, strange: Any
) -> None:
    items = reading(3)
    with Hippocampus(tmp_path, policy=EAGER) as memory, memory.session("s") as session:
        expected = session(items)
    items.insert(3, strange)
    with Hippocampus(tmp_path / "other", policy=EAGER) as memory, memory.session("s") as session:
        for end in range(1, len(items) + 1):
            view = session(items[:end])
        assert view[3] is strange
        assert [len(json.dumps(each)) for each in [*view[:3], *view[4:]]] == [
            len(json.dumps(each)) for each in expected
        ]
        assert session.report.failures == 0
    assert caplog.text.count("messages[3] is not a message of the format") == 1


@pytest.mark.parametrize("depth", [120, 500, 900])
@pytest.mark.parametrize("form", ['{"d":%s}', "[%s]", '[{"a":[%s]}]'])
@pytest.mark.parametrize("place", ["result", "arguments"])
def test_a_deeply_nested_payload_switches_no_memory_off(
    tmp_path: Path, form: str, depth: int, place: str
) -> None:
    before, after = form.split("%s")
    deep = before * depth + json.dumps("some words " * 400) + after * depth
    items = reading(3)
    if place == "result":
        items[2]["content"] = deep
    else:
        items[1]["tool_calls"][0]["function"]["arguments"] = deep
    with managed(tmp_path, policy=EAGER) as session:
        for end in (3, 5, len(items)):
            view = session(items[:end])
        assert len(json.dumps(view)) < len(json.dumps(items)) / 2
        assert session.report.failures == 0
        for entry in session.entries:
            session.answer({"entry_id": entry.id, "path": "$.d.d"})


def test_what_cannot_be_read_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER)
    with memory.session("s") as session, caplog.at_level(logging.ERROR, "hippocampus"):
        session([{"role": "narrator"}])
    assert "sending the messages as they are" in caplog.text
    assert "messages[0]" in caplog.text
    memory.close()


@pytest.mark.parametrize("holder", ["list", "dict"])
def test_a_message_that_holds_itself_is_sent_as_it_is(tmp_path: Path, holder: str) -> None:
    message: dict[str, Any] = {"role": "user", "content": []}
    message["content"] = [message] if holder == "list" else {"type": "text", "inner": message}
    memory = Hippocampus(tmp_path, policy=EAGER)
    session = memory.session("s")
    [sent] = session([message])
    assert sent is message
    session.close()
    memory.close()


def test_nesting_deeper_than_python_takes_is_sent_as_it_is(tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(5_000):
        deep = [deep]
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {"deep": deep}}
    items = [{"role": "assistant", "content": [call]}]
    with Hippocampus(tmp_path, policy=EAGER) as memory, memory.session("s") as session:
        assert session(items)[0] is items[0]


@pytest.mark.parametrize("lost", ["contents", "state.sqlite3", "."])
@pytest.mark.one_process
def test_a_state_directory_that_disappears_takes_nothing_with_it(tmp_path: Path, lost: str) -> None:
    """What is not on disk stays in the view; the open files of a removed folder are no disk."""
    items = reading(2)
    with Hippocampus(tmp_path / "state", policy=EAGER) as memory, memory.session("s") as session:
        session(items[:1])
        path = tmp_path / "state" / lost
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        assert session(items) == items
        assert session(items) == items


@pytest.mark.one_process
def test_a_ledger_that_another_process_holds_delays_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_sqlite, "BUSY_SECONDS", 0.1)
    items = reading(2)
    memory = Hippocampus(tmp_path, policy=EAGER, deadline_seconds=0.2)
    with memory, memory.session("s") as session:
        before = session(items[:3])
        other = sqlite3.connect(tmp_path / "state.sqlite3", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        assert session(items) == items
        [record] = session.report.records()
        assert session.recall(record.entry.id, head=1)
        assert session.entries.content(record.entry.id) == items[2]["content"]
        other.execute("ROLLBACK")
        other.close()
        with no_fallback():
            after = session(items)
        assert json.dumps(after[:3]) == json.dumps(before)
        assert after != items


@pytest.mark.parametrize("held", ["state.sqlite3", "contents/cache.db"])
@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.one_process
def test_a_store_that_hangs_delays_a_call_by_its_deadline(
    tmp_path: Path, held: str, *, is_new: bool
) -> None:
    """A process that was stopped in the middle of a write holds its lock for as long as it likes."""
    items = reading(3)
    memory = Hippocampus(tmp_path, policy=EAGER, deadline_seconds=0.2)
    session = memory.session("s")
    session(items[:3])
    other = sqlite3.connect(tmp_path / held, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    if is_new:
        session.release()
        memory.close()
        memory = Hippocampus(tmp_path, policy=EAGER, deadline_seconds=0.2)
        session = memory.session("s")
    for end in (5, 7):
        assert session(items[:end]) == items[:end]
    assert session.status()["raw"] == 2
    other.execute("ROLLBACK")
    other.close()
    assert session(items) != items
    assert session.status()["raw"] == 2
    session.close()
    memory.close()


class SlowStore(MemoryStore):
    """A store of the host over a network: a read takes a while, or is not answered at all."""

    is_silent = False

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def get(self, key: str) -> bytes | None:
        patience = deadline.left(5.0)
        self.waits.append(patience if self.is_silent else min(patience, 0.1))
        deadline.spend(self.waits[-1])
        if self.is_silent or patience < 0.1:
            raise StoreError("no answer")
        return super().get(key)


@pytest.mark.parametrize("is_silent", [False, True])
def test_a_search_reads_every_text_and_waits_once_for_a_store_that_does_not_answer(
    tmp_path: Path, *, is_silent: bool
) -> None:
    store = SlowStore()
    with Hippocampus(tmp_path, policy=EAGER, store=store, deadline_seconds=0.2) as memory:
        session = memory.session("s")
        session(reading(6))
        store.is_silent, store.waits = is_silent, []
        found = session.answer({"query": "app_7 file2"})
    assert len(store.waits) > 4
    assert sum(store.waits) == pytest.approx(0.2 if is_silent else 0.1 * len(store.waits))
    assert found.startswith("recall failed") == is_silent


def test_the_figures_after_a_failed_call_are_those_of_the_list_that_was_sent(
    tmp_path: Path,
) -> None:
    with Hippocampus(tmp_path, policy=EAGER) as memory, memory.session("s") as session:
        session(reading(1))
        before = session.status()
        shutil.rmtree(tmp_path / "contents")
        items = reading(4)
        assert session(items) == items
        status = session.status()
        assert status["failures"] == 1
        assert status["sent_tokens"] == status["raw_tokens"] > 3 * before["raw_tokens"]
        assert session(7) == 7
        assert session.status()["sent_tokens"] == 0


def test_a_recall_in_a_closed_session_names_that_as_the_reason(tmp_path: Path) -> None:
    with Hippocampus(tmp_path, policy=EAGER) as memory:
        session = memory.session("s")
        session.close(reading(1))
        found = session.answer({"query": "x"})
    assert found.startswith("recall failed (unreadable): the session is closed;")


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such accounts")
@pytest.mark.one_process
def test_a_session_that_was_opened_read_only_is_back_with_the_first_call_that_can_write() -> None:
    items = reading(3)
    with (
        tempfile.TemporaryDirectory() as name,
        # It keeps the log of the database, which a reader of the folder cannot make.
        Hippocampus(name, policy=EAGER) as other,
        other.session("s") as first,
    ):
        first(items[:3])
        with read_only(Path(name)):
            memory = Hippocampus(name, policy=EAGER)
            session = memory.session("s")
            assert session(items[:5]) == items[:5]
        with no_fallback():
            assert session(items) != items
        assert session.status()["problem"] == ""
        memory.close()


def test_a_closed_session_sends_everything(tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER)
    session = memory.session("s")
    session.close()
    items = reading(1)
    assert session(items) == items
    memory.close()


def test_a_store_that_cannot_be_written_sends_everything(tmp_path: Path) -> None:
    """A full disk, as SQLite reports it."""
    with Hippocampus(tmp_path, policy=EAGER) as memory, memory.session("s") as session:
        memory._store._cache._sql("PRAGMA max_page_count = 1")
        memory._store._cache._sql("CREATE TRIGGER full BEFORE INSERT ON Cache"
                                  " BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END")  # fmt: skip
        items = reading(1)
        assert session(items) == items
        assert not [*session.entries]


def test_a_damaged_content_is_told_and_not_served(tmp_path: Path) -> None:
    with Hippocampus(tmp_path, policy=EAGER) as memory, memory.session("s") as session:
        session(reading(1))
        [record] = session.report.records()
        memory._store._cache.set(record.content, zstandard.compress(b"forged"))
        with pytest.raises(RecallError) as told:
            session.recall(record.entry.id)
        assert told.value.reason == "unreadable"
        assert "damaged" in str(told.value)
        assert len(memory._store.check()) == 1


def test_a_dropped_content_says_what_to_call_instead(tmp_path: Path) -> None:
    with Hippocampus(tmp_path, policy=EAGER) as memory, memory.session("s") as session:
        session(reading(1))
        [record] = session.report.records()
        memory._store.delete(record.content)
        with pytest.raises(RecallError, match="call read again") as told:
            session.recall(record.entry.id)
        assert told.value.reason == "expired"


def test_an_id_of_another_session_or_of_none_is_told_apart(tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER)
    with memory.session("one") as one, memory.session("zwei \ud800/../x") as two:
        one(reading(1))
        [entry] = one.entries
        with pytest.raises(RecallError, match="another session") as told:
            two.recall(entry.id)
        assert told.value.reason == "other_session"
        with pytest.raises(RecallError, match="never existed") as told:
            one.recall(entry.id[:-1])
        assert told.value.reason == "never_existed"
        assert entry.id in str(told.value)
    memory.close()


class Block(BaseModel):
    """A block as SDKs return it: an object with a `model_dump`, with fields that may be empty."""

    type: str
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: dict[str, int] | None = None


class Answer(BaseModel):
    """A message as SDKs return it."""

    role: str
    content: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    audio: str | None = None


def test_objects_of_an_sdk_are_read_and_stand_in_the_view_as_they_are(tmp_path: Path) -> None:
    plain: list[Any] = reading(2)
    objects: list[Any] = [Answer(**each) if "tool_calls" in each else each for each in plain]
    memory = Hippocampus(tmp_path, policy=EAGER)
    with memory.session("objects") as session, no_fallback():
        view = session(objects)
        assert view[1] is objects[1]
        assert view[2] != objects[2]
        assert session(objects) == view
        assert session.handle(objects) == []
        session.consolidate(objects)
    memory.close()


def test_blocks_of_an_sdk_are_read_and_stand_in_the_view_as_they_are(tmp_path: Path) -> None:
    use = Block(type="tool_use", id="t", name="read", input={"n": 1})
    result = {"type": "tool_result", "tool_use_id": "t"}
    texts = [Block(type="text", text=rows(1, 800))]
    items: list[Any] = [
        {"role": "user", "content": "Read it."},
        {"role": "assistant", "content": [Block(type="text", text="Yes."), use]},
        {"role": "user", "content": [{**result, "content": texts}]},
        {"role": "user", "content": "And?"},
    ]
    with managed(tmp_path, policy=EAGER) as session:
        view = session(items)
        assert view[1] is items[1]
        assert view[2]["content"][0]["content"][0]["text"].startswith("[")
        assert items[2]["content"][0]["content"] is texts


@pytest.mark.parametrize("made", [iter, tuple, lambda items: (each for each in items)])
def test_whatever_can_be_walked_comes_back_as_a_list(tmp_path: Path, made: Any) -> None:
    items = reading(2)
    with managed(tmp_path, policy=EAGER) as session:
        view = session(items)
        assert session(made(items)) == view
        assert session.handle(made(items)) == []


@pytest.mark.parametrize("made", [iter, dict.keys])
def test_what_can_be_walked_comes_back_as_a_list_after_a_failure_too(
    tmp_path: Path, made: Any
) -> None:
    with Hippocampus(tmp_path, policy=EAGER) as memory, memory.session("s") as session:
        assert session(made({"a": 1})) == ["a"]
        assert session.report.failures == 1


@pytest.mark.parametrize(
    "junk",
    [
        None,
        7,
        {"role": "user"},
        [{3}],
        [{"role": ["user"]}],
        [{"role": "assistant", "tool_calls": 5}],
        [{"role": "assistant", "tool_calls": [None]}],
        [{"role": "user", "content": [{"type": "tool_result", "content": [1]}]}],
    ],
    ids=repr,
)
def test_no_recall_is_looked_for_in_junk(tmp_path: Path, junk: Any) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER)
    with memory.session("s") as session, pytest.raises(MessagesError, match="model_dump"):
        session.handle(junk)
    memory.close()


@pytest.mark.one_process
def test_the_pause_before_a_failed_call_counts_for_the_next(tmp_path: Path) -> None:
    seen = []
    memory = Hippocampus(tmp_path, policy=EAGER)
    with memory.session("s") as session:
        session(reading(2))
        take = session._run.take

        def noted(own: Any, same: int, request: Any, idle_seconds: float) -> bool:
            seen.append(idle_seconds)
            if len(seen) == 1:
                raise StoreError("the disk is away")
            return take(own, same, request, idle_seconds)

        session._run.take = noted  # type: ignore[method-assign]
        for idle in (3_600.0, 1.0, 2.0):
            session(reading(3), idle_seconds=idle)
    assert seen == [3_600.0, 3_601.0, 2.0]
    memory.close()


@pytest.mark.one_process
def test_a_failed_call_leaves_the_sums_and_the_state_of_the_last_view(tmp_path: Path) -> None:
    items = reading(3)
    with Hippocampus(tmp_path, policy=EAGER) as memory, memory.session("s") as session:
        with no_fallback():
            view = session(items[:5])
        before = session.status()
        (tmp_path / "contents").rename(tmp_path / "away")
        assert session(items) == items
        (tmp_path / "away").rename(tmp_path / "contents")
        after = session.status()
        assert (after["failures"], after["raw"]) == (1, 1)
        assert after["sent_tokens"] == after["raw_tokens"] > before["raw_tokens"]
        tokens = {name: before[name] for name in ("raw_tokens", "sent_tokens")}
        assert {**after, "failures": 0, "raw": 0, "problem": "", **tokens} == before
        with no_fallback():
            assert session(items[:5]) == view
            assert session(items)[:5] == view
            assert session.status()["turn"] > before["turn"]


class Interrupted(MemoryStore):
    """A store in which a put can be interrupted, as by the user."""

    is_armed = False

    def put(self, content: bytes) -> str:
        if self.is_armed:
            raise KeyboardInterrupt
        return super().put(content)


def test_a_turn_that_was_interrupted_leaves_nothing_of_its_list(tmp_path: Path) -> None:
    given = reading(4)
    other = [*given[:5], *({**item, "content": f"{item['content']} "} for item in given[5:])]
    store = Interrupted()
    with Hippocampus(tmp_path, policy=EAGER, store=store).session("s") as session:
        with no_fallback():
            session(given[:5])
        store.is_armed = True
        with pytest.raises(KeyboardInterrupt):
            session(given)
        store.is_armed = False
        with no_fallback():
            session(other)
        for entry in session.entries:
            assert session.entries.text(entry.id) in [item["content"] for item in other]


@contextlib.contextmanager
def interrupted_in(name: str) -> Iterator[None]:
    """Interrupt the first call of a function of a session by name, as the user may at any instant."""

    def interrupt(frame: FrameType, event: str, _value: object) -> None:
        if event == "call" and frame.f_code.co_name == name:
            sys.setprofile(None)
            raise KeyboardInterrupt

    sys.setprofile(interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize(
    ("name", "end"),
    [
        *(
            (name, 11)
            for name in ("read", "due_from", "take_turn", "place", "_write_call", "with_committed")
        ),
        ("place", 9),
        ("with_committed", 9),
    ],
)
def test_after_an_interruption_anywhere_a_session_goes_on_as_after_a_restart(
    tmp_path: Path, name: str, end: int
) -> None:
    items, state, copy = reading(6), tmp_path / "state", tmp_path / "copy"
    with Hippocampus(state, policy=EAGER) as memory, memory.session("s") as session:
        session(items[:7])
        with interrupted_in(name):
            session(items[:11])
        shutil.copytree(state, copy)
        view, status = session(items[:end]), session.status()
    with Hippocampus(copy, policy=EAGER) as memory, memory.session("s") as session:
        assert session(items[:end]) == view
        assert session.status() == status


@pytest.mark.parametrize("name", ["with_committed", "update", "set_turns"])
def test_after_an_interrupted_recall_a_session_goes_on_as_after_a_restart(
    tmp_path: Path, name: str
) -> None:
    items, state, copy = reading(12), tmp_path / "state", tmp_path / "copy"
    with Hippocampus(state, policy=EAGER) as memory, memory.session("s") as session:
        session(items[:9])
        first = next(iter(session.entries)).id
        with interrupted_in(name):
            session.recall(first, head=1)
        shutil.copytree(state, copy)
        view, stored = session(items), session.report.records()
    with Hippocampus(copy, policy=EAGER) as memory, memory.session("s") as session:
        assert session(items) == view
        assert session.report.records() == stored


def test_a_session_that_ends_after_an_interruption_keeps_the_facts_of_its_list(
    tmp_path: Path,
) -> None:
    facts = {"We deploy on Fridays.", "My dog's name is Rex."}
    items = [{"role": "user", "content": f"Remember: {fact}"} for fact in sorted(facts)]
    policy = Policy(consolidation=Consolidation(archive=False))
    with Hippocampus(tmp_path, policy=policy) as memory:
        with memory.session("s") as session:
            session(items[:1])
            with interrupted_in("take_turn"):
                session(items)
        kept = {found.content.removeprefix("Remember: ") for found in memory.facts.memories()}
        assert facts <= kept


@pytest.mark.parametrize("end", [Session.close, Session.release])
def test_a_session_whose_files_cannot_be_closed_ends_without_an_error(
    tmp_path: Path, end: Callable[[Session], None], caplog: pytest.LogCaptureFixture
) -> None:
    with Hippocampus(tmp_path, policy=EAGER) as memory:
        session = memory.session("s")
        session(reading(1))

        def closed() -> None:
            del session._run.ledger.close
            raise OSError("no locks available")

        session._run.ledger.close = closed  # type: ignore[method-assign]
        end(session)
        assert "its files stay open: no locks available" in caplog.text


def test_a_directory_that_cannot_be_used_is_one_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "state").write_text("no directory")
    memory = Hippocampus(tmp_path / "state")
    for name in ("a", "b"):
        with memory.session(name) as session:
            items = reading(1)
            assert session(items) == items
    memory.close()
    [line] = caplog.records
    assert "is not a directory" in line.getMessage()
    assert line.exc_info is None


def test_a_failure_inside_is_one_traceback_and_one_line_for_each_place(
    caplog: pytest.LogCaptureFixture,
) -> None:
    guard = Guard("s")

    def fail(number: int) -> str:
        if number % 2:
            raise KeyError(number)
        raise KeyError(number)

    for number in range(50):
        assert guard.run(lambda: fail(number), lambda: "raw", "sending raw") == "raw"  # noqa: B023
    assert [bool(line.exc_info) for line in caplog.records] == [True, True, False, False]
    assert guard.problem == "49"


def test_a_strict_memory_does_not_start_without_its_directory(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("no directory")
    with pytest.raises(StoreError, match="is not a directory"):
        Hippocampus(tmp_path / "state", strict=True)


@pytest.mark.parametrize("given", [None, 7])
def test_the_problem_is_why_the_list_was_refused_and_not_what_failed_after_it(
    given: Any, tmp_path: Path
) -> None:
    with Hippocampus(tmp_path).session("s") as session:
        assert session(given) == given
        assert session.status()["problem"].startswith(
            f"messages is of the type {type(given).__name__}"
        )


@pytest.mark.one_process
def test_raw_views_and_failures_are_counted_by_the_next_change_and_by_the_end(
    tmp_path: Path,
) -> None:
    def counts() -> tuple[int, int]:
        with state_of(tmp_path).reading() as db:
            [row] = savings(db)
        return row["failures"], row["raw"]

    held: dict[str, Any] = {"previous_response_id": "r1"}
    with Hippocampus(tmp_path, policy=EAGER) as memory:
        session = memory.session("s")
        session(reading(2))
        assert session(5) == 5  # type: ignore[arg-type, comparison-overlap]
        assert session(reading(3), request=held) == reading(3)
        assert counts() == (0, 0)
        session(reading(4))
        assert counts() == (1, 2)
        session(reading(5), request=held)
        session.release()
        assert counts() == (1, 3)
        again = memory.session("s")
        again(reading(6), request=held)
        again.close()
        assert counts() == (1, 4)
        with memory.session("s") as unchanged:
            unchanged(reading(6))
        assert counts() == (1, 4)


def test_a_call_without_a_model_keeps_the_prices_of_the_session(tmp_path: Path) -> None:
    for number, model in enumerate(["gpt-5", None], 1):
        with Hippocampus(tmp_path, model=model) as memory, memory.session("s") as session:
            session(reading(number))
    with state_of(tmp_path).reading() as db:
        assert [row["model"] for row in savings(db)] == ["gpt-5"]


@pytest.mark.one_process
def test_a_session_that_was_forgotten_is_not_made_again_to_count_its_failures(
    tmp_path: Path,
) -> None:
    with Hippocampus(tmp_path, policy=EAGER) as memory:
        session = memory.session("s")
        session(reading(2))
        with contextlib.closing(state_of(tmp_path).database()) as db:
            db.run("DELETE FROM session")
        assert session(reading(3)) == reading(3)
        session.release()
        with state_of(tmp_path).reading() as db:
            assert savings(db) == []
