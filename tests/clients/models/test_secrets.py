"""A key is sent to the endpoint, and shown to nobody else."""

from __future__ import annotations

import logging
import string
import traceback
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import model_endpoint as stand_in
from support.model_endpoint import Fault, StandIn, refused
from toolwire_agent.models import (
    AnthropicModel,
    ModelError,
    NotReady,
    OpenAIModel,
    Retries,
    TimeLimits,
)
from toolwire_agent.models.http_api.remote_model import RemoteModel
from toolwire_agent.models.http_api.vendors import Key, find_key

WIRES = (OpenAIModel, AnthropicModel)
ASK = [{"role": "user", "content": "Hello?"}]
KEYS = st.text(string.ascii_letters + string.digits + "-_.+/=", min_size=8, max_size=60).map(
    lambda key: f"sk{key}"
)


def echoing(kind: str, key: str) -> Fault:
    """A server that says the key again, in every place that we might pass on."""
    return {
        "error": refused(401, f"Incorrect API key provided: {key}"),
        "long error": refused(400, "x" * 990 + key),
        "page": refused(403, body=f"<p>{key}</p>".encode(), content_type="text/html"),
        "midway": stand_in.error_midway({"type": "invalid_request_error", "message": f"bad {key}"}),
        "no JSON": stand_in.of_type("application/json", f'"{key}'.encode()),
        "no reply": stand_in.of_type("application/json", f'"{key}"'.encode()),
        "reset": stand_in.reset,
        "silence": stand_in.silent,
    }[kind]


FAULTS = ("error", "long error", "page", "midway", "no JSON", "no reply", "reset", "silence")


def everything_about(error: BaseException) -> str:
    """All that a log, a debugger or a report of a crash could show of an error."""
    seen: list[str] = []
    waiting: list[Any] = [error]
    known: set[int] = set()
    while waiting:
        each = waiting.pop()
        if id(each) not in known:
            known.add(id(each))
            seen += [repr(each), str(each), repr(vars(each))]
            waiting += [other for other in (each.__cause__, each.__context__) if other is not None]
    return "\n".join([*seen, *traceback.format_exception(error)])


async def now(seconds: float) -> None:
    await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize("kind", WIRES)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=KEYS, fault=st.sampled_from(FAULTS))
def test_key_is_in_no_error_log_or_repr(
    kind: type[RemoteModel], caplog: pytest.LogCaptureFixture, key: str, fault: str
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.clear()
    with StandIn(rule=lambda body: echoing(fault, key)) as server:
        asked = kind(
            "m",
            base_url=server.url,
            key=key,
            retries=Retries(attempts=2, sleep=now),
            time_limits=TimeLimits(silence=0.2),
        )
        with pytest.raises(ModelError) as caught:
            anyio.run(asked.reply, ASK)
    sent = server.requests[0].headers
    assert key in (sent.get("authorization", "") + sent.get("x-api-key", ""))
    assert key not in everything_about(caught.value)
    assert key not in caplog.text
    assert key not in repr(asked)


def test_a_key_that_comes_back_in_headers_is_not_in_the_error() -> None:
    """The HTTP library's own log of level DEBUG shows what servers answer; that is out of our
    hands.
    """
    key = "sk-0123456789"
    answer = refused(
        302,
        body={"error": {"code": key}},
        location=f"https://elsewhere/?key={key}",
        x_request_id=key,
    )
    with StandIn().then(answer) as server, pytest.raises(ModelError) as caught:
        anyio.run(OpenAIModel("m", base_url=server.url, key=key).reply, ASK)
    assert key not in everything_about(caught.value)


def test_no_error_holds_an_exception_of_the_http_library() -> None:
    """Their exceptions hold the request, and that holds the key."""
    asked = OpenAIModel(
        "m", base_url="http://127.0.0.1:9/v1", key="sk-0123456789", retries=Retries(attempts=1)
    )
    with pytest.raises(ModelError) as caught:
        anyio.run(asked.reply, ASK)
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


def test_a_key_is_from_the_argument_else_from_the_first_variable_that_has_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ("FIRST", "SECOND", "THIRD")
    for name, value in zip(names, (" ", "sk-second", "sk-third"), strict=True):
        monkeypatch.setenv(name, value)

    def known(given: str | None) -> tuple[str, str]:
        key = find_key(given, names, needed=True)
        assert key is not None
        return key.reveal(), key.origin

    assert known("sk-given") == ("sk-given", "the argument `key`")
    assert known(None) == ("sk-second", "the variable SECOND")


def test_a_key_that_is_missing_is_asked_for_by_the_name_of_its_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ARK_API_KEY", raising=False)
    with pytest.raises(NotReady, match="ARK_API_KEY"):
        OpenAIModel("doubao-seed", "doubao")
    assert (
        repr(OpenAIModel("llama3.2", "ollama"))
        == "<OpenAIModel 'llama3.2' at http://localhost:11434/v1/chat/completions>"
    )


@pytest.mark.parametrize("key", ["", "  ", "sk-\nX-Other: 1", "ключ", "sk-\x00"])
def test_key_that_no_header_can_hold_is_refused(key: str) -> None:
    with pytest.raises(NotReady) as caught:
        Key(key)
    assert key.strip() == "" or key not in str(caught.value)


def test_spaces_and_line_ends_around_a_key_are_not_part_of_it() -> None:
    assert Key(" sk-0123456789\n").reveal() == "sk-0123456789"


def test_a_placeholder_is_not_hidden() -> None:
    assert Key("x").hide_in("an example") == "an example"
    assert Key("sk-0123456789").hide_in("of sk-0123456789!") == "of [key]!"


def test_custom_endpoint_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with StandIn() as server:
        anyio.run(OpenAIModel("m", base_url=server.url).reply, ASK)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        anyio.run(OpenAIModel("m").reply, ASK)
    assert ["authorization" in request.headers for request in server.requests] == [False, False]
