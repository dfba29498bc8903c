"""A session that is opened anew before each call, or by two workers in turn, gives the views of one that stays."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conversations import no_fallback

from hippocampus import Hippocampus
from hippocampus.replay.readers import read_file
from hippocampus.session.report import Status
from hippocampus.session.session import Session

RECORDINGS = Path(__file__).parents[2] / "examples" / "transcripts"
CALLS = 15
Workers = Callable[[Path, int], contextlib.AbstractContextManager[list[Session]]]


@contextlib.contextmanager
def anew(folder: Path, calls: int) -> Iterator[list[Session]]:
    """Sessions of which each is opened at its first call, once the one before was released."""
    with contextlib.closing(Hippocampus(folder, deadline_seconds=10)) as memory:
        yield [_Late(memory) for _ in range(calls)]  # type: ignore[misc]


@contextlib.contextmanager
def repeating(folder: Path, calls: int) -> Iterator[list[Session]]:
    """Sessions as those of `anew`, of which each is first asked for the last view once more."""
    with contextlib.closing(Hippocampus(folder, deadline_seconds=10)) as memory:
        last: list[list[Any]] = []
        yield [_Late(memory, last) for _ in range(calls)]  # type: ignore[misc]


class _Late:
    """Opens a session for one call, and for the lists before it that it is given."""

    def __init__(self, memory: Hippocampus, before: list[list[Any]] | None = None) -> None:
        self._memory = memory
        self._before = [] if before is None else before

    def __call__(self, items: list[Any]) -> list[Any]:
        session = self._memory.session("s")
        try:
            for earlier in self._before[-1:]:
                session(earlier)
            self._before.append(items)
            return session(items)
        finally:
            self._status = session.status()
            session.release()

    def status(self) -> Status:
        return self._status


@contextlib.contextmanager
def in_turn(folder: Path, calls: int) -> Iterator[list[Session]]:
    """Two workers with the same session open, which take turns."""
    with (
        contextlib.closing(Hippocampus(folder, deadline_seconds=10)) as one,
        contextlib.closing(Hippocampus(folder, deadline_seconds=10)) as other,
        one.session("s") as first,
        other.session("s") as second,
    ):
        yield [(first, second)[call % 2] for call in range(calls)]


class Outcome(NamedTuple):
    """What is equal where workers take the calls of a session, and where it stays."""

    views: int
    calls: int
    are_sums: bool


def compared(folder: Path, lists: Sequence[list[Any]], workers: Workers) -> Outcome:
    """Send lists to workers and to a session that stays."""
    with (
        no_fallback(),
        contextlib.closing(Hippocampus(folder / "stays", deadline_seconds=10)) as memory,
        memory.session("s") as stays,
        workers(folder / "workers", len(lists)) as sessions,
    ):
        views = sum(
            session(items) == stays(items) for items, session in zip(lists, sessions, strict=True)
        )
        own, status = stays.status(), sessions[-1].status()
        sums = ("raw_cost", "sent_cost", "sent_tokens")
        return Outcome(views, len(lists), all(status[each] == own[each] for each in sums))


@pytest.mark.parametrize(
    "name",
    [
        "json-rename",
        pytest.param("price-comparison-zh", marks=pytest.mark.slow),
        pytest.param("api-client", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("workers", [anew, repeating, in_turn])
def test_the_views_and_sums_do_not_tell_who_took_the_calls(
    tmp_path: Path, name: str, workers: Workers
) -> None:
    [recording] = read_file(RECORDINGS / f"{name}.json")
    ends = [at for at, each in enumerate(recording.messages) if each.get("role") == "assistant"]
    ends.append(len(recording.messages))
    lists = [recording.messages[:end] for end in ends if end][-CALLS:]
    assert compared(tmp_path, lists, workers) == Outcome(len(lists), len(lists), are_sums=True)
