"""What one asks about an API's description: what there is, how to call it, what is required."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from tests.bench.compression.question import Question, beside, says

METHODS = ("get", "put", "post", "patch", "delete")


def openapi(text: str) -> list[Question]:
    """Twenty questions about an OpenAPI document."""
    document = json.loads(text)
    schemas, info = document["components"]["schemas"], document["info"]
    return [
        says("What is it called?", info["title"]),
        beside("Which version is it?", "version|v|info", info["version"]),
        says("Where is the server?", document["servers"][0]["url"]),
        says("In which header goes the key?", "X-Library-Key"),
        says("Whom do I write to?", info["contact"]["email"]),
        *_counts(document),
        *_tags(document),
        beside("What does an error always have?", "Error", "code", "message", "request_id"),
        says("Which codes has an error?", "invalid", "not_found", "rate_limited", "internal"),
        beside("What is the rate limit?", "600", "minute"),
        *(_required(document, share) for share in (0.0, 0.5, 0.99)),
        _typed(document),
        _component(schemas),
    ]


def _operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path, method, item[method])
        for path, item in document["paths"].items()
        for method in METHODS
        if method in item
    ]


def _counts(document: dict[str, Any]) -> list[Question]:
    operations = _operations(document)
    methods = Counter(method for _, method, _ in operations)
    schemas = len(document["components"]["schemas"])
    return [
        beside("How many paths?", "paths|path", len(document["paths"])),
        beside("How many operations?", "operations|operation|endpoints", len(operations)),
        beside("How many schemas?", "schemas|schema|models|components", schemas),
        beside("How many can be deleted?", "delete", methods["delete"]),
    ]


def _tags(document: dict[str, Any]) -> list[Question]:
    tags = [tag["name"] for tag in document["tags"]]
    by_tag = Counter(op["tags"][0] for _, _, op in _operations(document))
    name, most = by_tag.most_common(1)[0]
    return [
        beside("How many groups?", "tags|tag|groups|modules", len(tags)),
        says("Which groups are first, in the middle, last?", *tags[:: len(tags) // 2]),
        beside("Which group is the largest?", name, most),
    ]


def _required(document: dict[str, Any], share: float) -> Question:
    found = [
        (path, schema["required"])
        for path, method, op in _operations(document)
        if method == "post"
        and 2 <= len((schema := _schema(op)).get("required", [])) <= 4
        and all(len(name) > 2 for name in schema["required"])
    ]
    path, required = found[int(len(found) * share)]
    return beside(f"What does POST {path} require?", path, *required)


def _schema(operation: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = operation["requestBody"]["content"]["application/json"]["schema"]
    return schema


def _typed(document: dict[str, Any]) -> Question:
    found = [
        (path, name)
        for path, method, op in _operations(document)
        if method == "post"
        for name, kind in _schema(op).get("properties", {}).items()
        if kind.get("type") == "boolean"
    ]
    path, name = found[len(found) // 3]
    return Question(f"Which type has {name} of POST {path}?", (path,), ((name, "boolean|bool"),))


def _component(schemas: dict[str, Any]) -> Question:
    named = [name for name in schemas if len(schemas[name].get("required", [])) == 2]
    name = named[len(named) // 2]
    return beside(f"What does a new {name} need?", name, *schemas[name]["required"])
