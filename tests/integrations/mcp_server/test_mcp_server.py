"""The MCP server, called by the official client over both transports."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

import httpx2
from commands import run
from conversations import EAGER, chat_step, reading
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from postgres_server import Server
from states import activity, execute

from hippocampus import Hippocampus, __version__
from hippocampus.cli.fact_database import OWN_AGENT
from hippocampus.facts.store import Facts
from hippocampus.integrations import mcp_server
from hippocampus.session.resources import ToolReport
from hippocampus.storage.state import DirectoryState, state_of
from hippocampus.storage.state_dir import StateDir

pytestmark = pytest.mark.anyio
COMMAND = [sys.executable, "-m", "hippocampus", "mcp"]
HIPPO = {
    "remember_facts",
    "store_memory",
    "recall_memories",
    "append_memory_block",
    "replace_memory_block",
    "recall_memory_block",
    "forget_memory",
}
BEGIN = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {},
               "clientInfo": {"name": "t", "version": "1"}},
}  # fmt: skip
ROWS = "\n".join(f'{{"row": {number}, "city": "town-{number:04}"}}' for number in range(400))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def opened(
    state: Path, agent: str = "", profile: str = "hippocampus"
) -> AsyncIterator[Client]:
    """Yield a client of a server in this process."""
    facts = Facts(StateDir(state).database, agent=agent or OWN_AGENT)
    with facts, Hippocampus(state, agent=agent) as memory:
        tools = mcp_server.Tools(DirectoryState(StateDir(state)), memory, facts, agent)
        async with Client(mcp_server.server(tools, profile)) as client:
            yield client


def stdio(state: Path, *options: str) -> Client:
    arguments = [*COMMAND[1:], "--state-dir", str(state), *options]
    return Client(StdioServerParameters(command=COMMAND[0], args=arguments, env=dict(os.environ)))


@contextmanager
def served(
    state: Path, port: int = 0, token: str = "", tokens: Path | None = None, **environment: str
) -> Iterator[Any]:
    """Run the HTTP server in a process of its own until `/health` answers; yield its port and it."""
    if not port:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
    variables = {**os.environ, "HIPPO_TRANSPORT": "http", "HIPPO_PORT": str(port), **environment}
    if token:
        variables["HIPPOCAMPUS_MCP_TOKEN"] = token
    more = ["--tokens", str(tokens)] if tokens else []
    command = [*COMMAND, "--state-dir", str(state), *more]
    process = subprocess.Popen(command, env=variables, stderr=subprocess.PIPE, text=True)
    try:
        for _ in range(600):
            try:
                if httpx2.get(f"http://127.0.0.1:{port}/health").json() == {"status": "ok"}:
                    break
            except httpx2.TransportError:
                time.sleep(0.1)
        yield port, process
    finally:
        process.terminate()
        process.communicate()


@asynccontextmanager
async def connected(port: int, **headers: str) -> AsyncIterator[Client]:
    async with httpx2.AsyncClient(headers=headers, timeout=120) as http:
        url = f"http://127.0.0.1:{port}/mcp"
        async with Client(streamable_http_client(url, http_client=http)) as client:
            yield client


def text_of(result: Any) -> str:
    return "".join(each.text for each in result.content)


def stored_entry(state: Path, session: str = "s1", agent: str = "") -> str:
    """Leave a session with one entry in a state directory; return the entry's id."""
    with Hippocampus(state, policy=EAGER, agent=agent) as memory, memory.session(session) as opened:
        asked = {"role": "user", "content": "Which towns are there?"}
        opened([asked, *chat_step("c1", "list_towns", {}, ROWS)])
        (entry,) = opened.entries
    return entry.id


