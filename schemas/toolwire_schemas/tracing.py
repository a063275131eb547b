"""Traces by OpenTelemetry, if its variables in the environment ask for them: the extra `otel`.

Strategy. Nothing of it is imported before. A provider that the program has set up itself is used;
otherwise one is made that exports over OTLP and HTTP, in batches and from a thread of its own.
"""

from __future__ import annotations

import os
import sys
import threading
from functools import cache
from typing import TYPE_CHECKING, Any

from toolwire_schemas.threads import start_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from logging import LogRecord

    from opentelemetry.context import Context
    from opentelemetry.propagators.textmap import TextMapPropagator
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

_ASKING = (
    "OTEL_TRACES_EXPORTER",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
)
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_KEYS, _MAX_CHARS = ("traceparent", "tracestate", "baggage"), 8192
_EXIT_SECONDS = 1.0
"""How long the exit of a program waits for the export of its last spans."""

_setting_up = threading.Lock()
_reported: set[str] = set()
_flusher: _Flusher | None = None


def make_tracer(service: str, report: Callable[[str], object]) -> Tracer | None:
    """Return Toolwire's tracer; `None` if the environment asks for no traces, or there can be none.

    *report* receives the reason then, once in a process, and later the first failure of an export.
    *service* names this process in traces, unless a variable does.
    """
    exporter, *endpoints = (os.environ.get(name, "") for name in _ASKING)
    is_disabled = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    if is_disabled or exporter == "none" or not any((exporter, *endpoints)):
        return None
    try:
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider

        with _setting_up:
            if not isinstance(trace.get_tracer_provider(), TracerProvider):
                trace.set_tracer_provider(_make_provider(service, exporter or "otlp", report))
        return trace.get_tracer("toolwire")
    except ImportError:
        from .install_command import install_command

        remedy = install_command("toolwire[otel]")
        problem = f"OTEL_… asks for traces, but OpenTelemetry is not installed; run: {remedy}"
    except (
        Exception
    ) as error:  # a variable may hold anything, and each part of OpenTelemetry reads its own
        problem = f"no traces are exported: {error}"
    if problem not in _reported:
        _reported.add(problem)
        report(problem)
    return None


def flush(seconds: float) -> None:
    """Export the spans that have ended; wait *seconds* at most, and not for a collector that has
    failed.
    """
    if _flusher is not None:
        _flusher.flush(seconds)


def note(span: Span, facts: Mapping[str, Any], error: str | None = None) -> None:
    """Add to *span* the *facts* that are not `None`, and the *error* with which it ends."""
    from opentelemetry.trace import StatusCode

    span.set_attributes({name: value for name, value in facts.items() if value is not None})
    if error is not None:
        span.set_attribute("error.type", error)
        span.set_status(StatusCode.ERROR)


def trace_members(meta: Mapping[str, Any]) -> dict[str, str]:
    """Return the members of *meta*, which may hold anything, that carry the context of a trace (MCP
    2026-07-28).
    """
    return {
        key: value
        for key in _KEYS
        if isinstance(value := meta.get(key), str) and len(value) <= _MAX_CHARS
    }


def extract_context(meta: Mapping[str, Any]) -> Context:
    """Return the context that the request with *meta* belongs to, by default that of this
    thread.
    """
    from opentelemetry.context import get_current

    return _make_propagator().extract(trace_members(meta), get_current())


def with_context(params: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the *params* of a request with the context of the active span in `_meta`, if there is
    one.
    """
    if "opentelemetry.trace" not in sys.modules:  # so no span is active
        return params
    carrier: dict[str, Any] = {}
    _make_propagator().inject(carrier)
    given = params or {}
    if carrier:
        return {**given, "_meta": {**(given.get("_meta") or {}), **carrier}}
    return params


@cache
def _make_propagator() -> TextMapPropagator:
    from opentelemetry.baggage.propagation import W3CBaggagePropagator
    from opentelemetry.propagators.composite import CompositePropagator
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    # Not those of OTEL_PROPAGATORS: MCP defines the keys of these two alone.
    return CompositePropagator([TraceContextTextMapPropagator(), W3CBaggagePropagator()])


def _make_provider(service: str, exporter: str, report: Callable[[str], object]) -> TracerProvider:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    global _flusher  # one process has one provider
    protocol = next(filter(None, map(os.environ.get, _PROTOCOLS)), "http/protobuf")
    if (exporter, protocol) != ("otlp", "http/protobuf"):
        name = "exporter otlp"
        if exporter == "otlp":
            name = "protocol http/protobuf"
        raise ValueError(
            f"Toolwire has only the {name}, not {protocol if exporter == 'otlp' else exporter}"
        )
    resource = Resource.create()
    if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: service}))
    provider = TracerProvider(
        resource=resource, shutdown_on_exit=False
    )  # which would wait for a dead collector
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    _flusher = _Flusher(provider, report)
    return provider


class _Flusher:
    """Exports when asked, in a thread that is there before the exit: Python starts none then.

    *report* receives the first failure that OpenTelemetry logs; Python would print each of them.
    """

    def __init__(self, provider: TracerProvider, report: Callable[[str], object]) -> None:
        import atexit
        import logging

        self._provider, self._report, self._has_failed, self._has_reported = (
            provider,
            report,
            False,
            False,
        )
        self._wanted, self._done = threading.Event(), threading.Event()
        start_thread(self._run, "toolwire-traces")
        atexit.register(self.flush, _EXIT_SECONDS)
        handler = logging.Handler(logging.WARNING)
        handler.addFilter(self._fail)
        for logger in map(logging.getLogger, ("opentelemetry.exporter", "opentelemetry.sdk")):
            logger.propagate = False
            logger.addHandler(handler)

    def flush(self, seconds: float) -> None:
        self._done.clear()
        self._wanted.set()
        if seconds and not self._has_failed:
            self._has_failed = not self._done.wait(seconds)

    def _fail(self, record: LogRecord) -> bool:
        """Report *record*, and let nothing else handle it."""
        if not self._has_reported:
            self._has_reported = True
            self._report(f"traces: {_shorten(record.getMessage())} (later failures are not logged)")
        if record.name.startswith("opentelemetry.exporter"):  # and not a queue that was full once
            self._has_failed = True
            self._done.set()
        return False

    def _run(self) -> None:
        while self._wanted.wait():
            self._wanted.clear()
            self._provider.force_flush()
            self._done.set()


def _shorten(problem: str) -> str:
    """Return what OpenTelemetry logs, without the chain of exceptions of a connection that
    fails.
    """
    import re

    if reason := re.search(r"\[Errno -?\d+\] [^'\")]+", problem):
        return f"the collector cannot be reached: {reason[0]}"
    return problem[:500]
