"""Reads a file as a list of JSON objects: a JSON value, JSON lines, or a zip of such files."""

from __future__ import annotations

import codecs
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hippocampus.errors import RecordingError
from hippocampus.formats import json_text
from hippocampus.replay.readers.values import JsonRecord
from hippocampus.storage import files, packing

HEAD_BYTES = 4096
SQLITE = b"SQLite format 3\0"
"""The start of an SQLite database, which may have few zero bytes."""
WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
"""The starts of a text in UTF-16, in which PowerShell writes, or UTF-32."""
DESCRIPTORS = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
"""How the shell names what another program writes, such as `<(zcat session.jsonl.gz)`."""
SHOWN_KEYS = 6
MAX_NAMED = 1000
"""The most broken lines or items of a file that are listed."""
ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
MAX_DEPTH = 200
"""The deepest nesting of lists and objects; deeper ones overflow the stack of a later step."""
NOT_JSON = (ValueError, RecursionError)
"""The parser's errors for bad syntax, numbers of thousands of digits, and deep nesting."""


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """The JSON objects of a file, in order; a list of lists becomes `{"messages": …}` records."""

    path: str
    records: list[JsonRecord]
    description: str
    """A description of the content, for the error that no reader recognises it."""
    broken: tuple[str, ...] = ()
    """One `file:line: problem` per line that was left out."""


def load(path: str) -> JsonDocument:
    """Read a file; a file without JSON has no records.

    Raises:
        RecordingError: the file cannot be opened, unpacked or parsed.
    """
    try:
        is_given = path.startswith(DESCRIPTORS)  # any other pipe may have no writer
        opened = os.open if is_given else files.opened
        with os.fdopen(opened(Path(path), os.O_RDONLY), "rb") as file:
            data = file.read(HEAD_BYTES)
            is_packed = data.startswith((packing.GZIP, packing.ZSTD, packing.ZIP))
            if is_packed or not _is_binary(data):
                data += file.read()
    except OSError as error:
        raise RecordingError(path, f"cannot be read: {error.strerror or error}") from error
    return of_bytes(path, data)


def of_bytes(path: str, data: bytes) -> JsonDocument:
    """Read the content of a file.

    Raises:
        RecordingError: the content cannot be unpacked.
    """
    try:
        if data.startswith(packing.ZIP):
            members = [_of_text(*member) for member in packing.unzipped(data, ".json")]
            broken = [f"{path}: {sentence}" for member in members for sentence in member.broken]
            records = [record for member in members for record in member.records]
            return _document(path, records, broken)
        is_packed = data.startswith((packing.GZIP, packing.ZSTD))
        return _of_text(path, packing.unpacked(data) if is_packed else data)
    except packing.DamagedError as damage:
        raise RecordingError(path, f"cannot be unpacked: {damage}") from damage


def _of_text(path: str, data: bytes) -> JsonDocument:
    if _is_binary(data):
        return JsonDocument(path, [], "a binary file")
    encoding = json.detect_encoding(data) if data.startswith(WIDE_MARKS) else "utf-8-sig"
    text = data.decode(encoding, errors="replace")
    if not text.strip():
        return JsonDocument(path, [], "an empty file")
    failure: Exception | None = None
    try:
        value = _parse(text)
    except NOT_JSON as error:
        failure, found = error, list(_lines(text))
    else:
        items = enumerate(value if isinstance(value, list) else [value], start=1)
        found = [(_records(item), f"1: item {at} is not a JSON object") for at, item in items]
    records = [record for made, _ in found for record in made]
    broken = [f"{path}:{problem}" for made, problem in found if not made]
    document = _document(path, records, broken)
    # Of a cut JSON file a few lines may be objects, which are no records of it.
    if failure is None or len(records) > len(broken):
        return document
    if not (records or isinstance(failure, json.JSONDecodeError)):
        raise RecordingError(path, f"cannot be read: {_reason(failure)}") from failure
    return replace(document, description=f"text that is not JSON ({_reason(failure)})")


def _lines(text: str) -> Iterator[tuple[list[JsonRecord], str]]:
    """Yield the records of a line, and the problem with a line that has no record."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield _records(_parse(line)), f"{number}: not a JSON object"
            except NOT_JSON as error:
                yield [], f"{number}: {_reason(error)}"


def _is_binary(data: bytes) -> bool:
    """Return whether data is a database, or has more zero bytes than a crash leaves in a text."""
    head = data[:HEAD_BYTES]
    is_text = data.startswith(WIDE_MARKS)
    return data.startswith(SQLITE) or (head.count(0) > len(head) // 10 and not is_text)


def _parse(text: str) -> Any:
    value = json.loads(text)
    if json_text.is_deep(value, MAX_DEPTH):
        raise RecursionError
    if ESCAPED_SURROGATE.search(text):
        # Encoders and tokenizers reject the lone ones, which become replacement characters.
        whole = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
        value = json.loads(whole.decode("utf-16", "replace"))
    return value


def _records(value: Any) -> list[JsonRecord]:
    if isinstance(value, dict):
        return [JsonRecord(value)]
    return [JsonRecord(messages=value)] if isinstance(value, list) and value else []


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}: {error.msg}" if error.lineno > 1 else error.msg
    if isinstance(error, RecursionError):
        return f"lists or objects are nested more than {MAX_DEPTH} deep"
    return f"a number has more than {sys.get_int_max_str_digits():,} digits"


def _document(path: str, records: list[JsonRecord], broken: Sequence[str]) -> JsonDocument:
    more = len(broken) - MAX_NAMED
    others = [f"{path}: {more:,} further lines or items are broken"] if more > 0 else []
    named = (*broken[:MAX_NAMED], *others)
    if not records:
        return JsonDocument(path, [], "JSON without an object in it", named)
    keys = list(records[0])
    shown = ", ".join(keys[:SHOWN_KEYS]) + (", …" if len(keys) > SHOWN_KEYS else "")
    what = "a JSON object" if len(records) == 1 else f"{len(records)} JSON objects, the first"
    return JsonDocument(path, records, f"{what} with the keys {shown or '(none)'}", named)
