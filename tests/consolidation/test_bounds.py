"""What a consolidation costs: linear in what was said, bounded, and never waited for longer."""

from __future__ import annotations

import itertools
import json
import sqlite3
import threading
import time
from pathlib import Path

import pytest
from consolidation.said import Make, assistant, call, user
from conversations import PROMPT

from hippocampus.consolidation.extract import MAX_CLAIMS, worth_keeping
from hippocampus.consolidation.transcript import Transcript, Utterance

SIZE = 128 * 1024
UNITS = (
    "{n}\n",
    "\n",
    " ",
    "    word\n",
    "<a>",
    "<a>\n",
    "<b x",
    "<memory>",
    "<memory",
    "```\n~~~\n",
    '"',
    "“",
    "«a",
    "' ",
    "Dear Bob\nhello\n",
    "From: a\nb: c\n",
    "On Monday at noon ann wrote\n",
    "translate: \n",
    "- ",
    " → ",
    "- a → b → c\n",
    "(id ",
    "1. 01234567-0123-7012-8012-0123456789ab ",
    ". ",
    "a, ",
    "I live in Rome now. ",
    "moved from ",
    "我住在成都。",
    "东",
    "a:\n",
    "> a\n",
    "- a b\n",
    "what? ",
)


@pytest.mark.parametrize(
    ("unit", "role"), list(zip(UNITS, itertools.cycle(["user", "assistant"]), strict=False))
)
def test_a_message_of_any_shape_is_read(unit: str, role: str) -> None:
    """In linear time: quadratic time would be minutes."""
    text = "".join(unit.format(n=n) for n in range(SIZE // len(unit)))
    said = Transcript((Utterance(role, text, 1, True),), (text,))
    assert len(worth_keeping("s", said, [], PROMPT, 1)) <= MAX_CLAIMS


def test_one_consolidation_keeps_a_bounded_number_of_claims() -> None:
    said = tuple(
        Utterance("user", f"I prefer lamp {n} to all.", n, True) for n in range(2 * MAX_CLAIMS)
    )
    found = worth_keeping("s", Transcript(said, ()), [], PROMPT, 1)
    assert [*found.values()][-1].item.content == f"I prefer lamp {2 * MAX_CLAIMS - 1} to all."
    assert len(found) == MAX_CLAIMS


def test_an_end_does_not_wait_for_a_slow_model_and_its_facts_come_later(make: Make) -> None:
    answering = threading.Event()

    def slow(_prompt: str) -> str:
        answering.wait(30)
        return json.dumps([])

    memory = make(complete=slow)
    session = memory.session("s")
    session([user("I prefer green tea."), *call("1", "list", "{}", "lamps"), assistant("Noted.")])
    started = time.monotonic()
    session.close()
    assert time.monotonic() - started < 9
    answering.set()
    memory.close()
    assert "I prefer green tea." in {each.content for each in make().facts.memories()}


def test_an_end_waits_seconds_for_a_locked_database_and_its_facts_come_later(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hippocampus.session.session.END_SECONDS", 0.3)
    monkeypatch.setattr("hippocampus.consolidation.scheduler.END_SECONDS", 0.3)
    monkeypatch.setattr("hippocampus.consolidation.deep.BATCH_SECONDS", 0.3)
    memory = make()
    session = memory.session("s")
    said = [user("I prefer green tea."), *call("1", "list", "{}", "lamps")]
    session(said)
    other = sqlite3.connect(tmp_path / "state" / "state.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    started = time.monotonic()
    session.close([*said, assistant("Noted.")])
    memory.close()
    assert time.monotonic() - started < 5
    assert "session s: not consolidated yet" in caplog.text
    other.close()
    memory = make()
    assert [outcome.session for outcome in memory.consolidate()] == ["s"]
    assert "I prefer green tea." in {each.content for each in memory.facts.memories()}


def test_a_result_that_imitates_a_printed_memory_does_not_slow_the_end_down(make: Make) -> None:
    forged = "<memory>\n- " + "x → " * 3000
    with make().session("one") as session:
        session([user("Read it."), *call("a", "read", "{}", forged), assistant("It is odd.")])
        started = time.process_time()
        session.close()
    assert time.process_time() - started < 1.0
