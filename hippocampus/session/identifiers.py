"""Which payloads a text points at, by the identifiers that it has. Values; pure."""

from __future__ import annotations

import bisect
import re
from array import array
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

from hippocampus.indexing.shapes import identifiers

ID = re.compile(r"\b[a-z2-7]{8,12}\b")
"""What an entry's id looks like; one in five has no digit and reads as a word."""
MAX_HOLDERS = 3
"""A name that more payloads have points at none of them."""

MAX_UNPACKED = 2_000
"""A part of an index with more names is packed."""

Holders = defaultdict[str, list[int]]
"""By a name, the numbers of the payloads that have it."""


class _Packed(NamedTuple):
    """The values of many keys in two columns: 12 bytes each, where a dict of texts has about 150."""

    keys: array[int]
    """The hash of each key, in ascending order; one key may have several rows."""
    values: array[int]

    def rows(self, key: str) -> array[int]:
        """Return the values of a key, older ones first."""
        wanted = hash(key)
        start = bisect.bisect_left(self.keys, wanted)
        return self.values[start : bisect.bisect_right(self.keys, wanted, start)]


_Part = Mapping[str, list[int]] | _Packed


@dataclass(frozen=True, slots=True)
class Sums:
    """A mapping to lists that grow: a value, so that an older version stays.

    It is held in parts of doubling size, newest last, so that an addition to a mapping of any size costs
    its size alone (log-structured merge). Large parts are packed.
    """

    parts: tuple[_Part, ...] = ()

    def plus(self, added: Mapping[str, list[int]]) -> Sums:
        """Return the mapping with more at the end of its lists."""
        if not added:
            return self
        layers: list[_Part] = list(self.parts)
        last: _Part = added
        while layers and _size(layers[-1]) <= 2 * _size(last):
            last = _merged(layers.pop(), last)
        return Sums((*layers, last))

    def get(self, key: str) -> list[int]:
        """Return the list of a key."""
        return [each for part in self.parts for each in _rows(part, key)]

    def last(self, key: str, default: int) -> int:
        """Return the last item of the list of a key."""
        found = (rows[-1] for part in reversed(self.parts) if (rows := _rows(part, key)))
        return next(found, default)


def _rows(part: _Part, key: str) -> Sequence[int]:
    return part.rows(key) if isinstance(part, _Packed) else part.get(key, ())


def _size(part: _Part) -> int:
    return len(part.keys) if isinstance(part, _Packed) else len(part)


def _merged(older: _Part, newer: _Part) -> _Part:
    """Return two parts as one, packed where it is large."""
    if not isinstance(older, _Packed) and not isinstance(newer, _Packed):
        merged = dict(older)
        for key, value in newer.items():
            merged[key] = merged[key] + value if key in merged else value
        return _packed(merged) if len(merged) > MAX_UNPACKED else merged
    import numpy as np

    one, other = (each if isinstance(each, _Packed) else _packed(each) for each in (older, newer))
    keys, values = (np.concatenate(columns) for columns in zip(one, other, strict=True))
    order = keys.argsort(kind="stable")
    return _Packed(array("q", keys[order].tobytes()), array("i", values[order].tobytes()))


def _packed(part: Mapping[str, list[int]]) -> _Packed:
    rows = [(hash(key), each) for key, values in part.items() for each in values]
    rows.sort(key=itemgetter(0))
    return _Packed(array("q", (key for key, _ in rows)), array("i", (each for _, each in rows)))


@dataclass(frozen=True, slots=True)
class Elsewhere(Container[str]):
    """The identifiers that payloads other than one have."""

    holders: Sums
    own: int
    """The number of the one."""

    def __contains__(self, name: object) -> bool:
        return any(number != self.own for number in self.holders.get(str(name)))


@dataclass(frozen=True, slots=True)
class IdentifierIndex:
    """The payloads of a list by the identifiers that they have; numbered as they came."""

    holders: Sums = Sums()
    written: Sums = Sums()
    """The messages in which the assistant wrote an identifier, the last one at the end."""

    def plus(self, names: Holders, written: Mapping[str, list[int]]) -> IdentifierIndex:
        """Return the index with the names of more payloads."""
        return IdentifierIndex(self.holders.plus(names), self.written.plus(written))

    def growing(self, names: Holders) -> IdentifierIndex:
        """Return the index with a mapping that is still being filled."""
        return IdentifierIndex(Sums((*self.holders.parts, names)))

    def cited_by(self, texts: Iterable[str]) -> set[int]:
        """Return the payloads that texts point at by an id, or by a name that few payloads have."""
        names = {name for text in texts for name in identifiers(text) | set(ID.findall(text))}
        return {number for name in names for number in self.holders_of(name)}

    def holders_of(self, name: str) -> Sequence[int]:
        """Return the payloads that a name points at: few have it, or it points at none."""
        holders = self.holders.get(name)
        return holders if len(holders) <= MAX_HOLDERS else ()

    def cited_since(self, message: int, text: str) -> set[str]:
        """Return the identifiers of a text that the assistant has written from a message on."""
        return {name for name in identifiers(text) if self.written.last(name, -1) >= message}
