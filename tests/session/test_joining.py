"""Messages of the user that a host joins between two calls are in the provider's cache all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conversations import EAGER, Item, no_fallback, rows

from hippocampus import Hippocampus

READ_ONCE = EAGER.model_copy(update={"fresh_turns": {"prose": 1, "log": 1, "listing": 1}})


def lists(joined: bool) -> tuple[list[Item], list[Item]]:
    """Return the list of a call, and of the next one with its user messages joined or not."""
    use = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": rows(3, 400)}
    text = {"type": "text", "text": "And now?"}
    start: list[Any] = [
        {"role": "user", "content": "Go on. " * 2_000},
        {"role": "assistant", "content": [use]},
    ]
    apart = [{"role": "user", "content": [result]}, {"role": "user", "content": [text]}]
    more = [{"role": "assistant", "content": "So."}, {"role": "user", "content": "Well?"}]
    before = [*start, *apart]
    return before, [*start, {"role": "user", "content": [result, text]}, *more] if joined else [
        *before,
        *more,
    ]


@pytest.mark.parametrize("restarted", [False, True])
def test_joining_a_result_and_a_text_makes_no_edit_free(tmp_path: Path, restarted: bool) -> None:
    found = []
    for joined in (False, True):
        memory = Hippocampus(tmp_path / str(joined), policy=READ_ONCE)
        session = memory.session("s")
        first, then = lists(joined)
        with no_fallback():
            assert session(first) == first
            if restarted:
                session.close()
                session = memory.session("s")
            session(then)
        [(_, decision)] = session.report.decisions()
        found.append(decision.reason)
        session.close()
        memory.close()
    assert found[0] == found[1]
    assert found[0].startswith("pays over")
