"""What an adapter adds to a model call: a list of 400,000 tokens, and one new result a call.

    python -m tests.bench.integration_speed

Prints the median and the least CPU time of the calls, in milliseconds, for each framework that is
installed where this runs; a plain session's are in `test_turn_speed.py`. Without the adapter the
framework sends its own list, so that all of it is added. No network, no model.
"""

from __future__ import annotations

import importlib.util
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.test_turn_speed import MESSAGES, NEW_TOKENS, ROUNDS, TOKENS, conversation, step

from hippocampus import Hippocampus
from hippocampus.integrations.adapter import ConversationAdapter

Items = list[dict[str, Any]]


def langchain(items: Items) -> list[Any]:
    from langchain_core.messages import convert_to_messages

    return convert_to_messages(items)


def pydantic_ai(items: Items) -> list[Any]:
    from pydantic_ai import messages as of

    made: list[Any] = []
    for item in items:
        if item["role"] == "assistant":
            [call] = item["tool_calls"]
            function = call["function"]
            asked = of.ToolCallPart(function["name"], function["arguments"], call["id"])
            made.append(of.ModelResponse([of.TextPart(item["content"]), asked]))
        elif item["role"] == "tool":
            made.append(
                of.ModelRequest([of.ToolReturnPart("t", item["content"], item["tool_call_id"])])
            )
        else:
            made.append(of.ModelRequest([of.UserPromptPart(item["content"])]))
    return made


def openai_agents(items: Items) -> list[Any]:
    made: list[Any] = []
    for item in items:
        if item["role"] == "tool":
            named = {"call_id": item["tool_call_id"], "output": item["content"]}
            made.append({"type": "function_call_output", **named})
            continue
        made.append({"role": item["role"], "content": item["content"]})
        calls = item.get("tool_calls", ())
        made += [{"type": "function_call", "call_id": c["id"], **c["function"]} for c in calls]
    return made


FRAMEWORKS: dict[str, tuple[str, Callable[[Items], list[Any]]]] = {
    "langchain": ("langchain", langchain),
    "openai_agents": ("agents", openai_agents),
    "pydantic_ai": ("pydantic_ai", pydantic_ai),
}


def view_of(name: str, memory: Hippocampus) -> Callable[[str, list[Any]], list[Any]]:
    """Return what an adapter calls for each request."""
    if name == "openai_agents":
        return memory.view
    adapter = importlib.import_module(f"hippocampus.integrations.{name}")
    return ConversationAdapter(memory, adapter._read, adapter._edit, adapter._make).view


def measure(name: str, write: Callable[[Items], list[Any]], state: Path) -> list[float]:
    """Return the milliseconds of each call with one new result."""
    memory, chance = Hippocampus(state), random.Random(1)
    view, items, given, times = view_of(name, memory), conversation(MESSAGES, TOKENS), [], []
    for at in range(0, len(items), 2):  # turn by turn, as an agent has it
        given += write(items[at : at + 2])
        view("adapter", given)
    for number in range(ROUNDS):
        given += write(step(chance, len(items) + 2 * number, NEW_TOKENS))
        start = process_time()
        view("adapter", given)
        times.append(1_000 * (process_time() - start))
    memory.close()
    return times


def main() -> None:
    """Print a line for each framework."""
    for name, (package, write) in FRAMEWORKS.items():
        if importlib.util.find_spec(package) is None:
            continue
        with tempfile.TemporaryDirectory() as state:
            times = measure(name, write, Path(state))
        print(f"{name}: median {median(times):.2f} ms, least {min(times):.2f} ms")


if __name__ == "__main__":
    main()
