"""What a tool is. The tools themselves are in the modules beside, their table in `toolbox.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


class ToolError(Exception):
    """What a tool tells the model when it cannot do what was asked."""


@dataclass(frozen=True)
class Picture:
    """An answer with an image."""

    caption: str
    png: bytes


@dataclass(frozen=True)
class Tool:
    """One row of the table: how the model sees the tool, and the function that it runs."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    run: Callable[..., str | Picture]

    def schema(self) -> dict[str, Any]:
        """Return the parameters as JSON Schema; those whose schema has no default are required."""
        required = [name for name, one in self.parameters.items() if "default" not in one]
        return {"type": "object", "properties": dict(self.parameters), "required": required}
