"""Exact vectors, against the slow obvious search."""

from __future__ import annotations

import factual
import numpy as np
import pytest

from hippocampus.facts.query import MAX_NEAREST, find
from hippocampus.storage.facts import memories
from hippocampus.storage.facts.search import RecallQuery
from hippocampus.storage.facts.vectors import unit

ROWS = 3000


class Placed:
    """An embedding whose texts are numbers of rows of one matrix."""

    model = "placed"

    def __init__(self, dimensions):
        rng = np.random.default_rng(3)
        centres = rng.standard_normal((60, dimensions))
        self.matrix = unit(
            centres[rng.integers(0, 60, ROWS)] + 0.6 * rng.standard_normal((ROWS, dimensions))
        )

    def __call__(self, texts):
        return self.matrix[[int(text.split()[-1]) for text in texts]]


@pytest.mark.parametrize("dimensions", [48, pytest.param(256, marks=pytest.mark.slow)])
def test_the_nearest_of_brute_force_are_found(opened, dimensions):
    embed = Placed(dimensions)
    facts = opened(embed=embed)
    factual.store_many(facts, (f"row {n}" for n in range(ROWS)))
    for query in range(0, ROWS, 300):
        found = facts.tables.vectors.nearest(embed.matrix[query], 100)
        best = sorted(found, key=found.__getitem__, reverse=True)[:10]
        exact = np.argsort(-(embed.matrix @ embed.matrix[query]))[:10] + 1
        assert best == exact.tolist()
        assert found[best[0]] == pytest.approx(1.0, abs=1e-5)


def test_what_all_vectors_have_in_common_is_taken_out_of_a_cosine(opened):
    embed = Placed(64)
    embed.matrix = embed.matrix[:600]
    facts = opened(embed=embed)
    factual.store_many(facts, (f"row {n}" for n in range(600)))
    query, mean = embed.matrix[7], 0.5 * embed.matrix.mean(axis=0)
    found = facts.tables.vectors.cosines(query, [1, 300, 600, 601], without_mean=0.5)
    slow = embed.matrix[[0, 299, 599]] @ (query - mean) + mean @ mean
    assert found == pytest.approx(dict(zip([1, 300, 600], slow, strict=True)), abs=1e-5)


def test_a_filter_that_leaves_few_of_the_nearest_searches_among_the_rows_that_pass(opened):
    embed = Placed(64)
    facts = opened(embed=embed)
    factual.store_many(facts, (f"item{n} {n}" for n in range(300)))
    ranked = np.argsort(-(embed.matrix[:300] @ embed.matrix[7])).tolist()
    passing = ranked[MAX_NEAREST + 20 : 3 * MAX_NEAREST + 20]  # none of the nearest
    kept = {facts.store(f"item{n} {n}", scope="far").memory.id: n for n in passing}
    now = facts.tables.clock()
    asked = RecallQuery(facts.agent, now, now, now, ["far"])
    found = find(facts.tables, "row 7", asked, seconds=9).cosines
    there = memories.by_row(facts.tables.database, found).values()
    assert {kept[memory.id] for memory in there} == {*passing[:MAX_NEAREST]}


def test_a_new_vector_is_found_without_a_copy_of_the_others(opened):
    embed = Placed(64)
    vectors = (facts := opened(embed=embed)).tables.vectors
    copies = 0
    for number in range(40):
        before = vectors._matrix
        factual.store_many(facts, [f"row {number}"])
        assert next(iter(vectors.nearest(embed.matrix[number], 9))) == number + 1
        copies += not np.shares_memory(before, vectors._matrix)
    assert copies < 20
    assert len(vectors.nearest(embed.matrix[0], 99)) == 40


def test_another_handle_sees_new_and_deleted_vectors(opened):
    embed = Placed(64)
    one, other = opened(embed=embed), opened(embed=embed)
    kept = one.store("row 5").memory
    assert other.recall("row 5")[0].score.vector > 0
    one.store("row 6")
    one.delete([kept.id])
    assert set(other.tables.vectors.nearest(embed.matrix[5], 9)) == {2}
