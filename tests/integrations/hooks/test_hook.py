"""The hook over events that Claude Code 2.1.330 and Codex 0.169.0 have sent, and Gemini CLI's."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import re
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import Any

import commands
import pytest
from postgres_server import Server
from states import stored_sessions
from typer.testing import CliRunner

from hippocampus import Hippocampus
from hippocampus.cli.commands import app
from hippocampus.integrations.hooks import answer_event, log_of, note_event, tool_output
from hippocampus.storage import hook_events
from hippocampus.storage.state import DirectoryState
from hippocampus.storage.state_dir import StateDir

RECORDED = [
    json.loads(line)
    for line in (Path(__file__).parent / "events.jsonl").read_text("utf-8").splitlines()
]
ROWS = json.dumps([{"id": n, "name": f"item-{n:04}", "open": n % 3 == 0} for n in range(300)])
HITS = "\n".join(f"src/file_{n}.py:{n}:    total = total + value_{n}" for n in range(900))


def recorded(host: str, name: str, tool: str = "", place: int = 0) -> dict[str, Any]:
    """Return an event that a host has sent."""
    found = [
        each["event"]
        for each in RECORDED
        if each["host"] == host
        and each["event"]["hook_event_name"] == name
        and each["event"].get("tool_name", "") == tool
    ]
    return copy.deepcopy(found[place])


def with_result(event: dict[str, Any], text: str, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return an event of the same shape with another text, of another call."""
    path = tool_output.text_path(event["tool_response"])
    assert path is not None
    response = tool_output.with_text(event["tool_response"], path, text)
    return {**event, "tool_name": tool, "tool_input": arguments, "tool_response": response}


BASH = recorded("claude-code", "PostToolUse", "Bash")
GREP = recorded("claude-code", "PostToolUse", "Grep")
MCP = recorded("claude-code", "PostToolUse", "mcp__hippocampus__remember")
CODEX = recorded("codex", "PostToolUse", "Bash")
CODEX_MCP = recorded("codex", "PostToolUse", "mcp__hippocampus__remember")
GEMINI = {
    "session_id": "g1",
    "transcript_path": "/run/chat.json",
    "cwd": "/run/proj",
    "hook_event_name": "AfterTool",
    "timestamp": "2026-11-22T14:00:00.000Z",
    "tool_name": "run_shell_command",
    "tool_input": {"command": "node rows.js"},
    "tool_response": {"llmContent": "a", "returnDisplay": "a"},
}


def asked(event: Any, state: Path | str) -> Any:
    return answer_event(event, str(state), "default")


def content_of(state: Path, session: str) -> list[str]:
    memory = Hippocampus(state)
    with memory.session(session) as opened:
        found = [opened.entries.content(each.id) for each in opened.entries]
        memory.close()
    return found


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (with_result(BASH, ROWS, "Bash", command="tracker list --json"), ROWS),
        (with_result(GREP, HITS, "Grep", pattern="total"), HITS),
        (with_result(MCP, ROWS, "mcp__tracker__list"), ROWS),
    ],
    ids=["Bash", "Grep", "MCP"],
)
def test_claude_code_gets_the_entry_in_the_shape_of_the_tool(
    event: dict[str, Any], text: str, state: Path
) -> None:
    answer = asked(event, state)["hookSpecificOutput"]
    assert answer["hookEventName"] == "PostToolUse"
    output, before = answer["updatedToolOutput"], event["tool_response"]
    path = tool_output.text_path(before)
    assert tool_output.text_path(output) == path
    assert tool_output.with_text(output, path, text) == before  # every other field is as it was
    entry = tool_output.at(output, path)
    assert entry.startswith("[")
    assert f" · {event['tool_name']} · " in entry
    assert len(entry) < len(text) * 0.7
    assert content_of(state, event["session_id"]) == [text]


