"""Finds the values and lines that a recorded agent took from tool results, and the calls that wrote its patch. Pure."""

from __future__ import annotations

import functools
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from hippocampus.formats import json_text
from hippocampus.formats.conversation import Message
from hippocampus.formats.tool_calls import texts_in

VALUE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./:@#\-]{4,}[A-Za-z0-9_]|\d[\d.,]{3,}\d")
DISTINCTIVE = re.compile(r"[0-9_/]|[a-z][A-Z]|(?<=.)\.(?=.)")
"""A digit, an underscore, a slash, an inner dot, or a lower-case letter before an upper-case one."""

LINE_CHARACTERS = 20
LINE_WORDS = 3
"""A line counts if it has at least this many characters and words of letters."""
WORD = re.compile(r"[^\W\d_]+")
LINE_PREFIX = re.compile(r"(?:L?\d+[a-z]{0,2} ?[→\t:|])?\s*[+-]?\s*")
"""A line number printed by a tool (`12→`, `12:`, `L12:`), and the sign of a diff."""
NUMBER = re.compile(r"[\s\d→:|-]*")
ESCAPE = re.compile(r"\\(?:u(?P<code>[0-9a-fA-F]{4})|(?P<blank>[nrt])|(?P<own>.))")
MIN_PATCH_CHARACTERS = 10
"""Shorter lines of a patch (`else:`, `pass`) occur in any command."""


def values_of(text: str) -> set[str]:
    """Return the values in a text, as SPEC defines them: names, ids, paths and numbers."""
    stripped = (match.strip(".,:;-") for match in VALUE.findall(text))
    return {value for value in stripped if value and DISTINCTIVE.search(value)}


def lines_of(text: str) -> set[str]:
    """Return the lines of a text that count by SPEC's definition, with white space collapsed.

    >>> sorted(lines_of("  12: return the answer to life"))
    ['return the answer to life']
    """
    lines = (
        collapsed(LINE_PREFIX.sub("", line.strip(), count=1))
        for opened in opened_texts(text)
        for line in opened.splitlines()
        if len(line) >= LINE_CHARACTERS
    )
    long = (line for line in lines if len(line) >= LINE_CHARACTERS)
    return {line for line in long if len(WORD.findall(line)) >= LINE_WORDS}


def unnumbered(text: str) -> str:
    """Return a text without line numbers printed by a tool, and without the white space around lines."""
    return "\n".join(NUMBER.sub("", line, count=1).strip() for line in text.split("\n"))


def collapsed(text: str) -> str:
    """Return a text with white space collapsed to single spaces."""
    return " ".join(text.split())


def opened_texts(text: str) -> Iterator[str]:
    r"""Yield the strings in a JSON text, which may be JSON in turn; yield any other text as it is.

    >>> list(opened_texts('[{"type": "text", "text": "{\\"note\\": \\"deep\\"}"}]'))
    ['text', 'deep']
    """
    inner = json_text.read(text) if text.lstrip()[:1] in tuple('{["') else None
    if isinstance(inner, dict | list | str):
        for held in texts_in(inner):
            yield from opened_texts(held)
    else:
        yield text


def searchable(text: str) -> str:
    """Return the text to search for a line: white space collapsed, with the strings of JSON added.

    If a strategy has cut JSON so that it cannot be parsed, its escapes are decoded instead.
    """
    if "\\" not in text:
        return collapsed(text)
    opened = list(opened_texts(text))
    if opened == [text]:
        opened = [ESCAPE.sub(_unescaped, text)]
    return "\n".join(map(collapsed, (text, *opened)))


def _unescaped(escape: re.Match[str]) -> str:
    if code := escape["code"]:
        return chr(int(code, 16))
    return " " if escape["blank"] else escape["own"]


def uses(
    messages: Sequence[Message], terms_of: Callable[[str], set[str]], source: str = "result"
) -> dict[int, frozenset[str]]:
    """Return the terms that assistant messages took from tool results, by number of the message.

    A use is a term (a value or a line) that the message contains and that first appeared in a tool
    result; with `source` "call", in a call of the agent.
    """
    is_from: dict[str, bool] = {}
    used: dict[int, frozenset[str]] = {}
    for number, message in enumerate(messages):
        terms = [
            terms_of(part.text) | (terms_of(part.tool) if part.kind == "call" else set())
            for part in message.parts
        ]
        if message.role == "assistant":
            used[number] = frozenset(filter(is_from.get, set[str]().union(*terms)))
        for part, found in zip(message.parts, terms, strict=True):
            for term in found:
                is_from.setdefault(term, part.kind == source)
    return used


def finder(terms: Iterable[str]) -> Callable[[str], frozenset[str]]:
    """Return a function that finds the terms in a text, in time linear in the text; it is cached.

    >>> sorted(finder(["a.py", "src/a.py", "b.py"])("Open src/a.py!"))
    ['a.py', 'src/a.py']
    """
    known = frozenset(terms)
    size = min(map(len, known), default=1)
    # Searching a text for each term would take time quadratic in the length of a recording. So the
    # places are found where the start of a term is, and the text there is cut at those terms' lengths.
    lengths: defaultdict[str, set[int]] = defaultdict(set)
    for term in known:
        lengths[term[:size]].add(len(term))

    @functools.cache
    def find(text: str) -> frozenset[str]:
        starts = (text[at : at + size] for at in range(len(text) - size + 1))
        places = [(at, lengths[start]) for at, start in enumerate(starts) if start in lengths]
        return known.intersection(text[at : at + n] for at, ends in places for n in ends)

    return find


def decisive_steps(
    submission: str, answers: Mapping[int, Message], searchable: Callable[[str], str]
) -> tuple[int, ...]:
    """Return the calls that were the last to write a line that the patch adds to an existing file.

    A call writes a line of `MIN_PATCH_CHARACTERS` or more if its arguments contain the line and the file's
    name, with white space collapsed. `answers` are the assistant's messages by call, from 0.
    """
    added: list[tuple[str, str]] = []
    name, is_new = "", False
    for line in submission.splitlines():
        if line.startswith("--- "):
            is_new = line == "--- /dev/null"
        elif line.startswith("+++ "):
            name = posixpath.basename(line.removeprefix("+++ ").strip())
        elif line.startswith("+") and not is_new:
            added.append((name, collapsed(line[1:])))
    added = [(file, text) for file, text in added if len(text) >= MIN_PATCH_CHARACTERS]
    writers: dict[tuple[str, str], int] = {}
    for call, message in answers.items() if added else ():
        parts = [part for part in message.parts if part.kind == "call"]
        written = "\n".join(searchable(part.text) for part in parts)
        found = ((file, text) for file, text in added if file in written and text in written)
        writers.update(dict.fromkeys(found, call))
    return tuple(sorted(set(writers.values())))
