"""Whatever goes wrong between a model and us: what is asked again, and what it is called if that
does not help.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from support import model_endpoint as stand_in
from support.model_endpoint import Fault, StandIn, refused
from toolwire_agent.models import (
    AnthropicModel,
    EndpointRefused,
    ModelError,
    NotReady,
    OpenAIModel,
    ReplyTimedOut,
    Retries,
    TimeLimits,
    Unreachable,
    UnreadableReply,
)
from toolwire_agent.models.http_api.remote_model import RemoteModel
from toolwire_agent.react.messages import ModelReply

LOOPS = ("asyncio", "trio")
WIRES = (OpenAIModel, AnthropicModel)
KEY = "sk-0123456789"
ASK = [{"role": "user", "content": "Hello?"}]
TEXT = "Grüße, 世界! 👋 Fünf Wörter."


class Waits:
    """Stands in for the clock: notes how long would have been waited."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def sleep(self, seconds: float) -> None:
        await anyio.lowlevel.checkpoint()
        self.seconds.append(seconds)

    def retries(self, **settings: Any) -> Retries:
        return Retries(sleep=self.sleep, random=lambda: 1.0, **settings)


def model(
    kind: type[RemoteModel], server: StandIn, waits: Waits | None = None, **settings: Any
) -> RemoteModel:
    return kind(
        "m",
        **{"base_url": server.url, "key": KEY, "retries": (waits or Waits()).retries(), **settings},
    )


def run(main: Callable[[], Awaitable[Any]], loop: str = "asyncio") -> Any:
    async def bounded() -> Any:
        with anyio.fail_after(60):
            return await main()

    return anyio.run(bounded, backend=loop)


def ask(asked: RemoteModel, loop: str = "asyncio", **wishes: Any) -> ModelReply:
    return run(lambda: asked.reply(ASK, **wishes), loop)  # type: ignore[no-any-return]


HARMLESS: dict[str, Fault] = {
    "byte by byte": stand_in.in_pieces(1),
    "in pieces that cut letters": stand_in.in_pieces(7),
    "CRLF": stand_in.with_line_ends(b"\r\n"),
    "comments and unknown fields": stand_in.with_comments,
    "no blank line at the end": stand_in.without_last_blank_line,
    "no [DONE], no message_stop": stand_in.without_done,
    "one piece though a stream was asked for": stand_in.in_one_piece,
}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("name", HARMLESS)
@pytest.mark.parametrize("kind", WIRES)
def test_a_stream_may_come_in_any_shape(kind: type[RemoteModel], name: str, loop: str) -> None:
    with StandIn(TEXT).then(HARMLESS[name]) as server:
        reply = ask(model(kind, server), loop)
    assert (reply.text, reply.finish_reason, len(server.requests)) == (TEXT, "stop", 1)


PASSING: dict[str, Fault] = {
    "408": refused(408),
    "409": refused(409),
    "429": refused(429),
    "500": refused(500),
    "502 with a page": refused(502, body=b"<html>Bad Gateway</html>", content_type="text/html"),
    "503": refused(503),
    "529, Anthropic's": refused(529),
    "reset at once": stand_in.reset,
    "reset midway": stand_in.reset_midway,
    "end midway": stand_in.ends_midway,
    "error midway": stand_in.error_midway({"type": "overloaded_error", "message": "Overloaded"}),
    "error midway with a status": stand_in.error_midway(
        {"code": 502, "message": "Provider disconnected"}
    ),
    "truncated JSON": stand_in.truncated_json,
}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("name", PASSING)
@pytest.mark.parametrize("kind", WIRES)
def test_passing_errors_are_retried(kind: type[RemoteModel], name: str, loop: str) -> None:
    waits = Waits()
    with StandIn(TEXT).then(PASSING[name], PASSING[name]) as server:
        assert ask(model(kind, server, waits), loop).text == TEXT
    assert waits.seconds == [0.5, 1.0]
    assert [request.body for request in server.requests] == [server.requests[0].body] * 3


@pytest.mark.parametrize("kind", WIRES)
def test_retries_are_limited(kind: type[RemoteModel]) -> None:
    waits = Waits()
    with (
        StandIn(rule=lambda body: refused(500, "broken")) as server,
        pytest.raises(EndpointRefused) as caught,
    ):
        ask(model(kind, server, waits, retries=waits.retries(attempts=4)))
    assert (len(server.requests), waits.seconds) == (4, [0.5, 1.0, 2.0])
    assert (caught.value.status, caught.value.message, caught.value.attempts) == (500, "broken", 4)
    assert str(caught.value).endswith("(500): broken (asked 4 times)")


