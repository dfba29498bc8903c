"""Replaying files: every outcome is data that crosses processes and is valid JSON."""

from __future__ import annotations

import json
import logging
import pickle
from pathlib import Path
from typing import Any

import pytest
from conversations import EAGER, reading, rows

from hippocampus.policy import Rule
from hippocampus.prices import prices_for
from hippocampus.replay import run
from hippocampus.replay.run import (
    OURS,
    Options,
    Replayed,
    Skipped,
    outcome,
    replay_file,
    replay_files,
)
from hippocampus.replay.strategies import BASELINES, EVERYTHING, FLOOR

PRICES = prices_for("anthropic-5m", None)


def put(path: Path, items: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(items))
    return path


def record(folder: Path, count: int = 1) -> list[Path]:
    return [put(folder / f"{n}.json", reading(2 + n, start=100 * n)) for n in range(count)]


@pytest.mark.parametrize("compare", [False, True])
@pytest.mark.parametrize("views", [False, True])
def test_an_outcome_is_json_and_pickles(tmp_path: Path, *, compare: bool, views: bool) -> None:
    options = Options(EAGER, PRICES, compare=compare, views=views)
    [each] = replay_file(record(tmp_path / "source")[0], options)
    assert pickle.loads(pickle.dumps(each)) == each
    found = outcome([each], [Skipped("x", "no recording")], options)
    text = json.dumps(found, allow_nan=False)
    assert json.dumps(json.loads(text)) == text
    names = {OURS, EVERYTHING.name}
    names |= {each.name for each in (*BASELINES, FLOOR)} if compare else set()
    assert set(found["total"]["strategies"]) == names
    assert set(found["sources"]) == {"source"}
    [one] = found["recordings"]
    assert ("entries" in one) is views
    ours, everything = (one["strategies"][name] for name in (OURS, EVERYTHING.name))
    assert ours["cost"] < everything["cost"]
    assert (ours["invalid_views"], ours["recoverable_percent"]) == (0, 100)


def test_recalls_are_counted_and_no_source_is_asked(tmp_path: Path) -> None:
    """The file that the recording names holds something else today: a replay does not look."""
    today = tmp_path / "7"
    today.write_text("something else", "utf-8")
    called = {"name": "read", "arguments": json.dumps({"path": str(today)})}
    call = {"id": "c1", "type": "function", "function": called}
    items = [
        {"role": "user", "content": "Read it."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": rows(7, 400)},
        {"role": "assistant", "content": "It is in /srv/app_7/file2.py and row_14."},
    ]
    source = {"type": "file", "roots": [str(tmp_path)]}
    rule = Rule.model_validate({"match": {}, "action": {"source": source, "compression": 30}})
    policy = EAGER.model_copy(update={"lifecycle_policies": (rule,)})
    [each] = replay_file(put(tmp_path / "one.json", items), Options(policy, PRICES))
    ours, others = each.summary.strategies[OURS], each.summary.strategies[EVERYTHING.name]
    assert ours.hidden == ours.recoverable == ours.recalled_full > 0
    assert (ours.recalled_partial, ours.recalled_failed) == (0, 0)
    assert (others.recalled_full, others.recalled_failed) == (0, 0)
    figures = ours.figures(others, PRICES)
    assert figures["recalled_full_percent"] == 100.0
    assert figures["recalled_failed_percent"] == 0.0


def test_files_over_processes_give_what_one_process_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "SMALL_BYTES", 0)
    files = record(tmp_path, 6)
    options = Options(EAGER, PRICES)
    spread = [each for outcome in replay_files(files, options) for each in outcome]
    alone = [each for path in files for each in replay_file(path, options)]
    assert sorted(spread, key=lambda each: each.path) == alone
    assert all(isinstance(each, Replayed) for each in spread)


def test_what_is_no_recording_is_skipped_with_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"nothing": 1}')
    skipped = replay_file(path, Options(EAGER, PRICES))
    assert isinstance(skipped, Skipped)
    assert skipped.reason
    [again] = replay_files([path], Options(EAGER, PRICES))
    assert again == skipped


def test_the_outcome_of_nothing_is_empty(tmp_path: Path) -> None:
    found = outcome([], [], Options(EAGER, PRICES))
    assert found["total"] is None
    json.dumps(found)


def test_a_replay_leaves_no_state_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import tempfile

    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with caplog.at_level(logging.WARNING, "hippocampus"):
        replay_file(record(tmp_path / "source")[0], Options(EAGER, PRICES))
    assert list(folder.iterdir()) == []
    assert caplog.records == []
