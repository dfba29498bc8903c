"""Antigravity transcripts: a JSON line per step, read as chat messages.

The program cuts long fields at about 4,000 bytes and leaves steps out; both are reported. Ephemeral
messages, which are sent with only one call, are not read.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from hippocampus.formats import json_text
from hippocampus.replay.readers.raw import RawConversation, RawMessage, chat_call
from hippocampus.replay.readers.values import JsonRecord, as_list, as_text, kind_of

NAME = "antigravity"
OWN_FIELDS = {"step_index", "source", "type", "status"}
SOURCES = {"MODEL", "USER_EXPLICIT"}
ANSWER = "PLANNER_RESPONSE"
SUMMARY = "CHECKPOINT"
PROMPTS = {"USER_INPUT", "SYSTEM_MESSAGE"}
NOT_SENT = {"EPHEMERAL_MESSAGE", "CONVERSATION_HISTORY"}


def is_own(record: JsonRecord) -> bool:
    """Return whether a record is a step of this program with the model's answer or a result."""
    return record.keys() >= OWN_FIELDS and record.text("source") in SOURCES


def read(records: list[JsonRecord]) -> list[RawConversation]:
    """Return the contexts as conversations; a checkpoint, which is a summary, starts a context."""
    steps = [record for record in records if record.keys() >= OWN_FIELDS]
    cut = [
        f"step {step.count('step_index')}: the recording program cut {', '.join(fields)}"
        for step in steps
        if (fields := list(map(as_text, as_list(step.get("truncated_fields")))))
    ]
    numbers = [step.count("step_index") for step in steps]
    for last, number in itertools.pairwise(numbers):
        if number > last + 1:
            gap = str(last + 1) if number == last + 2 else f"{last + 1} to {number - 1}"
            cut.append(f"step {gap}: left out by the recording program")
    contexts: list[list[JsonRecord]] = [[]]
    for step in steps:
        if kind_of(step) == SUMMARY:
            # After a summary, the prompts that have no answer yet are sent again.
            answers = [at for at, done in enumerate(contexts[-1], 1) if kind_of(done) == ANSWER]
            after = contexts[-1][answers[-1] if answers else 0 :]
            prompts = (prompt for prompt in after if kind_of(prompt) == "USER_INPUT")
            contexts.append([step, *prompts])
        else:
            contexts[-1].append(step)
    return [
        RawConversation("chat", list(_messages(context)), cut=() if number else cut)
        for number, context in enumerate(contexts)
    ]


def _messages(steps: Sequence[JsonRecord]) -> Iterator[RawMessage]:
    """Yield messages; the results after an answer are in the order of its calls."""
    waiting: list[str] = []
    for place, step in enumerate(steps):
        kind, content = kind_of(step), step.text("content")
        if kind == ANSWER:
            calls = []
            for at, call in enumerate(step.records("tool_calls")):
                # Each argument is JSON in a string; one that the program cut stays text.
                arguments = {
                    key: json_text.read(value, value) if isinstance(value, str) else value
                    for key, value in call.record("args").items()
                }
                calls.append(chat_call(f"call_{place}_{at}", call.text("name"), arguments))
            waiting = [call["id"] for call in calls]
            yield RawMessage.answer(content, calls)
        elif kind in NOT_SENT or not content:
            continue
        elif kind in PROMPTS or kind == SUMMARY or not waiting:
            yield RawMessage.user(content)
        else:
            yield RawMessage.result(waiting.pop(0), content)
