"""A conversation with tools over the two wire formats: OpenAI-compatible chat, Anthropic messages.

Requests are built from neutral messages, and answers read into a reply; nothing is kept here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hippocampus.errors import MALFORMED, MessagesError, ProviderError
from hippocampus.formats import anthropic, openai_chat
from hippocampus.formats.conversation import Item, Message, ToolResult
from hippocampus.formats.reader import read
from hippocampus.models.anthropic import ANTHROPIC
from hippocampus.models.http import Endpoint, post
from hippocampus.models.openai_compatible import OPENAI
from hippocampus.replay.study.transcript import arguments_of, numbered, text_in

TIMEOUT_SECONDS = 600.0
MAX_OUTPUT_TOKENS = 16_000
"""Sent where the provider wants a limit."""
FIRST = {"type": "text", "text": "(the conversation begins with a message of yours)"}
NO_NAME = re.compile(r"[^A-Za-z0-9_-]")
MAX_NAME_CHARACTERS = 64


@dataclass(frozen=True, slots=True)
class Reply:
    """What an endpoint's answer holds."""

    text: str
    calls: list[tuple[str, str, str]]
    """The id, the tool and the arguments as JSON of each tool call."""
    refused: str
    """Why the model refuses, where it does."""
    message: Item
    """The answer as the message that the next request repeats."""


@dataclass(frozen=True, slots=True)
class Wire:
    """A model at an endpoint, with the format of its requests and answers."""

    endpoint: Endpoint
    model: str
    path: str
    request: Callable[[str, Iterable[Message], Iterable[Item]], Item]
    """Takes system text, messages and tools; returns the body but for the model."""
    reply: Callable[[Any], Reply]
    results: Callable[[Sequence[ToolResult]], list[Item]]

    def body(self, system: str, messages: Iterable[Message], tools: Iterable[Item]) -> Item:
        """Return the body of a request."""
        return {"model": self.model, **self.request(system, numbered(messages), tools)}

    def next_body(self, body: Item, reply: Reply, results: Sequence[ToolResult]) -> Item:
        """Return the next request, with a reply and the results of its calls behind the last."""
        added = [reply.message, *self.results(results)]
        return {**body, "messages": [*body["messages"], *added]}

    def ask(self, body: Item) -> Any:
        """Send a request and return the answer.

        Raises:
            ProviderError: there is none.

        """
        return post(self.endpoint, self.path, body)

    def read(self, answer: Any) -> Reply:
        """Return the reply in an answer.

        Raises:
            ProviderError: it holds neither text nor calls.

        """
        try:
            reply = self.reply(answer)
        except (*MALFORMED, MessagesError):
            reply = None
        if reply is None or not (reply.text.strip() or reply.calls or reply.refused):
            raise ProviderError(
                f"{self.endpoint.place}: the answer has neither text nor tool calls"
            )
        return reply


def wire_of(named: str) -> Wire:
    """Return the model of a name such as `openai:MODEL`, or `openai:MODEL@URL` for another endpoint.

    Raises:
        ProviderError: the name is of another form, or its URL has a password.

    """
    kind, _, rest = named.partition(":")
    model, _, address = rest.partition("@http")
    if kind not in WIRES or not model:
        forms = ", ".join(f"{each}:MODEL[@URL]" for each in WIRES)
        raise ProviderError(f"no reader or judge {named!r}; there are files, {forms}")
    wire = WIRES[kind]
    if "@" in address:
        variable = wire.endpoint.key_variable
        raise ProviderError(f"leave the password out of the URL; the key is read from {variable}")
    url = f"http{address}" if address else wire.endpoint.base_url
    endpoint = replace(wire.endpoint, base_url=url, timeout_seconds=TIMEOUT_SECONDS)
    return replace(wire, endpoint=endpoint, model=model)


# OpenAI-compatible chat


