"""Messages of agent frameworks, which no provider takes: recognised, so that they are refused by name.

Pure; no framework is imported. Their adapters are in `hippocampus.integrations`.
"""

from __future__ import annotations

MODULES = {
    "agent_framework": "agent_framework",
    "ag2": "ag2",
    "autogen_agentchat": "autogen",
    "autogen_core": "autogen",
    "langchain_core": "langchain",
    "llama_index": "llama_index",
    "pydantic_ai": "pydantic_ai",
    "smolagents": "smolagents",
}
"""By the package of a message's class, the adapter for it."""
LANGCHAIN_TYPES = {"ai", "AIMessageChunk", "chat", "function", "human", "remove", "system", "tool"}
"""The types of LangChain's messages, which have no role."""


def framework_of(item: object) -> str:
    """Return the adapter for a framework's message, an object or dumped; nothing for all others.

    >>> framework_of({"type": "human", "content": "Hello"}), framework_of({"role": "user"})
    ('langchain', '')
    """
    if not isinstance(item, dict):
        return MODULES.get(type(item).__module__.partition(".")[0], "")
    kind = item.get("type")
    if "role" not in item and isinstance(kind, str):
        if kind in LANGCHAIN_TYPES:
            return "langchain"
        return "autogen" if kind.endswith("Message") else ""
    if "blocks" in item and "content" not in item:
        return "llama_index"
    return "pydantic_ai" if "parts" in item and item.get("kind") in ("request", "response") else ""


def refusal(number: int, adapter: str) -> str:
    """Return the sentence for a message that only an adapter can read."""
    return (
        f"messages[{number}] is of a framework: use its adapter, hippocampus.integrations.{adapter}, "
        "or send the provider's list of dicts"
    )
