"""Schemas: OpenAPI documents and JSON Schemas, as their operations, definitions and what is required.

Pure. A star behind a name says that it is required.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from hippocampus.indexing.draft import Draft, Line
from hippocampus.indexing.records import cell, packed

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
DEFINITIONS = ("$defs", "definitions", "schemas")
MOST_DEFINITIONS = 3_000
MOST_DEPTH = 8
MOST_CHOICES = 8
OVERVIEW_WEIGHT = 4.0


def read(value: Any) -> Draft | None:
    """Return the draft of a schema, or nothing where a value is none."""
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("paths"), dict) and ("openapi" in value or "swagger" in value):
        return _openapi(value)
    described = "$schema" in value or any(isinstance(value.get(key), dict) for key in DEFINITIONS)
    if isinstance(value.get("properties"), dict) and (described or value.get("type") == "object"):
        return _json_schema(value)
    return None


def _openapi(document: dict[str, Any]) -> Draft:
    info = _dict(document.get("info"))
    operations = list(_operations(_dict(document["paths"])))
    definitions = _definitions(document)
    lines = [
        Line(text, OVERVIEW_WEIGHT, count=0)
        for text in (_head(document, info), _methods(operations), *_places(document["paths"]))
        if text
    ]
    lines += _names(definitions)
    lines += [Line(text, 1.2) for text in _told(operations)]
    lines += _definition_lines(definitions)
    title = cell(info.get("title", "without title"))
    summary = (
        f"OpenAPI {cell(document.get('openapi') or document.get('swagger'))}, {title}, "
        f"{len(operations):,} operations on {len(document['paths']):,} paths, "
        f"{len(definitions):,} schemas"
    )
    ways = ('path="$.paths"', 'pattern="<path or schema>"')
    return Draft("schema", summary, tuple(lines), {"title": title}, ways, "operations and schemas")


def _head(document: dict[str, Any], info: dict[str, Any]) -> str:
    servers = [each.get("url") for each in _list(document.get("servers")) if isinstance(each, dict)]
    told = {
        "version": info.get("version"),
        "servers": " ".join(map(str, servers[:3])),
        "security": " ".join(_dict(_dict(document.get("components")).get("securitySchemes"))),
    }
    return ", ".join(f"{name}={cell(each)}" for name, each in told.items() if each)


def _methods(operations: list[tuple[str, str, dict[str, Any]]]) -> str:
    counts = Counter(method for _, method, _ in operations)
    return ", ".join(f"{method.upper()} {count}" for method, count in counts.most_common())


def _places(paths: dict[str, Any]) -> Iterator[str]:
    """Yield the first steps of the paths with how many there are below each."""
    counts = Counter("/".join(str(path).split("/")[:2]) for path in paths)
    told = [f"{place} {count}" if count > 1 else place for place, count in counts.most_common()]
    yield from packed(told, "paths: ")


def _operations(paths: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in paths.items():
        for method in METHODS:
            operation = _dict(item).get(method)
            if isinstance(operation, dict):
                shared = _list(_dict(item).get("parameters"))
                yield str(path), method, {**operation, "_shared": shared}


def _told(operations: list[tuple[str, str, dict[str, Any]]]) -> Iterator[str]:
    """Yield a line for each operation; those of one path that say the same share it."""
    lines: dict[tuple[str, str], list[str]] = {}
    for path, method, operation in operations:
        lines.setdefault((path, _operation(operation)), []).append(method.upper())
    return (f"{' '.join(methods)} {path}{told}" for (path, told), methods in lines.items())


def _operation(operation: dict[str, Any]) -> str:
    parameters = [*_list(operation["_shared"]), *_list(operation.get("parameters"))]
    told = [_parameter(_dict(each)) for each in parameters]
    body = _dict(operation.get("requestBody"))
    if body:
        told.append(f"body{'*' if body.get('required') else ''} {_body(body)}")
    return f" {', '.join(told)}" if told else ""


def _parameter(parameter: dict[str, Any]) -> str:
    name = parameter.get("name") or _last(parameter.get("$ref", "?"))
    return f"{name}{'*' if parameter.get('required') else ''}"


def _body(body: dict[str, Any]) -> str:
    for media, content in _dict(body.get("content")).items():
        schema = _dict(_dict(content).get("schema"))
        if "properties" in schema:
            return "{" + ", ".join(_members(schema)) + "}"
        return f"{_type(schema)} as {media}"
    return _last(body.get("$ref", "any"))


def _json_schema(schema: dict[str, Any]) -> Draft:
    definitions = _definitions(schema)
    properties = _dict(schema["properties"])
    required = _list(schema.get("required"))
    lines = [Line(f"required: {', '.join(map(str, required))}", OVERVIEW_WEIGHT, count=0)]
    lines = lines if required else []
    lines += [Line(text, OVERVIEW_WEIGHT, count=0) for text in packed(list(properties), "top: ")]
    lines += _names(definitions)
    lines += _property_lines("", schema, 0)
    lines += _definition_lines(definitions)
    title = cell(schema.get("title") or schema.get("$id") or "without title")
    summary = f"JSON Schema, {title}, {len(properties)} properties, {len(definitions)} definitions"
    ways = ('path="$.properties.<name>"', 'pattern="<name>"')
    return Draft("schema", summary, tuple(lines), {"title": title}, ways, "properties")


def _property_lines(path: str, schema: dict[str, Any], depth: int) -> list[Line]:
    """Return a line for each object of the schema, with its members and what is required."""
    lines = [
        Line(text, 1.5 / (1 + depth))
        for text in packed(list(_members(schema)), f"{path or 'root'}: ")
    ]
    if depth < MOST_DEPTH:
        for name, inner in _dict(schema.get("properties")).items():
            below = _dict(inner).get("items") if "items" in _dict(inner) else inner
            if _dict(_dict(below).get("properties")):
                lines += _property_lines(
                    f"{path}.{name}" if path else name, _dict(below), depth + 1
                )
    return lines


def _members(schema: dict[str, Any]) -> Iterator[str]:
    required = set(map(str, _list(schema.get("required"))))
    for name, inner in _dict(schema.get("properties")).items():
        star = "*" if name in required else ""
        yield f"{name}{star} {_type(_dict(inner))}".rstrip()


def _type(schema: dict[str, Any]) -> str:
    """Return a type in a word or two: what it is, its choices, its default and bounds."""
    if "$ref" in schema:
        return _last(schema["$ref"])
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return "|".join(_type(_dict(each)) for each in _list(schema[key])[:4])
    kind = schema.get("type", "")
    told = "|".join(map(str, kind)) if isinstance(kind, list) else str(kind)
    if told == "array":
        told = f"[{_type(_dict(schema.get('items')))}]"
    if choices := _list(schema.get("enum")):
        told += "(" + "|".join(cell(each) for each in choices[:MOST_CHOICES]) + ")"
    if schema.get("default") not in (None, "", [], {}):
        told += f"={cell(schema['default'])}"
    bounds = [schema.get(key) for key in ("minimum", "maximum")]
    if any(bound is not None for bound in bounds):
        told += f"[{'..'.join('' if bound is None else str(bound) for bound in bounds)}]"
    return told


def _definitions(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    places = (document, _dict(document.get("components")))
    found: dict[str, dict[str, Any]] = {}
    for place in places:
        for key in DEFINITIONS:
            found.update({name: _dict(each) for name, each in _dict(place.get(key)).items()})
    return found


def _names(definitions: dict[str, dict[str, Any]]) -> list[Line]:
    return [
        Line(text, 0.8, count=0)
        for text in packed(list(definitions)[:MOST_DEFINITIONS], "schemas: ")
    ]


def _definition_lines(definitions: dict[str, dict[str, Any]]) -> list[Line]:
    lines: list[Line] = []
    for name, schema in list(definitions.items())[:MOST_DEFINITIONS]:
        members = list(_members(schema)) or [_type(schema) or "any"]
        lines += [Line(text, 0.7) for text in packed(members, f"{name}: ")]
    return lines


def _last(reference: object) -> str:
    return str(reference).rpartition("/")[2]


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
