"""What `hippocampus memory import` does and prints, under whichever name it is called."""

from __future__ import annotations

from pathlib import Path

from hippocampus.cli.memory_printing import SHOWN, say, say_json, short
from hippocampus.cli.memory_store import opened


def say_import(
    file: Path, agent: str | None, embedding_model: str | None, db: Path, *, as_json: bool
) -> None:
    """Bring in what a file holds and is not there yet, and name what was left out."""
    from hippocampus.facts.exchange import import_file

    with opened(db) as facts:
        done = import_file(facts, file, agent=agent, embedding_model=embedding_model)
    skipped = [{"what": each.what, "reason": each.reason} for each in done.skipped]
    counts = {name: getattr(done, name) for name in ("memories", "triples", "blocks", "embeddings")}
    if as_json:
        say_json({"source": done.source, "imported": counts, "skipped": skipped})
        return
    brought = ", ".join(f"{number} {name}" for name, number in counts.items())
    say(f"from {done.source}: {brought}; {len(skipped)} skipped")
    for each in skipped[:SHOWN]:
        say(f"  {short(each['what'])}: {each['reason']}")
    if len(skipped) > SHOWN:
        say(f"  and {len(skipped) - SHOWN} more")
