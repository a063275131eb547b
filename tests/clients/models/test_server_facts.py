"""What a server says of itself: the size of the context, and whether the model sees tools."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from support.agent_scripts import act, final
from support.model_endpoint import StandIn
from toolwire_agent.agent import Agent, Approvals, Budgets, Outcome
from toolwire_agent.agent.events import Started
from toolwire_agent.models import OpenAIModel, ServerFacts
from toolwire_agent.react import Limits, NativeProtocol, StructuredProtocol
from toolwire_agent.terminal.event_lines import make_event_lines

PROPS = {
    "default_generation_settings": {"n_ctx": 4096},
    "chat_template_caps": {"supports_tools": False},
}


def facts(server: StandIn, preset: str = "llamacpp", **settings: Any) -> ServerFacts:
    model = OpenAIModel("m", preset, base_url=server.url, key="any", **settings)
    return anyio.run(model.fetch_server_facts)


def test_props_of_llama_cpp_are_requested_once() -> None:
    with StandIn(pages={"/props": json.dumps(PROPS).encode()}) as server:
        assert [facts(server) for _ in range(2)] == [
            ServerFacts(context_tokens=4096, takes_tools=False)
        ] * 2
        assert server.fetched == ["/props"]


@pytest.mark.parametrize("preset", ["openai", "vllm", "ollama"])
def test_props_of_other_servers_are_not_requested(preset: str) -> None:
    with StandIn(pages={"/props": json.dumps(PROPS).encode()}) as server:
        assert facts(server, preset) == ServerFacts()
        assert facts(server, preset, context_tokens=2048) == ServerFacts(context_tokens=2048)
        assert server.fetched == []


@pytest.mark.parametrize(
    "page",
    [
        b"",
        b"not JSON",
        b"[]",
        b'{"default_generation_settings": 1, "chat_template_caps": 2}',
        (
            b'{"default_generation_settings": {"n_ctx": -1}, "chat_template_caps":'
            b' {"supports_tools": "no"}}'
        ),
        b"9" * 3_000_000,
        None,
    ],
    ids=["empty", "text", "list", "numbers", "odd", "large", "missing"],
)
def test_unknown_props_are_ignored(page: bytes | None) -> None:
    with StandIn(pages={} if page is None else {"/props": page}) as server:
        assert facts(server) == ServerFacts()
        assert server.requests == []


def test_unreachable_server_has_no_facts_and_is_requested_again() -> None:
    with StandIn() as server:
        url = server.url
    model = OpenAIModel("m", "llamacpp", base_url=url)
    assert [anyio.run(model.fetch_server_facts) for _ in range(2)] == [ServerFacts()] * 2


def look() -> str:
    """Return a text."""
    return "x" * 3000


def asked(server: StandIn, **settings: Any) -> Outcome:
    model = OpenAIModel("m", "llamacpp", base_url=server.url)
    return Agent(model, [look], approval=Approvals(allow=("*",)), **settings).answer_sync(
        "What is there?"
    )


@pytest.mark.parametrize("protocol", [NativeProtocol("en"), StructuredProtocol("en")])
def test_a_user_is_informed_that_the_server_drops_tools(protocol: Any) -> None:
    answer = "5" if isinstance(protocol, NativeProtocol) else final("5")
    with StandIn(answer, pages={"/props": json.dumps(PROPS).encode()}) as server:
        outcome = asked(server, protocol=protocol)
    assert outcome.status == "answered"
    started = outcome.transcript[0]
    assert isinstance(started, Started)
    assert len(make_event_lines(started)) == isinstance(protocol, NativeProtocol)
    assert all("no place for tools" in line.text for line in make_event_lines(started))


def test_the_oldest_actions_are_left_out_when_the_context_is_full() -> None:
    lengths: list[int] = []

    def answer(body: dict[str, Any]) -> str:
        lengths.append(sum(len(message["content"]) for message in body["messages"]))
        return act("look") if len(lengths) < 5 else final("done")

    with StandIn(answer, pages={"/props": json.dumps(PROPS).encode()}) as server:
        outcome = asked(
            server, limits=Limits(warn_at=10, stop_at=20), budgets=Budgets(reply_tokens=512)
        )
        sent = [request.body["messages"] for request in server.requests]
    assert outcome.status == "answered"
    assert max(lengths) <= 3 * (4096 - 512)
    assert lengths[-1] == lengths[-2]
    assert [message["role"] for message in sent[-1]] == [
        "system",
        "user",
        *["assistant", "user"] * 2,
    ]
    assert all("What is there?" in messages[1]["content"] for messages in sent)
