"""Exports and imports: what is read back is what was written, and a second import changes nothing."""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import factual
import numpy as np
import pytest

from hippocampus.errors import FactError, HippocampusError
from hippocampus.facts.exchange import Bundle, bring, hippo, import_file, ours
from hippocampus.facts.exchange.ours import document as export
from hippocampus.facts.store import Facts
from hippocampus.storage.facts.memories import returning

NOW = 1_771_500_000.0
"""A day in February 2026, on which nothing here has faded."""


def clock() -> float:
    return NOW


def embed(texts: list[str]) -> np.ndarray:
    return np.array([[len(text), text.count("e"), 1.0] for text in texts], np.float32)


def filled(path: Path, *, vectors: bool = True) -> Facts:
    """A store with all that one can hold."""
    facts = Facts(path, embed=embed if vectors else None, agent="ann", clock=clock)
    facts.remember("Alice lives in Berlin.", at="2026-01-05")
    facts.remember("Alice lives in Bangkok now.", at="2026-02-09")
    facts.remember("Alice likes tea.", tags=("drinks",), intensity=0.9)
    facts.store("Chose SQLite for storage.", type="decision", metadata={"why": ["small", 1]})
    facts.store("日本語のメモ → 🙂", scope="work", type="note")
    facts.store("Only Ben's.", agent="ben")
    facts.blocks.append("persona", "kind\nbrief")
    facts.blocks.append("persona", "strict", scope="work")
    return facts


@pytest.fixture
def facts(tmp_path: Path) -> Iterator[Facts]:
    made = filled(tmp_path / "first.sqlite3")
    yield made
    assert made.check() == []
    made.close()


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Facts]:
    made = Facts(tmp_path / "second.sqlite3", agent="somebody", clock=clock)
    yield made
    assert made.check() == []
    made.close()


def written(folder: Path, document: Any, name: str = "export.json") -> Path:
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
    return path


