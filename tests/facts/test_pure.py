"""Strength, MinHash, ranking, words and claims: what holds for every input."""

from __future__ import annotations

import doctest
import importlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.facts import minhash, search, values
from hippocampus.facts.claims import parse
from hippocampus.facts.conflict import Closeness, Relationship, compare, differences
from hippocampus.facts.models import HIPPO_HALF_LIFE_DAYS, POLICIES, PRESETS, FactPolicy
from hippocampus.facts.strength import (
    due_for_pruning,
    fading,
    resistance,
    running_mean,
    strength,
    strength_at,
)
from hippocampus.facts.vectors import bit_distances, unit
from hippocampus.facts.words import content_words, indexed, match_terms, words

DAY = 86_400.0
TEXTS = st.text(min_size=1, max_size=80)


@pytest.mark.parametrize(
    "name",
    [
        "claims",
        "conflict",
        "extraction",
        "minhash",
        "timestamps",
        "predicates",
        "rendering",
        "search",
        "strength",
        "values",
        "words",
    ],
)
def test_examples_in_docstrings_run(name):
    assert doctest.testmod(importlib.import_module(f"hippocampus.facts.{name}")).failed == 0


@given(st.floats(0, 1), st.floats(0, 5000), st.floats(0, 5000), st.integers(0, 1000))
def test_strength_never_rises_with_age_and_accesses_slow_it(intensity, one, other, accesses):
    young, old = sorted((one, other))
    slow = resistance(accesses)
    assert strength(intensity, old, 30, slow) <= strength(intensity, young, 30, slow) <= intensity
    assert strength(intensity, old, 30, slow) >= strength(intensity, old, 30, resistance(0))


@given(st.floats(0, 1), st.floats(0, 400), st.integers(0, 50))
def test_the_fast_strength_is_the_formula(intensity, days, accesses):
    policy = POLICIES["hippo"]
    fast = fading(policy, days * DAY)("fact", intensity, accesses, 0.0)
    slow = strength_at(policy, "fact", intensity, accesses, 0.0, days * DAY)
    hippos = intensity * math.exp(-0.001 / resistance(accesses) * days * 24)
    assert fast == pytest.approx(slow)
    assert slow == pytest.approx(hippos)


@pytest.mark.parametrize(("accesses", "days"), [(0, 29), (5, 44), (20, 55), (100, 69)])
def test_hippos_table_of_half_lives(accesses, days):
    assert round(HIPPO_HALF_LIFE_DAYS * resistance(accesses)) == days


@pytest.mark.parametrize(
    ("type_name", "intensity", "days", "pruned"),
    [
        ("preference", 0.9, 60, None),
        ("fact", 0.9, 90, None),
        ("fact", 0.9, 270, "old"),
        ("note", 0.7, 21, "faded"),
        ("event", 0.5, 30, None),
        ("preference", 1.0, 181, "old"),
    ],
)
def test_pruning_follows_the_rules(type_name, intensity, days, pruned):
    policy = FactPolicy(resistance=0.0)
    assert due_for_pruning(policy, type_name, intensity, 0, 0.0, days * DAY) == pruned


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_the_running_mean_is_the_mean(numbers):
    mean = numbers[0]
    for count, value in enumerate(numbers[1:], 1):
        mean = running_mean(mean, count, value)
    assert mean == pytest.approx(sum(numbers) / len(numbers))


@given(TEXTS)
def test_a_text_is_wholly_like_itself(text):
    assert minhash.similarity(text, text) == 1.0
    sign = minhash.signatures([text])[0]
    assert (minhash.unpacked(minhash.packed(sign)) == sign).all()
    assert len(minhash.packed(sign)) == 256


@given(st.lists(TEXTS, max_size=8))
def test_signatures_do_not_depend_on_their_batch(texts):
    together = minhash.signatures(texts)
    alone = [minhash.signatures([text])[0] for text in texts]
    assert all((one == other).all() for one, other in zip(together, alone, strict=True))


def test_minhash_estimates_jaccard_and_tells_chinese_texts_apart():
    assert minhash.similarity("今天天气很好", "项目预算已批准") < 0.2
    one, other = "the cat sat on the mat today", "the cat sat on the rug today"
    sets = [set(minhash.features(text)) for text in (one, other)]
    exact = len(sets[0] & sets[1]) / len(sets[0] | sets[1])
    assert minhash.similarity(one, other) == pytest.approx(exact, abs=0.2)


@given(TEXTS)
def test_words_and_terms_never_fail(text):
    found = words(text)
    assert all(found)
    assert bool(match_terms(text)) == bool(found)
    indexed(text)


@given(TEXTS, TEXTS)
def test_differences_are_symmetric_and_none_to_itself(one, other):
    assert differences(one, one) == []
    assert differences(one, other) == differences(other, one)


