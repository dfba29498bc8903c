"""The options that the memory commands share. Nothing is opened here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hippocampus.storage.state_dir import StateDir

DEFAULT_PATH = StateDir(Path(".hippocampus")).facts

Database = Annotated[
    Path,
    typer.Option("--db", envvar="HIPPOCAMPUS_DB", help="The SQLite file.", show_default=True),
]
Agent = Annotated[
    str,
    typer.Option(
        "--agent", envvar="HIPPOCAMPUS_AGENT", help="Whose memory; * is all of them, to read."
    ),
]
Scope = Annotated[str, typer.Option(help="The part of the memory that is written to.")]
Scopes = Annotated[
    list[str] | None, typer.Option("--scope", help="Only this part of the memory; may be repeated.")
]
Limit = Annotated[int, typer.Option(help="How many at most; -1 is all.")]
Kind = Annotated[str | None, typer.Option(help="Only facts, or only memories.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Force = Annotated[bool, typer.Option("--force", help="Do it; without this, only show it.")]
