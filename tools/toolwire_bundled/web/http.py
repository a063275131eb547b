"""One request and its answer, within limits of time and size. Every way in which that fails is a
`WebError`.

Strategy. The HTTP library blocks, so it works in a thread that a cancelled call leaves alone
(`Call.attend`). What goes wrong is turned into a WebError and raised outside of the `except` that
caught it: the library's exceptions hold the request, and that may hold a key.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec
from toolwire_schemas.language import say
from toolwire_schemas.wire import codec

from ..requirements import import_extra
from .call import THREAD
from .charsets import decode_body
from .errors import NotConnected, NotOpened, Unreachable, Unusable, WebError

if TYPE_CHECKING:
    import socket
    import ssl
    from collections.abc import Callable, Mapping

    import httpx2

    from .call import Call, Leaving

    Transport: TypeAlias = Callable[[Leaving, ssl.SSLContext], httpx2.BaseTransport]

T = TypeVar("T")

_MAX_REDIRECTS = 10
_MAX_TOLD = 300
"""Letters of what the library says, which may hold what came."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one answer may take: seconds to connect, seconds of silence, and bytes, counted when
    decompressed.
    """

    connect_seconds: float = 5.0
    silence_seconds: float = 10.0
    max_bytes: int = 8 * 1024 * 1024


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request. *shown* is its name in errors."""

    method: str
    url: str
    shown: str
    headers: dict[str, str] = {}
    content: bytes | None = None

    def __repr__(self) -> str:  # the rest may be secret
        return f"<Request to {self.shown}>"


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """The response at *url*. The names of *headers* are in lower case; *where* names the server in
    errors.
    """

    url: str
    status: int
    headers: dict[str, str]
    body: bytes
    where: str

    def __repr__(self) -> str:  # the URL may be secret
        return f"<Reply {self.status} from {self.where}>"

    @property
    def is_success(self) -> bool:
        """True for 2xx."""
        return 200 <= self.status < 300

    def decode_json(self) -> Any:
        """The body as JSON.

        Raises:
            Unusable: if it is malformed.
        """
        try:
            return codec.decode(self.body)
        except codec.DecodingError as error:
            kind = self.headers.get("content-type", "").partition(";")[0][:80] or say(
                "something without a type"
            )
            raise Unusable(
                say(
                    "{where} answered with {kind} that is no JSON: {error}",
                    where=self.where,
                    kind=kind,
                    error=error,
                )
            ) from None

    def decode_text(self) -> str:
        """The body as text."""
        return decode_body(self.body, self.headers.get("content-type", ""))


def decode_typed(answer: bytes, shape: type[T], service: str, *, strict: bool = True) -> T:
    """The *answer* of *service* as a value of the type *shape*. If not *strict*, a number may be
    written as a string.

    Raises:
        Unusable: if it is malformed, with the place.
    """
    try:
        return msgspec.json.decode(answer, type=shape, strict=strict)
    except (ValueError, RecursionError) as error:
        raise Unusable(
            say(
                "{service}'s answer is not what it documents: {error}", service=service, error=error
            )
        ) from None


def send(
    request: Request,
    call: Call,
    limits: Limits,
    *,
    clean: Callable[[str], str] = str,
    transport: Transport | None = None,
) -> Reply:
    """Ask, and return the answer, whatever its status. *clean* takes what is secret out of what the
    library says.

    Without a *transport* a redirect is an answer, and the proxies of the environment are used. A
    transport connects directly, and is given each redirect as another request. It may raise a
    `WebError`, and sets `Leaving.what`, which errors name.

    Raises:
        WebError: if no response comes.
        Cancelled: if the call was cancelled.
        ToolError: if the HTTP library is not installed.
    """
    return call.attend(partial(_send, request, limits, clean, transport), request.shown)


