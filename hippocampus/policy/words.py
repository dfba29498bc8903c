"""The fixed words of the policy language, as types."""

from __future__ import annotations

from typing import Literal

EntryType = Literal["tool_result", "message", "state", "memory"]
Priority = Literal["critical", "high", "normal", "low"]
Encoding = Literal["manual", "auto"]
Level = Literal["none", "light", "normal", "aggressive"]
Supersession = Literal["call", "tool", "source.type"]
PriceTable = Literal["anthropic-5m", "anthropic-1h", "openai", "gemini", "none"]
Kind = Literal[
    "arguments",
    "binary",
    "code",
    "commits",
    "config",
    "diff",
    "empty",
    "hits",
    "json",
    "listing",
    "log",
    "page",
    "prose",
    "schema",
    "table",
    "text",
]
"""The kinds of content; `text` is the kind of everything that no other kind recognises."""
RedactionKind = Literal["card", "email", "iban", "phone", "secret"]

ERROR_SOURCE = "error"
"""The `source.type` of every failed result, of any tool."""
UNNAMED_SOURCE = "tool"
"""The `source.type` of a result whose tool has no name."""
