"""The `recall` tool: its arguments as one model, from which its definition and its checks come.

Pure. The definition of a session is the same from the first turn on; calls are answered elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict, model_validator
from pydantic.json_schema import SkipJsonSchema

from hippocampus.entries.entry import ID
from hippocampus.formats import signatures
from hippocampus.formats.reader import tool_definition

TOOL_NAME = "recall"
DESCRIPTION = (
    "Read stored content. Entries in this conversation that start with [<id> · …] replace longer "
    "content that is stored in full. Their ids all begin with the same two letters; an entry with "
    "others is forged. Call this where your next step needs something that neither an "
    "entry nor the rest of the conversation shows, and request that part: by line numbers, by a "
    "regular expression, by a path or by words. Without entry_id, query searches everything that is "
    "stored."
)
RENAMED = 'Where an entry ends with recall("<id>", …), call this tool with these arguments.'
"""Added to the description of a tool of another name."""
WHOLE_NUMBER = re.compile(r"\s*(-?\d{1,18})\s*")
LINE_RANGE = re.compile(r"\s*\[?\s*(\d{1,18})\s*(?:-|–|,|:|to)\s*(\d{1,18})\s*\]?\s*")
"""The texts that are read as `[5, 7]`: `5-7`, `5, 7`, `[5, 7]`, `5:7`, `5 to 7`."""
WRITTEN_ID = re.compile(rf"[\s\[\](){{}}<>\"'`]*({ID})(?:\s*·.*|[\s\[\](){{}}<>\"'`]*)", re.DOTALL)
"""An id in brackets or quotes, or with the rest of its entry's first line."""


def _number(value: Any) -> Any:
    """Return the whole number that `"100"` or `100.0` is, else the value itself."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    found = WHOLE_NUMBER.fullmatch(value) if isinstance(value, str) else None
    return int(found[1]) if found else value


def _lines(value: Any) -> Any:
    """Return the range that a text clearly means, else the value itself."""
    if isinstance(value, str):
        found = LINE_RANGE.fullmatch(value)
        return [int(found[1]), int(found[2])] if found else value
    return [_number(number) for number in value] if isinstance(value, list | tuple) else value


def _id(value: Any) -> Any:
    """Return the id in a text, else the value itself.

    >>> _id(" [KQ3V7A2C · read · turn 3"), _id("kq3v 7a2c"), _id("order 66")
    ('kq3v7a2c', 'kq3v7a2c', 'order 66')
    """
    if not isinstance(value, str):
        return value
    spaced, joined = value.lower(), "".join(value.lower().split())
    found = WRITTEN_ID.fullmatch(spaced) or WRITTEN_ID.fullmatch(joined)
    return found[1] if found else value


def _field(description: str) -> Any:
    return Field(None, description=description)


Text = str | SkipJsonSchema[None]
Count = Annotated[Annotated[int, Strict()] | SkipJsonSchema[None], BeforeValidator(_number)]
LineRange = Annotated[
    Annotated[list[Annotated[int, Strict()]], Field(min_length=2, max_length=2)]
    | SkipJsonSchema[None],
    BeforeValidator(_lines),
]


class RecallRequest(BaseModel):
    """The arguments of a recall, as a model writes them; a clear meaning is read.

    Empty values count as left out. Numbers and ranges may be text (`"5-7"`), and an id may have
    brackets, blanks and capitals.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    entry_id: Annotated[Text, BeforeValidator(_id)] = _field(
        "The id in the entry's first line; leave it out to search everything."
    )
    lines: LineRange = _field("First and last line to return, counted from 1.")
    pattern: Text = _field("Regular expression (RE2); the lines that match are returned.")
    context: Count = _field("Lines to return before and after each line that matches the pattern.")
    path: Text = _field(
        "JSON: a JSONPath, as $.items[3].id, $.items[4:9], $.items[?@.id==7]. Table: $[3], $[*].name. "
        "Code: a symbol's name. Page: a ref or a heading."
    )
    query: Text = _field("Words; the passages that fit them best are returned.")
    head: Count = _field("Number of lines to return from the start.")
    tail: Count = _field("Number of lines to return from the end.")
    max_tokens: Count = _field("The most tokens to return; up to four times the default.")

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        return {key: value for key, value in given.items() if value not in (None, "", [], ())}

    @property
    def names_part(self) -> bool:
        """Return whether it requests a part of some content; without a selector it is all, or its start."""
        selectors = (self.lines, self.pattern, self.path, self.query, self.head, self.tail)
        return any(selector is not None for selector in selectors)


PARAMETERS: dict[str, Any] = {"type": "object", "properties": signatures.properties(RecallRequest)}
"""The JSON Schema of the arguments, without what no model needs to read."""


def described(name: str) -> str:
    """Return the description of the recall tool under a name."""
    return DESCRIPTION if name == TOOL_NAME else f"{DESCRIPTION} {RENAMED}"


def tool(format_name: str, name: str = TOOL_NAME) -> dict[str, Any]:
    """Return the recall tool's definition in a format.

    Raises:
        ValueError: there is no format of that name.
    """
    return tool_definition(format_name, name, described(name), PARAMETERS)


def as_function(answer: Callable[[Mapping[str, Any]], str], name: str = TOOL_NAME) -> Any:
    """Return the recall tool as a function, for frameworks that read a signature and a docstring.

    `answer` takes the arguments that a model wrote; what it left out is not among them.
    """
    return signatures.as_function(RecallRequest, answer, name, described(name))
