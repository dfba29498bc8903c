"""A recorded conversation: a message list, with the usage, times and tools next to it. Pure."""

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
    """The time of an answer by number of the call, in seconds since 1970, where it is recorded."""
    broken: tuple[str, ...] = ()
    """One `file:line: problem` per line that could not be read."""
    unanswered: int = 0
    """Tool calls without a recorded result; `messages` has substitutes."""
    orphans: int = 0
    """Tool results without a call; they are not in `messages`."""
    system_prompt: str = ""
    """The recorded system prompt, also in `messages` if the recorded list has it. Replay does not
    count it."""
    tools: tuple[Mapping[str, Any], ...] = ()
    """The recorded tool definitions, in the recording's own format. Replay does not count them."""
    cut: tuple[str, ...] = ()
    """One sentence per record that the recording program shortened or left out."""
    submission: str = ""
    """The patch with which the agent ended its task, where that is recorded."""
