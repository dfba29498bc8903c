"""Runs an agent with a shell on a task: calls of a model, commands in its workspace, recalls, the verdict.

Every answer is recorded before it is used, so that an interrupted run continues and pays nothing twice.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hippocampus import recall
from hippocampus.formats import anthropic, json_text
from hippocampus.formats.conversation import Item, ToolResult
from hippocampus.formats.usage import Usage
from hippocampus.memory import Hippocampus
from hippocampus.models.http import post
from hippocampus.replay.readers.raw import reported_usage
from hippocampus.replay.study.wires import Reply, Wire, ask_in_turn, list_price
from hippocampus.replay.trial.record import VIEW, Task, TrialRecord, attempts_at
from hippocampus.session.session import Session

SYSTEM = (
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
SECRET = re.compile("KEY|TOKEN")
KILL_SECONDS = 2.0
"""The wait for the last output of a killed command."""
VERIFY_SECONDS = 3_600.0
"""The time limit of a task's `verify`, which may run a whole test suite."""
MAX_OUTPUT_CHARACTERS = 30_000
"""A longer output loses its middle, under both conditions, as in coding agents."""


class BudgetError(Exception):
    """The budget is spent, or cannot be checked; ends the run, and never leaves `run_trial`."""


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
    messages: list[Any] = [{"role": "user", "content": task.prompt}]
    reason, recalls = "calls", 0
    with contextlib.ExitStack() as closing:
        session = None
        if condition == VIEW:
            memory = Hippocampus(home / "state", policy=settings.policy, model=wire.model)
            closing.callback(memory.close)
            session = closing.enter_context(memory.session(task.name))
        for number in range(settings.calls):
            if number == len(answers):
                unpriced = any(made["dollars"] is None for made in record.records("answer", None))
                if budget and unpriced:
                    reason = "the price of a call is not known, so that no budget can be kept"
                    raise BudgetError(reason)
                if budget and (dollars := record.dollars()) >= budget:
                    spent = f"the budget of ${budget:,.2f} is spent (${dollars:,.2f})"
                    raise BudgetError(f"{spent}; the same command with a larger one goes on")
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
    body = wire.request(SYSTEM, view, offered)
    started = time.monotonic()
    answer = post(wire.endpoint, wire.path, body)
    wire.read(answer)  # raises before an unusable answer is recorded, so that it is requested again
    seconds = round(time.monotonic() - started, 3)
    if session:
        with contextlib.suppress(ValueError):
            session.billed(answer)
    answer = wire.without_key(answer)
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
        given = json_text.read(arguments, None)
        command = given.get("command") if isinstance(given, dict) else None
        if session and tool == recall.TOOL_NAME:
            results.append((call_id, session.answer(arguments), False))
        elif tool == BASH["name"] and isinstance(command, str):
            output, status = _run(["bash", "-c", command], work, record.settings.seconds)
            results.append((call_id, f"{output}\n(exit status {status})", status != 0))
        else:
            results.append((call_id, f"there is no tool {tool!r} with these arguments", True))
    seconds = round(time.monotonic() - started, 3)
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
