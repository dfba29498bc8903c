"""Tools on JSON: an installed OpenAPI document, package metadata, and published model prices."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import json
from collections.abc import Iterable
from typing import Any

from recorder.tools import ToolError
from recorder.workspace import Workspace

API = "site-packages/jupyter_server/services/api/api.yaml"
OWN: tuple[str, ...] = (
    "diskcache",
    "genai-prices",
    "numpy",
    "pydantic",
    "pytest",
    "pyyaml",
    "rich",
    "tiktoken",
)
OWN += ("typer", "zstandard", "regex", "pydantic-core", "pygments", "markdown-it-py", "click")
FIELDS = ("Name", "Version", "Summary", "License", "License-Expression", "Requires-Python")
LISTS = ("Classifier", "Requires-Dist", "Project-URL", "License-File")


def json_keys(workspace: Workspace, pointer: str = "") -> str:
    """List what stands below a JSON pointer of the API document: keys, kinds and sizes."""
    value = _at(_document(workspace), pointer)
    rows = value.items() if isinstance(value, dict) else enumerate(value)
    return json.dumps({str(key): _kind(inner) for key, inner in rows}, indent=1)


def json_get(workspace: Workspace, pointer: str) -> str:
    """Return the value at a JSON pointer of the API document."""
    return json.dumps(_at(_document(workspace), pointer), indent=2, ensure_ascii=False)


def _document(workspace: Workspace) -> Any:
    import yaml

    return yaml.safe_load(workspace.existing(API).read_text("utf-8"))


def _at(value: Any, pointer: str) -> Any:
    for key in pointer.strip("#").split("/")[1:]:
        name = key.replace("~1", "/").replace("~0", "~")
        try:
            value = value[int(name)] if isinstance(value, list) else value[name]
        except (KeyError, IndexError, ValueError, TypeError) as error:
            message = f"{pointer}: nothing at {name!r}; there are {', '.join(map(str, value))}"
            raise ToolError(message) from error
    return value


def _kind(value: Any) -> str:
    if isinstance(value, dict | list):
        return f"{type(value).__name__} of {len(value)}"
    return type(value).__name__


def list_packages(workspace: Workspace) -> str:
    """List this project's installed packages with their directories."""
    rows = [_package(importlib.metadata.distribution(name)) for name in sorted(OWN)]
    return workspace.hide(json.dumps(rows, indent=1))


def _package(package: importlib.metadata.Distribution) -> dict[str, Any]:
    files = package.files or ()
    tops = {file.parts[0] for file in files if file.parts[0] != ".."}
    name = package.metadata["Name"]
    return {"name": name, "version": package.version, "files": len(files), "top": sorted(tops)}


def package_metadata(name: str) -> str:
    """Return a package's core metadata as JSON, without its long description."""
    metadata = _distribution(name).metadata
    single = {field: metadata.json.get(_key(field)) for field in FIELDS}
    return json.dumps({**single, **{field: metadata.get_all(field) for field in LISTS}}, indent=1)


def _key(field: str) -> str:
    """Return the key of a field in the metadata's JSON form (PEP 566)."""
    return field.lower().replace("-", "_")


def package_files(name: str) -> str:
    """Return the package's RECORD: each file with its hash and size."""
    files = _distribution(name).files or ()
    kinds = {".py", ".pyi", ".txt", ".md", ".typed", ""}
    seen = (file for file in files if file.suffix in kinds and file.parts[0] != "..")
    return "\n".join(f"{file},{file.hash and file.hash.value},{file.size}" for file in seen)


def _distribution(name: str) -> importlib.metadata.Distribution:
    try:
        return importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError as error:
        message = f"no package of the name {name} is installed"
        raise ToolError(message) from error


def price_providers() -> str:
    """List the providers whose prices are known, with the number of their models."""
    rows = [{"id": one.id, "name": one.name, "models": len(one.models)} for one in _providers()]
    return json.dumps(rows, ensure_ascii=False)


def price_models(provider: str) -> str:
    """List a provider's models with context window and prices per million tokens."""
    return json.dumps([_model(one) for one in _provider(provider).models], ensure_ascii=False)


def price_model(provider: str, model: str) -> str:
    """Return all that is known of one model."""
    for one in _provider(provider).models:
        if one.id == model:
            return json.dumps(dataclasses.asdict(one), indent=1, default=str, ensure_ascii=False)
    message = f"{provider} has no model {model}"
    raise ToolError(message)


def _providers() -> Iterable[Any]:
    from genai_prices.data import providers

    return providers


def _provider(wanted: str) -> Any:
    for one in _providers():
        if one.id == wanted:
            return one
    message = f"no provider {wanted}"
    raise ToolError(message)


def _model(model: Any) -> dict[str, Any]:
    prices = model.prices[-1].prices if isinstance(model.prices, list) else model.prices
    known = {name: str(value) for name, value in vars(prices).items() if value is not None}
    row = {"id": model.id, "name": model.name, "context_window": model.context_window}
    return {**row, "prices": known}
