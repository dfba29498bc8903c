"""Nearest vectors: bit codes scanned in memory, then exact cosines of the best from the file.

A vector's code is the signs of its projections on fixed directions. All codes of a million
memories are 32 MB; a scan of them finds the few hundred whose exact vectors are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from hippocampus.errors import StoreError
from hippocampus.facts.database import Database
from hippocampus.facts.errors import EmbeddingModelError, FactError

BLOCK_ROWS = 4096
LEAST_BITS = 256
MOST_BITS = 1024
RERANKED = 192
"""How many of the nearest codes are compared exactly, and one more for each `ROWS_A_RERANKED`."""
ROWS_A_RERANKED = 4096
CROWD = 10
FARTHEST = (1 << 16) - 1
PRODUCT_STEPS = 200_000
MODEL = "embedding_model"
DIMENSIONS = "embedding_dimensions"
STAMP = "vector_stamp"
EXACT = "SELECT row, exact FROM vector WHERE row IN (SELECT value FROM json_each(?))"

Floats = np.ndarray[Any, np.dtype[np.float32]]
Words = np.ndarray[Any, np.dtype[np.uint64]]
Rows = np.ndarray[Any, np.dtype[np.int64]]


class Vectors:
    """The vectors of one file, and their codes in memory, read when first asked for."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._codes: Words | None = None
        self._stamp = -1
        self._projection: Floats | None = None

    @property
    def dimensions(self) -> int:
        """How many numbers a vector of this file has; 0 where it has none yet."""
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
        """Write vectors by row; inside the caller's transaction."""
        if not vectors:
            return
        rows = np.fromiter(vectors, dtype=np.int64)
        matrix = unit(np.stack(list(vectors.values())))
        self._db.run_many(
            "INSERT OR REPLACE INTO vector VALUES (?, ?)",
            [(int(row), _bytes(vector)) for row, vector in zip(rows, matrix, strict=True)],
        )
        self._write_codes(rows, self._encoded(matrix))

    def drop(self, rows: Iterable[int]) -> None:
        """Remove the vectors of rows; inside the caller's transaction."""
        listed = list(rows)
        if not listed or not self.dimensions:
            return
        self._db.run_many("DELETE FROM vector WHERE row = ?", [(row,) for row in listed])
        blank = np.zeros((len(listed), self._width()), dtype=np.uint64)
        self._write_codes(np.array(listed, dtype=np.int64), blank)

    def clear(self) -> None:
        """Remove all vectors and unbind the file from its model."""
        with self._db.transaction():
            for table in ("vector", "code_block", "code_stamp"):
                self._db.run(f"DELETE FROM {table}")  # noqa: S608 - names of ours
            self._db.run("DELETE FROM meta WHERE key IN (?, ?, ?)", (MODEL, DIMENSIONS, STAMP))
        self._projection = None
        self.forget_cached()

    def forget_cached(self) -> None:
        """Read the codes anew when they are next asked for."""
        self._codes, self._stamp = None, -1

    def exact(self, rows: Iterable[int]) -> dict[int, Floats]:
        """Return the vectors of those rows that have one."""
        found = self._db.rows(EXACT, (_listed(rows),))
        return {row: np.frombuffer(data, dtype="<f4") for row, data in found}

    def cosines(self, query: Floats, rows: Iterable[int]) -> dict[int, float]:
        """Return the exact cosine of a query with each of those rows that have a vector."""
        found = self._db.rows(EXACT, (_listed(rows),))
        if not found:
            return {}
        matrix = np.frombuffer(b"".join(data for _, data in found), dtype="<f4")
        values = matrix.reshape(len(found), -1) @ unit(query[None])[0]
        return dict(zip((row for row, _ in found), values.tolist(), strict=True))

    def crowding(self, rows: Iterable[int], near: int = CROWD) -> dict[int, float]:
        """Return how close each of these rows is, in the mean, to the `near` closest others."""
        found = self.exact(rows)
        if len(found) <= near:
            return {}
        matrix = np.stack(list(found.values()))
        cosines = product(matrix, matrix.T)
        np.fill_diagonal(cosines, -1.0)
        closest = np.partition(cosines, -near, axis=1)[:, -near:]
        return dict(zip(found, closest.mean(axis=1).tolist(), strict=True))

    def nearest(self, query: Floats, most: int = RERANKED) -> dict[int, float]:
        """Return the cosines of a little over `most` nearest rows, exact for each returned."""
        codes = self._loaded()
        missing = codes[:, 0] == 0 if len(codes) else np.zeros(0, dtype=bool)
        count = len(codes) - int(np.count_nonzero(missing))
        if not count:
            return {}
        if len(query) != self.dimensions:
            raise FactError(f"vectors of {self.dimensions} numbers are kept, not {len(query)}")
        sought = self._encoded(unit(query[None]))[0]
        distances = bit_distances(codes, sought)
        distances[missing] = FARTHEST
        most = min(count, most + count // ROWS_A_RERANKED)
        best = np.argpartition(distances, most - 1)[:most]
        return self.cosines(query, best.tolist())

    def check(self) -> list[str]:
        """Return a sentence for each vector whose memory or code is missing."""
        problems = [
            f"vector of unknown row {row}"
            for (row,) in self._db.rows(
                "SELECT row FROM vector WHERE row NOT IN (SELECT row FROM memory)"
            )
        ]
        held = {row for (row,) in self._db.rows("SELECT row FROM vector")}
        coded = set(np.flatnonzero(self._loaded()[:, 0]).tolist()) if held else set()
        return problems + [f"row {row}: vector and code disagree" for row in sorted(held ^ coded)]

    # The codes ---------------------------------------------------------------------------------

    def _width(self) -> int:
        return min(MOST_BITS, max(LEAST_BITS, -(-self.dimensions // 64) * 64)) // 64

    def _encoded(self, matrix: Floats) -> Words:
        """Return the codes of unit vectors; their lowest bit is set, so that none is all zeros."""
        if self._projection is None:
            self._projection = projection(self.dimensions, self._width() * 64)
        signs = np.packbits(matrix @ self._projection > 0, axis=1, bitorder="little")
        codes = np.ascontiguousarray(signs).view("<u8")
        codes[:, 0] |= np.uint64(1)
        return codes

    def _write_codes(self, rows: Rows, codes: Words) -> None:
        stamp = int(self._db.meta(STAMP) or 0) + 1
        self._db.set_meta(STAMP, str(stamp))
        bytes_each = self._width() * 8
        for block in np.unique(rows // BLOCK_ROWS).tolist():
            self._open_block(block, stamp, bytes_each)
            inside = rows // BLOCK_ROWS == block
            with (
                self._db.guarded(),
                self._db.connection.blobopen("code_block", "codes", block) as blob,
            ):
                for row, code in zip(rows[inside].tolist(), codes[inside], strict=True):
                    blob.seek(row % BLOCK_ROWS * bytes_each)
                    blob.write(code.astype("<u8").tobytes())

    def _open_block(self, block: int, stamp: int, bytes_each: int) -> None:
        self._db.run(
            "INSERT OR IGNORE INTO code_block VALUES (?, zeroblob(?))",
            (block, BLOCK_ROWS * bytes_each),
        )
        self._db.run("INSERT OR REPLACE INTO code_stamp VALUES (?, ?)", (block, stamp))

    def _loaded(self) -> Words:
        """Return the codes by row, after reading what any process has written since."""
        stamp = int(self._db.meta(STAMP) or 0)
        if self._codes is None or stamp < self._stamp:
            self._codes, self._stamp = np.zeros((0, 0), dtype=np.uint64), -1
        if stamp != self._stamp:
            self._read_blocks(stamp)
        return self._codes

    def _read_blocks(self, stamp: int) -> None:
        width = self._width()
        last = self._db.value("SELECT max(block) FROM code_block")
        count = (0 if last is None else last + 1) * BLOCK_ROWS
        codes = np.zeros((count, width), dtype=np.uint64, order="F")  # scanned word by word
        if self._codes is not None and self._codes.shape[1] == width:
            codes[: len(self._codes)] = self._codes
        changed = self._db.rows(
            "SELECT block, codes FROM code_block JOIN code_stamp USING (block) WHERE stamp > ?",
            (self._stamp,),
        )
        for block, data in changed:
            if len(data) != BLOCK_ROWS * width * 8:
                raise StoreError(f"fact store {self._db.path}: codes of block {block} are damaged")
            start = block * BLOCK_ROWS
            codes[start : start + BLOCK_ROWS] = np.frombuffer(data, "<u8").reshape(-1, width)
        self._codes, self._stamp = codes, stamp


def unit(matrix: np.ndarray[Any, Any]) -> Floats:
    """Return vectors at length 1; one of zeros stays."""
    floats = np.asarray(matrix, dtype=np.float32)
    lengths = np.linalg.norm(floats, axis=-1, keepdims=True)
    return np.asarray(floats / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def projection(dimensions: int, bits: int) -> Floats:
    """Return the fixed directions on which vectors of that length are projected, as columns."""
    drawn = np.random.default_rng(dimensions).standard_normal((max(bits, dimensions), dimensions))
    rotated = np.linalg.qr(drawn)[0] if bits >= dimensions else drawn
    return np.ascontiguousarray(rotated[:bits].T, dtype=np.float32)


def product(one: Floats, other: Floats) -> Floats:
    """Return the product of small matrices, in parts for which numpy wakes no thread of its BLAS.

    On a busy machine waking them takes ten times as long as the product itself.
    """
    rows = max(1, PRODUCT_STEPS // max(1, other.size))
    parts = [one[start : start + rows] @ other for start in range(0, len(one), rows)]
    return np.concatenate(parts) if parts else np.zeros((0, other.shape[1]), dtype=np.float32)


def bit_distances(codes: Words, code: Words) -> np.ndarray[Any, np.dtype[np.uint16]]:
    """Return in how many bits each code differs from one."""
    total = np.zeros(len(codes), dtype=np.uint16)
    for place in range(codes.shape[1]):
        total += _bits(codes[:, place] ^ code[place])
    return total


def _bits(numbers: Words) -> np.ndarray[Any, np.dtype[np.uint8]]:
    if hasattr(np, "bitwise_count"):
        return np.asarray(np.bitwise_count(numbers))
    parts = _BITS_OF_16[np.ascontiguousarray(numbers).view(np.uint16).reshape(-1, 4)]
    return np.asarray(parts.sum(axis=1), dtype=np.uint8)


_BITS_OF_16 = np.unpackbits(
    np.arange(1 << 16, dtype=">u2").view(np.uint8).reshape(-1, 2), axis=1
).sum(axis=1, dtype=np.uint8)


def _bytes(vector: Floats) -> bytes:
    return vector.astype("<f4").tobytes()


def _listed(rows: Iterable[int]) -> str:
    return f"[{','.join(map(str, rows))}]"
