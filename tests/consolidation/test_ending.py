"""How a session ends: the list as it ended is archived and kept, and no failure reaches the loop."""

from __future__ import annotations

import sqlite3
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from consolidation.said import Make, assistant, call, current, loading, user
from conversations import EAGER, FORMATS, ONE_FORMAT, growing, no_fallback
from hypothesis import given
from hypothesis import strategies as st
from states import conversation

from hippocampus import Hippocampus, Policy, Session
from hippocampus.storage.archive import contexts, parsed

ASKED = [user("Which lamps are there?"), *call("1", "list", "{}", "a red one")]
ENDED = [*ASKED, assistant("There is a red lamp."), user("Never call me before noon, please.")]


def archived(memory: Hippocampus, name: str = "s") -> list[Any]:
    return conversation(str(memory._resources.state.layout.root), name).items


@pytest.mark.parametrize("name", ONE_FORMAT)
@given(data=st.data())
def test_the_list_as_it_ended_is_archived_whole(name: str, data: st.DataObject) -> None:
    """In each format, without a call; what was sent before stays a context of its own if cut."""
    *sent, ended = growing(data.draw(FORMATS[name]()))
    with tempfile.TemporaryDirectory() as folder:
        memory = Hippocampus(folder, policy=EAGER)
        session = memory.session("s")
        with no_fallback():
            for items in sent:
                session(items)
            session.close(ended)
        assert archived(memory) == ended
        memory.close()


def test_the_last_answer_and_what_follows_is_kept_without_another_call(make: Make) -> None:
    memory = make()
    session = memory.session("s")
    session(ASKED)
    session.close(ENDED)
    assert ("event", "assistant", "There is a red lamp.") in current(memory)
    [claim] = memory.facts.memories(kind="fact")
    assert claim.content == "Never call me before noon, please."
    [entry] = [each for each in memory.session("s").entries if each.type == "message"]
    assert claim.origin.entry_id == entry.id
    assert memory.unconsolidated() == []


def test_sessions_of_one_name_end_at_once(make: Make) -> None:
    memory = make()
    sessions = [memory.session("s") for _ in range(6)]
    for session in sessions:
        session(ASKED)
    together = threading.Barrier(len(sessions))

    def end(session: Session) -> None:
        together.wait()
        session.close(ENDED)

    with ThreadPoolExecutor(len(sessions)) as pool:
        list(pool.map(end, sessions))
    assert [session.report.problem for session in sessions if session.report.problem] == []


def test_an_end_is_told_once(make: Make) -> None:
    memory = make()
    session = memory.session("s")
    session(ASKED)
    assert [each.text for each in session.consolidate(ENDED).kept] == [ENDED[-1]["content"]]
    before = current(memory), archived(memory)
    assert session.consolidate(ENDED).kept == ()
    session.close(ENDED)
    assert (current(memory), archived(memory)) == before


def test_a_session_that_goes_on_behind_a_consolidated_end_sends_the_same_bytes(make: Make) -> None:
    more = [*ENDED, *call("2", "list", "{}", "row of lamps " * 400), assistant("Many.")]
    with make(policy=EAGER).session("s") as session, no_fallback():
        for items in (ASKED, ENDED):
            session(items)
            session.consolidate([*items, assistant("Wait.")])
        view = session(more)
        decided = session.report.decisions()
    with make(policy=EAGER).session("t") as other, no_fallback():
        for items in (ASKED, ENDED):
            other(items)
        assert len(str(view)) == len(str(other(more)))
        assert [each.reason for _, each in decided] == [
            each.reason for _, each in other.report.decisions()
        ]


