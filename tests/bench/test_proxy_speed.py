"""How much later a request arrives through the proxy, with a long list and one new result.

    pytest -o addopts="--import-mode=importlib" -s tests/bench/test_proxy_speed.py

The proxy is a process of its own. Beside the time that passes, its processor time is printed, which
does not depend on what else the machine does.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import httpx2
import pytest
from bench.test_turn_speed import MESSAGES, NEW_TOKENS, TOKENS, conversation, step
from integrations.proxy.upstream import Upstream, provider

ADDED_SECONDS = 0.015
ROUNDS = 41
TICKS = os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def proxy_process(upstream: str, state: Path) -> Iterator[tuple[str, int]]:
    """Run `hippocampus proxy`; yield its address and its process id."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "hippocampus", "proxy", "--upstream", upstream]
    command += ["--port", str(port), "--state-dir", str(state)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as running:
        url = f"http://127.0.0.1:{port}"
        while True:
            with contextlib.suppress(httpx2.TransportError):
                httpx2.get(f"{url}/health")
                break
            time.sleep(0.1)
        yield url, running.pid
        running.terminate()


def processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_the_proxy_adds_little_to_a_request_of_400_000_tokens(tmp_path: Path, stream: bool) -> None:
    items = conversation(MESSAGES, TOKENS)
    chance = random.Random(1)
    tools = [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}]
    base = {"model": "claude-sonnet-5-5", "tools": tools, "stream": stream}
    direct, through = [], []
    with (
        provider(Upstream(lambda _: "Next.")) as upstream,
        proxy_process(upstream.url, tmp_path) as (url, process),
        httpx2.Client(timeout=120) as client,
    ):

        def seconds(address: str, end: int) -> float:
            content = json.dumps({**base, "messages": items[:end]}).encode()
            upstream.sent.clear()
            start = perf_counter()
            client.post(f"{address}/v1/chat/completions", content=content).raise_for_status()
            return perf_counter() - start

        for end in range(2, len(items) + 1, 2):
            seconds(url, end)
        before = processor_seconds(process)
        for _ in range(ROUNDS):
            items += step(chance, len(items), NEW_TOKENS)
            direct.append(seconds(upstream.url, len(items)))
            through.append(seconds(url, len(items)))
        processor = (processor_seconds(process) - before) / ROUNDS
        assert "recall" in str(upstream.sent[0].body["tools"])
    pairs = [later - sooner for later, sooner in zip(through, direct, strict=True)]
    print(
        f"direct {1000 * statistics.median(direct):.1f} ms, through the proxy "
        f"{1000 * statistics.median(through):.1f} ms; added: median "
        f"{1000 * statistics.median(pairs):.1f} ms, least {1000 * min(pairs):.1f} ms; "
        f"processor {1000 * processor:.1f} ms a request"
    )
    assert statistics.median(pairs) < ADDED_SECONDS
