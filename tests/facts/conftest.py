"""A store that checks itself when a test is done, and a clock that is set."""

from __future__ import annotations

import contextlib
import uuid

import pytest

from hippocampus.facts.store import Facts
from hippocampus.storage.state import state_of

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
def engine():
    """Where the stores are: a module that names both runs on both."""
    return "file"


@pytest.fixture
def opened(tmp_path, hand, engine, request):
    """Open stores on one file, or of one tenant; each is checked and closed at the end."""
    stores, place = [], tmp_path / "facts.db"
    with contextlib.ExitStack() as closing:
        if engine == "server":
            place = state = state_of(request.getfixturevalue("postgres").address, uuid.uuid4().hex)
            closing.callback(state.close)
            state.connections.patience_seconds = 60.0

        def open_store(**options):
            store = Facts(place, **{"clock": hand, **options})
            stores.append(store)
            return store

        yield open_store
        for store in stores:
            assert store.check() == []
            store.close()


@pytest.fixture
def facts(opened):
    return opened()
