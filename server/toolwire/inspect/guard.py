"""Decides whether a request of a browser is one of the page's own. No I/O.

Strategy. Any program on the machine can send requests to this port, and any website that the user has open. The token,
which only the printed address has, keeps out both. The rest is a second lock for websites: `Host`
against names that are rebound to this machine, `Origin` and `Sec-Fetch-Site` against requests of other pages, and JSON
as the type of bodies, which a form of another page cannot send.
"""

from __future__ import annotations

import hmac
import secrets
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src data:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
"""Headers of every response."""


class Rejected(Exception):
    """A request is not the page's own, or wrong: `status` says how, the text why."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Moved(Exception):
    """A request goes on at another address, the text."""


class Guard:
    """Lets in requests to *port* that know the token."""

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(32)
        self._ticket = secrets.token_urlsafe(32)
        self._is_used = False
        self._hosts = [f"{host}:{port}" for host in ("127.0.0.1", "localhost", "[::1]")]
        self.url = f"http://{self._hosts[0]}/{self.token}/"
        self.url_once = f"http://{self._hosts[0]}/{self._ticket}"
        """An address that leads to `url` once: other users of the machine see the words of a browser's command."""

    def path(self, method: str, path: str, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """Return the *path* below the token. Raises `Rejected`, or `Moved`."""
        start, slash, rest = path.removeprefix("/").partition("/")
        is_ticket = _same(start, self._ticket) and not self._is_used
        if not (is_ticket or _same(start, self.token)):
            raise Rejected(404, "not found")
        given = {name: value.decode("latin-1") for name, value in headers}
        _Origin(given.get(b"host", ""), given.get(b"origin"), given.get(b"sec-fetch-site")).judge(method, self._hosts)
        if method == "POST" and given.get(b"content-type", "").partition(";")[0].strip() != "application/json":
            raise Rejected(415, "the body must be application/json")
        if is_ticket or not slash:
            self._is_used = self._is_used or is_ticket
            raise Moved(f"/{self.token}/")
        return rest


class _Origin(msgspec.Struct):
    """The headers that name the origin of a request."""

    host: str
    origin: str | None
    site: str | None

    def judge(self, method: str, hosts: list[str]) -> None:
        if self.host.lower() not in hosts:
            raise Rejected(403, f"this page answers only at {hosts[0]}: forward the same port")
        if self.origin is not None and self.origin.lower() not in [f"http://{host}" for host in hosts]:
            raise Rejected(403, "requests of other sites are refused")
        if method == "POST" and self.site not in (None, "same-origin"):
            raise Rejected(403, "requests of other sites are refused")


def _same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), secret.encode())
