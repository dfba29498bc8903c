"""Entries as documents of the protocol, with `hippocampus_entry` around them: out of ledgers, and in.

Payloads do not travel: an entry that comes in keeps the one that its `source.ref` names, if that is
stored here, and is otherwise recalled as its summary. Source: protocol sections 5 and 14.1.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from hippocampus.entries.entry import Entry, Record, Stage
from hippocampus.entries.origin import MemoryOrigin
from hippocampus.models import tokens
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.ledger import stored_sessions
from hippocampus.storage.state import StateStore


class EntryDocument(BaseModel):
    """An entry, and the session that it belongs to."""

    model_config = ConfigDict(extra="forbid")

    hippocampus_entry: Entry
    session: str = ""


def documents(state: StateStore, session: str | None = None) -> list[dict[str, Any]]:
    """Return the entries of a state, or of one session, as documents, oldest first."""
    with state.reading() as db:
        sessions = stored_sessions(db)
    return [
        EntryDocument(hippocampus_entry=record.entry, session=found.name).model_dump(mode="json")
        for found in sessions
        for record in found.records
        if session in (None, found.name)
    ]


def written(found: Sequence[dict[str, Any]], *, as_json: bool = False) -> str:
    """Return documents as YAML, or as one JSON array."""
    if as_json:
        return json.dumps(found, indent=2) + "\n"
    text: str = yaml.dump_all(
        found, Dumper=_Dumper, sort_keys=False, allow_unicode=True, explicit_start=True
    )
    return text


class _Dumper(yaml.SafeDumper):
    """Writes texts that are read back equal: line breaks that only YAML knows are escaped."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if {"\x85", "\u2028", "\u2029", "\ufeff"} & set(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def parsed(text: str, session: str = "") -> list[EntryDocument]:
    """Return the documents in YAML or JSON, single or in lists; `session` where one names none.

    Raises:
        ValueError: with one line per problem.
    """
    try:
        try:
            loaded = [json.loads(text)]
        except ValueError:
            loaded = list(yaml.safe_load_all(text))
    except (yaml.YAMLError, RecursionError) as failure:
        raise ValueError(f"neither JSON nor YAML: {failure}") from failure
    values = [value for one in loaded for value in (one if isinstance(one, list) else [one])]
    found, problems = [], []
    for number, value in enumerate(values, 1):
        try:
            document = EntryDocument.model_validate(value)
        except ValidationError as failure:
            problems += [
                f"entry {number}: {'.'.join(map(str, error['loc'])) or 'document'}: {error['msg']}"
                for error in failure.errors()
            ]
            continue
        named = document.model_copy(update={"session": document.session or session})
        if not named.session:
            problems.append(f"entry {number}: session: no session is named")
        found.append(named)
    if problems:
        raise ValueError("\n".join(problems))
    return found


def take_in(
    state: StateStore, store: ContentStore, found: Iterable[EntryDocument]
) -> tuple[int, int, int]:
    """Save entries in their sessions: a known one with the new fields, any other as a dormant one.

    Returns how many were added, how many changed, and how many did not.
    """
    by_session: dict[str, dict[str, Entry]] = {}
    for document in found:
        entry = document.hippocampus_entry
        by_session.setdefault(document.session, {})[entry.id] = entry
    added = changed = unchanged = 0
    for session, entries in by_session.items():
        with contextlib.closing(state.session(session)) as ledger:
            known = {record.entry.id: record for record in ledger.records()}
            kept = [
                replace(known[id_], entry=entries[id_]) for id_ in entries.keys() & known.keys()
            ]
            new = [_dormant(entry, store) for id_, entry in entries.items() if id_ not in known]
            other = [record for record in kept if record != known[record.entry.id]]
            if new or other:
                ledger.save(*new, *other)
        added, changed = added + len(new), changed + len(other)
        unchanged += len(kept) - len(other)
    return added, changed, unchanged


def _dormant(entry: Entry, store: ContentStore) -> Record:
    """Return the record of an entry that no message list holds."""
    key, content = entry.source.ref, store.get(entry.source.ref)
    if content is None:
        content = entry.summary.encode("utf-8", "surrogatepass")
        key = store.put(content)
    weight = tokens.count(content.decode("utf-8", "replace"))
    origin = MemoryOrigin(entry.id)
    return Record(entry, origin, key, form="text", kind="text", tokens=weight, stage=Stage.DORMANT)
