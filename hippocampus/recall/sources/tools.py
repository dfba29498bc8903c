"""The source `tool`: a call is made again, of tools that the host says are safe to repeat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hippocampus.recall.sources.plan import SourcePlan, Unavailable, Wanted

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

    def fetch(self, wanted: Wanted, _plan: SourcePlan) -> Any:
        """Return what the tool returns now.

        Raises:
            Unavailable: it is not registered.

        """
        tool = self._tools.get(wanted.tool)
        if tool is None:
            raise Unavailable(f"{wanted.tool} is not registered as safe to repeat")
        return tool(**wanted.arguments)
