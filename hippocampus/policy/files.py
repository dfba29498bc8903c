"""Policy files, found and read, each with the ones that it extends.

The only reader of policy files. All problems of a file, and of those it extends, are told at once.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hippocampus.errors import PolicyError, nearest
from hippocampus.policy.fields import Policy
from hippocampus.policy.problems import problems_of
from hippocampus.policy.rules import Rule
from hippocampus.policy.tree import Problem, Tree, TreeError, read

SUFFIX = ".yaml"
LARGEST_FILE_BYTES = 1_000_000
BLOCKS = frozenset({"consolidation", "facts"})
"""Blocks that are completed key by key too."""
MERGED = ("decay_rates", "fresh_turns")
"""Tables that a policy completes key by key with those of the policy that it extends."""


def load(named: str | Path) -> Policy:
    """Return a shipped policy by its name, or the policy of a file by its path.

    Raises:
        PolicyError: no such policy, or the file has problems; all of them are told at once.

    """
    try:
        return _load(_path_of(named, Path()), str(named), ())
    except _NoPolicyError as failure:
        raise PolicyError([str(failure)]) from None


def shipped() -> dict[str, Path]:
    """Return the policies that come with the package, by name."""
    return {path.stem: path for folder in _folders() for path in sorted(folder.glob("*" + SUFFIX))}


def text_of(named: str | Path) -> str:
    """Return the text of a policy's file.

    Raises:
        PolicyError: no such policy, or it is no text.

    """
    try:
        return _text(_path_of(named, Path()), str(named))
    except _NoPolicyError as failure:
        raise PolicyError([str(failure)]) from None


class _NoPolicyError(ValueError):
    """There is no policy of some name, or it cannot be the one that is meant."""


@functools.cache
def _folders() -> tuple[Path, ...]:
    """Return where policies lie: in the wheel, and beside the package in an editable install."""
    package = Path(str(resources.files("hippocampus")))
    found = (package / "policies", package.parent / "policies")
    return tuple(folder for folder in found if folder.is_dir())


def _path_of(named: str | Path, folder: Path) -> Path:
    return shipped().get(str(named), folder / named)


def _text(path: Path, named: str) -> str:
    try:
        with path.open("rb") as file:  # a device does not say its size
            data = file.read(LARGEST_FILE_BYTES + 1)
        if len(data) > LARGEST_FILE_BYTES:
            raise PolicyError([f"{path}: larger than {LARGEST_FILE_BYTES:,} bytes"])
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, ValueError) as failure:
        known = shipped()
        near = ", ".join(nearest(named, known) or sorted(known))
        why = (failure.strerror or "") if isinstance(failure, OSError) else str(failure)
        told = f"no policy {named!r}: {why.lower()}; shipped ones: {near}"
        raise _NoPolicyError(told) from None


@dataclass
class _Reading:
    """One file under way: what is known of it, and what is wrong with it."""

    path: Path
    tree: Tree
    own: list[Problem] = field(default_factory=list)
    base: list[str] = field(default_factory=list)
    """The problems of what it extends."""

    def problems(self) -> list[str]:
        """Return all problems: its own by place, then those of what it extends."""
        ordered = sorted(self.own, key=lambda each: (each.line, each.column))
        return [problem.at(str(self.path)) for problem in ordered] + self.base


def _load(path: Path, named: str, chain: tuple[Path, ...]) -> Policy:
    """Read a file and what it extends; `chain` are the files that extend it."""
    reading = _opened(path, named)
    own = _validated(reading)
    base = _base(reading, (*chain, path.resolve()))
    if own is None or reading.own or reading.base:
        raise PolicyError(reading.problems())
    return own if base is None else extended(base, own, reading.tree.data)


def _opened(path: Path, named: str) -> _Reading:
    text = _text(path, named)
    try:
        reading = _Reading(path, read(text))
    except TreeError as failure:
        raise PolicyError([failure.problem.at(str(path))]) from None
    if not isinstance(reading.tree.data, dict):
        told = "a policy is a mapping of fields to values"
        raise PolicyError([reading.tree.problem(told, ()).at(str(path))])
    return reading


def _validated(reading: _Reading) -> Policy | None:
    reading.own += reading.tree.twice
    try:
        return Policy.model_validate({"name": reading.path.stem, **reading.tree.data})
    except ValidationError as failure:
        reading.own += problems_of(reading.tree, failure)
        return None


def _base(reading: _Reading, chain: tuple[Path, ...]) -> Policy | None:
    """Return the policy that a file extends; note what is wrong with it."""
    named = reading.tree.data.get("extends")
    if not isinstance(named, str):
        return None
    path = _path_of(named, reading.path.parent)
    try:
        if path.resolve() in chain:
            way = " → ".join(each.name for each in (*chain, path))
            raise _NoPolicyError(f"a policy cannot extend itself: {way}")
        return _load(path, named, chain)
    except PolicyError as failure:
        reading.base += failure.problems
    except ValueError as failure:
        reading.own.append(reading.tree.problem(str(failure), ("extends",)))
    return None


def extended(base: Policy, own: Policy, written: Mapping[str, Any]) -> Policy:
    """Return a policy with what it leaves out taken from another one; `written` is its file's data.

    Tables are completed key by key, and a rule replaces the one of its name. The other rules of
    `base` come before the own ones where the last word counts, and after them where the first does.
    """
    update: dict[str, Any] = {name: getattr(own, name) for name in own.model_fields_set}
    for name in MERGED:
        if name in update:
            said = {key: getattr(own, name)[key] for key in written[name]}
            update[name] = {**getattr(base, name), **said}
    for name in BLOCKS & update.keys():
        block = {key: getattr(getattr(own, name), key) for key in written[name]}
        update[name] = getattr(base, name).model_copy(update=block)
    if "source_types" in update:
        theirs = base.source_types.items()
        rest = {glob: source for glob, source in theirs if glob not in own.source_types}
        update["source_types"] = {**own.source_types, **rest}
    merged = base.model_copy(update=update)
    named = {rule.name for rule in own.lifecycle_policies}
    kept = tuple(rule for rule in _labelled(base) if rule.name not in named)
    ours = own.lifecycle_policies
    joined = ours + kept if merged.rules == "first" else kept + ours
    return merged.model_copy(update={"lifecycle_policies": joined})


def _labelled(base: Policy) -> tuple[Rule, ...]:
    """Return the rules of a policy that is extended, those without a name named by their place."""
    return tuple(
        rule if rule.name else rule.model_copy(update={"name": f"{base.name} rule {number}"})
        for number, rule in enumerate(base.lifecycle_policies, start=1)
    )
