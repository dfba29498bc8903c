"""Text for a terminal: control characters are shown and not obeyed. Pure."""

from __future__ import annotations

import re

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""C0 without tab and line feed, C1, and what changes the direction of writing."""


def visible(text: str) -> str:
    r"""Return a text in which control characters are written as in JSON.

    >>> visible("\x1b[2Jgone"), visible("two\nlines")
    ('\\u001b[2Jgone', 'two\nlines')
    """
    return CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
