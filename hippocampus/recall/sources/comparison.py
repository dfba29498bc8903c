"""Compares a source's present text with the stored one, ignoring wrappers of either. Pure."""

from __future__ import annotations

import difflib
import itertools

from hippocampus.indexing import unwrap
from hippocampus.indexing.output import output_of

DIFFERENCE_LINES = 40
DIFFERENCE_CHARACTERS = 4_000
MAX_COMPARED_LINES = 5_000
"""Longer texts get no diff, which would take seconds."""


def is_same(stored: str, present: str) -> bool:
    """Return whether two texts are equal, or equal as JSON.

    >>> is_same('{"a": 1, "b": 2}', '{"b":2,"a":1}'), is_same("[1]", "[2]")
    (True, False)
    """
    if stored.rstrip() == present.rstrip():
        return True
    value = unwrap.json_value(stored)
    return value is not None and value == unwrap.json_value(present)


def is_part(stored: str, present: str) -> bool:
    r"""Return whether a stored text is a file or some whole lines of it, with or without numbers.

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
    """Return the file's lines in a stored text, and the number of the first; 0 without numbers."""
    lines = stored.strip("\n").rstrip().split("\n")
    output = output_of("\n".join(lines))
    if not output.is_numbered:
        return ([] if lines == [""] else lines), 0
    return output.body.split("\n"), output.first_number


def difference(stored: str, present: str) -> str:
    """Return a short unified diff from the stored text to the present one.

    Where the stored text has line numbers, the same lines of the present text are compared.
    """
    before, first = captured_lines(stored)
    after = present.rstrip().split("\n")
    if first:
        after = after[first - 1 : first - 1 + len(before)]
    if max(len(before), len(after)) > MAX_COMPARED_LINES:
        return f"(changed: {len(before):,} lines then, {len(after):,} lines at present)"
    diff = difflib.unified_diff(before, after, "stored", "present", lineterm="", n=1)
    lines = list(itertools.islice(diff, DIFFERENCE_LINES + 1))
    cut = "\n".join(lines[:DIFFERENCE_LINES])[:DIFFERENCE_CHARACTERS]
    return f"{cut}\n(more differs)" if len(lines) > DIFFERENCE_LINES else cut
