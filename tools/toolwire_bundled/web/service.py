"""A service on the web: asked for JSON or text, retried where that helps, and its own text reported
when it fails.

service = Service("Serper", "https://google.serper.dev")
secret = {"x-api-key": key("SERPER_API_KEY")}
found = service.post("search", json={"q": "tea"}, secret_headers=secret, call=Call(context)).json()
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.language import say
from toolwire_schemas.retries import Retries
from toolwire_schemas.wire import codec
from toolwire_tools.errors import ToolError

from .error_responses import make_refusal
from .errors import WebError
from .http import Limits, Reply, Request, send
from .rate_limit import Pace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .call import Call

_MAX_REDIRECTS = 3
_MAX_HOLD_SECONDS = 60.0
"""The longest pause of requests that a service can demand."""
# To hide words as short as that would only garble texts.
_SHORTEST_SECRET = 6


RETRIES = Retries(attempts=3, max_seconds=8.0, max_asked_seconds=30.0)
"""Fewer and shorter than for models: a call of a tool has a minute in all."""


class Service:
    """A service called *name*, at *base_url*.

    *headers* and *params* go with every request. All requests are taken for reads: they may be
    repeated. The interval and the number of requests at once hold for all who ask that host in this
    process.

    Raises:
        ToolError: if *base_url* is no address.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        *,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, object] | None = None,
        limits: Limits = Limits(),  # noqa: B008  # frozen, as the next
        retries: Retries = RETRIES,
        interval_seconds: float = 0.0,
        at_once: int = 8,
    ) -> None:
        self.name = name
        self._base_url = base_url.strip().rstrip("/")
        self._headers = dict(headers or {})
        self._params = dict(params or {})
        self._limits = limits
        self._retries = retries
        self._pace = partial(Pace.find_for_host, interval_seconds=interval_seconds, at_once=at_once)

    def __repr__(self) -> str:
        return f"<Service {self.name}>"

    def get(
        self,
        path: str = "",
        *,
        call: Call,
        params: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        secret_params: Mapping[str, str] | None = None,
        secret_headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Ask for *path*, and return the answer, which is a success.

        Parameters that are None are left out, booleans are `true` and `false`, and of a list each
        item is sent. Secrets do not appear in errors.

        Raises:
            WebError: why there is no such answer, after all that may be repeated has been repeated.
            Cancelled: if the call was cancelled.
        """
        asked = _Asked("GET", path, {**(params or {})}, {**(headers or {})}, None)
        return self._ask(asked, call, {**(secret_params or {})}, {**(secret_headers or {})})

    def post(
        self,
        path: str = "",
        *,
        call: Call,
        json: Any = None,
        data: Mapping[str, object] | None = None,
        params: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        secret_params: Mapping[str, str] | None = None,
        secret_headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """As `get`, with *json*, or with the *data* of a form."""
        if data is not None:
            content, kind = _encode_query(data).encode(), "application/x-www-form-urlencoded"
        else:
            content, kind = codec.encode(json), "application/json"
        asked = _Asked(
            "POST", path, {**(params or {})}, {"content-type": kind, **(headers or {})}, content
        )
        return self._ask(asked, call, {**(secret_params or {})}, {**(secret_headers or {})})

    def _ask(
        self,
        asked: _Asked,
        call: Call,
        secret_params: dict[str, str],
        secret_headers: dict[str, str],
    ) -> Reply:
        from urllib.parse import urlsplit

        if not all(value.isascii() and value.isprintable() for value in secret_headers.values()):
            raise ToolError(
                say(
                    "the key for {name} has letters that no key can have; is it whole, and alone?",
                    name=self.name,
                )
            )
        address = _make_url(self.name, self._base_url, asked.path)
        parts = urlsplit(address)
        hidden = _Hidden([*secret_params.values(), *secret_headers.values(), parts.password or ""])
        query = _encode_query({**self._params, **asked.params, **secret_params})
        host = parts.netloc.rpartition("@")[2]
        request = Request(
            method=asked.method,
            url=address + (f"{'&' if parts.query else '?'}{query}" if query else ""),
            shown=f"{self.name} ({host})",
            headers={
                "accept": "application/json, */*;q=0.5",
                **self._headers,
                **asked.headers,
                **secret_headers,
            },
            content=asked.content,
        )
        return self._send_until_answered(request, self._pace(host), call, hidden)

    def _send_until_answered(
        self, request: Request, pace: Pace, call: Call, hidden: _Hidden
    ) -> Reply:
        attempt = 1
        while True:
            try:
                with pace.turn(call):
                    call.say(f"asking {request.shown}")
                    return self._send_request(request, call, hidden)
            except WebError as error:
                failure = error
            attempt += 1
            self._wait(attempt, failure, pace, call)

    def _wait(self, attempt: int, failure: WebError, pace: Pace, call: Call) -> None:
        """Wait until it is time to ask again. Raises *failure* if it is never."""
        asked = failure.asked_wait_seconds
        if asked is not None:
            pace.hold(call, min(asked, _MAX_HOLD_SECONDS))
        seconds = self._retries.choose_wait_seconds(attempt, failure, call.watch.chance)
        if seconds is None or seconds > call.seconds_left:
            raise failure
        # The failure says already how long the service wants it to take; a second number would only
        # confuse.
        again = (
            "the request is repeated then" if asked else f"asking again in {seconds:.1f} seconds"
        )
        call.say(f"{failure}; {again}")
        call.wait(seconds)

    def _send_request(self, request: Request, call: Call, hidden: _Hidden) -> Reply:
        """The answer, at most a few redirects away: within the same host, because others must not
        see the key.
        """
        for _ in range(_MAX_REDIRECTS):
            reply = send(request, call, self._limits, clean=hidden)
            if reply.is_success:
                return reply
            onward = _make_redirected_request(request, reply)
            if onward is None:
                break
            request = onward
        raise make_refusal(
            reply.status,
            reply.body,
            reply.headers,
            where=request.shown,
            now=call.watch.now(),
            clean=hidden,
        )


class _Asked(msgspec.Struct, frozen=True):
    method: str
    path: str
    params: dict[str, object]
    headers: dict[str, str]
    content: bytes | None


class _Hidden:
    """Takes secrets out of texts: as they are, and as they stand in URLs."""

    def __init__(self, secrets: list[str]) -> None:
        from urllib.parse import quote, quote_plus

        forms = {
            form
            for secret in secrets
            for form in (secret, quote(secret, safe=""), quote_plus(secret))
        }
        self._forms = sorted(
            (form for form in forms if len(form) >= _SHORTEST_SECRET), key=len, reverse=True
        )

    def __call__(self, text: str) -> str:
        for form in self._forms:
            text = text.replace(form, "[key]")
        return text


def _make_url(name: str, base_url: str, path: str) -> str:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(base_url)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        is_one = False
    if not is_one:
        raise ToolError(
            say(
                "the base URL of {name} is no address: it begins with https:// or http:// and a"
                " host",
                name=name,
            )
        )
    return f"{base_url}/{path.lstrip('/')}" if path else base_url


def _encode_query(params: Mapping[str, object]) -> str:
    from urllib.parse import urlencode

    named = [
        (name, each)
        for name, value in params.items()
        for each in (value if isinstance(value, list) else [value])
    ]
    return urlencode(
        [(name, _write(value)) for name, value in named if value is not None], errors="replace"
    )


def _write(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _make_redirected_request(request: Request, reply: Reply) -> Request | None:
    """The request that a redirect asks for; None if it leads elsewhere, or is malformed."""
    from urllib.parse import urljoin, urlsplit

    if (
        request.method != "GET"
        or reply.status not in (301, 302, 303, 307, 308)
        or "location" not in reply.headers
    ):
        return None
    try:
        url = urljoin(request.url, reply.headers["location"])
        here, there = urlsplit(request.url), urlsplit(url)
    except ValueError:
        return None
    is_same = (here.scheme, here.netloc) == (there.scheme, there.netloc)
    return msgspec.structs.replace(request, url=url) if is_same else None
