"""Connections to one PostgreSQL server: a pool, a deadline for all waits, and a pause after a failure.

A transaction names its tenant first. The tables are not known here.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg import conninfo
from psycopg_pool import ConnectionPool

from hippocampus.errors import StoreError
from hippocampus.storage.deadline import left
from hippocampus.storage.migrations import name_of
from hippocampus.storage.postgres.schema import SCHEMA, SCRIPTS
from hippocampus.storage.postgres.statements import Connection, LateError, Statements

RETRY_SECONDS = 5.0
"""How long nothing is asked of a server that has failed; then the next call tries it."""
START_SECONDS = 10.0
MAX_CONNECTIONS = 10
LOCK = 7_305_519_482
"""The number of the advisory lock of migrations; an arbitrary one."""
BEGUN = (
    "SELECT set_config('hippocampus.tenant', ",
    ", true), set_config('search_path', ",
    ", true), set_config('jit', 'off', true)",
)
"""Names the tenant; statements of milliseconds are not worth compiling.

All statements before a synchronisation are one transaction, without BEGIN and COMMIT.
"""


class Connections:
    """What the sessions and tenants of a process share of one server."""

    patience_seconds = 2.0
    """How long a call waits for the server where no deadline is given: no turn does."""

    def __init__(self, address: str) -> None:
        """Name the server; it is asked for nothing yet.

        Raises:
            StoreError: the address cannot be read.
        """
        try:
            named = conninfo.conninfo_to_dict(address)
        except psycopg.ProgrammingError as wrong:
            raise StoreError(f"the address of the PostgreSQL server: {wrong}") from None
        if "@" in str(named.get("dbname")):
            raise StoreError("the address of the PostgreSQL server: a password has %2F for its /")
        self.name = f"PostgreSQL {named.get('host', 'localhost')}/{named.get('dbname', '')}"
        """As errors name it: without a password."""
        self._address = address
        self._pool: ConnectionPool[Connection] | None = None
        self._lock = threading.Lock()
        self._starting: threading.Thread | None = None
        self._failure: Exception | None = None
        self._shut_until = -math.inf

    def start(self, seconds: float = START_SECONDS) -> None:
        """Make the tables where they are missing, and open the pool, in a thread that may be left.

        Raises:
            StoreError: the server does not answer within `seconds`, or refuses.
        """
        with self._lock:
            if self._pool is not None:
                return
            if self._starting is None or not self._starting.is_alive():
                self._starting = threading.Thread(target=self._start, daemon=True)
                self._starting.start()
            starting = self._starting
        starting.join(seconds)
        if self._pool is None:
            raise self._failed(self._failure or LateError("no answer within the deadline"))

    def _start(self) -> None:
        self._failure = None
        try:
            with psycopg.connect(self._address, autocommit=True, connect_timeout=2) as db:
                _migrate(db)
            pool = ConnectionPool(
                self._address,
                connection_class=Connection,
                kwargs={"autocommit": True, "connect_timeout": 2},
                min_size=1,
                max_size=MAX_CONNECTIONS,
                reconnect_timeout=1.0,  # a later call asks for a new connection
                num_workers=2,
                open=True,
            )
            self._pool = pool
        except (psycopg.Error, StoreError) as failure:
            self._failure = failure

    @contextlib.contextmanager
    def transaction(self, tenant: str, patience: float) -> Iterator[Statements]:
        """Yield the statements of a transaction: all are written, or none.

        It takes up to the limit of the thread, or `patience` in seconds, and a failure closes the connection.

        Raises:
            StoreError: the server did not answer in time, or refused.
        """
        until = time.monotonic() + left(patience)
        if time.monotonic() < self._shut_until:
            raise StoreError(f"{self.name} has failed, and is tried again in a few seconds")
        self.start(until - time.monotonic())
        assert self._pool is not None
        try:
            db = self._pool.getconn(max(0.001, until - time.monotonic()))
        except psycopg.Error as failure:
            raise self._failed(failure) from failure
        try:
            statements = Statements(db, until)
            statements.send(BEGUN, (tenant, SCHEMA))
            yield statements
            statements.receive(is_end=True)
        except BaseException as failure:
            db.close()  # the server takes back what was not committed
            if isinstance(failure, psycopg.Error):
                raise self._failed(failure) from failure
            raise
        finally:
            self._pool.putconn(db)

    def _failed(self, failure: Exception) -> StoreError:
        """Return the failure as an error; where the server itself has failed, pause its use."""
        if isinstance(failure, StoreError):
            return failure
        if isinstance(failure, psycopg.OperationalError | psycopg.InterfaceError):
            self._shut_until = time.monotonic() + RETRY_SECONDS
        return StoreError(f"{self.name}: {failure}")

    def close(self) -> None:
        """Close the pool."""
        with self._lock:
            if self._pool is not None:
                self._pool.close(timeout=1.0)
            self._pool = None


def _migrate(db: psycopg.Connection[Any]) -> None:
    """Apply the migrations that are missing, one process at a time."""
    (passes,) = db.execute(
        "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
    ).fetchone() or (True,)
    if passes:
        raise StoreError(
            f"the role {db.info.user!r} is not bound by row-level security: connect as a role "
            "without SUPERUSER and BYPASSRLS"
        )
    scripts = {name_of(script): script for script in SCRIPTS}
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        (there,) = db.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.migration",)).fetchone() or (
            None,
        )
        if there is None:
            db.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}".encode())
            db.execute(f"CREATE TABLE {SCHEMA}.migration (name text PRIMARY KEY)".encode())
        applied = {name for (name,) in db.execute(f"SELECT name FROM {SCHEMA}.migration".encode())}
        if not applied <= scripts.keys():
            raise StoreError("the tables are of another version: install that version")
        db.execute(f"SET LOCAL search_path = {SCHEMA}".encode())
        for name, script in scripts.items():
            if name not in applied:
                db.execute(script.encode())
                db.execute("INSERT INTO migration VALUES (%s)", (name,))


def due_tenants(address: str, idle_seconds: float) -> tuple[str, list[str]]:
    """Return the address under which the owner's role reads, and the tenants with sessions to consolidate.

    It is for an operator: a role that may see all tenants, and may take that of the tables' owner.

    Raises:
        StoreError: the server fails, or the role may not see all tenants.
    """
    try:
        with psycopg.connect(address, connect_timeout=2) as db:
            db.execute("SET row_security = off")  # an error where rows would be left out
            now = time.time()
            found = db.execute(
                f"SELECT DISTINCT tenant FROM {SCHEMA}.session WHERE changes > consolidated"
                " AND active_at <= %s AND claimed_until <= %s ORDER BY tenant".encode(),
                (now - idle_seconds, now),
            ).fetchall()
            (owner,) = db.execute(
                "SELECT tableowner FROM pg_tables WHERE schemaname = %s", (SCHEMA,)
            ).fetchone() or ("",)
    except psycopg.Error as failure:
        raise StoreError(f"the tenants of the PostgreSQL server: {failure}") from failure
    role = quote(f"-c role={owner}", safe="")
    bound = f"{address}{'&' if '?' in address else '?'}options={role}"
    return bound, [tenant for (tenant,) in found]