@pytest.mark.parametrize(
    "event",
    [
        with_result(CODEX, ROWS, "Bash", command="tracker list"),
        with_result(CODEX_MCP, ROWS, "mcp__tracker__list"),
        with_result(GEMINI, ROWS, "run_shell_command", command="tracker list"),
    ],
    ids=["Codex", "Codex MCP", "Gemini"],
)
def test_other_hosts_get_an_entry_that_says_that_nothing_was_refused(
    event: dict[str, Any], state: Path
) -> None:
    answer = asked(event, state)
    assert answer["decision"] == ("deny" if event["hook_event_name"] == "AfterTool" else "block")
    assert answer.keys() == {"decision", "reason"}
    assert "stored, not refused" in answer["reason"].splitlines()[0]
    assert answer["reason"].splitlines()[1].startswith("[")
    assert content_of(state, event["session_id"]) == [ROWS]


UNTOUCHED = {
    "small": with_result(BASH, ROWS[:900], "Bash", command="tracker list"),
    "asked to read by a command": with_result(BASH, HITS, "Bash", command="cat a.py"),
    "asked to read by a tool": with_result(
        recorded("claude-code", "PostToolUse", "Read"), ROWS, "Read", file_path="a.json"
    ),
    "our own recall": with_result(MCP, ROWS, "mcp__hippocampus__recall"),
    "our own recall in Gemini": with_result(GEMINI, ROWS, "mcp_hippocampus_recall"),
    "prose, which a policy shows in full first": with_result(
        BASH, "The harbour was quiet that morning, and nobody spoke. " * 200, "Bash", command="say"
    ),
    "moved to a file by the host": {
        **recorded("claude-code", "PostToolUse", "Bash", 1),
    },
    "an image": recorded("claude-code", "PostToolUse", "Read", 1),
    "a failure": {**CODEX_MCP, "tool_response": {"content": [{"text": ROWS}], "isError": True}},
    "an unknown shape": {**BASH, "tool_name": "New", "tool_response": {"rows": ROWS, "more": 1}},
    "no response": {**BASH, "tool_response": None},
    "no session": {**with_result(BASH, ROWS, "Bash", command="x"), "session_id": None},
    "an unknown event": {**BASH, "hook_event_name": "Tomorrow"},
    "no event": [1, 2],
}


@pytest.mark.parametrize("event", UNTOUCHED.values(), ids=UNTOUCHED)
def test_what_stays_gets_no_answer_and_leaves_nothing_behind(event: Any, state: Path) -> None:
    assert asked(event, state) is None
    assert not state.exists()


@pytest.mark.parametrize("each", RECORDED, ids=lambda each: each["event"]["hook_event_name"])
def test_every_recorded_event_is_answered_with_nothing_by_an_empty_memory(
    each: dict[str, Any], state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "hippocampus.integrations.hooks.transcripts.subprocess.Popen", lambda *_, **__: None
    )
    assert asked(each["event"], state) is None


