"""What statements do to those before them: sequences as people write them, without a model.

Each sequence is written for this file; `+` has to stand as current at the end, `-` may not.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.facts import Facts, Origin

CORRECTED = """
en | The dentist is on Monday at ten. > No, not Monday: Thursday at ten. | +Thursday | -on Monday
en | The invoice is 40 euros. > Correction: the invoice is 45 euros, not 40. | +45 | -is 40 euros.
en | My cousin flies on Friday. > I said Friday but it is Saturday. | +Saturday | -flies on Friday
en | We meet in room 12. > Sorry, I meant room 14, not 12. | +14 | -in room 12
de | Der Zahnarzt ist am Montag. > Nein, nicht Montag, sondern Donnerstag. | +Donnerstag | -am Montag.
de | Die Rechnung ist 40 Euro. > Korrektur: 45 Euro, nicht 40. | +45 | -ist 40
es | La cita es el lunes. > No, no el lunes: el jueves. | +jueves | -cita es el lunes
fr | Le rendez-vous est lundi. > Non, pas lundi : jeudi. | +jeudi | -est lundi
ru | Встреча в понедельник. > Нет, не в понедельник, а в четверг. | +четверг | -Встреча в понедельник
zh | 会议在周一。 > 不对，不是周一，是周四。 | +周四 | -会议在周一
"""
MOVED = """
en | I live in Hull. > We moved from Hull to Derby in May. | +Derby | -I live in Hull
en | I live in Hull. > I live in Derby now. | +Derby | -in Hull
en | My phone number is 555 12 > My phone number is 555 98 | +98 | -555 12
en | We use Jenkins for the web build. > We switched from Jenkins to Buildkite for the web build. | +Buildkite | -use Jenkins for
en | I work as a cook in a school. > I am no longer a cook, I drive a bus. | +bus | -as a cook
de | Ich wohne in Bonn. > Ich wohne jetzt in Mainz. | +Mainz | -in Bonn
de | Ich wohne in Bonn. > Wir sind von Bonn nach Mainz gezogen. | +Mainz | -Ich wohne in Bonn
es | Vivo en Murcia. > Nos mudamos de Murcia a Lugo. | +Lugo | -Vivo en Murcia
fr | J'habite à Nantes. > J'ai déménagé de Nantes à Brest. | +Brest | -habite à Nantes
ru | Я живу в Перми. > Мы переехали из Перми в Омск. | +Омск | -живу в Перми
zh | 我住在成都。 > 我从成都搬到了杭州。 | +杭州 | -我住在成都
ar | أعيش في حلب. > انتقلنا من حلب إلى صيدا. | +صيدا | -أعيش في حلب
hi | मैं पुणे में रहता हूँ। > अब मैं पुणे में नहीं रहता। | +नहीं रहता | -पुणे में रहता हूँ
"""
BOTH_TRUE = """
en | I am allergic to nuts. > I am allergic to milk.
en | I speak Danish. > I also speak Dutch now.
en | My sister lives in Hull. > My brother lives in Derby.
en | I live in Hull. > If I moved from Hull to Derby, what would I need?
en | I live in Hull. > We plan to move from Hull to Derby.
en | I live in Hull. > My boss says I live in Derby.
en | I live in Hull. > This week I am in Derby.
en | The docs build uses Jenkins. > We switched from Jenkins to Buildkite for the web build.
en | I weigh 80 kg. > I weigh 176 pounds.
en | I drink coffee in the morning. > I don't drink coffee after lunch.
en | Anna uses Vim. > I switched from Vim to Emacs.
de | Ich bin gegen Nüsse allergisch. > Ich bin gegen Milch allergisch.
de | Ich wohne in Bonn. > Diese Woche bin ich in Mainz.
es | Vivo en Murcia. > Mi hermana vive en Lugo.
fr | J'habite à Nantes. > Si j'habitais à Brest, ce serait plus simple.
ru | Я живу в Перми. > Моя сестра живёт в Омске.
zh | 我住在成都。 > 我姐姐住在杭州。
ar | أعيش في حلب. > أختي تعيش في صيدا.
hi | मैं पुणे में रहता हूँ। > मेरी बहन नागपुर में रहती है।
"""


def rows(table):
    return [line.split(" | ") for line in table.strip().splitlines()]


def told(*statements, roles=()):
    facts = Facts(":memory:")
    for day, text in enumerate(statements, 1):
        role = roles[day - 1] if roles else "user"
        facts.remember(text, origin=Origin("s", None, "", role), at=f"2026-03-{day:02}")
    return facts


def current(facts):
    return [memory.content for memory in facts.memories()]


@pytest.mark.parametrize("row", rows(CORRECTED) + rows(MOVED), ids=" | ".join)
def test_what_a_statement_replaces_by_its_own_words_is_current_no_more(row):
    _, statements, kept, gone = row
    facts = told(*statements.split(" > "))
    standing = "\n".join(current(facts))
    assert kept[1:] in standing
    assert gone[1:] not in standing
    (ended,) = [memory for memory in facts.memories(superseded=True) if memory.superseded_by]
    assert ended.valid_until is not None
    assert facts.check() == []


@pytest.mark.parametrize("row", rows(BOTH_TRUE), ids=" | ".join)
def test_what_is_both_true_stands(row):
    first, _ = row[1].split(" > ")
    assert first in current(told(*row[1].split(" > ")))


def test_a_replaced_value_is_printed_as_current_nowhere():
    facts = told("I live in Hull.", "I live in Derby now.")
    for text in (facts.retrieve("Where do I live?"), facts.context_load()):
        assert "Derby" in text
        assert "Hull" not in text
    assert [found.memory.content for found in facts.recall("where do I live")] == [
        "I live in Derby now."
    ]
    assert [triple.object for triple in facts.triples()] == ["Derby"]
    (old,) = facts.recall("live", as_of="2026-03-01T12:00:00Z")
    assert (old.memory.content, facts.history(facts.memories()[0].id)[-1].content) == (
        "I live in Hull.",
    ) * 2


def test_a_note_that_says_more_goes_on_without_what_has_ended():
    facts = Facts(":memory:")
    facts.store("I live in Hull. The cat is called Tom.", origin=Origin("s", 1, "", "user"))
    facts.remember("I live in Hull.")
    facts.remember("We moved from Hull to Derby.")
    assert set(current(facts)) == {"We moved from Hull to Derby.", "The cat is called Tom."}


def test_a_chain_leaves_its_last_link():
    facts = told("I live in Hull.", "I live in Derby now.", "I live in Hull again.")
    assert current(facts) == ["I live in Hull again."]


def test_a_correction_is_found_by_the_words_of_what_it_corrects():
    facts = told("The dentist is on Monday at ten.", "No, not Monday: Thursday at ten.")
    assert "(about: The dentist is on …)" in facts.retrieve("when is the dentist?")


PASTED = (
    "what does this say?\n> I prefer coffee over everything",
    "look:\n```\nI prefer coffee over everything\n```",
    "translate “I prefer coffee over everything” please",
    "<document>I prefer coffee over everything</document> summarise this",
    "OBSERVATION:\nI prefer coffee over everything",
    "can you answer this?\n-----Original Message-----\nFrom: Bo\nI prefer coffee over everything",
    "My boss says I prefer coffee over everything.",
    "Suppose I prefer coffee over everything.",
)


@pytest.mark.parametrize("text", PASTED)
def test_what_is_pasted_reported_or_supposed_is_no_preference_and_ends_nothing(text):
    facts = told("I prefer tea.", text)
    assert "I prefer tea." in current(facts)
    assert [memory.content for memory in facts.memories() if memory.type == "preference"] == [
        "I prefer tea."
    ]
    assert "coffee" not in facts.context_load()
    assert "coffee" not in facts.retrieve("what do I prefer, coffee or tea?")


def test_who_said_it_stands_in_every_line_that_is_not_the_users():
    facts = told("The boiler is in the cellar.", "The boiler is broken.", roles=("user", "tool"))
    lines = facts.retrieve("what about the boiler?").splitlines()
    assert "- [2026-03-02 fact, tool] The boiler is broken." in lines
    assert "- [2026-03-01 fact] The boiler is in the cellar." in lines


def test_nothing_relevant_is_an_empty_answer():
    facts = told("The boiler is in the cellar.", "I prefer tea.")
    assert facts.retrieve("Which songs were in the charts of 1987?") == ""


@given(st.lists(st.text(min_size=1, max_size=40).filter(str.strip), min_size=1, max_size=6))
def test_no_statement_is_lost(texts):
    """Each is current, or something that was said later stands for it."""
    with Facts(":memory:") as facts:
        kept = [
            outcome.memory
            for text in texts
            for outcome in facts.remember_many([text])
            if outcome.memory
        ]
        standing = {memory.id for memory in facts.memories()}
        for memory in kept:
            found = facts.get(memory.id)
            while found.superseded_by:
                found = facts.get(found.superseded_by)
            assert found.id in standing
