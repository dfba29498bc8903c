"""What a session is: a name, a format, and the functions that prepare and play it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from recorder.agent import Agent
from recorder.formats import Transcript
from recorder.workspace import Workspace


@dataclass(frozen=True)
class Session:
    """One row of the table of sessions."""

    name: str
    transcript: Callable[[], Transcript]
    instructions: str
    play: Callable[[Agent], None]
    prepare: Callable[[Workspace], None]


def nothing(workspace: Workspace) -> None:
    """Prepare nothing: the session starts in an empty directory."""
