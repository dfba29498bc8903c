"""Redaction: finds card numbers, secrets and patterns in a text and replaces them. Pure."""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from hippocampus.formats import json_text
from hippocampus.policy import escapes
from hippocampus.policy.matching import expression, searchable
from hippocampus.policy.shorthand import OneOrMany
from hippocampus.policy.words import RedactionKind


def is_card(text: str) -> bool:
    """Return whether digits have the check digit of a payment card (Luhn, ISO/IEC 7812-1).

    >>> is_card("4111 1111 1111 1111"), is_card("4111 1111 1111 1112")
    (True, False)
    """
    digits = [int(each) for each in reversed(text) if each.isdigit()]
    doubled = [sum(divmod(2 * each, 10)) for each in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def is_iban(text: str) -> bool:
    """Return whether an account number has valid check digits (ISO 13616).

    >>> is_iban("DE89 3704 0044 0532 0130 00"), is_iban("DE88 3704 0044 0532 0130 00")
    (True, False)
    """
    letters = "".join(text.split())
    return int("".join(str(int(each, 36)) for each in letters[4:] + letters[:4])) % 97 == 1


PRIVATE_KEY = r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\z)"
KNOWN_TOKENS = (
    r"\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_]){0,4}[A-Za-z0-9]{16,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}"
    r"|\bgithub_pat_\w{20,}"
    r"|\bglpat-[\w\-]{16,}"
    r"|\bxox[abeprs]-[A-Za-z0-9\-]{10,}"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
    r"|\bAIza[\w\-]{30,}"
    r"|\bhf_[A-Za-z0-9]{20,}"
    r"|\beyJ[\w\-]{8,}\.[\w\-]+\.[\w\-]*"
)
"""Keys and tokens that are recognised by their prefix, from any issuer."""
BEARER = r"(?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/=\-]{12,})"
LABEL = r"passw(?:or)?d|passphrase|pwd|secret|api[ _\-]?key|access[ _\-]?key"
LABELLED = (
    rf"(?i)(?:{LABEL}|token|credentials?)"
    r"""\\?["']?\s*[:=]\s*(?:"((?:[^"\[\\\n]|\\.)(?:[^"\\\n]|\\.){3,})|\\"([^"\[\\\n][^"\\\n]{3,})"""
    r"""|"{2,3}([^"\[\\\s,;:)}\]][^"\\\n]{3,})|'([^'\[\n][^'\n]{3,})|([^\s"'\\,;\[][^\s"',;]{5,}))"""
)
LISTED = (
    rf"(?i)(?:(?:{LABEL}|credential|(?:access|auth|refresh|session)[ _\-]?token)s?|\btoken)"
    r"""\\?["']?\s*[:=]\s*\[\s*\\?["']([^\[\]{}]{3,}?)\\?["'],?\s*\]"""
)
"""Several values under one label. Lists of `tokens` are not redacted: they are mostly words."""
IN_ADDRESS = r"\b[A-Za-z][A-Za-z0-9+.\-]*://[^\s:/@]*:([^\s@/\[][^\s@/]*)@"
Check = Callable[[str], bool]
KINDS: dict[RedactionKind, tuple[tuple[str, Check | None], ...]] = {
    "card": ((r"\b(?:\d[ \-]?){12,18}\d\b", is_card),),
    "email": ((r"[\p{L}\p{N}._%+\-]+@[\p{L}\p{N}\-]+(?:\.[\p{L}\p{N}\-]+)+", None),),
    "iban": ((r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b", is_iban),),
    "phone": ((r"\+\d(?:[ ().\-]{0,2}\d){6,14}\b", None),),
    "secret": tuple(
        (each, None) for each in (PRIVATE_KEY, KNOWN_TOKENS, BEARER, LABELLED, LISTED, IN_ADDRESS)
    ),
}
"""By kind, expressions with an optional check; if one has groups, only the groups are redacted."""
MAX_LAYERS = 16
"""How deep nested escapes are decoded, twice as deep as any reader of this package decodes them."""
JSON_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[^\s\[\]{}:,"]+', re.DOTALL)
"""A string of a JSON text, or a number, `true`, `false` or `null`."""


class Stretch(NamedTuple):
    """A part of a text, and its replacement."""

    start: int
    stop: int
    replacement: str


def _checked(pattern: str) -> str:
    expression(pattern)
    return pattern


class Redaction(BaseModel):
    """What to redact: named kinds, and matches of patterns."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True
    )

    kinds: Annotated[tuple[RedactionKind, ...], OneOrMany()] = ()
    """Named kinds: `card`, `email`, `iban`, `phone` (with country code), `secret`."""
    patterns: Annotated[
        tuple[Annotated[str, Field(min_length=1), AfterValidator(_checked)], ...], OneOrMany()
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
        """Return the parts of a text to redact, in order and without overlaps."""
        stretches: list[Stretch] = []
        for start, stop, name in sorted(self._found(text)):
            if stretches and start < stretches[-1].stop:
                last = stretches.pop()
                stretches.append(last._replace(stop=max(last.stop, stop)))
            else:
                stretches.append(
                    Stretch(start, stop, f"[redacted {name}]" if name else "[redacted]")
                )
        return stretches

    def _found(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield what is found in a text, and in the text with its escapes decoded.

        The model reads escapes decoded, and so do our readers. An escape is redacted whole.
        """
        above: list[escapes.Decoded] = []
        while True:
            below = escapes.decoded(text)
            for start, stop, name in self._found_as_written(searchable(text)):
                stretch = below.whole(start, stop) if below else (start, stop)
                for layer in reversed(above):
                    stretch = layer.source(*stretch)
                yield *stretch, name
            if below is None or len(above) == MAX_LAYERS:
                return
            above.append(below)
            text = below.text

    def __or__(self, other: Redaction) -> Redaction:
        """Return the redaction that finds everything that either of two finds."""
        return Redaction(
            kinds=tuple(dict.fromkeys(self.kinds + other.kinds)),
            patterns=tuple(dict.fromkeys(self.patterns + other.patterns)),
            original=self.original or other.original,
        )

    def _found_as_written(self, text: str) -> Iterator[tuple[int, int, str]]:
        for kind in self.kinds:
            for pattern, holds in KINDS[kind]:
                yield from _spans(text, pattern, holds, kind)
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
    stops = [each.stop for each in stretches]
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
    for match in compiled.finditer(text):
        groups = range(1, compiled.groups + 1) if compiled.groups else (0,)
        for start, stop in map(match.span, groups):
            if start < stop and (holds is None or holds(text[start:stop])):
                yield start, stop, name


@functools.lru_cache(maxsize=64)
def joined(redactions: tuple[Redaction, ...]) -> Redaction:
    """Return the redaction that finds everything that any of some finds."""
    return functools.reduce(lambda one, other: one | other, redactions)


def redacted(text: str, *kinds: RedactionKind, patterns: tuple[str, ...] = ()) -> str:
    """Return a text with everything replaced that some kinds and patterns find.

    >>> redacted("api_key = 8f2c-11aa-90", "secret")
    'api_key = [redacted secret]'
    """
    return Redaction(kinds=kinds, patterns=patterns).redacted(text)
