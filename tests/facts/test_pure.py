"""Strength, MinHash, ranking, words and claims: what holds for every input."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.facts import languages
from hippocampus.facts.languages import CODES, NOTHING, language, language_of, pattern, template
from hippocampus.facts.models import POLICIES, FactPolicy
from hippocampus.facts.pasted import own_words
from hippocampus.facts.ranking import Matches, by_others, neighbours, relevance, window
from hippocampus.facts.sentences import sentence_spans, without_sentence
from hippocampus.facts.statements import read
from hippocampus.facts.store import Facts
from hippocampus.facts.topics import features, holds, jaccard
from hippocampus.facts.words import content_words, indexed, query_terms, words
from hippocampus.storage.facts.rows import Memory, RankedRow
from hippocampus.storage.facts.vectors import unit

DAY = 86_400.0
TEXTS = st.text(min_size=1, max_size=80)


@given(st.floats(0, 1), st.floats(0, 5000), st.floats(0, 5000), st.integers(0, 1000))
def test_strength_never_rises_with_age_and_accesses_slow_it(intensity, one, other, accesses):
    strength, (young, old) = FactPolicy().strength, sorted((one * DAY, other * DAY))
    left = strength("fact", intensity, accesses, old)
    assert left <= strength("fact", intensity, accesses, young) <= intensity
    assert left >= strength("fact", intensity, 0, old)


@given(st.floats(0, 1), st.floats(0, 400), st.integers(0, 50))
def test_strength_is_hippos_formula(intensity, days, accesses):
    left = POLICIES["hippo"].strength("fact", intensity, accesses, days * DAY)
    hippos = intensity * math.exp(-0.001 / (1 + 0.3 * math.log(1 + accesses)) * days * 24)
    assert left == pytest.approx(hippos)


@pytest.mark.parametrize(("accesses", "days"), [(0, 29), (5, 44), (20, 55), (100, 69)])
def test_hippos_table_of_half_lives(accesses, days):
    assert POLICIES["hippo"].strength("fact", 1, accesses, days * DAY) == pytest.approx(
        0.5, rel=0.02
    )


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
    times = {"created": 0.0, "accessed": 0.0, "valid_from": 0.0}
    memory = Memory(
        id="",
        kind="fact",
        type=type_name,
        content="text",
        intensity=intensity,
        agent="ann",
        **times,
    )
    assert policy.due_for_pruning(memory, days * DAY) == pruned


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_an_intensity_is_the_mean_of_all_encounters(numbers):
    with Facts(":memory:") as facts:
        kept = [facts.store("I like tea.", intensity=number).memory for number in numbers]
    assert kept[-1].intensity == pytest.approx(sum(numbers) / len(numbers))


@given(TEXTS)
def test_a_text_is_wholly_like_itself(text):
    assert jaccard(features(text), features(text)) == 1.0


def test_chinese_texts_of_other_words_are_not_alike():
    assert jaccard(features("今天天气很好"), features("项目预算已批准")) < 0.2


@given(TEXTS)
def test_words_and_terms_never_fail(text):
    found = words(text)
    assert all(found)
    indexed(text)
    query_terms(text)


@given(TEXTS)
def test_any_text_is_read_and_its_sentences_are_all_of_it(text):
    assert read(text).text == text
    assert "".join(text[start:end] for start, end in sentence_spans(text)) == text
    assert len(own_words(text)) <= len(text)
    assert without_sentence(text, "no such sentence stands there") == text


def test_every_field_of_a_language_is_described_and_used():
    folder = Path(languages.__file__).parent
    described = set(re.findall(r"^\w+", (folder / "README.txt").read_text(), re.MULTILINE))
    used = [
        re.findall(r"^\w+", (folder / f"{code}.txt").read_text(), re.MULTILINE) for code in CODES
    ]
    assert set(itertools.chain(*used)) == described


@pytest.mark.parametrize("code", CODES)
def test_every_language_has_small_words_and_rules_that_compile(code):
    found = language(code)
    assert found.stop_words
    if found.verbs:
        texts = [found.own, found.hypothetical, found.reported, found.temporary, found.addition, found.correction,
                 found.now, found.changed, found.ended, found.negation]  # fmt: skip
        assert all(rule != NOTHING and pattern(rule) for rule in texts)
        assert all("old" in template(each).groupindex for each in [*found.swaps, *found.moves])
        singles = [each.split(": ", 1)[1] for each in found.single]
        assert all({"object"} <= set(pattern(each).groupindex) for each in singles)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Vivo en Cádiz", "es"),
        ("j'anime l'atelier", "fr"),
        ("Ich wohne in Bonn", "de"),
        ("I live in Rome", "en"),
        ("Живу в Риме", "ru"),
        ("我住在北京", "zh"),
        ("أعيش في عمان", "ar"),
        ("मैं दिल्ली में रहता हूँ", "hi"),
        ("東京に住んでいます", "ja"),
        ("서울에 산다", "ko"),
        ("Abito a Lecce da anni", "it"),
        ("Moro em Belém há anos", "pt"),
    ],
)
def test_a_language_is_known_by_its_script_and_small_words(text, code):
    assert language_of(text, words(text)).code == code


def turn(row, number, text="", *, asks=0, characters=40, role=""):  # noqa: PLR0913 - as many as a row has
    return RankedRow(
        row, "event", 0.5, 0, 0.0, 0.0, "s", number, asks, asks, characters, role, text
    )


def found(rows, held, weights, cosines=None):
    return Matches({one.row: one for one in rows}, held, weights, cosines or {}, {})


@given(
    st.lists(st.sets(st.integers(0, 3)), min_size=1, max_size=8),
    st.lists(st.floats(0.1, 9), min_size=4, max_size=4),
)
def test_a_turn_covers_at_least_what_it_holds_itself(held, weights):
    rows = [turn(row, row) for row in range(len(held))]
    covered = window(found(rows, dict(enumerate(held)), weights), neighbours(rows))
    for row, numbers in enumerate(held):
        own = sum(weights[number] for number in numbers) / sum(weights)
        assert covered.get(row, (0.0, 0.0))[0] >= own - 1e-9


def test_turns_next_to_a_hit_share_in_it_and_the_answer_to_a_question_most():
    rows = [turn(0, 0, asks=1), turn(1, 1), turn(2, 2), turn(9, 9)]
    covered = window(found(rows, {0: {0}}, [1.0]), neighbours(rows))
    assert covered[0][0] >= covered[1][0] > covered[2][0] > 0
    assert 9 not in covered
    near = relevance(found(rows[1:], {}, [], {1: 0.3, 2: 0.5, 9: 0.5}), [])
    assert near[2] > near[9] > near[1]


def test_words_count_less_in_a_long_text_and_a_short_one_leans_on_its_neighbours_more():
    rows = [turn(0, 0), turn(5, 5, characters=4000), turn(9, 9), turn(10, 10, characters=4000)]
    rows += [turn(20, 20), turn(21, 21)]
    covered = window(found(rows, {0: {0}, 5: {0}, 9: {0}, 20: {0}}, [1.0]), neighbours(rows))
    assert covered[0][0] > covered[5][0]
    assert covered[0][1] == covered[5][1] == 1.0
    assert covered[21][0] > covered[10][0]


def test_only_the_answer_to_a_question_holds_the_words_of_a_turn_next_to_it():
    rows = [turn(0, 0, asks=1), turn(1, 1), turn(9, 9), turn(10, 10)]
    covered = window(found(rows, {0: {0}, 9: {0}}, [1.0]), neighbours(rows))
    assert (covered[1][1], covered[10][1]) == (1.0, 0.0)


@given(st.text(alphabet="abcdefg ", min_size=3, max_size=20).filter(str.strip))
def test_a_text_holds_its_own_words(text):
    assert holds(text, frozenset(words(text)))


def test_vectors_of_zeros_stay():
    assert not unit(np.zeros((1, 4))).any()


def test_a_possessive_asks_for_its_owner_and_light_verbs_for_nothing():
    assert content_words("What is Ann's status?") == ["ann", "status"]
    assert list(query_terms("When did Ann go hiking?")) == ["ann", "go", "hiking"]
    assert content_words("going, going, gone") == ["going", "gone"]


def said(*names):
    return [turn(row, row, name) for row, name in enumerate(names)]


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
    assert by_others(turns, asked) == others


def test_an_assistant_without_a_name_is_another_than_the_user():
    turns = [turn(0, 0, role="user"), turn(1, 1, role="assistant"), turn(2, 2)]
    assert by_others(turns, ["car"]) == {1}


def test_a_query_finds_the_irregular_forms_of_a_word():
    assert query_terms("children")["children"] == '"children" OR "child" OR "kid"'


def test_a_word_of_korean_is_asked_for_without_its_particle():
    assert list(query_terms("raddit은 폴더는 어디에 차가")) == ["raddit", "폴더", "어디", "차가"]
    assert list(query_terms("東京は")) == ["東京"]
