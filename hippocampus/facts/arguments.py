"""The arguments that a model sends with a call, held to what the tool takes. Nothing is run here."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

Properties = Mapping[str, Mapping[str, Any]]
"""The properties of a JSON Schema: of type string, integer, number or object."""


class BadArguments(Exception):  # noqa: N818
    """The arguments of a call do not fit; `problems` has a sentence for each."""

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__(*problems)


def checked(
    arguments: Mapping[str, Any] | str, properties: Properties, required: tuple[str, ...]
) -> dict[str, Any]:
    """Return the arguments as their types have them; null counts as left out.

    Raises:
        BadArguments: something is missing, unknown, of another type or out of bounds.

    """
    given = {name: value for name, value in _object(arguments).items() if value is not None}
    problems = [f"{name!r} is missing" for name in required if name not in given]
    problems += [
        f"{name!r} is empty" for name in required if not _says_something(properties, given, name)
    ]
    found: dict[str, Any] = {}
    for name, value in given.items():
        try:
            found[name] = _fitting(properties, name, value)
        except BadArguments as wrong:
            problems += wrong.problems
    if problems:
        raise BadArguments(*problems)
    return found


def _object(arguments: Mapping[str, Any] | str) -> Mapping[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError) as wrong:
            raise BadArguments(f"the arguments are no JSON: {wrong}") from None
    if not isinstance(arguments, Mapping):
        raise BadArguments("the arguments are no JSON object")
    return arguments


def _says_something(properties: Properties, given: Mapping[str, Any], name: str) -> bool:
    """Say whether a text has more than blanks, where its property wants that (`minLength`)."""
    value = given.get(name)
    wanted = properties[name].get("minLength", 0)
    return not (wanted and isinstance(value, str) and not value.strip())


def _fitting(properties: Properties, name: str, value: Any) -> Any:
    """Return a value as its property wants it: models write numbers as text, and 10 as 10.0."""
    wanted = properties.get(name)
    if wanted is None:
        raise BadArguments(f"{name!r} is unknown; there are {', '.join(properties)}")
    kind = wanted["type"]
    if kind in {"integer", "number"}:
        return _number(name, value, wanted)
    if not isinstance(value, str if kind == "string" else Mapping):
        raise BadArguments(f"{name!r} has to be a JSON {kind}")
    return value


def _number(name: str, value: Any, wanted: Mapping[str, Any]) -> float:
    whole = wanted["type"] == "integer"
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if math.isnan(number) or (whole and not number.is_integer()):
        raise BadArguments(f"{name!r} has to be a {'whole ' if whole else ''}number")
    low, high = wanted["minimum"], wanted["maximum"]
    if not low <= number <= high:
        raise BadArguments(f"{name!r} has to be between {low} and {high}")
    return int(number) if whole else number
