"""Prose is told by its title, outline, lead, telling sentences and links, in any language."""

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
    assert read(PAGE).summary.startswith("“The bridges of Königsberg”, 21 lines")
    assert read(PAGE).key_data["title"] == "The bridges of Königsberg"


def test_the_outline_tells_true_line_numbers() -> None:
    rows = PAGE.split("\n")
    outline = [line.text for line in read(PAGE).lines if ": ##" in line.text]
    assert outline == ["6: ## Proof", "14: ## Today"]
    assert all(rows[int(text.split(":")[0]) - 1] == text.split(": ")[1] for text in outline)


def test_the_lead_weighs_most_and_figures_more_than_none() -> None:
    told = weights(read(PAGE))
    assert told["The town was set on both sides of the river Pregel."] == max(told.values())
    assert (
        told["Leonhard Euler counted 3, 3, 3 and 5."]
        > told["Some remark without anything in it follows here."]
    )


def test_addresses_stand_whole_beside_their_labels() -> None:
    told = list(weights(read(PAGE)))
    assert "→ the first paper <https://example.org/E053.pdf>" in told
    assert "→ https://example.org/today?id=77" in told
    short = read("- See [the paper](https://example.org/E053.pdf), page 3\n")
    assert [line.text for line in short.lines] == [
        "- See the paper <https://example.org/E053.pdf>, page 3"
    ]


def test_names_that_come_again_are_listed() -> None:
    assert read(PAGE).lines[0].text == "names: Leonhard Euler"


def test_sentences_belong_to_their_heading() -> None:
    extraction = read(PAGE)
    bombed = next(line for line in extraction.lines if "bombed" in line.text)
    assert extraction.lines[bombed.parent or 0].text == "14: ## Today"


def test_a_language_without_spaces_is_read_by_sentences() -> None:
    extraction = read(CHINESE)
    told = weights(extraction)
    assert prose.recognises(CHINESE) > 0.6
    assert "长江是亚洲第一长河，全长约6397公里。" in told
    assert told["2003年三峡水库开始蓄水。"] > told["没有数字的句子在这里！"]
    assert extraction.lines[0].text == "names: 水经注"


@pytest.mark.parametrize(
    "text",
    ["Title\n=====\n\nText here.\n", "**Title**\n\nText here.\n", "1.2 Title\n\nText here.\n"],
)
def test_headings_are_told_in_other_ways_too(text: str) -> None:
    assert read(text).key_data["headings"] == 1


def test_code_is_no_prose() -> None:
    assert prose.recognises("def f(x):\n    y = g(x)\n    return y\n" * 9) < 0.2
    assert prose.recognises(PAGE) > 0.5


def test_a_long_text_keeps_all_its_headings_within_bounds() -> None:
    text = "".join(
        f"## Part {at}\n\nSome words stand here, nothing more. And others {at}.\n\n"
        for at in range(800)
    )
    extraction = read(text)
    assert (
        sum(": ## Part" in line.text for line in extraction.lines) == 799
    )  # the first is the title
    assert len(extraction.lines) < 4_000
