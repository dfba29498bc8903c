"""Strength in a real session: each number of a policy that makes it changes when a view changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conversations import chat_call, managed, no_fallback

from hippocampus import Hippocampus, Policy
from hippocampus.prices import TABLES

TURNS = 80
BASE = {
    "fade_view_tokens": 0,
    "digest_below": 0,
    "exponent": 1.0,
    "fade_below": 0.1,
    "mention_strength": 0.3,
    "decay_rates": {"tool_result": 0.5},
}
SOURCE = "The door of room_911 is closed at nine, and the key is with harbour_office. " * 12


def call(number: int, **arguments: str) -> dict[str, Any]:
    return chat_call(f"c{number}", "look", arguments)


def result(number: int, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"c{number}", "content": text}


def gone_at(folder: Path, asked: str = "", said: str = "", **changes: Any) -> int:
    """Return the turn at which the first result is shortened; the user asks behind a third one."""
    policy = Policy.model_validate({**BASE, **changes})
    items = [{"role": "user", "content": "Look."}, call(1, place="door"), result(1, SOURCE)]
    with managed(folder, policy=policy, prices=TABLES["none"]) as session:
        for number in range(2, TURNS):
            if session(items)[2] != items[2]:
                break
            seen = "We saw lamp_77. " * 60 if asked and number == 3 else f"seen {number}"
            items += [call(number, place=f"place {number}"), result(number, seen)]
            if number == 3 and asked:
                items.append({"role": "user", "content": asked})
            if number == 10 and said:
                items.append({"role": "user", "content": said})
    return number - 1


def rule(**action: Any) -> dict[str, Any]:
    return {"lifecycle_policies": [{"match": {"type": "tool_result"}, "action": action}]}


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> int:
    """The strength falls to 0.1 after 18 turns at the rate 0.5 and the exponent 1."""
    turn = gone_at(tmp_path_factory.mktemp("usual"))
    assert turn == 19
    return turn


@pytest.mark.parametrize(
    ("changes", "turn"),
    [
        ({"decay_rates": {"tool_result": 1.0}}, 10),
        ({"decay_rates": {"tool_result": 0.5, "text": 1.0, "prose": 1.0}}, 10),
        ({"exponent": 2.0}, 6),
        ({"fade_below": 0.2}, 9),
        (rule(floor=0.15), TURNS - 2),
        (rule(priority="low"), 10),
        (rule(priority="high"), 61),
        (rule(priority="critical"), TURNS - 2),
        (rule(encoding="manual"), 37),
        (rule(decay_rate=1.0), 10),
        (rule(expires_after_turns=5), 7),
    ],
)
def test_what_makes_the_strength_decides_when_a_view_changes(
    tmp_path: Path, usual: int, changes: dict[str, Any], turn: int
) -> None:
    assert gone_at(tmp_path, **changes) == turn != usual


def test_an_association_keeps_a_content_longer(tmp_path: Path, usual: int) -> None:
    """A message names values of two contents: 18 turns at 0.9 of the rate are 20."""
    assert gone_at(tmp_path, asked="Is lamp_77 in room_911?") == usual + 2


def test_a_mention_keeps_a_content_longer(tmp_path: Path, usual: int) -> None:
    """Mentioned at turn 10 with 0.3, it falls to 0.1 four turns after that; that is no longer."""
    said = "Go on with harbour_office."
    assert gone_at(tmp_path / "weak", said=said) == usual
    assert gone_at(tmp_path / "strong", said=said, mention_strength=1.0) > usual


def test_what_has_expired_leaves_what_stands_in_full(tmp_path: Path) -> None:
    """A rule keeps it from fading, and the turn of its expiry ends it all the same."""
    lasting = rule(priority="critical", expires_after_turns=30)
    assert gone_at(tmp_path / "critical", **rule(priority="critical")) == TURNS - 2
    assert gone_at(tmp_path / "expires", **lasting) == 32


def snapshot(tokens: int) -> str:
    return json.dumps([{"ref": f"e{n}", "role": "button"} for n in range(tokens // 14)])


def test_critical_content_does_not_fade_and_a_huge_snapshot_shrinks_all_the_same(
    tmp_path: Path,
) -> None:
    policy = Policy.model_validate({**BASE, **rule(priority="critical")})
    items = [{"role": "user", "content": "Look."}, call(1), result(1, snapshot(50_000))]
    items += [call(2), result(2, SOURCE)]
    memory = Hippocampus(tmp_path, policy=policy, prices=TABLES["none"])
    with memory.session("s") as session, no_fallback():
        view = session(items)
        for number in range(3, TURNS):
            items += [call(number), result(number, f"seen {number}")]
            view = session(items)
        [entry] = session.entries
        assert session.status()["strengths"][entry.id]["strength"] == 1.0
    assert len(str(view[2])) < len(str(items[2])) / 10
    assert view[4] == items[4]
    memory.close()


def test_what_saves_little_as_an_entry_becomes_a_short_one_once_it_has_faded(
    tmp_path: Path,
) -> None:
    rows = [f"2026-03-{n % 28 + 1:02} INFO request {n * 7919:08x} took a lock" for n in range(150)]
    items = [{"role": "user", "content": "Look."}, call(1), result(1, "\n".join(rows))]
    chosen = Policy.model_validate({**BASE, "smallest_gain_share": 0.6, "fade_below": 0.5})
    with managed(tmp_path, policy=chosen, prices=TABLES["none"]) as session:
        assert session(items) == items  # its entry would have over 40 percent
        for number in range(2, 10):
            items += [call(number), result(number, f"seen {number}")]
            view = session(items)
        assert len(view[2]["content"]) < len(items[2]["content"]) / 2
    with managed(tmp_path, policy=chosen, prices=TABLES["none"]) as again:
        assert again(items) == view
