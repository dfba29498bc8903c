"""A list of any shape takes linear time: many parts in a message, many calls of one file or one name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from hippocampus import Hippocampus
from hippocampus.models import tokens

Items = list[dict[str, Any]]
SMALL, LARGE = 300, 1_500
NOISE_SECONDS, LINEAR = 0.5, 2.0
REDACTING = """
extends: default
lifecycle_policies:
  - match: {type: tool_result}
    action: {redact: secret}
"""


def results(count: int, content: Callable[[int], Any]) -> Items:
    """Return an answer of many calls, and their results in one message."""
    calls = [{"type": "tool_use", "id": f"t{n}", "name": "run", "input": {}} for n in range(count)]
    found = [
        {"type": "tool_result", "tool_use_id": f"t{n}", "content": content(n)} for n in range(count)
    ]
    return [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": calls},
        {"role": "user", "content": found},
    ]


def rounds(count: int, tool: str, arguments: Callable[[int], Any], text: str) -> Items:
    """Return many answers of one call each."""
    items: Items = [{"role": "user", "content": "go"}]
    for n in range(count):
        called = {"name": tool, "arguments": json.dumps(arguments(n))}
        items += [
            {"role": "assistant", "tool_calls": [{"id": f"c{n}", "type": "function", "function": called}]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": text.replace("#", str(n))},
        ]  # fmt: skip
    return items


IMAGE = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
LISTS: dict[str, Callable[[int], Items]] = {
    "results in a message": lambda count: results(count, lambda _: "ok"),
    "secrets in a message": lambda count: results(count, lambda n: f"password=Hunter2x{n}!"),
    "images in a message": lambda count: results(
        count, lambda _: [{"type": "text", "text": "ok"}, {"type": "image", "source": IMAGE}]
    ),
    "reads of one file": lambda count: rounds(
        count, "read_file", lambda n: {"path": "a.log", "offset": n, "limit": 9}, "line # of it\n" * 60
    ),
    "edits of one file": lambda count: rounds(
        count,
        "edit",
        lambda n: {"path": "a.py", "old_text": f"x{n} " * 60, "new_text": f"y{n} " * 60},
        "ok",
    ),
    "pointers to one read": lambda count: rounds(
        count, "read_file", lambda _: {"path": "a.py"}, "File unchanged since your last Read."
    ),
}  # fmt: skip


def seconds(folder: Path, items: Items) -> float:
    """Return the CPU time of a call, of the next one, and of one after a restart with its last message changed."""
    policy = folder.with_suffix(".yaml")
    policy.write_text(REDACTING)
    more = [*items, {"role": "assistant", "content": "Now."}, {"role": "user", "content": "go on"}]
    last = items[-1]["content"]
    blocks = last if isinstance(last, list) else [{"type": "text", "text": last}]
    changed = [*items[:-1], {"role": "user", "content": [{"type": "text", "text": "x"}, *blocks]}]
    started = process_time()
    for each in (items, more, changed):
        with Hippocampus(folder, policy=policy, deadline_seconds=60.0) as memory:
            session = memory.session("s")
            session(each)
            assert session.status()["failures"] == 0
            session.release()
    return process_time() - started


@pytest.mark.parametrize("name", LISTS)
def test_a_list_of_any_shape_takes_linear_time(name: str, tmp_path: Path) -> None:
    tokens.count("the vocabulary is read once")
    before = seconds(tmp_path / "small", LISTS[name](SMALL))
    bar = LINEAR * before * LARGE / SMALL
    assert seconds(tmp_path / "large", LISTS[name](LARGE)) < NOISE_SECONDS + bar
