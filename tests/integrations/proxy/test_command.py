"""`hippocampus proxy` as the page on it prints it."""

from __future__ import annotations

import asyncio
import contextlib
import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("starlette")
pytest.importorskip("prometheus_client")
import httpx2
from integrations.proxy.hosts import MessagesHost, recalling, run
from integrations.proxy.upstream import Upstream, provider

from hippocampus.cli.commands import app

PAGE = Path(__file__).parents[3] / "docs" / "hosts" / "proxy.md"
BLOCKS = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
ADDRESS = "http://127.0.0.1:8787"


@contextlib.contextmanager
def running(command: list[str], folder: Path, port: int) -> Iterator[str]:
    """Run the command of the page on another port; yield its address."""
    whole = [sys.executable, "-m", *command, "--port", str(port)]
    with subprocess.Popen(whole, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        url = ADDRESS.replace("8787", str(port))
        while process.poll() is None:
            with contextlib.suppress(httpx2.TransportError):
                httpx2.get(f"{url}/health")
                break
            time.sleep(0.1)
        yield url
        process.terminate()
        _, printed = process.communicate(timeout=30)
    assert printed.startswith(f"hippocampus proxy: {url} for ")
    assert "Traceback" not in printed
    assert re.search(rf"^its conversations: {url}/\?key=\S{{20,}}$", printed, re.MULTILINE)


async def ever() -> AsyncIterator[None]:
    while True:
        await asyncio.sleep(0.01)
        yield


def test_a_stop_ends_an_answer_that_is_under_way_without_a_traceback(tmp_path: Path) -> None:
    upstream = Upstream(lambda _: "Done.", pause=ever)
    with contextlib.ExitStack() as held, socket.socket() as probe, provider(upstream):
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        command = ["hippocampus", "proxy", "--upstream", upstream.url, "--state-dir", "state"]
        with running(command, tmp_path, port) as url:
            host = MessagesHost(url)
            given = {**host.body, "stream": True}
            answer = held.enter_context(httpx2.stream("POST", url + host.path, json=given))
            assert b"message_start" in next(answer.iter_raw())


def test_the_commands_of_the_page_run_as_printed(tmp_path: Path) -> None:
    install, start = BLOCKS[0].splitlines()
    assert install == 'pip install "hippocampus-context[proxy]"'
    [export] = BLOCKS[1].splitlines()
    assert export == f"export ANTHROPIC_BASE_URL={ADDRESS}"
    with socket.socket() as probe, provider(Upstream(recalling)) as upstream:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        command = shlex.split(start.replace("https://api.anthropic.com", upstream.url))
        with running(command, tmp_path, port) as url:
            host = MessagesHost(url, stream=True)
            run(host)
    assert "Order row-417 is late." in host.text
    assert (tmp_path / "agent-state" / "state.sqlite3").exists()


@pytest.mark.parametrize("address", ["api.anthropic.com", "http://", "http://[::1", "http://a:b"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    done = CliRunner().invoke(app, ["proxy", "--upstream", address])
    assert done.exit_code == 2
    assert f"{address!r} is not" in done.output


@pytest.mark.parametrize("name", ["X Tenant", "X-Tenant: acme", "X-Ténant"])
def test_a_name_that_no_header_has_is_refused(tmp_path: Path, name: str) -> None:
    command = ["proxy", "--upstream", "http://127.0.0.1:1", "--state-dir", str(tmp_path)]
    done = CliRunner().invoke(app, [*command, "--host", "256.0.0.1", "--tenant-header", name])
    assert done.exit_code == 2
    assert "is not the name of a header" in done.output


def test_a_tenant_of_a_directory_is_named_as_without_effect(tmp_path: Path) -> None:
    command = ["proxy", "--upstream", ADDRESS, "--state-dir", str(tmp_path), "--tenant", "acme"]
    done = CliRunner().invoke(app, [*command, "--host", "256.0.0.1"])
    assert "is no server, and has no tenants" in done.stderr
