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
from hippocampus.replay.readers.pairing import pair
from hippocampus.replay.readers.raw import ADAPTERS, RawConversation, RawMessage, is_of_answer
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
    seen: Counter[str] = Counter()
    recordings: list[Recording] = []
    for number, (part, recording) in enumerate(used, start=1):
        name, label = PurePath(path).name, part or str(number)
        seen[label] += 1
        if len(used) > 1:
            name += f"#{label}" if seen[label] == 1 else f"#{label}-{seen[label]}"
        # The lines are broken of the file: its first recording has them.
        recordings.append(replace(recording, name=name, broken=() if recordings else broken))
    return recordings


def _recording(path: str, format_name: str, conversation: RawConversation) -> Recording:
    sent = list(_sent(conversation))
    messages, unanswered, orphans = pair(conversation.message_format, sent)
    read([message.item for message in messages])  # raises if valid items make no valid list
    models: Counter[str] = Counter()
    usage, times = dict[int, Usage](), dict[int, float]()
    call, inside = -1, False
    for message in messages:
        was_inside, inside = inside, is_of_answer(message.item)
        if not inside:
            continue
        # An answer in the Responses format may have several items, which share a call.
        call += not (was_inside and conversation.message_format == "responses")
        models[message.model or conversation.model] += 1
        if message.usage and message.usage != Usage():
            usage[call] = message.usage
        with contextlib.suppress(ValueError):
            times[call] = datetime.fromisoformat(message.at).timestamp()
    del models[""]
    opening = itertools.takewhile(lambda message: role_of(message.item) in SYSTEM_ROLES, messages)
    leading = (text_of(message.item.get("content")) for message in opening)
    return Recording(
        path=path,
        name="",
        format=format_name,
        messages=[message.item for message in messages],
        model=models.most_common(1)[0][0] if models else None,
        usage=usage,
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
            clean = _clean(snapshot(message.item))
            if clean is not None:
                yield message._replace(item=clean)


def _clean(item: Item) -> Item | None:
    """Return an item without reasoning; None for an answer of no text and no call."""
    if item.get("role") != "assistant":
        return item
    item = {key: value for key, value in item.items() if key not in REASONING_FIELDS}
    content, has_calls = item.get("content"), any(item.get(key) for key in CALL_FIELDS)
    if not isinstance(content, list):
        return item if has_calls or as_text(content).strip() else None
    kept = [block for block in content if kind_of(as_record(block)) not in REASONING_BLOCKS]
    if len(kept) < len(content):
        item["content"] = kept or (None if item.get("tool_calls") else [])
    blocks = map(as_record, kept)
    is_empty = all(kind_of(b) in TEXT_BLOCKS and not b.text("text").strip() for b in blocks)
    return item if has_calls or not is_empty else None
