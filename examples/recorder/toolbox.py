"""The table of all tools: name, description, parameters, function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial, wraps

from recorder.tools import Picture, Tool, ToolError, charts, documents, files, running
from recorder.tools.browser import Browser
from recorder.tools.database import Database
from recorder.workspace import Workspace, masked

TEXT = {"type": "string"}
NAMES = {"type": "array", "items": TEXT}
NUMBERS = {"type": "object", "additionalProperties": {"type": "number"}}
PATH = {"type": "string", "description": "starts with stdlib/, site-packages/ or work/"}
POINTER = {"type": "string", "description": "a JSON pointer, such as #/definitions/Kernel"}
START = {"type": "integer", "default": 1}
LINES = {"type": "integer", "default": 2000}
GLOB = {"type": "string", "default": "*.py"}

Run = Callable[..., str | Picture]


def toolbox(workspace: Workspace) -> dict[str, Tool]:
    """Return the tools of one session by name; what they answer is masked."""
    table = (*_files(workspace), *_documents(workspace), *_running(workspace))
    rows = (*table, *_database(Database(workspace)), *_browser(Browser(workspace)))
    return {tool.name: replace(tool, run=_masked(tool.run)) for tool in rows}


def _masked(run: Run) -> Run:
    @wraps(run)
    def masking(**arguments: object) -> str | Picture:
        try:
            answer = run(**arguments)
        except ToolError as error:
            raise ToolError(masked(str(error))) from error
        return masked(answer) if isinstance(answer, str) else answer

    return masking


def _files(here: Workspace) -> tuple[Tool, ...]:
    lines = {"path": PATH, "start": START, "lines": LINES}
    search = {"pattern": TEXT, "path": PATH, "glob": GLOB}
    patch = {"path": PATH, "old": TEXT, "new": TEXT}
    content = {"path": PATH, "content": TEXT}
    return (
        _tool(here, "list_directory", "List a directory.", {"path": PATH}, files.list_directory),
        _tool(here, "grep", "Search files by regular expression.", search, files.grep),
        _tool(here, "read_file", "Read lines of a file.", lines, files.read_file),
        _tool(here, "write_file", "Write a whole file.", content, files.write_file),
        _tool(here, "patch_file", "Replace one passage of a file.", patch, files.patch_file),
        _tool(here, "hash_file", "SHA-256 and size of a file.", {"path": PATH}, files.hash_file),
    )


def _documents(here: Workspace) -> tuple[Tool, ...]:
    name = {"name": TEXT}
    model = {"provider": TEXT, "model": TEXT}
    chart = {"title": TEXT, "values": NUMBERS}
    keys = {"pointer": {**POINTER, "default": ""}}
    provider = {"provider": TEXT}
    pointer = {"pointer": POINTER}
    return (
        _tool(here, "api_keys", "List keys of the API document.", keys, documents.json_keys),
        _tool(here, "api_get", "Read from the API document.", pointer, documents.json_get),
        _tool(here, "list_packages", "List installed packages.", {}, documents.list_packages),
        Tool("package_metadata", "A package's metadata.", name, documents.package_metadata),
        Tool("package_files", "A package's files with hashes.", name, documents.package_files),
        Tool("price_providers", "Providers with known prices.", {}, documents.price_providers),
        Tool("price_models", "A provider's models.", provider, documents.price_models),
        Tool("price_model", "All about one model.", model, documents.price_model),
        Tool("draw_chart", "Draw a bar chart.", chart, charts.draw_chart),
    )


def _running(here: Workspace) -> tuple[Tool, ...]:
    return (
        _tool(here, "run_tests", "Run pytest in work/.", {"arguments": NAMES}, running.run_tests),
        _tool(here, "run_python", "Run Python code in work/.", {"code": TEXT}, running.run_python),
    )


def _database(database: Database) -> tuple[Tool, ...]:
    imported = "Read a package's functions into the database."
    return (
        Tool("import_package", imported, {"name": TEXT}, database.import_package),
        Tool("query", "Run one SQL statement.", {"sql": TEXT}, database.query),
    )


def _browser(browser: Browser) -> tuple[Tool, ...]:
    return (
        Tool("browser_navigate", "Open a page.", {"page": TEXT}, browser.navigate),
        Tool("browser_click", "Follow a link by its ref.", {"ref": TEXT}, browser.click),
        Tool("browser_back", "Go back.", {}, browser.back),
        Tool("browser_snapshot", "Show the open page again.", {}, browser.snapshot),
    )


def _tool(
    here: Workspace, name: str, text: str, parameters: Mapping[str, object], run: Run
) -> Tool:
    return Tool(name, text, parameters, partial(run, here))
