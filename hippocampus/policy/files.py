"""Finds and reads policy files, with the files that they extend.

The only reader of policy files. Reports all problems of a file and of those that it extends at once.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hippocampus.errors import PolicyError, nearest
from hippocampus.policy.fields import Policy
from hippocampus.policy.problems import problems_of
from hippocampus.policy.tree import TreeError, read

SUFFIX = ".yaml"
MAX_FILE_BYTES = 1_000_000
BLOCKS = frozenset({"consolidation", "facts"})
"""Blocks that are merged key by key with those of the extended policy."""
MERGED = ("decay_rates", "fresh_turns")
"""Tables that are merged key by key with those of the extended policy."""


def load(named: str | Path) -> Policy:
    """Return a shipped policy by its name, or the policy in a file by its path.

    Raises:
        PolicyError: there is no such policy, or the file has problems; the error lists all of them.
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
        known = shipped()
        near = ", ".join(nearest(named, known))
        hint = f"did you mean {near}?" if near else f"shipped ones: {', '.join(sorted(known))}"
        why = (failure.strerror or "") if isinstance(failure, OSError) else str(failure)
        raise _NoPolicyError(f"no policy {named!r}: {why.lower()}; {hint}") from None


def _load(path: Path, named: str, chain: tuple[Path, ...]) -> Policy:
    """Read a file and the policy that it extends; `chain` are the files that extend this file."""
    text = _text(path, named)
    try:
        tree = read(text)
    except TreeError as failure:
        raise PolicyError([failure.problem.at(str(path))]) from None
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
            if other.exists() and not other.is_file():  # a pipe may never end
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
