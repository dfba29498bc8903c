"""Wrong input to the fact store: a sentence that says what is wrong, and nothing is written."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import factual
import numpy as np
import pytest

from hippocampus.errors import FactError, ProviderError
from hippocampus.facts.models import POLICIES
from hippocampus.facts.store import Facts
from hippocampus.storage.facts.rows import Item

HALF = "half a \ud800 character"


@pytest.fixture
def facts(tmp_path: Path) -> Iterator[Facts]:
    with Facts(tmp_path / "memory.sqlite3") as made:
        made.store("A lamp stands in the hall.")
        yield made
        assert len(made.memories(agent="*")) == 1
        assert made.check() == []


@pytest.mark.parametrize("at", [math.nan, math.inf, -math.inf, 1e300, 1_770_000_000_000, -1e12])
@pytest.mark.parametrize("name", ["at", "valid_from", "valid_until"])
def test_a_time_that_no_date_tells_is_refused(name: str, at: float, facts: Facts) -> None:
    """Milliseconds are such a time; written down, it would break each later recall."""
    wrong: dict[str, Any] = {name: at}
    with pytest.raises(FactError, match="not in the years 1 to 9999"):
        facts.remember("Ann likes tea.", **wrong)
    with pytest.raises(FactError, match="not in the years 1 to 9999"):
        factual.store_many(facts, [Item("Ann likes tea.", **wrong)])
    assert len(facts.recall("lamp")) == 1


@pytest.mark.parametrize("name", ["since", "until", "as_of", "known_as_of"])
def test_a_time_of_a_recall_is_checked_too(name: str, facts: Facts) -> None:
    for wrong in (math.nan, b"2026", dt.date(2026, 2, 9)):
        with pytest.raises(FactError, match=r"years 1 to 9999|is no time"):
            facts.recall("lamp", **{name: wrong})


def test_a_filter_that_there_is_not_is_named_as_python_does(facts: Facts) -> None:
    with pytest.raises(TypeError, match=r"recall\(\) got an unexpected keyword argument 'bogus'$"):
        facts.recall("lamp", bogus=3)  # type: ignore[call-arg]


CALLS: dict[str, Callable[[Facts], object]] = {
    "agent": lambda facts: facts.store("Ann likes tea.", agent=HALF),
    "scope": lambda facts: facts.remember("Ann likes tea.", scope=HALF),
    "type": lambda facts: facts.store("Ann likes tea.", type=HALF),
    "asked agent": lambda facts: len(facts.memories(agent=HALF)),
    "block": lambda facts: facts.blocks.get(HALF),
    "large number": lambda facts: facts.memories(limit=1 << 70),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_no_file_can_hold_is_the_callers_error(name: str, facts: Facts) -> None:
    with pytest.raises(FactError, match="a value that no file can hold"):
        CALLS[name](facts)


LISTS: dict[str, Callable[[Facts], object]] = {
    "delete": lambda facts: facts.delete("some-id"),
    "restore": lambda facts: factual.restore(facts, "some-id"),
    "scopes": lambda facts: facts.recall("lamp", scopes="work"),
    "types": lambda facts: facts.recall("lamp", types="note"),
    "forget": lambda facts: facts.forget("lamp", scopes="work"),
}


@pytest.mark.parametrize("name", LISTS)
def test_one_text_is_not_taken_for_the_list_of_its_letters(name: str, facts: Facts) -> None:
    with pytest.raises(FactError, match=r"a list of texts; .* is one text"):
        LISTS[name](facts)


def test_a_negative_bound_deletes_nothing(facts: Facts) -> None:
    with pytest.raises(FactError, match="max_deleted is -1; it is 0 or more"):
        facts.forget("lamp", threshold=0.0, max_deleted=-1)


def test_an_embedding_that_is_no_number_is_refused(tmp_path: Path) -> None:
    def embed(texts: list[str]) -> np.ndarray[Any, Any]:
        return np.full((len(texts), 8), np.nan)

    with Facts(tmp_path / "memory.sqlite3", embed=embed) as facts:
        with pytest.raises(FactError, match="what is no number"):
            facts.store("A lamp stands in the hall.")
        assert len(facts.memories()) == 0


def test_a_model_that_fails_leaves_a_compaction_to_the_rules(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def complete(_prompt: str) -> str:
        raise ProviderError("out of order")

    told = [
        f"We deploy the shop on the second Tuesday of {each} month." for each in ("each", "every")
    ]
    settings = POLICIES["scriptling"]
    with Facts(tmp_path / "memory.sqlite3", settings=settings, complete=complete) as facts:
        factual.store_many(facts, told)
        assert factual.compact(facts).remaining == len(told)
    assert "failed: out of order" in caplog.text


def test_half_a_character_in_a_statement_is_kept_escaped_and_found(tmp_path: Path) -> None:
    with Facts(tmp_path / "memory.sqlite3") as facts:
        facts.remember("I live in \ud800Rome.")
        (outcome,) = facts.remember("I now live in \udfffParis.")
        assert outcome.action == "superseded"
        assert [memory.content for memory in facts.memories()] == [r"I now live in \udfffParis."]
        assert facts.recall("Where is \udfffParis?")


@pytest.mark.parametrize("sign", "\u200b\u00ad\ufeff\u2060\u200e\u202a")
def test_an_invisible_sign_makes_no_other_word(sign: str, tmp_path: Path) -> None:
    with Facts(tmp_path / "memory.sqlite3") as facts:
        facts.remember(f"The desk stands in Ro{sign}me.")
        assert facts.recall("Rome")
        assert facts.recall(f"R{sign}ome")
        (again,) = facts.remember("The desk stands in Rome !")
        assert again.action == "strengthened"
