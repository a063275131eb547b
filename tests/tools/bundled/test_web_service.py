"""Services on the web, as a loopback server plays them."""

from __future__ import annotations

import gzip
import itertools
import logging
import threading
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recording_caller import RecordingCaller
from support.server_process import wait_until
from tools.bundled.stand_ins.server import (
    Answer,
    Exchange,
    StandIn,
    dripping,
    endless,
    error,
    json_answer,
    redirect,
    reset,
    reset_midway,
    silent,
    text_answer,
    throttled,
)
from tools.bundled.stand_ins.time import Hours
from toolwire_bundled.web import error_responses as refusals
from toolwire_bundled.web import http as exchange
from toolwire_bundled.web.call import Call, Watch
from toolwire_bundled.web.errors import Refused, Unreachable, Unusable, WebError
from toolwire_bundled.web.http import Limits
from toolwire_bundled.web.rate_limit import Pace
from toolwire_bundled.web.service import Service
from toolwire_schemas.retries import Retries, read_retry_after
from toolwire_tools import Cancelled, Context, ToolError

KEY = "s3cret/key+of=mine"


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn() as server:
        yield server.on("GET", "/x", json_answer({"found": 1})).on(
            "POST", "/x", json_answer({"found": 2})
        )


@pytest.fixture
def hours() -> Hours:
    return Hours()


def ask(
    server: StandIn,
    hours: Hours,
    *,
    context: Context | None = None,
    seconds: float = 60,
    **options: Any,
) -> Any:
    """What a service called Stand-in says at /x."""
    service = Service("Stand-in", server.url, **options)
    return service.get(
        "x", call=Call(context, seconds=seconds, watch=hours.watch), secret_params={"key": KEY}
    ).decode_json()


def test_what_is_asked_arrives_as_it_was_meant(server: StandIn, hours: Hours) -> None:
    service = Service(
        "Stand-in", f"{server.url}/", headers={"x-own": "1"}, params={"format": "json"}
    )
    call = Call(watch=hours.watch)
    params = {"q": "Tee & Kuchen für 2+2", "left_out": None, "yes": True, "n": 3}
    assert service.get(
        "/x", params=params, secret_headers={"x-api-key": KEY}, call=call
    ).decode_json() == {"found": 1}
    assert service.post("x", json={"q": "茶"}, call=call).decode_json() == {"found": 2}
    assert service.post("x", data={"data": "a=b&c"}, call=call).decode_json() == {"found": 2}

    first, second, third = server.requests
    assert first.query == {"format": "json", "q": "Tee & Kuchen für 2+2", "yes": "true", "n": "3"}
    assert (first.headers["x-own"], first.headers["x-api-key"]) == ("1", KEY)
    assert first.headers["user-agent"].startswith("toolwire/")
    assert (second.json, second.headers["content-type"]) == ({"q": "茶"}, "application/json")
    assert third.form == {"data": "a=b&c"}


@pytest.mark.parametrize(
    "fault", [error(503), error(408), error(425), throttled("soon"), reset, reset_midway]
)
def test_what_may_pass_is_asked_again(server: StandIn, hours: Hours, fault: Answer) -> None:
    server.then(fault, fault)
    assert ask(server, hours) == {"found": 1}
    assert len(server.requests) == 3
    assert hours.slept == pytest.approx(0.5 * 0.5 + 0.5 * 1.0)


def test_what_does_not_pass_is_asked_three_times(server: StandIn, hours: Hours) -> None:
    server.on(
        "GET",
        "/x",
        error(502, "<html><head><title>no</title></head><body><h1>Bad</h1>\ngateway</body></html>"),
    )
    with pytest.raises(Refused) as raised:
        ask(server, hours)
    assert str(raised.value) == f"Stand-in ({server.host}) answered 502: Bad gateway"
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 501])
def test_what_is_our_own_fault_is_asked_once(server: StandIn, hours: Hours, status: int) -> None:
    server.then(error(status, {"error": {"message": "no such thing"}}))
    with pytest.raises(Refused, match="no such thing") as raised:
        ask(server, hours)
    assert (raised.value.status, len(server.requests)) == (status, 1)


