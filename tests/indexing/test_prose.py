"""Prose is its outline, its lead and its own lines, in any language."""

from __future__ import annotations

import pytest

from hippocampus.indexing import prose
from hippocampus.indexing.extraction import Extraction, ExtractionContext

PAGE = """# The bridges of Königsberg

The town was set on both sides of the river Pregel. It had seven bridges.
Leonhard Euler showed in 1736 that no walk crosses each of them once.

## Proof

Each land mass needs an even number of bridges. Leonhard Euler counted 3, 3, 3 and 5.
Some remark without anything in it follows here.

- See [the first paper](https://example.org/E053.pdf) and its [index](https://example.org/very/long/address/that/does/not/fit/in/a/line/of/an/item.html)
- Cost: 12.50 € a copy

## Today

Two of them were bombed. Read more at https://example.org/today?id=77.

```bash
make walk
```
"""
CHINESE = "# 长江\n\n长江是亚洲第一长河，全长约6397公里。它发源于青藏高原。《水经注》提到了它。《水经注》很有名。\n\n## 历史\n\n2003年三峡水库开始蓄水。没有数字的句子在这里！\n"


def read(text: str) -> Extraction:
    extraction = prose.extract(text, ExtractionContext())
    assert extraction is not None
    return extraction


def weights(extraction: Extraction) -> dict[str, float]:
    return {line.text.strip(): line.weight for line in extraction.lines}


def test_the_summary_opens_with_the_title() -> None:
    assert read(PAGE).summary.startswith("“The bridges of Königsberg”, 20 lines")
    assert read(PAGE).key_data["title"] == "The bridges of Königsberg"


def test_headings_have_true_line_numbers() -> None:
    rows = PAGE.split("\n")
    headings = [line for line in read(PAGE).lines if line.text.startswith("#")]
    assert [line.number for line in headings] == [1, 6, 14]
    assert all(rows[(line.number or 0) - 1] == line.text for line in headings)


def test_the_lead_weighs_most_of_the_text() -> None:
    shown = weights(read(PAGE))
    lead = "The town was set on both sides of the river Pregel. It had seven bridges."
    text = [weight for line, weight in shown.items() if not line.startswith(("#", "outline"))]
    assert shown[lead] == max(text)


def test_lines_stand_as_they_are() -> None:
    shown = list(weights(read(PAGE)))
    assert all(line.strip() in shown for line in PAGE.split("\n") if line.strip())


def test_a_language_without_spaces_is_read_by_sentences() -> None:
    assert prose.recognises(CHINESE) > 0.6
    long = CHINESE.replace("。", "。它很长") * 40
    assert all(len(line.text) <= 400 for line in read(long.replace("\n", "")).lines)


@pytest.mark.parametrize(
    "text",
    ["Title\n=====\n\nText here.\n", "**Title**\n\nText here.\n", "1.2 Title\n\nText here.\n"],
)
def test_headings_are_found_in_other_forms_too(text: str) -> None:
    assert read(text).key_data["headings"] == 1


def test_code_is_no_prose() -> None:
    assert prose.recognises("def f(x):\n    y = g(x)\n    return y\n" * 9) < 0.2
    assert prose.recognises(PAGE) > 0.5


def test_a_long_text_keeps_all_its_headings_within_bounds() -> None:
    text = "".join(
        f"## Part {at}\n\nSome words stand here, and others {at}.\n\n" for at in range(800)
    )
    extraction = read(text)
    assert extraction.key_data["headings"] == 800
    assert len(extraction.lines) < 4_000


def test_a_number_and_a_page_mark_are_no_title():
    page = "\n".join(
        f"The sensor {n} reads the light of room {n} once a minute." for n in range(60)
    )
    text = f"10\n=== PAGE 1 ===\nThere is more to light than lamps\n{page}"
    extraction = prose.extract(text, ExtractionContext())
    assert extraction.key_data["title"] == "There is more to light than lamps"


def test_a_line_that_names_the_title_has_it():
    page = "\n".join(
        f"The sensor {n} reads the light of room {n} once a minute." for n in range(60)
    )
    text = f'---\nurl: https://example.org/light\ntitle: "Light in rooms"\n---\n{page}'
    extraction = prose.extract(text, ExtractionContext())
    assert extraction.key_data["title"] == "Light in rooms"
