"""Lists in, lists out: every valid list reads and writes back, however it grows or changes."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from conversations import FORMATS, MARK, Rounds, any_rounds, growing
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.errors import MessagesError
from hippocampus.formats.conversation import with_texts, write
from hippocampus.formats.reader import (
    COMPARED,
    Adapter,
    Reading,
    adapter_of,
    plain,
    read,
    read_on,
    same_start,
    snapshot,
)
from hippocampus.formats.reader import FORMATS as ADAPTERS
from hippocampus.replay.measure import unpaired

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@given(any_rounds())
def test_read_then_write_is_identity(rounds: Rounds) -> None:
    items = [item for each in rounds for item in each]
    before = copy.deepcopy(items)
    assert write(read(items)) == before
    assert items == before


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
def test_a_list_with_a_tool_call_is_recognised(name: str, data: st.DataObject) -> None:
    """Once a call stands in the list, there is no doubt about its format."""
    items = [item for each in data.draw(FORMATS[name]()) for item in each]
    adapter, telling = adapter_of(items)
    calls = any(part.kind == "call" for message in read(items) for part in message.parts)
    if calls or telling is not None:
        assert name == adapter.NAME


@st.composite
def edits(draw: st.DrawFn) -> list[list[dict[str, Any]]]:
    """Lists as a careless host sends them: grown, cut, edited, compacted, of another format."""
    lists: list[list[dict[str, Any]]] = []
    for _ in range(draw(st.integers(1, 3))):
        rounds = draw(any_rounds())
        whole = [item for each in rounds for item in each]
        lists += growing(rounds)
        cut = draw(st.integers(0, len(whole)))
        lists.append(whole[:cut])
        first = draw(st.integers(0, cut))
        lists.append(whole[:1] + whole[first:])
        if whole:
            at = draw(st.integers(0, len(whole) - 1))
            edited = copy.deepcopy(whole)
            edited[at]["edited"] = True
            lists.append(edited)
    return lists


@given(edits())
def test_reading_on_reads_what_a_fresh_reading_has(lists: list[list[dict[str, Any]]]) -> None:
    reading = Reading()
    last: list[Any] = []
    for items in lists:
        reading = read_on(reading, items)
        assert reading.messages == read(items)
        assert reading.adapter is adapter_of(items)[0]
        same = 0
        while same < min(len(last), len(reading.messages)) and last[same] == reading.messages[same]:
            same += 1
        assert reading.kept == same
        last = reading.messages


@given(any_rounds())
def test_reading_on_notices_what_its_caller_edits_in_place(rounds: Rounds) -> None:
    items = [item for each in rounds for item in each]
    reading = Reading()
    reading = read_on(reading, items)
    adapter = adapter_of(items)[0]
    items[-1].update(adapter.words("user", "edited in place"))
    assert read_on(reading, items).messages == read(items)


def test_an_edit_in_place_of_an_old_message_of_a_long_list_is_noticed_when_its_turn_comes() -> None:
    """In a list of other objects, and among the newest messages, it is noticed at once."""
    items = [{"role": "user", "content": str(number)} for number in range(6 * COMPARED)]
    old = snapshot(items)
    starts = range(0, 60 * COMPARED, COMPARED)
    assert {same_start(old, items, items, first) for first in starts} == {len(items)}
    items[COMPARED + 9]["content"] = "edited in place"
    noticed = [first for first in starts if same_start(old, items, items, first) != len(items)]
    assert noticed == [COMPARED + n * len(items) for n in range(10)]
    assert same_start(old, items, items, COMPARED) == COMPARED + 9
    assert same_start(old, [dict(item) for item in items], items, 0) == COMPARED + 9
    items[-9]["content"] = "edited in place"
    assert {same_start(old, items, items, first) for first in starts} == {COMPARED + 9}


@given(any_rounds(), st.text(min_size=1))
def test_a_replaced_text_is_what_is_read_back(rounds: Rounds, text: str) -> None:
    """And nothing else of the message has changed, nor the message that it was made from."""
    items = [item for each in rounds for item in each]
    for message in read(items):
        for number, part in enumerate(message.parts):
            if part.kind == "result" and part.text:
                before = copy.deepcopy(message)
                edited = with_texts(message, {number: text})
                assert message == before
                again = read(write([edited]))[0]
                assert again.parts[number].text == text or text.startswith('{"type"')
                images = [p.image_tokens for p in message.parts if p.kind == "image"]
                assert [p.image_tokens for p in again.parts if p.kind == "image"] == images


def test_plain_messages_become_another_format_without_losing_their_prefix() -> None:
    """The first message stays known when the second call shows that the list is Anthropic's."""
    reading = Reading()
    first = {"role": "user", "content": "Hello."}
    reading = read_on(reading, [first])
    assert reading.adapter.NAME == "openai"
    call = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    reading = read_on(reading, [first, {"role": "assistant", "content": [call]}])
    assert (reading.adapter.NAME, reading.kept) == ("anthropic", 1)


def test_a_list_cut_back_to_its_plain_start_may_go_on_in_another_format() -> None:
    reading = Reading()
    first = {"role": "user", "content": "Hello."}
    use = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    reading = read_on(reading, [first, {"role": "assistant", "content": [use]}])
    chat = [
        first,
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "x"},
    ]
    assert read_on(reading, chat).adapter.NAME == "openai"


