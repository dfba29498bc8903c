"""Content in, index entry out: what stays in the view for a content that leaves it.

Pure and deterministic; nothing is stored, and nothing that comes later is looked at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from hippocampus import tokens
from hippocampus.indexing.frame import as_content
from hippocampus.indexing.sniff import kind_of

__all__ = ["Index", "index", "kind_of"]

HEAD_SHARE = 0.4
"""The share of the budget that goes to the head of the content."""
SCANNED_CHARACTERS = 400_000
IDENTIFIER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./:@#-]{4,80}[A-Za-z0-9_]")
TELLING = re.compile(r"\d|_|/|[a-z]\.[a-z]|[a-z][A-Z]")


@dataclass(frozen=True, slots=True)
class Index:
    """What is kept of a content."""

    kind: str
    summary: str
    """One line that a person or a model can read."""
    key_data: dict[str, Any]
    lines: tuple[str, ...]
    """What stands in the view below the first line."""


def index(text: str, budget_tokens: int) -> Index:
    """Return what to keep of a content within a budget of tokens."""
    kind = kind_of(text)
    lines = text.count("\n") + 1
    summary = f"{kind}, {lines:,} lines, {len(text):,} characters"
    head = _fit(text.splitlines(), int(budget_tokens * HEAD_SHARE))
    values = _key_values(text, head, budget_tokens - tokens.count(head))
    kept = [summary, "head:", as_content(head)]
    if values:
        kept += ["values:", as_content(" ".join(values))]
    return Index(kind, summary, {"values": values}, tuple(kept))


def _fit(lines: list[str], budget_tokens: int) -> str:
    """Return the leading lines that fit, the last of them cut."""
    kept: list[str] = []
    left = budget_tokens
    for line in lines:
        part = line[: left * 3]
        left -= tokens.count(part) + 1
        if left < 0:
            break
        kept.append(part)
        if part != line:
            break
    return "\n".join(kept)


def _key_values(text: str, shown: str, budget_tokens: int) -> list[str]:
    """Return identifiers of the content that its head does not show, in order, while they fit."""
    kept: list[str] = []
    left = budget_tokens
    found = dict.fromkeys(IDENTIFIER.findall(text[:SCANNED_CHARACTERS]))
    for value in found:
        if not TELLING.search(value) or value in shown:
            continue
        left -= tokens.count(value) + 1
        if left < 0:
            break
        kept.append(value)
    return kept
