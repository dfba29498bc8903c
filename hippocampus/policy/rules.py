"""One rule of a policy: what it matches and what it says, as checked data. Nothing is decided here."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from hippocampus.entries.entry import Compression
from hippocampus.errors import nearest
from hippocampus.policy import matching
from hippocampus.policy.redaction import Redaction
from hippocampus.policy.shorthand import OneOrMany, Short
from hippocampus.policy.words import Encoding, EntryType, Kind, Level, Priority, Supersession

LEVELS: tuple[str, ...] = Level.__args__  # type: ignore[attr-defined]


def _glob(text: str) -> str:
    matching.globs((text,))
    return text


def _pattern(text: str) -> str:
    matching.expression(text)
    return text


def _word(text: str) -> str:
    if not matching.fold(text).strip():
        raise ValueError("expected a word, found only space")
    return text


def _compression(value: Any) -> Any:
    known = value in LEVELS if isinstance(value, str) else type(value) is int and value > 0
    if not known:
        told = f"expected one of {', '.join(LEVELS)}, or the most tokens of an entry"
        near = ", ".join(nearest(value, LEVELS)) if isinstance(value, str) else ""
        raise ValueError(f"{told}; found {value!r}" + (f"; did you mean {near}?" if near else ""))
    return value


Text = Annotated[str, Field(min_length=1)]
Globs = Annotated[tuple[Annotated[Text, AfterValidator(_glob)], ...], OneOrMany()]
Words = Annotated[tuple[Annotated[Text, AfterValidator(_word)], ...], OneOrMany()]
Patterns = Annotated[tuple[Annotated[Text, AfterValidator(_pattern)], ...], OneOrMany()]
Compressions = Annotated[Compression, BeforeValidator(_compression)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Rate = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
"""No list has more turns or tokens; larger numbers would not fit in a ledger."""


class Declared(BaseModel):
    """What every part of a policy is: strict, frozen, and told by the sentences beside it."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        use_attribute_docstrings=True,
        validate_by_name=False,
        validate_by_alias=True,
    )


class TokenRange(Declared):
    """How large a content must be."""

    over: Count | None = None
    """It has more tokens than this; 0 is any that is not empty."""
    under: Count | None = None
    """It has fewer tokens than this; 0 is none."""

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if self.over is None and self.under is None:
            raise ValueError("expected `over`, `under` or both")
        if self.over is not None and self.under is not None and self.under <= self.over + 1:
            raise ValueError(f"nothing is over {self.over} and under {self.under}")
        return self


class Match(Declared):
    """Which entries a rule is about: a list means any of it, several keys mean all of them."""

    type: Annotated[tuple[EntryType, ...], OneOrMany()] | None = None
    """The type of the entry."""
    priority: Annotated[tuple[Priority, ...], OneOrMany()] | None = None
    """Its priority, as the rules above have left it."""
    source_type: Globs | None = Field(None, alias="source.type")
    """Globs on where it came from: by `source_types`, `error` for a failed result, else the name of
    its tool; of a message `user` or `assistant`."""
    tool: Globs | None = None
    """Globs on the name of the tool, without case: `*`, `?`, `[abc]`, `[!abc]`."""
    contains: Words | None = None
    """Words or phrases, without case; whole ones, where their script sets words apart."""
    pattern: Patterns | None = None
    """RE2 expressions, searched in the text; `(?i)` ignores case."""
    tokens: TokenRange | None = None
    """How large the content is."""
    kind: Annotated[tuple[Kind, ...], OneOrMany()] | None = None
    """What kind of content it is, told from the content itself."""
    error: bool | None = None
    """Whether the tool call failed."""
    arguments: dict[str, Globs] | None = None
    """Globs on values of the tool call's arguments, by key or path (`edits[0].path`, `*` for any);
    other values than text are compared as JSON."""

    @property
    def reads_text(self) -> bool:
        """Say whether the content itself decides, which in a tool result is untrusted."""
        return self.contains is not None or self.pattern is not None


Fallback = Literal["stored", "summary"]
OWN_SOURCES = ("file", "http", "tool")
"""The sources that come with the package: nothing is handed to them but the fields of `Refetch`."""


