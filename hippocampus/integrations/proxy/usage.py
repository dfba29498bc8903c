"""What a provider bills for the input of a request, from the usage that it reports.

Pure. Output tokens are the same with and without a memory, and are not counted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from hippocampus.prices import Prices


class Billed(NamedTuple):
    """Input tokens by their price."""

    uncached: int = 0
    cache_read: int = 0
    cache_written: int = 0

    def __add__(self, other: Any) -> Billed:
        """Return the sums."""
        return Billed(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def cost(self, prices: Prices) -> float:
        """Return the cost in base input tokens."""
        return self.uncached + prices.read * self.cache_read + prices.write * self.cache_written


def billed(usage: dict[str, Any]) -> Billed:
    """Return the input tokens of a usage of any of the three APIs.

    >>> billed({"input_tokens": 5, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 3})
    Billed(uncached=5, cache_read=90, cache_written=3)
    >>> billed({"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 90}})
    Billed(uncached=10, cache_read=90, cache_written=0)
    """
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    if details is None and "prompt_tokens" not in usage:
        read = usage.get("cache_read_input_tokens") or 0
        written = usage.get("cache_creation_input_tokens") or 0
        return Billed(usage.get("input_tokens") or 0, read, written)
    total = usage.get("prompt_tokens") or usage.get("input_tokens") or 0
    read = (details or {}).get("cached_tokens") or 0
    written = (details or {}).get("cache_write_tokens") or 0
    return Billed(total - read - written, read, written)
