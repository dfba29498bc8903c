"""The contents of the exam by kind, built at run time from what is installed; no network."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from tests.bench.compression.corpus import pages, records, runs, schemas, texts, trees

BUILDERS: dict[str, Callable[[], str]] = {
    "browser snapshot": pages.snapshot,
    "web page (HTML)": pages.html_page,
    "configuration schema": schemas.openapi,
    "directory listing (find)": trees.find_output,
    "directory listing (ls -lR)": trees.ls_output,
    "source file": texts.source_file,
    "JSON response": records.api_response,
    "test run": runs.test_log,
    "server log": runs.server_log,
    "diff": texts.patch,
    "table (CSV)": records.csv_table,
    "table (Markdown)": records.markdown_table,
    "prose": texts.prose,
    "grep hits": trees.grep_output,
    "git log": trees.git_log,
}


@cache
def content(kind: str) -> str:
    """The content of a kind, built once."""
    return BUILDERS[kind]()
