"""A span of OpenTelemetry for each message of a client: the extra `otel`.

Strategy. The methods that decide about requests, run calls and answer them are replaced on the
objects of one session, so a session without traces does nothing for them. A span starts when its
request arrives and ends with the response. The names of attributes are those of OpenTelemetry's
conventions for MCP; outcomes and sizes, which these lack, are Toolwire's. No span holds arguments,
results or the texts of errors.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from toolwire_schemas import tracing
from toolwire_schemas.wire.messages import META_VERSION

from . import log
from .errors import RequestError
from .protocol.call import Call, Cancel, ElicitationReply
from .protocol.lifecycle import SUPPORTED_VERSIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer

    from .protocol.call import Decision, Request
    from .protocol.lifecycle import Identity

_TARGETS = {
    "tools": ("tools/call", "gen_ai.tool.name"),
    "prompts": ("prompts/get", "gen_ai.prompt.name"),
    "resources": (None, "mcp.resource.uri"),  # URIs are too many for names of spans
    "resourceTemplates": (None, "mcp.resource.uri"),
}
"""For each kind of tool the method in the name of its spans, and the attribute that has its name.
"""

_ERRORS = {"tool_error": "tool_error", "timed_out": "timeout"}
_MAX_CHARS = 200


def trace(session: Any, identity: Identity) -> None:
    """Trace the requests of *session*, a `Session`, if the environment asks for that and it is
    possible.
    """
    # The server has reported a problem before it starts a worker process.
    report = log.debug if "toolwire.worker" in sys.modules else log.warning
    tracer = tracing.make_tracer(identity.describe_server()["name"] or "toolwire", report)
    if tracer is not None:
        _Traces(tracer, session)


class _Traces:
    """The spans of one session. `_open` has the context of the span of each call whose request has
    no response yet.
    """

    def __init__(self, tracer: Tracer, session: Any) -> None:
        from opentelemetry import context, trace

        self._tracer, self._trace, self._context = tracer, trace, context
        self._protocol, self._grace_seconds = session._protocol, session._settings.grace_seconds
        self._open: dict[Call, Context] = {}
        _replace(session.in_flight, fail=self._fail, end_all=self._end_all)
        _replace(session.in_flight, respond_with_elicitation=self._elicit)
        _replace(session.in_flight, _respond=self._respond, _respond_error=self._respond_error)
        _replace(session.in_flight, begin_inner=self._begin_inner)
        _replace(session, stop=self._stop)
        _replace(session._protocol, handle_request=self._handle)
        _replace(session._workers, run=self._run)
        _replace(session, begin_async=self._begin_async, end=self._end_session)

    def _handle(self, handle: Any, request: Request, size: int, batch: Any) -> tuple[Decision, ...]:
        context = self._start_span(request, size)
        span = self._trace.get_current_span(context)
        try:
            decisions: tuple[Decision, ...] = handle(request, size, batch)
        except RequestError as error:
            _finish(span, "protocol_error", code=error.code)
            raise
        call: Call | None = None
        for decision in decisions:
            if isinstance(decision, Cancel):
                self._end(decision.call, "cancelled")
            elif isinstance(decision, Call):
                call = decision
            elif isinstance(decision, ElicitationReply):  # the call goes on
                call = decision.call
        if call is None:
            _finish(span, "ok")
        else:
            self._open[call] = context
        return decisions

    def _start_span(self, request: Request, size: int) -> Context:
        params = request.params or {}
        given = params.get("_meta")
        meta: dict[str, Any] = given if type(given) is dict else {}
        method = request.method if request.method in self._protocol.methods else "_OTHER"
        version = meta.get(META_VERSION, params.get("protocolVersion", self._protocol.eras.version))
        facts: dict[str, Any] = {
            "mcp.method.name": method,
            "network.transport": "pipe",
            "toolwire.request.size": size,
        }
        if version in SUPPORTED_VERSIONS:
            facts["mcp.protocol.version"] = version
        if isinstance(request.id, str | int):
            facts["jsonrpc.request.id"] = str(request.id)[:_MAX_CHARS]
        if method == "tools/call":
            facts["gen_ai.operation.name"] = "execute_tool"
            facts["gen_ai.tool.name"] = str(params.get("name"))[:_MAX_CHARS]
        parent = tracing.extract_context(meta)
        span = self._tracer.start_span(method, parent, self._trace.SpanKind.SERVER)
        tracing.note(span, facts)
        return self._trace.set_span_in_context(span, parent)

    def _begin_inner(self, begin: Any, call: Any) -> None:
        """Begin a call of a program, whose span is within that of the call which runs it."""
        begin(call)
        parent = self._open.get(call.outer)
        span = self._tracer.start_span("tools/call", parent, self._trace.SpanKind.INTERNAL)
        facts = {"gen_ai.operation.name": "execute_tool", "toolwire.program.line": call.wanted.line}
        tracing.note(span, facts)
        self._open[call] = self._trace.set_span_in_context(span, parent)

    def _stop(self, stop: Any, call: Call) -> None:
        self._end(call, "cancelled")
        stop(call)

    def _respond(self, respond: Any, call: Call, result: dict[str, Any], **options: bool) -> Any:
        message = respond(call, result, **options)
        size = None
        if message is not None and call.origin.recipient is None:
            size = len(message)
        outcome = "tool_error" if result.get("isError") else "ok"
        self._end(call, outcome, size=size)
        return message

    def _respond_error(self, respond: Any, call: Call, code: int, *texts: Any) -> Any:
        self._end(call, "protocol_error", code=code)
        return respond(call, code, *texts)

    def _fail(self, respond: Any, call: Call, error: BaseException) -> Any:
        context = self._open.get(call)
        if context is not None:
            span = self._trace.get_current_span(context)
            span.set_attribute("exception.type", type(error).__qualname__)
        return respond(call, error)

    def _elicit(self, respond: Any, call: Call, result: dict[str, Any]) -> Any:
        self._end(call, "input_required")
        return respond(call, result)

    def _end_all(self, end_all: Any) -> list[Call]:
        calls: list[Call] = end_all()
        for call in calls:
            self._end(call, "cancelled")
        return calls

    def _end(self, call: Call, outcome: str, **facts: int | None) -> None:
        """End the span of the open request of *call*, if it has not ended."""
        context = self._open.pop(call, None)
        if context is None:
            return
        span = self._trace.get_current_span(context)
        # Not before: the tool of a mounted server may be found during the call.
        if call.entry.kind in _TARGETS:
            method, attribute = _TARGETS[call.entry.kind]
            span.set_attribute(attribute, call.entry.name)
            span.update_name(f"{method} {call.entry.name}" if method else "resources/read")
        if call.given_up and outcome != "cancelled":
            outcome = "timed_out"
        _finish(span, outcome, **facts)

    def _run(self, run: Any, call: Call) -> None:
        token = self._context.attach(self._open.get(call) or self._context.Context())
        try:
            run(call)
        finally:
            self._context.detach(token)

    def _begin_async(self, begin: Any, call: Call) -> None:
        self._context.attach(
            self._open.get(call) or self._context.Context()
        )  # it ends with the task of the call
        begin(call)

    def _end_session(self, end: Any) -> None:
        deadline = time.monotonic() + self._grace_seconds
        end()
        tracing.flush(max(deadline - time.monotonic(), 0.0))


def _replace(owner: Any, **methods: Callable[..., Any]) -> None:
    """Replace methods of *owner* by functions that get the previous method first."""
    for name, method in methods.items():
        setattr(owner, name, partial(method, getattr(owner, name)))


def _finish(span: Span, outcome: str, code: int | None = None, size: int | None = None) -> None:
    """End *span*; *code* is that of a JSON-RPC error, *size* that of the response in bytes."""
    status = None if code is None else str(code)
    facts = {
        "toolwire.outcome": outcome,
        "toolwire.response.size": size,
        "rpc.response.status_code": status,
    }
    tracing.note(span, facts, _ERRORS.get(outcome, status))
    span.end()
