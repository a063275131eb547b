"""The transport to a remote server over Streamable HTTP.

Strategy. An event loop in a thread of its own posts each line of the client. Requests run
concurrently, in a task each, which reads its response until the request is answered; notifications
and responses go one after the other, before all that follows them. A request that gets no response
is answered here with an error, so that no caller waits for ever. Only what makes all requests
futile ends the conversation: a server that cannot be reached, or that refuses this client.
"""

from __future__ import annotations

from concurrent.futures import Future
from contextlib import aclosing, asynccontextmanager, suppress
from functools import cache, partial
from threading import current_thread
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
from toolwire_schemas.threads import start_thread
from toolwire_schemas.wire import messages

from ..errors import Unreachable
from ..waiting.event_loop import make_loop_scheduler
from .http_messages import (
    Incoming,
    Outgoing,
    find_version,
    read_incoming,
    read_outgoing,
    with_id,
)
from .parameter_headers import ParameterHeaders

if TYPE_CHECKING:
    import ssl
    import threading
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping

    from .base import OnData, OnEnd

    Schedule = Callable[[Callable[[], object]], None]

CONNECT_SECONDS = 10.0

NOTIFICATION_SECONDS = 30.0
"""How long a server may take to accept a notification or a response, which later ones wait for."""

CLOSE_SECONDS = 2.0
"""How long the end of a session may take; as `PATIENCE_SECONDS` of processes."""

MAX_WAITING_LINES = 10_000
"""The most lines that wait to be posted. Only a server that does not accept notifications gets
there."""

MAX_OPEN_REQUESTS = 1_000
"""The most requests that wait for a response; further ones are refused."""

_MAX_REDIRECTS = 5
_MAX_ERROR_BYTES = 64 * 1024

_MAX_FAILED_RESUMPTIONS = 5
_RESUME_SECONDS = 1.0
"""Before a broken stream is resumed, if the server does not say, as in the official clients."""
_LEAST_RESUME_SECONDS = 0.1
_MOST_RESUME_SECONDS = 30.0

_LISTEN = "subscriptions/listen"
_INITIALIZED = "notifications/initialized"

_SESSION = "mcp-session-id"


class NoAnswer(Exception):
    """A request gets no response. The text is a sentence about the server."""


class _Refused(NoAnswer):
    """Neither this request nor any other reaches the server, or it accepts none of this client."""


class _Stream:
    """A stream of server-sent events, over all connections that carry parts of it."""

    def __init__(self) -> None:
        self.last_id = ""
        self.pause_seconds = _RESUME_SECONDS

    def note(self, event: httpx2.ServerSentEvent) -> None:
        self.last_id = event.id or self.last_id
        if event.retry is not None:
            seconds = event.retry / 1000
            self.pause_seconds = min(max(seconds, _LEAST_RESUME_SECONDS), _MOST_RESUME_SECONDS)


