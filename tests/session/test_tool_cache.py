"""Calls that are made again: the host may have the stored result, and never one that may differ."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conversations import EAGER, no_fallback, rows

from hippocampus import Hippocampus, Session
from hippocampus.policy import Rule

READ = {"name": "read", "arguments": {"path": "a.py", "limit": 9}}
ROWS = rows(7, 400)


def turn(number: int, name: str, arguments: dict[str, Any], text: str) -> list[dict[str, Any]]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"c{number}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": text},
    ]


def read(number: int, text: str = ROWS) -> list[dict[str, Any]]:
    return turn(number, "read", {"path": "a.py", "limit": 9}, text)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    memory = Hippocampus(tmp_path / "state", policy=EAGER)
    with memory.session("s") as made, no_fallback():
        yield made
    memory.close()


def send(session: Session, *turns: list[dict[str, Any]]) -> None:
    items: list[dict[str, Any]] = [{"role": "user", "content": "Read it."}]
    for each in turns:
        items += each
        session(items)


@pytest.mark.parametrize(
    "call",
    [
        READ,
        {"name": "read", "arguments": '{"limit": 9, "path": "a.py"}'},
        {"id": "c", "type": "function", "function": {"name": "read", "arguments": json.dumps(READ["arguments"])}},
        {"type": "function_call", "call_id": "c", "name": "read", "arguments": json.dumps(READ["arguments"])},
        {"type": "tool_use", "id": "c", "name": "read", "input": READ["arguments"]},
    ],
    ids=["mapping", "text", "openai", "responses", "anthropic"],
)  # fmt: skip
def test_the_same_call_has_the_stored_result(session: Session, call: dict[str, Any]) -> None:
    assert session.cached(call) is None
    send(session, read(1), turn(2, "clock", {}, "12:00"))
    assert session.cached(call) == ROWS
    assert session.entries[0].decay.last_access == 2


def test_another_call_or_a_small_result_has_none(session: Session) -> None:
    send(session, read(1), turn(2, "clock", {}, "12:00"))
    assert session.cached({"name": "read", "arguments": {"path": "b.py", "limit": 9}}) is None
    assert session.cached({"name": "clock", "arguments": {}}) is None
    with pytest.raises(ValueError, match="a call has a name"):
        session.cached({"tool": "read"})


@pytest.mark.parametrize("name", ["a.py", "./a.py", "/srv/work/a.py"])
def test_a_write_since_speaks_against_it(session: Session, name: str) -> None:
    written = {"path": name, "content": "x = 1\n" * 40}
    send(session, read(1), turn(2, "write", {"path": "b.py", "content": "y" * 100}, "ok"))
    assert session.cached(READ) == ROWS
    send(session, read(1), turn(2, "write", written, "ok"))
    assert session.cached(READ) is None
    send(session, read(1), turn(2, "write", written, "ok"), read(3, ROWS + "!"))
    assert session.cached(READ) is None, (
        "it has changed before, and nothing is there to check it by"
    )


def test_a_newer_result_that_differs_speaks_against_it(session: Session) -> None:
    send(session, read(1), read(2, "gone"))
    assert session.cached(READ) is None
    send(session, read(1), read(2, ROWS))
    assert session.cached(READ) == ROWS


def test_an_identical_result_is_stored_once_and_told_as_unchanged(session: Session) -> None:
    send(session, read(1), read(2))
    first, second = (record for record in session.report.records() if record.kind != "arguments")
    assert first.content == second.content
    assert f"the same text as at turn 1, see {first.entry.id}" in second.shown


def test_a_failed_result_is_none(tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path / "state", policy=EAGER)
    use = {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a.py"}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": ROWS, "is_error": True}
    with memory.session("s") as session, no_fallback():
        session([
            {"role": "user", "content": "Read it."}, {"role": "assistant", "content": [use]},
            {"role": "user", "content": [result]},
        ])  # fmt: skip
        assert session.entries
        assert session.cached(use) is None
    memory.close()


def test_a_fresh_process_answers_once_it_has_the_list(tmp_path: Path) -> None:
    items = [{"role": "user", "content": "Read it."}, *read(1)]
    for number in range(2):
        memory = Hippocampus(tmp_path / "state", policy=EAGER)
        with memory.session("s") as session, no_fallback():
            assert session.cached(READ) is None
            session(items)
            assert session.cached(READ) == ROWS, number
        memory.close()


def test_a_declared_file_is_compared_each_time(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(ROWS, "utf-8")
    source = {"type": "file", "roots": [str(tmp_path)]}
    rule = Rule.model_validate({"match": {"tool": "read"}, "action": {"source": source}})
    memory = Hippocampus(
        tmp_path / "state", policy=EAGER.model_copy(update={"lifecycle_policies": (rule,)})
    )
    with memory.session("s") as session, no_fallback():
        send(session, read(1))
        assert session.cached(READ) == ROWS
        (tmp_path / "a.py").write_text(ROWS + "\nmore", "utf-8")
        send(session, read(1), turn(2, "clock", {}, "12:00"), read(3, ROWS + "\nmore!"))
        assert session.cached(READ) is None
        send(session, read(1), turn(2, "clock", {}, "12:00"), read(3, ROWS + "\nmore"))
        assert session.cached(READ) == ROWS + "\nmore", "the file itself says that this is it"
        (tmp_path / "a.py").unlink()
        assert session.cached(READ) is None
    memory.close()


def test_what_is_declared_live_elsewhere_is_not_answered_from_the_store(tmp_path: Path) -> None:
    rule = Rule.model_validate({"match": {"tool": "read"}, "action": {"source": "tool"}})
    memory = Hippocampus(
        tmp_path / "state", policy=EAGER.model_copy(update={"lifecycle_policies": (rule,)})
    )
    memory.repeatable("read")(lambda **_: ROWS)
    with memory.session("s") as session, no_fallback():
        send(session, read(1))
        assert session.cached(READ) is None
    memory.close()
