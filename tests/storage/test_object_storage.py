"""Large payloads in a real S3 server: put before the row, read by any worker, and no wait for it."""

from __future__ import annotations

import base64
import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("obstore")
pytest.importorskip("moto.server")
from bucket_server import Bucket
from conversations import EAGER, chat_step, managed
from postgres_server import Server

from hippocampus import Hippocampus, StoreError
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.copying import copied
from hippocampus.storage.deadline import bounded
from hippocampus.storage.ledger import ModelCall, TurnRows
from hippocampus.storage.object_storage import MIN_BYTES, Objects
from hippocampus.storage.state import DirectoryState, state_of
from hippocampus.storage.state_dir import StateDir
from hippocampus.storage.verify import verify

BUCKET = "s3://payloads/fleet"
NOISE = "".join(f"{number * 2654435761 % 2**32:08x} row-{number}\n" for number in range(20_000))
SMALL = b"a short text\n" * 9
LARGE = [{"role": "user", "content": "Read it."}, *chat_step("c1", "read", {}, NOISE)]


@contextlib.contextmanager
def contents(postgres: Server, tenant: str, payloads: str = BUCKET) -> Iterator[ContentStore]:
    state = state_of(postgres.address, tenant, payloads)
    with contextlib.closing(state), state.contents() as store:
        state.open(30.0)
        yield store


def test_a_large_payload_is_an_object_that_any_worker_reads(
    postgres: Server, bucket: Bucket
) -> None:
    large = NOISE.encode()
    with contents(postgres, "objects") as store, contents(postgres, "objects") as other:
        keys = [store.put(each) for each in (large, SMALL, large)]
        assert [other.get(key) for key in keys] == [large, SMALL, large]
        [(name, packed)] = bucket.objects().items()
        assert name.startswith("fleet/")
        assert f"/{keys[0]}/" in name
        assert len(packed) >= MIN_BYTES
        sizes = {each.key: each.packed_bytes for each in other.stored()}
        assert sizes[keys[0]] == len(packed) > sizes[keys[1]] > 0  # by these `gc` keeps a limit
        assert other.delete(keys[0])
        assert not bucket.objects()
        assert store.get(keys[0]) is None


