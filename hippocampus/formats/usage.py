"""The token counts that a provider reports with an answer, in any of the formats. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that the provider billed for one call; no token is counted in two fields.

    Zero where the report has no figure: some programs record reads from the provider's cache but
    not writes to it.
    """

    input_tokens: int = 0
    """Input tokens at full price: neither read from the provider's cache nor written to it."""
    cache_read_tokens: int = 0
    """Input tokens read from the provider's cache."""
    cache_write_tokens: int = 0
    """Input tokens written to the provider's cache."""
    output_tokens: int = 0
    """Generated tokens, reasoning included."""
    hour_tokens: int = 0
    """The part of `cache_write_tokens` that is kept for an hour (Anthropic), at a higher price."""

    @classmethod
    def of_total(cls, total: int, read: int, written: int, output: int) -> Usage:
        """Return the counts of a report that includes the cached tokens in its input."""
        return cls(max(0, total - read - written), read, written, output)

    @property
    def context_tokens(self) -> int:
        """Return the size of the whole request, cached or not."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    def __add__(self, other: Usage) -> Usage:
        """Return the sums."""
        return Usage(*(getattr(self, at) + getattr(other, at) for at in self.__slots__))


GEMINI = (
    "promptTokenCount",
    "cachedContentTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
)
"""Counts of Gemini: the request, its part from the cache, and what was generated."""
MAX_TOKENS = 10**18
"""A count that is not smaller is read as zero, as is a negative one: hundreds of digits overflow later."""
BEDROCK = ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens", "outputTokens")
"""Counts of Bedrock in the order of those of `Usage`."""


def usage_of(reported: Any) -> Usage:
    """Return the counts of an answer's `usage`, or of an answer that has one.

    It may be an SDK's object or the JSON: Anthropic's, OpenAI's of chat or of responses, Bedrock's, or
    Gemini's `usageMetadata`.

    Raises:
        ValueError: it has no count of input tokens.
    """
    answer = _plain(reported)
    named = (answer.get(key) for key in ("usage", "usageMetadata", "usage_metadata"))
    usage = _plain(next(filter(None, named), answer))
    if gemini := {key: _count(usage.get(key)) for key in GEMINI if key in usage}:
        total, read, *generated = (gemini.get(key, 0) for key in GEMINI)
        return Usage.of_total(total, read, 0, sum(generated))
    if "inputTokens" in usage:
        return Usage(*(_count(usage.get(key)) for key in BEDROCK))
    total = _count(usage.get("prompt_tokens", usage.get("input_tokens")))
    if not {"prompt_tokens", "input_tokens"} & usage.keys():
        raise ValueError(
            "no token counts: pass the answer's `usage`, with `input_tokens` or `prompt_tokens`"
        )
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    output = usage.get("completion_tokens", usage.get("output_tokens"))
    if details is None and "prompt_tokens" not in usage:  # Anthropic counts each token once
        read, written = (
            _count(usage.get(key))
            for key in ("cache_read_input_tokens", "cache_creation_input_tokens")
        )
        kept = _plain(usage.get("cache_creation") or {}).get("ephemeral_1h_input_tokens")
        return Usage(total, read, written, _count(output), _count(kept))
    read, written = (
        _count(_plain(details or {}).get(key)) for key in ("cached_tokens", "cache_write_tokens")
    )
    return Usage.of_total(total, read, written, _count(output))


def cache_miss_of(answer: Any) -> str:
    """Return why the provider could not read the last request from its cache; empty where unknown.

    Anthropic reports it as `diagnostics.cache_miss_reason`, OpenAI as `prompt_cache_diagnostics`,
    where the request has asked for it.
    """
    plain = _plain(answer)
    reason = _plain(_plain(plain.get("diagnostics") or {}).get("cache_miss_reason") or {})
    openai = _plain(plain.get("prompt_cache_diagnostics") or {})
    return str(reason.get("type") or openai.get("reason") or "")


def _plain(value: Any) -> Mapping[str, Any]:
    """Return a mapping, or an SDK's object as one; empty for anything else."""
    if isinstance(value, Mapping):
        return value
    dump = getattr(value, "model_dump", None)
    return dump() if callable(dump) else {}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and 0 <= value < MAX_TOKENS else 0
