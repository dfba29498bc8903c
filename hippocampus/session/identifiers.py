"""Which payloads a text cites, by the identifiers in it. Pure but for the index, which grows."""

from __future__ import annotations

import itertools
import re
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable
from collections.abc import Set as AbstractSet

from hippocampus.indexing.shapes import identifiers

ID = re.compile(r"\b[a-z2-7]{8,12}\b")
"""What an entry's id looks like; one in five has no digit and reads as a word."""
MAX_HOLDERS = 3
"""A name that more payloads have cites none."""
MIN_PACKED, PACKED_PART = 2_000, 8
"""Names are packed once they are this many, and an eighth of the packed ones."""


class IdentifierIndex:
    """The payloads of a list by the identifiers in them, numbered in order of arrival.

    It grows with the list.
    """

    def __init__(self) -> None:
        self._recent = tuple(dict[str, int]() for _ in range(MAX_HOLDERS + 1))
        """By a name the first payload that has it, in the next table the second, and so on."""
        self._keys, self._values = array("q"), array("i")
        """The packed names, at 12 bytes where a dict of texts has about 150: their hashes in ascending
        order, and their payloads, older ones first."""
        self._is_sorted = True
        self._written = defaultdict[str, list[int]](list)
        """The messages in which the assistant wrote an identifier, the last one at the end."""

    def pack(self) -> None:
        """Pack the names, once they are many, or where packed ones are not sorted."""
        many = max(MIN_PACKED, len(self._keys) // PACKED_PART)
        if self._is_sorted and len(self._recent[0]) <= many:
            return
        import numpy as np

        columns = [(np.asarray(self._keys), np.asarray(self._values))]
        for recent in self._recent:
            keys = np.fromiter(map(hash, recent), np.int64, len(recent))
            columns.append((keys, np.fromiter(recent.values(), np.int32, len(recent))))
            recent.clear()
        keys, values = map(np.concatenate, zip(*columns, strict=True))
        order = keys.argsort(kind="stable")
        self._keys, self._values = array("q", keys[order].tobytes()), array("i")
        self._values.frombytes(values[order].tobytes())
        self._is_sorted = True

    def write(self, message: int, names: Iterable[str]) -> None:
        """Note the names that the assistant wrote in a message."""
        for name in names:
            self._written[name].append(message)

    def add(self, number: int, names: AbstractSet[str]) -> None:
        """Add the names of a payload."""
        for recent in self._recent:
            known = names & recent.keys()
            recent.update(dict.fromkeys(names - known, number))
            names = known

    def add_packed(self, number: int, names: AbstractSet[str]) -> None:
        """Add the names of a payload before all others that `add` gets: many at once take less time."""
        self._keys.extend(map(hash, names))
        self._values.extend(itertools.repeat(number, len(names)))
        self._is_sorted = False

    def holders_of(self, names: Collection[str]) -> dict[str, list[int]]:
        """Return the payloads that have a name, for some names; a common one has over `MAX_HOLDERS`."""
        found: dict[str, list[int]] = {name: [] for name in names}
        if not self._is_sorted:
            self.pack()
        if self._keys and found:
            import numpy as np

            keys, hashes = np.asarray(self._keys), np.fromiter(map(hash, found), np.int64)
            starts, ends = (keys.searchsorted(hashes, side).tolist() for side in ("left", "right"))
            for numbers, start, end in zip(found.values(), starts, ends, strict=True):
                numbers.extend(self._values[start:end])
        for recent in self._recent:
            for name in found.keys() & recent.keys():
                found[name].append(recent[name])
        return found

    def held_elsewhere(self, names: Collection[str], own: int) -> set[str]:
        """Return the names that payloads other than one have."""
        held = self.holders_of(names).items()
        return {name for name, numbers in held if numbers and numbers != [own]}

    def cited_by(self, texts: Iterable[str]) -> set[int]:
        """Return the payloads that texts cite by an id, or by a name that few payloads have."""
        names = {name for text in texts for name in identifiers(text) | set(ID.findall(text))}
        holders = self.holders_of(names).values()
        return {number for numbers in holders if len(numbers) <= MAX_HOLDERS for number in numbers}

    def cited_since(self, message: int, text: str) -> set[str]:
        """Return the identifiers of a text that the assistant has written from a message on."""
        names = identifiers(text) & self._written.keys()
        return {name for name in names if self._written[name][-1:] >= [message]}
