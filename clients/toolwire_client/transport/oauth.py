"""Permission of the user for a remote server, by OAuth 2.1 as MCP wants it.

Strategy. MCP's own SDK does all that is OAuth: discovery, registration, PKCE, tokens and their
renewal. Here is what surrounds it: a browser, the address on this machine that it comes back to,
and a file that keeps the tokens. While a token is valid, requests do not enter the SDK's flow,
which lets only one of them pass at a time. The user is asked before the handshake, whose time
limits are for servers.
"""

from __future__ import annotations

import hashlib
import logging
import os
import socket
import sys
import time
import webbrowser
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
import msgspec
from anyio import to_thread
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from toolwire_schemas.output import Output, make_printable
from toolwire_schemas.threads import start_thread

from ..errors import NotStarted
from ..waiting.base import run_in_daemon_thread
from .http_requests import CONNECT_SECONDS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

# The SDK logs each failure with a traceback, and logging writes it to stderr where nothing else is
# chosen; what the user needs of it is in our errors.
logging.getLogger("mcp").addHandler(logging.NullHandler())

PERMISSION_SECONDS = 300.0
"""How long the user may take in the browser."""

_PAGE = (
    b"<!doctype html><meta charset=utf-8><title>Toolwire</title>"
    b"<p>Done. You can close this window.</p>"
)


class NoPermission(Exception):
    """The user gave no permission."""


class KeptTokens(msgspec.Struct):
    """The content of the file of a server: the tokens, the time of their end, and this client's
    registration with the port that the browser comes back to.
    """

    port: int = 0
    expires_at: float | None = None
    tokens: dict[str, Any] | None = None
    client: dict[str, Any] | None = None


def find_tokens_folder() -> Path:
    """Return the folder of the files with tokens, which need not exist."""
    data = os.environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(data):  # which the XDG specification wants to be ignored
        data = os.path.join(os.path.expanduser("~"), ".local", "share")
    return Path(data, "toolwire", "oauth")


class TokenFile:
    """The tokens for *url*, as the SDK wants to have them kept. Only the user may read them."""

    def __init__(self, url: str) -> None:
        name = hashlib.sha256(url.encode()).hexdigest()[:32]
        self._path = find_tokens_folder() / f"{name}.json"
        self.kept = self._read()

    def _read(self) -> KeptTokens:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=KeptTokens)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return KeptTokens()

    def write(self) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = self._path.with_suffix(f".{os.getpid()}")
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(msgspec.json.encode(self.kept))
        os.replace(new, self._path)

    async def get_tokens(self) -> OAuthToken | None:
        tokens = self.kept.tokens
        return None if tokens is None else OAuthToken.model_validate(tokens)

    async def set_tokens(self, tokens: OAuthToken) -> None:
        seconds = tokens.expires_in
        self.kept.expires_at = None if seconds is None else time.time() + float(seconds)
        self.kept.tokens = tokens.model_dump(mode="json", exclude_none=True)
        self.write()

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        client = self.kept.client
        return None if client is None else OAuthClientInformationFull.model_validate(client)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.kept.client = client_info.model_dump(mode="json", exclude_none=True)
        self.write()


class UserPermission(httpx2.Auth):
    """Adds the user's token to each request; asks for one if it is missing or refused,
    but only if it *may_ask*.
    """

    def __init__(self, url: str, *, may_ask: bool) -> None:
        self._url = url
        self._file = TokenFile(url)
        self._file.kept.port = _choose_port(self._file.kept)
        self._browser = _Browser(url, self._file.kept.port, may_ask=may_ask)
        self._provider = OAuthClientProvider(
            url,
            OAuthClientMetadata.model_validate(
                {
                    "client_name": "Toolwire",
                    "redirect_uris": [self._browser.address],
                    "token_endpoint_auth_method": "none",
                }
            ),
            self._file,
            redirect_handler=self._browser.open,
            callback_handler=self._browser.wait,
        )
        self._is_loaded = False

    @property
    def is_given(self) -> bool:
        return self._file.kept.tokens is not None

    async def obtain(self) -> None:
        """Send a request, which leads to the question if the server wants permission."""
        body = {"jsonrpc": "2.0", "id": 0, "method": "ping"}
        headers = {"accept": "application/json, text/event-stream"}
        async with (
            httpx2.AsyncClient(auth=self, timeout=CONNECT_SECONDS) as http,
            http.stream("POST", self._url, json=body, headers=headers),
        ):
            pass

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        context = self._provider.context
        if not self._is_loaded:
            self._is_loaded = True
            context.current_tokens = await self._file.get_tokens()
            context.token_expiry_time = self._file.kept.expires_at
        tokens = context.current_tokens
        if tokens is not None and context.is_token_valid():
            request.headers["authorization"] = f"Bearer {tokens.access_token}"
            response = yield request
            if response.status_code == 401:
                context.token_expiry_time = 1.0  # so that the SDK renews it first
            elif response.status_code != 403:
                return
        flow = self._provider.async_auth_flow(request)
        try:
            outgoing = await flow.__anext__()
            while True:
                response = yield outgoing
                outgoing = await flow.asend(response)
        except StopAsyncIteration:
            return
        finally:
            await flow.aclose()


