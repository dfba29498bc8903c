"""Which modules announce their removal, who imports them, and what is said of a replacement."""

from __future__ import annotations

import re

from recorder.agent import Agent, want
from recorder.finding import every, first, source

INSTRUCTIONS = ""
IMPORT = r"^(\S+?:\d+):\s*(?:import|from) (\w+)"
Announcement = tuple[str, str, str]


def play(agent: Agent) -> None:
    """Search, read each announcement, look for importers, and write the report."""
    agent.user(
        "We move to Python 3.13. Find every place in the standard library that announces a "
        "removal, and who still imports those modules. Write it to work/removals.md."
    )
    announced = _announcements(agent)
    removed = _read_around(agent, announced)
    imports = _importers(agent, announced)
    others = _other_announcements(agent)
    _guesses(agent, announced)
    messages = _messages(agent)
    _machinery(agent)
    agent.user("Important: never cite a module without its path:line. Remember that for all of it.")
    hashes = _hashes(agent, announced, imports)
    report = _report(announced, imports, hashes, others)
    agent.call("", "write_file", path="work/removals.md", content=report)
    _check(agent, announced, messages)
    agent.answer(_summary(announced, imports, removed))


def _summary(announced: list[Announcement], imports: dict[str, str], removed: int) -> str:
    (_, path, line), (name, last_path, last_line) = announced[0], announced[-1]
    return (
        f"work/removals.md lists {len(announced)} announcements, from {path}:{line} to "
        f"{last_path}:{last_line} (`{name}`). {len(imports)} of the modules are still imported "
        f"inside the library; {removed} go with 3.13."
    )


def _announcements(agent: Agent) -> list[Announcement]:
    agent.call("I start with what there is.", "list_directory", path="stdlib")
    hits = agent.call(
        "Removals go through `warnings._deprecated`.",
        "grep",
        pattern=r"_deprecated\(",
        path="stdlib",
    )
    found = re.findall(r"^(stdlib/([\w/]+)\.py):(\d+):.*__name__", hits, re.MULTILINE)
    return [(name, path, line) for path, name, line in found]


def _read_around(agent: Agent, announced: list[Announcement]) -> int:
    removed = 0
    for at in range(0, len(announced), 3):
        group = announced[at : at + 3]
        names = ", ".join(f"`{name}` ({path}:{line})" for name, path, line in group)
        heads = (want("read_file", path=path, lines=int(line) + 40) for _, path, line in group)
        reads = agent.calls(f"Next: {names}.", *heads)
        removed += sum(bool(re.search(r"remove=\(3, ?13\)", text)) for text in reads)
    return removed


def _importers(agent: Agent, announced: list[Announcement]) -> dict[str, str]:
    names = "|".join(name for name, _, _ in announced)
    pattern = rf"^\s*(import|from) ({names})\b"
    hits = agent.call("Who imports them?", "grep", pattern=pattern, path="stdlib")
    imports: dict[str, str] = {}
    for place, name in re.findall(IMPORT, hits, re.MULTILINE):
        if f"/{name}.py:" not in place:
            imports.setdefault(name, place)
    for name, place in imports.items():
        path, _, line = place.partition(":")
        start = max(int(line) - 40, 1)
        agent.call(f"`{name}` at {place}.", "read_file", path=path, start=start, lines=100)
    return imports


def _other_announcements(agent: Agent) -> list[str]:
    """Search too widely first, then for what sets an announcement apart."""
    agent.call("And without the helper?", "grep", pattern="(?i)deprecat", path="stdlib")
    hits = agent.call(
        "Too many; only those that name a version.",
        "grep",
        pattern=r"(removed|removal) in (Python )?3\.1[2-9]",
        path="stdlib",
    )
    places = every(r"^(stdlib/[\w/]+\.py:\d+):", hits)
    for place in places[:6]:
        path, _, line = place.partition(":")
        start = max(int(line) - 15, 1)
        agent.call(f"{place}:", "read_file", path=path, start=start, lines=45)
    return places


def _guesses(agent: Agent, announced: list[Announcement]) -> None:
    """Look where a package might be instead of a module; there is none."""
    name = announced[0][0]
    agent.call(f"`{name}` might also be a package.", "read_file", path=f"stdlib/{name}/__init__.py")


def _messages(agent: Agent) -> list[str]:
    hits = agent.call(
        "Some bring their own text.", "grep", pattern="_DEPRECATION_MSG = ", path="stdlib"
    )
    places = every(r"^(stdlib/[\w/]+\.py:\d+)", hits)
    wanted = [place.partition(":") for place in places]
    agent.calls(
        f"{len(places)} of them.",
        *(want("read_file", path=path, start=int(line), lines=6) for path, _, line in wanted),
    )
    return places


def _machinery(agent: Agent) -> None:
    hits = agent.call("", "grep", pattern="^def |^class ", path="stdlib/warnings.py")
    line = first(r"warnings\.py:(\d+):def _deprecated", hits)
    body = agent.call(
        f"`_deprecated` is defined at stdlib/warnings.py:{line}.",
        "read_file",
        path="stdlib/warnings.py",
        start=int(line),
        lines=30,
    )
    agent.call(
        f"It raises `{first('raise ([A-Za-z]+)', body)}` once the version has come. Are there "
        "tests or other users of it?",
        "grep",
        pattern=first(r"def (_deprecated)", body) + r"\b",
        path="stdlib/importlib",
    )
    agent.call("", "read_file", path="stdlib/telnetlib.py", start=1, lines=230)


def _hashes(agent: Agent, announced: list[Announcement], imports: dict[str, str]) -> dict[str, str]:
    paths = {name: path for name, path, _ in announced if name in imports}
    texts = agent.calls(
        f"For the report I take the hashes of the {len(paths)} that are still imported.",
        *(want("hash_file", path=path) for path in paths.values()),
    )
    return {name: text.split()[0] for name, text in zip(paths, texts, strict=True)}


def _report(
    announced: list[Announcement],
    imports: dict[str, str],
    hashes: dict[str, str],
    others: list[str],
) -> str:
    rows = [
        f"| `{name}` | {path}:{line} | {imports.get(name, 'nobody')} | {hashes.get(name, '-')} |"
        for name, path, line in announced
    ]
    head = ["# Removals", "", "| module | announced | imported by | sha256 |", "|---|---|---|---|"]
    rest = ["", "Without the helper:", "", *(f"- {one}" for one in others), ""]
    return "\n".join([*head, *rows, *rest])


def _check(agent: Agent, announced: list[Announcement], messages: list[str]) -> None:
    written = agent.call("I read it again.", "read_file", path="work/removals.md")
    heading = first(r"^(Without .*:)$", source(written))
    agent.call(
        f"The own messages, from {messages[0]} on, are missing.",
        "patch_file",
        path="work/removals.md",
        old=heading,
        new=f"Own messages: {', '.join(messages)}.\n\n{heading}",
    )
    path = announced[0][1]
    agent.calls(
        f"A last look at the report, and at {path}.",
        want("read_file", path="work/removals.md"),
        want("hash_file", path=path),
    )
