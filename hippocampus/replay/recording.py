"""One recorded conversation as a provider's message list, with what was recorded next to it.

No reading of files and no measuring here; `readers` make recordings, `measure` runs over them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that the provider billed for one call, each counted in one field only.

    Zero where the recording has no figure: some programs record reads from the provider's cache
    but not writes to it.
    """

    input_tokens: int = 0
    """Input tokens at full price: neither read from the provider's cache nor written to it."""
    cache_read_tokens: int = 0
    """Input tokens read from the provider's cache."""
    cache_write_tokens: int = 0
    """Input tokens written to the provider's cache."""
    output_tokens: int = 0
    """Generated tokens, reasoning included."""

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
    """The name of the reader that read it, such as `claude-code`."""
    messages: list[dict[str, Any]]
    model: str | None = None
    usage: Mapping[int, Usage] = field(default_factory=dict)
    """Usage by number of the call; call 0 is answered by the first assistant message of
    `messages`. Calls without recorded usage are missing."""
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
