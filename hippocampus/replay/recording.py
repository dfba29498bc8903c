"""One recorded conversation as a provider's message list, with what was recorded next to it.

No reading of files and no measuring here; `readers` make recordings, `measure` runs over them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hippocampus.formats.usage import Usage


@dataclass(frozen=True, slots=True)
class Recording:
    """One recorded conversation.

    `messages` is a list in one of the three provider formats (OpenAI Chat Completions, OpenAI
    Responses items, Anthropic Messages), without reasoning, every tool call answered.
    """

    path: str
    """The file as the user named it."""
    name: str
    """The conversation in that file: the file's name, with `#part` where one file holds many."""
    format: str
    """The name of the reader that read it, such as `claude-code`."""
    messages: list[dict[str, Any]]
    model: str | None = None
    usage: Mapping[int, Usage] = field(default_factory=dict)
    """Usage by number of the call; call 0 is answered by the first assistant message of
    `messages`. Calls without recorded usage are missing."""
    times: Mapping[int, float] = field(default_factory=dict)
    """By number of the call, when it was answered, in seconds since 1970, where that is recorded."""
    broken: tuple[str, ...] = ()
    """One `file:line: what was wrong` for each line that could not be read."""
    unanswered: int = 0
    """Tool calls without a recorded result; `messages` has a substitute for each."""
    orphans: int = 0
    """Tool results without a call; they are not in `messages`."""
    system_prompt: str = ""
    """The recorded system prompt; `messages` holds it too where the recorded list does. Replay
    does not count it."""
    tools: tuple[Mapping[str, Any], ...] = ()
    """The recorded tool definitions, in the recording's own format. Replay does not count them."""
    cut: tuple[str, ...] = ()
    """One sentence for each record that the recording program shortened or left out."""
    submission: str = ""
    """The patch with which the agent ended its task, where that is recorded."""
