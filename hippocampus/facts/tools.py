"""The fact store as tools of an agent, under the names of hippo and scriptling, and how to use them.

A call answers with text in every case; a wrong call gets JSON with the right one. What remembering and recalling mean is the store's to know.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from hippocampus.errors import BlockError, HippocampusError, ProviderError, StoreError, nearest
from hippocampus.facts.models import FORGET_THRESHOLD, MAX_DELETED, TYPES, Action, Outcome
from hippocampus.facts.query import LIMIT
from hippocampus.facts.rendering import entry_line
from hippocampus.facts.store import Facts
from hippocampus.facts.timestamps import day
from hippocampus.facts.words import content_words
from hippocampus.facts.write import IMPORTANCE, TYPE, remember_many
from hippocampus.formats.reader import tool_definition
from hippocampus.formats.signatures import arguments_of, problem_of, schema_of
from hippocampus.storage.facts.memories import returning
from hippocampus.storage.facts.rows import Item, Memory
from hippocampus.storage.facts.search import host_messages

INSTRUCTIONS = " ".join(
    files(__package__).joinpath("prompts", "instructions.txt").read_text("utf-8").split()
)
"""For the system prompt; the host adds it once."""

MAX_RESULTS, MESSAGES = 50, 20
MAX_WORDS = 20
"""Of a search in the table of messages."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Whose memory a call works on, and which parts of it."""

    agent: str | None = None
    """None is the store's own agent."""
    scope: str = ""
    """Where writes go; empty is the whole."""
    scopes: Sequence[str] | None = None
    """What recalls see; None is all, an empty list nothing."""


class Tool(NamedTuple):
    """A tool: its function, and the model of its arguments."""

    run: Callable[..., str]
    arguments: type[BaseModel]


def tools(format_name: str, *, conversation: bool = False) -> list[dict[str, Any]]:
    """Return the definitions of the tools in a format of messages, such as `openai` or `anthropic`.

    `recall_conversation` is among them if `conversation` is true: there is something to search.

    Raises:
        ValueError: another format.
    """
    return [
        tool_definition(format_name, name, tool.run.__doc__ or "", schema_of(tool.arguments))
        for name, tool in TOOLS.items()
        if (conversation or tool.run is not recall_conversation)
    ]


def call(
    facts: Facts, name: str, arguments: Mapping[str, Any] | str, reach: Reach | None = None
) -> str:
    """Run a tool and return what the model reads; `arguments` may be the JSON text of the object."""
    tool = TOOLS.get(name)
    if tool is None:
        near = nearest(name, TOOLS) or tuple(TOOLS)
        return _error("unknown_tool", f"there is no tool {name!r}; there are {', '.join(near)}")
    try:
        given = json.loads(arguments) if isinstance(arguments, str) else arguments
        given = {key: value for key, value in dict(given).items() if value is not None}
        read = tool.arguments.model_validate(given)
        return tool.run(facts, reach or Reach(), **dict(read))
    except ValidationError as wrong:
        return _error("bad_arguments", problem_of(wrong), expected=schema_of(tool.arguments))
    except (RecursionError, TypeError, ValueError):
        problem = "the arguments are no JSON object"
        return _error("bad_arguments", problem, expected=schema_of(tool.arguments))
    except BlockError as wrong:
        return _error(wrong.reason, str(wrong), key=wrong.key)
    except HippocampusError as failure:
        reasons = {StoreError: "store_failed", ProviderError: "model_failed"}
        named = (reason for kind, reason in reasons.items() if isinstance(failure, kind))
        return _error(next(named, "bad_request"), str(failure))


def _error(reason: str, message: str, **fields: Any) -> str:
    return json.dumps({"error": reason, "message": message, **fields}, ensure_ascii=False)


# What a model reads


def _outcome_line(outcome: Outcome) -> str:
    """Return what became of one text, in a line."""
    said = f"{outcome.action.replace('_', ' ')}: {outcome.reason}"
    if outcome.memory is None or outcome.action == Action.REFUSED:
        return said
    others = ", ".join(memory_id for memory_id in outcome.others if memory_id != outcome.memory.id)
    return f"{said}: {_short(outcome.memory)}{f' (others: {others})' if others else ''}"


