"""A trial: an agent with a shell solves tasks with the whole list and with the view, and both are compared.

Every answer of the model is recorded before it is used, so that an interrupted run continues and pays
nothing twice.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from hippocampus import recall
from hippocampus.errors import StoreError
from hippocampus.formats import anthropic
from hippocampus.formats.conversation import Item, ToolResult
from hippocampus.formats.tool_calls import fields_in
from hippocampus.formats.usage import Usage
from hippocampus.memory import Hippocampus
from hippocampus.replay.intervals import bootstrap
from hippocampus.replay.journal import RunJournal
from hippocampus.replay.readers.raw import reported_usage
from hippocampus.replay.study.wires import Reply, Wire, ask_in_turn, list_price
from hippocampus.session.session import Session

RAW, VIEW = "raw", "view"
PAIRS_NEEDED = 626
"""The pairs that McNemar's test needs to find a difference of 5 points, by Connor (1987).

(z₁√p + z₂√(p - d²))² / d² with d = 0.05, a share p = 0.2 of pairs that differ, and z = 1.959964 and
0.841621: a two-sided significance level of 5 percent, a power of 80 percent."""
INSTRUCTIONS = (
    "You work in the current folder with the tool `bash`, whose commands each start there in a new "
    "shell. When the task is done, answer with a sentence and no tool call."
)
BASH: Item = {
    "name": "bash",
    "description": "Run a command and return its output and exit status.",
    "parameters": {
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    },
}
DIGEST_DIGITS, SECOND_DIGITS, DOLLAR_DIGITS = 16, 3, 4
SECRET = re.compile("KEY|TOKEN")
KILL_SECONDS = 2.0
"""The wait for the last output of a killed command."""
VERIFY_SECONDS = 3_600.0
"""The time limit of a task's `verify`, which may run a whole test suite."""
MAX_OUTPUT_CHARACTERS = 30_000
"""A longer output loses its middle, under both conditions, as in coding agents."""


class Task(NamedTuple):
    """A task: a prompt, the files that the agent works on, and the program that verifies them."""

    name: str
    prompt: str
    workspace: Path
    verify: Path
    """Runs in the agent's workspace; exit status 0 means solved."""


def tasks_in(folder: Path) -> list[Task]:
    """Return the tasks of a folder: its folders with `prompt.md`, `workspace` and `verify`.

    Raises:
        StoreError: the folder has no task, or an incomplete one.
    """
    found = []
    for home in sorted(path.parent for path in folder.glob("*/prompt.md")):
        try:
            prompt = (home / "prompt.md").read_text("utf-8")
        except (OSError, ValueError) as failure:
            raise StoreError(f"{home / 'prompt.md'} cannot be read: {failure}") from failure
        task = Task(home.name, prompt, home / "workspace", home / "verify")
        if not task.workspace.is_dir() or not os.access(task.verify, os.X_OK):
            raise StoreError(f"{home} needs a folder `workspace` and a program `verify`")
        found.append(task)
    if not found:
        raise StoreError(f"{folder} holds no task: a folder with prompt.md, workspace and verify")
    return found


def digest_of(tasks: list[Task]) -> str:
    """Return a hash of the names and prompts of tasks, which does not depend on their folder."""
    text = "\0".join(f"{task.name}\0{task.prompt}" for task in tasks)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_DIGITS]


@dataclass(frozen=True, slots=True)
class TrialSettings:
    """The settings of a trial, which a later run has to repeat."""

    tasks: str
    """The `digest_of` the tasks."""
    model: str
    """The name of a wire, for `wire_of`."""
    policy: str = "default"
    calls: int = 100
    """The most calls of an attempt."""
    seconds: float = 120.0
    """The time limit of a command."""
    seed: int = 7


class BudgetError(Exception):
    """The budget is spent, or cannot be checked; ends the run, and never leaves `run_trial`."""


class TrialRecord(RunJournal):
    """The record of a trial in its folder.

    The records of an attempt are of these kinds: `answer` of the endpoint, with its `dollars` and
    `seconds`; `results` of an answer's calls, with their `seconds`; `ended`, whether it is `solved`, its
    `recalls`, the `seconds` of calls and commands, and its `reason`: `answer`, `refused: …`, or `calls`
    if the attempt reached the limit of calls.
    """

    def __init__(self, path: Path, settings: TrialSettings) -> None:
        """Read the record.

        Raises:
            StoreError: the trial has other settings.
        """
        super().__init__(path, "trial", settings)
        self.settings = settings
        if not self.last("settings"):
            self.add(settings=settings)

    def dollars(self, name: str | None = None) -> float:
        """Return the cost of an attempt's answers, or of all, without those of unknown price."""
        return sum(answer["dollars"] or 0.0 for answer in self.records("answer", name))

    def expect_within(self, budget: float) -> None:
        """Raise a `BudgetError` if the answers cost the budget, or an unknown amount."""
        if any(answer["dollars"] is None for answer in self.records("answer", None)):
            raise BudgetError("the price of a call is not known, so that no budget can be kept")
        if (dollars := self.dollars()) >= budget:
            spent = f"the budget of ${budget:,.2f} is spent (${dollars:,.2f})"
            raise BudgetError(f"{spent}; the same command with a larger one goes on")


