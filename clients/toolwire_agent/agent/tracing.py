"""Spans of OpenTelemetry for a run, its requests to the model and its calls of tools: the extra
`otel`.

The names are those of OpenTelemetry's conventions for generative AI. No span holds messages,
arguments or results.
"""

from __future__ import annotations

import logging
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from toolwire_schemas import tracing

from . import events
from .effects import Effects

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping
    from contextlib import AbstractContextManager

    from opentelemetry.trace import Span, Tracer
    from toolwire_client.protocol.results import CallResult

    from .events import Recorded
    from .run_state import RunState
    from .steps import AskModel, CallTool

_PROVIDERS = {
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "moonshot": "moonshot_ai",
    "xai": "x_ai",
}
_FAILURES = ("model_error", "turn_limit", "budget")


def add_tracing(effects: Effects, agent: str, model: str) -> Effects:
    """Return *effects* that make spans, if the environment asks for them; *agent* and *model* are
    names.
    """
    tracer = tracing.make_tracer("toolwire-agent", logging.getLogger("toolwire").warning)
    if tracer is None:
        return effects
    given = {name: getattr(effects, name) for name in Effects.__struct_fields__}
    provider, _, name = model.partition(":")
    facts = {
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
        "gen_ai.request.model": name or None,
    }
    return TracedEffects(**given, tracer=tracer, agent=agent, about_model=facts)


class TracedEffects(Effects, kw_only=True, eq=False):
    """Effects with a span for each run and, within it, for each request to the model and each call
    of a tool.
    """

    tracer: Tracer
    agent: str
    about_model: Mapping[str, Any]
    run: Any = None

    async def watch(
        self, recorded: AsyncGenerator[Recorded, None]
    ) -> AsyncGenerator[Recorded, None]:
        """As `Effects.watched`."""
        from opentelemetry.trace import set_span_in_context

        self.run = None
        facts = {"gen_ai.agent.name": self.agent, **self.about_model}
        span = self._start_span("invoke_agent", self.agent, facts)
        # Active in each step, but not in the caller's code between two events.
        self.run = set_span_in_context(span)
        try:
            async with aclosing(recorded):
                async for event in recorded:
                    if isinstance(event, events.Ended):
                        self._note_end(span, event)
                    yield event
        finally:
            span.end()

    def _note_end(self, span: Span, end: events.Ended) -> None:
        failure = None
        if end.status in _FAILURES:
            failure = end.status
        tracing.note(span, {"toolwire.outcome": end.status, **_count_tokens(end.usage)}, failure)

    async def _ask_model(self, state: RunState, step: AskModel) -> Recorded:
        model = self.about_model["gen_ai.request.model"] or ""
        with self._trace_step("chat", model, self.about_model) as span:
            event = await super()._ask_model(state, step)
            if isinstance(event, events.ModelReplied):
                facts: dict[str, Any] = {**_count_tokens(event.reply.usage)}
                reason = event.reply.finish_reason
                if reason is not None:
                    facts["gen_ai.response.finish_reasons"] = [reason]
                tracing.note(span, facts)
            elif isinstance(event, events.ModelFailed):
                failure = "model_error"
                if event.out_of_time:
                    failure = "timeout"
                tracing.note(span, {}, failure)
            return event

    async def call(
        self, state: RunState, step: CallTool, aside: Callable[[Recorded], object]
    ) -> Recorded:
        """As `Effects.call`."""
        tool = step.action.tool
        with self._trace_step("execute_tool", tool, {"gen_ai.tool.name": tool}) as span:
            event = await super().call(state, step, aside)
            if isinstance(event, events.CallFinished) and not event.success:
                tracing.note(span, {}, "tool_error")
            return event

    async def call_for_program(self, tool: str, params: dict[str, Any]) -> CallResult:
        """As `Effects.call_for_program`."""
        with self._trace_step("execute_tool", tool, {"gen_ai.tool.name": tool}) as span:
            result = await super().call_for_program(tool, params)
            if result.is_error:
                tracing.note(span, {}, "tool_error")
            return result

    def _start_span(self, operation: str, name: str, facts: Mapping[str, Any]) -> Span:
        from opentelemetry.trace import SpanKind

        kind = SpanKind.INTERNAL
        if operation == "chat":
            kind = SpanKind.CLIENT
        span = self.tracer.start_span(f"{operation} {name}".strip(), self.run, kind)
        tracing.note(span, {"gen_ai.operation.name": operation, **facts})
        return span

    def _trace_step(
        self, operation: str, name: str, facts: Mapping[str, Any]
    ) -> AbstractContextManager[Span]:
        from opentelemetry.trace import use_span

        return use_span(
            self._start_span(operation, name, facts), end_on_exit=True, record_exception=False
        )


def _count_tokens(usage: Any) -> dict[str, int | None]:
    if usage is None:
        return {}
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens or None,
        "gen_ai.usage.output_tokens": usage.output_tokens or None,
    }
