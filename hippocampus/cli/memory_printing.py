"""The shared options of the memory's verbs, and the printing of memories and outcomes.

A verb takes the open facts and its own options, and returns a `Shown`; `verb` makes it a command.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from hippocampus.cli.memory_store import DEFAULT_PATH, OWN_AGENT, VARIABLES, opened
from hippocampus.cli.options import AsJson, Shown
from hippocampus.errors import FactError

if TYPE_CHECKING:
    from hippocampus.facts.models import Outcome, Recalled
    from hippocampus.storage.facts.models import Memory


def read_stdin() -> str:
    """Return the text on stdin."""
    return sys.stdin.buffer.read().decode("utf-8-sig", "replace").strip()


def _text(ctx: typer.Context, given: str) -> str:
    """Return the given text, or else the text on stdin, which is not read for shell completion."""
    text = given if given or ctx.resilient_parsing else read_stdin()
    if not text.strip() and not ctx.resilient_parsing:
        raise FactError("there is nothing to remember: the text is empty")
    return text


def _limit(number: int) -> int:
    if number == 0 or number < -1:
        raise typer.BadParameter(f"{number} asks for nothing; -1 is all")
    return number


Database = Annotated[
    str,
    Option(
        "--db",
        envvar=VARIABLES,
        help="A state directory, a SQLite file, or the address of a PostgreSQL server.",
        show_default=True,
    ),
]
Agent = Annotated[
    str, Option("--agent", envvar="HIPPOCAMPUS_AGENT", help="Whose memory; * reads all.")
]
Scope = Annotated[str, Option(help="The part of the memory that is written to.")]
Scopes = Annotated[list[str] | None, Option("--scope", help="Only this part; may be repeated.")]
Limit = Annotated[int, Option(callback=_limit, help="How many at most; -1 is all.")]
Force = Annotated[bool, Option("--force", help="Do it; without this, only show it.")]
Ids = Annotated[list[str], Argument(help="Ids of memories, or their ends in MEMORY.md.")]
Id = Annotated[str, Argument(help="The id of a memory, or its end in MEMORY.md.")]
Text = Annotated[str, Argument(callback=_text, help="The text; left out, stdin is read.")]
Query = Annotated[str, Argument(help="What to look for; nothing loads the context.")]
OneType = Annotated[str, Option("--type", help="Only this type; after !, all others.")]
Importance = Annotated[float | None, Option(min=0, max=1, help="0 to 1.")]

SHOWN_CHARACTERS = 100


def verb(
    *groups: typer.Typer, name: str = "", models: bool = False, **opening: Any
) -> Callable[[Callable[..., Shown]], Callable[..., Shown]]:
    """Add a function of facts to groups as a command with `--db` and `--json`; `opening` is of `opened`."""

    def add(function: Callable[..., Shown]) -> Callable[..., Shown]:
        known = {"Facts": Any}  # its module is not imported for `--help`
        signature = inspect.signature(function, eval_str=True, locals=known)
        _, *own = signature.parameters.values()

        def run(db: Database = DEFAULT_PATH, as_json: AsJson = False, **given: Any) -> None:
            with opened(db, given.get("agent") or OWN_AGENT, models=models, **opening) as facts:
                shown = function(facts, **given)
            shown.show(as_json=as_json)

        *shared, _ = inspect.signature(run, eval_str=True).parameters.values()
        run.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
        for group in groups:
            group.command(name or function.__name__, help=inspect.getdoc(function))(run)
        return function

    return add


def row(memory: Memory) -> dict[str, Any]:
    """Return a memory as a JSON object, with its times in ISO 8601."""
    from hippocampus.facts.timestamps import stamp

    found = {**asdict(memory), "metadata": dict(memory.metadata)}
    for name in ("created", "accessed", "valid_from", "valid_until", "known_until"):
        found[name] = None if found[name] is None else stamp(found[name])
    return found


def outcome_row(outcome: Outcome) -> dict[str, Any]:
    """Return the outcome of a write as a JSON object."""
    memory = None if outcome.memory is None else row(outcome.memory)
    others = list(outcome.others)
    return {
        "action": str(outcome.action), "reason": outcome.reason, "memory": memory, "others": others,
    }  # fmt: skip


def line(memory: Memory, *, agent: bool = False) -> str:
    """Return a memory as a line: id, date, type and text."""
    from hippocampus.facts.rendering import entry_line

    owner = f"{memory.agent}  " if agent else ""
    gone = f" (removed: {memory.removed})" if memory.removed else ""
    gone = f" (superseded by {memory.superseded_by})" if memory.superseded_by else gone
    shown = entry_line(replace(memory, content=short(memory.content))).removeprefix("- ")
    return f"{memory.id}  {owner}{shown}{gone}"


def outcome_line(outcome: Outcome) -> str:
    """Return the outcome of a write as a line."""
    memory = "" if outcome.memory is None else f"  {line(outcome.memory)}"
    return f"{outcome.action.replace('_', ' ')}: {outcome.reason}{memory}"


def memories(
    found: Sequence[Memory], problems: Sequence[str] = (), *, agent: bool = False
) -> Shown:
    """Return memories as lines."""
    lines = [line(memory, agent=agent) for memory in found]
    return Shown(list(map(row, found)), lines, "no memories", problems)


def outcomes(found: Sequence[Outcome]) -> Shown:
    """Return the outcomes of a text's statements."""
    nothing = "nothing in this text is a statement to keep"
    return Shown(list(map(outcome_row, found)), map(outcome_line, found), nothing)


def gone(
    found: Sequence[Memory],
    *,
    force: bool,
    returned: Sequence[Memory] = (),
    option: str = "--force",
) -> Shown:
    """Return the memories that a deletion removes, or would remove, and those that it restores."""
    lines = list(map(line, found))
    if found:
        lines += [
            f"{len(found)} deleted" if force else f"{len(found)} would go; {option} deletes them"
        ]
    again = "true again" if force else "would be true again"
    lines += [f"{again}: {line(memory)}" for memory in returned]
    value = {"deleted": list(map(row, found)), "returned": list(map(row, returned))}
    return Shown({**value, "dry_run": not force}, lines, "nothing to delete")


def short(text: str) -> str:
    """Return a text on one line, cut to 100 characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= SHOWN_CHARACTERS else f"{flat[: SHOWN_CHARACTERS - 1]}…"


def recalled(found: Sequence[Recalled]) -> Shown:
    """Return results with their scores; the JSON also has the scores' terms, dates and triples."""
    lines = [f"{result.score.total:.2f}  {line(result.memory)}" for result in found]
    rows = [
        {
            **row(result.memory),
            "score": result.score._asdict(),
            "date": result.date,
            "triples": [f"{of.subject} → {of.predicate} → {of.object}" for of in result.triples],
        }
        for result in found
    ]
    return Shown(rows, lines, "nothing found")
