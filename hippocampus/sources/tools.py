"""The source `tool`: a call is made again, of tools that the host says are safe to repeat."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from threading import Thread
from typing import Any

from hippocampus.sources.plan import SourcePlan, Unavailable, Wanted

Tool = Callable[..., Any]
"""A function of the host that takes the call's arguments by name."""


class RepeatableTools:
    """The tools that may be called again; what is not registered is never called."""

    def __init__(self, tools: Mapping[str, Tool] | None = None) -> None:
        self._tools = dict(tools or {})

    def register(self, name: str, tool: Tool) -> None:
        """Let a tool be called again: it only reads, and the same call may be made twice."""
        self._tools[name] = tool

    def __contains__(self, name: str) -> bool:
        return name in self._tools

    def fetch(self, wanted: Wanted, plan: SourcePlan) -> str:
        """Return what the tool returns now: its text, or its value as JSON.

        Raises:
            Unavailable: it is not registered, fails, or takes too long; its thread is left to end.

        """
        tool = self._tools.get(wanted.tool)
        if tool is None:
            raise Unavailable(f"{wanted.tool} is not registered as safe to repeat")
        result: Future[Any] = Future()
        Thread(target=_run, args=(result, tool, wanted.arguments), daemon=True).start()
        try:
            value = result.result(plan.timeout_seconds)
        except TimeoutError as late:
            raise Unavailable(f"{wanted.tool} took over {plan.timeout_seconds} seconds") from late
        except (
            Exception
        ) as failure:  # the host's own function: whatever it raises, others may answer
            raise Unavailable(f"{wanted.tool} failed: {failure}") from failure
        return _limited(value, plan.largest_bytes, wanted.tool)


def _run(result: Future[Any], tool: Tool, arguments: Mapping[str, Any]) -> None:
    try:
        result.set_result(tool(**arguments))
    except BaseException as failure:  # noqa: BLE001 - handed on to the thread that waits
        result.set_exception(failure)


def _limited(value: Any, largest_bytes: int, tool: str) -> str:
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError) as failure:
        raise Unavailable(f"{tool} returned what is neither text nor JSON") from failure
    if len(text.encode("utf-8", "replace")) > largest_bytes:
        raise Unavailable(f"{tool} returned more than {largest_bytes:,} bytes")
    return text
