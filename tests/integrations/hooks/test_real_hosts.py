"""Real coding agents with our hooks and our server, against a scripted model."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from integrations.hooks import hosts
from models.endpoint import Server

from hippocampus.facts.store import Facts
from hippocampus.integrations.hooks import settings

pytest.importorskip("mcp")
with_claude = pytest.mark.skipif(
    not shutil.which("claude"), reason="npm: @anthropic-ai/claude-code"
)
with_codex = pytest.mark.skipif(not shutil.which("codex"), reason="npm: @openai/codex")

with_gemini = pytest.mark.skipif(not shutil.which("gemini"), reason="npm: @google/gemini-cli")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "rows.py").write_text(hosts.ROWS)
    (tmp_path / "project" / "notes.txt").write_text("A line of the notes.\n" * 400)
    return tmp_path / "project"


def lists(server: Server, key: str) -> list[list[dict[str, Any]]]:
    """Return the message lists that the model was sent, side calls left out."""
    return [each.body[key] for each in server.asked if each.body and each.body.get("tools")]


def remember(home: Path, said: str) -> None:
    with Facts(home / ".hippocampus" / "state.sqlite3") as facts:
        facts.remember(said)


def told_later(home: Path, said: str) -> bool:
    """Return whether the memory gets a sentence, for which a loaded machine has ten minutes."""
    for _ in range(1_200):
        if (home / ".hippocampus" / "state.sqlite3").exists():
            with Facts(home / ".hippocampus" / "state.sqlite3") as facts:
                if facts.recall(said):
                    return True
        time.sleep(0.5)
    return False


@with_claude
def test_claude_code_gets_the_entry_recalls_its_payload_and_remembers(
    home: Path, project: Path
) -> None:
    assert hosts.hippocampus(home, project, "install", "claude-code").returncode == 0
    steps = [
        hosts.call("Bash", command="python3 rows.py", description="list the items"),
        hosts.recall_of("mcp__hippocampus__recall", head=1000, max_tokens=8000),
        hosts.call("Read", file_path=str(project / "notes.txt")),
        hosts.say("Item 123 is open."),
    ]
    with hosts.claude_model(steps) as server:
        said = hosts.claude(home, project, server, "Always answer in metric units. Is 123 open?")
    assert said["result"] == "Item 123 is open."
    last = lists(server, "messages")[-1]
    results = [
        block
        for message in last
        if message["role"] == "user" and isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    entry, recalled, read = (json.dumps(each, ensure_ascii=False) for each in results)
    assert " · Bash · " in entry
    assert len(entry) < 4_500
    assert "item-0123" in recalled
    assert len(recalled) > 4_500  # a recall is not shortened again
    assert read.count("A line of the notes.") == 400  # what it asked to read is whole
    status = hosts.hippocampus(home, project, "status", "claude-code")
    assert "edits    1 of 1 arrived" in status.stdout
    saved = hosts.hippocampus(home, project, "status", str(home / ".hippocampus"), "--json")
    row = json.loads(saved.stdout)[0]
    assert row["calls"] == 4
    # The model took nearly all of the result back, for more than its entry had saved.
    assert row["recall_dollars"] > 0 > row["saved_dollars"] > -row["recall_dollars"]
    assert status.returncode == 0
    assert told_later(home, "metric units")
    with hosts.claude_model([hosts.say("Yes.")]) as server:
        hosts.claude(home, project, server, "Hello again.")
    assert "metric units" in json.dumps(lists(server, "messages")[0])


@with_claude
def test_claude_code_lists_the_recall_tool_from_the_start(home: Path, project: Path) -> None:
    hosts.hippocampus(home, project, "install", "claude-code")
    with hosts.claude_model([hosts.say("Done.")]) as server:
        hosts.claude(home, project, server, "Wait.")
    [first] = (each.body for each in server.asked if each.body and each.body.get("tools"))
    assert "mcp__hippocampus__recall" in [each["name"] for each in first["tools"]]


@with_codex
def test_codex_gets_the_entry_and_recalls_its_payload(home: Path, project: Path) -> None:
    assert hosts.hippocampus(home, project, "install", "codex").returncode == 0
    remember(home, "I prefer metric units.")
    remember(home, "The owner of item 123 is Ann.")
    steps = [
        hosts.call("exec_command", cmd="python3 rows.py"),
        hosts.recall_of("recall", "mcp__hippocampus", head=1000, max_tokens=8000),
        hosts.say("Item 123 is open."),
    ]
    with hosts.codex_model(steps) as server:
        assert "Item 123 is open." in hosts.codex(home, project, server, "Is item 123 open?")
    assert "metric units" in json.dumps(lists(server, "input")[0])  # from the start
    assert "is Ann" in json.dumps(lists(server, "input")[0])  # from the prompt
    last = lists(server, "input")[-1]
    results = [
        json.dumps(item["output"], ensure_ascii=False)
        for item in last
        if item["type"] == "function_call_output"
    ]
    entry, recalled = results
    assert "The call succeeded." in entry
    assert " · Bash · " in entry
    assert "item-0123" in recalled
    assert len(recalled) > 4_500
    status = hosts.hippocampus(home, project, "status", "codex")
    assert "edits    1 of 1 arrived" in status.stdout
    assert status.returncode == 0


@with_gemini
def test_gemini_gets_the_entry_and_recalls_its_payload(home: Path, project: Path) -> None:
    assert hosts.hippocampus(home, project, "install", "gemini").returncode == 0
    remember(home, "I prefer metric units.")
    remember(home, "The owner of item 123 is Ann.")
    steps = [
        hosts.call("run_shell_command", command="python3 rows.py"),
        hosts.recall_of("mcp_hippocampus_recall", head=1000, max_tokens=8000),
        hosts.say("Item 123 is open."),
    ]
    with hosts.gemini_model(steps) as server:
        assert "Item 123 is open." in hosts.gemini(home, project, server, "Is item 123 open?")
    assert "metric units" in json.dumps(lists(server, "contents")[0])  # from the start
    assert "is Ann" in json.dumps(lists(server, "contents")[0])  # from the prompt
    parts = [part for content in lists(server, "contents")[-1] for part in content["parts"]]
    responses = [part["functionResponse"] for part in parts if "functionResponse" in part]
    entry, recalled = (json.dumps(each["response"], ensure_ascii=False) for each in responses)
    assert "The call succeeded." in entry
    assert " · run_shell_command · " in entry
    assert "item-0123" in recalled
    assert len(recalled) > 4_500
    status = hosts.hippocampus(home, project, "status", "gemini")
    assert "edits    1 of 1 arrived" in status.stdout
    assert status.returncode == 0


@pytest.mark.parametrize("name", hosts.SERVED_AGENTS)
def test_an_agent_asks_the_memory_through_the_server(name: str, home: Path, project: Path) -> None:
    if not shutil.which(name):
        pytest.skip(f"no {name} from npm")
    assert hosts.hippocampus(home, project, "install", name).returncode == 0
    remember(home, "I prefer metric units.")
    steps = [*hosts.SERVED_AGENTS[name].search, hosts.say("Metric ones.")]
    with hosts.claude_model(steps) as server:
        assert "Metric ones." in hosts.served(name, home, project, server)
    assert "I prefer metric units." in json.dumps(lists(server, "messages")[-1][-1])
    if settings.HOSTS[name].hooks[0]:  # from the start too
        assert "metric units" in json.dumps(server.asked[0].body)
    assert hosts.hippocampus(home, project, "status", name).returncode == 0
