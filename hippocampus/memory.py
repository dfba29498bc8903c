"""The memory of one state directory: where its sessions, contents and policy come together.

Opens what sessions share; what a session does with it is not here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hippocampus import policy, prices, tokens
from hippocampus.policy import Policy
from hippocampus.prices import Prices
from hippocampus.session import Means, Session
from hippocampus.store import DiskStore
from hippocampus.summaries import Summaries

CONTENTS_FOLDER = "contents"
SESSIONS_FOLDER = "sessions"
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
        self._store = DiskStore(folder / CONTENTS_FOLDER)
        self._means = Means(
            folder=folder / SESSIONS_FOLDER,
            store=self._store,
            policy=policy if isinstance(policy, Policy) else _load_policy(policy),
            prices=prices or _prices_of(model),
            encoding=tokens.encoding_for(model),
            summaries=Summaries(summarise, summary_seconds) if summarise else None,
        )

    def session(self, session_id: str) -> Session:
        """Return the session of an id; the same id after a restart is the same session.

        Raises:
            StoreError: the session's ledger cannot be opened.

        """
        return Session(session_id, self._means)

    def close(self) -> None:
        """Close the content store; a summary under way is not waited for."""
        self._store.close()
        if self._means.summaries:
            self._means.summaries.close()


def _load_policy(named: str | Path) -> Policy:
    return policy.load(named)


def _prices_of(model: str | None) -> Prices:
    return prices.TABLES["anthropic-5m"] if model is None else prices.model_prices(model)
