"""The entry of a payload that may leave the view: the protocol's schema, the stored record, ids.

Data only: computes no strength, and indexes and stores nothing.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Le

from hippocampus.entries.origin import AdoptedOrigin, EntryOrigin

if TYPE_CHECKING:
    from pydantic import TypeAdapter

MARK_CHARACTERS = 2
"""The length of the secret start of a session's ids."""
SHOWN_KEY_CHARACTERS = 12
MAX_ASSOCIATIONS = 8
ID_CHARACTERS = 8
MAX_ID_CHARACTERS = 12
ID = f"[a-z2-7]{{{ID_CHARACTERS},{MAX_ID_CHARACTERS}}}"
"""The form of an entry's id, as a regular expression; one in five has no digit and reads as a word."""

ARGUMENTS = "arguments"
"""The `kind` of a record that holds the arguments of a call."""
Compression = Literal["none", "light", "normal", "aggressive"] | int
"""How short entries are; a number is the maximum of tokens per entry."""


def storable(text: str) -> str:
    r"""Return a text that a database accepts: lone surrogates are escaped, as in JSON.

    >>> storable("caf\u00e9 \udce9")
    'caf\xe9 \\udce9'
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text


class Stage(StrEnum):
    """The form of an entry in the view: in full, as an index entry, or at most a pointer."""

    FULL = "full"
    INDEXED = "indexed"
    DORMANT = "dormant"


FORBID = {"extra": "forbid"}
"""Fields that the protocol does not define are errors."""


@dataclass(frozen=True, slots=True)
class Source:
    """The source of the content, from which it can be fetched again."""

    __pydantic_config__: ClassVar = FORBID

    type: str
    """The kind of source, such as `browser.snapshot`."""
    ref: str
    """The key of the stored content, or its name at the source."""
    turn: int
    """The turn in which the content was captured."""
    retrievable: bool = True
    """Whether the full content can be retrieved."""


@dataclass(frozen=True, slots=True)
class Decay:
    """How fast the entry fades."""

    __pydantic_config__: ClassVar = FORBID

    rate: Annotated[float, Ge(0)] = 0.1
    """Rate of the power law, per turn; 0 does not fade."""
    floor: Annotated[float, Ge(0), Le(1)] = 0.0
    """The lower bound of the strength; 0 lets the entry fade completely."""
    last_access: int = 0
    """The turn of the last access."""


@dataclass(frozen=True, slots=True)
class Modifiers:
    """Properties that slow the decay down or speed it up."""

    __pydantic_config__: ClassVar = FORBID

    priority: Literal["critical", "high", "normal", "low"] = "normal"
    encoding: Literal["manual", "auto"] = "auto"
    associations: list[str] = field(default_factory=list)
    """Ids of related entries."""


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """The turns in which an entry is made and expires, and whether it outlives the session."""

    __pydantic_config__: ClassVar = FORBID

    created: int = 0
    """The turn in which the entry was made."""
    expires: int | None = None
    """The turn after which it has expired; None never expires."""
    persist: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One index entry, with every field of the protocol's normative schema (section 14.1)."""

    __pydantic_config__: ClassVar = FORBID

    id: str
    type: Literal["tool_result", "message", "state", "memory"]
    source: Source
    summary: str
    key_data: dict[str, Any] | None = None
    strength: Annotated[float, Ge(0), Le(1)] = 1.0
    """The strength at the last access, before any decay."""
    decay: Decay = field(default_factory=Decay)
    modifiers: Modifiers = field(default_factory=Modifiers)
    lifecycle: Lifecycle = field(default_factory=Lifecycle)

    @classmethod
    def parsed(cls, fields: Mapping[str, Any]) -> Entry:
        """Return an entry from its fields as JSON values.

        Raises:
            ValueError: a field is unknown, missing, or of another type.
        """
        return _validator().validate_python(fields)

    @classmethod
    def read(cls, text: str) -> Entry:
        """Return an entry from its fields as JSON text.

        Raises:
            ValueError: it is not JSON, or a field is unknown, missing, or of another type.
        """
        try:
            return _validator().validate_json(text)
        except ValueError:  # of which lone surrogates are a cause, which Python reads
            return cls.parsed(json.loads(text))

    def associated(self, others: Iterable[str]) -> Entry:
        """Return it with the ids of entries that were used together with it; itself where it has them."""
        known = dict.fromkeys([*self.modifiers.associations, *others])
        known.pop(self.id, None)
        if len(known) == len(self.modifiers.associations):
            return self
        associations = list(known)[-MAX_ASSOCIATIONS:]
        return replace(self, modifiers=replace(self.modifiers, associations=associations))

    def fields(self) -> dict[str, Any]:
        """Return all fields as JSON values, which no caller may change."""
        parts = {name: _fields(getattr(self, name)) for name in PARTS}
        return {**_fields(self), **parts}


