"""One state directory: what its sessions, policy and facts share."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import factual
import pytest

from hippocampus import Hippocampus, Policy, PolicyError, StoreError
from hippocampus.errors import ModelError
from hippocampus.facts import tools
from hippocampus.prices import TABLES
from hippocampus.storage.ledger import expect_closed
from hippocampus.storage.state import state_of


def test_the_facts_of_a_directory_outlive_the_process(tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path)
    memory.facts.remember("Ann lives in Bonn.")
    assert memory.facts is memory.facts
    memory.close()
    again = Hippocampus(tmp_path)
    [found] = again.facts.recall("where does Ann live")
    assert "Bonn" in found.memory.content
    assert again.facts.check() == []
    again.close()


def test_an_agent_gets_the_facts_as_tools(tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path)
    names = [tool["function"]["name"] for tool in tools.tools("openai")]
    assert {"remember_facts", "recall_memories", "memory_recall"} <= set(names)
    factual.call(memory.facts, "memory_remember", {"content": "The gate code changes on Mondays."})
    told = factual.call(memory.facts, "memory_recall", json.dumps({"query": "gate code"}))
    assert "Mondays" in told
    assert "error" in factual.call(memory.facts, "memory_recall", "{no json")
    memory.close()


def test_an_id_that_is_no_text_is_named(tmp_path: Path) -> None:
    with Hippocampus(tmp_path) as memory, pytest.raises(TypeError, match="a text, not 47"):
        memory.session(47)  # type: ignore[arg-type]


def test_a_memory_closes_where_its_block_ends(tmp_path: Path) -> None:
    with Hippocampus(tmp_path) as memory:
        memory.facts.remember("The gate code changes on Mondays.")
    with pytest.raises(StoreError, match="closed"):
        memory.facts.recall("gate code")


def test_a_memory_that_closes_releases_its_sessions(tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path)
    session = memory.session("a")
    session([{"role": "user", "content": "hello"}])
    state = state_of(tmp_path)
    with (
        contextlib.closing(state.database()) as db,
        pytest.raises(StoreError, match="open in a process"),
    ):
        expect_closed(db, "a")
    memory.close()
    with contextlib.closing(state.database()) as db:
        expect_closed(db, "a")


@pytest.mark.parametrize("policy", ["no-such-policy", "/dev/zero"])
def test_a_policy_that_is_not_known_leaves_no_state_behind(tmp_path: Path, policy: str) -> None:
    with pytest.raises(PolicyError):
        Hippocampus(tmp_path / "state", policy=policy)
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("name", ["window_tokens", "summary_seconds", "marks", "deadline_seconds"])
def test_a_number_below_zero_is_an_error_that_names_it(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=rf"Hippocampus\({name}=-5\): expected 0 or more"):
        Hippocampus(tmp_path / "state", **{name: -5})
    assert not (tmp_path / "state").exists()


def test_a_model_that_is_no_text_is_refused_by_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="unknown model '5'"):
        Hippocampus(tmp_path / "state", model=5)  # type: ignore[arg-type]


def test_an_unknown_model_warns_and_takes_a_window_and_safe_prices(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory = Hippocampus(tmp_path, model="claude-sonet-4-5x", window_tokens=32_000)
    prices = memory._resources.prices
    assert (prices.name, prices.window_tokens) == ("anthropic-5m", 32_000)
    assert "unknown model 'claude-sonet-4-5x'; did you mean" in caplog.text
    assert "window_tokens" in caplog.text
    memory.close()
    memory = Hippocampus(tmp_path, model="openai/gpt-5", window_tokens=64_000)
    assert (memory._resources.prices.name, memory._resources.prices.window_tokens) == (
        "gpt-5",
        64_000,
    )
    memory.close()


def test_a_model_without_a_known_window_is_logged_unless_a_limit_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Such as most of Google's: a conversation that reached the window had no digest, and no word said so."""
    model = "gemini-3-pro-preview"
    for given in ({"window_tokens": 1_000_000}, {"policy": Policy(budget_tokens=9_000)}):
        Hippocampus(tmp_path, model=model, **given).close()
    assert caplog.text == ""
    Hippocampus(tmp_path, model=model).close()
    assert "no price list has the context window of gemini-3-pro-preview" in caplog.text


@pytest.mark.parametrize(
    ("policy", "model", "name"),
    [
        (Policy(), None, "anthropic-5m"),
        (Policy(prices="openai"), None, "openai"),
        (Policy(prices="none"), "gpt-4o", "none"),
        (Policy(model="gpt-4o"), None, "gpt-4o"),
        (Policy(model="gpt-4o"), "claude-sonnet-4-5", "claude-sonnet-4-5"),
    ],
)
def test_prices_come_from_the_caller_else_from_the_policy(
    tmp_path: Path, policy: Policy, model: str | None, name: str
) -> None:
    memory = Hippocampus(tmp_path, policy=policy, model=model)
    assert memory._resources.prices.name == name
    memory.close()
    for table in (TABLES["gemini"], "gemini"):
        given = Hippocampus(tmp_path, policy=policy, prices=table)
        assert given._resources.prices.name == "gemini"
        given.close()


def test_a_price_table_is_named_with_or_without_a_known_model(tmp_path: Path) -> None:
    with Hippocampus(tmp_path, prices="anthropic-1h", model="claude-sonnet-4-5") as memory:
        costs = memory._resources.prices
        assert (costs.name, costs.dollars_per_million) == ("anthropic-1h", 3.0)
        other = memory.session("s", model="claude-haiku-4-5")._resources.prices
        assert (other.name, other.dollars_per_million) == ("anthropic-1h", 1.0)
    with Hippocampus(tmp_path, prices="none", model="llama-of-ours") as memory:
        assert memory._resources.prices == TABLES["none"]
    for model in (None, "claude-sonnet-4-5", "llama-of-ours"):
        with pytest.raises(ModelError, match="unknown price table 'antropic-1h'; did you mean"):
            Hippocampus(tmp_path, prices="antropic-1h", model=model)
    with pytest.raises(ModelError, match="unknown price table '3'; there are anthropic-5m, "):
        Hippocampus(tmp_path, prices=3)