def test_cache_control_does_not_make_a_chat_anthropic() -> None:
    """OpenRouter and LiteLLM take the marks in chat messages."""
    marked = {"role": "system", "content": [{"type": "text", "text": "Hi", "cache_control": MARK}]}
    items = [
        marked,
        {"role": "assistant", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "x"},
    ]
    assert [message.role for message in read(items)] == ["system", "assistant", "tool"]


def test_items_of_one_answer_are_one_message() -> None:
    items = [
        {"role": "user", "content": "go"},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
        {"type": "function_call", "call_id": "2", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "a"},
        {"type": "function_call_output", "call_id": "2", "output": "b"},
    ]
    assert [len(message.raw) for message in read(items)] == [1, 3, 1, 1]


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda each: each.NAME)
def test_a_list_whose_calls_are_all_in_digests_reads_as_in_its_own_format(adapter: Adapter) -> None:
    digest, answer = (adapter.words("assistant", text) for text in ("[digest] f({})", "Done."))
    items = [adapter.words("user", "Go on."), digest, answer]
    assert read(items) == adapter.read(items)


def test_an_item_of_no_format_is_named_by_its_number_and_the_others_are_read() -> None:
    items = [{"role": "tool", "content": "x", "tool_call_id": "1"}, {"role": "narrator"}]
    problem = "messages[1] is not a message of the format 'openai'"
    reading = read_on(Reading(), items)
    assert reading.problem.startswith(problem)
    reading = read_on(read_on(Reading(), items[:1]), items)
    assert reading.problem.startswith(problem)
    assert write(reading.messages) == write(read(items)) == items
    assert [part.kind for message in reading.messages for part in message.parts] == [
        "result",
        "opaque",
    ]


def test_an_envelope_around_a_result_is_taken_off() -> None:
    content = '{"type":"text","text":"inner"}'
    [result] = read([{"role": "tool", "tool_call_id": "1", "content": content}])[0].parts
    assert result.text == "inner"


class HumanMessage:
    """A message of a framework, by the module of its class."""

    def __init__(self, module: str) -> None:
        type(self).__module__ = module
        self.content = "x" * 7_000

    def model_dump(self, **_kwargs: Any) -> dict[str, Any]:
        return {"role": "user", "content": self.content}


UNREADABLE = [
    (HumanMessage("langchain_core.messages.human"), "integrations.langchain"),
    ({"type": "tool", "content": [{"type": "text", "text": "x"}]}, "integrations.langchain"),
    ({"role": "user", "blocks": [{"text": "x"}]}, "integrations.llama_index"),
    ({"kind": "request", "parts": [{"part_kind": "user-prompt"}]}, "integrations.pydantic_ai"),
    ({"type": "UserMessage", "content": "x"}, "integrations.autogen"),
]


@pytest.mark.parametrize(("item", "said"), UNREADABLE, ids=lambda each: type(each).__name__)
def test_what_cannot_be_read_is_refused_with_the_adapter_to_use(item: Any, said: str) -> None:
    with pytest.raises(MessagesError, match=rf"messages\[1\].*{said}"):
        read(plain([{"role": "user", "content": "Go."}, item]))


def test_a_result_of_converse_and_of_gemini_is_a_result_of_its_call() -> None:
    use = {"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": 1}}}
    result = {"toolResult": {"toolUseId": "t1", "content": [{"json": {"b": [2]}}]}}
    converse = [
        {"role": "user", "content": [{"text": "Go."}]},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result, {"cachePoint": {"type": "default"}}]},
    ]
    call = {"functionCall": {"name": "f", "args": {"a": 1}}}
    answer = {"functionResponse": {"name": "f", "response": {"b": [2]}}}
    contents = [
        {"role": "user", "parts": [{"text": "Go."}]},
        {"role": "model", "parts": [call, call]},
        {"role": "user", "parts": [answer, answer]},
    ]
    for name, items, ids in (("bedrock", converse, ["t1"]), ("gemini", contents, ["#f#0", "#f#1"])):
        _, said, answered = messages = read(items)
        assert name == adapter_of(items)[0].NAME
        assert [part.call_id for part in said.parts] == ids
        results = [part for part in answered.parts if part.kind == "result"]
        assert [(part.call_id, part.text) for part in results] == [
            (each, '{"b": [2]}') for each in ids
        ]
        edited = with_texts(answered, {0: "[entry]"})
        [again] = read(write([edited]))
        assert again.parts[0].text == "[entry]"
        assert unpaired(messages) == []


@pytest.mark.parametrize("blocks", [[{}], [{"value": 1}], [{"kind": "text", "body": "Go."}]])
def test_blocks_without_a_type_are_of_converse_only_with_its_keys(blocks: list[Any]) -> None:
    assert adapter_of([{"role": "user", "content": blocks}])[1] is None
    assert adapter_of([{"role": "user", "content": [*blocks, {"text": "Go."}]}])[1] == 0


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ('["a", "b"]', '"[id · frame]\\na"'),
        ('"a"', '"[id · frame]\\na"'),
        ("*** Begin Patch", "[id · frame]\na"),
    ],
)
def test_arguments_that_were_json_stay_json(arguments: str, shown: str) -> None:
    """Servers such as vLLM read the arguments of earlier calls, and refuse a request with others."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
    items = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    [edited] = (with_texts(message, {0: "[id · frame]\na"}) for message in read(items))
    assert edited.raw[0]["tool_calls"][0]["function"]["arguments"] == shown
    assert [edited] == read(edited.raw)  # and is counted as it is sent
