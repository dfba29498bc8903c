"""What a host with message objects is given: the changes of a view, from which the view is made."""

from __future__ import annotations

import asyncio
import copy
from pathlib import Path
from typing import Any

import pytest
from conversations import (
    EAGER,
    PNG,
    Item,
    Rounds,
    any_rounds,
    growing,
    managed,
    no_fallback,
    reading,
    rows,
)
from hypothesis import given

from hippocampus import Hippocampus, Session
from hippocampus.formats.conversation import with_texts
from hippocampus.formats.reader import read
from hippocampus.formats.tool_calls import normal
from hippocampus.policy.rules import Rule
from hippocampus.session.view import Change, position

FUTURE = "from_the_future"
SMALL = EAGER.model_copy(update={"budget_tokens": 1_500})


def applied(items: list[Item], changes: tuple[Change, ...]) -> list[list[tuple[Any, ...]]]:
    """Apply changes as an adapter does, and return the parts of each message."""
    messages = read(items)
    starts, at = {}, 0
    for number, message in enumerate(messages):
        for offset in range(len(message.raw)):
            starts[at + offset] = (number, offset)
        at += len(message.raw)
    view: list[Any] = list(messages)
    for change in reversed(changes):
        number, offset = starts[change.message]
        if change.kind == "digest":
            last, _ = starts[change.end - 1]
            view[number : last + 1] = [change.text]
        elif change.kind == "added":
            view.insert(number + 1, change.text)
        else:
            at = next(
                at
                for at, part in enumerate(view[number].parts)
                if (part.kind, part.call_id, part.path[0], position(part))
                == (change.kind, change.call_id, offset, change.part)
            )
            view[number] = with_texts(view[number], {at: change.text})
    return view


def texts(view: list[Any]) -> list[str]:
    """Return the texts of messages; JSON, which a provider may hold as an object, in one form.

    Items of no known type are left out: where a digest replaces all calls of a list, their format is
    not to be seen in it.
    """
    found = ([each] if isinstance(each, str) else each.texts() for each in view)
    return [normal(text) for each in found for text in each if text and FUTURE not in text]


@given(any_rounds())
def test_the_changes_make_the_view_of_the_list(
    tmp_path_factory: pytest.TempPathFactory, rounds: Rounds
) -> None:
    """In any order: where roles alternate, a digest stands behind the reasoning of the next answer."""
    memory = Hippocampus(tmp_path_factory.mktemp("s"), policy=SMALL)
    one, other = memory.session("view"), memory.session("changes")
    other._run.rules = one._run.rules  # the id of a session is in the ids of its entries
    with no_fallback():
        for items in growing(rounds):
            before = copy.deepcopy(items)
            view, changes = one(items), other.changes(items)
            assert items == before
            assert sorted(texts(applied(items, changes))) == sorted(texts(read(view)))
    one.close()
    other.close()
    memory.close()


def test_a_change_names_the_message_the_part_and_the_call(tmp_path: Path) -> None:
    with Hippocampus(tmp_path, policy=EAGER) as memory, memory.session("s") as session:
        items = reading(2)
        changes = session.changes(items)
        assert [(each.kind, each.message, each.call_id) for each in changes] == [
            ("result", 2, "c0"),
            ("result", 4, "c1"),
        ]
        assert changes[0].text == session(items)[2]["content"]
        assert session.changes(items) == changes


def test_a_digest_is_one_change_of_the_messages_that_it_replaces(tmp_path: Path) -> None:
    with managed(tmp_path, policy=SMALL.model_copy(update={"budget_tokens": 900})) as session:
        items = reading(12)
        for end in range(3, len(items) + 1, 2):
            changes = session.changes(items[:end])
        digests = [each for each in changes if each.kind == "digest"]
        assert digests
        assert len(items) - sum(each.end - each.message - 1 for each in digests) == len(
            session(items)
        )


def test_where_a_turn_fails_the_changes_are_what_the_policy_redacts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rule = Rule.model_validate(
        {"name": "r", "match": {}, "action": {"redact": {"patterns": ["row_\\d+"]}}}
    )
    memory = Hippocampus(tmp_path, policy=EAGER.model_copy(update={"lifecycle_policies": [rule]}))
    session = memory.session("s")
    session.close()
    changes = session.changes(reading(1))
    assert [each.kind for each in changes] == ["result"]
    assert "row_" not in changes[0].text
    assert len(changes[0].text) > 1_000
    assert session.changes([{"role": "narrator"}]) == ()
    memory.close()


def test_a_call_after_the_end_says_so_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER)
    session = memory.session("s")
    session.close()
    items = reading(1)
    assert session(items) == items
    assert session(items) == items
    assert caplog.text.count("the session is closed; memory.session(id) opens it again") == 1
    assert "Traceback" not in caplog.text
    assert "is closed" in session.answer('{"query": "x"}')
    memory.close()


