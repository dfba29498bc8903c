"""What a person changes in the memory file: when it is read, and what no later session is told."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import factual
import pytest
from consolidation.said import Make, assistant, loading, user
from typer.testing import CliRunner

from hippocampus import Hippocampus
from hippocampus.cli.commands import app

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


def edit(memory: Hippocampus, struck: str, *replaced: str, added: str = "") -> None:
    """Strike out the line with a word, replace words, and add a line, as an editor does."""
    text = file_of(memory).read_text()
    lines = [line for line in text.split("\n") if not struck or struck not in line]
    text = "\n".join(lines)
    for old, new in zip(replaced[::2], replaced[1::2], strict=True):
        text = text.replace(old, new)
    file_of(memory).write_text(f"{text}\n{added}\n")


def opening(memory: Hippocampus, name: str) -> str:
    with memory.session(name) as session:
        view = str(session(ASKED)[0]["content"])
    return view.removesuffix(str(ASKED[0]["content"]))


def test_edits_reach_the_next_session(memory: Hippocampus) -> None:
    edit(memory, "tabs", "Postgres", "SQLite", added="- I like green tea.")
    told = opening(memory, "two")
    assert "SQLite" in told
    assert "I like green tea." in told
    assert "] I prefer tabs" not in told


def test_a_file_that_nobody_changed_is_not_written_by_an_opening(memory: Hippocampus) -> None:
    before = file_of(memory).read_bytes(), file_of(memory).stat().st_mtime_ns
    with memory.session("two") as session:
        assert "Berlin" in str(session(ASKED))
        assert before == (file_of(memory).read_bytes(), file_of(memory).stat().st_mtime_ns)


def test_the_command_reads_edits_where_no_session_is_left(memory: Hippocampus) -> None:
    edit(memory, "tabs", added="- I like green tea.")
    run = CliRunner().invoke(app, ["consolidate", str(memory._resources.state.layout.root)])
    assert run.exit_code == 0
    assert "every session is consolidated\nedits of the memory file read: " in run.output
    claims = {each.content for each in memory.facts.memories(kind="fact")}
    assert "I like green tea." in claims
    assert "I prefer tabs." not in claims
    again = CliRunner().invoke(app, ["consolidate", str(memory._resources.state.layout.root)])
    assert again.output == "every session is consolidated\n"


def test_a_line_adopted_before_there_is_any_fact_is_known_in_the_first_session(make: Make) -> None:
    memory = make(policy=loading(800))
    file_of(memory).write_text("# Memory\n\n## Preferences\n\n- I like green tea.\n")
    assert len(memory.read_edits(adopt=True)) == 1
    assert "I like green tea." in opening(memory, "one")


def test_a_file_that_cannot_be_read_stops_no_session(
    memory: Hippocampus, caplog: pytest.LogCaptureFixture
) -> None:
    file_of(memory).unlink()
    file_of(memory).mkdir()
    assert "I prefer tabs." in opening(memory, "two")
    assert "edits not read" in caplog.text


def test_the_edits_of_every_agent_are_read(make: Make) -> None:
    memory = make(policy=loading(800))
    with memory.session("one", agent="a b") as session:
        session([user("I prefer tabs.")])
    path = memory._resources.state.layout.root / "MEMORY-a%20b.md"
    path.write_text(path.read_text().replace("tabs", "spaces"))
    assert len(memory.read_edits()) == 2
    (claim,) = memory.facts.memories(kind="fact", agent="a b")
    assert claim.content == "I prefer spaces."


def messages_in(memory: Hippocampus) -> list[str]:
    return sorted(each.content for each in memory.facts.memories(kind="memory"))


def recalled(memory: Hippocampus, **options: Any) -> str:
    found = memory.facts.recall("tabs Postgres Berlin", limit=-1, **options)
    return "\n".join(each.memory.content for each in found)


def test_what_is_struck_out_or_reworded_comes_back_by_no_message(memory: Hippocampus) -> None:
    edit(memory, "tabs", "Postgres", "SQLite")
    memory.read_edits()
    for text in (recalled(memory), opening(memory, "two")):
        assert "I prefer tabs" not in text
        assert "use Postgres" not in text
    assert "I live in Berlin." in recalled(memory)


def test_the_rest_of_a_message_stays_with_its_origin_and_date(make: Make) -> None:
    memory = make()
    with memory.session("one") as session:
        session([user("Hello there.\nI prefer  tabs! The red lamp is broken.")])
    (before,) = memory.facts.memories(kind="memory")
    edit(memory, "tabs")
    memory.read_edits()
    (after,) = memory.facts.memories(kind="memory")
    assert after.content == "Hello there.\nThe red lamp is broken."
    for name in ("origin", "valid_from", "agent", "type", "intensity", "encounters", "accessed"):
        assert getattr(after, name) == getattr(before, name)
    assert memory.facts.check() == []


def test_a_sentence_goes_from_each_message_that_says_it(make: Make) -> None:
    memory = make()
    for name in ("one", "two"):
        with memory.session(name) as session:
            session(
                [user(f"Lamp {name} is broken. I prefer tabs."), assistant("I prefer tabs. Ha.")]
            )
    edit(memory, "tabs")
    memory.read_edits()
    assert messages_in(memory) == ["Lamp one is broken.", "Lamp two is broken."]


def test_a_message_of_which_nothing_is_left_goes_and_can_be_brought_back(make: Make) -> None:
    memory = make()
    with memory.session("one") as session:
        session([user("I prefer tabs. I live in Berlin.")])
    said = [each.id for each in memory.facts.memories()]
    edit(memory, "[")
    memory.read_edits()
    assert memory.facts.memories() == []
    factual.restore(memory.facts, said)
    assert [each.id for each in memory.facts.memories()] == said


def test_what_a_message_said_is_history_until_purge(memory: Hippocampus) -> None:
    (message,) = memory.facts.memories(kind="memory")
    before = time.time()
    edit(memory, "tabs")
    memory.read_edits()
    assert SAID in recalled(memory, known_as_of=before)
    assert SAID not in recalled(memory, as_of=before)
    factual.restore(memory.facts, [message.id])
    assert SAID in messages_in(memory)


def test_edits_that_are_read_twice_take_nothing_more(memory: Hippocampus) -> None:
    """As after a crash between the fact store and the file."""
    database, key = memory.facts.tables.database, "memory_text default"
    before = database.meta(key)
    assert before
    edit(memory, "tabs")
    edited = file_of(memory).read_bytes()
    memory.read_edits()
    after = messages_in(memory)
    database.set_meta(key, before)
    file_of(memory).write_bytes(edited)
    memory.read_edits()
    assert messages_in(memory) == after


def test_a_message_does_not_stand_beside_what_superseded_its_fact(memory: Hippocampus) -> None:
    """Neither in a context load nor in a recall; history has what was said."""
    with memory.session("two") as session:
        session([user("I live in Munich now.")])
    told = opening(memory, "three")
    assert "I prefer tabs." in told
    assert "I live in Berlin" not in told
    assert "I live in Berlin" not in recalled(memory)
    past = memory.facts.memories(superseded=True)
    assert any("I live in Berlin" in each.content for each in past)


def test_a_state_stands_once_and_not_once_it_is_struck_out(make: Make) -> None:
    memory = make(policy=loading(800))
    with memory.session("one") as session:
        session([user("Deploy it.")])
        session.state("deploying to staging")
    assert memory.facts.memories(kind="memory")
    asked = [user("How is deploying to staging?")]
    with memory.session("two") as session:
        assert str(session(asked)).count("deploying to staging") == 2
    edit(memory, "staging")
    with memory.session("three") as session:
        assert str(session(asked)).count("deploying to staging") == 1
