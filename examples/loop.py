"""A minimal agent loop with a memory between its message list and the model.

The model here is a script, so that `python examples/loop.py` runs without network. It reads only
what it is sent: in its second turn that is a short entry in place of a long result, and it asks
for the part that it needs. Put a real client's call in the place of `scripted_model`.
"""

from __future__ import annotations

import argparse
import asyncio
import email
import inspect
import json
import logging
import re
import tempfile
import types
import unittest
from collections.abc import Sequence
from typing import Any

from hippocampus import Hippocampus, Session

Message = dict[str, Any]
MODULES = (argparse, asyncio, email, inspect, json, logging, re, tempfile, types, unittest)
LIST_TOOL = {
    "type": "function",
    "function": {
        "name": "list_names",
        "description": "Return the public names of ten modules of the standard library, as JSON.",
        "parameters": {"type": "object", "properties": {}},
    },
}


def scripted_model(messages: Sequence[Message], tools: Sequence[Message]) -> Message:
    """Answer as a model would: list names, recall some of them, say what it found."""
    result = messages[-1]["content"]
    names = [tool["function"]["name"] for tool in tools]
    match [message["role"] for message in messages].count("assistant"):
        case 0:
            return calling(names[0])
        case 1:
            entry_id = re.match(r"\[(\S+) ·", result)
            if entry_id is None:
                return {"role": "assistant", "content": "The whole list is in front of me."}
            return calling(names[1], entry_id=entry_id[1], pattern=r"argparse\.\w+Error")
        case _:
            return {"role": "assistant", "content": f"argparse defines:\n{result}"}


def calling(tool: str, **arguments: Any) -> Message:
    """Return an assistant message that calls one tool."""
    function = {"name": tool, "arguments": json.dumps(arguments)}
    call = {"id": f"call_{tool}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def names() -> str:
    """Return what a tool that lists things returns: many records, of which few are needed."""
    rows = [
        {
            "name": f"{module.__name__}.{name}",
            "kind": type(value).__name__,
            "about": inspect.getdoc(value),
        }
        for module in MODULES
        for name, value in sorted(vars(module).items())
        if not name.startswith("_")
    ]
    return json.dumps(
        [{**row, "about": str(row["about"]).partition("\n")[0]} for row in rows], indent=0
    )


def answer(session: Session, call: Message) -> Message:
    """Run one tool call; `recall` is the session's own, every other tool is the loop's."""
    if call["function"]["name"] == "recall":
        content = session.answer(call["function"]["arguments"])
    else:
        content = names()
    return {"role": "tool", "tool_call_id": call["id"], "content": content}


def run(session: Session, question: str) -> list[Message]:
    """Run the loop until the model calls nothing; return the loop's own, complete list."""
    messages: list[Message] = [{"role": "user", "content": question}]
    tools = [LIST_TOOL, *session.tools("openai")]
    while True:
        reply = scripted_model(session(messages), tools)
        messages.append(reply)
        if not reply.get("tool_calls"):
            return messages
        messages.extend(answer(session, call) for call in reply["tool_calls"])


def main() -> None:
    """Ask one question and show what was kept and what was sent."""
    with tempfile.TemporaryDirectory() as state_dir:
        memory = Hippocampus(state_dir, policy="default", model="claude-sonnet-4-5")
        with memory.session("example") as session:
            messages = run(session, "Which errors does argparse define?")
            status = session.status()
        memory.close()
    print(messages[-1]["content"])
    print(f"kept {status['raw_tokens']} tokens, sent {status['sent_tokens']} in the last call")


if __name__ == "__main__":
    main()
