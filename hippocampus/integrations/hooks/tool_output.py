"""Replaces the large result of a tool, in a host's event, by its entry, once both are on disk.

A hook sees a result once, when it arrives: what a policy shows in full first stays in full. Nothing is
imported here that a small result does not need.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hippocampus.formats.tool_calls import asks_to_read
from hippocampus.integrations.hooks import note_event, open_state

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


def shorten_result(event: dict[str, Any], state: str, policy: str) -> dict[str, Any] | None:
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
    entry = store_result(event, arguments, text, state, policy)
    return None if entry is None else answer_with(event, path, entry)


def store_result(
    event: Mapping[str, Any], arguments: str, text: str, state: str, policy_name: str
) -> str | None:
    """Return the text of the entry of a result, once both are on disk; None where it stays in full.

    `event` has the session, the call and its tool, with the tool's `arguments` as JSON.
    """
    from hippocampus import indexing, prices
    from hippocampus import policy as policies
    from hippocampus.entries.entry import Record, Source, Stage, content_key, entry_id, storable
    from hippocampus.entries.origin import PartOrigin
    from hippocampus.indexing import ExtractionContext, frame, price_of
    from hippocampus.models import tokens
    from hippocampus.policy import Subject, new_entry

    rules, session = policies.load(policy_name), event["session_id"]
    size, kind = tokens.count(text), indexing.kind_of(text)
    tool = storable(event["tool_name"])
    resolution = rules.resolve(
        Subject("tool_result", tool, text=text, kind=kind, arguments=arguments)
    )
    is_due = rules.indexes(size, lambda: kind, resolution) and not resolution.pin
    if not is_due or rules.fresh_turns_of(kind, size, resolution):
        return None
    redacted = resolution.redacted(text)
    # A recall returns the whole text, unless the rule redacts the original too.
    is_original = resolution.redact is None or not resolution.redact.original
    content = (text if is_original else redacted).encode("utf-8", "surrogatepass")
    key = content_key(content)
    call_id = str(event.get("tool_use_id") or event.get("prompt_id") or "")
    origin = PartOrigin("result", call_id, key, 0)
    arguments = storable(resolution.redacted_json(arguments))
    table = prices.TABLES[rules.prices or "anthropic-5m"]
    price = price_of(kind, rules.compression_of(resolution), table, 0, 0)
    index = indexing.index(redacted, ExtractionContext(arguments, content_tokens=size), price)
    source = Source(type=rules.source_type_of(tool), ref=key, turn=0)
    with (
        open_state(state) as memory,
        memory.contents() as store,
        contextlib.closing(memory.session(session)) as ledger,
    ):
        others = {record.entry.id for record in ledger.records() if record.origin != origin}
        named = entry_id(ledger.mark, session, origin, key, others.__contains__)
        entry = replace(
            new_entry(named, "tool_result", source, rules, resolution, kind),
            summary=storable(resolution.redacted(index.summary)),
            key_data=resolution.redacted_data(index.key_data) or None,
        )
        lines = [
            f"[{named} · {frame.tool_name(tool)} · {size} tokens · {kind}]",
            *map(resolution.redacted, index.lines),
            frame.last_line(named, index.selectors),
        ]
        shown = storable("\n".join(lines))
        weight = tokens.count(shown)
        if not rules.is_worth_shortening(size, weight, kind):
            return None
        record = Record(
            entry, origin, key, form="text", kind=kind, tool=tool, arguments=arguments, tokens=size,
            stage=Stage.INDEXED, shown=shown,
        )  # fmt: skip
        # The content first: no record may refer to one that is not on disk.
        store.put(content)
        ledger.save(record)
    edit = {"entry": named, "tool": tool, "tokens": size, "shown": weight}
    transcript = str(event.get("transcript_path") or "")
    note_event(state, {**edit, "session": session, "transcript": transcript})
    return shown


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


def answer_with(event: dict[str, Any], path: Path, entry: str) -> dict[str, Any]:
    """Return the answer with which a host shows an entry in the place of a result."""
    is_gemini = event["hook_event_name"] == "AfterTool"
    if is_gemini or "turn_id" in event:  # which only Codex CLI has
        return {"decision": "deny" if is_gemini else "block", "reason": f"{STORED}{entry}"}
    output = with_text(event["tool_response"], path, entry)
    return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": output}}
