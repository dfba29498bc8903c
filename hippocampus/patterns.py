"""Patterns over texts of any size, on RE2 or on `regex` within a time limit, and tables of them.

RE2 is linear in the text. Where google-re2 is not installed (Alpine and free-threaded Python have no
wheel of it), `regex` reads the same patterns, and each search ends after `MAX_SECONDS`. Pure.
"""

from __future__ import annotations

import contextlib
import importlib.util
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

HAS_RE2 = importlib.util.find_spec("re2") is not None
MAX_SECONDS, MAX_BYTES = 2.0, 8 << 20
NOT_IN_RE2 = re.compile(r"(?<!\\)(?:\\\\)*(?:\\[1-9gkZ]|\(\?(?:<?[=!]|[>#(]|P=))")
"""References to groups, lookaround, atomic groups, conditions and comments, which `regex` has."""
LONE_SURROGATES = re.compile("[\ud800-\udfff]")


class PatternError(ValueError):
    """A text is no pattern, or a search for it takes too long."""


def table(package: str, name: str) -> dict[str, list[str]]:
    """Return the paragraphs of a text file of a package: the lines below each head.

    In most of them the lines are alternatives of one expression.
    """
    from importlib import resources

    return dict(paragraphs(resources.files(package).joinpath(name).read_text("utf-8")))


def paragraphs(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the head and the lines of each paragraph of a table, whose lines are indented by two."""
    for paragraph in re.split(r"\n(?=\S)", text.strip("\n")):
        head, *lines = paragraph.split("\n")
        yield head, [line[2:] for line in lines]


def searchable(text: str) -> str:
    """Return a text of the same length without lone surrogates, which RE2 does not accept."""
    return text if text.isascii() else LONE_SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)


def compiled(
    pattern: str | bytes, *, memory_bytes: int = MAX_BYTES, has_groups: bool = False
) -> Any:
    """Return an expression with `search`, `fullmatch`, `finditer` and `groups`.

    RE2 refuses a pattern that needs more memory. Only one that `has_groups` finds the spans of its
    groups, for which RE2 takes a time that grows with their number: seconds a line for hundreds.

    Raises:
        PatternError: the text is no pattern.
    """
    if not HAS_RE2:
        return LimitedPattern(pattern)
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = memory_bytes
    options.never_capture = not has_groups
    try:
        return re2.compile(pattern, options)
    except re2.error as wrong:
        raise PatternError(wrong.args[0].decode("utf-8", "replace") if wrong.args else "") from None


def numbers_in(expressions: Iterable[str]) -> Callable[[str], Sequence[int]]:
    """Return a function from a line to the numbers of the patterns that are in it.

    RE2 searches for all in one automaton, 80 times as fast as one by one.
    """
    if not HAS_RE2:
        import regex

        each = [regex.compile(expression) for expression in expressions]
        return lambda line: [number for number, one in enumerate(each) if one.search(line)]
    import re2

    found = re2.Set.SearchSet()
    for expression in expressions:
        found.Add(expression)
    found.Compile()
    return lambda line: found.Match(line.encode("utf-8", "replace")) or ()


class LimitedPattern:
    """An expression of `regex` whose searches end after `MAX_SECONDS`.

    Raises:
        PatternError: the text is no pattern, or a search takes longer.
    """

    programsize = 0
    """How many instructions RE2 may run for a character; here time is what ends a search."""

    def __init__(self, pattern: str | bytes) -> None:
        r"""Compile a pattern; `\w` and `\b` know the letters of every script, those of RE2 only ASCII."""
        import regex

        written = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
        if found := NOT_IN_RE2.search(written):
            raise PatternError(f"{found[0]} is not in RE2")
        try:
            self._expression: Any = regex.compile(pattern)
        except regex.error as wrong:
            raise PatternError(str(wrong)) from None
        self.groups = self._expression.groups

    def search(self, text: Any, start: int = 0) -> Any:
        """Return the first match from a place on, or None."""
        return next(self.finditer(text, start), None)

    def fullmatch(self, text: Any) -> Any:
        """Return the match of the whole text, or None."""
        with _limit():
            return self._expression.fullmatch(text, timeout=MAX_SECONDS)

    def finditer(self, text: Any, start: int = 0) -> Iterator[Any]:
        """Yield the matches from a place on."""
        with _limit():
            yield from self._expression.finditer(text, start, timeout=MAX_SECONDS)


@contextlib.contextmanager
def _limit() -> Iterator[None]:
    """Turn the end of the time into an error of the pattern, not of the disk."""
    try:
        yield
    except TimeoutError:
        raise PatternError(f"the search takes more than {MAX_SECONDS:g} seconds") from None
