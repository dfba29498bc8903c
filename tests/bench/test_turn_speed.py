"""How long one turn takes: with a long list and a little that is new, and with many entries.

    pytest -o addopts="--import-mode=importlib" tests/bench/test_turn_speed.py

A turn of ours counts and indexes the new result; LangChain's context editing for the same
conversation estimates tokens and stores nothing. Install `langchain` beside us to compare.
"""

from __future__ import annotations

import copy
import json
import random
import statistics
from collections.abc import Callable, Iterator
from time import perf_counter, process_time
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from hippocampus.memory import Hippocampus
from hippocampus.models import tokens
from hippocampus.policy import Policy
from hippocampus.prices import TABLES
from hippocampus.session.plan import Candidate, PlanInput, plan
from hippocampus.session.session import Session

Items = list[dict[str, Any]]

MESSAGES, TOKENS = 1_000, 400_000
NEW_TOKENS = 1_000
SHARE_OF_LANGCHAIN = 1 / 5
ROUNDS = 25
LENGTHS = (500, 2_000, 8_000)
FLAT = 1.3
"""The median turn of the longest list may take this much longer than of the shortest: what is new is the same."""
ENTRIES, PLANNED_SECONDS = 10_000, 0.005
TOOLS = ("read_file", "search", "list_orders", "run")


def result_of(chance: random.Random, some_tokens: int) -> str:
    """A tool result of about so many tokens: records, a log or source, none twice."""
    write = chance.choice((record, log_line, source_line))
    lines: list[str] = []
    weight = 0
    while weight < some_tokens:
        lines.append(write(chance, len(lines)))
        weight += tokens.count(lines[-1]) + 1
    return f"[{','.join(lines)}]" if write is record else "\n".join(lines)


def record(chance: random.Random, number: int) -> str:
    names = ("open", "paid", "sent", "returned")
    key = f"{chance.getrandbits(64):016x}"
    return json.dumps({"id": key, "row": number, "state": chance.choice(names), "n": 7 * number})


def log_line(chance: random.Random, number: int) -> str:
    words = ("started", "connected to db-3", "took 31 ms", "retrying", "finished")
    at = f"2026-03-01T10:{number % 60:02}:{chance.randrange(60):02}Z"
    return f"{at} INFO worker-{chance.randrange(9)} {chance.choice(words)}"


def source_line(chance: random.Random, number: int) -> str:
    name = f"value_{chance.randrange(5_000)}"
    return f"    {name} = compute({number}, {name!r}, default={chance.randrange(100)})"


def conversation(messages: int, all_tokens: int) -> Items:
    """A chat of tool calls and their results, half of them small, as agents have them."""
    chance = random.Random(7)
    items: Items = [
        {"role": "system", "content": "You are an agent that works with tools."},
        {"role": "user", "content": "Find out why orders are late, and repair what is broken."},
    ]
    each = 2 * all_tokens / messages
    while len(items) < messages:
        size = chance.choice((0.15, 0.35, 0.5, 2.8)) * each
        items += step(chance, len(items), int(size))
    return items


def step(chance: random.Random, number: int, some_tokens: int) -> Items:
    """A tool call and its result."""
    tool = chance.choice(TOOLS)
    arguments = json.dumps({"path": f"src/part_{number % 90}.py", "query": f"late {number}"})
    function = {"name": tool, "arguments": arguments}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    content = result_of(chance, some_tokens)
    return [
        {"role": "assistant", "content": f"Step {number}.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": content},
    ]


