"""Every client sees of a mounted server what it sees of the server itself; the servers of others are mounted, too."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import join
from typing import Any

import pytest
from interop import peers
from interop.test_clients import LATEST_LEGACY, MODERN, SEEN, assert_ended_in_peace
from interop.test_live import ASKED, CHANGED, MUTE
from interop.test_live import SERVER as LIVING

CLIENTS = [
    ("mcp2", "mcp2_client.py", "auto", MODERN),
    ("mcp2", "mcp2_client.py", "legacy", LATEST_LEGACY),
    ("mcp1", "mcp1_client.py", "legacy", LATEST_LEGACY),
    ("fastmcp", "fastmcp_client.py", "auto", MODERN),
    ("@modelcontextprotocol/sdk", "sdk_client.mjs", "legacy", LATEST_LEGACY),
    ("@modelcontextprotocol/client", "ts_client.mjs", MODERN, MODERN),
]
EVERY_CLIENT = pytest.mark.parametrize(("where", "driver", "mode", "protocol"), CLIENTS)


def mounting(*mounts: str) -> list[str]:
    options = [f"--mount={mount}" for mount in mounts]
    return [sys.executable, "-m", "toolwire", "serve", *options]


def drive(where: str, driver: str, mode: str, folder: Path, exercise: str, server: list[str]) -> Any:
    python = driver.endswith(".py")
    program = peers.python_driver(where, driver) if python else peers.node_driver(where, driver)
    probes = 0 if python or mode == "legacy" else 1
    attended = peers.drive(program, mode, folder, exercise=exercise, server=server, probes=probes)
    assert_ended_in_peace(attended.servers[0])
    return attended.report


@EVERY_CLIENT
def test_a_client_sees_the_tools_of_a_mounted_server_as_its_own(
    where: str, driver: str, mode: str, protocol: str, tmp_path: Path
) -> None:
    server = mounting(join(peers.serve()))

    assert drive(where, driver, mode, tmp_path, "everyday", server) == {"protocol": protocol, **SEEN}


@EVERY_CLIENT
@pytest.mark.parametrize(("exercise", "seen"), [("asked", ASKED), ("mute", MUTE), ("changes", CHANGED)])
def test_a_client_is_asked_and_notified_by_a_mounted_server(
    where: str, driver: str, mode: str, protocol: str, exercise: str, seen: dict[str, Any], tmp_path: Path
) -> None:
    report = drive(where, driver, mode, tmp_path, exercise, mounting(join(LIVING)))

    if exercise == "changes":
        granted = report.pop("granted")
        assert protocol != MODERN or granted["toolsListChanged"] is True
    assert report == {"protocol": protocol, **seen}