def without_time(document: dict[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in document.items() if key not in {"exported_at", "exportedAt"}}


def test_our_json_gives_the_same_store(facts: Facts, other: Facts, tmp_path: Path) -> None:
    document = export(facts, "*")
    done = import_file(other, written(tmp_path, document))
    assert done.source == "hippocampus"
    assert done.skipped == ()
    assert done.memories == len(document["memories"]) == 6
    assert without_time(export(other, "*")) == without_time(document)


def test_what_was_imported_works_as_before(facts: Facts, other: Facts, tmp_path: Path) -> None:
    import_file(other, written(tmp_path, export(facts, "ann")), agent="zoe")
    assert factual.agents(other) == {"zoe": 5}
    found = other.recall("Where does Alice live?", agent="zoe")
    assert "Bangkok" in found[0].memory.content
    assert all("Berlin" not in each.memory.content for each in found)
    then = other.recall("Where does Alice live?", agent="zoe", as_of="2026-01-20")
    assert "Berlin" in then[0].memory.content
    assert factual.relations(other, agent="zoe")
    assert other.blocks.get("persona", agent="zoe", scope="work").value == "strict"
    replaced = other.remember("Alice lives in Oslo now.", agent="zoe")
    assert replaced[0].action == "superseded"


def test_a_copy_has_the_vectors_of_its_source_bit_by_bit(tmp_path: Path) -> None:
    def embed(texts: list[str]) -> Any:
        return np.random.default_rng(len(texts)).standard_normal((len(texts), 384))

    with Facts(tmp_path / "one", embed=embed) as one, Facts(tmp_path / "two") as two:
        factual.store_many(one, [f"text {number}" for number in range(50)])
        assert ours.copy(one, two).embeddings == 50


@pytest.mark.parametrize("document", [export, hippo.document])
def test_the_same_import_again_changes_nothing(
    facts: Facts, other: Facts, tmp_path: Path, document: Callable[..., dict[str, Any]]
) -> None:
    path = written(tmp_path, document(facts, "ann"))
    first = import_file(other, path)
    before = export(other, "*")
    second = import_file(other, path)
    assert without_time(export(other, "*")) == without_time(before)
    assert (second.memories, second.triples, second.blocks, second.embeddings) == (0, 0, 0, 0)
    assert len(second.skipped) >= first.memories + first.blocks
    assert {each.reason for each in second.skipped} >= {"that id is there already"}


def test_records_that_cannot_be_read_are_named_and_the_others_kept(
    facts: Facts, other: Facts, tmp_path: Path
) -> None:
    document = export(facts, "ann")
    del document["memories"][0]["content"]
    document["memories"].append("no memory")
    document["memories"][1]["embedding_base64"] = "?"
    done = import_file(other, written(tmp_path, document))
    assert done.memories == 4
    assert [each.what for each in done.skipped] == ["memories[0]", "memories[5]"]
    assert "pydantic" not in " ".join(each.reason for each in done.skipped)


# hippo


CHUNKS: list[dict[str, Any]] = [
    {
        "id": "01JD0000000000000000000001",
        "kind": "fact",
        "scope": None,
        "content": "User lives in Berlin",
        "content_hash": None,
        "metadata": None,
        "embedding_base64": base64.b64encode(np.array([1, 0, 0], "<f4").tobytes()).decode(),
        "running_intensity": 0.6,
        "encounter_count": 2,
        "access_count": 3,
        "created_at": "2026-01-05T10:00:00.000Z",
        "last_accessed_at": "2026-01-06T10:00:00.250Z",
        "superseded_by": "01JD0000000000000000000002",
    },
    {
        "id": "01JD0000000000000000000002",
        "kind": "fact",
        "scope": "home",
        "content": "User lives in Bangkok",
        "content_hash": None,
        "metadata": '{"source":"chat","text":"as JavaScript writes it"}',
        "embedding_base64": base64.b64encode(np.array([0, 1, 0], "<f4").tobytes()).decode(),
        "running_intensity": 0.8,
        "encounter_count": 1,
        "access_count": 0,
        "created_at": "2026-02-09T10:00:00.000Z",
        "last_accessed_at": "2026-02-09T10:00:00.000Z",
        "superseded_by": None,
    },
    {
        "id": "01JD0000000000000000000003",
        "kind": "memory",
        "scope": None,
        "content": "hello",
        "content_hash": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
        "metadata": "plain words",
        "embedding_base64": base64.b64encode(np.array([0, 0, 1], "<f4").tobytes()).decode(),
        "running_intensity": 0.5,
        "encounter_count": 1,
        "access_count": 0,
        "created_at": "2026-02-10T10:00:00.000Z",
        "last_accessed_at": "2026-02-10T10:00:00.000Z",
        "superseded_by": None,
    },
]
HIPPO = {
    "agentId": "my-agent",
    "version": 1,
    "exportedAt": "2026-03-01T00:00:00.000Z",
    "blocks": [
        {
            "key": "persona",
            "scope": None,
            "updatedAt": "2026-02-01T00:00:00.000Z",
            "value": "kind\n",
        }
    ],
    "chunks": CHUNKS,
}


def test_an_export_of_hippo_comes_back_as_it_was(other: Facts, tmp_path: Path) -> None:
    done = import_file(other, written(tmp_path, HIPPO), embedding_model="small")
    assert (done.source, done.memories, done.blocks, done.embeddings) == ("hippo", 3, 1, 3)
    assert without_time(hippo.document(other, "my-agent")) == without_time(HIPPO)


@pytest.mark.parametrize("metadata", ['{"text":"x"}', '{"text":3}', "[1, 2]", "x", None])
def test_metadata_of_hippo_comes_back_letter_by_letter(
    metadata: str | None, other: Facts, tmp_path: Path
) -> None:
    given = {**HIPPO, "chunks": [{**CHUNKS[0], "superseded_by": None, "metadata": metadata}]}
    import_file(other, written(tmp_path, given), embedding_model="small")
    assert hippo.document(other, "my-agent")["chunks"][0]["metadata"] == metadata


def test_vectors_without_the_name_of_their_model_stay_behind(other: Facts, tmp_path: Path) -> None:
    done = import_file(other, written(tmp_path, HIPPO))
    assert (done.memories, done.embeddings) == (3, 0)
    assert [each.what for each in done.skipped] == ["3 embeddings"]
    exported = hippo.document(other, "my-agent")
    assert {each["embedding_base64"] for each in exported["chunks"]} == {""}


def test_what_hippo_replaced_is_history(other: Facts, tmp_path: Path) -> None:
    import_file(other, written(tmp_path, HIPPO), agent="me")
    current = other.memories(agent="me", kind="fact")
    assert [each.content for each in current] == ["User lives in Bangkok"]
    (old,) = [each for each in other.memories(agent="me", superseded=True) if each.superseded_by]
    assert old.valid_until == current[0].created
    other.delete([current[0].id])
    assert [each.id for each in other.memories(agent="me", kind="fact")] == [old.id]


def test_all_agents_travel_through_hippo_only_where_there_is_one(
    facts: Facts, other: Facts
) -> None:
    other.remember("I live in Bonn.", agent="ann")
    assert hippo.document(other, "*")["agentId"] == "ann"
    other.remember("I live in Rome.", agent="ben")
    with pytest.raises(FactError, match="one by one: ann, ben"):
        hippo.document(other, "*")


def test_chunks_that_cannot_be_read_are_named(other: Facts, tmp_path: Path) -> None:
    broken = {**HIPPO, "chunks": [*CHUNKS, {"id": "x"}, "y", {**CHUNKS[2], "created_at": "soon"}]}
    done = import_file(other, written(tmp_path, broken), embedding_model="small")
    assert done.memories == 3
    assert [each.what for each in done.skipped] == ["chunks[3]", "chunks[4]", "chunks[5]"]


# crib


@pytest.fixture
def crib(tmp_path: Path) -> Path:
    path = tmp_path / "crib.db"
    db = sqlite3.connect(path)
    db.executescript("""
        CREATE TABLE entities (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,
            type TEXT NOT NULL, created_at TEXT);
        CREATE TABLE relations (id INTEGER PRIMARY KEY AUTOINCREMENT, subject_id INTEGER,
            predicate TEXT NOT NULL, object_id INTEGER, valid_from TEXT, valid_until TEXT,
            created_at TEXT);
        CREATE TABLE sources (id INTEGER PRIMARY KEY AUTOINCREMENT, relation_id INTEGER,
            raw_text TEXT NOT NULL, timestamp TEXT);
        CREATE TABLE entries (id INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL,
            content TEXT NOT NULL, embedding BLOB, created_at TEXT);
        INSERT INTO entries (type, content, created_at) VALUES
            ('decision', 'Chose SQLite for storage.', '2026-02-09 12:00:00'),
            ('note', 'ClientA pays Net45 now.', '2026-02-11 12:00:00');
        INSERT INTO entities (name, type) VALUES ('ClientA', 'c'), ('Net30', 'v'), ('Net45', 'v');
        INSERT INTO relations VALUES
            (1, 1, 'payment_terms', 2, '2026-01-01 09:00:00', '2026-02-11 12:00:00',
                '2026-01-01 09:00:00'),
            (2, 1, 'payment_terms', 3, '2026-02-11 12:00:00', NULL, '2026-02-11 12:00:00');
        INSERT INTO sources (relation_id, raw_text) VALUES (1, 'ClientA pays Net30.'),
            (2, 'ClientA pays Net45 now.'), (1, 'Net30 it is.');
    """)
    db.close()
    return path


def test_a_database_of_crib_becomes_memories_and_triples(other: Facts, crib: Path) -> None:
    before = crib.read_bytes()
    done = import_file(other, crib)
    assert (done.source, done.memories, done.triples) == ("crib", 4, 2)
    (now,) = factual.relations(other)
    assert (now.subject, now.predicate, now.object) == ("ClientA", "payment_terms", "Net45")
    (then,) = other.recall("ClientA", types=["fact"], as_of="2026-01-15")
    assert [triple.object for triple in then.triples] == ["Net30"]
    assert then.memory.raw == "ClientA pays Net30.\nNet30 it is."
    decision = next(each for each in other.memories() if each.type == "decision")
    assert decision.content == "Chose SQLite for storage."
    assert "ClientA → payment_terms → Net45 (since 2026-02-11)" in other.retrieve(
        "What are ClientA's payment terms?"
    )
    assert crib.read_bytes() == before


def test_crib_is_imported_once(other: Facts, crib: Path) -> None:
    import_file(other, crib)
    before = export(other, "*")
    done = import_file(other, crib)
    assert (done.memories, done.triples, len(done.skipped)) == (0, 0, 4)
    assert without_time(export(other, "*")) == without_time(before)


# MEMORY.md


MEMORY = """\
# Memory

Some words that are no fact.

## Preferences

- Prefers dark mode.
- [ ] Wants answers in German.

## Decisions
- [2026-02-09 decision] Chose SQLite for storage,
  because it needs no server.
* [2026-13-45] A day that is none.

```
- not a fact, but code
```

## Build
1. The build takes two minutes.
2. The build takes two minutes.
"""


def test_a_memory_file_becomes_dated_and_typed_memories(other: Facts, tmp_path: Path) -> None:
    done = import_file(other, written(tmp_path, MEMORY, "MEMORY.md"))
    assert done.source == "markdown"
    kept = {each.content: each for each in other.memories()}
    assert len(kept) == done.memories == 4
    assert kept["Prefers dark mode."].type == "preference"
    assert kept["Wants answers in German."].type == "preference"
    decision = kept["Chose SQLite for storage, because it needs no server."]
    assert decision.type == "decision"
    assert decision.valid_from == 1770595200
    assert kept["The build takes two minutes."].tags == ("Build",)
    assert [each.reason for each in done.skipped] == [
        "its date is invalid",
        "the file has it twice",
    ]


def test_a_struck_line_of_a_memory_file_is_no_fact(other: Facts, tmp_path: Path) -> None:
    lines = "- ~~I live in Hull.~~\n- ~~[2026-02-09] Tea is late. · user <!-- 3f2a9c1b0d -->~~\n- [2026-02-09] ~~I owe Bo.~~ · user <!-- 3f2a9c1b0e -->\n- I live in ~~Hull~~ Derby.\n"
    done = import_file(other, written(tmp_path, lines, "MEMORY.md"))
    assert [each.content for each in other.memories()] == ["I live in Derby."]
    assert [each.reason for each in done.skipped] == ["it is struck out"] * 3
    done = import_file(other, written(tmp_path, "- Hull is wet.\n- …\n", "MEMORY.md"))
    assert [(each.what, each.reason) for each in done.skipped] == [("…", "it has no word")]


def test_a_memory_file_is_imported_once(other: Facts, tmp_path: Path) -> None:
    path = written(tmp_path, MEMORY, "MEMORY.md")
    import_file(other, path)
    before = export(other, "*")
    done = import_file(other, path)
    assert done.memories == 0
    assert without_time(export(other, "*")) == without_time(before)


# What is none of these


@pytest.mark.parametrize("content", ['{"a": 1}', "{broken", '{"agentId": "a", "chunks": {}}'])
def test_a_file_of_another_form_is_refused(other: Facts, tmp_path: Path, content: str) -> None:
    with pytest.raises(FactError):
        import_file(other, written(tmp_path, content))
    assert len(other.memories(agent="*")) == 0


def test_a_database_of_something_else_is_refused(other: Facts, tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE entries (id)")
    db.close()
    with pytest.raises(FactError, match="no database of crib"):
        import_file(other, path)


def test_a_file_that_is_not_there_is_an_error(other: Facts, tmp_path: Path) -> None:
    with pytest.raises(HippocampusError, match="No such file"):
        import_file(other, tmp_path / "none.json")


def test_another_version_is_an_error(facts: Facts, other: Facts, tmp_path: Path) -> None:
    for document in ({**export(facts, facts.agent), "version": 2}, {**HIPPO, "version": 2}):
        with pytest.raises(FactError, match="version"):
            import_file(other, written(tmp_path, document))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("page.html", b"<ul>\n- one thing\n</ul>"),
        ("rows.csv", b"- a,b\n1,2"),
        ("photo", b"\xff\xd8\xff- one thing"),
        ("notes.md", b"\0\0- one thing"),
        ("list.json", b'["one thing"]'),
    ],
)
def test_a_file_of_another_form_is_refused_by_its_name(name, content, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with Facts(":memory:") as facts, pytest.raises(FactError, match=name):
        import_file(facts, path)


def test_a_second_copy_in_a_file_is_named(tmp_path: Path) -> None:
    with Facts(tmp_path / "a.db") as one, Facts(tmp_path / "b.db") as two:
        one.remember("Ann lives in Rome")
        first = one.memories()[0]
        copies = [first, replace(first, content="Ann lives in Oslo")]
        done = bring(two, Bundle(source="a file", agent="default", memories=copies))
        assert (done.memories, [each.what for each in done.skipped]) == (1, [first.id])
        assert [each.content for each in two.memories()] == ["Ann lives in Rome"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("created", 1e300), ("accesses", -5), ("accesses", 1 << 70), ("encounters", 1 << 63), ("intensity", -1),
        ("intensity", float("nan")), ("known_until", 1e308), ("accessed", float("inf")),
        ("origin", {"session": "s", "turn": 1 << 70}),
    ],
)  # fmt: skip
def test_a_memory_that_no_search_could_read_is_left_out_of_an_import(
    tmp_path: Path, field: str, value: object
) -> None:
    with Facts(tmp_path / "a.db") as one, Facts(tmp_path / "b.db") as two:
        one.remember("Ann lives in Rome")
        one.remember("Ann likes tea")
        found = ours.document(one, "*")
        found["memories"][0][field] = value
        (path := tmp_path / "export.json").write_text(json.dumps(found), "utf-8")
        done = import_file(two, path)
        assert [each.what for each in done.skipped] == ["memories[0]"]
        assert len(two.recall("Ann")) == done.memories == 1
        assert two.context_load()


def test_memories_of_an_import_that_replace_each_other_can_be_deleted(
    other: Facts, tmp_path: Path
) -> None:
    chunks = [
        {**CHUNKS[0], "superseded_by": CHUNKS[1]["id"]},
        {**CHUNKS[1], "superseded_by": CHUNKS[0]["id"]},
        {**CHUNKS[2], "superseded_by": CHUNKS[2]["id"]},
    ]
    import_file(other, written(tmp_path, {**HIPPO, "chunks": chunks}), embedding_model="small")
    ids = [chunk["id"] for chunk in chunks]
    assert returning(other.tables.database, ids) == []
    assert {memory.id for memory in other.delete(ids)} == {*ids}


def test_an_export_that_powershell_wrote_is_imported(other: Facts, tmp_path: Path) -> None:
    path = tmp_path / "backup.json"
    path.write_bytes(json.dumps(HIPPO).encode("utf-16"))
    assert import_file(other, path).memories == 3
