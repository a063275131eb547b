"""The context of a trace passes between Toolwire and the official Python SDK, in both directions
and both eras.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from interop import peers
from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags
from support.otlp_collector import Collector
from support.server_process import wait_until
from toolwire_client import connect

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"

# Without an SDK of OpenTelemetry, a span of the official client is the active one: that of a caller
# elsewhere.
CLIENT = f"""
import sys
import anyio
from mcp import Client, StdioServerParameters
from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

async def main() -> None:
    caller = NonRecordingSpan(SpanContext(0x{TRACE}, 0x{PARENT}, True, TraceFlags(1)))
    command = sys.argv[2:]
    env = {{"OTEL_EXPORTER_OTLP_ENDPOINT": URL, "OTEL_BSP_SCHEDULE_DELAY": "1"}}
    server = StdioServerParameters(command=command[0], args=command[1:], env=env)
    with trace.use_span(caller):
        async with Client(server, mode=sys.argv[1]) as client:
            await client.call_tool("add", {{"a": 1, "b": 2}})
            await anyio.to_thread.run_sync(sys.stdin.readline)

anyio.run(main)
"""

SERVER = """
from mcp.server import MCPServer
from opentelemetry import trace

server = MCPServer("traced")

@server.tool()
def active() -> list[str]:
    context = trace.get_current_span().get_span_context()
    return [f"{context.trace_id:032x}", f"{context.span_id:016x}"]

server.run()
"""


def python() -> str:
    found = peers.INSTALLED / "mcp2" / "bin" / "python"
    return str(found) if found.exists() else peers.missing("the Python environment mcp2")


@pytest.mark.process
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_call_of_the_official_client_continues_its_trace(tmp_path: Path, mode: str) -> None:
    with Collector() as collector:
        script = tmp_path / "client.py"
        script.write_text(CLIENT.replace("URL", json.dumps(collector.url)), "utf-8")
        command = [python(), str(script), mode, *peers.serve()]
        with subprocess.Popen(command, stdin=subprocess.PIPE, cwd=tmp_path) as client:
            wait_until(lambda: any(span.name == "tools/call add" for span in collector.spans))
            client.communicate(b"\n", timeout=peers.PATIENCE_SECONDS)
        assert client.returncode == 0
    span = collector.named("tools/call add")
    assert (span.trace, span.parent, span.attributes["toolwire.outcome"]) == (TRACE, PARENT, "ok")
    assert span.attributes["mcp.protocol.version"] == ("2025-11-25" if mode == "legacy" else mode)


@pytest.mark.process
@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("mounted", [False, True])
def test_a_tool_of_the_official_server_runs_in_the_trace_of_our_client(
    tmp_path: Path, era: str, mounted: bool
) -> None:
    script = tmp_path / "server.py"
    script.write_text(SERVER, "utf-8")
    theirs = [python(), str(script)]
    command = [sys.executable, "-m", "toolwire", "serve", "--mount", f"there={' '.join(theirs)}"]
    name = "there_active" if mounted else "active"
    caller = NonRecordingSpan(SpanContext(int(TRACE, 16), int(PARENT, 16), True, TraceFlags(1)))
    with connect(command if mounted else theirs, era=era) as client, trace.use_span(caller):  # type: ignore[arg-type]
        result = client.call_tool(name)
    assert result.structured == {"result": [TRACE, PARENT]}
