"""Finds and reads policy files, with the files that they extend: YAML of plain data, bounded in size and depth.

The only reader of policy files. Reports all problems of a file and its bases at once, each with
its line and the nearest known names.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError

from hippocampus.errors import PolicyError, hint
from hippocampus.policy.fields import Policy

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


def read(text: str, where: str) -> Tree:
    """Read a YAML text of one document, from a file of a name.

    Raises:
        PolicyError: the text is not YAML, has more than plain data, or is too large.
    """
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        twice = tuple(_repeated_keys(root))
        return Tree(loader.construct_document(root) if root else None, root, twice)
    except (yaml.YAMLError, ValueError, RecursionError) as failure:
        raise PolicyError([_describe(failure, text).at(where)]) from None


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


EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_type": "text",
    "dict_type": "a mapping",
    "tuple_type": "a list",
    "model_type": "a mapping of fields",
    "model_attributes_type": "a mapping of fields",
    "string_too_short": "text that is not empty",
    "invalid_key": "text as a key",
}
"""The expected value, by the type of pydantic's error."""
QUOTABLE = ("string_type", "invalid_key")
BOUNDS = {
    "greater_than": ("more than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than_equal": ("at most", "le"),
}
QUOTED = re.compile(r"'([^']*)'")
MAX_FOUND_CHARACTERS = 60


def problems_of(tree: Tree, failure: ValidationError) -> Iterator[Problem]:
    """Yield the problems of a failed validation, with their positions in the text."""
    for error in failure.errors(include_url=False):
        path = tuple(key for key in error["loc"] if key != "[key]")
        yield tree.problem(_sentence(error, path), path)


def _sentence(error: Any, path: YamlPath) -> str:
    kind, found = error["type"], error["input"]
    if kind == "extra_forbidden":
        fields = fields_at(path[:-1])
        name = str(path[-1])
        return f"unknown field {name!r}" + hint(name, fields, f"known: {', '.join(fields)}")
    if kind == "missing":
        return f"field {path[-1]!r} is missing"
    if kind == "literal_error":
        words = QUOTED.findall(error["ctx"]["expected"])
        return f"expected one of {', '.join(words)}; found {_described(found)}{hint(found, words)}"
    if kind in BOUNDS:
        word, bound = BOUNDS[kind]
        return f"expected {word} {error['ctx'][bound]}, found {_described(found)}"
    if kind in EXPECTED:
        is_scalar = isinstance(found, bool | int | float)
        quotes = "; put it in quotes" if kind in QUOTABLE and is_scalar else ""
        return f"expected {EXPECTED[kind]}, found {_described(found)}{quotes}"
    return str(error["msg"]).removeprefix("Value error, ")


def fields_at(path: YamlPath) -> tuple[str, ...]:
    """Return the names of the fields that a policy allows at a path."""
    model: type[BaseModel] = Policy
    for key in path:
        if isinstance(key, str):
            fields = model.model_fields.items()
            field = next(field for name, field in fields if key == (field.alias or name))
            model = next(_models(field.annotation), model)
    return tuple(field.alias or name for name, field in model.model_fields.items())


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def _described(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, bool):
        return str(value).lower()
    quoted = repr(value)
    if len(str(value)) > MAX_FOUND_CHARACTERS:
        quoted = f"{str(value)[:MAX_FOUND_CHARACTERS]!r}…"
    return f"text {quoted}" if isinstance(value, str) else f"the number {quoted}"


SUFFIX = ".yaml"
MAX_FILE_BYTES = 1_000_000
BLOCKS = frozenset({"consolidation", "facts"})
"""Blocks that are merged key by key with those of the extended policy."""
MERGED = ("decay_rates", "fresh_turns")
"""Tables that are merged key by key with those of the extended policy."""


def load(named: str | Path) -> Policy:
    """Return a shipped policy by its name, or the policy in a file by its path.

    Raises:
        PolicyError: there is no such policy, or the file has problems; the error lists every problem.
    """
    try:
        return _load(_path_of(named, Path()), str(named), ())
    except _NoPolicyError as failure:
        raise PolicyError([str(failure)]) from None


@functools.cache
def shipped() -> dict[str, Path]:
    """Return the policies of the package by name: from the wheel, or from the folder of a checkout."""
    package = Path(str(resources.files("hippocampus")))
    folders = (package / "policies", package.parent / "policies")
    return {path.stem: path for folder in folders for path in sorted(folder.glob("*" + SUFFIX))}


def text_of(named: str | Path) -> str:
    """Return the text of a policy's file.

    Raises:
        PolicyError: there is no such policy, or the file is not text.
    """
    try:
        return _text(_path_of(named, Path()), str(named))
    except _NoPolicyError as failure:
        raise PolicyError([str(failure)]) from None


class _NoPolicyError(ValueError):
    """There is no policy of this name, or it would extend itself."""


def _path_of(named: str | Path, folder: Path) -> Path:
    return shipped().get(str(named), folder / named)


def _text(path: Path, named: str) -> str:
    try:
        with path.open("rb") as file:  # a device has no size to check first
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise PolicyError([f"{path}: larger than {MAX_FILE_BYTES:,} bytes"])
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, ValueError) as failure:
        known = sorted(shipped())
        why = (failure.strerror or "") if isinstance(failure, OSError) else str(failure)
        others = hint(named, known, f"shipped ones: {', '.join(known)}")
        raise _NoPolicyError(f"no policy {named!r}: {why.lower()}{others}") from None


