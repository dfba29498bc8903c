"""The statements of one transaction, which wait in a buffer until a result is asked for.

The driver's own cursors send statements one by one, which wakes the server as often, and takes three
times the CPU of this process.
"""

from __future__ import annotations

import contextlib
import itertools
import selectors
import time
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult
from psycopg.types.numeric import Int8Dumper

Row = tuple[Any, ...]
FAILED = (ExecStatus.FATAL_ERROR, ExecStatus.BAD_RESPONSE, ExecStatus.PIPELINE_ABORTED)
MAX_WAIT_SECONDS = 3_600.0
SELECTOR = getattr(selectors, "PollSelector", selectors.SelectSelector)


class LateError(psycopg.OperationalError):
    """The server did not answer within the deadline."""


class Connection(psycopg.Connection[Row]):
    """A connection that knows which statements it has prepared."""

    def __init__(self, *args: Any, **options: Any) -> None:
        """Take over a connection of libpq."""
        super().__init__(*args, **options)
        self.adapters.register_dumper(int, Int8Dumper)  # one type for all sizes: one statement
        self.prepared: dict[tuple[str, tuple[int, ...]], bytes] = {}
        """The names of prepared statements, by their text and the types of their values."""
        self.names = map("statement{}".format, itertools.count())


class Statements:
    """The requests of one connection until its transaction ends.

    A statement that the server refuses ends it too (`roll_back`); any other failure loses the connection.
    """

    def __init__(self, connection: Connection, until: float) -> None:
        """Share a connection; its waits end at `until`, in monotonic seconds."""
        self.until = until
        self.rows: list[list[Row]] = []
        """The rows by statement, as far as they were received."""
        self._connection = connection
        self._libpq = connection.pgconn
        self._libpq.nonblocking = 1
        if not self._libpq.pipeline_status:
            self._libpq.enter_pipeline_mode()
        self.sent = 0
        self._waiting: list[bool] = []
        """By result that has not arrived, whether it has the rows of a statement."""
        self._prepared = list[tuple[str, tuple[int, ...]]]()
        """The statements that this transaction prepares."""
        self._is_ended = False

    def send(
        self, parts: Sequence[str], values: Sequence[Any] = (), *, prepare: bool = True
    ) -> None:
        """Add a statement to the buffer: its text in parts, and the values between them.

        One that is not prepared has its values as literals: the server finds their types by their use.
        """
        adapted = Transformer(self._connection)
        if prepare:
            given = adapted.dump_sequence(values, [PyFormat.AUTO] * len(values))
            numbers = [f"${number}" for number, _ in enumerate(values, 1)]
            text = "".join(map("".join, zip(parts, [*numbers, ""], strict=True)))
            known, key = self._connection.prepared, (text, adapted.types or ())
            if (name := known.get(key)) is None:
                name = known[key] = next(self._connection.names).encode()
                self._prepared.append(key)
                self._libpq.send_prepare(name, text.encode(), adapted.types)
                self._waiting.append(False)
            self._libpq.send_query_prepared(name, given, adapted.formats)
        else:
            literals = [*map(adapted.as_literal, values), b""]
            pairs = zip((part.encode() for part in parts), literals, strict=True)
            self._libpq.send_query_params(b"".join(map(b"".join, pairs)), None)
        self._waiting.append(True)
        self.sent += 1

    def receive(self, *, is_end: bool = False) -> None:
        """Wait until the rows of all statements are there; at the end, for the end of the transaction.

        Raises:
            psycopg.Error: the server refused a statement, or did not answer in time.
        """
        if is_end:
            self._libpq.pipeline_sync()
            self._is_ended = True
        else:
            self._libpq.send_flush_request()
        self._flush()
        for has_rows in self._waiting:
            found = self._result()
            if has_rows:
                loaded = Transformer(self._connection)
                loaded.set_pgresult(found)
                self.rows.append(loaded.load_rows(0, found.ntuples, tuple) if found.ntuples else [])
        self._waiting.clear()
        if is_end:
            self._result()

    def roll_back(self) -> bool:
        """End the transaction after a refused statement; return whether the connection is of use still."""
        for key in self._prepared:  # those after the refused one are not
            del self._connection.prepared[key]
        ends = 0
        with contextlib.suppress(psycopg.Error):
            if not self._is_ended:
                self._libpq.pipeline_sync()
                self._flush()
            while ends < 2:  # one follows each result; after the second, no more come
                self._wait_for_result()
                found = self._libpq.get_result()
                if found is not None and found.status == ExecStatus.PIPELINE_SYNC:
                    return True
                ends = 0 if found is not None else ends + 1
        return False

    def _flush(self) -> None:
        while self._libpq.flush():
            self._wait(selectors.EVENT_READ | selectors.EVENT_WRITE)

    def _result(self) -> PGresult:
        self._wait_for_result()
        found = self._libpq.get_result()
        if found is None:
            raise psycopg.OperationalError("the connection to the server was lost")
        if found.status in FAILED:
            raise psycopg.errors.error_from_result(found)
        if found.status != ExecStatus.PIPELINE_SYNC:
            self._wait_for_result()
            self._libpq.get_result()  # nothing, which ends the results of one statement
        return found

    def _wait_for_result(self) -> None:
        while self._libpq.is_busy():
            self._wait(selectors.EVENT_READ)

    def _wait(self, events: int) -> None:
        """Wait for the server, and take in its answer."""
        left = self.until - time.monotonic()
        with SELECTOR() as selector:
            selector.register(self._libpq.socket, events)
            if left <= 0 or not selector.select(min(left, MAX_WAIT_SECONDS)):
                raise LateError("no answer within the deadline")
        self._libpq.consume_input()
