"""The cost of a call with a provider's prompt cache, and the cost of an edit of the prefix.

Costs are in base input tokens (one token at full price is 1.0), and converted to dollars for
reports. No clock: the caller knows whether the cache has gone cold. A new table is a line of `TABLES`;
the prices of models are from the package `genai-prices`.
"""

from __future__ import annotations

import contextlib
import functools
import re
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from typing import Any, Literal

from hippocampus.errors import ModelError
from hippocampus.formats.usage import Usage

MIN_PREFIX_TOKENS = 1_024
MIN_PREFIXES = {
    "claude-fable-5": 512,
    "claude-haiku-4-5": 4_096,
    "claude-mythos-5": 512,
    "claude-opus-4-5": 4_096,
    "claude-opus-4-6": 4_096,
    "claude-opus-4-7": 2_048,
    "claude-opus-5": 512,
}
"""By the start of a model's name, the smallest prefix that Anthropic caches; others: 1,024 tokens."""
HOUR_WRITE = 2.0
"""The price of a token that Anthropic caches for an hour."""
STEP_TOKENS = 128
"""OpenAI caches a prefix in multiples of this."""
FIVE_MINUTES, HALF_HOUR, HOUR = 300.0, 1_800.0, 3_600.0
"""How long a prefix stays cached; `HOUR` also applies to providers that document no time."""
PROVIDER = re.compile(r"([a-z][a-z_-]*)[/:](?=.)")
"""The provider before a model's name, as frameworks write it."""
BEDROCK = re.compile(
    r"(?:[a-z-]+\.)?(?:ai21|amazon|anthropic|cohere|deepseek|meta|mistral|openai|qwen)\."
)
"""The start of a model's id at Amazon Bedrock."""
LOCAL = ("hosted_vllm", "llamafile", "lm_studio", "ollama", "ollama_chat", "vllm")
"""Self-hosted servers: their models have no price, even where a provider sells the same model."""
DEFAULT_MODEL = "claude-sonnet-5-5"

CacheKind = Literal["marks", "breakpoints", "prefix"]
"""Where a provider looks for a cached prefix: near the marks of a request (Anthropic), exactly at
its breakpoints and near its end (OpenAI from GPT-5.6 on), or anywhere (implicit caches)."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Token prices relative to the base input price, and the base input price in dollars."""

    name: str
    read: float
    """The price of a cached token."""
    write: float
    """The price of a token that is not cached."""
    dollars_per_million: float = 0.0
    """The base input price; 0 is unknown."""
    smallest_prefix_tokens: int = MIN_PREFIX_TOKENS
    """A shorter common prefix is not cached."""
    window_tokens: int = 0
    """The model's context window; 0 is unknown."""
    cache_seconds: float = FIVE_MINUTES
    """Seconds without a request after which the provider drops the prefix."""
    cache: CacheKind = "prefix"
    step_tokens: int = 0
    """A cached prefix is priced in multiples of this; 0 is its length."""

    def call_cost(self, prefix_tokens: int, total_tokens: int) -> float:
        """Return the cost of a request of `total_tokens` that shares a prefix with the last request."""
        cached = prefix_tokens - prefix_tokens % max(1, self.step_tokens)
        cached = cached if cached >= self.smallest_prefix_tokens else 0
        return self.read * cached + self.write * (total_tokens - cached)

    def recall_cost(self, view_tokens: int, slice_tokens: int) -> float:
        """Return the cost of one recall: the cached view is read once more, and the slice is new."""
        return self.read * view_tokens + self.write * slice_tokens

    def billed_cost(self, usage: Usage) -> float:
        """Return the cost of the usage that a provider reports, in base input tokens."""
        short = usage.cache_write_tokens - usage.hour_tokens
        written = self.write * short + HOUR_WRITE * usage.hour_tokens
        return usage.input_tokens + self.read * usage.cache_read_tokens + written

    def dollars(self, cost: float) -> float:
        """Return a cost in base input tokens as dollars."""
        return cost * self.dollars_per_million / 1_000_000


TABLES = {
    table.name: table
    for table in (
        Prices("anthropic-5m", 0.1, 1.25, cache="marks"),
        Prices("anthropic-1h", 0.1, 2.0, cache_seconds=HOUR, cache="marks"),
        Prices("openai", 0.1, 1.0, cache_seconds=HOUR),
        Prices("gemini", 0.1, 1.0, cache_seconds=HOUR),
        Prices("none", 1.0, 1.0, cache_seconds=0.0),
    )
}


