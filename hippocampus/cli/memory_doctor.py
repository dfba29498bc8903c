"""What `hippocampus doctor` reports of a memory: what there is to work with, and whether it works.

Nothing is made or changed; the probe works in a folder of its own that it removes.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from hippocampus.cli.memory_printing import DEFAULT_PATH, Database, Json, Shown
from hippocampus.cli.memory_store import complete, embed, existing, opened, rerank

Probe = Annotated[
    bool, typer.Option("--probe", help="Of a database: write and retrieve in a scratch one too.")
]
MODEL_SECONDS = 5.0
SAID = "Chose SQLite for storage. Zero dependencies."
ASKED = "what did we choose for storage?"


def report(
    probe: Probe = False,
    db: Database = DEFAULT_PATH,
    as_json: Json = False,  # noqa: ARG001 - it is JSON anyway
) -> None:
    """Print the state of the memory as JSON, with an answer of each model; status 1 where there is a problem."""
    from hippocampus.models.local_embedding import installed

    found: dict[str, Any] = {
        "python": {"version": platform.python_version(), "ok": sys.version_info >= (3, 11)},
        "sqlite": _sqlite(),
        "database": _database(db),
        "models": _models(),
        "local_embedding": {"installed": installed(), "ok": True},
    }
    stored, given = found["database"].get("embedding_model"), found["models"]["embed"]
    if stored and given and stored != given:
        problem = (
            f"the database is embedded with {stored!r}, not {given!r}: hippocampus memory reembed"
        )
        found["models"] |= {"problem": problem, "ok": False}
    if probe:
        found["probe"] = _probe()
    is_ok = all(part["ok"] for part in found.values())
    Shown({**found, "ok": is_ok}).show(as_json=True)
    if not is_ok:
        raise typer.Exit(1)


def _sqlite() -> dict[str, Any]:
    """Return whether full text works as the store needs it, by a trial."""
    from hippocampus.storage.full_text import SQLITE_VERSION, has_tokenizer

    found = {"fts5": has_tokenizer("porter unicode61"), "trigram": has_tokenizer("trigram")}
    return {"version": SQLITE_VERSION, "ok": all(found.values()), **found}


def _database(path: Path) -> dict[str, Any]:
    from hippocampus.errors import HippocampusError
    from hippocampus.storage.facts import memories

    found: dict[str, Any] = {"path": str(path), "exists": path.exists(), "problems": [], "ok": True}
    if not path.exists():
        folder = next(parent for parent in path.absolute().parents if parent.exists())
        found["writable"] = found["ok"] = folder.is_dir() and os.access(folder, os.W_OK)
        return found
    found["writable"] = os.access(path, os.W_OK)
    try:
        facts = existing(path)
        stats = memories.stats(facts.tables.database, facts.tables.clock())
        found |= {"memories": sum(stats.current.values()), "problems": facts.check()}
        found["embedding_model"] = stats.embedding_model
        facts.close()
    except HippocampusError as failure:
        found["problems"] = [str(failure)]
    found["ok"] = found["writable"] and not found["problems"]
    return found


def _models() -> dict[str, Any]:
    """Ask each model that the environment names a short question; no key is shown."""
    from hippocampus.errors import HippocampusError
    from hippocampus.facts.bounded import within

    try:
        found = {"embed": embed(), "complete": complete(), "rerank": rerank()}
    except HippocampusError as wrong:
        return {"embed": None, "problem": str(wrong), "ok": False}
    named = {
        name: None if each is None else getattr(each, "model", "by completions")
        for name, each in found.items()
    }
    questions = {
        "embed": (["one"],),
        "complete": ("Answer with the word: ready",),
        "rerank": ("one", ["one", "two"]),
    }
    silent = [
        name
        for name, each in found.items()
        if each is not None and within(MODEL_SECONDS, each, *questions[name]) is None
    ]
    problem = (
        {"problem": f"no answer within {MODEL_SECONDS:g} seconds: {', '.join(silent)}"}
        if silent
        else {}
    )
    return {**named, **problem, "ok": not silent}


def _probe() -> dict[str, Any]:
    """Write a text and ask for it, with the models that the environment names."""
    started = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory() as folder:
            facts = opened(Path(folder) / "probe.sqlite3", models=True)
            facts.store(SAID, type="decision")
            text = facts.retrieve(ASKED)
            problems = facts.check()
            facts.close()
    except Exception as failure:  # noqa: BLE001 - whatever is wrong is what a doctor reports
        return {"ok": False, "problem": f"{type(failure).__name__}: {failure}"}
    seconds = round(time.perf_counter() - started, 3)
    return {"ok": "SQLite" in text and not problems, "problems": problems, "seconds": seconds}
