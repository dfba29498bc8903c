"""The rules of a policy as validated data: what they match, and the fields that they set. Pure."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from hippocampus.entries.entry import Compression, Record
from hippocampus.errors import hint
from hippocampus.formats import json_text
from hippocampus.patterns import searchable
from hippocampus.policy import matching
from hippocampus.policy.redaction import SOME, Patterns, Redaction
from hippocampus.policy.value_types import (
    ERROR_SOURCE,
    ONE_OR_MANY,
    Encoding,
    EntryType,
    Kind,
    Level,
    Priority,
    Short,
    Supersession,
    checked,
    described,
)

LEVELS: tuple[str, ...] = Level.__args__  # type: ignore[attr-defined]
CHOSEN = re.compile(r"\[!?(.[^\]]*)\]", re.DOTALL)
RANGE = re.compile(r"(.)-(.)", re.DOTALL)
"""A choice of characters in a glob, and a range in it."""


def _expect_word(text: str) -> None:
    if not matching.fold(text).strip():
        raise ValueError("expected a word, found only space")


def _expect_ranges(glob: str) -> None:
    ranges = (pair for chosen in CHOSEN.findall(glob) for pair in RANGE.findall(chosen))
    for first, last in ranges:
        if first > last:  # `fnmatch` takes it for no character, and the rule never applied
            raise ValueError(f"{first}-{last} is no range of characters: {last}-{first} is one")


def _compression(value: Any) -> Any:
    known = value in LEVELS if isinstance(value, str) else type(value) is int and value > 0
    if not known:
        expected = f"expected one of {', '.join(LEVELS)}, or the most tokens of an entry"
        raise ValueError(f"{expected}; found {value!r}{hint(value, LEVELS)}")
    return value


Text = Annotated[str, SOME]
Glob = Annotated[Text, checked(_expect_ranges)]
Globs = Annotated[tuple[Glob, ...], ONE_OR_MANY, SOME]
Words = Annotated[tuple[Annotated[Text, checked(_expect_word)], ...], ONE_OR_MANY, SOME]
Compressions = Annotated[Compression, BeforeValidator(_compression)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Rate = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
DecayRate = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
"""At 100, a turn leaves a hundredth of the strength."""
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
"""The bound is above any number of turns or tokens; a ledger cannot store much larger numbers."""


class Declared(BaseModel):
    """The base of all parts of a policy: strict, frozen, and described by attribute docstrings."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        json_schema_extra=described,
        validate_by_name=False,
        validate_by_alias=True,
    )


class TokenRange(Declared):
    """Bounds on the tokens of the content."""

    over: Count | None = None
    """More tokens than this; 0 is any content that is not empty."""
    under: Count | None = None
    """Fewer tokens than this."""

    @model_validator(mode="after")
    def _has_a_size(self) -> Self:
        if self.over is not None and self.under is not None and self.under - self.over < 2:
            raise ValueError(f"no size is over {self.over} and under {self.under}")
        return self


ANY_SIZE = TokenRange()


class Match(Declared):
    """The entries that a rule applies to: all keys must match, and any item of a list."""

    type: Annotated[tuple[EntryType, ...], ONE_OR_MANY, SOME] | None = None
    """The type of the entry."""
    priority: Annotated[tuple[Priority, ...], ONE_OR_MANY, SOME] | None = None
    """The priority, as set by the rules above."""
    source_type: Globs | None = Field(None, alias="source.type")
    """Globs on the source type: from `source_types`, `error` for a failed result, or else the name of
    the tool; for a message `user` or `assistant`."""
    tool: Globs | None = None
    """Globs on the name of the tool, without case: `*`, `?`, `[abc]`, `[!abc]`."""
    contains: Words | None = None
    """Words or phrases, without case; whole words, where the script separates words."""
    instruction: bool | None = None
    """Whether the text asks to remember, always or never to do something, in the languages of `instructions.txt`."""
    pattern: Annotated[Patterns, SOME] | None = None
    """RE2 expressions, searched in the text; `(?i)` ignores case."""
    tokens: TokenRange | None = None
    """The size of the content."""
    kind: Annotated[tuple[Kind, ...], ONE_OR_MANY, SOME] | None = None
    """The kind of content, recognised from the content itself."""
    arguments: dict[str, Globs] | None = None
    """Globs on values of the tool call's arguments, by key or path (`edits[0].path`, `*` for any);
    values that are not text are compared as JSON."""

    def applies(self, subject: Subject, priority: Priority, source_type: str) -> bool:
        """Return whether all keys apply to a subject; cheap keys are checked first."""
        bounds, values_at = self.tokens or ANY_SIZE, subject.values_at
        return (
            (self.type is None or subject.type in self.type)
            and (self.priority is None or priority in self.priority)
            and (self.source_type is None or matching.is_one(self.source_type, source_type))
            and (self.tool is None or matching.is_one(self.tool, subject.tool))
            and (
                self.arguments is None
                or all(
                    any(matching.globs(globs).fullmatch(value) for value in values_at(key))
                    for key, globs in self.arguments.items()
                )
            )
            and (bounds.over is None or subject.size > bounds.over)
            and (bounds.under is None or subject.size < bounds.under)
            and (self.kind is None or subject.known_kind in self.kind)
            and (self.contains is None or matching.has_word(subject.folded, self.contains))
            and (self.instruction is None or subject.instructs == self.instruction)
            and (
                self.pattern is None
                or any(matching.finds(one, subject.searchable) for one in self.pattern)
            )
        )

    @property
    def reads_text(self) -> bool:
        """Whether the match depends on the content, which is untrusted in a tool result."""
        matchers = (self.contains, self.instruction, self.pattern)
        return any(matcher is not None for matcher in matchers)


