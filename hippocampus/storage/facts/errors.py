"""The exceptions of the fact store. Nothing else is here.

HippocampusError
├── FactError                  the caller: a request that cannot be served
│   └── BlockError             the caller: a memory block cannot be changed like that
└── StoreError                 the disk
    └── EmbeddingModelError    the caller: the file was embedded with another model
"""

from __future__ import annotations

from hippocampus.errors import HippocampusError, StoreError


class FactError(HippocampusError):
    """A request to the fact store cannot be served; the text has the reason."""


class BlockError(FactError):
    """A memory block cannot be changed; `reason` is `missing`, `no_match`, `too_long` or `empty`."""

    def __init__(self, reason: str, key: str, text: str) -> None:
        self.reason = reason
        self.key = key
        super().__init__(text)


class EmbeddingModelError(StoreError):
    """A file holds the vectors of one model and was opened with another."""

    def __init__(self, stored: str, given: str) -> None:
        self.stored = stored
        self.given = given
        super().__init__(
            f"the memories are embedded with {stored!r}, not {given!r};"
            " run `hippocampus memory reembed` to embed them anew"
        )
