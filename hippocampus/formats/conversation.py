"""The neutral form of a message list: messages made of parts, with their paths in the raw items.

Pure data, and edits that return new values. Providers' field names are read in the adapters;
nothing is indexed, planned or stored here.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from hippocampus.entries.entry import content_key
from hippocampus.formats import json_text
from hippocampus.formats.json_text import NOTHING

Role = Literal["system", "user", "assistant", "tool"]
PartKind = Literal["text", "call", "result", "image", "opaque"]
Item = dict[str, Any]
ItemPath = tuple[str | int, ...]
KEY_CHARACTERS = 16


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a message that can be read, counted and replaced separately."""

    kind: PartKind
    text: str
    """The text that the model reads; for a call its arguments as JSON, for a result its text."""
    path: ItemPath
    """The path in `Message.raw`: the item's index, then keys and list positions."""
    tool: str = ""
    """The tool's name (calls, and results whose format repeats it)."""
    call_id: str = ""
    is_error: bool = False
    image_tokens: int = 0
    """The tokens of an image, or of the images in an opaque part; 0 for other parts."""
    answers: bool = False
    """Whether an opaque part with a `call_id` answers that call; if not, it makes it."""

    @property
    def words(self) -> bytes:
        """Return what the hash of its message has of it."""
        said = f"\0{self.kind}\0{self.call_id}\0{self.tool}\0{self.text}"
        return said.encode("utf-8", "surrogatepass")

    @property
    def opens_call(self) -> bool:
        """Return whether it makes a call: the model's, or one that only the provider can read."""
        is_opaque = self.kind == "opaque" and bool(self.call_id)
        return self.kind == "call" or (is_opaque and not self.answers)

    @property
    def closes_call(self) -> bool:
        """Return whether it answers a call."""
        return self.kind == "result" or (self.kind == "opaque" and self.answers)


@dataclass(frozen=True, slots=True)
class Message:
    """One message as the model reads it, with the provider's items that it was read from."""

    role: Role
    parts: tuple[Part, ...]
    raw: tuple[Item, ...]

    @property
    def key(self) -> str:
        """Return a hash of its words, but for the rest of its items, such as marks."""
        said = b"".join(part.words for part in self.parts)
        return content_key(self.role.encode() + said)[:KEY_CHARACTERS]

    @property
    def is_own(self) -> bool:
        """Return whether it holds the user's own words, and no tool's results."""
        return self.role == "user" and all(part.kind != "result" for part in self.parts)

    def held(self, part: Part) -> Any:
        """Return the JSON value that a part is in the provider's items."""
        value: Any = self.raw
        for key in part.path:
            value = value[key]
        return value

    def texts(self) -> Iterable[str]:
        """Yield the texts that are counted: those of parts, and the names of called tools."""
        for part in self.parts:
            yield part.text
            if part.kind == "call":
                yield part.tool


class KnownMessage(NamedTuple):
    """The known fields of a message that an earlier run has read."""

    role: Role
    key: str
    tokens: int
    is_closed: bool
    """Whether no call is open before it."""
    is_own: bool


class UnreadMessage(Message):
    """A message of one item that an earlier run has read: its parts are read when they are asked for."""

    __slots__ = ("_parts", "_read", "known")
    known: KnownMessage
    _read: Callable[[Sequence[Item]], list[Message]]
    _parts: tuple[Part, ...]
    # It equals a message of the same values, and a changed copy is such a message.
    __class__ = property(lambda _: Message)

    def __init__(
        self, read: Callable[[Sequence[Item]], list[Message]], item: Item, known: KnownMessage
    ) -> None:
        """Let `read` read the item."""
        put = object.__setattr__
        put(self, "_read", read)
        put(self, "raw", (item,))
        put(self, "role", known.role)
        put(self, "known", known)

    @property
    def key(self) -> str:
        """Return the hash of its words."""
        return self.known.key

    @property
    def is_own(self) -> bool:
        """Return whether it holds the user's own words."""
        return self.known.is_own

    @property
    def parts(self) -> tuple[Part, ...]:
        """Return its parts."""
        if not hasattr(self, "_parts"):
            [message] = self._read(self.raw)
            object.__setattr__(self, "_parts", message.parts)
        return self._parts


def unpaired(messages: Iterable[Message]) -> list[str]:
    """Return a sentence for every tool call without a result, and for every result without a call."""
    open_calls: Counter[str] = Counter()
    wrong: list[str] = []
    for part in (part for message in messages for part in message.parts):
        if part.opens_call:
            open_calls[part.call_id] += 1
        elif part.closes_call and not open_calls[part.call_id]:
            wrong.append(f"result {part.call_id!r} has no call before it")
        elif part.closes_call:
            open_calls[part.call_id] -= 1
    return wrong + [f"call {call_id!r} has no result" for call_id in open_calls.elements()]


class ToolResult(NamedTuple):
    """The result of one tool call, before it is written in a provider's format."""

    call_id: str
    text: str
    is_error: bool = False
    tool: str = ""
    """The name of the called tool, which some formats repeat."""
    images: tuple[Item, ...] = ()
    """The image blocks that it has besides its text, in the format of the list."""

    def content(self, text_block: Item) -> str | list[Item]:
        """Return its text, or with images the blocks of both; `text_block` has the text."""
        words = [text_block] if self.text else []
        return [*words, *self.images] if self.images else self.text


def write(messages: Iterable[Message]) -> list[Item]:
    """Return the provider's list; for messages that were just read, the list that they came from."""
    return [item for message in messages for item in message.raw]


