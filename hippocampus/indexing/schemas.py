"""Schemas: OpenAPI documents and JSON Schemas, as their operations, definitions and required members.

Pure. A star behind a name marks it as required.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from hippocampus.indexing.extraction import EntryLine, Extraction
from hippocampus.indexing.lines import ranked
from hippocampus.indexing.records import cell, packed

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
DEFINITIONS = ("$defs", "definitions", "schemas")
MOST_DEFINITIONS = 3_000
MOST_DEPTH = 8
MOST_CHOICES = 8
MOST_COUNTED = 8
OVERVIEW_WEIGHT, PLACES_WEIGHT, DEFINITION_WEIGHT = 12.0, 20.0, 0.7
OPERATION_WEIGHT = 1.2
TELLING = re.compile(r"[(\[=]")
"""A member with choices, bounds or a default."""
USUAL_MEDIA = "application/json"
Operation = tuple[str, str, dict[str, Any]]
"""Path, method, and its object in the document."""
Operations = Sequence[Operation]


def read(value: Any) -> Extraction | None:
    """Return the extraction of a schema, or nothing where a value is none."""
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("paths"), dict) and ("openapi" in value or "swagger" in value):
        return _openapi(value)
    described = "$schema" in value or any(isinstance(value.get(key), dict) for key in DEFINITIONS)
    if isinstance(value.get("properties"), dict) and (described or value.get("type") == "object"):
        return _json_schema(value)
    return None


def _openapi(document: dict[str, Any]) -> Extraction:
    info = _dict(document.get("info"))
    operations = list(_operations(_dict(document["paths"])))
    definitions = _definitions(document)
    overview = (_head(document, info), *_answers(document, operations))
    lines = [EntryLine(text, OVERVIEW_WEIGHT, count=0) for text in overview if text]
    lines += _places(document["paths"])
    lines += _definition_lines(definitions, operations)
    lines += _render(operations)
    title = cell(info.get("title", "without title"))
    summary = (
        f"OpenAPI {cell(document.get('openapi') or document.get('swagger'))}, {title}, "
        f"{len(operations):,} operations on {len(document['paths']):,} paths, "
        f"{len(definitions):,} schemas"
    )
    selectors = ('path="$.paths"', 'pattern="<path or schema>"')
    return Extraction(
        "schema", summary, tuple(lines), {"title": title}, selectors, "operations and schemas"
    )


def _head(document: dict[str, Any], info: dict[str, Any]) -> str:
    servers = [each.get("url") for each in _list(document.get("servers")) if isinstance(each, dict)]
    servers = servers or [document.get("host")]
    rendered = {
        "version": info.get("version"),
        "servers": " ".join(str(each) for each in servers[:3] if each),
        "security": ", ".join(_security(document)),
        "contact": " ".join(map(str, _dict(info.get("contact")).values())),
        "license": _dict(info.get("license")).get("name"),
        "tags": len(_list(document.get("tags"))),
    }
    return ", ".join(f"{name}={cell(each)}" for name, each in rendered.items() if each)


def _security(document: dict[str, Any]) -> Iterator[str]:
    """Yield the selectors to sign in, with where the secret goes."""
    schemes = _dict(document.get("components")).get("securitySchemes")
    for name, scheme in _dict(schemes or document.get("securityDefinitions")).items():
        rendered = (_dict(scheme).get(key) for key in ("type", "scheme", "in", "name"))
        yield f"{name} ({' '.join(str(each) for each in rendered if each)})"


def _answers(document: dict[str, Any], operations: Operations) -> Iterator[str]:
    """Yield methods, parameters, responses and media types with how many operations have them."""
    yield _counted("methods", (method.upper() for _, method, _ in operations))
    yield _counted("parameters", _parameters(operations))
    yield _counted("responses", (code for *_, each in operations for code in _responses(each)))
    for name, response in _dict(_dict(document.get("components")).get("responses")).items():
        rendered = cell(_dict(response).get("description", ""))
        yield f"response {name}: {rendered} {' '.join(sorted(_coded(name, operations)))}".rstrip()
    yield _counted("request bodies", (media for *_, each in operations for media in _media(each)))
    old = [
        f"{method.upper()} {path}" for path, method, each in operations if each.get("deprecated")
    ]
    if old:
        yield f"deprecated ({len(old)}): {', '.join(old[:MOST_CHOICES])}"


def _counted(label: str, values: Iterable[str]) -> str:
    counts = Counter(values).most_common()
    rendered = [f"{value} {count}" for value, count in counts[:MOST_COUNTED]]
    rendered += [f"{len(counts) - MOST_COUNTED} others"] if len(counts) > MOST_COUNTED else []
    return f"{label}: {', '.join(rendered)}" if rendered else ""


def _parameters(operations: Operations) -> Iterator[str]:
    for _, _, operation in operations:
        for each in (*_list(operation["_shared"]), *_list(operation.get("parameters"))):
            parameter = _dict(each)
            schema = _dict(parameter.get("schema")) or parameter
            yield f"{_parameter(parameter)} {parameter.get('in', '')} {_type(schema)}".rstrip()


def _responses(operation: dict[str, Any]) -> Iterator[str]:
    yield from map(str, _dict(operation.get("responses")))


def _coded(name: str, operations: Operations) -> set[str]:
    """Return the status codes under which operations refer to a shared response."""
    return {
        str(code)
        for *_, operation in operations
        for code, response in _dict(operation.get("responses")).items()
        if _last(_dict(response).get("$ref", "")) == name
    }


def _media(operation: dict[str, Any]) -> Iterator[str]:
    yield from map(str, _dict(_dict(operation.get("requestBody")).get("content")))


def _places(paths: dict[str, Any]) -> list[EntryLine]:
    """Return the first steps of the paths with how many there are below each."""
    counts = Counter("/".join(str(path).split("/")[:2]) for path in paths)
    rendered = [f"{place} {count}" if count > 1 else place for place, count in counts.most_common()]
    lines = [EntryLine(text, PLACES_WEIGHT, count=0) for text in packed(rendered, "paths: ")]
    return list(ranked(lines))


def _operations(paths: dict[str, Any]) -> Iterator[Operation]:
    for path, item in paths.items():
        for method in METHODS:
            operation = _dict(item).get(method)
            if isinstance(operation, dict):
                shared = _list(_dict(item).get("parameters"))
                yield str(path), method, {**operation, "_shared": shared}


def _render(operations: Operations) -> Iterator[EntryLine]:
    """Yield a line for each operation; those of one path, and those that take nothing, share it."""
    found: dict[tuple[str, str], list[str]] = {}
    for path, method, operation in operations:
        found.setdefault((path, _operation(operation, path)), []).append(method.upper())
    bare: dict[str, list[str]] = {}
    for (path, rendered), methods in found.items():
        if rendered:
            yield EntryLine(
                f"{' '.join(methods)} {path}{rendered}", OPERATION_WEIGHT, count=len(methods)
            )
        else:
            bare.setdefault(" ".join(methods), []).append(path)
    for taken, paths in bare.items():
        for text in packed(paths, f"{taken} "):
            yield EntryLine(
                text, OPERATION_WEIGHT, count=(text.count(", ") + 1) * len(taken.split())
            )


def _operation(operation: dict[str, Any], path: str) -> str:
    """Return what an operation takes; a parameter that its path names is left out."""
    parameters = [*_list(operation["_shared"]), *_list(operation.get("parameters"))]
    rendered = [_parameter(_dict(each)) for each in parameters]
    rendered = [each for each in rendered if f"{{{each.rstrip('*')}}}" not in path]
    body = _dict(operation.get("requestBody"))
    if body and (taken := _body(body)):
        rendered.append(f"body{'*' if body.get('required') else ''} {taken}")
    return f" {', '.join(rendered)}" if rendered else ""


def _parameter(parameter: dict[str, Any]) -> str:
    name = parameter.get("name") or _last(parameter.get("$ref", "?"))
    return f"{name}{'*' if parameter.get('required') else ''}"


def _body(body: dict[str, Any]) -> str:
    for media, content in _dict(body.get("content")).items():
        schema = _dict(_dict(content).get("schema"))
        if "properties" in schema:
            return "{" + ", ".join(_members(schema)) + "}" if schema["properties"] else ""
        return _type(schema) if media == USUAL_MEDIA else f"{_type(schema)} as {media}"
    return _last(body.get("$ref", "any"))


def _json_schema(schema: dict[str, Any]) -> Extraction:
    definitions = _definitions(schema)
    properties = _dict(schema["properties"])
    required = _list(schema.get("required"))
    lines = [EntryLine(f"required: {', '.join(map(str, required))}", OVERVIEW_WEIGHT, count=0)]
    lines = lines if required else []
    lines += [
        EntryLine(text, OVERVIEW_WEIGHT, count=0) for text in packed(list(properties), "top: ")
    ]
    lines += _property_lines("", schema, 0)
    lines += _definition_lines(definitions)
    title = cell(schema.get("title") or schema.get("$id") or "without title")
    summary = f"JSON Schema, {title}, {len(properties)} properties, {len(definitions)} definitions"
    selectors = ('path="$.properties.<name>"', 'pattern="<name>"')
    return Extraction("schema", summary, tuple(lines), {"title": title}, selectors, "properties")


def _property_lines(path: str, schema: dict[str, Any], depth: int) -> list[EntryLine]:
    """Return a line for each object of the schema, with its members, the required ones marked."""
    lines = [
        EntryLine(text, 1.5 / (1 + depth))
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
    rendered = "|".join(map(str, kind)) if isinstance(kind, list) else str(kind)
    rendered = str(schema["format"]) if rendered == "string" and "format" in schema else rendered
    if rendered == "array":
        rendered = f"[{_type(_dict(schema.get('items')))}]"
    if choices := _list(schema.get("enum")):
        rendered += "(" + "|".join(cell(each) for each in choices[:MOST_CHOICES]) + ")"
    if schema.get("default") not in (None, "", [], {}):
        rendered += f"={cell(schema['default'])}"
    bounds = [schema.get(key) for key in ("minimum", "maximum")]
    if any(bound is not None for bound in bounds):
        rendered += f"[{'..'.join('' if bound is None else str(bound) for bound in bounds)}]"
    return rendered


def _definitions(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    places = (document, _dict(document.get("components")))
    found: dict[str, dict[str, Any]] = {}
    for place in places:
        for key in DEFINITIONS:
            found.update({name: _dict(each) for name, each in _dict(place.get(key)).items()})
    return found


def _definition_lines(
    definitions: dict[str, dict[str, Any]], operations: Operations = ()
) -> list[EntryLine]:
    """Return the members of each definition; those with choices or bounds come first."""
    paths = {path for path, *_ in operations}
    lines: list[EntryLine] = []
    for name, schema in list(definitions.items())[:MOST_DEFINITIONS]:
        members = list(_members(schema)) or [_type(schema) or "any"]
        telling = sum(1 for each in members if TELLING.search(each))
        apart = bool(operations) and f"/{name.replace('.', '/')}" not in paths
        weight = DEFINITION_WEIGHT * (1 + telling) * (2.0 if apart else 1.0)
        lines += [EntryLine(text, weight) for text in packed(members, f"{name}: ")]
    return lines


def _last(reference: object) -> str:
    return str(reference).rpartition("/")[2]


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
