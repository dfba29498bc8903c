"""`api_conversation_history.json` of Cline, read as Anthropic messages.

The program writes a tool's result as text into the next user message, under a header such as
`[read_file for 'a.py'] Result:`. The reader makes a tool result of it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from hippocampus.formats.conversation import Item
from hippocampus.formats.usage import Usage
from hippocampus.replay.readers.raw import RawConversation, RawMessage, tool_result
from hippocampus.replay.readers.values import JsonRecord, as_records, as_text, kind_of, role_of

NAME = "cline"
TOOL_NAME = re.compile(r"\[([a-z]\w*)(?=[] ])")
HEADER_END = "] Result:"
SURROUNDINGS = "<environment_details>"
"""The tag that the program adds to every user message."""
SHRUNK = 0.8
"""If the input shrinks below this share of the last call's, messages were left out."""


def is_own(record: JsonRecord) -> bool:
    """Return whether a user message has a result under a header, and the program's tag."""
    texts = [block.text("text") for block in record.records("content")]
    return (
        role_of(record) == "user"
        and any(map(_header, texts))
        and any(SURROUNDINGS in text for text in texts)
    )


def read(records: list[JsonRecord]) -> list[RawConversation]:
    """Return the one conversation."""
    messages: list[RawMessage] = []
    for record in records:
        if role_of(record) == "assistant":
            messages.append(_answer(record))
        elif role_of(record) == "user":
            last = messages[-1].item if messages else {}
            answer = last if last.get("role") == "assistant" else {"content": []}
            blocks = _user_blocks(_blocks(record), answer["content"])
            messages.append(RawMessage.user(list(blocks)))
    sizes = [message.usage.context_tokens for message in messages if message.usage]
    cut = [
        f"call {number}: older messages were not sent, the file does not record which"
        for number, (last, size) in enumerate(itertools.pairwise(sizes), start=1)
        if 0 < size < last * SHRUNK
    ]
    return [RawConversation("anthropic", messages, cut=cut)]


def _header(text: str) -> tuple[str, str] | None:
    """Return the tool in the header of a result, and the text after the header."""
    tool = TOOL_NAME.match(text)
    _, end, rest = text.partition(HEADER_END)
    return (tool[1], rest.removeprefix(" ").removeprefix("\n")) if tool and end else None


def _blocks(record: JsonRecord) -> list[Item]:
    content = record.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [
        {"type": "text", "text": as_text(block.get("text"))} if kind_of(block) == "text" else block
        for block in as_records(content)
    ]


def _answer(record: JsonRecord) -> RawMessage:
    blocks = [
        {key: block.get(key) for key in ("type", "id", "name", "input")}
        if kind_of(block) == "tool_use"
        else block
        for block in _blocks(record)
    ]
    tokens = record.record("metrics").record("tokens")
    # One figure has the tokens that were read from the cache and those written to it.
    sent, cached, output = tokens.counts("prompt", "cached", "completion")
    model = record.record("modelInfo").text("modelId")
    return RawMessage.answer(blocks, (), Usage(sent, cached, 0, output), model)


def _user_blocks(blocks: Sequence[Item], answer: list[Item]) -> Iterator[Item]:
    """Yield the blocks of a user message, with texts under a header as results of the answer's calls."""
    waiting = [block for block in answer if kind_of(block) == "tool_use"]
    following = iter(blocks)
    for block in following:
        header = _header(as_text(block.get("text"))) if kind_of(block) == "text" else None
        call = _call(header[0], waiting) if header else None
        if header is None or call is None:
            yield block
            continue
        text, after = header[1], None
        if not text.strip():  # Many versions put the result into the next block.
            after = next(following, None)
            content = as_text(after.get("text")) if after else ""
            if content and SURROUNDINGS not in content:
                text, after = content, None
        yield tool_result(call["id"], text)
        if after:
            yield after


def _call(tool: str, waiting: list[Item]) -> Item | None:
    """Return the call for a result with this tool's name in its header, or else the next one."""
    names = [as_text(call.get("name")) for call in waiting]
    same = (at for at, name in enumerate(names) if name == tool or name.endswith(f"_{tool}"))
    return waiting.pop(next(same, 0)) if waiting else None
