"""Clients of others see the same of a server, of ours or of others, directly and through
`toolwire wrap`.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from interop import peers
from interop.test_clients import EVERY_CLIENT, SEEN
from interop.test_shared import share

if TYPE_CHECKING:
    from collections.abc import Callable

BOTH_GENERATIONS = pytest.mark.parametrize(
    ("driver", "mode"),
    [
        (partial(peers.python_driver, "mcp2", "mcp2_client.py"), "auto"),
        (partial(peers.python_driver, "mcp1", "mcp1_client.py"), "legacy"),
        (partial(peers.node_driver, "@modelcontextprotocol/client", "ts_client.mjs"), "auto"),
        (partial(peers.node_driver, "@modelcontextprotocol/sdk", "sdk_client.mjs"), "legacy"),
    ],
)
WRAP = [sys.executable, "-m", "toolwire", "wrap", "--"]


@EVERY_CLIENT
def test_a_client_sees_the_same_of_our_own_server(
    driver: Callable[[], list[str]], mode: str, tmp_path: Path
) -> None:
    attended = peers.drive(driver(), mode, tmp_path, server=[*WRAP, *peers.serve()])
    assert {name: attended.report[name] for name in SEEN} == SEEN
    ended = attended.server
    assert (ended["status"], ended["signals"], ended["left_behind"]) == (0, [], 0)


@BOTH_GENERATIONS
@pytest.mark.parametrize("exercise", ["documents", "asked", "changes"])
def test_resources_questions_and_changes_pass_through(
    exercise: str, driver: Callable[[], list[str]], mode: str, tmp_path: Path
) -> None:
    living = [sys.executable, str(peers.HERE / "living.py")]
    server = peers.serve(tools=peers.HERE / "documents.py") if exercise == "documents" else living
    direct, wrapped = (
        seen(driver(), exercise, mode, tmp_path / name, [*wrap, *server])
        for name, wrap in (("direct", []), ("wrapped", WRAP))
    )
    assert wrapped == direct


def official(environment: str) -> list[str]:
    [python, _] = peers.python_driver(environment, "")
    return [python, str(peers.HERE / "servers" / f"{environment}_server.py")]


def npm(package: str, *arguments: str) -> list[str]:
    folder = peers.installed_package(f"@modelcontextprotocol/{package}")
    return [peers.node(), str(folder / "dist" / "index.js"), *arguments]


SERVERS: dict[str, Callable[[], list[str]]] = {
    "mcp1": lambda: official("mcp1"),
    "mcp2": lambda: official("mcp2"),
    "everything": lambda: npm("server-everything"),
    "filesystem": lambda: npm("server-filesystem", "/tmp"),
}
SHARED = ("filesystem",)
"""Those that a shared process wraps: this one asks for the roots of its host."""


@BOTH_GENERATIONS
@pytest.mark.parametrize("server", SERVERS)
def test_a_client_sees_the_same_of_servers_of_others(
    server: str, driver: Callable[[], list[str]], mode: str, tmp_path: Path
) -> None:
    wrapping = [*WRAP[:-1], *share(tmp_path), "--"] if server in SHARED else WRAP
    direct, wrapped = (
        seen(driver(), "wrapped", mode, tmp_path / name, [*wrap, *SERVERS[server]()])
        for name, wrap in (("direct", []), ("wrapped", wrapping))
    )
    assert set(wrapped["tools"]) == set(direct["tools"])
    assert wrapped["calls"] == direct["calls"]
    assert wrapped["calls"]


@pytest.mark.parametrize(
    ("recorded", "replayed"), [("mcp1", "mcp1"), ("mcp1", "mcp2"), ("mcp2", "mcp1")]
)
def test_strict_replay_accepts_the_conversation_of_a_host_of_either_generation(
    recorded: str, replayed: str, tmp_path: Path
) -> None:
    modes = {"mcp1": "legacy", "mcp2": "auto"}
    file = str(tmp_path / "record.jsonl")
    living = [sys.executable, str(peers.HERE / "living.py")]
    servers = [
        (recorded, [*WRAP[:-1], "--record", file, *WRAP[-1:], *living]),
        (replayed, [*WRAP[:-2], "replay", "--strict", file]),
    ]
    reports = []
    for number, (host, server) in enumerate(servers):
        driver = peers.python_driver(host, f"{host}_client.py")
        report = seen(driver, "asked", modes[host], tmp_path / str(number), server)
        del report["protocol"]
        reports.append(report)

    first, second = reports
    assert second == first


def seen(driver: list[str], exercise: str, mode: str, folder: Path, server: list[str]) -> Any:
    folder.mkdir()
    ends = folder / "ends.jsonl"
    command = [sys.executable, str(peers.HERE / "attend.py"), str(ends), *server]
    done = peers.run([*driver, exercise, mode, *command], folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
