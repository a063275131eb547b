"""Spans of OpenTelemetry for runs of an agent, their requests to the model and their calls of
tools.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from support.otlp_collector import Collector
from support.server_process import filtered_environment, running, wait_until
from toolwire_agent import Agent
from toolwire_agent.models.errors import ModelError
from toolwire_agent.models.testing import ScriptedModel
from toolwire_agent.react.messages import ModelReply, Usage


def action(tool: str) -> ModelReply:
    text = (
        f'{{"type": "ACTION", "thought": "secret", "tool": "{tool}", "params": {{"what":'
        ' "secret"}}'
    )
    return ModelReply(
        text=text, usage=Usage(input_tokens=10, output_tokens=2), finish_reason="stop"
    )


ANSWER = '{"type": "FINAL_ANSWER", "thought": "", "ok": true, "result": "secret"}'


class NamedModel(ScriptedModel):
    name = "mistral:large"


def by_name(spans: InMemorySpanExporter) -> dict[str, list[ReadableSpan]]:
    found: dict[str, list[ReadableSpan]] = {}
    for span in spans.get_finished_spans():
        found.setdefault(span.name, []).append(span)
    return found


def facts(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_a_run_is_a_span_around_its_requests_and_calls(spans: InMemorySpanExporter) -> None:
    active: list[int] = []

    def look(what: str) -> str:
        active.append(trace.get_current_span().get_span_context().span_id)
        return what

    agent = Agent(NamedModel([action("look"), ANSWER]), [look], name="finder")
    outcome = agent.answer_sync("secret?")
    assert outcome.ok, outcome.reason

    found = by_name(spans)
    assert {name: len(made) for name, made in found.items()} == {
        "invoke_agent finder": 1,
        "chat large": 2,
        "execute_tool look": 1,
    }
    (run,), (request, _), (call,) = (
        found[name] for name in ("invoke_agent finder", "chat large", "execute_tool look")
    )
    assert active == [call.context.span_id]
    assert all(
        span.parent is not None and span.parent.span_id == run.context.span_id
        for span in (request, call)
    )
    assert facts(run) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "finder",
        "gen_ai.provider.name": "mistral_ai",
        "gen_ai.request.model": "large",
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 2,
        "toolwire.outcome": "answered",
    }
    assert request.kind is trace.SpanKind.CLIENT
    assert facts(request) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "mistral_ai",
        "gen_ai.request.model": "large",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 2,
    }
    assert facts(call) == {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}
    assert "secret" not in "".join(span.to_json() for span in spans.get_finished_spans())


def test_failures_of_tools_and_models_are_errors(spans: InMemorySpanExporter) -> None:
    def look(what: str) -> str:
        raise ValueError(what)

    agent = Agent(ScriptedModel([action("look"), ModelError("secret")]), [look])
    assert agent.answer_sync("?").status == "model_error"

    errors = {
        name: [facts(span).get("error.type") for span in made]
        for name, made in by_name(spans).items()
    }
    assert errors["execute_tool look"] == ["tool_error"]
    assert errors["chat"][-1] == "model_error"
    assert errors["invoke_agent agent"] == ["model_error"]


def test_each_question_of_a_session_is_a_span(spans: InMemorySpanExporter) -> None:
    agent = Agent(ScriptedModel([ANSWER, ANSWER]))
    session = agent.session()
    anyio.run(session.answer, "one")
    anyio.run(session.answer, "two")
    runs = by_name(spans)["invoke_agent agent"]
    assert [run.parent for run in runs] == [None, None]
    assert len({run.context.trace_id for run in runs}) == 2


RUN = """
import os, sys
from toolwire_agent import Agent
from toolwire_client import connect
from toolwire_agent.models import model_from_name
from toolwire_schemas import tracing

tracing._EXIT_SECONDS = 60.0  # so that the last export takes as long as it takes on a busy machine
with connect([sys.executable, "-m", "toolwire", "serve", "sums.py"], env=dict(os.environ)) as client:
    agent = Agent(model_from_name("arithmetic"), client, approval=lambda asked: True)
    print(agent.answer_sync("How much is 17 + 25?").result, flush=True)
    sys.stdin.readline()
"""  # noqa: E501


@pytest.mark.process
def test_a_run_and_the_calls_of_its_server_are_one_trace(tmp_path: Path) -> None:
    source = "def add(a: float, b: float) -> float:\n    return a + b\n"
    (tmp_path / "sums.py").write_text(source, encoding="utf-8")
    with Collector() as collector:
        asking = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "1"}
        env = {**filtered_environment(), **asking, "HOME": os.fspath(tmp_path)}
        with running("-c", RUN, cwd=tmp_path, env=env) as process:
            answer = process.receive_line()
            assert answer is not None, process.stderr()
            assert b"42" in answer
            wait_until(lambda: any(span.name == "tools/call add" for span in collector.spans))
            process.send(b"\n")
            assert process.wait() == 0
    run, call = collector.named("invoke_agent agent"), collector.named("execute_tool add")
    served = collector.named("tools/call add")
    assert (run.service, served.service) == ("toolwire-agent", "sums")
    assert (call.parent, served.parent) == (run.id, call.id)
    assert {span.trace for span in (run, call, served)} == {run.trace}
