"""`api_conversation_history.json` of Cline and Roo Code, read as Anthropic messages.

Both write a tool's result as text into the next user message, under a header such as
`[read_file for 'a.py'] Result:`; many versions write the call as XML into the answer's text. The reader
makes tool calls and tool results of them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from hippocampus.formats.conversation import Item
from hippocampus.formats.usage import Usage
from hippocampus.replay.readers.raw import RawConversation, RawMessage, tool_result, tool_use
from hippocampus.replay.readers.values import JsonRecord, as_records, as_text, kind_of, role_of

NAME = "cline"
TOOL_NAME = re.compile(r"\[([a-z]\w*)(?=[] ])")
HEADER_END = "] Result:"
SURROUNDINGS = "<environment_details>"
"""The tag that both programs add to every user message."""
PARAMETER = re.compile(r"\s*<(\w+)>")
SHRUNK = 0.8
"""If the input shrinks below this share of the last call's, messages were left out."""
LAST_CLOSING_TAG = {"content", "diff"}
"""Parameters that may contain their own closing tag, and end at the last one."""


def is_own(record: JsonRecord) -> bool:
    """Return whether a user message has a result under a header, and the programs' tag."""
    texts = [block.text("text") for block in record.records("content")]
    return (
        role_of(record) == "user"
        and any(map(_header, texts))
        and any(SURROUNDINGS in text for text in texts)
    )


def read(records: list[JsonRecord]) -> list[RawConversation]:
    """Return the one conversation."""
    messages: list[RawMessage] = []
    for place, record in enumerate(records):
        if role_of(record) == "assistant":
            calls = ("type", "id", "name", "input")
            blocks = [
                {key: block.get(key) for key in calls} if kind_of(block) == "tool_use" else block
                for block in _blocks(record)
            ]
            # One figure has the tokens that were read from the cache and those written to it.
            tokens = record.record("metrics").record("tokens")
            sent, cached, output = tokens.counts("prompt", "cached", "completion")
            usage = Usage(sent, cached, 0, output)
            model = record.record("modelInfo").text("modelId")
            messages.append(RawMessage.answer(blocks, (), usage, model))
        elif role_of(record) == "user":
            last = messages[-1].item if messages else {}
            answer = last if last.get("role") == "assistant" else {"content": []}
            blocks = list(_user_blocks(_blocks(record), answer["content"], f"call_{place}"))
            messages.append(RawMessage.user(blocks))
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


def _user_blocks(blocks: Sequence[Item], answer: list[Item], new_id: str) -> Iterator[Item]:
    """Yield the blocks of a user message, with texts under a header as results of the answer's calls.

    A call that the answer has as XML is moved from its text to its content.
    """
    waiting = [block for block in answer if kind_of(block) == "tool_use"]
    following = iter(blocks)
    for block in following:
        header = _header(as_text(block.get("text"))) if kind_of(block) == "text" else None
        call = _call(header[0], waiting, answer, new_id) if header else None
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


def _call(tool: str, waiting: list[Item], answer: list[Item], new_id: str) -> Item | None:
    """Return the call for a result with this tool's name in its header."""
    names = [as_text(call.get("name")) for call in waiting]
    same = (at for at, name in enumerate(names) if name == tool or name.endswith(f"_{tool}"))
    if (place := next(same, 0)) < len(waiting):
        return waiting.pop(place)
    call_id = f"{new_id}_{len(answer)}"
    for block in answer:
        text = as_text(block.get("text"))
        before, opening, rest = text.partition(f"<{tool}>")
        inner, closing, after = rest.rpartition(f"</{tool}>")
        if opening and closing:
            block["text"] = (before + after).strip()
            if not block["text"]:
                answer.remove(block)
            answer.append(tool_use(call_id, tool, _parameters(inner)))
            return answer[-1]
    return None


def _parameters(xml: str) -> dict[str, str]:
    parameters: dict[str, str] = {}
    place = 0
    while found := PARAMETER.match(xml, place):
        name, start = found[1], found.end()
        closing = f"</{name}>"
        end = xml.rfind(closing) if name in LAST_CLOSING_TAG else xml.find(closing, start)
        if end < start:
            break
        parameters[name] = xml[start:end].strip("\n")
        place = end + len(closing)
    return parameters
