"""`python -m tests.bench.hook_cost`: the processor time of one hook, as the median of 20 runs."""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile

ROWS = [{"id": n, "name": f"item-{n:04}", "open": n % 3 == 0} for n in range(300)]
RUNS = 20


def event(text: str) -> bytes:
    """Return the event of Claude Code for a result of a tool."""
    fields = {
        "session_id": "bench",
        "hook_event_name": "PostToolUse",
        "tool_name": "mcp__tracker__list",
        "tool_input": {},
        "tool_use_id": "t1",
        "tool_response": [{"type": "text", "text": text}],
    }
    return json.dumps(fields).encode()


def milliseconds(given: bytes, state: str) -> float:
    """Return the median processor time, user and system, of one hook."""
    command = [sys.executable, "-P", "-m", "hippocampus", "hook", "--state-dir", state]
    spent = []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, input=given, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return statistics.median(spent) * 1_000


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as state:
        small, large = event("A short result. " * 50), event(json.dumps(ROWS))
        for name, given in (("small", small), ("unknown", b"{}"), ("becomes an entry", large)):
            print(f"{name:>18} {milliseconds(given, state):6.0f} ms")
