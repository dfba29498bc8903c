"""Spans and metrics for OpenTelemetry, by its conventions for generative AI; extra `otel`.

Conventions: https://opentelemetry.io/docs/specs/semconv/gen-ai/. No text of a message is in them.
"""

from __future__ import annotations

import time
from typing import Any

from opentelemetry import metrics, trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from hippocampus.formats.reader import FORMATS
from hippocampus.session.resources import BillReport, ReportSource, ToolReport, ViewReport

NAME = "hippocampus"
PROVIDERS = {adapter.NAME: adapter.PROVIDER for adapter in FORMATS}
"""By message format, the provider that the conventions name."""


class OpenTelemetry:
    """An observer for `Hippocampus(…, observers=[OpenTelemetry()])`."""

    def __init__(
        self,
        tracer_provider: trace.TracerProvider | None = None,
        meter_provider: metrics.MeterProvider | None = None,
    ) -> None:
        """Take the providers; without them, those of the process."""
        self._tracer = trace.get_tracer(NAME, tracer_provider=tracer_provider)
        meter = metrics.get_meter(NAME, meter_provider=meter_provider)
        self._views = meter.create_counter("hippocampus.views", "{view}")
        self._tokens = meter.create_counter("hippocampus.tokens", "{token}")
        self._dollars = meter.create_counter("hippocampus.dollars", "USD")
        self._edits = meter.create_counter("hippocampus.edits", "{edit}")
        self._tools = meter.create_counter("hippocampus.tool_calls", "{call}")
        self._added = meter.create_histogram("hippocampus.view.duration", "s")
        self._usage = meter.create_histogram("gen_ai.client.token.usage", "{token}")
        self._duration = meter.create_histogram("gen_ai.client.operation.duration", "s")

    def view(self, report: ViewReport) -> None:
        """Record a call of a session."""
        labels = _labels(report.origin)
        self._views.add(1, {**labels, "outcome": report.outcome})
        self._edits.add(int(report.is_edit), labels)
        self._added.record(report.seconds, labels)
        for list_name in ("raw", "sent"):
            self._tokens.add(getattr(report, f"{list_name}_tokens"), {**labels, "list": list_name})
        self._dollars.add(report.raw_dollars, {**labels, "kind": "raw"})
        self._dollars.add(report.sent_dollars, {**labels, "kind": "predicted"})
        figures = {
            "hippocampus.outcome": report.outcome,
            "hippocampus.tokens.raw": report.raw_tokens,
            "hippocampus.tokens.sent": report.sent_tokens,
            "hippocampus.edit": report.is_edit,
        }
        self._span("hippocampus view", report, figures, failed=report.outcome.startswith("failed"))

    def tool(self, report: ToolReport) -> None:
        """Record a call of a tool."""
        labels = {"gen_ai.tool.name": report.tool, "outcome": report.outcome}
        self._tools.add(1, labels)
        called = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.type": "function", **labels}
        self._span(f"execute_tool {report.tool}", report, called, failed=report.outcome == "failed")

    def bill(self, report: BillReport) -> None:
        """Record a call of the model, as the provider billed it."""
        labels = {"gen_ai.operation.name": "chat", **_labels(report.origin)}
        usage = report.usage
        for kind, count in (("input", usage.context_tokens), ("output", usage.output_tokens)):
            self._usage.record(count, {**labels, "gen_ai.token.type": kind})
        self._duration.record(report.seconds, labels)
        self._dollars.add(report.dollars, {**_labels(report.origin), "kind": "billed"})
        figures = {
            "gen_ai.operation.name": "chat",
            "gen_ai.usage.input_tokens": usage.context_tokens,
            "gen_ai.usage.output_tokens": usage.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens,
            "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
            "hippocampus.dollars": report.dollars,
        }
        self._span(f"chat {report.origin.model}", report, figures, kind=SpanKind.CLIENT)

    def _span(
        self,
        name: str,
        report: ViewReport | ToolReport | BillReport,
        attributes: dict[str, Any],
        *,
        failed: bool = False,
        kind: SpanKind = SpanKind.INTERNAL,
    ) -> None:
        """Record a span that ends at this moment, below the span of the caller."""
        end, origin = time.time_ns(), report.origin
        common = {**_labels(origin), "gen_ai.conversation.id": origin.session}
        if origin.agent:
            common["gen_ai.agent.name"] = origin.agent
        span = self._tracer.start_span(
            name,
            kind=kind,
            attributes={**common, **attributes},
            start_time=end - int(1e9 * report.seconds),
        )
        if failed:
            span.set_attribute("error.type", attributes.get("hippocampus.outcome", "failed"))
            span.set_status(Status(StatusCode.ERROR))
        span.end(end)


def _labels(origin: ReportSource) -> dict[str, str]:
    provider = PROVIDERS.get(origin.format, "")
    found = {"gen_ai.provider.name": provider, "gen_ai.request.model": origin.model}
    return {name: value for name, value in found.items() if value}


def exporting() -> OpenTelemetry:
    """Return an observer that sends to the collector that the variables `OTEL_EXPORTER_OTLP_…` name."""
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES go before this name.
    resource = Resource({"service.name": NAME}).merge(Resource.create())
    tracers = TracerProvider(resource=resource)
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    reader = PeriodicExportingMetricReader(OTLPMetricExporter())
    return OpenTelemetry(tracers, MeterProvider([reader], resource=resource))
