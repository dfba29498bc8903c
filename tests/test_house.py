"""The house: versions agree, checks run what the README says, files say what they are."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from bench.readme_tables import blocks_in

ROOT = Path(__file__).parent.parent
README, CHANGELOG = ((ROOT / name).read_text("utf-8") for name in ("README.md", "CHANGELOG.md"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SOURCES = sorted((ROOT / "hippocampus").rglob("*.py"))
MACHINE = re.compile(r"(?<![\w.])/(?:home|root|work|tmp)/\w")
"""Paths of the machine on which something was written."""


def test_the_changelog_has_the_version() -> None:
    assert re.search(rf"^## \[?{re.escape(PROJECT['version'])}\]?", CHANGELOG, re.MULTILINE)


SQL = re.compile(
    r"""["' ](SELECT|INSERT|DELETE FROM|UPDATE \w+ SET|CREATE (TABLE|INDEX|VIRTUAL)|PRAGMA|VACUUM)\b"""
)


def test_sql_is_in_one_room() -> None:
    rooms = {
        path.relative_to(ROOT / "hippocampus").parts[0]
        for path in SOURCES
        if SQL.search(path.read_text("utf-8"))
    }
    assert rooms == {"storage"}


def test_the_checks_run_the_command_that_the_readme_names() -> None:
    script = ROOT / ".ci" / "run"
    text = script.read_text("utf-8")
    assert script.stat().st_mode & 0o111
    for name in ("test-command", "replay-command"):
        command = blocks_in(README)[name]
        assert command.startswith("```sh\npython3 -m venv .venv && ")
        assert name in text


def test_the_requirements_are_those_that_the_readme_says() -> None:
    assert PROJECT["requires-python"] == ">=3.11"
    assert "Python 3.11" in README
    assert f'license = "{PROJECT["license"]}"' in (ROOT / "pyproject.toml").read_text("utf-8")
    assert f"{PROJECT['license']} licence" in README


@pytest.fixture(scope="module")
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text("utf-8")) for path in SOURCES}


def test_a_file_opens_with_what_it_is(trees: dict[Path, ast.Module]) -> None:
    lines = {path: (ast.get_docstring(tree) or "").split("\n")[0] for path, tree in trees.items()}
    assert [path for path, line in lines.items() if not line.endswith((".", "?"))] == []


def test_a_class_name_exists_once(nodes: list[ast.AST]) -> None:
    names = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1] == []


def test_the_documents_speak_of_the_project_alone() -> None:
    pages = (path for path in ROOT.glob("docs/**/*.*") if path.suffix != ".pyc")
    documents = [*ROOT.glob("*.md"), *pages, ROOT / "mkdocs.yml"]
    for path in [*documents, ROOT / ".ci" / "run", *SOURCES, *ROOT.glob("policies/*")]:
        text = path.read_text("utf-8")
        assert MACHINE.findall(text) == [], path
        assert "DESIGN" not in text, path


def test_a_call_and_a_reading_catch_every_failure_in_one_place_each(
    trees: dict[Path, ast.Module],
) -> None:
    """Law 3, and what an extractor raises. Elsewhere a broad `except` raises again, or stands around code of others: a source."""
    rooms = ("entries", "formats", "indexing", "models", "policy", "prices", "session", "storage")
    found = [
        path.relative_to(ROOT / "hippocampus").as_posix()
        for room in rooms
        for path in trees
        if path.is_relative_to(ROOT / "hippocampus" / room)
        for node in ast.walk(trees[path])
        if isinstance(node, ast.ExceptHandler) and _is_broad(node) and not _raises_again(node)
    ]
    assert found == ["indexing/kinds.py", "session/guard.py"]


IDIOM = {
    r"\b(stands?|stood|standing)\b": 0.4,
    r"\bbehind\b": 0.1,
    r"\bin front of\b": 0.1,
    r"\bof (these|those|them)\b": 5.9,
    r"\b(is|are) none\b": 2.0,
    r"\balone\b": 0.6,
    r"\beach\b": 17.5,
    r"\b(whatever|whichever|wherever)\b": 3.5,
    r"\bwhat (is|was|has|had|they|it)\b": 7.6,
    r"\bthere (is|are)\b": 6.4,
    r"\b(goes|went)\b": 3.8,
    r"\bas (it|they) (stood|came|was|were|stands?)\b": 0.7,
}
"""How often each private idiom may be found in 10,000 words of docstrings: lower it with each removal.

A reference manual has none of them, and *each* at most 20 times."""
MAX_LOOPS_OVER_EACH = 0.01
"""The share of loops whose variable is called `each` and not after the thing."""
MAX_UNCLEAR_BOUNDS = 1
"""Constants that are no `MAX_…` and no `MIN_…`."""
UNCLEAR_BOUND = re.compile(r"(MOST|LEAST|LONGEST|SHORTEST|LARGEST|SMALLEST|FEW|FEWEST)_")


@pytest.fixture(scope="module")
def nodes(trees: dict[Path, ast.Module]) -> list[ast.AST]:
    return [node for tree in trees.values() for node in ast.walk(tree)]


def test_docstrings_lose_their_private_idiom(nodes: list[ast.AST]) -> None:
    strings = [node.value for node in nodes if isinstance(node, ast.Expr)]
    texts = [getattr(value, "value", "") for value in strings]
    text = " ".join(each for each in texts if isinstance(each, str))
    found = {idiom: len(re.findall(idiom, text, re.IGNORECASE)) for idiom in IDIOM}
    rates = {idiom: 10_000 * count / len(text.split()) for idiom, count in found.items()}
    assert {idiom: rate for idiom, rate in rates.items() if rate > IDIOM[idiom]} == {}


def test_loops_name_the_thing_and_bounds_are_named_alike(nodes: list[ast.AST]) -> None:
    loops = [node.target for node in nodes if isinstance(node, ast.For | ast.comprehension)]
    variables = [target.id for target in loops if isinstance(target, ast.Name)]
    assert variables.count("each") / len(variables) <= MAX_LOOPS_OVER_EACH
    assigned = [node.targets for node in nodes if isinstance(node, ast.Assign)]
    names = [each.id for targets in assigned for each in targets if isinstance(each, ast.Name)]
    assert sum(bool(UNCLEAR_BOUND.match(name)) for name in names) <= MAX_UNCLEAR_BOUNDS


def _is_broad(handler: ast.ExceptHandler) -> bool:
    names = ast.walk(handler.type) if handler.type else ()
    broad = {each.id for each in names if isinstance(each, ast.Name)}
    return handler.type is None or bool(broad & {"Exception", "BaseException"})


def _raises_again(handler: ast.ExceptHandler) -> bool:
    names = {getattr(node, "attr", "") for node in ast.walk(handler)}
    return "set_exception" in names or any(
        isinstance(each, ast.Raise) for each in ast.walk(handler)
    )
