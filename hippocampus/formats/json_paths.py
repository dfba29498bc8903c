"""Paths into a JSON value by RFC 9535, in bounded time and memory. Pure.

`$` may be left out, and a key may have characters that the RFC wants quoted: `items[3].my key`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from json.encoder import encode_basestring
from typing import Any, ClassVar

from jsonpath import JSONPath, JSONPathEnvironment
from jsonpath.exceptions import JSONPathError, JSONPathRecursionError
from jsonpath.function_extensions import ExpressionType, FilterFunction
from jsonpath.match import JSONPathMatch
from jsonpath.parse import Parser

from hippocampus import patterns
from hippocampus.entries.entry import storable

MAX_PATH_CHARACTERS = 1_000
MAX_STEPS = 200_000
"""The values that one path may visit, in less than a second; a filter counts by its length."""
FILTER_CHARACTERS = SELECTORS = 8
"""A test of a filter takes one step more for every 8 characters of its path, and a value for every
8 selectors that it is compared with, whether they find something or not."""
PATTERN_STEPS = 10_000
"""A search takes one step for each 10,000 instructions that RE2 may run: all for each character."""
COMPILE_STEPS = 10_000
"""The steps of each pattern of a filter: every value may have another."""
UNQUOTED = re.compile(r"(\[[^\]]*\])|(?<!\.)\.(?!\.)([^.\[\]*\"']+)")
NAME = re.compile(r"[^\W\d]\w*")
MAX_QUOTED_CHARACTERS = 100
"""How much of a wrong path an error quotes."""


class _Node(JSONPathMatch):
    """A value on the way, without the links and texts that only a result needs."""

    __slots__ = ()

    def new_child(self, obj: object, key: int | str) -> _Node:
        self._filter_context["spend"](self._filter_context["steps"])
        return _node(self._filter_context, obj, (*self.parts, key))

    def add_child(self, *_: JSONPathMatch) -> None:
        """Keep no list of children: a document may have millions."""

    def filter_context(self) -> Any:
        """Return the context of one test of a filter."""
        self._filter_context["spend"](self._filter_context["filter_steps"])
        return self._filter_context


def _node(context: Any, obj: object, parts: tuple[int | str, ...]) -> _Node:
    root = context["root"]
    return _Node(filter_context=context, obj=obj, parent=None, path="", parts=parts, root=root)


class _Query(JSONPath):
    """A path, or one inside a filter: all nodes of one evaluation are counted together."""

    def finditer(self, data: Any, *, filter_context: Any = None) -> Iterable[JSONPathMatch]:
        nodes: Iterable[JSONPathMatch] = [_node(filter_context, data, ())]
        for segment in self.segments:
            nodes = segment.resolve(nodes)
        return nodes


class _QueryParser(Parser):
    def parse_absolute_query(self, stream: Any) -> Any:
        return self._counted(super().parse_absolute_query(stream))

    def parse_relative_query(self, stream: Any) -> Any:
        return self._counted(super().parse_relative_query(stream))

    def _counted(self, query: Any) -> Any:
        query.path = _Query(env=self.env, segments=query.path.segments)
        return query


class _Search(FilterFunction):
    """A search by RE2, whose steps are counted; an invalid pattern matches nothing."""

    arg_types: ClassVar = [ExpressionType.VALUE, ExpressionType.VALUE]
    return_type = ExpressionType.LOGICAL

    def __init__(self, method: str, spend: Callable[[int], None]) -> None:
        self._method, self._spend = method, spend
        self._known: dict[str, Any] = {}

    def __call__(self, value: object, pattern: object) -> bool:
        if not isinstance(value, str) or not isinstance(pattern, str):
            return False
        if pattern not in self._known:
            self._spend(COMPILE_STEPS)
            self._known[pattern] = None
            with contextlib.suppress(patterns.PatternError):
                self._known[pattern] = patterns.compiled(storable(pattern))
        if (found := self._known[pattern]) is None:
            return False
        self._spend(found.programsize * len(value) // PATTERN_STEPS)
        return getattr(found, self._method)(value) is not None


class _Environment(JSONPathEnvironment):
    """What reads one path, whose searches are counted with the values that it visits."""

    parser_class = _QueryParser

    def __init__(self, spend: Callable[[int], None]) -> None:
        super().__init__(strict=True)
        self.function_extensions |= {
            "match": _Search("fullmatch", spend),
            "search": _Search("search", spend),
        }


def at_path(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the values at a path with their own paths, in order; none where it does not exist.

    Raises:
        ValueError: the text is not a path, or visits too many values.
    """
    compiled = _compiled(path, spend := _budget())
    for node in _nodes(value, path, compiled, spend):
        yield written(node.parts), node.obj


