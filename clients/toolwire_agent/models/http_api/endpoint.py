"""One request to one address: bytes out, pieces of a reply in, every failure as a `ModelError`.

Strategy. Failures become `ModelError`s that are raised outside of the `except` block. Exceptions of
the HTTP library hold the request, and that holds the key: none may be the context of a public
error.
"""

from __future__ import annotations

from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit, urlunsplit

import anyio
import msgspec
from anyio.lowlevel import RunVar
from toolwire_schemas.wire import codec

from ..errors import ModelError, NotReady, ReplyTimedOut, Unreachable, UnreadableReply
from ..model import emit_text
from .error_responses import make_refusal
from .wire_format import CutOff, StreamFailed

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping

    import httpx2

    from ...react.messages import ModelReply
    from ..model import OnText
    from .anthropic_messages import Messages
    from .chat_completions import ChatCompletions
    from .vendors import Key

    Reader = ChatCompletions | Messages

T = TypeVar("T")

_MAX_REPLY_BYTES = 64 * 1024 * 1024
_MAX_ERROR_BYTES = 64 * 1024
_MAX_FETCHED_BYTES = 1024 * 1024
_CLOSE_SECONDS = 2.0
_API = "/v1/chat/completions"
_OF_STREAMS = ("text/event-stream", "text/plain", "")  # small servers send no content type


class TimeLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Time limits in seconds.

    `silence` is the longest wait for the next piece of a reply; the model may think before the
    first one. `total` limits a whole reply including retries.
    """

    connect: float = 10.0
    silence: float = 300.0
    total: float = 900.0


class Endpoint:
    """An address that takes requests. *own_headers* may hold *key*, which appears nowhere else."""

    def __init__(
        self,
        url: str,
        own_headers: Mapping[str, str],
        key: Key | None,
        limits: TimeLimits,
        proxy: str | None,
    ) -> None:
        self._url = url
        self.shown = _remove_credentials(url)
        self._headers = {
            "content-type": "application/json",
            "accept": "text/event-stream, application/json",
        }
        self._headers |= {
            name.lower(): _check_sendable(name, value) for name, value in own_headers.items()
        }
        self._key = key
        self._limits = limits
        self._proxy = proxy
        # A client and the number of its users. Connections belong to the event loop they are made
        # on.
        self._kept: RunVar[tuple[httpx2.AsyncClient, int] | None] = RunVar("kept", None)

    async def ask(self, body: bytes, reader: Reader, on_text: OnText | None) -> ModelReply:
        """Send *body* and return the reply that *reader* parses. Raises `ModelError` if there is no
        reply.
        """
        import httpx2

        failure: ModelError
        try:
            async with (
                self._connect() as client,
                client.stream("POST", self._url, content=body, headers=self._headers) as response,
            ):
                await self._read(response, reader, on_text)
            return self._take(reader.reply)
        except httpx2.ConnectTimeout:
            failure = ReplyTimedOut(
                f"{self.shown} could not be reached within {self._limits.connect:g} seconds"
            )
        except httpx2.TimeoutException:
            failure = ReplyTimedOut(
                f"{self.shown} sent nothing for {self._limits.silence:g} seconds"
            )
        except httpx2.ConnectError as error:
            failure = Unreachable(
                f"{self.shown} cannot be reached (is it running?): {self._describe_error(error)}"
            )
        except httpx2.DecodingError as error:
            failure = UnreadableReply(
                f"{self.shown} sent undecodable content: {self._describe_error(error)}"
            )
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, httpx2.LocalProtocolError) as error:
            failure = NotReady(f"{self.shown} cannot be used: {self._describe_error(error)}")
        except httpx2.TransportError as error:
            failure = Unreachable(
                f"the connection to {self.shown} broke: {self._describe_error(error)}"
            )
        raise failure

    async def fetch_json(self, path: str, seconds: float) -> bytes | None:
        """Return what the server has at *path*, next to the API; `None` if that is not there within
        *seconds*.
        """
        import httpx2

        parts, body = urlsplit(self._url), bytearray()
        url = urlunsplit((parts.scheme, parts.netloc, parts.path.removesuffix(_API) + path, "", ""))

        async def take(piece: bytes) -> bool:
            body.extend(piece)
            return len(body) > _MAX_FETCHED_BYTES

        with (
            anyio.move_on_after(seconds),
            suppress(httpx2.HTTPError, httpx2.InvalidURL, ModelError),
        ):
            async with (
                self._connect() as client,
                client.stream("GET", url, headers=self._headers) as response,
            ):
                await _feed_each(response.aiter_bytes(), take)
            if response.is_success and len(body) <= _MAX_FETCHED_BYTES:
                return bytes(body)
            return None
        return None

    def open(self) -> None:
        """Keep connections open for requests from this event loop, until as many calls of
        `close`.
        """
        client, users = self._kept.get() or (self._make_client(), 0)
        self._kept.set((client, users + 1))

    async def close(self) -> None:
        """Close the connections, unless another `open` still needs them."""
        client, users = self._kept.get() or (None, 0)
        self._kept.set((client, users - 1) if client is not None and users > 1 else None)
        if client is not None and users == 1:
            with anyio.move_on_after(_CLOSE_SECONDS, shield=True):
                await client.aclose()

    async def _read(
        self, response: httpx2.Response, reader: Reader, on_text: OnText | None
    ) -> None:
        """Pass the reply to *reader*: whole if it is JSON, by whatever content type; else event by
        event.
        """
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        is_refused = not response.is_success
        if not is_refused and kind not in ("application/json", *_OF_STREAMS):
            raise UnreadableReply(
                f"{self.shown} answered with {kind[:80]} instead of JSON; is base_url right?"
            )
        is_whole = is_refused or kind == "application/json"
        events, whole, size = Events(), bytearray(), 0

        async def read_events(data: list[bytes]) -> bool:
            for each in data:
                await emit_text(on_text, self._take(partial(reader.read_event, each)))
            return reader.is_complete

        async def take(piece: bytes) -> bool:
            nonlocal is_whole, size
            is_whole = is_whole or (
                not size and piece.lstrip().startswith(b"{")
            )  # no event starts so
            size += len(piece)
            if size > _MAX_REPLY_BYTES:
                raise UnreadableReply(
                    f"{self.shown} sent more than {_MAX_REPLY_BYTES // 2**20} MiB"
                )
            if not is_whole:
                return await read_events(events.feed(piece))
            whole.extend(piece)
            return is_refused and size >= _MAX_ERROR_BYTES

        await _feed_each(response.aiter_bytes(), take)
        if is_refused:
            body = bytes(whole[:_MAX_ERROR_BYTES])
            raise make_refusal(
                response.status_code, body, response.headers, where=self.shown, key=self._key
            )
        if is_whole:
            text = self._take(lambda: reader.read_whole(codec.decode(bytes(whole))))
            await emit_text(on_text, text)
        else:
            await read_events([] if reader.is_complete else events.finish())

    def _take(self, take: Callable[[], T]) -> T:
        """Return the result of *take*, or raise what is wrong with the reply as a `ModelError`."""
        failure: ModelError
        try:
            return take()
        except StreamFailed as failed:
            failure = make_refusal(None, failed.error, {}, where=self.shown, key=self._key)
        except CutOff:
            failure = UnreadableReply(
                f"{self.shown} ended in the middle of its reply", is_passing=True
            )
        except codec.DecodingError as error:
            failure = UnreadableReply(f"{self.shown} sent invalid JSON: {error}", is_passing=True)
        except ValueError as error:
            failure = UnreadableReply(
                f"{self.shown} sent an invalid reply: {self._describe_error(error)}"
            )
        raise failure

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[httpx2.AsyncClient]:
        if kept := self._kept.get():
            yield kept[0]
        else:
            async with self._make_client() as client:
                yield client

    def _make_client(self) -> httpx2.AsyncClient:
        import httpx2

        limits = httpx2.Timeout(self._limits.silence, connect=self._limits.connect)
        try:
            return httpx2.AsyncClient(
                timeout=limits, proxy=self._proxy, follow_redirects=False, verify=_trust_store()
            )
        except (ValueError, ImportError, httpx2.InvalidURL) as error:
            failure = NotReady(f"the proxy cannot be used: {self._describe_error(error)}")
        raise failure

    def _describe_error(self, error: Exception) -> str:
        reason = str(error) or type(error).__name__
        if self._key is None:
            return reason
        return self._key.hide_in(reason)


def make_url(base_url: str, path: str) -> str:
    """Return the URL to post to. *base_url* may already end with *path*, and may have a query.

    Raises:
        NotReady: if it is not an address, or holds a password, which would be sent instead of the
            key.
    """
    try:
        parts = urlsplit(base_url.strip())
        host = parts.hostname
    except ValueError as error:
        raise NotReady(f"the base_url is not an address: {error}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise NotReady(
            f"the base_url {_remove_credentials(base_url)!r} is not an address: it must start with"
            " http:// or https:// and a host"
        )
    if parts.username or parts.password:
        raise NotReady(
            "the base_url holds a password; take it out, and set the provider's environment"
            " variable for a key (or, in Python, pass key=… or headers=…)"
        )
    whole = parts.path.rstrip("/").removesuffix(path) + path
    return urlunsplit((parts.scheme, parts.netloc, whole, parts.query, ""))


def _check_sendable(name: str, value: object) -> str:
    if not isinstance(value, str) or not value.isascii() or not value.isprintable():
        raise NotReady(
            f"the header {name} cannot be sent: it is not text, or has characters not allowed in"
            " HTTP"
        )
    return value


def _remove_credentials(url: str) -> str:
    parts = urlsplit(url)
    if not parts.netloc:
        return url.rpartition("@")[2]
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


@cache
def _trust_store() -> ssl.SSLContext:
    """The certificates of this machine, read once: that takes 25 ms."""
    import httpx2

    return httpx2.create_ssl_context()


async def _feed_each(pieces: AsyncIterable[T], take: Callable[[T], Awaitable[bool]]) -> None:
    """Pass the *pieces* to *take* one by one, until it returns true or raises.

    Leaving the loop early would leave generators within httpx2's generators open, which trio
    reports. So the loop continues to their end, usually already reached, or is cancelled from
    within after a second.
    """
    failure: Exception | None = None
    is_over = False
    with anyio.CancelScope() as scope:
        async for piece in pieces:
            if is_over:
                continue
            try:
                is_over = await take(piece)
            except Exception as error:  # from the reader or from on_text
                failure, is_over = error, True
                scope.cancel()
            if is_over:
                scope.deadline = min(scope.deadline, anyio.current_time() + 1.0)
    if failure is not None:
        raise failure


class Events:
    """Takes bytes in any pieces and returns the data of the server-sent events in them.

    httpx2's own reader cannot be left during a stream, as for an oversized event, without leaving
    generators open; and it loses a last event without a blank line. A lone CR, which the standard
    allows as a line's end, is not one here.
    """

    def __init__(self) -> None:
        self._line: list[bytes] = []  # the one that is not complete, in pieces
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[bytes]:
        """Add *piece* and return the data of every event that it completes."""
        if b"\n" not in piece:
            self._line.append(piece)
            return []
        *lines, rest = b"".join([*self._line, piece]).split(b"\n")
        self._line = [rest]
        return self._split_events(lines)

    def finish(self) -> list[bytes]:
        """Return the data of an unfinished last event."""
        return self._split_events([b"".join(self._line), b""])

    def _split_events(self, lines: list[bytes]) -> list[bytes]:
        events = []
        for line in (line.removesuffix(b"\r") for line in lines):
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" "))
            elif not line and self._data:
                events.append(b"\n".join(self._data))
                self._data = []
        return events
