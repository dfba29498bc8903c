"""Twenty questions about each content, each answer computed from the content, never from an entry."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from tests.bench.compression import corpus
from tests.bench.compression.question import Question
from tests.bench.compression.questions import pages, records, runs, schemas, texts, trees

ASKED: dict[str, Callable[[str], list[Question]]] = {
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
def questions(kind: str) -> tuple[Question, ...]:
    """The questions about the content of a kind."""
    return tuple(ASKED[kind](corpus.content(kind)))
