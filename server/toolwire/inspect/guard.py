"""Decides whether a request of a browser is one of the page's own. No I/O.

Strategy. Any program on the machine can send requests to this port, and any website that the user
has open. The token, which only the printed address has, keeps out both. The rest is a second lock
for websites: `Host` against names that are rebound to this machine, `Origin` and `Sec-Fetch-Site`
against requests of other pages, and JSON as the type of bodies, which a form of another page cannot
send.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src"
    " data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
}
"""Headers of every response."""


class RequestGuard:
    """Lets in the requests to *port* that know the token.

    *is_own* receives the port of a client and says whether a process of this user has it.
    """

    def __init__(self, port: int, is_own: Callable[[int], bool]) -> None:
        self._is_own = is_own
        self._token = secrets.token_urlsafe(32)
        self._ticket = secrets.token_urlsafe(32)
        own_host = f"127.0.0.1:{port}"
        self._hosts = [own_host, f"localhost:{port}", f"[::1]:{port}"]
        self.url = f"http://{own_host}/{self._token}/"
        self.url_once = f"http://{own_host}/{self._ticket}"
        """An address that leads to `url` once, and only this user; for a file that the browser
        opens.
        """

    def knows(self, path: str) -> bool:
        """Return whether *path* begins with the token or the ticket."""
        is_ticket, is_page = self._compare(path)
        return is_ticket or is_page

    def check_path(self, request: Request) -> str:
        """Return the path of *request* below the token.

        Raises:
            HTTPException: if it is not answered; its headers say where to go instead.
        """
        _, slash, rest = request.scope["path"].removeprefix("/").partition("/")
        is_ticket, is_page = self._compare(request.scope["path"])
        if not (is_ticket or is_page):
            raise HTTPException(404, "not found")
        is_post, headers = (
            request.method == "POST",
            {name: value.lower() for name, value in request.headers.items()},
        )
        if headers.get("host") not in self._hosts:
            raise HTTPException(
                403, f"this page answers only at {self._hosts[0]}: forward the same port"
            )
        is_foreign = is_post and headers.get("sec-fetch-site", "same-origin") != "same-origin"
        if (
            is_foreign
            or headers.get("origin", "http://" + self._hosts[0]).removeprefix("http://")
            not in self._hosts
        ):
            raise HTTPException(403, "requests of other sites are refused")
        if (
            is_post
            and headers.get("content-type", "").partition(";")[0].strip() != "application/json"
        ):
            raise HTTPException(415, "the body must be application/json")
        if request.method not in ("GET", "POST"):
            raise HTTPException(405, "only GET and POST are answered")
        if is_ticket and not self._is_own(request.scope["client"][1]):
            raise HTTPException(
                403, "this address is for another user: open the one that Toolwire has printed"
            )
        if is_ticket or not slash:
            self._ticket = secrets.token_urlsafe(32) if is_ticket else self._ticket
            raise HTTPException(303, headers={"location": f"/{self._token}/"})
        return str(rest)

    def _compare(self, path: str) -> tuple[bool, bool]:
        """Return whether *path* begins with the ticket, and whether it begins with the token."""
        start = path.removeprefix("/").partition("/")[0].encode(errors="replace")
        is_ticket = secrets.compare_digest(start, self._ticket.encode())
        is_page = secrets.compare_digest(start, self._token.encode())
        return is_ticket, is_page
