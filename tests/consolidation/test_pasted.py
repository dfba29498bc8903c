"""What a user pastes is found when asked for, and is no claim: it opens no session and ends nothing."""

from __future__ import annotations

import pytest
from consolidation.said import Make, loading, user

from hippocampus.facts.pasted import written

LETTER = "It has rained for a week here. I grew up by the sea, and I have two sisters in Ghent. We write often."
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
    "dave: {c}",
    "Ticket #12: {c} I pay by Visa.",
    "Q: Which team do you like? A: {c}",
    "dave [10:02 AM]: {c}",
    "What does this mean?\nDave: {c}",
    "user:\n  name: Dave\n  note: {c}",
    "--- a/x.md\n+++ b/x.md\n@@ -1 +1 @@\n-Hello\n+{c}",
    "x = 1\n# {c}",
    "id,name,note\n1,Dave,{c}\n2,Ann,ok",
    "Notes of the meeting:\n- {c}\n- Bob is ill",
    "Dave's Blog\nMy setup\nPosted in May\n{c}\nShare\nComments (3)",
    "Please summarize the following text:\n\n{c}\nIt is raining.",
)
MORE_WRAPPERS = (
    "See\n~~~\n{c}\n~~~",
    "Check this\n```\n{c}",
    "<document>\n{c}\n</document>\nSummarize.",
    "Fix <p>{c}</p> please.",
    "Tool result:\n{c}",
    "Observation: {c}",
    "Dave Jones\n10:02 AM\n{c}\n\nAnn Smith\n10:04 AM\nok",
    "name: Dave\nnote: {c}\nage: 3",
    "notes:\n- {c}\n- other",
    '[user]\nname = "Dave"\nnote = "{c}"',
    "diff --git a/x b/x\n+{c}\n line",
    "int x;\n// {c}\nint y;",
    "/*\n * {c}\n */\nint x;",
    'def f():\n    """{c}"""\n    return 1',
    "<!-- {c} -->\n<b>x</b>",
    "id\tname\tnote\n1\tDave\t{c}\n2\tAnn\tok",
    "| a | b |\n|---|---|\n| x | {c} |",
    '{{"name": "Dave", "note": "{c}"}}',
    '{{"role":"user","content":"{c}"}}\n{{"role":"assistant","content":"ok"}}',
    "He wrote:\n> {c}",
    '"{c}" - what does that mean?',
    "From: Dave\nTo: Ann\nSubject: Hi\n\n{c}\n\nBest,\nDave",
    "FYI\n---------- Forwarded message ---------\nFrom: Dave <d@x.y>\nSubject: x\n\n{c}",
    "Dear Ann,\n\n{c}\n\nKind regards,\nDave",
    "Translate into German: {c}",
    "2026-01-02 10:00:00 INFO user said: {c}\n2026-01-02 10:00:01 INFO ok",
    "Dave Jones @dave · 2h\n{c}\n12 replies",
    "dave 3 hours ago | parent | next\n{c}",
    "dave commented 2 days ago\n{c}",
    "Review by Dave ★★★★★\n{c}\nHelpful?",
    "BEGIN:VEVENT\nDESCRIPTION:{c}",
    "**Dave:** {c}\n**Ann:** ok",
    "INSERT INTO notes VALUES ('{c}');",
    "For example, a user may say: {c}",
    "\\begin{{quote}}\n{c}\n\\end{{quote}}",
    "$ cat note.txt\n{c}\n$ ls",
    "notes.md:12:{c}",
    "3f2a9bc1 (Dave 2026-01-01 3) {c}",
    "<|im_start|>user\n{c}<|im_end|>",
    "app-7d9 | {c}",
    "→ {c}",
    "DAVE\n(smiling)\n{c}\n\nANN\nOh.",
    "About Dave\n\n{c}\nRead more",
    "Page 3 of 12\n{c}\nPage 4 of 12",
    "Dave Miller, CEO\n{c}",
    "Support Ticket 991\n\n{c}\n\nStatus Open",
    "src/a.md | 3 ++\n{c}",
    "a/b.txt: {c}",
    "*Dave*\n{c}",
    "Chapter One\n{c}\nHe went home.",
    "::: quote\n\n{c}\n\n:::",
    "     1\t{c}\n     2\tok",
    "ii) {c}",
    "bio.text: {c}",
    "Mar 12 14:22:01 host app[312]: {c}",
    "cat <<EOF > note.txt\n{c}\nEOF",
    "const note = `\n{c}\n`;",
    ">>> print(note)\n{c}\n>>> ",
    "PS C:\\Users\\dave> type note.txt\n{c}",
    "POST /note HTTP/1.1\nHost: a.b\n\n{c}",
    "=pod\n\n{c}\n\n=cut",
    "Extract the facts from this text: {c}",
    "Pretend to be Dave and begin with: {c}",
    "{c}\n— Dave",
    "{c} (Dave)",
    "*{c}*\n- Dave, 2024",
    "‘{c}’",
    "dave » {c}",
    "# Dave's notes\n\n{c}\n\n## Next\n\nMore.",
    "Re: your mail\n\n{c}\n\nDave",
    "Name\tNote\nDave\t{c}",
    "bio: >\n  {c}\n",
    "Dave Miller @dave@social.x · May 3\n{c}",
    "dave opened this issue 3 days ago · 4 comments\n{c}",
    "dave asked 2 days ago via email\n{c}",
    "Dave Miller » Team room\n{c}",
    "Q3. What do you prefer?\nA3. {c}",
    "Dave Miller (Acme) wrote:\n{c}",
    "the boss said this:\n{c}",
    "Rewrite the paragraph below in a formal tone.\n{c}",
    "Can you translate the following lines into French for me?\n{c}",
    *(
        f"{request}\n\n{{c}} {LETTER}"
        for request in (
            "Rate this application.",
            "What do you think of this?",
            "Any thoughts?",
            "Does it read well?",
            "Feedback please.",
            "Ist das so gut?",
        )
    ),
)
CLAIMS = (
    CLAIM,
    "I live in Lisbon.",
    "I prefer tabs over spaces.",
    "My name is Dave Miller.",
    "We decided to use Postgres.",
    "I moved to Rome in May.",
    "Always answer me in French.",
    "I am allergic to nuts.",
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


def test_no_claim_in_a_paste_is_a_word_of_its_author() -> None:
    for wrapper in (*WRAPPERS, *MORE_WRAPPERS):
        for claim in CLAIMS:
            assert claim.rstrip(".") not in written(wrapper.format(c=claim)).text, wrapper


@pytest.mark.parametrize(
    "frame",
    [
        "{c}",
        "The train is at 18:20.\n{c}",
        "Hi! {c}",
        "Thanks.\n\n{c}",
        "Note for later: {c}",
        "Heads up: {c}",
        "Goal: add a login page\n{c}",
        "Look at src/app.py line 12\n{c}",
        "It broke 3 days ago\n{c}",
        "Good news: {c}",
        "Fix it?\n```\nx = 1\n```\n{c}",
        "Fix this:\n\n```\nx = 1\n```\n{c}",
        "I said ‘no’. {c}",
        "ok\n{c}\nso fix it",
        "Node.js is fine, and C++ too.\n{c}",
        "Thanks\n{c}",
        "Good morning\n{c}",
        f"What should I wear?\n\n{{c}} {LETTER}",
        f"Good morning.\n\n{{c}} {LETTER}",
        "Which match is on today?\n\n{c}",
        "Fix the bug\n{c}",
        "{c}\n\nBest\nDave",
        "(btw) {c}",
        "(By the way, {c})",
        "... {c}",
        "👋 {c}",
        "**Important**: {c}",
        "@bot {c}",
        "`ok` {c}",
        "src/app.py is broken. {c}",
        "50% done. {c}",
        "P.S. {c}",
        "2 of them are done.\n{c}",
        "Use `make`\n{c}",
        "It answers HTTP/2 only.\n{c}",
    ],
)
def test_what_the_user_writes_next_to_a_paste_is_a_claim(frame: str, make: Make) -> None:
    memory = make()
    with memory.session("one") as session:
        session([user(frame.format(c=CLAIM))])
    assert any(CLAIM in each.content for each in memory.facts.memories(kind="fact"))
