"""The text of a tool's result in a host's event: its path, and the answer that replaces it. Pure.

Whether a result becomes an entry, and its text, is decided in `stored_entries`.
"""

from __future__ import annotations

import json
from typing import Any

from hippocampus.formats.reads import asks_to_read

MIN_CHARACTERS = 4_000
"""Smaller results stay, whatever the policy: that is decided without loading anything."""
OWN_TOOLS = ("mcp__hippocampus__", "mcp_hippocampus_", "hippocampus__", "hippocampus_")
STORED = (
    "The call succeeded. Its result was stored, not refused: the entry below replaces it, and the "
    "tool recall of the MCP server hippocampus returns any part of it.\n"
)
"""For hosts that announce a replaced result as blocked."""

Path = tuple[str | int, ...]
SHAPES: tuple[tuple[frozenset[str], Path], ...] = (
    (frozenset({"stdout", "stderr"}), ("stdout",)),  # Claude Code: Bash
    (frozenset({"type", "file"}), ("file", "content")),  # Read
    (frozenset({"mode", "content"}), ("content",)),  # Grep
    (frozenset({"result", "url"}), ("result",)),  # WebFetch
    (frozenset({"content", "isError"}), ("content",)),  # Codex CLI: a tool of an MCP server
    (frozenset({"llmContent"}), ("llmContent",)),  # Gemini CLI
)
"""By the keys of a result, the path of its text or of its list of texts."""
STAYS = ("isError", "error", "isImage", "persistedOutputPath")
"""Keys of results that stay: failures, images, and those that the host has moved to a file."""


def shortened(event: dict[str, Any], state: str, policy: str) -> dict[str, Any] | None:
    """Return the answer that replaces a large result with its entry; None leaves it."""
    response = event.get("tool_response")
    path = text_path(response)
    if path is None:
        return None
    text = at(response, path)
    tool, session = event.get("tool_name"), event.get("session_id")
    if len(text) < MIN_CHARACTERS or not (isinstance(tool, str) and isinstance(session, str)):
        return None
    arguments = json.dumps(event.get("tool_input") or {}, ensure_ascii=False)
    if tool.startswith(OWN_TOOLS) or asks_to_read(tool, arguments):
        return None
    from hippocampus.integrations.hooks import stored_entries

    entry = stored_entries.stored(event, arguments, text, state, policy)
    return None if entry is None else replaced(event, path, entry)


def text_path(response: Any) -> Path | None:
    """Return the path of a result's text; None for an unknown shape, or a result that stays.

    >>> text_path({"stdout": "a", "stderr": "", "interrupted": False})
    ('stdout',)
    >>> text_path([{"type": "text", "text": "a"}, {"type": "text", "text": "longer"}])
    (1, 'text')
    """
    path: Path = ()
    if isinstance(response, dict):
        found = [path for keys, path in SHAPES if keys <= response.keys()]
        if not found or any(map(response.get, STAYS)):
            return None
        path = found[0]
    try:
        value = at(response, path)
    except (KeyError, TypeError):
        return None
    if isinstance(value, list):
        texts = [
            (len(block["text"]), number)
            for number, block in enumerate(value)
            if isinstance(block, dict) and isinstance(block.get("text"), str)
        ]
        return (*path, max(texts)[1], "text") if texts else None
    return path if isinstance(value, str) else None


def at(value: Any, path: Path) -> Any:
    """Return the value at a path."""
    for key in path:
        value = value[key]
    return value


def with_text(value: Any, path: Path, text: str) -> Any:
    """Return a copy of a value with another text at a path; every other field is as it was."""
    if not path:
        return text
    copy = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = with_text(value[path[0]], path[1:], text)  # type: ignore[index]
    return copy


def replaced(event: dict[str, Any], path: Path, entry: str) -> dict[str, Any]:
    """Return the answer with which a host shows an entry in the place of a result."""
    is_gemini = event["hook_event_name"] == "AfterTool"
    if is_gemini or "turn_id" in event:  # which only Codex CLI has
        return {"decision": "deny" if is_gemini else "block", "reason": f"{STORED}{entry}"}
    output = with_text(event["tool_response"], path, entry)
    return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": output}}
