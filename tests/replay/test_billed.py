"""Recorded bills next to predicted ones."""

from __future__ import annotations

import json
from pathlib import Path

from conversations import EAGER

from hippocampus.formats.usage import Usage
from hippocampus.prices import TABLES
from hippocampus.replay.measure import Script, measure
from hippocampus.replay.readers import read_file
from hippocampus.replay.recording import Recording
from hippocampus.replay.run import Options, outcome, replay_recording
from hippocampus.replay.strategies import send_everything
from hippocampus.replay.summary import bill_of
from hippocampus.replay.table import sentences
from hippocampus.session.billing import Bill

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
    sizes = [each.tokens for each in measure(Script(bare), send_everything()).calls]
    usage = {}
    for number, size in enumerate(sizes):
        read = 3_000 + sizes[number - 1] if number and number != missed else 0
        usage[number] = Usage(0, read, 3_000 + size - read)
    return Recording("f.jsonl", "f.jsonl", "pi", items, usage=usage)


def bill(count: int, *, missed: int = -1) -> Bill:
    return bill_of(Script(recording(count, missed=missed)), PRICES)


def test_a_bill_is_predicted_from_the_messages() -> None:
    found = bill(40)
    assert abs(found.deviation) < 0.02
    assert (found.calls, found.missed_calls) == (40, 0)


def test_a_prefix_that_the_provider_dropped_is_counted_as_a_miss() -> None:
    found = bill(40, missed=30)
    assert found.missed_calls == 1
    assert found.deviation > 0.1
    assert abs(found.predicted / (found.billed - found.missed) - 1) < 0.02


def test_few_billed_calls_are_not_compared() -> None:
    assert bill(15).calls == 0


def test_a_replay_prints_how_far_the_prediction_is_off() -> None:
    options = Options(EAGER, PRICES)
    found = outcome([replay_recording(recording(40, missed=30), options)], options)
    raw = found["total"]["raw"]
    assert (raw["billed_calls"], raw["missed_calls"]) == (30, 1)
    assert "For 30 calls with a recorded bill" in "".join(sentences(found["total"], found))


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