@pytest.mark.parametrize("after", [7, "Thu, 01 Jan 2026 00:00:07 GMT"])
def test_a_service_that_says_when_to_come_back_is_obeyed(
    server: StandIn, hours: Hours, after: object
) -> None:
    server.then(throttled(after))
    assert ask(server, hours) == {"found": 1}
    assert 7 <= hours.slept < 8


def test_a_service_that_wants_too_long_a_wait_is_reported_and_left_alone(
    server: StandIn, hours: Hours
) -> None:
    server.then(throttled(3000, "quota used up"))
    with pytest.raises(Refused, match=r"429: quota used up \(it asks to wait 3000 seconds\)"):
        ask(server, hours)
    with pytest.raises(Unreachable, match=r"is not to be asked for another 60\.0 seconds"):
        ask(server, hours, seconds=20)  # anybody else, for a while
    assert (len(server.requests), hours.slept) == (1, 0)


def test_a_wait_that_the_call_has_no_time_for_is_not_begun(server: StandIn, hours: Hours) -> None:
    server.then(throttled(10))
    with pytest.raises(Refused, match="asks to wait 10 seconds"):
        ask(server, hours, seconds=9)
    assert hours.slept == 0


def test_a_refused_connection_is_an_error(hours: Hours) -> None:
    with StandIn() as gone:
        pass
    with pytest.raises(Unreachable, match=rf"Stand-in \({gone.host}\) cannot be reached"):
        ask(gone, hours)


def test_a_service_that_says_nothing_is_given_up_on(server: StandIn, hours: Hours) -> None:
    server.on("GET", "/x", silent)
    with pytest.raises(Unreachable, match=r"said nothing for 0\.05 seconds"):
        ask(server, hours, limits=Limits(silence_seconds=0.05))
    wait_until(lambda: len(server.requests) == 3)


@pytest.mark.parametrize("fault", [silent, dripping])
def test_a_call_has_an_end_whatever_the_service_does(server: StandIn, fault: Answer) -> None:
    server.on("GET", "/x", fault)
    elapsed = itertools.count().__next__  # a second goes by whenever somebody looks
    call = Call(seconds=8, watch=Watch(elapsed=elapsed))
    with pytest.raises(Unreachable, match="took too long: there are 8 seconds for the whole call"):
        Service("Stand-in", server.url).get("x", call=call)


@pytest.mark.parametrize("fault", [silent, dripping, throttled(20)])
def test_a_cancelled_call_ends_whatever_the_service_does(server: StandIn, fault: Answer) -> None:
    class Caller(RecordingCaller):
        arrived = False

        @property
        def cancelled(self) -> bool:
            self.arrived = self.arrived or server.arrived.acquire(blocking=False)
            return self.arrived

    server.on("GET", "/x", fault)
    with pytest.raises(Cancelled):
        Service("Stand-in", server.url).get("x", call=Call(Context(Caller())))
    assert len(server.requests) == 1


