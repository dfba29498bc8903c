"""What a session leaves behind: the user's words as claims, what tools said as data."""

from __future__ import annotations

import factual
import pytest
from consolidation.said import Make, assistant, call, current, loading, user
from conversations import PROMPT

from hippocampus import Hippocampus


def told(memory: Hippocampus, *messages: dict, name: str = "s") -> set[tuple[str, str]]:
    """Close a session that was told this; return type and content of what it left as claims."""
    with memory.session(name) as session:
        session(list(messages))
    claims = memory.facts.memories(kind="fact")
    return {(each.type, each.content) for each in claims}


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("preference", "Always answer in one sentence."),
        ("preference", "I prefer tabs over spaces."),
        ("preference", "From now on use metric units."),
        ("decision", "We decided to use Postgres for the orders."),
        ("decision", "Let's go with the second variant then."),
        ("correction", "Actually the port of the staging server is 8443."),
        ("preference", "Merke dir: Rechnungen gehen an die Zentrale."),
        ("preference", "Ich bevorzuge kurze Antworten."),
        ("decision", "Wir haben uns für Rust entschieden."),
        ("correction", "Das ist falsch, der Dienst läuft in Zürich."),
        ("preference", "Recuerda que trabajo solo por las mañanas."),
        ("preference", "Prefiero respuestas cortas."),
        ("decision", "Hemos decidido usar Go para el servicio."),
        ("preference", "N'oublie pas que la démo est le lundi."),
        ("preference", "Je préfère le format ISO."),
        ("decision", "On a choisi la deuxième variante."),
        ("preference", "Всегда отвечай по-русски."),
        ("preference", "Я предпочитаю тёмную тему."),
        ("decision", "Мы решили использовать Redis."),
        ("preference", "记住:周五不要发布。"),
        ("preference", "我喜欢简短的回答。"),
        ("decision", "我们决定使用 Rust。"),
        ("preference", "必ず日本語で答えてください。"),
        ("preference", "短い答えの方が好きです。"),
        ("decision", "バックエンドはRustに決めました。"),
    ],
)
def test_the_users_word_becomes_a_claim_of_its_kind(kind: str, sentence: str, make: Make) -> None:
    assert told(make(), user(f"Hello there. {sentence}")) >= {(kind, sentence)}


def test_small_talk_and_questions_become_no_claims(make: Make) -> None:
    said = ["Hello, how are you?", "Do I prefer tabs?", "Can you list the open orders?", "thanks"]
    assert (
        told(make(), *[each for text in said for each in (user(text), assistant("Sure."))]) == set()
    )


@pytest.mark.parametrize(
    "said", ["I don't remember the order, sorry.", "Sorry, I can’t quite remember the number."]
)
def test_what_the_user_has_forgotten_is_no_preference(said: str, make: Make) -> None:
    memory = make()
    with memory.session("s") as session:
        session([user(said)])
    assert current(memory) == [("event", "user", said)]


@pytest.mark.parametrize(
    "said",
    [
        "Não, está errado: o prazo do relatório é sexta-feira.",
        "Errado: o servidor de testes fica em Lisboa, não em Porto.",
        "Sbagliato, la scadenza del rapporto è venerdì prossimo.",
    ],
)
def test_a_correction_is_kept_as_it_was_said(said: str, make: Make) -> None:
    with make().session("s") as session:
        session([user(said)])
    assert ("correction", "user", said) in current(make())


def test_a_correction_supersedes_what_was_said_in_an_earlier_session(make: Make) -> None:
    memory = make()
    told(memory, user("Remember: the port of the staging server is 8080."), name="one")
    told(memory, user("No, the port of the staging server is 8443."), name="two")
    (claim,) = memory.facts.memories(kind="fact")
    assert claim.content == "No, the port of the staging server is 8443."
    assert len(factual.history(memory.facts, claim.id)) == 2


