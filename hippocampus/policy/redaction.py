"""Redaction: replaces card numbers, secrets and matches of patterns in a text. Pure."""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from hippocampus import secrets
from hippocampus.formats import json_text
from hippocampus.policy.matching import MAX_CACHED, expression
from hippocampus.policy.words import ONE_OR_MANY, RedactionKind, checked, described
from hippocampus.secrets.encodings import layers, searchable


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


class Stretch(NamedTuple):
    """A part of a text, and its replacement."""

    start: int
    stop: int
    replacement: str


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
        return _replace(text, self._stretches(text))

    def redacted_json(self, text: str) -> str:
        """Return redacted JSON that is still valid JSON; other text is redacted as text.

        >>> Redaction(patterns=("[0-9]+",)).redacted_json('{"port": 80}')
        '{"port": "[redacted]"}'
        """
        found = self._stretches(text)
        plain = _replace(text, found)
        if not found or json_text.read(plain) is not json_text.NOTHING:
            return plain
        if text.lstrip()[:1] not in ("{", "[") and json_text.read(text) is json_text.NOTHING:
            return plain
        return _replace(text, _within_tokens(text, found))

    def _stretches(self, text: str) -> list[Stretch]:
        """Return the parts of a text to redact, in order and without overlaps.

        The text is searched as written and with its encodings decoded, as models and our readers decode
        escapes. An encoded part is redacted whole.
        """
        finders: list[tuple[Finder, str]] = [(FINDERS[kind], kind) for kind in self.kinds]
        finders += [(functools.partial(_spans, pattern), "") for pattern in self.patterns]
        found: list[tuple[int, int, str]] = []
        for layer in layers(text):
            plain = searchable(layer.text)
            spans = ((span, name) for find, name in finders for span in find(plain))
            found += [(*layer.source(*span), name) for span, name in spans]
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


def _replace(text: str, stretches: Iterable[Stretch]) -> str:
    pieces: list[str] = []
    end = 0
    for start, stop, replacement in stretches:
        pieces += (text[end:start], replacement)
        end = stop
    return "".join((*pieces, text[end:]))


def _within_tokens(text: str, stretches: list[Stretch]) -> Iterator[Stretch]:
    """Yield the stretches clipped to JSON strings; any other JSON value is replaced by a string."""
    stops = [stretch.stop for stretch in stretches]
    for token in JSON_TOKEN.finditer(text):
        is_string = text[token.start()] == '"'
        start, stop = token.start() + is_string, token.end() - is_string
        for at in range(bisect.bisect_right(stops, start), len(stretches)):
            stretch = stretches[at]
            if stretch.start >= stop:
                break
            if not is_string:
                yield Stretch(start, stop, f'"{stretch.replacement}"')
                break
            yield Stretch(max(start, stretch.start), min(stop, stretch.stop), stretch.replacement)


def _spans(pattern: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of a pattern's matches; if the pattern has groups, the spans of the groups."""
    compiled = expression(pattern)
    groups = range(1, compiled.groups + 1) or (0,)
    for match in compiled.finditer(text):
        yield from ((start, stop) for start, stop in map(match.span, groups) if start < stop)


Finder = Callable[[str], Iterable[tuple[int, int]]]
FINDERS: dict[RedactionKind, Finder] = {
    "card": secrets.find_cards,
    "email": functools.partial(_spans, EMAIL),
    "iban": lambda text: (span for span in _spans(IBAN, text) if is_iban(text[slice(*span)])),
    "phone": functools.partial(_spans, PHONE),
    "secret": lambda text: (found[:2] for found in secrets.find_as_written(text)),
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
