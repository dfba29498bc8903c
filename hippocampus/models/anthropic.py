"""Completions with Anthropic's Messages API (`/v1/messages`), without an SDK."""

from __future__ import annotations

from dataclasses import dataclass

from hippocampus.models.http import Endpoint, ask, text_of

ANTHROPIC = Endpoint(
    "https://api.anthropic.com/v1",
    "ANTHROPIC_API_KEY",
    key_header="x-api-key",
    headers={"anthropic-version": "2023-06-01"},
)


@dataclass(frozen=True, slots=True)
class AnthropicCompleter:
    """Completes prompts: called with a prompt, it returns the answer's text, or raises ProviderError."""

    model: str
    endpoint: Endpoint = ANTHROPIC
    temperature: float | None = 0.0
    """None sends no temperature, for models that do not accept one."""
    max_tokens: int = 2_048
    system: str = ""
    """The system prompt; empty sends none."""

    def __call__(self, prompt: str) -> str:
        """Return the model's answer to one prompt."""
        body = {
            "model": self.model,
            "max_tokens": self.max_tokens,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": self.temperature,
            "system": self.system or None,
        }
        return ask(
            self.endpoint, "messages", body, lambda answer: text_of(answer["content"]), "a message"
        )
