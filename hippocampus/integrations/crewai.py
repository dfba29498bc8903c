"""CrewAI: a function that makes a model send the view, and the recall tool for its agent."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, TypeVar

from crewai import BaseLLM
from crewai.tools import BaseTool
from pydantic import Field

from hippocampus import recall
from hippocampus.integrations import adapter
from hippocampus.memory import Hippocampus

L = TypeVar("L", bound=BaseLLM)


def remember(llm: L, memory: Hippocampus, session_id: str) -> tuple[L, CrewRecall]:
    """Make a model send the view of one agent's messages; return it, and the agent's recall tool.

    The agent's executor keeps all messages. `session_id` is the id under which it goes on after a
    restart.
    """
    kind = type("HippocampusLLM", (_ViewLLM, type(llm)), {"__module__": __name__})
    object.__setattr__(llm, "__class__", kind)  # CrewAI knows a model by its type and its identity
    conversations = adapter.ConversationAdapter[Any](memory)
    object.__setattr__(llm, "_to_view", partial(conversations.view, session_id))
    return llm, CrewRecall(answers=partial(conversations.answer, session_id))


class _ViewLLM:
    """The methods of a model that take messages: they take the view of a list that has results."""

    _to_view: Any

    def call(self, messages: Any, *rest: Any, **more: Any) -> Any:
        return super().call(self._view(messages), *rest, **more)  # type: ignore[misc]

    async def acall(self, messages: Any, *rest: Any, **more: Any) -> Any:
        view = await asyncio.to_thread(self._view, messages)
        return await super().acall(view, *rest, **more)  # type: ignore[misc]

    def is_tool_result_overflowing_threshold(self, tool_result: str) -> tuple[bool, int]:
        """Return that CrewAI is to keep a result in its list, and its tokens: the view shortens it."""
        return False, self.get_input_tokens_count(tool_result)  # type: ignore[attr-defined]

    def is_context_window_overflowing_threshold(
        self, messages: Any, *rest: Any, **more: Any
    ) -> Any:
        """Return whether CrewAI is to summarise its list: it is the view that has to fit."""
        return super().is_context_window_overflowing_threshold(  # type: ignore[misc]
            self._view(messages), *rest, **more
        )

    def _view(self, messages: Any) -> Any:
        is_loop = isinstance(messages, list) and any(item["role"] == "tool" for item in messages)
        return self._to_view(messages) if is_loop else messages


class CrewRecall(BaseTool):  # type: ignore[misc]
    """The recall tool."""

    name: str = recall.TOOL_NAME
    description: str = recall.DESCRIPTION
    args_schema: type[recall.RecallRequest] = recall.RecallRequest

    answers: Any = Field(exclude=True)

    def _run(self, **arguments: Any) -> Any:
        return self.answers({key: value for key, value in arguments.items() if value is not None})