def _send(
    request: Request,
    limits: Limits,
    clean: Callable[[str], str],
    transport: Transport | None,
    leaving: Leaving,
) -> Reply:
    with import_extra("web"):
        import httpx2
    _keep_quiet()

    failure: WebError
    try:
        with (
            _make_client(limits, transport and transport(leaving, _get_certificates())) as client,
            client.stream(
                request.method,
                request.url,
                headers={"user-agent": make_user_agent(), **request.headers},
                content=request.content,
                extensions={"trace": partial(_close_when_left, leaving)},
            ) as response,
        ):
            headers = {name.lower(): value for name, value in response.headers.items()}
            url, where = str(response.url), leaving.what
            reply = Reply(
                url=url, status=response.status_code, headers=headers, body=b"", where=where
            )
            _check_coding(reply, client.headers["accept-encoding"])
            return msgspec.structs.replace(
                reply, body=_read_body(response, limits.max_bytes, where)
            )
    except httpx2.TooManyRedirects:
        failure = NotOpened(
            f"{leaving.what} leads on and on: {_MAX_REDIRECTS} redirects are the limit"
        )
    except httpx2.ConnectTimeout:
        failure = NotConnected(
            f"{leaving.what} could not be reached within {limits.connect_seconds:g} seconds",
            is_passing=True,
        )
    except httpx2.TimeoutException:
        failure = Unreachable(
            f"{leaving.what} said nothing for {limits.silence_seconds:g} seconds", is_passing=True
        )
    except httpx2.DecodingError as error:
        failure = Unusable(
            f"{leaving.what} sent what cannot be decompressed: {_describe_error(error, clean)}"
        )
    except (
        httpx2.InvalidURL,
        httpx2.UnsupportedProtocol,
        httpx2.LocalProtocolError,
        ValueError,
    ) as error:
        failure = Unusable(
            f"{leaving.what} cannot be asked like this: {_describe_error(error, clean)}"
        )
    except httpx2.ConnectError as error:
        failure = NotConnected(
            f"{leaving.what} cannot be reached: {_describe_error(error, clean)}", is_passing=True
        )
    except httpx2.TransportError as error:
        failure = Unreachable(
            f"the connection to {leaving.what} broke: {_describe_error(error, clean)}",
            is_passing=True,
        )
    raise failure


def _check_coding(reply: Reply, accepted: str) -> None:
    """Do nothing if the body can be decompressed: the library passes on what it does not know as it
    is.
    """
    known = {name.strip() for name in accepted.split(",")} | {"", "identity"}
    for name in reply.headers.get("content-encoding", "").lower().split(","):
        if name.strip() not in known:
            raise Unusable(
                say(
                    "{where} sent it compressed as {name!r}, which was not requested",
                    where=reply.where,
                    name=name.strip()[:40],
                )
            )


def _close_when_left(leaving: Leaving, event: str, told: Mapping[str, Any]) -> None:
    """End the connection when no caller waits for its answer any more: a slow response could keep
    it for days.
    """
    if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
        leaving.call_at_end(partial(_shut, told["return_value"].get_extra_info("socket")))


def _shut(connection: socket.socket) -> None:
    import socket

    with suppress(OSError):  # it is over, or has become one with TLS
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


@cache
def _keep_quiet() -> None:
    """Keep the library from logging our URLs, which may hold keys. Other users of the library are
    not affected.
    """
    import logging

    logging.getLogger("httpx2").addFilter(lambda record: record.threadName != THREAD)


def _make_client(limits: Limits, transport: httpx2.BaseTransport | None) -> httpx2.Client:
    # A new one each time: what a call of a tool costs is the way to the other end, and nothing is
    # left open.
    import httpx2

    return httpx2.Client(
        timeout=httpx2.Timeout(limits.silence_seconds, connect=limits.connect_seconds),
        verify=_get_certificates(),
        transport=transport,
        follow_redirects=transport is not None,
        max_redirects=_MAX_REDIRECTS,
        trust_env=transport is None,
    )


def _read_body(response: httpx2.Response, max_bytes: int, shown: str) -> bytes:
    # The pieces are decompressed, each at most 1 MiB, so that nothing small becomes large at once.
    body = bytearray()
    for piece in response.iter_bytes():
        body += piece
        if len(body) > max_bytes:
            raise Unusable(
                say(
                    "{shown} sent more than {size}, which is too much",
                    shown=shown,
                    size=_format_size(max_bytes),
                )
            )
    return bytes(body)


def _format_size(count: int) -> str:
    return f"{count / 2**20:g} MiB" if count >= 2**20 else f"{count:,} bytes"


def _describe_error(error: Exception, clean: Callable[[str], str]) -> str:
    return clean(str(error))[:_MAX_TOLD] or type(error).__name__


def _get_certificates() -> ssl.SSLContext:
    """The certificates of this machine. To read them takes 25 ms, so all who come first wait for
    one who does.
    """
    with _reading:
        return _load_certificates()


@cache
def _load_certificates() -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context()


_reading = threading.Lock()


@cache
def make_user_agent() -> str:
    """How the tools introduce themselves, which the services of OpenStreetMap and of arXiv insist
    on.
    """
    from importlib.metadata import version

    return f"toolwire/{version('toolwire')} (+https://pypi.org/project/toolwire)"
