"""Keeps sessions open between their uses: a bounded number, the most recently used ones."""

from __future__ import annotations

import contextlib
import math
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Use:
    """A use of an open value, which lasts until nothing refers to this object."""


@dataclass(slots=True, eq=False)
class _Slot(Generic[V]):
    """A value that is open or is being opened, and its uses."""

    opened: Future[V] = field(default_factory=Future)
    uses: weakref.WeakSet[Use] = field(default_factory=weakref.WeakSet)
    used: float = 0.0
    """The time of the last use, on the monotonic clock."""


class OpenSessions(Generic[K, V]):
    """Values by key, of which one at a time is open for a key; one in use is never ended."""

    def __init__(
        self, most: int, ended: Callable[[V], object], idle_seconds: float = math.inf
    ) -> None:
        """More than `most`, or idle for longer, stay open only while they are in use; then they are `ended`."""
        self._most = most
        self._ended = ended
        self._idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._slots: dict[K, _Slot[V]] = {}
        """The most recently used last."""
        self._ending: dict[K, Future[None]] = {}
        """The ends that are under way: a value of the same key is opened after it."""

    def use(self, key: K, opened: Callable[[], V]) -> tuple[V, Use]:
        """Return the value of a key, which is `opened` where it is not open, and a use of it."""
        use = Use()
        with self._lock:
            known = self._slots.pop(key, None)
            slot = self._slots[key] = known or _Slot()
            slot.uses.add(use)
            slot.used = time.monotonic()
            ending = self._ending.get(key)
        self._end_unused()
        if known is None:  # without the lock: a value that opens slowly delays no other
            try:
                if ending:
                    ending.result()
                slot.opened.set_result(opened())
            except BaseException as failure:  # noqa: BLE001 - raised again for each that waits
                with self._lock:
                    self._slots.pop(key, None)
                slot.opened.set_exception(failure)
        return slot.opened.result(), use

    @contextlib.contextmanager
    def using(self, key: K, opened: Callable[[], V]) -> Iterator[V]:
        """Return the value of a key for a `with` block."""
        value, use = self.use(key, opened)
        try:
            yield value
        finally:
            del use
            self._end_unused()

    def _end_unused(self) -> None:
        now, gone = time.monotonic(), dict[K, V]()
        with self._lock:
            slots = [*self._slots.items()]
            free = [(key, slot) for key, slot in slots if slot.opened.done() and not slot.uses]
            for number, (key, slot) in enumerate(free):
                if number < len(slots) - self._most or now - slot.used > self._idle_seconds:
                    gone[key] = self._slots.pop(key).opened.result()
                    self._ending[key] = Future()
        for key, value in gone.items():
            try:
                self._ended(value)
            finally:
                with self._lock:
                    self._ending.pop(key).set_result(None)

    def values(self) -> list[V]:
        """Return the values that are open."""
        with self._lock:
            return [slot.opened.result() for slot in self._slots.values() if slot.opened.done()]

    def close(self) -> list[V]:
        """Return the values that are open, for the caller to end, and keep none."""
        with self._lock:
            slots, self._slots = self._slots, {}
        return [slot.opened.result() for slot in slots.values() if slot.opened.done()]
