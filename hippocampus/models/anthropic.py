"""Completions by Anthropic's Messages API (`/v1/messages`), without an SDK.

When a model is asked is not decided here, nor how the request travels.
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
    """Return the endpoint of the Messages API at another address, with another key."""
    return replace(ANTHROPIC, base_url=base_url, key_variable=key_variable)


@dataclass(frozen=True, slots=True)
class Completer:
    """Has a model answer a prompt.

    Called with a prompt it returns the answer's text, or raises ProviderError.
    """

    model: str
    endpoint: Endpoint = ANTHROPIC
    temperature: float | None = 0.0
    """None is not sent, for models that allow no choice."""
    max_tokens: int = 2_048
    system: str = ""
    """Goes before each prompt as the system prompt; empty sends none."""

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
            told = f"{self.endpoint.place}: the endpoint's answer holds no message"
            raise ProviderError(told) from None
