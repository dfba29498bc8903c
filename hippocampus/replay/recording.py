"""What a reader hands to replay: one recorded conversation, as a provider's message list.

No reading of files and no measuring here; readers fill these, `measure` runs over them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that the provider itself reported for one call; zero where it reported none."""

    input_tokens: int = 0
    """Tokens that came from no cache and went into none."""
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0

    @property
    def context_tokens(self) -> int:
        """Return the size of the whole request, cached or not."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens


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
    """Which reader read it, such as `claude-code`."""
    messages: list[dict[str, Any]]
    model: str | None = None
    usage: Mapping[int, Usage] = field(default_factory=dict)
    """Reported usage by call: 0 is the first assistant message of `messages` as read."""
    broken: tuple[str, ...] = ()
    """One `file:line: what was wrong` for each line that could not be read."""
    unanswered: int = 0
    """Tool calls without a result that replay had to answer or leave out."""
    orphans: int = 0
    """Tool results without a call that replay had to leave out."""
