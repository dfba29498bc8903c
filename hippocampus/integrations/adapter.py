"""What adapters share: a framework's messages → chat messages → changes → edited copies of its messages.

No framework is imported here. Law 3 holds: where this fails, the framework gets its own messages.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from hippocampus import recall
from hippocampus.formats import content
from hippocampus.formats.conversation import Item
from hippocampus.memory import Hippocampus
from hippocampus.session.changes import Change
from hippocampus.session.session import Session

LOG = logging.getLogger("hippocampus")
RECALL = recall.TOOL_NAME, recall.DESCRIPTION, recall.PARAMETERS
"""The recall tool: its name, its description and the JSON Schema of its arguments."""
M = TypeVar("M")
Numbered = list[tuple[int, Change]]
"""Changes in one message of a framework, each with the number of the chat message that has it."""


class Edited(NamedTuple):
    """A message of the framework, the changes of its texts, and the copy that has them."""

    message: Any
    changes: Numbered
    copy: Any


class ConversationAdapter(Generic[M]):
    """The conversations of a framework: `view` returns the messages to send, `answer` is recall."""

    def __init__(
        self,
        memory: Hippocampus,
        read: Callable[[M], list[Item]],
        edit: Callable[[M, Numbered], M],
        make: Mapping[str, Callable[[str], M]],
        cut: Callable[[M, int, int], M] | None = None,
    ) -> None:
        """Take the memory, and how messages of the framework are read, edited, made and cut.

        `read` returns the OpenAI Chat messages of a message, at least one; `edit` returns a copy
        with other texts, each with the number of the chat message that has it; `make`
        has functions from a text to a message of the user and of the assistant; `cut` returns a copy with some of the chat messages:
        without it, each message is read as one.
        """
        self._memory = memory
        self._read, self._edit, self._make, self._cut = read, edit, make, cut
        self._edited: WeakKeyDictionary[Session, dict[int, Edited]] = WeakKeyDictionary()

    def view(self, session_id: str, messages: Sequence[M]) -> list[M]:
        """Return the messages to send instead of a framework's; these are never changed."""
        try:
            with self._memory.using(session_id) as session:
                return self._view(session, messages)
        except Exception:  # law 3: a failure of the memory never breaks the agent's loop
            LOG.exception("session %s: sending the messages as they are", session_id)
            return list(messages)

    async def aview(self, session_id: str, messages: Sequence[M]) -> list[M]:
        """Return the same from a thread: the first call over a long list takes seconds."""
        return await asyncio.to_thread(self.view, session_id, messages)

    def _view(self, session: Session, messages: Sequence[M]) -> list[M]:
        items: list[Item] = []
        owners: list[int] = []
        starts: list[int] = []
        for at, message in enumerate(messages):
            read = self._read(message)
            starts.append(len(items))
            items += read
            owners += [at] * len(read)
        texts: dict[int, Numbered] = {}
        ours: list[Change] = []
        for change in session.changes(items):
            at = owners[change.message]
            if change.kind in ("digest", "added"):
                ours.append(change)
            else:
                texts.setdefault(at, []).append((change.message - starts[at], change))
        view = list(messages)
        edited = self._edited.setdefault(session, {})
        for at, changes in texts.items():
            known = edited.get(at)
            if known is None or known.message is not view[at] or known.changes != changes:
                known = Edited(view[at], changes, self._edit(view[at], changes))
                edited[at] = known
            view[at] = known.copy
        ends = [*starts[1:], len(items)]
        for change in reversed(ours):  # from the end, so that no index moves
            at, last = owners[change.message], owners[change.end - 1]
            if change.kind == "added":
                view.insert(at + 1, self._make["user"](change.text))
                continue
            put = [self._make["assistant"](change.text)]
            if self._cut and change.message > starts[at]:
                put.insert(0, self._cut(view[at], 0, change.message - starts[at]))
            if self._cut and change.end < ends[last]:
                end = ends[last] - starts[last]
                put.append(self._cut(view[last], change.end - starts[last], end))
            view[at : last + 1] = put
        return view

    def answer(self, session_id: str, arguments: str | Mapping[str, Any]) -> str:
        """Return the answer to a call of the recall tool, as the model reads it."""
        return answer(self._memory, session_id, arguments)

    async def aanswer(self, session_id: str, arguments: str | Mapping[str, Any]) -> str:
        """Return the same from a thread."""
        return await asyncio.to_thread(self.answer, session_id, arguments)


def answer(memory: Hippocampus, session_id: str, arguments: str | Mapping[str, Any]) -> str:
    """Return the answer to a call of the recall tool; where the session cannot be opened, why not."""
    try:
        return memory.answer(session_id, arguments)
    except Exception as failure:  # law 3: what a tool raises may end the agent's run
        LOG.exception("session %s: recall is not answered", session_id)
        return f"recall failed: {failure}"


def chat_call(call_id: str | None, name: str, args: Any) -> Item:
    """Return a call of a chat message; arguments are JSON text or an object."""
    return {"id": call_id, "function": {"name": name, "arguments": args}}


def text_in(value: Any) -> str:
    """Return a string, or the texts of a list of texts and other things; else nothing."""
    if not isinstance(value, list | tuple):
        return value if isinstance(value, str) else ""
    texts = (each if isinstance(each, str) else content.text_of([each]) for each in value)
    return "\n".join(filter(None, texts))


def with_text(value: Any, text: str) -> Any:
    """Return a string, or a list of texts and other things, with its text replaced; others stay."""
    if not isinstance(value, list | tuple):
        return text
    texts = [isinstance(each, str) or content.is_text_block(each) for each in value]
    others = [each for each, is_text in zip(value, texts, strict=True) if not is_text]
    at = texts.index(True) if True in texts else 0
    first = text if True not in texts or isinstance(value[at], str) else {**value[at], "text": text}
    return [*others[:at], first, *others[at:]]
