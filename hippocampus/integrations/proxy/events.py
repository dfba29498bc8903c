"""Server-sent events, with the bytes in which they arrived.

Pure: the events are interpreted in `apis`.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterable, AsyncIterator
from typing import Any, NamedTuple

from hippocampus.formats import json_text

_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_MAX_END = len(b"\r\n\r\n")
_LINE_END = re.compile(r"\r\n|\n|\r")
"""The ends of lines by the standard: others, such as U+2028, are text within a line."""


class Event(NamedTuple):
    """One event of a stream."""

    content: bytes
    """The event as it arrived, with the empty line that ends it."""
    data: dict[str, Any]
    """Its data; empty where that is not a JSON object."""


async def events(chunks: AsyncIterable[bytes]) -> AsyncIterator[Event]:
    """Yield the events of a stream as they become complete; an unfinished one comes last."""
    waiting = bytearray()
    async for chunk in chunks:
        searched = max(0, len(waiting) - _MAX_END)
        waiting += chunk
        start = 0
        while found := _END.search(waiting, max(start, searched)):
            yield _event(bytes(waiting[start : found.end()]))
            start = found.end()
        del waiting[:start]
    if waiting:
        yield _event(bytes(waiting))


def _event(content: bytes) -> Event:
    lines = _LINE_END.split(content.decode("utf-8", "replace"))
    data = "\n".join(
        line.removeprefix("data:").removeprefix(" ") for line in lines if line.startswith("data:")
    )
    value = json_text.read(data)
    return Event(content, value if isinstance(value, dict) else {})


def event_bytes(data: dict[str, Any], name: str = "") -> bytes:
    """Return an event with this data; OpenAI Chat's have no name."""
    named = f"event: {name}\n" if name else ""
    return f"{named}data: {json.dumps(data, separators=(',', ':'))}\n\n".encode()
