"""Bills: the three formats that providers report, calibration, and the warning where bills part."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conversations import EAGER, Item, no_fallback, rows

from hippocampus import Hippocampus
from hippocampus.formats.usage import Usage, cache_miss_of, usage_of
from hippocampus.prices import TABLES
from hippocampus.session.billing import Bill, CountedCall

PRICES = TABLES["anthropic-5m"]
ANTHROPIC = {
    "input_tokens": 3,
    "cache_read_input_tokens": 900,
    "cache_creation_input_tokens": 97,
    "output_tokens": 20,
}
CHAT = {
    "prompt_tokens": 1_000,
    "completion_tokens": 20,
    "total_tokens": 1_020,
    "prompt_tokens_details": {"cached_tokens": 900, "cache_write_tokens": 97},
}
RESPONSES = {
    "input_tokens": 1_000,
    "output_tokens": 20,
    "total_tokens": 1_020,
    "input_tokens_details": {"cached_tokens": 900, "cache_write_tokens": 97},
}


@pytest.mark.parametrize("reported", [ANTHROPIC, CHAT, RESPONSES])
def test_three_formats_have_the_same_counts(reported: dict[str, Any]) -> None:
    sdk = SimpleNamespace(model_dump=lambda: {"usage": reported, "id": "x"})
    for form in (reported, {"usage": reported}, sdk):
        assert usage_of(form) == Usage(3, 900, 97, 20)


def test_counts_that_are_missing_are_zero_and_no_counts_are_an_error() -> None:
    assert usage_of({"prompt_tokens": 10, "prompt_tokens_details": None}) == Usage(10)
    assert usage_of({"input_tokens": 10, "cache_read_input_tokens": None}) == Usage(10)
    with pytest.raises(ValueError, match="no token counts"):
        usage_of({"id": "msg_1"})


def test_tokens_that_are_kept_for_an_hour_cost_twice_the_input() -> None:
    usage = usage_of({**ANTHROPIC, "cache_creation": {"ephemeral_1h_input_tokens": 97}})
    assert PRICES.billed_cost(usage) == pytest.approx(3 + 0.1 * 900 + 2 * 97)
    assert PRICES.billed_cost(usage_of(ANTHROPIC)) == pytest.approx(3 + 0.1 * 900 + 1.25 * 97)


def test_a_miss_has_the_reason_of_the_provider() -> None:
    anthropic = {"diagnostics": {"cache_miss_reason": {"type": "system_changed"}}}
    openai = {"prompt_cache_diagnostics": {"type": "cache_miss", "reason": "tools_changed"}}
    assert [cache_miss_of(each) for each in (anthropic, openai)] == [
        "system_changed",
        "tools_changed",
    ]
    assert cache_miss_of({"diagnostics": None}) == cache_miss_of({}) == ""


def calls(
    count: int, scale: float = 1.3, fixed: int = 5_000, growth: Sequence[int] = (3_000,)
) -> list[tuple[CountedCall, Usage]]:
    """Calls whose provider counts `scale` tokens for one of ours, behind a system prompt."""
    found, before = [], 0
    for number in range(count):
        size = before + growth[number % len(growth)]
        read = round(fixed + scale * before) if number else 0
        written = round(fixed + scale * size) - read
        found.append((CountedCall(size, before), Usage(0, read, written)))
        before = size
    return found


def billed(every: Iterable[tuple[CountedCall, Usage]]) -> Bill:
    bill = Bill(PRICES)
    for call, usage in every:
        bill.add(call, usage)
        assert bill.predicted == 0 or bill.calls > 10
    return bill


def test_calibration_finds_the_system_prompt_and_the_size_of_a_token() -> None:
    known = billed(calls(10))
    assert known.token_scale == pytest.approx(1.3, abs=0.01)
    assert known.fixed_tokens == pytest.approx(5_000, abs=10)


@pytest.mark.parametrize("step", [1, 128, 2_048], ids="every {} tokens".format)
def test_a_provider_that_reads_whole_blocks_is_predicted(step: int) -> None:
    """Gemini reads blocks of some 2,000 tokens, so that a call pays for one more on average."""
    rounded = [
        (call, replace(usage, cache_read_tokens=usage.cache_read_tokens // step * step))
        for call, usage in calls(60, growth=(300, 900, 2_000))
    ]
    full = [
        (call, Usage.of_total(size.context_tokens, usage.cache_read_tokens, 0, 0))
        for (call, usage), (_, size) in zip(
            rounded, calls(60, growth=(300, 900, 2_000)), strict=True
        )
    ]
    assert abs(billed(full).deviation) < 0.05


def test_a_short_list_behind_a_long_prompt_is_read() -> None:
    """Our counts alone are under the smallest prefix of a cache."""
    short = [(call._replace(read_tokens=0), usage) for call, usage in calls(40, growth=(20,))]
    assert abs(billed(short).deviation) < 0.05


def test_after_ten_calls_the_prediction_meets_the_bill() -> None:
    bill = billed(calls(30))
    assert abs(bill.deviation) < 0.05
    assert not bill.is_off
    assert bill.missed_calls == 0


def test_a_provider_without_a_cache_is_predicted_at_full_price() -> None:
    bill = Bill(PRICES)
    for call, usage in calls(30):
        bill.add(call, Usage(usage.context_tokens))
    assert abs(bill.deviation) < 0.05


def test_an_expired_cache_is_no_miss_and_a_dropped_one_is() -> None:
    for idle, misses in ((10_000.0, 0), (5.0, 10)):
        bill = Bill(PRICES)
        for number, (call, usage) in enumerate(calls(20)):
            lost = Usage(0, 0, usage.context_tokens)
            late = number >= 10
            bill.add(call._replace(idle_seconds=idle if late else 0.0), lost if late else usage)
        assert bill.missed_calls == misses
        assert bill.is_off == bool(misses)


@pytest.mark.one_process
def test_a_session_compares_and_warns_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER)
    session = memory.session("bill")
    assert session.status()["billed"] is None
    items: list[dict[str, Any]] = [{"role": "user", "content": "Count them. " * 600}]
    for number in range(20):
        session(items)
        size = session.status()["sent_tokens"]
        with caplog.at_level(logging.WARNING):
            session.billed({"input_tokens": 0, "cache_creation_input_tokens": 5_000 + size})
            if number < 10:
                session.billed({"input_tokens": 0, "cache_read_input_tokens": 5_000 + size})
        items = [*items, {"role": "assistant", "content": f"{number} " * 300}]
        items = [*items, {"role": "user", "content": "Go on. " * 300}]
    figures = session.status()["billed"]
    assert figures["calls"] == 30
    assert figures["billed_cost"] > 1.1 * figures["predicted_cost"] > 0
    assert figures["missed_calls"] > 0
    assert sum("base input tokens where" in each.message for each in caplog.records) == 1
    memory.close()


def test_bills_of_bedrock_and_gemini_are_read() -> None:
    bedrock = {
        "inputTokens": 3,
        "outputTokens": 20,
        "cacheReadInputTokens": 900,
        "totalTokens": 923,
    }
    assert usage_of({"usage": bedrock}) == Usage(3, 900, 0, 20)
    gemini = {
        "promptTokenCount": 1000,
        "cachedContentTokenCount": 900,
        "candidatesTokenCount": 20,
        "thoughtsTokenCount": 5,
    }
    assert usage_of({"usageMetadata": gemini}) == Usage(100, 900, 0, 25)


def exchange(number: int, form: str, asked: Sequence[tuple[str, Item, str]]) -> list[Item]:
    """An answer with calls, each a tool, its arguments and its result, and their results."""
    ids = [f"c{number}-{at}" for at in range(len(asked))]
    if form == "openai":
        functions = [{"name": tool, "arguments": json.dumps(given)} for tool, given, _ in asked]
        calls = [
            {"id": id_, "type": "function", "function": one}
            for id_, one in zip(ids, functions, strict=True)
        ]
        results = [
            {"role": "tool", "tool_call_id": id_, "content": text}
            for id_, (*_, text) in zip(ids, asked, strict=True)
        ]
        return [{"role": "assistant", "content": "I look.", "tool_calls": calls}, *results]
    used = [
        {"type": "tool_use", "id": id_, "name": tool, "input": given}
        for id_, (tool, given, _) in zip(ids, asked, strict=True)
    ]
    told = [
        {"type": "tool_result", "tool_use_id": id_, "content": text}
        for id_, (*_, text) in zip(ids, asked, strict=True)
    ]
    said = {"type": "text", "text": "I look."}
    return [{"role": "assistant", "content": [said, *used]}, {"role": "user", "content": told}]


@pytest.mark.parametrize("form", ["openai", "anthropic"])
def test_a_call_that_only_answers_recalls_is_none_without_the_memory(
    form: str, tmp_path: Path
) -> None:
    """A list without the recalls, sent to a session of its own, is the oracle."""
    memory = Hippocampus(tmp_path, policy=EAGER, model="claude-sonnet-4-5")
    items = [{"role": "user", "content": "Which row?"}]
    items += exchange(0, form, [("read", {"path": "/a"}, rows(1, 400))])
    raw = list(items)
    with memory.session("recalls") as session, memory.session("raw") as oracle, no_fallback():
        session(items)
        oracle(raw)
        [entry] = session.entries
        before = session.status()
        asked = {"entry_id": entry.id, "head": 20}
        recalled = "recall", asked, session.answer(asked)
        for number in (1, 2):
            items += exchange(number, form, [recalled, recalled])
            session(items)
        after = session.status()
        assert after["raw_cost"] == before["raw_cost"] == oracle.status()["raw_cost"]
        spent = (after["sent_cost"] - before["sent_cost"]) * 3 / 1e6
        assert after["recall_dollars"] == pytest.approx(spent, abs=1e-4)
        assert after["saved_dollars"] == pytest.approx(before["saved_dollars"] - spent, abs=1e-4)
    done = "read", {"path": "/b"}, "ok"
    items += exchange(3, form, [done, recalled])
    raw += exchange(3, form, [done])
    with memory.session("recalls") as session, memory.session("raw") as oracle, no_fallback():
        session(items)
        oracle(raw)
        assert session.status()["raw_cost"] == oracle.status()["raw_cost"]
        mixed = session.status()["recall_dollars"] - after["recall_dollars"]
        assert 0 < mixed < after["recall_dollars"] / 2
    memory.close()
