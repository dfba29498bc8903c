"""Rows of the table `vector`: each the bytes of one vector, as 32-bit floats with the lowest byte first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hippocampus.storage.facts.database import Database
from hippocampus.storage.facts.memories import listed


def put(db: Database, vectors: Mapping[int, bytes]) -> None:
    """Write vectors by row."""
    db.run_many("INSERT OR REPLACE INTO vector VALUES (?, ?)", list(vectors.items()))


def drop(db: Database, rows: Iterable[int]) -> None:
    """Remove the vectors of rows."""
    db.run_many("DELETE FROM vector WHERE row = ?", [(row,) for row in rows])


def drop_all(db: Database, keys: tuple[str, str]) -> None:
    """Remove all vectors, and what `meta` has under two keys."""
    db.run("DELETE FROM vector")
    db.run("DELETE FROM meta WHERE key IN (?, ?)", keys)


def of_rows(db: Database, rows: Iterable[int]) -> dict[int, bytes]:
    """Return the vectors of those rows that have one."""
    among = "SELECT row, exact FROM vector WHERE row IN (SELECT value FROM json_each(?))"
    return dict(db.rows(among, (listed(rows),)))


def count_after(db: Database, row: int) -> int:
    """Return how many vectors have a higher row."""
    return int(db.value("SELECT count(*) FROM vector WHERE row > ?", (row,)))


def after(db: Database, row: int, most: int) -> dict[int, bytes]:
    """Return the next vectors after a row, in order."""
    chunk = "SELECT row, exact FROM vector WHERE row > ? ORDER BY row LIMIT ?"
    return dict(db.rows(chunk, (row, most)))


def check(db: Database, size: int) -> list[str]:
    """Return a sentence for each vector whose memory is missing or that has another size in bytes."""
    wrong = db.rows(
        "SELECT row FROM vector WHERE row NOT IN (SELECT row FROM memory) OR length(exact) != ?",
        (size,),
    )
    return [f"vector of row {row} belongs to no memory or has another length" for (row,) in wrong]
