"""Which addresses a page may be fetched from when a model chooses the URL.

Strategy. A URL may come from a page that wants something of the machine this runs on (server-side
request forgery). How a host is spelled does not matter: it is looked up, what is found is checked,
and the connection goes to exactly that address, so that a second look-up cannot say something else.
The lists are IANA's registries of special-purpose addresses, as `ipaddress` knows them, and what
they leave out.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from toolwire_schemas.language import say

from .errors import NotOpened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import httpx2

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_MAX_URL = 8_000
_WEB_PORTS = {"http": 80, "https": 443}

# What browsers refuse (https://fetch.spec.whatwg.org/#port-blocking) of the ports from 1024 on.
# Below, only those of the web itself are asked.
_BAD_PORTS = frozenset(
    {
        1719,
        1720,
        1723,
        2049,
        3659,
        4045,
        4190,
        5060,
        5061,
        6000,
        6566,
        6665,
        6666,
        6667,
        6668,
        6669,
        6679,
        6697,
        10080,
    }
)

# Unicast space that is given out at all; NAT64 (RFC 6052) is how hosts without IPv4 reach it, and
# represents it.
_GLOBAL_IPV6 = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# The IETF's own (whose exceptions no page is on, and of which older Pythons know a part), 6to4 and
# its relays (RFC 7526), Teredo, documentation (RFC 9637), and the metadata service of Azure, which
# has a public address.
_NOT_PUBLIC: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...] = (
    *map(ipaddress.IPv4Network, ("192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32")),
    *map(ipaddress.IPv6Network, ("2001::/23", "2002::/16", "3fff::/20")),
)


class AddressGuard(msgspec.Struct, frozen=True):
    """What may be opened. *allowed* are hosts, addresses and networks that may be opened although
    they are private, on any port; True is all of them."""

    allowed: bool | tuple[str, ...] = False

    def __post_init__(self) -> None:
        """Raise ValueError if something else is allowed than hosts, addresses and networks."""
        for each in self.allowed if isinstance(self.allowed, tuple) else ():
            if _parse_network(each) is None and not is_host(each):
                raise ValueError(
                    f"{each!r} is neither a host, nor an address, nor a network like 10.0.0.0/8"
                )

    def find_addresses(
        self, url: str, resolve: Callable[[str], Sequence[str]] | None = None
    ) -> list[str]:
        """Look the host of *url* up, and return those of its addresses that may be connected to.

        Raises:
            NotOpened: if it has none, or is no URL of a page, with the reason.
        """
        parsed = parse_page_url(url)
        return self._list_permitted(
            parsed, (resolve or _resolve_host)(parsed.raw_host.decode("ascii"))
        )

    def _list_permitted(self, url: httpx2.URL, addresses: Sequence[str]) -> list[str]:
        permitted = [each for each in addresses if self._may_ask(url, ipaddress.ip_address(each))]
        if permitted:
            return permitted
        if any(is_public(ipaddress.ip_address(each)) for each in addresses):
            raise NotOpened(
                say(
                    "{url} has the port {port}, where no pages are",
                    url=show_url(str(url)),
                    port=url.port,
                )
            )
        seen = ", ".join(each for each in addresses[:3] if each != url.host)
        where = f"{url.host} ({seen})" if seen else url.host
        raise NotOpened(
            say("{where} is not on the public internet; pages there are not opened", where=where)
        )

    def _may_ask(self, url: httpx2.URL, address: Address) -> bool:
        if self.allowed is True or any(
            _covers(each, url.host, address) for each in self.allowed or ()
        ):
            return True
        return is_public(address) and _has_pages(url)


def parse_page_url(url: str) -> httpx2.URL:
    """Parse *url*, which may be that of a page.

    Raises:
        NotOpened: if it has the form of something else.
    """
    import httpx2

    if len(url) > _MAX_URL:
        raise NotOpened(
            say(
                "the URL is {count:,} characters long; {max_url:,} are the limit",
                count=len(url),
                max_url=_MAX_URL,
            )
        )
    try:
        parsed = httpx2.URL(url.strip())
        host = parsed.host  # raises where its IDNA cannot be decoded
    except (httpx2.InvalidURL, UnicodeError) as error:
        raise NotOpened(say("{url} is no URL: {error}", url=show_url(url), error=error)) from None
    if parsed.scheme not in _WEB_PORTS:
        problem = say("has no scheme")
        if parsed.scheme:
            problem = say("has the scheme {scheme!r}", scheme=parsed.scheme)
        raise NotOpened(
            say(
                "{url} {problem}; a URL here begins with https:// or http://",
                url=show_url(url),
                problem=problem,
            )
        )
    if not host:
        raise NotOpened(say("{url} names no host", url=show_url(url)))
    if parsed.userinfo:
        raise NotOpened(
            say(
                "{url} holds a user name, which hides where it leads; leave it out",
                url=show_url(url),
            )
        )
    if parsed.port is not None and not 0 < parsed.port <= 65535:
        raise NotOpened(
            say(
                "{url} has the port {port}, which there is not", url=show_url(url), port=parsed.port
            )
        )
    return parsed


def is_host(text: str) -> bool:
    """Whether *text* may be the name of a host: it is no URL, and not several."""
    return bool(text) and not set(text) & set("/:,@ ")


def is_public(address: Address) -> bool:
    """True for addresses of the public internet, false for all that lead to this machine or its
    surroundings.
    """
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address in _NAT64:
            return is_public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        if address not in _GLOBAL_IPV6:
            return False
    unusual = (
        address.is_multicast
        or address.is_reserved
        or any(address in network for network in _NOT_PUBLIC)
    )
    return address.is_global and not unusual


def _has_pages(url: httpx2.URL) -> bool:
    port = _WEB_PORTS[url.scheme] if url.port is None else url.port
    return port in _WEB_PORTS.values() or (port >= 1024 and port not in _BAD_PORTS)


def show_url(url: str) -> str:
    """*url* as a message repeats it: on one line, not too long, and without a password."""
    scheme, separator, rest = url.strip().partition("://")
    place, slash, path = rest.partition("/")
    told = f"{scheme}{separator}{place.rpartition('@')[2]}{slash}{path}"
    told = "".join(c if c.isprintable() else "?" for c in told)
    return told if len(told) <= 200 else f"{told[:199]}…"


def _covers(entry: str, host: str, address: Address) -> bool:
    network = _parse_network(entry)
    return (
        host.rstrip(".").lower() == entry.rstrip(".").lower()
        if network is None
        else address in network
    )


def _parse_network(entry: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(entry, strict=False)
    except ValueError:
        return None


def _resolve_host(host: str) -> list[str]:
    import socket

    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NotOpened(
            say(
                "no host is called {host}: {value}",
                host=host[:200],
                value=getattr(error, "strerror", None) or error,
            )
        ) from None
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))
