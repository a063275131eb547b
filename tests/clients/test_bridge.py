"""A process in the place of a remote server: lines in, lines out, and its end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from support.remote_server import RemoteStandIn, event, events, result
from toolwire_client.remote import as_process

pytestmark = pytest.mark.process

INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}}
SECONDS = 60


def line(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"


def run(words: list[str], text: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        as_process(words), input=text, capture_output=True, timeout=SECONDS, check=False
    )


def test_requests_are_answered_before_the_end_of_the_input_ends_the_process() -> None:
    def slow(exchange: Any) -> None:
        exchange.server.wait_for(lambda each: each.method == "last")
        events(event(result(exchange.received.message["id"])))(exchange)

    with RemoteStandIn().then(slow) as server:
        done = run(
            [server.url],
            line(id=1, method="initialize", params=INITIALIZE)
            + line(method="notifications/initialized")
            + line(id=2, method="tools/call", params={"name": "add"})
            + line(id=3, method="tools/list")
            + line(method="last").rstrip(),
        )

        assert server.methods()[-1] == "DELETE"
    answered = {json.loads(each)["id"] for each in done.stdout.splitlines()}
    assert (done.returncode, answered, done.stderr) == (0, {1, 2, 3}, b"")


def test_no_input_ends_the_process() -> None:
    with RemoteStandIn() as server:
        assert run([server.url], b"").returncode == 0
        assert server.requests == []


def test_text_that_is_no_message_gets_the_error_of_the_server() -> None:
    with RemoteStandIn() as server:
        done = run([server.url], b"\xff{\n")

    assert json.loads(done.stdout)["error"]["code"] == -32700


def test_a_server_that_cannot_be_reached_is_reported_and_ends_the_process() -> None:
    with RemoteStandIn() as server:
        url = server.url
    done = run([url], line(id=1, method="initialize", params=INITIALIZE))

    assert done.returncode == 1
    assert b"cannot be reached" in done.stderr


def test_a_variable_that_is_missing_is_reported() -> None:
    done = run(["https://example.com/", "--bearer-env", "TOOLWIRE_NO_SUCH_VARIABLE"], b"")

    assert done.returncode == 1
    assert done.stderr == b"the environment variable TOOLWIRE_NO_SUCH_VARIABLE is not set\n"


def test_a_package_that_is_missing_is_reported_with_the_command_that_installs_it() -> None:
    start = "import sys; sys.modules['httpx2'] = None; from toolwire_client import bridge; "
    command = [sys.executable, "-c", f"{start}sys.exit(bridge.main(['https://example.com/mcp']))"]

    done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)

    assert done.returncode == 1
    assert done.stderr.startswith(b"remote servers need the package httpx2; run: ")
    assert b"toolwire[http]" in done.stderr


def test_a_signal_ends_the_session_and_the_process() -> None:
    with RemoteStandIn() as server:
        with subprocess.Popen(
            as_process([server.url]), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(line(id=1, method="initialize", params=INITIALIZE))
            process.stdin.flush()
            process.stdout.readline()
            process.terminate()

            assert process.wait(SECONDS) != 0
        assert server.methods()[-1] == "DELETE"


@pytest.mark.parametrize(
    "words",
    [
        ["call", "{url}", "add", "a=1", "b=2"],
        ["call", "add", "a=1", "b=2", "--", "{url}"],
        ["call", "far_add", "a=1", "b=2", "--mount", "far={url}"],
        [
            "call",
            "add",
            "a=1",
            "b=2",
            "--",
            sys.executable,
            "-m",
            "toolwire",
            "wrap",
            "--",
            "{url}",
        ],
    ],
)
def test_commands_take_an_address_where_they_take_a_command(words: list[str]) -> None:
    with RemoteStandIn() as server:
        command = [word.format(url=server.url) for word in words]
        done = subprocess.run(
            [sys.executable, "-m", "toolwire", *command],
            capture_output=True,
            timeout=SECONDS,
            check=False,
            env={**os.environ},
        )

    assert (done.stdout, done.returncode) == (b"3\n", 0)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["list", "{url}", "tools.py"], "a remote server is named alone"),
        (["serve", "{url}"], "mount it: `toolwire serve --mount NAME="),
        (["list", "{url}", "--adopt"], "options for loading tools do not go with"),
        (["list", "--", "{url}", "--token", "x"], "after an address comes"),
        (["list", "--mount", "far={url} --bearer-env NO_SUCH"], "NO_SUCH is not set"),
        (["wrap", "--", "http://example.com", "--bearer-env", "PATH"], "is not encrypted"),
        (["ask", "x", "--model", "arithmetic", "--server", "http://x --oops"], "after an address"),
    ],
)
def test_a_remote_server_that_cannot_be_used_is_a_mistake_on_the_command_line(
    words: list[str], problem: str
) -> None:
    command = [word.format(url="http://127.0.0.1:9/mcp") for word in words]
    done = subprocess.run(
        [sys.executable, "-m", "toolwire", *command],
        capture_output=True,
        timeout=SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )

    assert done.returncode == 2
    assert problem in done.stderr.decode()
