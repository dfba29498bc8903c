"""What a user pastes is found when asked for, and is no claim: it opens no session and ends nothing."""

from __future__ import annotations

import pytest
from consolidation.pastes import (
    CLAIM,
    CLAIMS,
    CLAIMS_BY_LANGUAGE,
    FURTHER_WRAPPERS,
    LETTER,
    MORE_WRAPPERS,
    WRAPPERS,
    WRAPPERS_BY_LANGUAGE,
)
from consolidation.said import Make, loading, user

from hippocampus.facts.pasted import written


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_paste_is_no_claim_and_is_found_when_asked_for(wrapper: str, make: Make) -> None:
    memory = make(policy=loading())
    with memory.session("one") as session:
        session([user("My favourite team is Leeds.")])
    with memory.session("two") as session:
        session([user(wrapper.format(c=CLAIM))])
    assert "My favourite team is Leeds." in {each.content for each in memory.facts.memories()}
    assert not any(CLAIM in each.content for each in memory.facts.memories(kind="fact"))
    assert any("Chelsea" in each.memory.content for each in memory.facts.recall("Chelsea"))
    with memory.session("three") as session:
        assert "Chelsea" not in str(session([user("Which favourite team do I have?")]))


def test_no_claim_in_a_paste_is_a_word_of_its_author() -> None:
    for wrapper in (*WRAPPERS, *MORE_WRAPPERS, *FURTHER_WRAPPERS):
        for claim in CLAIMS:
            assert claim.rstrip(".") not in written(wrapper.format(c=claim)).own, wrapper


@pytest.mark.parametrize("code", WRAPPERS_BY_LANGUAGE)
def test_no_claim_in_a_paste_of_another_language_is_a_word_of_its_author(code: str) -> None:
    for wrapper in WRAPPERS_BY_LANGUAGE[code]:
        for claim in CLAIMS_BY_LANGUAGE[code]:
            assert written(claim).own == claim
            assert claim.rstrip(".。") not in written(wrapper.format(c=claim)).own, wrapper


@pytest.mark.parametrize(
    "frame",
    [
        "{c}",
        "Hi! {c}",
        "Note for later: {c}",
        "Heads up: {c}",
        "Good news: {c}",
        "👋 {c}",
        "`ok` {c}",
        "src/app.py is broken. {c}",
        "Remember this: {c}",
        "I sleep from 10:30 on. {c}",
        "{c} My train leaves at 18:20.",
        "{c}\n```\nx = 1\n```\nWhy does it fail?",
        "```\nx = 1\n```\n{c}",
        "> Which team?\n{c}",
        "{c} The error is:\n```\nboom\n```",
        "{c} Please fix:\n\n" + 9 * LETTER,
        "{c} Here is what I have so far:\n" + 9 * LETTER,
        "Yes, I do (as you know). {c} OK?",
    ],
)
def test_what_the_user_writes_next_to_a_paste_is_a_claim(frame: str, make: Make) -> None:
    memory = make()
    with memory.session("one") as session:
        session([user(frame.format(c=CLAIM))])
    assert any(CLAIM in each.content for each in memory.facts.memories(kind="fact"))
