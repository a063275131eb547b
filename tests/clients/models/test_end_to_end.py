"""An agent, a model behind HTTP and tools: what one says the other reads, on both wires and in
every protocol.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from support import model_endpoint as stand_in
from support.faulty_model import FaultyModel
from support.model_endpoint import StandIn, refused
from toolwire_agent.agent import Agent, Approvals
from toolwire_agent.models import (
    AnthropicModel,
    ArithmeticModel,
    DoubaoAPI,
    OpenAIModel,
    RecordingModel,
    Retries,
)
from toolwire_agent.models.http_api.remote_model import RemoteModel
from toolwire_agent.react import NativeProtocol, StructuredProtocol
from toolwire_agent.react.messages import ModelReply
from toolwire_dialects import openai

PROTOCOLS = {"structured": StructuredProtocol(), "native": NativeProtocol()}


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def multiply(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b


def answers(model: Any) -> Any:
    """What *model* says to the requests that come in, whichever wire they come over."""

    def answer(body: dict[str, Any]) -> ModelReply:
        if "system" in body:
            messages = as_openai(body)
            tools = [
                {"name": tool["name"], "inputSchema": tool["input_schema"]}
                for tool in body.get("tools", ())
            ]
        else:
            messages, tools = (
                body["messages"],
                [openai.to_entry(tool) for tool in body.get("tools", ())],
            )
        return anyio.run(lambda: model.reply(messages, tools=tools or None))  # type: ignore[no-any-return]

    return answer


def as_openai(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of Anthropic's wire as those of OpenAI's."""
    made: list[dict[str, Any]] = [{"role": "system", "content": body["system"][0]["text"]}]
    for turn in body["messages"]:
        texts = [block["text"] for block in turn["content"] if block["type"] == "text"]
        uses = [block for block in turn["content"] if block["type"] == "tool_use"]
        results = [block for block in turn["content"] if block["type"] == "tool_result"]
        made += [
            {"role": "tool", "tool_call_id": each["tool_use_id"], "content": each["content"]}
            for each in results
        ]
        if texts or uses:
            calls = [
                {"id": use["id"], "function": {"name": use["name"], "arguments": use["input"]}}
                for use in uses
            ]
            more = {"tool_calls": calls} if calls else {}
            made.append({"role": turn["role"], "content": "\n".join(texts), **more})
    return made


async def now(seconds: float) -> None:
    await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", [OpenAIModel, AnthropicModel])
def test_run_succeeds_in_spite_of_network_faults(
    kind: type[RemoteModel], protocol: str, loop: str
) -> None:
    with StandIn(answers(ArithmeticModel())) as server:
        server.then(refused(529), stand_in.reset, stand_in.in_pieces(5), stand_in.reset_midway)
        model = kind("m", base_url=server.url, key="sk-0123456789", retries=Retries(sleep=now))
        agent = Agent(
            model,
            [add, multiply],
            protocol=PROTOCOLS[protocol],
            approval=Approvals(allow=("add", "multiply")),
        )
        outcome = anyio.run(agent.answer, "What is (12 + 3) * 4?", backend=loop)
    assert (outcome.status, outcome.result) == ("answered", "(12 + 3) * 4 = 60")
    assert outcome.usage.input_tokens == 3 * 11


def test_a_run_has_one_connection_and_leaves_none_open(tmp_path: Path) -> None:
    with StandIn(answers(ArithmeticModel())) as server:
        model = OpenAIModel("m", base_url=server.url, key="sk-0123456789")
        for asked in (
            model,
            RecordingModel(model, tmp_path / "record"),
            DoubaoAPI(model="m", base_url=server.url),
        ):
            agent = Agent(asked, [add, multiply], approval=Approvals(allow=("*",)))
            assert agent.answer_sync("What is (12 + 3) * 4?").turns == 3
    ports = [server.peers[first : first + 3] for first in (0, 3, 6)]
    assert [len(set(each)) for each in ports] == [1, 1, 1]
    assert len({port for (port, *_) in ports}) == 3


@pytest.mark.parametrize("seed", range(10))
def test_run_succeeds_in_spite_of_faulty_replies(seed: int) -> None:
    faulty = FaultyModel(ArithmeticModel(), rate=0.5, most_in_a_row=2, seed=seed)
    agent = Agent(faulty, [add, multiply], approval=Approvals(allow=("add", "multiply")))
    outcome = anyio.run(agent.answer, "12加3再乘以4")
    assert outcome.status == "answered"
    assert outcome.result in (
        "(12 + 3) × 4 = 60",
        json.dumps({"answer": 42}),
    )  # a fault of the last reply itself


@pytest.mark.parametrize("fault", [stand_in.reset_midway, stand_in.ends_midway])
@pytest.mark.parametrize(
    ("thought", "result", "requests"), [("long " * 99, "5", 2), ("short", "long " * 99, 1)]
)
def test_a_reply_that_ends_early_is_requested_again_unless_a_part_of_the_answer_was_shown(
    fault: stand_in.Fault, thought: str, result: str, requests: int
) -> None:
    reply = json.dumps({"thought": thought, "type": "FINAL_ANSWER", "ok": True, "result": result})
    shown: list[str] = []

    async def no_wait(seconds: float) -> None:
        await anyio.lowlevel.checkpoint()

    def show(live: Any) -> None:
        shown.append(live.answer)

    with StandIn(reply).then(fault) as server:
        model = OpenAIModel("m", base_url=server.url, retries=Retries(sleep=no_wait))
        outcome = Agent(model, [add]).answer_sync("2 + 3?", on_live=show)

    assert len(server.requests) == requests
    if requests == 2:
        assert (outcome.result, "".join(shown)) == (result, result)
    else:
        assert outcome.status == "model_error"
