"""Kimi Code sessions (`wire.jsonl`), read as chat messages.

Reasoning, permissions, goals and the copies of messages for the interface are not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hippocampus.formats.conversation import Item
from hippocampus.formats.usage import Usage
from hippocampus.replay.readers.raw import RawConversation, RawMessage, chat_call
from hippocampus.replay.readers.values import JsonRecord, as_string_or_json, kind_of, text_of

NAME = "kimi-code"
COUNTS = ("inputOther", "inputCacheRead", "inputCacheCreation", "output")
"""Counts of a step in the order of those of `Usage`."""
ENDS = ("context.apply_compaction", "context.clear")
"""What ends a context; after the first its summary begins the next."""


def is_own(record: JsonRecord) -> bool:
    """Return whether a line is an event of the loop of a wire file."""
    return kind_of(record) == "context.append_loop_event"


def read(records: list[JsonRecord]) -> list[RawConversation]:
    """Return each context as a conversation: a compaction starts one."""
    first = {kind_of(each): each for each in reversed(records)}
    prompt = first.get("profile.bind", JsonRecord()).text("systemPrompt")
    tools = first.get("llm.tools_snapshot", JsonRecord()).records("tools")
    return [RawConversation("chat", each, "wire", prompt, tools) for each in _contexts(records)]


@dataclass
class _LoopStep:
    """An answer of the model that is being read, with the results of its calls."""

    texts: list[str] = field(default_factory=list)
    calls: list[Item] = field(default_factory=list)
    results: list[RawMessage] = field(default_factory=list)
    usage: Usage | None = None

    def add(self, event: JsonRecord) -> None:
        """Take in an event of the loop."""
        call_id = event.text("toolCallId")
        match kind_of(event):
            case "content.part":
                self.texts += filter(None, [event.record("part").text("text")])
            case "tool.call":
                self.calls.append(chat_call(call_id, event.text("name"), event.get("args")))
            case "tool.result":
                output = event.record("result").get("output")
                found = text_of(output) or as_string_or_json(output or "")
                self.results.append(RawMessage.result(call_id, found))
            case "step.end" if counts := event.record("usage"):
                self.usage = Usage(*counts.counts(*COUNTS))

    def messages(self, model: str) -> list[RawMessage]:
        """Return its chat messages."""
        if not (self.texts or self.calls):
            return self.results
        text = "\n".join(self.texts)
        return [RawMessage.answer(text, self.calls, self.usage, model), *self.results]


def _contexts(records: list[JsonRecord]) -> Iterator[list[RawMessage]]:
    messages, step, model = list[RawMessage](), _LoopStep(), ""
    for record in records:
        kind, event = kind_of(record), record.record("event")
        if kind == "llm.request":
            model = record.text("model")
        elif kind == "context.append_loop_event" and kind_of(event) != "step.begin":
            step.add(event)
        elif kind in {"context.append_message", "context.append_loop_event", *ENDS}:
            messages, step = messages + step.messages(model), _LoopStep()
            if kind in ENDS:
                yield messages
                messages = []
            words = text_of(record.record("message").get("content")) or record.text("summary")
            messages += [RawMessage.user(words)] if words else []
    yield messages + step.messages(model)
