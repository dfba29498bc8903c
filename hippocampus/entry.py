"""What is known of one content that may leave the view: the protocol's schema, and ids.

Data only: no strength is computed, nothing is indexed or stored here.
"""

from __future__ import annotations

import base64
import hashlib
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

ID_CHARACTERS = 8
LONGEST_ID_CHARACTERS = 12


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


def content_key(content: bytes) -> str:
    """Return the key under which a content is stored: its SHA-256, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def entry_id(session: str, place: str, content: str, attempt: int = 0) -> str:
    """Return a short id for a content at a place of a session, the same on every run.

    `content` is its key; `attempt` counts up where an id is taken already, and lengthens it.
    """
    named = "\0".join((session, place, content, str(attempt)))
    digest = base64.b32encode(hashlib.sha256(named.encode()).digest()).decode().lower()
    return digest[: min(ID_CHARACTERS + attempt, LONGEST_ID_CHARACTERS)]
