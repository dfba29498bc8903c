"""What the tools, resources and the prompt of the MCP server do, on one memory.

Each public method is one of them: its parameters are the arguments, its docstring the description.
"""

from __future__ import annotations

import contextlib
import inspect
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from pydantic import Field

from hippocampus.errors import RecallError
from hippocampus.facts.rendering import entry_line
from hippocampus.recall import calls, definition
from hippocampus.storage import ledger
from hippocampus.storage.state_dir import StateDir

if TYPE_CHECKING:
    from hippocampus.facts import Facts
    from hippocampus.memory import Hippocampus
    from hippocampus.session.session import Session

MAX_LISTED = 50
NO_SESSION = "this memory has no session yet: entries appear once a hook or an agent has stored one"
SELECTORS: Mapping[str, Any] = definition.PARAMETERS["properties"]

SessionId = Annotated[str, Field(description="A session's id; the newest session if left out.")]
ScopeName = Annotated[str, Field(description="One part of the memory; all of it if left out.")]
Key = Annotated[str, Field(min_length=1, description="The block's name, such as persona.")]
Limit = Annotated[int, Field(ge=1, le=50, description="The most results.")]
Share = Annotated[float, Field(ge=0, le=1)]


def _with_selectors(recall: Callable[..., str]) -> Callable[..., str]:
    """Return a method whose signature names what a recall may select, of any type."""
    own = inspect.signature(recall, eval_str=True)
    named = [each for each in own.parameters.values() if each.kind is not each.VAR_KEYWORD]
    selectors = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Any)
        for name in SELECTORS
    ]
    recall.__signature__ = own.replace(parameters=[named[0], *selectors, *named[1:]])  # type: ignore[attr-defined]
    return recall


