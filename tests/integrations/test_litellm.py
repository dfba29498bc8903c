"""LiteLLM with the callback of ours: what the provider is sent, and what the caller gets."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
pytest.importorskip("litellm", reason="pip install hippocampus-context[litellm]")

import litellm
from integrations import scenario

from hippocampus import Hippocampus
from hippocampus.integrations.litellm import HippocampusCallback
from hippocampus.testing import ScriptedModel, call

pytestmark = pytest.mark.filterwarnings("ignore")
litellm.suppress_debug_info = True
PAGE = {"type": "object", "properties": {"page": {"type": "integer"}}}
CHAT_TOOL = {"type": "function", "function": {"name": "list_orders", "parameters": PAGE}}
BLOCK_TOOL = {"name": "list_orders", "input_schema": PAGE}


def as_chat(messages: list[Any]) -> list[Any]:
    """Return the messages of a request, which are chat messages or Anthropic's."""
    return messages


class Provider:
    """A provider on loopback, of chat completions and of messages, that a script decides for."""

    def __init__(self, mind: ScriptedModel) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                [item] = mind(as_chat(body["messages"]), body["tools"])
                is_chat = self.path.endswith("/chat/completions")
                answer = json.dumps((_completion if is_chat else _message)(item)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> str:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self.url

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _completion(item: Any) -> Any:
    reason = "tool_calls" if item.get("tool_calls") else "stop"
    choice = {"index": 0, "message": item, "finish_reason": reason}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    named = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    return {**named, "choices": [choice], "usage": usage}


def _message(item: Any) -> Any:
    is_call = item["content"][0]["type"] == "tool_use"
    reason = "tool_use" if is_call else "end_turn"
    usage = {"input_tokens": 1, "output_tokens": 1}
    named = {"id": "m", "type": "message", "model": "m", "stop_sequence": None}
    return {**named, **item, "stop_reason": reason, "usage": usage}


@pytest.fixture(autouse=True)
def _no_callbacks() -> Iterator[None]:
    yield
    litellm.callbacks = []


async def chat(
    url: str,
    messages: list[Any],
    session_id: str = "orders",
    answer_call: Any = scenario.list_orders,
    **more: Any,
) -> str:
    """Run the loop of a host that knows nothing of recall; its list is `messages`."""
    tools = [CHAT_TOOL, {"type": "function", "function": {"name": "find"}}]
    while True:
        answer = await litellm.acompletion(
            model="openai/gpt-5.4-mini",
            messages=messages,
            api_base=url,
            api_key="x",
            tools=tools,
            litellm_session_id=session_id,
            **more,
        )
        if more.get("stream"):
            answer = litellm.stream_chunk_builder([each async for each in answer])
        said = answer.choices[0].message
        messages.append(json.loads(json.dumps(said.model_dump(exclude_none=True))))
        for each in said.tool_calls or ():
            assert each.function.name in {"list_orders", "find"}
            text = answer_call(**json.loads(each.function.arguments))
            messages.append({"role": "tool", "tool_call_id": each.id, "content": text})
        if not said.tool_calls:
            return str(said.content)


def run(memory: Hippocampus, mind: ScriptedModel, messages: list[Any], **more: Any) -> str:
    litellm.callbacks = [HippocampusCallback(memory)]
    with Provider(mind) as url:
        return asyncio.run(chat(url, messages, **more))


def asked() -> list[Any]:
    return [{"role": "user", "content": scenario.QUESTION}]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_the_view_is_sent_and_recall_is_answered_inside(state: Path, stream: bool) -> None:
    memory, mind, messages = scenario.memory_in(state), scenario.mind(), asked()
    more = {"stream": True} if stream else {}
    assert run(memory, mind, messages, **more) == scenario.DONE
    assert scenario.list_orders(0) in [each.get("content") for each in messages]
    assert "recall" not in json.dumps(messages)
    scenario.check(mind, len(json.dumps(messages)))
    memory.close()


def test_a_recall_among_other_calls_is_answered_first(state: Path) -> None:
    mind = scenario.mind(
        call("list_orders", page=scenario.WANTED_PAGE),
        lambda view: [scenario.recall_wanted(view), call("list_orders", page=5)],
        call("list_orders", page=5),
        scenario.DONE,
    )
    memory, messages = scenario.memory_in(state), asked()
    assert run(memory, mind, messages) == scenario.DONE
    assert [each["role"] for each in mind.requests[2]][-2:] == ["assistant", "tool"]
    assert scenario.WANTED in mind.requests[2][-1]["content"]
    scenario.assert_paired(mind.requests[2])
    memory.close()


def test_messages_of_anthropic_are_served_too(state: Path) -> None:
    steps = [call("list_orders", page=page) for page in range(scenario.CALLS)]

    def recall_last(view: list[Any]) -> Any:
        return call(
            "recall", entry_id=scenario.entry_ids(view)[0], path=f"$[{scenario.WANTED_ROW}]"
        )

    mind = ScriptedModel(*steps, recall_last, scenario.DONE, format_name="anthropic")
    memory, messages = scenario.memory_in(state), asked()
    litellm.callbacks = [HippocampusCallback(memory)]

    async def loop(url: str) -> str:
        while True:
            answer = await litellm.anthropic.messages.acreate(
                model="anthropic/claude-sonnet-4-5",
                max_tokens=100,
                messages=messages,
                api_base=url,
                api_key="x",
                tools=[BLOCK_TOOL],
                litellm_session_id="orders",
            )
            messages.append({"role": "assistant", "content": answer["content"]})
            [block] = answer["content"]
            if block["type"] == "text":
                return str(block["text"])
            assert block["name"] == "list_orders"
            text = scenario.list_orders(**block["input"])
            result = {"type": "tool_result", "tool_use_id": block["id"], "content": text}
            messages.append({"role": "user", "content": [result]})

    with Provider(mind) as url:
        assert asyncio.run(loop(url)) == scenario.DONE
    assert len(json.dumps(mind.requests[-1])) < len(json.dumps(messages)) / 2
    assert scenario.stable_share(mind.requests) > 0.9
    memory.close()


def resume(state: Path, mind: Any) -> None:
    memory, saved = scenario.memory_in(state), state / "messages"
    messages = [*(json.loads(saved.read_text("utf-8")) if saved.exists() else []), *asked()]
    run(memory, mind, messages)
    saved.write_text(json.dumps(messages), "utf-8")
    memory.close()


def test_a_new_process_resumes_the_session(state: Path) -> None:
    scenario.check(scenario.resumed(__file__, state), scenario.CALLS * len(scenario.list_orders(0)))


def test_conversations_at_once_are_sessions_of_their_own(state: Path) -> None:
    memory, minds = scenario.memory_in(state), [scenario.mind(), scenario.mind()]
    litellm.callbacks = [HippocampusCallback(memory)]

    async def both(one: str, other: str) -> None:
        await asyncio.gather(chat(one, asked(), "one"), chat(other, asked(), "other"))

    with Provider(minds[0]) as one, Provider(minds[1]) as other:
        asyncio.run(both(one, other))
    for mind in minds:
        scenario.check(mind, scenario.CALLS * len(scenario.list_orders(0)))
    assert sorted(memory.unconsolidated()) == ["one", "other"]
    memory.close()


def test_a_memory_that_fails_lets_the_agent_go_on(state: Path) -> None:
    memory, mind = scenario.failed(state)
    assert run(memory, mind, asked()) == scenario.DONE
    scenario.check_failed(mind)


def test_whatever_a_tool_returns_is_sent_shortened(check_results: Any) -> None:
    def ask(mind: Any, memory: Hippocampus, find: Any) -> None:
        def written() -> Any:
            found = find()
            is_content = isinstance(found, str) or found == scenario.RESULTS["text blocks"]
            return found if is_content else json.dumps(found, default=vars)

        run(memory, mind, asked(), answer_call=written)

    check_results(f"{__name__}.as_chat", ask)


def test_the_program_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    mind = scenario.mind(*scenario.PAGE_SCRIPT)
    with Provider(mind) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", "x")
        scenario.run_page("litellm.md", "openai/gpt-5.4-mini", '"openai/gpt-5.4-mini"')
    assert capsys.readouterr().out == "Order A-417 is late.\n"
    assert "A-417" in mind.requests[-1][-1]["content"]
