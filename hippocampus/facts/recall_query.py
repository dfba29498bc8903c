"""What a recall asks for, as a condition in SQL. Nothing is read here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hippocampus.facts.models import EVERY_AGENT, HEARSAY, Kind


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """What a recall asks for, besides its words."""

    agent: str
    at: float
    known: float
    now: float
    scopes: Sequence[str] | None = None
    types: Sequence[str] = ()
    tags: Sequence[str] = ()
    kinds: Sequence[Kind] = ()
    roles: Sequence[str] = ()
    since: float | None = None
    until: float | None = None
    include_superseded: bool = False
    hearsay: bool = True
    """Whether what the user reports of others, or supposes, is returned too."""

    @property
    def seen_from(self) -> float:
        """Return from when strength and recency count: as of a date, nothing has faded since."""
        return min(self.now, self.at, self.known)

    def condition(self) -> tuple[str, list[Any]]:
        """Return the SQL condition on rows of `memory`, with its values."""
        parts = ["removed IS NULL"]
        values: list[Any] = []
        if not self.include_superseded:
            parts.append(
                "created <= ? AND valid_from <= ? AND (until IS NULL OR until > ?"
                " OR (known_until IS NOT NULL AND known_until > ?))"
            )
            values += [self.known, self.at, self.at, self.known]
        for sql, value in self._optional():
            parts.append(sql)
            values.append(value)
        return " AND ".join(parts), values

    def _optional(self) -> Iterable[tuple[str, Any]]:  # noqa: C901 - one condition a filter
        among = "IN (SELECT value FROM json_each(?))"
        tagged = "EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)"
        if self.agent != EVERY_AGENT:
            yield "agent = ?", self.agent
        if self.scopes is not None:
            yield f"scope {among}", json.dumps(list(self.scopes))
        for column, names in (("type", self.types), ("role", self.roles)):
            wanted = [name for name in names if not name.startswith("!")]
            unwanted = [name[1:] for name in names if name.startswith("!")]
            if wanted:
                yield f"{column} {among}", json.dumps(wanted)
            if unwanted:
                yield f"{column} NOT {among}", json.dumps(unwanted)
        if self.kinds:
            yield f"kind {among}", json.dumps(list(self.kinds))
        for tag in self.tags:
            yield tagged, tag
        if not self.hearsay:
            yield f"NOT {tagged}", HEARSAY
        if self.since is not None:
            yield "valid_from >= ?", self.since
        if self.until is not None:
            yield "valid_from < ?", self.until
