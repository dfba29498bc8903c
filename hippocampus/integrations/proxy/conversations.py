"""The conversation of a request, recognised by its caller and its list; kept over restarts.

A chain is a hash of an owner and of a list up to one of the model's messages. A request goes on with
the conversation whose newest list is the longest part of its own; any other begins one of its own,
such as a sub-agent, or the second of two that began alike. Two callers have no chain in common,
whatever they send.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hippocampus.formats.cache_marks import NEW_MARKS
from hippocampus.formats.conversation import Item, Message, ToolResult, text_of
from hippocampus.formats.reader import appended, read_as
from hippocampus.integrations.proxy.apis.answer import ModelAnswer, Round
from hippocampus.storage.proxy_conversations import Conversations

PER_REQUEST = re.compile(r"(?m)^x-anthropic-billing-header:.*$")
"""The line of Claude Code's system prompt that differs between the requests of one conversation."""


class Chain(NamedTuple):
    """The hash of a list up to one of the model's messages, or before the first."""

    key: str
    start: int
    """The number of that message's first item, and after its last; both are 0 before the first."""
    end: int


def chains_of(
    answers: type[ModelAnswer], request: Mapping[str, Any], items: Sequence[Item], owner: str
) -> list[Chain]:
    """Return the chains of a request, the shortest first; `owner` is its caller and its provider.

    Raises:
        AttributeError, KeyError, TypeError: a message is malformed.
    """
    kinds = itertools.groupby(range(len(items)), lambda number: answers.is_answer(items[number]))
    runs = [list(run) for is_answer, run in kinds if is_answer]
    first = runs[0][0] if runs else len(items)
    messages, _ = read_as(answers.ADAPTER, items[:first])
    texts = itertools.chain.from_iterable(map(_contents, messages))
    system = text_of(request.get("system") or request.get("instructions") or "")
    key = _hash(owner, answers.ADAPTER.NAME, PER_REQUEST.sub("", system), *texts)
    chains = [Chain(key, 0, 0)]
    for run in runs:
        start, end = run[0], run[-1] + 1
        key = chain_after(key, answers, items[start:end])
        chains.append(Chain(key, start, end))
    return chains


def _contents(message: Message) -> Iterator[str]:
    """Yield the texts of a message, and its other blocks without their cache marks, which move."""
    yield from message.texts()
    for part in message.parts:
        if part.kind in {"image", "opaque"} and isinstance(block := message.held(part), dict):
            kept = {key: value for key, value in block.items() if key not in NEW_MARKS}
            yield json.dumps(kept, sort_keys=True)


def chain_after(chain: str, answers: type[ModelAnswer], answer: Sequence[Item]) -> str:
    """Return the chain that goes on with an answer: with the ids of its calls, else its text."""
    ids = answers.call_ids(block for item in answer for block in answers.blocks_of([item]))
    texts = (text_of(item.get("content")) for item in answer)
    return _hash(chain, "\0".join(ids) or "".join(texts).strip())


def _hash(*texts: str) -> str:
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:32]


def caller_of(credentials: Sequence[str], secret: bytes) -> str:
    """Return the name of a request's caller, from its credentials; empty where it has none.

    The name does not reveal them: `secret`, the key of its hash, never leaves the state.
    """
    if not any(credentials):
        return ""
    written = json.dumps(credentials).encode()
    return f"caller-{hmac.new(secret, written, 'sha256').hexdigest()[:16]}"


def restore_rounds(
    answers: type[ModelAnswer], chains: Sequence[Chain], items: list[Item], known: Conversations
) -> list[Item]:
    """Return a request's list with the rounds that the host has not seen; its own items stay.

    Raises:
        StoreError: the state cannot be read.
    """
    kept = known.kept([chain.key for chain in chains[1:]])
    adapter = answers.ADAPTER
    restored = list(items)
    for key, start, end in reversed(chains[1:]):
        if key not in kept:
            continue
        rounds = [
            Round(seen, calls, [ToolResult(*result) for result in results], *more)
            for seen, calls, results, *more in json.loads(kept[key])
        ]
        own, following = answers.restore(items[start:end], rounds), restored[end : end + 1]
        if rounds[-1].is_joined:
            results = adapter.tool_results(rounds[-1].results)
            is_block = bool(adapter.BLOCKS_KEY)
            following = appended(following, results) if is_block else [*results, *following]
        restored[start : end + 1] = [*own, *following]
    return restored
