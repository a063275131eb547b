"""`toolwire inspect` as a process, and the browser that uses its page, by plain HTTP over
loopback.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from support.server_process import PATIENCE_SECONDS, wait_until

SUPPORT = Path(__file__).parents[2] / "support"

TOOLS = '''
import os, time
from dataclasses import dataclass
from toolwire import Context, ToolError

def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b

def steps(context: Context) -> str:
    """Report progress, and write a log message."""
    context.progress(1, 2, "half")
    context.log("on the way")
    return "arrived"

@dataclass
class Size:
    size: int

def order(context: Context, what: str) -> str:
    """Order after a question."""
    answer = context.ask(f"Which size of {what}?", Size)
    return f"{what}: {answer}"

def wait(context: Context, folder: str) -> str:
    """Wait until cancelled, and leave a file then."""
    open(f"{folder}/waits", "w").close()
    while not context.cancelled:
        time.sleep(0.01)
    open(f"{folder}/cancelled", "w").close()
    raise ToolError("cancelled")

def wrong() -> dict[str, int]:
    """Fail."""
    raise ToolError("no luck")

def die() -> None:
    """End the process."""
    os._exit(7)
'''


class Browser:
    """Speaks to the page at *url*."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.port = urlsplit(url).port or 0
        self.path = urlsplit(url).path
        self.host = f"127.0.0.1:{self.port}"

    def open(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Response:
        """Send a request for an absolute *path*, or one below the token."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        usual = {"Host": self.host} | ({} if data is None else {"Content-Type": "application/json"})
        connection.putrequest(
            method, path if path.startswith("/") else self.path + path, skip_host=True
        )
        sent = {
            **usual,
            **(headers or {}),
            **({} if data is None else {"Content-Length": str(len(data))}),
        }
        for name, value in sent.items():
            connection.putheader(name, value)
        connection.endheaders(data)
        return Response(connection)

    def status(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> int:
        """Return the status of a response, and leave it unread."""
        with self.open(method, path, body, headers) as response:
            return response.status

    def get(self, path: str) -> Any:
        with self.open("GET", path) as response:
            assert response.status == 200
            return response.json()

    def post(self, path: str, **body: Any) -> Any:
        with self.open("POST", path, body) as response:
            assert response.status == 200, response.read()
            return response.json()

    def refused(self, path: str, **body: Any) -> tuple[int, str]:
        with self.open("POST", path, body) as response:
            return response.status, response.json()["error"]

    def call(self, tool: str, **arguments: Any) -> list[dict[str, Any]]:
        """Return all lines of a call."""
        return self.lines("call", tool=tool, arguments=arguments)

    def lines(self, path: str, **body: Any) -> list[dict[str, Any]]:
        with self.open("POST", path, body) as response:
            assert response.status == 200, response.read()
            return list(response.lines())

    def ready(self) -> dict[str, Any]:
        """Return the state as soon as the server is ready, or has ended."""
        wait_until(lambda: self.get("state")["status"] != "starting")
        state: dict[str, Any] = self.get("state")
        return state

    def tools(self) -> list[str]:
        return [tool["name"] for tool in self.get("state")["tools"]]


class Response:
    """A response, whose lines can be read as they come."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection
        self._response = connection.getresponse()
        self.status = self._response.status
        self.headers = {name.lower(): value for name, value in self._response.getheaders()}
        self.read = self._response.read

    def __enter__(self) -> Response:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Go away, as a browser whose page is closed."""
        self._response.close()
        self._connection.close()

    def json(self) -> Any:
        return json.loads(self.read())

    def lines(self) -> Iterator[dict[str, Any]]:
        for line in self._response:
            yield json.loads(line)

    def until(self, **members: Any) -> dict[str, Any]:
        """Return the next line with these *members*."""
        return next(line for line in self.lines() if members.items() <= line.items())


@contextmanager
def inspected(
    *words: str, command: str = "inspect"
) -> Iterator[tuple[Browser, subprocess.Popen[str]]]:
    """The page of `toolwire inspect` with these *words*, and its process, which ends by SIGTERM if
    it runs then.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "toolwire", command, "--no-browser", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        line = (process.stdout if command == "inspect" else process.stderr).readline()
        assert line.startswith("Open http://127.0.0.1:"), line + process.stderr.read()
        yield Browser(line.split()[1]), process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_SECONDS)


@contextmanager
def tools_page(folder: Path) -> Iterator[Browser]:
    """The page of the tools above, ready."""
    (folder / "tools.py").write_text(TOOLS, encoding="utf-8")
    with inspected(str(folder / "tools.py")) as (browser, _):
        assert browser.ready()["status"] == "ready"
        yield browser


@contextmanager
def foreign_page(folder: Path, *tools: str, **lists: Any) -> Iterator[Browser]:
    """The page of a legacy server of another maker with these *tools*, ready."""
    set_tools(folder, *tools, **lists)
    with inspected("--", sys.executable, str(SUPPORT / "foreign_server.py"), str(folder)) as (
        browser,
        _,
    ):
        assert browser.ready()["status"] == "ready"
        yield browser


def set_tools(folder: Path, *tools: str, **lists: Any) -> None:
    """Have the server of another maker list these *tools* from now on."""
    entries = [{"name": name, "inputSchema": {"type": "object"}} for name in tools]
    (folder / "lists.new").write_text(json.dumps({"tools": entries, **lists}), encoding="utf-8")
    (folder / "lists.new").replace(folder / "lists.json")
