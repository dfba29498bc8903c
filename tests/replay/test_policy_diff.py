"""Two policies over recordings: how many views differ, and what both cost."""

from __future__ import annotations

import json
from pathlib import Path

from conversations import EAGER, reading
from typer.testing import CliRunner

from hippocampus.cli.commands import app
from hippocampus.policy import Policy
from hippocampus.prices import DEFAULT_MODEL, model_prices
from hippocampus.replay.policy_diff import diff_file, summed

PRICES = model_prices(DEFAULT_MODEL)


def recording(folder: Path) -> Path:
    path = folder / "one.json"
    path.write_text(json.dumps(reading(4)))
    return path


def test_a_policy_changes_no_view_of_its_own(tmp_path: Path) -> None:
    [diff] = diff_file(recording(tmp_path), EAGER, EAGER, PRICES)
    assert diff["changed_views"] == 0
    assert diff["before"] == diff["after"]


def test_views_that_differ_are_counted_and_priced(tmp_path: Path) -> None:
    whole = Policy(compression="none")
    [diff] = diff_file(recording(tmp_path), whole, EAGER, PRICES)
    assert diff["changed_views"] == diff["before"]["calls"] - 1 == 3
    total = summed([diff])
    assert total["before"]["cost_percent"] >= 100 > total["after"]["cost_percent"]


def test_a_recording_is_priced_as_the_model_that_it_names(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps({"model": "claude-opus-4-5", "messages": reading(4)}))
    [diff] = diff_file(path, EAGER, EAGER, PRICES)
    [same] = diff_file(path, EAGER, EAGER, model_prices("claude-opus-4-5"))
    assert diff == same


def test_the_command_prints_json_and_a_table(tmp_path: Path) -> None:
    arguments = ["policy", "diff", "default", "browser", str(recording(tmp_path))]
    found = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert found["total"]["views"] == found["recordings"][0]["before"]["calls"] == 4
    assert "of 4 views have another size" in CliRunner().invoke(app, arguments).stdout
