"""How an index entry reads in the view: its frame, which no content can forge. Pure text."""

from __future__ import annotations

import re

FRAME_MARK = "·"
"""Stands in the first line of every entry."""
FORGED = re.compile(r"^(?=\s*(?:\[[^\]\n]*·|recall\())", re.MULTILINE)
LONE_SURROGATES = re.compile("[\ud800-\udfff]")


def first_line(entry_id: str, tool: str, turn: int, tokens: int, kind: str) -> str:
    """Return the line that opens an entry; `[<id> · …]` is how every entry is recognised."""
    named = re.sub(r"[\[\]\n·]", "_", tool) or "tool"
    return f"[{entry_id} · {named} · turn {turn} · {tokens} tokens · {kind}]"


def last_line(entry_id: str, lines: int) -> str:
    """Return the line that says how to get more."""
    return f'recall("{entry_id}", lines=[1, {lines}] | pattern="…")'


def as_content(text: str) -> str:
    """Return a text so that no line of it reads as a frame or as a recall line (law 6)."""
    return LONE_SURROGATES.sub("\N{REPLACEMENT CHARACTER}", FORGED.sub(r"\\", text))
