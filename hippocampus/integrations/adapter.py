"""What adapters share: a framework's messages → chat messages → changes → edited copies of its messages.

No framework is imported here. Law 3 holds: where this fails, the framework gets its own messages.
"""

from __future__ import annotations

import asyncio
import bisect
import copy
import functools
import itertools
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from hippocampus import recall
from hippocampus.formats import conversation
from hippocampus.formats.conversation import Item
from hippocampus.formats.reader import common_prefix, snapshot
from hippocampus.formats.reader import read as read_items
from hippocampus.memory import Hippocampus
from hippocampus.session.session import Session
from hippocampus.session.view import Change, changes_between

LOG = logging.getLogger("hippocampus")
RECALL = recall.TOOL_NAME, recall.DESCRIPTION, recall.PARAMETERS
"""The recall tool: its name, its description and the JSON Schema of its arguments."""
M = TypeVar("M")
Edit = Callable[[M, str, int, str], M]
"""Returns a copy of a message with another text; its kind is `call`, `result`, or neither.

The number is its index among the message's calls, results or texts.
"""


@dataclass(slots=True)
class ReadMessage:
    """A message of a framework that was read, and its copy with what the view edits."""

    state: Mapping[str, Any]
    """Its attributes at that time: once they differ, it is read again."""
    items: Sequence[Item]
    """Its chat messages."""
    edited: tuple[list[tuple[str, int, str]], Any] = field(default=([], None))
    """The edits of its texts, and the copy that has them."""


class ConversationAdapter(Generic[M]):
    """The conversations of a framework: `view` returns the messages to send, `answer` is recall."""

    def __init__(
        self,
        memory: Hippocampus,
        read: Callable[[M], list[Item]] | None = None,
        edit: Edit[M] | None = None,
        make: Callable[[str, str], M] | None = None,
        parts: str = "",
    ) -> None:
        """Take the memory, and how messages of the framework are read, edited and made.

        Without the others, its messages are in a format that a session reads itself.
        `read` returns the OpenAI Chat messages of a message; `edit` is an `Edit`; `make`
        returns a message from its role, `user` or `assistant`, and its text. `parts` is the
        attribute with one part per chat message, where a message is read as several.
        """
        self._memory = memory
        form: tuple[Any, ...] = read, edit, make
        self._read, self._edit, self._make = form
        self._parts = parts
        self._messages: WeakKeyDictionary[Session, list[ReadMessage]] = WeakKeyDictionary()
        """The last list of a session."""
        self._called: WeakKeyDictionary[Session, float] = WeakKeyDictionary()

    def view(
        self, session_id: str, messages: Sequence[M], request: Mapping[str, Any] | None = None
    ) -> list[M]:
        """Return the messages to send instead of a framework's; these are never changed.

        `request` has the other parameters of the provider's call, where the framework shows them.
        The session gets the seconds since the last call too: after a pause the cache is cold.
        """
        try:
            with self._memory.using(session_id) as session:
                now = time.monotonic()
                idle_seconds = now - self._called.get(session, now)
                self._called[session] = now
                if self._read is None:
                    return session(messages, idle_seconds=idle_seconds, request=request)
                read = self._read_messages(messages, self._messages.get(session, []))
                changes = session.changes(_items_of(read), idle_seconds=idle_seconds)
                view = self._apply(messages, read, changes)
                self._messages[session] = read
                return view
        except Exception:  # law 3: a failure of the memory never breaks the agent's loop
            LOG.exception("session %s: sending the messages as they are", session_id)
            return self._redact(session_id, messages)

    def _redact(self, session_id: str, messages: Sequence[M]) -> list[M]:
        """Return the messages without what the policy redacts, if they can be read."""
        try:
            if self._read is None:
                return self._memory.redacted(messages)
            read = self._read_messages(messages, [])
            own = _items_of(read)
            sent = read_items(self._memory.redacted(own))
            return self._apply(messages, read, changes_between(read_items(own), sent))
        except Exception:
            LOG.exception("session %s: nothing is redacted", session_id)
            return list(messages)

    async def aview(
        self, session_id: str, messages: Sequence[M], request: Mapping[str, Any] | None = None
    ) -> list[M]:
        """Return the same from a thread: the first call over a long list takes seconds."""
        return await asyncio.to_thread(self.view, session_id, messages, request)

    def _read_messages(
        self, messages: Sequence[M], known: Sequence[ReadMessage]
    ) -> list[ReadMessage]:
        """Return messages as they are read; of the ones known, those that changed are read again."""
        kept = common_prefix([one.state for one in known], [*map(vars, messages)])
        new = (ReadMessage(snapshot(vars(one)), self._read(one)) for one in messages[kept:])
        return [*known[:kept], *new]

    def _apply(
        self, messages: Sequence[M], read: Sequence[ReadMessage], changes: Iterable[Change]
    ) -> list[M]:
        """Return the messages with changes of their chat messages."""
        starts = [*itertools.accumulate((len(one.items) for one in read), initial=0)]
        edits: defaultdict[int, list[tuple[str, int, str]]] = defaultdict(list)
        ours: list[tuple[int, Change]] = []
        for change in changes:
            at = bisect.bisect(starts, change.message) - 1
            if change.kind in ("digest", "added"):
                ours.append((at, change))
            else:
                place = change.message - starts[at] + change.part
                edits[at].append((change.kind, place, change.text))
        view = list(messages)
        for at, own in edits.items():
            edited = read[at].edited
            if edited[0] != own:  # a repeated edit returns the same copy
                made = functools.reduce(lambda to, edit: self._edit(to, *edit), own, messages[at])
                edited = read[at].edited = own, made
            view[at] = edited[1]
        for at, change in reversed(ours):  # from the end, so that no index moves
            if change.kind == "added":
                view.insert(at + 1, self._make("user", change.text))
                continue
            # The digest may begin and end within messages: their other parts stay around it.
            end = bisect.bisect(starts, change.end - 1) - 1
            put = [self._make("assistant", change.text)]
            if self._parts and change.message > starts[at]:
                put.insert(0, self._cut(view[at], 0, change.message - starts[at]))
            if self._parts and change.end < starts[end + 1]:
                put.append(self._cut(view[end], change.end - starts[end], None))
            view[at : end + 1] = put
        return view

    def _cut(self, message: M, start: int, end: int | None) -> M:
        cut = copy.copy(message)
        setattr(cut, self._parts, getattr(message, self._parts)[start:end])
        return cut

    def answer(self, session_id: str, arguments: str | Mapping[str, Any]) -> str:
        """Return the answer to a call of the recall tool; where the session cannot be opened, why not."""
        try:
            return self._memory.answer(session_id, arguments)
        except Exception as failure:  # law 3: what a tool raises may end the agent's run
            LOG.exception("session %s: recall is not answered", session_id)
            return f"recall failed: {failure}"

    async def aanswer(self, session_id: str, arguments: str | Mapping[str, Any]) -> str:
        """Return the same from a thread."""
        return await asyncio.to_thread(self.answer, session_id, arguments)


