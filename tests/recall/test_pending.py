"""Pending recalls: found in each format among other calls, answered so that the list stays valid."""

from __future__ import annotations

import contextlib
import inspect
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError, validate_call

from hippocampus import recall
from hippocampus.errors import RecallError
from hippocampus.formats.conversation import Part, ToolResult
from hippocampus.formats.reader import appended, read, tool_results
from hippocampus.policy import Policy
from hippocampus.prices import TABLES
from hippocampus.recall.calls import handle, is_answer, read_request, unanswered
from hippocampus.recall.definition import RecallRequest
from hippocampus.replay.measure import unpaired
from hippocampus.session.session import Session
from hippocampus.session.turn_rules import Rules

FORMATS = ("openai", "responses", "anthropic")


def asked(format_name: str, calls: list[tuple[str, str, str]]) -> list[dict]:
    """A user's question and an assistant message with calls: id, tool, arguments."""
    question = {"role": "user", "content": "what of it?"}
    if format_name == "openai":
        told = [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
            for id_, name, arguments in calls
        ]
        return [question, {"role": "assistant", "content": None, "tool_calls": told}]
    if format_name == "responses":
        return [question, *(
            {"type": "function_call", "call_id": id_, "name": name, "arguments": arguments}
            for id_, name, arguments in calls
        )]  # fmt: skip
    blocks = [
        {"type": "tool_use", "id": id_, "name": name, "input": json.loads(arguments)}
        for id_, name, arguments in calls
    ]
    return [question, {"role": "assistant", "content": [{"type": "text", "text": "so"}, *blocks]}]


def pending(items: list, name: str = "recall") -> list[Part]:
    return [call for call in unanswered(items) if call.tool == name]


def result(format_name: str, call_id: str) -> dict:
    if format_name == "openai":
        return {"role": "tool", "tool_call_id": call_id, "content": "42"}
    if format_name == "responses":
        return {"type": "function_call_output", "call_id": call_id, "output": "42"}
    return {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": call_id, "content": "42"}],
    }


CALLS = [
    ("c1", "recall", '{"entry_id": "abcd2345", "lines": [3, 9], "max_tokens": 100}'),
    ("c2", "weather", '{"city": "Bonn"}'),
    ("c3", "recall", '{"query": "refunds"}'),
]


@pytest.mark.parametrize("format_name", FORMATS)
def test_parallel_recalls_are_found_among_others_and_answered(format_name: str) -> None:
    items = asked(format_name, CALLS)
    found = pending(items)
    assert [call.call_id for call in found] == ["c1", "c3"]
    first, second = (read_request(call.text) for call in found)
    assert (first.entry_id, first.lines, first.max_tokens) == ("abcd2345", [3, 9], 100)
    assert (second.entry_id, second.query) == (None, "refunds")
    given_ = [ToolResult(call.call_id, "slice", call.call_id == "c3") for call in found]
    for before in ([], [result(format_name, "c2")]):
        whole = appended([*items, *before], tool_results([*items, *before], given_))
        if not before:
            assert unpaired(read(whole)) == ["call 'c2' has no result"]
            whole = [*whole, result(format_name, "c2")]
        assert unpaired(read(whole)) == []
        assert pending(whole) == []


def test_anthropics_results_share_one_message_before_its_text() -> None:
    items = asked("anthropic", CALLS)
    others = result("anthropic", "c2")
    others["content"].append({"type": "text", "text": "go on"})
    results = tool_results(items, [ToolResult("c1", "a"), ToolResult("c3", "b", True)])
    whole = appended([*items, others], results)
    assert len(whole) == 3
    assert [block["type"] for block in whole[-1]["content"]] == ["tool_result"] * 3 + ["text"]
    assert whole[-1]["content"][2]["is_error"]
    assert len(others["content"]) == 2


@pytest.mark.parametrize("format_name", FORMATS)
def test_nothing_is_pending_without_a_recall(format_name: str) -> None:
    items = asked(format_name, [CALLS[1]])
    assert pending(items) == []
    assert tool_results(items, []) == []
    assert pending(items[:1]) == []
    assert pending([]) == []


WRONG = [
    "not json", "[]", "7", '{"entry_id": 7}', '{"entry_id": "a", "lines": "some"}',
    '{"entry_id": "a", "lines": 5}', '{"entry_id": "a", "lines": ["5", "x"]}',
    '{"entry_id": "a", "head": 2.5}', '{"entry_id": {"id": "a"}}', '{"pattern": ["a"], "entry_id": "a"}',
    '{"entry_id": "a", "lines": [1]}', '{"entry_id": "a", "max_tokens": "many"}',
    '{"entry_id": "a", "max_tokens": true}', '{"entry_id": "a", "page": 3}',
]  # fmt: skip


@pytest.mark.parametrize("arguments", WRONG)
def test_wrong_arguments_are_told_and_not_guessed(arguments: str) -> None:
    [call] = pending(asked("openai", [("c1", "recall", arguments)]))
    with pytest.raises(RecallError) as refused:
        read_request(call.text)
    assert refused.value.reason == "bad_request"