def _short(memory: Memory) -> str:
    return f"{entry_line(memory)} (id {memory.id})"


def _delete(facts: Facts, ids: list[str]) -> str:
    """Delete memories, and list them with those that are true again by that."""
    returned = returning(facts.tables.database, ids)
    gone = facts.delete(ids)
    if not gone:
        return "Nothing matches closely enough; nothing was deleted."
    lines = [f"Deleted {len(gone)}:", *map(_short, gone)]
    lines += [f"True again {len(returned)}:", *map(_short, returned)] if returned else []
    return "\n".join(lines)


# The tools, in the order in which a model sees them: their docstrings and annotations are what it reads.
# Numbers that a model writes as text are taken, unknown names are not.


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("the text is empty")
    return text


def _limit(number: int) -> int:
    if number == 0:
        raise ValueError("0 asks for nothing; -1 is all")
    return number


def _about(description: str, **bounds: Any) -> Any:
    return Field(description=description, **bounds)


Words = Annotated[str, Field(min_length=1), AfterValidator(_said)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=MAX_RESULTS)]
Limit = Annotated[
    int,
    Field(ge=-1, le=MAX_RESULTS),
    AfterValidator(_limit),
    _about(f"How many to return at most, -1 for all; {LIMIT} if left out."),
]
Key = Annotated[str, _about("The block's name, such as persona or objectives.", min_length=1)]
Type = Annotated[str, _about(f"One of {', '.join(TYPES)}, or a type of your own.")]
OneType = Annotated[str, _about("Only memories of this type; with ! in front, all but these.")]

OneKind = Annotated[
    Literal["", "fact", "memory"], _about("Only facts, or only texts kept word by word (memory).")
]


def remember_facts(
    facts: Facts,
    reach: Reach,
    text: Annotated[Words, _about("What to take facts from.", max_length=10_000)],
) -> str:
    """Take the facts out of a text and keep each. Known facts are strengthened, and facts that end by the text's own words move to the past."""
    outcomes = facts.remember(text, agent=reach.agent, scope=reach.scope)
    return "\n".join(map(_outcome_line, outcomes)) or "Nothing in this text is a fact to keep."


def store_memory(
    facts: Facts,
    reach: Reach,
    content: Annotated[Words, _about("The text to keep.", max_length=50_000)],
    type: Type = "",  # noqa: A002 - the name that a model writes
    metadata: Annotated[dict[str, Any] | None, _about("Anything to keep with it.")] = None,
) -> str:
    """Keep a text word by word: a document, a decision, an experience. The same text again only strengthens the first."""
    outcome = facts.store(
        content, agent=reach.agent, type=type or None, scope=reach.scope, metadata=metadata or {}
    )
    return _outcome_line(outcome)


def append_memory_block(
    facts: Facts, reach: Reach, key: Key, content: Annotated[Words, _about("The text to add.")]
) -> str:
    """Add a line to a named block of text, which is made if it is missing."""
    block = facts.blocks.append(key, content, agent=reach.agent, scope=reach.scope)
    return f"Block {block.key!r} has {len(block.value)} characters."


def replace_memory_block(
    facts: Facts,
    reach: Reach,
    key: Key,
    old_text: Annotated[Words, _about("The text that stands there, letter by letter.")],
    new_text: Annotated[str, _about("What to put in its place; empty takes it out.")],
) -> str:
    """Replace a text everywhere in a named block."""
    block = facts.blocks.replace(key, old_text, new_text, agent=reach.agent, scope=reach.scope)
    return f"Block {block.key!r} has {len(block.value)} characters."


def forget_memory(
    facts: Facts,
    reach: Reach,
    description: Annotated[
        Words, _about("What to forget, with all the words that name it, or the id of a memory.")
    ],
    threshold: Annotated[
        Share, _about(f"How near a memory has to be; {FORGET_THRESHOLD} if left out.")
    ] = FORGET_THRESHOLD,
    max_deleted: Annotated[
        Count, _about(f"The most to delete; {MAX_DELETED} if left out.")
    ] = MAX_DELETED,
) -> str:
    """Delete the memories that a description certainly means, for good, and list them."""
    found = facts.forget(
        description,
        threshold=threshold,
        max_deleted=max_deleted,
        dry_run=True,
        agent=reach.agent,
        scopes=reach.scopes,
    )
    return _delete(facts, [result.memory.id for result in found])