async def test_a_stored_payload_is_recalled_over_stdio_by_its_lines(state: Path) -> None:
    entry_id = stored_entry(state, agent="ann")
    async with stdio(state, "--agent", "ann") as client:
        found = await client.call_tool("recall", {"entry_id": entry_id, "lines": [7, 8]})
        assert "town-0006" in text_of(found)
        loose = await client.call_tool("recall", {"entry_id": entry_id, "lines": "7-8"})
        assert text_of(loose) == text_of(found)
        searched = await client.call_tool("recall", {"query": "town-0311"})
        assert "town-0311" in text_of(searched)
        # What another process has stored since.
        with Hippocampus(state, policy=EAGER) as memory, memory.session("s1") as session:
            noted = session.state("migrating the towns")
        found = await client.call_tool("recall", {"entry_id": noted, "head": 5})
        assert text_of(found) == "migrating the towns"
        unknown = await client.call_tool("recall", {"entry_id": "zzzzzzzz"})
        assert "zzzzzzzz" in text_of(unknown)
        status = json.loads(text_of(await client.call_tool("session_status", {})))
        assert status["session"] == "s1"
        assert status["entries"] == 2
        assert [entry["id"] for entry in status["newest"]] == [noted, entry_id]
        resource = await client.read_resource(f"hippocampus://entries/{entry_id}")
        assert resource.contents[0].text == ROWS


@pytest.mark.parametrize(
    ("session_id", "damage", "problem"),
    [
        ("s1", "UPDATE entry SET entry = x'00'", "is damaged"),
        ("another", "", "no session with 'another'"),
    ],
)
async def test_a_session_that_cannot_be_read_has_no_figures_and_is_not_made(
    state: Path, session_id: str, damage: str, problem: str
) -> None:
    stored_entry(state)
    execute(state, damage)
    async with opened(state) as client:
        found = await client.call_tool("session_status", {"session_id": session_id})
        assert found.is_error
        assert problem in text_of(found)
    assert len(activity(state)) == 1


def test_the_figures_of_a_session_are_those_of_the_command(state: Path) -> None:
    with Hippocampus(state, policy=EAGER, model="claude-opus-4-5") as memory:
        session = memory.session("s1")
        for end in range(2, 9, 2):
            session(reading(8)[:end])
        assert session(None) is None  # it fails, and sends the raw list
        session.close()

    async def talk() -> dict[str, Any]:
        async with opened(state) as client:
            status: dict[str, Any] = json.loads(
                text_of(await client.call_tool("session_status", {"session_id": "s1"}))
            )
            return status

    status = asyncio.run(talk())
    [row] = json.loads(run("status", state, "--json", cwd=state).stdout)
    assert row["saved_dollars"] > 0
    assert (row["failures"], row["raw"]) == (1, 1)
    differ = {name for name in row if status[name] != row[name]}
    assert differ == {"raw_tokens", "sent_tokens"}  # of its last list, and of all of them


async def test_an_id_in_brackets_names_the_session_that_has_it(state: Path) -> None:
    earlier, _ = stored_entry(state, "s1"), stored_entry(state, "s2")
    async with opened(state) as client:
        asked = {"query": "town-0311", "session_id": "s1"}
        assert earlier in text_of(await client.call_tool("recall", asked))
        gone = await client.call_tool("recall", asked | {"session_id": "s3"})
        assert "no session with 's3'" in text_of(gone)
        written = f"[{earlier.upper()} · list_towns"
        found = await client.call_tool("recall", {"entry_id": written, "lines": [7, 8]})
        assert "town-0006" in text_of(found)


@pytest.mark.parametrize(
    ("tool", "given", "answer"),
    [
        (
            "search_memory",
            {"query": "x", "limit": "many"},
            "limit: input should be a valid integer",
        ),
        ("remember", {}, "text: field required"),
        ("recall", {"agent_id": "bob"}, "recall failed (bad request): unknown arguments: agent_id"),
        ("search_memory", {"q": "x"}, "q: extra inputs are not permitted"),
        ("search_memory", {"query": "x", "agent_id": "bob"}, "agent_id: extra inputs are not"),
        (
            "recall",
            {"entry": "abc"},
            "recall failed (bad request): unknown arguments: entry; known",
        ),
        ("session_status", {"session": "s1"}, "session: extra inputs are not permitted"),
        ("remember", {"text": "I like tea.", "scope": 5}, "scope: input should be a valid string"),
        ("remember", {"text": 5}, "text: input should be a valid string, found 5"),
    ],
)
def test_a_wrong_argument_is_named_with_what_is_allowed(
    state: Path, tool: str, given: dict[str, Any], answer: str
) -> None:
    stored_entry(state)

    async def call() -> str:
        async with opened(state) as client:
            return text_of(await client.call_tool(tool, given))

    said = asyncio.run(call())
    assert said.startswith(answer)
    assert "\n" not in said


