"""Remembering a second claim never merges wrongly, leaves nothing stale, and loses no old value."""

from __future__ import annotations

import pytest
from facts.pairs import pairs

from hippocampus.facts import Facts

FIRST, SECOND = 1_000_000.0, 2_000_000.0
PAIRS = pairs()


class Steps:
    """A clock that is set."""

    def __init__(self):
        self.at = FIRST

    def __call__(self):
        return self.at


def remembered(path, first, second):
    clock = Steps()
    facts = Facts(path, clock=clock)
    facts.remember(first)
    clock.at = SECOND
    outcomes = facts.remember(second)
    clock.at = SECOND + 60
    return facts, outcomes


def contents(results):
    return {result.memory.content for result in results}


def plain(text):
    return text.rstrip(".。!")


def test_the_suite_is_wide_enough():
    scripts = {
        "latin": "a",
        "cyrillic": "а",
        "han": "在",
        "kana": "は",
        "hangul": "는",
        "arabic": "ي",
    }
    text = "".join(first for _, _, first, _ in PAIRS)
    assert len(PAIRS) >= 150
    assert all(sign in text for sign in scripts.values())


@pytest.mark.parametrize(("expected", "change", "first", "second"), PAIRS)
def test_second_claim(tmp_path, expected, change, first, second):
    facts, outcomes = remembered(tmp_path / "facts.db", first, second)
    current = contents(facts.recall("", limit=-1))
    if expected == ">":
        assert first not in current, outcomes
        assert second in current
    elif expected == "|":
        assert {first, second} <= current, outcomes
    else:
        assert len(current) == 1, outcomes
    assert facts.check() == []
    facts.close()


@pytest.mark.parametrize(("expected", "change", "first", "second"), PAIRS)
def test_old_claim_is_found_as_of_its_time(tmp_path, expected, change, first, second):
    facts, _ = remembered(tmp_path / "facts.db", first, second)
    between = (FIRST + SECOND) / 2
    known_then = contents(facts.recall(first, limit=-1, as_of=between, known_as_of=between))
    true_then = contents(facts.recall(first, limit=-1, as_of=between))
    assert first in known_then
    assert second not in known_then or expected == "="
    assert first in true_then or expected == "="
    facts.close()


@pytest.mark.parametrize(
    ("expected", "change", "first", "second"), [pair for pair in PAIRS if pair[0] == ">"]
)
def test_a_query_for_the_old_returns_no_stale_value(tmp_path, expected, change, first, second):
    facts, _ = remembered(tmp_path / "facts.db", first, second)
    assert first not in contents(facts.recall(first, limit=-1))
    assert second in contents(facts.recall(second, limit=-1))
    facts.close()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Vivo en Madrid.", "Vivo en Sevilla."),
        ("Vivo en Madrid.", "Me mudé a Sevilla."),
        ("Trabajo en Acme.", "Trabajo para Bosch."),
        ("Abito a Roma.", "Vivo a Milano."),
        ("Vivo a Roma.", "Mi sono trasferita a Milano."),
        ("Lavoro per Acme.", "Lavoro presso Bosch."),
        ("Moro em Lisboa.", "Moro no Porto."),
        ("Eu vivo em Lisboa.", "Mudei-me para o Porto."),
        ("Trabalho na Acme.", "Trabalho na Bosch."),
        ("Я живу в Москве.", "Живу в Казани."),
        ("Я работаю в Яндексе.", "Я работаю в Озоне."),
    ],
)
def test_what_users_say_of_home_and_work_is_one_value_at_a_time(first, second):
    with Facts(":memory:") as facts:
        facts.remember(first)
        facts.remember(second)
        assert [each.content for each in facts.memories()] == [second]


@pytest.mark.parametrize(
    "sentence",
    [
        "Vivo en paz.",
        "Vivo en una casa grande.",
        "Vivo in campagna.",
        "Moro em uma casa pequena.",
        "Я живу в надежде.",
        "Deploys are on Mondays.",
        "We deploy to staging on Mondays.",
        "I am on holiday.",
    ],
)
def test_what_names_no_entity_is_no_triple_and_is_shown_as_it_was_said(sentence):
    with Facts(":memory:") as facts:
        (outcome,) = facts.remember(sentence)
        assert outcome.triples == ()
        assert f"fact] {sentence}" in facts.retrieve(sentence)


@pytest.mark.parametrize(
    ("sentence", "line"),
    [
        ("We use Postgres 16 for billing.", "- user → uses_for_billing → Postgres 16 ("),
        ("We chose Kafka for events.", "- user → uses_for_events → Kafka ("),
        ("We use Postgres as the database.", "- user → database → Postgres ("),
    ],
)
def test_what_is_used_for_something_says_so(sentence, line):
    with Facts(":memory:") as facts:
        facts.remember(sentence)
        assert line in facts.retrieve(sentence)
