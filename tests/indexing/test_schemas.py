"""Schemas: what an API offers, what is required, and what values may be."""

from __future__ import annotations

from typing import Any

import pytest

from hippocampus.indexing import schemas

API: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Shop", "version": "2.0", "contact": {"email": "help@shop.example"}},
    "servers": [{"url": "https://api.shop.example"}],
    "paths": {
        "/orders": {
            "get": {
                "parameters": [
                    {"name": "limit", "in": "query", "schema": {"type": "integer", "default": 20}}
                ],
                "responses": {"200": {}, "429": {"$ref": "#/components/responses/Slow"}},
            },
            "post": {
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/Order"}}
                    },
                },
                "responses": {"201": {}},
            },
        },
        "/orders/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True}],
            "get": {"responses": {"200": {}}},
            "delete": {"deprecated": True, "responses": {"204": {}}},
        },
    },
    "components": {
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
        "responses": {"Slow": {"description": "Too many calls"}},
        "schemas": {
            "Order": {
                "type": "object",
                "required": ["id"],
                "properties": {
                    "id": {"type": "string", "format": "uuid"},
                    "state": {"type": "string", "enum": ["open", "paid"]},
                    "count": {"type": "integer", "minimum": 1, "maximum": 9},
                },
            }
        },
    },
}


HEAD = (
    "version=2.0, servers=https://api.shop.example, security=key (apiKey header X-Key),"
    " contact=help@shop.example"
)


def told(value: Any) -> list[str]:
    extraction = schemas.read(value)
    assert extraction is not None
    return [line.text for line in extraction.lines]


def test_an_api_reads_well() -> None:
    assert told(API) == [
        HEAD,
        "methods: GET 2, POST 1, DELETE 1",
        "parameters: id* path 2, limit query integer=20 1",
        "responses: 200 2, 429 1, 201 1, 204 1",
        "response Slow: Too many calls 429",
        "request bodies: application/json 1",
        "deprecated (1): DELETE /orders/{id}",
        "paths: /orders 2",
        "Order: id* uuid, state string(open|paid), count integer[1..9]",
        "GET /orders limit",
        "POST /orders body* Order",
        "GET DELETE /orders/{id}",
    ]


def test_the_summary_counts_operations_paths_and_schemas() -> None:
    extraction = schemas.read(API)
    assert extraction is not None
    assert extraction.summary == "OpenAPI 3.1.0, Shop, 4 operations on 2 paths, 1 schemas"


def test_a_json_schema_marks_what_is_required() -> None:
    lines = told(
        {
            "type": "object",
            "title": "Config",
            "required": ["port"],
            "properties": {
                "port": {"type": "integer", "default": 80},
                "log": {"type": "object", "properties": {"level": {"type": "string"}}},
            },
        }
    )
    assert lines == [
        "required: port",
        "top: port, log",
        "root: port* integer=80, log object",
        "log: level string",
    ]


@pytest.mark.parametrize("value", [[], {}, "x", {"paths": {}}, {"properties": {"a": 1}}, None])
def test_other_values_are_no_schema(value: Any) -> None:
    assert schemas.read(value) is None


@pytest.mark.parametrize(
    "broken",
    [
        {"openapi": "3", "paths": {"/a": {"get": {"parameters": [1, None], "responses": []}}}},
        {"swagger": "2", "paths": {"/a": None, "/b": {"post": {"requestBody": {"content": []}}}}},
        {"type": "object", "properties": {"a": [], "b": {"anyOf": 3}, "c": {"enum": "x"}}},
    ],
)
def test_a_broken_schema_is_read_as_far_as_it_goes(broken: Any) -> None:
    assert schemas.read(broken) is not None
