"""The arguments of a tool, defined once as a model: its JSON Schema, and a function with its signature.

Pure. What a call does is not known here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model


def properties(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schemas of a model's fields, without what no model needs to read."""
    return {
        name: {key: value for key, value in each.items() if key not in {"title", "default"}}
        for name, each in model.model_json_schema()["properties"].items()
    }


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments."""
    required = [name for name, each in model.model_fields.items() if each.is_required()]
    return {"type": "object", "properties": properties(model), "required": required}


def problem_of(error: ValidationError) -> str:
    """Return which arguments of a call are wrong, and what each may be, in a sentence for a model."""
    return "; ".join(
        f"{each['loc'][0] if each['loc'] else 'the arguments'}: {each['msg'].lower()}"
        + ("" if each["type"] == "missing" else f", found {each['input']!r:.60}")
        for each in error.errors()
        if each["type"] != "none_required"  # the other half of `str | None`
    )


def unknown_arguments(given: Iterable[str], known: Collection[str]) -> str:
    """Return which names of arguments a tool does not have, and those that it has; empty where it has all."""
    names = [str(name) for name in given if name not in known]
    return f"unknown arguments: {', '.join(names)}; known: {', '.join(known)}" if names else ""


def arguments_of(function: Callable[..., Any], *, leaving: int = 0) -> type[BaseModel]:
    """Return the model of a function's parameters without the first ones; unknown names are refused."""
    parameters = [*inspect.signature(function, eval_str=True).parameters.values()][leaving:]
    fields: dict[str, Any] = {
        each.name: (each.annotation, ... if each.default is each.empty else each.default)
        for each in parameters
    }
    return create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)


def as_function(
    model: type[BaseModel],
    answer: Callable[[Mapping[str, Any]], str],
    name: str,
    description: str,
    **more: Any,
) -> Any:
    """Return a tool as a function, for frameworks that read a signature and a docstring.

    `answer` takes the arguments that a model wrote; what it left out is not among them. `more` adds
    arguments of a type each, empty if left out.
    """

    def function(**arguments: Any) -> str:
        return answer({key: value for key, value in arguments.items() if value is not None})

    fields = model.model_fields
    hints = {
        key: Annotated.__class_getitem__(  # type: ignore[attr-defined]
            (each.annotation, *each.metadata, Field(description=each.description))
        )
        for key, each in fields.items()
    }
    defaults = {
        key: inspect.Parameter.empty if each.is_required() else each.default
        for key, each in fields.items()
    }
    hints, defaults = hints | more, defaults | dict.fromkeys(more, "")
    function.__name__ = function.__qualname__ = name
    function.__doc__ = description
    function.__annotations__ = {**hints, "return": str}
    function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                key, inspect.Parameter.KEYWORD_ONLY, default=defaults[key], annotation=hint
            )
            for key, hint in hints.items()
        ],
        return_annotation=str,
    )
    return function
