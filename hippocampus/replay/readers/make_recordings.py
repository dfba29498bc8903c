"""Makes recordings of a file's conversations: without reasoning, all calls answered, named. Pure.

Items that their provider would reject are left out, and reasoning, which is not sent again.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import PurePath

from hippocampus.errors import MALFORMED, RecordingError
from hippocampus.formats.conversation import Item
from hippocampus.formats.reader import read, snapshot
from hippocampus.formats.usage import Usage
from hippocampus.replay.readers.pairing import is_of_answer, pair
from hippocampus.replay.readers.raw import ADAPTERS, RawConversation, RawMessage
from hippocampus.replay.readers.values import as_record, as_text, kind_of, role_of, text_of
from hippocampus.replay.recording import Recording

SYSTEM_ROLES = {"system", "developer"}
REASONING_FIELDS = {"reasoning", "reasoning_content", "reasoning_details", "thinking_blocks"}
REASONING_BLOCKS = {"reasoning", "reasoning_text", "thinking", "redacted_thinking"}
TEXT_BLOCKS = {"text", "output_text"}
CALL_FIELDS = ("tool_calls", "function_call")


def make_recordings(
    path: str, format_name: str, conversations: Sequence[RawConversation], broken: tuple[str, ...]
) -> list[Recording]:
    """Return the recordings of the conversations in which a model answered.

    Raises:
        RecordingError: there is no such conversation, and lines of the file are broken.
        MessagesError: the messages of a conversation are in no format.
    """
    made = [
        (conversation.name, _recording(path, format_name, conversation))
        for conversation in conversations
    ]
    used = [
        (part, recording) for part, recording in made if any(map(is_of_answer, recording.messages))
    ]
    if not used and broken:
        first = broken[0].removeprefix(f"{path}:")
        raise RecordingError(path, f"no conversation is left besides broken records: line {first}")
    recordings = _named(PurePath(path).name, used)
    if recordings:
        recordings[0] = replace(recordings[0], broken=broken)
    return recordings


def _recording(path: str, format_name: str, conversation: RawConversation) -> Recording:
    sent = list(_sent(conversation))
    messages, unanswered, orphans = pair(conversation.message_format, sent)
    read([message.item for message in messages])  # raises if valid items make no valid list
    answers = list(_answers(conversation, messages))
    times: dict[int, float] = {}
    for call, message in answers:
        with contextlib.suppress(ValueError):
            times[call] = datetime.fromisoformat(message.at).timestamp()
    opening = itertools.takewhile(lambda message: role_of(message.item) in SYSTEM_ROLES, messages)
    leading = (text_of(message.item.get("content")) for message in opening)
    models = Counter(filter(None, (answer.model or conversation.model for _, answer in answers)))
    return Recording(
        path=path,
        name="",
        format=format_name,
        messages=[message.item for message in messages],
        model=models.most_common(1)[0][0] if models else None,
        usage={at: used for at, answer in answers if (used := answer.usage) and used != Usage()},
        times=times,
        unanswered=unanswered,
        orphans=orphans,
        system_prompt=conversation.system_prompt or "\n\n".join(filter(None, leading)),
        tools=tuple(conversation.tools),
        cut=tuple(conversation.cut),
        submission=conversation.submission,
    )


def _sent(conversation: RawConversation) -> Iterator[RawMessage]:
    """Yield the messages that are valid, without reasoning, and without answers of no text and no call."""
    adapter = ADAPTERS[conversation.message_format]
    for message in conversation.messages:
        try:
            is_valid = adapter.accepts(message.item) and adapter.read([message.item])
        except MALFORMED:
            continue
        if is_valid and kind_of(message.item) not in REASONING_BLOCKS:
            clean = _clean(message._replace(item=snapshot(message.item)))
            if not _is_empty_answer(clean.item):
                yield clean


def _clean(message: RawMessage) -> RawMessage:
    item = message.item
    if item.get("role") != "assistant":
        return message
    if not REASONING_FIELDS.isdisjoint(item):
        item = {key: value for key, value in item.items() if key not in REASONING_FIELDS}
    content = item.get("content")
    if isinstance(content, list):
        kept = [block for block in content if kind_of(as_record(block)) not in REASONING_BLOCKS]
        if len(kept) < len(content):
            item = {**item, "content": kept or (None if item.get("tool_calls") else [])}
    return message._replace(item=item)


def _is_empty_answer(item: Item) -> bool:
    if item.get("role") != "assistant" or any(item.get(key) for key in CALL_FIELDS):
        return False
    content = item.get("content")
    if not isinstance(content, list):
        return not as_text(content).strip()
    blocks = map(as_record, content)
    return all(kind_of(block) in TEXT_BLOCKS and not block.text("text").strip() for block in blocks)


def _answers(
    conversation: RawConversation, messages: Sequence[RawMessage]
) -> Iterator[tuple[int, RawMessage]]:
    """Yield the assistant's messages with the number of their call; an answer's items share a call."""
    call = -1
    inside = False
    for message in messages:
        is_answer = is_of_answer(message.item)
        if is_answer and not (inside and conversation.message_format == "responses"):
            call += 1
        inside = is_answer
        if is_answer:
            yield call, message


def _named(file_name: str, parts: Sequence[tuple[str, Recording]]) -> list[Recording]:
    if len(parts) == 1:
        return [replace(parts[0][1], name=file_name)]
    seen: Counter[str] = Counter()
    named: list[Recording] = []
    for number, (part, recording) in enumerate(parts, start=1):
        label = part or str(number)
        seen[label] += 1
        unique = label if seen[label] == 1 else f"{label}-{seen[label]}"
        named.append(replace(recording, name=f"{file_name}#{unique}"))
    return named
