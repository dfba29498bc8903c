"""Entries go out as documents of the protocol and come in again: equal, and recallable."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from conversations import EAGER, no_fallback, reading
from hypothesis import given
from hypothesis import strategies as st
from storage.memory_store import MemoryStore
from typer.testing import CliRunner, Result

from hippocampus import Entry, Hippocampus
from hippocampus.cli.commands import app
from hippocampus.entries.entry import Source
from hippocampus.storage.entry_exchange import documents, parsed, take_in, written
from hippocampus.storage.state import DirectoryState
from hippocampus.storage.state_dir import StateDir


def entries(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["store", "entries", *map(str, arguments)])


@pytest.fixture
def used(tmp_path: Path) -> Path:
    """A state directory whose session has shortened some results."""
    memory = Hippocampus(tmp_path / "used", policy=EAGER)
    with memory.session("log") as session, no_fallback():
        session(reading(4))
    memory.close()
    return tmp_path / "used"


@given(
    st.lists(
        st.builds(
            Entry,
            id=st.text(min_size=1),
            type=st.sampled_from(["tool_result", "memory"]),
            source=st.builds(Source, type=st.text(), ref=st.text(), turn=st.integers(0, 99)),
            summary=st.text(),
            key_data=st.none() | st.dictionaries(st.text(), st.text() | st.integers()),
            strength=st.floats(0, 1),
        ),
        max_size=2,
    ),
    st.booleans(),
)
def test_documents_are_read_back_equal(made: list[Entry], as_json: bool) -> None:
    given = [{"hippocampus_entry": each.fields(), "session": "s"} for each in made]
    found = parsed(written(given, as_json=as_json))
    assert [each.hippocampus_entry for each in found] == made


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_what_goes_out_comes_in_unchanged(used: Path, tmp_path: Path, options: tuple[str]) -> None:
    out = entries(used, *options).stdout
    before = documents(DirectoryState(StateDir(used)))
    assert len(before) >= 3
    file = tmp_path / "entries"
    file.write_text(out, "utf-8")
    assert (
        entries(used, "--import", file).stdout
        == f"0 entries added, 0 changed, {len(before)} as they were\n"
    )
    assert documents(DirectoryState(StateDir(used))) == before
    with Hippocampus(tmp_path / "other") as memory:
        with memory.session("log"):
            pass
        assert entries(tmp_path / "other", "--import", file).exit_code == 0
        assert entries(tmp_path / "other", *options).stdout == out


def test_a_session_with_a_long_name_goes_out_too(tmp_path: Path) -> None:
    with Hippocampus(tmp_path, policy=EAGER) as memory, memory.session("x" * 2_000) as session:
        session(reading(4))
    found = documents(DirectoryState(StateDir(tmp_path)))
    assert {document["session"] for document in found} == {"x" * 2_000}


def test_an_edit_of_the_file_changes_the_session(used: Path, tmp_path: Path) -> None:
    first, *_ = yaml.safe_load_all(entries(used).stdout)
    first["hippocampus_entry"]["modifiers"]["priority"] = "high"
    file = tmp_path / "one.yaml"
    file.write_text(yaml.safe_dump(first), "utf-8")
    assert entries(used, "--import", file).stdout.startswith("0 entries added, 1 changed")
    with Hippocampus(used, policy=EAGER) as memory:
        session = memory.session("log")
        session(reading(4))
        found = {each.id: each for each in session.entries}
        id_ = first["hippocampus_entry"]["id"]
        assert found[id_].modifiers.priority == "high"
        assert session.recall(id_)


def test_an_entry_of_another_tool_is_recalled_as_its_summary(used: Path, tmp_path: Path) -> None:
    entry = {
        "id": "ctx_001",
        "type": "tool_result",
        "source": {"type": "browser.snapshot", "ref": "snap_abc123", "turn": 12},
        "summary": "Dashboard: 19 users, settings open",
    }
    file = tmp_path / "one.json"
    file.write_text(json.dumps({"hippocampus_entry": entry}), "utf-8")
    assert "session: no session is named" in entries(used, "--import", file).output
    assert entries(used, "--import", file, "--session", "log").stdout.startswith("1 entries added")
    with Hippocampus(used) as memory:
        assert memory.session("log").recall("ctx_001") == "Dashboard: 19 users, settings open"
    assert "ctx_001" in entries(used, "--session", "log").stdout
    assert "ctx_001" not in entries(used, "--session", "other").stdout


def test_every_problem_of_a_file_is_listed_and_nothing_is_saved(used: Path, tmp_path: Path) -> None:
    before = entries(used).stdout
    file = tmp_path / "bad.yaml"
    for text, problem in (
        ("- hippocampus_entry: {id: a}\n- 7\n", "entry 2: "),
        ("- hippocampus_entry: {id: a}\n- 7\n", "entry 1: hippocampus_entry.summary"),
        ("- 7\n", "entry 1: document: Input should be"),
        ("a: [", "neither JSON nor YAML"),
    ):
        file.write_text(text, "utf-8")
        found = entries(used, "--import", file)
        assert found.exit_code == 2
        assert problem in found.output
    assert entries(used, "--import", tmp_path / "none.yaml").exit_code == 2
    assert entries(used).stdout == before


def test_an_entry_keeps_the_payload_that_its_source_names(tmp_path: Path) -> None:
    store, state = MemoryStore(), StateDir(tmp_path)
    key = store.put(b"the whole text")
    source = Source(type="t", ref=key, turn=1)
    entry = Entry(id="abcd", type="tool_result", source=source, summary="s")
    [document] = parsed(json.dumps({"hippocampus_entry": entry.fields(), "session": "s"}))
    assert take_in(DirectoryState(state), store, [document, document]) == (1, 0, 0)
    assert take_in(DirectoryState(state), store, [document]) == (0, 0, 1)
    assert documents(DirectoryState(state), "s") == [document.model_dump(mode="json")]
