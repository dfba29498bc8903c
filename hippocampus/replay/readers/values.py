"""Typed access to untrusted JSON: a value of another type is returned as an empty one. Pure."""

from __future__ import annotations

import json
from typing import Any

MAX_DIGITS = 18
"""Longer numbers are not token counts, and are read as zero."""


class JsonRecord(dict[str, Any]):
    """A JSON object with typed access to its fields."""

    def text(self, key: str) -> str:
        """Return the string at a key, or an empty one."""
        return as_text(self.get(key))

    def count(self, key: str) -> int:
        """Return the whole number at a key, or zero."""
        return as_count(self.get(key))

    def counts(self, *keys: str) -> list[int]:
        """Return the whole numbers at the keys."""
        return [self.count(key) for key in keys]

    def record(self, key: str) -> JsonRecord:
        """Return the object at a key, or an empty one."""
        return as_record(self.get(key))

    def records(self, key: str) -> list[JsonRecord]:
        """Return the objects of the list at a key."""
        return as_records(self.get(key))


def as_record(value: object) -> JsonRecord:
    """Return the value if it is a JSON object, or an empty one."""
    return JsonRecord(value) if isinstance(value, dict) else JsonRecord()


def as_list(value: object) -> list[Any]:
    """Return the value if it is a JSON list, or an empty one."""
    return value if isinstance(value, list) else []


def as_records(value: object) -> list[JsonRecord]:
    """Return the objects of a JSON list."""
    return [JsonRecord(item) for item in as_list(value) if isinstance(item, dict)]


def as_text(value: object) -> str:
    """Return the value if it is a string, or an empty one."""
    return value if isinstance(value, str) else ""


def as_count(value: object) -> int:
    """Return the value as a whole number of at least zero; OTLP encodes numbers as strings."""
    if isinstance(value, str) and value.isdecimal() and len(value) <= MAX_DIGITS:
        return int(value)
    if isinstance(value, int | float) and 0 <= value < 10**MAX_DIGITS:
        return int(value)
    return 0


def kind_of(record: dict[str, Any]) -> str:
    """Return the field `type` of a record, message or block."""
    return as_text(record.get("type"))


def role_of(record: dict[str, Any]) -> str:
    """Return the field `role` of a message."""
    return as_text(record.get("role"))


def as_string_or_json(value: object) -> str:
    """Return a string unchanged, and any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def text_of(content: object) -> str:
    """Return the text of a message's content: a string, or the text blocks of a list."""
    if isinstance(content, list):
        texts = (part if isinstance(part, str) else as_record(part).get("text") for part in content)
        return "\n".join(text for text in texts if isinstance(text, str) and text)
    return as_text(content)
