"""Retrieval: what a session hands out, what it says when it cannot, and what a search touches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from states import collect, holdings
from storage.memory_store import MemoryStore

from hippocampus import policy
from hippocampus.entries.entry import Entry, Record, Source, Stage
from hippocampus.entries.origin import MemoryOrigin
from hippocampus.errors import RecallError, StoreError
from hippocampus.recall import Request
from hippocampus.recall.retrieval import Refetching, Retrieval, handle, slice_of, text_in
from hippocampus.recall.sources import known_sources
from hippocampus.storage import gc
from hippocampus.storage.content_store import DiskStore
from hippocampus.storage.ledger import Ledger, ModelCall, TurnRows
from hippocampus.storage.state import DirectoryState
from hippocampus.storage.state_dir import StateDir


def record(entry_id: str, key: str, form: str = "text") -> Record:
    entry = Entry(
        id=entry_id, type="tool_result", source=Source(type="t", ref=key, turn=1), summary="s"
    )
    return Record(
        entry,
        MemoryOrigin(entry_id),
        key,
        form,
        "json",
        "list_rows",
        '{"all": 1}',
        9,
        Stage.INDEXED,
        "shown",
    )


def opened(state: Path, store: object) -> Retrieval:
    none = Refetching(policy.load("default"), known_sources({}), list, lambda _, text: text, max)
    return Retrieval(DirectoryState(StateDir(state)), "s", store, none, text_in)


def test_text_comes_out_of_every_form(state: Path) -> None:
    store = MemoryStore()
    retrieval = opened(state, store)
    plain = record("aaaa2222", store.put(b"one\ntwo"))
    blocks = record("bbbb2222", store.put(b'[{"type": "text", "text": "three"}]'), "blocks")
    assert retrieval.text(plain) == "one\ntwo"
    assert retrieval.text(blocks) == "three"
    assert slice_of(retrieval.text(plain), plain, Request(lines=(2, 2)), 100) == "2: two"
    with pytest.raises(RecallError, match=r'call list_rows again with \{"all": 1\}') as told:
        slice_of(retrieval.text(plain), plain, Request(pattern="zebra"), 100)
    assert (told.value.reason, told.value.entry_id) == ("no_match", "aaaa2222")


def test_ids_of_others_and_of_nobody_are_told_apart(state: Path) -> None:
    mine = record("aaaa2222", "k")
    ledger = Ledger(DirectoryState(StateDir(state)), "other")
    ledger.commit(TurnRows(ModelCall(1, 1, 1, 1), records=[record("bbbb2222", "k")]))
    ledger.close()
    retrieval = opened(state, MemoryStore())
    assert retrieval.record_of("aaaa2222", {"aaaa2222": mine}) is mine
    with pytest.raises(RecallError) as told:
        retrieval.record_of("bbbb2222", {"aaaa2222": mine})
    assert (told.value.reason, told.value.owner) == ("other_session", "other")
    with pytest.raises(RecallError) as told:
        retrieval.record_of("aaaa2223", {"aaaa2222": mine})
    assert (told.value.reason, told.value.near) == ("never_existed", ("aaaa2222",))


def test_what_retention_removed_is_expired_with_its_rule(state: Path) -> None:
    store = DiskStore(state / "contents")
    gone = record("aaaa2222", store.put(b"one"))
    retrieval = opened(state, store)
    going = gc.plan(holdings(state, store), None, 2e9)
    collect(state, store, going, 2e9)
    with pytest.raises(RecallError) as told:
        retrieval.text(gone)
    assert (told.value.reason, told.value.rule) == ("expired", "no session refers to it")
    assert told.value.when == "2033-05-18T03:33:20+00:00"
    damaged = record("bbbb2222", store.put(b"two"))
    store._cache.set(damaged.content, b"no zstd")
    with pytest.raises(RecallError, match="damaged"):
        retrieval.text(damaged)
    store.close()


def test_a_search_says_which_entries_it_found(state: Path) -> None:
    store = MemoryStore()
    records = {
        "aaaa2222": record("aaaa2222", store.put(b"refunds go to card_9911")),
        "bbbb2222": record("bbbb2222", store.put(b"bbbb2222:\nships leave at nine")),
        "cccc2222": record("cccc2222", "0" * 64),
    }
    retrieval = opened(state, store)
    text, entry_ids = retrieval.search("which card for refunds", records, 400)
    assert entry_ids == ("aaaa2222",)
    assert text == "aaaa2222:\n1: refunds go to card_9911"
    assert retrieval.search("ships", records, 400)[1] == ("bbbb2222",)
    retrieval.close()


def test_a_search_numbers_the_lines_of_a_part_of_a_file_as_a_recall_takes_them(state: Path) -> None:
    store = MemoryStore()
    part = "\n".join(f"{n:6}\tword{n} = {n}" for n in range(500, 540))
    retrieval = opened(state, store)
    records = {"aaaa2222": record("aaaa2222", store.put(part.encode()))}
    text, _ = retrieval.search("word512", records, 400)
    [line] = [line for line in text.split("\n") if "word512" in line]
    assert line.startswith("512: ")
    retrieval.close()


def test_a_failing_disk_answers_a_call_and_breaks_no_loop() -> None:
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "recall", "arguments": '{"entry_id": "a"}'},
    }
    items = [{"role": "assistant", "tool_calls": [call]}]

    def serve(_call: object) -> str:
        raise StoreError("disk full")

    [added] = handle(items, serve)
    assert added["tool_call_id"] == "c1"
    assert "disk full" in added["content"]
    assert json.dumps(added)
