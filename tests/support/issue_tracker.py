"""A stand-in for the HTTP API of GitHub, on the loopback interface: two issues, and every failure
that it has.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

KEY = "ghp_secret"
ISSUES = [
    {
        "repository_url": "https://api.github.com/repos/tea/pot",
        "number": number,
        "title": title,
        "state": "open",
        "html_url": f"https://github.com/tea/pot/issues/{number}",
        "body": f"{title}, every time.",
    }
    for number, title in ((7, "Lid falls off"), (8, "Handle is hot"))
]


class Tracker(ThreadingHTTPServer):
    """Answers as GitHub does. The next requests get *status*; 0 means no answer."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.status = 200
        self.paths: list[str] = []
        self.stopped = threading.Event()


class _Handler(BaseHTTPRequestHandler):
    server: Tracker

    def do_GET(self) -> None:
        self.server.paths.append(self.path)
        if self.server.status == 0:
            self.server.stopped.wait()
            return
        if self.headers["Authorization"] != f"Bearer {KEY}":
            self._send(401, {"message": "Bad credentials"})
        elif self.server.status != 200:
            self._send(self.server.status, {"message": "no"})
        else:
            self._send(*self._found())

    def _found(self) -> tuple[int, Any]:
        address = urlsplit(self.path)
        if address.path == "/search/issues":
            query = {
                name: values[0]
                for name, values in parse_qs(address.query, keep_blank_values=True).items()
            }
            items = [issue for issue in ISSUES if query["q"].lower() in str(issue["title"]).lower()]
            return 200, {"items": items[: int(query["per_page"])]}
        for issue in ISSUES:
            if address.path == f"/repos/tea/pot/issues/{issue['number']}":
                return 200, issue
        return 404, {"message": "Not Found"}

    def _send(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if status == 429:
            self.send_header("Retry-After", "30")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Write nothing to stderr."""


@contextmanager
def issue_tracker() -> Iterator[Tracker]:
    """Run a tracker, and stop it afterwards."""
    with Tracker() as tracker:
        thread = threading.Thread(target=tracker.serve_forever)
        thread.start()
        try:
            yield tracker
        finally:
            tracker.stopped.set()
            tracker.shutdown()
            thread.join()
