"""The OpenAI Agents SDK: a filter of the model's input, and the recall tool for its agents."""

from __future__ import annotations

import hashlib
import json
from contextvars import ContextVar
from typing import Any

from agents import FunctionTool
from agents.run_config import CallModelData, ModelInputData

from hippocampus.integrations import adapter
from hippocampus.memory import Hippocampus

CURRENT: ContextVar[tuple[adapter.ConversationAdapter[Any], str]] = ContextVar(
    "hippocampus_session"
)
"""The session of the run that a tool belongs to; a nested run has its own context."""


class HippocampusFilter:
    """Sends the view of one conversation: `RunConfig(call_model_input_filter=…)`.

    A run inside it, such as that of an agent that is a tool, is a session of its own.
    """

    def __init__(self, memory: Hippocampus, session_id: str) -> None:
        """Take the memory, and the id under which the conversation goes on after a restart."""
        self._adapter = adapter.ConversationAdapter[Any](memory)
        self._session_id = session_id
        self._first = ""

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """Return the input of a model call with the view in place of the items."""
        given = data.model_data
        written = json.dumps(given.input[:1], sort_keys=True, default=str).encode()
        first = hashlib.sha256(written).hexdigest()[:16]
        self._first = self._first or first
        session_id = self._session_id if first == self._first else f"{self._session_id}|{first}"
        CURRENT.set((self._adapter, session_id))
        view = await self._adapter.aview(session_id, given.input)
        return ModelInputData(input=view, instructions=given.instructions)


async def _answer(_context: Any, arguments: str) -> str:
    conversations, session_id = CURRENT.get()
    return await conversations.aanswer(session_id, arguments)


_name, _words, _schema = adapter.RECALL
recall_tool = FunctionTool(
    name=_name,
    description=_words,
    params_json_schema=_schema,
    on_invoke_tool=_answer,
    strict_json_schema=False,
)
"""The recall tool, for the `tools` of every agent that runs with the filter."""
