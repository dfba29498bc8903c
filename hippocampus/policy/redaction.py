"""Redaction: replaces card numbers, secrets and matches of patterns in a text. Pure."""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from hippocampus import secrets
from hippocampus.formats import json_text
from hippocampus.policy.matching import MAX_CACHED, expression
from hippocampus.policy.value_types import ONE_OR_MANY, RedactionKind, checked, described
from hippocampus.secrets import MarkedSpan


def is_iban(text: str) -> bool:
    """Return whether a bank account number has valid check digits (ISO 13616).

    >>> is_iban("DE89 3704 0044 0532 0130 00"), is_iban("DE88 3704 0044 0532 0130 00")
    (True, False)
    """
    letters = "".join(text.split())
    return int("".join(str(int(letter, 36)) for letter in letters[4:] + letters[:4])) % 97 == 1


EMAIL = r"[\p{L}\p{N}._%+\-]+@[\p{L}\p{N}\-]+(?:\.[\p{L}\p{N}\-]+)+"
IBAN = r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b"
PHONE = r"\+\d(?:[ ().\-]{0,2}\d){6,14}\b"
JSON_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[^\s\[\]{}:,"]+', re.DOTALL)
"""A JSON string or number, `true`, `false` or `null`."""


SOME = Field(min_length=1)
Patterns = Annotated[tuple[Annotated[str, SOME, checked(expression)], ...], ONE_OR_MANY]


class Redaction(BaseModel):
    """What to redact: named kinds, and matches of patterns."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, json_schema_extra=described)

    kinds: Annotated[tuple[RedactionKind, ...], ONE_OR_MANY] = ()
    """Named kinds: `card`, `email`, `iban`, `phone` (with country code), `secret`."""
    patterns: Patterns = ()
    """RE2 expressions; if one has groups, only the groups are redacted."""
    original: bool = False
    """Whether the stored original is redacted too; then no recall returns it."""

    def redacted(self, text: str) -> str:
        """Return the text with `[redacted …]` in place of all matches.

        >>> Redaction(kinds=("email",)).redacted("write to ada@example.org")
        'write to [redacted email]'
        """
        return secrets.with_labels(text, secrets.spans(text, self._find))

    def redacted_json(self, text: str) -> str:
        """Return redacted JSON that is still valid JSON; other text is redacted as text.

        >>> Redaction(patterns=("[0-9]+",)).redacted_json('{"port": 80}')
        '{"port": "[redacted]"}'
        """
        found = secrets.spans(text, self._find)
        plain = secrets.with_labels(text, found)
        if not found or json_text.read(plain) is not json_text.NOTHING:
            return plain
        if text.lstrip()[:1] not in ("{", "[") and json_text.read(text) is json_text.NOTHING:
            return plain
        return secrets.with_labels(text, _within_tokens(text, found))

    def _find(self, text: str) -> Iterator[tuple[int, int, str]]:
        # Of matches of one span the first gives the label, whatever the order in the policy.
        for pattern in self.patterns:
            yield from ((*span, "[redacted]") for span in _spans(pattern, text))
        for kind in sorted(self.kinds):
            found = FINDERS[kind](text)
            yield from ((start, end, f"[redacted {kind}]") for start, end, *_ in found)


def _within_tokens(text: str, found: list[MarkedSpan]) -> Iterator[MarkedSpan]:
    """Yield the spans clipped to JSON strings; any other JSON value is replaced by a string."""
    ends = [one.end for one in found]
    for token in JSON_TOKEN.finditer(text):
        is_string = text[token.start()] == '"'
        start, end = token.start() + is_string, token.end() - is_string
        for at in range(bisect.bisect_right(ends, start), len(found)):
            one = found[at]
            if one.start >= end:
                break
            if not is_string:
                yield MarkedSpan(start, end, f'"{one.label}"')
                break
            yield MarkedSpan(max(start, one.start), min(end, one.end), one.label)


def _spans(pattern: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of a pattern's matches; if the pattern has groups, the spans of the groups."""
    compiled = expression(pattern)
    groups = range(1, compiled.groups + 1) or (0,)
    for match in compiled.finditer(text):
        yield from ((start, stop) for start, stop in map(match.span, groups) if start < stop)


FINDERS: dict[RedactionKind, Callable[[str], Iterable[tuple[Any, ...]]]] = {
    "card": secrets.find_cards,
    "email": functools.partial(_spans, EMAIL),
    "iban": lambda text: (span for span in _spans(IBAN, text) if is_iban(text[slice(*span)])),
    "phone": functools.partial(_spans, PHONE),
    "secret": secrets.find_as_written,
}
"""The functions that yield the spans of a kind in a text."""


@functools.lru_cache(MAX_CACHED)
def joined(redactions: tuple[Redaction, ...]) -> Redaction:
    """Return a redaction that finds the matches of all redactions."""
    return Redaction(
        kinds=tuple({kind: None for one in redactions for kind in one.kinds}),
        patterns=tuple({pattern: None for one in redactions for pattern in one.patterns}),
        original=any(one.original for one in redactions),
    )