OWN_SOURCES = ("file", "tool")
"""The package's sources, which accept only the fields of `Refetch`."""


class Refetch(BaseModel):
    """How content is fetched again: the name of a source, and its options."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True, json_schema_extra=described)

    type: Text
    """The source: `file`, `tool`, or one that the host registers."""
    timeout_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 10.0
    """The time limit of a source."""
    largest_bytes: Annotated[int, Field(gt=0)] = 10_000_000
    """The most bytes of an answer."""
    roots: Annotated[tuple[Text, ...], ONE_OR_MANY] = ()
    """The folders that `file` may read; left out, it reads nothing."""

    @property
    def options(self) -> dict[str, Any]:
        """The fields of a custom source."""
        return dict(self.model_extra or {})

    @model_validator(mode="after")
    def _known_fields(self) -> Self:
        fields = tuple(type(self).model_fields)
        problems = [
            f"unknown field {name!r} of source {self.type!r}"
            + hint(name, fields, f"known: {', '.join(fields)}")
            for name in ((self.model_extra or ()) if self.type in OWN_SOURCES else ())
        ]
        if problems:
            raise ValueError("; ".join(problems))
        return self


class RuleAction(Declared):
    """The fields that a rule sets for the entries that it matches; fields that are left out set nothing.

    They are read in `policy.policy`, `session` and `integrations.hooks.tool_output`.
    """

    decay_rate: DecayRate | None = None
    """Rate of the power law, per turn; 0 does not fade."""
    floor: Share | None = None
    """The lower bound of the strength; 0 lets the entry fade completely."""
    priority: Priority | None = None
    """Multiplies the decay rate: `critical` 0, `high` 0.3, `normal` 1, `low` 2."""
    encoding: Encoding | None = None
    """`manual` (for content that a person marked) halves the decay rate; `auto` does not."""
    persist: bool | None = None
    """Whether the entry becomes a fact when the session ends, if it is strong by then."""
    expires_after_turns: Count | None = None
    """The number of turns after which the entry expires; 0 is at the next turn."""
    superseded_by: Supersession | None = None
    """The later result that supersedes a tool result: one of the same `call` (tool and arguments), the
    default, of the same `tool`, or of the same `source.type`."""
    index: bool | None = None
    """`true` indexes the content at any size; `false` keeps it in full."""
    compression: Compressions | None = None
    """How short the entry is: `light`, `normal`, `aggressive`, or a number of tokens; with `none` the
    content and the arguments of its call stay in full, and do not fade."""
    fresh_turns: Count | None = None
    """The number of calls for which the content stays in full, at any size; 0 shortens it on arrival."""
    pin: bool | None = None
    """Whether the content stays in the view in full for the whole session."""
    source: Annotated[Refetch, Short("type")] | None = None
    """How the content is fetched again: the name of a source, or a mapping of `type` and its options."""
    redact: Annotated[Redaction, Short("kinds")] | None = None
    """Redactions in the view, in facts and in the archive: kinds, or a mapping with `kinds`,
    `patterns` and `original: true` for the stored original too."""


class Rule(Declared):
    """A rule: a match and an action."""

    name: Text | None = None
    """The name in `explain`; a rule replaces the rule of the same name in the extended policy."""
    match: Match
    """The entries that the rule applies to; an empty mapping is all."""
    action: RuleAction
    """The fields that the rule sets for them."""


@dataclass(frozen=True)
class Subject:
    """The properties of an entry that rules match; costly ones are computed once, on demand."""

    type: EntryType
    tool: str = ""
    source_type: str | None = None
    """The source type; None looks it up in the policy's table."""
    priority: Priority = "normal"
    """The priority before any rule."""
    text: str = ""
    tokens: int | None = None
    """The size, where it is not that of the text."""
    kind: Callable[[], str] | str = "text"
    is_error: bool = False
    arguments: str = ""
    """For a tool result, the arguments of its call as JSON."""

    @functools.cached_property
    def known_kind(self) -> str:
        """The kind of content."""
        return self.kind if isinstance(self.kind, str) else self.kind()

    @functools.cached_property
    def size(self) -> int:
        """The tokens of the content."""
        from hippocampus.models.tokens import count

        return count(self.text) if self.tokens is None else self.tokens

    @functools.cached_property
    def searchable(self) -> str:
        """The text that patterns search."""
        return searchable(self.text)

    @functools.cached_property
    def folded(self) -> str:
        """The text that words are searched in."""
        return matching.fold(self.searchable)

    @functools.cached_property
    def instructs(self) -> bool:
        """Whether the text asks to keep something."""
        return matching.has_word(self.folded, matching.instruction_words())

    def values_at(self, key: str) -> Iterator[str]:
        """Yield the argument values at a key, or at a path if no argument has that key."""
        from hippocampus.formats.json_paths import at_path

        data = json_text.read(self.arguments, [self.arguments])
        is_key = isinstance(data, dict) and key in data
        found = [data[key]] if is_key else [value for _, value in at_path(data, key)]
        for value in found:
            yield value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def record_subject(record: Record, text: str) -> Subject:
    """Return the subject of a stored entry with its content as text."""
    source = record.entry.source.type
    return Subject(
        record.entry.type,
        tool=record.tool,
        source_type=source,
        text=text,
        tokens=record.tokens,
        kind=record.kind,
        is_error=source == ERROR_SOURCE,
        arguments=record.arguments or text,
    )
