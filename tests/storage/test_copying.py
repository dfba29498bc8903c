"""Sessions copied between a directory and a server, there and back."""

from __future__ import annotations

import contextlib
import json
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import run
from conversations import EAGER, no_fallback, reading
from postgres_server import Server
from states import problems

from hippocampus import Hippocampus
from hippocampus.facts.exchange.ours import document as export
from hippocampus.facts.store import Facts
from hippocampus.storage import copying, gc
from hippocampus.storage.copying import Copied, copied
from hippocampus.storage.facts.memories import forgotten
from hippocampus.storage.ledger import activity
from hippocampus.storage.state import DirectoryState, StateStore, state_of
from hippocampus.storage.state_dir import StateDir

ODD = "zwei/\x00 ../x"


@pytest.fixture
def server(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[StateStore]:
    monkeypatch.setattr("hippocampus.storage.postgres.Connections.patience_seconds", 60.0)
    with contextlib.closing(state_of(postgres.address, uuid.uuid4().hex)) as state:
        yield state


def took_turns(state: str | Path, calls: int, tenant: str = "", name: str = "s") -> Any:
    """Return the last view of a session that was given as many lists."""
    items = reading(calls)
    items[2]["content"] = "\x00 odd \udfff\n" * 400
    with (
        Hippocampus(state, policy=EAGER, tenant=tenant, deadline_seconds=60.0) as memory,
        memory.session(name, agent="ann") as session,
        no_fallback(),
    ):
        for end in range(3, len(items) + 1, 2):
            view = session(items[:end])
        for record in session.report.records():
            assert session.entries.content(record.entry.id)
        return json.dumps(view)


def test_a_directory_goes_to_a_server_and_back_and_its_sessions_go_on(
    tmp_path: Path, postgres: Server, server: StateStore
) -> None:
    took_turns(tmp_path / "oracle", 6)
    oracle = took_turns(tmp_path / "oracle", 8)
    took_turns(tmp_path / "one", 6)
    took_turns(tmp_path / "one", 4, name=ODD)
    one, two = state_of(tmp_path / "one"), state_of(tmp_path / "two")
    found = list(copied(one, server))
    assert [each.outcome for each in found] == ["copied"] * 2
    assert all(each.payloads and not each.lost for each in found)
    assert [each.outcome for each in copied(one, server)] == ["unchanged"] * 2
    assert [each.outcome for each in copied(server, two)] == ["copied"] * 2
    assert [each.outcome for each in copied(server, two)] == ["unchanged"] * 2
    assert two.exported("s") == server.exported("s") == one.exported("s") != b""
    assert problems(DirectoryState(StateDir(tmp_path / "two"))) == []
    assert took_turns(postgres.address, 8, server.tenant) == oracle  # type: ignore[attr-defined]
    assert took_turns(tmp_path / "two", 8) == oracle


def test_a_copy_that_was_stopped_goes_on(
    tmp_path: Path, server: StateStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two sessions, or in the middle of one, whose rows come after its payloads."""
    for name in ("a", "b", "c"):
        took_turns(tmp_path, 3, name=name)
    assert next(copied(state_of(tmp_path), server)).session == "a"
    copy_payload = copying._copy_payload
    with monkeypatch.context() as stopped:
        done: list[str] = []

        def stops(contents: Any, copies: Any, key: str) -> bool:
            if done:
                raise KeyboardInterrupt
            done.append(key)
            return copy_payload(contents, copies, key)

        stopped.setattr(copying, "_copy_payload", stops)
        with pytest.raises(KeyboardInterrupt):
            list(copied(state_of(tmp_path), server))
    with server.reading() as db:
        assert set(activity(db)) == {"a"}
    outcomes = {each.session: each.outcome for each in copied(state_of(tmp_path), server)}
    assert outcomes == {"a": "unchanged", "b": "copied", "c": "copied"}
    assert {each.outcome for each in copied(state_of(tmp_path), server)} == {"unchanged"}


def test_a_session_that_has_gone_on_replaces_its_copy_and_stays_where_it_is_newer(
    tmp_path: Path, server: StateStore
) -> None:
    for calls in (3, 5):
        took_turns(tmp_path, calls)
        assert [each.outcome for each in copied(state_of(tmp_path), server)] == ["copied"]
    took_turns(tmp_path / "other", 9)
    assert list(copied(server, state_of(tmp_path / "other"))) == [Copied("s", "newer there")]


def test_a_payload_that_the_source_has_lost_is_named(tmp_path: Path, server: StateStore) -> None:
    took_turns(tmp_path, 3)
    state = state_of(tmp_path)
    with state.contents() as contents:
        gone = next(contents.stored()).key
        contents.delete(gone)
    [found] = copied(state, server)
    assert found.lost == (gone,)


def test_when_and_why_a_payload_was_removed_is_copied(tmp_path: Path, server: StateStore) -> None:
    took_turns(tmp_path, 3)
    state = state_of(tmp_path)
    with state.contents() as contents, contextlib.closing(state.database()) as db:
        gone = gc.plan(gc.holdings(db, contents), gc.GcRules(max_age_days=0), time.time())
        gc.collect(db, contents, gone, time.time())
    [found] = copied(state, server)
    assert (len(gone) > 0, found.lost) == (True, ())
    for each in gone:
        assert server.tombstone(each.key) == state.tombstone(each.key)
    assert server.tombstone(gone[0].key)


def test_a_payload_that_came_back_and_was_damaged_is_lost_and_not_removed(tmp_path: Path) -> None:
    took_turns(tmp_path / "one", 3)
    state, target = state_of(tmp_path / "one"), state_of(tmp_path / "two")
    with state.contents() as contents, contextlib.closing(state.database()) as db:
        key = gc.plan(gc.holdings(db, contents), gc.GcRules(max_age_days=0), time.time())[0].key
        content = contents.get(key)
        assert content
        gc.collect(db, contents, [gc.Removal(key, 0, "a rule", ())], time.time() + 1)
        contents.put(content)
        contents._cache.set(key, b"no zstd")
    [found] = copied(state, target)
    assert found.lost == (key,)
    assert target.tombstone(key) is None


def test_the_command_copies_and_names_what_it_did(
    tmp_path: Path, postgres: Server, server: StateStore
) -> None:
    took_turns(tmp_path / "one", 3)
    env = {"HIPPOCAMPUS_TENANT": uuid.uuid4().hex}
    there = ("store", "copy", "one", postgres.address)
    assert run(*there, cwd=tmp_path, env=env).stdout.startswith("copied ")
    assert run(*there, cwd=tmp_path, env=env).stdout.startswith("unchanged ")
    back = run("store", "copy", postgres.address, "two", cwd=tmp_path, env=env)
    assert (back.returncode, back.stdout[:7]) == (0, "copied ")
    took_turns(tmp_path / "two", 1, name="s")
    assert run("store", "copy", "one", "two", cwd=tmp_path).returncode == 1
    wrong = run(*there, cwd=tmp_path)
    assert (wrong.returncode, "needs the name of a tenant" in wrong.stderr) == (2, True)


def everything(facts: Facts) -> Any:
    """Everything of a store, but for what numbers and dates its export."""
    found = export(facts, "*")
    return json.loads(json.dumps(found | {"exported_at": ""}))


def test_facts_go_along_both_ways_with_what_has_changed_since(
    tmp_path: Path, postgres: Server
) -> None:
    env = {"HIPPOCAMPUS_TENANT": uuid.uuid4().hex}

    def copy(source: object, target: object) -> tuple[int, str]:
        done = run("store", "copy", source, target, cwd=tmp_path, env=env)
        return done.returncode, done.stdout

    one, two = tmp_path / "one", tmp_path / "two"
    address, tenant = postgres.address, env["HIPPOCAMPUS_TENANT"]
    near = lambda texts: [[1.0, len(text), 0.5] for text in texts]  # noqa: E731
    with Hippocampus(one) as memory, Facts(StateDir(one).database, embed=near) as facts:
        with memory.session("s") as session:
            session([{"role": "user", "content": "I prefer green tea. I live in Paris."}])
        facts.remember("My sister Ann lives in Rome.", agent="bob", tags=["odd \x00"])
        facts.blocks.set("persona", "Speaks like a pirate.")
        gone = facts.store("a secret plan").memory
        assert gone
        facts.delete([gone.id])
        assert copy(one, address) == (0, copy(one, address)[1].replace("unchanged", "copied   "))
        with Facts(address, tenant=tenant, embed=near) as there:
            assert everything(there) == everything(facts)
            assert there.check() == []
            assert forgotten(there.tables.database) == {gone.id}
        facts.remember("I moved to Berlin.")
        assert copy(one, address)[0] == 0
        with Facts(address, tenant=tenant) as there:
            assert everything(there) == everything(facts)
        assert copy(address, two)[0] == 0
        with Facts(StateDir(two).database) as back:
            assert everything(back) == everything(facts)
            assert back.check() == []
        with Hippocampus(address, tenant=tenant) as worker:
            assert worker.unconsolidated() == []
            assert worker.consolidate("s")[0].kept == ()
            worker.facts.remember("My badge has the number 4711.")
        status, text = copy(one, address)
        assert (status, "are there already, and stay" in text) == (1, True)
