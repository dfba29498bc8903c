"""How fast contents are indexed: bars for real ones, linear time for hostile ones.

    pytest -o addopts="--import-mode=importlib" tests/bench/test_indexing_speed.py

Token counting is apart: counts are remembered, and a round that is not timed comes first.
"""

from __future__ import annotations

from time import perf_counter

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from hippocampus.models import tokens
from tests.bench.compression import corpus, hostile
from tests.bench.compression.measure import entry_text

MEGABYTE = 1_000_000
BUDGET_TOKENS = 400
BAR_SECONDS = 0.150
JSON_BAR_SECONDS = 0.600
SMALL, LARGE = 250_000, 1_000_000
LINEAR = 2.0
"""Content n times as long may take this many times n times as long."""
NOISE_SECONDS = 0.010


def best_seconds(benchmark: BenchmarkFixture, content: str) -> float:
    tokens.count(content)
    benchmark.extra_info["characters"] = len(content)
    benchmark.pedantic(entry_text, (content, BUDGET_TOKENS), rounds=3, warmup_rounds=1)
    return benchmark.stats.stats.min if benchmark.stats else 0.0


@pytest.mark.benchmark(group="1 MB of a kind")
@pytest.mark.parametrize("kind", corpus.BUILDERS)
def test_a_megabyte_of_any_kind_is_indexed_in_time(benchmark: BenchmarkFixture, kind: str) -> None:
    assert best_seconds(benchmark, hostile.scaled(kind, MEGABYTE)) < BAR_SECONDS


@pytest.mark.benchmark(group="5 MB")
def test_five_megabytes_of_json_are_indexed_in_time(benchmark: BenchmarkFixture) -> None:
    content = hostile.scaled("JSON response", 5 * MEGABYTE)
    assert best_seconds(benchmark, content) < JSON_BAR_SECONDS


@pytest.mark.benchmark(group="5 MB")
def test_a_line_of_five_megabytes_is_indexed(benchmark: BenchmarkFixture) -> None:
    best_seconds(benchmark, hostile.CASES["one line of words"](5 * MEGABYTE))


@pytest.mark.benchmark(group="5 MB")
def test_a_million_keys_are_indexed(benchmark: BenchmarkFixture) -> None:
    best_seconds(benchmark, hostile.many_keys(15 * MEGABYTE))


@pytest.mark.parametrize("case", hostile.CASES)
def test_hostile_content_takes_linear_time(case: str) -> None:
    small, large = (hostile.CASES[case](size) for size in (SMALL, LARGE))
    growth = len(large) / len(small)
    assert seconds(large) < NOISE_SECONDS + LINEAR * growth * seconds(small)


def seconds(content: str) -> float:
    entry_text(content, BUDGET_TOKENS)
    return min(timed(content) for _ in range(3))


def timed(content: str) -> float:
    start = perf_counter()
    entry_text(content, BUDGET_TOKENS)
    return perf_counter() - start
