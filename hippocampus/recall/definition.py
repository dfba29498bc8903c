"""The definition of the `recall` tool; the same from the first turn on."""

from __future__ import annotations

from typing import Any

from hippocampus.formats.writing import tool_definition

TOOL_NAME = "recall"
DESCRIPTION = (
    "Read stored content. Entries in this conversation that start with [<id> · …] replace longer "
    "content that is stored in full; request the part you need by line numbers, by a regular "
    "expression, by a path or by words. Without entry_id, query searches everything that is stored."
)
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "entry_id": {
            "type": "string",
            "description": "The id in the entry's first line; leave it out to search everything.",
        },
        "lines": {
            "type": "array",
            "items": {"type": "integer"},
            "minItems": 2,
            "maxItems": 2,
            "description": "First and last line to return, counted from 1.",
        },
        "pattern": {
            "type": "string",
            "description": "Regular expression (RE2); the lines that match are returned.",
        },
        "context": {
            "type": "integer",
            "description": "Lines to return before and after each line that matches the pattern.",
        },
        "path": {
            "type": "string",
            "description": "JSON: $.items[3].id, * for every one. Table: rows[3], columns.name. "
            "Code: a symbol's name. Page: a ref, a selector or a heading.",
        },
        "query": {
            "type": "string",
            "description": "Words; the passages that fit them best are returned.",
        },
        "head": {"type": "integer", "description": "Number of lines to return from the start."},
        "tail": {"type": "integer", "description": "Number of lines to return from the end."},
        "max_tokens": {"type": "integer", "description": "The most tokens to return."},
    },
}


def tool(format_name: str) -> dict[str, Any]:
    """Return the recall tool's definition in a format: `openai`, `responses` or `anthropic`.

    Raises:
        ValueError: there is no format of that name.

    """
    return tool_definition(format_name, TOOL_NAME, DESCRIPTION, PARAMETERS)
