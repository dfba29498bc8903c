"""Resolves a policy's rules for one entry: what they set, and which rule set it. Pure."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from hippocampus.entries.entry import Record
from hippocampus.formats import json_text
from hippocampus.policy import matching
from hippocampus.policy.redaction import Redaction
from hippocampus.policy.redaction import joined as joined_redactions
from hippocampus.policy.rules import Match, Rule, RuleAction
from hippocampus.policy.words import ERROR_SOURCE, EntryType, Priority


@dataclass(frozen=True)
class Subject:
    """What rules can match of an entry; costly fields are computed once, where a rule needs them."""

    type: EntryType
    tool: str = ""
    source_type: str | None = None
    """The source type; None takes it from the policy's table."""
    priority: Priority = "normal"
    """Its priority before any rule."""
    text: str = ""
    tokens: int = 0
    kind: Callable[[], str] | str = "text"
    is_error: bool = False
    arguments: str = ""
    """For a tool result, the arguments of its call as JSON."""

    @functools.cached_property
    def known_kind(self) -> str:
        """The kind of content."""
        return self.kind if isinstance(self.kind, str) else self.kind()

    @functools.cached_property
    def searchable(self) -> str:
        """The text as patterns search it."""
        return matching.searchable(self.text)

    @functools.cached_property
    def folded(self) -> str:
        """The text as words are looked for in it."""
        return matching.fold(self.searchable)

    @functools.cached_property
    def instructs(self) -> bool:
        """Whether the text asks to keep something."""
        return matching.has_word(self.folded, matching.instruction_words())

    def values_at(self, key: str) -> Iterator[str]:
        """Yield the argument values at a key, or at a path where there is no such key."""
        from hippocampus.formats.json_paths import at_path

        data = json_text.read(self.arguments, [self.arguments])
        is_key = isinstance(data, dict) and key in data
        found = [data[key]] if is_key else [value for _, value in at_path(data, key)]
        for value in found:
            written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield matching.searchable(written)


def record_subject(record: Record, text: str) -> Subject:
    """Return what rules can match of a stored entry whose content is this text."""
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


class Resolution(RuleAction):
    """What the rules set for an entry; None is not set, and the policy's own fields apply."""

    because: Mapping[str, str] = {}
    """By field, the rule that set it."""
    withheld: Mapping[str, str] = {}
    """By field, the rule that would have raised a tool result because of the result's own text."""

    def redacted(self, text: str) -> str:
        """Return a text as the rules redact it."""
        return self.redact.redacted(text) if self.redact else text

    def redacted_json(self, text: str) -> str:
        """Return arguments as the rules redact them; JSON stays JSON."""
        return self.redact.redacted_json(text) if self.redact else text

    def redacted_data(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return a JSON object as the rules redact it."""
        if not self.redact:
            return data
        return cast("dict[str, Any]", json.loads(self.redacted_json(json.dumps(data))))


NO_RULES = Resolution()
"""The resolution of an entry that no rule matches."""


def resolve(rules: Sequence[Rule], subject: Subject) -> Resolution:
    """Return what the matching rules set, later ones over earlier ones."""
    fields: dict[str, Any] = {}
    because: dict[str, str] = {}
    withheld: dict[str, str] = {}
    redactions: list[Redaction] = []
    for number, rule in enumerate(rules, start=1):
        if not _matches(rule.match, subject, fields.get("priority", subject.priority)):
            continue
        label = rule.name or f"rule {number}"
        named = rule.match.type is not None and subject.type in rule.match.type
        # A result that matched by its own text does not keep itself longer than the default does.
        is_untrusted = subject.type == "tool_result" and rule.match.reads_text and not named
        for name in RuleAction.model_fields:
            value = getattr(rule.action, name)
            if value is None:
                continue
            raises = value in RAISING.get(name, ()) or (name == "floor" and value > 0)
            if raises and is_untrusted:
                withheld[name] = label
                continue
            if name == "redact":
                redactions.append(value)
                label = ", ".join(filter(None, (because.get(name), label)))
            fields[name], because[name] = value, label
    if redactions:
        fields["redact"] = joined_redactions(tuple(redactions))
    if not (because or withheld):
        return NO_RULES
    return Resolution.model_construct(**fields, because=because, withheld=withheld)


RAISING: dict[str, tuple[Any, ...]] = {
    "priority": ("critical", "high"),
    "encoding": ("manual",),
    "persist": (True,),
    "pin": (True,),
}


def _matches(match: Match, subject: Subject, priority: Priority) -> bool:
    """Return whether every key of a match holds; cheap ones are checked first."""
    return (
        (match.type is None or subject.type in match.type)
        and (match.priority is None or priority in match.priority)
        and (match.error is None or subject.is_error == match.error)
        and (
            match.tokens is None
            or (
                (match.tokens.over is None or subject.tokens > match.tokens.over)
                and (match.tokens.under is None or subject.tokens < match.tokens.under)
            )
        )
        and (
            match.source_type is None
            or matching.is_one(match.source_type, subject.source_type or "")
        )
        and (match.tool is None or matching.is_one(match.tool, subject.tool))
        and (
            match.arguments is None
            or all(
                any(matching.globs(globs).fullmatch(value) for value in subject.values_at(key))
                for key, globs in match.arguments.items()
            )
        )
        and (match.kind is None or subject.known_kind in match.kind)
        and (match.contains is None or matching.has_word(subject.folded, match.contains))
        and (match.instruction is None or subject.instructs == match.instruction)
        and (
            match.pattern is None
            or any(matching.expression(each).search(subject.searchable) for each in match.pattern)
        )
    )