def attempts_at(tasks: list[Task], seed: int) -> dict[str, tuple[Task, str]]:
    """Return attempts by name: tasks in random order, a task's two conditions in random order."""
    chance = Random(seed)  # noqa: S311 - an order that can be drawn again
    return {
        f"{task.name}-{condition}": (task, condition)
        for task in chance.sample(tasks, len(tasks))
        for condition in chance.sample((RAW, VIEW), 2)
    }


def mcnemar(only_one: int, only_other: int) -> float:
    """Return the exact two-sided p-value, given the numbers of pairs that only one side solved.

    >>> mcnemar(5, 0)
    0.0625
    """
    total, fewer = only_one + only_other, min(only_one, only_other)
    tail = sum(comb(total, number) for number in range(fewer + 1))
    return min(1.0, float(2 * tail / 2**total))


def report(record: TrialRecord, tasks: list[Task]) -> dict[str, Any]:
    """Return the figures of both conditions over the pairs that have ended, and their comparison."""
    names = ([f"{task.name}-{condition}" for condition in (RAW, VIEW)] for task in tasks)
    ended = [pair for pair in names if all(record.last("ended", name) for name in pair)]
    solved = [tuple(record.last("ended", name)["solved"] for name in pair) for pair in ended]
    only_raw, only_view = solved.count((True, False)), solved.count((False, True))
    raw, view = ([record.dollars(pair[at]) for pair in ended] for at in (0, 1))
    cost = [round(100 * share, 1) for share in bootstrap(view, raw)] if sum(raw) else None
    return {
        "pairs": len(ended),
        "of": len(tasks),
        "pairs_needed": PAIRS_NEEDED,
        "conditions": {
            condition: _figures(record, [pair[at] for pair in ended])
            for at, condition in enumerate((RAW, VIEW))
        },
        "solved_by_raw_alone": only_raw,
        "solved_by_view_alone": only_view,
        "mcnemar_p": mcnemar(only_raw, only_view),
        "cost_percent": cost,
        "dollars": round(record.dollars(), DOLLAR_DIGITS),
    }


def _figures(record: TrialRecord, names: list[str]) -> dict[str, Any]:
    answers = [answer for name in names for answer in record.records("answer", name)]
    reported = filter(None, (reported_usage(answer["answer"]) for answer in answers))
    usage = sum(reported, Usage())
    ends = [record.last("ended", name) for name in names]
    return {
        "solved": sum(end["solved"] for end in ends),
        "calls": len(answers),
        "input_tokens": usage.context_tokens,
        "cached_tokens": usage.cache_read_tokens,
        "output_tokens": usage.output_tokens,
        "dollars": round(sum(map(record.dollars, names)), DOLLAR_DIGITS),
        "unpriced_calls": sum(answer["dollars"] is None for answer in answers),
        "seconds": round(sum(end["seconds"] for end in ends), 1),
        "recalls": sum(end["recalls"] for end in ends),
        "refused": sum(end["reason"].startswith("refused") for end in ends),
        "out_of_calls": sum(end["reason"] == "calls" for end in ends),
    }


def run_trial(
    record: TrialRecord, tasks: list[Task], wire: Wire, budget_dollars: float
) -> Iterator[str]:
    """Run the attempts that have not ended; yield an empty text per attempt, or its problem."""
    attempts = attempts_at(tasks, record.settings.seed)
    left = [name for name in attempts if not record.last("ended", name)]
    try:
        yield from ask_in_turn(
            left, lambda name: _attempt(record, name, *attempts[name], wire, budget_dollars)
        )
    except BudgetError as spent:
        yield str(spent)


