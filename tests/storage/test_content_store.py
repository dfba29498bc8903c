"""Content stores: one behaviour for each of them, and what only a disk can do."""

from __future__ import annotations

import contextlib
import json
import pickle
import random
import sqlite3
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import diskcache
import pytest
from hypothesis import given
from hypothesis import strategies as st
from storage.memory_store import MemoryStore

from hippocampus.entries.entry import content_key
from hippocampus.errors import StoreError
from hippocampus.storage.content_store import WITH_PARTS, ContentStore, DiskStore, _head
from hippocampus.storage.state import DirectoryState
from hippocampus.storage.state_dir import StateDir
from hippocampus.storage.verify import verify


@pytest.fixture(params=["disk", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ContentStore]:
    made = DiskStore(tmp_path / "contents") if request.param == "disk" else MemoryStore()
    yield made
    if isinstance(made, DiskStore):
        assert made.check() == []
        made.close()


@given(content=st.binary(max_size=200) | st.text().map(lambda t: t.encode("utf-8", "ignore")))
def test_what_is_put_comes_back_byte_for_byte(store: ContentStore, content: bytes) -> None:
    key = store.put(content)
    assert key == content_key(content)
    assert store.get(key) == content
    assert store.put(content) == key


def test_large_contents_come_back_too(store: ContentStore) -> None:
    import random

    content = random.Random(1).randbytes(100_000)
    assert store.get(store.put(content)) == content


def test_a_deleted_payload_is_gone(store: ContentStore) -> None:
    key = store.put(b"x")
    assert store.delete(key)
    assert store.get(key) is None
    assert not store.delete(key)


def test_an_unknown_key_is_nothing(store: ContentStore) -> None:
    assert store.get("0" * 64) is None
    assert list(store.stored()) == []


def test_what_is_stored_is_listed_by_key_with_its_last_put(store: ContentStore) -> None:
    before = time.time()
    keys = sorted(store.put(text) for text in (b"one", b"two", b"x" * 100_000))
    assert [each.key for each in store.stored()] == keys
    assert all(each.packed_bytes > 0 for each in store.stored())
    assert all(before - 1 <= each.put_at <= time.time() + 1 for each in store.stored())


def test_what_was_put_since_is_not_deleted(store: ContentStore) -> None:
    key = store.put(b"x")
    [first] = store.stored()
    assert not store.delete(key, first.put_at - 1)
    assert store.get(key) == b"x"
    assert store.delete(key, first.put_at)
    assert list(store.stored()) == []


def test_another_store_on_the_folder_reads_it(tmp_path: Path) -> None:
    one = DiskStore(tmp_path)
    key = one.put(b"shared")
    two = DiskStore(tmp_path)
    assert two.get(key) == b"shared"
    assert two.check() == []
    one.close()
    two.close()


def test_only_the_owner_may_read_the_folder(tmp_path: Path) -> None:
    with contextlib.closing(DiskStore(tmp_path / "contents")) as store:
        store.open()
    assert stat.S_IMODE((tmp_path / "contents").stat().st_mode) == 0o700


def test_nothing_is_ever_unpickled(tmp_path: Path) -> None:
    """A planted pickle is refused, not run (CVE-2025-69872)."""
    store = DiskStore(tmp_path)
    key = store.put(b"x")
    store.close()
    database = sqlite3.connect(tmp_path / "cache.db")
    database.execute("UPDATE Cache SET mode = 4, value = ?", (pickle.dumps(print, protocol=4),))
    database.commit()
    database.close()
    store = DiskStore(tmp_path)
    with pytest.raises(StoreError, match="did not write"):
        store.get(key)
    assert len(store.check()) == 1
    store.close()


def test_a_damaged_content_is_told_by_check(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    key = store.put(b"x" * 100)
    store._cache.set(key, b"not zstd")
    with pytest.raises(StoreError):
        store.get(key)
    assert len(store.check()) == 1
    store.close()


def test_a_removed_folder_is_no_place_to_put_things(tmp_path: Path) -> None:
    import shutil

    store = DiskStore(tmp_path / "contents")
    store.open()
    shutil.rmtree(tmp_path / "contents")
    with pytest.raises(StoreError):
        store.put(b"x")
    store.close()


@pytest.mark.parametrize("is_diskcache", [True, False])
def test_a_database_of_something_else_is_refused_and_stays_as_it_is(
    tmp_path: Path, is_diskcache: bool
) -> None:
    state = StateDir(tmp_path)
    path = state.contents / "cache.db"
    if is_diskcache:
        with diskcache.Cache(str(state.contents)) as cache:
            cache["key"] = "value"
    else:
        state.contents.mkdir()
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute("CREATE TABLE note (text)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="of another program, or of another checkout"):
        DiskStore(state.contents).put(b"words")
    [found] = verify(DirectoryState(state))
    assert "hippocampus store export" in found.text
    assert found.mend is None
    assert path.read_bytes() == before


def test_a_payload_that_repeats_others_is_small_and_comes_back(tmp_path: Path) -> None:
    results = [random.Random(number).randbytes(9_000).hex() for number in range(3)]
    whole = json.dumps([{"role": "tool", "content": each} for each in results]).encode()
    with contextlib.closing(DiskStore(tmp_path)) as store:
        texts = [each.encode() for each in results]
        parts = [store.put(each) for each in texts]
        key = store.put(whole, [*texts, b"never stored"])
        [found] = [each for each in store.stored() if each.key == key]
        assert found.parts == tuple(parts)
        assert found.packed_bytes < 500
        assert store.get(key) == whole
        store.delete(parts[1])
        with pytest.raises(StoreError, match="damaged"):
            store.get(key)
        assert store.put(whole) == key  # again, without its parts: it is stored whole, and stays so
        assert store.put(whole, texts) == key
        assert store.get(key) == whole


def test_a_list_that_grows_is_stored_by_what_is_new(tmp_path: Path) -> None:
    texts = [random.Random(number).randbytes(3_000).hex() for number in range(6)]
    lists = [json.dumps(texts[:end]).encode() for end in (2, 4, 6)]
    news = [json.dumps(texts[end - 2 : end]).encode() for end in (4, 6)]
    keys = list(map(content_key, lists))
    with contextlib.closing(DiskStore(tmp_path)) as store:
        parts = [store.put(text.encode()) for text in texts]
        assert not store.put_longer(keys[1], keys[0], news[0])  # nothing is stored to go on from
        store.put(lists[0], [text.encode() for text in texts[:2]])
        for at, items in enumerate(news, 1):
            own = [text.encode() for text in texts[2 * at :]]
            assert store.put_longer(keys[at], keys[at - 1], items, own)
            assert store.put_longer(keys[at], keys[at - 1], items, own)
        assert list(map(store.get, keys)) == lists
        found = {payload.key: payload for payload in store.stored()}
        assert found[keys[2]].packed_bytes < 200
        pieces = [keys[0], *map(content_key, news)]
        assert {*found[keys[2]].parts} == {*pieces, *parts}
        assert not store.put_longer(keys[0], keys[2], news[0])  # it has these items already
        store.delete(keys[1])
        assert store.get(keys[2]) == lists[2]
        store.delete(pieces[1])
        with pytest.raises(StoreError, match="damaged"):
            store.get(keys[2])
        assert store.put(lists[2]) == keys[2]
        assert store.get(keys[2]) == lists[2]


def test_a_list_goes_on_only_from_lists_that_are_stored(tmp_path: Path) -> None:
    lists = [json.dumps([*range(end)]).encode() for end in (2, 4, 6)]
    keys, news = list(map(content_key, lists)), [b"[2, 3]", b"[4, 5]"]
    with contextlib.closing(DiskStore(tmp_path)) as store:
        store.put(lists[0])
        before = time.time()
        assert store.put_longer(keys[1], keys[0], news[0])
        assert all(payload.put_at >= before for payload in store.stored())
        store._cache.set(keys[2], WITH_PARTS + (1).to_bytes(4) + b"\0" * 32)  # damaged
        assert store.put_longer(keys[2], keys[1], news[1])
        assert store.get(keys[2]) == lists[2]
        store.delete(keys[0])
        assert not store.put_longer(keys[2], keys[1], news[1])
        store._cache.set(keys[2], b"damaged")
        store.put(lists[0])
        assert not store.put_longer(keys[2], keys[1], news[1])


class CountingStore(DiskStore):
    """A store that counts the payloads that it reads."""

    read = 0

    def _packed(self, key: str) -> bytes | None:
        self.read += 1
        return super()._packed(key)


def test_lists_that_go_on_are_checked_without_reading_each_from_its_start(tmp_path: Path) -> None:
    with contextlib.closing(CountingStore(tmp_path)) as store:
        items = [json.dumps([number]).encode() for number in range(60)]
        known = store.put(items[0])
        pieces = [known]
        for end in range(2, 61):
            whole = json.dumps([*range(end)]).encode()
            assert store.put_longer(content_key(whole), known, items[end - 1])
            pieces.append(content_key(items[end - 1]))
            known = content_key(whole)
        store.read = 0
        assert store.check() == []
        assert store.read < 5 * 120
        row = store._cache.get(known)
        for wrong in ([*pieces[:-1], pieces[0]], [*pieces[:-1], "0" * 64], pieces[:-1]):
            store._cache.set(known, _head(wrong))
            [text] = store.check()
            assert text
        store._cache.set(known, row)
        store._cache.set(pieces[30], b"damage")
        assert len([*store.damaged()]) == 1 + 30


def test_a_part_that_cannot_be_read_is_a_store_error(tmp_path: Path) -> None:
    part = random.Random(1).randbytes(40_000)
    with contextlib.closing(DiskStore(tmp_path)) as store:
        store.put(part)
        key = store.put(b"[" + part + b"]", [part])
    file = tmp_path / "cache.db"
    content = bytearray(file.read_bytes())
    at = content.index(part[20_000:20_100]) // 4_096 * 4_096
    content[at : at + 4] = b"\xff" * 4  # the number of the page that goes on
    file.write_bytes(content)
    with contextlib.closing(DiskStore(tmp_path)) as store, pytest.raises(StoreError):
        store.get(key)


def test_a_row_that_names_payloads_without_end_is_damaged(tmp_path: Path) -> None:
    large, own = content_key(b"a" * (1 << 22)), content_key(b"own")
    with contextlib.closing(DiskStore(tmp_path)) as store:
        store.put(b"a" * (1 << 22))
        for names in ([own], [large] * 100_000, [own[:7]], ["ff" * 32]):
            keys = b"".join(bytes.fromhex(each[: len(each) // 2 * 2]) for each in names)
            for count in (len(names), (1 << 32) - 1):
                for frame in (b"frame", b""):
                    store._cache.set(own, WITH_PARTS + count.to_bytes(4) + keys + frame)
                    with pytest.raises(StoreError, match="damaged"):
                        store.get(own)
