"""A provider on loopback: answers as a scripted model decides, in all three APIs, and notes each request."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from hippocampus.testing import Decided, ScriptedCall

Items = list[dict[str, Any]]


@dataclass
class Sent:
    """One request as it arrived."""

    target: str
    headers: dict[str, str]
    content: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.content)

    @property
    def items(self) -> Items:
        return self.body.get("messages") or self.body["input"]


@dataclass
class Upstream:
    """What the provider decides, and what it was sent."""

    decide: Callable[[Items], Decided]
    thinking: str = ""
    refuses: Callable[[Sent], int] = lambda _: 0
    """The status of an error instead of an answer; 0 for none."""
    pause: Callable[[], AsyncIterator[None]] | None = None
    """What a stream waits for after its first event."""
    sent: list[Sent] = field(default_factory=list)
    closed: threading.Event = field(default_factory=threading.Event)
    """Set when a stream was left before its end."""
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    url: str = ""

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/{path:path}", self.answer, methods=["GET", "POST"])])

    async def answer(self, request: Request) -> Response:
        target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        sent = Sent(target, dict(request.headers), await request.body())
        self.sent.append(sent)
        if status := self.refuses(sent):
            return JSONResponse({"error": {"message": "refused"}}, status)
        path = request.url.path
        kind = next(
            (k for k in ("chat/completions", "responses", "messages") if path.endswith(k)), ""
        )
        if request.method != "POST" or not kind:
            return JSONResponse({"path": path, "bytes": len(sent.content)})
        body = sent.body
        decided = self.decide(sent.items)
        calls = [decided] if isinstance(decided, ScriptedCall) else decided
        text, calls = (calls, []) if isinstance(calls, str) else ("Working.", list(calls))
        whole, events = WIRES[kind](next(self.numbers), body["model"], text, calls, self.thinking)
        if body.get("stream"):
            return StreamingResponse(self.streamed(events), media_type="text/event-stream")
        return JSONResponse(whole)

    async def streamed(self, events: list[bytes]) -> AsyncIterator[bytes]:
        try:
            for number, each in enumerate(events):
                # Two writes an event, so that no reader can count on one chunk an event.
                yield each[: len(each) // 2]
                await asyncio.sleep(0)
                yield each[len(each) // 2 :]
                if number == 0 and self.pause is not None:
                    async for _ in self.pause():
                        pass
        except (asyncio.CancelledError, GeneratorExit):
            self.closed.set()
            raise


USAGE = {"input_tokens": 7, "output_tokens": 3}


def event(data: dict[str, Any], name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def messages(
    number: int, model: str, text: str, calls: list[ScriptedCall], thinking: str
) -> tuple[Any, list[bytes]]:
    blocks: Items = []
    if thinking:
        blocks.append({"type": "thinking", "thinking": thinking, "signature": f"sig{number}"})
    blocks.append({"type": "text", "text": f"{text}"})
    for place, each in enumerate(calls):
        made = {"id": f"toolu_{number}_{place}", "name": each.tool, "input": each.arguments}
        blocks.append({"type": "tool_use", **made})
    reason = "tool_use" if calls else "end_turn"
    usage = {**USAGE, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 3}
    base = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": model}
    base |= {"stop_sequence": None, "usage": usage}
    whole = {**base, "content": blocks, "stop_reason": reason}
    events = [{"type": "message_start", "message": {**base, "content": [], "stop_reason": None}}]
    for index, block in enumerate(blocks):
        empty, deltas = started(block)
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        events += [{"type": "content_block_delta", "index": index, "delta": d} for d in deltas]
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": reason, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 3}})
    events.append({"type": "message_stop"})
    return whole, [event(each, each["type"]) for each in events]


def started(block: dict[str, Any]) -> tuple[dict[str, Any], Items]:
    if block["type"] == "text":
        return {**block, "text": ""}, [
            {"type": "text_delta", "text": t} for t in halves(block["text"])
        ]
    if block["type"] == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": t} for t in halves(block["thinking"])]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
        return {**block, "thinking": "", "signature": ""}, deltas
    written = halves(json.dumps(block["input"]))
    return {**block, "input": {}}, [
        {"type": "input_json_delta", "partial_json": t} for t in written
    ]


def halves(text: str) -> list[str]:
    return [text[: len(text) // 2], text[len(text) // 2 :]]


def chat(
    number: int, model: str, text: str, calls: list[ScriptedCall], _thinking: str
) -> tuple[Any, list[bytes]]:
    made = [
        {
            "id": f"call_{number}_{place}",
            "type": "function",
            "function": {"name": each.tool, "arguments": json.dumps(each.arguments)},
        }
        for place, each in enumerate(calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": text}
    message |= {"refusal": None, "annotations": []} | ({"tool_calls": made} if made else {})
    reason = "tool_calls" if made else "stop"
    usage = {"prompt_tokens": 100, "completion_tokens": 3, "total_tokens": 103}
    usage |= {"prompt_tokens_details": {"cached_tokens": 90}}
    base = {"id": f"chatcmpl-{number}", "created": 1, "model": model}
    choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
    whole = {**base, "object": "chat.completion", "choices": [choice], "usage": usage}
    deltas: list[Any] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": half} for half in halves(text)]
    for index, each in enumerate(made):
        first, second = halves(each["function"]["arguments"])
        function = {"name": each["function"]["name"], "arguments": first}
        deltas.append({"tool_calls": [{**each, "index": index, "function": function}]})
        deltas.append({"tool_calls": [{"index": index, "function": {"arguments": second}}]})
    chunks = [(delta, None) for delta in deltas] + [({}, reason)]
    base["object"] = "chat.completion.chunk"
    events = [
        event({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]})
        for delta, end in chunks
    ]
    return whole, [*events, event({**base, "choices": [], "usage": usage}), b"data: [DONE]\n\n"]


def responses(
    number: int, model: str, text: str, calls: list[ScriptedCall], thinking: str
) -> tuple[Any, list[bytes]]:
    output: Items = []
    if thinking:
        kept = {"summary": [], "encrypted_content": f"enc{number}"}
        output.append({"id": f"rs_{number}", "type": "reasoning", **kept})
    part = {"type": "output_text", "text": text, "annotations": []}
    made = {"role": "assistant", "status": "completed", "content": [part]}
    output.append({"id": f"msg_{number}", "type": "message", **made})
    for place, each in enumerate(calls):
        function = {
            "name": each.tool,
            "arguments": json.dumps(each.arguments),
            "status": "completed",
        }
        ids = {"id": f"fc_{number}_{place}", "call_id": f"call_{number}_{place}"}
        output.append({"type": "function_call", **ids, **function})
    usage = {"input_tokens": 100, "output_tokens": 3, "total_tokens": 103}
    usage |= {
        "input_tokens_details": {"cached_tokens": 90},
        "output_tokens_details": {"reasoning_tokens": 0},
    }  # type: ignore[dict-item]
    base = {"id": f"resp_{number}", "object": "response", "created_at": 1, "model": model}
    base |= {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    whole = {**base, "status": "completed", "output": output, "usage": usage}
    begun = {**base, "status": "in_progress", "output": [], "usage": None}
    events: Items = [
        {"type": f"response.{each}", "response": begun} for each in ("created", "in_progress")
    ]
    for index, item in enumerate(output):
        place = {"output_index": index, "item_id": item["id"]}
        hollow = {**item, "content": []} if item["type"] == "message" else item
        hollow = {**hollow, "arguments": ""} if "arguments" in item else hollow
        events.append({"type": "response.output_item.added", "output_index": index, "item": hollow})
        if item["type"] == "message":
            at = {**place, "content_index": 0}
            empty = {**part, "text": ""}
            events.append({"type": "response.content_part.added", **at, "part": empty})
            for half in halves(text):
                events.append(
                    {"type": "response.output_text.delta", **at, "delta": half, "logprobs": []}
                )
            events.append({"type": "response.output_text.done", **at, "text": text, "logprobs": []})
            events.append({"type": "response.content_part.done", **at, "part": part})
        if "arguments" in item:
            for half in halves(item["arguments"]):
                events.append(
                    {"type": "response.function_call_arguments.delta", **place, "delta": half}
                )
            done = {"arguments": item["arguments"], "name": item["name"]}
            events.append({"type": "response.function_call_arguments.done", **place, **done})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": whole})
    numbered = [{**each, "sequence_number": n} for n, each in enumerate(events)]
    return whole, [event(each, each["type"]) for each in numbered]


WIRES = {"chat/completions": chat, "responses": responses, "messages": messages}


class Server(uvicorn.Server):
    """A server that notices at once that it is to end, and not within a tenth of a second."""

    async def main_loop(self) -> None:
        while not self.should_exit:  # noqa: ASYNC110 - another thread sets it
            await asyncio.sleep(0.005)


@contextlib.contextmanager
def served(app: Any) -> Iterator[str]:
    """Serve an application on a free port of loopback, in a thread."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        # As long as real providers: uvicorn closes an idle connection after five seconds, when httpx may
        # just have sent a request on it.
        config = uvicorn.Config(
            app, log_level="critical", timeout_graceful_shutdown=1, timeout_keep_alive=600
        )
        server = Server(config)
        running = threading.Thread(target=server.run, args=([listening],), daemon=True)
        running.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            running.join()  # what it closes belongs to no other test


@contextlib.contextmanager
def provider(upstream: Upstream) -> Iterator[Upstream]:
    """Serve a provider."""
    with served(upstream.app()) as url:
        upstream.url = url
        yield upstream
