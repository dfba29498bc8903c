"""Sessions of coding agents exported as `{messages, meta}`, read as chat messages.

The exporting program splits an answer into a message per block, and merges the messages of sub-agents
into the list; the reader undoes both.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hippocampus.formats.conversation import Item
from hippocampus.formats.usage import Usage
from hippocampus.replay.readers.raw import RawConversation, RawMessage, chat_calls
from hippocampus.replay.readers.values import (
    JsonRecord,
    as_count,
    as_records,
    as_string_or_json,
    as_text,
    kind_of,
    role_of,
    text_of,
)

NAME = "messages-meta"
OWN_FIELDS = ("session_meta", "token_counts", "turn_contexts")
ROLES = {"system", "user", "assistant", "tool"}
SUBAGENT = "assistant-subagent-"
CALL_BLOCKS = {"tool_call", "tool_use"}
COMPACTED = "This session is being continued from a previous conversation"
"""The start of Claude Code's message with the summary of a compacted context."""


def is_own(record: JsonRecord) -> bool:
    """Return whether a record has messages and this exporter's fields about the session."""
    meta = record.record("meta")
    return any(field in meta for field in OWN_FIELDS) and bool(record.records("messages"))


def read(records: list[JsonRecord]) -> Iterator[RawConversation]:
    """Yield the contexts of sessions and of their sub-agents as conversations."""
    for record in filter(is_own, records):
        meta = record.record("meta")
        prompt = meta.record("session_meta").record("base_instructions").text("text")
        models = (turn.text("model") for turn in meta.records("turn_contexts"))
        model = next(filter(None, models), "")
        usage = _usage_by_time(meta.records("token_counts"))
        agents: dict[str, list[list[JsonRecord]]] = {"": [[]]}
        for message in record.records("messages"):
            role = role_of(message)
            agent = "" if role in ROLES else f"agent-{role.removeprefix(SUBAGENT)}"
            contexts = agents.setdefault(agent, [[]])
            if _role(message) == "user" and text_of(message.get("content")).startswith(COMPACTED):
                contexts.append([])
            contexts[-1].append(message)
        own_calls = _call_ids(agents[""])
        for agent, contexts in agents.items():
            calls = _call_ids(contexts)
            if agent and calls and calls <= own_calls:
                continue  # A copy of the main conversation, for its summary.
            for context in contexts:
                joined = _join(context, usage)
                yield RawConversation("chat", joined, agent, system_prompt=prompt, model=model)


def _call_ids(contexts: Sequence[Sequence[JsonRecord]]) -> set[str]:
    messages = itertools.chain.from_iterable(contexts)
    return {as_text(call["id"]) for message in messages for call in _calls(message)}


def _role(message: JsonRecord) -> str:
    original = message.record("_metadata").get("original_role")
    return as_text(original) or role_of(message)


def _join(messages: Sequence[JsonRecord], usage: dict[str, Usage]) -> list[RawMessage]:
    """Return the messages with the blocks of an answer joined.

    The blocks of an answer are adjacent, or have the same billed input and only results of parallel
    calls between them.
    """
    joined: list[RawMessage] = []
    answer: int | None = None
    for message in messages:
        role = _role(message)
        if role == "assistant":
            block = _answer(message, usage)
            if block.usage == Usage():
                continue  # The program's note about a failed request.
            if answer is not None and _is_same_answer(joined[answer], block, answer, len(joined)):
                # The usage of a block includes the output of earlier blocks.
                items = joined[answer].item, block.item
                text = "\n".join(filter(None, (item["content"] for item in items)))
                calls = [call for item in items for call in item.get("tool_calls", ())]
                used = block.usage or joined[answer].usage
                joined[answer] = RawMessage.answer(text, calls, used)
            else:
                answer = len(joined)
                joined.append(block)
        elif role == "tool":
            call_id, content = message.text("tool_call_id"), message.get("content")
            output = as_string_or_json(content) if content is not None else ""
            if isinstance(content, list):  # a block's text is a string or a list of blocks
                texts = [text_of(block.get("text")) for block in as_records(content)]
                output = "\n".join(filter(None, texts))
            joined.append(RawMessage.result(call_id, output))
        else:
            answer = None
            text = text_of(message.get("content"))
            joined.append(RawMessage.user(text, role))
    return joined


def _is_same_answer(answer: RawMessage, block: RawMessage, place: int, count: int) -> bool:
    before, after = answer.usage or Usage(), block.usage or Usage()
    if not before.context_tokens or not after.context_tokens:
        return place == count - 1
    return replace(before, output_tokens=0) == replace(after, output_tokens=0)


def _answer(message: JsonRecord, usage: dict[str, Usage]) -> RawMessage:
    metadata = message.record("_metadata")
    texts = [block for block in message.records("content") if kind_of(block) == "text"]
    text = text_of(texts) or message.text("content")
    tokens = metadata.record("tokens")
    cache = tokens.record("cache")
    figures = (tokens.get("input"), cache.get("read"), cache.get("write"), tokens.get("output"))
    own = Usage(*map(as_count, figures))
    billed = own if own != Usage() else usage.get(str(metadata.get("timestamp")))
    return RawMessage.answer(text, _calls(message), billed)


def _calls(message: JsonRecord) -> list[Item]:
    """Return the calls of a message, from `tool_calls` or from its content."""
    recorded = message.records("tool_calls")
    if not recorded:
        content = message.records("content")
        recorded = [block for block in content if kind_of(block) in CALL_BLOCKS]
    return chat_calls(recorded)


def _usage_by_time(counts: Sequence[JsonRecord]) -> dict[str, Usage]:
    """Return the billed tokens by the time stamp of their block.

    In some exports the input includes the cached tokens. It does not in an export with a call that
    reads more from the cache than its input.
    """
    figures = {
        str(record.get("_timestamp")): record.record("info").record("last_token_usage")
        for record in counts
    }
    keys = ("input_tokens", "cached_input_tokens", "output_tokens")
    read = {time: [figure.count(key) for key in keys] for time, figure in figures.items()}
    is_separate = any(cached > sent for sent, cached, _ in read.values())
    if not any(map(any, read.values())):
        return {}
    return {
        time: Usage(sent if is_separate else sent - cached, cached, 0, output)
        for time, (sent, cached, output) in read.items()
    }
