"""The rows of a database of crib, which is opened only for reading."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import NamedTuple

from hippocampus.errors import StoreError
from hippocampus.storage.sqlite import reading

ENTRIES = "SELECT id, type, content, created_at FROM entries ORDER BY id"
RELATIONS = """
    SELECT r.id, s.name, r.predicate, o.name, r.valid_from, r.valid_until, r.created_at,
        coalesce((SELECT group_concat(raw_text, char(10)) FROM
            (SELECT raw_text FROM sources WHERE relation_id = r.id ORDER BY id)), ''),
        (SELECT min(n.id) FROM relations n WHERE n.subject_id = r.subject_id
            AND n.predicate = r.predicate AND n.id > r.id)
    FROM relations r JOIN entities s ON s.id = r.subject_id JOIN entities o ON o.id = r.object_id
    ORDER BY r.id
"""
"""The last column is the relation that took its place, if its validity ended."""
CribRelation = tuple[int, str, str, str, str, str | None, str, str, int | None]


class CribRows(NamedTuple):
    """What a database of crib holds."""

    entries: list[tuple[int, str, str, str]]
    relations: list[CribRelation]
    has_vectors: bool


def crib_rows(path: Path) -> CribRows | None:
    """Return what a database of crib holds, or nothing where it is of something else."""
    try:
        with reading(path.resolve()) as db:
            tables = {name for (name,) in db.execute("SELECT name FROM sqlite_schema")}
            if not {"entries", "entities", "relations", "sources"} <= tables:
                return None
            entries, relations = (db.execute(sql).fetchall() for sql in (ENTRIES, RELATIONS))
            return CribRows(entries, relations, "entries_vec" in tables)
    except sqlite3.Error as failure:
        raise StoreError(f"{path}: {failure}") from failure