def table_named(name: str) -> Prices:
    """Return the prices of a table, without a model's dollars and window.

    Raises:
        ModelError: no table has the name.
    """
    if name not in TABLES:
        raise ModelError("price table", name, TABLES)
    return TABLES[name]


def prices_for(table: str | None, model: str | None) -> Prices:
    """Return a table with the dollar price and the window of a model; None is the model's own prices.

    Raises:
        ModelError: the table or the model is unknown.
    """
    own = model_prices(model or DEFAULT_MODEL)
    if table is None:
        return own
    return replace(
        table_named(table),
        dollars_per_million=own.dollars_per_million,
        window_tokens=own.window_tokens,
    )


@functools.cache
def model_prices(model: str) -> Prices:
    """Return the prices of a model by its name, from genai-prices.

    The name may begin with a provider, as frameworks write it: `openai/gpt-5`,
    `anthropic:claude-sonnet-5-5`, `bedrock/us.anthropic.claude-…`.

    Raises:
        ModelError: the model or its input price is unknown.
    """
    _defer_package("genai_prices")
    from genai_prices.data_snapshot import get_snapshot

    snapshot = get_snapshot()
    for name, named in _readings(model):
        with contextlib.suppress(LookupError):
            provider, found = snapshot.find_provider_model(name, None, named, None)
            break
    else:
        known = {sold.id for vendor in snapshot.providers for sold in vendor.models}
        raise ModelError("model", model, known)
    price = found.prices if not isinstance(found.prices, list) else found.prices[-1].prices
    base = _base(price.input_mtok)
    if not base:
        raise ModelError("input price for model", model, ())
    read, written = _base(price.cache_read_mtok), _base(price.cache_write_mtok)
    own = Prices(
        found.id,
        round(read / base, 6) if read else 1.0,
        round(written / base, 6) if written else 1.0,
        dollars_per_million=base,
        window_tokens=found.context_window or 0,
        cache_seconds=HOUR,
    )
    # The package has no data on the smallest prefix, the kind of cache and its lifetime.
    if provider.id in ("anthropic", "aws") and "claude" in own.name:
        starts = (least for start, least in MIN_PREFIXES.items() if own.name.startswith(start))
        smallest = next(starts, MIN_PREFIX_TOKENS)
        return replace(
            own, cache="marks", cache_seconds=FIVE_MINUTES, smallest_prefix_tokens=smallest
        )
    if provider.id == "openai" and own.write > 1:  # from GPT-5.6 on
        return replace(own, cache="breakpoints", cache_seconds=HALF_HOUR)
    return replace(own, step_tokens=STEP_TOKENS if provider.id == "openai" else 0)


def _defer_package(name: str) -> None:
    """Run a package's `__init__` at the first read of an attribute; its submodules load as usual.

    The `__init__` of genai-prices loads an HTTP client for updates, which takes longer than the prices.
    """
    spec = None if name in sys.modules else find_spec(name)
    if spec is None or spec.loader is None:
        return
    run, lock = iter([spec.loader.exec_module]), threading.RLock()

    def read(attribute: str) -> Any:
        if find_spec(inner := f"{name}.{attribute}"):
            return import_module(inner)
        with lock:  # another thread waits for the whole package
            for exec_module in run:
                exec_module(package)
        try:
            return vars(package)[attribute]
        except KeyError:
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}") from None

    sys.modules[name] = package = module_from_spec(spec)
    vars(package)["__getattr__"] = read


def _readings(model: str) -> Iterator[tuple[str, str | None]]:
    """Yield the pairs of model and provider that a name may mean, the most literal one first.

    >>> list(_readings("azure/gpt-5"))
    [('azure/gpt-5', None), ('gpt-5', 'azure'), ('gpt-5', None)]
    """
    yield model, None
    if BEDROCK.match(model):
        yield model, "aws"
    named = PROVIDER.match(model)
    if named is not None and named[1] not in LOCAL:
        name = model[named.end() :]
        yield name, named[1]
        yield from _readings(name)


def _base(price: Any) -> float:
    """Return a price in dollars per million tokens; a tiered price returns its first tier."""
    return float(getattr(price, "base", price) or 0)