def test_a_payload_that_is_put_while_it_is_deleted_stays(
    postgres: Server, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    large, delete = NOISE.encode(), Objects.delete
    with contents(postgres, "race") as store, contents(postgres, "race") as other:
        key = store.put(large)

        def slow(*given: Any) -> None:
            other.put(large)
            delete(*given)

        monkeypatch.setattr(Objects, "delete", slow)
        assert store.delete(key)
        assert store.get(key) == large


def test_what_is_known_and_deleted_before_its_row_is_written_is_not_acknowledged(
    postgres: Server, bucket: Bucket
) -> None:
    large = NOISE.encode()
    state = state_of(postgres.address, "known", BUCKET)
    with (
        contextlib.closing(state),
        contextlib.closing(state.database()) as db,
        state.contents() as store,
    ):
        state.open(30.0)
        key, payloads = store.put(large), state.payload_rows()
        rows = payloads.rows_of([large])
        assert len(bucket.objects()) == 1  # it was not put twice
        assert store.delete(key)
        with pytest.raises(StoreError, match="put it again"), db.transaction():
            payloads.write(db, rows)
        assert not list(store.stored())
        store.put(large)
        assert store.get(key) == large


def slow_request(monkeypatch: pytest.MonkeyPatch, kind: str, seconds: float) -> None:
    """Let each request of a kind reach the bucket so late."""
    import obstore

    request = getattr(obstore, kind)

    def slow(*given: Any) -> Any:
        time.sleep(seconds)
        return request(*given)

    monkeypatch.setattr(obstore, kind, slow)


def test_a_turn_puts_its_large_payloads_at_once_and_a_late_bucket_is_no_late_server(
    postgres: Server, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = state_of(postgres.address, "at-once", BUCKET)
    with contextlib.closing(state), state.contents() as store:
        state.open(30.0)
        with contextlib.closing(state.session("s")) as ledger:
            slow_request(monkeypatch, "put", 0.8)

            def commit(seconds: float) -> None:
                for number in range(8):
                    ledger.put(store, f"{number}\n{NOISE}".encode())
                with bounded(seconds):
                    ledger.commit(TurnRows(ModelCall(1, 1, 1, 1)))

            with pytest.raises(StoreError, match=r"s3://.*no answer within"):
                commit(0.3)
            assert not list(store.stored())  # the server is asked at once
            commit(15.0)
        assert len({each.key for each in store.stored() if "/" not in each.key}) == 8


def test_a_deletion_that_arrives_late_removes_nothing_that_was_put_since(
    postgres: Server, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    import obstore

    large, delete, late = NOISE.encode(), obstore.delete, []
    with contents(postgres, "late") as store:
        key = store.put(large)
        monkeypatch.setattr(obstore, "delete", lambda *given: late.append(given) or 1 / 0)
        with pytest.raises(ZeroDivisionError):
            store.delete(key)
        store.put(large)
        delete(*late.pop())
        assert store.get(key) == large


def test_an_object_that_no_row_names_is_an_orphan(
    postgres: Server, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    with contents(postgres, "orphan") as store:
        key = store.put(NOISE.encode())
        with monkeypatch.context() as failing:
            failing.setattr(Objects, "delete", lambda *_: None)
            assert store.delete(key)
        [orphan] = store.stored()
        assert orphan.key.startswith(f"{key}/")
        assert store.get(key) is None
        assert store.get(orphan.key) == NOISE.encode()
        assert store.delete(orphan.key)
        assert not bucket.objects()


def test_an_object_that_is_gone_already_is_deleted(tmp_path: Path) -> None:
    objects = Objects(f"file://{tmp_path}")
    objects.put({"a": b"one"}, 9.0)
    for _ in range(2):
        objects.delete("a")
    assert not list(objects.list())


def test_objects_are_of_one_tenant_and_sealed_with_the_key(
    postgres: Server, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPPOCAMPUS_KEY", base64.b64encode(bytes(64)).decode())
    for tenant in ("sealed-a", "sealed-b"):
        with contents(postgres, tenant) as store:
            key = store.put(NOISE.encode())
            assert store.get(key) == NOISE.encode()
    sealed = list(bucket.objects().values())
    assert [each[:16] for each in sealed] == [b"hippocampus-siv1"] * 2


def test_without_the_setting_or_the_object_an_error_says_so(
    postgres: Server, bucket: Bucket
) -> None:
    with contents(postgres, "lost") as store:
        key = store.put(NOISE.encode())
        with contents(postgres, "lost", "") as other, pytest.raises(StoreError, match="PAYLOADS"):
            other.get(key)
        for name in bucket.objects():
            bucket.client.delete_object(Bucket="payloads", Key=name)
        with pytest.raises(StoreError, match=f"{key[:12]}.*damaged"):
            store.get(key)


def test_a_session_recalls_from_a_bucket_and_sends_its_list_where_that_is_gone(
    postgres: Server, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = LARGE
    given: dict[str, Any] = {"tenant": "bucket", "payloads": BUCKET, "policy": EAGER}
    with managed(postgres.address, deadline_seconds=30.0, **given) as session:
        view = session(items)
        [entry] = session.entries
        assert len(str(view)) < MIN_BYTES
    assert len(bucket.objects()) == 1
    with managed(postgres.address, deadline_seconds=1.0, **given) as session:
        assert session(items) == view
        assert session.entries.content(entry.id) == NOISE
    monkeypatch.setenv("AWS_ENDPOINT", "http://127.0.0.1:1")
    memory = Hippocampus(postgres.address, deadline_seconds=1.0, **given | {"tenant": "other"})
    with memory.session("t") as session:
        started = time.monotonic()
        assert session(items) == items
        assert time.monotonic() - started < 5.0
        assert session.status()["raw"] == 1
    memory.close()


def test_a_directory_has_its_payloads_itself(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="a directory has its payloads itself"):
        Hippocampus(tmp_path, payloads=BUCKET)


@pytest.mark.parametrize("address", ["s3:/bucket", "ftp://bucket", "bucket"])
def test_an_address_that_is_none_is_named(address: str, postgres: Server) -> None:
    with pytest.raises(StoreError, match=f"^{address}: "):
        Hippocampus(postgres.address, tenant="x", payloads=address)


def test_a_copy_without_the_bucket_ends_and_the_next_one_has_all(
    postgres: Server, bucket: Bucket, tmp_path: Path
) -> None:
    given: dict[str, Any] = {"tenant": "copied", "payloads": BUCKET, "policy": EAGER}
    with (
        Hippocampus(postgres.address, deadline_seconds=60.0, **given) as memory,
        memory.session("s") as session,
    ):
        session(LARGE)
    assert bucket.objects()
    target = DirectoryState(StateDir(tmp_path))
    with (
        contextlib.closing(state_of(postgres.address, "copied")) as without,
        pytest.raises(StoreError, match="HIPPOCAMPUS_PAYLOADS"),
    ):
        list(copied(without, target))
    with contextlib.closing(state_of(postgres.address, "copied", BUCKET)) as found:
        [done] = copied(found, target)
    assert (done.outcome, done.lost) == ("copied", ())
    assert verify(target) == []
