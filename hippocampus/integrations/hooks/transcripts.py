"""Consolidates a session of a coding agent from the transcript that its host has written.

The work is done in a process of its own, which no host waits for.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path
from typing import Any

from hippocampus.integrations.hooks import note_event

SUB_AGENT = "#agent-"
"""In the name of a recording: the conversation of a sub-agent, in the same file."""


def start(event: dict[str, Any], state: str, policy: str) -> None:
    """Start the consolidation of the session of an event; nothing waits for it."""
    session, transcript = event.get("session_id"), event.get("transcript_path")
    if not (isinstance(session, str) and isinstance(transcript, str) and transcript):
        return
    subprocess.Popen(  # noqa: S603 - our own module, with the paths as arguments and no shell
        [sys.executable, "-P", "-m", __name__, state, policy, session, transcript],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def consolidate(state: str, policy: str, session: str, transcript: Path) -> None:
    """Consolidate the session of a transcript; a second time changes nothing."""
    from hippocampus.memory import Hippocampus
    from hippocampus.replay.readers import read_file
    from hippocampus.storage.engines import tenant_of_environment

    if not transcript.is_file():  # a pipe may never end
        return
    # No user wrote a sub-agent's task; what a compaction removed was consolidated before it.
    own = [recording for recording in read_file(transcript) if SUB_AGENT not in recording.name]
    if not own:
        return
    tenant = tenant_of_environment()
    with (
        contextlib.closing(Hippocampus(state, policy=policy, tenant=tenant)) as memory,
        memory.session(session) as stored,
    ):
        stored.consolidate(own[-1].messages)


if __name__ == "__main__":
    from hippocampus.errors import HippocampusError

    try:
        consolidate(sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4]))
    except HippocampusError as failure:
        note_event(sys.argv[1], {"failed": str(failure), "session": sys.argv[3]})
