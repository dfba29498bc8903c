"""The report of `hippocampus doctor` on a memory: its software, database and models. Changes nothing."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import Any

import typer

from hippocampus.cli.memory_printing import DEFAULT_PATH, Database
from hippocampus.cli.memory_store import complete, embed, is_there, opened, rerank
from hippocampus.cli.options import AsJson, Shown
from hippocampus.errors import HippocampusError
from hippocampus.storage.facts import memories
from hippocampus.storage.full_text import SQLITE_VERSION, is_installed
from hippocampus.storage.ledger import activity
from hippocampus.storage.state_dir import is_address
from hippocampus.storage.verify import damaged_sessions

MODEL_SECONDS = 5.0
QUESTIONS: dict[str, tuple[Any, ...]] = {
    "embed": (["one"],),
    "complete": ("Answer with the word: ready",),
    "rerank": ("one", ["one", "two"]),
}


def report(
    db: Database = DEFAULT_PATH,
    as_json: AsJson = False,  # noqa: ARG001 - it is JSON anyway
) -> None:
    """Print the state of the memory as JSON, with an answer per model; status 1 where there is a problem."""
    from hippocampus.models.local_embedding import installed

    has_words = is_installed()
    database, models = _database(db), _models()
    stored, given = database.get("embedding_model"), models["embed"]
    if stored and given and stored != given:
        other = f"the database is embedded with {stored!r}, not {given!r}"
        models |= {"problem": f"{other}: hippocampus memory reembed", "ok": False}
    found: dict[str, Any] = {
        "python": {"version": platform.python_version(), "ok": sys.version_info >= (3, 11)},
        "sqlite": {"version": SQLITE_VERSION, "fts5": has_words, "ok": has_words},
        "database": database,
        "models": models,
        "local_embedding": {"installed": installed(), "ok": True},
    }
    is_ok = all(part["ok"] for part in found.values())
    Shown({**found, "ok": is_ok}).show()
    if not is_ok:
        raise typer.Exit(1)


def _database(named: str) -> dict[str, Any]:
    path, is_here = Path(named), is_there(named)
    found: dict[str, Any] = {"path": named, "exists": is_here, "problems": [], "ok": True}
    if not is_here:
        folder = next(parent for parent in path.absolute().parents if parent.exists())
        found["writable"] = found["ok"] = folder.is_dir() and os.access(folder, os.W_OK)
        return found
    found["writable"] = is_address(named) or os.access(path, os.W_OK)
    try:
        with opened(named, models=False) as facts:
            db = facts.tables.database
            found["path"] = db.path  # a server's address without its password
            stats = memories.stats(db, facts.tables.clock())
            problems = [*facts.check(), *(session.text for session in damaged_sessions(db))]
            found |= {"memories": sum(stats.current.values()), "sessions": len(activity(db))}
            found |= {"problems": problems}
            found["embedding_model"] = stats.embedding_model
    except HippocampusError as failure:
        found["problems"] = [str(failure)]
    found["ok"] = found["writable"] and not found["problems"]
    return found


def _models() -> dict[str, Any]:
    """Ask the models that the environment names a short question; the report contains no key."""
    from hippocampus.models.bounded import within

    try:
        found = {"embed": embed(), "complete": complete(), "rerank": rerank()}
    except HippocampusError as wrong:
        return {"embed": None, "problem": str(wrong), "ok": False}
    models = {name: model for name, model in found.items() if model is not None}
    silent = [
        name
        for name, model in models.items()
        if within(MODEL_SECONDS, model, *QUESTIONS[name]) is None
    ]
    named = {name: getattr(model, "model", "by completions") for name, model in models.items()}
    sentence = f"no answer within {MODEL_SECONDS:g} seconds: {', '.join(silent)}"
    problem = {"problem": sentence} if silent else {}
    return {**dict.fromkeys(found), **named, **problem, "ok": not silent}
