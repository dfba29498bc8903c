"""crib's verbs, for hooks and pipes: `write` and `retrieve` on stdin and stdout, `init`, `doctor`.

`retrieve` never stands in an agent's way: whatever fails, it ends with status 0 and no output.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Annotated

import typer

from hippocampus.cli.memory_opening import (
    DEFAULT_PATH,
    OWN_AGENT,
    Agent,
    Database,
    Json,
    Scope,
    Scopes,
    complete,
    opened,
)
from hippocampus.cli.memory_printing import heard, outcome_line, outcome_row, say, say_json

if TYPE_CHECKING:
    from hippocampus.facts.models import Outcome

TYPE_PREFIX = re.compile(r"type=([\w-]+)\s+")
NOTE = "note"
CONTEXT_TOKENS = 2_000


def write(
    agent: Agent = OWN_AGENT, scope: Scope = "", db: Database = DEFAULT_PATH, as_json: Json = False
) -> None:
    """Keep the text on stdin, after an optional `type=decision ` in front of it."""
    from hippocampus.facts.errors import FactError

    text, type_name = heard(), NOTE
    if found := TYPE_PREFIX.match(text):
        text, type_name = text[found.end() :], found[1]
    if not text or TYPE_PREFIX.fullmatch(f"{text} "):
        raise FactError("there is nothing to write: the input is empty")
    outcomes = _written(text, type_name, agent, scope, db)
    if as_json:
        say_json([outcome_row(each) for each in outcomes])
    else:
        for each in outcomes:
            typer.echo(outcome_line(each), err=True)


def _written(text: str, type_name: str, agent: str, scope: str, db: Database) -> list[Outcome]:
    """Keep a text word by word, and each relation in it as a fact.

    A model reads the whole text; rules read each sentence, and leave those that say no relation,
    which the text itself has already.
    """
    from hippocampus.facts.extraction import by_rules

    claims = [draft.content for draft in by_rules(text) if draft.relations]
    if complete() is not None:
        claims = [text]
    with opened(db, agent, models=True) as facts:
        kept = facts.store(text, type=type_name, scope=scope)
        source = {} if kept.memory is None else {"written": kept.memory.id}
        said = [facts.remember(claim, scope=scope, metadata=source) for claim in claims]
    return [kept, *(outcome for each in said for outcome in each)]


def retrieve(
    agent: Agent = OWN_AGENT,
    scope: Scopes = None,
    token_budget: Annotated[int, typer.Option(help="How long the answer may be.")] = CONTEXT_TOKENS,
    db: Database = DEFAULT_PATH,
    as_json: Json = False,
) -> None:
    """Print what the memory knows about the prompt on stdin; nothing where it knows nothing."""
    try:
        prompt = _prompt(heard())
        if not prompt or not db.exists():
            return
        with opened(db, agent, models=True) as facts:
            text = facts.retrieve(prompt, token_budget=token_budget, scopes=scope)
        if as_json:
            say_json({"memory": text})
        elif text:
            say(text)
    except Exception as failure:  # noqa: BLE001 - law 3: a hook's retrieval must not block an agent
        typer.echo(f"hippocampus: nothing retrieved: {failure}", err=True)


def _prompt(text: str) -> str:
    """Return the prompt: the text, or that in the JSON with which agents call their hooks."""
    if not text.startswith("{"):
        return text
    try:
        found = json.loads(text)
    except ValueError:
        return text
    prompt = found.get("prompt") if isinstance(found, dict) else None
    return prompt.strip() if isinstance(prompt, str) else text


def init(db: Database = DEFAULT_PATH, as_json: Json = False) -> None:
    """Make the database, or bring an older one up to date."""
    opened(db).close()
    if as_json:
        say_json({"database": str(db)})
    else:
        say(f"{db} is ready")


def doctor(
    probe: Annotated[
        bool, typer.Option("--probe", help="Also write and retrieve in a scratch database.")
    ] = False,
    db: Database = DEFAULT_PATH,
    as_json: Json = False,  # noqa: ARG001 - it is JSON anyway
) -> None:
    """Print the environment and every problem as JSON; exit status 1 where there is a problem."""
    from hippocampus.cli.memory_doctor import report

    found = report(db, probe=probe)
    say_json(found)
    if not found["ok"]:
        raise typer.Exit(1)
