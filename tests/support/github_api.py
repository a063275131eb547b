"""GitHub's REST API for the comments of one pull request, on this machine."""

from __future__ import annotations

import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self

TOKEN = "a-token"


class GitHubApi:
    """The API. *may_write*: the token has the right `pull-requests: write`; *status* is that of
    every response.

    With *hangs_up* it closes every connection without a response. The token is that of *login*.
    """

    def __init__(
        self,
        *,
        may_write: bool = True,
        status: int | None = None,
        hangs_up: bool = False,
        login: str = "github-actions[bot]",
    ) -> None:
        self.comments: list[dict[str, Any]] = []
        self._login = login
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer()

            def do_POST(self) -> None:
                self._answer()

            def do_PATCH(self) -> None:
                self._answer()

            def _answer(self) -> None:
                if hangs_up:
                    self.close_connection = True
                    return
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                if self.headers["Authorization"] != f"Bearer {TOKEN}":
                    code, made = 401, {"message": "Bad credentials"}
                elif status is not None:
                    code, made = status, {"message": "no"}
                else:
                    code, made = api._made(self.command, self.path, body, may_write)
                self.send_response(code)
                self.end_headers()
                self.wfile.write(json.dumps(made).encode())

            def log_message(self, *_: object) -> None:
                """Write nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = Thread(target=self._server.serve_forever, daemon=True)

    def add(self, body: str, login: str | None = None) -> dict[str, Any]:
        """Add a comment of *login*, by default that of the token, and return it."""
        comment = {
            "id": 1000 + len(self.comments),
            "body": body,
            "user": {"login": login or self._login},
        }
        self.comments.append(comment)
        return comment

    def _made(self, method: str, path: str, body: Any, may_write: bool) -> tuple[int, Any]:
        refused = 403, {"message": "Resource not accessible by integration"}
        if (method, path, body) == ("POST", "/graphql", {"query": "{viewer{login}}"}):
            return 200, {"data": {"viewer": {"login": self._login}}}
        if found := re.fullmatch(
            r"/repos/owner/project/issues/7/comments\?per_page=100&page=(\d+)", path
        ):
            page = int(found[1]) - 1
            return 200, self.comments[page * 100 : page * 100 + 100]
        if not may_write:
            return refused
        if len(body["body"]) > 65536:
            return 422, {"message": "body is too long"}
        if method == "POST" and path == "/repos/owner/project/issues/7/comments":
            return 201, self.add(body["body"])
        if method == "PATCH" and (
            found := re.fullmatch(r"/repos/owner/project/issues/comments/(\d+)", path)
        ):
            (comment,) = [each for each in self.comments if each["id"] == int(found[1])]
            comment["body"] = body["body"]
            return 200, comment
        return 404, {"message": "Not Found"}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
