"""Pages of the web: fetched for a model that chose the URL, with each address on the way checked.

They are fetched directly, whatever HTTP_PROXY says: a proxy looks hosts up itself, and what was checked here would not
be what it connects to.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec

from toolwire_tools.bundled.needs import extra

from .errors import NotConnected, NotOpened, Unusable
from .exchange import Limits, Reply, Request, send
from .guard import Guard, shown
from .refusals import refusal

if TYPE_CHECKING:
    from .call import Call, Leaving
    from .guard import Target

_MAX_REDIRECTS = 10
_MAX_ADDRESSES = 3
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ACCEPTED = "text/html, application/xhtml+xml, text/plain;q=0.9, text/*;q=0.8, application/json;q=0.8, */*;q=0.1"

_AS_TEXT = ("text/", "application/json", "application/xml", "application/javascript", "application/yaml")
_SUFFIXES_OF_TEXT = ("+json", "+xml", "+yaml")


class Page(msgspec.Struct, frozen=True):
    """What was found at *url*, where the last redirect led."""

    url: str
    content_type: str
    body: bytes


def fetch(url: str, call: Call, *, guard: Guard = Guard(), limits: Limits = Limits()) -> Page:  # noqa: B008  # frozen
    """The page at *url*, which is asked for once: whoever wants it can ask again.

    Raises:
        NotOpened: if it, or what it redirects to, is not to be opened.
        WebError: if it cannot be had, or is nothing to read.
        Cancelled: if the call was cancelled.
    """
    with extra("web"):
        import httpx2  # noqa: F401
    for _ in range(_MAX_REDIRECTS + 1):
        call.say(f"opening {shown(url)}")
        target = call.attend(partial(_target, guard, url), f"looking up the host of {shown(url)}")
        reply = _asked(target, call, limits)
        if reply.status not in _REDIRECTS or "location" not in reply.headers:
            break
        url = _onward(target, reply)
    else:
        raise NotOpened(f"{shown(url)} leads on and on: {_MAX_REDIRECTS} redirects are the limit")
    if not reply.is_success:
        raise refusal(reply.status, reply.body, reply.headers, where=reply.where, now=call.watch.now(), clean=str)
    if "content-type" not in reply.headers and b"\0" in reply.body[:1024]:
        raise Unusable(f"{reply.where} does not say what it is, and is no text")
    return Page(str(target.url), reply.headers.get("content-type", ""), reply.body)


def _target(guard: Guard, url: str, leaving: Leaving) -> Target:
    return guard.target(url)


def _asked(target: Target, call: Call, limits: Limits) -> Reply:
    """The answer of the first of the target's addresses that can be connected to."""
    *others, last = target.addresses[:_MAX_ADDRESSES]
    for address in others:
        try:
            return send(_request(target, address), call, limits, check=_check_kind)
        except NotConnected:
            continue
    return send(_request(target, last), call, limits, check=_check_kind)


def _request(target: Target, address: str) -> Request:
    """A request to *address* itself, by the name of its host: in `Host`, and for TLS in SNI and the certificate."""
    host = target.url.raw_host.decode("ascii")
    place = address.partition("%")[0]  # a zone, of addresses that somebody allowed
    return Request(
        method="GET",
        url=str(target.url.copy_with(host=place, fragment=None)),
        shown=shown(str(target.url)),
        headers={"host": target.url.netloc.decode("ascii"), "accept": _ACCEPTED},
        extensions={"sni_hostname": host.rstrip(".")} if host != place else {},
        direct=True,
    )


def _check_kind(reply: Reply) -> None:
    """Do nothing if what is coming can be read; of errors anything can."""
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not reply.is_success or not kind or kind.startswith(_AS_TEXT) or kind.endswith(_SUFFIXES_OF_TEXT):
        return
    if kind == "application/pdf":
        raise Unusable(f"{reply.where} is a PDF, which cannot be read here; look for a page with the same text")
    raise Unusable(f"{reply.where} is {kind[:80]}, which is no text")


def _onward(target: Target, reply: Reply) -> str:
    from httpx2 import InvalidURL

    try:
        return str(target.url.join(reply.headers["location"]))
    except (InvalidURL, ValueError):
        raise NotOpened(f"{reply.where} leads to {shown(reply.headers['location'])!r}, which is no URL") from None
