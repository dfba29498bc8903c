"""Stores the result of a tool call, and returns the entry that replaces it.

A hook sees a result once, when it arrives: what a policy shows in full first stays in full.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import NamedTuple

from hippocampus import indexing, policy, prices
from hippocampus.entries.entry import Record, Source, Stage, content_key, entry_id, storable
from hippocampus.entries.origin import PartOrigin
from hippocampus.indexing import ExtractionContext, frame, price_of
from hippocampus.integrations.hooks import noted, opened
from hippocampus.models import tokens
from hippocampus.policy import Subject, new_entry


class LargeResult(NamedTuple):
    """A result that may become an entry."""

    session: str
    call_id: str
    tool: str
    arguments: str
    text: str


def stored(result: LargeResult, state: str, policy_name: str, transcript: str) -> str | None:
    """Return the text of the entry of a result, once both are on disk; None where it stays in full."""
    rules = policy.load(policy_name)
    size, kind = tokens.count(result.text), indexing.kind_of(result.text)
    tool = storable(result.tool)
    resolution = rules.resolve(
        Subject(
            "tool_result",
            tool,
            text=result.text,
            tokens=size,
            kind=kind,
            arguments=result.arguments,
        )
    )
    is_due = rules.indexes(size, lambda: kind, resolution) and not resolution.pin
    if not is_due or rules.fresh_turns_of(kind, size, resolution):
        return None
    text = resolution.redacted(result.text)
    is_original = resolution.redact is None or not resolution.redact.original
    content = (result.text if is_original else text).encode("utf-8", "surrogatepass")
    key = content_key(content)
    origin = PartOrigin("result", result.call_id, key, 0)
    arguments = storable(resolution.redacted_json(result.arguments))
    table = prices.TABLES[rules.prices or "anthropic-5m"]
    price = price_of(kind, rules.compression_of(resolution), table, 0, 0)
    index = indexing.index(text, ExtractionContext(arguments, content_tokens=size), price)
    source = Source(type=rules.source_type_of(tool), ref=key, turn=0)
    with (
        opened(state) as memory,
        memory.contents() as store,
        contextlib.closing(memory.session(result.session)) as ledger,
    ):
        others = {record.entry.id for record in ledger.records() if record.origin != origin}
        named = entry_id(ledger.mark, result.session, origin, key, others.__contains__)
        entry = replace(
            new_entry(named, "tool_result", source, rules, resolution, kind),
            summary=storable(resolution.redacted(index.summary)),
            key_data=resolution.redacted_data(index.key_data) or None,
        )
        lines = [
            f"[{named} · {frame.tool_name(tool)} · {size} tokens · {kind}]",
            *map(resolution.redacted, index.lines),
            frame.last_line(named, index.selectors, result.text.count("\n") + 1),
        ]
        shown = storable("\n".join(lines))
        weight = tokens.count(shown)
        if not rules.is_worth_shortening(size, weight, kind):
            return None
        record = Record(
            entry, origin, key, "text", kind, tool, arguments, size, Stage.INDEXED, shown
        )
        store.put(content)
        ledger.save(record)
    edit = {"entry": named, "tool": tool, "tokens": size, "shown": weight}
    noted(state, {**edit, "session": result.session, "transcript": transcript})
    return shown
