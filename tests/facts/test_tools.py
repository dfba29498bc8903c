"""The tools of an agent: their definitions in three formats, what calls do, what errors say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import factual
import pytest

from hippocampus.facts.store import Facts
from hippocampus.facts.tools import INSTRUCTIONS, TOOLS, Reach, call, tools
from hippocampus.formats.signatures import schema_of

HIPPO = [
    "remember_facts",
    "store_memory",
    "append_memory_block",
    "replace_memory_block",
    "forget_memory",
    "recall_memories",
    "recall_memory_block",
    "recall_conversation",
]
SCRIPTLING = ["memory_remember", "memory_recall", "memory_forget"]


@pytest.fixture
def facts(tmp_path: Path) -> Iterator[Facts]:
    made = Facts(tmp_path / "memory.sqlite3")
    yield made
    assert made.check() == []
    made.close()


def failed(answer: str) -> dict[str, Any]:
    found = json.loads(answer)
    assert set(found) >= {"error", "message"}
    return dict(found)


@pytest.mark.parametrize("form", ["openai", "responses", "anthropic"])
def test_the_tools_are_those_of_hippo_and_of_scriptling(form: str) -> None:
    names = [each.get("name") or each["function"]["name"] for each in tools(form)]
    assert names == [name for name in HIPPO if name != "recall_conversation"] + SCRIPTLING
    with_messages = [
        each.get("name") or each["function"]["name"] for each in tools(form, conversation=True)
    ]
    assert with_messages == HIPPO + SCRIPTLING
    json.dumps(tools(form))


def test_a_definition_has_the_shape_of_its_format() -> None:
    chat, responses, claude = (tools(form)[0] for form in ("openai", "responses", "anthropic"))
    schema = chat["function"]["parameters"]
    assert schema == responses["parameters"] == claude["input_schema"]
    assert schema["required"] == ["text"]
    assert chat["type"] == responses["type"] == "function"
    assert set(claude) == {"name", "description", "input_schema"}
    with pytest.raises(ValueError, match="anthropic"):
        tools("xml")


def test_the_instructions_are_short() -> None:
    assert 40 < len(INSTRUCTIONS.split()) < 150


def test_a_fact_is_remembered_recalled_and_forgotten(facts: Facts) -> None:
    said = call(facts, "remember_facts", {"text": "Alice lives in Berlin."})
    assert said.startswith("added: ")
    assert "Berlin" in call(facts, "recall_memories", {"query": "Where does Alice live?"})
    gone = call(facts, "forget_memory", {"description": "Alice lives in Berlin", "threshold": 0.5})
    assert "Berlin" in gone
    assert "Berlin" not in call(facts, "recall_memories", {"query": "Where does Alice live?"})


def test_what_changed_takes_the_place_of_the_old(facts: Facts) -> None:
    call(facts, "remember_facts", {"text": "Alice lives in Berlin."})
    said = call(facts, "remember_facts", {"text": "Alice lives in Bangkok now."})
    assert said.startswith("superseded: ")
    found = call(facts, "recall_memories", {"query": "Where does Alice live?"})
    assert "Bangkok" in found
    assert "Berlin" not in found


def test_the_same_content_is_kept_once(facts: Facts) -> None:
    first = call(facts, "store_memory", {"content": "The whole log.\n" * 9, "type": "event"})
    again = call(facts, "store_memory", {"content": "The whole log.\n" * 9})
    assert first.startswith("added: ")
    assert again.startswith("strengthened: ")
    assert "others" not in again
    assert len(facts.memories()) == 1


def test_blocks_are_appended_replaced_and_read(facts: Facts) -> None:
    assert call(facts, "recall_memory_block", {"key": "persona"}).startswith("null")
    call(facts, "append_memory_block", {"key": "persona", "content": "kind (a+b)"})
    call(facts, "append_memory_block", {"key": "persona", "content": "kind (a+b)"})
    call(facts, "replace_memory_block", {"key": "persona", "old_text": "(a+b)", "new_text": ""})
    assert call(facts, "recall_memory_block", {"key": "persona"}) == "kind \nkind "


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"key": "none", "old_text": "a", "new_text": "b"}, "missing"),
        ({"key": "persona", "old_text": "zebra", "new_text": "b"}, "no_match"),
    ],
)
def test_a_block_that_cannot_be_changed_says_why(
    facts: Facts, arguments: dict[str, str], reason: str
) -> None:
    facts.blocks.append("persona", "kind")
    found = failed(call(facts, "replace_memory_block", arguments))
    assert (found["error"], found["key"]) == (reason, arguments["key"])


def test_scriptlings_tools_remember_recall_and_forget(facts: Facts) -> None:
    call(
        facts,
        "memory_remember",
        {"content": "Alice prefers dark mode.", "type": "preference", "importance": 0.9},
    )
    (memory,) = facts.memories()
    assert (memory.type, memory.intensity) == ("preference", 0.9)
    assert "dark mode" in call(facts, "memory_recall", {})
    assert "dark mode" in call(facts, "memory_recall", {"type": "preference"})
    assert "dark mode" not in call(facts, "memory_recall", {"type": "!preference"})
    assert "dark mode" in call(facts, "memory_forget", {"id": memory.id})
    assert len(facts.memories()) == 0
    assert failed(call(facts, "memory_forget", {"id": memory.id}))["error"] == "not_found"


def test_one_call_forgets_no_more_than_it_may(facts: Facts) -> None:
    for number in range(6):
        facts.store(f"The green bicycle stands in hall {number}.")
    asked = {"description": "green bicycle hall", "threshold": 0.0, "max_deleted": 2}
    call(facts, "forget_memory", asked)
    assert len(facts.memories()) == 4


def test_a_call_reaches_its_own_agent_and_scopes_alone(facts: Facts) -> None:
    mine, others = Reach(agent="ann", scope="work", scopes=["work"]), Reach(agent="ben")
    call(facts, "store_memory", {"content": "Ann's badge opens gate seven."}, mine)
    facts.store("Ann's badge opens her own garden.", agent="ann", scope="home")
    assert "gate" in call(facts, "recall_memories", {"query": "badge"}, mine)
    assert "garden" not in call(facts, "recall_memories", {"query": "badge"}, mine)
    assert "badge" not in call(facts, "recall_memories", {"query": "badge"}, others)
    assert "badge" not in call(facts, "memory_recall", {}, Reach(agent="ann", scopes=[]))
    for memory in facts.memories(agent="ann"):
        assert (
            failed(call(facts, "memory_forget", {"id": memory.id}, others))["error"] == "not_found"
        )
        for name in (memory.id, memory.id[-10:]):
            gone = call(facts, "forget_memory", {"description": name}, others)
            assert gone.startswith("Nothing matches"), gone
    home = next(each for each in facts.memories(agent="ann") if each.scope == "home")
    assert failed(call(facts, "memory_forget", {"id": home.id}, mine))["error"] == "not_found"
    assert "Nothing matches" in call(facts, "forget_memory", {"description": home.id}, mine)
    assert len(facts.memories(agent="ann")) == 2


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("store_memory", {}, "content: field required"),
        ("store_memory", {"content": "   "}, "the text is empty"),
        ("store_memory", {"content": None}, "content: field required"),
        ("recall_memories", {"query": 7}, "query: input should be a valid string"),
        ("recall_memories", {"query": "a", "limit": 0}, "limit: value error, 0 asks for nothing"),
        ("recall_memories", {"query": "a", "limit": 1.5}, "limit: input should be a valid integer"),
        (
            "recall_memories",
            {"query": "a", "limit": "many"},
            "limit: input should be a valid integer",
        ),
        ("recall_memories", {"query": "a", "top": 3}, "top: extra inputs are not permitted"),
        (
            "forget_memory",
            {"description": "a", "threshold": 7},
            "threshold: input should be less than",
        ),
        ("forget_memory", {"description": "a", "threshold": "nan"}, "threshold: input should be"),
        (
            "store_memory",
            {"content": "a", "metadata": "b"},
            "metadata: input should be a valid dictionary",
        ),
        ("recall_memories", "{not json", "the arguments are no JSON"),
        ("recall_memories", "[1]", "the arguments are no JSON object"),
        ("remember_facts", "", "the arguments are no JSON object"),
    ],
    ids=str,
)
def test_arguments_that_do_not_fit_are_told(
    facts: Facts, name: str, arguments: Any, said: str
) -> None:
    found = failed(call(facts, name, arguments))
    assert found["error"] == "bad_arguments"
    assert said in found["message"]
    assert found["expected"] == schema_of(TOOLS[name].arguments)


def test_every_problem_is_told_at_once(facts: Facts) -> None:
    found = failed(call(facts, "replace_memory_block", {"key": "", "old": 1}))
    for part in (
        "old_text: field required",
        "new_text: field",
        "key: string should have",
        "old: extra",
    ):
        assert part in found["message"]


def test_numbers_as_models_write_them_are_taken(facts: Facts) -> None:
    facts.store("The boiler is in the cellar.")
    for limit in (1, 1.0, "1", -1):
        assert "boiler" in call(facts, "recall_memories", {"query": "boiler", "limit": limit})
    assert "boiler" in call(facts, "recall_memories", '{"query": "boiler"}')


def test_an_unknown_tool_names_the_nearest(facts: Facts) -> None:
    found = failed(call(facts, "recall_memory", {"query": "a"}))
    assert found["error"] == "unknown_tool"
    assert "recall_memories" in found["message"]


def test_a_store_that_fails_is_told_and_not_raised(tmp_path: Path) -> None:
    facts = Facts(tmp_path / "memory.sqlite3")
    facts.close()
    assert failed(call(facts, "store_memory", {"content": "a"}))["error"] == "store_failed"


@pytest.mark.parametrize("name", TOOLS)
def test_junk_never_raises(facts: Facts, name: str) -> None:
    for junk in (None, 7, [], {"a": {"b": []}}, "null", "\ud800", {"query": "'\"*("}):
        assert isinstance(call(facts, name, junk), str)


def test_what_a_tool_recalled_is_not_remembered_again(facts: Facts) -> None:
    """An agent that hands a recall's answer back adds nothing, in whatever frame it stood."""
    facts.remember("Bob lives in Rome")
    recalled = factual.call(facts, "recall_memories", {"query": "where does Bob live"})
    loaded = factual.call(facts, "memory_recall", {})
    before = len(facts.memories())
    for text in (recalled, loaded, *loaded.splitlines()[2:-1]):
        factual.call(facts, "remember_facts", {"text": text})
        factual.call(facts, "store_memory", {"content": text})
    assert len(facts.memories()) == before
    assert facts.memories()[0].encounters == 1


def test_calls_keep_to_the_scopes_that_the_host_gives(facts: Facts) -> None:
    """The model names no scope; the host does, for writing and for reading."""
    factual.call(facts, "memory_remember", {"content": "Ann likes tea"}, scope="home")
    asked = {"query": "what does Ann like"}
    assert "tea" in factual.call(facts, "recall_memories", asked, scopes=["home"])
    assert "tea" not in factual.call(facts, "recall_memories", asked, scopes=["work"])
