"""Describes problems of a policy's data: the expected value, the value found, and similar names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from hippocampus.errors import nearest
from hippocampus.policy.fields import Policy
from hippocampus.policy.tree import Problem, Tree, YamlPath

EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_type": "text",
    "dict_type": "a mapping",
    "tuple_type": "a list",
    "model_type": "a mapping of fields",
    "model_attributes_type": "a mapping of fields",
    "string_too_short": "text that is not empty",
    "invalid_key": "text as a key",
}
"""The expected value, by the type of pydantic's error."""
QUOTABLE = ("string_type", "invalid_key")
BOUNDS = {"greater_than_equal": ("at least", "ge"), "less_than_equal": ("at most", "le")}
QUOTED = re.compile(r"'([^']*)'")
MAX_FOUND_CHARACTERS = 60


def problems_of(tree: Tree, failure: ValidationError) -> Iterator[Problem]:
    """Yield the problems of a failed validation, with their positions in the text."""
    for error in failure.errors(include_url=False):
        path = tuple(key for key in error["loc"] if key != "[key]")
        yield tree.problem(_sentence(error, path), path)


def _sentence(error: Any, path: YamlPath) -> str:
    kind, found = error["type"], error["input"]
    if kind == "extra_forbidden":
        fields = fields_at(path[:-1])
        near = nearest(str(path[-1]), fields)
        hint = f"did you mean {', '.join(near)}?" if near else f"known: {', '.join(fields)}"
        return f"unknown field {str(path[-1])!r}; {hint}"
    if kind == "missing":
        return f"field {path[-1]!r} is missing"
    if kind == "literal_error":
        words = QUOTED.findall(error["ctx"]["expected"])
        near = nearest(found, words) if isinstance(found, str) else ()
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        return f"expected one of {', '.join(words)}; found {_described(found)}{hint}"
    if kind in BOUNDS:
        word, bound = BOUNDS[kind]
        return f"expected {word} {error['ctx'][bound]}, found {_described(found)}"
    if kind in EXPECTED:
        is_scalar = isinstance(found, bool | int | float)
        quotes = "; put it in quotes" if kind in QUOTABLE and is_scalar else ""
        return f"expected {EXPECTED[kind]}, found {_described(found)}{quotes}"
    return str(error["msg"]).removeprefix("Value error, ")


def fields_at(path: YamlPath) -> tuple[str, ...]:
    """Return the names of the fields that a policy allows at a path."""
    model: type[BaseModel] = Policy
    for key in path:
        if isinstance(key, str):
            fields = model.model_fields.items()
            field = next(field for name, field in fields if key == (field.alias or name))
            model = next(_models(field.annotation), model)
    return tuple(field.alias or name for name, field in model.model_fields.items())


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def _described(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, bool):
        return str(value).lower()
    quoted = repr(value)
    if len(str(value)) > MAX_FOUND_CHARACTERS:
        quoted = f"{str(value)[:MAX_FOUND_CHARACTERS]!r}…"
    return f"text {quoted}" if isinstance(value, str) else f"the number {quoted}"
