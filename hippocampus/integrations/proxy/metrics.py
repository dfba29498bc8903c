"""The figures of one proxy for Prometheus: what its sessions report, and what it sees itself."""

from __future__ import annotations

import functools
import threading
from weakref import WeakValueDictionary

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from hippocampus.session.resources import BillReport, ToolReport, ViewReport

MAX_TENANTS = 256
"""The number of tenants, those that called last, with figures without an open session too."""


class Metrics:
    """Counters of one proxy, or of one tenant there, in a registry of their own."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.requests = self._counter("requests", "Requests, by what became of them.", "outcome")
        """The outcome is `managed`, `failed`, `refused`, or the reason why a request passed as it is."""
        self.upstream = self._counter("upstream", "Answers of the provider, by status.", "status")
        """The status, or the error that came in its place."""
        self._recalls = self._counter("recalls", "Recalls, by what they brought.", "outcome")
        self._views = self._counter("views", "Calls of sessions: managed, or why not.", "outcome")
        self._tokens = self._counter("tokens", "Tokens of lists and of their views.", "list")
        self._dollars = self._counter("dollars", "Input: raw, predicted and billed.", "kind")
        self._edits = self._counter("edits", "Views that changed what the last request held.")
        self._billed = self._counter("billed_input_tokens", "Input tokens, as billed.", "price")
        self.added = Histogram(
            "hippocampus_proxy_added_seconds",
            "Time from the last byte of a request to the first byte of the one that is sent.",
            registry=self._registry,
        )

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"hippocampus_proxy_{name}", text, labels, registry=self._registry)

    def view(self, report: ViewReport) -> None:
        """Count a call of a session."""
        self._views.labels(report.outcome).inc()
        self._tokens.labels("raw").inc(report.raw_tokens)
        self._tokens.labels("sent").inc(report.sent_tokens)
        self._dollars.labels("raw").inc(max(0.0, report.raw_dollars))
        self._dollars.labels("predicted").inc(max(0.0, report.sent_dollars))
        self._edits.inc(report.is_edit)

    def tool(self, report: ToolReport) -> None:
        """Count a recall."""
        self._recalls.labels(report.outcome).inc()

    def bill(self, report: BillReport) -> None:
        """Count what a call was billed."""
        self._dollars.labels("billed").inc(report.dollars)
        usage = report.usage
        self._billed.labels("uncached").inc(usage.input_tokens)
        self._billed.labels("cache_read").inc(usage.cache_read_tokens)
        self._billed.labels("cache_written").inc(usage.cache_write_tokens)

    def text(self) -> bytes:
        """Return all figures in Prometheus' text format."""
        return generate_latest(self._registry)


class TenantMetrics:
    """The figures of a proxy, and those of its tenants."""

    def __init__(self) -> None:
        self._total = Metrics()
        self._lock = threading.Lock()
        # The sessions of a tenant hold its figures too, as their observers.
        used = WeakValueDictionary[str, Metrics]()
        self._own = functools.lru_cache(MAX_TENANTS)(
            lambda tenant: used.setdefault(tenant, Metrics())
        )

    def of(self, tenant: str) -> tuple[Metrics, ...]:
        """Return the figures in which a call counts: the proxy's, then its tenant's if it has one."""
        if not tenant:
            return (self._total,)
        with self._lock:
            return self._total, self._own(tenant)
