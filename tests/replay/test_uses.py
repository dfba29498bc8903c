"""Which lines a text has, and which of them an agent took from tool results."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from hippocampus.formats.conversation import Message, Part
from hippocampus.replay.uses import collapsed, finder, lines_of, opened_texts, searchable, uses

LINE = "return the answer to every question"


def test_a_line_is_the_same_in_every_dress() -> None:
    """Without outer blanks, line numbers and diff signs, JSON opened, blanks collapsed."""
    dresses = [
        LINE,
        f"\t  {LINE}  ",
        f"    12→{LINE}",
        f"    12\t{LINE}",
        f"12: {LINE}",
        f"L12: {LINE}",
        f"5eu|{LINE}",
        f"+{LINE}",
        f"-    {LINE}",
        f"12: +{LINE}",
        LINE.replace(" ", "   \t"),
        f"short\n\n{LINE}\nshort",
        json.dumps({"output": f"short\n  {LINE}\n"}),
        json.dumps([{"type": "text", "text": json.dumps({"stdout": LINE})}]),
        json.dumps(LINE),
    ]
    assert [text for text in dresses if lines_of(text) != {LINE}] == []


def test_short_lines_and_lines_of_few_words_do_not_count() -> None:
    texts = [
        "three short words a",
        "only_two_words_here 1234567890 + 1234567890".replace("_", ""),
        "1234567890 1234567890 1234567890",
        "12: a b c d e f g h",
        json.dumps({LINE: 1}),
    ]
    assert [text for text in texts if lines_of(text)] == []


@given(st.recursive(st.text(), lambda each: st.lists(each) | st.dictionaries(st.text(), each)))
def test_every_line_of_a_text_is_found_in_it(value: object) -> None:
    """Of JSON with escapes too, as sent whole: sending everything hides no line."""
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False), str(value)):
        assert [line for line in lines_of(text) if line not in searchable(text)] == []


@given(st.text(alphabet="ab \t\n\\\"'é"), st.integers(0, 60))
def test_what_is_left_of_cut_json_is_searched_without_its_escapes(before: str, more: int) -> None:
    whole = json.dumps({"output": f'{before}\nsay "{LINE}" twice{" and more" * more}'})
    assert f'"{LINE}"' in searchable(whole[: whole.rindex(LINE) + len(LINE) + 2])


def test_json_that_nests_too_deep_is_text() -> None:
    deep = "[" * 100_000
    assert list(opened_texts(deep)) == [deep]


@given(st.lists(st.text("ab.", min_size=1)), st.text("ab.", max_size=40))
def test_the_terms_that_a_text_contains_are_those_of_a_search_for_each(
    terms: list[str], text: str
) -> None:
    assert finder(terms)(text) == {term for term in terms if term in text}


def naive_uses(texts: list[tuple[str, str]]) -> list[set[str]]:
    """For each answer, its lines that no text before a first tool result had."""
    found = []
    for number, (role, text) in enumerate(texts):
        if role == "assistant":
            taken = set()
            for line in lines_of(text):
                first = next((r for r, t in texts[:number] if line in lines_of(t)), None)
                taken |= {line} if first == "tool" else set()
            found.append(taken)
    return found


SENTENCES = st.sampled_from([f"the {word} line that is written again" for word in "abcde"])


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool"]), SENTENCES)))
def test_line_uses_agree_with_the_naive_oracle(texts: list[tuple[str, str]]) -> None:
    kinds = {"user": "text", "assistant": "text", "tool": "result"}
    messages = [
        Message(role, (Part(kinds[role], text, (0,)),), ({},))  # type: ignore[arg-type]
        for role, text in texts
    ]
    assert list(map(set, uses(messages, lines_of).values())) == naive_uses(texts)


@given(st.text())
def test_collapsing_twice_changes_nothing(text: str) -> None:
    assert collapsed(collapsed(text)) == collapsed(text)
