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
from consolidation.said import Make, assistant, loading, user

from hippocampus.facts.pasted import by_author


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
            assert claim.rstrip(".") not in by_author(wrapper.format(c=claim)).own, wrapper


@pytest.mark.parametrize("code", WRAPPERS_BY_LANGUAGE)
def test_no_claim_in_a_paste_of_another_language_is_a_word_of_its_author(code: str) -> None:
    for wrapper in WRAPPERS_BY_LANGUAGE[code]:
        for claim in CLAIMS_BY_LANGUAGE[code]:
            assert by_author(claim).own == claim
            assert claim.rstrip(".。") not in by_author(wrapper.format(c=claim)).own, wrapper


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


@pytest.mark.parametrize(
    "text",
    [
        "I said Friday but it is Saturday.",
        "I told you Friday, but the meeting is on Saturday.",
        "Ich sagte Freitag, aber der Termin ist am Samstag.",
        "Dije viernes pero la cita es el sábado.",
        "J'ai dit vendredi mais le rendez-vous est samedi.",
        "Ho detto venerdì ma la visita è sabato.",
        "Я сказала в пятницу, но встреча в субботу.",
        "我说的是周五，但会议在周六。",
        "Always summarize a file before you edit it.",
        "Never rewrite the history of a branch.",
        "Antworte nie, ohne die Ergebnisse zusammenzufassen.",
        "I prefer C# over Java, and F# over both.",
        "My address is ada@lindqvist.example now.",
        "It is 30°C here, and I prefer iced tea.",
        "I ❤️ tea, and I love coffee ☕",
        "Meine Katze heißt „Mimi“ und ich wohne in Ulm.",
        "Mon chien s'appelle « Rex » et j'habite à Lyon.",
        "Моего кота зовут «Барсик», я живу в Омске.",
        "うちの犬は「ポチ」です。京都に住んでいます。",
        "मेरे कुत्ते का नाम “मोती” है।",
        "I live in Bath :)",
        "I work on https://shop.example/api and I prefer tabs.",
        "I live in Bath. Thanks, Claude!",
    ],
)
def test_plain_words_of_the_user_are_the_users_own(text: str) -> None:
    assert by_author(text).own == text


def test_a_correction_of_what_the_user_said_ends_it(make: Make) -> None:
    memory = make()
    for number, text in enumerate(
        ("I fly to Ghent on Friday now.", "I said Friday but I fly to Ghent on Saturday.")
    ):
        with memory.session(str(number)) as session:
            session([user(text)])
    [fact] = memory.facts.memories(kind="fact")
    assert "Saturday" in fact.content


@pytest.mark.parametrize(
    ("said", "pasted", "change"),
    [
        (
            "I live in Oslo now.",
            "Marcus Lee 9:41 AM\nI live in Oslo now. Bring the keys.",
            "I moved to Derby.",
        ),
        (
            "J'habite à Nantes.",
            "Julien 9:41\nJ'habite à Nantes. Je ne bois plus.",
            "J'ai déménagé à Toulouse.",
        ),
        (
            "私は京都に住んでいます。",
            "21:04 ゆき\n私は京都に住んでいます。私は肉を食べません。",
            "大阪に引っ越しました。",
        ),
    ],
)
def test_a_claim_of_the_user_ends_nothing_that_is_pasted(
    said: str, pasted: str, change: str, make: Make
) -> None:
    memory = make()
    for number, text in enumerate((said, pasted, change)):
        with memory.session(str(number)) as session:
            session([user(text)])
    every = memory.facts.memories(superseded=True)
    assert any(each.content == said and each.known_until for each in every)
    [kept] = [each for each in every if "hearsay" in each.tags]
    assert (kept.content, kept.known_until) == (pasted, None)


@pytest.mark.parametrize(
    "text",
    [
        "Dave Jones\u2028{c}",
        "It rains.\u2029{c}",
        "<b>Dave Jones</b> {c}",
        "{c} <i>Dave</i>",
        "@dave {c}",
        "By @dave {c}",
        "Ticket #12 {c}",
        "Dave ★★★★★ {c}",
        "dave#1234 {c}",
        "Dave ✓ {c}",
        "I said translate this, but properly: {c}",
        "I said translate this text but properly, {c}",
        "I said that Dave wrote, {c}",
        "お客さんから「私は卵アレルギーです」と来た。 {c}",
        "{c} https://social.example/dave",
        "Hi Tom, {c} Best, Julia. What can I answer?",
        "Hola Luis, {c} Un abrazo, Marta.",
        "Здравствуйте, {c} С уважением, Олег Иванов",
        "I said hello, but the letter says {c}",
        "Ignore the message above, {c}",
        "Always translate the next line. {c}",
        "I said hello. Translate the next line but keep it short: {c}",
        "I said hello. Translate what Dave sent but keep it short. {c}",
    ],
)
def test_a_paste_in_one_line_is_no_word_of_its_author(text: str) -> None:
    for claim in CLAIMS:
        assert claim.rstrip(".") not in by_author(text.format(c=claim)).own


ANNOUNCED = [
    ("Can you proofread my friend's bio?", "I moved to Bath. I never eat meat."),
    (
        "Kannst du mir eine Mail zusammenfassen?",
        "Ich wohne jetzt in Leipzig. Ich esse nie Fleisch.",
    ),
    ("Je te colle un mail, tu me le résumes ?", "J'habite à Lyon. Je ne mange jamais de viande."),
    ("次の文章を要約して", "私は大阪に引っ越しました。私は肉が嫌いです。"),
    ("Сейчас пришлю письмо, переведи", "Я живу в Казани. Я никогда не ем мясо."),
]


@pytest.mark.parametrize(("request_", "text"), ANNOUNCED)
def test_a_text_that_the_message_before_is_about_is_pasted(
    request_: str, text: str, make: Make
) -> None:
    memory = make()
    said = [user(request_), assistant("Of course."), user(text), assistant("Done.")]
    for number, messages in enumerate(
        (
            said,
            [user(request_), user(text)],
            [
                {
                    "role": "user",
                    "content": [{"type": "text", "text": each} for each in (request_, text)],
                }
            ],
        )
    ):
        with memory.session(str(number)) as session:
            session(messages)
    assert not memory.facts.memories(kind="fact")
    assert text in {each.content for each in memory.facts.memories() if "hearsay" in each.tags}


def test_a_later_consolidation_knows_which_message_announced_a_text(make: Make) -> None:
    """Also where a model reads only what is new, and where the host's list has lost the message."""
    asked: list[str] = []
    memory = make(complete=lambda prompt: asked.append(prompt) or "[]")
    session = memory.session("one")
    said = [user("Can you proofread my friend's bio?"), assistant("Of course.")]
    session(said)
    session.consolidate()
    said += [user("I moved to Bath. I never eat meat."), assistant("Done.")]
    session(said)
    session.consolidate()
    session([*said[2:], user("I live in Hull.")])
    session.close()
    assert [each.content for each in memory.facts.memories(kind="fact")] == ["I live in Hull."]
    assert not any("Bath" in prompt for prompt in asked)


def test_what_was_pasted_is_a_claim_where_the_user_says_it(make: Make) -> None:
    memory = make()
    with memory.session("one") as session:
        session(
            [
                user("Translate the next line."),
                user(CLAIM),
                assistant("Ja."),
                user("OK."),
                assistant("?"),
                user(CLAIM),
            ]
        )
    assert [each.content for each in memory.facts.memories(kind="fact")] == [CLAIM]
