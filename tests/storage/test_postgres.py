"""Sessions on a real PostgreSQL server: the views of files, whatever happens to the server."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pytest
from commands import run
from conversations import EAGER, no_fallback, reading
from postgres_server import Server, counted_round_trips, running, wait_for

from hippocampus import Hippocampus, RecallError, StoreError
from hippocampus.errors import HippocampusError
from hippocampus.policy import Policy
from hippocampus.replay.readers import read_file
from hippocampus.session.session import Session
from hippocampus.storage.database import ConflictError
from hippocampus.storage.deadline import bounded
from hippocampus.storage.ledger import QUIET_TURNS
from hippocampus.storage.postgres import connections, schema
from hippocampus.storage.session_costs import savings
from hippocampus.storage.state import state_of

RECORDINGS = sorted((Path(__file__).parents[2] / "examples" / "transcripts").glob("*.json"))


@pytest.fixture
def tenant(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("hippocampus.storage.postgres.Connections.patience_seconds", 60.0)
    return uuid.uuid4().hex


@pytest.fixture(scope="module")
def fragile() -> Iterator[Server]:
    """A server that may be killed, and is started again."""
    with running() as server:
        yield server


@contextlib.contextmanager
def opened(
    state: str | Path, tenant: str, deadline_seconds: float = 60.0, policy: str | Policy = EAGER
) -> Iterator[Hippocampus]:
    """A memory that waits for a server on a busy machine."""
    with Hippocampus(
        state, policy=policy, tenant=tenant, deadline_seconds=deadline_seconds
    ) as memory:
        yield memory


@contextlib.contextmanager
def two_workers(address: str, tenant: str) -> Iterator[list[Session]]:
    """One session, opened by two memories."""
    with contextlib.ExitStack() as stack:
        memories = [stack.enter_context(opened(address, tenant)) for _ in range(2)]
        yield [stack.enter_context(memory.session("s")) for memory in memories]


def test_a_command_that_reads_a_whole_state_waits_for_a_busy_server(
    tmp_path: Path, postgres: Server, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    with opened(postgres.address, tenant) as memory, memory.session("s") as session:
        session(reading(2))
    monkeypatch.setattr(connections.Connections, "patience_seconds", 0.2)
    with psycopg.connect(postgres.address) as busy:
        busy.execute("LOCK TABLE hippocampus.content IN ACCESS EXCLUSIVE MODE")
        timer = threading.Timer(0.8, busy.rollback)
        timer.start()
        named = {"HIPPOCAMPUS_TENANT": tenant}
        listed = run("store", "ls", postgres.address, cwd=tmp_path, env=named)
        timer.join()
    assert listed.returncode == 0, listed.stderr


@contextlib.contextmanager
def hurried(session: Session, deadline_seconds: float) -> Iterator[None]:
    """Give a session another deadline in a block."""
    run = session._run
    patient = run._resources
    run._resources = dataclasses.replace(patient, deadline_seconds=deadline_seconds)
    yield
    run._resources = patient


def lists_of(path: Path) -> list[list[dict[str, Any]]]:
    """Return the message list of each call in a recording."""
    [recording] = read_file(path)
    messages = recording.messages
    ends = [at for at, each in enumerate(messages) if each.get("role") == "assistant"]
    return [messages[:end] for end in (*ends, len(messages)) if end]


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.slow] * (path.stem != "json-rename"))
        for path in RECORDINGS
    ],
)
@pytest.mark.parametrize(
    "workers",
    [
        "two in runs",
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in ("two in turn", "one stays", "opened anew")
        ),
    ],
)
def test_the_views_and_sums_are_those_over_files(
    tmp_path: Path, postgres: Server, tenant: str, path: Path, workers: str
) -> None:
    with contextlib.ExitStack() as closing:
        files, one, other = (
            closing.enter_context(opened(state, tenant, policy="default"))
            for state in (tmp_path, postgres.address, postgres.address)
        )
        closing.enter_context(no_fallback())
        oracle = closing.enter_context(files.session("s"))
        open_ones = [closing.enter_context(memory.session("s")) for memory in (one, other)]
        for call, items in enumerate(lists_of(path)):
            turns = {"two in turn": 1, "two in runs": QUIET_TURNS + 2}.get(workers, 1_000)
            session = open_ones[call // turns % 2]
            if workers == "opened anew":
                session = closing.enter_context(one.session("s"))
            assert json.dumps(session(items)) == json.dumps(oracle(items))
        for figure in ("raw_cost", "sent_cost", "sent_tokens"):
            assert session.status()[figure] == oracle.status()[figure]
        for memory in (files, one):
            with memory._resources.state.reading() as db:
                assert [row["calls"] for row in savings(db)] == [call + 1]
        assert session.report.decisions() == oracle.report.decisions()
        for record in oracle.report.records():
            assert session.entries.content(record.entry.id) == oracle.entries.content(
                record.entry.id
            )


def test_calls_that_sent_the_raw_list_are_counted_on_a_server_too(
    postgres: Server, tenant: str
) -> None:
    with opened(postgres.address, tenant) as memory, memory.session("s") as session:
        assert session(5) == 5  # type: ignore[arg-type, comparison-overlap]
        session(reading(2))
        with memory._resources.state.reading() as db:
            [row] = savings(db)
    assert (row["calls"], row["failures"], row["raw"]) == (1, 1, 1)


def test_a_turn_takes_two_round_trips_and_one_where_no_other_worker_has_come_for_some_turns(
    postgres: Server, tenant: str
) -> None:
    with (
        counted_round_trips(postgres.address) as (address, trips),
        opened(address, tenant) as memory,
        memory.session("s") as session,
        no_fallback(),
    ):
        items = reading(9)
        session(items[:1])  # it opens the session, and settles what stands before its first words
        taken = []
        for end in range(2, len(items) + 1):
            before = len(trips)
            session(items[:end])
            taken.append(len(trips) - before)
        assert taken == [2] * (QUIET_TURNS - 1) + [1] * (len(taken) - QUIET_TURNS + 1)
        assert session.report.records()


def test_a_list_that_is_sent_again_takes_one_round_trip(postgres: Server, tenant: str) -> None:
    with (
        counted_round_trips(postgres.address) as (address, trips),
        opened(address, tenant) as memory,
        memory.session("s") as session,
        no_fallback(),
    ):
        items = reading(9)
        for end in range(1, len(items) + 1):
            view = session(items[:end])
        for _ in range(QUIET_TURNS + 2):
            before = len(trips)
            assert session(items) == view
            assert len(trips) - before == 1


def test_a_turn_takes_three_round_trips_where_two_workers_take_turns(
    postgres: Server, tenant: str
) -> None:
    items = reading(9)
    with (
        counted_round_trips(postgres.address) as (address, trips),
        two_workers(address, tenant) as workers,
        no_fallback(),
    ):
        taken = []
        for end in range(1, len(items) + 1):
            before = len(trips)
            workers[end % 2](items[:end])
            taken.append(len(trips) - before)
        assert max(taken[4:]) <= 3


def test_a_turn_that_did_not_ask_is_computed_again_after_one_of_another_worker(
    postgres: Server, tenant: str, tmp_path: Path
) -> None:
    items = reading(12)
    with (
        two_workers(postgres.address, tenant) as (first, second),
        opened(tmp_path, tenant) as files,
        files.session("s") as oracle,
        no_fallback(),
    ):
        for end in range(1, 12, 2):
            assert first(items[:end]) == oracle(items[:end])
        for end in (13, 15):
            assert second(items[:end]) == oracle(items[:end])
        assert first(items[:15]) == oracle(items[:15])  # a retry that moves to another worker
        for end in (17, 18):
            assert first(items[:end]) == oracle(items[:end])
        second.state("a word of another worker")
        oracle.state("a word of another worker")
        for end in range(19, len(items) + 1):
            assert first(items[:end]) == oracle(items[:end])
        assert first.report.decisions() == oracle.report.decisions()
        assert first.status()["sent_cost"] == oracle.status()["sent_cost"]
        lines = map(json.loads, first._resources.state.exported("s").splitlines())
        assert [line["at"] for line in lines if line["type"] == "message"] == list(
            range(len(items))
        )


def test_a_session_is_the_newest_only_where_the_server_has_no_later_turn(
    postgres: Server, tenant: str
) -> None:
    """A proxy closes one that is the newest with its own list, which would cut a later one."""
    items = reading(12)
    with two_workers(postgres.address, tenant) as (first, second), no_fallback():
        for end in range(1, QUIET_TURNS + 3):
            first(items[:end])
        assert first.report.is_newest()
        second(items)
        assert not first.report.is_newest()
        assert not first.report.is_newest()
        assert second.report.is_newest()


@pytest.mark.parametrize("is_new", [False, True])
def test_a_frozen_server_delays_a_call_by_the_deadline(
    postgres: Server, tenant: str, monkeypatch: pytest.MonkeyPatch, *, is_new: bool
) -> None:
    """Processes that were stopped keep their connections open, and their socket accepts more."""
    monkeypatch.setattr("hippocampus.storage.postgres.connections.RETRY_SECONDS", 0.5)
    monkeypatch.setattr("hippocampus.storage.postgres.connections.START_SECONDS", 0.5)
    items = reading(4)
    with contextlib.ExitStack() as closing:
        first = closing.enter_context(opened(postgres.address, tenant))
        session = first.session("s")
        session(items[:3])
        with postgres.frozen():
            if is_new:
                late = closing.enter_context(opened(postgres.address, tenant, 0.25))
                session = late.session("s")
            session._resources = dataclasses.replace(session._resources, deadline_seconds=0.25)
            session._run._resources = session._resources
            # Without a deadline, these calls have no end.
            assert session(items[:5]) == items[:5]
            assert session(items[:7]) == items[:7]
            assert session.status()["raw"] == 2
        session._run._resources = dataclasses.replace(session._resources, deadline_seconds=60.0)
        wait_for(lambda: session(items) != items)
        assert session.report.problem == ""


def test_a_frozen_server_delays_a_recall_by_the_deadline_and_answers_it(
    postgres: Server, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A statement outside of a turn is waited for with patience: here without an end."""
    monkeypatch.setattr("hippocampus.storage.postgres.connections.RETRY_SECONDS", 0.0)
    with opened(postgres.address, tenant) as memory:
        session = memory.session("s")
        session(reading(4))
        known = session.report.records()[0].entry.id
        resources = dataclasses.replace(session._resources, deadline_seconds=0.25)
        session._recalls._resources = session._run._resources = resources
        assert "well" in session.answer({"query": "well"})
        with postgres.frozen():
            for arguments in ({"entry_id": known}, {"entry_id": "aaaaaaaa"}, {"query": "well"}):
                assert "Do not retry in this step" in session.answer(arguments)
                with pytest.raises(RecallError, match="PostgreSQL"):
                    session.recall(**arguments)
            session.release()


