"""Consolidating again changes nothing, whoever was killed, cut or closed in between."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import Any

import pytest
from consolidation import killing
from consolidation.said import Make, assistant, broken_facts, call, current, loading, user

from hippocampus import Hippocampus
from hippocampus.policy import load

KILLS = 20
HERE = pytest.mark.parametrize("engine", ["directory"])


@pytest.fixture(params=["directory", "server"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def conversation(length: int = 12) -> list[dict[str, Any]]:
    """A conversation with something of everything."""
    said: list[dict[str, Any]] = [user("Always write dates as ISO 8601. We sell lamps.")]
    for number in range(length):
        said += call(f"a{number}", "shop", f'{{"path": "/{number}"}}', "Error: not found")
        said += call(f"b{number}", "shop", f'{{"path": "/{number}", "retry": 1}}', "ok, 3 lamps")
        said += [assistant(f"There are 3 lamps in store {number}.")]
        said += [user(f"I prefer lamp number {number} over the others in store {number}.")]
    return said


def known(memory: Hippocampus) -> list[tuple[str, str, int]]:
    """What the fact store holds, with how often it was met."""
    every = memory.facts.memories(superseded=True, removed=True)
    return sorted((each.type, each.content, each.encounters) for each in every)


def test_a_second_consolidation_changes_nothing(make: Make) -> None:
    memory = make()
    with memory.session("s") as session:
        session(conversation())
        first = session.consolidate()
        assert first.finished
        assert {kept.outcome for kept in first.kept} >= {"added"}
        before = known(memory)
        again = session.consolidate()
        assert (again.kept, again.finished) == ((), True)
    assert known(memory) == before
    with memory.session("s") as session:
        session(conversation())
    assert memory.consolidate("s")[0].kept == ()
    assert known(memory) == before


def test_a_fact_that_a_person_deleted_does_not_come_back_with_its_session(make: Make) -> None:
    memory = make()
    with memory.session("s") as session:
        session(conversation(1))
        session.consolidate()
        before = known(memory)
        memory.facts.delete([each.id for each in memory.facts.memories(kind="fact")])
        assert len(known(memory)) < len(before)
        left = known(memory)
    with memory.session("s") as session:
        session(conversation(1))
    assert known(memory) == left


def test_what_a_later_session_says_again_counts_as_met_again(make: Make) -> None:
    memory = make()
    for name in ("one", "two"):
        with memory.session(name) as session:
            session([user("I prefer green tea."), assistant("Noted."), user("I prefer green tea.")])
    (claim,) = memory.facts.memories(kind="fact")
    assert claim.encounters == 2


def test_a_session_that_was_not_closed_is_found_and_finished(make: Make) -> None:
    crashed = make()
    crashed.session("s")(conversation())
    crashed.session("t")([user("Never call me before noon.")])
    memory = make()
    assert set(memory.unconsolidated()) == {"s", "t"}
    outcomes = memory.consolidate()
    assert {each.session for each in outcomes} == {"s", "t"}
    assert memory.unconsolidated() == []
    whole = known(memory)
    with memory.session("s") as session:
        session(conversation())
    assert known(memory) == whole
    assert any("lamp number 7" in content for _, content, _ in whole)


def test_without_an_archive_the_instructions_and_states_of_a_crashed_session_are_finished(
    make: Make,
) -> None:
    crashed = make(policy=loading(0, archive=False))
    session = crashed.session("s")
    session([user("Never call me before noon, please.")])
    session.state("waiting for the customer")
    make(policy=loading(0, archive=False)).consolidate()
    contents = sorted(content for _, _, content in current(make()))
    assert contents == ["Never call me before noon, please.", "waiting for the customer"]


@pytest.mark.slow
def test_kills_at_random_moments_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    messages = conversation(5)
    whole = Hippocampus(tmp_path / "whole")
    with whole.session("s") as session:
        session(messages)
    wanted = known(whole)
    whole.close()
    chance, cut = random.Random(11), 0
    with killing.Agents(messages) as agents:
        for number in range(KILLS):
            folder = tmp_path / str(number)
            cut += agents.killed(folder, chance.random() * 0.1)
            memory = Hippocampus(folder)
            memory.consolidate()
            assert known(memory) == wanted
            assert memory.facts.check() == []
            assert memory.unconsolidated() == []
            memory.close()
    assert cut


@HERE
def test_beside_a_compaction_the_session_is_consolidated(make: Make) -> None:
    """The protocol's `context_threshold`: the view is shortened, then the facts are written."""
    policy = load("default").model_copy(update={"budget_tokens": 400})
    memory = make(policy=policy)
    session = memory.session("s")
    said = [user("I prefer lamp number 0 over the others."), assistant("Noted.")]
    for number in range(20):
        said += call(f"c{number}", "shop", f'{{"page": {number}}}', f"row {number} of lamps " * 20)
        session(said)
    for thread in threading.enumerate():
        if thread.name == "hippocampus-consolidation":
            thread.join(30)
    assert any(
        decision.reason.startswith("the view passed") for _, decision in session.report.decisions()
    )
    assert any("lamp number 0" in content for _, content, _ in known(memory))
    session.close()
    other = Hippocampus(memory._resources.state.layout.root.parent / "other", policy=policy)
    with other.session("s") as whole:
        whole(said)
    assert known(memory) == known(other)
    other.close()


def test_what_a_host_cuts_from_its_list_is_consolidated_before_it_is_forgotten(make: Make) -> None:
    memory = make()
    with memory.session("s") as session:
        session([user("I prefer green tea."), assistant("Noted."), user("And the weather now?")])
        session([user("And the weather now?")])
    assert ("preference", "user", "I prefer green tea.") in current(memory)


def test_what_a_host_had_cut_is_finished_after_a_crash(make: Make) -> None:
    quiet = make(policy=loading(0, facts=False))
    session = quiet.session("s")
    session([user("I prefer green tea."), assistant("Noted."), user("And the weather now?")])
    session([user("And the weather now?")])
    memory = make()
    memory.consolidate("s")
    assert ("preference", "user", "I prefer green tea.") in current(memory)


@HERE
def test_a_closed_memory_leaves_the_rest_to_the_next_start(make: Make, tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path / "state")
    session = memory.session("s")
    session([user("I prefer green tea.")])
    memory.close()
    session.close()
    assert make().unconsolidated() == ["s"]


@HERE
def test_a_fact_store_that_cannot_be_written_breaks_no_end_and_loses_nothing(
    make: Make, tmp_path: Path
) -> None:
    with make().session("s") as session:
        session([user("I prefer green tea.")])
        with broken_facts(tmp_path / "state"):
            session.close()
    memory = make()
    assert memory.unconsolidated() == ["s"]
    assert memory.consolidate()[0].finished
    assert ("preference", "user", "I prefer green tea.") in current(memory)


def test_a_session_that_is_closed_twice_or_whose_ledger_is_gone_raises_nothing(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    memory = make()
    session = memory.session("s")
    session.close()
    session.close()
    assert not caplog.records
    broken = memory.session("t")
    broken._run.ledger.close()
    broken.close()
    assert "not consolidated" in caplog.text