def test_the_rules_of_a_policy_hold_for_what_a_hook_stores(state: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text(
        "extends: default\nlifecycle_policies:\n"
        "- {name: secrets, match: {tool: secrets}, action: {redact: {patterns: item-0007, original: true}}}\n"
        "- {name: kept, match: {tool: kept}, action: {pin: true}}\n"
        "- {name: noted, match: {tool: noted}, action: {priority: high, expires_after_turns: 9, floor: 0.3}}\n"
    )

    def given(tool: str) -> Any:
        event = with_result(MCP, ROWS.replace("item", f"{tool}-item"), tool)
        return answer_event({**event, "tool_use_id": tool}, str(state), str(rules))

    assert given("kept") is None
    assert "item-0007" not in json.dumps(given("secrets"))
    assert given("noted") is not None
    [secrets, noted_] = content_of(state, MCP["session_id"])
    assert "item-0007" not in secrets
    assert "item-0007" in noted_
    stored = stored_sessions(state)[0].records
    [entry] = [each.entry for each in stored if each.tool == "noted"]
    assert entry.modifiers.priority == "high"
    assert (entry.lifecycle.expires, entry.decay.floor) == (9, 0.3)


@pytest.mark.slow
def test_parallel_hooks_of_one_session_store_every_result(state: Path) -> None:
    events = [
        {
            **with_result(BASH, ROWS.replace("item", f"item{n}"), "Bash", command=f"list {n}"),
            "tool_use_id": f"toolu_{n}",
        }
        for n in range(3)
    ]
    answers: list[Any] = []
    threads = [
        threading.Thread(target=lambda each=each: answers.append(run(each, state)))
        for each in events
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([each for each in answers if "updatedToolOutput" in each]) == 3
    assert len(content_of(state, BASH["session_id"])) == 3


def run(event: Any, state: Path, *options: str) -> str:
    """Run the hook as a host does."""
    given = event if isinstance(event, str) else json.dumps(event)
    command = [sys.executable, "-P", "-m", "hippocampus", "hook", "--state-dir", str(state)]
    ended = subprocess.run(
        [*command, *options], input=given.encode(), capture_output=True, check=False
    )
    assert ended.returncode == 0
    assert ended.stderr == b""
    return ended.stdout.decode()


def test_one_text_by_two_tools_without_ids_of_their_calls_damages_no_entry(state: Path) -> None:
    for tool in ("run_shell_command", "mcp_tracker_list"):
        assert ROWS[:20] not in asked(with_result(GEMINI, ROWS, tool), state)["reason"]
    assert asked(with_result(GEMINI, f"{ROWS} ", "run_shell_command"), state) is not None
    assert content_of(state, "g1") == [ROWS, f"{ROWS} "]


def test_what_fails_inside_gets_no_output_and_is_in_the_log(state: Path, tmp_path: Path) -> None:
    assert run("{no json", state) == ""
    large = with_result(BASH, ROWS, "Bash", command="tracker list")
    assert run(large, state, "--policy", "missing") == ""
    taken = tmp_path / "taken"
    taken.write_text("a file where the state directory should be")
    assert run(large, taken) == ""
    log = log_of(str(state))
    assert [each["failed"].split(":")[0] for each in log] == ["JSONDecodeError", "PolicyError"]


def test_an_option_may_follow_an_argument_that_is_unknown_and_named(tmp_path: Path) -> None:
    state = tmp_path / "own"
    large = json.dumps(with_result(BASH, ROWS, "Bash", command="tracker list"))
    given = ("claude-code", f"--state-dir={state}", "--policy", "default")
    ended = commands.run_apart("hook", *given, cwd=tmp_path, stdin=large)
    assert (ended.returncode, ended.stderr) == (
        0,
        "hippocampus: hook has no argument 'claude-code'\n",
    )
    assert "updatedToolOutput" in ended.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["own"]


def test_a_small_result_loads_nothing_heavy() -> None:
    script = (
        "import sys, json, io; from hippocampus.integrations.hooks import main;"
        "main(['--state-dir', sys.argv[1]]);"
        "print([n for n in ('typer', 'pydantic', 'numpy', 'sqlite3', 'tiktoken') if n in sys.modules])"
    )
    event = json.dumps(UNTOUCHED["small"]).encode()
    ended = subprocess.run(
        [sys.executable, "-c", script, "/nonexistent"], input=event, capture_output=True, check=True
    )
    assert ended.stdout.strip() == b"[]"


def test_a_stopped_session_starts_with_memories_and_each_prompt_gets_what_fits(
    state: Path, tmp_path: Path
) -> None:
    memory = Hippocampus(state)
    memory.facts.remember("I prefer metric units.")
    memory.facts.remember("The staging server is staging-7.")
    memory.close()
    start = recorded("claude-code", "SessionStart")
    text = asked(start, state)["hookSpecificOutput"]["additionalContext"]
    assert "metric" in text
    prompt = {**recorded("codex", "UserPromptSubmit"), "prompt": "Which is the staging server?"}
    assert "staging-7" in asked(prompt, state)["hookSpecificOutput"]["additionalContext"]
    before = {**GEMINI, "hook_event_name": "BeforeAgent", "prompt": "the staging server"}
    assert "staging-7" in asked(before, state)["hookSpecificOutput"]["additionalContext"]


def test_a_memory_is_added_once_until_the_conversation_is_compacted(state: Path) -> None:
    memory = Hippocampus(state)
    memory.facts.remember("I prefer metric units.")
    start, compact = (recorded("claude-code", "SessionStart", place=place) for place in (0, 2))
    prompt = {**recorded("claude-code", "UserPromptSubmit"), "prompt": "the staging server?"}
    start["session_id"] = compact["session_id"] = prompt["session_id"]
    assert "metric" in json.dumps(asked(start, state))
    memory.facts.remember("The staging server is staging-7.")
    memory.close()
    assert asked({**prompt, "prompt": "metric units?"}, state) is None
    assert "staging-7" in json.dumps(asked(prompt, state))
    assert asked(prompt, state) is None
    again = json.dumps(asked(compact, state))
    assert "metric" in again
    assert "staging-7" in again
    assert asked(prompt, state) is None


def test_a_resumed_session_is_not_rewritten_while_its_cache_is_warm(state: Path) -> None:
    memory = Hippocampus(state)
    memory.facts.remember("I prefer metric units.")
    memory.close()
    warm, cold = (recorded("claude-code", "SessionStart", place=place) for place in (1, 3))
    assert (warm["source"], warm["prompt_cache_likely_expired"]) == ("resume", False)
    assert (cold["source"], cold["prompt_cache_likely_expired"]) == ("resume", True)
    assert asked(warm, state) is None
    assert "metric" in json.dumps(asked(cold, state))


def test_a_compacted_session_gets_the_ids_of_its_own_entries(state: Path) -> None:
    start, compact = (recorded("claude-code", "SessionStart", place=place) for place in (0, 2))
    large = with_result(BASH, ROWS, "Bash", command="tracker list")
    large["session_id"] = start["session_id"] = compact["session_id"]
    assert compact["source"] == "compact"
    asked(large, state)
    [entry_id] = [each.entry.id for each in stored_sessions(state)[0].records]
    assert entry_id in json.dumps(asked(compact, state))
    assert entry_id not in json.dumps(asked(start, state))


def test_a_transcript_is_consolidated_once(state: Path, tmp_path: Path) -> None:
    from hippocampus.integrations.hooks import transcripts

    lines = [
        {
            "type": "user",
            "sessionId": "s1",
            "message": {"role": "user", "content": "Always answer in metric units."},
        },
        {
            "type": "assistant",
            "sessionId": "s1",
            "message": {
                "role": "assistant",
                "model": "m",
                "content": [{"type": "text", "text": "I will."}],
            },
        },
    ]
    transcript = tmp_path / "s1.jsonl"
    transcript.write_text("\n".join(map(json.dumps, lines)))
    for _ in range(2):
        transcripts.consolidate(str(state), "default", "s1", transcript)
    memory = Hippocampus(state)
    assert len(memory.facts.memories(containing="metric units")) == 1
    assert DirectoryState(StateDir(state)).unconsolidated() == []
    memory.close()


def test_a_transcript_that_is_a_pipe_is_not_waited_for(state: Path, tmp_path: Path) -> None:
    from hippocampus.integrations.hooks import transcripts

    os.mkfifo(tmp_path / "pipe")
    transcripts.consolidate(str(state), "default", "s1", tmp_path / "pipe")
    assert not state.exists()


def test_of_a_transcript_the_last_context_counts_and_no_sub_agent(
    state: Path, tmp_path: Path
) -> None:
    from hippocampus.integrations.hooks import transcripts

    def line(role: str, text: str, number: int, **fields: Any) -> dict[str, Any]:
        content = text if role == "user" else [{"type": "text", "text": text}]
        message = {"role": role, "content": content, "model": "m"}
        return {"type": role, "sessionId": "s1", "uuid": f"u{number}", "message": message, **fields}

    lines = [
        line("user", "Hello there, this goes on for a while.", 1),
        *(line("assistant", f"Part {n} of an answer.", n) for n in range(2, 9)),
        {"type": "system", "subtype": "compact_boundary", "sessionId": "s1", "uuid": "u10"},
        line("user", "Always answer in metric units.", 11, parentUuid="u10"),
        line("assistant", "I will.", 12, parentUuid="u11"),
        line("user", "Always write in capital letters.", 13, isSidechain=True, agentId="a1"),
        line("assistant", "YES.", 14, isSidechain=True, agentId="a1", parentUuid="u13"),
    ]
    transcript = tmp_path / "s1.jsonl"
    transcript.write_text("\n".join(map(json.dumps, lines)))
    transcripts.consolidate(str(state), "default", "s1", transcript)
    memory = Hippocampus(state)
    assert memory.facts.memories(containing="metric units")
    assert not memory.facts.memories(containing="capital letters")
    memory.close()


def test_the_log_stays_within_its_bound(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook_events, "MAX_EVENTS", 10)
    for number in range(50):
        note_event(str(state), {"failed": f"number {number}"})
    assert [each["failed"] for each in log_of(str(state))] == [
        f"number {number}" for number in range(40, 50)
    ]


def test_hooks_work_on_a_server(
    postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hippocampus.integrations.hooks import transcripts

    tenant = uuid.uuid4().hex
    monkeypatch.setenv("HIPPOCAMPUS_TENANT", tenant)
    monkeypatch.setattr("hippocampus.storage.postgres.Connections.patience_seconds", 60.0)
    monkeypatch.chdir(tmp_path)
    address = postgres.address
    large = with_result(BASH, ROWS, "Bash", command="tracker list")
    start, prompt = (
        recorded("claude-code", "SessionStart"),
        recorded("claude-code", "UserPromptSubmit"),
    )
    large["session_id"] = prompt["session_id"] = "before"
    said = "I prefer metric units. We decided that the staging server is staging-7."
    messages = [{"role": "user", "content": said}, {"role": "assistant", "content": "I will."}]
    lines = [{"type": each["role"], "sessionId": "s1", "message": each} for each in messages]
    transcript = tmp_path / "s1.jsonl"
    transcript.write_text("\n".join(map(json.dumps, lines)))
    transcripts.consolidate(address, "default", "s1", transcript)
    assert "metric" in json.dumps(asked(start, address))
    prompt["prompt"] = "the staging server?"
    assert "staging-7" in json.dumps(asked(prompt, address))
    assert asked(prompt, address) is None
    answer = json.dumps(asked(large, address))
    with contextlib.closing(Hippocampus(address, tenant=tenant)) as memory:
        [record] = memory.session("before").report.records()
        assert record.entry.id in answer
        assert memory.session("before").entries.content(record.entry.id) == ROWS
        assert memory.unconsolidated() == ["before"]
    assert [sorted(each) for each in log_of(address)] == [
        ["added", "at", "session", "starts"],
        ["added", "at", "session", "starts"],
        ["at", "entry", "session", "shown", "tokens", "tool", "transcript"],
    ]
    monkeypatch.setattr(hook_events, "MAX_EVENTS", 2)
    note_event(address, {"failed": "late"})
    assert len(log_of(address)) == 2
    monkeypatch.setenv("HIPPOCAMPUS_TENANT", f"{tenant}-b")
    assert asked(start, address) is None
    assert log_of(address) == []
    transcript.unlink()
    assert not list(tmp_path.iterdir())


def test_a_hook_whose_server_is_away_answers_nothing_and_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HIPPOCAMPUS_TENANT", "acme")
    large = with_result(BASH, ROWS, "Bash", command="tracker list")
    started = time.monotonic()
    assert run(large, Path("unused"), "--state-dir", "postgresql://nobody@127.0.0.1:9/none") == ""
    assert time.monotonic() - started < 30.0


def shortened(transcript: Path, state: Path) -> tuple[dict[str, Any], str]:
    """Return a call of session s1 whose result a hook shortens, and the entry of it."""
    event = {
        **with_result(BASH, ROWS, "Bash", command="./rows"),
        "session_id": "s1",
        "transcript_path": str(transcript),
    }
    answer = answer_event(event, str(state), "default")
    assert answer is not None
    use = {"type": "tool_use", "id": event["tool_use_id"], "name": "Bash", "input": {}}
    return use, answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"]


def test_what_its_entries_have_saved_is_counted_in_the_transcript(tmp_path: Path) -> None:
    transcript, state = tmp_path / "s1.jsonl", tmp_path / "state"
    use, entry = shortened(transcript, state)
    result = {"type": "tool_result", "tool_use_id": use["id"], "content": entry}
    said = {"type": "text", "text": "Item 12 is open."}
    lines = [
        {"type": kind, "sessionId": "s1", "message": {"role": kind, "content": content}}
        for kind, content in (
            ("user", "List them."),
            ("assistant", [use]),
            ("user", [result]),
            ("assistant", [said]),
            ("user", f"Really? {entry}"),
            ("assistant", [{**use, "id": "again", "name": "recall"}]),
            ("user", [{**result, "tool_use_id": "again"}]),
            ("assistant", [said]),
        )
    ]
    for line in lines:
        if line["type"] == "assistant":
            line["message"]["model"] = "claude-sonnet-4-5"
    transcript.write_text("\n".join(map(json.dumps, lines)))
    rows = json.loads(CliRunner().invoke(app, ["status", str(state), "--json"]).output)
    (row,) = rows
    assert (row["calls"], row["recalls"], row["model"]) == (4, 1, "claude-sonnet-4-5")
    (edit,) = (each for each in log_of(str(state)) if "entry" in each)
    less = edit["tokens"] - edit["shown"]
    # The second call would have written it, and the third read it; the fourth is there for a recall only.
    assert row["recall_dollars"] > 0
    saved = 3 * 1.35 * less / 1e6 - row["recall_dollars"]
    assert row["saved_dollars"] == pytest.approx(saved, abs=1e-4)
    transcript.unlink()
    (gone,) = json.loads(CliRunner().invoke(app, ["status", str(state), "--json"]).output)
    assert gone["raw_cost"] == 0


def test_calls_before_a_prompt_that_was_replaced_are_counted_once(tmp_path: Path) -> None:
    transcript, state = tmp_path / "s1.jsonl", tmp_path / "state"
    use, entry = shortened(transcript, state)
    recall = {**use, "id": "again", "name": "recall"}
    result = {"type": "tool_result", "tool_use_id": use["id"], "content": entry}
    said = {"type": "text", "text": "Item 12 is open."}
    lines = [
        {
            "type": kind,
            "uuid": uuid,
            "parentUuid": parent,
            "sessionId": "s1",
            "message": {"role": kind, "content": content, "model": "claude-sonnet-4-5"},
        }
        for kind, uuid, parent, content in (
            ("user", "1", "", "List them."),
            ("assistant", "2", "1", [use]),
            ("user", "3", "2", [result]),
            ("assistant", "4", "3", [recall]),
            ("user", "5", "4", [{**result, "tool_use_id": "again"}]),
            ("assistant", "6", "5", [said]),
            ("user", "7", "6", "And item 13?"),
            ("assistant", "8", "7", [said]),
            ("user", "9", "6", "No, item 14?"),
            ("assistant", "10", "9", [said]),
        )
    ]

    def saved(*lines: Any) -> dict[str, Any]:
        transcript.write_text("\n".join(map(json.dumps, lines)))
        output = CliRunner().invoke(app, ["status", str(state), "--json"]).output
        (row,) = json.loads(output)
        return dict(row)

    before, row = saved(*lines[:8]), saved(*lines)
    assert (before["calls"], before["recalls"]) == (4, 1)
    assert (row["calls"], row["recalls"]) == (5, 1)
    assert before["raw_tokens"] < row["raw_tokens"] < 1.5 * before["raw_tokens"]


def test_an_entry_of_a_tool_without_a_name_has_the_frame_of_a_session(state: Path) -> None:
    event = {"session_id": "s", "tool_use_id": "c1", "tool_name": ""}
    entry = tool_output.store_result(event, "{}", ROWS, str(state), "default")
    assert entry is not None
    assert re.match(r"\[\w+ · tool · \d+ tokens · \w+\]", entry)
