"""The browser is led to the page by a private file: no secret is on a command line, and no other
user gets in.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from support.server_process import PATIENCE_SECONDS, wait_until
from toolwire.inspect.peer_user import find_user, is_own_connection

NOBODY = 65_534
"""The number of a user without rights."""

# Writes down its command line, and what it can see of the file that it is to open.
BROWSER = """#!{python}
import json, os, sys
path = sys.argv[-1].removeprefix("file://")
seen = {{
    "arguments": sys.argv[1:],
    "path": path,
    "modes": [os.stat(path).st_mode, os.stat(os.path.dirname(path)).st_mode],
    "text": open(path).read(),
}}
with open({report!r} + ".new", "w") as file:
    json.dump(seen, file)
os.rename({report!r} + ".new", {report!r})
"""


class Opened:
    """What the browser was given, and the process that serves the page."""

    def __init__(self, report: Path) -> None:
        seen = json.loads(report.read_text("utf-8"))
        self.arguments: list[str] = seen["arguments"]
        self.file = Path(unquote(seen["path"]))
        self.modes = [stat.S_IMODE(mode) for mode in seen["modes"]]
        found = re.search(r'url=(http://[^"]+)"', seen["text"])
        assert found is not None
        self.address = urlsplit(found[1])
        self.host = self.address.netloc
        self.secret = self.address.path.strip("/")

    def status(self) -> int:
        """Return the status of the address in the file, for a client of this user."""
        connection = http.client.HTTPConnection(self.host, timeout=PATIENCE_SECONDS)
        try:
            connection.request("GET", self.address.path)
            return connection.getresponse().status
        finally:
            connection.close()

    def status_for(self, user: int) -> int:
        """Return the status of the address in the file, for a client of another *user*."""
        request = (
            f"GET {self.address.path} HTTP/1.1\\r\\nHost: {self.host}\\r\\nConnection:"
            " close\\r\\n\\r\\n"
        )
        script = (
            f"exec 3<>/dev/tcp/127.0.0.1/{self.address.port}; printf '{request}' >&3; head -n 1 <&3"
        )
        done = subprocess.run(
            ["/bin/bash", "-c", script],
            user=user,
            cwd="/",
            stdout=subprocess.PIPE,
            timeout=PATIENCE_SECONDS,
            text=True,
            check=True,
        )
        return int(done.stdout.split()[1])


@contextmanager
def opened_in_browser(folder: Path, *words: str) -> Iterator[Opened]:
    """Run `toolwire` with these *words*, on a machine with a screen, until the browser has been
    started.
    """
    report, browser = folder / "report.json", folder / "browser"
    browser.write_text(BROWSER.format(python=sys.executable, report=str(report)), "utf-8")
    browser.chmod(0o700)
    environment = {**os.environ, "DISPLAY": ":99", "BROWSER": str(browser), "TMPDIR": str(folder)}
    process = subprocess.Popen(
        [sys.executable, "-m", "toolwire", *words],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        wait_until(report.exists)
        yield Opened(report)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_SECONDS)


@pytest.fixture
def target(tmp_path: Path) -> str:
    path = tmp_path / "tools.py"
    path.write_text("def add(a: int, b: int) -> int:\n    return a + b\n", "utf-8")
    return str(path)


@pytest.mark.process
def test_the_browser_s_command_line_has_a_private_file_and_no_secret(
    tmp_path: Path, target: str
) -> None:
    with opened_in_browser(tmp_path, "inspect", target) as opened:
        assert opened.arguments == [opened.file.as_uri()]
        assert opened.secret not in str(opened.file)
        assert opened.modes == [0o600, 0o700]
        assert opened.file.exists()
    assert not opened.file.parent.exists()


@pytest.mark.process
def test_a_run_of_an_agent_is_opened_in_the_same_way(tmp_path: Path, target: str) -> None:
    words = ["ask", "--inspect", "--model", "arithmetic", "--tools", target, "What is 2 + 2?"]
    with opened_in_browser(tmp_path, *words) as opened:
        assert opened.arguments == [opened.file.as_uri()]
        assert opened.modes == [0o600, 0o700]


@pytest.mark.process
def test_the_address_in_the_file_works_once(tmp_path: Path, target: str) -> None:
    with opened_in_browser(tmp_path, "inspect", target) as opened:
        assert [opened.status(), opened.status()] == [303, 404]


@pytest.mark.process
@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="only root can act as another user"
)
def test_another_user_cannot_take_the_address_in_the_file(tmp_path: Path, target: str) -> None:
    with opened_in_browser(tmp_path, "inspect", target) as opened:
        assert opened.status_for(NOBODY) == 403
        assert opened.status() == 303


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no table of connections")
def test_linux_says_who_has_opened_a_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server_port = listener.getsockname()[1]
        with socket.create_connection(("127.0.0.1", server_port)) as client:
            client_port = client.getsockname()[1]
            assert find_user(client_port, server_port) == os.geteuid()
            assert is_own_connection(client_port, server_port)
            assert find_user(client_port, server_port + 1) is None
            assert not is_own_connection(client_port, server_port + 1)
