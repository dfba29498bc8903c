"""Memory blocks: named texts of an agent, changed by appending and by replacing."""

from __future__ import annotations

from collections.abc import Callable

from hippocampus.entries.entry import storable
from hippocampus.errors import BlockError
from hippocampus.storage.database import Database
from hippocampus.storage.facts.rows import EVERY_AGENT, Block

SELECT = "SELECT agent, scope, key, value, updated FROM block"
OF_NAME = "agent = ? AND scope = ? AND key = ?"
INSERT = "INSERT INTO block (agent, scope, key, value, updated) VALUES (?, ?, ?, ?, ?)"

MAX_CHARACTERS = 100_000


class Blocks:
    """The blocks of one file; a block is named by agent, scope and key."""

    def __init__(
        self,
        database: Database,
        clock: Callable[[], float],
        agent: str,
        refusal: Callable[[str], str],
    ) -> None:
        """Take the tables; `refusal` returns why a text cannot be kept, or nothing."""
        self._db = database
        self._clock = clock
        self._agent = agent
        self._refusal = refusal

    def get(self, key: str, *, agent: str | None = None, scope: str = "") -> Block | None:
        """Return a block, or nothing where it is missing."""
        found = self._db.rows(f"{SELECT} WHERE {OF_NAME}", (agent or self._agent, scope, key))
        return Block(*found[0]) if found else None

    def list(self, *, agent: str | None = None) -> list[Block]:
        """Return the blocks of an agent (`*` is all), by scope and key."""
        agent = agent or self._agent
        ordered = f"{SELECT} WHERE (? OR agent = ?) ORDER BY agent, scope, key"
        found = self._db.rows(ordered, (agent == EVERY_AGENT, agent))
        return [Block(*row) for row in found]

    def set(self, key: str, value: str, *, agent: str | None = None, scope: str = "") -> Block:
        """Write a block, in place of an earlier one.

        Raises:
            BlockError: the key is empty, or the value is too long or cannot be kept.
        """
        if not key.strip():
            raise BlockError("empty", key, "a memory block needs a name")
        if len(value) > MAX_CHARACTERS:
            long = f"block {key!r} would have {len(value)} characters; {MAX_CHARACTERS} fit"
            raise BlockError("too_long", key, long)
        if why := self._refusal(f"{key}\n{value}"):
            raise BlockError("refused", key, f"the block is not changed: {why}")
        block = Block(agent or self._agent, scope, storable(key), storable(value), self._clock())
        put = "ON CONFLICT (agent, scope, key) DO UPDATE SET value = excluded.value, updated = excluded.updated"
        self._db.run(f"{INSERT} {put}", block)
        return block

    def add(self, block: Block) -> bool:
        """Write a block as it is where none of its name is, and return whether it was written."""
        return bool(self._db.rows(f"{INSERT} ON CONFLICT DO NOTHING RETURNING key", block))

    def append(self, key: str, text: str, *, agent: str | None = None, scope: str = "") -> Block:
        """Add a text to a block after a newline; make the block where it is missing.

        Raises:
            BlockError: the block would be too long, or cannot be kept.
        """
        with self._db.transaction():
            old = self.get(key, agent=agent, scope=scope)
            value = f"{old.value}\n{text}" if old and old.value else text
            return self.set(key, value, agent=agent, scope=scope)

    def replace(
        self, key: str, old: str, new: str, *, agent: str | None = None, scope: str = ""
    ) -> Block:
        """Put one text in the place of another everywhere in a block, literally.

        Raises:
            BlockError: the block is missing, the text is not in it, or the new one is too long or cannot be kept.
        """
        with self._db.transaction():
            block = self.get(key, agent=agent, scope=scope)
            if block is None:
                raise BlockError("missing", key, f"there is no memory block {key!r}")
            if not old:
                raise BlockError("empty", key, "the text to replace is empty")
            if old not in block.value:
                raise BlockError("no_match", key, f"block {key!r} does not contain {old!r}")
            return self.set(key, block.value.replace(old, new), agent=agent, scope=scope)

    def delete(self, key: str, *, agent: str | None = None, scope: str = "") -> bool:
        """Delete a block and return whether it was there."""
        gone = f"DELETE FROM block WHERE {OF_NAME} RETURNING key"
        return bool(self._db.rows(gone, (agent or self._agent, scope, key)))
