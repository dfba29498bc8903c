"""The origin of an entry's payload: one frozen class per kind, and its text in a ledger.

The only module that writes or parses that text. An entry's id is a hash of it, so the format never
changes.

>>> parsed("result:call_7:ab12:0")
PartOrigin(kind='result', call_id='call_7', text_key='ab12', rank=0)
>>> str(AdoptedOrigin("ticket:47", StateOrigin(3, "ab12")))
'adopted:ticket%3A47:state:3:ab12'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

ADOPTED, STATE = "adopted", "state"
"""The kinds that a ledger selects by; the kind is the text up to its first colon."""
PART_KINDS = ("call", "image", "opaque", "result", "text")


@dataclass(frozen=True, slots=True)
class PartOrigin:
    """A part of a message in the host's list."""

    kind: str
    """`call`, `image`, `result`, `text` or `opaque`."""
    call_id: str
    text_key: str
    """The key of the part's text without its blocks; for an image, of its block."""
    rank: int
    """The number of earlier parts of the same kind, call id and text."""

    def __str__(self) -> str:
        return f"{self.kind}:{self.call_id}:{self.text_key}:{self.rank}"


@dataclass(frozen=True, slots=True)
class StateOrigin:
    """A state that the host stored."""

    turn: int
    content: str

    def __str__(self) -> str:
        return f"{STATE}:{self.turn}:{self.content}"


@dataclass(frozen=True, slots=True)
class DigestOrigin:
    """A span of messages that a digest replaces."""

    start: int
    end: int
    """The number of the first message after the span."""
    content: str

    def __str__(self) -> str:
        return f"digest:{self.start}:{self.end}:{self.content}"


@dataclass(frozen=True, slots=True)
class SourceOrigin:
    """A newer version of another entry's payload, read from its source."""

    entry_id: str
    """The id of that other entry."""
    content: str

    def __str__(self) -> str:
        return f"source:{self.entry_id}:{self.content}"


@dataclass(frozen=True, slots=True)
class MemoryOrigin:
    """A memory at the start of a session, or an imported entry."""

    memory_id: str

    def __str__(self) -> str:
        return f"memory:{self.memory_id}"


@dataclass(frozen=True, slots=True)
class AdoptedOrigin:
    """An entry of another session."""

    owner: str
    """The name of that session."""
    origin: EntryOrigin
    """The entry's origin there."""

    def __str__(self) -> str:
        return f"{ADOPTED}:{quote(self.owner, safe=' ')}:{self.origin}"


EntryOrigin = PartOrigin | StateOrigin | DigestOrigin | SourceOrigin | MemoryOrigin | AdoptedOrigin

FIELDS: Mapping[str, tuple[Callable[..., EntryOrigin], tuple[Callable[[str], Any], ...]]] = {
    STATE: (StateOrigin, (int, str)),
    "digest": (DigestOrigin, (int, int, str)),
    "source": (SourceOrigin, (str, str)),
}
"""By kind, the class and the types of its fields, which colons separate."""
MAX_QUOTED_CHARACTERS = 80
"""An error quotes this much of a wrong text."""


def parsed(text: str) -> EntryOrigin:
    """Return the origin from its text in a ledger.

    Raises:
        ValueError: the text is not that of an origin.
    """
    kind, _, rest = text.partition(":")
    if kind in PART_KINDS:
        call_id, key, rank = rest.rsplit(":", 2)
        return PartOrigin(kind, call_id, key, int(rank))
    if kind == "memory":
        return MemoryOrigin(rest)
    if kind == ADOPTED:
        owner, _, there = rest.partition(":")
        return AdoptedOrigin(unquote(owner), parsed(there))
    if kind not in FIELDS:
        raise ValueError(f"{text[:MAX_QUOTED_CHARACTERS]!r} names no origin of an entry")
    origin, types = FIELDS[kind]
    pairs = zip(types, rest.split(":"), strict=True)
    return origin(*(parse(field) for parse, field in pairs))