def _attempt(  # noqa: PLR0913, PLR0917 - what names an attempt
    record: TrialRecord, name: str, task: Task, condition: str, wire: Wire, budget: float
) -> None:
    settings, home = record.settings, record.path / "attempts" / name
    work, half = home / "workspace", home / "copying"
    answers, served = record.records("answer", name), record.records("results", name)
    if not work.exists():  # an interrupted copy is repeated
        shutil.rmtree(half, ignore_errors=True)
        shutil.copytree(task.workspace, half).rename(work)
    messages: list[Any] = [{"role": "user", "content": f"{INSTRUCTIONS}\n\n{task.prompt}"}]
    reason, recalls = "calls", 0
    with contextlib.ExitStack() as closing:
        session = None
        if condition == VIEW:
            memory = Hippocampus(home / "state", policy=settings.policy, model=wire.model)
            closing.callback(memory.close)
            session = closing.enter_context(memory.session(task.name))
        for number in range(settings.calls):
            if number == len(answers):
                if budget:
                    record.expect_within(budget)
                _ask(record, name, wire, messages, session)
            reply = wire.read(answers[number]["answer"])
            messages.append(reply.message)
            if reply.refused or not reply.calls:
                reason = f"refused: {reply.refused}" if reply.refused else "answer"
                break
            recalls += sum(tool == recall.TOOL_NAME for _, tool, _ in reply.calls)
            if number == len(served):
                _serve(record, name, reply, work, session)
            results = [ToolResult(*result) for result in served[number]["results"]]
            messages += wire.adapter.tool_results(results)
    seconds = sum(done["seconds"] for done in (*answers, *served))
    solved = _run([str(task.verify.absolute())], work, VERIFY_SECONDS)[1] == 0
    ended = {"solved": solved, "reason": reason, "recalls": recalls, "seconds": round(seconds, 2)}
    record.add(name=name, ended=ended)


def _ask(
    record: TrialRecord, name: str, wire: Wire, messages: list[Any], session: Session | None
) -> None:
    """Request the next answer, and record it with its price."""
    given = messages
    if wire.adapter is anthropic:  # hosts set a cache mark at the end of the list
        *before, last = messages
        content = last["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        marked = {**blocks[-1], "cache_control": {"type": "ephemeral"}}
        given = [*before, {**last, "content": [*blocks[:-1], marked]}]
    view = session(given) if session else given
    offered = [wire.adapter.tool_definition(*BASH.values())]
    offered += session.tools(wire.adapter.NAME) if session else []
    started = time.monotonic()
    answer = wire.ask(view, offered)["answer"]
    seconds = round(time.monotonic() - started, SECOND_DIGITS)
    if session:
        with contextlib.suppress(ValueError):
            session.billed(answer)
    record.add(name=name, answer=answer, dollars=price_of(answer, wire.model), seconds=seconds)


def price_of(answer: Any, model: str) -> float | None:
    """Return the dollars of an answer: the provider's figure, or else at list prices; None if unknown."""
    billed = answer.get("usage") if isinstance(answer, dict) else None
    if isinstance(billed, dict) and isinstance(billed.get("cost"), int | float):
        return float(billed["cost"])
    return list_price(model, reported_usage(answer) or Usage())


def _serve(
    record: TrialRecord, name: str, reply: Reply, work: Path, session: Session | None
) -> None:
    """Run the commands and recalls of an answer, and record their results."""
    started = time.monotonic()
    results = []
    for call_id, tool, arguments in reply.calls:
        command = (fields_in(arguments) or {}).get("command")
        if session and tool == recall.TOOL_NAME:
            results.append((call_id, session.answer(arguments), False))
        elif tool == BASH["name"] and isinstance(command, str):
            output, status = _run(["bash", "-c", command], work, record.settings.seconds)
            results.append((call_id, f"{output}\n(exit status {status})", status != 0))
        else:
            results.append((call_id, f"there is no tool {tool!r} with these arguments", True))
    seconds = round(time.monotonic() - started, SECOND_DIGITS)
    record.add(name=name, results=results, seconds=seconds)


def _run(command: list[str], work: Path, seconds: float) -> tuple[str, int]:
    """Return the output and exit status of a command, which runs without the keys of this process."""
    environment = os.environ.items()
    kept = {name: value for name, value in environment if not SECRET.search(name)}
    with subprocess.Popen(  # noqa: S603 - running what the model writes is what a trial is
        command,
        cwd=work,
        env=kept,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        try:
            output, _err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            try:
                output, _err = process.communicate(timeout=KILL_SECONDS)
            except subprocess.TimeoutExpired as held:  # a process in another session holds the pipe
                output = held.output or b""
            output += f"\n(ended after {seconds:g} seconds)".encode()
    text = output.decode("utf-8", "replace")
    if len(text) > MAX_OUTPUT_CHARACTERS:
        half = MAX_OUTPUT_CHARACTERS // 2
        text = f"{text[:half]}\n({len(text) - 2 * half:,} characters left out)\n{text[-half:]}"
    return text, process.returncode
