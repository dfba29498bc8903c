"""A YAML text as plain data and as a tree that knows its lines; safe, and bounded in all its sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

MOST_NODES = 50_000
"""Nodes that a text may stand for, each alias counted as what it repeats."""
MOST_DEPTH = 40
Path = tuple[int | str, ...]


class _Loader(yaml.SafeLoader):
    """Makes plain data alone, and stops where a text grows beyond any policy."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._open = 0
        self._composed = 0
        self._sizes: dict[int, tuple[int, int]] = {}
        """By node, how many nodes it stands for and how deep it goes."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose a node; refuse it where it is too deep, too large, or inside itself."""
        self._open += 1
        self._composed += 1
        if self._open > MOST_DEPTH or self._composed > MOST_NODES:
            self._refuse("nested too deeply" if self._open > MOST_DEPTH else "too many values")
        node = super().compose_node(parent, index)
        self._open -= 1
        if node is not None:
            self._sizes.setdefault(id(node), self._measure(node))
        return node

    def _measure(self, node: yaml.Node) -> tuple[int, int]:
        sizes = [self._sizes.get(id(child)) for child in _children(node)]
        if None in sizes:
            self._refuse("an alias stands inside what it repeats")
        known = [size for size in sizes if size is not None]
        total = 1 + sum(size for size, _ in known)
        depth = 1 + max((depth for _, depth in known), default=0)
        if total > MOST_NODES or depth > MOST_DEPTH:
            self._refuse("aliases repeat more than any policy holds")
        return total, depth

    def _refuse(self, problem: str) -> None:
        raise yaml.MarkedYAMLError(problem=problem, problem_mark=self.get_mark())


def _children(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        for pair in node.value:
            yield from pair
    elif isinstance(node, yaml.SequenceNode):
        yield from node.value


PLAIN_TAGS = ("null", "bool", "int", "float", "str", "seq", "map")
_Loader.yaml_constructors = {
    f"tag:yaml.org,2002:{tag}": getattr(yaml.SafeLoader, f"construct_yaml_{tag}")
    for tag in PLAIN_TAGS
}
_Loader.yaml_constructors["tag:yaml.org,2002:timestamp"] = yaml.SafeLoader.construct_yaml_str
_Loader.yaml_constructors[None] = yaml.SafeLoader.construct_undefined


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong at one place of a text."""

    line: int
    column: int
    told: str
    path: Path | None = None
    """The value's place in the data; none where the text could not be read so far."""

    def at(self, where: str) -> str:
        """Return the problem as a sentence with its place in a file."""
        dotted = "" if self.path is None else f" @ ${''.join(map(_step, self.path))}"
        return f"{where}:{self.line}:{self.column}: {self.told}{dotted}"


def _step(key: int | str) -> str:
    if isinstance(key, str) and key.replace("-", "_").isidentifier():
        return f".{key}"
    return f"[{key}]" if isinstance(key, int) else f'["{key}"]'


class TreeError(ValueError):
    """A text is no YAML that a policy can be; it has the one problem that ended the reading."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.told)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Tree:
    """A YAML text, read."""

    data: Any
    root: yaml.Node | None
    twice: tuple[Problem, ...]
    """Keys that stand twice in one mapping."""

    def problem(self, told: str, path: Path) -> Problem:
        """Return a problem at a path; at the nearest place above it that stands in the text."""
        node, mark = self.root, self.root.start_mark if self.root else None
        found: list[int | str] = []
        for key in path:
            below = _child(node, key)
            if below is None:
                break
            mark, node = below
            found.append(key)
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        return Problem(line, column, told, tuple(found))


def read(text: str) -> Tree:
    """Read a YAML text of one document.

    Raises:
        TreeError: it is no YAML, holds other things than plain data, or is too large.

    """
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        twice = tuple(_twice(root))
        return Tree(loader.construct_document(root) if root else None, root, twice)
    except (yaml.YAMLError, ValueError, RecursionError) as failure:
        raise TreeError(_unreadable(failure, text)) from None


def _unreadable(failure: Exception, text: str) -> Problem:
    mark = getattr(failure, "problem_mark", None)
    if mark is not None:
        return Problem(mark.line + 1, mark.column + 1, str(getattr(failure, "problem", failure)))
    if isinstance(failure, yaml.reader.ReaderError):
        before = text[: failure.position]
        line = before.count("\n") + 1
        column = len(before) - before.rfind("\n")
        return Problem(line, column, f"no text: {failure.reason}")
    return Problem(1, 1, str(failure))


def _twice(root: yaml.Node | None) -> Iterator[Problem]:
    """Yield the keys that stand twice; what aliases repeat is looked at once."""
    waiting: list[tuple[Path, yaml.Node]] = [((), root)] if root else []
    seen: set[int] = set()
    while waiting:
        path, node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            yield from _repeated(path, node)
            waiting += [((*path, str(key.value)), value) for key, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            waiting += [((*path, at), value) for at, value in enumerate(node.value)]


def _repeated(path: Path, node: yaml.MappingNode) -> Iterator[Problem]:
    first: dict[tuple[str, str], int] = {}
    for key, _ in node.value:
        named = (key.tag, str(key.value))
        line, column = key.start_mark.line + 1, key.start_mark.column + 1
        if named in first:
            told = f"{key.value!r} stands twice; first in line {first[named]}"
            yield Problem(line, column, told, (*path, str(key.value)))
        first.setdefault(named, line)


def _child(node: yaml.Node | None, key: int | str) -> tuple[yaml.Mark, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if name.value == str(key):
                return name.start_mark, value
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
        return node.value[key].start_mark, node.value[key]
    return None
