"""Reads YAML into plain data with the lines of its values; safe, and bounded in size and depth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

MAX_NODES = 50_000
"""The most nodes of a text."""
MAX_DEPTH = 40
QUOTE = "quote a value that begins with '*'; a policy has no aliases"
YamlPath = tuple[int | str, ...]


class _Loader(yaml.SafeLoader):
    """Constructs only plain data without aliases, and refuses a text that is larger than any policy."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._open = 0
        self._composed = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose a node; refuse an alias, and a node that is too deep or one too many."""
        if self.check_event(yaml.AliasEvent):
            mark = self.current_event.start_mark
            raise yaml.MarkedYAMLError(problem=QUOTE, problem_mark=mark)
        self._open += 1
        self._composed += 1
        if self._open > MAX_DEPTH or self._composed > MAX_NODES:
            problem = "nested too deeply" if self._open > MAX_DEPTH else "too many values"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=self.get_mark())
        node = super().compose_node(parent, index)
        self._open -= 1
        return node


MAX_BITS = 13_000
"""The most bits of a whole number; Python does not print numbers of more than 4,300 digits."""


def _whole_number(loader: _Loader, node: yaml.ScalarNode) -> int:
    number = int(loader.construct_yaml_int(node))
    if number.bit_length() > MAX_BITS:
        raise yaml.MarkedYAMLError(
            problem="a number larger than any policy needs", problem_mark=node.start_mark
        )
    return number


PLAIN_TAGS = ("null", "bool", "int", "float", "str", "seq", "map")
_Loader.yaml_constructors = {
    f"tag:yaml.org,2002:{tag}": getattr(yaml.SafeLoader, f"construct_yaml_{tag}")
    for tag in PLAIN_TAGS
}
_Loader.yaml_constructors["tag:yaml.org,2002:int"] = _whole_number
_Loader.yaml_constructors["tag:yaml.org,2002:timestamp"] = yaml.SafeLoader.construct_yaml_str
_Loader.yaml_constructors[None] = yaml.SafeLoader.construct_undefined


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem at one position of a text."""

    line: int
    column: int
    text: str
    path: YamlPath | None = None
    """The path of the value in the data; None if the text could not be parsed."""

    def at(self, where: str) -> str:
        """Return the problem as a sentence with its position in a file."""
        from hippocampus.formats.json_paths import written

        place = "" if self.path is None else f" @ {written(self.path)}"
        return f"{where}:{self.line}:{self.column}: {self.text}{place}"


class TreeError(ValueError):
    """A text cannot be read as YAML of plain data; `problem` is the cause."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.text)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Tree:
    """A parsed YAML text."""

    data: Any
    root: yaml.Node | None
    twice: tuple[Problem, ...]
    """Keys that occur twice in one mapping."""

    def problem(self, text: str, path: YamlPath) -> Problem:
        """Return a problem at a path, or at the nearest existing path above it."""
        node, mark = self.root, self.root.start_mark if self.root else None
        found: list[int | str] = []
        for key in path:
            below = _child(node, key)
            if below is None:
                break
            mark, node = below
            found.append(key)
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        return Problem(line, column, text, tuple(found))


def read(text: str) -> Tree:
    """Read a YAML text of one document.

    Raises:
        TreeError: the text is not YAML, has more than plain data, or is too large.
    """
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        twice = tuple(_repeated_keys(root))
        return Tree(loader.construct_document(root) if root else None, root, twice)
    except (yaml.YAMLError, ValueError, RecursionError) as failure:
        raise TreeError(_describe(failure, text)) from None


def _describe(failure: Exception, text: str) -> Problem:
    if isinstance(failure, yaml.MarkedYAMLError) and failure.problem_mark:
        mark, problem = failure.problem_mark, str(failure.problem)
        if failure.context == "while scanning an alias":
            mark, problem = failure.context_mark or mark, QUOTE
        elif isinstance(failure, (yaml.scanner.ScannerError, yaml.parser.ParserError)):
            problem = f"not YAML: {problem}"
        return Problem(mark.line + 1, mark.column + 1, problem)
    if isinstance(failure, yaml.reader.ReaderError):
        before = text[: failure.position]
        line = before.count("\n") + 1
        column = len(before) - before.rfind("\n")
        return Problem(line, column, f"no text: {failure.reason}")
    return Problem(1, 1, str(failure))


def _repeated_keys(root: yaml.Node | None) -> Iterator[Problem]:
    """Yield a problem for each key that occurs twice in a mapping."""
    waiting: list[tuple[YamlPath, yaml.Node]] = [((), root)] if root else []
    while waiting:
        path, node = waiting.pop()
        if isinstance(node, yaml.MappingNode):
            first: dict[tuple[str, str], int] = {}
            for key, _ in node.value:
                named, mark = (key.tag, str(key.value)), key.start_mark
                if named in first:
                    text = f"{key.value!r} stands twice; first in line {first[named]}"
                    yield Problem(mark.line + 1, mark.column + 1, text, (*path, str(key.value)))
                first.setdefault(named, mark.line + 1)
            waiting += [((*path, str(key.value)), value) for key, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            waiting += [((*path, at), value) for at, value in enumerate(node.value)]


def _child(node: yaml.Node | None, key: int | str) -> tuple[yaml.Mark, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if name.value == str(key):
                return name.start_mark, value
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
        return node.value[key].start_mark, node.value[key]
    return None
