"""How a script takes a value out of a result; a value that is not there stops the recording."""

from __future__ import annotations

import re


def every(pattern: str, text: str) -> list[str]:
    """Return each distinct match (of the first group, if there is one) in order."""
    matches = re.finditer(pattern, text, re.MULTILINE)
    found = [match[1] if match.re.groups else match[0] for match in matches]
    return list(dict.fromkeys(found))


def first(pattern: str, text: str) -> str:
    """Return the first match, or raise `LookupError` with the pattern and the text's start."""
    found = every(pattern, text)
    if not found:
        message = f"nothing matches {pattern!r} in {text[:300]!r}"
        raise LookupError(message)
    return found[0]


def source(listing: str) -> str:
    """Return what `read_file` showed, without its line numbers."""
    return "\n".join(line.partition("\t")[2] for line in listing.splitlines())
