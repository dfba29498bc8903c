"""A SQLite catalogue of functions in the standard library, and a tool that queries it.

Ids and hashes are derived from what they name, so that the same sources give the same database.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sqlite3
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recorder.tools import ToolError
from recorder.tools.files import files_below
from recorder.workspace import Workspace

SCHEMA = """
CREATE TABLE modules (
    id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, path TEXT NOT NULL,
    lines INTEGER NOT NULL, sha256 TEXT NOT NULL);
CREATE TABLE functions (
    id TEXT PRIMARY KEY, module_id TEXT NOT NULL REFERENCES modules (id), qualname TEXT NOT NULL,
    line INTEGER NOT NULL, lines INTEGER NOT NULL, arguments INTEGER NOT NULL,
    branches INTEGER NOT NULL, documented INTEGER NOT NULL, body_sha256 TEXT NOT NULL);
CREATE TABLE reviews (
    id INTEGER PRIMARY KEY, function_id TEXT NOT NULL REFERENCES functions (id),
    verdict TEXT NOT NULL CHECK (verdict IN ('split', 'document', 'keep')), note TEXT NOT NULL);
"""
INSERT_FUNCTION = "INSERT OR IGNORE INTO functions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
BRANCHES = (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.BoolOp, ast.IfExp)
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Database:
    """One SQLite file in the session's directory."""

    def __init__(self, workspace: Workspace) -> None:
        """Remember where the file will be; the first import makes it."""
        self.workspace = workspace
        self.file = workspace.work / "catalogue.db"

    def import_package(self, name: str) -> str:
        """Read a package's sources into the tables; return its modules with their ids."""
        package = self.workspace.existing(f"stdlib/{name}")
        with self._open() as connection:
            imported = [self._import(connection, file) for file in files_below(package, "*.py")]
        return json.dumps(imported, indent=1)

    def query(self, sql: str) -> str:
        """Run one SQL statement; rows come back as JSON records."""
        try:
            with self._open() as connection:
                cursor = connection.execute(sql)
                rows = cursor.fetchall()
        except sqlite3.Error as error:
            raise ToolError(str(error)) from error
        if cursor.description is None:
            return json.dumps({"changed": cursor.rowcount})
        names = [column[0] for column in cursor.description]
        return json.dumps([dict(zip(names, row, strict=True)) for row in rows], ensure_ascii=False)

    def _open(self) -> sqlite3.Connection:
        is_new = not self.file.exists()
        connection = sqlite3.connect(self.file)
        if is_new:
            connection.executescript(SCHEMA)
        return connection

    def _import(self, connection: sqlite3.Connection, file: Path) -> dict[str, Any]:
        text = file.read_text("utf-8")
        path = self.workspace.name(file)
        name = path.removeprefix("stdlib/").removesuffix(".py").replace("/", ".")
        module_id = _id("module", name)
        digest = hashlib.sha256(text.encode()).hexdigest()
        module = (module_id, name, path, text.count("\n"), digest)
        connection.execute("INSERT INTO modules VALUES (?, ?, ?, ?, ?)", module)
        rows = [_row(module_id, qualname, node) for qualname, node in _functions(ast.parse(text))]
        connection.executemany(INSERT_FUNCTION, rows)
        return {"id": module_id, "name": name, "lines": text.count("\n"), "functions": len(rows)}


def _id(*names: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "/".join(names)))


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function):
            yield prefix + node.name, node
        name = getattr(node, "name", None)
        inner = f"{prefix}{name}." if isinstance(name, str) else prefix
        yield from _functions(node, inner)


def _row(module_id: str, qualname: str, node: Function) -> tuple[str | int, ...]:
    body = ast.dump(ast.Module(node.body, []))
    return (
        _id(module_id, qualname, str(node.lineno)),
        module_id,
        qualname,
        node.lineno,
        (node.end_lineno or node.lineno) - node.lineno + 1,
        len(node.args.posonlyargs) + len(node.args.args) + len(node.args.kwonlyargs),
        sum(isinstance(inner, BRANCHES) for inner in ast.walk(node)),
        int(ast.get_docstring(node) is not None),
        hashlib.sha256(body.encode()).hexdigest(),
    )
