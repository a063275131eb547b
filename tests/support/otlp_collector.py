"""A collector of OpenTelemetry on this machine: takes spans by OTLP over HTTP, or never answers.

It decodes them with the message classes of `opentelemetry-proto` alone, not with the SDK that sent
them.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (  # type: ignore[import-untyped,unused-ignore]
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


@dataclass(frozen=True)
class ReceivedSpan:
    """One span as it came; ids are hexadecimal, the `parent` of a root is empty."""

    name: str
    trace: str
    id: str
    parent: str
    service: str
    failed: bool
    attributes: dict[str, Any] = field(default_factory=dict)


class Collector:
    """The collector. With *hangs* it answers when it is closed."""

    def __init__(self, *, hangs: bool = False) -> None:
        self.spans: list[ReceivedSpan] = []
        self._closing = threading.Event()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                assert self.path == "/v1/traces"
                collector.spans += _spans(body)
                if hangs:
                    collector._closing.wait()
                self.send_response(200)
                self.end_headers()
                self.wfile.write(ExportTraceServiceResponse().SerializeToString())

            def log_message(self, *_: object) -> None:
                """Write nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.handle_error = lambda *_: None  # a client that has gone
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def named(self, name: str) -> ReceivedSpan:
        """Return the only span with *name*."""
        (found,) = [span for span in self.spans if span.name == name]
        return found

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()


def _spans(body: bytes) -> list[ReceivedSpan]:
    request = ExportTraceServiceRequest.FromString(body)
    return [
        ReceivedSpan(
            span.name,
            span.trace_id.hex(),
            span.span_id.hex(),
            span.parent_span_id.hex(),
            _values(each.resource.attributes).get("service.name", ""),
            span.status.code == 2,
            _values(span.attributes),
        )
        for each in request.resource_spans
        for scope in each.scope_spans
        for span in scope.spans
    ]


def _values(attributes: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}