PARTS = ("source", "decay", "modifiers", "lifecycle")
"""The fields of an entry that have fields."""


def _fields(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__slots__}


@functools.cache
def _validator() -> TypeAdapter[Entry]:
    """Return the validator of entries, built at its first use: most sessions only write entries."""
    from pydantic import TypeAdapter  # a hook that only stores a result is too quick to load it

    return TypeAdapter(Entry)


@dataclass(frozen=True, slots=True)
class Record:
    """An entry as it is stored, with the content's key and the text that replaces it in the view."""

    entry: Entry
    origin: EntryOrigin
    content: str
    """The key of the stored content."""
    _: KW_ONLY
    form: str
    """The form in the message: `text`, `blocks`, `object`, or `messages` for a digest."""
    kind: str
    """The kind of content, such as `json`; `arguments` for the arguments of a call."""
    tool: str = ""
    arguments: str = ""
    tokens: int
    """The tokens of the full content in the view."""
    stage: Stage
    shown: str = ""
    """The text that replaces the content at this stage; frozen once committed."""

    @property
    def id(self) -> str:
        """Return the id of its entry."""
        return self.entry.id


@dataclass(frozen=True, slots=True)
class Decision:
    """One committed change in the view, with its reason."""

    entry_id: str
    stage: Stage
    reason: str
    saves: int
    """The tokens that a later call no longer sends."""
    costs: float
    """The one-time cost of the change, in base input tokens; 0 where nothing was cached."""


def adopted(record: Record, owner: str, turn: int) -> Record:
    """Return another session's entry as a dormant, recallable entry of this session."""
    entry = record.entry
    lasting = Lifecycle(created=turn, persist=False)
    decay = Decay(rate=entry.decay.rate, floor=entry.decay.floor, last_access=turn)
    modifiers = replace(entry.modifiers, associations=[])
    copied = replace(entry, decay=decay, lifecycle=lasting, modifiers=modifiers, strength=1.0)
    first = record.origin.origin if isinstance(record.origin, AdoptedOrigin) else record.origin
    origin = AdoptedOrigin(owner, first)
    return replace(record, entry=copied, origin=origin, stage=Stage.DORMANT, shown="")


def named_content(key: str) -> str:
    """Return the words by which messages name a payload."""
    return f"content {key[:SHOWN_KEY_CHARACTERS]}"


def content_key(content: bytes) -> str:
    """Return the key of stored content: its SHA-256, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def entry_id(
    mark: str,
    session: str,
    origin: EntryOrigin,
    content: str,
    is_taken: Callable[[str], bool] = lambda _: False,
) -> str:
    """Return a short id for the payload of an origin in a session, the same on every run.

    `mark` is the session's secret start of ids, which a payload cannot imitate. `content` is the
    content's key. Where an id is taken, the next candidate is longer.
    """

    def id_of(attempt: int) -> str:
        named = "\0".join((session, str(origin), content, str(attempt)))
        digest = hashlib.sha256(storable(named).encode()).digest()
        letters = mark + base64.b32encode(digest).decode().lower()
        return letters[: min(ID_CHARACTERS + attempt, MAX_ID_CHARACTERS)]

    return next(found for found in map(id_of, itertools.count()) if not is_taken(found))
