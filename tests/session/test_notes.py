"""A restart reads what was noted of the messages of a digest, and finds what reading them would give."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conversations import chat_step, managed, no_fallback
from states import execute

from hippocampus import Hippocampus
from hippocampus.formats.conversation import UnreadMessage
from hippocampus.recall.calls import FAILED
from hippocampus.storage.packing import packed

Items = list[dict[str, Any]]
OPTIONS = {"window_tokens": 9_000, "deadline_seconds": 10}


def text(chance: random.Random) -> str:
    lines, tool = chance.choice((3, 45, 140, 300)), chance.randrange(4)
    return "\n".join(f"line {n} of tool_{tool} A-{tool}{n}" for n in range(lines))


def conversation(rounds: int, form: str, *, recalls: bool = False) -> Items:
    """Reads and writes of five files, whose texts come again, and what the agent says of them."""
    chance, items = random.Random(form), [{"role": "user", "content": "Mend it."}]
    for number in range(rounds):
        name = chance.choice(("read_file", "write_file", "bash"))
        arguments: dict[str, Any] = {"path": f"src/part_{chance.randrange(5)}.py"}
        if name == "write_file":
            arguments["content"] = text(chance)
        said, result = f"Step_{number}: A-1{number} of tool_2.", text(chance)
        if recalls and number % 5 == 2:
            name, arguments, result = (
                "recall",
                {"entry_id": "abcdefgh"},
                f"{FAILED}no match): {said}",
            )
        if form == "anthropic":
            use = {"type": "tool_use", "id": f"call_{number}", "name": name, "input": arguments}
            block = {"type": "tool_result", "tool_use_id": use["id"], "content": result}
            items.append({"role": "assistant", "content": [{"type": "text", "text": said}, use]})
            always = {"type": "text", "text": "Always run the tests."}
            items.append({"role": "user", "content": [block, always][: 1 + (number % 9 == 1)]})
        else:
            items += chat_step(f"call_{number}", name, arguments, result, said)
        if number % 7 == 3:
            items.append({"role": "assistant", "content": "Go on?"})
            items.append({"role": "user", "content": f"Yes, and look at A-1{number}."})
    return items


def taken(folder: Path, items: Items, statement: str = "") -> tuple[Any, ...]:
    """Return what a worker makes of a list and of a longer one, after a statement on a copy of a state."""
    copy = folder.with_name("copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    if statement:
        execute(copy, statement)
    with managed(copy, **OPTIONS) as session:
        views = [session(items[:-4])]
        unread = sum(isinstance(each, UnreadMessage) for each in session._run.state.history.raw)
        own = session._run.state.payloads
        tables = [own.numbers, own.sites, own.ranks, own.latest, own.firsts, own.files, own.batches]
        tables += [own.recalls, session._run.state.history.closed]
        tables += [[(each.message, each.part, each.id, each.is_folded) for each in own.items]]
        tables += [own.index.holders_of([f"A-1{n}" for n in range(50)])]
        views.append(session(items))
        status = session.status()
    rows = execute(copy, "SELECT id, tool, arguments, stage FROM entry ORDER BY id")
    figures = [status[key] for key in ("raw_cost", "sent_cost", "entries")]
    return views, tables, rows, figures, unread


def edited(items: Items) -> Items:
    changed = json.loads(json.dumps(items))
    changed[5]["content"] = "It was something else." if items[5]["role"] == "assistant" else []
    return [*items[:4], *items[6:]] if changed[5]["content"] == [] else changed


@pytest.fixture(scope="module", params=["openai", "anthropic"])
def noted_state(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Items]:
    """Return the folder of a session with digests, and the list that it has read but for its end."""
    items = conversation(40, request.param, recalls=True)
    folder = tmp_path_factory.mktemp("noted") / "state"
    memory = Hippocampus(folder, **OPTIONS)
    session = memory.session("s")
    with no_fallback():
        for end in range(1, len(items) - 3):
            if items[end - 1]["role"] != "assistant":
                session(items[:end])
        # The same messages at other numbers have notes of their own.
        for end in range(len(items) - 9, len(items) - 3):
            session([{"role": "user", "content": "Again."}, *items[:end]])
        session(items[:-6])
    assert len(session._run.state.digests) > 1
    session.release()
    memory.close()
    return folder, items


@pytest.mark.parametrize(
    "edit",
    [list, edited, lambda items: items[:20] + items[-12:], lambda items: items[:31]],
    ids=["none", "inside", "a piece deleted", "cut"],
)
def test_notes_change_nothing_that_reading_the_messages_gives(
    noted_state: tuple[Path, Items], edit: Callable[[Items], Items]
) -> None:
    folder, items = noted_state
    given = edit(items)
    *read, none = taken(folder, given, "UPDATE call SET notes = NULL")
    *noted, unread = taken(folder, given)
    assert noted == read
    assert none == 0
    assert (unread > 40) == (edit is list)


def test_notes_that_cannot_be_read_change_nothing(noted_state: tuple[Path, Items]) -> None:
    *read, _ = taken(*noted_state, "UPDATE call SET notes = NULL")
    for notes in (b"\0", packed(b'[[1, "another version"]]', 3)):
        statement = f"UPDATE call SET notes = x'{notes.hex()}' WHERE notes IS NOT NULL"
        *damaged, _ = taken(*noted_state, statement)
        assert damaged == read


@pytest.mark.parametrize(
    "statement", ["SELECT 1", "UPDATE call SET notes = NULL"], ids=["notes", "none"]
)
def test_a_full_result_of_a_digest_that_an_entry_names_gets_its_whole_record(
    tmp_path: Path, statement: str
) -> None:
    items: Items = [{"role": "user", "content": "Look."}]
    for number in range(9):
        orders = [{"id": n, "name": f"row_{number % 8}_{n}"} for n in range(700)]
        said = "See row_0_699 and row_1_698." if number == 2 else None
        called = f"call_{number}", "list_orders", {"page": number}
        items += chat_step(*called, json.dumps(orders), said)
    with Hippocampus(tmp_path, **OPTIONS) as memory, memory.session("s") as session:
        session(items[:-2])
    execute(tmp_path, statement)
    with Hippocampus(tmp_path, **OPTIONS) as memory, memory.session("s") as session:
        session(items)
        [named] = [each for each in session._run.state.records.values() if each.stage == "full"]
    assert (named.tool, named.arguments) == ("list_orders", '{"page": 0}')
    # Without notes, as for a policy that redacts, nothing inside a digest is mentioned.
    assert (named.entry.decay.last_access, named.entry.modifiers.associations) == (1, [])


def test_a_damaged_entry_disturbs_no_call_that_does_not_show_it(tmp_path: Path) -> None:
    items = conversation(40, "openai")
    with managed(tmp_path, **OPTIONS) as session:
        for end in range(2, len(items), 2):
            view = session(items[:end])
    [digest, *_] = [each.id for each in session.entries if each.source.type == "digest"]
    execute(tmp_path, "UPDATE entry SET entry = x'00' WHERE form != 'messages' AND number < 5")
    memory = Hippocampus(tmp_path, **OPTIONS)
    with memory.session("s") as session, no_fallback():
        assert session(items[:end]) == view
        assert session.status()["entries"] > 5
        assert "Step_1" in session.recall(digest)
