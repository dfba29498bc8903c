"""Replaying files: every outcome is data that crosses processes and is valid JSON."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conversations import EAGER, chat_step, reading, rows

from hippocampus.policy import Rule
from hippocampus.prices import model_prices, prices_for
from hippocampus.replay import run
from hippocampus.replay.run import (
    OURS,
    Options,
    json_pieces,
    outcome,
    replay_bytes,
    replay_file,
)
from hippocampus.replay.strategies import BASELINES, EVERYTHING, FLOOR
from hippocampus.replay.table import sentences

PRICES = prices_for("anthropic-5m", None)


def put(path: Path, items: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(items))
    return path


def record(folder: Path, count: int = 1) -> list[Path]:
    return [put(folder / f"{n}.json", reading(2 + n, start=100 * n)) for n in range(count)]


@pytest.mark.parametrize("compare", [False, True])
def test_rows_and_their_outcome_are_json(tmp_path: Path, *, compare: bool) -> None:
    options = Options(EAGER, PRICES, compare=compare)
    [row] = replay_file(record(tmp_path / "source")[0], options)
    assert json.loads(json.dumps(row, allow_nan=False)).keys() == row.keys()
    found = outcome([{"path": "x", "reason": "no recording"}, row], options)
    text = "".join(json_pieces(found))
    assert json.dumps(json.loads(text)) == text
    names = {OURS, EVERYTHING}
    names |= {*BASELINES, FLOOR} if compare else set()
    assert set(found["total"]["strategies"]) == names
    assert set(found["sources"]) == {"source"}
    [one] = found["recordings"]
    ours, everything = (one["strategies"][name] for name in (OURS, EVERYTHING))
    assert ours["cost"] < everything["cost"]
    assert (ours["invalid_views"], ours["recoverable_percent"]) == (0, 100)


@pytest.mark.parametrize(
    "usage",
    [{}, None, {"input_tokens": -5}, {"input_tokens": 10**400}, {"input_tokens": {"many": 1}}],
    ids=["none", "null", "negative", "huge", "an object"],
)
def test_a_usage_without_possible_counts_refuses_no_recording(usage: Any) -> None:
    lines = []
    for number in range(25):
        message = {"role": "user", "content": f"Question {number}?"}
        answer = {
            "id": f"m{number}",
            "role": "assistant",
            "content": [{"type": "text", "text": f"Answer {number}."}],
            "usage": usage,
        }
        lines += [
            {
                "type": each["role"],
                "uuid": f"{each['role']}{number}",
                "sessionId": "s",
                "message": each,
            }
            for each in (message, answer)
        ]
    content = "\n".join(map(json.dumps, lines)).encode()
    [row] = replay_bytes("folder/session.jsonl", content, Options(EAGER, PRICES))
    assert "reason" not in row
    assert row["strategies"][OURS]["calls"] == 25
    assert (row["raw"]["reported_calls"], row["raw"]["billed_cost"]) == (0, 0)


def test_recalls_are_counted_and_no_source_is_asked(tmp_path: Path) -> None:
    """The file that the recording names holds something else today: a replay does not look."""
    today = tmp_path / "7"
    today.write_text("something else", "utf-8")
    items = [
        {"role": "user", "content": "Read it."},
        *chat_step("c1", "read", {"path": str(today)}, rows(7, 400)),
        {"role": "assistant", "content": "It is in /srv/app_7/file2.py and row_14."},
    ]
    source = {"type": "file", "roots": [str(tmp_path)]}
    rule = Rule.model_validate({"match": {}, "action": {"source": source, "compression": 30}})
    policy = EAGER.model_copy(update={"lifecycle_policies": (rule,)})
    [each] = replay_file(put(tmp_path / "one.json", items), Options(policy, PRICES))
    ours, others = each["strategies"][OURS], each["strategies"][EVERYTHING]
    assert ours["hidden"] == ours["recoverable"] > 0
    assert others["recoverable"] == 0
    assert ours["recoverable_percent"] == 100.0


def test_the_content_of_a_file_gives_the_rows_of_the_file(tmp_path: Path) -> None:
    options = Options(EAGER, PRICES)
    [path] = record(tmp_path)
    assert replay_bytes(str(path), path.read_bytes(), options) == replay_file(path, options)


def test_each_recording_is_priced_as_the_model_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = run.read_file
    named = {"0.json": "claude-opus-4-5", "1.json": "gpt-5", "2.json": "unheard-of", "3.json": None}
    monkeypatch.setattr(
        run,
        "read_file",
        lambda path: [replace(one, model=named[path.name]) for one in read(path)],
    )
    options = Options(EAGER, model_prices("claude-sonnet-5-5"), by_model=True)
    found = outcome([replay_file(path, options)[0] for path in record(tmp_path, 4)], options)
    total, rows = found["total"], list(found["recordings"])
    assert total["priced_as"] == {"claude-opus-4-5": 1, "gpt-5": 1, "claude-sonnet-5-5": 2}
    assert total["unpriced"] == {"unheard-of": 1}
    for row, model in zip(rows, named.values(), strict=True):
        prices = options.prices_of(model) or options.prices
        sums = row["strategies"][OURS]
        assert row["dollars_per_million"] == prices.dollars_per_million
        assert sums["dollars"] == round(prices.dollars(sums["cost"]), 6)
    assert total["strategies"][OURS]["dollars"] == pytest.approx(
        sum(row["strategies"][OURS]["dollars"] for row in rows)
    )
    told = "".join(sentences(total, found))
    assert "prices of 3 models (recordings: claude-opus-4-5 1, gpt-5 1, claude-sonnet-5-5 2" in told
    assert "taken for claude-sonnet-5-5: unheard-of (1)" in told
    total["priced_as"] = {"gpt-5": 4}
    assert "at prices gpt-5 (recordings: 4, marks" in "".join(sentences(total, found))
    table = replace(options, prices=PRICES)
    assert table.prices_of("gpt-5") == prices_for("anthropic-5m", "gpt-5")


def test_of_an_agent_that_used_nothing_again_it_is_stated(tmp_path: Path) -> None:
    options = Options(EAGER, PRICES)
    found = outcome([replay_file(path, options)[0] for path in record(tmp_path)], options)
    stated = sentences(found["total"], found)
    assert "Hidden: 0 of 0 values and 0 of 0 lines that the agent used." in stated


def test_what_is_no_recording_is_a_row_with_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"nothing": 1}')
    [row] = replay_file(path, Options(EAGER, PRICES))
    assert row.keys() == {"path", "reason"}
    assert row["reason"]


def test_a_bug_at_one_file_is_a_row_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(run, "Script", lambda _: {}["wrong"])
    [path] = record(tmp_path)
    [row] = replay_file(path, Options(EAGER, PRICES))
    assert row == {"path": str(path), "reason": "a bug of hippocampus: KeyError: 'wrong'"}
    assert "cannot be replayed" in caplog.text


def test_the_outcome_of_nothing_is_empty() -> None:
    found = outcome([], Options(EAGER, PRICES))
    assert found["total"] is None
    assert json.loads("".join(json_pieces(found)))["recordings"] == []


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
