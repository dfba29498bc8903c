"""The fact store that a host has: its memory, and the tools with which an agent reads and writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hippocampus.facts.stored_facts import StoredFacts


class Facts(StoredFacts):
    """Long-term memory in one SQLite file, made and migrated on first use.

    `path` may be `":memory:"`. `agent` is whose memory it is where a call names no other; one file
    holds many agents, and `"*"` asks for all. `messages_table` names a table of the user's in the
    same file, which `conversations.search` then reads.

    Raises:
        StoreError: the file cannot be opened, is damaged, or is of a later version.
        EmbeddingModelError: the file was embedded with another model than `embed`'s.

    """

    def tools(self, format_name: str) -> list[dict[str, Any]]:
        """Return an agent's tools in a format: `openai`, `responses`, `anthropic`, `gemini` or `bedrock`."""
        from hippocampus.facts import tools

        return tools.tools(format_name, conversation=self.conversations.table is not None)

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | str,
        *,
        agent: str = "",
        scope: str = "",
        scopes: Sequence[str] | None = None,
    ) -> str:
        """Run a tool of an agent and return what the model reads; a failure comes back as text.

        Writes go to `scope`, recalls see `scopes` (none is all).
        """
        from hippocampus.facts import tools

        return tools.call(self, name, arguments, tools.Reach(agent or None, scope, scopes))

    @property
    def instructions(self) -> str:
        """What to add to an agent's system prompt, once, where it has these tools."""
        from hippocampus.facts import tools

        return tools.INSTRUCTIONS
