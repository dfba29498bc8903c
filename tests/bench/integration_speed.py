"""What an adapter adds to a model call: a list of 400,000 tokens, and one new result a call.

    python -m tests.bench.integration_speed

Prints the median and the least of the calls, in milliseconds, for each framework that is installed
where this runs, and of a session over the same conversation as plain chat messages. On a busy machine
the least is what the work takes. No network, no model.
"""

from __future__ import annotations

import importlib.util
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
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
    parts = [getattr(adapter, part, None) for part in ("_read", "_edit", "MAKE", "_cut")]
    return ConversationAdapter(memory, *parts).view


def measure(name: str, write: Callable[[Items], list[Any]], state: Path) -> dict[str, list[float]]:
    """Return the milliseconds of each call, by the adapter and by a plain session."""
    memory, chance = Hippocampus(state), random.Random(1)
    view, plain = view_of(name, memory), memory.session("plain")
    items = conversation(MESSAGES, TOKENS)
    given = write(items)
    view("adapter", given)
    plain(items)
    times: dict[str, list[float]] = {"adapter": [], "plain": []}
    for _ in range(ROUNDS):
        new = step(chance, len(items), NEW_TOKENS)
        items, given = [*items, *new], [*given, *write(new)]
        start = perf_counter()
        view("adapter", given)
        middle = perf_counter()
        plain(items)
        times["adapter"].append(1_000 * (middle - start))
        times["plain"].append(1_000 * (perf_counter() - middle))
    memory.close()
    return times


def main() -> None:
    """Print a line for each framework."""
    for name, (package, write) in FRAMEWORKS.items():
        if importlib.util.find_spec(package) is None:
            continue
        with tempfile.TemporaryDirectory() as state:
            times = measure(name, write, Path(state))
        print(name, *(f"{each} {median(times[each]):.2f} ({min(times[each]):.2f})" for each in times))


if __name__ == "__main__":
    main()
