"""Whether what a source holds is what was captured, however either is wrapped. Pure text work."""

from __future__ import annotations

import difflib
import itertools

from hippocampus.indexing import unwrap

DIFFERENCE_LINES = 40
DIFFERENCE_CHARACTERS = 4_000
MOST_COMPARED_LINES = 5_000
"""Longer texts are told to differ, not how: a diff of them takes seconds."""


def is_same(stored: str, present: str) -> bool:
    """Say whether two texts are the same, or the same JSON.

    >>> is_same('{"a": 1, "b": 2}', '{"b":2,"a":1}'), is_same("[1]", "[2]")
    (True, False)
    """
    if stored.rstrip() == present.rstrip():
        return True
    value = unwrap.json_value(stored)
    return value is not None and value == unwrap.json_value(present)


def is_part(stored: str, present: str) -> bool:
    r"""Say whether a captured text is a file or some whole lines of it, with or without numbers.

    >>> is_part("2\tb\n3\tc", "a\nb\nc\nd"), is_part("b\nc", "a\nb\nc\nd"), is_part("b", "a\nbc")
    (True, True, False)
    """
    part, first = captured_lines(stored)
    if not part:
        return not stored.strip() and not present.strip()
    held = present.rstrip().split("\n")
    if first:
        return held[first - 1 : first - 1 + len(part)] == part
    return "\n{}\n".format("\n".join(part)) in "\n{}\n".format("\n".join(held))


def captured_lines(stored: str) -> tuple[list[str], int]:
    """Return the lines of a file in a captured text, and the number of the first where it has one."""
    lines = stored.strip("\n").rstrip().split("\n")
    dump = unwrap.numbered_dump("\n".join(lines))
    if dump is None:
        return ([] if lines == [""] else lines), 0
    found = (unwrap.NUMBERED.match(line) for line in lines)
    return [match.group(2) for match in found if match], dump[1]


def difference(stored: str, present: str) -> str:
    """Return how a text has changed since it was stored, as a short unified diff.

    Where lines with numbers were captured, the same lines of the present text are compared.
    """
    before, first = captured_lines(stored)
    after = present.rstrip().split("\n")
    if first:
        after = after[first - 1 : first - 1 + len(before)]
    if max(len(before), len(after)) > MOST_COMPARED_LINES:
        return f"(changed: {len(before):,} lines then, {len(after):,} lines at present)"
    told = difflib.unified_diff(before, after, "stored", "present", lineterm="", n=1)
    lines = list(itertools.islice(told, DIFFERENCE_LINES + 1))
    cut = "\n".join(lines[:DIFFERENCE_LINES])[:DIFFERENCE_CHARACTERS]
    return f"{cut}\n(more differs)" if len(lines) > DIFFERENCE_LINES else cut
