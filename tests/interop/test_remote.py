"""Servers of the official SDKs and fastmcp over Streamable HTTP, in all their modes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest
from interop import peers
from support.remote_server import Received, RemoteStandIn, Reply, status
from support.server_process import wait_until
from toolwire_client import Client, connect

HERE = Path(__file__).parent
SECONDS = 30
MODERN, LEGACY = "2026-07-28", "2025-11-25"

MODES = [
    ("mcp1", "mcp1_server.py", "auto", LEGACY),
    ("mcp2", "mcp2_server.py", "auto", MODERN),
    ("mcp2", "mcp2_server.py", "legacy", LEGACY),
    ("fastmcp", "fastmcp_server.py", "auto", MODERN),
    ("fastmcp", "fastmcp_server.py", "legacy", LEGACY),
]


@contextmanager
def serving(environment: str, file: str, *words: str) -> Iterator[str]:
    (python, _) = peers.python_driver(environment, file)
    servers = HERE / "servers"
    command = [python, str(servers / "over_http.py"), str(servers / file), *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.mark.parametrize("words", [(), ("stateless",), ("json",)])
@pytest.mark.parametrize(("environment", "file", "era", "version"), MODES)
def test_tools_are_listed_and_called_with_progress_and_cancellation(
    environment: str, file: str, era: str, version: str, words: tuple[str, ...]
) -> None:
    steps: list[float] = []
    with serving(environment, file, *words) as url, connect(url, era=era) as client:
        assert client.version == version
        assert [tool.name for tool in client.list_tools()][:4] == ["add", "fail", "count", "wait"]
        assert client.call_tool("add", {"a": 1, "b": 2}, timeout_seconds=SECONDS).text == "3"
        assert client.call_tool("fail", timeout_seconds=SECONDS).is_error
        counted = client.call_tool(
            "count", on_progress=lambda done, *_: steps.append(done), timeout_seconds=SECONDS
        )
        client.start("wait").cancel()
        assert client.call_tool("add", {"a": 1, "b": 2}, timeout_seconds=SECONDS).text == "3"

    assert counted.text == "counted"
    assert steps == ([] if "json" in words else [1, 2, 3])


@pytest.mark.parametrize(
    ("environment", "file", "era", "version"), [mode for mode in MODES if mode[0] != "fastmcp"]
)
def test_a_tool_asks_the_user_and_a_changed_list_is_seen(
    environment: str, file: str, era: str, version: str
) -> None:
    with (
        serving(environment, file) as url,
        connect(url, era=era, on_ask=lambda question: {"sure": True}) as client,
    ):
        deleted = client.call_tool("delete", {"what": "it"}, timeout_seconds=SECONDS)
        client.list_tools()
        client.call_tool("grow", timeout_seconds=SECONDS)

        assert deleted.text == "deleted it"
        assert client.list_tools()[-1].name == "new"


@pytest.fixture
def everything() -> Iterator[str]:
    """The reference server of the TypeScript SDK."""
    main = peers.installed_package("@modelcontextprotocol/server-everything") / "dist" / "index.js"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen(
        [peers.node(), str(main), "streamableHttp"],
        env={**os.environ, "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            wait_until(lambda: _accepts(port))
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.kill()


def _accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def _add(client: Client, name: str) -> str:
    return client.call_tool(name, {"a": 2, "b": 3}, timeout_seconds=SECONDS).text


def test_a_server_of_the_typescript_sdk_is_called_mounted_and_wrapped(everything: str) -> None:
    ours = [sys.executable, "-m", "toolwire"]

    with connect(everything) as client:
        direct = _add(client, "get-sum")
        resources = client.list_resources(timeout_seconds=SECONDS)
        prompts = client.list_prompts(timeout_seconds=SECONDS)
    with connect([*ours, "serve", "--mount", f"far={everything}"]) as client:
        mounted = _add(client, "far_get-sum")
    with connect([*ours, "wrap", "--", everything]) as client:
        wrapped = _add(client, "get-sum")

    assert {direct, mounted, wrapped} == {"The sum of 2 and 3 is 5."}
    assert resources
    assert prompts


# Permission


class _Authority:
    """What `RemoteStandIn` is with an authorization server in the same place."""

    def __init__(self) -> None:
        self.granted = 0
        self.scopes = "tools"

    def __call__(self, received: Received) -> Reply | None:
        base = f"http://{received.headers['host']}"
        path, _, query = received.path.partition("?")
        if path == "/mcp":
            token = received.headers.get("authorization")
            return None if token == f"Bearer token-{self.granted}" else status(401)
        pages = {
            "/.well-known/oauth-protected-resource/mcp": {
                "resource": f"{base}/mcp",
                "authorization_servers": [base],
            },
            "/.well-known/oauth-authorization-server": {
                "issuer": base,
                "authorization_endpoint": f"{base}/authorize",
                "token_endpoint": f"{base}/token",
                "registration_endpoint": f"{base}/register",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
            },
        }
        if path == "/register":
            return status(201, {**received.message, "client_id": "us"})
        if path == "/authorize":
            asked = {name: values[0] for name, values in parse_qs(query).items()}
            answer = urlencode({"code": "permitted", "state": asked["state"]})
            return status(302, location=f"{asked['redirect_uri']}?{answer}")
        if path == "/token":
            self.granted += 1
            return status(200, self._make_tokens())
        return status(200, pages[path]) if path in pages else status(404)

    def _make_tokens(self) -> dict[str, Any]:
        token = f"token-{self.granted}"
        return {"access_token": token, "token_type": "Bearer", "refresh_token": "again"}


_BROWSER = "import sys, urllib.request; urllib.request.urlopen(sys.argv[1])"


def test_the_user_is_asked_once_in_a_browser_and_tokens_are_renewed(tmp_path: Path) -> None:
    (python, _) = peers.python_driver("mcp2", "mcp2_client.py")
    packages = next((Path(python).parents[1] / "lib").glob("python3*/site-packages"))
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{_BROWSER}" "$1"\n', "utf-8")
    browser.chmod(0o700)
    environment = {
        **os.environ,
        "BROWSER": f"{browser} %s",
        "PYTHONPATH": str(packages),
        "XDG_DATA_HOME": str(tmp_path / "data"),
    }

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "toolwire", "call", *words]
        return subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=120, check=False
        )

    authority = _Authority()
    with RemoteStandIn(rule=authority) as server:
        words = ["a=1", "b=2", "--", server.url, "--oauth"]
        mounted = ["far_add", "a=1", "b=2", "--mount", f"far={server.url} --oauth"]
        refused = call(*mounted)
        first = call("add", *words)
        second = call("add", *words)
        through_a_mount = call(*mounted)
        authority.granted += 1  # which makes the token invalid
        renewed = call("add", *words)
        asked = [each for each in server.requests if each.path.startswith("/authorize")]

    assert "you have to give permission first: toolwire list -- http" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert [each.stdout for each in (first, second, through_a_mount, renewed)] == ["3\n"] * 4
    assert "open this address in a browser" in first.stderr
    assert len(asked) == 1
    (file,) = (tmp_path / "data" / "toolwire" / "oauth").iterdir()
    assert file.stat().st_mode & 0o077 == 0