def ask_for_permission(url: str) -> None:
    """Ask the user for permission to use *url*, unless there are tokens, and keep the tokens.

    Raises:
        NotStarted: if no permission was given.
    """
    permission = UserPermission(url, may_ask=True)
    if permission.is_given:
        return
    try:
        # In a thread of its own, since this one may have an event loop.
        run_in_daemon_thread(partial(anyio.run, permission.obtain)).result()
    except Exception as error:  # of the SDK, or of the connection
        raise NotStarted(f"{url}: {str(error) or type(error).__name__}") from None


def _choose_port(kept: KeptTokens) -> int:
    """Return the port of the registration if it is free, else any that is; then the registration is
    forgotten, since servers compare the address.
    """
    for port in (kept.port, 0):
        try:
            with socket.create_server(("127.0.0.1", port)) as found:
                chosen = int(found.getsockname()[1])
        except OSError:
            continue
        if chosen != kept.port:
            kept.client = None
        return chosen
    raise NoPermission("no port of this machine is free for the answer of the browser")


class _Browser:
    """The user's browser, which is sent to the server of *url*, and comes back to *port*."""

    def __init__(self, url: str, port: int, *, may_ask: bool) -> None:
        self._url = url
        self._may_ask = may_ask
        self._port = port
        self.address = f"http://127.0.0.1:{port}/callback"
        self._answers: _Answers | None = None

    async def open(self, address: str) -> None:
        if not self._may_ask:
            raise NoPermission(
                f"you have to give permission first: toolwire list -- {self._url} --oauth"
            )
        if urlsplit(address).scheme not in ("http", "https"):
            raise NoPermission(f"the address to ask for permission is no web page: {address!r}")
        self._answers = _Answers(("127.0.0.1", self._port), _Handler)
        sentence = f"to let Toolwire use {self._url}, open this address in a browser: {address}"
        Output(sys.stderr).write_line(make_printable(sentence))
        start_thread(partial(webbrowser.open, address), "toolwire-browser")

    async def wait(self) -> AuthorizationCodeResult:
        assert self._answers is not None
        with self._answers as answers:
            query = await to_thread.run_sync(answers.wait, abandon_on_cancel=True)
        if "code" not in query:
            problem = query.get("error_description", query.get("error", "there was no answer"))
            raise NoPermission(f"no permission was given: {problem}")
        return AuthorizationCodeResult(
            code=query["code"], state=query.get("state"), iss=query.get("iss")
        )


class _Answers(HTTPServer):
    """Takes the requests of the browser, until one holds the answer."""

    timeout = 1.0
    query: dict[str, str]

    def wait(self) -> dict[str, str]:
        """Return the query of the answer; an empty one if it does not come in time."""
        self.query = {}
        deadline = time.monotonic() + PERMISSION_SECONDS
        while not self.query and time.monotonic() < deadline:
            self.handle_request()
        return self.query


class _Handler(BaseHTTPRequestHandler):
    timeout = 5.0

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        is_answer = parts.path == "/callback" and ("code" in query or "error" in query)
        self.send_response(200 if is_answer else 404)
        self.send_header("content-type", "text/html")
        self.end_headers()
        if is_answer:
            self.wfile.write(_PAGE)
            cast("_Answers", self.server).query = query

    def log_message(self, *arguments: Any) -> None:
        """Log nothing: the address holds a secret."""
