"""Bounds of a request: the tokens of its reply, and the context of the model."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from support.agent_scripts import act, final
from support.model_endpoint import Fault, StandIn, error_midway, refused
from toolwire_agent.agent import Agent, Budgets, Outcome
from toolwire_agent.agent.events import ModelFailed
from toolwire_agent.models import (
    AnthropicModel,
    ContextExceeded,
    EndpointRefused,
    OpenAIModel,
    Retries,
)
from toolwire_agent.react import Limits, NativeProtocol
from toolwire_agent.react.messages import ModelReply, ToolCall, Usage

# Each as the server says it, with its code or type, by the report or source that it is taken from.
TOO_LONG: dict[str, tuple[int, Any]] = {
    "llama.cpp, pull 15780": (
        400,
        {
            "code": 400,
            "message": (
                "the request exceeds the available context size. try increasing the context size"
            ),
            "type": "exceed_context_size_error",
            "n_prompt_tokens": 14429,
            "n_ctx": 8192,
        },
    ),
    "llama.cpp in 2025": (
        500,
        {"code": 500, "message": "too long", "type": "exceed_context_size_error"},
    ),
    "OpenAI, chathub 126": (
        400,
        {
            "message": (
                "This model's maximum context length is 4097 tokens. However, your messages"
                " resulted in 4294 tokens. Please reduce the length of the messages."
            ),
            "type": "invalid_request_error",
            "code": "context_length_exceeded",
        },
    ),
    "Groq, amurex 51": (
        400,
        {"message": "Please reduce the length of the messages.", "code": "context_length_exceeded"},
    ),
    "SGLang, Qwen3 1321": (
        400,
        {
            "message": (
                "The input (61709 tokens) is longer than the model's context length (40960 tokens)."
            )
        },
    ),
    "LM Studio, bug-tracker 237": (
        400,
        (
            "Trying to keep the first 15857 tokens when context the overflows. However, the model"
            " is loaded with context length of only 4096 tokens, which is not enough."
        ),
    ),
    "Gemini, gemini-cli 4692": (
        400,
        {
            "message": (
                "The input token count (2845475) exceeds the maximum number of tokens allowed"
                " (1048576)."
            )
        },
    ),
    "Anthropic": (
        400,
        {
            "type": "invalid_request_error",
            "message": "prompt is too long: 204806 tokens > 200000 maximum",
        },
    ),
}
LARGEST = 8000


def big() -> str:
    """Return a long text."""
    return "x" * 10_000


def small() -> str:
    """Return a short text."""
    return "y" * 500


def script(body: dict[str, Any]) -> str:
    results = str(body["messages"][1:]).count("ACTION_RESULT")
    return [act("small"), act("big"), final("done")][results]


def sent(body: dict[str, Any]) -> int:
    """The characters of the messages, without the system prompt."""
    return sum(len(message["content"] or "") for message in body["messages"][1:])


def limited_to(characters: int, fault: Fault) -> Callable[[dict[str, Any]], Fault | None]:
    return lambda body: fault if sent(body) > characters else None


def model(server: StandIn, **settings: Any) -> OpenAIModel:
    return OpenAIModel(
        "m", base_url=server.url, key="sk-0123456789", retries=Retries(attempts=1), **settings
    )


def ask(server: StandIn, **settings: Any) -> Outcome:
    return Agent(model(server), [small, big], **settings).answer_sync("?")


@pytest.mark.parametrize("name", TOO_LONG)
def test_a_context_that_is_exceeded_halves_the_longest_result(name: str) -> None:
    status, error = TOO_LONG[name]
    with StandIn(
        script, rule=limited_to(LARGEST, refused(status, body={"error": error}))
    ) as server:
        outcome = ask(server)
    assert (outcome.status, outcome.result, outcome.turns) == ("answered", "done", 3)
    assert len(server.requests) == 4
    last = str(server.requests[-1].body["messages"])
    assert "y" * 500 in last
    assert "x" * 2000 in last
    assert "…" in last
    assert [
        failed.too_long for failed in outcome.transcript if isinstance(failed, ModelFailed)
    ] == [True]


def test_an_error_in_the_midst_of_a_reply_halves_as_well() -> None:
    error = {"message": "Context size has been exceeded.", "code": 500}
    with StandIn(script, rule=limited_to(LARGEST, error_midway(error))) as server:
        assert ask(server).status == "answered"


def test_results_are_halved_as_often_as_needed_and_then_the_run_ends() -> None:
    fault = refused(400, body={"error": TOO_LONG["Groq, amurex 51"][1]})
    with StandIn(script, rule=limited_to(2500, fault)) as server:
        assert ask(server).status == "answered"
    with StandIn(script, rule=limited_to(600, fault)) as server:
        outcome = ask(server)
    assert (outcome.status, outcome.result) == ("model_error", None)
    assert "reduce the length" in outcome.reason
    assert len(server.requests) < 12
    repeated = anyio.run(lambda: events_of(outcome))
    assert repeated == outcome.transcript


async def events_of(outcome: Outcome) -> tuple[Any, ...]:
    with StandIn() as server:
        return tuple(
            [event async for event in Agent(model(server), [small, big]).replay(outcome.transcript)]
        )


def test_a_native_result_is_halved_and_stays_the_answer_to_its_call() -> None:
    def answer(body: dict[str, Any]) -> ModelReply | str:
        called = ModelReply(tool_calls=(ToolCall(id="call00001", name="big", arguments={}),))
        return "done" if any(message["role"] == "tool" for message in body["messages"]) else called

    fault = refused(400, body={"error": TOO_LONG["Groq, amurex 51"][1]})
    with StandIn(answer, rule=limited_to(LARGEST, fault)) as server:
        outcome = ask(server, protocol=NativeProtocol())
    assert (outcome.status, outcome.result) == ("answered", "done")
    told = server.requests[-1].body["messages"][-1]
    assert (told["role"], told["tool_call_id"]) == ("tool", "call00001")
    assert 4000 < len(json.loads(told["content"])["result"]) <= 5000


def test_too_long_question_is_an_error_at_once() -> None:
    fault = refused(400, body={"error": TOO_LONG["OpenAI, chathub 126"][1]})
    with StandIn(rule=lambda body: fault) as server:
        assert ask(server).status == "model_error"
        with pytest.raises(ContextExceeded):
            anyio.run(model(server).reply, [{"role": "user", "content": "?"}])
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("status", "message"), [(429, "maximum context length"), (400, "the context is invalid")]
)
def test_other_refusals_leave_results_unchanged(status: int, message: str) -> None:
    with (
        StandIn(rule=lambda body: refused(status, message)) as server,
        pytest.raises(EndpointRefused) as failed,
    ):
        anyio.run(model(server).reply, [{"role": "user", "content": "?"}])
    assert not isinstance(failed.value, ContextExceeded)


# --- the tokens of a reply ------------------------------------------------------------------------


def limits(server: StandIn) -> list[Any]:
    return [request.body.get("max_completion_tokens") for request in server.requests]


@pytest.mark.parametrize(
    ("budgets", "expected"),
    [
        (Budgets(), [8192] * 3),
        (Budgets(reply_tokens=100), [100] * 3),
        (Budgets(reply_tokens=None), [None] * 3),
        (Budgets(tokens=5000, reply_tokens=None), [5000, 3000, 1000]),
        (Budgets(tokens=2100), [2100, 512, 512]),
    ],
)
def test_every_request_limits_the_reply(budgets: Budgets, expected: list[int | None]) -> None:
    def answer(body: dict[str, Any]) -> ModelReply:
        return ModelReply(text=script(body), usage=Usage(input_tokens=1500, output_tokens=500))

    with StandIn(answer) as server:
        assert ask(server, budgets=budgets).turns == 3
    assert limits(server) == expected


def test_the_lower_limit_of_model_and_agent_counts_and_has_the_name_of_the_api() -> None:
    with StandIn(final("done")) as server:
        for maximum in (50, 10_000):
            Agent(model(server, max_tokens=maximum)).answer_sync("?")
        Agent(AnthropicModel("m", base_url=server.url, key="sk-0123456789")).answer_sync("?")
    assert limits(server) == [50, 8192, None]
    assert server.requests[-1].body["max_tokens"] == 8192


@pytest.mark.parametrize(
    "message",
    [
        (
            "max_tokens is too large: 8192. This model supports at most 4096 completion tokens,"
            " whereas you provided 8192."
        ),
        (
            "This model's maximum context length is 4096 tokens. However, you requested 8692 tokens"
            " (500 in the messages, 8192 in the completion). Please reduce the length of the"
            " messages or completion."
        ),
        (
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 500"
            " `inputs` tokens"
        ),
        "input length and `max_tokens` exceed context limit: 500 + 8192 > 4096",
    ],
)
def test_a_limit_that_the_server_refuses_is_lowered(message: str) -> None:
    def rule(body: dict[str, Any]) -> Fault | None:
        return refused(400, message) if body["max_completion_tokens"] > 3000 else None

    with StandIn(final("done"), rule=rule) as server:
        assert ask(server).status == "answered"
    assert limits(server) == [8192, 2048]


def test_the_length_of_results_has_a_limit() -> None:
    with StandIn(script) as server:
        assert ask(server, limits=Limits(max_result_chars=100)).status == "answered"
    assert "x" * 51 not in str(server.requests[-1].body)