@pytest.mark.parametrize("beginning", [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_a_connection_is_ended_with_its_call(server: StandIn, beginning: bytes) -> None:
    gone = threading.Event()

    def drip(exchange: Exchange) -> None:
        try:
            exchange.write(beginning)
            while not server.released.wait(0.01):
                exchange.write(b"x-more: tea\r\n")
        except OSError:
            gone.set()

    server.on("GET", "/x", drip)
    elapsed = itertools.count().__next__
    with pytest.raises(Unreachable, match="took too long"):
        Service("Stand-in", server.url).get("x", call=Call(seconds=9, watch=Watch(elapsed=elapsed)))
    assert gone.wait(60)  # else it would last as long as the server likes


def test_the_caller_is_notified_of_what_is_being_done(server: StandIn, hours: Hours) -> None:
    caller = RecordingCaller()
    server.then(throttled(7, "slow down"))
    ask(server, hours, context=Context(caller))
    numbers, texts = [told[0] for told in caller.told], [told[2] or "" for told in caller.told]
    assert numbers == sorted(set(numbers))
    assert texts[0] == f"asking Stand-in ({server.host})"
    assert "slow down (it asks to wait 7 seconds); the request is repeated then" in texts[1]


@pytest.mark.parametrize("size", [100_000, 50_000_000])
def test_an_answer_is_no_longer_than_agreed_also_when_decompressed(
    server: StandIn, hours: Hours, size: int
) -> None:
    bomb = gzip.compress(b" " * size)
    server.on("GET", "/x", text_answer(bomb, "application/json", **{"content-encoding": "gzip"}))
    with pytest.raises(Unusable, match="sent more than 50,000 bytes"):
        ask(server, hours, limits=Limits(max_bytes=50_000))


def test_an_endless_answer_is_cut_off(server: StandIn, hours: Hours) -> None:
    server.on("GET", "/x", endless)
    with pytest.raises(Unusable, match="sent more than 8 MiB"):
        ask(server, hours)


@pytest.mark.parametrize(
    "body", [b"", b"<html>Welcome to the airport</html>", b"\xff\xfe", b"[" * 100_000]
)
def test_a_response_that_is_no_json_is_an_error(server: StandIn, hours: Hours, body: bytes) -> None:
    server.on("GET", "/x", text_answer(body))
    with pytest.raises(Unusable, match="answered with text/html that is no JSON"):
        ask(server, hours)


def test_what_says_to_be_compressed_and_is_not_is_reported(server: StandIn, hours: Hours) -> None:
    server.on("GET", "/x", text_answer("plain", **{"content-encoding": "gzip"}))
    with pytest.raises(Unusable, match="sent what cannot be decompressed"):
        ask(server, hours)


def test_a_redirect_is_followed_within_the_host_alone(server: StandIn, hours: Hours) -> None:
    server.then(redirect("/x?again=1", 308))
    assert ask(server, hours) == {"found": 1}
    with StandIn() as other:
        other.on("GET", "*", json_answer({}))
        server.then(redirect(f"{other.url}/x"))
        with pytest.raises(Refused, match=f"it moved to {other.url}: set its base URL"):
            ask(server, hours)
        assert other.requests == []  # which might be told the key
    server.then(redirect("http://[::1"))
    with pytest.raises(Refused, match="it moved to what is no address"):
        ask(server, hours)
    server.on("GET", "/x", redirect("/x"))
    with pytest.raises(Refused, match="answered 302"):
        ask(server, hours)


@pytest.mark.parametrize("place", ["body", "location"])
def test_no_error_shows_a_secret(server: StandIn, hours: Hours, place: str) -> None:
    from urllib.parse import quote, quote_plus

    told = f"{KEY} {quote(KEY, safe='')} {quote_plus(KEY)}"
    fault = (
        error(403, {"message": told})
        if place == "body"
        else redirect(f"https://elsewhere.example/{quote(KEY)}")
    )
    server.then(fault)
    with pytest.raises(Refused) as raised:
        ask(server, hours)
    shown = f"{raised.value}{raised.value!r}{raised.value.__dict__}"
    assert "s3cret" not in shown
    assert raised.value.__context__ is None
    assert "s3cret" not in repr(
        Service("Stand-in", f"http://user:{quote(KEY)}@host", headers={"x": KEY})
    )


@pytest.mark.parametrize("key", ["two\nlines of key", "key with …", "\x00"])
def test_an_invalid_key_is_reported_without_its_value(
    server: StandIn, hours: Hours, key: str
) -> None:
    service = Service("Stand-in", server.url)
    with pytest.raises(
        ToolError, match="the key for Stand-in has letters that no key can have"
    ) as raised:
        service.get("x", call=Call(watch=hours.watch), secret_headers={"x-api-key": key})
    assert key not in str(raised.value)


def test_no_log_shows_a_secret(
    server: StandIn, hours: Hours, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    ask(server, hours)
    assert KEY in server.requests[0].query.values()
    assert "s3cret" not in caplog.text


def test_a_password_in_a_base_url_is_sent_and_not_shown(server: StandIn, hours: Hours) -> None:
    server.on("GET", "/x", error(400, "no"))
    with pytest.raises(Refused) as raised:
        Service("Stand-in", f"http://me:hunter222@{server.host}").get(
            "x", call=Call(watch=hours.watch)
        )
    assert str(raised.value) == f"Stand-in ({server.host}) answered 400: no"
    assert server.requests[0].headers["authorization"].startswith("Basic ")


@pytest.mark.parametrize(
    "url", ["", "host/path", "ftp://host", "http://", "http://host:port", "http://[::1"]
)
def test_an_invalid_base_url_is_reported(url: str, hours: Hours) -> None:
    with pytest.raises(ToolError, match=r"the base URL of Stand-in is no address"):
        Service("Stand-in", url).get("x", call=Call(watch=hours.watch))


def test_requests_to_a_host_keep_their_distance(server: StandIn, hours: Hours) -> None:
    for _ in range(3):  # objects of different tools
        ask(server, hours, interval_seconds=3.0)
    assert hours.slept == pytest.approx(6.0)
    with pytest.raises(
        Unreachable, match=f"{server.host} is not to be asked for another 3.0 seconds"
    ):
        ask(server, hours, seconds=2.0)


def test_no_more_requests_than_agreed_run_at_once(hours: Hours) -> None:
    pace, call = Pace("search.example", at_once=2), Call(watch=hours.watch)
    with pace.turn(call):
        with (
            pace.turn(call),
            pytest.raises(Unreachable, match=r"waiting for other requests to search\.example"),
        ):
            pace.turn(Call(seconds=0, watch=hours.watch)).__enter__()
        with pace.turn(call):
            pass  # there is room again


# --- decisions, without a server ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'{"message": "Unauthorized.", "statusCode": 403}', "Unauthorized."),
        (b'{"error": {"code": 400, "message": "Parameter q missing"}}', "Parameter q missing"),
        (b'{"error": "Invalid API key."}', "Invalid API key."),
        (
            b'{"type": "ErrorResponse", "error": {"id": "1", "detail": "Bad token", "code": "X"}}',
            "Bad token",
        ),
        (
            b'{"code": "InvalidQuery", "message": "Query string malformed"}',
            "Query string malformed",
        ),
        (b'{"errors": [{"detail": "one"}, {"detail": "two"}]}', "one; two"),
        (b'{"error": true, "message": ""}', '{"error":true,"message":""}'),
        (b'{"unheard": ["of"]}', '{"unheard":["of"]}'),
        (
            b"<p><strong>Error</strong>: line 1: parse&nbsp;error</p><script>x()</script>",
            "Error : line 1: parse error",
        ),
        (b"plain\x1b[31m words\n", "plain [31m words"),
        (b"null", ""),
        (b"", ""),
    ],
)
def test_an_error_is_reported_in_its_own_words(body: bytes, text: str) -> None:
    assert refusals.find_error_text(body) == text


@given(
    st.binary(max_size=300) | st.recursive(st.none() | st.text(), st.lists).map(msgspec.json.encode)
)
def test_no_error_is_too_odd_to_be_reported(body: bytes) -> None:
    assert refusals.find_error_text(body).isprintable()


@given(st.integers(1, 50), st.none() | st.floats(0, 1e9), st.floats(0, 1, exclude_max=True))
def test_a_wait_is_neither_shorter_than_asked_nor_longer_than_agreed(
    attempt: int, asked: float | None, chance: float
) -> None:
    retries = Retries(attempts=20, max_seconds=8, max_asked_seconds=30)
    problem = WebError("no", is_passing=True, asked_wait_seconds=asked)
    seconds = retries.choose_wait_seconds(attempt, problem, lambda: chance)
    if attempt > 20 or (asked or 0) > 30:
        assert seconds is None
    else:
        assert seconds is not None
        assert (asked or 0) <= seconds <= (30.5 if asked is not None else 8)
    assert retries.choose_wait_seconds(attempt, WebError("no"), lambda: chance) is None


@given(st.text(max_size=40) | st.floats().map(str))
def test_no_retry_after_is_too_odd_to_be_read(said: str) -> None:
    seconds = read_retry_after({"retry-after": said}, Hours.START)
    assert seconds is None or seconds >= 0


def test_the_certificates_are_read_once_however_many_want_them_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads: list[object] = []
    may_end = threading.Event()

    def read() -> object:
        reads.append(object())
        may_end.wait(60)
        return reads[-1]

    monkeypatch.setattr("httpx2.create_ssl_context", read)
    exchange._load_certificates.cache_clear()
    threads = [threading.Thread(target=exchange._get_certificates) for _ in range(8)]
    for thread in threads:
        thread.start()
    may_end.set()
    for thread in threads:
        thread.join()
    exchange._load_certificates.cache_clear()

    assert len(reads) == 1
