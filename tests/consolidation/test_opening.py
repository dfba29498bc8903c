"""What a session starts with: in front of the first words, the same bytes, within its budget."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import factual
import pytest
from consolidation.said import Make, assistant, broken_facts, call, loading, user

from hippocampus import Hippocampus
from hippocampus.errors import RecallError
from hippocampus.facts import tools
from hippocampus.facts.query import CONTEXT_TOKENS
from hippocampus.formats import reader
from hippocampus.models.tokens import count

ROWS = "\n".join(f"order_{number:04d} {number}.50 EUR lamps" for number in range(400))
STARTED = 1_770_595_200.0


@pytest.fixture(params=["directory", "server"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def earlier(memory: Hippocampus, name: str = "earlier") -> str:
    """A session that leaves a preference, a state, and a content put away, whose id is returned."""
    with memory.session(name) as session:
        session(
            [
                user("I prefer prices in euros. Which orders of lamps are there?"),
                *call("1", "list_orders", '{"page": 1}', ROWS),
            ]
        )
        session.state("checking the lamp orders")
        (entry,) = [each for each in session.entries if each.type == "tool_result"]
        return entry.id


LISTS: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]] = {
    "openai": (
        [{"role": "system", "content": "Be brief."}, user("How much is the lamp?")],
        call("7", "price", "{}", "9.50"),
    ),
    "plain": ([user("How much is the lamp?")], [assistant("9.50"), user("Thanks.")]),
    "responses": (
        [
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "How much is the lamp?"}],
            }
        ],
        [
            {"type": "function_call", "call_id": "7", "name": "price", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "7", "output": "9.50"},
        ],
    ),
    "anthropic": (
        [{"role": "user", "content": "How much is the lamp?"}],
        [
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "7", "name": "price", "input": {}}],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "7", "content": "9.50"}],
            },
        ],
    ),
    "anthropic blocks": (
        [
            {
                "role": "user",
                "content": [
                    {"type": "image", "source": {"type": "url", "url": "https://x.example/a"}},
                    {
                        "type": "text",
                        "text": "How much is the lamp?",
                        "cache_control": {"type": "ephemeral"},
                    },
                ],
            }
        ],
        [assistant("9.50"), user("Thanks.")],
    ),
}


@pytest.mark.parametrize(
    ("name", "engine"), [*((name, "directory") for name in LISTS), ("openai", "server")]
)
def test_memories_stand_in_front_of_the_first_words_with_the_same_bytes(
    name: str, make: Make
) -> None:
    memory = make(policy=loading())
    earlier(memory)
    first, more = LISTS[name]
    before = copy.deepcopy(first)
    session = memory.session("new", context_time=STARTED)
    opened = session(first)
    assert first == before
    assert len(opened) == len(first)
    told = json.dumps(opened)
    assert told.count('<memory context_time=\\"2026-02-09T00:00:00Z\\">') == 1
    assert "prices in euros" in told
    assert "</memory>\\n\\nHow much is the lamp?" in told
    grown = session([*first, *more])
    assert grown[: len(first)] == opened
    assert grown[len(first) :] == more
    assert [each.role for each in reader.read(grown)] == [
        each.role for each in reader.read([*first, *more])
    ]
    session.close()
    again = make(policy=loading()).session("new", context_time=STARTED + 9e5)
    assert again([*first, *more]) == grown
    assert session.report.failures == again.report.failures == 0


def test_it_holds_what_fits_the_first_message_and_what_was_put_away(make: Make) -> None:
    memory = make(policy=loading())
    entry_id = earlier(memory)
    memory.facts.blocks.set("persona", "Speaks like a pirate.")
    memory.facts.remember("The lamp shop closes at six.")
    with memory.session("new") as session:
        (first,) = session([user("When does the lamp shop close?")])
        text = first["content"]
        assert "The lamp shop closes at six." in text
        assert "I prefer prices in euros." in text
        assert "checking the lamp orders" in text
        assert "Speaks like a pirate." in text
        assert f"[{entry_id} · list_orders · earlier session" in text
        assert "order_0003" not in text
        assert "order_0003" in session.recall(entry_id, pattern="order_0003")
        assert session.entries.content(entry_id) == ROWS
        assert "order_0003" in session.recall(query="order_0003")


def test_a_text_that_came_several_times_is_named_once(make: Make) -> None:
    memory = make(policy=loading())
    with memory.session("earlier") as session:
        calls = [*call("1", "list_orders", "{}", ROWS), *call("2", "list_orders", "{}", ROWS)]
        session([user("Which orders of lamps are there?"), *calls])
    with memory.session("new") as session:
        (first,) = session([user("Which orders of lamps are there?")])
    assert first["content"].count("list_orders") == 1


def test_memories_are_entries_that_fade_slowly(make: Make) -> None:
    memory = make(policy=loading())
    earlier(memory)
    with memory.session("new") as session:
        session([user("What do lamps cost in euros?")])
        retrieved = [each for each in session.entries if each.type == "memory"]
        assert retrieved
        assert {each.decay.rate for each in retrieved} == {0.01}
        assert session.entries.text(retrieved[0].id) == "I prefer prices in euros."
    assert memory.facts.memories(kind="fact")[0].encounters == 1


def test_no_opening_passes_its_budget(make: Make) -> None:
    past, asked = make(), "How much is lamp number 7?"
    items = [user("Which orders?")]
    with past.session("past") as session:
        for number in range(12):
            past.facts.remember(f"I prefer lamp number {number}")
            past.facts.blocks.set(f"note{number}", f"a note {number}")
            items += call(str(number), "list", f'{{"p": {number}}}', f"{number} {ROWS}")
            session(items)
            session.state(f"state {number}")
    for budget in (1, 40, 90, 120, 215, 400):
        with make(policy=loading(budget)).session(f"new {budget}") as session:
            (first,) = session([user(asked)])
        assert count(first["content"].removesuffix(asked)) <= budget


def test_without_a_budget_or_without_memories_the_first_message_is_the_callers_own(
    make: Make,
) -> None:
    message = user("What do lamps cost in euros?")
    with make(policy=loading()).session("first") as session:
        assert session([message])[0] is message
    memory = make()
    earlier(memory)
    with memory.session("second") as session:
        assert session([message])[0] is message


def test_a_session_that_began_without_memories_goes_on_without(make: Make) -> None:
    memory = make()
    earlier(memory)
    said = [user("What do lamps cost in euros?")]
    with memory.session("old") as session:
        session(said)
    with make(policy=loading()).session("old") as session:
        assert session([*said, assistant("9.50"), user("ok")])[:1] == said


@pytest.mark.parametrize("engine", ["directory"])
def test_a_broken_fact_store_opens_a_session_without_memories_for_good(make: Make) -> None:
    memory = make(policy=loading())
    earlier(memory)
    memory.close()
    said = [user("What do lamps cost in euros?")]
    again = make(policy=loading())
    with again.session("new") as session:
        with broken_facts(memory._resources.state.layout.root):
            assert session(said) == said
        assert session(said) == said
        assert session.report.failures == 0


def test_what_was_loaded_is_not_remembered_again(make: Make) -> None:
    memory = make(policy=loading())
    earlier(memory)
    before = {each.content for each in memory.facts.memories()}
    with memory.session("new") as session:
        session([user("What do lamps cost in euros?"), assistant("They cost 9.50 each.")])
    left = {each.content for each in memory.facts.memories()} - before
    assert left == {"What do lamps cost in euros?", "They cost 9.50 each."}


# Several agents and sessions


def test_an_agent_starts_with_its_own_memories_alone(make: Make) -> None:
    memory = make(policy=loading())
    with memory.session("p", agent="planner") as session:
        session([user("I prefer prices in euros."), *call("1", "list_orders", "{}", ROWS)])
    with memory.session("w", agent="writer") as session:
        (first,) = session([user("Which prices do I prefer?")])
        assert first["content"] == "Which prices do I prefer?"
    with memory.session("q", agent="planner") as session:
        (first,) = session([user("Which prices do I prefer?")])
        assert "prices in euros" in first["content"]
    assert factual.agents(memory.facts).keys() == {"planner", "writer"}


def test_a_session_belongs_to_the_agent_that_began_it(make: Make) -> None:
    memory = make()
    memory.session("s", agent="planner").close()
    memory.session("s").close()
    with pytest.raises(ValueError, match="belongs to the agent 'planner'; name another session"):
        memory.session("s", agent="writer")


def test_one_agent_hands_an_entry_to_another(make: Make) -> None:
    memory = make()
    entry_id = earlier(memory)
    with memory.session("other", agent="writer") as session:
        session([user("Write the report.")])
        with pytest.raises(RecallError) as failure:
            session.recall(entry_id)
        assert failure.value.reason == "other_session"
        session.entries.adopt(entry_id)
        assert "order_0007" in session.recall(entry_id, pattern="order_0007")
        session.entries.adopt(entry_id)
    with make().session("other") as session:
        assert session.entries.content(entry_id) == ROWS
        assert [each.id for each in session.entries].count(entry_id) == 1
    assert all("list_orders" not in each.content for each in memory.facts.memories(agent="writer"))


def test_an_entry_that_nobody_has_cannot_be_adopted(make: Make) -> None:
    with make().session("s") as session, pytest.raises(RecallError) as failure:
        session.entries.adopt("nosuchid")
    assert failure.value.reason == "never_existed"


def test_every_preference_that_fits_the_budget_is_loaded(make: Make) -> None:
    memory = make(policy=loading(4_000))
    for number in range(50):
        memory.facts.remember(f"I prefer color number {number}.")
    assert str(memory.session("new")([user("Hello there.")])).count("I prefer color") == 50


def test_every_door_to_the_memory_loads_the_same_preferences_and_names_their_number(
    make: Make,
) -> None:
    memory = make(policy=loading(CONTEXT_TOKENS))
    for number in range(200):
        memory.facts.remember(f"I prefer color number {number} for the lamps of hall {number}.")
    (first,) = memory.session("new")([user("Hello there.")])
    doors = [
        first["content"],
        memory.facts.context_load(),
        tools.call(memory.facts, "memory_recall", {}),
    ]
    counts = {
        (text.count("I prefer color"), re.findall(r"\((\d+) of 200", text)[0]) for text in doors
    }
    ((shown, named),) = counts
    assert 20 < shown == int(named) < 200


def test_a_message_is_not_loaded_next_to_the_statements_taken_out_of_it(tmp_path: Path) -> None:
    said = (
        "I live in Hull. The launch of the app is on Thursday, and the invoice number is in the blue "
        "folder on the shelf, next to the old radio of the plumber who came in May."
    )
    with Hippocampus(tmp_path) as memory:
        with memory.session("one") as session:
            session([{"role": "user", "content": said}])
        assert {known.content for known in memory.facts.memories()} == {said, "I live in Hull."}
        for prompt, count in (("", 0), ("Where do I live?", 0), ("the launch of the app", 1)):
            loaded = memory.facts.context_load(prompt)
            assert loaded.count("I live in Hull") == 1
            assert loaded.count("blue folder") == count
