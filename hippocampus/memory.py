"""The memory of one state directory: where its sessions, contents and policy come together.

Opens what sessions share; what a session does with it is not here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hippocampus import policy, prices, tokens
from hippocampus.policy import Policy
from hippocampus.prices import Prices
from hippocampus.session import Means, Session
from hippocampus.store import DiskStore
from hippocampus.summaries import Summaries

if TYPE_CHECKING:
    from hippocampus.facts import Facts

CONTENTS_FOLDER = "contents"
SESSIONS_FOLDER = "sessions"
FACTS_FILE = "memory.sqlite3"
SUMMARY_SECONDS = 2.0
"""How long a turn waits for a summary at most."""


class Hippocampus:
    """The memory of one state directory: its sessions, and the contents that they put away."""

    def __init__(  # noqa: PLR0913 - each is one thing that a user may want to set
        self,
        state_dir: str | Path,
        *,
        policy: str | Path | Policy = "default",
        model: str | None = None,
        prices: Prices | None = None,
        summarise: Callable[[str], str] | None = None,
        summary_seconds: float = SUMMARY_SECONDS,
    ) -> None:
        """Open (and make, where it is missing) a state directory.

        `policy` is a shipped policy's name or a file's path. `model` sets prices, context window
        and tokenizer; without it prices are Anthropic's for its 5-minute cache. `summarise` may
        write an entry's summary line: it is called in a thread, beside the turn, and a turn waits
        for it `summary_seconds` at most (0 takes what is ready); where it fails or is late the
        entry keeps the line that is written without a model.

        Raises:
            PolicyError: the policy cannot be read; every problem is told.
            ModelError: no model of that name is known.
            StoreError: the directory cannot be used.

        """
        folder = Path(state_dir)
        declared = policy if isinstance(policy, Policy) else _load_policy(policy)
        self._folder = folder
        self._facts: Facts | None = None
        self._store = DiskStore(folder / CONTENTS_FOLDER)
        self._means = Means(
            folder=folder / SESSIONS_FOLDER,
            store=self._store,
            policy=declared,
            prices=prices or _prices_of(declared, model),
            encoding=tokens.encoding_for(model or declared.model),
            summaries=Summaries(summarise, summary_seconds) if summarise else None,
        )

    def session(self, session_id: str) -> Session:
        """Return the session of an id; the same id after a restart is the same session.

        Raises:
            StoreError: the session's ledger cannot be opened.

        """
        return Session(session_id, self._means)

    @property
    def facts(self) -> Facts:
        """Return the long-term memory of this directory: facts and memories in one SQLite file.

        Raises:
            FactError: the file cannot be opened.

        """
        if self._facts is None:
            from hippocampus.facts import Facts

            self._facts = Facts(self._folder / FACTS_FILE)
        return self._facts

    def close(self) -> None:
        """Close the content store; a summary under way is not waited for."""
        self._store.close()
        if self._facts is not None:
            self._facts.close()
        if self._means.summaries:
            self._means.summaries.close()


def _load_policy(named: str | Path) -> Policy:
    return policy.load(named)


def _prices_of(declared: Policy, model: str | None) -> Prices:
    """Return the caller's model's prices, else what the policy names, else Anthropic's."""
    if model is None and declared.prices is None and declared.model is None:
        return prices.TABLES["anthropic-5m"]
    return prices.prices_for(declared.prices, model or declared.model)
