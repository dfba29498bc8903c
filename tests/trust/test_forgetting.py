"""A session that is forgotten is nowhere on the disk; every other one is as it was."""

from __future__ import annotations

import contextlib
import gzip
import json
import shutil
from dataclasses import replace

import pytest
import zstandard
from conversations import chat_step
from typer.testing import CliRunner

from hippocampus import Hippocampus, StoreError
from hippocampus.cli.commands import app
from hippocampus.consolidation import housekeeping as forgetting
from hippocampus.facts import tools
from hippocampus.facts.store import Facts
from hippocampus.prices import TABLES
from hippocampus.storage import proxy_conversations
from hippocampus.storage.content_store import DiskStore
from hippocampus.storage.proxy_conversations import Conversations
from hippocampus.storage.state import DirectoryState
from hippocampus.storage.state_dir import StateDir

SECRET, OTHER = "zanzibar", "quokka"


def lived(memory, name, word):
    """Run a session whose every part has a word of its own."""
    rows = "\n".join(f"row {n} of {word}_{n} ok" for n in range(900))
    said = f"Always remember: my boat is called {word.title()}boat. I live in {word.title()}ville."
    items = [
        {"role": "user", "content": said},
        *chat_step("c", f"read_{word}", {"path": f"{word}.txt"}, rows),
        {"role": "assistant", "content": f"I read {word}_77 and decided to paint the {word} blue."},
    ]
    with memory.session(name) as session:
        session(items[:3])
        session.state(f"painting {word}")
        session.recall(query=word)
        session.close(items)


def found_on_disk(root, word):
    """Return the files in which a word stands, as it is or compressed."""
    wanted = word.encode()
    hits = []
    for path in sorted(each for each in root.rglob("*") if each.is_file()):
        content = path.read_bytes()
        texts = [content]
        for start in (
            at for at in range(len(content)) if content.startswith(b"\x28\xb5\x2f\xfd", at)
        ):
            with contextlib.suppress(zstandard.ZstdError):
                texts.append(
                    zstandard.ZstdDecompressor().decompressobj().decompress(content[start:])
                )
        if content.startswith(b"\x1f\x8b"):
            texts.append(gzip.decompress(content))
        if any(wanted in text.lower() for text in texts):
            hits.append(path.relative_to(root).as_posix().removesuffix("-wal"))
    return sorted(set(hits))


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """Return a directory in which two sessions with words of their own are known to a proxy."""
    folder = tmp_path_factory.mktemp("known") / "state"
    with Hippocampus(folder) as memory:
        lived(memory, f"about {SECRET}", SECRET)
        lived(memory, "another", OTHER)
        memory.facts.remember("Ann likes tea")
        with contextlib.suppress(Exception):
            memory.session("third").entries.adopt("zzzzzzzz")  # fills the index of entries
    store = Conversations(DirectoryState(StateDir(folder)).database(), b"key")
    for name, word in ((f"about {SECRET}", SECRET), ("another", OTHER)):
        store._db.run(proxy_conversations.TIP, (name, word, 1e10))
        store.keep(word, name, json.dumps([[[], [], [["c", f"rows of {word}"]]]]))
    return folder


@pytest.fixture
def state(known, tmp_path):
    return StateDir(shutil.copytree(known, tmp_path, dirs_exist_ok=True))


def test_every_trace_goes_and_nothing_of_another_session(state):
    before = found_on_disk(state.root, OTHER)
    assert len(found_on_disk(state.root, SECRET)) >= 4
    listed = CliRunner().invoke(
        app, ["forget", str(state.root), "--everything-from", f"about {SECRET}"]
    )
    assert listed.exit_code == 0, listed.output
    assert found_on_disk(state.root, SECRET)
    done = CliRunner().invoke(
        app, ["forget", str(state.root), "--everything-from", f"about {SECRET}", "--apply"]
    )
    assert done.exit_code == 0, done.output
    assert found_on_disk(state.root, SECRET) == []
    assert found_on_disk(state.root, OTHER) == before
    with Hippocampus(state.root) as memory:
        assert memory.facts.check() == []
        assert [each.memory.content for each in memory.facts.recall("tea")] == ["Ann likes tea"]
        with memory.session("another") as session:
            [*_, entry] = session.entries
            assert session.entries.text(entry.id)
    again = CliRunner().invoke(
        app, ["forget", str(state.root), "--everything-from", f"about {SECRET}", "--apply"]
    )
    assert again.exit_code == 2


def test_nothing_stays_in_the_log_while_other_sessions_go_on(tmp_path):
    """The pages that had it are overwritten, whoever has the database open."""
    state = StateDir(tmp_path)
    with Hippocampus(tmp_path) as memory, memory.session("on") as session:
        session([{"role": "user", "content": "Count the rows."}])
        lived(memory, "gone", SECRET)
        assert "state.sqlite3" in found_on_disk(tmp_path, SECRET)
        forgetting.forget(DirectoryState(state), "gone", memory._store, memory.facts)
        assert found_on_disk(tmp_path, SECRET) == []
        assert memory.facts.check() == []
        session([{"role": "user", "content": "Count the rows."}])
        assert session.report.failures == 0


