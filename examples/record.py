"""Record the sessions in `transcripts/` anew: `python examples/record.py`.

What each session does is in `recorder/sessions/`, how messages look in `recorder/formats.py`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from recorder.agent import Agent
from recorder.formats import Item
from recorder.sessions import SESSIONS
from recorder.sessions.session import Session
from recorder.toolbox import toolbox
from recorder.workspace import Workspace

TRANSCRIPTS = Path(__file__).parent / "transcripts"


def record(session: Session) -> list[Item]:
    """Play one session with real tools in a fresh directory and return its message list."""
    with tempfile.TemporaryDirectory() as directory:
        workspace = Workspace(Path(directory).resolve() / "work")
        workspace.work.mkdir()
        agent = Agent(session.name, session.transcript(), toolbox(workspace))
        agent.transcript.system(session.instructions)
        session.prepare(workspace)
        session.play(agent)
    return agent.transcript.items


def as_lines(items: list[Item]) -> str:
    """Return the list as JSON with one message a line, which keeps diffs readable."""
    lines = (json.dumps(item, ensure_ascii=False) for item in items)
    return "[\n" + ",\n".join(lines) + "\n]\n"


def main() -> None:
    """Record every session, or those named with `--only`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=TRANSCRIPTS, help="directory to write to")
    parser.add_argument("--only", choices=sorted(SESSIONS), action="append", help="repeatable")
    options = parser.parse_args()
    options.into.mkdir(parents=True, exist_ok=True)
    for name in options.only or SESSIONS:
        items = record(SESSIONS[name])
        (options.into / f"{name}.json").write_text(as_lines(items), "utf-8")
        print(f"{name}: {len(items)} messages")


if __name__ == "__main__":
    main()