def test_a_server_that_is_killed_loses_nothing_of_what_was_sent(
    fragile: Server, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hippocampus.storage.postgres.connections.RETRY_SECONDS", 0.2)
    items = reading(6)
    with opened(fragile.address, tenant) as memory, memory.session("s") as session:
        session(items[:7])
        before = {
            each.entry.id: session.entries.content(each.entry.id)
            for each in session.report.records()
        }
        assert before
        fragile.kill()
        assert session(items[:9]) == items[:9]
        assert session(items[:9]) == items[:9]
        assert session.status()["raw"] == 2
        fragile.start()
        wait_for(lambda: session(items) != items)
        assert {entry_id: session.entries.content(entry_id) for entry_id in before} == before


def test_connections_that_are_cut_cost_one_raw_list(
    postgres: Server, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hippocampus.storage.postgres.connections.RETRY_SECONDS", 0.0)
    items = reading(4)
    with opened(postgres.address, tenant) as memory, memory.session("s") as session:
        session(items[:5])
        postgres.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'hippocampus'"
        )
        assert session(items[:7]) == items[:7]
        wait_for(lambda: session(items) != items)


def known_contents(session: Session) -> dict[str, str | None]:
    return {
        each.entry.id: session.entries.content(each.entry.id) for each in session.report.records()
    }


def test_a_server_that_had_no_time_left_is_asked_by_the_next_call(
    postgres: Server, tenant: str
) -> None:
    """As after a bucket that took most of a deadline; other tenants are served over the same connections."""
    with contextlib.closing(state_of(postgres.address, tenant)) as state:
        db = state.database()
        assert db.value("SELECT 1") == 1
        with bounded(0.0), pytest.raises(StoreError):
            db.value("SELECT pg_sleep(0.1)")
        assert db.value("SELECT 2") == 2


@pytest.mark.parametrize(
    ("trip", "is_quiet"), [(1, False), (2, False), (3, False), (4, False), (1, True), (2, True)]
)
def test_a_connection_that_is_cut_at_any_round_trip_loses_nothing(
    postgres: Server,
    tenant: str,
    monkeypatch: pytest.MonkeyPatch,
    trip: int,
    *,
    is_quiet: bool,
) -> None:
    """The answer is lost, not the statement: a commit may have been written or not."""
    monkeypatch.setattr("hippocampus.storage.postgres.connections.RETRY_SECONDS", 0.0)
    items, cut = reading(6), set[int]()
    with (
        counted_round_trips(postgres.address, cut=cut) as (address, trips),
        opened(address, tenant) as memory,
        memory.session("s") as session,
    ):
        for end in range(1 if is_quiet else 5, 6):
            session(items[:end])
        before = known_contents(session)
        assert before
        cut.add(len(trips) + trip)
        assert len(session(items[:7])) == len(items[:7])
        wait_for(lambda: session(items) != items)
        contents = known_contents(session)
        assert before.items() <= contents.items()
        lines = map(json.loads, memory._resources.state.exported("s").splitlines())
        places = [each["at"] for each in lines if each["type"] == "message"]
    assert places == list(range(len(items)))


def test_a_slow_network_changes_no_view_and_past_the_deadline_lists_go_as_they_are(
    tmp_path: Path, postgres: Server, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hippocampus.storage.postgres.connections.RETRY_SECONDS", 0.0)
    items = reading(6)
    with (
        counted_round_trips(postgres.address, seconds=0.05) as (address, _),
        opened(address, tenant) as memory,
        opened(tmp_path, tenant) as files,
        memory.session("s") as session,
        files.session("s") as oracle,
    ):
        for end in range(1, 8):
            assert session(items[:end]) == oracle(items[:end])
        with hurried(session, 0.04):
            assert session(items[:9]) == items[:9]
            assert session.status()["raw"] == 1
        wait_for(lambda: session(items) != items)


def test_a_turn_that_is_computed_again_has_one_deadline(
    postgres: Server, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hippocampus.storage.postgres.connections.RETRY_SECONDS", 0.0)
    items = reading(8)
    with (
        counted_round_trips(postgres.address, seconds=0.05) as (address, _),
        opened(address, tenant) as memory,
        memory.session("s") as session,
    ):
        for end in range(1, QUIET_TURNS + 4):
            session(items[:end])
        with opened(postgres.address, tenant) as other, other.session("s") as second:
            second(items[:11])
        with hurried(session, 0.17):  # four round trips take longer
            assert session(items[:13]) == items[:13]
        wait_for(lambda: session(items) != items)


def test_a_full_disk_costs_raw_lists_and_nothing_that_was_sent(
    tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hippocampus.storage.postgres.connections.RETRY_SECONDS", 0.0)
    items = reading(40)
    with (
        running() as server,
        server.small_disk(32) as disk,
        opened(server.address, tenant) as memory,
        memory.session("s") as session,
    ):
        session(items[:9])
        before = known_contents(session)
        assert before
        filler = disk / "filler"
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while file.write(bytes(1 << 16)):
                pass
        ends = iter(range(11, len(items), 2))
        wait_for(lambda: session(items[: next(ends)]) and session.status()["raw"])
        assert "No space left" in session.report.problem
        assert before.items() <= known_contents(session).items()
        filler.unlink()
        wait_for(lambda: session(items) != items)
        assert before.items() <= known_contents(session).items()


@pytest.mark.parametrize("is_new", [False, True])
def test_a_server_without_the_last_commits_goes_on_from_the_list(
    fragile: Server,
    tenant: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    *,
    is_new: bool,
) -> None:
    """The host has the whole list: what the server has lost is read and stored again."""
    monkeypatch.setattr("hippocampus.storage.postgres.connections.RETRY_SECONDS", 0.0)
    items = reading(9)
    with contextlib.ExitStack() as closing:
        memory = closing.enter_context(opened(fragile.address, tenant))
        session = closing.enter_context(memory.session("s"))
        session(items[:7])
        early = known_contents(session)
        with fragile.failed_over():
            wait_for(lambda: session(items[:13]) != items[:13])
            late = known_contents(session)
            assert early.keys() < late.keys()
            state = session.state("deploying to staging")
            young = closing.enter_context(memory.session("begun since"))
            wait_for(lambda: young(items) != items)
        if is_new:
            other = closing.enter_context(opened(fragile.address, tenant))
            session = closing.enter_context(other.session("s"))
        wait_for(lambda: session(items) != items)
        assert session.report.problem == ""
        found = known_contents(session)
        assert early.items() <= found.items()
        assert None not in found.values()
        why = "never existed" if is_new else "the server has lost its last changes"
        for entry_id in {state, *late.keys()} - found.keys():
            with pytest.raises(RecallError, match=why):
                session.recall(entry_id)
        assert is_new or "has lost its last changes" in caplog.text
        wait_for(lambda: young(items) != items)  # with connections that the server has not ended
        lines = map(json.loads, memory._resources.state.exported("s").splitlines())
        places = [line["at"] for line in lines if line["type"] == "message"]
        assert sorted({*places}) == list(range(len(items)))
        assert "begun since" in memory.unconsolidated()


@pytest.mark.parametrize("is_read", [False, True], ids=["in one trip", "with a read between"])
def test_a_statement_that_fails_takes_all_of_its_transaction_back(
    postgres: Server, tenant: str, is_read: bool
) -> None:
    with contextlib.closing(state_of(postgres.address, tenant)) as state:
        db = state.database()

        def fail() -> None:
            with db.transaction():
                db.set_meta("first", "1")
                if is_read:
                    assert db.meta("first") == "1"
                db.run("INSERT INTO no_table (key) VALUES (?)", ("second",))
                db.set_meta("third", "3")

        with pytest.raises(StoreError):
            fail()
        assert db.rows("SELECT key FROM meta WHERE key IN ('first', 'third')") == []
        with db.transaction():
            db.set_meta("first", "1")
            assert db.meta("first") == "1"
        assert db.meta("first") == "1"


def test_a_row_that_another_holds_delays_a_call_by_the_deadline(
    postgres: Server, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    monkeypatch.setattr("hippocampus.storage.postgres.connections.RETRY_SECONDS", 0.0)
    items = reading(4)
    with opened(postgres.address, tenant) as memory, memory.session("s") as session:
        session(items[:5])
        with psycopg.connect(postgres.address) as other:
            other.execute("SELECT set_config('hippocampus.tenant', %s, false)", (tenant,))
            other.execute("UPDATE hippocampus.session SET agent = agent")
            with hurried(session, 0.5):
                assert session(items[:7]) == items[:7]
                assert session.status()["raw"] == 1
        wait_for(lambda: session(items) != items)


def test_a_server_that_refuses_is_no_error_unless_strict(tenant: str) -> None:
    nowhere = "postgresql://hippocampus:secret@127.0.0.1:9/hippocampus"
    items = reading(2)
    with Hippocampus(nowhere, policy=EAGER, tenant=tenant) as memory:
        with memory.session("s") as session:
            assert session(items) == items
            assert "127.0.0.1" in session.report.problem
            assert "secret" not in session.report.problem
        with pytest.raises(StoreError, match=r"PostgreSQL 127\.0\.0\.1"):
            memory.facts.memories()
    with pytest.raises(StoreError, match=r"PostgreSQL 127\.0\.0\.1"):
        Hippocampus(nowhere, tenant=tenant, strict=True)


def test_two_workers_that_commit_at_once_wait_for_each_other(postgres: Server, tenant: str) -> None:
    """The session's row is locked: whoever comes second reads what the first has written."""
    items = reading(8)
    with two_workers(postgres.address, tenant) as (first, second), ThreadPoolExecutor(2) as threads:
        for end in range(3, len(items) + 1, 2):
            taken = [threads.submit(each, items[:end]) for each in (first, second)]
            views = [each.result() for each in taken]
            assert len(views[0]) == len(views[1]) == end
        assert first.status()["raw"] == second.status()["raw"] == 0
        assert first(items) == second(items) != items
        ids = [each.entry.id for each in first.report.records()]
        assert len(ids) == len(set(ids))
        archived = first._resources.state.exported("s")
        lines = [json.loads(line) for line in archived.splitlines()]
        assert [each["at"] for each in lines if each["type"] == "message"] == list(
            range(len(items))
        )


def test_workers_that_take_turns_lose_no_connection(
    postgres: Server, tenant: str, caplog: pytest.LogCaptureFixture
) -> None:
    items = reading(8)
    with two_workers(postgres.address, tenant) as (first, second):
        for end in range(3, len(items) + 1, 4):
            first(items[:end])
            second(items[: end + 2])
            entry = next(iter(first.entries))
            for each in (first, second, second, first):
                each.recall(entry.id, head=1)
                each.state(f"step {end}")
    assert [each.message for each in caplog.records if each.name == "psycopg.pool"] == []


def test_a_worker_that_commits_second_keeps_its_connection(
    postgres: Server, tenant: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Refused at the end of its transaction, or at a read before it, where later statements are lost."""
    with contextlib.closing(state_of(postgres.address, tenant)) as state:
        db = state.database()
        state.session("s").close()
        own = "SELECT pg_backend_pid()"
        before = db.value(own)

        def refused(*, is_read: bool) -> None:
            with db.transaction():
                db.run("SELECT expect_changes(?, ?)", (db.value("SELECT number FROM session"), 7))
                if is_read:
                    db.value("SELECT 'read before'")
                db.run("SELECT 'prepared after'")

        for is_read in (False, True, False, True):
            with pytest.raises(ConflictError):
                refused(is_read=is_read)
            assert db.value("SELECT 'prepared after'") == "prepared after"
            assert db.value("SELECT 'read before'") == "read before"
            assert db.value(own) == before
    assert [each.message for each in caplog.records if each.name == "psycopg.pool"] == []


# Tenants


def test_a_tenant_sees_nothing_of_another(postgres: Server, tenant: str) -> None:
    other = uuid.uuid4().hex
    with (
        opened(postgres.address, tenant) as own,
        opened(postgres.address, other) as foreign,
        own.session("s", agent="ann") as session,
    ):
        session(reading(5))
        known = [each.entry.id for each in session.report.records()]
        assert known
        with foreign.session("s", agent="ann") as spy:
            assert not [*spy.entries]
            for entry_id in known:
                with pytest.raises(RecallError, match="never existed"):
                    spy.recall(entry_id)
                with pytest.raises(RecallError):
                    spy.entries.adopt(entry_id)
            with pytest.raises(RecallError):
                spy.recall(query="lines")
        state = foreign._resources.state
        assert state.entry_of(known[0]) is None
        assert [each.session for each in state.earlier("", "ann", 9)] == ["s"]
        assert state.earlier("", "ann", 9)[0].records == []
        with state.contents() as contents:
            for record in session.report.records():
                assert contents.get(record.content) is None
                assert not contents.delete(record.content)
        with foreign.session("s") as spy:  # the same words, stored twice
            spy(reading(5))
            assert [each.entry.id for each in spy.report.records()] == known
        foreign._store.delete(session.report.records()[0].content)
        assert session.entries.content(known[0])


def test_a_later_script_of_files_brings_a_server_its_tables_with_their_tenants(
    postgres: Server, tenant: str
) -> None:
    import psycopg

    script = """
    CREATE TABLE later (number INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT;
    ALTER TABLE later ADD COLUMN more REAL NOT NULL DEFAULT 0
    """
    with opened(postgres.address, tenant), psycopg.connect(postgres.address) as db:
        db.execute("SET LOCAL search_path = hippocampus")
        db.execute(schema.later(script).encode())
        db.execute("SET LOCAL hippocampus.tenant = 'one'")
        db.execute("INSERT INTO later (note) VALUES ('x')")
        assert db.execute("SELECT tenant, note, more FROM later").fetchall() == [("one", "x", 0.0)]
        db.execute("SET LOCAL hippocampus.tenant = 'another'")
        assert db.execute("SELECT * FROM later").fetchall() == []
        db.rollback()


def test_sql_without_a_tenant_finds_no_row_and_writes_none(postgres: Server, tenant: str) -> None:
    """In every table of the schema, so that one which is added without a policy fails here."""
    import psycopg
    from psycopg import sql

    with opened(postgres.address, tenant) as memory:
        with memory.session("s") as session:
            session(reading(3))
        memory.facts.remember("Ann likes green tea")
    found = postgres.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'hippocampus'")
    tables = {name for (name,) in found} - {"migration"}
    assert {"session", "content", "memory", "memory_word"} < tables
    filled = set()
    with psycopg.connect(postgres.address, autocommit=True) as db:
        for name in tables:
            table = sql.Identifier("hippocampus", name)
            read, delete, update, insert = (
                sql.SQL(each).format(table=table)
                for each in (
                    "SELECT 1 FROM {table}",
                    "DELETE FROM {table}",
                    "UPDATE {table} SET tenant = tenant",
                    "INSERT INTO {table} (tenant) VALUES (%s)",
                )
            )
            filled |= {name} if postgres.execute(f"SELECT 1 FROM hippocampus.{name}") else set()
            for named in ("RESET hippocampus.tenant", "SET hippocampus.tenant = ''"):
                db.execute(named.encode())
                assert db.execute(read).fetchall() == []
                assert db.execute(delete).rowcount == 0
                assert db.execute(update).rowcount == 0
            db.execute("SET hippocampus.tenant = 'another'")
            assert db.execute(read).fetchall() == []
            with pytest.raises(psycopg.Error, match=r"row-level security|null value"):
                db.execute(insert, (tenant,))
    assert {"session", "entry", "call", "conversation", "content", "memory"} <= filled


def test_no_door_of_a_tenant_opens_to_another(
    postgres: Server,
    tenant: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Ids of the other tenant, and ids that are near to them, through every door."""
    caplog.set_level(logging.DEBUG)
    secret, random = "Quetzalcoatl", Random(tenant)
    items = json.loads(json.dumps(reading(5)).replace("all is well", secret))
    assert secret in str(items)
    with opened(postgres.address, f"{tenant}-a") as owner:
        session = owner.session(f"{secret}-session", agent="ann")
        session(items)
        ids = [each.entry.id for each in session.report.records()]
        keys = [each.content for each in session.report.records()]
        owner.facts.store(f"{secret} is the word of the day")
        [fact] = owner.facts.memories()
        session.release()
    assert secret not in caplog.text
    letters = "abcdefghijklmnopqrstuvwxyz234567"
    for entry_id in list(ids):
        for _ in range(20):
            at = random.randrange(len(entry_id))
            ids.append(entry_id[:at] + random.choice(letters) + entry_id[at + 1 :])
    seen: list[Any] = []
    with opened(postgres.address, f"{tenant}-b") as memory:
        spy = memory.session("s", agent="ann")
        seen.append(spy([{"role": "user", "content": f"Open {' '.join(ids)}"}]))
        arguments = [{"entry_id": each} for each in ids]
        arguments += [{"entry_id": ids[0], "pattern": "."}, {"query": "lines"}, {"pattern": "."}]
        seen += [spy.answer(each) for each in arguments]
        assert not any(memory._resources.state.entry_of(each) for each in ids)
        with memory._resources.state.contents() as contents:
            seen += [contents.get(key) for key in keys]
        seen += [memory.facts.recall("word of the day"), memory.facts.memories()]
        with contextlib.suppress(HippocampusError):
            seen.append(memory.facts.get(fact.id))
        seen += [memory._resources.state.exported(f"{secret}-session"), spy.status()]
        spy.release()
    env = {"HIPPOCAMPUS_STATE": postgres.address, "HIPPOCAMPUS_TENANT": f"{tenant}-b"}
    commands: list[tuple[object, ...]] = [
        ("replay", "--json", "--report", "page.html"),
        ("explain", "--turn", 0),
        ("status", postgres.address),
        ("doctor", postgres.address),
        ("memory", "list"),
        ("memory", "recall", "word"),
        ("store", "copy", postgres.address, "copy"),
        ("consolidate",),
        ("forget", postgres.address, "word of the day"),
    ]
    for command in commands:
        done = run(*command, cwd=tmp_path, env=env)
        assert "Traceback" not in done.stderr
        seen += [done.stdout, done.stderr]
    seen += [each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()]
    assert not [each for each in seen if secret in str(each)]
    assert secret not in caplog.text


def test_the_store_of_a_directory_has_no_payload_of_a_tenant(
    postgres: Server, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPPOCAMPUS_STORE", "storage.memory_store:nothing_here")
    with opened(postgres.address, tenant) as memory, memory.session("s") as session:
        session(reading(3))
        keys = {record.content for record in session.report.records()}
        with memory._resources.state.contents() as contents:
            assert keys <= {payload.key for payload in contents.stored()}


def test_a_role_that_passes_row_level_security_is_refused(postgres: Server, tenant: str) -> None:
    with pytest.raises(StoreError, match="without SUPERUSER and BYPASSRLS"):
        Hippocampus(postgres.superuser, tenant=tenant, strict=True)
    with pytest.raises(StoreError, match="needs the name of a tenant"):
        Hippocampus(postgres.address)


@pytest.mark.parametrize(("off", "on"), [("NO FORCE", "FORCE"), ("DISABLE", "ENABLE")])
def test_tables_without_row_level_security_are_refused(
    postgres: Server, tenant: str, off: str, on: str
) -> None:
    """As a restore leaves them that was cut, or an operator who took the hint of `pg_dump`."""
    with opened(postgres.address, tenant) as memory:
        assert memory.facts.memories() == []
    change = "ALTER TABLE hippocampus.memory {} ROW LEVEL SECURITY".format
    postgres.execute(change(off))
    try:
        with pytest.raises(StoreError, match="row-level security is off for memory"):
            Hippocampus(postgres.address, tenant=tenant, strict=True)
    finally:
        postgres.execute(change(on))
    Hippocampus(postgres.address, tenant=tenant, strict=True).close()


@pytest.mark.slow
def test_who_waits_for_a_server_that_restarts_is_answered_when_it_is_back(
    fragile: Server, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "RETRY_SECONDS", 0.0)
    with contextlib.closing(state_of(fragile.address, tenant)) as state:
        assert state.unconsolidated() == []
        fragile.kill()

        def has_no_connection_left() -> bool:
            with bounded(0.5), pytest.raises(StoreError) as failure:
                state.unconsolidated()
            return "couldn't get a connection" in str(failure.value)

        wait_for(has_no_connection_left, 20.0)
        with ThreadPoolExecutor() as pool:
            waiting = pool.submit(state.unconsolidated)
            time.sleep(4.0)
            fragile.start()
            assert waiting.result() == []
