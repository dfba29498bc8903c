"""What a reader at an endpoint is sent: valid in both wire formats, whatever format was recorded."""

from __future__ import annotations

import itertools
import json
from typing import Any

from conversations import Rounds, any_rounds
from hypothesis import given

from hippocampus.formats.reader import read
from hippocampus.replay.study.wires import wire_of


def request(name: str, rounds: Rounds) -> dict[str, Any]:
    items = [item for each in rounds for item in each]
    return json.loads(
        json.dumps(wire_of(f"{name}:some-model@http://localhost").body("", read(items), []))
    )


@given(any_rounds())
def test_each_call_is_answered_right_behind_its_message_in_chat(rounds: Rounds) -> None:
    waiting: list[str] = []
    for message in request("openai", rounds)["messages"]:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
            continue
        assert waiting == []
        assert message["content"] or message["tool_calls"]
        waiting = [each["id"] for each in message.get("tool_calls", ())]
        for each in message.get("tool_calls", ()):
            assert isinstance(json.loads(each["function"]["arguments"]), dict)
            assert each["function"]["name"].isascii()


@given(any_rounds())
def test_messages_alternate_and_answer_each_call_in_anthropics_format(rounds: Rounds) -> None:
    messages = request("anthropic", rounds)["messages"]
    for before, after in itertools.pairwise([{"role": "assistant", "content": []}, *messages]):
        assert before["role"] != after["role"]
        uses = [each["id"] for each in before["content"] if each["type"] == "tool_use"]
        results = [
            each["tool_use_id"] for each in after["content"] if each["type"] == "tool_result"
        ]
        assert sorted(uses) == sorted(results)
        assert all(each.get("text", "x").strip() for each in after["content"])
