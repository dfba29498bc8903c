"""Search over all that was put away: the same bytes each time, and bounded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.errors import RecallError
from hippocampus.models import tokens
from hippocampus.recall import retrieval
from hippocampus.recall.retrieval import names_in
from hippocampus.recall.slices import content, passages, terms
from hippocampus.storage.full_text import Passages

TEXTS = {
    "orders01": "\n".join(
        f"order_{n:04} was shipped to customer_{n % 7} in box {n}" for n in range(300)
    ),
    "refunds1": "Refunds are paid within 14 days.\n\nA refund goes to card_9911, never to cash.",
    "themecss": '{"getUserTheme": {"colour": "#ff8800", "name": "sunset"}, "other": 1}' * 1,
    "hanzi001": "退款政策：十四天内退款。\n订单状态：已发货。",
}


def opened() -> Passages:
    return Passages(lambda id_: content(TEXTS[id_], f"tool_of_{id_}") if id_ in TEXTS else None)


def search(index: Passages, query: str, bound: int = 800, **more) -> str:
    return retrieval.search(index, query, bound, list(TEXTS), TEXTS.__getitem__, **more)


def test_words_find_the_entry_and_its_lines() -> None:
    index = opened()
    assert search(index, "to which card does a refund go").startswith("refunds1:\n")
    assert "card_9911" in search(index, "to which card does a refund go")
    assert "#ff8800" in search(index, "colour of the user theme")
    assert "退款政策" in search(index, "退款")


def test_a_search_reads_each_text_once() -> None:
    left = dict(TEXTS)
    found = retrieval.search(opened(), "refund card", 400, list(TEXTS), left.pop)
    assert "card_9911" in found


def test_two_searches_return_the_same_bytes() -> None:
    one, two = opened(), opened()
    assert search(one, "order box customer") == search(one, "order box customer")
    assert search(one, "order box customer") == search(two, "order box customer")


@given(
    st.text(max_size=60) | st.sampled_from(['"', "a OR b", "NEAR(", "refund*", "-x", "words:y"]),
    st.integers(1, 400),
)
def test_any_query_is_words_and_any_answer_bounded(query: str, bound: int) -> None:
    index = opened()
    try:
        assert tokens.count(search(index, query, bound)) <= bound
    except RecallError as told:
        assert told.reason in ("no_match", "too_large")  # noqa: PT017 - either is right


def test_lines_that_say_nothing_more_than_the_view_come_last() -> None:
    index = opened()
    known = names_in(TEXTS["orders01"].replace("order_0250", ""))
    found = search(index, "order was shipped to customer", 100, known=known)
    assert "order_0250" in found


def test_an_entry_is_read_once_and_one_that_could_not_be_read_again() -> None:
    texts, read = {"orders01": TEXTS["orders01"]}, []
    index = Passages(
        lambda id_: read.append(id_) or (content(texts[id_], "") if id_ in texts else None)
    )
    ids = ["orders01", "refunds1"]
    assert index.search(["refund"], ids) == []
    texts |= TEXTS
    assert [hit.entry_id for hit in index.search(["refund"], ids)] == ["refunds1"]
    assert read == ["orders01", "refunds1", "refunds1"]


def test_only_the_entries_that_are_asked_for_are_searched() -> None:
    index = opened()
    search(index, "refund")
    with pytest.raises(RecallError):
        retrieval.search(index, "refund", 500, ["orders01"], TEXTS.__getitem__)


@given(st.lists(st.text("ab {\n", max_size=80), max_size=60))
def test_passages_cover_every_line_once(lines: list[str]) -> None:
    spans = passages(lines)
    covered = [number for first, last in spans for number in range(first, last + 1)]
    assert covered == list(range(1, len(covered) + 1))
    assert all(not line for line in lines[len(covered) :])


def test_names_are_taken_apart() -> None:
    assert terms("getUserTheme of the user_themes") == ["user", "theme", "user", "themes"]


def test_a_sentence_in_a_long_paragraph_is_found_within_few_tokens() -> None:
    before, after = "The committee met and talked. " * 200, "Then they went for dinner. " * 200
    text = f"{before}The reserve key is under stone 47 by the gate. {after}"
    index = Passages(lambda _: content(text, ""))
    found = retrieval.search(index, "reserve key stone gate", 300, ["aaaa2222"], lambda _: text)
    assert "under stone 47 by the gate" in found