class Growing:
    """A session that was fed a conversation turn by turn, and goes on one step at a time."""

    def __init__(self, session: Session, items: Items, *, parsed: bool = False) -> None:
        self.items = items
        self._session = session
        self._parsed = parsed
        self._chance = random.Random(len(items))  # no two sessions read the same text
        for end in range(2, len(items) + 1, 2):
            session(items[:end])
        assert not session.report.failures

    def more(self) -> tuple[tuple[Items], dict[str, Any]]:
        """Grow by one result; return the arguments of the next call."""
        self.items += step(self._chance, len(self.items), NEW_TOKENS)
        given = json.loads(json.dumps(self.items)) if self._parsed else self.items
        return (given,), {}

    def seconds(self) -> float:
        """Return what one more turn takes of the processor."""
        (given,), _ = self.more()
        start = process_time()
        self._session(given)
        return process_time() - start

    def __call__(self, items: Items) -> Items:
        return self._session(items)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hippocampus]:
    opened = Hippocampus(tmp_path_factory.mktemp("state"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def warm(memory: Hippocampus) -> Callable[..., Growing]:
    """Make sessions that know a conversation already."""

    def make(name: str, messages: int = MESSAGES, *, parsed: bool = False) -> Growing:
        items = conversation(messages, TOKENS * messages // MESSAGES)
        return Growing(memory.session(name), items, parsed=parsed)

    return make


def test_the_conversation_is_as_large_as_it_says() -> None:
    items = conversation(MESSAGES, TOKENS)
    weight = sum(tokens.count(json.dumps(item)) for item in items)
    assert len(items) == MESSAGES
    assert 0.9 * TOKENS < weight < 1.2 * TOKENS


def langchain_seconds(items: Items) -> float:
    """Return what LangChain's context editing takes for a list before each model call."""
    editing = pytest.importorskip(
        "langchain.agents.middleware", reason="pip install langchain to compare with it"
    )
    from langchain_core.messages import convert_to_messages
    from langchain_core.messages.utils import count_tokens_approximately

    given = convert_to_messages(items)
    edit = editing.ClearToolUsesEdit()

    def once() -> float:
        start = perf_counter()
        edit.apply(copy.deepcopy(list(given)), count_tokens=count_tokens_approximately)
        return perf_counter() - start

    return statistics.median(once() for _ in range(ROUNDS))


@pytest.mark.benchmark(group="one new result after 1,000 messages")
@pytest.mark.parametrize("parsed", [False, True], ids=["same objects", "parsed anew"])
def test_a_turn_takes_a_fifth_of_langchain_s_context_editing(
    benchmark: BenchmarkFixture, warm: Callable[..., Growing], parsed: bool
) -> None:
    """The list grows by a result of 1,000 tokens in each round; each round is a turn."""
    growing = warm(f"turn-{parsed}", parsed=parsed)
    benchmark.pedantic(growing, setup=growing.more, rounds=ROUNDS, warmup_rounds=2)
    theirs = langchain_seconds(growing.items)
    ours = benchmark.stats.stats.median if benchmark.stats else growing.seconds()
    benchmark.extra_info["langchain_seconds"] = theirs
    benchmark.extra_info["share"] = ours / theirs
    print(f"ours {1000 * ours:.2f} ms, LangChain {1000 * theirs:.2f} ms: {ours / theirs:.3f}")
    assert ours < SHARE_OF_LANGCHAIN * theirs


def test_a_longer_list_does_not_make_a_turn_longer(warm: Callable[..., Growing]) -> None:
    """The sessions take turns, so that all of them have the same share of the machine."""
    sessions = [warm(f"of {length}", length) for length in LENGTHS]
    rounds = [[each.seconds() for each in sessions] for _ in range(ROUNDS)]
    columns = dict(zip(LENGTHS, zip(*rounds, strict=True), strict=True))
    medians = [statistics.median(column) for column in columns.values()]
    for length, column in columns.items():
        median, worst = 1000 * statistics.median(column), 1000 * max(column)
        print(f"{length:,} messages: {median:.2f} ms, at most {worst:.1f} ms")
    assert max(medians) < FLAT * min(medians)


def test_ten_thousand_entries_are_planned_in_time(benchmark: BenchmarkFixture) -> None:
    """Every entry is due; what pays went before, so of all batches a small one is left to find."""
    sizes = [600, 400] * ENTRIES
    candidates = [
        Candidate(
            f"e{number}",
            2 * number + 1,
            400,
            360 if number < 9_900 else 200,
            20.0,
            carried=1e9,
        )
        for number in range(ENTRIES)
    ]
    standing = PlanInput(ENTRIES, len(sizes), sizes)
    policy, prices = Policy(), TABLES["anthropic-5m"]

    def turn() -> int:
        return len(plan(candidates, None, standing, prices, policy).decisions)

    assert 0 < benchmark.pedantic(turn, rounds=ROUNDS, warmup_rounds=2) < ENTRIES
    if benchmark.stats:
        assert benchmark.stats.stats.median < PLANNED_SECONDS
