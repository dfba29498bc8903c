"""Packed bytes: what was packed comes back, and nothing unpacks beyond its bound."""

from __future__ import annotations

import gzip
import io
import random
import sqlite3
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.entries.entry import content_key
from hippocampus.errors import StoreError
from hippocampus.storage import packing
from hippocampus.storage.content_store import DiskStore
from hippocampus.storage.packing import DamagedError, packed_text, text_of

PACKERS = {"zstd": lambda content: packing.packed(content, 3), "gzip": gzip.compress}
ALL_PACKERS = PACKERS | {"bzip2": packing.packed_small}
BOMBS = {
    "bzip2": lambda size: packing.packed_small(bytes(size)),
    "gzip": lambda size: gzip.compress(bytes(size)),
    "zstd": lambda size: zstandard.ZstdCompressor(level=3).compress(bytes(size)),
    "many frames": lambda size: zstandard.ZstdCompressor().compress(bytes(size // 64)) * 64,
}


@given(st.lists(st.binary(max_size=5_000), max_size=5), st.sampled_from(list(PACKERS)))
def test_frames_behind_one_another_come_back(contents: list[bytes], kind: str) -> None:
    whole = b"".join(contents)
    assert packing.unpacked(b"".join(map(PACKERS[kind], contents))) == whole


@given(st.binary(min_size=1, max_size=3_000), st.sampled_from(list(ALL_PACKERS)), st.data())
def test_what_ends_early_is_damaged(content: bytes, kind: str, data: st.DataObject) -> None:
    whole = ALL_PACKERS[kind](content)
    assert packing.unpacked(whole) == content
    cut = data.draw(st.integers(1, len(whole) - 1))
    with pytest.raises(packing.DamagedError):
        packing.unpacked(whole[:cut])


def zipped(contents: dict[str, bytes]) -> bytes:
    """Return contents as a zip file, by name."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in contents.items():
            file.writestr(name, content)
    return whole.getvalue()


def test_members_of_a_zip_come_in_its_order() -> None:
    whole = zipped({"b.json": b"1", "a.txt": b"2", "a.json": b"3"})
    assert list(packing.unzipped(whole, ".json")) == [("b.json", b"1"), ("a.json", b"3")]


@pytest.mark.parametrize(
    "damage", [lambda whole: whole[:-30], lambda whole: whole[:40] + b"x" * 9 + whole[49:]]
)
def test_a_damaged_zip_is_named(damage: Callable[[bytes], bytes]) -> None:
    whole = zipped({"a.json": random.Random(7).randbytes(500)})
    with pytest.raises(packing.DamagedError, match=r"zip file|CRC|decompress"):
        list(packing.unzipped(damage(whole), ".json"))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take two MiB for large, so that no bomb has to be."""
    monkeypatch.setattr(packing, "MAX_SMALL_BYTES", 2 << 20)


def test_a_zip_of_bombs_is_refused(small: None) -> None:
    half = bytes(packing.MAX_SMALL_BYTES // 2 + 64)
    with pytest.raises(packing.DamagedError, match="256 times its size"):
        list(packing.unzipped(zipped({"a.json": half, "b.json": half}), ".json"))


@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_is_refused(kind: str, small: None) -> None:
    with pytest.raises(packing.DamagedError, match="unpacks to over 2 MiB and 256 times its size"):
        packing.unpacked(BOMBS[kind](packing.MAX_SMALL_BYTES + 64))
    assert packing.unpacked(BOMBS[kind](1 << 20)) == bytes(1 << 20)


UNPACK = """
import resource, sys
from hippocampus.storage import packing

before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    packing.unpacked(open(sys.argv[1], "rb").read())
except packing.DamagedError:
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="sizes are in other units there")
def test_a_bomb_takes_no_more_memory_than_its_bound(tmp_path: Path) -> None:
    frame = zstandard.ZstdCompressor().compressobj(size=1 << 28)
    pieces = [frame.compress(bytes(1 << 24)) for _ in range(16)]
    (tmp_path / "bomb").write_bytes(b"".join([*pieces, frame.flush()]))
    command = [sys.executable, "-c", UNPACK, str(tmp_path / "bomb")]
    took = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert int(took) < 192


WITHOUT_BZIP2 = """
import sys
sys.modules["_bz2"] = None
from hippocampus.storage import packing

assert packing.unpacked(packing.packed_small(b"words")) == b"words"
try:
    packing.unpacked(bytes.fromhex(sys.argv[1]))
except packing.DamagedError as damage:
    print(damage)
"""


def test_a_python_without_bzip2_packs_with_zstandard_and_names_what_it_lacks() -> None:
    command = [sys.executable, "-c", WITHOUT_BZIP2, packing.packed_small(b"words").hex()]
    assert "bz2" in subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_a_planted_bomb_is_a_damaged_payload(tmp_path: Path) -> None:
    with closing(DiskStore(tmp_path)) as store:
        key = store.put(b"x")
        store._cache.set(key, BOMBS["zstd"](1 << 27))
        with pytest.raises(StoreError, match="damaged"):
            store.get(key)


def test_what_could_not_be_read_back_is_not_stored(tmp_path: Path) -> None:
    with closing(DiskStore(tmp_path)) as store:
        content = bytes(packing.MAX_SMALL_BYTES + 1)
        with pytest.raises(StoreError, match="decompression bomb"):
            store.put(content)
        assert store.get(content_key(content)) is None


@pytest.mark.parametrize("name", ["../theirs", "/theirs", "theirs"])
def test_a_planted_name_reaches_no_file(tmp_path: Path, name: str) -> None:
    """Of a row in the database of the store: neither read, nor written over, nor removed."""
    folder = tmp_path / "contents"
    targets = [tmp_path / "theirs", folder / "theirs"]
    planted = name.replace("/theirs", str(targets[0])) if name.startswith("/") else name
    with closing(DiskStore(folder)) as store:
        key = store.put(b"x")
        for target in targets:
            target.write_bytes(b"theirs")
        with closing(sqlite3.connect(folder / "cache.db")) as db, db:
            db.execute("UPDATE Cache SET mode = 2, value = NULL, filename = ?", (planted,))
        for touch in (store.get, store.delete, lambda _: store.put(b"x")):
            with pytest.raises(StoreError, match="did not write"):
                touch(key)
        store._cache.delete(key)
    assert [target.read_bytes() for target in targets] == [b"theirs", b"theirs"]


@pytest.mark.parametrize("text", ["", "a" * 5_000_000, "日本語 " * 400_000, "one line\n"])
def test_a_text_of_any_length_comes_back(text: str) -> None:
    assert text_of(packed_text(text, "near"), "near") == text


def test_a_short_row_does_not_unpack_to_a_large_text() -> None:
    packer = zlib.compressobj(9, wbits=-15)
    bomb = packer.compress(b"a" * (1 << 26)) + packer.flush()
    with pytest.raises(DamagedError):
        text_of(bomb)
