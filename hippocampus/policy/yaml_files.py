"""Finds and reads policy files, with the files that they extend: YAML of plain data, bounded in size and depth.

The only reader of policy files. Reports all problems of a file and its bases at once, each with
its line and the nearest known names.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple, get_args

import yaml
from pydantic import BaseModel, ValidationError

from hippocampus.errors import PolicyError, hint
from hippocampus.policy.policy import Policy
from hippocampus.policy.rules import Declared

MAX_NODES = 50_000
"""The most nodes of a text."""
MAX_DEPTH = 40
QUOTE = "quote a value that begins with '*'; a policy has no aliases"
YamlPath = tuple[int | str, ...]


class _Loader(yaml.SafeLoader):
    """Constructs only plain data without aliases, and refuses a text that is larger than any policy."""

    open_nodes = composed_nodes = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose a node; refuse an alias, and a node that is too deep or one too many."""
        if self.check_event(yaml.AliasEvent):
            mark = self.current_event.start_mark
            raise yaml.MarkedYAMLError(problem=QUOTE, problem_mark=mark)
        self.open_nodes += 1
        self.composed_nodes += 1
        if self.open_nodes > MAX_DEPTH or self.composed_nodes > MAX_NODES:
            problem = "nested too deeply" if self.open_nodes > MAX_DEPTH else "too many values"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=self.get_mark())
        node = super().compose_node(parent, index)
        self.open_nodes -= 1
        return node

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        """Return a whole number that Python can print."""
        number = int(super().construct_yaml_int(node))
        if number.bit_length() > MAX_BITS:
            problem = "a number larger than any policy needs"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
        return number


MAX_BITS = 13_000
"""The most bits of a whole number; Python does not print numbers of more than 4,300 digits."""
PLAIN_TAGS = ("null", "bool", "int", "float", "str", "seq", "map")
_Loader.yaml_constructors = {
    **{f"tag:yaml.org,2002:{tag}": getattr(_Loader, f"construct_yaml_{tag}") for tag in PLAIN_TAGS},
    "tag:yaml.org,2002:timestamp": _Loader.construct_yaml_str,
    None: _Loader.construct_undefined,
}


class Problem(NamedTuple):
    """A problem at one position of a text."""

    line: int
    column: int
    text: str

    def at(self, where: str) -> str:
        """Return the problem as a sentence with its position in a file."""
        return f"{where}:{self.line}:{self.column}: {self.text}"


def _problem(mark: yaml.Mark | None, text: str, path: YamlPath | None = None) -> Problem:
    """Return a problem at a mark, with the path of the value if the text could be parsed."""
    if path is not None:
        from hippocampus.formats.json_paths import written

        text = f"{text} @ {written(path)}"
    return Problem(mark.line + 1, mark.column + 1, text) if mark else Problem(1, 1, text)


class Tree:
    """A parsed YAML text, and the position of each of its values."""

    def __init__(self, data: Any, root: yaml.Node | None) -> None:
        """Take the data of a text, and the root of its nodes."""
        self.data = data
        self.twice: list[Problem] = []
        """Keys that occur twice in one mapping."""
        self._marks: dict[tuple[str, ...], yaml.Mark] = {}
        nodes: list[tuple[YamlPath, yaml.Mark, yaml.Node]] = (
            [((), root.start_mark, root)] if root else []
        )
        for path, mark, node in nodes:  # which grows by the nodes below each node
            if first := self._marks.get(_named(path)):
                text = f"{path[-1]!r} stands twice; first in line {first.line + 1}"
                self.twice.append(_problem(mark, text, path))
                continue
            self._marks[_named(path)] = mark
            if isinstance(node, yaml.MappingNode):
                nodes += [((*path, str(key.value)), key.start_mark, at) for key, at in node.value]
            elif isinstance(node, yaml.SequenceNode):
                nodes += [((*path, n), at.start_mark, at) for n, at in enumerate(node.value)]

    def problem(self, text: str, path: YamlPath) -> Problem:
        """Return a problem at a path, or at the nearest existing path above it."""
        while path and _named(path) not in self._marks:
            path = path[:-1]
        return _problem(self._marks.get(_named(path)), text, path)


def _named(path: YamlPath) -> tuple[str, ...]:
    """Return a path with its keys as text: a key that is a number is one of a mapping or of a list."""
    return tuple(map(str, path))


def read(text: str, where: str) -> Tree:
    """Read a YAML text of one document, from a file of a name.

    Raises:
        PolicyError: the text is not YAML, has more than plain data, or is too large.
    """
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        return Tree(loader.construct_document(root) if root else None, root)
    except (yaml.YAMLError, ValueError, RecursionError) as failure:
        match failure:
            case yaml.reader.ReaderError(position=at):
                line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
                problem = Problem(line, column, f"no text: {failure.reason}")
            case yaml.MarkedYAMLError(context="while scanning an alias"):
                problem = _problem(failure.context_mark, QUOTE)
            case yaml.scanner.ScannerError() | yaml.parser.ParserError():
                problem = _problem(failure.problem_mark, f"not YAML: {failure.problem}")
            case yaml.MarkedYAMLError(problem_mark=yaml.Mark()):
                problem = _problem(failure.problem_mark, str(failure.problem))
            case _:
                problem = Problem(1, 1, str(failure))
        raise PolicyError([problem.at(where)]) from None


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
    "too_short": "at least one item",
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
        kind, found, bounds = error["type"], error["input"], error.get("ctx", {})
        text = str(error["msg"]).removeprefix("Value error, ")
        if kind == "extra_forbidden":
            name, fields = str(path[-1]), fields_at(path[:-1])
            text = f"unknown field {name!r}" + hint(name, fields, f"known: {', '.join(fields)}")
        elif kind == "missing":
            text = f"field {path[-1]!r} is missing"
        elif kind == "literal_error":
            words = QUOTED.findall(bounds["expected"])
            text = f"expected one of {', '.join(words)}; found {_described(found)}"
            text += hint(found, words)
        elif kind in BOUNDS:
            word, bound = BOUNDS[kind]
            text = f"expected {word} {bounds[bound]}, found {_described(found)}"
        elif kind in EXPECTED:
            text = f"expected {EXPECTED[kind]}, found {_described(found)}"
            if kind in QUOTABLE and isinstance(found, bool | int | float):
                text += "; put it in quotes"
        yield tree.problem(text, path)


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


