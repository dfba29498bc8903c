"""What one asks after reading code, a patch or a chapter: where is it, what changed, what does it say."""

from __future__ import annotations

import ast
import re
from typing import Any

from tests.bench.compression.question import Question, beside, says

HUNK = re.compile(r"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$", re.MULTILINE)
HEADING = re.compile(r"^(\S.*)\n([*=-])\2{3,}$", re.MULTILINE)
LINE = "line|lines|L"


def source_file(text: str) -> list[Question]:
    """Twenty questions about a Python module."""
    tree = ast.parse(text)
    top = {node.name: node for node in tree.body if hasattr(node, "name")}
    classes = {name: node for name, node in top.items() if isinstance(node, ast.ClassDef)}
    methods = {n.name: n for n in classes["Random"].body if isinstance(n, ast.FunctionDef)}
    constants = {n.targets[0].id: n for n in tree.body if _is_constant(n)}
    public = ast.literal_eval(constants["__all__"].value)
    spread = ("seed", "shuffle", "sample", "choices", "gauss", "betavariate")
    return [
        beside("How long is it?", "lines|line", len(text.splitlines())),
        says("What is it about?", "Random variable generators"),
        *(beside(f"On which line is class {name}?", name, classes[name].lineno) for name in classes),
        *(beside(f"On which line is {name}()?", name, methods[name].lineno) for name in spread),
        beside("On which line is _test()?", "_test", top["_test"].lineno),
        beside("Which parameters has sample?", "sample", "population", "counts"),
        beside("What is choices' default for k?", "choices", "k=1"),
        beside("Which class is Random's base?", "Random", "_random.Random"),
        says("Which methods can make variates at its end?", "expovariate", "weibullvariate"),
        beside("Where is NV_MAGICCONST?", "NV_MAGICCONST", constants["NV_MAGICCONST"].lineno),
        says("What is BPF?", "BPF = 53|BPF=53|BPF: 53"),
        says("Which modules does it need?", "warnings", "math", "hashlib", "bisect"),
        beside("How many names are public?", "__all__|public|exports", len(public)),
        beside("How many methods has Random?", "Random", len(methods)),
    ]  # fmt: skip


def _is_constant(node: Any) -> bool:
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)


def patch(text: str) -> list[Question]:
    """Twenty questions about a patch."""
    blocks = re.split(r"(?m)^(?=diff --git )", text)[1:]
    files = {re.findall(r" b/(\S+)", block)[0]: block for block in blocks}
    plus = {name: len(re.findall(r"(?m)^\+(?!\+\+ )", block)) for name, block in files.items()}
    minus = {name: len(re.findall(r"(?m)^-(?!-- )", block)) for name, block in files.items()}
    hunks = {name: len(HUNK.findall(block)) for name, block in files.items()}
    names = list(files)
    return [
        beside("How many files does it change?", "files|file", len(files)),
        beside("How many lines are added?", "added|insertions|additions|+|lines", _signed("+", plus)),
        beside("How many are removed?", "removed|deletions|deleted|-|lines|−", _signed("-", minus)),
        says("Which files are touched?", *(name.rpartition("/")[2] for name in names)),
        beside("Which file is new?", "slack.py", "new|added|A|create|created"),
        beside("Which file goes?", "sched.py", "deleted|removed|D|delete"),
        beside("Which file is renamed, and to what?", "linecache.py", "source_lines.py"),
        beside("Which file is binary?", "zones.bin", "binary"),
        beside("How many hunks in all?", "hunks|hunk|@@", sum(hunks.values())),
        beside("How many hunks has statistics.py?", "statistics.py", hunks["lib/statistics.py"]),
        *(
            beside(f"How many lines does {name} gain and lose?", name, _signed("+", plus[name]), _signed("-", minus[name]))
            for name in ("lib/calendar.py", "lib/json/decoder.py", "lib/statistics.py")
        ),
        says("What is the queue size of the server set to?", "request_queue_size = 128"),
        says("What is the UDP server's timeout set to?", "timeout = 60"),
        says("What is StatisticsError called from here?", "StatsError"),
        says("What does the queue's deadline depend on?", "self.slack"),
        says("What is lazycache called from here?", "remember"),
        *(_place(name, files[name]) for name in ("lib/heapq.py", "lib/queue.py")),
    ]  # fmt: skip


def _signed(sign: str, counts: dict[str, int] | int) -> str:
    number = counts if isinstance(counts, int) else sum(counts.values())
    return f"{sign}{number}|{number}|−{number}"


def _place(name: str, block: str) -> Question:
    _, line, inside = HUNK.findall(block)[0]
    words = re.findall(r"(?:def|class) (\w+)", inside)
    return beside(f"Where does {name} change first?", name, f"{line}|{int(line) + 3}", *words)


def prose(text: str) -> list[Question]:
    """Twenty questions about three chapters; the facts are in the text of every Python since 3.11."""
    headings = [title for title, _ in HEADING.findall(text)]
    chapters = [title for title, rule in HEADING.findall(text) if rule == "*"]
    return [
        says("Which chapters are there?", *chapters),
        says("How is the first one's text organised?", headings[1]),
        says("Which sections are in the middle?", *headings[3:6]),
        says("What comes last?", headings[-1]),
        *(beside(f"On which line is {headings[at]!r}?", headings[at], _line(text, headings[at])) for at in (1, -3)),
        beside("How long is it?", "lines|line", len(text.splitlines())),
        beside("How many words?", "words|word", len(text.split())),
        says("Where is its source?", "Lib/pdb.py"),
        says("What is it about?", "interactive source code debugger"),
        says("How do I break into the debugger?", "breakpoint()"),
        says("Which file configures pdb?", ".pdbrc"),
        says("Which command sets a breakpoint for once?", "tbreak"),
        says("How do I debug a script?", "python -m pdb|python3 -m pdb|-m pdb"),
        says("What is a block?", "code block|code blocks"),
        says("Which exception has an unbound name?", "NameError"),
        says("And an unbound local?", "UnboundLocalError"),
        says("What may follow a field's name?", "conversion", "format_spec"),
        says("What has a format specification?", "sign", "width", "precision"),
        says("Which PEP brought the underscore option?", "PEP 515"),
    ]  # fmt: skip


def _line(text: str, heading: str) -> int:
    return text.splitlines().index(heading) + 1
