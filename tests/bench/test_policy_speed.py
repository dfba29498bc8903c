"""How long the rules of the default policy take over many short texts.

pytest -o addopts="--import-mode=importlib" tests/bench/test_policy_speed.py
"""

from __future__ import annotations

from pytest_benchmark.fixture import BenchmarkFixture

from hippocampus.policy import Subject, load

TEXTS = 5_000


def test_ten_thousand_short_texts_are_treated(benchmark: BenchmarkFixture) -> None:
    policy = load("default")
    subjects = [
        Subject("tool_result", tool="read_file", text=f"some text {n}", kind="code")
        for n in range(TEXTS)
    ]
    subjects += [
        Subject("message", source_type="user", text=f"please look at number {n}")
        for n in range(TEXTS)
    ]
    benchmark(lambda: [policy.resolve(subject) for subject in subjects])