class StreamableHttp:
    """The transport to the server at *url*; see `Transport`.

    All requests carry *headers*. *make_auth* returns what authorizes them further, for httpx2.
    """

    pid = None

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        max_message_bytes: int,
        make_auth: Callable[[], httpx2.Auth] | None = None,
    ) -> None:
        self._url = url
        self._headers = dict(headers)
        self._max_message_bytes = max_message_bytes
        self._make_auth = make_auth
        self._thread: threading.Thread | None = None
        self._open: dict[str | int, anyio.CancelScope] = {}
        self._parameters = ParameterHeaders()
        self._session: str | None = None
        self._version: str | None = None
        self._initialize: Outgoing | None = None
        self._initialized: Outgoing | None = None
        self._listening: anyio.CancelScope | None = None
        self._is_closed = False
        self._is_over = False
        self._working = 0
        """How many lines wait to be posted, or for their responses, without subscriptions."""
        self._drained: list[Future[None]] = []

    # From any thread

    def start(self, on_data: OnData, on_end: OnEnd) -> None:
        self._on_data, self._on_end = on_data, on_end
        started: Future[Schedule] = Future()
        self._thread = start_thread(partial(self._run, started), "toolwire-client-http")
        self._schedule = started.result()

    def send(self, data: bytes, *, more_follows: bool = False) -> None:
        self._schedule(partial(self._enqueue, data))

    def flush(self) -> None:
        pass  # nothing is held

    def close(self) -> None:
        if self._thread is None or self._is_closed:
            return
        self._is_closed = True
        self._schedule(self._finish)
        if current_thread() is not self._thread:
            self._thread.join(2 * CLOSE_SECONDS)

    def drain(self) -> None:
        """Return when all lines are posted and all requests have their responses, except
        subscriptions.
        """
        drained: Future[None] = Future()
        self._schedule(partial(self._note_drain, drained))
        drained.result()

    def stderr_tail(self) -> str:
        return ""

    # On the event loop

    def _run(self, started: Future[Schedule]) -> None:
        try:
            anyio.run(self._serve, started)
        except Exception as error:  # the outer edge of a thread
            self._end(f"{self._url}: {type(error).__name__}: {error}")
        finally:
            self._is_over = True
            self._check_drained()

    async def _serve(self, started: Future[Schedule]) -> None:
        self._outbox, lines = anyio.create_memory_object_stream[bytes](MAX_WAITING_LINES)
        self._scope = anyio.CancelScope()
        self._renewing = anyio.Lock()
        started.set_result(make_loop_scheduler())
        async with self._connect() as self._http, self._outbox, lines:
            with self._scope:
                async with anyio.create_task_group() as self._tasks:
                    async for line in lines:
                        await self._post_in_turn(read_outgoing(line))
                        self._working -= 1
                        self._check_drained()
            await self._end_session()

    def _connect(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            auth=None if self._make_auth is None else self._make_auth(),
            # A call may take any time; its caller has a limit of its own.
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
            limits=httpx2.Limits(max_connections=None),
            verify=_trust_store(),
            follow_redirects=False,
        )

    def _enqueue(self, data: bytes) -> None:
        try:
            for line in data.splitlines():
                if line.strip():
                    self._outbox.send_nowait(line)
                    self._working += 1
        except anyio.WouldBlock:
            self._fail(f"{self._url} does not accept messages: {MAX_WAITING_LINES} wait")
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            pass  # it has ended

    def _finish(self) -> None:
        self._scope.cancel()

    def _fail(self, problem: str) -> None:
        """End the conversation, since all further requests would fail, too."""
        self._finish()
        self._end(problem)

    def _end(self, problem: str) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._on_end(Unreachable(problem))

    def _note_drain(self, drained: Any) -> None:
        self._drained.append(drained)
        self._check_drained()

    def _check_drained(self) -> None:
        if self._is_over or self._working == 0:
            while self._drained:
                self._drained.pop().set_result(None)

    async def _post_in_turn(self, message: Outgoing) -> None:
        if message.cancels is not None:
            scope = self._open.pop(message.cancels, None)
            if scope is not None:
                scope.cancel()
        if message.may_be_answered:
            self._start_request(message)
        elif not (message.is_modern and message.cancels is not None):
            # In MCP 2026-07-28, the closed stream is the cancellation.
            await self._notify(message)

    def _start_request(self, message: Outgoing) -> None:
        if len(self._open) >= MAX_OPEN_REQUESTS:
            self._refuse(message, f"{MAX_OPEN_REQUESTS} requests to {self._url} are open")
            return
        scope = anyio.CancelScope()
        self._open.update(dict.fromkeys(message.ids, scope))
        self._working += message.method != _LISTEN
        self._tasks.start_soon(self._request, message, scope)

    async def _notify(self, message: Outgoing) -> None:
        try:
            with anyio.move_on_after(NOTIFICATION_SECONDS), suppress(httpx2.HTTPError):
                async with self._post(message):
                    pass
        except _Refused as refused:
            self._fail(str(refused))
        except NoAnswer:  # a notification needs no answer
            pass
        if message.method == _INITIALIZED:
            self._initialized = message
            self._listen()

    async def _request(self, message: Outgoing, scope: anyio.CancelScope) -> None:
        problem: str | None = None
        try:
            with scope:
                async with self._post(message) as response:
                    await self._receive(response, message)
        except _Refused as refused:
            self._fail(str(refused))
        except NoAnswer as error:
            problem = str(error)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            problem = f"{self._url}: {str(error) or type(error).__name__}"
        for number in message.ids:
            self._open.pop(number, None)
        if problem is not None:
            self._refuse(message, problem)
        self._working -= message.method != _LISTEN
        self._check_drained()

    def _refuse(self, message: Outgoing, problem: str) -> None:
        """Answer the requests of *message* with an error."""
        if message.method == "initialize":
            self._fail(problem)
        for number in message.ids:
            self._pass_on(messages.error(number, messages.INTERNAL_ERROR, problem))

    def _pass_on(self, line: bytes) -> None:
        if line and not self._is_closed:
            self._on_data(line + b"\n")

    # Requests

    @asynccontextmanager
    async def _post(self, message: Outgoing) -> AsyncIterator[httpx2.Response]:
        """Post *message*; if its session has ended, once more in a new one.

        Raises:
            NoAnswer: if the server refuses it with no message.
        """
        session = None if message.method == "initialize" else self._session
        async with self._send("POST", message) as response:
            if session is None or response.status_code != 404:
                yield response
                return
        await self._renew(session)
        async with self._send("POST", message) as response:
            yield response

    @asynccontextmanager
    async def _send(
        self, method: str, message: Outgoing | None = None, last_id: str = ""
    ) -> AsyncIterator[httpx2.Response]:
        body = message.body if message is not None else None
        url, headers = self._url, self._headers_for(message)
        if last_id:
            headers["last-event-id"] = last_id
        for _ in range(_MAX_REDIRECTS):
            request = self._http.build_request(method, url, content=body, headers=headers)
            response = await self._send_one(request)
            try:
                onward = _find_redirect(response)
                if onward is None:
                    yield response
                    return
                url = onward
            finally:
                with anyio.CancelScope(shield=True):
                    await response.aclose()
        raise NoAnswer(f"{self._url} redirects more than {_MAX_REDIRECTS} times")

    async def _send_one(self, request: httpx2.Request) -> httpx2.Response:
        problem = ""
        try:
            response = await self._http.send(request, stream=True)
        except httpx2.ConnectTimeout:
            problem = f"{self._url} could not be reached within {CONNECT_SECONDS:g} seconds"
        except (httpx2.ConnectError, httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            problem = f"{self._url} cannot be reached: {str(error) or type(error).__name__}"
        except httpx2.HTTPError:
            raise
        except Exception as error:  # of what authorizes this client
            problem = f"{self._url}: {str(error) or type(error).__name__}"
        else:
            if response.status_code not in (401, 403):
                return response
            await response.aclose()
            problem = f"{self._url} refuses this client: {_describe_status(response)}"
        raise _Refused(problem)

    def _headers_for(self, message: Outgoing | None) -> dict[str, str]:
        headers = {
            **self._headers,
            "accept": "application/json, text/event-stream",
            # Compressed data of a few bytes could take all memory.
            "accept-encoding": "identity",
        }
        if message is not None:
            headers["content-type"] = "application/json"
            headers |= message.headers
            if message.is_modern:
                return headers | self._parameters.make_headers(message)
            if message.method == "initialize":
                return headers
        if self._session is not None:
            headers[_SESSION] = self._session
        if self._version is not None:
            headers["mcp-protocol-version"] = self._version
        return headers

    # Responses

    async def _receive(self, response: httpx2.Response, message: Outgoing) -> None:
        """Pass on the messages of *response*, until all requests of *message* are answered.

        Raises:
            NoAnswer: if that does not happen.
        """
        awaited = {*message.ids}
        stream = _Stream()
        await self._take(response, message, awaited, stream)
        failures = 0
        while awaited and stream.last_id:
            if failures >= _MAX_FAILED_RESUMPTIONS:
                raise NoAnswer(f"{self._url} closed the response, which cannot be resumed")
            last_id = stream.last_id
            await anyio.sleep(stream.pause_seconds)
            with suppress(httpx2.TransportError):
                async with self._send("GET", last_id=last_id) as resumed:
                    if resumed.is_success:
                        await self._take(resumed, message, awaited, stream)
            failures = failures + 1 if stream.last_id == last_id else 0
        if awaited:
            raise NoAnswer(_explain_missing(self._url, response))

    async def _take(
        self, response: httpx2.Response, message: Outgoing, awaited: set[Any], stream: _Stream
    ) -> None:
        """Pass on the messages of *response*, and remove from *awaited* what they answer."""
        if message.method == "initialize" and response.is_success:
            self._session = response.headers.get(_SESSION)
            self._initialize = message
        is_refused = not response.is_success
        with suppress(httpx2.ReadError, httpx2.RemoteProtocolError):  # the connection broke
            async with aclosing(self._read(response, stream)) as texts:
                async for text in texts:
                    for incoming in read_incoming(text):
                        self._take_one(incoming, message, awaited, is_refused=is_refused)
                    if message.ids and not awaited:
                        return

    def _take_one(
        self, incoming: Incoming, message: Outgoing, awaited: set[Any], *, is_refused: bool
    ) -> None:
        line = incoming.line
        if message.is_modern and message.method == "tools/list":
            self._parameters.read_list(line)
        is_refused = is_refused or incoming.answers is None
        if incoming.answers in awaited:
            awaited.discard(incoming.answers)
        elif incoming.is_error and is_refused and len(awaited) == 1:
            line = with_id(line, awaited.pop())
        if message.method == "initialize" and not awaited:
            self._version = find_version(line) or self._version
        self._pass_on(line)

    async def _read(
        self, response: httpx2.Response, stream: _Stream
    ) -> AsyncGenerator[bytes, None]:
        """Yield the text of each message in *response*.

        Raises:
            NoAnswer: if it is larger than allowed, or of another kind.
        """
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("", "identity"):
            raise NoAnswer(f"{self._url} compresses its answer, which was not asked for")
        if kind == "application/json":
            yield await self._read_whole(response)
        elif kind == "text/event-stream":
            try:
                events = httpx2.EventSource(response, max_event_size=self._max_message_bytes)
                async for event in events:
                    stream.note(event)
                    if event.event == "message" and event.data:
                        yield event.data.encode()
            except httpx2.SSEError as error:
                raise NoAnswer(f"{self._url}: {error}") from None

    async def _read_whole(self, response: httpx2.Response) -> bytes:
        limit = self._max_message_bytes if response.is_success else _MAX_ERROR_BYTES
        text = bytearray()
        async for piece in response.aiter_raw():
            text += piece
            if len(text) > limit:
                raise NoAnswer(f"{self._url} sent more than the limit of {limit} bytes")
        return bytes(text)

    # Sessions

    async def _renew(self, lost: str) -> None:
        """Begin a new session in place of *lost*, unless another request has done so."""
        async with self._renewing:
            if self._session != lost:
                return
            if self._initialize is None:
                raise NoAnswer(f"{self._url} has ended the session")
            if self._listening is not None:
                self._listening.cancel()
            self._session = None
            async with self._send("POST", self._initialize) as response:
                if not response.is_success:
                    raise NoAnswer(f"{self._url} has ended the session, and begins no other")
                self._session = response.headers.get(_SESSION)
                async with aclosing(self._read(response, _Stream())) as texts:
                    async for _ in texts:
                        break
            if self._initialized is not None:
                async with self._send("POST", self._initialized):
                    pass
                self._listen()

    def _listen(self) -> None:
        # Without a session, a server cannot know which messages are for this client.
        if self._session is not None:
            self._listening = anyio.CancelScope()
            self._tasks.start_soon(self._receive_others, self._listening)

    async def _receive_others(self, scope: anyio.CancelScope) -> None:
        """Pass on the messages that belong to no request, as long as the server offers them."""
        stream, nothing = _Stream(), Outgoing(b"")
        with scope:
            while True:
                with suppress(httpx2.HTTPError, NoAnswer):
                    async with self._send("GET", last_id=stream.last_id) as response:
                        if response.status_code in (404, 405):
                            return
                        if response.is_success:
                            await self._take(response, nothing, set(), stream)
                await anyio.sleep(stream.pause_seconds)

    async def _end_session(self) -> None:
        if self._session is None:
            return
        with (
            anyio.move_on_after(CLOSE_SECONDS, shield=True),
            suppress(httpx2.HTTPError, NoAnswer),
        ):
            async with self._send("DELETE"):
                pass


def _find_redirect(response: httpx2.Response) -> str | None:
    """Return where to send the request again; `None` if *response* does not say that.

    Raises:
        NoAnswer: if that is another server, which must get neither the message nor credentials, or
            if the request would lose its body.
    """
    onward = response.next_request
    if onward is None:
        return None
    old, new = response.request.url, onward.url
    is_same_origin = (old.scheme, old.host, old.port) == (new.scheme, new.host, new.port)
    if is_same_origin and onward.method == response.request.method and not new.userinfo:
        return str(new)
    shown = new.copy_with(userinfo=b"", query=None, fragment=None)
    raise NoAnswer(f"{old} redirects to {shown}; if that is right, use that address")


def _explain_missing(url: str, response: httpx2.Response) -> str:
    if response.status_code == 429 or response.status_code == 503:
        after = response.headers.get("retry-after", "")
        if after.isdecimal() and len(after) < 6:
            return f"{url} answered {_describe_status(response)}; try again in {after} seconds"
    if response.status_code == 405:
        return (
            f"{url} answered {_describe_status(response)}; servers of the older HTTP+SSE transport"
            " do so, which Toolwire does not support: ask for an address of Streamable HTTP"
        )
    if not response.is_success:
        return f"{url} answered {_describe_status(response)}"
    kind = response.headers.get("content-type", "nothing")[:80]
    if kind.startswith(("application/json", "text/event-stream")):
        return f"{url} closed the response before it answered"
    return f"{url} answered a request with {kind}, not with a message of MCP"


def _describe_status(response: httpx2.Response) -> str:
    return f"{response.status_code} {response.reason_phrase}".strip()


@cache
def _trust_store() -> ssl.SSLContext:
    """The certificates of this machine, read once: that takes 25 ms."""
    return httpx2.create_ssl_context()
