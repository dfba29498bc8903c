"""With models: bounded calls, vectors, verdicts, and what happens when a model fails."""

from __future__ import annotations

import json
import zlib
from types import MappingProxyType

import factual
import numpy as np
import pytest

from hippocampus.errors import EmbeddingModelError, FactError, ProviderError
from hippocampus.facts import upkeep
from hippocampus.facts.models import POLICIES, Action
from hippocampus.facts.store import Facts
from hippocampus.storage.facts.rows import Item, Origin


class WordVectors:
    """An embedding that hashes words; synonyms share one."""

    model = "word-vectors"
    same = MappingProxyType({"automobile": "car", "purchased": "bought"})

    def __init__(self, dimensions=64):
        self.calls = 0
        self.texts = 0
        self.dimensions = dimensions

    def __call__(self, texts):
        self.calls += 1
        self.texts += len(texts)
        return np.stack([self.one(text) for text in texts])

    def one(self, text):
        total = np.zeros(self.dimensions, dtype=np.float32)
        for word in text.lower().strip(".").split():
            seed = zlib.crc32(self.same.get(word, word).encode())
            total += np.random.default_rng(seed).standard_normal(self.dimensions)
        return total


class Scripted:
    """A model that gives prepared answers in turn."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.prompts = []

    def __call__(self, prompt):
        self.prompts.append(prompt)
        return self.answers.pop(0)


def extracted(*sentences):
    return json.dumps(
        [{"fact": s, "type": "fact", "intensity": 0.7, "triples": []} for s in sentences]
    )


def contents(results):
    return [result.memory.content for result in results]


def test_vectors_find_what_words_do_not(opened):
    facts = opened(embed=WordVectors())
    factual.store_many(
        facts, ["She purchased an automobile", "It rained all day", "He sang a song"]
    )
    assert contents(facts.recall("car bought", limit=1)) == ["She purchased an automobile"]


def test_calls_are_bounded(opened):
    embed = WordVectors()
    facts = opened(embed=embed, complete=Scripted(extracted("Ann sings", "Bob dances"), "[]", "[]"))
    facts.remember("Ann sings and Bob dances")
    assert embed.texts == 2
    embed.texts = 0
    facts.store("one note")
    facts.recall("note")
    facts.forget("something of that kind", dry_run=True)
    assert embed.texts == 3
    embed.texts = 0
    facts.blocks.append("k", "v")
    assert embed.texts == 0


def decided(*items):
    return json.dumps(
        [{"new": new, "do": do, "known": list(known), **more} for new, do, known, more in items]
    )


SHED = "The old garden shed needs a new coat of paint"
FRESH = "The old garden shed needs a fresh coat of paint"


def test_a_model_is_asked_at_most_twice(opened):
    model = Scripted(
        extracted(SHED),
        extracted(FRESH),
        decided((1, "same", ["k1"], {})),
        extracted("Bob sings"),
        "[]",
    )
    facts = opened(complete=model)
    facts.remember("a")
    assert len(model.prompts) == 1
    assert facts.remember("b")[0].action is Action.STRENGTHENED
    assert len(model.prompts) == 3
    facts.remember("c")
    assert len(model.prompts) == 5


@pytest.mark.parametrize(
    ("do", "more", "action", "left"),
    [
        ("same", {}, "strengthened", [SHED]),
        ("update", {}, "superseded", [FRESH]),
        (
            "update",
            {"text": "The shed was painted twice"},
            "superseded",
            ["The shed was painted twice"],
        ),
        ("end", {}, "superseded", [FRESH]),
        ("keep", {}, "kept_apart", [FRESH, SHED]),
        ("add", {}, "added", [FRESH, SHED]),
    ],
)
def test_what_a_model_decides_is_done(opened, do, more, action, left):
    facts = opened(
        complete=Scripted(extracted(SHED), extracted(FRESH), decided((1, do, ["k1"], more)))
    )
    facts.remember("a")
    assert facts.remember("b")[0].action == action
    assert sorted(memory.content for memory in facts.memories()) == sorted(left)


def test_a_fact_of_a_text_may_end_an_earlier_one_of_the_same_text(opened):
    both = extracted("Ann lives in Rome", "Ann moved to the sea")
    facts = opened(complete=Scripted(both, decided((2, "update", ["n1"], {}))))
    facts.remember("a")
    assert [memory.content for memory in facts.memories()] == ["Ann moved to the sea"]


def test_a_models_word_ends_nothing_that_a_more_trusted_role_said(opened):
    facts = opened(complete=Scripted(extracted(SHED), decided((1, "update", ["k1"], {}))))
    facts.remember("a", origin=Origin(role="user"))
    factual.remember_many(facts, [Item(FRESH, origin=Origin(role="tool"))])
    assert len(facts.memories()) == 2


@pytest.mark.parametrize(
    "answer", ["I think so!", "[[[", '[{"new": 9, "do": "end"}]', '{"new": 1}', "[1, null]"]
)
def test_a_model_that_fails_or_babbles_leaves_the_rules(opened, answer):
    def broken(prompt):
        raise ProviderError("no answer")

    facts = opened(complete=broken)
    assert facts.remember("Ann lives in Rome")[0].action is Action.ADDED
    facts = opened(complete=Scripted(answer))
    assert factual.remember_many(facts, ["Ann lives in Oslo now"])[0].action is Action.SUPERSEDED
    assert facts.get(facts.memories(superseded=True)[-1].id).content == "Ann lives in Rome"


def test_hippos_bands_make_the_same_of_what_is_close(opened):
    facts = opened(embed=WordVectors(), settings=POLICIES["hippo"])
    factual.remember_many(facts, ["ann ran along the river on a sunny day in spring this year"])
    again = factual.remember_many(
        facts, ["ann ran along the river on a sunny day in spring this year again"]
    )[0]
    assert again.action is Action.STRENGTHENED


def test_an_embedding_that_fails_keeps_the_text_and_catches_up(opened):
    embed = WordVectors()
    facts = opened(embed=embed)
    embed.one, working = lambda text: (_ for _ in ()).throw(ProviderError("down")), embed.one
    facts.store("kept without a vector")
    assert facts.memories()[0].embedding_model is None
    embed.one = working
    assert list(upkeep.reembed(facts.tables)) == [(1, 1)]
    assert facts.memories()[0].embedding_model == "word-vectors"


@pytest.mark.parametrize(
    ("query", "best"),
    [("Ann's automobile", "Ann: it was a red car"), ("ann ann", "Ben: ann ann")],
)
def test_a_model_is_asked_without_the_name_of_who_speaks_unless_nothing_is_left(
    opened, query, best
):
    facts = opened(embed=WordVectors())
    told = ["Ann: it was a red car", "Ann: hello", "Ben: thanks ann", "Ben: ann ann", "Ben: oh ann"]
    factual.store_many(
        facts, (Item(text, origin=Origin(f"s{i}", i)) for i, text in enumerate(told))
    )
    assert contents(facts.recall(query, limit=1)) == [best]


class Common:
    """Vectors of two numbers: how much a text has of all others, and of the question."""

    model = "common"

    def __call__(self, texts):
        known = {"asked": [0.6, 0.8], "about it": [0.75, 0.66]}
        return np.array([known.get(text, [1.0, 0.0]) for text in texts], np.float32)


def test_a_note_near_the_question_comes_before_notes_near_everything(opened):
    facts = opened(embed=Common())
    factual.store_many(facts, (["about it", *(f"chat {n}" for n in range(20))]))
    found = facts.recall("asked", limit=2)
    assert contents(found)[0] == "about it"
    assert found[0].score.total > 2 * found[1].score.total
    assert found[0].score.vector < 2 * found[1].score.vector


def test_the_file_is_locked_to_its_embedding(opened, tmp_path):
    facts = opened(embed=WordVectors())
    facts.store("a text")
    other = WordVectors(32)
    other.model = "other"
    with pytest.raises(EmbeddingModelError, match=r"word-vectors.*other") as problem:
        Facts(tmp_path / "facts.db", embed=other)
    assert (problem.value.stored, problem.value.given) == ("word-vectors", "other")


def test_embedding_anew_can_stop_and_go_on(opened, tmp_path):
    facts = opened(embed=WordVectors())
    factual.store_many(facts, (f"text number {i}" for i in range(600)))
    other = WordVectors(32)
    other.model = "other"
    again = opened(embed=other, reembedding=True)
    assert next(upkeep.reembed(again.tables))[0] == 256
    more = opened(embed=other, reembedding=True)
    assert [done for done, _ in upkeep.reembed(more.tables)] == [512, 600]
    assert other.texts == 600
    assert factual.stats(more).embedding_model == "other"


def test_close_texts_with_another_number_are_never_merged_by_cosine(opened):
    facts = opened(embed=WordVectors(), settings=POLICIES["hippo"])
    factual.remember_many(facts, ["Ann ran 5 km along the river on a sunny day in spring"])
    outcome = factual.remember_many(
        facts, ["Ann ran 6 km along the river on a sunny day in spring"]
    )[0]
    assert outcome.action is Action.ADDED
    assert len(facts.memories()) == 2


def test_rerank_chooses_over_a_budget_and_failing_changes_nothing(opened):
    def longest(query, texts):
        return [len(text) for text in texts]

    def broken(query, texts):
        raise ProviderError("down")

    texts = [f"tea {'x ' * n}" for n in range(1, 8)]
    facts = opened(rerank=longest)
    factual.store_many(facts, texts)
    assert contents(facts.recall("tea", token_budget=16))[0] == texts[-1]
    plain = contents(opened().recall("tea", token_budget=16))
    assert contents(opened(rerank=broken).recall("tea", token_budget=16)) == plain


def test_vectors_of_another_shape_are_refused(opened):
    facts = opened(embed=lambda texts: np.zeros((1, 2, 3)))
    with pytest.raises(FactError):
        facts.store("x")


def test_deleting_and_updating_keep_vectors_and_codes_together(opened):
    facts = opened(embed=WordVectors())
    made = factual.store_many(facts, ([f"thing {i}" for i in range(20)]))
    facts.delete([made[3].memory.id, made[4].memory.id])
    factual.update(facts, made[5].memory.id, "another thing")
    assert facts.check() == []
    assert len(facts.tables.vectors_of([m.memory.id for m in made])) == 18


def test_under_scriptlings_policy_a_very_similar_text_has_the_new_words(opened):
    """With its vector; but no tool words what the user said."""
    facts = opened(settings=POLICIES["scriptling"], embed=WordVectors())
    said = "The deployment pipeline builds the image, runs the tests and ships to staging"
    [first] = factual.remember_many(facts, [Item(said, origin=Origin(role="user"))])
    [other] = factual.remember_many(facts, [Item(f"{said} at once", origin=Origin(role="tool"))])
    [again] = factual.remember_many(facts, [Item(f"{said} too", origin=Origin(role="user"))])
    assert [first.action, other.action, again.action] == ["added", "added", "strengthened"]
    found = facts.get(first.memory.id)
    assert (again.memory.id, found.content, found.encounters) == (found.id, f"{said} too", 2)
    assert found.embedding_model is not None
    assert said in [each.content for each in factual.history(facts, found.id)]
