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
from functools import partial
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
from .http_requests import (
    SESSION_HEADER,
    EventStream,
    NoAnswer,
    Refused,
    describe_status,
)

if TYPE_CHECKING:
    import threading
    from collections.abc import AsyncIterator, Callable

    from .base import OnData, OnEnd
    from .http_requests import HttpRequests

    Schedule = Callable[[Callable[[], object]], None]

NOTIFICATION_SECONDS = 30.0
"""How long a server may take to accept a notification or a response, which later ones wait for."""

CLOSE_SECONDS = 2.0
"""How long the end of a session may take; as `PATIENCE_SECONDS` of processes."""

MAX_WAITING_LINES = 10_000
"""The most lines that wait to be posted. Only a server that does not accept notifications gets
there."""

MAX_OPEN_REQUESTS = 1_000
"""The most requests that wait for a response; further ones are refused."""

_MAX_FAILED_RESUMPTIONS = 5

_LISTEN = "subscriptions/listen"
_INITIALIZED = "notifications/initialized"


class _Backlog:
    """Counts the lines that wait to be posted, or for their responses, without subscriptions."""

    def __init__(self) -> None:
        self._count = 0
        self._is_over = False
        self._waiting: list[Future[None]] = []

    def add(self, count: int) -> None:
        """Add *count* lines, or remove some."""
        self._count += count
        self._report()

    def wait_with(self, drained: Future[None]) -> None:
        """Set the result of *drained* when no line is left."""
        self._waiting.append(drained)
        self._report()

    def end(self) -> None:
        """Let nothing wait any more."""
        self._is_over = True
        self._report()

    def _report(self) -> None:
        if self._is_over or self._count == 0:
            while self._waiting:
                self._waiting.pop().set_result(None)


