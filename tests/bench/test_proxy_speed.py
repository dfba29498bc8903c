"""How much later a request arrives through the proxy, with a long list and one new result.

pytest -o addopts="--import-mode=importlib" -s tests/bench/test_proxy_speed.py
"""

from __future__ import annotations

import json
import random
import statistics
from pathlib import Path
from time import perf_counter

import httpx
import pytest
from bench.test_turn_speed import MESSAGES, NEW_TOKENS, TOKENS, conversation, step
from proxy.upstream import Upstream, provider, served

from hippocampus.proxy.app import proxy_app

ADDED_SECONDS = 0.015
ROUNDS = 41


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_the_proxy_adds_little_to_a_request_of_400_000_tokens(tmp_path: Path, stream: bool) -> None:
    items = conversation(MESSAGES, TOKENS)
    chance = random.Random(1)
    tools = [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}]
    base = {"model": "claude-sonnet-5-5", "tools": tools, "stream": stream}
    direct, through = [], []
    with provider(Upstream(lambda _: "Next.")) as upstream:
        app = proxy_app(upstream.url, tmp_path, "default", 60.0)
        with served(app) as url, httpx.Client(timeout=120) as client:

            def seconds(address: str) -> float:
                content = json.dumps({**base, "messages": items}).encode()
                upstream.sent.clear()
                start = perf_counter()
                client.post(f"{address}/v1/chat/completions", content=content).raise_for_status()
                return perf_counter() - start

            for end in range(2, len(items) + 1, 40):
                grown, items = items, items[:end]
                seconds(url)
                items = grown
            for _ in range(ROUNDS):
                items += step(chance, len(items), NEW_TOKENS)
                direct.append(seconds(upstream.url))
                through.append(seconds(url))
            assert "recall" in str(upstream.sent[0].body["tools"])
    added = statistics.median(a - b for a, b in zip(through, direct, strict=True))
    print(
        f"direct {1000 * statistics.median(direct):.1f} ms, through the proxy "
        f"{1000 * statistics.median(through):.1f} ms, added {1000 * added:.1f} ms"
    )
    assert added < ADDED_SECONDS
