"""Pages that a model chose, fetched from a server on this machine, which is allowed here by the
name page.example.
"""

from __future__ import annotations

import gzip
import itertools
import ssl
from collections.abc import Iterator

import pytest
import trustme
from support.recording_caller import RecordingCaller
from tools.bundled.stand_ins.server import (
    Answer,
    Exchange,
    StandIn,
    dripping,
    endless,
    error,
    redirect,
    reset,
    silent,
    text_answer,
)
from toolwire_bundled.web import http as exchange
from toolwire_bundled.web.call import Call, Watch
from toolwire_bundled.web.errors import NotOpened, Refused, Unreachable, Unusable
from toolwire_bundled.web.http import Limits
from toolwire_bundled.web.pages import Page, fetch
from toolwire_bundled.web.ssrf_guard import AddressGuard
from toolwire_tools import Cancelled, Context

GUARD = AddressGuard(("page.example",))
SMALL = Limits(max_bytes=50_000)
BOMB = text_answer(gzip.compress(b" " * 1_000_000), **{"content-encoding": "gzip"})


class Names:
    """What names stand for; a list is for one look-up after the other."""

    def __init__(self) -> None:
        self.known: dict[str, list[list[str]]] = {"page.example": [["127.0.0.1"]]}
        self.asked: list[str] = []

    def __call__(self, host: str) -> list[str]:
        self.asked.append(host)
        answers = self.known.get(host, [[host]])
        return answers.pop(0) if len(answers) > 1 else answers[0]


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    names = Names()
    monkeypatch.setattr("toolwire_bundled.web.ssrf_guard._resolve_host", names)
    return names


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn() as server:
        yield server.on("GET", "/tea", text_answer("<p>Tea</p>"))


def get(
    server: StandIn, path: str = "/tea", limits: Limits = SMALL, call: Call | None = None
) -> Page:
    return fetch(
        f"http://page.example:{server.port}{path}", call or Call(), guard=GUARD, limits=limits
    )


def test_a_page_is_asked_for_by_its_name_at_the_address_that_was_checked(
    server: StandIn, names: Names
) -> None:
    names.known["page.example"] = [
        ["127.0.0.1"],
        ["192.168.0.1"],
    ]  # what an attacker would say the second time
    page = get(server, "/tea?kind=grün#steps")
    assert page == Page(
        f"http://page.example:{server.port}/tea?kind=gr%C3%BCn#steps",
        "text/html; charset=utf-8",
        b"<p>Tea</p>",
    )
    [request] = server.requests
    assert (request.path, request.query) == ("/tea", {"kind": "grün"})
    assert request.headers["host"] == f"page.example:{server.port}"
    assert names.asked == ["page.example"]


