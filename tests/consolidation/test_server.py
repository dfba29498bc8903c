"""Facts of a fleet: kept, shared, claimed and separated on a real PostgreSQL server."""

from __future__ import annotations

import base64
import contextlib
import copy
import json
import os
import random
import re
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import factual
import pytest
from commands import run, run_apart
from consolidation import killing
from consolidation.said import assistant, loading, user
from consolidation.test_repeating import conversation, known
from conversations import EAGER, reading
from postgres_server import Server, wait_for

from hippocampus import Hippocampus, StoreError
from hippocampus.consolidation.housekeeping import defrag, undo
from hippocampus.facts.store import Facts
from hippocampus.policy import load
from hippocampus.storage.deadline import bounded
from hippocampus.storage.facts.rows import Item
from hippocampus.storage.state import state_of

KILLS = 8
SAID = [user("I prefer green tea. My badge has the number 4711."), assistant("Noted.")]


@pytest.fixture
def tenant(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("hippocampus.storage.postgres.Connections.patience_seconds", 60.0)
    return uuid.uuid4().hex


@contextlib.contextmanager
def opened(server: Server, tenant: str, **options: Any) -> Iterator[Hippocampus]:
    """A memory that waits for a server on a busy machine."""
    given: dict[str, Any] = {"tenant": tenant, "deadline_seconds": 60.0, **options}
    with Hippocampus(server.address, **given) as memory:
        yield memory


def test_what_one_worker_keeps_another_begins_with_and_no_other_tenant(
    postgres: Server, tenant: str
) -> None:
    with opened(postgres, tenant) as one, one.session("first") as session:
        session(SAID)
    first = [user("Which tea do I like?")]
    with opened(postgres, tenant, policy=loading()) as other, other.session("s") as session:
        assert "green tea" in str(session(first))
        (found,) = other.facts.recall("green tea", kinds=["fact"])
    with opened(postgres, f"{tenant}-b", policy=loading()) as stranger:
        assert stranger.session("s")(first) == first
        facts = stranger.facts
        assert facts.get(found.memory.id) is None
        assert (
            facts.recall("green tea") == facts.memories() == facts.delete([found.memory.id]) == []
        )
        assert facts.context_load() == facts.retrieve("green tea") == ""
        assert stranger.unconsolidated() == ["s"]
    with Facts(postgres.address, tenant=tenant) as again:
        assert again.get(found.memory.id) is not None
        assert again.check() == []


def test_a_statement_that_names_no_tenant_finds_no_fact(postgres: Server, tenant: str) -> None:
    with opened(postgres, tenant) as memory, memory.session("s") as session:
        session(SAID)
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'hippocampus'"
    found = {name for (name,) in postgres.execute(tables)} - {"migration"}
    assert {"session", "memory", "content"} <= found
    for table in found:
        seen = postgres.execute(f"SELECT * FROM hippocampus.{table}", postgres.address)
        assert (table, seen) == (table, [])
    assert postgres.execute(
        "SELECT * FROM hippocampus.memory WHERE content LIKE '%green tea%'"  # as the superuser
    )


def test_workers_that_consolidate_at_once_keep_each_fact_once(
    postgres: Server, tenant: str
) -> None:
    with opened(postgres, f"{tenant}-alone") as alone, alone.session("s") as session:
        session(conversation())
        session.consolidate()
        wanted = known(alone)
    with opened(postgres, tenant) as first:
        first.session("s")(conversation())
        with contextlib.ExitStack() as closing, ThreadPoolExecutor(3) as threads:
            workers = [closing.enter_context(opened(postgres, tenant)) for _ in range(3)]
            done = list(threads.map(lambda worker: worker.consolidate("s")[0], workers))
            assert all(outcome.finished for outcome in done)
            assert known(workers[0]) == wanted
            assert workers[0].facts.check() == []


def test_other_tenants_change_no_score_and_no_order(
    postgres: Server, tenant: str, tmp_path: Path
) -> None:
    said = [f"Store {n} sells lamps number {n % 7} to the town of {n % 11}." for n in range(40)]
    clock = lambda: 1_770_000_000.0  # noqa: E731
    with (
        Facts(postgres.address, tenant=tenant, clock=clock) as shared,
        Facts(postgres.address, tenant=f"{tenant}-b", clock=clock) as other,
        Facts(tmp_path / "facts.sqlite3", clock=clock) as alone,
    ):
        factual.store_many(other, [f"Another shop {n} sells lamps." for n in range(60)])
        for facts in (shared, alone):
            factual.store_many(facts, said)
        for asked in ("lamps in town 3", "which store sells number 5", "shop number 12"):
            here, there = shared.recall(asked), alone.recall(asked)
            assert [(each.memory.content, each.score) for each in here] == [
                (each.memory.content, each.score) for each in there
            ]


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_nothing_and_doubles_nothing(
    postgres: Server, tenant: str
) -> None:
    messages = conversation(5)
    with opened(postgres, f"{tenant}-alone") as alone:
        with alone.session("s") as session:
            session(messages)
        wanted = known(alone)
    chance, cut = random.Random(7), 0
    with killing.Agents(messages) as agents:
        for number in range(KILLS):
            name = f"{tenant}-{number}"
            cut += agents.killed(postgres.address, chance.random() * 0.2, name)
            with opened(postgres, name) as memory:
                memory.consolidate()
                assert known(memory) == wanted
                assert memory.facts.check() == []
                assert memory.unconsolidated() == []
    assert cut


def test_an_idle_session_is_claimed_by_one_worker_and_after_its_death_by_another(
    postgres: Server, tenant: str
) -> None:
    at_once = loading(0, idle_minutes=0.0)
    with opened(postgres, tenant) as memory, opened(postgres, tenant, policy=at_once) as other:
        session = memory.session("s")
        session(SAID)
        session.release()
        assert memory.consolidate_idle() is None
        state = memory._resources.state
        assert state.claimed(0.0, 0.5) == "s"  # and dies
        assert other.consolidate_idle() is None
        time.sleep(0.5)
        outcome = other.consolidate_idle()
        assert outcome is not None
        assert outcome.finished
        assert other.consolidate_idle() is None
        assert known(memory) == known(other) != []


def test_a_command_consolidates_the_sessions_of_a_tenant(
    postgres: Server, tenant: str, tmp_path: Path
) -> None:
    with opened(postgres, tenant) as memory:
        session = memory.session("s")
        session(SAID)
        session.release()
    env = {"HIPPOCAMPUS_STATE": postgres.address, "HIPPOCAMPUS_TENANT": tenant}
    done = run("consolidate", cwd=tmp_path, env=env)
    assert "I prefer green tea." in done.stdout
    assert run("consolidate", cwd=tmp_path, env=env).stdout == "every session is consolidated\n"
    recalled = run_apart("memory", "recall", "tea", cwd=tmp_path, env=env)
    assert "I prefer green tea." in recalled.stdout
    asked = "Which green tea do I prefer?"
    retrieved = run_apart("memory", "retrieve", cwd=tmp_path, env=env, stdin=asked)
    assert "I prefer green tea." in retrieved.stdout
    assert not list(tmp_path.iterdir())


@contextlib.contextmanager
def watching(
    state: str | Path, tenant: str = "", *options: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Let a worker look for idle sessions twenty times a second."""
    program = (
        "from hippocampus.cli import housekeeping, main; housekeeping.POLL_SECONDS = 0.05; main()"
    )
    command = [sys.executable, "-c", program, "consolidate", str(state), "--watch", *options]
    with subprocess.Popen(command, env=os.environ | {"HIPPOCAMPUS_TENANT": tenant}) as watcher:
        try:
            yield watcher
        finally:
            watcher.kill()


def test_two_watching_workers_consolidate_what_others_release_and_stay_connected(
    postgres: Server, tenant: str, tmp_path: Path
) -> None:
    names = [f"s{number}" for number in range(6)]
    policy = tmp_path / "policy.yaml"
    policy.write_text("extends: default\nconsolidation: {idle_minutes: 0}\n")
    own = "SELECT pid FROM pg_stat_activity WHERE usename = 'hippocampus'"

    def is_steady() -> bool:
        first = set(postgres.execute(own))
        time.sleep(0.5)
        return len(first - others) > 1 and first == set(postgres.execute(own))

    with opened(postgres, tenant) as memory, contextlib.ExitStack() as closing:
        for name in names:
            session = memory.session(name)
            session([user(f"I prefer lamp {name} over all others."), assistant("Noted.")])
            session.release()
        others = set(postgres.execute(own))
        for _ in range(2):
            closing.enter_context(watching(postgres.address, tenant, "--policy", str(policy)))
        wait_for(lambda: memory.unconsolidated() == [], 60.0)
        kept = [(each.content, each.encounters) for each in memory.facts.memories(kind="fact")]
        wait_for(is_steady, 60.0)
    assert sorted(kept) == [(f"I prefer lamp {name} over all others.", 1) for name in names]


def test_a_watching_worker_makes_no_directory_that_was_moved(tmp_path: Path) -> None:
    path = tmp_path / "state"
    with Hippocampus(path) as memory:
        session = memory.session("s")
        session(SAID)
        session.release()
    state = state_of(path)
    with contextlib.closing(state.database()) as db:
        db.run("UPDATE session SET active_at = 0")

    def is_published() -> bool:
        query = "SELECT 1 FROM consolidated WHERE shown IS NOT NULL"
        with state.reading() as db:
            return state.unconsolidated() == [] and not db.rows(query)

    with watching(path) as watcher:
        wait_for(is_published, 60.0)  # the memory file is written after the facts
        path.rename(tmp_path / "moved")
        assert watcher.wait(60.0) == 2
    assert not path.exists()


def test_an_operator_consolidates_every_tenant_and_a_worker_may_not(
    postgres: Server, tenant: str, tmp_path: Path
) -> None:
    postgres.execute("CREATE DATABASE fresh OWNER hippocampus", postgres.superuser)
    postgres = copy.copy(postgres)
    postgres.address = postgres.address.replace("/hippocampus?", "/fresh?")
    postgres.execute("CREATE ROLE operator LOGIN BYPASSRLS IN ROLE hippocampus")
    address = postgres.address.replace("hippocampus:@", "operator@")
    done = run("consolidate", address, "--all-tenants", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    names = [f"{tenant}{letter}" for letter in "abc"]
    for name in names:
        with opened(postgres, name) as memory:
            memory.session("s")(SAID)
    refused = run("consolidate", postgres.address, "--all-tenants", cwd=tmp_path)
    assert "name an operator's role" in refused.stderr
    assert "NO FORCE" not in refused.stderr
    done = run("consolidate", address, "--all-tenants", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("I prefer green tea.") >= len(names)
    assert run("consolidate", address, "--all-tenants", cwd=tmp_path).stdout == ""
    for name in names:
        with opened(postgres, name) as memory:
            assert memory.facts.recall("green tea", kinds=["fact"])
            memory.session("s")([*SAID, user("My cat is called Mint."), assistant("Noted.")])
    policy = tmp_path / "policy.yaml"
    policy.write_text("extends: default\nconsolidation: {idle_minutes: 0}\n")
    command = [sys.executable, "-m", "hippocampus", "consolidate", address, "--all-tenants"]
    with subprocess.Popen([*command, "--watch", "--policy", str(policy)]) as watcher:
        for name in names:
            with opened(postgres, name) as memory:
                wait_for(lambda memory=memory: memory.unconsolidated() == [], 60.0)
        watcher.kill()


def test_a_tenant_whose_key_is_missing_stops_no_other(
    postgres: Server, tenant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{tenant}{letter}" for letter in "xyz"]
    for name in names:
        with monkeypatch.context() as patch:
            if name == names[1]:
                patch.setenv("HIPPOCAMPUS_KEY", base64.b64encode(bytes(64)).decode())
            with opened(postgres, name, policy=EAGER) as memory:
                memory.session("s")([*SAID, *reading(3)])
    postgres.execute("CREATE ROLE other_operator LOGIN BYPASSRLS IN ROLE hippocampus")
    address = postgres.address.replace("hippocampus:@", "other_operator@")
    done = run("consolidate", address, "--all-tenants", cwd=tmp_path)
    assert done.returncode == 1
    assert f"tenant {names[1]!r}" in done.stderr
    for name in (names[0], names[2]):
        with opened(postgres, name) as memory:
            assert memory.unconsolidated() == []


def test_an_idle_session_of_a_directory_is_claimed_too(tmp_path: Path) -> None:
    with Hippocampus(tmp_path, policy=loading(0, idle_minutes=0.0)) as memory:
        session = memory.session("s")
        session(SAID)
        session.release()
        outcome = memory.consolidate_idle()
        assert outcome is not None
        assert outcome.finished
        assert memory.consolidate_idle() is None


def test_housekeeping_takes_a_server_as_it_takes_a_directory(
    postgres: Server, tenant: str, tmp_path: Path
) -> None:
    env = {"HIPPOCAMPUS_TENANT": tenant}
    memories = [
        Hippocampus(postgres.address, tenant=tenant, deadline_seconds=60.0, policy=EAGER),
        Hippocampus(tmp_path / "state", policy=EAGER),
    ]
    for memory in memories:
        with contextlib.closing(memory):
            for name in ("one", "two"):
                with memory.session(name) as session:
                    session([*SAID, *reading(4 if name == "one" else 5, start=9)])
            with memory.session("other") as session:
                session([user("I live in Paris."), assistant("Noted.")])

    def done(*command: str) -> str:
        found = []
        for state in (postgres.address, "state"):
            at = command.index("-")
            made = run(*command[:at], state, *command[at + 1 :], cwd=tmp_path, env=env)
            assert (made.returncode, made.stderr) == (0, ""), command
            sizes = re.sub(r" *[\d,]+ bytes|MEMORY\S*|daily logs.*", "", made.stdout)
            found.append(re.sub(r"\b[0-9a-f]{12}\b|[\d.,]+ *(?=\d*[^\n]*-\d\d)", "", sizes))
        assert sorted(found[0].splitlines()) == sorted(found[1].splitlines()), command
        return found[0]

    assert "0 findings" in done("doctor", "-")
    assert "would be removed" in done("gc", "-", "--max-age-days", "0")
    assert len(json.loads(done("status", "-", "--json"))) == 3
    assert "one" in done("store", "entries", "-", "--session", "one")
    done("defrag", "-", "--apply")
    assert "took no memory away" in done("defrag", "-", "--undo")
    assert "removed" in done("forget", "-", "--everything-from", "one", "--apply")
    assert "removed" in done("gc", "-", "--max-age-days", "0", "--apply")
    assert "0 findings" in done("doctor", "-")
    with contextlib.closing(state_of(postgres.address, tenant)) as state:
        assert state.agent_of("one") is None
        assert state.exported("two") == b""
        with state.contents() as contents:
            assert list(contents.stored()) == []


def test_facts_are_waited_for_no_longer_than_the_deadline_of_a_turn(
    postgres: Server, tenant: str
) -> None:
    with opened(postgres, tenant) as memory:
        memory.facts.remember("I prefer green tea.")
        started = time.monotonic()
        with postgres.frozen(), bounded(0.25), pytest.raises(StoreError):
            memory.facts.recall("tea")
        assert time.monotonic() - started < 5.0  # not the patience of a minute


def test_the_last_run_of_defrag_is_undone(postgres: Server, tenant: str) -> None:
    with (
        contextlib.closing(state_of(postgres.address, tenant)) as state,
        state.contents() as store,
        Facts(state) as facts,
    ):
        faded = Item("Nobody needs this.", "note", at=time.time() - 400 * 86_400)
        factual.store_many(facts, [faded])
        assert (
            defrag(state, store, facts, load("default"), time.time(), apply=True).facts_faded == 1
        )
        assert facts.memories() == []
        assert [memory.content for memory in undo(state, facts)] == ["Nobody needs this."]
        assert len(facts.memories()) == 1
