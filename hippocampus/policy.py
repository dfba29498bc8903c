"""What a user declares: which contents leave the view, when, and how short they become.

The only reader of policy files. Deciding by a policy is the plan's work, not this file's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hippocampus.entry import Compression
from hippocampus.errors import PolicyError, nearest

SUFFIX = ".yaml"
UNKNOWN_KIND = "text"
LARGEST_FILE_BYTES = 1_000_000


class Policy(BaseModel):
    """One policy, every field with its default."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = "default"
    """The name that reports give it."""
    index_over_tokens: int = Field(1_000, ge=0)
    """Tool results over this become an index entry; 0 indexes every result."""
    bulk_over_tokens: int = Field(1_000, ge=0)
    """The same for contents that are looked up and not read: known kinds without `fresh_turns`."""
    arguments_over_tokens: int = Field(300, ge=0)
    """Tool-call arguments over this shrink once their result is in; 0 shrinks all of them."""
    compression: Compression = "normal"
    """How short entries are: `none`, `light`, `normal`, `aggressive`, or their most tokens."""
    smallest_gain_tokens: int = Field(100, ge=0)
    """An edit that saves less is not made; 0 makes every edit that saves anything."""
    fresh_turns: dict[str, int] = Field(default_factory=lambda: {"code": 1, "prose": 1})
    """By kind of content: for how many calls it is shown in full first; 0 is on arrival."""
    fresh_up_to_tokens: int = Field(4_000, ge=0)
    """Larger contents are indexed on arrival whatever their kind."""
    recall_tokens: int = Field(2_000, ge=1)
    """What one recall returns at most, unless it asks for another bound."""

    def indexes(self, tokens: int, kind: Callable[[], str]) -> bool:
        """Say whether a content of so many tokens becomes an entry; its kind is asked if needed."""
        if self.compression == "none":
            return False
        if tokens <= min(self.index_over_tokens, self.bulk_over_tokens):
            return False
        found = kind()
        bulk = found != UNKNOWN_KIND and not self.fresh_turns.get(found)
        return tokens > (self.bulk_over_tokens if bulk else self.index_over_tokens)

    def shortens_arguments(self, tokens: int) -> bool:
        """Say whether the arguments of a call, of so many tokens, become an entry."""
        return self.compression != "none" and tokens > self.arguments_over_tokens

    def fresh_turns_of(self, kind: str, tokens: int) -> int:
        """Return for how many calls a content is shown in full before it may shrink."""
        return 0 if tokens > self.fresh_up_to_tokens else self.fresh_turns.get(kind, 0)


def load(named: str | Path) -> Policy:
    """Return a shipped policy by its name, or the policy of a file by its path.

    Raises:
        PolicyError: no such policy, or the file has problems; all of them are told at once.

    """
    return _parse(*_find(named))


def shipped() -> dict[str, Path]:
    """Return the policies that come with the package, by name."""
    return {path.stem: path for folder in _folders() for path in sorted(folder.glob("*" + SUFFIX))}


@functools.cache
def _folders() -> tuple[Path, ...]:
    """Return where policies lie: in the wheel, and beside the package in an editable install."""
    package = Path(str(resources.files("hippocampus")))
    found = (package / "policies", package.parent / "policies")
    return tuple(folder for folder in found if folder.is_dir())


def _find(named: str | Path) -> tuple[str, str]:
    known = shipped()
    path = known.get(str(named), Path(named))
    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise PolicyError([f"{path}: larger than {LARGEST_FILE_BYTES:,} bytes"])
        return str(path), path.read_text("utf-8")
    except (OSError, ValueError) as failure:
        near = ", ".join(nearest(str(named), known) or sorted(known))
        raise PolicyError([f"no policy {str(named)!r} ({failure}); shipped ones: {near}"]) from None


def _parse(where: str, text: str) -> Policy:
    try:
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
        data = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as failure:
        mark = getattr(failure, "problem_mark", None)
        at = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise PolicyError([f"{where}{at}: {getattr(failure, 'problem', failure)}"]) from None
    if not isinstance(data, dict):
        raise PolicyError([f"{where}:1:1: a policy is a mapping of fields to values @ $"])
    try:
        return Policy.model_validate(data)
    except ValidationError as failure:
        raise PolicyError(_problems(where, tree, failure)) from None


def _problems(where: str, tree: yaml.Node | None, failure: ValidationError) -> Iterator[str]:
    for error in failure.errors():
        path = error["loc"]
        line, column = _place(tree, path)
        dotted = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
        yield f"{where}:{line}:{column}: {_sentence(error)} @ ${dotted}"


def _sentence(error: Any) -> str:
    if error["type"] != "extra_forbidden":
        return str(error["msg"])
    near = nearest(str(error["loc"][-1]), Policy.model_fields)
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    return f"unknown field {error['loc'][-1]!r}{hint}"


def _place(node: yaml.Node | None, path: tuple[int | str, ...]) -> tuple[int, int]:
    """Return line and column of a path, both from 1; of the nearest node that exists."""
    mark = node.start_mark if node else None
    for key in path:
        found = _child(node, key)
        if found is None:
            break
        mark, node = found
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


def _child(node: yaml.Node | None, key: int | str) -> tuple[yaml.Mark, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if name.value == str(key):
                return name.start_mark, value
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
        return node.value[key].start_mark, node.value[key]
    return None
