"""What an endpoint does not take is asked for in a plainer way, and that is remembered."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import anyio
import pytest
from support.model_endpoint import Fault, StandIn, refused
from toolwire_agent.models import AnthropicModel, EndpointRefused, OpenAIModel, Retries
from toolwire_agent.models.http_api.remote_model import RemoteModel

KEY = "sk-0123456789"
ASK = [{"role": "user", "content": "Answer in JSON."}]
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}
OTHER = {"type": "object", "properties": {"other": {"type": "integer"}}}

# Each as the vendor says it, by the report that it is taken from.
NO_SCHEMA = {
    "OpenAI, midscene 259": (
        400,
        (
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this"
            " model. Learn more about supported models at the Structured Outputs guide:"
            " https://platform.openai.com/docs/guides/structured-outputs"
        ),
    ),
    "DeepSeek, khoj 1336": (400, "This response_format type is unavailable now"),
    "DeepSeek in 2025, browser-use 215": (
        422,
        (
            "Failed to deserialize the JSON body into the target type: response_format:"
            " response_format.type `json_schema` is unavailable now at line 1 column 12440"
        ),
    ),
    "Doubao, models.dev 5772": (
        400,
        (
            "The parameter `response_format.type` specified in the request are not valid:"
            " `json_schema` is not supported by this model"
        ),
    ),
    "Groq, Vane 980": (400, "This model does not support response format `json_schema`."),
    "Groq, typewhisper 26": (400, "The model only supports response formats: [json text]."),
    "llama.cpp, opencodex 2135": (400, "Failed to initialize samplers: failed to parse grammar"),
}
NO_OBJECT = {
    "LM Studio, bug-tracker 307": (400, "'response_format.type' must be 'json_schema' or 'text'"),
    "Qwen, honcho 663": (
        400,
        (
            "<400> InternalError.Algo.InvalidParameter: 'messages' must contain the word 'json' in"
            " some form, to use 'response_format' of type 'json_object'."
        ),
    ),
}


def format_of(body: dict[str, Any]) -> str:
    return str(body.get("response_format", {}).get("type", "text"))


def refusing(**refusals: tuple[int, str]) -> Callable[[dict[str, Any]], Fault | None]:
    """Refuse requests for these formats."""

    def rule(body: dict[str, Any]) -> Fault | None:
        refusal = refusals.get(format_of(body))
        return refused(*refusal) if refusal else None

    return rule


def model(kind: type[RemoteModel], server: StandIn, **settings: Any) -> RemoteModel:
    return kind(
        "m", **{"base_url": server.url, "key": KEY, "retries": Retries(attempts=1), **settings}
    )


def ask(asked: RemoteModel, schema: Any = SCHEMA, messages: Any = ASK) -> str:
    return anyio.run(lambda: asked.reply(messages, reply_schema=schema)).text


def test_first_request_has_a_json_schema() -> None:
    with StandIn() as server:
        ask(model(OpenAIModel, server))
        ask(model(OpenAIModel, server), OTHER)
    strict, loose = (request.body["response_format"]["json_schema"] for request in server.requests)
    assert strict == {"name": "reply", "schema": SCHEMA, "strict": True}
    assert loose == {"name": "reply", "schema": OTHER, "strict": False}


@pytest.mark.parametrize("name", NO_SCHEMA)
def test_refused_schema_falls_back_to_json_object(name: str) -> None:
    with StandIn(rule=refusing(json_schema=NO_SCHEMA[name])) as server:
        assert ask(model(OpenAIModel, server)) == "Hello."
    assert [format_of(request.body) for request in server.requests] == [
        "json_schema",
        "json_object",
    ]


@pytest.mark.parametrize("name", NO_OBJECT)
def test_refused_json_object_falls_back_to_no_format(name: str) -> None:
    with StandIn(
        rule=refusing(json_schema=(400, "no json_schema"), json_object=NO_OBJECT[name])
    ) as server:
        assert ask(model(OpenAIModel, server)) == "Hello."
    assert [format_of(request.body) for request in server.requests] == [
        "json_schema",
        "json_object",
        "text",
    ]


def test_accepted_format_is_remembered_for_every_schema() -> None:
    with StandIn(rule=refusing(json_schema=NO_SCHEMA["DeepSeek, khoj 1336"])) as server:
        asked = model(OpenAIModel, server)
        for schema in (SCHEMA, SCHEMA, OTHER):
            ask(asked, schema)
    assert [format_of(request.body) for request in server.requests] == [
        "json_schema",
        *["json_object"] * 3,
    ]


OF_ONE_SCHEMA = {
    "llama.cpp": "Failed to initialize samplers: failed to parse grammar",
    "OpenAI": (
        "Invalid schema for response_format 'reply': In context=(), 'additionalProperties' is"
        " required"
    ),
    "vLLM": "The provided JSON schema contains features not supported by xgrammar.",
    "Gemini": "The specified schema produces a constraint that has too many states for serving.",
}


@pytest.mark.parametrize("name", OF_ONE_SCHEMA)
def test_refused_schema_is_remembered_for_that_schema_alone(name: str) -> None:
    def rule(body: dict[str, Any]) -> Fault | None:
        is_refused = body.get("response_format", {}).get("json_schema", {}).get("schema") == SCHEMA
        return refused(400, f"{OF_ONE_SCHEMA[name]} (response_format)") if is_refused else None

    with StandIn(rule=rule) as server:
        asked = model(OpenAIModel, server)
        for schema in (SCHEMA, OTHER, SCHEMA, OTHER):
            ask(asked, schema)
    formats = [format_of(request.body) for request in server.requests]
    assert formats == ["json_schema", "json_object", "json_schema", "json_object", "json_schema"]


def test_parallel_tool_calls_is_false_unless_refused() -> None:
    def rule(body: dict[str, Any]) -> Fault | None:
        unknown = "Unsupported parameter: 'parallel_tool_calls' is not supported with this model."
        return refused(400, unknown) if "parallel_tool_calls" in body else None

    tool = {"name": "look", "inputSchema": {"type": "object"}}
    for preset, sent in (("openai", [False, None, None]), ("qwen", [None, None])):
        with StandIn(rule=rule) as server:
            asked = model(OpenAIModel, server, preset=preset)
            for _ in range(2):
                anyio.run(partial(asked.reply, ASK, tools=[tool]))
            assert [request.body.get("parallel_tool_calls") for request in server.requests] == sent


def test_accepted_format_is_shared_by_models_of_one_address() -> None:
    no_schemas = refusing(json_schema=NO_SCHEMA["DeepSeek, khoj 1336"])
    with StandIn(rule=no_schemas) as server, StandIn(rule=no_schemas) as elsewhere:
        for name, where in (("m", server), ("m", server), ("other", server), ("m", elsewhere)):
            ask(OpenAIModel(name, base_url=where.url, key=KEY, retries=Retries(attempts=1)))
    assert [(request.body["model"], format_of(request.body)) for request in server.requests] == [
        ("m", "json_schema"),
        ("m", "json_object"),
        ("m", "json_object"),
        ("other", "json_schema"),
        ("other", "json_object"),
    ]
    assert [format_of(request.body) for request in elsewhere.requests] == [
        "json_schema",
        "json_object",
    ]


def test_other_failures_are_not_remembered() -> None:
    with StandIn(
        rule=lambda body: refused(400, "The response_format and everything else is bad")
    ) as server:
        asked = model(OpenAIModel, server)
        for _ in range(2):
            with pytest.raises(EndpointRefused):
                ask(asked)
    assert [format_of(request.body) for request in server.requests] == [
        "json_schema",
        "json_object",
        "text",
    ] * 2


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8192 tokens",
        "Invalid schema for function 'add': in context=(), 'type' is missing",
        "Invalid value for 'temperature'",
        "",
    ],
)
def test_refusal_for_another_reason_is_raised(message: str) -> None:
    with StandIn(rule=lambda body: refused(400, message)) as server, pytest.raises(EndpointRefused):
        ask(model(OpenAIModel, server))
    assert len(server.requests) == 1


def test_an_object_is_not_asked_for_unless_the_messages_speak_of_json() -> None:
    with StandIn(rule=refusing(json_schema=(400, "json_schema is not supported"))) as server:
        ask(model(OpenAIModel, server), messages=[{"role": "user", "content": "Hello?"}])
    assert [format_of(request.body) for request in server.requests] == ["json_schema", "text"]


@pytest.mark.parametrize(
    ("preset", "formats"),
    [
        ("deepseek", ["json_object", "text"]),
        ("lmstudio", ["json_schema", "text"]),
        ("zhipu", ["json_object", "text"]),
    ],
)
def test_presets_start_with_the_known_format(preset: str, formats: list[str]) -> None:
    refusals = dict.fromkeys(
        ("json_schema", "json_object"), (400, "response_format is not supported")
    )
    with StandIn(rule=refusing(**refusals)) as server:
        ask(model(OpenAIModel, server, preset=preset))
    assert [format_of(request.body) for request in server.requests] == formats


def test_anthropic_request_has_a_schema_or_no_format() -> None:
    def rule(body: dict[str, Any]) -> Fault | None:
        return (
            refused(400, "output_config: Extra inputs are not permitted")
            if "output_config" in body
            else None
        )

    with StandIn(rule=rule) as server:
        asked = model(AnthropicModel, server)
        ask(asked)
        ask(asked)
    wanted = {"format": {"type": "json_schema", "schema": SCHEMA}}
    assert [request.body.get("output_config") for request in server.requests] == [
        wanted,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("preset", "message", "names"),
    [
        (
            "vllm",
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use"
                " 'max_completion_tokens'."
            ),
            ["max_tokens", "max_completion_tokens", "max_completion_tokens"],
        ),
        (
            "openai",
            "body.max_completion_tokens: Extra inputs are not permitted",
            ["max_completion_tokens", "max_tokens", "max_tokens"],
        ),
    ],
)
def test_token_limit_uses_the_accepted_name(preset: str, message: str, names: list[str]) -> None:
    with StandIn(rule=lambda body: refused(400, message) if names[0] in body else None) as server:
        asked = model(OpenAIModel, server, preset=preset, max_tokens=50)
        ask(asked, None)
        ask(asked, None)
    assert [
        next(name for name in request.body if "tokens" in name) for request in server.requests
    ] == names


def test_too_high_token_limit_keeps_its_name() -> None:
    message = "max_tokens is too large: 99999. This model supports at most 4096 completion tokens"
    with StandIn(rule=lambda body: refused(400, message)) as server, pytest.raises(EndpointRefused):
        ask(model(OpenAIModel, server, preset="vllm", max_tokens=99999), None)
    assert len(server.requests) == 1


def test_refused_stream_options_are_left_out() -> None:
    def rule(body: dict[str, Any]) -> Fault | None:
        return (
            refused(422, "stream_options: Extra inputs are not permitted")
            if "stream_options" in body
            else None
        )

    with StandIn(rule=rule) as server:
        asked = model(OpenAIModel, server)
        ask(asked, None)
        ask(asked, None)
    assert ["stream_options" in request.body for request in server.requests] == [True, False, False]
