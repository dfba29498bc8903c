"""`hippocampus gc` and `hippocampus store`: dry first, exact, and no folder made by looking."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import stat
import sys
import tempfile
import time
from pathlib import Path

import pytest
from conversations import EAGER, chat_call, reading, written_at
from states import read_only, stored_sessions
from typer.testing import CliRunner, Result

from hippocampus import Hippocampus
from hippocampus.cli.commands import app
from hippocampus.entries.entry import Entry, Record, Source, Stage
from hippocampus.entries.origin import MemoryOrigin
from hippocampus.facts.store import Facts
from hippocampus.replay.readers import find_files, read_file
from hippocampus.storage.content_store import DiskStore
from hippocampus.storage.ledger import Ledger, ModelCall, TurnRows
from hippocampus.storage.state import DirectoryState, state_of
from hippocampus.storage.state_dir import StateDir

CONTENT = b"caf\xc3\xa9 \xff\x00 exactly"


def hippocampus(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.fixture
def kept(state: Path) -> str:
    """The key of a content that an idle session refers to."""
    store = DiskStore(state / "contents")
    key = store.put(CONTENT)
    store.close()
    entry = Entry(
        id="abcd2345", type="tool_result", source=Source(type="t", ref=key, turn=1), summary="s"
    )
    ledger = Ledger(DirectoryState(StateDir(state)), "nightly-1")
    record = Record(
        entry, MemoryOrigin("p"), key, form="text", kind="json", tool="t", arguments="{}", tokens=9,
        stage=Stage.INDEXED, shown="shown",
    )  # fmt: skip
    ledger.commit(TurnRows(ModelCall(1, 1, 1, 1), records=[record]))
    ledger.close()
    written_at(state, time.time() - 40 * 86_400, "nightly-1")
    return key


def test_gc_says_first_and_removes_when_told(state: Path, kept: str) -> None:
    dry = hippocampus("gc", state, "--max-age-days", 30)
    assert dry.exit_code == 0
    assert kept[:12] in dry.output
    assert "1 content, " in dry.output
    assert "would be removed; --apply removes them" in dry.output
    assert "abcd2345" in hippocampus("store", "ls", state).output
    done = hippocampus("gc", state, "--session", "nightly-*=7", "--apply")
    assert "1 content, " in done.output
    assert (
        "0 contents, 0 bytes would be removed"
        in hippocampus("gc", state, "--max-age-days", 30).output
    )
    assert hippocampus("doctor", state).exit_code == 0


def test_gc_names_the_archive_that_goes(state: Path, kept: str) -> None:
    with contextlib.closing(sqlite3.connect(StateDir(state).database)) as db, db:
        db.execute(
            "INSERT INTO conversation (session, number, list, crc, lines) VALUES (1, 9, '', 0, x'7b7d0a')"
        )
    dry = hippocampus("gc", state, "--max-age-days", 30).output
    assert "(nightly-1)" in dry
    assert "1 conversation, 3 bytes would be removed" in dry
    assert state_of(state).exported("nightly-1") == b"{}\n"
    hippocampus("gc", state, "--max-age-days", 30, "--apply")
    assert state_of(state).exported("nightly-1") == b""


def test_a_conversation_is_exported_as_json_lines(tmp_path: Path) -> None:
    with Hippocampus(tmp_path, policy=EAGER) as memory, memory.session("s") as session:
        session(reading(2))
    written = hippocampus("store", "export", tmp_path, "s").stdout_bytes
    assert next(json.loads(line)["type"] for line in written.splitlines()) == "archive"
    assert written == state_of(tmp_path).exported("s")
    assert hippocampus("store", "export", tmp_path, "none").exit_code == 2


def test_a_backup_has_every_session_while_one_runs(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    with Hippocampus(tmp_path / "state", policy=EAGER) as memory, memory.session("s") as session:
        session(reading(2))
        command = ("store", "backup", tmp_path / "state", copy / "state.sqlite3")
        assert hippocampus(*command).exit_code == 0
        assert hippocampus(*command).exit_code == 2
    assert len(stored_sessions(copy)[0].records) == 2
    assert (copy / "state.sqlite3").stat().st_mode & 0o077 == 0
    failed = hippocampus(*command[:3], "nowhere/x").exception
    assert str(failed) == "nowhere/x: cannot be written: No such file or directory"


def test_a_backup_of_any_name_is_a_state_database(tmp_path: Path) -> None:
    state, file = tmp_path / "state", tmp_path / "monday"
    with Hippocampus(state) as memory, memory.session("s") as session:
        session(reading(2))
    assert hippocampus("store", "backup", state, file).exit_code == 0
    [[own], [copied]] = [map(read_file, find_files([each])) for each in (state, file)]
    assert copied[0].messages == own[0].messages
    assert json.loads(hippocampus("doctor", file).output)["database"]["sessions"] == 1


def test_show_writes_a_content_byte_for_byte(
    state: Path, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hippocampus("store", "show", state, "abcd2345").stdout_bytes == CONTENT
    missing = hippocampus("store", "show", state, "nope")
    assert missing.exit_code == 2
    assert "store ls" in missing.output
    monkeypatch.setattr(DiskStore, "get", lambda *_: None)
    gone = hippocampus("store", "show", state, "abcd2345")
    assert (gone.exit_code, gone.stdout_bytes) == (2, b"")
    assert "no longer stored" in gone.output


@pytest.mark.parametrize("command", [("gc",), ("store", "ls"), ("doctor",)])
def test_a_folder_that_is_no_state_directory_stays_as_it_is(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    found = hippocampus(*command, tmp_path)
    assert found.exit_code == 2
    assert "not a state directory" in found.output
    assert list(tmp_path.iterdir()) == []


def test_a_state_is_not_copied_onto_itself(state: Path, kept: str) -> None:
    found = hippocampus("store", "copy", state, f"{state}/.")
    assert found.exit_code == 2
    assert "cannot be copied onto itself" in found.output


@pytest.mark.parametrize(
    "options",
    [("--session", "x"), ("--session", "=3"), ("--max-bytes", "-1"), ("--max-age-days", "nan")],
)
def test_wrong_options_are_told(state: Path, kept: str, options: tuple[str, str]) -> None:
    assert hippocampus("gc", state, *options).exit_code == 2
    assert hippocampus("doctor", state).exit_code == 0


def test_every_command_uses_the_store_that_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPPOCAMPUS_STORE", "storage.memory_store:elsewhere")
    state = tmp_path / "state"
    memory = Hippocampus(state, policy=EAGER)
    with contextlib.closing(memory), memory.session("s") as session:
        session(reading(2))
        [entry, *_] = session.entries
        content = session.entries.text(entry.id)
    assert not (state / "contents").exists()
    assert hippocampus("store", "show", state, entry.id).output.rstrip("\n") == content.rstrip("\n")
    assert hippocampus("doctor", state).exit_code == 0
    assert entry.id in hippocampus("store", "ls", state).output
    assert "2 contents, " in hippocampus("gc", state, "--max-age-days", 0, "--apply").output
    assert hippocampus("store", "show", state, entry.id).exit_code == 2


def test_a_store_that_cannot_be_made_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state"
    Hippocampus(state).close()
    monkeypatch.setenv("HIPPOCAMPUS_STORE", "storage.memory_store:nothing_here")
    found = hippocampus("store", "ls", state)
    assert "expected package.module:function" in str(found.exception)


def test_status_of_a_directory_sums_what_its_sessions_have_saved_each_at_its_own_model(
    state: Path,
) -> None:
    figures = []
    for name, model in (("one", "claude-haiku-4-5"), ("two", "claude-opus-4-5"), ("three", None)):
        with Hippocampus(state, policy=EAGER, model=model) as memory:
            session = memory.session(name)
            for end in range(2, 9, 2):
                session(reading(8)[:end])
            figures.append(session.status())
            session.close()
    found = json.loads(hippocampus("status", state, "--json").output)
    names = [("one", "claude-haiku-4-5"), ("two", "claude-opus-4-5"), ("three", "")]
    assert [(each["session"], each["model"]) for each in found] == names
    for key in ("saved_dollars", "edit_dollars", "recall_dollars", "resume_dollars"):
        assert [each[key] for each in found] == [each[key] for each in figures]
    as_one = json.loads(hippocampus("status", state, "--json", "--model", "claude-opus-4-5").output)
    assert {each["model"] for each in as_one} == {"claude-opus-4-5"}
    lines = hippocampus("status", state).output.splitlines()
    assert "1 session without a known model" in lines.pop(0)
    assert len(lines) == 2 + 4
    assert lines[0].index("session") == lines[2].index("one, claude-haiku-4-5")
    assert lines[-1].split()[:5] == ["last", "used", "on", found[0]["day"], str(3 * 4)]


def test_status_counts_the_calls_that_paid_for_edits_and_for_recalls(state: Path) -> None:
    opened = Hippocampus(state, policy=EAGER, model="claude-sonnet-4-5")
    with contextlib.closing(opened) as memory, memory.session("one") as session:
        tokens = []
        for end in range(2, 41, 2):
            session(reading(20)[:end])
            tokens.append((session.status()["raw_tokens"], session.status()["sent_tokens"]))
        paid = {turn for turn, decision in session.report.decisions() if decision.costs}
        entry_id = next(iter(session.entries)).id
        items = [*reading(20), chat_call("r", "recall", {"entry_id": entry_id, "head": 2})]
        session([*items, *session.handle(items)])
        tokens.append((session.status()["raw_tokens"], session.status()["sent_tokens"]))
    (found,) = json.loads(hippocampus("status", state, "--json").output)
    assert (found["edits"], found["recalls"]) == (len(paid), 1)
    assert (found["raw_tokens"], found["sent_tokens"]) == tuple(map(sum, zip(*tokens, strict=True)))
    assert paid
    line = hippocampus("status", state).output.splitlines()[2].split()
    assert line[2:5] == [str(found["calls"]), str(len(paid)), "1"]


def test_status_counts_requests_and_not_the_answers_in_their_lists(state: Path) -> None:
    with Hippocampus(state, policy=EAGER) as memory:
        with memory.session("whole list at once") as session:
            session(reading(8))
        with memory.session("cut and again") as session:
            for items in (reading(3), reading(3), reading(2), reading(5)):
                session(items)
    found = json.loads(hippocampus("status", state, "--json").output)
    assert {row["session"]: row["calls"] for row in found} == {
        "whole list at once": 1,
        "cut and again": 3,
    }
    assert f"last used on {found[0]['day']}" in hippocampus("status", state).output


def test_status_is_of_the_state_that_the_environment_names(
    state: Path, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPPOCAMPUS_STATE", str(state))
    assert "nightly-1" in hippocampus("status").output


def test_every_command_of_a_state_takes_that_of_the_environment(
    state: Path, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPPOCAMPUS_STATE", str(state))
    assert "nightly-1" in hippocampus("store", "ls").output
    assert "hippocampus_entry" in hippocampus("store", "entries").output
    assert "would be removed" in hippocampus("forget", "--everything-from", "nightly-1").output
    for command in ("doctor", "gc", "defrag", "consolidate"):
        assert hippocampus(command).exit_code == 0


def test_an_only_argument_that_is_no_path_belongs_to_the_state_of_the_environment(
    state: Path, kept: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HIPPOCAMPUS_STATE", str(state))
    assert "nothing to delete" in hippocampus("forget", "gate code").output
    assert "no session 'nightly-9'" in hippocampus("consolidate", "nightly-9").output
    assert hippocampus("consolidate", state).exit_code == 0
    shown = CliRunner().invoke(app, ["store", "show", "abcd2345"])
    assert shown.stdout_bytes == CONTENT
    assert "of session 'nightly-1'" in hippocampus("store", "export", "nightly-1").output
    assert hippocampus("store", "backup", tmp_path / "copy").exit_code == 0
    assert (tmp_path / "copy").is_file()


def test_status_of_neither_names_the_coding_agents(tmp_path: Path) -> None:
    wrong = hippocampus("status", tmp_path / "clode")
    assert wrong.exit_code == 2
    assert "claude-code" in wrong.output
    assert "no state directory 'clode'" in hippocampus("status", "clode").output


READING: dict[str, tuple[list[str], str]] = {
    "status": ([], "last used on"),
    "doctor": ([], "0 mended"),
    "gc": ([], "0 contents"),
    "explain": ([], "tool_result"),
    "replay": (["--json"], '"recordings": 1'),
    "store ls": ([], "s/"),
    "store export": (["s"], '"type":"message"'),
    "memory list": (["--db"], "zeus"),
    "memory recall": (["zeus", "--db"], "zeus"),
    "memory --as crib doctor": (["--db"], '"memories": 1'),
}


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such accounts")
def test_a_state_that_cannot_be_written_is_read() -> None:
    """As on a disk that is mounted read-only, of a memory that is closed."""
    folders = Path(__file__).parents
    if os.geteuid() == 0 and not all(folder.stat().st_mode & stat.S_IXOTH for folder in folders):
        pytest.skip("the other account may not read the sources")
    with tempfile.TemporaryDirectory() as name:
        with Hippocampus(name, policy=EAGER) as memory:
            with memory.session("s") as session:
                session(reading(3))
                [entry, *_] = session.entries
                text = session.entries.text(entry.id)
            memory.facts.remember("The build server is called zeus.")
        before = sorted(path.name for path in Path(name).rglob("*"))

        def read() -> None:
            for command, (arguments, expected) in READING.items():
                given = [*arguments, name] if "--db" in arguments else [name, *arguments]
                shown = hippocampus(*command.split(), *given)
                assert expected in shown.output, (command, shown.output, shown.exception)
            assert hippocampus("store", "show", name, entry.id).stdout == text

        read()  # the other account may not read the modules that each imports
        with read_only(Path(name)):
            read()
            refused = hippocampus("memory", "remember", "The door is red.", "--db", name)
            assert "attempt to write a readonly database" in str(refused.exception)
        assert sorted(path.name for path in Path(name).rglob("*")) == before


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such accounts")
def test_a_memory_that_was_opened_read_only_has_what_its_owner_writes_later() -> None:
    """It reported damage, and advised to move the database away."""
    with tempfile.TemporaryDirectory() as name:

        def write(first: int) -> None:
            with contextlib.closing(Facts(state_of(name))) as facts:
                for number in range(first, first + 40):
                    facts.remember(
                        f"The build server {number} is called zeus{number}." + "x " * 300
                    )

        write(0)
        with read_only(Path(name)):
            reader = Facts(state_of(name))
            assert len(reader.memories()) == 40
        with contextlib.closing(reader):
            write(40)
            assert len(reader.memories()) == 80
            assert "zeus79" in reader.retrieve("What is the build server 79 called?")
