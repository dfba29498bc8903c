"""Agents that are killed while they consolidate: real processes, forked from one that has loaded all."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

SERVER = """
import json, os, sys
import hippocampus.consolidation.deep, hippocampus.facts.store, hippocampus.facts.write
from hippocampus import Hippocampus
messages = json.loads(sys.stdin.readline())
for state, tenant in map(json.loads, sys.stdin):
    if child := os.fork():
        _, status = os.waitpid(child, 0)
        print("killed" if status else "done", flush=True)
        continue
    memory = Hippocampus(state, tenant=tenant, deadline_seconds=60.0)
    memory.facts.memories()
    session = memory.session("s")
    session(messages)
    print(os.getpid(), flush=True)
    session.close()
    os._exit(0)
"""


class Agents:
    """A server of agents, each of which hears one conversation and then consolidates it."""

    def __init__(self, messages: list[dict[str, Any]]) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._say(json.dumps(messages))

    def _say(self, line: str) -> None:
        assert self._server.stdin
        self._server.stdin.write(f"{line}\n")
        self._server.stdin.flush()

    def _heard(self) -> str:
        assert self._server.stdout
        return self._server.stdout.readline().strip()

    def killed(self, state: Path | str, seconds: float, tenant: str = "") -> bool:
        """Kill an agent so long after its consolidation began; say whether it was under way."""
        self._say(json.dumps([str(state), tenant]))
        process = int(self._heard())
        time.sleep(seconds)
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        return self._heard() == "killed"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        assert self._server.stdin
        self._server.stdin.close()
        with self._server:
            pass
