"""Functions of the standard library in SQLite: the longest, the undocumented, the copied ones."""

from __future__ import annotations

import json
from typing import Any

from recorder.agent import Agent, want

INSTRUCTIONS = (
    "You keep a catalogue of functions in SQLite. Query it with SQL, read sources where the "
    "numbers do not decide, and write your verdicts into the table reviews."
)
PACKAGES = ("asyncio", "concurrent", "email", "http", "importlib", "json", "logging", "unittest")
Row = dict[str, Any]


def play(agent: Agent) -> None:
    """Fill the database, look at the worst modules, review functions by id, and sum up."""
    agent.user(
        f"Catalogue {', '.join(PACKAGES)} and review the functions that are hard to maintain: "
        "too long, undocumented, or copied between modules."
    )
    modules = _imports(agent)
    longest = _longest(agent)
    listed = _worst_modules(agent, modules)
    _read_and_review(agent, longest)
    copies = _copies(agent)
    agent.user("Remember: a function that is copied gets the verdict 'split', whatever its length.")
    _review_copies(agent, copies)
    _mistake(agent)
    _undocumented(agent, listed)
    _finish(agent, longest, copies)


def _rows(text: str) -> list[Row]:
    rows: list[Row] = json.loads(text)
    return rows


def _query(agent: Agent, text: str, sql: str) -> list[Row]:
    return _rows(agent.call(text, "query", sql=sql))


def _imports(agent: Agent) -> list[Row]:
    results = agent.calls(
        "I import the packages.", *(want("import_package", name=name) for name in PACKAGES)
    )
    agent.call("", "query", sql="SELECT name, sql FROM sqlite_master WHERE type = 'table'")
    return [row for result in results for row in _rows(result)]


def _longest(agent: Agent) -> list[Row]:
    return _query(
        agent,
        "Which functions are the longest, and where are they?",
        "SELECT f.id, m.name AS module, m.path, f.qualname, f.line, f.lines, f.branches "
        "FROM functions f JOIN modules m ON m.id = f.module_id ORDER BY f.lines DESC LIMIT 40",
    )


def _worst_modules(agent: Agent, modules: list[Row]) -> list[Row]:
    listed: list[Row] = []
    for module in sorted(modules, key=lambda row: -row["functions"])[:4]:
        listed += _query(
            agent,
            f"{module['name']} has {module['functions']} functions in {module['lines']} lines.",
            "SELECT id, qualname, line, lines, branches, documented FROM functions "
            f"WHERE module_id = '{module['id']}' ORDER BY line",
        )
    return listed


def _read_and_review(agent: Agent, longest: list[Row]) -> None:
    for row in longest[:8]:
        agent.call(
            f"`{row['qualname']}` in {row['module']}: {row['lines']} lines, "
            f"{row['branches']} branches.",
            "read_file",
            path=row["path"],
            start=row["line"],
            lines=row["lines"],
        )
        verdict = "split" if row["branches"] > row["lines"] / 8 else "keep"
        _review(agent, row, verdict, f"{row['branches']} branches in {row['lines']} lines")


def _review(agent: Agent, row: Row, verdict: str, note: str) -> None:
    agent.call(
        "",
        "query",
        sql="INSERT INTO reviews (function_id, verdict, note) "
        f"VALUES ('{row['id']}', '{verdict}', '{row['qualname']}: {note}')",
    )


def _copies(agent: Agent) -> list[Row]:
    return _query(
        agent,
        "Now copies: equal bodies under different ids.",
        "SELECT body_sha256, count(*) AS copies, sum(lines) AS lines FROM functions "
        "WHERE lines > 3 GROUP BY body_sha256 HAVING copies > 1 ORDER BY lines DESC LIMIT 15",
    )


def _review_copies(agent: Agent, copies: list[Row]) -> None:
    for copy in copies[:4]:
        found = _query(
            agent,
            f"{copy['copies']} functions share the body {copy['body_sha256'][:12]}.",
            "SELECT f.id, m.name AS module, m.path, f.qualname, f.line, f.lines FROM functions f "
            f"JOIN modules m ON m.id = f.module_id WHERE f.body_sha256 = '{copy['body_sha256']}'",
        )
        reads = (
            want("read_file", path=row["path"], start=row["line"], lines=row["lines"])
            for row in found[:2]
        )
        agent.calls(f"`{found[0]['qualname']}` twice, to be sure.", *reads)
        _review(agent, found[-1], "split", f"same body as {found[0]['id']}")


def _mistake(agent: Agent) -> None:
    agent.call(
        "How are the verdicts spread?",
        "query",
        sql="SELECT verdict, count(*) AS n FROM reviews GROUP BY reviewer",
    )
    agent.call(
        "There is no such column; by verdict, then.",
        "query",
        sql="SELECT verdict, count(*) AS n FROM reviews GROUP BY verdict",
    )
    agent.call(
        "Are there reviews of functions that are no longer listed?",
        "query",
        sql="SELECT r.id FROM reviews r LEFT JOIN functions f ON f.id = r.function_id "
        "WHERE f.id IS NULL",
    )


def _undocumented(agent: Agent, listed: list[Row]) -> None:
    worst = sorted((row for row in listed if not row["documented"]), key=lambda row: -row["lines"])
    for row in worst[:4]:
        _review(agent, row, "document", f"{row['lines']} lines without a docstring")
    ids = ", ".join(f"'{row['id']}'" for row in worst[:4])
    agent.call(
        f"The longest undocumented ones are {', '.join(row['qualname'] for row in worst[:4])}.",
        "query",
        sql=f"SELECT id, qualname, body_sha256 FROM functions WHERE id IN ({ids})",
    )


def _finish(agent: Agent, longest: list[Row], copies: list[Row]) -> None:
    again = _longest(agent)
    reviews = _query(agent, "", "SELECT function_id, verdict, note FROM reviews ORDER BY id")
    top = longest[0]
    agent.call(
        f"The list is as it was at the start; `{again[0]['qualname']}` ({top['id']}) leads it. "
        "I mark it as the first to do.",
        "query",
        sql=f"UPDATE reviews SET note = note || ' (first)' WHERE function_id = '{top['id']}'",
    )
    agent.answer(
        f"{len(reviews)} reviews. First to do: `{top['qualname']}` at {top['path']}:{top['line']} "
        f"({top['id']}), {top['lines']} lines. The largest copied body is "
        f"{copies[0]['body_sha256']}, {copies[0]['copies']} times."
    )
