"""Spans of OpenTelemetry for the messages of a client, in this process and exported by a real
server.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry import baggage, trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from support.otlp_collector import Collector
from support.sandbox_runs import need_sandbox
from support.server_process import (
    MODERN,
    PATIENCE_SECONDS,
    Process,
    call,
    filtered_environment,
    request,
    running,
    wait_until,
)
from toolwire import Context, Server
from toolwire.errors import RequestError
from toolwire_client import connect
from toolwire_schemas.tracing import with_context
from toolwire_tools import prompt, resource, tool_api

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"


def facts(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_a_call_is_a_span_with_its_tool_outcome_and_sizes(spans: InMemorySpanExporter) -> None:
    def add(a: int, b: int) -> int:
        return a + b

    sent = json.dumps(call("add", {"a": 20, "b": 22})).encode()
    received: list[bytes] = []
    session = Server([add]).open_session(received.append)
    session.feed(sent + b"\n")
    session.end()

    (span,) = spans.get_finished_spans()
    assert (span.name, span.kind, span.parent) == ("tools/call add", trace.SpanKind.SERVER, None)
    assert span.status.status_code is trace.StatusCode.UNSET
    assert span.end_time is not None
    assert facts(span) == {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "add",
        "jsonrpc.request.id": "1",
        "network.transport": "pipe",
        "toolwire.outcome": "ok",
        "toolwire.request.size": len(sent),
        "toolwire.response.size": len(b"".join(received).rstrip(b"\n")),
    }


@pytest.mark.process
def test_calls_of_a_program_are_spans_within_its_own(spans: InMemorySpanExporter) -> None:
    need_sandbox()

    @tool_api(read_only=True)
    def add(a: int) -> int:
        return a + 1

    with Server([add], show="code") as server:
        server.call("run_program", {"code": "add(1)\nadd('x')"})

    first, second, program = spans.get_finished_spans()
    assert [span.name for span in (first, second, program)] == [
        "tools/call add",
        "tools/call add",
        "tools/call run_program",
    ]
    assert program.context is not None
    for span, line, outcome in ((first, 1, "ok"), (second, 2, "tool_error")):
        assert span.parent is not None
        assert span.parent.span_id == program.context.span_id
        assert facts(span)["toolwire.program.line"] == line
        assert facts(span)["toolwire.outcome"] == outcome


def test_failures_have_the_error_types_of_the_convention(spans: InMemorySpanExporter) -> None:
    def broken() -> int:
        raise ZeroDivisionError("secret 1")

    @tool_api(timeout_seconds=0.05)
    def slow() -> None:
        threading.Event().wait(PATIENCE_SECONDS)

    with Server([broken, slow]) as server:
        server.call("broken")
        server.call("slow")
        with pytest.raises(RequestError):
            server.call("unknown", {"token": "secret 2"})
        with pytest.raises(RequestError):
            server.request("secret/3")

    told = ("error.type", "exception.type", "rpc.response.status_code", "toolwire.outcome")
    seen = [
        (span.name, *(facts(span).get(name) for name in told))
        for span in spans.get_finished_spans()
    ]
    assert seen == [
        ("tools/call broken", "tool_error", "ZeroDivisionError", None, "tool_error"),
        ("tools/call slow", "timeout", None, None, "timed_out"),
        ("tools/call", "-32602", None, "-32602", "protocol_error"),
        ("_OTHER", "-32601", None, "-32601", "protocol_error"),
    ]
    assert all(
        span.status.status_code is trace.StatusCode.ERROR for span in spans.get_finished_spans()
    )
    assert "secret" not in "".join(span.to_json() for span in spans.get_finished_spans())


@pytest.mark.parametrize("is_async", [False, True])
def test_the_tool_runs_within_the_span_and_the_callers_trace(
    spans: InMemorySpanExporter, is_async: bool
) -> None:
    seen: list[Any] = []

    def see() -> None:
        seen.append((trace.get_current_span().get_span_context(), baggage.get_baggage("who")))

    async def see_async() -> None:
        see()

    name = "see_async" if is_async else "see"
    meta = {"traceparent": TRACEPARENT, "tracestate": "vendor=1", "baggage": "who=me"}
    with Server([see_async if is_async else see]) as server:
        server.request("tools/call", {"name": name, "_meta": meta})
        server.call(name)

    first, second = spans.get_finished_spans()
    assert first.parent is not None
    assert (f"{first.parent.trace_id:032x}", f"{first.parent.span_id:016x}") == (TRACE, PARENT)
    assert first.parent.trace_state.to_header() == "vendor=1"
    assert second.parent is None
    assert [(context.span_id, who) for context, who in seen] == [
        (first.context.span_id, "me"),
        (second.context.span_id, None),
    ]


def test_members_of_a_batch_are_spans_of_their_own(spans: InMemorySpanExporter) -> None:
    def add(a: int) -> int:
        return a

    received: list[bytes] = []
    session = Server([add]).open_session(received.append)
    batch = [call("add", {"a": 1}, id=1), call("add", {"a": "x"}, id=2), call("none", id=3)]
    session.feed(json.dumps(batch).encode() + b"\n")
    session.end()
    seen = {facts(span)["jsonrpc.request.id"]: facts(span) for span in spans.get_finished_spans()}
    outcomes = {id: span["toolwire.outcome"] for id, span in seen.items()}
    assert outcomes == {"1": "ok", "2": "tool_error", "3": "protocol_error"}
    assert not any("toolwire.response.size" in span for span in seen.values())


def test_a_cancelled_call_and_one_that_the_exit_ends_are_cancelled(
    spans: InMemorySpanExporter,
) -> None:
    running = threading.Semaphore(0)

    def wait(context: Context) -> None:
        running.release()
        while not context.cancelled:
            threading.Event().wait(0.01)

    session = Server([wait], grace_seconds=0.05).open_session(lambda data: None)
    for id in (1, 2):
        session.feed(json.dumps(call("wait", id=id)).encode() + b"\n")
        assert running.acquire(timeout=PATIENCE_SECONDS)
    session.feed(
        json.dumps(request("notifications/cancelled", {"requestId": 1}, id=...)).encode() + b"\n"
    )
    session.end()

    calls = [span for span in spans.get_finished_spans() if span.name == "tools/call wait"]
    outcomes = {
        facts(span)["jsonrpc.request.id"]: facts(span)["toolwire.outcome"] for span in calls
    }
    assert outcomes == {"1": "cancelled", "2": "cancelled"}
    assert {span.status.status_code for span in calls} == {trace.StatusCode.UNSET}


KEYS = ("traceparent", "tracestate", "baggage")
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.from_regex(r"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize(
    "meta", [{"traceparent": 1}, {"traceparent": "00-xyz"}, {"tracestate": "a=1"}, [TRACEPARENT]]
)
def test_an_invalid_context_starts_a_trace_of_its_own(
    spans: InMemorySpanExporter, meta: Any
) -> None:
    def ping() -> None: ...

    with Server([ping]) as server:
        assert not server.request("tools/call", {"name": "ping", "_meta": meta})["isError"]
    (span,) = spans.get_finished_spans()
    assert span.parent is None


def test_a_server_within_a_program_continues_the_trace_of_the_program(
    spans: InMemorySpanExporter,
) -> None:
    def ping() -> None: ...

    with (
        Server([ping]) as server,
        trace.get_tracer("of the test").start_as_current_span("outer") as outer,
    ):
        server.call("ping")
        server.request("tools/call", {"name": "ping", "_meta": {"traceparent": TRACEPARENT}})
    inner, named, _ = spans.get_finished_spans()
    assert inner.parent == outer.get_span_context()
    assert named.parent is not None
    assert f"{named.parent.span_id:016x}" == PARENT


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    meta=VALUES | st.dictionaries(st.sampled_from([*KEYS, "progressToken"]) | st.text(), VALUES),
    name=VALUES,
)
def test_whatever_a_request_holds_is_answered_as_without_traces(
    spans: InMemorySpanExporter, meta: Any, name: Any
) -> None:
    def ping() -> None: ...

    def answers() -> list[Any]:
        received: list[bytes] = []
        session = Server([ping], heartbeat_seconds=0).open_session(received.append)
        for sent in (
            request("tools/call", {"name": "ping", "_meta": meta}),
            request("tools/call", {"name": name}, 2),
        ):
            session.feed(json.dumps(sent).encode() + b"\n")
        session.end()
        return sorted(b"".join(received).splitlines())

    traced = answers()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OTEL_SDK_DISABLED", "true")
        assert answers() == traced


def test_prompts_resources_and_lists_are_spans_too(spans: InMemorySpanExporter) -> None:
    @prompt
    def greet(who: str) -> str:
        return f"Greet {who}."

    @resource("notes://{topic}")
    def notes(topic: str) -> str:
        return topic

    with Server([greet, notes]) as server:
        server.request("prompts/get", {"name": "greet", "arguments": {"who": "secret"}})
        server.request("resources/read", {"uri": "notes://secret"})
        server.request("prompts/list")

    first, second, third = spans.get_finished_spans()
    assert (first.name, facts(first)["gen_ai.prompt.name"]) == ("prompts/get greet", "greet")
    assert (second.name, facts(second)["mcp.resource.uri"]) == ("resources/read", "notes://{topic}")
    assert third.name == "prompts/list"
    assert "secret" not in first.to_json() + second.to_json()


def test_the_revision_is_that_of_the_handshake_or_the_request(spans: InMemorySpanExporter) -> None:
    with Server() as server:
        server.request("initialize", HELLO)
        server.request("tools/list")
        server.request("tools/list", {"_meta": MODERN})
        with pytest.raises(RequestError):
            server.request(
                "tools/list",
                {"_meta": {**MODERN, "io.modelcontextprotocol/protocolVersion": ["secret"]}},
            )

    versions = [facts(span).get("mcp.protocol.version") for span in spans.get_finished_spans()]
    assert versions == ["2025-06-18", "2025-06-18", "2026-07-28", None]


def test_the_client_sends_the_active_span_and_nothing_without_one(
    spans: InMemorySpanExporter,
) -> None:
    assert with_context({"name": "add"}) == {"name": "add"}
    with trace.get_tracer("of the test").start_as_current_span("outer") as outer:
        sent = with_context(
            {"name": "add", "_meta": {"progressToken": 1, "traceparent": "of before"}}
        )
    context = outer.get_span_context()
    traceparent = f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"
    assert sent == {"name": "add", "_meta": {"progressToken": 1, "traceparent": traceparent}}


def test_without_the_variables_nothing_of_a_session_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "mine")  # which asks for nothing
    session = Server().open_session(lambda data: None)
    assert "end" not in vars(session)
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    monkeypatch.setenv("OTEL_SDK_DISABLED", "True")
    session = Server().open_session(lambda data: None)
    assert "end" not in vars(session)


# Exported by a real process

TOOLS = """
import os, sys
from toolwire import Context, tool_api

