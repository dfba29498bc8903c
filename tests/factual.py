"""What tests ask of a fact store besides its own methods."""

from __future__ import annotations

from hippocampus.facts import tools, upkeep, write
from hippocampus.storage.facts import memories, triples
from hippocampus.storage.facts.rows import Item, Relation


def item(said):
    return said if isinstance(said, Item) else Item(said)


def remember_many(facts, items, **fields):
    return write.remember_many(facts.tables, map(item, items), **fields)


def remember_triple(facts, subject, predicate, value):
    """Keep one relation as a fact, as a model's answer does."""
    stated = Relation(subject, triples.predicate_of(predicate), value)
    said = Item(f"{subject} {stated.predicate.replace('_', ' ')} {value}", "fact")
    request = write.MemoryRequest(said, "fact", relations=(stated,))
    return write.keep(facts.tables, [request])[0]


def store_many(facts, items, **fields):
    return write.store_many(facts.tables, map(item, items), **fields)


def update(facts, memory_id, content):
    return upkeep.update(facts.tables, memory_id, content)


def compact(facts, **fields):
    return upkeep.compact(facts.tables, **fields)


def restore(facts, ids):
    return upkeep.restore(facts.tables, ids)


def purge(facts, **fields):
    return upkeep.purge(facts.tables, **fields)


def history(facts, memory_id):
    return memories.history(facts.tables.database, memory_id)


def relations(facts, *, agent=None, history=False):
    """The triples of current memories, or of all, the newest first."""
    owner = agent or facts.agent
    kept = {each.id for each in facts.memories(agent=owner, superseded=history, removed=history)}
    found = triples.of_agent(facts.tables.database, owner)
    return [each for each in reversed(found) if each.memory_id in kept]


def agents(facts):
    return memories.agents(facts.tables.database)


def stats(facts):
    return memories.stats(facts.tables.database, facts.tables.clock())


def call(facts, name, arguments, **reach):
    return tools.call(facts, name, arguments, tools.Reach(**reach))
