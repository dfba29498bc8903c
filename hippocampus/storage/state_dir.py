"""Every path of a state directory, each named once.

Names only: nothing is read, written or created here.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

MAX_READABLE_CHARACTERS = 80
"""The part of a session's name that its files show; a hash of the whole name follows."""
DEFAULT_AGENT = "default"
"""The agent of facts and memory files where no other is named."""
LEDGER_SUFFIX = ".sqlite3"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.md$")


@dataclass(frozen=True, slots=True)
class StateDir:
    """The layout of a state directory, under one root.

    >>> StateDir(Path("state")).ledger("ticket/47").as_posix()
    'state/sessions/ticket%2F47-289275147ad2.sqlite3'
    """

    root: Path

    @property
    def contents(self) -> Path:
        """Return the folder of the content store."""
        return self.root / "contents"

    @property
    def tombstones(self) -> Path:
        """Return the database of the contents that garbage collection removed."""
        return self.root / "tombstones.sqlite3"

    @property
    def facts(self) -> Path:
        """Return the database of the long-term memory."""
        return self.root / "memory.sqlite3"

    @property
    def entry_index(self) -> Path:
        """Return the database of which session has which entry."""
        return self.root / "entries.sqlite3"

    @property
    def hook_log(self) -> Path:
        """Return the log of the hooks of coding agents: each edit that they asked for, each failure."""
        return self.root / "hooks.jsonl"

    @property
    def proxy(self) -> Path:
        """Return the database of the conversations that the proxy recognises."""
        return self.root / "proxy.sqlite3"

    # One file a session

    @property
    def sessions(self) -> Path:
        """Return the folder of the ledgers."""
        return self.root / "sessions"

    def ledger(self, session: str) -> Path:
        """Return the ledger of a session of any name."""
        return self.sessions / f"{file_stem(session)}{LEDGER_SUFFIX}"

    def ledgers(self) -> list[Path]:
        """Return the ledgers that exist, sorted."""
        return sorted(self.sessions.glob(f"*{LEDGER_SUFFIX}"))

    @property
    def archive(self) -> Path:
        """Return the folder of the raw conversations."""
        return self.root / "archive"

    def journal(self, session: str) -> Path:
        """Return the archive of a running session, one JSON object a line."""
        return self.archive / f"{file_stem(session)}.jsonl"

    def journal_lock(self, session: str) -> Path:
        """Return the lock that one writer of a journal at a time holds; 256 serve all sessions."""
        return self.archive / f".lock-{file_stem(session)[-2:]}"

    def packed_archive(self, session: str) -> Path:
        """Return the archive of a session that ended."""
        return self.archive / f"{file_stem(session)}.jsonl.zst"

    def journals(self) -> list[Path]:
        """Return the journals that exist, sorted."""
        return sorted(self.archive.glob("*.jsonl"))

    def packed_archives(self) -> list[Path]:
        """Return the packed archives that exist, sorted."""
        return sorted(self.archive.glob("*.jsonl.zst"))

    @property
    def search(self) -> Path:
        """Return the folder of the search indexes."""
        return self.root / "search"

    def search_index(self, session: str) -> Path:
        """Return the search index of a session."""
        return self.search / f"{file_stem(session)}{LEDGER_SUFFIX}"

    def copies_of(self, ledger: Path) -> list[Path]:
        """Return the files with words of the session of a ledger: archives and search indexes."""
        return [
            *sorted(self.archive.glob(f"{ledger.stem}.jsonl*")),
            *sorted(self.search.glob(f"{ledger.name}*")),
        ]

    # What people read

    def memory_file(self, agent: str = DEFAULT_AGENT) -> Path:
        """Return the memory file of an agent."""
        return self.root / f"MEMORY{_of_agent(agent)}.md"

    @property
    def memory(self) -> Path:
        """Return the folder of the daily logs and of the known lines of memory files."""
        return self.root / "memory"

    @property
    def memory_lock(self) -> Path:
        """Return the lock of memory files and daily logs."""
        return self.memory / ".lock"

    def known_lines(self, agent: str = DEFAULT_AGENT) -> Path:
        """Return the record of the lines that were written to the memory file of an agent."""
        return self.memory / f"lines{_of_agent(agent)}.json"

    def agents(self) -> list[str]:
        """Return the agents whose memory files are known, the default one first."""
        names = [path.stem for path in sorted(self.memory.glob("lines-*.json"))]
        return [DEFAULT_AGENT, *(unquote(name.removeprefix("lines-")) for name in names)]

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


def file_stem(session: str) -> str:
    """Return the name that the files of a session share, without their suffix."""
    digest = hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    readable = quote(session, safe="", errors="replace")[:MAX_READABLE_CHARACTERS]
    return f"{readable}-{digest}"


def _of_agent(agent: str) -> str:
    return "" if agent == DEFAULT_AGENT else f"-{quote(agent, safe='')}"
