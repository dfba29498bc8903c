"""The statements that both engines run, as PostgreSQL spells them; functions of SQLite are in `schema`."""

from __future__ import annotations

import functools
import re

_DIALECT = re.compile(
    r"'[^']*'|(?P<named>:\w+)|\?|%|CROSS JOIN|ON CONFLICT \((?!session)|value ->>"
)
_SPELLED = {
    "?": "%s",
    "%": "%%",
    "CROSS JOIN": "JOIN",
    "ON CONFLICT (": "ON CONFLICT (tenant, ",
    "value ->>": "value::json ->>",
}


@functools.lru_cache(maxsize=512)
def translated(sql: str) -> str:
    """Return a statement of every engine as PostgreSQL and psycopg read it.

    >>> translated("INSERT INTO meta VALUES (?, :value) ON CONFLICT (key) DO NOTHING")
    'INSERT INTO meta VALUES (%s, %(value)s) ON CONFLICT (tenant, key) DO NOTHING'
    """

    def spelled(found: re.Match[str]) -> str:
        if found["named"]:
            return f"%({found['named'][1:]})s"
        return _SPELLED.get(found[0]) or found[0].replace("%", "%%")

    return _DIALECT.sub(spelled, sql)
