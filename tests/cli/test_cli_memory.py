"""`hippocampus memory`: on stdin and stdout, without and with models."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import commands
import pytest
from models.endpoint import Answer, Asked, endpoint

from hippocampus import Hippocampus
from hippocampus.facts.store import Facts
from hippocampus.storage.facts.rows import Origin

KEY = "sk-never-shown"


def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    return commands.run("memory", *arguments, **options)


def done(*arguments: object, **options: Any) -> str:
    return _output(run(*arguments, **options))


def done_apart(*arguments: object, **options: Any) -> str:
    """Run a verb in a process of its own, as hooks and pipes do."""
    return _output(commands.run_apart("memory", *arguments, **options))


def _output(finished: subprocess.CompletedProcess[str]) -> str:
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def read(*arguments: object, **options: Any) -> Any:
    return json.loads(done(*arguments, "--json", **options))


# crib


def test_what_is_written_is_retrieved(tmp_path: Path) -> None:
    for text in (
        "type=decision Chose SQLite for storage. Zero dependencies.",
        "ClientA's payment terms are Net30.",
    ):
        assert done("--as", "crib", "write", cwd=tmp_path, stdin=text) == ""
    found = done_apart("retrieve", cwd=tmp_path, stdin="what database did we choose for storage?")
    lines = found.splitlines()
    assert re.fullmatch(r'<memory context_time="\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ">', lines[0])
    assert lines[-1] == "</memory>"
    assert "## Memory entries" in lines
    pattern = r"- \[\d{4}-\d\d-\d\d decision\] Chose SQLite for storage\. Zero dependencies\."
    assert any(re.fullmatch(pattern, line) for line in lines)
    found = done("retrieve", cwd=tmp_path, stdin="What are ClientA's payment terms?")
    pattern = r"^- \[\d{4}-\d\d-\d\d \w+\] ClientA's payment terms are Net30\.$"
    assert re.search(pattern, found, re.MULTILINE)


def test_what_is_untyped_is_a_note(tmp_path: Path) -> None:
    done("--as", "crib", "write", cwd=tmp_path, stdin="The build takes two minutes.")
    assert [
        each["type"] for each in read("--as", "hippo", "chunks", "--kind", "memory", cwd=tmp_path)
    ] == ["note"]


@pytest.mark.parametrize("text", ["", " \n\t ", "type=decision", "type=decision  \n"])
def test_empty_input_is_not_written(tmp_path: Path, text: str) -> None:
    finished = run("--as", "crib", "write", cwd=tmp_path, stdin=text)
    assert finished.returncode != 0
    assert "empty" in finished.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", " \n ", "anything at all"])
def test_retrieving_from_nothing_is_silent_and_makes_nothing(tmp_path: Path, text: str) -> None:
    finished = run("retrieve", cwd=tmp_path, stdin=text)
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


def test_retrieving_with_an_empty_prompt_is_silent(tmp_path: Path) -> None:
    done("--as", "crib", "write", cwd=tmp_path, stdin="The build takes two minutes.")
    assert done("retrieve", cwd=tmp_path, stdin=" ") == ""


def test_retrieving_from_a_broken_file_is_silent(tmp_path: Path) -> None:
    (tmp_path / "broken").write_bytes(b"SQLite format 3\0" + b"x" * 5_000)
    finished = commands.run_apart(
        "memory", "retrieve", "--db", "broken", cwd=tmp_path, stdin="anything"
    )
    assert (finished.returncode, finished.stdout) == (0, "")
    assert "Traceback" not in finished.stderr


def test_a_hook_may_send_its_json(tmp_path: Path) -> None:
    done("--as", "crib", "write", cwd=tmp_path, stdin="The boiler is in the cellar.")
    hook = json.dumps({"hook_event_name": "UserPromptSubmit", "prompt": "Where is the boiler?"})
    assert "cellar" in done("retrieve", cwd=tmp_path, stdin=hook)
    assert done("retrieve", cwd=tmp_path, stdin='{"prompt": ""}') == ""


def test_init_makes_the_database_where_it_is_told(tmp_path: Path) -> None:
    done("--as", "crib", "init", "--db", "a.db", cwd=tmp_path)
    done(
        "--as",
        "crib",
        "init",
        cwd=tmp_path,
        env={"HIPPOCAMPUS_DB": str(tmp_path / "deep" / "b.db")},
    )
    done("--as", "crib", "init", cwd=tmp_path)
    done("--as", "crib", "init", cwd=tmp_path)
    made = {str(each.relative_to(tmp_path)) for each in tmp_path.rglob("*.*") if each.is_file()}
    assert {"a.db", "deep/b.db", ".hippocampus/state.sqlite3"} <= made


def test_preferences_that_do_not_fit_are_counted_at_each_door(tmp_path: Path) -> None:
    with Facts(tmp_path / "memory.sqlite3") as facts:
        for number in range(300):
            facts.store(f"I prefer lamp {number} in the evening", type="preference")
    for verb in (("recall",), ("--as", "scriptling", "recall")):
        printed = done(*verb, "--db", tmp_path / "memory.sqlite3", cwd=tmp_path)
        assert f"({printed.count('lamp')} of 300 preferences)" in printed


def test_a_text_that_crib_does_not_keep_is_a_failure(tmp_path: Path) -> None:
    given = "The password is hunter2!secret9. " + "word " * 250_000
    finished = run("--as", "crib", "write", cwd=tmp_path, stdin=given)
    assert finished.returncode == 1
    assert "refused" in finished.stderr


def test_the_doctor_says_what_there_is(tmp_path: Path) -> None:
    found = json.loads(done("--as", "crib", "doctor", cwd=tmp_path))
    assert found["ok"]
    assert not found["database"]["exists"]
    assert list(tmp_path.iterdir()) == []
    found = json.loads(done("--as", "crib", "doctor", cwd=tmp_path))
    assert list(tmp_path.iterdir()) == []
    done("--as", "crib", "write", cwd=tmp_path, stdin="The boiler is in the cellar.")
    assert json.loads(done("--as", "crib", "doctor", cwd=tmp_path))["database"]["memories"] > 0
    probe = json.loads(done("--as", "crib", "doctor", "--probe", cwd=tmp_path))["probe"]
    assert probe == {"ok": True}


def test_an_emptied_file_is_a_loss_that_the_doctor_names_and_does_not_fill(tmp_path: Path) -> None:
    emptied = tmp_path / "memory.sqlite3"
    emptied.touch()
    found = commands.run("doctor", "memory.sqlite3", cwd=tmp_path)
    assert found.returncode == 1
    assert "an empty file" in found.stdout
    assert not emptied.stat().st_size
    emptied.unlink()
    os.mkfifo(emptied)
    assert "no regular file" in commands.run("doctor", "memory.sqlite3", cwd=tmp_path).stdout


def test_the_doctor_finds_a_broken_file(tmp_path: Path) -> None:
    (tmp_path / "broken").write_bytes(b"SQLite format 3\0" + b"x" * 5_000)
    finished = run("--as", "crib", "doctor", "--db", "broken", cwd=tmp_path)
    assert finished.returncode == 1
    found = json.loads(finished.stdout)
    assert not found["ok"]
    assert found["database"]["problems"]


# hippo


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    for text in ("Alice lives in Berlin.", "Alice lives in Bangkok now."):
        done("remember", text, "--agent", "ann", cwd=tmp_path)
    done(
        "--as",
        "crib",
        "write",
        "--agent",
        "ben",
        cwd=tmp_path,
        stdin="type=decision Redis stays, 100% sure.",
    )
    return tmp_path


def test_stats_count_by_kind_and_agent(filled: Path) -> None:
    found = read("--as", "hippo", "stats", cwd=filled)
    assert sum(found["current"].values()) == 2
    assert found["superseded"] == 1
    assert set(found["agents"]) == {"ann", "ben"}
    assert found["bytes"] > 0
    assert "superseded" in done("--as", "hippo", "stats", cwd=filled)
    assert [each["agent"] for each in read("--as", "hippo", "agents", cwd=filled)] == ["ann", "ben"]
    assert "ann" in done("--as", "hippo", "agents", cwd=filled)


def test_the_help_of_a_stores_verb_shows_how_it_is_called(tmp_path: Path) -> None:
    assert "memory --as hippo chunks" in done("--as", "hippo", "chunks", "--help", cwd=tmp_path)


@pytest.mark.parametrize("limit", [0, -5])
def test_a_limit_that_asks_for_nothing_is_refused(filled: Path, limit: int) -> None:
    found = run("list", "--limit", limit, cwd=filled)
    assert found.returncode == 2
    assert "asks for nothing; -1 is all" in found.stderr


def test_chunks_are_listed_and_filtered(filled: Path) -> None:
    assert len(read("--as", "hippo", "chunks", "ann", cwd=filled)) == 1
    assert len(read("--as", "hippo", "chunks", "ann", "--superseded", cwd=filled)) == 2
    assert (
        len(read("--as", "hippo", "chunks", "ann", "--superseded", "--limit", 1, cwd=filled)) == 1
    )
    assert "Bangkok" in done("--as", "hippo", "chunks", "ann", "--kind", "fact", cwd=filled)
    assert run("--as", "hippo", "chunks", "ann", "--kind", "dream", cwd=filled).returncode == 2


def test_search_is_of_all_agents_and_any_case(filled: Path) -> None:
    assert [each["agent"] for each in read("--as", "hippo", "search", "redis", cwd=filled)] == [
        "ben"
    ]
    assert len(read("--as", "hippo", "search", "100%", cwd=filled)) == 1
    assert read("--as", "hippo", "search", "1_0%", cwd=filled) == []
    assert read("--as", "hippo", "search", "redis", "--agent", "ann", cwd=filled) == []
    assert len(read("--as", "hippo", "search", "alice LIVES", "--superseded", cwd=filled)) == 2
    assert "no memories" in done("--as", "hippo", "search", "zebra", cwd=filled)


def test_blocks_are_listed_and_read(filled: Path) -> None:
    facts = Facts(filled / ".hippocampus" / "state.sqlite3", agent="ann")
    facts.blocks.append("persona", "kind")
    facts.close()
    assert [each["key"] for each in read("--as", "hippo", "blocks", "ann", cwd=filled)] == [
        "persona"
    ]
    assert done("--as", "hippo", "block", "ann", "persona", cwd=filled) == "kind\n"
    with Facts(filled / ".hippocampus" / "state.sqlite3", agent="ann") as facts:
        facts.blocks.append("persona", "kinder", scope="work")
    assert "work/persona (6 bytes" in done("--as", "hippo", "blocks", "ann", cwd=filled)
    missing = run("--as", "hippo", "block", "ann", "none", "--json", cwd=filled)
    assert missing.returncode == 1
    assert json.loads(missing.stdout)["value"] is None


def test_deleting_shows_first_and_brings_back_what_was_replaced(filled: Path) -> None:
    (memory,) = read("--as", "hippo", "chunks", "ann", cwd=filled)
    half = run("--as", "hippo", "delete", memory["id"], "nothing", "--json", cwd=filled)
    assert half.returncode == 1
    shown = json.loads(half.stdout)
    assert shown["dry_run"]
    assert "nothing" in half.stderr
    assert "--force" in done("--as", "hippo", "delete", memory["id"], cwd=filled)
    assert len(read("--as", "hippo", "chunks", "ann", cwd=filled)) == 1
    assert not read("--as", "hippo", "delete", memory["id"], "--force", cwd=filled)["dry_run"]
    assert "Berlin" in done("--as", "hippo", "chunks", "ann", cwd=filled)


def test_purging_shows_first_and_takes_what_was_replaced(filled: Path) -> None:
    assert len(read("--as", "hippo", "purge", cwd=filled)["deleted"]) == 1
    assert read("--as", "hippo", "purge", "--agent", "ben", "--force", cwd=filled)["deleted"] == []
    assert (
        read("--as", "hippo", "purge", "--before", "2020-01-01", "--force", cwd=filled)["deleted"]
        == []
    )
    assert read("--as", "hippo", "stats", cwd=filled)["superseded"] == 1
    assert len(read("--as", "hippo", "purge", "--force", cwd=filled)["deleted"]) == 1
    assert read("--as", "hippo", "stats", cwd=filled)["superseded"] == 0


def test_what_was_replaced_can_be_restored(filled: Path) -> None:
    old = next(
        each
        for each in read("--as", "hippo", "chunks", "ann", "--superseded", cwd=filled)
        if each["superseded_by"]
    )
    assert [each["id"] for each in read("restore", old["id"], cwd=filled)] == [old["id"]]


@pytest.mark.parametrize("form", ["export --agent ann", "--as hippo export ann"])
def test_an_export_is_imported_elsewhere_and_once(filled: Path, form: str) -> None:
    (filled / "backup.json").write_text(done(*form.split(), cwd=filled), "utf-8")
    found = read("import", "backup.json", "--db", "other.db", cwd=filled)
    assert (found["imported"]["memories"], found["skipped"]) == (2, [])
    again = read("import", "backup.json", "--db", "other.db", cwd=filled)
    assert again["imported"]["memories"] == 0
    assert len(again["skipped"]) >= 2
    assert "skipped" in done("import", "backup.json", "--db", "other.db", cwd=filled)


@pytest.mark.parametrize(
    "verb",
    ["--as hippo stats", "--as hippo agents", "--as hippo chunks", "--as hippo blocks", "--as hippo export", "--as hippo purge", "--as hippo search x",
     "--as hippo delete x", "--as hippo block a b", "--as scriptling count", "--as scriptling compact", "--as scriptling recall x", "list",
     "show x", "history x", "update x y", "export", "recall x", "restore x"],
)  # fmt: skip
def test_without_a_database_verbs_say_so_and_make_none(tmp_path: Path, verb: str) -> None:
    finished = run(*verb.split(), cwd=tmp_path)
    assert finished.returncode == 2
    assert "hippocampus memory remember" in finished.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_known_problem_is_one_sentence_and_status_2(tmp_path: Path) -> None:
    finished = run("--as", "hippo", "stats", cwd=tmp_path)
    assert (finished.returncode, finished.stdout) == (2, "")
    assert len(finished.stderr.splitlines()) == 1


# scriptling


def test_remembering_says_what_it_did(tmp_path: Path) -> None:
    (added,) = read("remember", "Alice likes tea.", "--importance", "0.9", cwd=tmp_path)
    assert added["action"] == "added"
    assert added["memory"]["intensity"] == pytest.approx(0.9)
    (again,) = read("remember", cwd=tmp_path, stdin="Alice likes tea.")
    assert again["action"] == "strengthened"
    assert done("--as", "scriptling", "count", cwd=tmp_path) == "1\n"
    assert run("remember", cwd=tmp_path).returncode == 2


def test_recalling_ranks_filters_and_loads_the_context(tmp_path: Path) -> None:
    done("remember", "Prefers dark mode.", "--type", "preference", cwd=tmp_path)
    done("remember", "The boiler is in the cellar.", "--type", "fact", cwd=tmp_path)
    (first, *_) = read("recall", "boiler", cwd=tmp_path)
    assert "cellar" in first["content"]
    assert first["score"]["total"] > 0
    assert [each["type"] for each in read("recall", "--type", "preference", cwd=tmp_path)] == [
        "preference"
    ]
    assert {each["type"] for each in read("recall", "--type", "!preference", cwd=tmp_path)} == {
        "fact"
    }
    assert done("recall", cwd=tmp_path).startswith("<memory context_time=")
    assert len(read("recall", cwd=tmp_path)) == 2


def test_without_a_query_json_has_what_the_text_has(tmp_path: Path) -> None:
    """Neither has what a conversation does not start with."""
    done("remember", "Prefers dark mode.", "--type", "preference", cwd=tmp_path)
    with Facts(tmp_path / ".hippocampus" / "state.sqlite3") as facts:
        facts.store("The page says: buy.", origin=Origin(role="tool"))
    assert [each["content"] for each in read("recall", cwd=tmp_path)] == ["Prefers dark mode."]
    assert "buy" not in done("recall", cwd=tmp_path)


def forget(*arguments: str, cwd: Path) -> dict[str, Any]:
    done = commands.run("forget", ".hippocampus", *arguments, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_list_marks_what_was_removed(tmp_path: Path) -> None:
    with Facts(tmp_path / "facts.sqlite3") as facts:
        facts.store("The boiler is red.", type="note", at="2020-01-01")
    for options in (["--as", "scriptling", "compact", "--force"], ["list", "boiler", "--ended"]):
        listed = done(*options, "--db", "facts.sqlite3", cwd=tmp_path)
    assert "The boiler is red. (removed: old)" in listed


def test_forgetting_shows_first(tmp_path: Path) -> None:
    done("remember", "The boiler is in the cellar.", cwd=tmp_path)
    shown = forget("The boiler is in the cellar.", cwd=tmp_path)
    assert (len(shown["deleted"]), shown["dry_run"]) == (1, True)
    assert read("--as", "scriptling", "count", cwd=tmp_path) == {"count": 1}
    printed = commands.run("forget", ".hippocampus", "boiler", cwd=tmp_path).stdout
    assert "1 would go; --apply deletes them" in printed
    forget(shown["deleted"][0]["id"], "--apply", cwd=tmp_path)
    assert read("--as", "scriptling", "count", cwd=tmp_path) == {"count": 0}


def test_forgetting_by_one_word_of_several_memories_asks_for_two(tmp_path: Path) -> None:
    for place in ("cellar", "attic"):
        done("remember", f"The boiler is in the {place}.", cwd=tmp_path)
    for words, hint in (("the boiler", True), ("boiler garage", False)):
        ended = commands.run("forget", ".hippocampus", words, cwd=tmp_path)
        assert (ended.returncode, ended.stdout) == (1, "")
        assert ended.stderr.startswith("hippocampus: nothing to delete")
        assert ("name two of its words or more" in ended.stderr) == hint


def test_forgetting_by_the_mark_of_a_line_takes_the_lines_in_files_too(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "Remember: the boiler is red. Remember: tea is at five."},
        {"role": "assistant", "content": "Noted."},
    ]
    with Hippocampus(tmp_path / ".hippocampus") as memory, memory.session("a") as session:
        session(messages[:1])
        session.close(messages)
    texts = [path.read_text() for path in tmp_path.rglob("*.md")]
    assert [text.count("boiler") for text in texts] == [1, 1]
    mark = re.findall(r"boiler.*<!-- (\w+) -->", "".join(texts))[0]
    for verb in ("show", "history", "confirm"):
        assert "the boiler is red" in done(verb, mark, cwd=tmp_path)
    assert read("show", mark, "--db", ".hippocampus", cwd=tmp_path)[0]["id"].endswith(mark[-10:])
    forget(mark, "--apply", cwd=tmp_path)
    texts = [path.read_text() for path in tmp_path.rglob("*.md")]
    assert [(text.count("boiler"), text.count("tea")) for text in texts] == [(0, 1), (0, 1)]


def test_a_new_state_with_a_point_in_its_name_is_a_directory(tmp_path: Path) -> None:
    state = tmp_path / "agent-1.2"
    variables = {"HIPPOCAMPUS_STATE": str(state)}
    done("remember", "The door code is 4711.", cwd=tmp_path, env=variables)
    with Hippocampus(state) as memory:
        assert [fact.content for fact in memory.facts.memories()] == ["The door code is 4711."]


def test_updating_a_memory_and_deleting_it_changes_its_line(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "Remember: the boiler is red."}]
    noted = {"role": "assistant", "content": "Noted."}
    with Hippocampus(tmp_path / ".hippocampus") as memory, memory.session("a") as session:
        session(said)
        session.close([*said, noted])
    (found,) = read("list", "boiler", cwd=tmp_path)
    file = tmp_path / ".hippocampus" / "MEMORY.md"
    done("update", found["id"], "The boiler is blue.", cwd=tmp_path)
    assert ("red" in file.read_text(), "blue" in file.read_text()) == (False, True)
    done("--as", "hippo", "delete", found["id"], "--force", cwd=tmp_path)
    assert "boiler" not in file.read_text()


def test_what_a_tool_forgot_leaves_the_files_at_the_next_end(tmp_path: Path) -> None:
    noted = {"role": "assistant", "content": "Noted."}
    with Hippocampus(tmp_path) as memory:
        for text in ("Remember: the boiler is red. Remember: tea is at five.", "Hello there."):
            said = {"role": "user", "content": text}
            with memory.session(text[:5]) as session:
                session([said])
                session.close([said, noted])
            memory.facts.forget("the red boiler")
    texts = [path.read_text() for path in tmp_path.rglob("*.md")]
    assert [(text.count("boiler"), text.count("tea")) for text in texts] == [(0, 1), (0, 1)]


def test_forgetting_says_what_is_true_again(tmp_path: Path) -> None:
    for place in ("Berlin", "Rome"):
        done("remember", f"Ann lives in {place} now.", cwd=tmp_path)
    shown = forget("Ann lives in Rome now", cwd=tmp_path)
    assert [each["content"] for each in shown["returned"]] == ["Ann lives in Berlin now."]


def test_the_doctor_of_a_database_is_that_of_a_memory(tmp_path: Path) -> None:
    done("remember", "The boiler is in the cellar.", cwd=tmp_path)
    found = commands.run("doctor", ".hippocampus/state.sqlite3", cwd=tmp_path)
    assert json.loads(found.stdout)["database"]["memories"] == 1


@pytest.mark.parametrize("verb", [["--as", "hippo", "delete"]])
def test_deleting_says_what_is_true_again(verb: list[str], tmp_path: Path) -> None:
    for place in ("Berlin", "Rome", "Munich"):
        done("remember", f"Ann lives in {place} now.", cwd=tmp_path)
    (found,) = read("recall", "Ann lives in Munich now", cwd=tmp_path)
    memory_id = found["id"]
    shown = read(*verb, memory_id, cwd=tmp_path)
    assert [each["content"] for each in shown["returned"]] == ["Ann lives in Rome now."]
    told = done(*verb, memory_id, "--force", cwd=tmp_path)
    assert "\ntrue again: " in told
    assert "Ann lives in Rome now." in told
    (again,) = read("recall", "Ann lives", cwd=tmp_path)
    assert again["content"] == "Ann lives in Rome now."


def test_compacting_shows_first(tmp_path: Path) -> None:
    done("remember", "An old note about the boiler.", cwd=tmp_path)
    path = tmp_path / ".hippocampus" / "state.sqlite3"
    db = sqlite3.connect(path)
    db.execute("UPDATE memory SET created = 0, accessed = 0, valid_from = 0")
    db.commit()
    db.close()
    assert read("--as", "scriptling", "compact", cwd=tmp_path)["removed"] == 1
    assert read("--as", "scriptling", "count", cwd=tmp_path) == {"count": 1}
    found = read("--as", "scriptling", "compact", "--force", cwd=tmp_path)
    assert (found["removed"], found["remaining"], found["dry_run"]) == (1, 0, False)
    assert len(read("restore", *found["removed_ids"], cwd=tmp_path)) == 1


# Models that the environment names


def served(asked: Asked) -> Answer:
    if asked.path.endswith("/embeddings"):
        rows = [
            {"index": place, "embedding": [float(len(text)), 1.0, 2.0]}
            for place, text in enumerate(asked.body["input"])
        ]
        return Answer({"data": rows})
    return Answer({"choices": [{"message": {"content": "[]"}}]})


def test_models_come_from_the_environment_and_hippos_verbs_ask_none(tmp_path: Path) -> None:
    with endpoint(served) as server:
        env = {
            "HIPPOCAMPUS_EMBED_URL": server.address,
            "HIPPOCAMPUS_EMBED_MODEL": "small",
            "HIPPOCAMPUS_EMBED_KEY": KEY,
            "HIPPOCAMPUS_EMBED_DIMENSIONS": "3",
        }
        done("remember", "The boiler is in the cellar.", cwd=tmp_path, env=env)
        assert {each.path for each in server.asked} == {"/v1/embeddings"}
        assert server.asked[0].headers["Authorization"] == f"Bearer {KEY}"
        assert server.asked[0].body["dimensions"] == 3
        assert read("--as", "hippo", "stats", cwd=tmp_path, env=env)["embedding_model"] == "small"
        count = len(server.asked)
        for verb in (
            "--as hippo agents",
            "--as hippo chunks",
            "--as hippo search boiler",
            "--as hippo purge",
            "export",
            "list",
        ):
            assert KEY not in done(*verb.split(), cwd=tmp_path, env=env)
        assert len(server.asked) == count


def test_another_embedding_model_names_the_command_that_embeds_anew(tmp_path: Path) -> None:
    with endpoint(served) as server:
        first, second = (
            {"HIPPOCAMPUS_EMBED_URL": server.address, "HIPPOCAMPUS_EMBED_MODEL": model}
            for model in ("small", "large")
        )
        done("remember", "The boiler is in the cellar.", cwd=tmp_path, env=first)
        refused = run("recall", "boiler", cwd=tmp_path, env=second)
        assert refused.returncode == 2
        for word in ("small", "large", "hippocampus memory reembed"):
            assert word in refused.stderr
        asked = run("retrieve", cwd=tmp_path, env=second, stdin="Where is the boiler?")
        assert "cellar" in asked.stdout
        assert "searched by words alone" in asked.stderr
        found = json.loads(run("--as", "crib", "doctor", cwd=tmp_path, env=second).stdout)
        assert "reembed" in found["models"]["problem"]
        assert read("reembed", cwd=tmp_path, env=second) == {"embedded": 1, "memories": 1}
        assert "cellar" in done("recall", "boiler", cwd=tmp_path, env=second)
    assert run("reembed", cwd=tmp_path).returncode == 2


@pytest.mark.parametrize(
    "env",
    [
        {"HIPPOCAMPUS_EMBED_URL": "http://127.0.0.1:9", "HIPPOCAMPUS_EMBED_MODEL": "small",
         "HIPPOCAMPUS_EMBED_DIMENSIONS": "many"},
        {"HIPPOCAMPUS_EMBED_URL": "ftp://x", "HIPPOCAMPUS_EMBED_MODEL": "small"},
    ],
)  # fmt: skip
def test_a_bad_setting_never_blocks_a_prompt(tmp_path: Path, env: dict[str, str]) -> None:
    done("--as", "crib", "write", cwd=tmp_path, stdin="The boiler is in the cellar.")
    finished = run("retrieve", cwd=tmp_path, stdin="Where is the boiler?", env=env)
    assert finished.returncode == 0
    assert "Traceback" not in finished.stderr


def test_retrieving_with_a_dead_endpoint_still_answers(tmp_path: Path) -> None:
    done("--as", "crib", "write", cwd=tmp_path, stdin="The boiler is in the cellar.")
    env = {"HIPPOCAMPUS_EMBED_URL": "http://127.0.0.1:9/v1", "HIPPOCAMPUS_EMBED_MODEL": "small"}
    finished = run("retrieve", cwd=tmp_path, stdin="Where is the boiler?", env=env)
    assert finished.returncode == 0
    assert "Traceback" not in finished.stderr


@pytest.mark.slow
def test_processes_write_at_once(tmp_path: Path) -> None:
    done("--as", "crib", "init", cwd=tmp_path)
    texts = [f"Tool number {number} stands in hall {number}." for number in range(3)]
    writers = [
        threading.Thread(
            target=done_apart,
            args=("--as", "crib", "write"),
            kwargs={"cwd": tmp_path, "stdin": text},
        )
        for text in texts
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(read("--as", "hippo", "search", "Tool number", cwd=tmp_path)) == len(texts)


def test_an_unknown_completion_api_is_named(tmp_path: Path) -> None:
    env = {
        "HIPPOCAMPUS_COMPLETE_API": "openapi",
        "HIPPOCAMPUS_COMPLETE_MODEL": "m",
        "HIPPOCAMPUS_COMPLETE_URL": "http://127.0.0.1:1",
    }
    found = run("remember", "Ann likes tea.", cwd=tmp_path, env=env)
    assert found.returncode == 2
    assert "HIPPOCAMPUS_COMPLETE_API is 'openapi'; there are openai and anthropic" in found.stderr
    assert not (tmp_path / ".hippocampus").exists()


def test_what_cannot_be_restored_is_named(filled: Path) -> None:
    for verb in (
        "restore",
        "show",
        "history",
        "confirm",
        "--as hippo delete",
        "--as scriptling forget",
    ):
        found = run(*verb.split(), "nosuch", cwd=filled)
        assert (found.returncode, found.stdout) == (1, "")
        assert found.stderr == "hippocampus: no memory nosuch\n"
    assert run("update", "nosuch", "text", cwd=filled).returncode == 1
    assert commands.run("forget", ".hippocampus", "nosuch", cwd=filled).returncode == 1


def test_a_verb_of_another_store_is_suggested_by_none(tmp_path: Path) -> None:
    for verb, near in (("recall", ""), ("chunk", " Did you mean 'chunks'?")):
        wrong = run("--as", "hippo", verb, cwd=tmp_path)
        assert f"No such command '{verb}'.{near} " in wrong.stderr.replace("│", "")


def test_every_agent_is_the_name_of_none(tmp_path: Path) -> None:
    for verb in ("remember", "--as scriptling remember", "--as crib write"):
        refused = run(*verb.split(), "--agent", "*", cwd=tmp_path, stdin="Alice likes tea.")
        assert (refused.returncode, "asks for all agents" in refused.stderr) == (2, True)
    done("remember", "Alice likes tea.", "--agent", "ann", cwd=tmp_path)
    assert "tea" in done("recall", "tea", "--agent", "*", cwd=tmp_path)


def test_an_import_of_nothing_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("There is no list here.")
    refused = run("import", "notes.txt", cwd=tmp_path)
    assert (refused.returncode, "nothing in it is a memory" in refused.stderr) == (2, True)


def test_what_was_true_at_a_date_needs_no_query(filled: Path) -> None:
    assert "Alice" in done("recall", "--agent", "ann", cwd=filled)
    past = done("recall", "--agent", "ann", "--as-of", "2020-01-01", cwd=filled)
    assert past == "nothing found\n"


def test_a_memory_is_shown_with_the_fields_that_are_set(tmp_path: Path) -> None:
    done("remember", "Alice likes tea.", cwd=tmp_path)
    (memory,) = read("list", cwd=tmp_path)
    shown = done("show", memory["id"], cwd=tmp_path)
    assert "Alice likes tea." in shown
    assert not re.search("[{}]|None|origin", shown)
    done("remember", "Bob likes coffee.", cwd=tmp_path)
    ids = [each["id"] for each in read("list", cwd=tmp_path)]
    one, other = (done("show", each, cwd=tmp_path) for each in ids)
    assert done("show", *ids, cwd=tmp_path) == f"{one}\n{other}"


def test_a_preference_of_little_importance_is_not_compacted(tmp_path: Path) -> None:
    done("remember", "I like tea.", "--importance", "0.05", cwd=tmp_path)
    assert read("--as", "scriptling", "compact", "--force", cwd=tmp_path)["removed"] == 0


def test_scriptling_updates_what_is_very_similar(tmp_path: Path) -> None:
    long = (
        "The deployment pipeline builds the image, runs the integration tests and ships to staging"
    )
    done("--as", "scriptling", "remember", long, "--type", "fact", cwd=tmp_path)
    again = read("--as", "scriptling", "remember", f"{long} too", "--type", "fact", cwd=tmp_path)
    assert (again["action"], again["memory"]["content"]) == ("strengthened", f"{long} too")
    assert read("--as", "scriptling", "count", cwd=tmp_path) == {"count": 1}
    other = (
        "The deployment pipeline builds the image, runs 12 integration tests and ships to staging"
    )
    assert (
        read("--as", "scriptling", "remember", other, "--type", "fact", cwd=tmp_path)["action"]
        == "added"
    )


def test_scriptlings_remember_ends_nothing(tmp_path: Path) -> None:
    for text in ("I live in Leeds.", "I moved to York.", "I no longer live in Leeds."):
        done("--as", "scriptling", "remember", text, cwd=tmp_path)
    assert read("--as", "scriptling", "count", cwd=tmp_path) == {"count": 3}


def test_a_silent_endpoint_holds_no_prompt_up(tmp_path: Path) -> None:
    """The embedding is given a moment; then the words decide."""
    with endpoint(served) as server:
        env = {"HIPPOCAMPUS_EMBED_URL": server.address, "HIPPOCAMPUS_EMBED_MODEL": "small"}
        done("remember", "The boiler is in the cellar.", cwd=tmp_path, env=env)
    over = threading.Event()
    with endpoint(lambda _: Answer({"late": over.wait(60)})) as server:
        env = {"HIPPOCAMPUS_EMBED_URL": server.address, "HIPPOCAMPUS_EMBED_MODEL": "small"}
        started = time.monotonic()
        assert "cellar" in done_apart(
            "retrieve", cwd=tmp_path, stdin="Where is the boiler?", env=env
        )
        assert time.monotonic() - started < 50  # less than the endpoint takes
        over.set()


@pytest.mark.parametrize("name", ["agent-state", ".hippocampus"])
def test_a_memory_without_a_suffix_is_a_state_directory(tmp_path: Path, name: str) -> None:
    done("remember", "I like green tea.", "--db", name, cwd=tmp_path)
    with Hippocampus(tmp_path / name) as memory:
        assert [each.content for each in memory.facts.memories()] == ["I like green tea."]
    done("remember", "I like green tea.", "--db", "one.db", cwd=tmp_path)
    assert (tmp_path / "one.db").is_file()
