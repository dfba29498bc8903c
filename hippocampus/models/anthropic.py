"""Completions with Anthropic's Messages API (`/v1/messages`), without an SDK.

Callers decide when a model is called; requests are sent in `http`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hippocampus.errors import ProviderError
from hippocampus.models.http import Endpoint, post

ANTHROPIC = Endpoint(
    "https://api.anthropic.com/v1",
    "ANTHROPIC_API_KEY",
    key_header="x-api-key",
    headers={"anthropic-version": "2023-06-01"},
)


def at(base_url: str, key_variable: str) -> Endpoint:
    """Return the endpoint of the Messages API at another URL, with another key."""
    return replace(ANTHROPIC, base_url=base_url, key_variable=key_variable)


@dataclass(frozen=True, slots=True)
class AnthropicCompleter:
    """Completes prompts: called with a prompt, it returns the answer's text.

    Raises ProviderError where the endpoint fails.
    """

    model: str
    endpoint: Endpoint = ANTHROPIC
    temperature: float | None = 0.0
    """None is not sent, for models that do not accept one."""
    max_tokens: int = 2_048
    system: str = ""
    """The system prompt; empty sends none."""

    def __call__(self, prompt: str) -> str:
        """Return the model's answer to one prompt."""
        body: dict[str, Any] = {
            "model": self.model,
            "max_tokens": self.max_tokens,
            "messages": [{"role": "user", "content": prompt}],
        }
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if self.system:
            body["system"] = self.system
        answer = post(self.endpoint, "messages", body)
        try:
            return "".join(part["text"] for part in answer["content"] if part["type"] == "text")
        except (KeyError, TypeError):
            problem = f"{self.endpoint.place}: the endpoint's answer holds no message"
            raise ProviderError(problem) from None
