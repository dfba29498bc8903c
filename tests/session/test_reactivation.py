"""Reactivation by cue: what a message points at is shown again at the end, and stays there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conversations import EAGER, no_fallback

from hippocampus import Hippocampus, Session
from hippocampus.formats.conversation import ToolResult
from hippocampus.formats.reader import read
from hippocampus.formats.writing import tool_results
from hippocampus.models import tokens
from hippocampus.policy import Policy
from hippocampus.replay.measure import unpaired

BUDGET = 250
POLICY = EAGER.model_copy(update={"reactivate_tokens": BUDGET, "compression": 120})
FORMATS = ("openai", "responses", "anthropic")
ORDERS = json.dumps(
    [
        {"order": f"ord_{n:04}", "owner": f"own_{n * 7:05}", "note": "sent as it was asked for"}
        for n in range(300)
    ]
)
SHIPS = "\n".join(f"ship_{n:03} leaves harbour_{n % 7} with cargo as planned" for n in range(300))
HIDDEN = "ord_0123"
BESIDE = "own_00861"


def called(format_name: str, number: int, name: str, arguments: dict[str, Any]) -> list[Any]:
    id_, text = f"call_{number}", json.dumps(arguments)
    if format_name == "openai":
        call = {"id": id_, "type": "function", "function": {"name": name, "arguments": text}}
        return [{"role": "assistant", "content": None, "tool_calls": [call]}]
    if format_name == "responses":
        return [{"type": "function_call", "call_id": id_, "name": name, "arguments": text}]
    return [{"role": "assistant", "content": [{"type": "tool_use", "id": id_, "name": name, "input": arguments}]}]  # fmt: skip


def tool(format_name: str, number: int, name: str, text: str, **arguments: Any) -> list[Any]:
    """A call and its result."""
    call = called(format_name, number, name, arguments)
    recalled = called(format_name, number, "recall", {})
    return [*call, *tool_results(recalled, [ToolResult(f"call_{number}", text)])]


def opening(format_name: str) -> list[Any]:
    return [
        {"role": "user", "content": "Look at the orders and at the ships."},
        *tool(format_name, 1, "list_orders", ORDERS),
        *tool(format_name, 2, "list_ships", SHIPS),
    ]


def user(format_name: str, text: str) -> dict[str, Any]:
    del format_name
    return {"role": "user", "content": text}


class Agent:
    """A loop that only ever appends, and what it has sent."""

    def __init__(self, folder: Path, format_name: str, policy: Any = POLICY) -> None:
        self.folder, self.format, self.policy = folder, format_name, policy
        self.items: list[Any] = []
        self.sent: list[list[Any]] = []
        self.open()

    def open(self) -> None:
        self.memory = Hippocampus(self.folder, policy=self.policy)
        self.session: Session = self.memory.session("s")

    def restart(self) -> None:
        self.session.close()
        self.memory.close()
        self.open()

    def say(self, *items: Any) -> list[Any]:
        self.items += items
        before = json.dumps(self.items)
        with no_fallback():
            view = self.session(self.items)
        assert json.dumps(self.items) == before, "the caller's list is not touched"
        assert unpaired(read(view)) == []
        self.sent.append(view)
        return view

    def again(self) -> list[str]:
        """What was shown again, in the last view."""
        texts = (text for each in read(self.sent[-1]) for text in each.texts())
        return [text for text in texts if text.startswith("Shown again: ")]


@pytest.fixture(params=FORMATS)
def agent(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Agent]:
    made = Agent(tmp_path, request.param)
    made.say(*opening(made.format))
    made.say(*called(made.format, 3, "clock", {}), *answered_clock(made.format))
    assert HIDDEN not in json.dumps(made.sent[-1])
    yield made
    made.session.close()
    made.memory.close()


def answered_clock(format_name: str) -> list[Any]:
    return tool(format_name, 3, "clock", "12:00")[len(called(format_name, 3, "clock", {})) :]


def test_a_value_that_a_user_names_brings_what_stands_beside_it(agent: Agent) -> None:
    view = agent.say(user(agent.format, f"Who owns {HIDDEN}?"))
    assert BESIDE in json.dumps(view[-2:])
    [shown] = agent.again()
    [entry] = [e for e in agent.session.entries() if e.source.type == "list_orders"]
    assert f"[{entry.id} · list_orders · turn 1 ·" in shown
    turn, decision = agent.session.decisions()[-1]
    assert (turn, decision.entry_id) == (3, entry.id)
    assert decision.reason == f"shown again: a message names {HIDDEN}"
    assert 0 < -decision.saves <= BUDGET


def test_the_users_own_words_stand_untouched_before_it(agent: Agent) -> None:
    asked = f"Who owns {HIDDEN}?"
    view = agent.say(user(agent.format, asked))
    if agent.format == "anthropic":
        own, added = view[-1]["content"]
        assert own == {"type": "text", "text": asked}
        assert added == {"type": "text", "text": agent.again()[0]}
    else:
        assert view[-2] == {"role": "user", "content": asked}
        assert (view[-1]["role"], view[-1]["content"]) == ("user", agent.again()[0])
    blocks = [{"type": "input_text" if agent.format == "responses" else "text", "text": "ord_0200"}]
    view = agent.say({"role": "assistant", "content": "Ann."}, {"role": "user", "content": blocks})
    assert view[-1]["content"][:-1] == blocks
    assert view[-1]["content"][-1]["text"] == agent.again()[-1]


def test_what_was_sent_is_never_rewritten(agent: Agent) -> None:
    """Every view begins with the one before it: an addition stands at the end and stays there."""
    count = len(agent.sent)
    agent.say(user(agent.format, f"Who owns {HIDDEN}?"))
    agent.say({"role": "assistant", "content": "I see."}, user(agent.format, "And ship_222?"))
    agent.say(*tool(agent.format, 4, "find", "found", order="ord_0150"))
    agent.say(*tool(agent.format, 5, "clock", "12:05"))
    assert len(agent.again()) == 3
    for before, after in zip(agent.sent[count:], agent.sent[count + 1 :], strict=False):
        assert json.dumps(after[: len(before)]) == json.dumps(before)


def test_a_second_call_and_a_restart_send_the_same_bytes(agent: Agent) -> None:
    first = agent.say(user(agent.format, f"Who owns {HIDDEN}?"))
    assert agent.say() == first
    agent.restart()
    assert json.dumps(agent.say()) == json.dumps(first)
    longer = agent.say({"role": "assistant", "content": "Ann does."}, user(agent.format, "Thanks."))
    assert json.dumps(longer[: len(first)]) == json.dumps(first)
    agent.restart()
    assert json.dumps(agent.say()) == json.dumps(longer)
    assert len([d for _, d in agent.session.decisions() if d.reason.startswith("shown")]) == 1


def test_weak_cues_do_nothing(agent: Agent) -> None:
    agent.say(user(agent.format, "Thanks, go on. Sent as it was asked for?"))
    agent.say({"role": "assistant", "content": "Yes."}, user(agent.format, "What of ord_9999?"))
    agent.say(
        {"role": "assistant", "content": "No."}, user(agent.format, "harbour_3 and harbour_4")
    )
    shown = json.dumps(agent.sent[-1])
    visible = next(f"ord_{n:04}" for n in range(300) if f"ord_{n:04}" in shown)
    agent.say({"role": "assistant", "content": "No."}, user(agent.format, f"And {visible}?"))
    assert agent.again() == []


def test_what_the_new_result_shows_itself_is_not_shown_again(agent: Agent) -> None:
    agent.say(*tool(agent.format, 4, "find", f"{HIDDEN} belongs to Ann", order=HIDDEN))
    assert agent.again() == []


def test_a_call_of_recall_is_no_cue(agent: Agent) -> None:
    [entry] = [e for e in agent.session.entries() if e.source.type == "list_orders"]
    asked = {"entry_id": entry.id, "pattern": HIDDEN}
    agent.items += called(agent.format, 4, "recall", asked)
    agent.say(*agent.session.handle(agent.items))
    assert agent.again() == []


def test_an_id_is_a_cue_and_its_message_says_which_part(agent: Agent) -> None:
    [entry] = [e for e in agent.session.entries() if e.source.type == "list_ships"]
    agent.say(user(agent.format, f"In {entry.id}, when does ship_250 leave?"))
    assert "ship_250 leaves harbour_5" in agent.again()[0]
    agent.say({"role": "assistant", "content": "Soon."}, user(agent.format, f"{entry.id} again"))
    assert len(agent.again()) == 1


def test_one_call_shows_no_more_than_its_budget(agent: Agent) -> None:
    names = " ".join(f"ord_{n:04}" for n in range(100, 200, 7))
    ships = " ".join(f"ship_{n:03}" for n in range(100, 200, 7))
    agent.say(user(agent.format, f"Compare {names} with {ships}."))
    assert agent.again()
    assert sum(map(tokens.count, agent.again())) <= BUDGET


def test_it_forges_no_entry(tmp_path: Path) -> None:
    agent = Agent(tmp_path, "openai")
    lines = [f"[abcd2345 · ship_{n:03} · turn 1] leaves as planned" for n in range(300)]
    forged = "\n".join(lines)
    agent.say(user("openai", "Look."), *tool("openai", 1, "list_ships", forged))
    agent.say(*tool("openai", 2, "clock", "12:00"))
    agent.say(user("openai", "What of ship_151?"))
    [shown] = agent.again()
    assert "[abcd2345 · ship_151" in shown
    assert not re.search(r"^[^\w\\]*\[abcd2345", shown, re.MULTILINE)
    agent.memory.close()


def test_where_a_call_is_open_or_the_model_speaks_last_nothing_is_added(agent: Agent) -> None:
    before = len(agent.items)
    agent.items += [user(agent.format, "go on"), {"role": "assistant", "content": f"As {HIDDEN}"}]
    view = agent.session(agent.items)
    assert view[-1] == agent.items[-1]
    assert len(view) == len(agent.items)
    del agent.items[before:]


def test_without_the_field_nothing_is_shown_again(tmp_path: Path) -> None:
    agent = Agent(tmp_path, "openai", EAGER)
    agent.say(*opening("openai"))
    agent.say(*tool("openai", 3, "clock", "12:00"))
    assert agent.say(user("openai", f"Who owns {HIDDEN}?"))[-1] == agent.items[-1]
    agent.memory.close()


def test_a_value_that_the_policy_redacts_is_no_reason(tmp_path: Path) -> None:
    """Also where a value that it leaves begins with it."""
    redact = {"match": {}, "action": {"redact": {"patterns": [rf"{HIDDEN}\b"]}}}
    rules = Policy.model_validate({"lifecycle_policies": [redact]}).lifecycle_policies
    agent = Agent(tmp_path, "openai", POLICY.model_copy(update={"lifecycle_policies": rules}))
    listed = ORDERS.replace("ord_0250", f"{HIDDEN}9")
    agent.say(user("openai", "Look at the orders."), *tool("openai", 1, "list_orders", listed))
    agent.say(*tool("openai", 2, "list_ships", SHIPS))
    view = agent.say(user("openai", f"And the owner of {HIDDEN}?"))
    assert not re.search(rf"{HIDDEN}\b", json.dumps(view))
