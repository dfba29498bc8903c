"""Searching in SQL: which memories pass a query's filters, hold its words, and are next to others; a host's messages.

SQL only; `ranking` and `query` decide on the rank of the rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hippocampus.errors import FactError
from hippocampus.storage.database import HAVING, RANKED, Database
from hippocampus.storage.facts.memories import REWORDED, listed
from hippocampus.storage.facts.rows import EVERY_AGENT, HEARSAY, Kind, Memory, RankedRow

NAME_CHARACTERS = 40
TEXT_COLUMNS = ("content", "text", "body", "message")
"""The columns of a host's table that may have the text of a message: the first of them counts."""
PLACE = "CASE role WHEN '' THEN turn WHEN 'user' THEN 2 * turn + 1 ELSE 2 * turn END"
"""The place of a memory in its session: an answer and the user's reply to it have one turn."""
LIGHT = (
    f"row, type, intensity, accesses, accessed, created, session, {PLACE},"
    " instr(content, '?') + instr(content, '？') > 0, rtrim(content) LIKE '%?', length(content), role,"
    f" substr(content, 1, max(0, instr(substr(content, 1, {NAME_CHARACTERS}), ': ') - 1))"
)
CONDITION = f"""
    (removed IS NULL OR (:superseded AND removed = '{REWORDED}')) AND (:superseded OR (created <= :known
        AND valid_from <= :at AND (until IS NULL OR until > :at OR known_until > :known)))
    AND (:agent = '*' OR agent = :agent)
    AND (:scopes IS NULL OR scope IN (SELECT value FROM json_each(:scopes)))
    AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types)))
    AND type NOT IN (SELECT value FROM json_each(:other_types))
    AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
    AND role NOT IN (SELECT value FROM json_each(:other_roles))
    AND (:tags IS NULL OR NOT EXISTS (SELECT value FROM json_each(:tags) EXCEPT SELECT value FROM json_each(tags)))
    AND (:since IS NULL OR valid_from >= :since) AND (:until IS NULL OR valid_from < :until)
    AND (:hearsay OR NOT EXISTS (SELECT 1 FROM json_each(tags) WHERE value = :reported))
"""
"""Which rows of `memory` a `RecallQuery` is about; its values are `RecallQuery.values`."""


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """What a recall asks for, besides its words."""

    agent: str
    at: float
    known: float
    """Of when the store's knowledge is."""
    now: float
    scopes: Sequence[str] | None = None
    types: Sequence[str] = ()
    kinds: Sequence[Kind] = ()
    tags: Sequence[str] = ()
    since: float | None = None
    until: float | None = None
    other_roles: Sequence[str] = ()
    """Whose words are left out."""
    include_superseded: bool = False
    hearsay: bool = True
    """Whether what the user reports of others, or supposes, is returned too."""

    def __post_init__(self) -> None:
        """Refuse one text where a list of texts is meant."""
        for name in ("scopes", "types", "kinds", "tags"):
            if isinstance(value := getattr(self, name), str):
                raise FactError(f"{name} is a list of texts; {value!r} is one text")

    @property
    def seen_from(self) -> float:
        """Return from when strength and recency count: as of a date, nothing has faded since."""
        return min(self.now, self.at, self.known)

    def reaches(self, memory: Memory) -> bool:
        """Return whether a memory is of the agent and the scopes."""
        is_own = self.agent in {memory.agent, EVERY_AGENT}
        return is_own and (self.scopes is None or memory.scope in self.scopes)

    def values(self, **others: Any) -> dict[str, Any]:
        """Return the values of `CONDITION`, and others."""
        types = [name for name in self.types if not name.startswith("!")]
        found = {
            "superseded": self.include_superseded,
            "at": self.at,
            "known": self.known,
            "tags": json.dumps(list(self.tags)) if self.tags else None,
            "since": self.since,
            "until": self.until,
            "agent": self.agent,
            "scopes": None if self.scopes is None else json.dumps(list(self.scopes)),
            "hearsay": self.hearsay,
            "reported": HEARSAY,
            "kinds": json.dumps(list(self.kinds)) if self.kinds else None,
            "types": json.dumps(types) if types else None,
            "other_types": json.dumps([name[1:] for name in self.types if name.startswith("!")]),
            "other_roles": json.dumps(list(self.other_roles)),
        }
        return found | others


