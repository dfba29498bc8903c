"""The neutral form of a message list: messages made of parts, each part knowing its place.

Pure data and edits that return new values. No provider's field names are read here (that is what
`messages/` does), and nothing is indexed, planned or stored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from hippocampus.formats.content import is_text_block

Role = Literal["system", "user", "assistant", "tool"]
PartKind = Literal["text", "call", "result", "image", "opaque"]
Item = dict[str, Any]
Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a message that can be read, weighed or replaced by itself."""

    kind: PartKind
    text: str
    """The text as the model reads it; of a call, its arguments as JSON; of a result, its text."""
    place: Place
    """Where it stands in `Message.raw`: the item's number there, then keys and list positions."""
    tool: str = ""
    """The tool's name (calls, and results whose format repeats it)."""
    call_id: str = ""
    is_error: bool = False
    image_tokens: int = 0
    """What an image weighs, or the images in an opaque part; 0 for everything else."""
    answers: bool = False
    """Whether an opaque part with a `call_id` answers that call; else it is the call."""

    @property
    def opens_call(self) -> bool:
        """Say whether it is a call: the model's, or one that only its provider can read."""
        is_opaque = self.kind == "opaque" and bool(self.call_id)
        return self.kind == "call" or (is_opaque and not self.answers)

    @property
    def closes_call(self) -> bool:
        """Say whether it answers a call."""
        return self.kind == "result" or (self.kind == "opaque" and self.answers)


@dataclass(frozen=True, slots=True)
class Message:
    """One message as the model sees it, with the provider's items that it was read from."""

    role: Role
    parts: tuple[Part, ...]
    raw: tuple[Item, ...]

    def texts(self) -> Iterable[str]:
        """Yield every text that is weighed: of parts, and the names of the tools called."""
        for part in self.parts:
            yield part.text
            if part.kind == "call":
                yield part.tool


def write(messages: Iterable[Message]) -> list[Item]:
    """Return the provider's list: for messages just read, equal to the list they came from."""
    return [item for message in messages for item in message.raw]


def with_texts(message: Message, texts: Mapping[int, str]) -> Message:
    """Return the message with the text of some parts replaced, `texts` by part number.

    Everything else of the provider's items stays as it is. A result made of blocks keeps its images
    and gets the text in place of its first text block; the arguments of a call that the provider
    holds as an object must be given as JSON of an object.
    """
    raw = list(message.raw)
    parts = list(message.parts)
    for number, text in texts.items():
        part = parts[number]
        index, *path = part.place
        raw[int(index)] = _put(raw[int(index)], path, text)
        parts[number] = replace(part, text=text)
    return Message(message.role, tuple(parts), tuple(raw))


def _put(value: Any, path: list[str | int], text: str) -> Any:
    if path:
        key, *rest = path
        copy: Any = dict(value) if isinstance(value, dict) else list(value)
        copy[key] = _put(value[key], rest, text)
        return copy
    if isinstance(value, dict):
        return json.loads(text)
    if isinstance(value, list):
        return _blocks_with_text(value, text)
    return text


def _blocks_with_text(blocks: list[Any], text: str) -> list[Any]:
    written: list[Any] = []
    first = next(block for block in blocks if is_text_block(block))
    marks = [block["cache_control"] for block in blocks if _is_marked_text(block)]
    for block in blocks:
        if block is first:
            written.append(
                {**block, "text": text, **({"cache_control": marks[-1]} if marks else {})}
            )
        elif not is_text_block(block):
            written.append(block)
    return written


def _is_marked_text(block: object) -> bool:
    return isinstance(block, dict) and is_text_block(block) and bool(block.get("cache_control"))
