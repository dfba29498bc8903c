"""A reader and a judge in one model on loopback, in either wire format, and sessions to study."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from models.endpoint import Answer, Asked, Server, endpoint

from hippocampus.replay.study.asking import PROMPTS
from hippocampus.testing import ENTRY

KEY = "sk-very-secret-0123456789"
PROMPT = "extends: default\ncompression: 200\nfresh_up_to_tokens: 0\nread_turns: 0\n"
"""A policy that shortens a listing when it arrives."""
OFFLOADED = re.compile(r"\[offloaded: ")
OFFERED = "The tool `recall` is real."
LABEL = re.compile(r"══════ STEP ([A-Z]) ══════")

Script = Callable[[Asked, Answer], Answer]
"""Takes a request and the answer to it, and returns the answer to send."""


def write_sessions(folder: Path, count: int = 4) -> Path:
    """Write sessions that list many rows, do small things, read a log, and use one of the rows."""
    for number in range(count):
        home = folder / f"owner{number % 2}"
        home.mkdir(parents=True, exist_ok=True)
        (home / f"{number}.json").write_text(json.dumps(session(number)))
    return folder


def session(number: int) -> list[dict[str, Any]]:
    rows = [
        f"{number}-{row:04} /srv/app_{number}/module_{row}/part{row * 7}.py ok"
        for row in range(220)
    ]
    items: list[dict[str, Any]] = [
        {"role": "system", "content": "You keep a server running."},
        {"role": "user", "content": f"Remove the parts of app {number} that are in nobody's use."},
    ]
    log = "\n".join(f"{number} {line} of the log" for line in range(300))
    for turn, text in enumerate(["\n".join(rows), "one", "two", log, "four"]):
        function = {"name": "list_parts", "arguments": json.dumps({"page": turn})}
        call = {"id": f"call_{turn}", "type": "function", "function": function}
        items.append({"role": "assistant", "content": None, "tool_calls": [call]})
        items.append({"role": "tool", "tool_call_id": f"call_{turn}", "content": text})
    items.append(
        {"role": "assistant", "content": f"I remove /srv/app_{number}/module_150/part1050.py."}
    )
    return items


@contextmanager
def model(script: Script = lambda _, answer: answer) -> Iterator[Server]:
    """Serve a model that recalls once where it can, takes a step, and judges."""
    with endpoint(lambda asked: script(asked, Answer(answer_to(asked)))) as server:
        yield server


def is_judgement(asked: Asked) -> bool:
    return PROMPTS["judge"].template.split("\n", maxsplit=1)[0] in json.dumps(
        asked.body, ensure_ascii=False
    )


def answer_to(asked: Asked) -> Any:
    text = json.dumps(asked.body["messages"], ensure_ascii=False)
    if is_judgement(asked):
        return said(asked, verdicts(LABEL.findall(text)))
    last = asked.body["messages"][-1]
    recalled = last["role"] == "tool" or "tool_result" in json.dumps(last)
    entries = ENTRY.findall(text) or (["c3-1"] if OFFLOADED.search(text) else [])
    if entries and "part1050" not in text and OFFERED in json.dumps(asked.body):
        return called(asked, "recall", {"entry_id": entries[0], "pattern": "part1050"})
    page = (7 if OFFLOADED.search(text) else 5) if recalled else 6
    if not is_chat(asked):  # one wire calls the tool, the other one writes the call
        return called(asked, "list_parts", {"page": page})
    step = {"text": "", "calls": [{"tool": "list_parts", "arguments": {"page": page}}]}
    return said(asked, f"```json\n{json.dumps(step)}\n```")


def verdicts(labels: Iterable[str], **changed: Any) -> str:
    return json.dumps({"verdicts": {label: verdict(**changed) for label in labels}})


def verdict(**changed: Any) -> dict[str, Any]:
    return {"quality": 4, "same_effect": True, "false_facts": [], "note": "fine", **changed}


def is_chat(asked: Asked) -> bool:
    return asked.path.endswith("/chat/completions")


def said(asked: Asked, text: str, **more: Any) -> Any:
    """An answer of text, in the format of the request."""
    if is_chat(asked):
        return {"choices": [{"message": {"role": "assistant", "content": text, **more}}]}
    return {"content": [{"type": "text", "text": text}], **more}


def called(asked: Asked, tool: str, arguments: Any) -> Any:
    """An answer of one tool call, in the format of the request; text arguments go as they are."""
    if is_chat(asked):
        written = arguments if isinstance(arguments, str) else json.dumps(arguments)
        call = {"id": "x1", "type": "function", "function": {"name": tool, "arguments": written}}
        return {
            "choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [call]}}]
        }
    return {"content": [{"type": "tool_use", "id": "x1", "name": tool, "input": arguments}]}
