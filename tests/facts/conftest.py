"""A store that checks itself when a test is done, and a clock that is set."""

from __future__ import annotations

import pytest

from hippocampus.facts import Facts

START = 1_770_000_000.0
DAY = 86_400.0


class Hand:
    """A clock that a test moves."""

    def __init__(self):
        self.at = START

    def __call__(self):
        return self.at

    def pass_days(self, days):
        self.at += days * DAY


@pytest.fixture
def hand():
    return Hand()


@pytest.fixture
def opened(tmp_path, hand):
    """Open stores on one file; each is checked and closed at the end."""
    stores = []

    def open_store(**options):
        store = Facts(tmp_path / "facts.db", **{"clock": hand, **options})
        stores.append(store)
        return store

    yield open_store
    for store in stores:
        assert store.check() == []
        store.close()


@pytest.fixture
def facts(opened):
    return opened()