def _items_of(read: Iterable[ReadMessage]) -> list[Item]:
    return [item for one in read for item in one.items]


def chat_message(role: str, text: Any, calls: Iterable[tuple[str | None, str, Any]] = ()) -> Item:
    """Return a chat message, in the user's role unless it is of the model or of the system.

    A call has an id, a name, and arguments as JSON text or an object.
    """
    item: Item = {"role": role if role in ("assistant", "system") else "user", "content": text}
    functions = [(call_id, {"name": name, "arguments": args}) for call_id, name, args in calls]
    if functions:
        item["tool_calls"] = [{"id": call_id, "function": call} for call_id, call in functions]
    return item


def chat_result(call_id: str | None, text: Any) -> Item:
    """Return a chat message that is the result of a call."""
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def with_value(values: Sequence[Any], at: int, value: Any) -> list[Any]:
    """Return a list with another value in one place."""
    return [*values[:at], value, *values[at + 1 :]]


def text_in(value: Any) -> str:
    """Return a string, or the texts of a list of texts and other things; else nothing."""
    if not isinstance(value, list | tuple):
        return value if isinstance(value, str) else ""
    texts = (item if isinstance(item, str) else conversation.text_of([item]) for item in value)
    return "\n".join(filter(None, texts))


def with_text(value: Any, text: str) -> Any:
    """Return a string, or a list of texts and other things, with its text replaced; others stay."""
    if not isinstance(value, list | tuple):
        return text
    texts = [isinstance(item, str) or conversation.is_text_block(item) for item in value]
    others = [item for item, is_text in zip(value, texts, strict=True) if not is_text]
    at = texts.index(True) if True in texts else 0
    first = text if True not in texts or isinstance(value[at], str) else {**value[at], "text": text}
    return [*others[:at], first, *others[at:]]