class StreamableHttp:
    """The transport to the server that receives the requests of *http*; see `Transport`."""

    pid = None

    def __init__(self, http: HttpRequests) -> None:
        self._url = http.url
        self._http = http
        self._backlog = _Backlog()
        self._thread: threading.Thread | None = None
        self._open: dict[str | int, anyio.CancelScope] = {}
        self._initialize: Outgoing | None = None
        self._initialized: Outgoing | None = None
        self._listening: anyio.CancelScope | None = None
        self._is_closed = False

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
        self._schedule(partial(self._backlog.wait_with, drained))
        drained.result()

    def get_stderr_tail(self) -> str:
        return ""

    # On the event loop

    def _run(self, started: Future[Schedule]) -> None:
        try:
            anyio.run(self._serve, started)
        except Exception as error:  # the outer edge of a thread
            self._end(f"{self._url}: {type(error).__name__}: {error}")
        finally:
            self._backlog.end()

    async def _serve(self, started: Future[Schedule]) -> None:
        self._outbox, lines = anyio.create_memory_object_stream[bytes](MAX_WAITING_LINES)
        self._scope = anyio.CancelScope()
        self._renewing = anyio.Lock()
        started.set_result(make_loop_scheduler())
        async with self._http.connect(), self._outbox, lines:
            with self._scope:
                async with anyio.create_task_group() as self._tasks:
                    async for line in lines:
                        await self._post_in_turn(read_outgoing(line))
                        self._backlog.add(-1)
            await self._end_session()

    def _enqueue(self, data: bytes) -> None:
        try:
            for line in data.splitlines():
                if line.strip():
                    self._outbox.send_nowait(line)
                    self._backlog.add(1)
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
        if message.method != _LISTEN:
            self._backlog.add(1)
        self._tasks.start_soon(self._request, message, scope)

    async def _notify(self, message: Outgoing) -> None:
        try:
            with anyio.move_on_after(NOTIFICATION_SECONDS), suppress(httpx2.HTTPError):
                async with self._post(message):
                    pass
        except Refused as refused:
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
        except Refused as refused:
            self._fail(str(refused))
        except NoAnswer as error:
            problem = str(error)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            problem = f"{self._url}: {str(error) or type(error).__name__}"
        for number in message.ids:
            self._open.pop(number, None)
        if problem is not None:
            self._refuse(message, problem)
        if message.method != _LISTEN:
            self._backlog.add(-1)

    def _refuse(self, message: Outgoing, problem: str) -> None:
        """Answer the requests of *message* with an error."""
        if message.method == "initialize":
            self._fail(problem)
        for number in message.ids:
            self._pass_on(messages.encode_error(number, messages.INTERNAL_ERROR, problem))

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
        session = None if message.method == "initialize" else self._http.session
        async with self._http.send("POST", message) as response:
            if session is None or response.status_code != 404:
                yield response
                return
        await self._renew(session)
        async with self._http.send("POST", message) as response:
            yield response

    # Responses

    async def _receive(self, response: httpx2.Response, message: Outgoing) -> None:
        """Pass on the messages of *response*, until all requests of *message* are answered.

        Raises:
            NoAnswer: if that does not happen.
        """
        awaited = {*message.ids}
        stream = EventStream()
        await self._take(response, message, awaited, stream)
        failures = 0
        while awaited and stream.last_id:
            if failures >= _MAX_FAILED_RESUMPTIONS:
                raise NoAnswer(f"{self._url} closed the response, which cannot be resumed")
            last_id = stream.last_id
            await anyio.sleep(stream.pause_seconds)
            with suppress(httpx2.TransportError):
                async with self._http.send("GET", last_id=last_id) as resumed:
                    if resumed.is_success:
                        await self._take(resumed, message, awaited, stream)
            failures = failures + 1 if stream.last_id == last_id else 0
        if awaited:
            raise NoAnswer(_explain_missing(self._url, response))

    async def _take(
        self, response: httpx2.Response, message: Outgoing, awaited: set[Any], stream: EventStream
    ) -> None:
        """Pass on the messages of *response*, and remove from *awaited* what they answer."""
        if message.method == "initialize" and response.is_success:
            self._http.session = response.headers.get(SESSION_HEADER)
            self._initialize = message
        is_refused = not response.is_success
        with suppress(httpx2.ReadError, httpx2.RemoteProtocolError):  # the connection broke
            async with aclosing(self._http.read(response, stream)) as texts:
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
            line = self._http.parameters.read_list(line)
        is_refused = is_refused or incoming.answers is None
        if incoming.answers in awaited:
            awaited.discard(incoming.answers)
        elif incoming.is_error and is_refused and len(awaited) == 1:
            line = with_id(line, awaited.pop())
        if message.method == "initialize" and not awaited:
            self._http.version = find_version(line) or self._http.version
        self._pass_on(line)

    # Sessions

    async def _renew(self, lost: str) -> None:
        """Begin a new session in place of *lost*, unless another request has done so."""
        async with self._renewing:
            if self._http.session != lost:
                return
            if self._initialize is None:
                raise NoAnswer(f"{self._url} has ended the session")
            if self._listening is not None:
                self._listening.cancel()
            self._http.session = None
            async with self._http.send("POST", self._initialize) as response:
                if not response.is_success:
                    raise NoAnswer(f"{self._url} has ended the session, and begins no other")
                self._http.session = response.headers.get(SESSION_HEADER)
                async with aclosing(self._http.read(response, EventStream())) as texts:
                    async for _ in texts:
                        break
            if self._initialized is not None:
                async with self._http.send("POST", self._initialized):
                    pass
                self._listen()

    def _listen(self) -> None:
        # Without a session, a server cannot know which messages are for this client.
        if self._http.session is not None:
            self._listening = anyio.CancelScope()
            self._tasks.start_soon(self._receive_others, self._listening)

    async def _receive_others(self, scope: anyio.CancelScope) -> None:
        """Pass on the messages that belong to no request, as long as the server offers them."""
        stream, nothing = EventStream(), Outgoing(b"")
        with scope:
            while True:
                with suppress(httpx2.HTTPError, NoAnswer):
                    async with self._http.send("GET", last_id=stream.last_id) as response:
                        if response.status_code in (404, 405):
                            return
                        if response.is_success:
                            await self._take(response, nothing, set(), stream)
                await anyio.sleep(stream.pause_seconds)

    async def _end_session(self) -> None:
        if self._http.session is None:
            return
        with (
            anyio.move_on_after(CLOSE_SECONDS, shield=True),
            suppress(httpx2.HTTPError, NoAnswer),
        ):
            async with self._http.send("DELETE"):
                pass


def _explain_missing(url: str, response: httpx2.Response) -> str:
    if response.status_code == 429 or response.status_code == 503:
        after = response.headers.get("retry-after", "")
        if after.isdecimal() and len(after) < 6:
            return f"{url} answered {describe_status(response)}; try again in {after} seconds"
    if response.status_code == 405:
        return (
            f"{url} answered {describe_status(response)}; servers of the older HTTP+SSE transport"
            " do so, which Toolwire does not support: ask for an address of Streamable HTTP"
        )
    if not response.is_success:
        return f"{url} answered {describe_status(response)}"
    kind = response.headers.get("content-type", "nothing")[:80]
    if kind.startswith(("application/json", "text/event-stream")):
        return f"{url} closed the response before it answered"
    return f"{url} answered a request with {kind}, not with a message of MCP"