@pytest.mark.parametrize("step", ["lines", "payloads", "rows"])
def test_forgetting_that_is_cut_off_is_finished_by_the_next(state, monkeypatch, step):
    class CutOffError(Exception):
        pass

    def cut_off(*_):
        raise CutOffError

    owner, name = {
        "lines": (forgetting, "remove_from_logs"),
        "payloads": (DiskStore, "delete"),
        "rows": (forgetting.ledger, "forget"),
    }[step]
    with Hippocampus(state.root) as memory:
        with monkeypatch.context() as patched:
            patched.setattr(owner, name, cut_off)
            with pytest.raises(CutOffError):
                forgetting.forget(
                    DirectoryState(state), f"about {SECRET}", memory._store, memory.facts
                )
        forgetting.forget(DirectoryState(state), f"about {SECRET}", memory._store, memory.facts)
    assert found_on_disk(state.root, SECRET) == []


def test_forgetting_that_is_cut_off_loses_no_part_of_a_digest(tmp_path):
    class Failing(DiskStore):
        left = 0

        def delete(self, key, put_before=float("inf")):
            self.left -= 1
            if self.left < 0:
                raise StoreError("the disk is gone")
            return super().delete(key, put_before)

    prices = replace(TABLES["anthropic-5m"], window_tokens=8_000)
    items = [{"role": "user", "content": "Go."}]
    with Hippocampus(tmp_path / "1", prices=prices) as memory, memory.session("s") as session:
        for number in range(150):
            text = f"Looking at {number}. " * 20
            items += [{"role": "assistant", "content": text}, {"role": "user", "content": "On."}]
            session(items)
    shutil.copytree(tmp_path / "1", tmp_path / "3")
    for deleted in (1, 3):
        folder, Failing.left = tmp_path / str(deleted), deleted
        state = DirectoryState(StateDir(folder))
        for kind in (Failing, DiskStore):
            with contextlib.closing(kind(folder / "contents")) as store, Facts(state) as facts:
                if kind is Failing:
                    assert len(list(store.stored())) > deleted
                    with pytest.raises(StoreError, match="not forgotten yet"):
                        forgetting.forget(state, "s", store, facts)
                else:
                    forgetting.forget(state, "s", store, facts)
                    assert list(store.stored()) == []


def test_a_running_session_is_not_forgotten(state):
    with (
        Hippocampus(state.root) as memory,
        memory.session("another"),
        pytest.raises(StoreError, match="close it first"),
    ):
        forgetting.forget(DirectoryState(state), "another", memory._store, memory.facts)


def test_what_another_session_shares_stays(tmp_path):
    with Hippocampus(tmp_path) as memory:
        lived(memory, "one", SECRET)
        lived(memory, "two", SECRET)
        found = forgetting.forget(
            DirectoryState(StateDir(tmp_path)), "one", memory._store, memory.facts
        )
        assert found.shared
        assert found.payloads == ()
        with memory.session("two") as session:
            assert all(session.entries.text(each.id) for each in session.entries)


def test_what_a_shared_digest_repeats_stays_with_it(tmp_path):
    """A digest stores what it repeats by reference: without those results it could not be read."""
    items = [{"role": "user", "content": "Count what is in each room."}]
    window = replace(TABLES["anthropic-5m"], window_tokens=15_000)
    with Hippocampus(tmp_path, prices=window) as memory:
        with memory.session("one") as session:
            for number in range(35):
                rows = "\n".join(f"door_{number} {row}: {row * number}" for row in range(200))
                items += chat_step(f"c{number}", "look", {"room": number}, rows)
                session(items)
            digests = [each for each in session.report.records() if each.kind == "digest"]
            texts = {each.entry.id: session.entries.text(each.entry.id) for each in digests}
        stored = {each.key: each.parts for each in memory._store.stored()}
        adopted = next(each for each in digests if stored[each.content])
        with memory.session("two") as session:
            session(items[:1])
            session.entries.adopt(adopted.entry.id)
        found = forgetting.forget(
            DirectoryState(StateDir(tmp_path)), "one", memory._store, memory.facts
        )
        assert found.payloads
        with memory.session("two") as session:
            assert session.entries.text(adopted.entry.id) == texts[adopted.entry.id]


@pytest.mark.parametrize("tool", ["forget_memory", "memory_forget"])
def test_no_word_of_a_deleted_memory_stays_while_the_store_is_open(tmp_path, tool):
    with Hippocampus(tmp_path) as memory:
        memory.facts.remember("Ann likes quokkas in Rome")
        outcome = memory.facts.store(f"The {SECRET} plan of Ann " + "is long " * 900)
        assert found_on_disk(tmp_path, SECRET) == ["state.sqlite3"]
        given = {"id": outcome.memory.id, "description": f"the {SECRET} plan of Ann"}
        name = "id" if tool == "memory_forget" else "description"
        assert "Deleted 1" in tools.call(memory.facts, tool, {name: given[name]})
        assert found_on_disk(tmp_path, SECRET) == []
        assert found_on_disk(tmp_path, "quokka") == ["state.sqlite3"]


def test_files_that_were_set_aside_as_damaged_are_named(state):
    aside = state.root / "contents" / "cache.db.damaged"
    aside.write_bytes(SECRET.encode())
    named = ["forget", str(state.root), "--everything-from", f"about {SECRET}", "--apply"]
    ended = CliRunner().invoke(app, named)
    assert ended.exit_code == 0
    assert "cache.db.damaged: set aside" in ended.output
    assert found_on_disk(state.root, SECRET) == ["contents/cache.db.damaged"]
