"""Servers of the official SDKs and fastmcp over Streamable HTTP, in all their modes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from interop import peers
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