def passing(
    db: Database, query: RecallQuery, among: Iterable[int] | None = None
) -> dict[int, RankedRow]:
    """Return what ranking needs of the rows that pass the filters, of all or of the given ones."""
    if among is None:
        return _rows(db, f"FROM memory WHERE {CONDITION}", query.values())
    given = "(SELECT CAST(value AS BIGINT) AS number FROM json_each(:rows)) AS given"
    joined = f"FROM {given} CROSS JOIN memory ON row = number"
    return _rows(db, f"{joined} WHERE {CONDITION}", query.values(rows=listed(among)))


def standing_at(
    db: Database, places: Iterable[tuple[str, int]], query: RecallQuery
) -> dict[int, RankedRow]:
    """Return what ranking needs of the rows at places of sessions."""
    turns = [(session, turn, at) for session, at in places for turn in {at, at // 2}]
    if not turns:
        return {}
    name, *numbers = (f"json_extract(value, '$[{at}]')" for at in range(3))
    turn, place = (f"CAST({number} AS BIGINT)" for number in numbers)
    given = f"(SELECT {name} AS s, {turn} AS t, {place} AS p FROM json_each(:turns)) AS given"
    among = f"FROM {given} CROSS JOIN memory ON session = s AND turn = t WHERE {PLACE} = p AND {CONDITION}"
    return _rows(db, among, query.values(turns=json.dumps(turns)))


def newest_passing(db: Database, query: RecallQuery, most: int) -> list[int]:
    """Return the newest rows that pass the filters."""
    found = db.rows(
        f"SELECT row FROM memory WHERE {CONDITION} ORDER BY row DESC LIMIT :most",
        query.values(most=most),
    )
    return [row for (row,) in found]


def having(db: Database, terms: Sequence[str], most: int) -> dict[str, list[int]]:
    """Return by term the rows that it finds."""
    with_term = f"SELECT rowid FROM {HAVING} AS hit LIMIT :most"
    given = ({"match": db.expression(term), "most": most} for term in terms)
    found = db.together(*((with_term, values) for values in given))
    return {term: [row for (row,) in rows] for term, rows in zip(terms, found, strict=True)}


def matched(
    db: Database, expression: str, most: int, query: RecallQuery | None = None
) -> list[int]:
    """Return the best rows by BM25, of all or of those that pass the filters."""
    best, values = f"SELECT hit.rowid FROM {RANKED} AS hit", {}
    if query is not None:
        best += f" CROSS JOIN memory ON row = hit.rowid WHERE {CONDITION}"
        values = query.values()
    found = db.rows(
        f"{best} ORDER BY rank LIMIT :most",
        {**values, "match": db.expression(expression), "most": most},
    )
    return [row for (row,) in found]


def _rows(db: Database, rest: str, values: Mapping[str, Any]) -> dict[int, RankedRow]:
    """Return what ranking needs of the rows that the rest of a SELECT names."""
    return {row[0]: RankedRow(*row) for row in db.rows(f"SELECT {LIGHT} {rest}", values)}


# A table of the host's, next to the fact store's own tables in one file


def host_messages(
    db: Database, table: str, words: Sequence[str], limit: int
) -> list[tuple[str, dict[str, Any]]]:
    """Return the text and the columns of the messages that contain most of some words, best first.

    Raises:
        FactError: the table is missing or has no column of text.
    """
    columns = [row[1] for row in db.rows("SELECT * FROM pragma_table_info(?)", (table,))]
    if not columns:
        raise FactError(f"there is no table {table!r} in {db.path}")
    text = next((name for name in TEXT_COLUMNS if name in columns), None)
    if text is None:
        raise FactError(f"table {table!r} has none of the columns {', '.join(TEXT_COLUMNS)}")
    score = " + ".join(["0", *[f"(instr(lower({text}), ?) > 0)"] * len(words)])
    named = table.replace('"', '""')
    found = db.rows(
        f'SELECT * FROM (SELECT {score} AS score, t.* FROM "{named}" t)'
        " WHERE score > 0 ORDER BY score DESC LIMIT ?",
        (*words, limit),
    )
    rows = [dict(zip(columns, values, strict=True)) for _, *values in found]
    return [(row[text], row) for row in rows]
