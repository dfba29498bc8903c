"""The vectors of one file: rows of the table `vector`, and the nearest ones by exact cosine.

Each row has 32-bit floats with the lowest byte first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from hippocampus.errors import EmbeddingModelError, FactError
from hippocampus.storage.database import Database
from hippocampus.storage.facts.memories import AMONG, listed

READ_AT_ONCE = 8_192
MODEL = "embedding_model"
DIMENSIONS = "embedding_dimensions"
EPOCH = "vector_epoch"
"""Counts the changes of vectors that were there before; new ones are found by their row."""

ROUNDING = 1e-6
"""By how much the length of a normalised vector of 32-bit floats may differ from 1."""

Floats = np.ndarray[Any, np.dtype[np.float32]]


class Vectors:
    """The vectors of one file, read when first asked for."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self.forget_cached()

    @property
    def dimensions(self) -> int:
        """Return how many numbers a vector of this file has; 0 where it has none yet."""
        return int(self._db.meta(DIMENSIONS) or 0)

    def lock(self, model: str, dimensions: int) -> None:
        """Bind the file to a model and a number of dimensions, once.

        Raises:
            EmbeddingModelError: it is bound to another model.
            FactError: the model's vectors have another length than those in the file.
        """
        self.require(model)
        if self.dimensions not in (0, dimensions):
            raise FactError(f"vectors of {self.dimensions} numbers are kept, not {dimensions}")
        if not self.dimensions:
            self._db.set_meta(MODEL, model)
            self._db.set_meta(DIMENSIONS, str(dimensions))

    def require(self, model: str) -> None:
        """Refuse another model than the one that the file is bound to."""
        stored = self._db.meta(MODEL)
        if stored is not None and stored != model:
            raise EmbeddingModelError(stored, model)

    def put(self, vectors: Mapping[int, Floats]) -> None:
        """Write vectors of new rows; inside the caller's transaction."""
        matrix = unit(np.stack(list(vectors.values()))).astype("<f4")
        rows = [(row, vector.tobytes()) for row, vector in zip(vectors, matrix, strict=True)]
        put = "ON CONFLICT (row) DO UPDATE SET exact = excluded.exact"
        self._db.insert(f"INSERT INTO vector (row, exact) VALUES {{(?, ?)}} {put}", rows)

    def drop(self, rows: Iterable[int]) -> None:
        """Remove the vectors of rows; inside the caller's transaction."""
        self._db.run(f"DELETE FROM vector WHERE {AMONG}", (listed(rows),))
        self.changed()

    def changed(self) -> None:
        """Let every process read the vectors anew."""
        self._db.set_meta(EPOCH, str(int(self._db.meta(EPOCH) or 0) + 1))

    def clear(self) -> None:
        """Remove all vectors and unbind the file from its model."""
        with self._db.transaction():
            self._db.run("DELETE FROM vector")
            self._db.run("UPDATE memory SET embedding_model = NULL")
            self._db.run("DELETE FROM meta WHERE key IN (?, ?)", (MODEL, DIMENSIONS))
            self.changed()

    def forget_cached(self) -> None:
        """Read all vectors anew when they are next asked for."""
        self._epoch = ""
        self._rows = np.zeros(0, np.int64)
        self._matrix = self._space = np.zeros((0, 1), np.float32)
        self._sum: Floats = np.zeros(1, np.float32)

    def exact(self, rows: Iterable[int]) -> dict[int, Floats]:
        """Return the vectors of the rows that have one."""
        found = self._db.rows(f"SELECT row, exact FROM vector WHERE {AMONG}", (listed(rows),))
        return {row: np.frombuffer(data, dtype="<f4") for row, data in found}

    def cosines(
        self, query: Floats, rows: Iterable[int], *, without_mean: float = 0.0
    ) -> dict[int, float]:
        """Return the exact cosines of a query with the rows that have a vector.

        `without_mean` is the share of the mean of all vectors that is subtracted from the query: a
        vector that is near to all queries is then near to none in particular.
        """
        self._read()
        wanted = np.fromiter(rows, np.int64)
        if not len(self._rows) or not len(wanted):
            return {}
        places = np.searchsorted(self._rows, wanted).clip(max=len(self._rows) - 1)
        places = places[self._rows[places] == wanted]
        mean = without_mean * self._sum / len(self._rows)
        values = self._matrix[places] @ (unit(query[None])[0] - mean) + mean @ mean
        return dict(zip(self._rows[places].tolist(), values.tolist(), strict=True))

    def nearest(self, query: Floats, most: int) -> dict[int, float]:
        """Return the nearest rows with their cosines."""
        self._read()
        if not len(self._rows):
            return {}
        if len(query) != self.dimensions:
            raise FactError(f"vectors of {self.dimensions} numbers are kept, not {len(query)}")
        values = self._matrix @ unit(query[None])[0]
        best = np.argpartition(-values, min(most, len(values)) - 1)[:most]
        best = best[np.argsort(-values[best])]
        return dict(zip(self._rows[best].tolist(), values[best].tolist(), strict=True))

    def check(self) -> list[str]:
        """Return sentences on vectors of another length."""
        query = "SELECT row FROM vector WHERE length(exact) != ?"
        wrong = self._db.rows(query, (4 * self.dimensions,))
        return [f"the vector of row {row} has another length" for (row,) in wrong]

    def _read(self) -> None:
        """Read what any process has written since."""
        epoch = self._db.meta(EPOCH) or ""
        if epoch != self._epoch:
            self.forget_cached()
            self._epoch = epoch
        last = int(self._rows[-1]) if len(self._rows) else 0
        rows, parts, known = [self._rows], list[Floats](), len(self._rows)
        after = "SELECT row, exact FROM vector WHERE row > ? ORDER BY row LIMIT ?"
        while chunk := self._db.rows(after, (last, READ_AT_ONCE)):
            matrix = np.frombuffer(b"".join(vector for _, vector in chunk), "<f4")
            matrix = matrix.reshape(len(chunk), -1)
            self._sum = self._sum + matrix.sum(axis=0)
            parts.append(matrix)
            rows.append(np.array([row for row, _ in chunk], np.int64))
            last = int(rows[-1][-1])
        if parts:
            end = known + sum(map(len, parts))
            if end > len(self._space):  # with room for more: a new vector does not copy the others
                space = np.empty((end * 5 // 4, parts[0].shape[1]), np.float32)
                space[:known] = self._matrix
                self._space = space
            np.concatenate(parts, out=self._space[known:end])
            self._rows, self._matrix = np.concatenate(rows), self._space[:end]


def unit(matrix: np.ndarray[Any, Any]) -> Floats:
    """Return vectors at length 1; one of zeros stays, and so does one of that length, bit by bit."""
    floats = np.asarray(matrix, dtype=np.float32)
    lengths = np.linalg.norm(floats, axis=-1, keepdims=True)
    stays = (lengths == 0) | (np.abs(lengths - 1) < ROUNDING)
    return np.asarray(floats / np.where(stays, 1, lengths), dtype=np.float32)
