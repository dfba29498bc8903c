"""Requests that are sent as they are: the provider holds or edits the conversation itself. Pure.

Such a list is not the conversation: a delta of it, or one that the provider shortens in its own way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hippocampus.formats.conversation import Message

HELD_BY = ("previous_response_id", "conversation", "conversation_id", "previous_interaction_id")
"""Parameters that name a conversation which the provider holds: the list has its new messages only."""
EDITS = ("clear_tool_uses", "compact")
"""How the types of edits begin that replace tool results or turns at the provider."""
COMPACTION = ("compaction", "compaction_summary")
"""The types of items and blocks that replace everything before them."""


def reason_of_request(request: Mapping[str, Any]) -> str:
    """Return why the list of a request is sent as it is, by its other parameters; else nothing.

    >>> reason_of_request({"model": "gpt-5", "previous_response_id": "resp_1"})
    'previous_response_id: the list has new messages only, the provider has the others'
    """
    for name in HELD_BY:
        if request.get(name):
            return f"{name}: the list has new messages only, the provider has the others"
    managed = request.get("context_management") or ()
    edits = managed.get("edits") if isinstance(managed, Mapping) else managed
    kinds = [str(edit.get("type")) for edit in edits or () if isinstance(edit, Mapping)]
    if request.get("compaction") or any(kind.startswith(EDITS) for kind in kinds):
        return "context_management: the provider edits the list, so switch one of the two off"
    return ""


def reason_of_list(messages: Sequence[Message], fresh: Sequence[Message]) -> str:
    """Return why a list is sent as it is, by its messages; else nothing.

    `fresh` are those that were not checked before.
    """
    first = next((message for message in messages if message.role != "system"), None)
    if first is not None and str(first.raw[0].get("type")).endswith("_call_output"):
        return "the list starts with a tool's output, so it has new messages only"
    for message in fresh:
        for part in message.parts:
            block = message.held(part) if part.kind == "opaque" else None
            if isinstance(block, Mapping) and block.get("type") in COMPACTION:
                return "the provider has compacted the list, and reads only what follows"
    return ""
