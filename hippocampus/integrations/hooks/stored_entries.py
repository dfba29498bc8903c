"""Stores the result of a tool call, and returns the entry that replaces it.

A hook sees a result once, when it arrives: what a policy shows in full first stays in full.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hippocampus import indexing, policy, prices
from hippocampus.entries.entry import Record, Source, Stage, content_key, entry_id, storable
from hippocampus.entries.origin import PartOrigin
from hippocampus.indexing import ExtractionContext, frame, price_of
from hippocampus.integrations.hooks import noted, opened
from hippocampus.models import tokens
from hippocampus.policy import Subject, new_entry


def stored(
    event: Mapping[str, Any], arguments: str, text: str, state: str, policy_name: str
) -> str | None:
    """Return the text of the entry of a result, once both are on disk; None where it stays in full.

    `event` has the session, the call and its tool, with the tool's `arguments` as JSON.
    """
    rules, session = policy.load(policy_name), event["session_id"]
    size, kind = tokens.count(text), indexing.kind_of(text)
    tool = storable(event["tool_name"])
    resolution = rules.resolve(
        Subject("tool_result", tool, text=text, tokens=size, kind=kind, arguments=arguments)
    )
    is_due = rules.indexes(size, lambda: kind, resolution) and not resolution.pin
    if not is_due or rules.fresh_turns_of(kind, size, resolution):
        return None
    redacted = resolution.redacted(text)
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
        opened(state) as memory,
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
            frame.last_line(named, index.selectors, text.count("\n") + 1),
        ]
        shown = storable("\n".join(lines))
        weight = tokens.count(shown)
        if not rules.is_worth_shortening(size, weight, kind):
            return None
        record = Record(
            entry, origin, key, "text", kind, tool, arguments, size, Stage.INDEXED, shown
        )
        # The content first: no record may refer to one that is not on disk.
        store.put(content)
        ledger.save(record)
    edit = {"entry": named, "tool": tool, "tokens": size, "shown": weight}
    transcript = str(event.get("transcript_path") or "")
    noted(state, {**edit, "session": session, "transcript": transcript})
    return shown
