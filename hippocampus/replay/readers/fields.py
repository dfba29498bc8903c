"""Fields of other people's JSON, read without trusting that they have the type they should.

Nothing here knows a format.
"""

from __future__ import annotations

import json
from typing import Any

Record = dict[str, Any]
MOST_DIGITS = 18
"""No count of tokens is longer; a number that is stands for nothing."""


def as_record(value: object) -> Record:
    """Return the value if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return the value if it is a JSON list, else an empty one."""
    return value if isinstance(value, list) else []


def as_records(value: object) -> list[Record]:
    """Return the objects of a JSON list."""
    return [item for item in as_list(value) if isinstance(item, dict)]


def as_text(value: object) -> str:
    """Return the value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def as_count(value: object) -> int:
    """Return the value as a whole number of at least zero; OTLP writes them as strings."""
    if isinstance(value, str) and value.isdecimal() and len(value) <= MOST_DIGITS:
        return int(value)
    if isinstance(value, int | float) and 0 <= value < 10**MOST_DIGITS:
        return int(value)
    return 0


def kind_of(record: Record) -> str:
    """Return the type that a record, message or block names."""
    return as_text(record.get("type"))


def role_of(record: Record) -> str:
    """Return the role that a message names."""
    return as_text(record.get("role"))


def compact(value: object) -> str:
    """Return a string as it is and everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def text_of(content: object) -> str:
    """Return the text of a message's content: a string, or the text blocks of a list."""
    if isinstance(content, list):
        texts = (each if isinstance(each, str) else as_record(each).get("text") for each in content)
        return "\n".join(text for text in texts if isinstance(text, str) and text)
    return as_text(content)
