"""Decides whether a request of a browser is one of the page's own. No I/O.

Strategy. Any program on the machine can send requests to this port, and any website that the user has open. The token,
which only the printed address has, keeps out both. The rest is a second lock for websites: `Host` against names that
are rebound to this machine, `Origin` and `Sec-Fetch-Site` against requests of other pages, and JSON as the type of
bodies, which a form of another page cannot send.
"""

from __future__ import annotations

import hmac
import secrets
from typing import TYPE_CHECKING

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
    """A request is not answered: `status` says how, the text why, and `headers` where to go instead."""

    def __init__(self, status: int, sentence: str, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
        super().__init__(sentence)
        self.status, self.headers = status, headers


class Guard:
    """Lets in the requests to *port* that know the token."""

    def __init__(self, port: int) -> None:
        self._token, self._ticket = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self._hosts = [f"{host}:{port}" for host in ("127.0.0.1", "localhost", "[::1]")]
        self.url = f"http://{self._hosts[0]}/{self._token}/"
        self.url_once = f"http://{self._hosts[0]}/{self._ticket}"
        """An address that leads to `url` once: other users of the machine can read the command that has it."""

    def path(self, method: str, path: str, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """Return the *path* below the token. Raises `Rejected`."""
        start, slash, rest = path.removeprefix("/").partition("/")
        is_ticket = _is_same(start, self._ticket)
        if not (is_ticket or _is_same(start, self._token)):
            raise Rejected(404, "not found")
        given = {name: value.decode("latin-1").lower() for name, value in headers}
        if given.get(b"host") not in self._hosts:
            raise Rejected(403, f"this page answers only at {self._hosts[0]}: forward the same port")
        is_foreign = method == "POST" and given.get(b"sec-fetch-site", "same-origin") != "same-origin"
        if is_foreign or given.get(b"origin", "http://" + self._hosts[0]).removeprefix("http://") not in self._hosts:
            raise Rejected(403, "requests of other sites are refused")
        if method == "POST" and given.get(b"content-type", "").partition(";")[0].strip() != "application/json":
            raise Rejected(415, "the body must be application/json")
        if method not in ("GET", "POST"):
            raise Rejected(405, "only GET and POST are answered")
        if is_ticket or not slash:
            self._ticket = secrets.token_urlsafe(32) if is_ticket else self._ticket
            raise Rejected(303, "", [(b"location", f"/{self._token}/".encode())])
        return rest


def _is_same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), secret.encode())
