"""What is known of one content that may leave the view: the protocol's schema, and ids.

Data only: no strength is computed, nothing is indexed or stored here.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

ID_CHARACTERS = 8
LONGEST_ID_CHARACTERS = 12

Compression = Literal["none", "light", "normal", "aggressive"] | int
"""How short entries are; a number is the most tokens that one may have."""


class Stage(StrEnum):
    """How an entry stands in the view."""

    FULL = "full"
    INDEXED = "indexed"
    DORMANT = "dormant"


class _Schema(BaseModel):
    model_config = ConfigDict(extra="forbid", validate_assignment=True)


class Source(_Schema):
    """Where the content came from, and how it can be had again."""

    type: str
    """What kind of source, such as `browser.snapshot`; how to re-fetch."""
    ref: str
    """The key of the stored content, or what names it outside."""
    turn: int
    """The turn in which it was captured."""
    retrievable: bool = True
    """Whether the full content can be had again."""


class Decay(_Schema):
    """How fast the entry fades."""

    rate: float = Field(0.1, ge=0)
    """Rate of the power law, per turn; 0 does not fade."""
    floor: float = Field(0.0, ge=0, le=1)
    """Strength never falls under this; 0 lets it fade wholly."""
    last_access: int = 0
    """The turn of the last access."""


class Modifiers(_Schema):
    """What slows or speeds the fading."""

    priority: Literal["critical", "high", "normal", "low"] = "normal"
    encoding: Literal["manual", "auto"] = "auto"
    associations: list[str] = Field(default_factory=list)
    """Ids of related entries."""


class Lifecycle(_Schema):
    """When it was made, when it ends, whether it outlives the session."""

    created: int = 0
    """The turn in which the entry was made."""
    expires: int | None = None
    """The turn after which it is gone; none keeps it."""
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
    """An entry with what the session needs to show it and to give its content back."""

    entry: Entry
    place: str
    """Where the content stood: the kind of part, its call id and its content's key."""
    content: str
    """The key of the stored content."""
    form: str
    """How the content was held in the message: `text`, `blocks` or `object`."""
    kind: str
    """What kind of content it is, such as `json`; of a call's arguments, `arguments`."""
    tool: str
    arguments: str
    tokens: int
    """What the full content weighs in the view."""
    stage: Stage
    shown: str
    """The text that stands in the view at this stage; frozen once committed."""


def storable(text: str) -> str:
    r"""Return a text as a database takes it: a lone surrogate is written out, as in JSON.

    >>> storable("caf\u00e9 \udce9")
    'caf\xe9 \\udce9'
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def content_key(content: bytes) -> str:
    """Return the key under which a content is stored: its SHA-256, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def entry_id(session: str, place: str, content: str, attempt: int = 0) -> str:
    """Return a short id for a content at a place of a session, the same on every run.

    `content` is its key; `attempt` counts up where an id is taken already, and lengthens it.
    """
    named = "\0".join((session, place, content, str(attempt)))
    digest = hashlib.sha256(storable(named).encode()).digest()
    letters = base64.b32encode(digest).decode().lower()
    return letters[: min(ID_CHARACTERS + attempt, LONGEST_ID_CHARACTERS)]