def add(a: int, b: int) -> int:
    return a + b

def loaded() -> list[str]:
    return sorted(name for name in sys.modules if name.split(".")[0] in ("opentelemetry", "requests", "google"))

@tool_api(runs_in="process")
def apart(a: int) -> int:
    return a

def sure(context: Context) -> str:
    return context.ask("Sure?", str)

def own() -> None:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider

    trace.set_tracer_provider(TracerProvider())  # which is refused: there is one
    with trace.get_tracer("of the tool").start_as_current_span("inner"):
        pass

def fork() -> None:
    child = os.fork()
    if child:
        os.waitpid(child, 0)

__tools__ = [add, loaded, apart, sure, own, fork]
"""  # noqa: E501


def environment(url: str, **variables: str) -> dict[str, str]:
    """Return the variables of a server that exports to *url*, when it exits."""
    asking = {"OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_BSP_SCHEDULE_DELAY": "3600000"}
    return {**filtered_environment(), **(asking if url else {}), **variables}


@contextmanager
def served(folder: Path, env: dict[str, str], *words: str) -> Iterator[Process]:
    """Run Toolwire with *words*; it gets its end of input, and must exit well, when the block
    ends.
    """
    (folder / "my_tools.py").write_text(TOOLS, encoding="utf-8")
    # With a long grace, so that the last export takes as long as it takes on a busy machine.
    words = words or ("serve", "my_tools.py", "--limit", "grace_seconds=20")
    with running("-m", "toolwire", *words, env=env, cwd=folder) as process:
        yield process
        process.hang_up()
        assert process.wait() == 0


@pytest.mark.process
def test_a_server_exports_its_last_spans_before_it_exits(tmp_path: Path) -> None:
    with Collector() as collector:
        with served(tmp_path, environment(collector.url)) as process:
            process.send(
                request("tools/list", id="list"),
                call("add", {"a": 1, "b": 2}, traceparent=TRACEPARENT),
            )
            process.receive(), process.receive()
        assert process.stderr() == ""

    span = collector.named("tools/call add")
    assert (span.trace, span.parent, span.failed, span.service) == (
        TRACE,
        PARENT,
        False,
        "my_tools",
    )
    assert span.attributes["toolwire.outcome"] == "ok"
    assert collector.named("tools/list").parent == ""


@pytest.mark.process
def test_spans_of_worker_processes_and_mounted_servers_belong_to_the_callers_trace(
    tmp_path: Path,
) -> None:
    with Collector() as collector:
        mount = f"{sys.executable} -m toolwire serve my_tools.py --include add"
        words = ("serve", "my_tools.py", "--mount", f"there={mount}")
        with served(
            tmp_path, environment(collector.url, OTEL_BSP_SCHEDULE_DELAY="1"), *words
        ) as process:
            process.send(call("apart", {"a": 1}, id=1, traceparent=TRACEPARENT))
            process.send(call("there_add", {"a": 1, "b": 2}, id=2, traceparent=TRACEPARENT))
            assert {process.receive()["id"], process.receive()["id"]} == {1, 2}
            wait_until(
                lambda: (
                    len([span for span in collector.spans if span.name.startswith("tools/call")])
                    == 4
                )
            )

    calls = {span.id: span for span in collector.spans if span.name.startswith("tools/call")}
    assert {span.trace for span in calls.values()} == {TRACE}
    chains = sorted(
        (calls[span.parent].name, span.name) for span in calls.values() if span.parent in calls
    )
    assert chains == [
        ("tools/call apart", "tools/call apart"),
        ("tools/call there_add", "tools/call add"),
    ]


@pytest.mark.process
def test_what_a_tool_does_with_opentelemetry_and_with_forks_is_its_own_affair(
    tmp_path: Path,
) -> None:
    with Collector() as collector, served(tmp_path, environment(collector.url)) as process:
        process.send(call("own", id=1), call("fork", id=2))
        assert {process.receive()["id"], process.receive()["id"]} == {1, 2}
    inner, outer = collector.named("inner"), collector.named("tools/call own")
    assert (inner.trace, inner.parent) == (outer.trace, outer.id)
    collector.named("tools/call fork")
    assert "traces:" not in process.stderr()


@pytest.mark.process
def test_each_request_of_a_call_that_asks_the_user_is_a_span(tmp_path: Path) -> None:
    (tmp_path / "my_tools.py").write_text(TOOLS, encoding="utf-8")
    command = [sys.executable, "-m", "toolwire", "serve", "my_tools.py"]
    with Collector() as collector:
        env = environment(collector.url, OTEL_BSP_SCHEDULE_DELAY="1")
        with connect(
            command, cwd=tmp_path, env=env, era="modern", on_ask=lambda question: {"answer": "yes"}
        ) as client:
            assert client.call_tool("sure").text == "yes"
            wait_until(
                lambda: (
                    len([span for span in collector.spans if span.name == "tools/call sure"]) == 2
                )
            )
        calls = [span for span in collector.spans if span.name == "tools/call sure"]
    assert [span.attributes["toolwire.outcome"] for span in calls] == ["input_required", "ok"]
    assert len({span.attributes["jsonrpc.request.id"] for span in calls}) == 2


@pytest.mark.process
def test_calls_through_a_wrapped_server_are_spans_of_the_wrapper(tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text(ECHO, encoding="utf-8")
    with Collector() as collector:
        words = ("wrap", "--", sys.executable, "echo.py")
        with served(
            tmp_path, environment(collector.url, OTEL_BSP_SCHEDULE_DELAY="1"), *words
        ) as process:
            process.ask(request("initialize", HELLO))
            process.send(request("notifications/initialized", id=...))
            result = process.ask(call("meta", id=2, traceparent=TRACEPARENT))["result"][
                "structuredContent"
            ]
            wait_until(lambda: any(span.name == "tools/call meta" for span in collector.spans))
    span = collector.named("tools/call meta")
    assert (span.trace, span.parent) == (TRACE, PARENT)
    assert result["traceparent"] == f"00-{TRACE}-{span.id}-01"


@pytest.mark.process
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_server_without_traces_passes_the_callers_context_on(
    tmp_path: Path, wrapped: bool
) -> None:
    (tmp_path / "echo.py").write_text(ECHO, encoding="utf-8")
    echo = [sys.executable, "echo.py"]
    words = ["wrap", "--", *echo] if wrapped else ["serve", "--mount", f"there={' '.join(echo)}"]
    with served(tmp_path, environment(""), *words) as process:
        process.ask(request("initialize", HELLO))
        process.send(request("notifications/initialized", id=...))
        meta = {"traceparent": TRACEPARENT, "tracestate": "vendor=1", "baggage": "who=me"}
        process.send(call("meta" if wrapped else "there_meta", id=2, **meta, other=1))
        assert meta.items() <= process.receive()["result"]["structuredContent"].items()


ECHO = """
import json, sys
for line in sys.stdin:
    sent = json.loads(line)
    tool = {"name": "meta", "inputSchema": {"type": "object"}}
    info = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "e", "version": "1"}}
    result = {"initialize": info, "tools/list": {"tools": [tool]}}.get(sent["method"])
    if sent["method"] == "tools/call":
        meta = sent["params"].get("_meta", {})
        result = {"content": [], "structuredContent": meta}
    if "id" in sent:
        answer = {"error": {"code": -32601, "message": "no"}} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": sent["id"], **answer}), flush=True)
