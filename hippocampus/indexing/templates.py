"""Lines that differ in their digits only: read once. Linear, pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

DIGITS = bytes.maketrans(b"123456789", b"000000000")

T = TypeVar("T")


def masked(text: str) -> list[str]:
    """Return the lines of a text with each digit as 0."""
    raw = text.encode("utf-8", "surrogatepass").translate(DIGITS)
    return raw.decode("utf-8", "surrogatepass").split("\n")


def map_alike(lines: Sequence[str], describe: Callable[[str], T]) -> list[T]:
    """Return the value of each line; lines that differ in their digits only share one."""
    masks = masked("\n".join(lines)) if lines else []
    examples = dict(zip(masks, lines, strict=True))
    rendered = {mask: describe(line) for mask, line in examples.items()}
    return [rendered[mask] for mask in masks]
