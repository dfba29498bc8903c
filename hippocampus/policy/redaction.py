"""Redaction: replaces card numbers, secrets and matches of patterns in a text. Pure."""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from hippocampus import secrets
from hippocampus.formats import json_text
from hippocampus.policy.matching import expression
from hippocampus.policy.shorthand import OneOrMany, described
from hippocampus.policy.words import RedactionKind
from hippocampus.secrets.encodings import layers, searchable


def is_iban(text: str) -> bool:
    """Return whether an account number has valid check digits (ISO 13616).

    >>> is_iban("DE89 3704 0044 0532 0130 00"), is_iban("DE88 3704 0044 0532 0130 00")
    (True, False)
    """
    letters = "".join(text.split())
    return int("".join(str(int(each, 36)) for each in letters[4:] + letters[:4])) % 97 == 1


Check = Callable[[str], bool]
KINDS: dict[RedactionKind, tuple[str, Check | None]] = {
    "email": (r"[\p{L}\p{N}._%+\-]+@[\p{L}\p{N}\-]+(?:\.[\p{L}\p{N}\-]+)+", None),
    "iban": (r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b", is_iban),
    "phone": (r"\+\d(?:[ ().\-]{0,2}\d){6,14}\b", None),
}
"""By kind, an expression with an optional check; `card` and `secret` are read by the detector."""
JSON_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[^\s\[\]{}:,"]+', re.DOTALL)
"""A string of a JSON text, or a number, `true`, `false` or `null`."""


class Stretch(NamedTuple):
    """A part of a text, and its replacement."""

    start: int
    stop: int
    replacement: str


def valid_pattern(pattern: str) -> str:
    """Return a pattern.

    Raises:
        ValueError: it is not an RE2 expression.
    """
    expression(pattern)
    return pattern


class Redaction(BaseModel):
    """What to redact: named kinds, and matches of patterns."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, json_schema_extra=described)

    kinds: Annotated[tuple[RedactionKind, ...], OneOrMany()] = ()
    """Named kinds: `card`, `email`, `iban`, `phone` (with country code), `secret`."""
    patterns: Annotated[
        tuple[Annotated[str, Field(min_length=1), AfterValidator(valid_pattern)], ...], OneOrMany()
    ] = ()
    """RE2 expressions; if one has groups, only the groups are redacted."""
    original: bool = False
    """Whether the stored original is redacted too; then no recall returns it."""

    def redacted(self, text: str) -> str:
        """Return the text with `[redacted …]` in place of everything that was found.

        >>> Redaction(kinds=("email",)).redacted("write to ada@example.org")
        'write to [redacted email]'
        """
        return _replaced(text, self._stretches(text))

    def redacted_json(self, text: str) -> str:
        """Return redacted JSON that is valid JSON; other text is redacted as text.

        >>> Redaction(patterns=("[0-9]+",)).redacted_json('{"port": 80}')
        '{"port": "[redacted]"}'
        """
        found = self._stretches(text)
        plain = _replaced(text, found)
        if not found or json_text.is_json(plain):
            return plain
        if text.lstrip()[:1] not in ("{", "[") and not json_text.is_json(text):
            return plain
        return _replaced(text, _within_tokens(text, found))

    def _stretches(self, text: str) -> list[Stretch]:
        """Return the parts of a text to redact, in order and without overlaps.

        A text is read as written and with its encodings decoded: the model reads escapes decoded, and
        so do our readers. An encoding is redacted whole.
        """
        found = (
            (*layer.source(start, stop), name)
            for layer in layers(text)
            for start, stop, name in self._found_as_written(searchable(layer.text))
        )
        stretches: list[Stretch] = []
        for start, stop, name in sorted(found):
            if stretches and start < stretches[-1].stop:
                last = stretches.pop()
                stretches.append(last._replace(stop=max(last.stop, stop)))
            else:
                stretches.append(
                    Stretch(start, stop, f"[redacted {name}]" if name else "[redacted]")
                )
        return stretches

    def __or__(self, other: Redaction) -> Redaction:
        """Return the redaction that finds everything that either of two finds."""
        return Redaction(
            kinds=tuple(dict.fromkeys(self.kinds + other.kinds)),
            patterns=tuple(dict.fromkeys(self.patterns + other.patterns)),
            original=self.original or other.original,
        )

    def _found_as_written(self, text: str) -> Iterator[tuple[int, int, str]]:
        for kind in self.kinds:
            if kind == "secret":
                yield from ((*each[:2], kind) for each in secrets.find_as_written(text))
            elif kind == "card":
                yield from ((*span, kind) for span in secrets.find_cards(text))
            else:
                yield from _spans(text, *KINDS[kind], kind)
        for pattern in self.patterns:
            yield from _spans(text, pattern, None, "")


def _replaced(text: str, stretches: Iterable[Stretch]) -> str:
    pieces: list[str] = []
    end = 0
    for start, stop, replacement in stretches:
        pieces += (text[end:start], replacement)
        end = stop
    return "".join((*pieces, text[end:]))


def _within_tokens(text: str, stretches: list[Stretch]) -> Iterator[Stretch]:
    """Yield the parts inside the strings of a JSON text, and a string for each other value."""
    stops = [stretch.stop for stretch in stretches]
    for token in JSON_TOKEN.finditer(text):
        is_string = text[token.start()] == '"'
        start, stop = token.start() + is_string, token.end() - is_string
        for at in range(bisect.bisect_right(stops, start), len(stretches)):
            each = stretches[at]
            if each.start >= stop:
                break
            if not is_string:
                yield Stretch(start, stop, f'"{each.replacement}"')
                break
            yield Stretch(max(start, each.start), min(stop, each.stop), each.replacement)


def _spans(
    text: str, pattern: str, holds: Check | None, name: str
) -> Iterator[tuple[int, int, str]]:
    """Yield the spans that a pattern matches; if it has groups, the spans of the groups."""
    compiled = expression(pattern)
    groups = range(1, compiled.groups + 1) or (0,)
    for match in compiled.finditer(text):
        for start, stop in map(match.span, groups):
            if start < stop and (holds is None or holds(text[start:stop])):
                yield start, stop, name


@functools.lru_cache(maxsize=64)
def joined(redactions: tuple[Redaction, ...]) -> Redaction:
    """Return the redaction that finds everything that any of some finds."""
    return functools.reduce(lambda one, other: one | other, redactions)