def load(named: str | Path) -> Policy:
    """Return a shipped policy by its name, or the policy in a file by its path.

    Raises:
        PolicyError: there is no such policy, or the file has problems; the error lists every problem.
    """
    path = _path_of(named, Path())
    return _load(path, _text(path, str(named)), ())


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
    return _text(_path_of(named, Path()), str(named))


def _path_of(named: str | Path, folder: Path) -> Path:
    return shipped().get(str(named), folder / named)


def _text(path: Path, named: str, chain: tuple[Path, ...] = ()) -> str:
    """Return the text of a file, which the last file of `chain` extends."""
    if chain and path.resolve() in chain:
        circle = " → ".join(file.name for file in (*chain, path))
        raise PolicyError([f"a policy cannot extend itself: {circle}"])
    if chain and os.path.lexists(path) and not path.is_file():  # a pipe may never end
        raise PolicyError([f"{named!r} is not a file"])
    try:
        with path.open("rb") as file:  # a device has no size to check first
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as failure:
        known = sorted(shipped())
        why = (failure.strerror or "") if isinstance(failure, OSError) else str(failure)
        others = hint(named, known, f"shipped ones: {', '.join(known)}")
        raise PolicyError([f"no policy {named!r}: {why.lower()}{others}"]) from None
    if len(data) > MAX_FILE_BYTES:
        raise PolicyError([f"{path}: larger than {MAX_FILE_BYTES:,} bytes"])
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as failure:
        before = failure.object[: failure.start]
        column = len(before) - before.rfind(b"\n")
        problem = Problem(before.count(b"\n") + 1, column, f"not UTF-8: {failure.reason}")
        raise PolicyError([problem.at(str(path))]) from None


def _load(path: Path, text: str, chain: tuple[Path, ...]) -> Policy:
    """Read a file and the policy that it extends; `chain` are the files that extend this file."""
    tree = read(text, str(path))
    if not isinstance(tree.data, dict):
        problem = tree.problem("a policy is a mapping of fields to values", ())
        raise PolicyError([problem.at(str(path))])
    own = base = None
    problems, inherited = [*tree.twice], tuple[str, ...]()
    if isinstance(extends := tree.data.get("extends"), str):
        other, chain = _path_of(extends, path.parent), (*chain, path.resolve())
        try:
            below = _text(other, extends, chain)
        except (PolicyError, ValueError) as failure:
            problems.append(tree.problem(str(failure), ("extends",)))
        else:
            try:
                base = _load(other, below, chain)
            except PolicyError as failure:
                inherited = failure.problems
    try:
        own = Policy.model_validate({"name": path.stem, **tree.data})
    except ValidationError as failure:
        problems += problems_of(tree, failure)
    else:
        problems += _rule_problems(tree, own)
    if own is None or problems or inherited:
        problems.sort(key=lambda problem: (problem.line, problem.column))
        raise PolicyError([*(problem.at(str(path)) for problem in problems), *inherited])
    return own if base is None else extended(base, own, tree.data)


def _rule_problems(tree: Tree, policy: Policy) -> Iterator[Problem]:
    """Yield a problem for each rule that has the name of one above it, or that sets nothing."""
    names = set[str]()
    for number, rule in enumerate(policy.lifecycle_policies):
        place = ("lifecycle_policies", number)
        if rule.name in names:
            yield tree.problem(f"a rule above has the name {rule.name!r} too", (*place, "name"))
        # With a name it may take a rule away from the extended policy.
        if not (rule.action.model_fields_set or (rule.name and policy.extends)):
            yield tree.problem("the rule sets no field", (*place, "action"))
        names |= {rule.name} if rule.name else set()


def extended(base: Policy, own: Policy, written: Mapping[str, Any]) -> Policy:
    """Return a policy with the fields that it leaves out taken from `base`.

    `written` is the data of its file. Tables and blocks are merged key by key, and a rule replaces the rule of
    the same name. The other rules of `base` come before its own.
    """
    update: dict[str, Any] = {}
    for name in own.model_fields_set:
        theirs, value = getattr(base, name), getattr(own, name)
        if isinstance(value, Declared):
            value = theirs.model_copy(update={key: getattr(value, key) for key in written[name]})
        elif isinstance(value, dict):
            # Own keys come first, since the first glob of `source_types` that matches counts.
            table = {key: value[key] for key in written[name]}
            value = {**table, **theirs, **table}
        update[name] = value
    merged = base.model_copy(update=update)
    named = {rule.name for rule in own.lifecycle_policies}
    labelled = (  # a rule without a name is named by its position
        rule if rule.name else rule.model_copy(update={"name": f"{base.name} rule {number}"})
        for number, rule in enumerate(base.lifecycle_policies, start=1)
    )
    kept = tuple(rule for rule in labelled if rule.name not in named)
    return merged.model_copy(update={"lifecycle_policies": kept + own.lifecycle_policies})
