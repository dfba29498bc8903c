"""Renders a conversation, its tools and a step as text for a reader or a judge. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from string import Template
from typing import Any

from hippocampus.formats import json_text
from hippocampus.formats.conversation import Item, Message
from hippocampus.formats.reader import read
from hippocampus.replay.recording import Recording
from hippocampus.replay.study.folder import StudyCase

RULE = "══════"
PROMPTS = {
    path.name.removesuffix(".txt"): Template(path.read_text("utf-8"))
    for path in files(__package__).joinpath("prompts").iterdir()
}
"""The questions to readers and judges, and the ways to answer: in a file, by calls, or as JSON."""


def number_calls(messages: Iterable[Message]) -> list[Message]:
    """Return the messages with call ids that all providers accept: `c3-1`, `c3-2`, …."""
    waiting: dict[str, list[str]] = {}
    written: list[Message] = []
    for number, message in enumerate(messages, start=1):
        parts = list(message.parts)
        for at, part in enumerate(parts):
            open_ids = waiting.setdefault(part.call_id, [])
            if part.kind == "call":
                open_ids.append(f"c{number}-{at + 1}")
                parts[at] = replace(part, call_id=open_ids[-1])
            elif part.closes_call and open_ids:
                parts[at] = replace(part, call_id=open_ids.pop(0))
        written.append(replace(message, parts=tuple(parts)))
    return written


def arguments_of(text: str) -> dict[str, Any]:
    """Return a call's arguments as an object; a text that is not a JSON object becomes its `input`."""
    value = json_text.read(text or "{}", None)
    return value if isinstance(value, dict) else {"input": text}


def tools_of(recording: Recording, messages: Sequence[Message]) -> list[Item]:
    """Return the recorded tools, or else tools made from the names and arguments of all calls."""
    known: dict[str, Item] = {}
    for tool in recording.tools:
        held = tool["function"] if isinstance(tool.get("function"), Mapping) else tool
        schema = held.get("parameters") or held.get("input_schema") or {"type": "object"}
        text = str(held.get("description") or "")
        known[str(held.get("name"))] = {"description": text, "parameters": schema}
    for part in (part for message in messages for part in message.parts if part.kind == "call"):
        if not recording.tools:
            empty = {"description": "", "parameters": {"type": "object", "properties": {}}}
            properties = known.setdefault(part.tool, empty)["parameters"]["properties"]
            properties.update({key: {} for key in arguments_of(part.text)})
    return [{"name": name, **known[name]} for name in sorted(known)]


def text_of_conversation(case: StudyCase) -> str:
    """Return an agent's whole input as text, with messages under their number and role."""
    lines = [f"{RULE} SYSTEM TEXT {RULE}\n{case.system}\n"] if case.system else []
    lines.append(f"{RULE} TOOLS {RULE}")
    for tool in case.tools:
        schema = json.dumps(tool["parameters"], ensure_ascii=False)
        lines.append(f"- {tool['name']}: {tool['description']}\n  arguments: {schema}")
    lines.append(f"\n{RULE} THE CONVERSATION {RULE}")
    for number, message in enumerate(number_calls(read(case.view)), start=1):
        lines.append(f"\n{RULE} {number} · {message.role} {RULE}")
        for part in message.parts:
            if part.kind == "call":
                lines.append(f"[call {part.call_id}] {part.tool} {part.text}")
            elif part.kind == "result":
                lines.append(f"[result of {part.call_id}]\n{part.text}")
            else:
                lines.append("[image]" if part.kind == "image" else part.text)
    return "\n".join(lines)


def text_of_step(text: str, calls: Iterable[Sequence[str]]) -> str:
    """Return a step as text, followed by its calls with their arguments as JSON."""
    return "\n".join([text.strip(), *(f"[call] {name} {more}" for name, more in calls)]).strip()


def step_of(message: Message) -> str:
    """Return a recorded assistant message as text."""
    calls = [(part.tool, part.text) for part in message.parts if part.kind == "call"]
    others = (part for part in message.parts if part.kind not in ("call", "result"))
    texts = ("[image]" if part.kind == "image" else part.text for part in others)
    return text_of_step("\n".join(texts), calls)