def test_a_correction_ends_what_an_earlier_message_of_its_session_says(make: Make) -> None:
    memory = make()
    told(memory, user("The deadline is on May 5."), user("Correction: the deadline is on May 9."))
    printed = memory.facts.retrieve("when is the deadline?")
    assert "May 9" in printed
    assert "May 5" not in printed


def test_every_claim_names_its_session_turn_and_entry(make: Make) -> None:
    memory = make()
    with memory.session("where") as session:
        session([user("hi"), assistant("Hello."), user("Never deploy on a Friday, please.")])
        (entry,) = [each for each in session.entries if each.type == "message"]
    (claim,) = memory.facts.memories(kind="fact")
    assert (claim.origin.session, claim.origin.turn) == ("where", 1)
    assert (claim.origin.entry_id, claim.origin.role) == (entry.id, "user")
    with memory.session("where") as session:
        assert session.entries.text(claim.origin.entry_id) == "Never deploy on a Friday, please."


def test_a_failed_call_leaves_no_memory(make: Make) -> None:
    memory = make()
    with memory.session("s") as session:
        session(
            [
                user("Run the tests of the shop."),
                *call("1", "shell", '{"command": "pytest tests"}', "ModuleNotFoundError: no yaml"),
                *call("2", "shell", '{"command": "pytest tests"}', "12 passed"),
            ]
        )
    assert {kind for kind, _, _ in current(memory)} == {"event"}


def test_a_state_and_a_pinned_result_are_kept_as_notes(make: Make) -> None:
    memory = make(policy=PROMPT)
    rows = "\n".join(f"order_{number:04d} {number}.50 EUR" for number in range(400))
    with memory.session("s") as session:
        session([user("List the orders."), *call("1", "list_orders", '{"page": 1}', rows)])
        (entry,) = [each for each in session.entries if each.type == "tool_result"]
        session.pin(entry.id)
        session.state("deploying the shop to staging")
    notes = {each.origin.role: each for each in memory.facts.memories() if each.type == "note"}
    assert notes["host"].content == "deploying the shop to staging"
    assert notes["tool"].origin.entry_id == entry.id
    assert notes["tool"].content.startswith('list_orders {"page": 1}')


def test_secrets_of_the_user_are_taken_out_and_the_rest_is_kept(make: Make) -> None:
    memory = make()
    told(memory, user("Remember: the gateway is at 10.0.0.7 and its password is hunter2!x."))
    contents = " ".join(content for _, _, content in current(memory))
    assert "10.0.0.7" in contents
    assert "hunter2" not in contents


def test_nothing_is_kept_where_the_policy_keeps_no_facts(make: Make) -> None:
    memory = make(policy=loading(0, facts=False))
    told(memory, user("Always answer in one sentence."))
    assert current(memory) == []
    assert memory.unconsolidated() == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The backend runs on Node 18.", "The backend now runs on Node 22."),
        ("The launch is on the 3rd of May.", "The launch has been moved to the 9th of May."),
        ("Die Sprechstunde ist am Montag.", "Die Sprechstunde ist jetzt am Freitag."),
        ("El servidor está en el puerto 80.", "El servidor está ahora en el puerto 81."),
        ("ミーティングは月曜日です。", "ミーティングは今は火曜日です。"),
    ],
)
def test_an_update_of_another_thing_than_the_user_ends_the_old_statement(
    old: str, new: str, make: Make
) -> None:
    memory = make()
    for name, text in enumerate((old, new)):
        told(memory, user(text), name=str(name))
    assert [each.content for each in memory.facts.memories()] == [new]


def test_an_order_about_the_present_is_no_claim(make: Make) -> None:
    assert told(make(), user("Now fix the failing tests, and run them again.")) == set()


def test_words_between_two_scripts_are_kept(make: Make) -> None:
    memory = make()
    told(memory, user("Netflixに加入しています。"))
    assert [each.content for each in memory.facts.memories()] == ["Netflixに加入しています。"]
