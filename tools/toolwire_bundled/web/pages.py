"""Fetch pages whose URLs a model chose.

Strategy. The HTTP client follows redirects itself; each request on the way passes
`_CheckedTransport`, which looks the host up once, has the guard check what was found, and connects
to exactly such an address. Proxies of the environment are not used: a proxy looks hosts up itself,
and may connect elsewhere than to the address that was checked.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import httpx2
import msgspec
from toolwire_schemas.language import say

from .error_responses import make_refusal
from .errors import NotOpened, Unreachable, Unusable
from .http import Limits, Request, send
from .ssrf_guard import AddressGuard, parse_page_url, show_url

if TYPE_CHECKING:
    import ssl

    from .call import Call, Leaving

_MAX_ADDRESSES = 3
_ACCEPTED = (
    "text/html, application/xhtml+xml, text/plain;q=0.9, text/*;q=0.8, application/json;q=0.8,"
    " */*;q=0.1"
)

_AS_TEXT = (
    "text/",
    "application/json",
    "application/xml",
    "application/javascript",
    "application/yaml",
)
_SUFFIXES_OF_TEXT = ("+json", "+xml", "+yaml")


class Page(msgspec.Struct, frozen=True):
    """The page at *url*, where the last redirect led."""

    url: str
    content_type: str
    body: bytes


_PUBLIC_ADDRESSES = AddressGuard()
_USUAL_LIMITS = Limits()


def fetch(
    url: str,
    call: Call,
    *,
    guard: AddressGuard = _PUBLIC_ADDRESSES,
    limits: Limits = _USUAL_LIMITS,
) -> Page:
    """Return the page at *url*. There are no retries: the model can ask again.

    Raises:
        NotOpened: if the guard permits neither this URL nor a redirect of it.
        WebError: if there is no page, or it is no text.
        Cancelled: if the call was cancelled.
    """
    request = Request(
        method="GET",
        url=str(parse_page_url(url)),
        shown=show_url(url),
        headers={"accept": _ACCEPTED},
    )
    reply = send(request, call, limits, transport=partial(_CheckedTransport, guard, call))
    if not reply.is_success:
        raise make_refusal(
            reply.status,
            reply.body,
            reply.headers,
            where=reply.where,
            now=call.watch.now(),
            clean=str,
        )
    if "content-type" not in reply.headers and b"\0" in reply.body[:1024]:
        raise Unusable(say("{where} does not say what it is, and is no text", where=reply.where))
    return Page(reply.url, reply.headers.get("content-type", ""), reply.body)


class _CheckedTransport(httpx2.HTTPTransport):
    """Sends each request to an address of its host that *guard* permits."""

    def __init__(
        self, guard: AddressGuard, call: Call, leaving: Leaving, certificates: ssl.SSLContext
    ) -> None:
        # The pool tells connections apart by address. One that was kept could be used for another
        # name there, whose certificate nothing would check.
        super().__init__(
            verify=certificates, trust_env=False, limits=httpx2.Limits(max_keepalive_connections=0)
        )
        self._guard = guard
        self._call = call
        self._leaving = leaving

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        where = show_url(str(request.url))
        if self._leaving.has_left:
            raise Unreachable(say("{where} is not needed any more", where=where))
        self._call.say(f"opening {where}")
        self._leaving.what = f"looking up the host of {where}"
        addresses = self._guard.find_addresses(str(request.url))[:_MAX_ADDRESSES]
        self._leaving.what = where
        response = self._get_first_response(
            [_pin_address(request, address) for address in addresses]
        )
        if not response.has_redirect_location:
            _check_kind(response, where)
            return response
        response.close()
        # The client would read the body of a redirect to its end, however long, so it gets none.
        return httpx2.Response(
            response.status_code, headers={"location": _find_redirect(request, response)}
        )

    def _get_first_response(self, requests: list[httpx2.Request]) -> httpx2.Response:
        *others, last = requests
        for request in others:
            with suppress(httpx2.ConnectError, httpx2.ConnectTimeout):
                return super().handle_request(request)
        return super().handle_request(last)


def _pin_address(request: httpx2.Request, address: str) -> httpx2.Request:
    """*request* to *address*; its headers, TLS's SNI and the check of the certificate keep the name
    of the host.
    """
    place = address.partition("%")[0]  # a zone, of addresses that the settings allow
    name = request.url.raw_host.decode("ascii").rstrip(".")
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=place),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": name},
    )


def _find_redirect(request: httpx2.Request, response: httpx2.Response) -> str:
    """The URL that a redirect leads to. Others than of pages are refused here: the client would
    change some of them.
    """
    location = response.headers["location"]
    try:
        url = str(request.url.join(location))
    except (httpx2.InvalidURL, ValueError):
        raise NotOpened(
            say(
                "{url} leads to {location!r}, which is no URL",
                url=show_url(str(request.url)),
                location=show_url(location),
            )
        ) from None
    return str(parse_page_url(url))


def _check_kind(response: httpx2.Response, where: str) -> None:
    """Raise `Unusable` if the body that would come is no text. Of errors anything is read."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if (
        not response.is_success
        or not kind
        or kind.startswith(_AS_TEXT)
        or kind.endswith(_SUFFIXES_OF_TEXT)
    ):
        return
    if kind == "application/pdf":
        raise Unusable(
            say(
                "{where} is a PDF, which cannot be read here; look for a page with the same text",
                where=where,
            )
        )
    raise Unusable(say("{where} is {kind}, which is no text", where=where, kind=kind[:80]))
