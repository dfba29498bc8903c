"""The source `tool`: repeats a call, of tools that the host registers as safe to repeat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hippocampus.recall.sources.plan import FetchRequest, SourcePlan, Unavailable

Tool = Callable[..., Any]
"""A function of the host that takes the call's arguments by name."""


class RepeatableTools:
    """The tools that may be called again; others are never called."""

    def __init__(self, tools: Mapping[str, Tool] | None = None) -> None:
        self._tools = dict(tools or {})

    def register(self, name: str, tool: Tool) -> None:
        """Register a tool that only reads, so that the same call may be repeated."""
        self._tools[name] = tool

    def __contains__(self, name: str) -> bool:
        return name in self._tools

    def fetch(self, request: FetchRequest, _plan: SourcePlan) -> Any:
        """Return the result of the repeated call.

        Raises:
            Unavailable: it is not registered.

        """
        tool = self._tools.get(request.tool)
        if tool is None:
            raise Unavailable(f"{request.tool} is not registered as safe to repeat")
        return tool(**request.arguments)