def test_one_agent_does_not_recall_the_payloads_of_another(state: Path) -> None:
    entry_id = stored_entry(state, agent="ann")

    async def talk(agent: str) -> None:
        async with opened(state, agent) as client:
            for asked in ({"entry_id": entry_id, "lines": [1, 1]}, {"query": "town-0000"}):
                answer = text_of(await client.call_tool("recall", asked))
                assert ('"town-0000' in answer) == (agent == "ann")

    for agent in ("bob", "", "ann"):
        asyncio.run(talk(agent))


async def test_memories_are_kept_apart_by_agent_and_by_scope(state: Path) -> None:
    async with opened(state, "ann") as ann, opened(state) as client:
        await ann.call_tool("remember", {"text": "I like green tea."})
        assert "green" in text_of(await ann.call_tool("search_memory", {"query": "tea"}))
        await client.call_tool("remember", {"text": "I like black tea.", "scope": "work"})
        own = text_of(await client.call_tool("search_memory", {"query": "tea"}))
        assert "black" in own
        assert "green" not in own
        for scope in ("work", "home"):
            given = {"query": "tea", "scope": scope}
            found = text_of(await client.call_tool("search_memory", given))
            assert ("black" in found) == (scope == "work")


async def test_blocks_are_tools_and_resources_by_key_and_scope(state: Path) -> None:
    async with opened(state) as client:
        await client.call_tool("append_block", {"key": "persona", "content": "a pilot"})
        swap = {"key": "persona", "old_text": "pilot", "new_text": "sailor"}
        await client.call_tool("replace_block", swap)
        read = await client.call_tool("read_block", {"key": "persona"})
        assert text_of(read) == "a sailor"
        other = {"key": "my notes", "content": "a cook", "scope": "at work"}
        await client.call_tool("append_block", other)
        listed = {each.name: each.uri for each in (await client.list_resources()).resources}
        assert listed["persona"] == "hippocampus://blocks/persona"
        for key, text in (("persona", "a sailor"), ("my notes", "a cook")):
            block = await client.read_resource(listed[key])
            assert block.contents[0].text == text
        templates = (await client.list_resource_templates()).resource_templates
        assert [each.name for each in templates] == ["block", "entry"]
        for missing in ("blocks/other", "blocks/my%20notes", "entries/zzzzzzzz", "[x"):
            with pytest.raises(MCPError, match=r"there is no|has no session"):
                await client.read_resource(f"hippocampus://{missing}")


async def test_the_prompt_loads_the_context(state: Path) -> None:
    async with opened(state) as client:
        [listed] = (await client.list_prompts()).prompts
        empty = await client.get_prompt(listed.name)
        assert empty.messages[0].content.text == "The memory is empty."
        await client.call_tool("remember", {"text": "I prefer metric units."})
        prompt = await client.get_prompt(listed.name, {"task": "units"})
        assert prompt.messages[0].content.text.count("metric") == 1
        with pytest.raises(MCPError, match="there is no prompt 'other'"):
            await client.get_prompt("other")


@pytest.mark.parametrize("text", ['{"error": "x"}', '{"error": "x", "message": "y"}', '{"error":'])
async def test_a_block_that_looks_like_an_error_is_read_as_it_is(state: Path, text: str) -> None:
    async with opened(state) as client:
        await client.call_tool("append_block", {"key": "persona", "content": text})
        read = await client.call_tool("read_block", {"key": "persona"})
        assert (text_of(read), read.is_error) == (text, False)


async def test_a_tool_of_another_profile_is_refused(state: Path) -> None:
    async with opened(state, profile="recall") as client:
        for name in ("remember", "remember_facts", "nothing"):
            with pytest.raises(MCPError, match=f"there is no tool '{name}'"):
                await client.call_tool(name, {"text": "I like tea."})


