"""Records and tables: package metadata as an API answers it, module metrics as CSV, characters.

Ids, statuses and the one failed record are added; the rest is what is installed.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import unicodedata
import uuid
from datetime import UTC, datetime, timedelta
from importlib import metadata
from typing import Any

from hippocampus.models import tokens
from tests.bench.compression.corpus import sources

JSON_TOKENS = 12_000
START = datetime(2025, 3, 3, 8, 0, tzinfo=UTC)
COLUMNS = ("file", "package", "bytes", "lines", "functions", "classes", "imports", "longest_line")
TABLE_ROWS = 260
FAILED_AT = 11
QUEUED_AT = (4, 17)


def api_response() -> str:
    """One page of a list of packages, compact as servers send it."""
    records: list[dict[str, Any]] = []
    spent = 0
    for meta in _distributions():
        record = _record(meta, len(records))
        spent += tokens.count(json.dumps(record, separators=(",", ":")))
        if spent > JSON_TOKENS:
            break
        records.append(record)
    answer = {
        "object": "list",
        "request_id": "req_" + sources.digest("request", length=24),
        "data": records,
        "total": 1_284,
        "has_more": True,
        "next_cursor": "cur_" + sources.digest("cursor", len(records), length=32),
        "rate_limit": {"remaining": 4_871, "reset_at": "2025-03-03T09:00:00Z"},
    }
    return json.dumps(answer, separators=(",", ":"), ensure_ascii=False)


def _distributions() -> list[Any]:
    found = {dist.metadata["Name"].lower(): dist.metadata for dist in metadata.distributions()}
    return [found[name] for name in sorted(found) if not name.startswith("hippocampus")]


def _record(meta: Any, at: int) -> dict[str, Any]:
    name = meta["Name"]
    status = "failed" if at == FAILED_AT else "queued" if at in QUEUED_AT else "available"
    record = {
        "id": str(uuid.uuid5(uuid.NAMESPACE_DNS, name)),
        "object": "package",
        "name": name,
        "version": meta["Version"],
        "summary": meta["Summary"],
        "status": status,
        "license": (meta["License-Expression"] or meta["License"] or "")[:40].split("\n")[0],
        "requires_python": meta["Requires-Python"],
        "requires": (meta.get_all("Requires-Dist") or [])[:12],
        "classifiers": (meta.get_all("Classifier") or [])[:8],
        "created_at": (START - timedelta(hours=7 * at)).isoformat().replace("+00:00", "Z"),
        "size_bytes": int(sources.digest(name, length=5), 16),
        "url": f"https://packages.library.example/api/v2/packages/{name}",
        "error": None,
    }
    if status == "failed":
        message = f"sha256 of {name}-{meta['Version']}.tar.gz does not match the manifest"
        record["error"] = {"code": "checksum_mismatch", "message": message, "attempts": 3}
    return record


def csv_table() -> str:
    """Metrics of standard library modules, one row each."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_metrics(name) for name in sources.modules()[:TABLE_ROWS])
    return out.getvalue()


def _metrics(name: str) -> list[object]:
    text = sources.read(name)
    nodes = list(ast.walk(ast.parse(text)))
    kinds = (
        (ast.FunctionDef, ast.AsyncFunctionDef),
        (ast.ClassDef,),
        (ast.Import, ast.ImportFrom),
    )
    counts = [sum(isinstance(node, kind) for node in nodes) for kind in kinds]
    lines = text.splitlines()
    longest = max(map(len, lines), default="")
    package = name.split("/", maxsplit=1)[0] if "/" in name else "(top)"
    return [name, package, len(text.encode()), len(lines), *counts, longest]


def markdown_table() -> str:
    """Greek and Cyrillic letters as a Markdown table below a heading."""
    rows = [
        "# Letters",
        "",
        "| code point | letter | name | category | lower case |",
        "|---|---|---|---|---|",
    ]
    for point in (*range(0x370, 0x400), *range(0x400, 0x460)):
        letter = chr(point)
        if name := unicodedata.name(letter, ""):
            category = unicodedata.category(letter)
            lower = f"U+{ord(letter.lower()[0]):04X}"
            rows.append(f"| U+{point:04X} | {letter} | {name} | {category} | {lower} |")
    return (
        "\n".join(rows) + f"\n\nUnicode {unicodedata.unidata_version}, {len(rows) - 4} letters.\n"
    )
