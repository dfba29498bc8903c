"""A session that is opened anew before each call, or by two workers in turn, gives the views of one that stays."""

from __future__ import annotations

import contextlib
import itertools
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conversations import FORMATS, Item, Rounds, chat_step, no_fallback, reading
from hypothesis import given
from hypothesis import strategies as st

from hippocampus import Hippocampus
from hippocampus.replay.readers import read_file
from hippocampus.session.report import Status
from hippocampus.session.session import Session

RECORDINGS = Path(__file__).parents[2] / "examples" / "transcripts"
CALLS = 10
Workers = Callable[..., contextlib.AbstractContextManager[list[Session]]]


@contextlib.contextmanager
def anew(folder: Path, calls: int, **options: Any) -> Iterator[list[Session]]:
    """Sessions of which each is opened at its first call, once the one before was released."""
    with Hippocampus(folder, deadline_seconds=10, **options) as memory:
        yield [_Late(memory) for _ in range(calls)]  # type: ignore[misc]


@contextlib.contextmanager
def repeating(folder: Path, calls: int) -> Iterator[list[Session]]:
    """Sessions as those of `anew`, of which each is first asked for the last view once more."""
    with Hippocampus(folder, deadline_seconds=10) as memory:
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
        Hippocampus(folder, deadline_seconds=10) as one,
        Hippocampus(folder, deadline_seconds=10) as other,
        one.session("s") as first,
        other.session("s") as second,
    ):
        yield [(first, second)[call % 2] for call in range(calls)]


class Outcome(NamedTuple):
    """What is equal where workers take the calls of a session, and where it stays."""

    views: int
    calls: int
    are_sums: bool


def compared(folder: Path, lists: Sequence[list[Any]], workers: Workers, **options: Any) -> Outcome:
    """Send lists to workers and to a session that stays."""
    with (
        no_fallback(),
        Hippocampus(folder / "stays", deadline_seconds=10, **options) as memory,
        memory.session("s") as stays,
        workers(folder / "workers", len(lists), **options) as sessions,
    ):
        views = sum(
            session(items) == stays(items) for items, session in zip(lists, sessions, strict=True)
        )
        own, status = stays.status(), sessions[-1].status()
        sums = ("raw_cost", "sent_cost", "sent_tokens", "entries")
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


def swapped(items: list[Item]) -> list[Item]:
    """Return the items of a round with two parallel results the other way round."""
    found = [*items]
    for at, item in enumerate(items):
        blocks = item.get("content")
        if item.get("role") == "user" and isinstance(blocks, list):
            return [*items[:at], {**item, "content": blocks[::-1]}, *items[at + 1 :]]
        if at and all(
            each.get("role") == "tool" or "output" in each for each in (item, items[at - 1])
        ):
            found[at - 1 : at + 1] = item, items[at - 1]
            return found
    return found


@st.composite
def edited(draw: st.DrawFn, form: str) -> list[list[Item]]:
    """The lists of a host that edits its conversation between its calls."""
    pool: Rounds = [*itertools.chain(*(draw(FORMATS[form]()) for _ in range(4)))]
    rounds, lists = pool[:2], []
    for _ in range(draw(st.integers(2, 8))):
        at, other = draw(st.integers(0, len(rounds) - 1)), draw(st.sampled_from(pool))
        match draw(st.sampled_from(["", "", "cut", "branch", "swap", "replace", "delete"])):
            case "cut":
                rounds = rounds[: at + 1]
            case "branch":
                rounds = [*rounds[: at + 1], other]
            case "swap":
                rounds = [*rounds[:at], swapped(rounds[at]), *rounds[at + 1 :]]
            case "replace":
                rounds = [*rounds[:at], other, *rounds[at + 1 :]]
            case "delete" if len(rounds) > 1:
                rounds = rounds[:at] + rounds[at + 1 :]
        rounds = rounds + draw(st.lists(st.sampled_from(pool), max_size=3))
        lists.append([*itertools.chain(*rounds)])
    return lists


@pytest.mark.parametrize(
    "lists",
    [
        [reading(8, 100), reading(3, 100) + reading(2, 100, start=50)],
        [reading(5, 100), reading(2, 100), reading(5, 100)],
    ],
    ids=["a list branches inside a digest", "a list that was cut inside a digest grows again"],
)
def test_a_list_that_its_host_rewinds_is_read_as_by_a_fresh_worker(
    tmp_path: Path, lists: list[list[Item]]
) -> None:
    found = compared(tmp_path, lists, anew, window_tokens=3_000)
    assert found == Outcome(len(lists), len(lists), are_sums=True)


def edits(*results: str, start: int) -> list[Item]:
    """Return rounds with one call of an editor each."""
    items: list[Item] = []
    for number, result in enumerate(results, start):
        items += chat_step(f"c{number}", "edit", {"path": f"{number}.py"}, result)
    return items


def test_the_next_text_of_a_branch_that_was_left_is_not_used_on_another(tmp_path: Path) -> None:
    one, two, three = (
        "\n".join(f"line {n} of tool {tool} A-{tool}{n}" for n in range(lines))
        for tool, lines in ((1, 700), (2, 1_500), (3, 1_500))
    )
    code = "\n".join(f"def f_{n}(x):\n    return x + {n}\n" for n in range(700))
    first = [{"role": "user", "content": "Go"}, *edits(one, start=0)]
    short = first + edits("ok", "ok", start=1)
    other = first + edits(code, "ok", "no", "yes", start=30)
    lists = [first, short, short + edits(two, three, start=10), first, other]
    assert compared(tmp_path, lists, anew) == Outcome(5, 5, are_sums=True)


@pytest.mark.parametrize(
    "form",
    [
        "responses",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("openai", "anthropic")),
    ],
)
@given(data=st.data())
def test_the_edits_of_a_host_do_not_tell_who_took_the_calls(form: str, data: st.DataObject) -> None:
    lists = data.draw(edited(form))
    with tempfile.TemporaryDirectory() as folder:
        found = compared(Path(folder), lists, anew, window_tokens=3_000, model="claude-sonnet-5-5")
    assert found == Outcome(len(lists), len(lists), are_sums=True)