def test_a_certificate_has_to_be_for_the_name_and_not_for_the_address(
    server: StandIn, names: Names, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str | None] = []
    ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority = trustme.CA()
    authority.issue_cert("page.example").configure_cert(ours)
    ours.sni_callback = lambda socket, name, context: asked.append(name)
    server.behind(ours)
    theirs = ssl.create_default_context()
    authority.configure_trust(theirs)
    monkeypatch.setattr(exchange, "_get_certificates", lambda: theirs)
    names.known["other.example"] = names.known["page.example."] = [["127.0.0.1"]]

    for name in ("page.example", "page.example."):
        assert fetch(f"https://{name}:{server.port}/tea", Call(), guard=GUARD).body == b"<p>Tea</p>"
    with pytest.raises(Unreachable, match="certificate"):
        fetch(f"https://other.example:{server.port}/tea", Call(), guard=AddressGuard(True))
    assert asked == ["page.example", "page.example", "other.example"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed(server: StandIn, status: int) -> None:
    server.then(redirect("../tea?b=1", status))
    assert get(server, "/a/b").url == f"http://page.example:{server.port}/tea?b=1"


@pytest.mark.parametrize(
    "target",
    [
        *(
            "http://127.0.0.1:{port}/secret",
            "http://localhost:{port}/secret",
            "//127.0.0.1:{port}/secret",
        ),
        *(
            "http://169.254.169.254/latest/meta-data/",
            "file:///etc/passwd",
            "http://[::1]:{port}/secret",
        ),
        *(
            "http://user@page.example:{port}/secret",
            "http://other.example:22/",
            "gopher://page.example/",
            "http://[::1",
        ),
        "http://2130706433:{port}/secret",
        *("mailto:tea@page.example", "file:tea", "http://-xn--a-/"),
    ],
)
def test_a_redirect_is_checked_as_the_first_address_was(
    server: StandIn, names: Names, target: str
) -> None:
    names.known["localhost"] = names.known["2130706433"] = [["127.0.0.1"]]
    names.known["other.example"] = [["93.184.216.34"]]
    server.then(redirect(target.format(port=server.port)))
    with pytest.raises(NotOpened):
        get(server)
    assert [request.path for request in server.requests] == ["/tea"]


def test_the_body_of_a_redirect_is_not_waited_for(server: StandIn) -> None:
    def redirect_without_its_body(exchange: Exchange) -> None:
        exchange.head(302, {"location": "/tea", "content-length": "1000000"})
        exchange.wait()

    server.then(redirect_without_its_body)
    assert get(server, limits=Limits(silence_seconds=5)).body == b"<p>Tea</p>"


def test_a_failure_behind_a_redirect_names_where_it_led(server: StandIn, names: Names) -> None:
    names.known["page.example"] = [["127.0.0.1"], ["127.0.0.99"]]
    server.then(redirect("/coffee"))
    with pytest.raises(Unreachable, match=r"^http://page\.example:\d+/coffee cannot be reached"):
        get(server)
    names.known["page.example"] = [["127.0.0.1"]]
    server.then(redirect("/coffee"), error(404, "no coffee"))
    with pytest.raises(Refused, match=r"^http://page\.example:\d+/coffee answered 404: no coffee"):
        get(server)


def test_a_redirect_to_another_name_at_the_same_address_has_its_certificate_checked(
    server: StandIn, names: Names, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority = trustme.CA()
    authority.issue_cert("page.example").configure_cert(ours)
    server.behind(ours)
    theirs = ssl.create_default_context()
    authority.configure_trust(theirs)
    monkeypatch.setattr(exchange, "_get_certificates", lambda: theirs)
    names.known["other.example"] = [["127.0.0.1"]]
    location = f"https://other.example:{server.port}/tea"

    def redirect_and_keep_the_connection(exchange: Exchange) -> None:
        exchange.write(
            f"HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n".encode()
        )
        exchange.wait()

    server.then(redirect_and_keep_the_connection)
    with pytest.raises(Unreachable, match="certificate"):
        fetch(
            f"https://page.example:{server.port}/",
            Call(),
            guard=AddressGuard(True),
            limits=Limits(silence_seconds=5),
        )
    assert [request.path for request in server.requests] == ["/"]


def test_the_number_of_redirects_is_limited(server: StandIn) -> None:
    server.on("GET", "/round", redirect("/round"))
    with pytest.raises(NotOpened, match="leads on and on: 10 redirects are the limit"):
        get(server, "/round")
    assert len(server.requests) == 11


def test_another_address_is_tried_where_one_takes_no_connection(
    server: StandIn, names: Names
) -> None:
    names.known["page.example"] = [["127.0.0.99", "127.0.0.1"]]
    assert get(server).body == b"<p>Tea</p>"
    names.known["page.example"] = [["127.0.0.99"]]
    with pytest.raises(Unreachable, match="cannot be reached"):
        get(server)


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_no_proxy_stands_between_the_check_and_the_page(
    server: StandIn, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    with StandIn() as proxy:
        monkeypatch.setenv(variable, proxy.url)
        assert get(server).body == b"<p>Tea</p>"
        assert proxy.requests == []


@pytest.mark.parametrize(
    ("content_type", "problem"),
    [
        ("application/pdf", "is a PDF, which cannot be read here"),
        ("image/png", "is image/png, which is no text"),
        ("application/octet-stream; x=y", "is application/octet-stream, which is no text"),
        ("application/zip", "which is no text"),
    ],
)
def test_what_is_no_text_is_not_even_loaded(
    server: StandIn, content_type: str, problem: str
) -> None:
    server.then(text_answer(b"x" * 10_000_000, content_type))
    with pytest.raises(Unusable, match=problem):
        get(server)


def test_what_does_not_say_what_it_is_may_be_no_text(server: StandIn) -> None:
    server.then(text_answer(b"\x89PNG\r\n\x1a\n\0\0", ""))
    with pytest.raises(Unusable, match="does not say what it is, and is no text"):
        get(server)


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/json",
        "application/atom+xml",
        "application/ld+json",
        "TEXT/HTML",
        "",
    ],
)
def test_what_is_text_is_loaded(server: StandIn, content_type: str) -> None:
    server.then(text_answer("tea", content_type))
    assert get(server).body == b"tea"


@pytest.mark.parametrize("fault", [endless, BOMB], ids=["endless", "compressed"])
def test_a_page_is_no_longer_than_agreed(server: StandIn, fault: Answer) -> None:
    server.then(fault)
    with pytest.raises(Unusable, match="sent more than 50,000 bytes"):
        get(server)


def test_many_layers_of_compression_are_refused(server: StandIn) -> None:
    body = b"tea"
    for _ in range(8):
        body = gzip.compress(body)
    server.then(text_answer(body, **{"content-encoding": ", ".join(["gzip"] * 8)}))
    with pytest.raises(Unusable, match="cannot be decompressed"):
        get(server)


@pytest.mark.parametrize("coding", ["compress", "x-unheard-of", "gzip, aes128gcm"])
def test_an_unrequested_compression_is_refused(server: StandIn, coding: str) -> None:
    server.then(text_answer(b"\x8b\x01\x80tea", **{"content-encoding": coding}))
    with pytest.raises(Unusable, match="which was not requested"):
        get(server)


def test_a_server_that_says_nothing_is_given_up_on(server: StandIn) -> None:
    server.then(silent)
    with pytest.raises(Unreachable, match=r"said nothing for 0\.05 seconds"):
        get(server, limits=Limits(silence_seconds=0.05))


@pytest.mark.parametrize("fault", [silent, dripping])
def test_a_page_has_an_end_whatever_its_server_does(server: StandIn, fault: Answer) -> None:
    server.then(fault)
    with pytest.raises(Unreachable, match="took too long"):
        get(server, call=Call(seconds=8, watch=Watch(elapsed=itertools.count().__next__)))


@pytest.mark.parametrize("fault", [silent, dripping])
def test_a_cancelled_call_leaves_a_page_alone(server: StandIn, fault: Answer) -> None:
    class Caller(RecordingCaller):
        arrived = False

        @property
        def cancelled(self) -> bool:
            self.arrived = self.arrived or server.arrived.acquire(blocking=False)
            return self.arrived

    server.then(fault)
    with pytest.raises(Cancelled):
        get(server, call=Call(Context(Caller())))


def test_a_look_up_that_hangs_is_left_alone(
    server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang(host: str) -> list[str]:
        server.released.wait(60)
        return []

    monkeypatch.setattr("toolwire_bundled.web.ssrf_guard._resolve_host", hang)
    with pytest.raises(Unreachable, match=r"looking up the host of .* took too long"):
        get(server, call=Call(seconds=5, watch=Watch(elapsed=itertools.count().__next__)))


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (error(404, "<html><body><h1>Not</h1> here</body></html>"), "/tea answered 404: Not here"),
        (
            error(429, "busy", **{"retry-after": "90"}),
            "/tea answered 429: busy (it asks to wait 90 seconds)",
        ),
        (error(500), "/tea answered 500: without a word"),
        (lambda exchange: exchange.head(304, {}), "/tea answered 304"),
    ],
)
def test_an_error_is_reported_in_the_words_of_the_page(
    server: StandIn, fault: Answer, told: str
) -> None:
    server.then(fault)
    with pytest.raises(Refused) as raised:
        get(server)
    assert str(raised.value).startswith(f"http://page.example:{server.port}{told}")


def test_a_connection_that_breaks_is_reported(server: StandIn) -> None:
    server.then(reset)
    with pytest.raises(Unreachable, match=r"the connection to http://page\.example"):
        get(server)
