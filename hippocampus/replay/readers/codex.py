"""Codex CLI rollouts: JSON lines of Responses items in envelopes.

Only the items that were sent to the model are read, not the program's display. A fork, and a session
that returned to an earlier turn, have their own files, which begin in another file.
"""

from __future__ import annotations

import glob
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from hippocampus.formats.conversation import Item
from hippocampus.formats.usage import Usage
from hippocampus.replay.readers.json_files import JsonDocument, load
from hippocampus.replay.readers.raw import RawConversation, RawMessage, has_answer, without_usage
from hippocampus.replay.readers.values import JsonRecord, kind_of, role_of

NAME = "codex"
ENVELOPES = {"session_meta", "turn_context", "response_item", "event_msg", "compacted"}
FOLDERS = {"sessions", "archived_sessions"}
"""The folders of the program's files, with a folder per day."""
ROLES = {"system", "developer", "user", "assistant"}
NOT_SENT = {"ghost_snapshot", "other", "compaction", "compaction_summary", "compaction_trigger"}


def is_own(record: JsonRecord) -> bool:
    """Return whether a line is in one of the program's envelopes."""
    return kind_of(record) in ENVELOPES and isinstance(record.get("payload"), dict)


def read(records: list[JsonRecord]) -> list[RawConversation]:
    """Return the contexts as conversations; a compaction starts a context."""
    metas = (record.record("payload") for record in records if kind_of(record) == "session_meta")
    prompts = (
        meta.record("base_instructions").text("text") or meta.text("instructions") for meta in metas
    )
    prompt = next(filter(None, prompts), "")
    contexts = _contexts(records)
    return [RawConversation("responses", context, system_prompt=prompt) for context in contexts]


def with_beginning(document: JsonDocument) -> JsonDocument:
    """Return a document with the lines of the files that its session continues."""
    seen = {own := Path(document.path).resolve()}
    folder = next((parent for parent in own.parents if parent.name in FOLDERS), own.parent)
    while document.records:
        base = document.records[0].record("payload").record("history_base")
        if not base:  # the session begins in this file
            break
        thread = base.text("thread_id")
        named = folder.rglob(f"*{glob.escape(thread)}.jsonl") if thread else iter(())
        path = next(named, None)
        if path is None or path in seen:
            lost = (
                f"{document.path}:1: goes on from the session {thread}, of which there is no file"
            )
            return replace(document, broken=(*document.broken, lost))
        seen.add(path)
        end = base.count("end_ordinal_exclusive")
        before = [record for record in load(str(path)).records if record.count("ordinal") < end]
        # The first line, and all since the last compaction except token counts.
        compacted = [at for at, record in enumerate(before) if kind_of(record) == "compacted"]
        since = before[compacted[-1] if compacted else 1 :]
        sent = (record for record in since if kind_of(record) != "event_msg")
        document = replace(document, records=[*before[:1], *sent, *document.records])
    return document


def _contexts(records: list[JsonRecord]) -> Iterator[list[RawMessage]]:
    messages: list[RawMessage] = []
    turns: list[int] = []
    model = ""
    total: object = None
    for record in records:
        kind, payload = kind_of(record), record.record("payload")
        if kind == "response_item":
            at = record.text("timestamp")
            messages += [RawMessage(item, model=model, at=at) for item in _items([payload])]
        elif kind == "turn_context":
            model = payload.text("model") or model
        elif kind == "compacted":
            yield messages
            messages, turns = _compact(messages, payload), []
        elif payload.get("type") == "user_message":
            turns.append(len(messages) - 1)
        elif payload.get("type") == "thread_rolled_back" and turns:
            back = min(max(1, payload.count("num_turns")), len(turns))
            if has_answer(messages[turns[-back] :]):
                yield messages
                messages = without_usage(messages)
            messages, turns = messages[: turns[-back]], turns[:-back]
        elif payload.get("type") == "token_count":
            info = payload.record("info")
            # The program repeats a count whenever its rate limits change.
            if info.get("total_token_usage") != total:
                _attach_usage(messages, info.record("last_token_usage"))
            total = info.get("total_token_usage")
    yield messages


def _items(payloads: list[JsonRecord]) -> Iterator[Item]:
    for item in payloads:
        kind = kind_of(item)
        if "role" in item:
            if role_of(item) in ROLES:
                yield item
        elif kind == "local_shell_call":
            # The program records its result as that of a function.
            yield {
                "type": "function_call",
                "call_id": item.text("call_id") or item.text("id"),
                "name": "local_shell",
                "arguments": json.dumps(item.record("action"), ensure_ascii=False),
            }
        elif kind.endswith("_output"):
            output = item.get("output")
            if isinstance(output, dict):
                item["output"] = output.get("content", "")
            yield item
        elif kind and kind not in NOT_SENT:
            yield item


def _compact(messages: list[RawMessage], payload: JsonRecord) -> list[RawMessage]:
    """Return the context after a compaction, as recorded or else by the program's rule."""
    if history := payload.records("replacement_history"):
        return [RawMessage(item) for item in _items(history)]
    kept = [message for message in messages if role_of(message.item) in ROLES - {"assistant"}]
    summary = {"type": "input_text", "text": payload.text("message")}
    return [*kept, RawMessage({"type": "message", "role": "user", "content": [summary]})]


def _attach_usage(messages: list[RawMessage], counts: JsonRecord) -> None:
    """Attach the provider's token count to the model's newest item."""
    keys = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
    usage = Usage.of_total(*counts.counts(*keys))
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place].item
        if message.get("role") == "assistant" or kind_of(message).endswith("_call"):
            messages[place] = messages[place]._replace(usage=usage)
            return