@pytest.mark.parametrize(
    ("profile", "names"),
    [
        ("hippo", HIPPO),
        ("recall", {"recall"}),
        ("scriptling", {"remember", "recall", "forget", "compact"}),
        ("hippocampus", set(mcp_server.PROFILES["hippocampus"])),
    ],
)
async def test_one_profile_is_served_with_its_names(
    state: Path, profile: str, names: set[str]
) -> None:
    async with opened(state, profile=profile) as client:
        assert client.server_info.version == __version__
        tools = (await client.list_tools()).tools
        assert {each.name for each in tools} == names
        for each in tools:
            assert each.description
            assert each.annotations is not None
            assert each.meta["anthropic/maxResultSizeChars"] == 200_000
            assert "agent_id" not in each.input_schema["properties"]


async def test_the_tools_of_hippo_take_its_arguments_and_refuse_what_is_too_long(
    state: Path,
) -> None:
    async with opened(state, profile="hippo") as client:
        kept = {"content": "minutes of the meeting", "metadata": {"room": 4}}
        assert not (await client.call_tool("store_memory", kept)).is_error
        await client.call_tool("remember_facts", {"text": "Our meeting room is 4."})
        both = await client.call_tool("recall_memories", {"query": "meeting", "limit": 50})
        facts = await client.call_tool("recall_memories", {"query": "meeting", "kind": "fact"})
        assert "minutes" in text_of(both)
        assert "minutes" not in text_of(facts)
        long = await client.call_tool("remember_facts", {"text": "x" * 10_001})
        assert long.is_error
        described = {"description": "minutes of the meeting", "threshold": 0.7}
        assert "Deleted 1" in text_of(await client.call_tool("forget_memory", described))


async def test_scriptlings_tools_remember_forget_and_compact(state: Path) -> None:
    async with opened(state, profile="scriptling") as client:
        arguments = {"content": "Ann owns a boat", "type": "fact", "importance": 0.9}
        said = text_of(await client.call_tool("remember", arguments))
        memory_id = said.split("(id ")[1].split(")")[0]
        assert "boat" in text_of(await client.call_tool("recall", {"query": "boat"}))
        assert text_of(await client.call_tool("compact", {})) == '{"removed": 0, "remaining": 1}'
        await client.call_tool("forget", {"id": memory_id})
        assert text_of(await client.call_tool("compact", {})) == '{"removed": 0, "remaining": 0}'


@pytest.mark.slow
def test_clients_at_once_over_http_read_and_write_one_memory(state: Path) -> None:
    entry_id = stored_entry(state)

    async def one(port: int, number: int) -> None:
        async with connected(port) as client:
            for line in range(1, 6):
                await client.call_tool("remember", {"text": f"Box {number}-{line} holds nails."})
                arguments = {"entry_id": entry_id, "lines": [line, line]}
                found = await client.call_tool("recall", arguments)
                assert f"town-{line - 1:04}" in text_of(found)

    async def talk(port: int) -> None:
        await asyncio.gather(*(one(port, number) for number in range(4)))

    with served(state) as (port, _):
        asyncio.run(talk(port))
    with Facts(StateDir(state).database) as facts:
        assert len(facts.memories()) == 20
        assert facts.check() == []


@pytest.mark.slow
async def test_servers_over_stdio_share_one_memory(state: Path) -> None:
    async def one(number: int) -> None:
        async with stdio(state) as client:
            await client.call_tool("remember", {"text": f"Box {number} holds nails."})
            await client.call_tool("append_block", {"key": "boxes", "content": f"box {number}"})

    await asyncio.gather(*(one(number) for number in range(3)))
    with Facts(StateDir(state).database) as facts:
        assert len(facts.memories()) == 3
        block = facts.blocks.get("boxes")
        assert block is not None
        assert len(block.value.splitlines()) == 3
        assert facts.check() == []


@pytest.mark.slow
def test_a_killed_server_that_starts_again_has_what_it_answered(state: Path) -> None:
    async def talk(port: int, tool: str, arguments: dict[str, str]) -> str:
        async with connected(port) as client:
            return text_of(await client.call_tool(tool, arguments))

    with served(state) as (port, process):
        asyncio.run(talk(port, "remember", {"text": "The key is under the mat."}))
        process.send_signal(signal.SIGKILL)
        process.wait()
    with served(state, port) as (port, _):
        assert "mat" in asyncio.run(talk(port, "search_memory", {"query": "key"}))


