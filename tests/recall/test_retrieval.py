"""Retrieval: what a session hands out, what it says when it cannot, and what a search touches."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conversations import chat_call
from states import collect, holdings

from hippocampus import Hippocampus
from hippocampus.entries.entry import Entry, Record, Source, Stage
from hippocampus.entries.origin import MemoryOrigin
from hippocampus.errors import RecallError
from hippocampus.recall import RecallRequest as Request
from hippocampus.recall.retrieval import slice_of, text_in
from hippocampus.session.recalls import SessionRecalls
from hippocampus.storage import gc
from hippocampus.storage.content_store import DiskStore


def record(entry_id: str, key: str, form: str = "text") -> Record:
    entry = Entry(
        id=entry_id, type="tool_result", source=Source(type="t", ref=key, turn=1), summary="s"
    )
    return Record(
        entry,
        MemoryOrigin(entry_id),
        key,
        form=form,
        kind="json",
        tool="list_rows",
        arguments='{"all": 1}',
        tokens=9,
        stage=Stage.INDEXED,
        shown="shown",
    )


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Hippocampus]:
    memory = Hippocampus(tmp_path)
    yield memory
    memory.close()


def recalls_of(memory: Hippocampus, **contents: bytes) -> tuple[SessionRecalls, dict[str, Record]]:
    """Return the recalls of a session, and its entries of some contents by their ids."""
    session = memory.session("s")
    put = session._resources.store.put
    records = {name: record(name, put(content)) for name, content in contents.items()}
    session._run.save(*records.values())
    return session._recalls, records


def test_text_comes_out_of_every_form(memory: Hippocampus) -> None:
    recalls, records = recalls_of(memory, aaaa2222=b"one\ntwo")
    plain, content = records["aaaa2222"], b'[{"type": "text", "text": "three"}]'
    assert recalls.text(plain) == "one\ntwo"
    assert text_in(record("bbbb2222", "k", "blocks"), content) == "three"
    assert slice_of(recalls.text(plain), plain, Request(lines=(2, 2)), 100) == "2: two"
    with pytest.raises(RecallError, match=r'call list_rows again with \{"all": 1\}') as told:
        slice_of(recalls.text(plain), plain, Request(pattern="zebra"), 100)
    assert (told.value.reason, told.value.entry_id) == ("no_match", "aaaa2222")


def test_ids_of_others_and_of_nobody_are_told_apart(memory: Hippocampus) -> None:
    recalls, records = recalls_of(memory, aaaa2222=b"one")
    memory.session("other")._run.save(record("bbbb2222", "k"))
    assert recalls.record_of("aaaa2222") == records["aaaa2222"]
    with pytest.raises(RecallError) as told:
        recalls.record_of("bbbb2222")
    assert (told.value.reason, told.value.owner) == ("other_session", "other")
    with pytest.raises(RecallError) as told:
        recalls.record_of("aaaa2223")
    assert (told.value.reason, told.value.near) == ("never_existed", ("aaaa2222",))


def test_what_retention_removed_is_expired_with_its_rule(tmp_path: Path) -> None:
    store = DiskStore(tmp_path / "contents")
    memory = Hippocampus(tmp_path, store=store)
    recalls = memory.session("s")._recalls
    gone = record("aaaa2222", store.put(b"one"))
    going = gc.plan(holdings(tmp_path, store), gc.GcRules(orphan_grace_seconds=0), 2e9)
    collect(tmp_path, store, going, 2e9)
    with pytest.raises(RecallError) as told:
        recalls.text(gone)
    assert (told.value.reason, told.value.rule) == ("expired", "no session refers to it")
    assert told.value.when == "2033-05-18T03:33:20+00:00"
    damaged = record("bbbb2222", store.put(b"two"))
    store._cache.set(damaged.content, b"no zstd")
    with pytest.raises(RecallError, match="damaged"):
        recalls.text(damaged)
    memory.close()
    store.close()


def test_a_search_says_which_entries_it_found(memory: Hippocampus) -> None:
    recalls, _ = recalls_of(
        memory, aaaa2222=b"refunds go to card_9911", bbbb2222=b"bbbb2222:\nships leave at nine"
    )
    recalls._run.save(record("cccc2222", "0" * 64))
    assert recalls._search("which card for refunds", 400) == "aaaa2222:\n1: refunds go to card_9911"
    assert recalls._search("ships", 400).startswith("bbbb2222:\n")


def test_a_search_numbers_the_lines_of_a_part_of_a_file_as_a_recall_takes_them(
    memory: Hippocampus,
) -> None:
    part = "\n".join(f"{n:6}\tword{n} = {n}" for n in range(500, 540))
    recalls, _ = recalls_of(memory, aaaa2222=part.encode())
    [line] = [line for line in recalls._search("word512", 400).split("\n") if "word512" in line]
    assert line.startswith("512: ")


def test_a_failing_disk_answers_a_call_and_breaks_no_loop(
    memory: Hippocampus, tmp_path: Path
) -> None:
    with contextlib.ExitStack() as closing, memory.session("s") as session:
        session([{"role": "user", "content": "Go on."}])
        (tmp_path / "state.sqlite3").unlink()
        asking = closing.enter_context(ThreadPoolExecutor(1))  # it has the file not open yet
        items = [chat_call("c1", "recall", {"query": "anything"})]
        [added] = asking.submit(session.handle, items).result()
        assert added["tool_call_id"] == "c1"
        assert "recall failed (unreadable)" in added["content"]
        with pytest.raises(RecallError, match="removed or replaced"):
            asking.submit(session.recall, query="anything").result()
