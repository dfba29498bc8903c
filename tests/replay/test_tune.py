"""Tuning finds the rates of recordings that were made with known ones, and proposes what holds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from conversations import chat_step
from typer.testing import CliRunner

from hippocampus import Hippocampus
from hippocampus.cli.commands import app
from hippocampus.entries import decay
from hippocampus.entries.entry import Decay, Entry, Lifecycle, Source
from hippocampus.errors import RecordingError
from hippocampus.policy import Policy, load
from hippocampus.prices import TABLES
from hippocampus.replay import tune
from hippocampus.replay.readers import find_files, read_file

PRICES = TABLES["anthropic-5m"]
POLICY = load("default")
KINDS = {"code": 0.05, "json": 0.8}


def content(kind: str, name: str) -> str:
    if kind == "json":
        return json.dumps(
            {"items": [{"id": f"{name}_{n}", "count": n} for n in range(4)]}, indent=1
        )
    return "\n".join(f"def {name}_{n}(x):\n    return x + {n}\n" for n in range(8))


def recording(path: Path, rates: dict[str, float], seed: int, calls: int = 60) -> Path:
    """Write a session whose answers use older results with the probabilities of a power law."""
    draw = np.random.default_rng(seed)
    items = [{"role": "user", "content": "Go on."}]
    arrived: list[tuple[int, str, str]] = []
    for turn in range(calls):
        words = [
            f"{name}_{draw.integers(8)}"
            for since, kind, name in arrived
            if draw.random() < 0.1 / (1 + rates[kind] * (turn - since))
        ]
        kind = list(rates)[turn % len(rates)]
        name = f"value_{seed}_{turn}"
        said, text = " ".join(words) or None, content(kind, name)
        items += chat_step(f"c{turn}", "read", {"n": turn}, text, said)
        arrived.append((turn + 1, kind, name))
    path.write_text(json.dumps(items))
    return path


def law(rates: dict[str, float], exponent: float, mention: float, chance: float = 1.0) -> tune.Law:
    return tune.Law({"exponent": exponent, "mention_strength": mention, **rates}, chance)


def observations(
    rates: dict[str, float], exponent: float, mention: float, chance: float
) -> tune.Column:
    """Draw rows from a law."""
    draw = np.random.default_rng(7)
    count = 20_000
    names = np.array(sorted(rates))[draw.integers(0, len(rates), count)]
    age = draw.integers(0, 100, count).astype(float)
    rest = np.floor(age * draw.random(count))
    ones = np.ones(count)
    columns = [names, names, age, rest, draw.random(count) < 0.5, ones, ones]
    seen = np.rec.fromarrays(columns, names=list(tune.COLUMNS))
    probabilities = law(rates, exponent, mention, chance).probabilities(seen)
    seen["used"] = draw.random(count) < probabilities
    return seen


def test_the_fit_finds_the_law_that_made_the_rows() -> None:
    rates = {"code": 0.05, "json": 0.5}
    seen = observations(rates, exponent=1.0, mention=0.5, chance=0.7)
    found = tune.fit(seen, law({"code": 0.2, "json": 0.2}, 0.5, 1.0))
    true = law(rates, 1.0, 0.5, 0.7).probabilities(seen)
    assert np.abs(found.probabilities(seen) - true).mean() < 0.01
    assert found.numbers["json"] >= 4 * found.numbers["code"]


def test_the_law_is_that_of_entries() -> None:
    for turn, access in ((3, 0), (30, 0), (30, 25), (90, 40)):
        source = Source(type="tool", ref="", turn=0)
        held = Decay(rate=0.3, last_access=access)
        entry = Entry(
            id="e",
            type="tool_result",
            source=source,
            summary="",
            strength=0.4 if access else 1.0,
            decay=held,
            lifecycle=Lifecycle(created=0),
        )
        row = ("o", "code", float(turn), float(turn - access), access > 0, 0.0, 1.0)
        seen = tune.observations([tune.Observed(Path("o"), "o", [row])])
        [found] = law({"code": 0.3}, 0.8, 0.4).probabilities(seen).tolist()
        assert found == pytest.approx(decay.strength(entry, turn, 0.8))


@pytest.mark.slow
def test_the_rates_of_recordings_are_found(tmp_path: Path) -> None:
    files = [recording(tmp_path / f"owner{n}+s.json", KINDS, n) for n in range(8)]
    observed = [tune.observe_file(path, POLICY, PRICES) for path in files]
    assert {each.owner for each in observed} == {f"owner{n}" for n in range(8)}
    seen = tune.observations(observed)
    assert {"code", "json"} <= set(seen["name"].tolist())
    start = law({**POLICY.decay_rates, "code": 0.3, "json": 0.3}, 1.0, 0.3)
    found = tune.fit(seen, start)
    assert found.numbers["code"] < 0.3 < found.numbers["json"]
    scores, _ = tune.score_laws(seen, tune.folds_of(observed), start)
    assert min(scores, key=lambda name: scores[name]) == tune.SCORED[-1]


def test_the_archive_of_a_state_directory_is_observed(tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path / "state")
    for seed in range(2):
        [found] = read_file(recording(tmp_path / f"{seed}.json", KINDS, seed, calls=20))
        with memory.session(f"s{seed}") as session:
            for end in range(1, len(found.messages), 2):
                session(found.messages[:end])
            session.close(found.messages)
    memory.close()
    observed = [
        tune.observe_file(path, POLICY, PRICES) for path in find_files([tmp_path / "state"])
    ]
    assert len({each.owner for each in observed if each.rows}) == 2


@pytest.mark.slow
def test_what_is_written_is_a_policy_and_else_nothing_is(tmp_path: Path) -> None:
    for n in range(3):
        recording(tmp_path / f"{n}.json", KINDS, n, calls=30)
    out = tmp_path / "tuned.yaml"
    done = CliRunner().invoke(app, ["tune", str(tmp_path), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert out.exists() is ("nothing is written" not in done.output)
    assert out.exists() is (f"Written to {out}:" in done.output.replace("\n", ""))


def test_the_fields_that_are_written_are_those_that_were_replayed() -> None:
    new_law = law({**POLICY.decay_rates, "code": 0.08}, 0.8, 0.2)
    fields = tune.fields_of(POLICY, new_law, 0.5)
    new = Policy.model_validate(fields)
    assert (new.decay_rates["code"], new.exponent, new.mention_strength) == (0.08, 0.8, 0.2)
    assert new.fade_below == POLICY.fade_below / 2
    assert tune.apply_fields(POLICY, fields).decay_rates == new.decay_rates


def test_one_owner_is_not_enough(tmp_path: Path) -> None:
    path = recording(tmp_path / "owner+one.json", KINDS, 1, calls=20)
    assert len(read_file(path)) == 1
    with pytest.raises(RecordingError, match="two owners"):
        tune.tune([path], POLICY, PRICES)
