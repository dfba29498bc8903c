"""Real coding agents from npm, run against a scripted model on loopback, in a home of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from models.endpoint import Answer, Asked, Server, endpoint

Step = Callable[[str], dict[str, Any]]
"""Returns what the model does next, given the request so far as text."""
ENTRY = re.compile(r"\[([a-z2-7]{8,12}) (?:·|\\u00b7) ")
ROWS = (
    "import json; print(json.dumps("
    "[{'id': n, 'name': f'item-{n:04}', 'open': n % 3 == 0} for n in range(180)]))"
)
"""A program whose output is large and asked for by no reading tool."""


def call(name: str, **arguments: Any) -> Step:
    return lambda _: {"name": name, "arguments": arguments}


def say(text: str) -> Step:
    return lambda _: {"text": text}


def recall_of(name: str, namespace: str = "", **arguments: Any) -> Step:
    """Recall the entry that stands last in the request."""

    def step(request: str) -> dict[str, Any]:
        own = {"namespace": namespace} if namespace else {}
        entry_id = ENTRY.findall(request)[-1]
        return {"name": name, **own, "arguments": {"entry_id": entry_id, **arguments}}

    return step


def hippocampus(home: Path, project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "hippocampus", *arguments]
    variables = {**os.environ, "HOME": str(home)}
    return subprocess.run(
        command, cwd=project, env=variables, capture_output=True, text=True, check=False
    )


@contextmanager
def _model(
    steps: list[Step], path: str, messages: str, write: Callable[[dict[str, Any], Any], bytes]
) -> Iterator[Server]:
    """Serve a provider's API: requests to `path` with tools take a step each, others none."""
    left = list(steps)

    def answer(asked: Asked) -> Answer:
        if asked.body is None or not re.search(path, asked.path):
            return Answer({"input_tokens": 10, "totalTokens": 10})
        text = json.dumps(asked.body[messages], ensure_ascii=False)
        done = left.pop(0)(text) if left and asked.body.get("tools") else {"text": "ok"}
        if done.get("name", "").startswith("*"):  # a tool by its end: hosts put a server before it
            names = [tool["name"] for tool in asked.body["tools"]]
            done["name"] = next(name for name in names if name.endswith(done["name"][1:]))
        return Answer(write(done, asked.body), headers={"Content-Type": "text/event-stream"})

    with endpoint(answer) as server:
        yield server


def claude_model(steps: list[Step]) -> AbstractContextManager[Server]:
    """Serve Anthropic's API."""
    return _model(steps, r"/messages($|\?)", "messages", _anthropic)


def codex_model(steps: list[Step]) -> AbstractContextManager[Server]:
    """Serve OpenAI's Responses API."""
    return _model(steps, "/responses$", "input", _responses)


def gemini_model(steps: list[Step]) -> AbstractContextManager[Server]:
    """Serve Google's Gemini API."""
    return _model(steps, "streamGenerateContent", "contents", _gemini)


def _anthropic(done: dict[str, Any], body: dict[str, Any]) -> bytes:
    usage = {"input_tokens": 10, "output_tokens": 1}
    name = f"m{len(body['messages'])}"
    message = {"id": name, "type": "message", "role": "assistant", "model": body["model"]}
    message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    if "text" in done:
        block = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": done["text"]}
        stop = "end_turn"
    else:
        name = f"toolu_{len(body['messages'])}"
        block = {"type": "tool_use", "id": name, "name": done["name"], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(done["arguments"])}
        stop = "tool_use"
    events = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": None},
            "usage": {"output_tokens": 5},
        },
        {"type": "message_stop"},
    ]
    return _stream(events)


def _stream(events: list[dict[str, Any]]) -> bytes:
    text = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)
    return text.encode()


def claude(home: Path, project: Path, server: Server, prompt: str) -> dict[str, Any]:
    """Run Claude Code once, whose first request waits for our server; return what it reports."""
    tools = ["Bash", "Read", "mcp__hippocampus__recall"]
    printed = _run(
        ["claude", "-p", prompt, "--output-format", "json", "--allowedTools", *tools],
        home,
        project,
        ANTHROPIC_BASE_URL=server.address.removesuffix("/v1"),
        ANTHROPIC_API_KEY="unused",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        DISABLE_AUTOUPDATER="1",
        MCP_CONNECTION_NONBLOCKING="false",
        MCP_CONNECT_TIMEOUT_MS="600000",
        MCP_TIMEOUT="600000",
    )
    found: dict[str, Any] = json.loads(printed)
    return found


