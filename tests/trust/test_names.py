"""The names of other sessions and agents, which may be people or tickets, are not told to the model."""

from __future__ import annotations

import factual
from conversations import chat_step
from trust.crashes import rows

from hippocampus import Hippocampus

SESSION, AGENT = "ticket-of-anna-larsen", "agent-of-bob-olsen"
NAMES = (SESSION, AGENT, "anna", "larsen", "olsen")


def items(number):
    said = "Always remember: the build needs Java 21. I prefer tabs."
    return [{"role": "user", "content": said}, *chat_step("c1", "run", {}, rows(number))]


def test_no_view_recall_or_memory_tool_names_another_session_or_agent(tmp_path):
    answers = []
    with Hippocampus(tmp_path) as memory:
        with memory.session(f"{AGENT}/{SESSION}") as session:
            session(items(1))
            session.state("half of it is done")
            own = [each.id for each in session.entries]
        with memory.session(f"{SESSION}-2", agent=AGENT) as session:
            session(items(2))
            foreign = [each.id for each in session.entries]
        with memory.session("mine") as session:
            answers.append(session([{"role": "user", "content": "How do I build?"}]))
            answers += [session.answer({"entry_id": each}) for each in [*own, *foreign, "aaaaaaaa"]]
            answers += [session.answer({"query": "java build app row"})]
        for name in ("recall_memories", "recall_memory", "recall_conversation", "memory_recall"):
            answers.append(factual.call(memory.facts, name, {"query": "build java tabs"}))
    text = str(answers).casefold()
    assert "tabs" in text
    assert [name for name in NAMES if name in text] == []
