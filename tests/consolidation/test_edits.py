"""What a person, or a tool, writes into the memory file changes no fact, and what no later session is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from consolidation.said import Make, loading, user

from hippocampus import Hippocampus
from hippocampus.facts import upkeep

SAID = "We decided to use Postgres. I prefer tabs. I live in Berlin."
ASKED = [user("Do I prefer tabs in Berlin, and is it Postgres or SQLite, with tea?")]


@pytest.fixture
def memory(make: Make) -> Hippocampus:
    """A memory in which one session has said three things."""
    found: Hippocampus = make(policy=loading(800))
    with found.session("one") as session:
        session([user(SAID)])
    return found


def file_of(memory: Hippocampus) -> Path:
    return memory._resources.state.layout.root / "MEMORY.md"


def opening(memory: Hippocampus, name: str) -> str:
    with memory.session(name) as session:
        view = str(session(ASKED)[0]["content"])
    return view.removesuffix(str(ASKED[0]["content"]))


def test_what_is_written_into_the_file_reaches_no_session(memory: Hippocampus) -> None:
    """An agent's tool may have written it."""
    before = {each.content for each in memory.facts.memories()}
    text = file_of(memory).read_text().replace("Postgres", "SQLite")
    file_of(memory).write_text(f"{text}\n- I like green tea.\n")
    told = opening(memory, "two")
    memory.consolidate()
    assert "Postgres" in told
    assert "SQLite" not in told
    assert "green tea" not in told
    assert "green tea" in file_of(memory).read_text()
    assert before <= {each.content for each in memory.facts.memories()}
    assert not any("green" in each.content for each in memory.facts.memories(kind="fact"))


def test_a_file_that_cannot_be_read_stops_no_session(memory: Hippocampus) -> None:
    file_of(memory).unlink()
    file_of(memory).mkdir()
    assert "I prefer tabs." in opening(memory, "two")


def test_a_message_does_not_stand_beside_what_superseded_its_fact(memory: Hippocampus) -> None:
    """Neither in a context load nor in a recall; history has what was said."""
    with memory.session("two") as session:
        session([user("I live in Munich now.")])
    told = opening(memory, "three")
    assert "I prefer tabs." in told
    assert "I live in Berlin" not in told
    found = memory.facts.recall("tabs Postgres Berlin", limit=-1)
    assert not any("I live in Berlin" in each.memory.content for each in found)
    past = memory.facts.memories(superseded=True)
    assert any("I live in Berlin" in each.content for each in past)


def test_a_state_stands_once_and_not_once_it_has_other_words(make: Make) -> None:
    memory = make(policy=loading(800))
    with memory.session("one") as session:
        session([user("Deploy it.")])
        session.state("deploying to staging")
    asked = [user("How is deploying to staging?")]
    with memory.session("two") as session:
        assert str(session(asked)).count("deploying to staging") == 2
    [state] = [
        each
        for each in memory.facts.memories()
        if "staging" in each.content and each.type == "note"
    ]
    upkeep.update(memory.facts.tables, state.id, "deployed")
    with memory.session("three") as session:
        assert "- deploying to staging" not in str(session(asked))