class Tools:
    """The functions behind the tools."""

    def __init__(
        self,
        state: StateDir,
        memory: Hippocampus,
        facts: Facts,
        agent: str = "",
        *,
        is_alone: bool = True,
    ) -> None:
        """`agent` is whose memory the tools reach; no argument of a call names another.

        Sessions without an owner are this agent's where it `is_alone` in the memory.
        """
        self._owners = {agent, ""} if is_alone else {agent}
        self._state = state
        self._memory = memory
        self._facts = facts
        self._agent = agent

    # Stored payloads

    @_with_selectors
    def recall(self, *, session_id: SessionId = "", **given: Any) -> str:
        """Return a part of a stored payload; what a model writes as text or number is both read."""
        name = self._name(session_id, calls.read_call("", given).entry_id or "")
        with self._session(name) as session:
            return session.answer(given)

    def session_status(self, session_id: SessionId = "") -> str:
        """Return the figures of a session as JSON: tokens, costs, entries with the newest first."""
        name = self._name(session_id)
        with contextlib.closing(ledger.Ledger(self._state, name)) as log:
            call, records = log.last_call(), log.records()
        figures = {
            "session": name,
            "turn": call.turn if call else 0,
            "raw_tokens": call.raw_tokens if call else 0,
            "sent_tokens": call.sent_tokens if call else 0,
            "raw_cost": round(call.raw_cost, 1) if call else 0.0,
            "sent_cost": round(call.sent_cost, 1) if call else 0.0,
            "stages": Counter(str(each.stage) for each in records),
        }
        entries = [
            {"id": each.entry.id, "tool": each.tool, "kind": each.kind, "tokens": each.tokens}
            for each in records[: -MAX_LISTED - 1 : -1]
        ]
        return json.dumps({**figures, "entries": len(records), "newest": entries})

    def entry(self, entry_id: str) -> str:
        """Return the whole text of an entry."""
        try:
            with self._session(self._name("", entry_id)) as session:
                return session.text(entry_id)
        except (RecallError, ToolError) as missing:
            raise ResourceNotFoundError(str(missing)) from missing

    def _name(self, session_id: str, entry_id: str = "") -> str:
        """Return the name of the session that is meant: by its id, by an entry, else the newest."""
        state = self._state
        name = session_id or (ledger.owner_of(state, entry_id) if entry_id else "")
        if not name:
            newest = next(ledger.earlier(state, "", self._agent, 1), None)
            name = newest.session if newest else ""
        is_there = bool(name) and state.ledger(name).exists()
        if is_there:
            with contextlib.closing(ledger.Ledger(state, name)) as log:
                is_there = log.agent() in self._owners
        if not is_there:
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

    def remember(
        self,
        text: Annotated[str, Field(min_length=1, max_length=10_000, description="What to keep.")],
        scope: ScopeName = "",
    ) -> str:
        """Keep the facts of a text, such as a preference, or a decision with its reason."""
        return self._call("remember_facts", {"text": text}, scope)

    def store(
        self,
        content: Annotated[str, Field(min_length=1, max_length=50_000, description="The text.")],
        metadata: Annotated[
            dict[str, Any] | None, Field(description="Anything to keep with it.")
        ] = None,
        scope: ScopeName = "",
    ) -> str:
        """Keep a text word by word; the same text again only strengthens the first."""
        given = {"content": content, "metadata": metadata or {}}
        return self._call("store_memory", given, scope)

    def search(
        self,
        query: Annotated[
            str, Field(description="The words to look for; without any, the most important.")
        ] = "",
        limit: Limit = 10,
        type: Annotated[  # noqa: A002 - the word of the schema
            str, Field(description="Only this type; with ! in front, all but this one.")
        ] = "",
        kind: Annotated[
            Literal["", "fact", "memory"], Field(description="Only facts, or only stored texts.")
        ] = "",
        scope: ScopeName = "",
    ) -> str:
        """Search what was remembered and stored, best first, with dates and ids."""
        agent, scopes = self._agent or None, [scope] if scope else None
        if not (query or type or kind):
            text = self._facts.context_load(limit=limit, agent=agent, scopes=scopes)
            return text or "Nothing is known yet."
        found = self._facts.recall(
            query,
            limit=limit,
            types=[type] if type else (),
            kinds=[kind] if kind else (),
            agent=agent,
            scopes=scopes,
        )
        lines = (f"{entry_line(each.memory)} (id {each.memory.id})" for each in found)
        return "\n".join(lines) or "Nothing is known about this."

    def forget(
        self,
        description: Annotated[
            str, Field(min_length=1, description="The words that name it, or the id of a memory.")
        ],
        threshold: Annotated[Share, Field(description="How near a memory has to be.")] = 0.7,
        scope: ScopeName = "",
    ) -> str:
        """Delete for good the memories that certainly match a description, and list them."""
        given = {"description": description, "threshold": threshold}
        return self._call("forget_memory", given, scope)

    def read_block(self, key: Key, scope: ScopeName = "") -> str:
        """Return a named block of text; null if there is none."""
        return self._call("recall_memory_block", {"key": key}, scope)

    def append_block(
        self,
        key: Key,
        content: Annotated[str, Field(min_length=1, description="The text to add.")],
        scope: ScopeName = "",
    ) -> str:
        """Add a line to a named block of text, which is made if it is missing."""
        given = {"key": key, "content": content}
        return self._call("append_memory_block", given, scope)

    def replace_block(
        self,
        key: Key,
        old_text: Annotated[str, Field(min_length=1, description="The text to replace.")],
        new_text: Annotated[str, Field(description="What replaces it; empty removes it.")],
        scope: ScopeName = "",
    ) -> str:
        """Replace a text everywhere in a named block."""
        given = {"key": key, "old_text": old_text, "new_text": new_text}
        return self._call("replace_memory_block", given, scope)

    def search_conversations(
        self,
        query: Annotated[str, Field(min_length=1, description="The words to look for.")],
        limit: Limit = 20,
    ) -> str:
        """Search the messages of earlier conversations by their words."""
        return self._call("recall_conversation", {"query": query, "limit": limit}, "")

    def _call(self, name: str, given: Mapping[str, Any], scope: str) -> str:
        scopes = [scope] if scope else None
        text = self._facts.call(name, given, agent=self._agent, scope=scope, scopes=scopes)
        if text.startswith('{"error":'):
            raise ToolError(text)
        return text

    # scriptling's

    def remember_one(
        self,
        content: Annotated[str, Field(min_length=1, description="What to remember.")],
        type: Annotated[str, Field(description="fact, preference, event or note.")] = "note",  # noqa: A002
        importance: Annotated[Share, Field(description="How much it matters.")] = 0.5,
        scope: ScopeName = "",
    ) -> str:
        """Remember one thing; a very similar one is updated."""
        given = {"content": content, "type": type, "importance": importance}
        return self._call("memory_remember", given, scope)

    def forget_id(
        self,
        id: Annotated[str, Field(min_length=1, description="The id of a memory.")],  # noqa: A002
        scope: ScopeName = "",
    ) -> str:
        """Delete one memory for good, by its id."""
        return self._call("memory_forget", {"id": id}, scope)

    def compact(self) -> str:
        """Remove memories that faded or are there twice; return how many were removed and remain."""
        done = self._facts.compact(agent=self._agent or None)
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
        return json.dumps([{"key": each.key, "characters": len(each.value)} for each in found])

    def context_load(self, task: str = "") -> str:
        """Return what the memory has for a task: preferences, what matters most, and what fits it."""
        agent = self._agent or None
        known = self._facts.context_load(agent=agent)
        texts = [known, self._facts.retrieve(task, agent=agent) if task else ""]
        return "\n\n".join(filter(None, texts)) or "The memory is empty."
