"""Whatever a content is, indexing it neither fails nor makes it larger."""

from __future__ import annotations

import pytest

from hippocampus.formats import json_text
from hippocampus.indexing import kinds
from hippocampus.indexing.extraction import EntryLine, Extraction, ExtractionContext, LaterLines
from hippocampus.indexing.kinds import ContentKind
from hippocampus.models import tokens
from tests.bench.compression import corpus, hostile
from tests.bench.compression.measure import entry_text

CHARACTERS = 25_000
BUDGET_TOKENS = 300


@pytest.mark.parametrize("case", hostile.CASES)
def test_hostile_content_of_any_size_is_indexed_alike_and_never_grows(case: str) -> None:
    for size in (0, 1, 2, 100, 1_900, CHARACTERS):
        content = hostile.CASES[case](size)
        entry = entry_text(content, BUDGET_TOKENS)
        assert entry == entry_text(content, BUDGET_TOKENS)
        if size == CHARACTERS:
            assert len(entry) <= len(content)
            assert tokens.count(entry) <= tokens.count(content)


@pytest.mark.parametrize("kind", [kind for kind in corpus.BUILDERS if kind != "test run"])
def test_content_cut_anywhere_is_indexed_and_never_grows(kind: str) -> None:
    content = corpus.content(kind)[: 2 * CHARACTERS]
    part = content[int(len(content) * 0.37) : int(len(content) * 0.73)]
    assert len(entry_text(part, BUDGET_TOKENS)) <= len(part)


def test_a_text_whose_extractor_fails_is_a_plain_excerpt(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(_text: str, _context: ExtractionContext) -> Extraction:
        raise RecursionError

    broken = ContentKind("page", lambda _text, _file: 2.0, failing)
    monkeypatch.setattr(kinds, "KINDS", {"page": broken})
    text = "\n".join(f"a line {n} that no other test has" for n in range(99))
    for _ in range(3):
        assert kinds.kind_of(text) == "text"
    assert "99 lines" in kinds.extraction_of(text, ExtractionContext()).summary
    assert len(caplog.records) == 1


def test_a_text_whose_lines_cannot_be_read_has_those_of_a_plain_excerpt(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The lines of an extraction are read later than its kind."""

    def failing() -> list[EntryLine]:
        raise RecursionError

    broken = Extraction("page", "a page", LaterLines(failing))
    kind = ContentKind("page", lambda _text: 2.0, lambda _text: broken)
    monkeypatch.setattr(kinds, "KINDS", {"page": kind})
    text = "\n".join(f"a line {n} that a test of lines has" for n in range(99))
    found = kinds.extraction_of(text, ExtractionContext())
    assert (found.kind, found.summary) == ("page", "a page")
    for _ in range(3):
        assert len(found.lines) > 20
    assert len(caplog.records) == 1


def test_whether_a_value_is_too_deep_does_not_depend_on_the_stack() -> None:
    deep, flat = ("[" * depth + "]" * depth for depth in (101, 99))
    assert json_text.read(deep, None) is None
    assert json_text.read(flat, None) is not None