def test_http_wants_the_token_and_an_origin_of_its_own(state: Path) -> None:
    with served(state, token="s3cret") as (port, process):
        address = f"hippocampus mcp: http://127.0.0.1:{port}/mcp\n"
        assert process.stderr.readline() == address
        url = f"http://127.0.0.1:{port}/mcp"
        assert httpx2.post(url, json={}).status_code == 401
        wrong = httpx2.post(url, json={}, headers={"Authorization": "Bearer other"})
        assert wrong.status_code == 401
        own = {"Authorization": "Bearer s3cret"}
        for origin, status in (("https://evil.example", 403), ("null", 403), ("http://[::1", 400)):
            foreign = httpx2.post(url, json={}, headers={**own, "Origin": origin})
            assert foreign.status_code == status
        for site in ("localhost", "127.0.0.1:8080", "[::1]"):
            local = {"Origin": f"http://{site}", "Host": site}
            page = httpx2.post(url, json={}, headers={**own, **local})
            assert page.status_code not in {403, 421}
        rebound = httpx2.post(url, json={}, headers={**own, "Host": "evil.example"})
        assert rebound.status_code == 421

        async def talk() -> None:
            async with connected(port, **own) as client:
                assert (await client.list_tools()).tools

        asyncio.run(talk())


def test_two_tokens_are_two_agents_who_reach_nothing_of_each_other(
    state: Path, tmp_path: Path
) -> None:
    entry_id, nobodys = stored_entry(state, agent="ann"), stored_entry(state, "s2")
    tokens = tmp_path / "tokens"
    tokens.write_text("first ann\nsecond bob\n", "utf-8-sig")  # as Windows writes it
    calls = [
        ("recall", {"entry_id": entry_id, "lines": [1, 1]}),
        ("recall", {"query": "town"}),
        ("session_status", {"session_id": "s1"}),
        ("recall", {"entry_id": nobodys, "lines": [1, 1]}),
        ("search_memory", {"query": "tea"}),
        ("search_memory", {}),
        ("read_block", {"key": "persona"}),
    ]

    async def said(client: Client) -> str:
        answers = [text_of(await client.call_tool(*called)) for called in calls]
        prompt = await client.get_prompt("context_load", {"task": "tea"})
        blocks = [each.uri for each in (await client.list_resources()).resources]
        return "\n".join([*answers, prompt.messages[0].content.text, *blocks])

    async def talk(port: int) -> None:
        first, second = ({"Authorization": f"Bearer {each}"} for each in ("first", "second"))
        async with connected(port, **first) as ann, connected(port, **second) as bob:
            await ann.call_tool("remember", {"text": "I like green tea."})
            await ann.call_tool("append_block", {"key": "persona", "content": "a pilot"})
            found = await said(bob)
            assert not [w for w in ("town-", "green", "pilot", "blocks/") if w in found]
            await bob.call_tool("forget", {"description": "I like green tea."})
            own = await said(ann)
            assert all(word in own for word in ("town-0000", "green", "pilot", "blocks/persona"))
            for ann_s in (f"entries/{entry_id}", "blocks/persona"):
                with pytest.raises(MCPError):
                    await bob.read_resource(f"hippocampus://{ann_s}")

    with served(state, tokens=tokens) as (port, _):
        asyncio.run(talk(port))
        url = f"http://127.0.0.1:{port}/mcp"
        for wrong in ({}, {"Authorization": "Bearer third"}, {"Authorization": "Bearer"}):
            assert httpx2.post(url, json={}, headers=wrong).status_code == 401
        # A session of one token is none of another.
        accept = {"Accept": "application/json, text/event-stream"}
        first, second = ({**accept, "Authorization": f"Bearer {t}"} for t in ("first", "second"))
        begun = httpx2.post(url, json=BEGIN, headers=first)
        assert begun.status_code == 200
        session = {"Mcp-Session-Id": begun.headers.get("mcp-session-id", "none")}
        listed = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        taken = httpx2.post(url, json=listed, headers={**second, **session})
        assert taken.status_code in {400, 404}


