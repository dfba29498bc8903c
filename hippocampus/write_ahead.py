"""SQLite's write-ahead log, for every file that several processes may open at once."""

from __future__ import annotations

import sqlite3
import time

PAUSE_SECONDS = 0.01


def use_write_ahead_log(db: sqlite3.Connection, busy_seconds: float) -> None:
    """Let a file have a write-ahead log, which lets readers read while somebody writes.

    SQLite may wait for no lock when it changes to that log, whatever the connection's time limit,
    so of processes that make a file together some have to ask again.

    Raises:
        sqlite3.OperationalError: the file was locked for longer than `busy_seconds`.

    """
    until = time.monotonic() + busy_seconds
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(PAUSE_SECONDS)
        else:
            return