@given(TEXTS)
def test_any_text_is_parsed(text):
    claim = parse(text)
    assert claim.text == text
    if claim.relation:
        assert claim.relation.subject
        assert claim.relation.object


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.floats(0, 1), st.floats(0, 1))
def test_no_band_merges_texts_with_other_numbers(one, other, alike, cosine):
    first, second = (parse(f"The trip took {n} hours in the rain last year") for n in (one, other))
    said = compare(second, first, Closeness(alike, cosine), FactPolicy()).relationship
    merged = said in {Relationship.DUPLICATE, Relationship.EXTENDS}
    assert merged <= (one == other)


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        ("paid 100", "paid 500", "number"),
        ("paid 1,000 in all", "paid 1000 in all", None),
        ("in May", "in June", "date"),
        ("met Ann", "met Bob", "name"),
        ("it works", "it never works", "negation"),
        ("5 kg", "5 lb", "unit"),
        ("二十元", "三十元", "number"),
        ("周一开会", "周五开会", "date"),
        ("он любит", "он не любит", "negation"),
    ],
)
def test_the_guard_sees(one, other, what):
    assert (what in differences(one, other)) if what else differences(one, other) == []


def test_numbers_are_read_in_one_notation():
    assert values.numbers("1.000 and 2,5") == values.numbers("1,000 and 2.5")


CANDIDATES = st.lists(
    st.tuples(st.integers(1, 50), st.floats(0, 20), st.floats(-1, 1)), unique_by=lambda c: c[0]
)


@given(CANDIDATES, st.sampled_from(sorted(PRESETS)))
def test_ranking_is_sorted_bounded_and_repeatable(found, preset):
    def once():
        channels = search.Channels(
            keyword={row: score for row, score, _ in found},
            vector={row: cosine for row, _, cosine in found},
        )
        search.calibrate(channels, PRESETS[preset], {})
        rows = [search.Candidate(row, "fact", 0.5, 0, 0.0, 0.0, "", None, 0) for row, *_ in found]
        return search.ranked(rows, channels, PRESETS[preset], FactPolicy(), 0.0)

    ranked = once()
    totals = [score.total for _, score in ranked]
    assert totals == sorted(totals, reverse=True)
    assert ranked == once()
    for _, score in ranked:
        assert all(-1e-6 <= part <= 1 + 1e-6 for part in (score.keyword, score.vector))


@given(
    CANDIDATES,
    st.lists(st.floats(0, 1), min_size=50, max_size=50),
    st.integers(1, 12),
    st.sampled_from(sorted(PRESETS)),
)
def test_the_first_few_are_the_first_of_all(found, intensities, most, preset):
    channels = search.Channels(keyword={row: score for row, score, _ in found})
    rows = [
        search.Candidate(row, "fact", intensities[row - 1], row, row * 1e5, row * 1e5, "", None, 0)
        for row, *_ in found
    ]
    everything = search.ranked(rows, channels, PRESETS[preset], FactPolicy(), 6e6)
    few = search.ranked(rows, channels, PRESETS[preset], FactPolicy(), 6e6, most)
    assert few == everything[:most]


@given(st.lists(st.integers(0, 50)), st.integers(0, 100))
def test_a_budget_is_never_passed(sizes, budget):
    assert sum(sizes[place] for place in search.within_budget(sizes, budget)) <= budget


def test_bit_distances_count_bits():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2**63, size=(50, 4), dtype=np.uint64)
    slow = [
        sum((int(a) ^ int(b)).bit_count() for a, b in zip(row, codes[7], strict=True))
        for row in codes
    ]
    assert bit_distances(codes, codes[7]).tolist() == slow


def test_vectors_of_zeros_stay():
    assert not unit(np.zeros((1, 4))).any()


def test_a_possessive_asks_for_its_owner_and_light_verbs_for_nothing():
    assert content_words("What is Ann's status?") == ["ann", "status"]
    assert match_terms("When did Ann go hiking?") == ['"ann"', '"go"', '"hiking"']
    assert content_words("going, going, gone") == ["going", "gone"]


def test_what_is_close_to_everything_is_close_to_the_query_for_less():
    cosines = {1: 0.60, 2: 0.58}
    assert search.calibrated_cosines(cosines, {})[1] > search.calibrated_cosines(cosines, {})[2]
    crowded = search.calibrated_cosines(cosines, {1: 0.9, 2: 0.1})
    assert crowded[2] > crowded[1]


def said(*names):
    return [
        search.Candidate(row, "event", 0.5, 0, 0.0, 0.0, "s", row, 0, name)
        for row, name in enumerate(names)
    ]


@pytest.mark.parametrize(
    ("asked", "others"),
    [
        (["ann", "car"], {1, 3, 6, 7}),
        (["ann", "ben"], {6, 7}),
        (["car"], set()),
        (["rome"], set()),
        (["lee"], {0, 1, 2, 3}),
    ],
)
def test_others_are_who_speaks_unnamed_where_somebody_is_named(asked, others):
    turns = said("Ann", "Ben", "Ann", "Ben", "", "Rome", "Mary Lee", "Mary Lee")
    assert search.by_others(turns, asked) == others


@given(CANDIDATES.filter(bool))
def test_hippos_preset_weighs_the_cosine_itself(found):
    channels = search.Channels(
        keyword={row: score for row, score, _ in found},
        vector={row: cosine for row, _, cosine in found},
    )
    search.calibrate(channels, PRESETS["hippo"], {})
    rows = [search.Candidate(row, "fact", 0.5, 0, 0.0, 0.0, "", None, 0) for row, *_ in found]
    cosines = {row: cosine for row, _, cosine in found}
    for row, score in search.ranked(rows, channels, PRESETS["hippo"], FactPolicy(), 0.0):
        wanted = 0.6 * max(0.0, cosines[row]) + 0.3 * 0.5 + 0.1
        assert score.total == pytest.approx(wanted)
