"""Requests to a remote server over HTTP, and the messages in their responses."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING

import anyio
import httpx2

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping

    from .http_messages import Outgoing
    from .parameter_headers import ParameterHeaders

CONNECT_SECONDS = 10.0

SESSION_HEADER = "mcp-session-id"

_MAX_REDIRECTS = 5
_MAX_ERROR_BYTES = 64 * 1024

_RESUME_SECONDS = 1.0
"""Before a broken stream is resumed, if the server does not say, as in the official clients."""
_LEAST_RESUME_SECONDS = 0.1
_MOST_RESUME_SECONDS = 30.0


class NoAnswer(Exception):
    """A request gets no response. The text is a sentence about the server."""


class Refused(NoAnswer):
    """Neither this request nor any other reaches the server, or it accepts none of this client."""


class EventStream:
    """A stream of server-sent events, over all connections that carry parts of it."""

    def __init__(self) -> None:
        self.last_id = ""
        self.pause_seconds = _RESUME_SECONDS

    def note(self, event: httpx2.ServerSentEvent) -> None:
        """Remember where *event* is in the stream, and when the server wants to be asked again."""
        self.last_id = event.id or self.last_id
        if event.retry is not None:
            seconds = event.retry / 1000
            self.pause_seconds = min(max(seconds, _LEAST_RESUME_SECONDS), _MOST_RESUME_SECONDS)


class HttpRequests:
    """Sends requests to the server at *url*, all with *headers*, within `connect`.

    *make_auth* returns what authorizes them further, for httpx2. *parameters* knows the arguments
    that travel in headers, too.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        max_message_bytes: int,
        parameters: ParameterHeaders,
        make_auth: Callable[[], httpx2.Auth] | None = None,
    ) -> None:
        self.url = url
        self.session: str | None = None
        """The id of the session that the server has begun."""
        self.version: str | None = None
        """The revision of the protocol that a legacy server has chosen."""
        self.parameters = parameters
        self._headers = dict(headers)
        self._max_message_bytes = max_message_bytes
        self._make_auth = make_auth

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[None]:
        """Keep connections open within the block."""
        auth = None if self._make_auth is None else self._make_auth()
        async with httpx2.AsyncClient(
            auth=auth,
            # A call may take any time; its caller has a limit of its own.
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
            limits=httpx2.Limits(max_connections=None),
            verify=_trust_store(),
            follow_redirects=False,
        ) as self._http:
            yield

    @asynccontextmanager
    async def send(
        self, method: str, message: Outgoing | None = None, last_id: str = ""
    ) -> AsyncIterator[httpx2.Response]:
        """Send a request, and yield its response; redirects of the same server are followed.

        Raises:
            Refused: if the server cannot be reached, or refuses this client.
            NoAnswer: if a redirect leads nowhere, or to another server.
        """
        body = message.body if message is not None else None
        url, headers = self.url, self._make_headers(message)
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
        raise NoAnswer(f"{self.url} redirects more than {_MAX_REDIRECTS} times")

    async def _send_one(self, request: httpx2.Request) -> httpx2.Response:
        problem = ""
        try:
            response = await self._http.send(request, stream=True)
        except httpx2.ConnectTimeout:
            problem = f"{self.url} could not be reached within {CONNECT_SECONDS:g} seconds"
        except (httpx2.ConnectError, httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            problem = f"{self.url} cannot be reached: {str(error) or type(error).__name__}"
        except httpx2.HTTPError:
            raise
        except Exception as error:  # of what authorizes this client
            problem = f"{self.url}: {str(error) or type(error).__name__}"
        else:
            if response.status_code not in (401, 403):
                return response
            await response.aclose()
            advice = self._explain_refusal(response.status_code)
            problem = f"{self.url} refuses this client: {describe_status(response)}{advice}"
        raise Refused(problem)

    def _explain_refusal(self, status: int) -> str:
        """Return what the user can do about a 401; 403 is for those whom the server knows."""
        if status != 401 or self._make_auth is not None:
            return ""
        if any(name.lower() == "authorization" for name in self._headers):
            return "; it does not accept the token"
        return "; it wants a token: after the address write --bearer-env NAME, or --oauth"

    def _make_headers(self, message: Outgoing | None) -> dict[str, str]:
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
                return headers | self.parameters.make_headers(message)
            if message.method == "initialize":
                return headers
        if self.session is not None:
            headers[SESSION_HEADER] = self.session
        if self.version is not None:
            headers["mcp-protocol-version"] = self.version
        return headers

    async def read(
        self, response: httpx2.Response, stream: EventStream
    ) -> AsyncGenerator[bytes, None]:
        """Yield the text of each message in *response*.

        Raises:
            NoAnswer: if it is larger than allowed, or of another kind.
        """
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("", "identity"):
            raise NoAnswer(f"{self.url} compresses its answer, which was not asked for")
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
                raise NoAnswer(f"{self.url}: {error}") from None

    async def _read_whole(self, response: httpx2.Response) -> bytes:
        limit = self._max_message_bytes if response.is_success else _MAX_ERROR_BYTES
        text = bytearray()
        async for piece in response.aiter_raw():
            text += piece
            if len(text) > limit:
                raise NoAnswer(f"{self.url} sent more than the limit of {limit} bytes")
        return bytes(text)


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


def describe_status(response: httpx2.Response) -> str:
    """Return the status of *response* for people, such as `404 Not Found`."""
    return f"{response.status_code} {response.reason_phrase}".strip()


@cache
def _trust_store() -> ssl.SSLContext:
    """The certificates of this machine, read once: that takes 25 ms."""
    return httpx2.create_ssl_context()
