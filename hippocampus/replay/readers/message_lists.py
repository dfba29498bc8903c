"""Message lists of the three providers: a JSON list of messages or items, or JSON lines.

Messages are unchanged, except that the outdated `function_call` becomes a tool call; `make_recordings`
makes them valid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hippocampus.replay.readers.raw import MessageFormat, RawConversation, RawMessage, chat_call
from hippocampus.replay.readers.values import JsonRecord, kind_of, role_of

ROLES = {"system", "developer", "user", "assistant"}
ANTHROPIC_BLOCKS = {"tool_use", "tool_result", "thinking", "redacted_thinking", "document", "image"}


@dataclass(frozen=True, slots=True)
class MessageList:
    """A list of messages in the format of one provider, as JSON."""

    NAME: str
    message_format: MessageFormat
    is_message: Callable[[JsonRecord], bool]
    is_typical: Callable[[JsonRecord], bool]
    """Returns whether a message can only be of this format."""

    def recognises(self, records: list[JsonRecord]) -> bool:
        """Return whether most records are messages, and one can only be of this format."""
        is_typical = any(map(self.is_typical, records))
        return is_typical and sum(map(self.is_message, records)) * 2 > len(records)

    def read(self, records: list[JsonRecord]) -> list[RawConversation]:
        """Return the one conversation."""
        messages = []
        for record in filter(self.is_message, records):
            item = record
            if function := record.record("function_call"):  # before `tool_calls`, without an id
                call = chat_call("", function.text("name"), function.get("arguments"))
                rest = {key: value for key, value in record.items() if key != "function_call"}
                item = JsonRecord(rest, tool_calls=[call])
            elif role_of(record) == "function":
                item = JsonRecord(record, role="tool")
            messages.append(RawMessage(item))
        return [RawConversation(self.message_format, messages)]


def _is_item(record: JsonRecord) -> bool:
    if "role" in record:
        return role_of(record) in ROLES and "content" in record
    kind = kind_of(record)
    return kind == "reasoning" or kind.endswith(("_call", "_call_output"))


def _is_only_item(record: JsonRecord) -> bool:
    if "role" not in record:
        return _is_item(record) and ("call_id" in record or record["type"] == "reasoning")
    kinds = map(kind_of, record.records("content"))
    return any(kind.startswith(("input_", "output_")) for kind in kinds)


def _is_anthropic(record: JsonRecord) -> bool:
    has_role = role_of(record) in ROLES - {"developer"}
    return has_role and isinstance(record.get("content"), str | list)


def _is_only_anthropic(record: JsonRecord) -> bool:
    kinds = map(kind_of, record.records("content"))
    is_message = _is_anthropic(record) and "tool_calls" not in record
    return is_message and not ANTHROPIC_BLOCKS.isdisjoint(kinds)


def _is_chat(record: JsonRecord) -> bool:
    payload = {"content", "tool_calls", "function_call"}
    return role_of(record) in {*ROLES, "tool", "function"} and not payload.isdisjoint(record)


LISTS = (
    MessageList("openai-responses", "responses", _is_item, _is_only_item),
    MessageList("anthropic", "anthropic", _is_anthropic, _is_only_anthropic),
    MessageList("openai-chat", "chat", _is_chat, _is_chat),
)
"""The formats in the order in which they are tried: plain messages are the same in all of them."""
