"""The entry of one text that may leave the view: the protocol's schema, the stored record, ids.

Data only: no strength is computed, and nothing is indexed or stored here.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from hippocampus.entries import text as texts
from hippocampus.entries.origin import EntryOrigin

storable = texts.storable
ID_CHARACTERS = 8
MAX_ID_CHARACTERS = 12

ARGUMENTS = "arguments"
"""The `kind` of a record that holds the arguments of a call."""
Compression = Literal["none", "light", "normal", "aggressive"] | int
"""How short entries are; a number is the most tokens of an entry."""


class Stage(StrEnum):
    """The form of an entry in the view: in full, as an index entry, or at most a pointer."""

    FULL = "full"
    INDEXED = "indexed"
    DORMANT = "dormant"


class _Schema(BaseModel):
    model_config = ConfigDict(extra="forbid", validate_assignment=True)


class Source(_Schema):
    """Where the content came from, and how it is fetched again."""

    type: str
    """The kind of source, such as `browser.snapshot`."""
    ref: str
    """The key of the stored content, or its name outside."""
    turn: int
    """The turn in which it was captured."""
    retrievable: bool = True
    """Whether the full content can be retrieved."""


class Decay(_Schema):
    """How fast the entry fades."""

    rate: float = Field(0.1, ge=0)
    """Rate of the power law, per turn; 0 does not fade."""
    floor: float = Field(0.0, ge=0, le=1)
    """The least strength; 0 lets the entry fade completely."""
    last_access: int = 0
    """The turn of the last access."""


class Modifiers(_Schema):
    """What slows the fading down or speeds it up."""

    priority: Literal["critical", "high", "normal", "low"] = "normal"
    encoding: Literal["manual", "auto"] = "auto"
    associations: list[str] = Field(default_factory=list)
    """Ids of related entries."""


class Lifecycle(_Schema):
    """When the entry was made, when it expires, and whether it outlives the session."""

    created: int = 0
    """The turn in which the entry was made."""
    expires: int | None = None
    """The turn after which it has expired; None never expires."""
    persist: bool = False


class Entry(_Schema):
    """One index entry, with every field of the protocol's normative schema (section 14.1)."""

    id: str
    type: Literal["tool_result", "message", "state", "memory"]
    source: Source
    summary: str
    key_data: dict[str, Any] | None = None
    strength: float = Field(1.0, ge=0, le=1)
    """Strength at the last access, never the decayed one."""
    decay: Decay = Field(default_factory=Decay)
    modifiers: Modifiers = Field(default_factory=Modifiers)
    lifecycle: Lifecycle = Field(default_factory=Lifecycle)


@dataclass(frozen=True, slots=True)
class Record:
    """An entry as it is stored, with the content's key and the text that replaces it in the view."""

    entry: Entry
    origin: EntryOrigin
    content: str
    """The key of the stored content."""
    form: str
    """The form in the message: `text`, `blocks`, `object`, or `messages` for a digest."""
    kind: str
    """The kind of content, such as `json`; `arguments` for those of a call."""
    tool: str
    arguments: str
    tokens: int
    """The tokens of the full content in the view."""
    stage: Stage
    shown: str
    """The text in the view at this stage; frozen once committed."""


def content_key(content: bytes) -> str:
    """Return the key under which content is stored: its SHA-256, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def entry_id(session: str, origin: EntryOrigin, content: str, attempt: int = 0) -> str:
    """Return a short id for the payload of an origin in a session, the same on every run.

    `content` is the content's key. A higher `attempt`, for ids that are taken, makes a longer id.
    """
    named = "\0".join((session, str(origin), content, str(attempt)))
    digest = hashlib.sha256(storable(named).encode()).digest()
    letters = base64.b32encode(digest).decode().lower()
    return letters[: min(ID_CHARACTERS + attempt, MAX_ID_CHARACTERS)]
