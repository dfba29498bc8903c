"""A tool's arguments, defined once as a model: their JSON Schema, and a typed function. Pure."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model


def properties(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schemas of a model's fields, without what no model needs to read."""
    return {
        name: {key: value for key, value in schema.items() if key not in {"title", "default"}}
        for name, schema in model.model_json_schema()["properties"].items()
    }


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments."""
    required = [name for name, field in model.model_fields.items() if field.is_required()]
    return {"type": "object", "properties": properties(model), "required": required}


def problem_of(error: ValidationError) -> str:
    """Return which arguments of a call are wrong, and what they may be, in a sentence for a model."""
    return "; ".join(
        f"{wrong['loc'][0] if wrong['loc'] else 'the arguments'}: {wrong['msg'].lower()}"
        + ("" if wrong["type"] == "missing" else f", found {wrong['input']!r:.60}")
        for wrong in error.errors()
        if wrong["type"] != "none_required"  # the other half of `str | None`
    )


def unknown_arguments(given: Iterable[str], known: Collection[str]) -> str:
    """Return the names of arguments that a tool does not have, and those that it has; empty without any."""
    names = [str(name) for name in given if name not in known]
    return f"unknown arguments: {', '.join(names)}; known: {', '.join(known)}" if names else ""


def arguments_of(function: Callable[..., Any], *, leaving: int = 0) -> type[BaseModel]:
    """Return the model of a function's parameters without the first ones; unknown names are refused."""
    parameters = [*inspect.signature(function, eval_str=True).parameters.values()][leaving:]
    fields: dict[str, Any] = {
        field.name: (field.annotation, ... if field.default is field.empty else field.default)
        for field in parameters
    }
    return create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)


def as_function(
    model: type[BaseModel],
    answer: Callable[[Mapping[str, Any]], str],
    name: str,
    description: str,
) -> Any:
    """Return a tool as a function, for frameworks that read a signature and a docstring.

    `answer` takes the arguments that a model wrote; what it left out is not among them.
    """

    def function(**arguments: Any) -> str:
        return answer({key: value for key, value in arguments.items() if value is not None})

    parameters = [
        inspect.Parameter(
            key,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.is_required() else field.default,
            annotation=Annotated.__class_getitem__(  # type: ignore[attr-defined]
                (field.annotation, *field.metadata, Field(description=field.description))
            ),
        )
        for key, field in model.model_fields.items()
    ]
    hints = {parameter.name: parameter.annotation for parameter in parameters}
    function.__name__ = function.__qualname__ = name
    function.__doc__ = description
    function.__annotations__ = {**hints, "return": str}
    function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        parameters, return_annotation=str
    )
    return function
