"""Repair makes every recorded conversation valid, and only repairs what is broken."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.formats.conversation import Item
from hippocampus.replay.readers.pairing import NO_RESULT, Paired, pair
from hippocampus.replay.readers.raw import (
    MessageFormat,
    RawMessage,
    chat_call,
)

IDS = st.sampled_from(["a", "b", "c"])
KINDS: list[MessageFormat] = ["chat", "anthropic", "responses"]


def chat_result(call_id: str, text: str) -> Item:
    return RawMessage.result(call_id, text).item


def chat_messages() -> st.SearchStrategy[list[Item]]:
    call = st.builds(chat_call, IDS, st.just("grep"), st.just({"pattern": "x"}))
    answer = st.builds(
        lambda calls: {"role": "assistant", "content": "Look.", "tool_calls": calls},
        st.lists(call, min_size=1, max_size=3, unique_by=lambda call: call["id"]),
    )
    result = st.builds(chat_result, IDS, st.text(max_size=3))
    plain = st.sampled_from(
        [{"role": "user", "content": "Go on."}, {"role": "assistant", "content": "Done."}]
    )
    return st.lists(answer | result | plain, max_size=12)


def anthropic_messages() -> st.SearchStrategy[list[Item]]:
    use = st.builds(lambda each: {"type": "tool_use", "id": each, "name": "f", "input": {}}, IDS)
    result = st.builds(
        lambda each, text: {"type": "tool_result", "tool_use_id": each, "content": text},
        IDS,
        st.text(max_size=3),
    )
    text = st.just({"type": "text", "text": "Well."})
    answer = st.builds(
        lambda blocks: {"role": "assistant", "content": blocks},
        st.lists(use, max_size=3, unique_by=lambda block: block["id"]).map(
            lambda uses: [{"type": "text", "text": "Look."}, *uses]
        ),
    )
    user = st.builds(
        lambda blocks: {"role": "user", "content": blocks},
        st.lists(result | text, min_size=1, max_size=3) | st.just("Go on."),
    )
    return st.lists(answer | user, max_size=12)


def responses_items() -> st.SearchStrategy[list[Item]]:
    kinds = st.sampled_from(["function_call", "custom_tool_call"])
    call = st.builds(lambda kind, each: {"type": kind, "call_id": each, "name": "f"}, kinds, IDS)
    result = st.builds(
        lambda kind, each: {"type": f"{kind}_output", "call_id": each, "output": "42"}, kinds, IDS
    )
    said = st.sampled_from(
        [{"role": "user", "content": "Go on."}, {"role": "assistant", "content": "Look."}]
    )
    return st.lists(call | result | said, max_size=12)


def paired(kind: MessageFormat, messages: list[Item]) -> Paired:
    return pair(kind, [RawMessage(message) for message in messages])


def messages_of(found: Paired) -> list[Item]:
    return [step.item for step in found[0]]


def blocks_of(message: Item, kind: str) -> list[Item]:
    content = message["content"]
    return [block for block in content if isinstance(block, dict) and block["type"] == kind]


@given(chat_messages())
def test_chat_results_stand_directly_behind_their_calls(messages: list[Item]) -> None:
    waiting: list[str] = []
    for message in messages_of(paired("chat", messages)):
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
        else:
            assert not waiting
            waiting = [call["id"] for call in message.get("tool_calls", [])]
    assert not waiting


@given(anthropic_messages())
def test_anthropic_results_open_the_next_user_message(messages: list[Item]) -> None:
    fixed = messages_of(paired("anthropic", messages))
    for message, following in itertools.pairwise([*fixed, {"role": "", "content": []}]):
        uses = blocks_of(message, "tool_use")
        results = blocks_of(following, "tool_result")
        assert [use["id"] for use in uses] == [result["tool_use_id"] for result in results]
        assert list(following["content"][: len(results)]) == results or not results


@given(responses_items())
def test_responses_outputs_come_after_their_calls_once_each(items: list[Item]) -> None:
    waiting: list[str] = []
    for item in messages_of(paired("responses", items)):
        kind = item.get("type", "message")
        if kind.endswith("_output"):
            waiting.remove(item["call_id"])
        elif kind.endswith("_call"):
            waiting.append(item["call_id"])
    assert not waiting


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_a_second_repair_changes_nothing(kind: MessageFormat, data: st.DataObject) -> None:
    lists = {
        "chat": chat_messages(),
        "anthropic": anthropic_messages(),
        "responses": responses_items(),
    }
    once = paired(kind, data.draw(lists[kind]))
    assert pair(kind, once[0]) == (once[0], 0, 0)


@given(chat_messages())
def test_messages_that_are_no_results_all_stay_in_order(messages: list[Item]) -> None:
    def others(some: list[Item]) -> list[Item]:
        return [message for message in some if message["role"] != "tool"]

    assert others(messages_of(paired("chat", messages))) == others(messages)


def test_what_is_missing_is_answered_and_counted() -> None:
    calls = [chat_call("a", "ls", {}), chat_call("b", "cat", {})]
    found = paired(
        "chat",
        [
            {"role": "assistant", "content": None, "tool_calls": calls},
            chat_result("b", "text"),
            chat_result("x", "of no call"),
            {"role": "user", "content": "Thanks."},
        ],
    )
    assert found[1:] == (1, 1)
    assert messages_of(found)[1:3] == [chat_result("a", NO_RESULT), chat_result("b", "text")]


def test_a_call_id_that_is_used_again_answers_the_newest_call() -> None:
    def ask(argument: str) -> Item:
        call = chat_call("call_0", "ls", argument)
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    valid: list[Any] = [ask("1"), chat_result("call_0", "one"), ask("2")]
    valid.append(chat_result("call_0", "two"))
    assert messages_of(paired("chat", valid)) == valid


def test_results_in_messages_of_their_own_become_one_anthropic_message() -> None:
    uses = [{"type": "tool_use", "id": each, "name": "f", "input": {}} for each in "ab"]
    results = [{"type": "tool_result", "tool_use_id": each, "content": each} for each in "ab"]
    text = {"type": "text", "text": "And now?"}
    prompt = {"role": "user", "content": "Stop."}
    found = paired(
        "anthropic",
        [
            {"role": "assistant", "content": uses},
            {"role": "user", "content": [results[0]]},
            {"role": "user", "content": [results[1], text]},
            prompt,
        ],
    )
    assert messages_of(found)[1:] == [{"role": "user", "content": [*results, text]}, prompt]


def test_a_missing_responses_output_does_not_split_the_answer() -> None:
    calls = [{"type": "function_call", "call_id": each, "name": "f"} for each in "ab"]
    output = {"type": "function_call_output", "call_id": "b", "output": "42"}
    missing = {"type": "function_call_output", "call_id": "a", "output": NO_RESULT}
    assert messages_of(paired("responses", [*calls, output])) == [*calls, missing, output]
