"""Measure what a recall finds of a data set in a file and on a PostgreSQL server.

python -m tests.bench.fact_server locomo.json
python -m tests.bench.fact_server beam-100K
"""

from __future__ import annotations

import sys
import uuid
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from postgres_server import running

from hippocampus.facts.store import Facts
from hippocampus.replay.bench import beam, locomo, retrieval
from hippocampus.storage.postgres import PostgresState


def main(path: Path) -> None:
    """Print the share of the evidence at each cut, of both."""
    conversations = locomo.read(path) if path.is_file() else beam.read([path])

    def report(engine: str) -> None:
        found = retrieval.summary(retrieval.measure(conversations))
        print(engine, {name: found[name] for name in ("turn", "session", "all_pieces")})

    report("SQLite")
    with running() as server:
        state = PostgresState(server.address, "bench")
        state.connections.patience_seconds = 120.0

        def on_server(_path: str, **options: Any) -> Facts:
            return Facts(state.of_tenant(uuid.uuid4().hex), **options)

        retrieval.Facts = on_server  # type: ignore[misc, assignment]
        report("PostgreSQL")
        state.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