def recall_memory_block(facts: Facts, reach: Reach, key: Key) -> str:
    """Read a named block of text; null if there is none."""
    block = facts.blocks.get(key, agent=reach.agent, scope=reach.scope)
    missing = f"null (there is no block {key!r}; the first text that is appended makes it)"
    return missing if block is None else block.value


def recall_conversation(
    facts: Facts,
    reach: Reach,  # noqa: ARG001 - the table of messages has no agents
    query: Annotated[Words, _about("The words to look for.")],
    limit: Annotated[
        Count, _about(f"How many to return at most; {MESSAGES} if left out.")
    ] = MESSAGES,
) -> str:
    """Search the messages of earlier conversations by their words."""
    db, table, lines = facts.tables.database, facts.messages_table, []
    words = content_words(query)[:MAX_WORDS]
    for text, row in host_messages(db, table, words, limit) if table else ():
        at = row.get("at") or row.get("created_at") or row.get("timestamp")
        when = f"{day(at)} " if isinstance(at, int | float) else ""
        lines.append(f"- [{when}{row.get('role') or row.get('sender') or ''}] {text}")
    return "\n".join(lines) or "No message matches."


def memory_remember(
    facts: Facts,
    reach: Reach,
    content: Annotated[Words, _about("What to keep.")],
    type: Type = "",  # noqa: A002 - the name that a model writes
    importance: Annotated[
        Share, _about(f"How much it matters, from 0 to 1; {IMPORTANCE} if left out.")
    ] = IMPORTANCE,
) -> str:
    """Keep one thing for later conversations: a preference, a decision, a correction, a fact, as a sentence that needs no context. What it corrects moves to the past."""
    item = Item(content, type=type or TYPE, intensity=importance, scope=reach.scope)
    return "\n".join(map(_outcome_line, remember_many(facts.tables, [item], agent=reach.agent)))


def memory_recall(  # noqa: PLR0913, PLR0917 - one parameter an argument of the tool
    facts: Facts,
    reach: Reach,
    query: Annotated[str, _about("What to look for.")] = "",
    limit: Limit = LIMIT,
    type: OneType = "",  # noqa: A002 - the name that a model writes
    kind: OneKind = "",
) -> str:
    """Search what was kept, before you ask the user for it; without arguments, preferences and what matters most."""
    if not (query or type or kind):
        text = facts.context_load(limit=limit, agent=reach.agent, scopes=reach.scopes)
        return text or "Nothing is known yet."
    found = facts.recall(
        query,
        limit=limit,
        types=[type] if type else (),
        kinds=[kind] if kind else (),
        agent=reach.agent,
        scopes=reach.scopes,
    )
    lines = [
        f"{entry_line(result.memory)} (id {result.memory.id}, score {result.score.total:.2f})"
        for result in found
    ]
    return "\n".join(lines) or "Nothing is known about this."


def memory_forget(
    facts: Facts,
    reach: Reach,
    id: Annotated[Words, _about("The id that remembering or recalling it gave.")],  # noqa: A002
) -> str:
    """Delete one memory for good, by its id, where the user asks for it; what only changed is remembered anew."""
    known = facts.get(id)
    if known is None or not facts.forget(id, dry_run=True, agent=reach.agent, scopes=reach.scopes):
        return _error("not_found", f"there is no memory {id!r}; memory_recall lists ids")
    return _delete(facts, [known.id])


RUNS: Mapping[str, Callable[..., str]] = {
    "remember_facts": remember_facts,
    "store_memory": store_memory,
    "append_memory_block": append_memory_block,
    "replace_memory_block": replace_memory_block,
    "forget_memory": forget_memory,
    "recall_memories": memory_recall,
    "recall_memory_block": recall_memory_block,
    "recall_conversation": recall_conversation,
    "memory_remember": memory_remember,
    "memory_recall": memory_recall,
    "memory_forget": memory_forget,
}
TOOLS = {name: Tool(run, arguments_of(run, leaving=2)) for name, run in RUNS.items()}
"""By name, in the order in which a model sees them."""
