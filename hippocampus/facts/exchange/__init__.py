"""A store's contents out of and into files: our JSON, hippo's JSON, crib's database, a MEMORY.md.

The form of a file is recognised from its content; each form has its own module.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from hippocampus.errors import MALFORMED, FactError
from hippocampus.facts.exchange.bundle import Bundle, Imported, bring

if TYPE_CHECKING:
    from hippocampus.facts.store import Facts

__all__ = ["Imported", "import_file"]
SQLITE = b"SQLite format 3\0"
LISTS = frozenset({"", ".md", ".markdown", ".txt"})
"""The suffixes of files that are read as Markdown, where a list item is a memory."""
KNOWN = "no export of hippocampus or hippo, no database of crib, and no Markdown (.md, .txt)"


def import_file(
    facts: Facts, path: Path, *, agent: str | None = None, embedding_model: str | None = None
) -> Imported:
    """Bring in what a file holds and is not there yet; the same file again changes nothing.

    `agent` is whose memory it becomes; without it the file's own agent, or else the store's.
    `embedding_model` names the model of vectors in a file that does not say it.

    Raises:
        FactError: the file is of no known form, or nothing in it is a memory.
        StoreError: it cannot be read or written.
    """
    try:
        bundle = _read(path, facts.agent, embedding_model)
        found = bundle.memories or bundle.items or bundle.blocks
        if not (found or bundle.skipped):
            raise FactError(
                f"{path}: nothing in it is a memory: no export, no database of crib, no list in a text"
            )
        return bring(facts, bundle, agent)
    except (*MALFORMED, OverflowError) as wrong:
        reason = f"{type(wrong).__name__}: {str(wrong)[:200]}"
        raise FactError(f"{path}: its fields are not of the expected types: {reason}") from wrong


def _read(path: Path, agent: str, embedding_model: str | None) -> Bundle:
    from hippocampus.facts.exchange import crib, hippo, markdown, ours

    try:
        content = path.read_bytes()
    except OSError as failure:
        raise FactError(f"{path}: {failure.strerror or failure}") from None
    if content.startswith(SQLITE):
        return crib.bundle(path, agent)
    try:
        text = content.decode(json.detect_encoding(content))
        if not text.lstrip().startswith(("{", "[{")) and path.suffix.lower() != ".json":
            if path.suffix.lower() in LISTS and "\0" not in text:
                return markdown.bundle(text, agent)
            raise FactError(f"{path}: {KNOWN}")
        document = json.loads(text)
    except UnicodeDecodeError:
        raise FactError(f"{path}: {KNOWN}") from None
    except ValueError as wrong:
        raise FactError(f"{path}: no JSON: {wrong}") from None
    match document:
        case {"format": ours.FORMAT}:
            return ours.bundle(document)
        case {"agentId": _, "chunks": [*_]}:
            return hippo.bundle(document, embedding_model)
    raise FactError(f"{path}: neither an export of hippocampus nor of hippo")
