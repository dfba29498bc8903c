"""What a user pastes is found when asked for, and is no claim: it opens no session and ends nothing."""

from __future__ import annotations

import pytest
from consolidation.said import Make, loading, user

CLAIM = "My favourite team is Chelsea now."
WRAPPERS = (
    "Look:\n````md\n```\nx\n```\n{c}\n````",
    "Read this, please.\n<page>\n\nHello.\n\n{c}",
    "[Tool: fetch]\n{c}",
    "Tool: fetch\n{c}",
    "[10:02] dave: {c}\n[10:03] ann: ok",
    "12/05/24, 10:02 - Dave: {c}\n12/05/24, 10:03 - Ann: ok",
    "Dave Jones  10:02 AM\n{c}\nAnn Smith  10:04 AM\nok",
    "Dave: {c}\nAnn: I see.",
    "Dave, 10:02: {c}",
    "dave [10:02 AM]: {c}",
    "user:\n  name: Dave\n  note: {c}",
    "--- a/x.md\n+++ b/x.md\n@@ -1 +1 @@\n-Hello\n+{c}",
    "x = 1\n# {c}",
    "id,name,note\n1,Dave,{c}\n2,Ann,ok",
    "Notes of the meeting:\n- {c}\n- Bob is ill",
    "Dave's Blog\nMy setup\nPosted in May\n{c}\nShare\nComments (3)",
    "Please summarize the following text:\n\n{c}\nIt is raining.",
)


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


@pytest.mark.parametrize(
    "frame",
    [
        "{c}",
        "The train is at 18:20.\n{c}",
        "Hi! {c}",
        "Thanks.\n\n{c}",
        "Note for later: {c}",
        "Fix it?\n```\nx = 1\n```\n{c}",
    ],
)
def test_what_the_user_writes_next_to_a_paste_is_a_claim(frame: str, make: Make) -> None:
    memory = make()
    with memory.session("one") as session:
        session([user(frame.format(c=CLAIM))])
    assert any(CLAIM in each.content for each in memory.facts.memories(kind="fact"))