def reached(value: Any, path: str) -> tuple[str, Any]:
    """Return the longest existing start of a path that does not exist, and the value there.

    Of several values it is the first.

    Raises:
        ValueError: as `at_path`.
    """
    compiled = _compiled(path, spend := _budget())
    existing, there = "$", value
    for count in range(1, len(compiled.segments)):
        start = JSONPath(env=compiled.env, segments=compiled.segments[:count])
        node = next(_nodes(value, path, start, spend), None)
        if node is None:
            break
        existing, there = written(node.parts), node.obj
    return existing, there


def written(parts: Sequence[int | str]) -> str:
    """Return the path of keys and indices.

    >>> written(["items", 3, "a-b"])
    '$.items[3]["a-b"]'
    """
    return "$" + "".join(map(step, parts))


def step(part: int | str) -> str:
    """Return one key or index as a path has it."""
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if NAME.fullmatch(part) else f"[{encode_basestring(part)}]"


def _nodes(
    value: Any, path: str, compiled: JSONPath, spend: Callable[[int], None]
) -> Iterator[JSONPathMatch]:
    selectors = max((len(segment.selectors) for segment in compiled.segments), default=0)
    context = {
        "root": value,
        "spend": spend,
        "steps": 1 + selectors // SELECTORS,
        "filter_steps": 1 + len(path) // FILTER_CHARACTERS,
    }
    try:
        query = _Query(env=compiled.env, segments=compiled.segments)
        yield from query.finditer(value, filter_context=context)
    except JSONPathRecursionError:
        raise ValueError("the JSON is too deep for '..'; name its keys") from None
    except JSONPathError as wrong:
        raise _invalid(path, wrong) from None


def _budget() -> Callable[[int], None]:
    left = MAX_STEPS

    def spend(steps: int) -> None:
        nonlocal left
        left -= steps
        if left < 0:
            raise ValueError(f"the path visits over {MAX_STEPS:,} values; name more of its keys")

    return spend


def _compiled(path: str, spend: Callable[[int], None]) -> JSONPath:
    if len(path) > MAX_PATH_CHARACTERS:
        raise ValueError(f"the path is longer than {MAX_PATH_CHARACTERS:,} characters")
    bare = path.strip().removeprefix("$")
    standard = f"${'' if not bare or bare[0] in '.[' else '.'}{bare}"
    quoted = UNQUOTED.sub(lambda found: found[1] or f"[{encode_basestring(found[2])}]", standard)
    environment, wrong = _Environment(spend), Exception()
    for candidate in (standard, quoted):
        try:
            return environment.compile(candidate)  # type: ignore[return-value]
        except (JSONPathError, ValueError, OverflowError) as error:  # 1e400 is no integer
            wrong = error
    raise _invalid(path, wrong)


def _invalid(path: str, wrong: Exception) -> ValueError:
    why = str(getattr(wrong, "message", "") or wrong).split("\n", 1)[0][:MAX_QUOTED_CHARACTERS]
    text = f"{path[:MAX_QUOTED_CHARACTERS]!r} is not a path (RFC 9535): {why}; write $.key[3].name"
    return ValueError(text)
