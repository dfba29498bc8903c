"""LiteLLM: a callback that sends the view and answers recall before the caller sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from litellm.integrations.custom_logger import CustomLogger
from litellm.types.integrations.custom_logger import (
    HEADROOM_CONVERTED_STREAM_KEY,
    AgenticLoopPlan,
    AgenticLoopRequestPatch,
)

from hippocampus import recall
from hippocampus.formats.conversation import Item
from hippocampus.integrations import adapter
from hippocampus.memory import Hippocampus

FORMATS = {"acompletion": "openai", "anthropic_messages": "anthropic"}
SESSION = "litellm_session_id"
MAX_RECALLS = 20
"""How many answers with recalls LiteLLM asks for before it fails a call of the host."""


class HippocampusCallback(CustomLogger):  # type: ignore[misc]
    """Sends the view of each asynchronous call that names its session; others pass as they are."""

    server_fulfilled_tool_names: ClassVar[frozenset[str]] = frozenset({recall.TOOL_NAME})

    def __init__(self, memory: Hippocampus) -> None:
        """Take the memory; a `litellm_session_id` is one of its sessions."""
        super().__init__()
        self._adapter = adapter.ConversationAdapter[Any](memory)

    async def async_pre_call_deployment_hook(
        self, kwargs: dict[str, Any], call_type: Any
    ) -> dict[str, Any] | None:
        """Put the view in place of the messages, and add the recall tool."""
        format_name = FORMATS.get(getattr(call_type, "value", ""))
        is_followup = bool(kwargs.get("_agentic_loop_depth"))  # its messages are a view
        if not format_name or not kwargs.get(SESSION) or is_followup or "messages" not in kwargs:
            return None
        view = await self._adapter.aview(kwargs[SESSION], kwargs["messages"], kwargs)
        tools = [*(kwargs.get("tools") or ()), recall.tool(format_name)]
        changed = {"max_agentic_loops": MAX_RECALLS, **kwargs, "messages": view, "tools": tools}
        if kwargs.get("stream") and format_name == "openai":
            # The loop reads whole answers only; under this key LiteLLM streams the last of them.
            changed |= {"stream": False, HEADROOM_CONVERTED_STREAM_KEY: True}
        return changed

    async def async_should_run_agentic_loop(
        self, response: Any, *_: Any, kwargs: Mapping[str, Any], **__: Any
    ) -> tuple[bool, Any]:
        """Return whether an answer has recalls, and the message that has only these."""
        asked = _recalls(response) if kwargs.get(SESSION) else None
        return asked is not None, asked

    async def async_build_agentic_loop_plan(
        self, tools: Item, messages: list[Any], kwargs: Mapping[str, Any], **_: Any
    ) -> AgenticLoopPlan:
        """Return the next call: its messages end with the recalls and what they found."""
        is_chat = "tool_calls" in tools
        calls = tools["tool_calls"] if is_chat else tools["content"]
        found: list[Item] = []
        for each in filter(_is_recall, calls):
            arguments = each["function"]["arguments"] if is_chat else each["input"]
            text = await self._adapter.aanswer(kwargs[SESSION], arguments)
            block = {"type": "tool_result", "tool_use_id": each["id"], "content": text}
            found.append(adapter.chat_result(each["id"], text) if is_chat else block)
        more = found if is_chat else [{"role": "user", "content": found}]
        patch = AgenticLoopRequestPatch(messages=[*messages, tools, *more])
        return AgenticLoopPlan(run_agentic_loop=True, request_patch=patch)


def _is_recall(call: Item) -> bool:
    """Return whether a call of a chat answer, or a block of another one, is a recall."""
    return bool(call.get("function", call).get("name") == recall.TOOL_NAME)


def _recalls(response: Any) -> Item | None:
    """Return an answer without the host's calls, which the model makes again; None without recalls."""
    if isinstance(response, dict):
        blocks = response["content"]
        own = [each for each in blocks if each["type"] != "tool_use" or _is_recall(each)]
        return {"role": "assistant", "content": own} if any(map(_is_recall, blocks)) else None
    item: Item = response.choices[0].message.model_dump(exclude_none=True)
    asked = [each for each in item.get("tool_calls", ()) if _is_recall(each)]
    return {**item, "tool_calls": asked} if asked else None