def _load(path: Path, named: str, chain: tuple[Path, ...]) -> Policy:
    """Read a file and the policy that it extends; `chain` are the files that extend this file."""
    tree = read(_text(path, named), str(path))
    if not isinstance(tree.data, dict):
        problem = tree.problem("a policy is a mapping of fields to values", ())
        raise PolicyError([problem.at(str(path))])
    own = base = None
    problems, inherited = list(tree.twice), list[str]()
    if isinstance(extends := tree.data.get("extends"), str):
        other, chain = _path_of(extends, path.parent), (*chain, path.resolve())
        try:
            if other.resolve() in chain:
                circle = " → ".join(file.name for file in (*chain, other))
                raise _NoPolicyError(f"a policy cannot extend itself: {circle}")
            if os.path.lexists(other) and not other.is_file():  # a pipe may never end
                raise _NoPolicyError(f"{extends!r} is not a file")
            base = _load(other, extends, chain)
        except PolicyError as failure:
            inherited += failure.problems
        except ValueError as failure:
            problems.append(tree.problem(str(failure), ("extends",)))
    try:
        own = Policy.model_validate({"name": path.stem, **tree.data})
    except ValidationError as failure:
        problems += problems_of(tree, failure)
    if own is None or problems or inherited:
        problems.sort(key=lambda problem: (problem.line, problem.column))
        raise PolicyError([*(problem.at(str(path)) for problem in problems), *inherited])
    return own if base is None else extended(base, own, tree.data)


def extended(base: Policy, own: Policy, written: Mapping[str, Any]) -> Policy:
    """Return a policy with the fields that it leaves out taken from `base`.

    `written` is the data of its file. Tables are merged key by key, and a rule replaces the rule of
    the same name. The other rules of `base` come before its own.
    """
    update: dict[str, Any] = {name: getattr(own, name) for name in own.model_fields_set}
    for name in MERGED:
        if name in update:
            table = {key: getattr(own, name)[key] for key in written[name]}
            update[name] = {**getattr(base, name), **table}
    for name in BLOCKS & update.keys():
        block = {key: getattr(getattr(own, name), key) for key in written[name]}
        update[name] = getattr(base, name).model_copy(update=block)
    if "source_types" in update:
        theirs = base.source_types.items()
        rest = {glob: source for glob, source in theirs if glob not in own.source_types}
        update["source_types"] = {**own.source_types, **rest}
    merged = base.model_copy(update=update)
    named = {rule.name for rule in own.lifecycle_policies}
    labelled = (  # a rule without a name is named by its position
        rule if rule.name else rule.model_copy(update={"name": f"{base.name} rule {number}"})
        for number, rule in enumerate(base.lifecycle_policies, start=1)
    )
    kept = tuple(rule for rule in labelled if rule.name not in named)
    return merged.model_copy(update={"lifecycle_policies": kept + own.lifecycle_policies})
