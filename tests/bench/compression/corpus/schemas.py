"""An OpenAPI document of about 285k tokens: the standard library's own signatures as a service."""

from __future__ import annotations

import importlib
import inspect
import json
import platform
import warnings
from collections.abc import Iterator
from typing import Any

from hippocampus.models import tokens
from tests.bench.compression.corpus import sources

TARGET_TOKENS = 285_000
SKIPPED = {"this", "antigravity", "crypt", "imp", "asyncore", "asynchat", "smtpd", "nis", "pty"}
TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}
STARRED = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
ERROR = {
    "type": "object",
    "required": ["code", "message", "request_id"],
    "properties": {
        "code": {"type": "string", "enum": ["invalid", "not_found", "rate_limited", "internal"]},
        "message": {"type": "string"},
        "request_id": {"type": "string", "format": "uuid"},
        "retry_after_seconds": {"type": "integer", "minimum": 1, "maximum": 3600},
    },
}
FAILURES = {
    "400": {"$ref": "#/components/responses/BadRequest"},
    "429": {"$ref": "#/components/responses/RateLimited"},
}


def openapi() -> str:
    """The document, indented by two as such files are."""
    document = _frame()
    schemas = document["components"]["schemas"]
    spent = 0
    for name in _module_names():
        paths, components = _module(name)
        spent += tokens.count(json.dumps([paths, components], indent=2))
        if spent > TARGET_TOKENS:
            break
        document["paths"].update(paths)
        schemas.update(components)
        document["tags"].append({"name": name})
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _frame() -> dict[str, Any]:
    failed = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Standard library service",
            "version": platform.python_version(),
            "description": "Every public function as an operation, every class as a resource.",
            "contact": {"email": "api-support@library.example"},
        },
        "servers": [{"url": "https://api.library.example/v1", "description": "production"}],
        "security": [{"apiKey": []}],
        "tags": [],
        "paths": {},
        "components": {
            "securitySchemes": {
                "apiKey": {"type": "apiKey", "in": "header", "name": "X-Library-Key"}
            },
            "responses": {
                "BadRequest": {"description": "Something is wrong", "content": failed},
                "RateLimited": {"description": "More than 600 calls a minute", "content": failed},
            },
            "schemas": {"Error": ERROR},
        },
    }


def _module_names() -> Iterator[str]:
    """The single-file modules, in the order of their names' hashes: big and small mixed."""
    names = [name[:-3] for name in sources.modules() if "/" not in name and name[0] != "_"]
    yield from sorted(set(names) - SKIPPED, key=lambda name: sources.digest("openapi", name))


def _module(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    paths: dict[str, Any] = {}
    components: dict[str, Any] = {}
    try:
        with warnings.catch_warnings(action="ignore"):
            module = importlib.import_module(name)
    except (ImportError, OSError):
        return paths, components
    for key, value in sorted(vars(module).items()):
        if key.startswith("_") or getattr(value, "__module__", None) != name:
            continue
        if inspect.isfunction(value):
            paths[f"/{name}/{key}"] = {"post": _operation(name, key, value)}
        elif inspect.isclass(value):
            components[f"{name}.{key}"] = _component(value)
            paths |= _resource(name, key)
    return paths, components


def _operation(module: str, name: str, function: Any) -> dict[str, Any]:
    body = {"application/json": {"schema": _signature(function)}}
    return {
        "tags": [module],
        "operationId": f"{module}_{name}",
        "summary": _documentation(function).split("\n")[0],
        "description": _documentation(function),
        "requestBody": {"required": True, "content": body},
        "responses": {"200": {"description": "The function's result"}, **FAILURES},
    }


def _resource(module: str, name: str) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{module}.{name}"}}}
    shown = {"200": {"description": f"One {name}", "content": content}}
    common = {"tags": [module]}
    given = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    one: dict[str, Any] = {
        "parameters": [given],
        "get": {**common, "operationId": f"{module}_{name}_get", "responses": shown},
        "delete": {
            **common,
            "operationId": f"{module}_{name}_delete",
            "responses": {"204": {"description": "Gone"}},
        },
    }
    create = {
        **common,
        "operationId": f"{module}_{name}_create",
        "requestBody": {"required": True, "content": content},
        "responses": {**shown, **FAILURES},
    }
    return {f"/{module}/{name}": {"post": create}, f"/{module}/{name}/{{id}}": one}


def _component(kind: type) -> dict[str, Any]:
    schema = _signature(kind.__init__)
    schema["description"] = _documentation(kind)
    methods = [key for key, value in vars(kind).items() if inspect.isfunction(value)]
    schema["x-methods"] = sorted(key for key in methods if not key.startswith("_"))
    return schema


def _signature(function: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return schema
    named = [p for p in parameters if p.name != "self" and p.kind not in STARRED]
    schema["properties"] = {p.name: _property(p.default) for p in named}
    required = [p.name for p in named if p.default is p.empty]
    return {**schema, "required": required} if required else schema


def _property(default: Any) -> dict[str, Any]:
    if default is inspect.Parameter.empty:
        return {}
    if default is None:
        return {"type": ["object", "null"], "default": None}
    for kind, name in TYPES.items():
        if type(default) is kind:
            return {"type": name, "default": default}
    return {"type": "array" if isinstance(default, (tuple, list)) else "object"}


def _documentation(thing: Any) -> str:
    return sources.scrubbed(inspect.getdoc(thing) or "").encode("ascii", "replace").decode()
