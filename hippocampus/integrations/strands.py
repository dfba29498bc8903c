"""Strands Agents: a plugin that sends the view and registers recall."""

from __future__ import annotations

from typing import Any

from strands import Agent
from strands.middleware import InvokeModelContext, InvokeModelStage
from strands.plugins import Plugin
from strands.tools import PythonAgentTool

from hippocampus.integrations import adapter
from hippocampus.memory import Hippocampus


class HippocampusPlugin(Plugin):  # type: ignore[misc]
    """Sends the view of an agent's messages; the agent and its session manager keep them all."""

    name = "hippocampus"

    def __init__(self, memory: Hippocampus) -> None:
        """Take the memory; an agent of a session manager's session is one of its sessions."""
        super().__init__()
        self._adapter = adapter.ConversationAdapter[Any](memory)

    def init_agent(self, agent: Agent) -> None:
        """Add the middleware and the recall tool to an agent."""
        session_id = f"{agent.session_id}|{agent.agent_id}"

        async def view(context: InvokeModelContext) -> InvokeModelContext:
            messages = await self._adapter.aview(session_id, context.messages)
            return context.replace(messages=messages)

        async def answer(tool_use: Any, **_: Any) -> dict[str, Any]:
            content = [{"text": await self._adapter.aanswer(session_id, tool_use["input"])}]
            return {"toolUseId": tool_use["toolUseId"], "status": "success", "content": content}

        name, words, schema = adapter.RECALL
        spec = {"name": name, "description": words, "inputSchema": {"json": schema}}
        agent.add_middleware(InvokeModelStage.Input, view)
        agent.tool_registry.register_tool(PythonAgentTool(name, spec, answer))
