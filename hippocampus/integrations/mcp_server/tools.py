"""What the tools, resources and the prompt of the MCP server do, on one memory.

A public method is one of them: its docstring is the description, `ARGUMENTS` has the arguments of the tools.
The tools of the fact store are defined in `facts.tools`.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase
from pydantic import Field, create_model

from hippocampus.errors import RecallError
from hippocampus.facts import tools as fact_tools
from hippocampus.facts import upkeep
from hippocampus.recall import calls, definition
from hippocampus.storage.state import StateStore

if TYPE_CHECKING:
    from hippocampus.facts import Facts
    from hippocampus.memory import Hippocampus
    from hippocampus.session.session import Session

MAX_LISTED = 50
FIGURES = {"turn", "raw_tokens", "sent_tokens", "raw_cost", "sent_cost", "stages", "entries"}
"""The figures of a session that a model may ask for."""
NO_SESSION = "this memory has no session yet: entries appear once a hook or an agent has stored one"
SELECTORS: Mapping[str, Any] = definition.PARAMETERS["properties"]

SessionId = Annotated[str, Field(description="A session's id; the newest session if left out.")]
ScopeName = Annotated[str, Field(description="One part of the memory; all of it if left out.")]

SESSION: Any = {"session_id": (SessionId, "")}
SELECTED: Any = dict.fromkeys(SELECTORS, (Any, None))
"""A recall reads its selectors itself: what a model writes as text or number is both read."""
SCOPE: Any = {"scope": (ScopeName, "")}
ARGUMENTS: Mapping[str, Any] = {
    "recall": create_model("recall", __base__=ArgModelBase, **SELECTED, **SESSION),
    "session_status": create_model("session_status", __base__=ArgModelBase, **SESSION),
    "compact": ArgModelBase,
    **{
        name: create_model(name, __base__=(tool.arguments, ArgModelBase), **SCOPE)
        for name, tool in fact_tools.TOOLS.items()
    },
}
"""The arguments of a method of `Tools`, or of a tool of the fact store."""


class Tools:
    """The functions of the tools."""

    def __init__(
        self,
        state: StateStore,
        memory: Hippocampus,
        facts: Facts,
        agent: str = "",
        *,
        is_alone: bool = True,
    ) -> None:
        """Only the memory of `agent` is reached; no argument of a call names another.

        Sessions without an owner are this agent's where it `is_alone` in the memory.
        """
        self._owners = {agent, ""} if is_alone else {agent}
        self._state = state
        self._memory = memory
        self._facts = facts
        self._agent = agent
        self.observers = memory.observers

    # Stored payloads

    def recall(self, session_id: str, **given: Any) -> str:
        """Return a part of a stored payload."""
        name = self._name(session_id, calls.read_call("", given).entry_id or "")
        with self._session(name) as session:
            return session.answer(given)

    def session_status(self, session_id: str) -> str:
        """Return the figures of a session as JSON: tokens, costs, entries with the newest first."""
        name = self._name(session_id)
        with self._session(name) as session:
            status, records = session.status(), session.report.records()
        if problem := status["problem"]:  # its zeros are no figures
            raise ToolError(problem)
        entries = [
            {"id": item.entry.id, "tool": item.tool, "kind": item.kind, "tokens": item.tokens}
            for item in records[: -MAX_LISTED - 1 : -1]
        ]
        figures = {figure: value for figure, value in status.items() if figure in FIGURES}
        return json.dumps({"session": name, **figures, "newest": entries})

    def entry(self, entry_id: str) -> str:
        """Return the whole text of an entry."""
        try:
            with self._session(self._name("", entry_id)) as session:
                return session.entries.text(entry_id)
        except (RecallError, ToolError) as missing:
            raise ResourceNotFoundError(str(missing)) from missing

    def _name(self, session_id: str, entry_id: str = "") -> str:
        """Return the name of the session that is meant: by its id, by an entry, else the newest."""
        state = self._state
        owner = None if session_id or not entry_id else state.entry_of(entry_id)
        name = session_id or (owner[0] if owner else "")
        if not name:
            newest = state.earlier("", self._agent, 1)
            name = newest[0].session if newest else ""
        if not name or state.agent_of(name) not in self._owners:
            named = session_id or entry_id
            raise ToolError(f"this memory has no session of {named!r}" if named else NO_SESSION)
        return name

    @contextlib.contextmanager
    def _session(self, name: str) -> Iterator[Session]:
        """Return a session for a `with` block: it is another process that ends it."""
        session = self._memory.session(name, agent="")
        try:
            yield session
        finally:
            session.release()

    # Long-term memory

    def fact_tool(self, called: str, scope: str, **given: Any) -> str:
        """Run a tool of the fact store, on the part of the agent's memory that a call names."""
        reach = fact_tools.Reach(self._agent or None, scope, [scope] if scope else None)
        text = fact_tools.call(self._facts, called, given, reach)
        if text.startswith('{"error":'):
            raise ToolError(text)
        return text

    def compact(self) -> str:
        """Remove memories that faded or are there twice; return how many were removed and remain."""
        done = upkeep.compact(self._facts.tables, agent=self._agent or None)
        return json.dumps({"removed": len(done.removed), "remaining": done.remaining})

    # Resources and the prompt

    def block(self, key: str) -> str:
        """Return the text of a memory block."""
        found = self._facts.blocks.get(key, agent=self._agent or None)
        if found is None:
            raise ResourceNotFoundError(f"there is no block {key!r}")
        return found.value

    def blocks(self) -> str:
        """Return the names and sizes of the memory blocks, as JSON."""
        found = self._facts.blocks.list(agent=self._agent or None)
        sizes = ((block.key, block.scope, len(block.value)) for block in found)
        return json.dumps(
            [{"key": key, "scope": scope, "characters": n} for key, scope, n in sizes]
        )

    def context_load(self, task: str = "") -> str:
        """Return what the memory has for a task: preferences, what matters most, and what fits it."""
        found = self._facts.context_load(task, agent=self._agent or None)
        return found or "The memory is empty."