def _run(command: list[str], home: Path, project: Path, **variables: str) -> str:
    """Run an agent in a project, with a home of its own; return what it prints."""
    ended = subprocess.run(
        command,
        cwd=project,
        env={**os.environ, "HOME": str(home), **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr + ended.stdout
    return ended.stdout


def _responses(done: dict[str, Any], body: dict[str, Any]) -> bytes:
    place = len(body["input"])
    if "text" in done:
        text = {"type": "output_text", "text": done["text"], "annotations": []}
        item = {"type": "message", "role": "assistant", "id": f"m{place}", "content": [text]}
    else:
        item = {"type": "function_call", "id": f"f{place}", "call_id": f"c{place}", **done}
        item["arguments"] = json.dumps(done["arguments"])
    whole = {"id": f"r{place}"}
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    return _stream(
        [
            {"type": "response.created", "response": whole},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {**whole, "usage": usage}},
        ]
    )


def codex(home: Path, project: Path, server: Server, prompt: str) -> str:
    """Run Codex once; return what it prints."""
    settings = home / ".codex" / "config.toml"
    own = settings.read_text("utf-8") if settings.exists() else ""
    provider = (
        'model = "gpt-5"\nmodel_provider = "local"\napproval_policy = "never"\n'
        'sandbox_mode = "danger-full-access"\n\n[model_providers.local]\nname = "local"\n'
        f'base_url = "{server.address}"\nwire_api = "responses"\nenv_key = "LOCAL_KEY"\n\n'
    )
    settings.write_text(provider + own, "utf-8")
    flags = ["--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
    if path := os.environ.get(
        "PYTHONPATH"
    ):  # Codex hands servers no variable that it does not know
        flags += ["-c", f"mcp_servers.hippocampus.env={{PYTHONPATH={json.dumps(path)}}}"]
    command = ["codex", "exec", *flags, prompt]
    return _run(command, home, project, CODEX_HOME=str(home / ".codex"), LOCAL_KEY="unused")


def _gemini(done: dict[str, Any], _body: dict[str, Any]) -> bytes:
    call = {"functionCall": {"name": done.get("name"), "args": done.get("arguments")}}
    part = {"text": done["text"]} if "text" in done else call
    content = {"role": "model", "parts": [part]}
    chunk = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}
    return f"data: {json.dumps(chunk)}\r\n\r\n".encode()


def gemini(home: Path, project: Path, server: Server, prompt: str) -> str:
    """Run Gemini CLI once; return what it prints."""
    path = home / ".gemini" / "settings.json"
    settings = json.loads(path.read_text("utf-8"))
    settings["security"] = {"auth": {"selectedType": "gemini-api-key"}}
    settings["mcpServers"]["hippocampus"]["env"] = {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    path.write_text(json.dumps(settings), "utf-8")
    return _run(
        ["gemini", "-p", prompt, "--yolo", "-m", "gemini-2.5-flash"],
        home,
        project,
        GEMINI_API_KEY="unused",
        GOOGLE_GEMINI_BASE_URL=server.address.removesuffix("/v1"),
        GEMINI_CLI_TRUST_WORKSPACE="true",
    )


class ServedAgent(NamedTuple):
    """How an agent with our server alone is pointed at Anthropic's API, and run with a prompt."""

    commands: tuple[tuple[str, ...], ...]
    variables: Mapping[str, str] = {}
    path: str = ""
    """A file of settings of its own, in the home folder."""
    settings: str = ""
    """What that file has; JSON is added to what is there."""
    search: tuple[Step, ...] = (call("*search_memory", query="units"),)
    """How its model searches the memory."""


MODEL = "claude-sonnet-4-5"
PROMPT = "Which units do I prefer?"
SERVED_AGENTS = {
    "cline": ServedAgent(
        (("cline", "-P", "anthropic", "-m", MODEL, PROMPT),),
        path=".cline/data/settings/providers.json",
        settings=json.dumps(
            {
                "version": 1,
                "providers": {
                    "anthropic": {
                        "settings": {
                            "provider": "anthropic",
                            "model": MODEL,
                            "apiKey": "unused",
                            "baseUrl": "ADDRESS/v1",
                        },
                        "updatedAt": "2026-11-26T00:00:00.000Z",
                        "tokenSource": "manual",
                    }
                },
            }
        ),
    ),
    "copilot": ServedAgent(
        (("copilot", "-p", PROMPT, "--allow-all-tools"),),
        {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": "ADDRESS",
            "COPILOT_PROVIDER_TYPE": "anthropic",
            "COPILOT_PROVIDER_API_KEY": "unused",
            "COPILOT_MODEL": MODEL,
        },
    ),
    "kimi": ServedAgent(
        (("kimi", "-p", PROMPT),),
        path=".kimi-code/config.toml",
        settings='default_model = "m"\n[providers.a]\ntype = "anthropic"\nbase_url = "ADDRESS"\n'
        'api_key = "unused"\n[models.m]\nprovider = "a"\nmax_context_size = 200000\n'
        f'model = "{MODEL}"\n',
    ),
    "opencode": ServedAgent(
        (("opencode", "run", "-m", f"anthropic/{MODEL}", PROMPT),),
        {"OPENCODE_DISABLE_MODELS_FETCH": "1"},
        ".config/opencode/opencode.json",
        '{"provider": {"anthropic": {"options": {"baseURL": "ADDRESS/v1"}}}}',
    ),
    "qwen": ServedAgent(
        (("qwen", "--auth-type=anthropic", "--yolo", "-p", PROMPT),),
        {"ANTHROPIC_BASE_URL": "ADDRESS", "ANTHROPIC_MODEL": MODEL},
        search=(  # it shows its model no tool of a server before it was searched
            call("tool_search", query="select:mcp__hippocampus__search_memory"),
            lambda _: {
                "name": "tool_call",
                "arguments": {
                    "name": "mcp__hippocampus__search_memory",
                    "arguments": {"query": "units"},
                },
            },
        ),
    ),
}


def served(name: str, home: Path, project: Path, server: Server) -> str:
    """Run an agent of those once; return what it prints."""
    agent, url = SERVED_AGENTS[name], server.address.removesuffix("/v1")
    if agent.path:
        path, text = home / agent.path, agent.settings.replace("ADDRESS", url)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            text = json.dumps(json.loads(path.read_text("utf-8")) | json.loads(text))
        path.write_text(text, "utf-8")
    variables = {key: value.replace("ADDRESS", url) for key, value in agent.variables.items()}
    printed = [
        _run([word.replace("ADDRESS", url) for word in command], home, project, PWD=str(project),
             ANTHROPIC_API_KEY="unused", **variables)
        for command in agent.commands
    ]  # fmt: skip
    return printed[-1]
