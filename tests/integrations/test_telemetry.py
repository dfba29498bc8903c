"""Spans and metrics: they have the figures of the session, and no words of it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("opentelemetry.sdk")
from conversations import EAGER, reading
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from hippocampus import Hippocampus, RecallError
from hippocampus.facts.store import Facts
from hippocampus.integrations.telemetry import OpenTelemetry
from hippocampus.session.resources import ViewReport
from hippocampus.storage.state import DirectoryState
from hippocampus.storage.state_dir import StateDir

USAGE = {"input_tokens": 7, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 93}


class Recorded:
    """An observer whose spans and metrics stay in memory."""

    def __init__(self) -> None:
        self._spans, self._reader = InMemorySpanExporter(), InMemoryMetricReader()
        tracers = TracerProvider()
        tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        self.observer = OpenTelemetry(tracers, MeterProvider([self._reader]))

    def spans(self, name: str) -> list[ReadableSpan]:
        return [span for span in self._spans.get_finished_spans() if span.name == name]

    def sums(self) -> dict[tuple[str, str], float]:
        """The sum of each metric by its last label."""
        data = self._reader.get_metrics_data()
        assert data is not None
        found: dict[tuple[str, str], float] = {}
        for metric in data.resource_metrics[0].scope_metrics[0].metrics:
            for point in metric.data.data_points:
                label = str(list(point.attributes.values())[-1])
                value = getattr(point, "value", getattr(point, "sum", 0))
                found[metric.name, label] = found.get((metric.name, label), 0) + value
        return found

    def text(self) -> str:
        return json.dumps([json.loads(span.to_json()) for span in self._spans.get_finished_spans()])


def test_spans_and_metrics_have_the_figures_of_the_session(tmp_path: Path) -> None:
    recorded = Recorded()
    memory = Hippocampus(tmp_path, policy=EAGER, observers=[recorded.observer])
    session = memory.session("one", agent="tester")
    session([{"nothing": 5}])  # no list of any format
    session(reading(3))
    session.billed({"usage": {**USAGE, "output_tokens": 20}})
    [entry, *_] = session.entries
    session.recall(entry.id, head=1)
    with pytest.raises(RecallError):
        session.recall("nosuchid")
    status = session.status()
    failed, view = recorded.spans("hippocampus view")
    assert failed.attributes["hippocampus.outcome"] == "failed: MessagesError"
    assert view.attributes["gen_ai.conversation.id"] == "one"
    assert view.attributes["gen_ai.agent.name"] == "tester"
    assert view.attributes["hippocampus.tokens.sent"] == status["sent_tokens"]
    assert view.end_time > view.start_time
    [chat] = recorded.spans("chat claude-sonnet-5-5") or recorded.spans("chat anthropic-5m")
    assert chat.attributes["gen_ai.usage.input_tokens"] == 1_000
    assert chat.attributes["gen_ai.usage.cache_read.input_tokens"] == 900
    full, lost = recorded.spans("execute_tool recall")
    assert (full.attributes["outcome"], lost.attributes["outcome"]) == ("full", "failed")
    sums = recorded.sums()
    assert sums["hippocampus.views", "managed"] == 1
    assert sums["hippocampus.views", "failed: MessagesError"] == status["raw"] == 1
    assert sums["hippocampus.tokens", "sent"] == status["sent_tokens"]
    assert sums["hippocampus.tokens", "raw"] == status["raw_tokens"]
    assert session.report.decisions()  # on arrival, which changes no request before
    assert sums["hippocampus.edits", view.attributes["gen_ai.request.model"]] == 0
    assert sums["gen_ai.client.token.usage", "output"] == 20
    assert "row_14" not in recorded.text()
    memory.close()


def test_an_observer_that_fails_breaks_no_call(tmp_path: Path) -> None:
    class Broken(OpenTelemetry):
        def view(self, report: ViewReport) -> None:
            raise RuntimeError(report.outcome)

    memory = Hippocampus(tmp_path, policy=EAGER, observers=[Broken()])
    session = memory.session("one")
    assert len(session(reading(2))) == len(reading(2))
    assert (session.report.failures, session.report.problem) == (0, "")
    memory.close()


def test_calls_of_the_mcp_server_are_spans(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    from mcp import Client

    from hippocampus.integrations import mcp_server

    recorded = Recorded()
    memory = Hippocampus(tmp_path, policy=EAGER, observers=[recorded.observer])
    facts = Facts(StateDir(tmp_path).database)
    tools = mcp_server.Tools(DirectoryState(StateDir(tmp_path)), memory, facts)
    with memory.session("one") as session:
        session(reading(2))
        [entry, *_] = session.entries

    async def call() -> None:
        async with Client(mcp_server.server(tools)) as client:
            await client.call_tool("search_memory", {"query": "boat"})
            await client.call_tool("recall", {"entry_id": entry.id, "head": 1})

    asyncio.run(call())
    assert [
        span.attributes["outcome"] for span in recorded.spans("execute_tool search_memory")
    ] == ["done"]
    [recalled] = recorded.spans("execute_tool recall")
    assert recalled.attributes["gen_ai.conversation.id"] == "one"
    facts.close()
    memory.close()


def test_nothing_of_it_is_imported_unasked(tmp_path: Path) -> None:
    program = """
import sys, hippocampus
hippocampus.Hippocampus(sys.argv[1]).session("one")([{"role": "user", "content": "Hello."}])
print([name for name in sys.modules if name.startswith(("opentelemetry", "prometheus"))])
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