def _chat_request(system: str, messages: Iterable[Message], tools: Iterable[Item]) -> Item:
    items: list[Item] = [{"role": "system", "content": system}] if system else []
    for message in messages:
        items += openai_chat.tool_results(_results(message))
        calls = [
            {
                "id": part.call_id,
                "type": "function",
                "function": {
                    "name": _name(part.tool),
                    "arguments": json.dumps(arguments_of(part.text)),
                },
            }
            for part in message.parts
            if part.kind == "call"
        ]
        text = text_in(message) if message.role != "tool" else ""
        if text or calls:
            more = {"tool_calls": calls} if calls else {}
            items.append({"role": message.role, "content": text or None, **more})
    offered = [openai_chat.tool_definition(*_fields(each)) for each in tools]
    return {"messages": items, **({"tools": offered} if offered else {})}


def _chat_reply(answer: Any) -> Reply:
    choice = answer["choices"][0]
    filtered = "content filter" if choice.get("finish_reason") == "content_filter" else ""
    return _reply(choice["message"], str(choice["message"].get("refusal") or filtered))


# Anthropic messages


def _anthropic_request(system: str, messages: Iterable[Message], tools: Iterable[Item]) -> Item:
    """Return a request; system texts at the start join its system text, later ones are the user's."""
    leading = [system] if system else []
    items: list[Item] = []
    for message in messages:
        text, results = text_in(message) if message.role != "tool" else "", _results(message)
        if message.role == "system" and not items:
            leading.append(text)
            continue
        blocks = anthropic.tool_results(results)[0]["content"] if results else []
        blocks += [{"type": "text", "text": text}] if text.strip() else []
        for part in message.parts:
            if part.kind == "call":
                held = {"name": _name(part.tool), "input": arguments_of(part.text)}
                blocks.append({"type": "tool_use", "id": part.call_id, **held})
        role = "assistant" if message.role == "assistant" else "user"
        if blocks and role == "assistant" and not items:
            items.append({"role": "user", "content": [FIRST]})
        if blocks and items and items[-1]["role"] == role:
            items[-1]["content"] += blocks
        elif blocks:
            items.append({"role": role, "content": blocks})
    offered = [anthropic.tool_definition(*_fields(each)) for each in tools]
    more = {"system": "\n\n".join(leading), "tools": offered}
    body = {"max_tokens": MAX_OUTPUT_TOKENS, "messages": items}
    return body | {key: value for key, value in more.items() if value}


def _anthropic_reply(answer: Any) -> Reply:
    refused = "stop reason refusal" if answer.get("stop_reason") == "refusal" else ""
    return _reply({"role": "assistant", "content": answer["content"]}, refused)


def _reply(message: Item, refused: str) -> Reply:
    """Return the reply in an assistant's message of either format."""
    [found] = read([message])
    calls = [
        (part.call_id, part.tool, json.dumps(arguments_of(part.text), ensure_ascii=False))
        for part in found.parts
        if part.kind == "call"
    ]
    text = "".join(part.text for part in found.parts if part.kind == "text")
    return Reply(text, calls, refused, message)


def _results(message: Message) -> list[ToolResult]:
    """Return the results in a message; a tool's own message has nothing else, such as images."""
    more = text_in(message) if message.role == "tool" else ""
    return [
        ToolResult(part.call_id, f"{part.text}{more}" or "(empty)", part.is_error)
        for part in message.parts
        if part.closes_call
    ]


def _fields(tool: Item) -> tuple[str, str, Item]:
    return _name(tool["name"]), tool["description"], tool["parameters"]


def _name(tool: str) -> str:
    """Return a tool's name in the characters that every provider takes."""
    return NO_NAME.sub("_", tool)[:MAX_NAME_CHARACTERS] or "tool"


WIRES = {
    "openai": Wire(
        OPENAI, "", "chat/completions", _chat_request, _chat_reply, openai_chat.tool_results
    ),
    "anthropic": Wire(
        ANTHROPIC, "", "messages", _anthropic_request, _anthropic_reply, anthropic.tool_results
    ),
}
