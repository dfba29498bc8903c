"""What the rules of a policy say of one entry, and which rule said it. Decides nothing else. Pure."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from hippocampus.entries.entry import Compression
from hippocampus.formats import json_text
from hippocampus.formats.json_paths import at_path
from hippocampus.policy import matching
from hippocampus.policy.redaction import Redaction
from hippocampus.policy.redaction import joined as joined_redactions
from hippocampus.policy.rules import Match, Refetch, Rule, TokenRange
from hippocampus.policy.words import Encoding, EntryType, Priority, Supersession


@dataclass(frozen=True, slots=True)
class Subject:
    """What rules can ask about an entry. What is costly to know is asked for only where needed."""

    type: EntryType
    tool: str = ""
    source_type: str | None = None
    """Where it came from; None lets the policy's table say."""
    priority: Priority = "normal"
    """Its priority before any rule."""
    text: str = ""
    tokens: int = 0
    kind: Callable[[], str] | str = "text"
    is_error: bool = False
    arguments: str = ""
    """Of a tool result, the arguments of its call, as JSON."""


@dataclass(frozen=True, slots=True)
class Treatment:
    """What the rules say of an entry; None is not said, and the policy's own fields hold."""

    decay_rate: float | None = None
    floor: float | None = None
    priority: Priority | None = None
    encoding: Encoding | None = None
    persist: bool | None = None
    expires_after_turns: int | None = None
    superseded_by: Supersession | None = None
    index: bool | None = None
    compression: Compression | None = None
    fresh_turns: int | None = None
    pin: bool | None = None
    source: Refetch | None = None
    shrink_arguments: bool | None = None
    redact: Redaction | None = None
    because: Mapping[str, str] = field(default_factory=dict)
    """By field, the rule that decided it."""
    withheld: Mapping[str, str] = field(default_factory=dict)
    """By field, the rule that would have raised a tool result by its own words."""

    def redacted(self, text: str) -> str:
        """Return a text without what the rules take out of it."""
        return self.redact.redacted(text) if self.redact else text

    def redacted_json(self, text: str) -> str:
        """Return arguments without what the rules take out of them; JSON stays JSON."""
        return self.redact.redacted_json(text) if self.redact else text

    def redacted_data(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return JSON's own values without what must not be seen."""
        if not self.redact:
            return data
        return cast("dict[str, Any]", json.loads(self.redacted_json(json.dumps(data))))


UNTREATED = Treatment()
"""What no rule is about."""


def treat(rules: Sequence[Rule], subject: Subject, *, first: bool) -> Treatment:
    """Return what the rules say: all that match, later ones over earlier; or the first alone."""
    asked = _Asked(subject)
    said: dict[str, Any] = {}
    because: dict[str, str] = {}
    withheld: dict[str, str] = {}
    redactions: list[Redaction] = []
    for number, rule in enumerate(rules, start=1):
        if not _matches(rule.match, asked, said.get("priority", subject.priority)):
            continue
        label = rule.name or f"rule {number}"
        for name, value in _said(rule):
            if _raises(name, value) and _is_untrusted(rule.match, subject):
                withheld[name] = label
                continue
            if name == "redact":
                redactions.append(value)
                label = ", ".join(filter(None, (because.get(name), label)))
            said[name], because[name] = value, label
        if first:
            break
    if redactions:
        said["redact"] = joined_redactions(tuple(redactions))
    return Treatment(**said, because=because, withheld=withheld)


def _said(rule: Rule) -> Iterator[tuple[str, Any]]:
    for name in type(rule.action).model_fields:
        value = getattr(rule.action, name)
        if value is not None:
            yield name, value


def _is_untrusted(match: Match, subject: Subject) -> bool:
    """Say whether a tool result matched by its own words, and no rule's author said it may."""
    named = match.type is not None and subject.type in match.type
    return subject.type == "tool_result" and match.reads_text and not named


def _raises(name: str, value: Any) -> bool:
    """Say whether a value keeps an entry longer than it would be."""
    return value in RAISING.get(name, ()) or (name == "floor" and value > 0)


RAISING: dict[str, tuple[Any, ...]] = {
    "priority": ("critical", "high"),
    "encoding": ("manual",),
    "persist": (True,),
    "pin": (True,),
}


class _Asked:
    """A subject, with each costly answer found once and only where a rule asks."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject

    @functools.cached_property
    def kind(self) -> str:
        kind = self.subject.kind
        return kind if isinstance(kind, str) else kind()

    @functools.cached_property
    def text(self) -> str:
        return matching.searchable(self.subject.text)

    @functools.cached_property
    def folded(self) -> str:
        return matching.fold(self.text)

    @functools.cached_property
    def arguments(self) -> Any:
        return json_text.read(self.subject.arguments, [self.subject.arguments])

    def values_at(self, key: str) -> Iterator[str]:
        """Yield the argument values of a key, or of a path where there is no such key."""
        data = self.arguments
        is_key = isinstance(data, dict) and key in data
        for value in [data[key]] if is_key else at_path(data, key):
            written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield matching.searchable(written)


def _matches(match: Match, asked: _Asked, priority: Priority) -> bool:
    """Say whether every key of a match holds; the cheap ones are asked first."""
    subject = asked.subject
    return (
        (match.type is None or subject.type in match.type)
        and (match.priority is None or priority in match.priority)
        and (match.error is None or subject.is_error == match.error)
        and (match.tokens is None or _holds(match.tokens, subject.tokens))
        and (match.source_type is None or _is_one(match.source_type, subject.source_type or ""))
        and (match.tool is None or _is_one(match.tool, subject.tool))
        and (match.arguments is None or _have(match.arguments, asked))
        and (match.kind is None or asked.kind in match.kind)
        and (match.contains is None or _contains(match.contains, asked))
        and (match.pattern is None or _fits(match.pattern, asked))
    )


def _holds(bounds: TokenRange, tokens: int) -> bool:
    return (bounds.over is None or tokens > bounds.over) and (
        bounds.under is None or tokens < bounds.under
    )


def _is_one(globs: tuple[str, ...], name: str) -> bool:
    return matching.globs(globs).fullmatch(matching.searchable(name)) is not None


def _have(wanted: Mapping[str, tuple[str, ...]], asked: _Asked) -> bool:
    return all(
        any(matching.globs(globs).fullmatch(value) for value in asked.values_at(key))
        for key, globs in wanted.items()
    )


def _contains(words: tuple[str, ...], asked: _Asked) -> bool:
    return matching.has_word(asked.folded, words)


def _fits(patterns: tuple[str, ...], asked: _Asked) -> bool:
    return any(matching.expression(each).search(asked.text) for each in patterns)