def test_an_argument_that_is_no_name_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    with Hippocampus(tmp_path) as memory, memory.session("s") as session:
        assert "unknown arguments: 1; known: entry_id" in session.answer({1: 2})


def test_what_is_sent_in_a_thread_is_the_same(tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER)
    items = reading(2)
    arguments = {"query": "row_7"}

    async def both(session: Session) -> tuple[Any, Any, Any]:
        view = await asyncio.to_thread(session, items)
        changes = await asyncio.to_thread(session.changes, items)
        return view, changes, await asyncio.to_thread(session.answer, arguments)

    with memory.session("s") as session, no_fallback():
        expected = session(items)
        assert asyncio.run(both(session)) == (
            expected,
            session.changes(items),
            session.answer(arguments),
        )
    memory.close()


def test_sessions_by_their_id_stay_open_and_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hippocampus.memory.MAX_OPEN_SESSIONS", 2)
    memory = Hippocampus(tmp_path, policy=EAGER)
    items = reading(2)

    async def all_of_them() -> list[Any]:
        return await asyncio.gather(
            *(asyncio.to_thread(memory.view, f"s{n}", items) for n in range(5))
        )

    with no_fallback():
        views = asyncio.run(all_of_them())
        assert len(memory._open_sessions._slots) == 2
        assert [memory.view(f"s{n}", items) for n in range(5)] == views
        with memory.using("s0") as one, memory.using("s1"), memory.using("s2"), memory.using("s0"):
            assert len(memory._open_sessions._slots) >= 3
            assert "row_7" in memory.answer("s0", {"entry_id": one.entries[0].id})
            assert memory.answer("s1", "{}").startswith("recall failed")
    memory.close()
    assert memory._open_sessions._slots == {}


def test_a_session_that_cannot_be_opened_sends_everything(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Hippocampus(tmp_path, policy=EAGER) as memory, memory.using("s"):
        pass
    path = tmp_path / "state.sqlite3"
    path.write_bytes(b"not a database, and long enough to be looked at" * 100)
    memory = Hippocampus(tmp_path, policy=EAGER)
    items = reading(1)
    assert memory.view("s", items) == items
    assert "session s: sending messages as they are" in caplog.text
    memory.close()


DELTAS = [
    {"previous_response_id": "resp_1"},
    {"conversation": "conv_1"},
    {"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}},
    {"context_management": [{"type": "compaction", "compact_threshold": 1_000}]},
]


@pytest.mark.parametrize("request_", DELTAS)
@pytest.mark.one_process
def test_what_a_provider_holds_or_edits_is_sent_as_it_is(
    tmp_path: Path, request_: Item, caplog: pytest.LogCaptureFixture
) -> None:
    items = reading(2)
    with Hippocampus(tmp_path, policy=EAGER) as memory, memory.session("s") as session:
        assert session(items, request=request_) == items
        assert session.changes(items, request=request_) == ()
        assert caplog.text.count("sending the messages as they are") == 1
        assert session.status()["failures"] == 0
        edits = {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}
        assert session(items, request={"context_management": edits}) != items


def test_a_list_that_shows_it_is_a_delta_or_compacted_is_sent_as_it_is(tmp_path: Path) -> None:
    output = reading(1)[2]["content"]
    delta = [{"type": "function_call_output", "call_id": "c1", "output": output}]
    use = {"type": "tool_use", "id": "t", "name": "read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": output}
    compacted = [
        {"role": "user", "content": "Read."},
        {"role": "assistant", "content": [{"type": "compaction", "content": "So far."}, use]},
        {"role": "user", "content": [result]},
    ]
    with Hippocampus(tmp_path, policy=EAGER) as memory, memory.session("s") as session:
        for items in (delta, compacted, [*compacted, *compacted[1:]]):
            assert session(items) == items
        assert session(reading(1)) != reading(1)


def test_bytes_of_an_image_in_a_list_of_converse_stay_bytes(tmp_path: Path) -> None:
    """boto3 takes bytes; a digest of such messages has them in base64."""
    image = {"image": {"format": "png", "source": {"bytes": PNG}}}
    items: list[Item] = [{"role": "user", "content": [{"text": "Look."}]}]
    for number in range(12):
        use = {"toolUseId": f"t{number}", "name": "look", "input": {"n": number}}
        content = [{"text": rows(number, 30)}, image]
        items += [
            {"role": "assistant", "content": [{"toolUse": use}]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": f"t{number}", "content": content}}]},
        ]  # fmt: skip
    with managed(tmp_path, policy=EAGER.model_copy(update={"budget_tokens": 2_000})) as session:
        for end in range(3, len(items) + 1, 2):
            view = session(items[:end])
        assert any(record.kind == "digest" for record in session.report.records())
        assert view[-1]["content"][0]["toolResult"]["content"][1] == image
