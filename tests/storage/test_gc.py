"""Retention: dry first, pins and sharers respected, safe beside a writer, explained afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
import uuid
from pathlib import Path

import pytest
from conversations import EAGER, reading, written_at
from hypothesis import given
from hypothesis import strategies as st
from postgres_server import Server
from states import activity, collect, conversation, execute, holdings, problems
from typer.testing import CliRunner

from hippocampus import Hippocampus
from hippocampus.cli.commands import app
from hippocampus.entries.entry import (
    Entry,
    Lifecycle,
    Modifiers,
    Record,
    Source,
    Stage,
    content_key,
)
from hippocampus.entries.origin import MemoryOrigin
from hippocampus.errors import StoreError
from hippocampus.storage import gc, proxy_conversations
from hippocampus.storage.content_store import DiskStore
from hippocampus.storage.gc import DAY_SECONDS, GcRules, Holding, Reference
from hippocampus.storage.ledger import Ledger, ModelCall, TurnRows
from hippocampus.storage.packing import packed_text
from hippocampus.storage.proxy_conversations import Conversations
from hippocampus.storage.state import DirectoryState, state_of
from hippocampus.storage.state_dir import StateDir
from hippocampus.storage.verify import verify

NOW = 1_000_000_000.0


def put(state: Path, session: str, content: bytes, entry_id: str, parts=(), **more) -> str:
    """Put a content away as a session does: into the store first, then into its ledger."""
    store = DiskStore(state / "contents")
    key = store.put(content, parts)
    store.close()
    entry = Entry(
        id=entry_id,
        type="tool_result",
        source=Source(type="t", ref=key, turn=1),
        summary="s",
        **more,
    )
    record = Record(
        entry, MemoryOrigin(entry_id), key, form="text", kind="json", tool="t", arguments="{}", tokens=9,
        stage=Stage.INDEXED, shown="shown",
    )  # fmt: skip
    ledger = Ledger(DirectoryState(StateDir(state)), session)
    ledger.commit(TurnRows(ModelCall(1, 1, 1, 1), records=[record]))
    ledger.close()
    return key


def age(state: Path, days: float) -> None:
    """Make every session look as if nobody had written it for so many days."""
    written_at(state, time.time() - days * DAY_SECONDS, *activity(state))


def run(state: Path, rules: GcRules, now: float | None = None) -> list[str]:
    started = time.time() if now is None else now
    with contextlib.closing(DiskStore(state / "contents")) as store:
        removals = gc.plan(holdings(state, store), rules, started)
        return [each.key for each in collect(state, store, removals, started)]


def held(state: Path) -> list[gc.Holding]:
    with contextlib.closing(DiskStore(state / "contents")) as store:
        return holdings(state, store)


def test_contents_of_idle_sessions_go_and_leave_a_tombstone(state: Path) -> None:
    old = put(state, "old", b"one", "aaaa1111")
    age(state, 40)
    young = put(state, "young", b"two", "bbbb2222")
    assert run(state, GcRules(max_age_days=30)) == [old]
    when, rule = DirectoryState(StateDir(state)).tombstone(old) or ("", "")
    assert rule == "sessions idle for over 30 days"
    assert when.endswith("+00:00")
    assert DirectoryState(StateDir(state)).tombstone(young) is None
    assert verify(DirectoryState(StateDir(state))) == []


def test_what_sessions_share_is_kept_while_one_of_them_is(state: Path) -> None:
    key = put(state, "old", b"shared", "aaaa1111")
    age(state, 40)
    assert put(state, "young", b"shared", "bbbb2222") == key
    assert run(state, GcRules(max_age_days=30)) == []
    age(state, 40)
    assert run(state, GcRules(max_age_days=30)) == [key]


@pytest.mark.parametrize(
    "pin", [{"modifiers": Modifiers(priority="critical")}, {"lifecycle": Lifecycle(persist=True)}]
)
def test_pinned_contents_stay_whatever_the_rules(state: Path, pin: dict) -> None:
    put(state, "old", b"pinned", "aaaa1111", **pin)
    age(state, 400)
    assert run(state, GcRules(max_age_days=0, max_bytes=0)) == []


def test_over_the_size_what_was_idle_longest_goes(state: Path) -> None:
    first = put(state, "first", os.urandom(4_000), "aaaa1111")
    age(state, 9)
    put(state, "second", os.urandom(4_000), "bbbb2222")
    assert run(state, GcRules(max_bytes=5_000)) == [first]


def test_sessions_have_their_own_age_by_name(state: Path) -> None:
    nightly = put(state, "nightly-7", b"one", "aaaa1111")
    put(state, "main", b"two", "bbbb2222")
    age(state, 5)
    assert run(state, GcRules(max_age_days=90, session_days={"nightly-*": 3})) == [nightly]


def test_orphans_go_after_their_grace(state: Path) -> None:
    store = DiskStore(state / "contents")
    key = store.put(b"nobody's")
    store.close()
    assert run(state, GcRules()) == []
    assert run(state, GcRules(), time.time() + 2 * DAY_SECONDS) == [key]


def test_planning_removes_nothing(state: Path) -> None:
    put(state, "s", b"one", "aaaa1111")
    age(state, 40)
    removals = gc.plan(held(state), GcRules(max_age_days=1), time.time())
    assert len(removals) == 1
    assert len(held(state)) == 1


def test_a_content_put_again_since_the_start_stays_and_has_no_tombstone(state: Path) -> None:
    key = put(state, "old", b"one", "aaaa1111")
    age(state, 40)
    started = time.time()
    removals = gc.plan(held(state), GcRules(max_age_days=30), started)
    put(state, "young", b"one", "bbbb2222")
    with contextlib.closing(DiskStore(state / "contents")) as store:
        assert collect(state, store, removals, started) == []
    assert DirectoryState(StateDir(state)).tombstone(key) is None
    assert verify(DirectoryState(StateDir(state))) == []


def test_beside_writers_no_reference_dangles(state: Path) -> None:
    """Many put the same contents and refer to them while others collect: each that refers has it."""
    put(state, "seed", b"0", "seed0000")
    done = threading.Event()

    def collect() -> None:
        while not done.is_set():
            run(state, GcRules(orphan_grace_seconds=0))

    worker = threading.Thread(target=collect)
    worker.start()
    for number in range(40):
        put(state, f"s{number % 3}", str(number % 5).encode(), f"id{number:06}")
    done.set()
    worker.join()
    assert verify(DirectoryState(StateDir(state))) == []


references = st.builds(
    Reference, st.sampled_from("abc"), st.text("xyz", min_size=1, max_size=3), st.just("k"),
    st.booleans(), st.floats(NOW - 90 * DAY_SECONDS, NOW),
)  # fmt: skip
holding = st.builds(
    Holding, st.uuids().map(str), st.integers(0, 10_000), st.floats(NOW - 90 * DAY_SECONDS, NOW),
    st.just(()), st.lists(references, max_size=3).map(tuple),
)  # fmt: skip
rules = st.builds(
    GcRules, st.none() | st.floats(0, 100), st.none() | st.integers(0, 50_000),
    st.dictionaries(st.sampled_from(["a", "b*", "*"]), st.floats(0, 100)),
)  # fmt: skip


@given(st.lists(holding, max_size=12, unique_by=lambda each: each.key), rules)
def test_a_plan_names_each_once_spares_pins_and_fits(
    held: list[Holding], given_rules: GcRules
) -> None:
    going = [each.key for each in gc.plan(held, given_rules, NOW)]
    assert len(set(going)) == len(going)
    pinned = {each.key for each in held if any(ref.pinned for ref in each.references)}
    assert not pinned & set(going)
    left = [each for each in held if each.key not in going]
    if (
        given_rules.max_bytes is not None
        and sum(each.packed_bytes for each in left) > given_rules.max_bytes
    ):
        assert all(each.key in pinned or not each.references for each in left)


def test_verify_names_what_is_damaged_lost_or_unused(state: Path) -> None:
    damaged = put(state, "s", b"x" * 100, "aaaa1111")
    lost = put(state, "s", b"y" * 100, "bbbb2222")
    store = DiskStore(state / "contents")
    orphan = store.put(b"nobody's")
    store._cache.set(damaged, b"no zstd")
    store.delete(lost)
    store.close()
    found = verify(DirectoryState(StateDir(state)))
    told = "\n".join(each.text for each in found)
    assert f"entry bbbb2222 of session 's': its content {lost[:12]} is lost" in told
    assert f"content {orphan[:12]} is an orphan" in told
    assert [each.is_fault for each in found] == [True, True, False]


def test_verify_names_what_cannot_be_opened_and_who_loses_by_it(state: Path) -> None:
    kept = put(state, "s", os.urandom(100_000), "aaaa1111")
    put(state, "other", b"x", "bbbb2222")
    with contextlib.closing(DiskStore(state / "contents")) as store:
        store._cache.set(kept, store._cache.get(kept)[:50])
    [told] = problems(DirectoryState(StateDir(state)))
    assert f"content {kept[:12]}" in told
    assert "entry aaaa1111 of session 's' refers to it" in told
    (state / "contents" / "cache.db").write_bytes(b"no database" * 100)
    [told] = problems(DirectoryState(StateDir(state)))
    assert "content store" in told


@pytest.mark.parametrize("written", [b"", *map(packed_text, ["{}", "[]", "no JSON", '{"id": 3}'])])
def test_a_damaged_entry_is_named(state: Path, written: bytes) -> None:
    put(state, "s", b"one", "aaaa1111")
    put(state, "s", b"two", "bbbb2222")
    execute(state, "UPDATE entry SET entry = ? WHERE id = 'aaaa1111'", written)
    assert problems(DirectoryState(StateDir(state))) == ["session 's': entry aaaa1111 is damaged"]


def test_nothing_is_removed_where_the_state_cannot_be_read(state: Path) -> None:
    put(state, "s", b"one", "aaaa1111")
    StateDir(state).database.write_bytes(b"no database" * 100)
    with pytest.raises(StoreError, match=r"state\.sqlite3"):
        run(state, GcRules(max_age_days=0))
    with pytest.raises(StoreError, match=r"state\.sqlite3"):
        DirectoryState(StateDir(state)).tombstone("k")
    assert any("state.sqlite3" in each for each in problems(DirectoryState(StateDir(state))))


def test_where_nothing_is_stored_yet_nothing_refers_and_no_file_is_made(state: Path) -> None:
    with DirectoryState(StateDir(state)).reading() as db:
        assert gc.references(db) == {}
    assert DirectoryState(StateDir(state)).tombstone("k") is None
    assert not StateDir(state).database.exists()


def words_gone(state: Path, rules: GcRules, started: float | None = None) -> list[str]:
    now = time.time()
    opened = DirectoryState(StateDir(state))
    with contextlib.closing(opened.database()) as db:
        gone = gc.collect_words(db, rules, now if started is None else started)
    return [name for each in gone for name in each.sessions]


def a_session(state: Path, name: str) -> None:
    """A session whose one result is pinned and archived."""
    with Hippocampus(state, policy=EAGER) as memory, memory.session(name) as session:
        session(reading(1))
        session.pin(session.entries[0].id)


def test_conversations_go_by_age_and_what_is_pinned_stays(state: Path) -> None:
    a_session(state, "old")
    age(state, 40)
    a_session(state, "young")
    assert words_gone(state, GcRules()) == []
    assert words_gone(state, GcRules(max_bytes=0)) == []
    assert words_gone(state, GcRules(max_age_days=30)) == ["old"]
    assert run(state, GcRules(max_age_days=30)) == []
    assert conversation(state, "old").items == []
    assert conversation(state, "young").items == reading(1)
    memory = Hippocampus(state, policy=EAGER)
    with memory.session("old") as again:
        [entry] = again.entries
        assert again.entries.text(entry.id) == reading(1)[-1]["content"]
        again(reading(2))
    assert conversation(state, "old").items == reading(2)
    memory.close()


def test_a_session_that_was_active_since_keeps_its_words(state: Path) -> None:
    a_session(state, "s")
    assert words_gone(state, GcRules(max_age_days=0), started=time.time() - 60) == []
    assert words_gone(state, GcRules(session_days={"s": 0})) == ["s"]


def test_nothing_that_a_tool_returned_is_left_beside_the_entries(state: Path) -> None:
    with Hippocampus(state, policy=EAGER) as memory, memory.session("s") as session:
        session(reading(1))
    run(state, GcRules(max_age_days=0))
    words_gone(state, GcRules(max_age_days=0))
    files = [path for path in state.rglob("*") if path.is_file()]
    left = [path for path in files if not path.name.startswith(".lock")]
    assert {path.parent.name for path in left} <= {"state", "contents", "memory"}
    assert reading(1)[-1]["content"].encode() not in b"".join(path.read_bytes() for path in left)


def proxied(state: StateDir, session: str, sent: float) -> None:
    """A conversation of the proxy with a recall that its host has not seen."""
    db = DirectoryState(state).database()
    db.run(proxy_conversations.TIP, (session, session, sent))
    db.run(proxy_conversations.CHAIN, (f"c-{session}", session, None))
    words = json.dumps([[[], [], [["c", f"words of {session}"]]]])
    Conversations(db, b"key").keep(f"c-{session}", session, words)


def sent(state: StateDir) -> set[str]:
    return {name for (name,) in execute(state.root, "SELECT session FROM proxy_conversation")}


def test_conversations_of_the_proxy_go_by_age(tmp_path: Path) -> None:
    (tmp_path / "contents").mkdir()
    state = StateDir(tmp_path)
    proxied(state, "old", time.time() - 9 * DAY_SECONDS)
    proxied(state, "new", time.time())
    command = ["gc", str(tmp_path), "--max-age-days", "7"]
    assert "(old)" in CliRunner().invoke(app, command).output
    assert sent(state) == {"old", "new"}
    assert "1 conversation, 0 bytes removed" in (
        CliRunner().invoke(app, [*command, "--apply"]).output
    )
    left = [
        row for name in ("proxy_conversation", "proxy_chain")
        for row in execute(tmp_path, f"SELECT session FROM {name}")
    ]  # fmt: skip
    assert left == [("new",)] * 2


def test_the_words_of_sessions_on_a_server_go_by_age_too(postgres: Server) -> None:
    with contextlib.closing(state_of(postgres.address, uuid.uuid4().hex)) as state:
        with Hippocampus(state, policy=EAGER) as memory:
            memory.session("old")(reading(1))
            memory.session("new")(reading(1))
        with contextlib.closing(state.database()) as db:
            for name, at in (("old", 0.0), ("proxied", 0.0), ("new", 0.0)):
                db.run(proxy_conversations.TIP, (name, name, at))
            db.run("UPDATE session SET active_at = 1 WHERE name = 'old'")
            found = gc.collect_words(db, GcRules(max_age_days=30), time.time())
            assert [one.sessions for one in found] == [("old",), ("proxied",)]
            assert found[0].packed_bytes > found[1].packed_bytes == 0
            assert gc.plan_words(db, GcRules(max_age_days=30), time.time()) == []
            assert db.rows("SELECT session FROM proxy_conversation") == [("new",)]
        assert state.exported("old") == b""
        assert state.exported("new")


def test_a_conversation_that_sends_again_meanwhile_stays(tmp_path: Path) -> None:
    state = StateDir(tmp_path)
    proxied(state, "old", NOW)
    assert words_gone(tmp_path, GcRules(7), NOW - 1) == []
    assert sent(state) == {"old"}


def test_a_payload_stays_while_one_that_repeats_it_is_pinned(state: Path) -> None:
    part = b"a result of some length " * 99
    put(state, "s", part, "aaaa1111")
    whole = b"[" + json.dumps("a result of some length " * 99).encode() + b"]"
    put(state, "s", whole, "bbbb2222", [part], modifiers=Modifiers(priority="critical"))
    assert run(state, GcRules(max_age_days=0, max_bytes=0)) == []
    with contextlib.closing(DiskStore(state / "contents")) as store:
        assert store.get(content_key(whole)) == whole


def test_of_an_idle_session_what_no_digest_has_goes_first(state: Path) -> None:
    part, other = (f"{name} {uuid.uuid4()} " * 99 for name in "ab")
    put(state, "s", part.encode(), "aaaa1111")
    put(state, "s", json.dumps([part]).encode(), "bbbb2222", [part.encode()])
    put(state, "s", other.encode(), "cccc3333")
    age(state, 1)
    found = sum(each.packed_bytes for each in held(state))
    assert run(state, GcRules(max_bytes=found - 1)) == [content_key(other.encode())]


@pytest.mark.parametrize("seed", range(4))
def test_a_digest_goes_before_the_lists_that_it_continues(state: Path, seed: int) -> None:
    texts = [f"{seed} {number} " * 99 for number in range(4)]
    first, both = (json.dumps(texts[:end]).encode() for end in (2, 4))
    put(state, "s", first, "aaaa1111")
    with contextlib.closing(DiskStore(state / "contents")) as store:
        parts = [text.encode() for text in texts[2:]]
        for part in parts:
            store.put(part)
        items = json.dumps(texts[2:]).encode()
        assert store.put_longer(content_key(both), content_key(first), items, parts)
    put(state, "s", b"", "bbbb2222")
    execute(state, "UPDATE entry SET content = ? WHERE id = 'bbbb2222'", content_key(both))
    found = held(state)
    for most in range(0, sum(each.packed_bytes for each in found), 50):
        gone = {each.key for each in gc.plan(found, GcRules(max_bytes=most), NOW)}
        assert all(each.key in gone or gone.isdisjoint(each.parts) for each in found)