def images_in(message: Message, number: int) -> list[int]:
    """Return the numbers of the image parts inside a result, by its own number: they follow it."""
    parts, path = message.parts, message.parts[number].path
    later = itertools.islice(enumerate(parts), number + 1, None)
    inside = itertools.takewhile(lambda found: found[1].path[: len(path)] == path, later)
    return [at for at, part in inside if part.image_tokens]


def with_texts(
    message: Message, texts: Mapping[int, str], without_images: Container[int] = ()
) -> Message:
    """Return the message with the text of some parts replaced; `texts` is by part number.

    All other fields of the provider's items stay the same. A result made of blocks keeps its images,
    but for those `without_images`, and the text replaces its first text block; an image becomes a text
    block. Where the provider holds an object, the text is that object's JSON, or else its `output`;
    where arguments are JSON as a text, any other text becomes a JSON string.
    """
    raw = list(message.raw)
    parts = list(message.parts)
    for number, text in texts.items():
        part = parts[number]
        index, *path = part.path
        gone = images_in(message, number) if number in without_images else []
        put, held = text, message.held(part) if part.kind == "call" else None
        if isinstance(held, str) and json_text.read(held) is not NOTHING:
            # Servers read the arguments of earlier calls as JSON.
            put = json_text.written(text) if json_text.read(text) is NOTHING else text
        raw[int(index)] = _put(raw[int(index)], path, put, keeps_images=not gone)
        is_image = part.kind == "image"
        parts[number] = (
            Part("text", put, (*part.path, "text")) if is_image else replace(part, text=put)
        )
        for at in gone:
            parts[at] = replace(parts[at], image_tokens=0)
    return Message(message.role, tuple(parts), tuple(raw))


def _put(value: Any, path: list[str | int], text: str, *, keeps_images: bool) -> Any:
    if path:
        key, *rest = path
        copy: Any = dict(value) if isinstance(value, dict) else list(value)
        copy[key] = _put(value[key], rest, text, keeps_images=keeps_images)
        return copy
    if is_image_block(value):
        return text_in_place(value, text)
    if isinstance(value, dict):
        read = json_text.read(text, None)
        return read if isinstance(read, dict) else {"output": text}
    if isinstance(value, list):
        blocks = value if keeps_images else without_image_blocks(value)
        texts = [block for block in blocks if is_text_block(block)]
        marks = [block["cache_control"] for block in texts if block.get("cache_control")]
        mark = {"cache_control": marks[-1]} if marks else {}
        opening = {key: inner for key, inner in texts[0].items() if key != "json"}
        written = {**opening, "text": text, **mark}
        kept = [block for block in blocks if block is texts[0] or not is_text_block(block)]
        return [written if block is texts[0] else block for block in kept]
    return text


# Text and images inside one `content` value, in any provider's block form


def block_text(block: object) -> str | None:
    """Return the text of a block in any format; None for other blocks, such as images."""
    if not isinstance(block, dict):
        return None
    kind, text = block.get("type", "text"), block.get("text")
    if kind in ("text", "input_text", "output_text") and isinstance(text, str):
        return text
    is_json = "json" in block and "type" not in block  # Bedrock Converse
    return json.dumps(block["json"], ensure_ascii=False) if is_json else None


def is_text_block(block: object) -> bool:
    """Return whether a block is text, in any format."""
    return block_text(block) is not None


def is_image_block(block: object) -> bool:
    """Return whether a block is an image, in any format."""
    if not isinstance(block, dict):
        return False
    if "type" in block:
        return block["type"] in ("image", "input_image", "image_url")
    media = block.get("inlineData") or block.get("inline_data")  # Gemini
    is_inline = isinstance(media, dict) and isinstance(media.get("data"), str)
    return is_inline or isinstance(block.get("image"), dict)  # Bedrock Converse


def text_in_place(block: dict[str, Any], text: str) -> dict[str, Any]:
    """Return a text block in place of an image block, with its cache mark."""
    kind = {"type": "input_text" if block.get("type") == "input_image" else "text"}
    mark = {key: block[key] for key in ("cache_control",) if key in block}
    return {**(kind if "type" in block else {}), "text": text, **mark}


def without_image_blocks(blocks: list[Any]) -> list[Any]:
    """Return blocks without the images; where there was no text, an empty one in place of the first."""
    left = [block for block in blocks if not is_image_block(block)]
    if any(map(is_text_block, left)):
        return left
    images = [block for block in blocks if is_image_block(block)]
    marked = [block for block in images if "cache_control" in block]
    return [text_in_place((marked or images)[-1], ""), *left]


def text_of(content: object) -> str:
    """Return the text of a `content` value: the string, or its text blocks joined by newlines."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text for text in map(block_text, content) if text is not None)
    return ""


def is_typed(content: object) -> bool:
    """Return whether a `content` value has a form of OpenAI or Anthropic: text, or typed blocks."""
    return not isinstance(content, list) or all(
        isinstance(block, dict) and isinstance(block.get("type"), str) for block in content
    )


def without_envelope(text: str) -> str:
    """Return a result without an outer `{"type":"text","text":…}`, which some MCP clients leave on."""
    if not text.startswith('{"type"') or not text.rstrip().endswith("}"):
        return text
    envelope = json_text.read(text, {})
    inner = envelope.get("text")
    return inner if envelope.get("type") == "text" and isinstance(inner, str) else text
