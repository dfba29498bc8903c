"""Whether a tool result reports a failed call, where the format has no field for it. Pure."""

from __future__ import annotations

import re

ENDS = 300
"""The characters at both ends of a text in which its tool reports how it went."""
OPENING = re.compile(
    r"\s*(?:[\w.]{0,80}(?:error|exception)[:(]|traceback \(most recent call last\):"
    r"|\{\s*\"errors?\"\s*:(?!\s*(?:null|false|\"\"|\[\s*\]|\{\s*\}|0)))",
    re.IGNORECASE,
)
STATUS = re.compile(
    r"\"(?:success|ok)\"\s*:\s*false\b|\"is_?error\"\s*:\s*true\b"
    r"|\b(?:exit(?:ed)?(?: with)?[ _]?(?:code|status)|returncode|rc)\b[\"'>:= ]{1,4}-?[1-9]",
    re.IGNORECASE,
)
SIGNS = ("false", "error", "exit", "code", "rc")
"""Signs of a status: a text without one needs no search by `STATUS`."""


def says_it_failed(text: str) -> bool:
    r"""Return whether a result opens with an error, or names a failing exit code at one of its ends.

    >>> says_it_failed("Exit code: 2\nmake: no rule"), says_it_failed("0 errors, 12 passed")
    (True, False)
    """
    if OPENING.match(text):
        return True
    for start, end in ((0, ENDS), (max(0, len(text) - ENDS), len(text))):
        said = text[start:end].lower()
        if any(map(said.__contains__, SIGNS)) and STATUS.search(text, start, end):
            return True
    return False