@pytest.mark.parametrize("lines", ["5-7", "5, 7", "[5, 7]", "5:7", "5 to 7", ["5", "7"], [5.0, 7]])
def test_lines_that_are_plainly_meant_are_read(lines: object) -> None:
    assert read_request({"entry_id": "a", "lines": lines}).lines == [5, 7]


def test_numbers_as_text_are_read_and_what_is_empty_is_not_given() -> None:
    asked_for = {"entry_id": "a", "head": "2", "max_tokens": "100", "context": 1.0, "query": ""}
    request = read_request({**asked_for, "lines": [], "path": None})
    assert request == RecallRequest(entry_id="a", head=2, context=1, max_tokens=100)
    assert read_request({"entry_id": "", "query": "order"}).entry_id is None


def test_lines_around_a_match_alone_name_no_part() -> None:
    request = read_request({"entry_id": "a", "context": 0, "max_tokens": 9})
    assert not request.names_part
    assert recall.take("one\ntwo", request, 100) == "one\ntwo"


@given(st.dictionaries(st.sampled_from(["entry_id", "lines", "pattern", "path", "query", "head", "max_tokens", "x"]),
    st.none() | st.integers() | st.text(max_size=5) | st.lists(st.integers(), max_size=3) | st.floats(), max_size=5))  # fmt: skip
def test_any_arguments_are_read_or_refused(asked_for: dict) -> None:
    with contextlib.suppress(RecallError):
        assert isinstance(read_request(asked_for), RecallRequest)


@pytest.mark.parametrize(
    "written", ["kq3v7a2c", " kq3v7a2c\n", "[kq3v7a2c]", "KQ3V7A2C", "`kq3v7a2c`", "kq3v 7a2c",
                "[kq3v7a2c · read · turn 3 · 99 tokens · json]"],
)  # fmt: skip
def test_an_id_with_blanks_brackets_or_capitals_is_read(written: str) -> None:
    assert read_request({"entry_id": written}).entry_id == "kq3v7a2c"


def test_a_tool_under_another_name_is_answered_and_the_hosts_own_is_not() -> None:
    items = asked(
        "openai", [("c1", "recall", '{"query": "a"}'), ("c2", "stored", '{"query": "a"}')]
    )
    assert [call.call_id for call in pending(items, "stored")] == ["c2"]
    assert [call.call_id for call in pending(items)] == ["c1"]
    answered = handle(items, lambda _: "found", lambda _: (), {"stored", "recall"}, {})
    assert [each["tool_call_id"] for each in answered] == ["c1", "c2"]
    [definition] = [recall.tool("anthropic", "stored")]
    assert definition["name"] == "stored"
    assert definition["description"].endswith("call this tool with these arguments.")


@pytest.mark.parametrize(
    ("tool", "arguments", "answer", "ours"),
    [
        ("recall", {"entry_id": "kq3v7a2c"}, "any lines", True),
        ("recall", {"entry_id": "[KQ3V7A2C]", "lines": "5-7"}, "any lines", True),
        ("mcp__hippocampus__recall", {"entry_id": "kq3v7a2c"}, "any lines", True),
        ("mcp_hippocampus_recall", {"query": "x"}, "kq3v7a2c:\n5: x", True),
        ("server.recall", {"page": 1}, "recall failed (bad request): unknown", True),
        ("recall", {"query": "x"}, "kq3v7a2c:\n5: x", True),
        ("recall", {"query": "x"}, "Ann likes tea.", False),
        ("recall", {"memory": "x"}, "Ann likes tea.", False),
        ("recall", {"entry_id": "abcd2345"}, "any lines", False),
        ("do_recall", {"entry_id": "kq3v7a2c"}, "any lines", False),
        ("product_recall", {"query": "x"}, "kq3v7a2c:\n5: x", False),
    ],
)
def test_our_answers_are_told_from_those_of_a_hosts_tool(
    tool: str, arguments: dict, answer: str, ours: bool
) -> None:
    call = Part("call", json.dumps(arguments), (0,), tool=tool)
    rules = Rules("s", Policy(), TABLES["openai"])
    assert (rules.is_recall(tool) and is_answer(call, answer, {"kq3v7a2c"}.__contains__)) is ours


def test_every_selector_is_in_the_tool_in_the_method_and_in_what_is_taken() -> None:
    method = set(inspect.signature(Session.recall).parameters) - {"self"}
    assert method == RecallRequest.model_fields.keys()


def test_a_function_has_the_types_and_descriptions_of_the_definition() -> None:
    function = recall.as_function(json.dumps, "stored")
    assert (function.__name__, list(inspect.signature(function).parameters)) == (
        "stored",
        list(recall.PARAMETERS["properties"]),
    )
    called = validate_call(function)
    assert json.loads(called(entry_id="[KQ3V7A2C]", lines="5-7", head=None)) == {
        "entry_id": "kq3v7a2c",
        "lines": [5, 7],
    }
    with pytest.raises(ValidationError):
        called(entry_id="kq3v7a2c", lines=[1])
    written = TypeAdapter(called).json_schema()["properties"]
    assert written["lines"]["items"] == {"type": "integer"}
    assert (
        written["query"]["description"] == recall.PARAMETERS["properties"]["query"]["description"]
    )
