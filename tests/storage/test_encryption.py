"""Payloads are encrypted where a key is set, and served byte for byte."""

from __future__ import annotations

import base64
import contextlib
import os

import pytest

from hippocampus.errors import StoreError
from hippocampus.storage.content_store import DiskStore
from hippocampus.storage.encryption import KEY_BYTES, VARIABLE

WORDS = b"zanzibar " * 9_000


def key():
    return base64.b64encode(os.urandom(KEY_BYTES)).decode()


@pytest.mark.parametrize("content", [b"", b"zanzibar", os.urandom(60_000)])
def test_a_payload_comes_back_under_its_key_alone(tmp_path, monkeypatch, content):
    with contextlib.closing(DiskStore(tmp_path)) as store:
        monkeypatch.setenv(VARIABLE, own := key())
        name = store.put(content)
        assert store.put(content) == name
        assert store.get(name) == content
        assert store.check() == []
        for other, problem in ((key(), "another key"), ("", "is encrypted"), ("short", "64 bytes")):
            monkeypatch.setenv(VARIABLE, other)
            with pytest.raises(StoreError, match=problem):
                store.get(name)
        monkeypatch.setenv(VARIABLE, own)
        assert store.get(name) == content


def test_no_word_of_a_payload_is_on_the_disk(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, key())
    with contextlib.closing(DiskStore(tmp_path)) as store:
        store.put(b"zanzibar")
        store.put(b"\n".join(os.urandom(40) + b" zanzibar" for _ in range(2_000)))
    assert not any(
        b"zanzibar" in each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()
    )


def test_what_was_stored_before_the_key_is_read_and_encrypted_when_it_is_put_again(
    tmp_path, monkeypatch
):
    with contextlib.closing(DiskStore(tmp_path)) as store:
        name = store.put(WORDS)
        monkeypatch.setenv(VARIABLE, key())
        assert store.get(name) == WORDS
        store.put(WORDS)
        monkeypatch.delenv(VARIABLE)
        with pytest.raises(StoreError, match="is encrypted"):
            store.get(name)
