"""Prices: the tables of the design, a model's own, and what a call costs by them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.errors import ModelError
from hippocampus.prices import TABLES, Prices, model_prices, prices_for

SIZES = st.integers(0, 10**6)


def test_the_tables_are_the_designs() -> None:
    figures = {name: (table.read, table.write) for name, table in TABLES.items()}
    assert figures == figures | {
        "anthropic-5m": (0.1, 1.25),
        "anthropic-1h": (0.1, 2.0),
        "openai": (0.1, 1.0),
        "gemini": (0.1, 1.0),
        "none": (1.0, 1.0),
    }


def test_a_short_prefix_counts_as_none() -> None:
    prices = TABLES["anthropic-5m"]
    assert prices.call_cost(1_023, 2_000) == 2_500
    assert prices.call_cost(1_024, 2_000) == pytest.approx(0.1 * 1_024 + 1.25 * 976)


def test_openai_caches_a_prefix_in_steps() -> None:
    prices = model_prices("gpt-5.4-mini")
    assert prices.call_cost(1_279, 2_000) == prices.call_cost(1_152, 2_000) == 0.1 * 1_152 + 848


def test_a_recall_pays_the_view_once_more_and_its_slice() -> None:
    assert TABLES["anthropic-5m"].recall_cost(10_000, 400) == pytest.approx(1_500)


@given(prefix=SIZES, total=SIZES, table=st.sampled_from(list(TABLES.values())))
def test_a_longer_prefix_never_costs_more(prefix: int, total: int, table: Prices) -> None:
    prefix = min(prefix, total)
    assert table.call_cost(prefix, total) <= table.call_cost(0, total) + 1e-6


def test_a_model_brings_its_own_prices_and_window() -> None:
    prices = model_prices("claude-sonnet-4-5")
    assert (prices.read, prices.write, prices.dollars_per_million) == (0.1, 1.25, 3.0)
    assert prices.window_tokens >= 200_000
    assert prices.dollars(1_000_000) == 3.0


def test_a_named_table_takes_dollars_and_window_of_the_model() -> None:
    prices = prices_for("openai", "claude-sonnet-4-5")
    assert (prices.name, prices.read, prices.write) == ("openai", 0.1, 1.0)
    assert prices.dollars_per_million == 3.0
    assert prices_for(None, None) == model_prices("claude-sonnet-5-5")


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("openai/gpt-5", "gpt-5"),
        ("openai:gpt-5", "gpt-5"),
        ("openai-responses:gpt-5", "gpt-5"),
        ("litellm_proxy/openai/gpt-5", "gpt-5"),
        ("azure/gpt-4o", "gpt-4o"),
        ("anthropic:claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("anthropic/claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("google-gla:gemini-2.5-flash", "gemini-2.5-flash"),
        ("vertex_ai/gemini-2.5-flash", "gemini-2.5-flash"),
        ("openrouter/anthropic/claude-sonnet-4.5", "anthropic/claude-sonnet-4.5"),
        ("groq/llama-3.3-70b-versatile", "llama-3.3-70b-versatile"),
        (
            "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "regional.anthropic.claude-sonnet-4-5-20250929-v1:0",
        ),
        (
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "regional.anthropic.claude-sonnet-4-5-20250929-v1:0",
        ),
    ],
)
def test_a_model_is_known_by_the_names_that_frameworks_give_it(name: str, model: str) -> None:
    assert model_prices(name).name == model


@pytest.mark.parametrize("name", ["ollama/llama3.1", "ollama:gpt-oss:20b", "hosted_vllm/gpt-oss"])
def test_a_local_model_has_no_price_of_a_hosted_one(name: str) -> None:
    with pytest.raises(ModelError, match="unknown model"):
        model_prices(name)


@pytest.mark.parametrize("name", ["claude-sonet-4-5x", "no-such-model-at-all", "\ud800", " "])
def test_an_unknown_model_is_told_with_near_names(name: str) -> None:
    with pytest.raises(ModelError, match="unknown model") as told:
        model_prices(name)
    if "claude" in name:
        assert any("claude" in near for near in told.value.near)
        assert "did you mean" in str(told.value)


def test_an_unknown_table_is_told_with_near_names() -> None:
    with pytest.raises(ModelError, match="did you mean anthropic-5m"):
        prices_for("antropic-5m", None)
