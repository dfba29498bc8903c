"""Connections to one PostgreSQL server: a pool, a deadline for all waits, and a pause after a failure.

A transaction names its tenant first. The tables are not known here.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg import conninfo
from psycopg_pool import ConnectionPool, PoolTimeout

from hippocampus.errors import StoreError
from hippocampus.models.bounded import in_thread
from hippocampus.storage.database import ConflictError
from hippocampus.storage.deadline import left, waiting
from hippocampus.storage.postgres.buffered_statements import Connection, LateError, Statements
from hippocampus.storage.postgres.schema import CONFLICT, SCHEMA, SCRIPTS
from hippocampus.storage.schema import name_of

RETRY_SECONDS = 5.0
"""How long nothing is asked of a server that has failed; then the next call tries it."""
FAIR_SECONDS = 0.1
"""A server that had less time to answer, since a bucket took the rest of a deadline, has not failed."""
START_SECONDS = 10.0
ATTEMPT_SECONDS = 2.0
"""The longest wait for one connection; then it is asked for again."""
MAX_CONNECTIONS = 10
LOCK = 7_305_519_482
"""The number of the advisory lock of migrations; an arbitrary one."""
UNBOUND = f"""
    SELECT relname FROM pg_class WHERE relnamespace = '{SCHEMA}'::regnamespace AND relkind = 'r'
    AND relname != 'migration' AND NOT row_security_active(oid) ORDER BY relname
""".encode()
"""The tables that a transaction would read without its tenant's policy."""
BEGUN = (
    "SELECT set_config('hippocampus.tenant', ",
    ", true), set_config('plan_cache_mode', 'force_generic_plan', true), set_config('search_path', ",
    ", true), set_config('jit', 'off', true)",
)
"""Names the tenant; statements of milliseconds are not worth compiling, or planning at each use.

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
        self._pool: Future[ConnectionPool[Connection]] | None = None
        """Made in a thread that may be left; one that failed is tried again."""
        self._lock = threading.Lock()
        self._shut_until = -math.inf
        self._failure = ""
        """Why nothing is asked until then."""

    def start(self, seconds: float = START_SECONDS) -> ConnectionPool[Connection]:
        """Return the pool, in `seconds` at most; the first call makes the tables where they are missing."""
        with self._lock:
            if self._pool is None or (self._pool.done() and self._pool.exception()):
                self._pool = in_thread(self._opened)
            pool = self._pool
        try:
            return pool.result(seconds)
        except TimeoutError:
            raise self._failed(LateError("no answer within the deadline"), seconds) from None
        except psycopg.Error as failure:
            raise self._failed(failure, seconds) from failure

    def _opened(self) -> ConnectionPool[Connection]:
        with psycopg.connect(self._address, autocommit=True, connect_timeout=2) as db:
            _migrate(db)
        return ConnectionPool(
            self._address,
            connection_class=Connection,
            kwargs={"autocommit": True, "connect_timeout": 2},
            min_size=1,
            max_size=MAX_CONNECTIONS,
            reconnect_timeout=1.0,  # a later call asks for a new connection
            num_workers=2,
            open=True,
        )

    @contextlib.contextmanager
    def transaction(self, tenant: str, patience: float) -> Iterator[Statements]:
        """Yield the statements of a transaction: all are written, or none.

        It takes up to the limit of the thread, or `patience` in seconds. A failure closes the connection,
        but for that of a worker that comes second.
        """
        given = left(patience)
        with waiting():
            until = time.monotonic() + given
            if time.monotonic() < self._shut_until:
                raise StoreError(f"{self._failure}; it is tried again in a few seconds")
            pool, db = self.start(given), None
            while db is None:
                seconds = max(0.001, until - time.monotonic())
                try:
                    # The pool tries a server that is away for a second only; each call lets it try again.
                    db = pool.getconn(min(seconds, ATTEMPT_SECONDS))
                except psycopg.Error as failure:
                    if seconds <= ATTEMPT_SECONDS or not isinstance(failure, PoolTimeout):
                        raise self._failed(failure, given) from failure
            try:
                statements = Statements(db, until)
                statements.send(BEGUN, (tenant, SCHEMA))
                yield statements
                statements.receive(is_end=True)
            except BaseException as failure:
                is_refused = (
                    isinstance(failure, psycopg.Error) and failure.diag.sqlstate == CONFLICT
                )
                if not (is_refused and statements.roll_back()):
                    db.close()  # the server takes back what was not committed
                if isinstance(failure, psycopg.Error):
                    raise self._failed(failure, given) from failure
                raise
            finally:
                pool.putconn(db)

    def _failed(self, failure: psycopg.Error, given: float) -> StoreError:
        """Return the failure as an error; a server that fails, or is late after fair seconds, is left alone."""
        if failure.diag.sqlstate == CONFLICT:
            return ConflictError(str(failure))
        text = f"{self.name}: {failure}"
        is_late = isinstance(failure, LateError | PoolTimeout)
        if isinstance(failure, psycopg.OperationalError | psycopg.InterfaceError) and (
            given >= FAIR_SECONDS or not is_late
        ):
            self._shut_until, self._failure = time.monotonic() + RETRY_SECONDS, text
        return StoreError(text)

    def close(self) -> None:
        """Close the pool, one that is being made as soon as it is there."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.add_done_callback(_close)


def _close(pool: Future[ConnectionPool[Connection]]) -> None:
    if not pool.exception():
        pool.result().close(timeout=1.0)


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
        # Of workers that start at once, the others find the tables of the first.
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
    if found := db.execute(UNBOUND).fetchall():
        raise StoreError(
            f"row-level security is off for {', '.join(name for (name,) in found)}, so that a tenant would "
            "see the rows of all: restore the backup whole, or ENABLE and FORCE it (ALTER TABLE)"
        )


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
    except psycopg.errors.UndefinedTable:
        return address, []  # the first worker makes the tables
    except psycopg.errors.InsufficientPrivilege as failure:
        raise StoreError(
            "the role of this address may not see all tenants: name an operator's role, with "
            f"BYPASSRLS and the role of the tables' owner ({failure.diag.message_primary})"
        ) from failure
    except psycopg.Error as failure:
        raise StoreError(f"the tenants of the PostgreSQL server: {failure}") from failure
    role = quote(f"-c role={owner}", safe="")
    bound = f"{address}{'&' if '?' in address else '?'}options={role}"
    return bound, [tenant for (tenant,) in found]
