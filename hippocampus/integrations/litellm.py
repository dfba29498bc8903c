"""LiteLLM: a callback that sends the view and answers recall before the caller sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from litellm.integrations.custom_logger import CustomLogger
from litellm.types.integrations import custom_logger as of

from hippocampus import recall
from hippocampus.formats import reader
from hippocampus.formats.conversation import Item, ToolResult
from hippocampus.integrations import adapter
from hippocampus.memory import Hippocampus
from hippocampus.recall.calls import unanswered

FORMATS = {"acompletion": "openai", "anthropic_messages": "anthropic"}
SESSION = "litellm_session_id"
STREAMED_AT_LAST = of.HEADROOM_CONVERTED_STREAM_KEY
"""The loop reads whole answers; under this key, which a guardrail had first, the last is streamed."""
MAX_RECALLS = 20
"""How many answers with recalls LiteLLM asks for before it fails a call of the host."""


class HippocampusCallback(CustomLogger):  # type: ignore[misc]
    """Sends the view of asynchronous calls that name their session; others pass as they are."""

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
            changed |= {"stream": False, STREAMED_AT_LAST: True}
        return changed

    async def async_should_run_agentic_loop(self, response: Any, *_: Any, **given: Any) -> Any:
        """Return whether an answer has recalls, and it without the host's calls, which the model makes again."""
        if not given["kwargs"].get(SESSION):
            return False, None
        if isinstance(response, dict):
            item: Item = {"role": "assistant", "content": [*filter(_is_own, response["content"])]}
        else:
            item = response.choices[0].message.model_dump(exclude_none=True)
            item["tool_calls"] = [*filter(_is_own, item.get("tool_calls", ()))]
        return bool(unanswered([item])), item

    async def async_build_agentic_loop_plan(
        self, tools: Item, messages: list[Any], kwargs: Mapping[str, Any], **_: Any
    ) -> of.AgenticLoopPlan:
        """Return the next call: its messages end with the recalls and what they found."""
        found: list[ToolResult] = []
        for call in unanswered([tools]):
            text = await self._adapter.aanswer(kwargs[SESSION], call.text or "{}")
            found.append(ToolResult(call.call_id, text))
        more = [*messages, tools, *reader.tool_results([tools], found)]
        patch = of.AgenticLoopRequestPatch(messages=more)
        return of.AgenticLoopPlan(run_agentic_loop=True, request_patch=patch)


def _is_own(block: Item) -> bool:  # a text has no name
    return bool(block.get("function", block).get("name", recall.TOOL_NAME) == recall.TOOL_NAME)
