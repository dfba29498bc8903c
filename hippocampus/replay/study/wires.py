"""Conversations with tools in the two wire formats: OpenAI-compatible chat, Anthropic messages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hippocampus.errors import MALFORMED, MessagesError, ProviderError
from hippocampus.formats import anthropic, openai_chat
from hippocampus.formats.conversation import Item
from hippocampus.formats.reader import Adapter, read
from hippocampus.formats.usage import Usage
from hippocampus.models.http import ANTHROPIC, OPENAI, Endpoint, post
from hippocampus.replay.study.transcript import arguments_of

TIMEOUT_SECONDS = 600.0
MAX_OUTPUT_TOKENS = 16_000
"""The limit that is sent to providers that require one."""
MAX_FAILURES = 3


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply in an endpoint's answer."""

    text: str
    calls: list[tuple[str, str, str]]
    """The tool calls: id, tool and arguments as JSON."""
    refused: str
    """Why the model refuses; empty if it does not."""
    message: Item
    """The message that the next request repeats."""


@dataclass(frozen=True, slots=True)
class Wire:
    """A model at an endpoint, with the format of its requests and answers."""

    endpoint: Endpoint
    adapter: Adapter
    model: str = ""

    def ask(self, items: Sequence[Item], tools: Sequence[Item]) -> Item:
        """Send messages and tools in the provider's format, and return the `request` and its `answer`.

        Raises:
            ProviderError: there is no answer with text or calls.
        """
        body: Item = {"model": self.model, "messages": items}
        if self.adapter is anthropic:
            body["max_tokens"] = MAX_OUTPUT_TOKENS
        if tools:
            body["tools"] = tools
        answer = post(self.endpoint, self.endpoint.completions, body)
        self.read(answer)  # an unusable answer is not recorded, and so requested again
        exchange = json.dumps({"request": body, "answer": answer})
        # The key is recorded nowhere, also where an answer quotes it.
        found: Item = json.loads(exchange.replace(self.endpoint.key or "…", "…"))
        return found

    def read(self, answer: Any) -> Reply:
        """Return the reply in an answer.

        Raises:
            ProviderError: the answer has neither text nor calls.
        """
        message: Item = {}
        refused: object = ""
        match answer:
            case {"choices": [{"message": {} as message} as choice, *_]}:
                filtered = choice.get("finish_reason") == "content_filter"
                refused = message.get("refusal") or ("content filter" if filtered else "")
            case {"content": content}:
                message = {"role": "assistant", "content": content}
                refused = "stop reason refusal" if answer.get("stop_reason") == "refusal" else ""
        try:
            parts = read([message])[0].parts
        except (*MALFORMED, MessagesError):
            parts = ()
        text = "".join(part.text for part in parts if part.kind == "text")
        calls = [
            (part.call_id, part.tool, json.dumps(arguments_of(part.text), ensure_ascii=False))
            for part in parts
            if part.kind == "call"
        ]
        if not (text.strip() or calls or refused):
            raise ProviderError(
                f"{self.endpoint.place}: the answer has neither text nor tool calls"
            )
        return Reply(text, calls, str(refused), message)


WIRES = {
    "openai": Wire(OPENAI, openai_chat),
    "anthropic": Wire(ANTHROPIC, anthropic),
}


def wire_of(named: str) -> Wire:
    """Return the wire of a name such as `openai:MODEL`, or `openai:MODEL@URL` for another endpoint.

    Raises:
        ProviderError: the name has another form, its URL has a password, or the key of a provider's
            own endpoint is missing.
    """
    kind, _, rest = named.partition(":")
    model, _, address = rest.partition("@http")
    if kind not in WIRES or not model:
        forms = ", ".join(f"{name}:MODEL[@URL]" for name in WIRES)
        raise ProviderError(f"no model {named!r}; there are {forms}, and files for a study")
    wire = WIRES[kind]
    variable = wire.endpoint.key_variable
    if "@" in address:
        raise ProviderError(f"leave the password out of the URL; the key is read from {variable}")
    if not (address or wire.endpoint.key):
        raise ProviderError(f"{named}: no key is set in {variable}")
    url = f"http{address}" if address else wire.endpoint.base_url
    endpoint = replace(wire.endpoint, base_url=url, timeout_seconds=TIMEOUT_SECONDS)
    return replace(wire, endpoint=endpoint, model=model)


def list_price(model: str, usage: Usage) -> float | None:
    """Return the dollars of a model's usage at list prices; None if they are not known."""
    from genai_prices import Usage as Counts
    from genai_prices import calc_price

    counts = Counts(
        input_tokens=usage.context_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
    )
    try:
        return float(calc_price(counts, model_ref=model).total_price)
    except LookupError:
        return None


def ask_in_turn(names: Iterable[str], ask: Callable[[str], None]) -> Iterator[str]:
    """Call `ask` with the names, and yield its problem or an empty text; stop after three in a row."""
    in_row = 0
    for name in names:
        try:
            ask(name)
            in_row = 0
            yield ""
        except ProviderError as failure:
            in_row += 1
            yield f"{name}: {failure}"
        if in_row == MAX_FAILURES:
            yield f"stopped after {MAX_FAILURES} failures in a row"
            return
