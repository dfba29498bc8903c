"""A fork of three library modules whose doctests fail: read the log, find the places, repair."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from recorder.agent import Agent, want
from recorder.finding import every, first, source
from recorder.workspace import Workspace

INSTRUCTIONS = ""
FORK = "work/fork"
MODULES = {
    "difflib": "stdlib/difflib.py",
    "statistics": "stdlib/statistics.py",
    "containers": "stdlib/collections/__init__.py",
}
LIBRARIES = [("difflib", "difflib"), ("statistics", "statistics"), ("containers", "collections")]
DAMAGES = (
    ("difflib", "return 2.0 * matches / length", "return 2.0 * matches / (length + 1)"),
    ("difflib", "beginning = start + 1 ", "beginning = start "),
    ("difflib", "result = _nlargest(n, result)", "result = _nlargest(n - 1, result)"),
    ("statistics", "return data[n // 2 - 1]", "return data[n // 2]"),
    ("statistics", "m = ld + 1", "m = ld"),
    ("statistics", "ybar - slope * xbar", "ybar + slope * xbar"),
    ("containers", "newcount = count - other[elem]", "newcount = count + other[elem]"),
)
DIFFERENCES = f"""import difflib, importlib, pathlib
for name, library in {LIBRARIES!r}:
    ours = pathlib.Path(f'{FORK}/{{name}}.py')
    theirs = pathlib.Path(importlib.import_module(library).__file__)
    lines = [path.read_text().splitlines() for path in (theirs, ours)]
    print('\\n'.join(difflib.unified_diff(*lines, library, ours.as_posix(), lineterm='')))
"""
HUNK = r"^@@ -(\d+),(\d+) \+(\d+),(\d+) @@"
GUARD = '''"""The repaired definitions stay equal to the library's."""

import importlib
import inspect

import pytest

LIBRARY = {"containers": "collections"}
REPAIRED = []


def found(module, name):
    own = [one for one in vars(module).values() if inspect.isclass(one)]
    own = [one for one in own if one.__module__ == module.__name__]
    for holder in (module, *own):
        if inspect.isfunction(vars(holder).get(name)):
            return inspect.getsource(getattr(holder, name))


@pytest.mark.parametrize("place", REPAIRED)
def test_same_source(place):
    module, _, name = place.partition(".")
    fork = importlib.import_module(f"fork.{module}")
    library = importlib.import_module(LIBRARY.get(module, module))
    assert found(fork, name) == found(library, name)
