"""Resolves a policy's rules for an entry: the fields that they set, and the rule that set them. Pure."""

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
    """The properties of an entry that rules match; costly ones are computed once, on demand."""

    type: EntryType
    tool: str = ""
    source_type: str | None = None
    """The source type; None looks it up in the policy's table."""
    priority: Priority = "normal"
    """The priority before any rule."""
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
        """The text that patterns search."""
        return matching.searchable(self.text)

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
            written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield matching.searchable(written)


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


class Resolution(RuleAction):
    """The fields that the rules set for an entry; where one is None, the policy's own field applies."""

    because: Mapping[str, str] = {}
    """The rule that set a field, by field."""
    withheld: Mapping[str, str] = {}
    """The rule that did not raise a tool result because it matched the result's own text, by field."""

    def redacted(self, text: str) -> str:
        """Return a text redacted by the rules."""
        return self.redact.redacted(text) if self.redact else text

    def redacted_json(self, text: str) -> str:
        """Return arguments redacted by the rules; JSON stays valid JSON."""
        return self.redact.redacted_json(text) if self.redact else text

    def redacted_data(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return a JSON object redacted by the rules."""
        if not self.redact:
            return data
        return cast("dict[str, Any]", json.loads(self.redacted_json(json.dumps(data))))


NO_RULES = Resolution()
"""The resolution of an entry that no rule matches."""


def resolve(rules: Sequence[Rule], subject: Subject, source_type: str) -> Resolution:
    """Return the fields that the matching rules set; a later rule overrides an earlier one."""
    fields: dict[str, Any] = {}
    because: dict[str, str] = {}
    withheld: dict[str, str] = {}
    redactions: list[Redaction] = []
    for number, rule in enumerate(rules, start=1):
        priority = fields.get("priority", subject.priority)
        if not _matches(rule.match, subject, priority, source_type):
            continue
        label = rule.name or f"rule {number}"
        named = rule.match.type is not None and subject.type in rule.match.type
        # A tool result is untrusted: its own text may not raise it above the default.
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


def _matches(match: Match, subject: Subject, priority: Priority, source_type: str) -> bool:
    """Return whether all keys of a match apply to a subject; cheap keys are checked first."""
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
        and (match.source_type is None or matching.is_one(match.source_type, source_type))
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
            or any(matching.expression(one).search(subject.searchable) for one in match.pattern)
        )
    )
