"""Recorded bills next to predicted ones."""

from __future__ import annotations

import json
from pathlib import Path

from hippocampus.formats.usage import Usage
from hippocampus.prices import TABLES
from hippocampus.replay.billed import compared, figures, table
from hippocampus.replay.measure import measure, prepare
from hippocampus.replay.readers import read_file
from hippocampus.replay.recording import Recording
from hippocampus.replay.strategies import EVERYTHING

PRICES = TABLES["anthropic-5m"]


def recording(count: int, *, missed: int = -1) -> Recording:
    """A host with a mark at the end of its messages, and what its provider billed."""
    items = [{"role": "user", "content": "Say on. " * 500}]
    for number in range(count):
        items += [
            {"role": "assistant", "content": f"{number} is said. " * 80},
            {"role": "user", "content": f"And after {number}? " * 80},
        ]
    bare = Recording("f.jsonl", "f.jsonl", "pi", items)
    sizes = [each.tokens for each in measure(prepare(bare), EVERYTHING.make(bare)).calls]
    usage = {}
    for number, size in enumerate(sizes):
        read = 3_000 + sizes[number - 1] if number and number != missed else 0
        usage[number] = Usage(0, read, 3_000 + size - read)
    return Recording("f.jsonl", "f.jsonl", "pi", items, usage=usage)


def test_a_bill_is_predicted_from_the_messages() -> None:
    found = compared(recording(40), PRICES)
    assert found is not None
    assert abs(found.error_percent) < 2
    assert (found.calls, found.missed_calls) == (30, 0)
    assert "| f.jsonl |" in table([found])
    assert json.loads(json.dumps(figures(found)))["error_percent"] == round(found.error_percent, 1)


def test_a_prefix_that_the_provider_dropped_is_counted_as_a_miss() -> None:
    found = compared(recording(40, missed=30), PRICES)
    assert found is not None
    assert found.missed_calls == 1
    assert found.error_percent < -10
    assert abs(found.error_without_misses_percent) < 2


def test_few_billed_calls_are_not_compared() -> None:
    assert compared(recording(15), PRICES) is None


def test_recorded_times_are_read(tmp_path: Path) -> None:
    lines = [
        {"type": "session", "id": "s", "timestamp": "2026-01-01T10:00:00.000Z", "cwd": "/"},
        {"type": "message", "timestamp": "2026-01-01T10:00:01.000Z",
         "message": {"role": "user", "content": "Hello."}},
        {"type": "message", "timestamp": "2026-01-01T10:00:03.500Z",
         "message": {"role": "assistant", "content": [{"type": "text", "text": "Hi."}],
                     "stopReason": "stop"}},
    ]  # fmt: skip
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    assert read_file(path)[0].times == {0: 1767261603.5}
