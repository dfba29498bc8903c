"""The tool by which a model asks for what was put away; the same from the first turn on."""

from __future__ import annotations

from typing import Any

TOOL_NAME = "recall"
DESCRIPTION = (
    "Get back content that was put away. Entries in this conversation that start with "
    "[<id> · …] stand for longer content that is kept in full; ask for the part you need by line "
    "numbers, by a regular expression, by a path or by words. Without entry_id, query searches "
    "everything that was put away."
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
        "head": {"type": "integer", "description": "Return so many lines from the start."},
        "tail": {"type": "integer", "description": "Return so many lines from the end."},
        "max_tokens": {"type": "integer", "description": "Bound on what is returned."},
    },
}


def tool(format_name: str) -> dict[str, Any]:
    """Return the recall tool's definition: `openai`, `responses` or `anthropic`.

    Raises:
        ValueError: another format.

    """
    named = {"name": TOOL_NAME, "description": DESCRIPTION}
    match format_name:
        case "openai":
            return {"type": "function", "function": {**named, "parameters": PARAMETERS}}
        case "responses":
            return {"type": "function", **named, "parameters": PARAMETERS}
        case "anthropic":
            return {**named, "input_schema": PARAMETERS}
    raise ValueError(
        f"no tool format {format_name!r}; there are 'openai', 'responses', 'anthropic'"
    )