class Refetch(BaseModel):
    """How a content can be had again: the name of a source, and what else it needs."""

    model_config = ConfigDict(
        extra="allow", frozen=True, strict=True, use_attribute_docstrings=True
    )

    type: Text
    """The source: `file`, `http`, `tool`, or one that the host or a package names."""
    order: Annotated[tuple[Text, ...], OneOrMany()] | None = None
    """Sources to ask, the first first; left out, `type` alone; an empty list asks none."""
    timeout_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """How long one source may take; left out, 10."""
    largest_bytes: Annotated[int, Field(gt=0)] | None = None
    """What a source may return at most; left out, 10,000,000."""
    fallbacks: Annotated[tuple[Fallback, ...], OneOrMany()] | None = None
    """What is taken where none answers; left out, `stored`, then `summary`; an empty list is nothing."""
    roots: Annotated[tuple[Text, ...], OneOrMany()] | None = None
    """Folders under which `file` may read; left out, it reads nothing."""
    hosts: Annotated[tuple[Text, ...], OneOrMany()] | None = None
    """The only hosts that `http` may ask; left out, every public one."""
    allow_private: bool | None = None
    """Whether `http` may ask this machine and its networks."""

    @model_validator(mode="after")
    def _known_fields(self) -> Self:
        unknown = list(self.model_extra or ()) if self.type in OWN_SOURCES else []
        if unknown:
            raise ValueError("; ".join(map(self._unknown, unknown)))
        return self

    def _unknown(self, name: str) -> str:
        fields = tuple(type(self).model_fields)
        near = ", ".join(nearest(name, fields))
        hint = f"did you mean {near}?" if near else f"known: {', '.join(fields)}"
        return f"unknown field {name!r} of source {self.type!r}; {hint}"

    def declared(self) -> dict[str, Any]:
        """Return what is said beside the name, that of a source of somebody else too."""
        return self.model_dump(exclude={"type"}, exclude_none=True)


class Action(Declared):
    """What a rule says of the entries that it matches; what it leaves out stays as it was."""

    decay_rate: Rate | None = None
    """Rate of the power law, per turn; 0 does not fade."""
    floor: Share | None = None
    """Strength never falls under this; 0 lets it fade wholly."""
    priority: Priority | None = None
    """Multiplies the decay rate: `critical` 0, `high` 0.3, `normal` 1, `low` 2."""
    encoding: Encoding | None = None
    """`manual` (somebody meant it to be kept) halves the decay rate; `auto` does not."""
    persist: bool | None = None
    """Whether it becomes a fact when the session ends, if it is strong then."""
    expires_after_turns: Count | None = None
    """It is gone so many turns after it was made; 0 is at the next turn."""
    superseded_by: Supersession | None = None
    """Which later result stands for a tool result: one of the same `call` (tool and arguments), the
    default, of the same `tool`, or of the same `source.type`."""
    index: bool | None = None
    """`true` makes an index entry of it whatever its size, `false` never: it stays in full."""
    compression: Compressions | None = None
    """How short its entry is: `light`, `normal`, `aggressive`, or its most tokens; with `none` it and
    the arguments of its call stay in full, and do not fade."""
    fresh_turns: Count | None = None
    """For how many calls it is shown in full first, whatever its size; 0 is on arrival."""
    pin: bool | None = None
    """Whether it stays in the view in full for the whole session."""
    source: Annotated[Refetch, Short("type")] | None = None
    """How to have it again: a name, or a mapping of `type` and what that way needs."""
    shrink_arguments: bool | None = None
    """Of a tool result: whether the arguments of its call become an entry, whatever their size;
    with `false` they stay in full."""
    redact: Annotated[Redaction, Short("kinds")] | None = None
    """What is taken out of it in the view, in facts and in the archive: kinds, or a mapping with
    `kinds`, `patterns` and `original: true` for the stored original too."""


class Rule(Declared):
    """What is said of which entries."""

    name: Text | None = None
    """What `explain` calls it; a rule replaces the one of its name in the policy it extends."""
    match: Match
    """Which entries it is about; an empty mapping is all of them."""
    action: Action
    """What it says of them."""