"""  # noqa: E501


@pytest.mark.process
@pytest.mark.parametrize("hangs", [False, True])
def test_a_dead_collector_is_one_line_and_holds_up_neither_calls_nor_the_exit(
    tmp_path: Path, hangs: bool
) -> None:
    with Collector(hangs=True) as collector:
        url = collector.url if hangs else "http://127.0.0.1:9"
        size = (
            "4" if hangs else "2048"
        )  # only a collector that hangs fills the queue: its line would be the first here
        small = {"SCHEDULE_DELAY": "1", "MAX_QUEUE_SIZE": size, "MAX_EXPORT_BATCH_SIZE": "4"}
        small = {f"OTEL_BSP_{name}": value for name, value in small.items()}
        with served(tmp_path, environment(url, **small), "serve", "my_tools.py") as process:
            for id in range(300):
                process.send(call("add", {"a": id, "b": 0}, id=id))
                assert process.receive()["result"]["structuredContent"] == {"result": id}
        lines = process.stderr().splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("toolwire: warning: traces: ")
    assert "Max retries exceeded" not in lines[0]
    assert hangs or "the collector cannot be reached: [Errno" in lines[0]


@pytest.mark.process
def test_without_the_extra_one_line_names_the_command_and_serving_goes_on(tmp_path: Path) -> None:
    (tmp_path / "opentelemetry").mkdir()
    (tmp_path / "opentelemetry" / "__init__.py").write_text(
        "raise ModuleNotFoundError('No module named opentelemetry')"
    )
    with served(
        tmp_path, environment("http://127.0.0.1:9", PYTHONPATH=os.fspath(tmp_path))
    ) as process:
        process.send(call("add", {"a": 1, "b": 2}, id=1), call("apart", {"a": 1}, id=2))
        assert {process.receive()["id"], process.receive()["id"]} == {1, 2}
    (line,) = process.stderr().splitlines()
    assert line.startswith(
        "toolwire: warning: OTEL_… asks for traces, but OpenTelemetry is not installed; run: "
    )
    assert "toolwire[otel]" in line


@pytest.mark.process
@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        (
            {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            "Toolwire has only the protocol http/protobuf, not grpc",
        ),
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "Toolwire has only the exporter otlp, not zipkin"),
        ({"OTEL_BSP_MAX_QUEUE_SIZE": "0"}, "max_queue_size must be a positive integer"),
    ],
)
def test_variables_that_cannot_be_followed_are_one_line(
    tmp_path: Path, variables: dict[str, str], problem: str
) -> None:
    with served(tmp_path, environment("http://127.0.0.1:9", **variables)) as process:
        process.send(call("add", {"a": 1, "b": 2}))
        assert process.receive()["id"] == 1
    (line,) = process.stderr().splitlines()
    assert line.startswith("toolwire: warning: no traces are exported: ")
    assert problem in line


@pytest.mark.process
@pytest.mark.parametrize(
    "variables", [{}, {"OTEL_SERVICE_NAME": "mine"}, {"OTEL_TRACES_EXPORTER": "none"}]
)
def test_nothing_is_imported_unless_a_variable_asks_for_an_export(
    tmp_path: Path, variables: dict[str, str]
) -> None:
    with served(tmp_path, environment("", **variables)) as process:
        process.send(call("loaded"))
        assert process.receive()["result"]["structuredContent"] == {"result": []}
