"""Google ADK: a plugin that sends the view and adds recall to the requests."""

from __future__ import annotations

from typing import Any

from google.adk.models import LlmRequest
from google.adk.plugins import BasePlugin
from google.adk.tools import BaseTool
from google.genai import types

from hippocampus.integrations import adapter
from hippocampus.memory import Hippocampus


class HippocampusAdkPlugin(BasePlugin):  # type: ignore[misc]
    """Sends the view of an agent's contents in a session; the session service keeps them all."""

    def __init__(self, memory: Hippocampus) -> None:
        """Take the memory; an agent in a session of a user is one of its sessions."""
        super().__init__(name="hippocampus")
        self._adapter = adapter.ConversationAdapter[Any](memory)
        self._recall = AdkRecall(self._adapter)

    async def before_model_callback(
        self, *, callback_context: Any, llm_request: LlmRequest
    ) -> None:
        """Put the view in place of the contents, and add the recall tool."""
        llm_request.append_tools([self._recall])
        if llm_request.previous_interaction_id:
            return  # the contents are only what the provider does not have yet
        view = await self._adapter.aview(_session_id(callback_context), llm_request.contents)
        llm_request.contents = [
            types.Content.model_validate(item) if isinstance(item, dict) else item for item in view
        ]


class AdkRecall(BaseTool):  # type: ignore[misc]
    """The recall tool."""

    def __init__(self, conversations: adapter.ConversationAdapter[Any]) -> None:
        """Take the adapter."""
        name, words, self._schema = adapter.RECALL
        super().__init__(name=name, description=words)
        self._adapter = conversations

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self._schema
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> dict[str, str]:
        """Answer a call."""
        return {"result": await self._adapter.aanswer(_session_id(tool_context), args)}


def _session_id(context: Any) -> str:
    session = context.session
    return f"{session.app_name}|{session.user_id}|{session.id}|{context.agent_name}"