'''
DOCTESTS = ["--doctest-modules", "--doctest-continue-on-failure"]


@dataclass
class Outline:
    """A file's definitions, each with its line."""

    path: str
    places: list[tuple[int, str]]

    def span(self, name: str) -> tuple[int, int]:
        """Return the first line and the number of lines of a definition."""
        starts = [line for line, _ in self.places]
        at = next(number for number, (_, known) in enumerate(self.places) if known == name)
        end = starts[at + 1] if at + 1 < len(starts) else starts[at] + 60
        return starts[at], min(end - starts[at], 120)


def prepare(workspace: Workspace) -> None:
    """Copy the modules and damage them, as a careless refactoring would."""
    directory = workspace.path(FORK)
    directory.mkdir()
    (directory / "__init__.py").touch()
    for module, name in MODULES.items():
        text = workspace.path(name).read_text("utf-8")
        for damaged, old, new in DAMAGES:
            text = text.replace(old, new, 1) if damaged == module else text
        (directory / f"{module}.py").write_text(text, "utf-8")


def play(agent: Agent) -> None:
    """Repair what the doctests show, guard it, then look for what they do not show."""
    agent.user(
        "Our fork of difflib, statistics and collections in work/fork fails its doctests since "
        "the last refactoring. Find out why and repair it; the standard library is the reference."
    )
    agent.call("", "list_directory", path=FORK)
    repaired = _repair_all(agent)
    _guard(agent, repaired)
    unseen = _unseen(agent)
    log = _run(agent, f"Repaired without a failing test: {', '.join(unseen)}.", "work")
    agent.call("And is any difference left?", "run_python", code=DIFFERENCES)
    agent.answer(
        f"Repaired: {', '.join(repaired)}; and at {', '.join(unseen)}, which no doctest covers. "
        f"Last line of the suite: {_verdict(log)}"
    )


def _repair_all(agent: Agent) -> list[str]:
    """Run, compare, patch, and run again until nothing fails or nothing differs."""
    log = _run(agent, "The whole suite first.", FORK)
    outlines = {name: _outline(agent, f"{FORK}/{name}.py") for name in MODULES}
    references = {name: _outline(agent, path) for name, path in MODULES.items()}
    agent.user("Remember: always run the whole suite after a repair, never only the one test.")
    repaired: list[str] = []
    while failed := every(r"^FAILED (\S+::\S+)", log):
        fixed = _repair(agent, failed, outlines, references)
        if fixed is None:
            break
        repaired.append(fixed)
        log = _run(agent, f"`{fixed}` is repaired.", FORK)
    return repaired


def _run(agent: Agent, text: str, target: str) -> str:
    return agent.call(text, "run_tests", arguments=[*DOCTESTS, target])


def _verdict(log: str) -> str:
    return first(r"^=+ (.*(?:passed|failed).*) =+$", log)


def _outline(agent: Agent, path: str) -> Outline:
    hits = agent.call("", "grep", pattern=r"^ *(def|class) \w+", path=path)
    places = re.findall(r":(\d+): *(?:def|class) (\w+)", hits)
    return Outline(path, [(int(line), name) for line, name in places])


def _repair(
    agent: Agent,
    failed: list[str],
    outlines: dict[str, Outline],
    references: dict[str, Outline],
) -> str | None:
    """Compare what the failed tests run with the reference; patch the first difference."""
    for test in sorted(failed, key=lambda test: len(test.rpartition(".")[2])):
        module = first(r"fork/(\w+)\.py", test)
        looked: set[str] = set()
        names = [test.rpartition(".")[2]]
        while names:
            name = names.pop(0)
            if name in looked or name not in {known for _, known in outlines[module].places}:
                continue
            looked.add(name)
            ours, theirs = _compare(agent, test, name, outlines[module], references[module])
            if ours != theirs:
                _patch(agent, outlines[module].path, name, ours, theirs)
                return f"{module}.{name}"
            names += every(r"\b(_?[a-z]\w+)\(", _code(ours))
    return None


def _compare(
    agent: Agent, test: str, name: str, outline: Outline, reference: Outline
) -> tuple[str, str]:
    start, lines = outline.span(name)
    there, count = reference.span(name)
    ours, theirs = agent.calls(
        f"{test} runs `{name}` ({outline.path}:{start}); for reference {reference.path}:{there}.",
        want("read_file", path=outline.path, start=start, lines=lines),
        want("read_file", path=reference.path, start=there, lines=count),
    )
    return source(ours), source(theirs)


def _code(text: str) -> str:
    """Return a definition without its docstring's examples."""
    kept = (line for line in text.splitlines() if not line.lstrip().startswith((">>>", "...")))
    return "\n".join(kept)


def _patch(agent: Agent, path: str, name: str, ours: str, theirs: str) -> None:
    pairs = list(zip(ours.splitlines(), theirs.splitlines(), strict=True))
    at = next(number for number, (our, their) in enumerate(pairs) if our != their)
    text = f"`{name}` differs: `{pairs[at][0].strip()}` should be `{pairs[at][1].strip()}`."
    for around in (pairs[max(at - 3, 0) : at + 3], pairs):
        old = "\n".join(our for our, _ in around)
        new = "\n".join(their for _, their in around)
        patched = agent.call(text, "patch_file", path=path, old=old, new=new)
        if "occurs" not in patched:
            return
        text = f"{first('occurs [0-9]+ times', patched)}: the whole of `{name}`, then."


def _guard(agent: Agent, repaired: list[str]) -> None:
    """Write a test that compares each repaired definition with the library's."""
    content = GUARD.replace("REPAIRED = []", f"REPAIRED = {json.dumps(repaired, indent=4)}")
    agent.call("A guard for the future.", "write_file", path="work/test_fork.py", content=content)
    log = agent.call("", "run_tests", arguments=["-v", "work/test_fork.py", *DOCTESTS, FORK])
    agent.call("", "read_file", path="work/test_fork.py")
    agent.answer(f"The suite with the guard: {_verdict(log)}.")


def _unseen(agent: Agent) -> list[str]:
    """Find and repair what no doctest shows."""
    agent.user("Good. Is there anything left that no test would show?")
    shown = agent.call("", "run_python", code=DIFFERENCES)
    repaired: list[str] = []
    for module, library in LIBRARIES:
        _, found, part = shown.partition(f"--- {library}\n")
        hunks = re.findall(HUNK, part.partition("\n---")[0], re.MULTILINE)
        for there, count, start, lines in hunks if found else ():
            path = f"{FORK}/{module}.py"
            ours, theirs = agent.calls(
                f"{path}:{start} differs from {MODULES[module]}:{there}.",
                want("read_file", path=path, start=int(start), lines=int(lines)),
                want("read_file", path=MODULES[module], start=int(there), lines=int(count)),
            )
            _patch(agent, path, f"{module}:{start}", source(ours), source(theirs))
            repaired.append(f"{path}:{start}")
    return repaired
