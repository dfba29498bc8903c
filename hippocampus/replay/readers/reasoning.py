"""Leaves out what a provider does not take back: reasoning, and answers that say nothing.

Nothing else of a message is touched.
"""

from __future__ import annotations

from collections.abc import Iterable

from hippocampus.replay.readers.draft import Message, Step
from hippocampus.replay.readers.fields import as_record, as_text, kind_of

REASONING_FIELDS = {"reasoning", "reasoning_content", "reasoning_details", "thinking_blocks"}
REASONING_BLOCKS = {"reasoning", "reasoning_text", "thinking", "redacted_thinking"}
TEXT_BLOCKS = {"text", "output_text"}
CALL_FIELDS = ("tool_calls", "function_call")


def without_reasoning(steps: Iterable[Step]) -> list[Step]:
    """Return the steps without reasoning; an assistant message with no text and no call goes."""
    kept = (_cleaned(step) for step in steps if kind_of(step.message) not in REASONING_BLOCKS)
    return [step for step in kept if not _says_nothing(step.message)]


def _cleaned(step: Step) -> Step:
    message = step.message
    if message.get("role") != "assistant":
        return step
    if not REASONING_FIELDS.isdisjoint(message):
        message = {key: value for key, value in message.items() if key not in REASONING_FIELDS}
    content = message.get("content")
    if isinstance(content, list):
        said = [block for block in content if kind_of(as_record(block)) not in REASONING_BLOCKS]
        if len(said) < len(content):
            message = {**message, "content": said or (None if message.get("tool_calls") else [])}
    return step._replace(message=message)


def _says_nothing(message: Message) -> bool:
    if message.get("role") != "assistant" or any(message.get(key) for key in CALL_FIELDS):
        return False
    content = message.get("content")
    if isinstance(content, list):
        return not any(_says_something(as_record(block)) for block in content)
    return not as_text(content).strip()


def _says_something(block: Message) -> bool:
    return kind_of(block) not in TEXT_BLOCKS or bool(as_text(block.get("text")).strip())
