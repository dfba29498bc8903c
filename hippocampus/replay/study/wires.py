"""A conversation with tools over the two wire formats: OpenAI-compatible chat, Anthropic messages.

Requests are built from neutral messages, and answers read into a reply; nothing is kept here.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hippocampus.errors import MALFORMED, MessagesError, ProviderError
from hippocampus.formats import anthropic, openai_chat
from hippocampus.formats.conversation import Item, Message, ToolResult
from hippocampus.formats.reader import Adapter, read
from hippocampus.models.anthropic import ANTHROPIC
from hippocampus.models.http import Endpoint
from hippocampus.models.openai_compatible import OPENAI
from hippocampus.replay.readers.raw import RawMessage, chat_call, tool_use
from hippocampus.replay.study.transcript import arguments_of, numbered, text_in

TIMEOUT_SECONDS = 600.0
MAX_OUTPUT_TOKENS = 16_000
"""Sent where the provider wants a limit."""
FIRST = {"type": "text", "text": "(the conversation begins with a message of yours)"}
FILTERED = "content_filter"
NO_NAME = re.compile(r"[^A-Za-z0-9_-]")
MAX_NAME_CHARACTERS = 64


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply in an endpoint's answer."""

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
    path: str
    adapter: Adapter
    model: str = ""

    def body(self, system: str, messages: Iterable[Message], tools: Iterable[Item]) -> Item:
        """Return the body of a request."""
        write = _anthropic_request if self.adapter is anthropic else _chat_request
        body = {"model": self.model, **write(system, numbered(messages))}
        offered = [
            self.adapter.tool_definition(
                _name(each["name"]), each["description"], each["parameters"]
            )
            for each in tools
        ]
        return {**body, "tools": offered} if offered else body

    def read(self, answer: Any) -> Reply:
        """Return the reply in an answer.

        Raises:
            ProviderError: it holds neither text nor calls.

        """
        try:
            if self.adapter is anthropic:
                message = {"role": "assistant", "content": answer["content"]}
                refused = "stop reason refusal" if answer.get("stop_reason") == "refusal" else ""
            else:
                [choice, *_] = answer["choices"]
                message, is_filtered = choice["message"], choice.get("finish_reason") == FILTERED
                refused = str(message.get("refusal") or ("content filter" if is_filtered else ""))
            [found] = read([message])
            calls = [
                (part.call_id, part.tool, json.dumps(arguments_of(part.text), ensure_ascii=False))
                for part in found.parts
                if part.kind == "call"
            ]
            text = "".join(part.text for part in found.parts if part.kind == "text")
        except (*MALFORMED, MessagesError):
            text, calls, refused, message = "", [], "", {}
        if not (text.strip() or calls or refused):
            raise ProviderError(
                f"{self.endpoint.place}: the answer has neither text nor tool calls"
            )
        return Reply(text, calls, refused, message)


WIRES = {
    "openai": Wire(OPENAI, "chat/completions", openai_chat),
    "anthropic": Wire(ANTHROPIC, "messages", anthropic),
}


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


def _chat_request(system: str, messages: Iterable[Message]) -> Item:
    items: list[Item] = [{"role": "system", "content": system}] if system else []
    for message in messages:
        items += openai_chat.tool_results(_results(message))
        calls = [chat_call(*each) for each in _calls(message)]
        if calls:
            items.append(RawMessage.answer(_text(message), calls).item)
        elif text := _text(message):
            items.append({"role": message.role, "content": text})
    return {"messages": items}


def _anthropic_request(system: str, messages: Sequence[Message]) -> Item:
    """Return a request; system texts at the start join its system text, later ones are the user's."""
    leading = list(itertools.takewhile(lambda each: each.role == "system", messages))
    said: list[tuple[str, Item]] = []
    for message in messages[len(leading) :]:
        role = "assistant" if message.role == "assistant" else "user"
        [results] = anthropic.tool_results(_results(message))
        text = _text(message)
        texts = [{"type": "text", "text": text}] if text.strip() else []
        calls = [tool_use(*each) for each in _calls(message)]
        said += [(role, block) for block in (*results["content"], *texts, *calls)]
    if said and said[0][0] == "assistant":
        said.insert(0, ("user", FIRST))
    turns = itertools.groupby(said, key=lambda each: each[0])
    items = [{"role": role, "content": [block for _, block in blocks]} for role, blocks in turns]
    before = "\n\n".join(filter(None, [system, *map(text_in, leading)]))
    more = {"system": before} if before else {}
    return {"max_tokens": MAX_OUTPUT_TOKENS, "messages": items, **more}


def _text(message: Message) -> str:
    """Return the text of a message; that of a tool's own message is in its results."""
    return "" if message.role == "tool" else text_in(message)


def _results(message: Message) -> list[ToolResult]:
    """Return the results in a message; a tool's own message has nothing else, such as images."""
    more = text_in(message) if message.role == "tool" else ""
    return [
        ToolResult(part.call_id, f"{part.text}{more}" or "(empty)", part.is_error)
        for part in message.parts
        if part.closes_call
    ]


def _calls(message: Message) -> list[tuple[str, str, Item]]:
    """Return the id, the tool and the arguments of each call in a message."""
    calls = (part for part in message.parts if part.kind == "call")
    return [(part.call_id, _name(part.tool), arguments_of(part.text)) for part in calls]


def _name(tool: str) -> str:
    """Return a tool's name in the characters that every provider takes."""
    return NO_NAME.sub("_", tool)[:MAX_NAME_CHARACTERS] or "tool"