@pytest.mark.parametrize("wrong", ["a text", [1], [{"what": "is this?"}], 7, {"role": "user"}])
def test_an_end_that_cannot_be_read_is_logged_and_what_was_sent_is_kept(
    wrong: Any, make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    memory = make()
    session = memory.session("s")
    session([user("I prefer green tea.")])
    session.close(wrong)
    assert "the list as it ended is not taken in" in caplog.text
    assert ("preference", "user", "I prefer green tea.") in current(memory)
    assert memory.unconsolidated() == []


@pytest.mark.parametrize("ended", [[], [user("And the weather?")]])
def test_an_end_that_is_cut_short_loses_nothing_that_was_sent(ended: list[Any], make: Make) -> None:
    memory = make()
    session = memory.session("s")
    session([user("I prefer green tea."), assistant("Noted."), user("And the weather now?")])
    session.close(ended)
    assert ("preference", "user", "I prefer green tea.") in current(memory)
    assert [
        len(each.items) for each in contexts(parsed(memory._resources.state.exported("s")))
    ] == [
        3,
        len(ended),
    ]


def test_what_a_policy_redacts_is_redacted_in_the_end_too(make: Make) -> None:
    rule = {"match": {"type": "tool_result"}, "action": {"redact": ["email"]}}
    policy = Policy.model_validate({"name": "private", "lifecycle_policies": [rule]})
    memory = make(policy=policy)
    session = memory.session("s")
    session(ASKED)
    session.close([*ASKED, *call("2", "send", "{}", "Sent to ann.example@example.org.")])
    assert "ann.example" not in str(archived(memory))
    assert "[redacted email]" in str(archived(memory))


def test_a_crashed_session_that_is_opened_and_closed_without_a_call_is_kept(make: Make) -> None:
    make().session("s")([user("I prefer green tea.")])
    memory = make()
    memory.session("s").close()
    assert ("preference", "user", "I prefer green tea.") in current(memory)
    assert memory.unconsolidated() == []


@pytest.mark.parametrize("archive", [True, False])
def test_a_crashed_session_that_goes_on_with_another_list_keeps_both(
    make: Make, *, archive: bool
) -> None:
    """Without an archive what the policy calls an instruction is known from the ledger."""
    policy = loading(0, archive=archive)
    make(policy=policy).session("s")([user("Never call me before noon.")])
    memory = make(policy=policy)
    with memory.session("s") as session:
        session([user("I prefer green tea.")])
    claims = [content for kind, _, content in current(memory) if kind == "preference"]
    assert claims == ["I prefer green tea.", "Never call me before noon."]


def test_a_call_that_failed_inside_costs_no_word_at_the_end(make: Make, tmp_path: Path) -> None:
    memory = make()
    session = memory.session("s")
    session([user("I prefer green tea.")])
    assert session("no list") == "no list"  # type: ignore[arg-type, comparison-overlap]
    session.close()
    assert session.report.failures == 1
    assert ("preference", "user", "I prefer green tea.") in current(memory)


@pytest.mark.parametrize("archive", [True, False])
def test_who_looks_into_a_running_session_takes_nothing_from_it(
    make: Make, *, archive: bool
) -> None:
    policy = loading(0, archive=archive)
    memory = make(policy=policy)
    session = memory.session("s")
    session([user("I prefer green tea.")])
    with make(policy=policy).session("s") as other:
        other.status()
    session.close()
    assert ("preference", "user", "I prefer green tea.") in current(memory)
    assert memory.unconsolidated() == []


def test_a_crashed_session_whose_words_are_nowhere_stays_named(make: Make) -> None:
    """Until somebody asks for it: then what the ledger has is all that there is."""
    policy = loading(0, archive=False)
    make(policy=policy).session("s")([user("I prefer green tea.")])
    memory = make(policy=policy)
    with memory.session("s") as session:
        session.status()
    assert memory.unconsolidated() == ["s"]
    memory.consolidate()
    assert memory.unconsolidated() == []


@pytest.mark.parametrize("wrong", ["a text", None, [{"foo": 1}], 7])
def test_a_session_without_an_archive_keeps_what_a_failed_call_came_after(
    wrong: Any, make: Make
) -> None:
    memory = make(policy=loading(0, archive=False))
    session = memory.session("s")
    session([user("I prefer green tea.")])
    assert session(wrong) == wrong
    session.close()
    assert ("preference", "user", "I prefer green tea.") in current(memory)


@pytest.mark.parametrize("archive", [True, False])
def test_what_came_with_a_call_that_failed_is_taken_in_at_the_end(
    make: Make, *, archive: bool
) -> None:
    memory = make(policy=loading(0, archive=archive), deadline_seconds=0.2)
    session = memory.session("s")
    session(ASKED)
    ledger = session._run.ledger
    with sqlite3.connect(ledger._db.path, isolation_level=None) as other:
        ledger._db.run("PRAGMA busy_timeout = 50")
        other.execute("BEGIN IMMEDIATE")
        assert session(ENDED) == ENDED
        other.execute("ROLLBACK")
    other.close()
    session.close()
    assert session.report.failures == 1
    assert ("preference", "user", ENDED[-1]["content"]) in current(memory)
    assert memory.unconsolidated() == []


def test_words_that_another_process_left_when_it_died_are_kept_with_ones_own(make: Make) -> None:
    memory, other = make(), make()
    session = memory.session("s")
    session([user("I prefer green tea.")])
    other.session("s")([user("I live in Berlin.")])
    session.close()
    claims = {content for _, _, content in current(memory)}
    assert {"I prefer green tea.", "I live in Berlin."} <= claims