@pytest.mark.parametrize(
    ("text", "reason"),
    [(text, "a token and the name of its agent") for text in ("# names", "token", "token *", "\n")]
    + [("token ann\ntoken bob", "a token is there twice")],
)
def test_a_file_of_tokens_that_names_no_agent_or_two_is_refused(
    state: Path, tmp_path: Path, text: str, reason: str
) -> None:
    path = tmp_path / "tokens"
    path.write_text(text, "utf-8")
    options = ("--state-dir", state, "--transport", "http", "--tokens", path)
    ended = run("mcp", *options, cwd=tmp_path)
    assert ended.returncode == 2
    assert reason in ended.stderr


def test_a_file_of_tokens_that_is_not_utf8_is_refused(state: Path, tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text("token ann\n", "utf-16")
    options = ("--state-dir", state, "--transport", "http", "--tokens", path)
    ended = run("mcp", *options, cwd=tmp_path)
    assert ended.returncode == 2
    assert f"hippocampus: {path}: 'utf-8' codec" in ended.stderr


def test_tokens_over_stdio_are_refused(state: Path, tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("first ann\n", "utf-8")
    ended = run("mcp", "--state-dir", state, "--tokens", "tokens", cwd=tmp_path)
    assert ended.returncode == 2
    assert "--tokens is for --transport http" in ended.stderr


def test_a_file_of_tokens_that_is_missing_is_named(state: Path) -> None:
    options = ("--state-dir", state, "--transport", "http", "--tokens", "nowhere")
    ended = run("mcp", *options, cwd=state.parent)
    assert ended.returncode == 2
    assert "'nowhere' does not exist" in ended.stderr


def test_another_address_than_loopback_is_refused_without_a_token(state: Path) -> None:
    options = ("--state-dir", state, "--transport", "http", "--host", "0.0.0.0")
    ended = run("mcp", *options, cwd=state.parent)
    assert ended.returncode == 2
    assert "HIPPOCAMPUS_MCP_TOKEN" in ended.stderr


# A server of PostgreSQL


def test_an_observer_that_fails_loses_no_answer(
    state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        def tool(self, report: ToolReport) -> None:
            raise RuntimeError(f"{report.tool}: the collector is away")

        view = bill = tool

    async def talk(memory: Hippocampus) -> None:
        tools = mcp_server.Tools(DirectoryState(StateDir(state)), memory, memory.facts)
        async with Client(mcp_server.server(tools)) as client:
            for _ in range(3):
                done = await client.call_tool("remember", {"text": "I prefer green tea."})
                assert not done.is_error
            found = await client.call_tool("search_memory", {"query": "tea"})
            assert "green tea" in text_of(found)
            wrong = await client.call_tool("read_block", {})
            assert "key" in text_of(wrong)

    with Hippocampus(state, observers=[Broken()]) as memory:
        asyncio.run(talk(memory))
    assert "not observed" in caplog.text


def test_a_client_recalls_from_the_sessions_of_its_tenant_on_a_server(
    postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [{"role": "user", "content": "Read it."}, *chat_step("c1", "read", {}, ROWS)]
    with (
        Hippocampus(postgres.address, tenant="acme", policy=EAGER, deadline_seconds=30.0) as memory,
        memory.session("s") as session,
    ):
        session(items)
        [entry] = session.entries
    monkeypatch.setenv("HIPPOCAMPUS_STATE", postgres.address)
    monkeypatch.setenv("HIPPOCAMPUS_TENANT", "acme")
    command = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=dict(os.environ))

    async def recalled(server: Any) -> str:
        async with Client(server) as client:
            asked = {"entry_id": entry.id, "pattern": "town-0217"}
            found = [await client.call_tool("recall", asked)]
            found.append(await client.call_tool("search_memory", {"query": "tea"}))
            return " ".join(map(text_of, found))

    with Facts(postgres.address, tenant="acme") as known:
        known.remember("I prefer green tea.")
    served = asyncio.run(recalled(command))
    assert '"row": 217' in served
    assert "green tea" in served
    state = state_of(postgres.address, "apex")
    with Hippocampus(state) as memory:
        tools = mcp_server.Tools(state, memory, memory.facts)
        served = asyncio.run(recalled(mcp_server.server(tools)))
    assert "this memory has no session" in served
    assert "green tea" not in served
