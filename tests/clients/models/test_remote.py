"""Models behind HTTP, over real sockets: what is sent, and what is made of the answers, on both
wires and loops.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from anyio import to_thread
from support import model_endpoint as stand_in
from support.model_endpoint import StandIn
from toolwire_agent.models import (
    AnthropicModel,
    NotAModel,
    NotReady,
    OpenAIModel,
    Retries,
    TimeLimits,
)
from toolwire_agent.models.http_api.remote_model import RemoteModel
from toolwire_agent.react.messages import ModelReply, ToolCall, Usage

LOOPS = ("asyncio", "trio")
WIRES = (OpenAIModel, AnthropicModel)
KEY = "sk-0123456789"
ASK = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Grüße?"}]
TEXT = "Grüße, 世界! 👋 Fünf Wörter."
ADD = {
    "name": "Calculator.add",
    "description": "Add two numbers.",
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    },
}


async def never(seconds: float) -> None:
    raise AssertionError("there was nothing to wait for")


def model(kind: type[RemoteModel], server: StandIn, **settings: Any) -> RemoteModel:
    return kind(
        "some-model",
        **{"base_url": server.url, "key": KEY, "retries": Retries(sleep=never), **settings},
    )


def run(main: Callable[[], Awaitable[Any]], loop: str = "asyncio") -> Any:
    async def bounded() -> Any:
        with anyio.fail_after(60):
            return await main()

    return anyio.run(bounded, backend=loop)


def ask(
    asked: RemoteModel, *, loop: str = "asyncio", messages: Any = ASK, **wishes: Any
) -> ModelReply:
    return run(lambda: asked.reply(messages, **wishes), loop)  # type: ignore[no-any-return]


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("kind", WIRES)
def test_a_reply_has_text_reason_and_usage(
    kind: type[RemoteModel], stream: bool, loop: str
) -> None:
    usage = Usage(input_tokens=100, output_tokens=50, cached_tokens=60, reasoning_tokens=20)
    answer = ModelReply(text=TEXT, finish_reason="length", usage=usage, reasoning="Let me see.")
    with StandIn(answer) as server:
        assert ask(model(kind, server, stream=stream), loop=loop) == answer


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("kind", WIRES)
def test_on_text_receives_pieces_while_they_arrive(kind: type[RemoteModel], loop: str) -> None:
    heard: list[str] = []

    async def hear(piece: str) -> None:
        await anyio.lowlevel.checkpoint()
        heard.append(piece)

    with StandIn(TEXT) as server:
        assert ask(model(kind, server), loop=loop, on_text=hear).text == TEXT
    assert len(heard) > 5
    assert "".join(heard) == TEXT


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("kind", WIRES)
def test_exception_of_on_text_is_raised(kind: type[RemoteModel], loop: str) -> None:
    def hear(piece: str) -> None:
        raise LookupError(piece)

    with StandIn(TEXT) as server, pytest.raises(LookupError, match="Grü"):
        ask(model(kind, server), loop=loop, on_text=hear)
    assert len(server.requests) == 1


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("kind", WIRES)
def test_tools_go_out_under_names_that_are_allowed_and_come_back_under_their_own(
    kind: type[RemoteModel], stream: bool
) -> None:
    def call(body: dict[str, Any]) -> ModelReply:
        (tool,) = body["tools"]
        name = tool["name"] if "name" in tool else tool["function"]["name"]
        return ModelReply(
            tool_calls=(ToolCall(id="call00001", name=name, arguments={"a": 1, "b": 2}),)
        )

    with StandIn(call) as server:
        reply = ask(model(kind, server, stream=stream), tools=[ADD])
    (made,) = reply.tool_calls
    assert (made.name, reply.finish_reason) == ("Calculator.add", "tool_calls")
    assert made.arguments == ({"a": 1, "b": 2} if kind is AnthropicModel else '{"a": 1, "b": 2}')


def test_chat_completions_request_has_only_needed_members() -> None:
    with StandIn() as server:
        ask(
            model(
                OpenAIModel,
                server,
                temperature=0.5,
                max_tokens=100,
                extra_body={"reasoning_effort": "low"},
            )
        )
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "some-model",
        "messages": ASK,
        "temperature": 0.5,
        "max_completion_tokens": 100,
        "stream": True,
        "stream_options": {"include_usage": True},
        "reasoning_effort": "low",
    }


def test_messages_have_the_system_prompt_apart_and_cached() -> None:
    with StandIn() as server:
        ask(model(AnthropicModel, server))
    (request,) = server.requests
    assert request.path == "/v1/messages"
    assert (request.headers["x-api-key"], request.headers["anthropic-version"]) == (
        KEY,
        "2023-06-01",
    )
    assert "authorization" not in request.headers
    assert request.body == {
        "model": "some-model",
        "max_tokens": 8192,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Grüße?"}]}],
        "stream": True,
    }


CALLED = [
    *ASK,
    {
        "role": "assistant",
        "content": "I add.",
        "tool_calls": [
            {
                "id": "call00001",
                "type": "function",
                "function": {"name": "Calculator.add", "arguments": '{"a":1}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "call00001", "content": "3"},
    {"role": "user", "content": "And now?"},
]


def test_calls_and_their_results_are_sent_again_to_openai() -> None:
    with StandIn() as server:
        ask(model(OpenAIModel, server), messages=CALLED, tools=[ADD])
    assert server.requests[0].body["messages"][2:4] == [
        {
            "role": "assistant",
            "content": "I add.",
            "tool_calls": [
                {
                    "id": "call00001",
                    "type": "function",
                    "function": {"name": "Calculator_add", "arguments": '{"a":1}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call00001", "content": "3"},
    ]


def test_calls_and_their_results_are_sent_again_to_anthropic() -> None:
    with StandIn() as server:
        ask(model(AnthropicModel, server), messages=CALLED, tools=[ADD])
    assert server.requests[0].body["messages"][1:] == [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I add."},
                {
                    "type": "tool_use",
                    "id": "call00001",
                    "name": "Calculator_add",
                    "input": {"a": 1},
                },
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "call00001", "content": "3"},
                {"type": "text", "text": "And now?"},
            ],
        },
    ]


@pytest.mark.parametrize("kind", WIRES)
def test_a_result_without_a_call_is_sent_as_the_user(kind: type[RemoteModel]) -> None:
    messages = [
        *ASK,
        {"role": "assistant", "content": "<call>"},
        {"role": "tool", "content": {"result": 3}},
    ]
    with StandIn() as server:
        ask(model(kind, server), messages=messages)
    last = server.requests[0].body["messages"][-1]
    assert last["role"] == "user"
    assert '{"result":3}' in str(last["content"])


def test_thoughts_of_a_reply_that_calls_tools_go_back_to_anthropic_as_they_came() -> None:
    calls = (ToolCall(id="call00001", name="add", arguments={"a": 1}),)
    with StandIn(ModelReply(text="I add.", reasoning="Hm.", tool_calls=calls)) as server:
        first = ask(model(AnthropicModel, server))
        said = {"role": "assistant", "content": first.text, "tool_calls": [], "echo": first.echo}
        result = {"role": "tool", "tool_call_id": "call00001", "content": "3"}
        ask(model(AnthropicModel, server), messages=[*ASK, said, result])
    thought, text, use = server.requests[1].body["messages"][1]["content"]
    assert thought == {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"}
    assert (text["type"], use["type"]) == ("text", "tool_use")


def test_thoughts_of_a_reply_with_tool_calls_are_sent_back_to_deepseek_only() -> None:
    calls = (ToolCall(id="call00001", name="add", arguments="{}"),)
    with StandIn(ModelReply(reasoning="Hm.", tool_calls=calls)) as server:
        assert ask(model(OpenAIModel, server, preset="deepseek")).echo == {
            "reasoning_content": "Hm."
        }
        assert ask(model(OpenAIModel, server)).echo == {}


@pytest.mark.parametrize("kind", WIRES)
def test_within_a_block_a_connection_is_used_again(kind: type[RemoteModel]) -> None:
    ports: list[int] = []

    def note(body: dict[str, Any]) -> None:
        ports.append(server.peers[-1])

    async def twice() -> None:
        async with model(kind, server) as asked:
            await asked.reply(ASK)
            await asked.reply(ASK)
        await asked.reply(ASK)

    with StandIn(rule=note) as server:
        run(twice)
    assert ports[0] == ports[1] != ports[2]


def test_blocks_within_one_another_share_connections_and_event_loops_do_not() -> None:
    async def once(asked: RemoteModel) -> None:
        async with asked:
            await asked.reply(ASK)

    async def nested() -> None:
        async with asked:
            await once(asked)
            await once(asked)
            await anyio.to_thread.run_sync(anyio.run, once, asked)

    with StandIn() as server:
        asked = model(OpenAIModel, server)
        run(nested)
        run(nested)
    first, again, elsewhere, *_ = server.peers
    assert first == again != elsewhere
    assert len(set(server.peers)) == 4


@pytest.mark.parametrize("kind", WIRES)
def test_two_requests_at_once_do_not_mix(kind: type[RemoteModel]) -> None:
    replies: dict[str, str] = {}

    async def one(asked: RemoteModel, text: str) -> None:
        replies[text] = (await asked.reply([{"role": "user", "content": text}])).text

    async def main() -> None:
        asked = model(kind, server)
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(one, asked, f"number {number}")

    def echo(body: dict[str, Any]) -> str:
        content = body["messages"][0]["content"]
        return content if isinstance(content, str) else content[0]["text"]

    with StandIn(echo) as server:
        run(main)
    assert replies == {f"number {number}": f"number {number}" for number in range(20)}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("fault", [stand_in.silent, stand_in.silent_midway])
def test_cancellation_ends_the_request(fault: stand_in.Fault, loop: str) -> None:
    async def main() -> bool:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(model(OpenAIModel, server).reply, ASK)
            assert await to_thread.run_sync(server.arrived.wait, 20)
            tasks.cancel_scope.cancel()
        return True

    with StandIn().then(fault) as server:
        assert run(main, loop)


@pytest.mark.parametrize(
    "message",
    [{"role": "narrator", "content": "x"}, {"content": "x"}, {"role": "user", "content": {1, 2}}],
)
@pytest.mark.parametrize("kind", WIRES)
def test_invalid_messages_are_refused_before_anything_is_sent(
    kind: type[RemoteModel], message: Any
) -> None:
    with StandIn() as server, pytest.raises(NotAModel):
        ask(model(kind, server), messages=[message])
    assert server.requests == []


@pytest.mark.parametrize(
    ("base_url", "path"),
    [
        ("{}", "/v1/chat/completions"),
        ("{}/", "/v1/chat/completions"),
        ("{}/chat/completions", "/v1/chat/completions"),
        ("{}?api-version=1", "/v1/chat/completions?api-version=1"),
    ],
)
def test_a_base_url_may_be_written_as_people_write_it(base_url: str, path: str) -> None:
    with StandIn() as server:
        ask(model(OpenAIModel, server, base_url=base_url.format(server.url)))
    assert server.requests[0].path == path


@pytest.mark.parametrize(
    "base_url",
    ["localhost:8000", "ftp://host/v1", "http://", "http://user:word@host/v1", "http://[x"],
)
def test_invalid_base_url_is_refused_at_once(base_url: str) -> None:
    with pytest.raises(NotReady, match="base_url"):
        OpenAIModel("m", base_url=base_url, key=KEY)


def test_a_proxy_of_the_environment_is_used_as_httpx_does(monkeypatch: pytest.MonkeyPatch) -> None:
    with StandIn() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.removesuffix("/v1"))
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        ask(OpenAIModel("m", base_url="http://model.invalid/v1", key=KEY))
        assert proxy.requests[0].path == "http://model.invalid/v1/chat/completions"


def test_without_httpx2_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(NotReady, match=r"pip install .*'toolwire\[agent\]'"):
        OpenAIModel("m", key=KEY)


def test_time_limits_are_for_silence_and_for_the_whole() -> None:
    assert TimeLimits() == TimeLimits(connect=10.0, silence=300.0, total=900.0)