FINAL: dict[str, Fault] = {
    "400": refused(400),
    "401": refused(401),
    "402": refused(402),
    "403": refused(403),
    "404": refused(404),
    "413": refused(413),
    "422": refused(422),
    "501": refused(501),
    "no money": refused(
        429, body={"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
    ),
    "an error midway that is ours": stand_in.error_midway(
        {"type": "invalid_request_error", "message": "no"}
    ),
}


@pytest.mark.parametrize("name", FINAL)
@pytest.mark.parametrize("kind", WIRES)
def test_permanent_errors_are_not_retried(kind: type[RemoteModel], name: str) -> None:
    with StandIn().then(FINAL[name]) as server, pytest.raises(EndpointRefused) as caught:
        ask(model(kind, server))
    assert (len(server.requests), caught.value.attempts) == (1, 1)


def test_retry_after_is_obeyed() -> None:
    waits = Waits()
    with StandIn(TEXT).then(refused(429, **{"retry-after": "7"})) as server:
        ask(model(OpenAIModel, server, waits))
    assert waits.seconds == [7.5]  # and a bit, so that not everybody comes back at once


def test_long_retry_after_ends_the_request() -> None:
    hour = refused(429, "Rate limit", **{"retry-after": "3600"})
    with StandIn().then(hour) as server, pytest.raises(EndpointRefused) as caught:
        ask(model(OpenAIModel, server))
    assert (len(server.requests), caught.value.asked_wait_seconds) == (1, 3600)


def test_the_whole_time_is_limited_too() -> None:
    waits = Waits()
    limits = TimeLimits(total=9)
    with (
        StandIn(rule=lambda body: refused(503, **{"retry-after": "10"})) as server,
        pytest.raises(EndpointRefused),
    ):
        ask(model(OpenAIModel, server, waits, time_limits=limits))
    assert (len(server.requests), waits.seconds) == (1, [])


@pytest.mark.parametrize("kind", WIRES)
def test_partly_shown_reply_is_not_retried(kind: type[RemoteModel]) -> None:
    heard: list[str] = []
    with StandIn(TEXT * 20).then(stand_in.reset_midway) as server, pytest.raises(Unreachable):
        ask(model(kind, server), on_text=heard.append)
    assert (len(server.requests), bool(heard)) == (1, True)


class Screen:
    """An `on_text` that forgets what it has received, if *shows_nothing*."""

    def __init__(self, *, shows_nothing: bool) -> None:
        self.shows_nothing = shows_nothing
        self.pieces: list[str] = []

    def __call__(self, text: str) -> None:
        self.pieces.append(text)

    def restart(self) -> bool:
        if self.shows_nothing:
            self.pieces.clear()
        return self.shows_nothing


EARLY_ENDS = [stand_in.reset_midway, stand_in.ends_midway]


@pytest.mark.parametrize("fault", EARLY_ENDS)
@pytest.mark.parametrize("kind", WIRES)
def test_a_reply_of_which_nothing_was_shown_is_requested_again(
    kind: type[RemoteModel], fault: Fault
) -> None:
    screen = Screen(shows_nothing=True)
    with StandIn(TEXT * 20).then(fault, fault) as server:
        assert ask(model(kind, server), on_text=screen).text == TEXT * 20
    assert (len(server.requests), "".join(screen.pieces)) == (3, TEXT * 20)


@pytest.mark.parametrize("fault", EARLY_ENDS)
@pytest.mark.parametrize("kind", WIRES)
def test_a_reply_of_which_a_part_was_shown_is_not_requested_again(
    kind: type[RemoteModel], fault: Fault
) -> None:
    screen = Screen(shows_nothing=False)
    with StandIn(TEXT * 20).then(fault) as server, pytest.raises(ModelError):
        ask(model(kind, server), on_text=screen)
    assert (len(server.requests), bool(screen.pieces)) == (1, True)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("fault", [stand_in.silent, stand_in.silent_midway])
@pytest.mark.parametrize("kind", WIRES)
def test_silent_server_raises_reply_timed_out(
    kind: type[RemoteModel], fault: Fault, loop: str
) -> None:
    waits = Waits()
    limits = TimeLimits(silence=0.05)
    with StandIn(TEXT).then(fault) as server:
        with pytest.raises(ReplyTimedOut, match=r"sent nothing for 0\.05 seconds"):
            ask(
                model(kind, server, waits, time_limits=limits, retries=waits.retries(attempts=1)),
                loop,
            )
        assert ask(model(kind, server, waits), loop).text == TEXT


@pytest.mark.parametrize("loop", LOOPS)
def test_a_reply_that_comes_too_slowly_is_given_up_as_a_whole(loop: str) -> None:
    with (
        StandIn(TEXT, rule=lambda body: stand_in.silent_midway) as server,
        pytest.raises(TimeoutError, match=r"0\.1 seconds"),
    ):
        ask(model(OpenAIModel, server, time_limits=TimeLimits(total=0.1)), loop)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("fault", [stand_in.endless, stand_in.endless_line])
def test_a_reply_without_end_is_cut_off(
    fault: Fault, loop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwire_agent.models.http_api.endpoint._MAX_REPLY_BYTES", 2**20)
    with StandIn("word " * 100).then(fault) as server, pytest.raises(UnreadableReply):
        ask(model(OpenAIModel, server), loop)
    assert len(server.requests) == 1


def test_a_reply_in_one_piece_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolwire_agent.models.http_api.endpoint._MAX_REPLY_BYTES", 2**20)
    with (
        StandIn().then(stand_in.endless) as server,
        pytest.raises(UnreadableReply, match="more than 1 MiB"),
    ):
        ask(model(OpenAIModel, server, stream=False))


@pytest.mark.parametrize(
    "fault",
    [
        stand_in.of_type("text/html", b"<html>Please log in</html>"),
        stand_in.of_type("application/json", b'{"object": "list", "data": []}'),
        stand_in.of_type("application/json", b"[]"),
        stand_in.of_type("text/event-stream", b"data: 42\n\n"),
        stand_in.of_type("text/event-stream", b'data: {"choices": 7}\n\n'),
        stand_in.of_type("text/event-stream", b'data: {"choices": ["x"]}\n\n'),
    ],
)
@pytest.mark.parametrize("kind", WIRES)
def test_other_responses_raise_unreadable_reply(kind: type[RemoteModel], fault: Fault) -> None:
    with StandIn(rule=lambda body: fault) as server, pytest.raises(UnreadableReply):
        ask(model(kind, server))


@pytest.mark.parametrize(
    "payload", [b"data: {\n\n", b"data: \xff\xfe\n\n", b'data: {"a": NaN}\n\n', b""]
)
@pytest.mark.parametrize("kind", WIRES)
def test_damaged_stream_is_retried(kind: type[RemoteModel], payload: bytes) -> None:
    with StandIn(TEXT).then(
        stand_in.of_type("text/event-stream; charset=latin-1", payload)
    ) as server:
        assert ask(model(kind, server)).text == TEXT


@pytest.mark.parametrize("content_type", ["text/plain", "text/plain; charset=utf-8", ""])
def test_stream_with_another_content_type_is_read(content_type: str) -> None:
    def unnamed(exchange: stand_in.Exchange) -> None:
        exchange.send(exchange.payload(), content_type=content_type)

    with StandIn(TEXT).then(unnamed) as server:
        assert ask(model(OpenAIModel, server)).text == TEXT


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("content_type", ["text/event-stream", "text/plain", ""])
@pytest.mark.parametrize("kind", WIRES)
def test_whole_reply_with_another_content_type_is_read(
    kind: type[RemoteModel], content_type: str, loop: str
) -> None:
    def misnamed(exchange: stand_in.Exchange) -> None:
        exchange.streams = False
        exchange.send(exchange.payload(), content_type=content_type)

    heard: list[str] = []
    with StandIn(TEXT).then(misnamed) as server:
        assert ask(model(kind, server), loop, on_text=heard.append).text == TEXT
    assert (len(server.requests), heard) == (1, [TEXT])


def test_whole_error_with_another_content_type_is_raised() -> None:
    error = stand_in.of_type(
        "text/event-stream", b'\n{"error": {"message": "no such model", "code": 404}}'
    )
    with StandIn().then(error) as server, pytest.raises(EndpointRefused, match="no such model"):
        ask(model(OpenAIModel, server))
    assert len(server.requests) == 1


@pytest.mark.parametrize("header", ["two\r\nlines", "secret é", 5])
def test_headers_that_cannot_be_sent_are_not_tried_again(header: Any) -> None:
    waits = Waits()
    with StandIn() as server, pytest.raises(NotReady, match="x-note") as caught:
        ask(model(OpenAIModel, server, waits, headers={"x-note": header}))
    assert waits.seconds == []
    assert "secret" not in str(caught.value)


def test_request_without_a_json_form_is_refused() -> None:
    with StandIn() as server, pytest.raises(NotReady, match="nan"):
        ask(model(OpenAIModel, server, extra_body={"top_p": float("nan")}))
    assert server.requests == []


def test_a_refused_connection_is_reported() -> None:
    with StandIn() as server:
        gone = server.url
    waits = Waits()
    asked = OpenAIModel("m", base_url=gone, key=KEY, retries=waits.retries(attempts=2))
    with pytest.raises(Unreachable, match=r"cannot be reached \(is it running\?\)"):
        ask(asked)
    assert len(waits.seconds) == 1


def test_a_redirection_is_reported_and_not_followed() -> None:
    with StandIn() as other, StandIn() as server:
        server.then(refused(308, body=b"", location=f"{other.url}/elsewhere"))
        with pytest.raises(EndpointRefused, match=re.escape(f"it moved to {other.url}/elsewhere")):
            ask(model(OpenAIModel, server))
        assert (len(server.requests), other.requests) == (1, [])


def test_a_proxy_that_cannot_be_used_is_named_as_the_reason() -> None:
    with StandIn() as server, pytest.raises(NotReady, match="proxy"):
        ask(model(OpenAIModel, server, proxy="gopher://host"))


DETAIL = '[{"loc":["body","x"],"msg":"m"},{"loc":[],"msg":"n"}]'
BODIES: list[tuple[Any, str, str]] = [
    ({"error": {"message": "m", "type": "t", "code": "c"}}, "m", "c"),
    ({"error": {"message": "m", "type": "t", "code": None}}, "m", "t"),
    ({"error": {"code": "c"}}, '{"code":"c"}', "c"),
    ({"error": "m"}, "m", ""),
    ({"type": "error", "error": {"type": "t", "message": "m"}, "request_id": "r"}, "m", "t"),
    ([{"error": {"code": 400, "message": "m", "status": "INVALID_ARGUMENT"}}], "m", ""),
    ({"object": "error", "message": "m", "type": "t", "code": "3280"}, "m", "3280"),
    ({"detail": [{"loc": ["body", "x"], "msg": "m"}, {"loc": [], "msg": "n"}]}, DETAIL, ""),
    (
        {
            "object": "error",
            "message": {"detail": [{"loc": ["body", "x"], "msg": "m"}]},
            "type": "t",
        },
        '[{"loc":["body","x"],"msg":"m"}]',
        "t",
    ),
    (
        {"object": "Error", "message": [{"loc": ["body"], "msg": "m"}], "code": 3001},
        '[{"loc":["body"],"msg":"m"}]',
        "",
    ),
    ({"detail": "Not Found"}, "Not Found", ""),
    ({"error": None, "message": "m"}, "m", ""),
    (b"<html>\n<p>m</p>", "<html> <p>m</p>", ""),
    (b"", "", ""),
    (b"\xff\xff", "\ufffd\ufffd", ""),
    (b"null", "", ""),
]


@pytest.mark.parametrize(("body", "message", "code"), BODIES)
def test_message_is_found_in_every_form_of_error(body: Any, message: str, code: str) -> None:
    with (
        StandIn().then(refused(400, body=body)) as server,
        pytest.raises(EndpointRefused) as caught,
    ):
        ask(model(OpenAIModel, server))
    error = caught.value
    assert (error.status, error.message, error.code) == (400, message, code)


@pytest.mark.parametrize(
    ("status", "advice"), [(401, "the key is from the argument `key`"), (404, "base_url")]
)
def test_error_text_has_advice(status: int, advice: str) -> None:
    with (
        StandIn().then(refused(status, "no")) as server,
        pytest.raises(EndpointRefused, match=re.escape(advice)),
    ):
        ask(model(OpenAIModel, server))


def test_every_error_is_a_model_error() -> None:
    for kind in (EndpointRefused, ReplyTimedOut, Unreachable, UnreadableReply, NotReady):
        assert issubclass(kind, ModelError)
