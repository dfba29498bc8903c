"""Every path of a state directory, named once.

Names only: no file is read, written or created here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

DEFAULT_AGENT = "default"
"""The agent of facts and memory files where no other is named."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.md$")


@dataclass(frozen=True, slots=True)
class StateDir:
    """The layout of a state directory, under one root.

    >>> StateDir(Path("state")).memory_file("ann").as_posix()
    'state/MEMORY-ann.md'
    """

    root: Path
    database_name: str = "state.sqlite3"
    """The name of the database; that of a backup is another."""

    @property
    def contents(self) -> Path:
        """Return the folder of the content store."""
        return self.root / "contents"

    @property
    def database(self) -> Path:
        """Return the database of sessions, facts, tombstones, proxies and hooks."""
        return self.root / self.database_name

    # What people read

    def memory_file(self, agent: str = DEFAULT_AGENT) -> Path:
        """Return the memory file of an agent."""
        quoted = quote(agent, safe="", errors="surrogatepass")
        suffix = "" if agent == DEFAULT_AGENT else f"-{quoted}"
        return self.root / f"MEMORY{suffix}.md"

    @property
    def memory(self) -> Path:
        """Return the folder of the daily logs."""
        return self.root / "memory"

    @property
    def memory_lock(self) -> Path:
        """Return the lock of memory files and daily logs."""
        return self.memory / ".lock"

    def agents(self) -> list[str]:
        """Return the agents that have a memory file, and the default one, which is the first."""
        paths = sorted(self.root.glob("MEMORY-*.md"))
        named = [(unquote(path.stem.removeprefix("MEMORY-")), path) for path in paths]
        # A file of another name is none of ours; it may have no agent's name at all.
        return [DEFAULT_AGENT, *(agent for agent, path in named if self.memory_file(agent) == path)]

    def daily_log(self, day: str) -> Path:
        """Return the log of a day, such as `2026-02-09`."""
        return self.memory / f"{day}.md"

    def daily_logs(self) -> list[Path]:
        """Return the daily logs that exist, oldest first."""
        return sorted(path for path in self.memory.glob("*.md") if _DAY.fullmatch(path.name))

    @property
    def defrag_lock(self) -> Path:
        """Return the lock that one `defrag` at a time holds."""
        return self.root / "defrag" / ".lock"
