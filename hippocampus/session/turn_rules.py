"""The rules of a turn: the policy, the prices, and the numbers that no policy sets. No I/O."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hippocampus import indexing
from hippocampus.models import tokens
from hippocampus.policy import Policy, Resolution
from hippocampus.prices import Prices
from hippocampus.recall import TOOL_NAME

if TYPE_CHECKING:
    from hippocampus.session.resources import Summaries

HOST_PREFIX = re.compile(r"(?:.*(?:__|[./:])|.*hippocampus[_-])", re.DOTALL)
"""What hosts write before a tool's own name: `mcp__server__`, `server.`, `hippocampus_`."""
FOLDED_LIMITS = 3
"""A new list that passes its limit by this many limits has digests first: no entries are written for what
they replace."""


@dataclass(frozen=True, slots=True)
class Constants:
    """The numbers that decide when the past of a view is edited, and how much stays in its place.

    No policy sets them: shares and parts without a unit, turns, tokens. What other values do, chosen
    with one owner left out:

        python -m tests.bench.policy_numbers PATH...
    """

    chance_of_use: float = 0.5
    """How likely a payload at full strength is used in the next ten turns: a record has the curve."""
    risky_turns: int = 30
    """The turns in which a payload is taken to have the strength that it has now."""
    roomy_share: float = 3 / 4
    """The share of its limit to which a forced view shrinks."""
    faded_part: int = 3
    """The part of its content that the entry of something small and faded weighs at most."""
    sleeping_part: int = 15
    """A dormant entry may have one token more per this many of its content."""
    sleeping_more_tokens: int = 300
    """At most this many more."""
    min_saved_tokens: int = 2_000
    """What digests have to save: many of few turns show less than one of many turns, even where no
    provider caches anything."""
    limit_share: float = 1 / 4
    """The share of the view's limit that all digests together may take."""
    digest_share: float = 1 / 5
    """The tokens of digests without files, as a share of the tokens that they replace."""
    shown_share: float = 1 / 2
    """The same as a share of the view's tokens: entries may have shortened the messages before."""
    steps_share: float = 0.5
    """The share of a digest for the steps; the rest shows the files."""
    outcome_part: int = 10
    """The part of its tokens by which a result is shown in a digest."""
    outline_part: int = 6
    """The part of the tokens of a changed file that its outline has."""
    read_share: float = 1 / 4
    """The share that is shown of a file that the agent read earlier and did not change."""
    whole_turns: int = 24
    """The turns after it was read in which a file is shown whole."""


CONSTANTS = Constants()


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one session."""

    session: str
    """The session's id, from which the ids of entries are made."""
    policy: Policy
    prices: Prices
    summaries: Summaries | None = None
    mark_tokens: Sequence[int] | None = None
    """The tokens of the last view up to its cache marks but the last one; None where the provider
    finds any prefix, or where marks are not known."""
    mark: str = ""
    """The letters that open the ids of entries, as the ledger has them."""
    recall_names: Sequence[str] = (TOOL_NAME,)
    """The names of the recall tool, under which its answers are recognised."""
    kinds: dict[bytes, str] = field(default_factory=dict)
    """By the digest of a text its kind: a cache, filled as texts are asked about."""

    @property
    def limit_tokens(self) -> int:
        """Return the tokens that no view should pass; 0 is no limit."""
        threshold = int(self.policy.context_threshold * self.prices.window_tokens)
        return min((limit for limit in (self.policy.budget_tokens, threshold) if limit), default=0)

    def is_folded_first(self, total_tokens: int) -> bool:
        """Return whether a new list of that size has digests first, so that few of its texts are read."""
        limit = self.limit_tokens
        return bool(limit) and total_tokens - limit > FOLDED_LIMITS * limit

    def is_recall(self, tool: str) -> bool:
        """Return whether a tool is the recall tool, under a host's prefix too.

        >>> from hippocampus.prices import TABLES
        >>> rules = Rules("s", Policy(), TABLES["openai"])
        >>> [rules.is_recall(f"{before}recall") for before in ("mcp__hippocampus__", "hippocampus_", "do_")]
        [True, True, False]
        """
        return any(
            tool.endswith(name) and (tool == name or HOST_PREFIX.fullmatch(tool.removesuffix(name)))
            for name in self.recall_names
        )

    def indexes(self, text: str, size_tokens: int, resolution: Resolution) -> bool:
        """Return whether a text of this size becomes an entry."""
        return self.policy.indexes(size_tokens, lambda: self.kind_of(text), resolution)

    def kind_of(self, text: str) -> str:
        """Return the kind of a text, such as `json`."""
        key = tokens.digest(text)
        if key not in self.kinds:
            self.kinds[key] = indexing.kind_of(text)
        return self.kinds[key]

    def summary_of(self, name: str, text: Callable[[], str]) -> str | None:
        """Return the line of the host's summariser for a text; None without one in time."""
        if self.summaries is None:
            return None
        self.summaries.ask(name, text())
        return self.summaries.take(name)
