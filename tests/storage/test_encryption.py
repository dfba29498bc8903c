"""Payloads are encrypted where a key is set, and served byte for byte."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import sys
import uuid
from pathlib import Path

import pytest
import zstandard
from conversations import EAGER, reading
from typer.testing import CliRunner

from hippocampus import Hippocampus
from hippocampus.cli.commands import app
from hippocampus.errors import SealedError, StoreError
from hippocampus.storage.content_store import DiskStore
from hippocampus.storage.encryption import KEY_BYTES, SEALED, VARIABLE
from hippocampus.storage.state import state_of

SECURITY = Path(__file__).parents[2] / "SECURITY.md"
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
        for other, problem in (
            (key(), "another key"),
            ("", "is encrypted"),
            ("short", "openssl rand"),
        ):
            monkeypatch.setenv(VARIABLE, other)
            with pytest.raises(StoreError, match=problem):
                store.get(name)
        monkeypatch.setenv(VARIABLE, own)
        assert store.get(name) == content


def test_a_keyring_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    keyring = pytest.importorskip("keyring")
    from keyring.backends import fail

    monkeypatch.setattr(keyring.core, "_keyring_backend", fail.Keyring())
    monkeypatch.setenv(VARIABLE, "keyring")
    store = DiskStore(tmp_path)
    with contextlib.closing(store), pytest.raises(StoreError, match="names the keyring"):
        store.put(b"zanzibar")


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


def test_a_store_with_encrypted_payloads_is_not_opened_without_its_key(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, own := key())
    with contextlib.closing(DiskStore(tmp_path)) as store:
        name = store.put(WORDS)
    for other in ("", key(), "short"):
        monkeypatch.setenv(VARIABLE, other)
        with contextlib.closing(DiskStore(tmp_path)) as store:
            for work in (
                store.open,
                lambda: store.put(b"new"),
                lambda: store.get(name),
                lambda: list(store.stored()),
            ):
                with pytest.raises(SealedError, match=r"set HIPPOCAMPUS_KEY to the key|64 bytes"):
                    work()
    monkeypatch.setenv(VARIABLE, own)
    with contextlib.closing(DiskStore(tmp_path)) as store:
        assert store.get(name) == WORDS
        assert store.check() == []


def test_a_memory_is_not_opened_without_the_key_of_its_payloads(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, own := key())
    with Hippocampus(tmp_path, policy=EAGER) as memory, memory.session("s") as session:
        session(reading(2))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(SealedError, match="not opened without its key"):
        Hippocampus(tmp_path, policy=EAGER)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    ended = CliRunner().invoke(app, ["doctor", str(tmp_path)])
    assert ended.exit_code != 0
    monkeypatch.setenv(VARIABLE, own)
    Hippocampus(tmp_path, policy=EAGER).close()


@pytest.mark.parametrize("state", ["state", "postgresql://nobody@127.0.0.1:1/none"])
def test_a_key_that_cannot_be_used_is_an_error_at_the_start(tmp_path, monkeypatch, state):
    """As one with a typing error, or without the extra that reads it: no later call could store anything."""
    monkeypatch.chdir(tmp_path)
    for wrong, module, problem in (
        ("short", "", "64 bytes"),
        (key(), "cryptography.hazmat.primitives.ciphers", r"\[encryption\]"),
    ):
        monkeypatch.setenv(VARIABLE, wrong)
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(SealedError, match=problem):
            Hippocampus(state, tenant="acme")
        named = ("--state-dir", state, "--tenant", "acme", "--upstream", "http://127.0.0.1:1")
        ended = CliRunner().invoke(app, ["proxy", *named])
        assert isinstance(ended.exception, SealedError)


def test_an_open_store_that_another_process_encrypts_takes_nothing_without_the_key(
    tmp_path, monkeypatch
):
    with (
        contextlib.closing(DiskStore(tmp_path)) as early,
        contextlib.closing(DiskStore(tmp_path)) as store,
    ):
        early.put(b"plain")
        monkeypatch.setenv(VARIABLE, own := key())
        name = store.put(WORDS)
        for other in ("", key()):
            monkeypatch.setenv(VARIABLE, other)
            for content in (WORDS, b"zanzibar"):
                with pytest.raises(SealedError, match="not opened without its key"):
                    early.put(content)
            with pytest.raises(StoreError):
                early.get(name)
        monkeypatch.setenv(VARIABLE, own)
        assert store.get(name) == WORDS
    assert not any(b"zanzibar" in path.read_bytes() for path in tmp_path.rglob("*.*"))


def test_every_file_of_a_sealed_directory_that_has_words_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, key())
    with Hippocampus(tmp_path) as memory:
        session = memory.session("s")
        items = [{"role": "user", "content": "My manager is Zanzibar."}, *reading(3)[1:]]
        items[1]["tool_calls"][0]["function"]["arguments"] = json.dumps({"path": "zanzibar.py"})
        items[2]["content"] = f"zanzibar {items[2]['content']}"
        session(items)
        session.close(items)
    [sentence] = re.findall(r"What else has words .*? Use", SECURITY.read_text("utf-8"))
    exceptions = re.findall(r"`([^`]+)`", sentence)
    found = {
        path.relative_to(tmp_path).as_posix()
        for path in tmp_path.rglob("*")
        if path.is_file() and b"zanzibar" in words_of(path)
    }
    assert "state.sqlite3" in found
    assert [each for each in found if not each.startswith(tuple(exceptions))] == []


def test_a_server_takes_no_payload_without_the_key_of_the_others(postgres, monkeypatch):
    tenant, items = uuid.uuid4().hex, reading(3)
    items[2]["content"] = f"zanzibar {items[2]['content']}"

    def opened():
        return contextlib.closing(
            Hippocampus(postgres.address, tenant=tenant, policy=EAGER, strict=True)
        )

    with opened() as early, opened() as memory:
        monkeypatch.setenv(VARIABLE, own := key())
        with memory.session("s") as session:
            session(items)
            assert not session.status()["raw"]
        for other, problem in (("", "set HIPPOCAMPUS_KEY"), (key(), "set HIPPOCAMPUS_KEY")):
            monkeypatch.setenv(VARIABLE, other)
            refused = state_of(postgres.address, tenant)
            with pytest.raises(SealedError, match=problem):
                Hippocampus(refused, policy=EAGER)
            assert refused.connections._pool is None  # no connection stays open
            with pytest.raises(StoreError, match=problem):
                early._store.put(b"zanzibar")
            session = early.session(f"early {other}")
            assert session(items) == items
            assert problem in session.status()["problem"]
            session.release()
    assert set(content_heads(postgres, tenant)) == {SEALED}
    monkeypatch.setenv(VARIABLE, own)
    with opened() as memory, memory.session("s") as session:
        assert session(items)


def test_a_payload_on_a_server_is_encrypted_when_it_is_put_again(postgres, monkeypatch):
    tenant = uuid.uuid4().hex
    with Hippocampus(postgres.address, tenant=tenant, strict=True) as memory:
        name = memory._store.put(WORDS)
        monkeypatch.setenv(VARIABLE, key())
        assert memory._store.get(name) == WORDS
        assert memory._store.put(WORDS) == name
        assert content_heads(postgres, tenant) == [SEALED]
        assert memory._store.get(name) == WORDS


def content_heads(postgres, tenant):
    query = f"SELECT substr(packed, 1, 16) FROM hippocampus.content WHERE tenant = '{tenant}'"
    return [bytes(head) for (head,) in postgres.execute(query)]


def words_of(path):
    content = path.read_bytes()
    if path.suffix == ".zst":
        content = zstandard.ZstdDecompressor().stream_reader(content).read()
    return content.lower()
