"""Every client sees of a mounted server what it sees of the server itself; the servers of others
are mounted, too.
"""

from __future__ import annotations

import json
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


def drive(
    where: str, driver: str, mode: str, folder: Path, exercise: str, server: list[str]
) -> Any:
    python = driver.endswith(".py")
    program = peers.python_driver(where, driver) if python else peers.node_driver(where, driver)
    probes = 0 if python or mode == "legacy" else 1
    attended = peers.drive(program, mode, folder, exercise=exercise, server=server, probes=probes)
    # Mounted servers of others may have to be killed, which takes until after the end of ours.
    assert_ended_in_peace({**attended.server, "left_behind": 0})
    return attended.report


@EVERY_CLIENT
def test_a_client_sees_the_tools_of_a_mounted_server_as_its_own(
    where: str, driver: str, mode: str, protocol: str, tmp_path: Path
) -> None:
    server = mounting(join(peers.serve()))

    assert drive(where, driver, mode, tmp_path, "everyday", server) == {
        "protocol": protocol,
        **SEEN,
    }


@EVERY_CLIENT
@pytest.mark.parametrize(
    ("exercise", "seen"), [("asked", ASKED), ("mute", MUTE), ("changes", CHANGED)]
)
def test_a_client_is_asked_and_notified_by_a_mounted_server(
    where: str,
    driver: str,
    mode: str,
    protocol: str,
    exercise: str,
    seen: dict[str, Any],
    tmp_path: Path,
) -> None:
    report = drive(where, driver, mode, tmp_path, exercise, mounting(join(LIVING)))

    if exercise == "changes":
        granted = report.pop("granted")
        assert protocol != MODERN or granted["toolsListChanged"] is True
    assert report == {"protocol": protocol, **seen}


@EVERY_CLIENT
def test_a_client_uses_three_mounted_servers_of_others(
    where: str, driver: str, mode: str, protocol: str, tmp_path: Path
) -> None:
    node = peers.node()
    everything, files = (
        peers.installed_package(f"@modelcontextprotocol/server-{name}") / "dist" / "index.js"
        for name in ("everything", "filesystem")
    )
    [python, _] = peers.python_driver("mcp2", "")
    server = mounting(
        f"all={join([node, str(everything)])}",
        f"files={join([node, str(files), str(tmp_path)])}",
        f"py={join([python, str(peers.HERE / 'servers' / 'mcp2_server.py')])}",
    )

    report = drive(where, driver, mode, tmp_path, "foreign", server)

    calls = report["calls"]
    assert report["prefixes"] == ["all", "files", "py"]
    assert calls["all_echo"]["content"] == [{"type": "text", "text": "Echo: hello"}]
    assert "5" in calls["all_get-sum"]["content"][0]["text"]
    assert set(calls["all_get-structured-content"]["structuredContent"]) == {
        "temperature",
        "conditions",
        "humidity",
    }
    assert str(tmp_path) in calls["files_list_allowed_directories"]["structuredContent"]["content"]
    assert calls["py_add"]["structuredContent"] == {"result": 5}
    assert calls["py_fail"]["isError"] is True
    # Clients on the TypeScript SDK drop a progress notification that arrives together with the
    # result.
    least = 1 if driver.endswith(".mjs") else 2
    assert report["progress"] in ([[1, 2]], [[1, 2], [2, 2]])[least - 1 :]


REQUESTED = {"sample": "hi, 9", "roots": "file:///there", "link": "accept"}


LEGACY_TOOLS, MODERN_TOOLS = ["sample", "roots", "link"], ["sample", "roots"]


@pytest.mark.parametrize(
    ("way", "host", "environment", "tools"),
    [
        ("mount", "mcp1", "mcp1", LEGACY_TOOLS),
        ("mount", "mcp1", "mcp2", MODERN_TOOLS),
        ("mount", "mcp2", "mcp1", LEGACY_TOOLS),
        ("mount", "mcp2", "mcp2", MODERN_TOOLS),
        ("wrap", "mcp2", "mcp1", LEGACY_TOOLS),
    ],
)
def test_host_gives_servers_of_every_revision_what_they_ask_for(
    way: str, host: str, environment: str, tools: list[str], tmp_path: Path
) -> None:
    [python, _] = peers.python_driver(environment, "")
    there = [python, str(peers.HERE / "servers" / f"{environment}_requesting_server.py")]
    server = mounting(f"there={join(there)}")
    prefix = "there_"
    if way == "wrap":
        server = [sys.executable, "-m", "toolwire", "wrap", "--", *there]
        prefix = ""
    names = ",".join(prefix + tool for tool in tools)

    done = peers.run([*peers.python_driver(host, f"requested_{host}.py"), names, *server], tmp_path)

    assert json.loads(done.stdout) == [REQUESTED[tool] for tool in tools], done.stderr
