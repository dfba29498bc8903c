"""`hippocampus bench`: measures on data sets that the user has."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument

from hippocampus.cli.memory_store import embed
from hippocampus.cli.options import AsJson, Shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hippocampus.replay.bench.retrieval import BenchConversation

HELP = "Measure retrieval on public data sets."
app = typer.Typer(help=HELP, no_args_is_help=True, add_completion=False)
WAYS = {
    "plain_fts5": "plain FTS5",
    "without_model": "without a model",
    "with_embedding": "with the embedding",
}


@app.command()
def locomo(
    file: Annotated[Path, Argument(help="LoCoMo's JSON file: a list of conversations.")],
    as_json: AsJson = False,
) -> None:
    """Measure which share of the evidence for LoCoMo's questions a recall finds."""
    from hippocampus.replay.bench import locomo

    _report(locomo.read(file), as_json=as_json)


@app.command()
def beam(
    folders: Annotated[list[Path], Argument(help="Folders of BEAM's chats, one for each length.")],
    as_json: AsJson = False,
) -> None:
    """Measure which share of the evidence for BEAM's questions a recall finds."""
    from hippocampus.replay.bench import beam

    _report(beam.read(folders), as_json=as_json)


def _report(conversations: Sequence[BenchConversation], *, as_json: bool) -> None:
    """Print a report as JSON, or as a table with a column per retrieval method.

    The embedding is that of the environment, or else the local one if it is installed.
    """
    from hippocampus.models.local_embedding import LocalEmbedder, installed
    from hippocampus.replay.bench import retrieval

    if not installed():
        needed = 'pip install "hippocampus-context[embedding]"'
        typer.echo(f"for the local embedding: {needed}", err=True)
    embedding = embed() or (LocalEmbedder() if installed() else None)
    found = retrieval.report(conversations, embedding)
    ways = [found[way] for way in WAYS if way in found]
    cut = retrieval.HEADLINE_CUT
    rows = {
        f"{place} @{cut}": [way[place][cut] for way in ways]
        for place in retrieval.PLACES
        for cut in ways[0][place]
    }
    for field in ("by_category", "by_length"):
        for name, group in ways[0][field].items():
            label = f"{name} ({group['questions']})"
            rows[label] = [way[field][name]["turn"][cut] for way in ways]
    lines = [f"{found['questions']} questions; share of the evidence that is found"]
    lines.append(f"{'':32}" + "".join(f"{WAYS[way]:>20}" for way in WAYS if way in found))
    for name, values in rows.items():
        lines.append(f"{name:32}" + "".join(f"{value:20.3f}" for value in values))
    Shown(found, lines).show(as_json=as_json)
