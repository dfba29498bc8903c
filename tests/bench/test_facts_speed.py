"""Speed of the fact store: `pytest tests/bench/test_facts_speed.py` (ROWS=1000000 for a million)."""

from __future__ import annotations

import itertools
import os
import random

import factual
import numpy as np
import pytest

from hippocampus.facts.store import Facts
from hippocampus.storage.facts.rows import Item, Origin

ROWS = int(os.environ.get("ROWS", "10000"))
DIMENSIONS = 256
CHANCE = random.Random(1)
WORDS = [
    "".join(CHANCE.choices("abcdefghijklmnopqrstuvwxyz", k=CHANCE.randint(4, 9)))
    for _ in range(20_000)
]
SHARES = list(itertools.accumulate(1 / (place + 10) for place in range(len(WORDS))))


class Noise:
    """Vectors at random."""

    model = "noise"

    def __init__(self):
        self.chance = np.random.default_rng(1)

    def __call__(self, texts):
        return self.chance.standard_normal((len(texts), DIMENSIONS)).astype(np.float32)


def sentence(count):
    return " ".join(CHANCE.choices(WORDS, cum_weights=SHARES, k=count))


def items(count):
    for number in range(count):
        yield Item(
            f"{sentence(14)} {number}", type="fact", origin=Origin(str(number // 50), number % 50)
        )


@pytest.fixture(scope="module", params=[False, True], ids=["text", "vectors"])
def filled(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("speed") / "facts.db"
    embed = Noise() if request.param else None
    with Facts(path, embed=embed) as facts:
        factual.store_many(facts, items(ROWS))
    with Facts(path, embed=embed) as facts:
        facts.recall(sentence(3))
        yield facts


def test_recall(benchmark, filled):
    benchmark.pedantic(lambda: filled.recall(f"what is the {sentence(5)}"), rounds=60)


def test_opening(benchmark, filled):
    benchmark.pedantic(lambda: Facts(filled.tables.database.path).close(), rounds=20)


@pytest.mark.parametrize("way", ["store_many", "remember_many"])
def test_writing_two_thousand(benchmark, tmp_path, way):
    listed = list(items(2000))
    numbers = itertools.count()

    def write():
        with Facts(tmp_path / f"{next(numbers)}.db") as facts:
            getattr(factual, way)(facts, listed)

    benchmark.pedantic(write, rounds=3)
