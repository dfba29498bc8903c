"""The three providers' message lists, written one message at a time.

Only shapes are here; what is said in them comes from the agent.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Item = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """One tool call of an assistant message."""

    id: str
    tool: str
    arguments: dict[str, Any]

    @property
    def arguments_json(self) -> str:
        """Return the arguments as the text that OpenAI's formats carry."""
        return json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True)
class Result:
    """What a tool answered to one call: text, and an image if it drew one."""

    call: Call
    text: str
    is_error: bool = False
    png: bytes = b""

    @property
    def image(self) -> str:
        """Return the image in base64."""
        return base64.b64encode(self.png).decode("ascii")


class Transcript(Protocol):
    """A message list in one provider's format; `items` is the list that would be sent."""

    items: list[Item]

    def system(self, text: str) -> None:
        """Add the instructions."""

    def user(self, text: str) -> None:
        """Add what the user says."""

    def assistant(self, text: str, calls: Sequence[Call]) -> None:
        """Add what the assistant says and calls."""

    def results(self, results: Sequence[Result]) -> None:
        """Add what the tools answered."""


@dataclass
class OpenAIChat:
    """OpenAI Chat Completions: arguments as JSON text, one `tool` message a result."""

    items: list[Item] = field(default_factory=list)

    def system(self, text: str) -> None:
        """Add the system message."""
        self.items.append({"role": "system", "content": text})

    def user(self, text: str) -> None:
        """Add a user message."""
        self.items.append({"role": "user", "content": text})

    def assistant(self, text: str, calls: Sequence[Call]) -> None:
        """Add an assistant message."""
        message: Item = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.tool, "arguments": call.arguments_json},
                }
                for call in calls
            ]
        self.items.append(message)

    def results(self, results: Sequence[Result]) -> None:
        """Add one message for each result; the format has no place for images."""
        for result in results:
            content = f"Error: {result.text}" if result.is_error else result.text
            self.items.append({"role": "tool", "tool_call_id": result.call.id, "content": content})


@dataclass
class OpenAIResponses:
    """OpenAI Responses: messages, calls and outputs are items of one flat list."""

    items: list[Item] = field(default_factory=list)

    def system(self, text: str) -> None:
        """Add the developer message."""
        self.items.append({"type": "message", "role": "developer", "content": text})

    def user(self, text: str) -> None:
        """Add a user message."""
        block = {"type": "input_text", "text": text}
        self.items.append({"type": "message", "role": "user", "content": [block]})

    def assistant(self, text: str, calls: Sequence[Call]) -> None:
        """Add the message, if something is said, then each call as an item."""
        if text:
            block = {"type": "output_text", "text": text, "annotations": []}
            self.items.append({"type": "message", "role": "assistant", "content": [block]})
        for call in calls:
            self.items.append(
                {
                    "type": "function_call",
                    "call_id": call.id,
                    "name": call.tool,
                    "arguments": call.arguments_json,
                }
            )

    def results(self, results: Sequence[Result]) -> None:
        """Add one output item for each result."""
        for result in results:
            output: str | list[Item] = f"Error: {result.text}" if result.is_error else result.text
            if result.png:
                url = f"data:image/png;base64,{result.image}"
                text = {"type": "input_text", "text": result.text}
                output = [text, {"type": "input_image", "image_url": url}]
            self.items.append(
                {"type": "function_call_output", "call_id": result.call.id, "output": output}
            )


@dataclass
class Anthropic:
    """Anthropic Messages: blocks, results in the next user message, `is_error` as a field."""

    items: list[Item] = field(default_factory=list)

    def system(self, text: str) -> None:
        """Do nothing: the system prompt is a parameter of the request, not a message."""

    def user(self, text: str) -> None:
        """Add user text, behind the tool results if the last message holds them."""
        block = {"type": "text", "text": text}
        if self.items and self.items[-1]["role"] == "user":
            self.items[-1]["content"].append(block)
        else:
            self.items.append({"role": "user", "content": [block]})

    def assistant(self, text: str, calls: Sequence[Call]) -> None:
        """Add an assistant message."""
        blocks: list[Item] = [{"type": "text", "text": text}] if text else []
        blocks += [
            {"type": "tool_use", "id": call.id, "name": call.tool, "input": call.arguments}
            for call in calls
        ]
        self.items.append({"role": "assistant", "content": blocks})

    def results(self, results: Sequence[Result]) -> None:
        """Add one user message with all results."""
        blocks = [self._block(result) for result in results]
        self.items.append({"role": "user", "content": blocks})

    @staticmethod
    def _block(result: Result) -> Item:
        content: str | list[Item] = result.text
        if result.png:
            source = {"type": "base64", "media_type": "image/png", "data": result.image}
            content = [{"type": "text", "text": result.text}, {"type": "image", "source": source}]
        block: Item = {"type": "tool_result", "tool_use_id": result.call.id, "content": content}
        return {**block, "is_error": True} if result.is_error else block
