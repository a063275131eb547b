"""Every client that can ask its user does so for a tool, and every one that can hear of changed
tools does.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from interop import peers
from interop.test_clients import LATEST_LEGACY, MODERN, answer, assert_ended_in_peace, failure

if TYPE_CHECKING:
    from pathlib import Path

SERVER = [sys.executable, str(peers.HERE / "living.py")]

# The environment or package, the driver, the mode and the revision that is agreed on.
CLIENTS = [
    ("mcp2", "mcp2_client.py", "auto", MODERN),
    ("mcp2", "mcp2_client.py", "legacy", LATEST_LEGACY),
    ("mcp2", "mcp2_client.py", MODERN, MODERN),
    ("mcp1", "mcp1_client.py", "legacy", LATEST_LEGACY),
    ("fastmcp", "fastmcp_client.py", "auto", MODERN),
    ("fastmcp", "fastmcp_client.py", "legacy", LATEST_LEGACY),
    ("@modelcontextprotocol/client", "ts_client.mjs", "legacy", LATEST_LEGACY),
    ("@modelcontextprotocol/client", "ts_client.mjs", "auto", MODERN),
    ("@modelcontextprotocol/client", "ts_client.mjs", MODERN, MODERN),
    ("@modelcontextprotocol/sdk", "sdk_client.mjs", "legacy", LATEST_LEGACY),
]

ORDER = {
    "type": "object",
    "properties": {
        "count": {"type": "integer", "title": "Count"},
        "size": {"type": "string", "title": "Size", "enum": ["small", "large"]},
        "gift": {"type": "boolean", "title": "Gift", "default": False},
    },
    "required": ["count", "size"],
}


def one(kind: str) -> dict[str, Any]:
    """The form that asks for a single value."""
    return {
        "type": "object",
        "properties": {"answer": {"type": kind, "title": "Answer"}},
        "required": ["answer"],
    }


ORDERED = answer(
    '{"count":3,"size":"large","gift":true}', {"count": 3, "size": "large", "gift": True}
)
DECLINED = failure("The user declined to answer.")
DISMISSED = failure("The user closed the form without an answer.")
CANNOT_ASK = failure(
    "This tool asks the user, but the client that called it does not support elicitation."
)

ASKED: dict[str, Any] = {
    "questions": [
        *[["How much tea?", ORDER]] * 6,
        ["Where to?", one("string")],
        ["How many days in Oslo?", one("integer")],
    ],
    "calls": [
        *[["order", outcome] for outcome in (ORDERED, DECLINED, DISMISSED)],
        *[["order_async", outcome] for outcome in (ORDERED, DECLINED, DISMISSED)],
        ["travel", answer("Oslo 4")],
    ],
}

MUTE: dict[str, Any] = {
    "calls": [
        ["order", CANNOT_ASK],
        ["order_async", CANNOT_ASK],
        ["careful", answer("false", {"result": False})],
    ]
}

OFFERED = ["careful", "learn", "order", "order_async", "travel"]
CHANGED: dict[str, Any] = {
    "before": OFFERED,
    "learn": answer("learnt"),
    "news": "ToolsListChanged",
    "after": sorted([*OFFERED, "taught"]),
    "taught": answer("as taught"),
}


def live(exercise: str, where: str, driver: str, mode: str, folder: Path) -> Any:
    """What the client reports of *exercise*; every server that it has started has ended as it
    should.
    """
    python = driver.endswith(".py")
    program = peers.python_driver(where, driver) if python else peers.node_driver(where, driver)
    probes = 0 if python or mode == "legacy" else 1
    attended = peers.drive(program, mode, folder, exercise=exercise, server=SERVER, probes=probes)
    assert_ended_in_peace(attended.server)
    return attended.report


@pytest.mark.parametrize(("where", "driver", "mode", "protocol"), CLIENTS)
def test_a_client_asks_its_user_for_a_tool(
    where: str, driver: str, mode: str, protocol: str, tmp_path: Path
) -> None:
    assert live("asked", where, driver, mode, tmp_path) == {"protocol": protocol, **ASKED}


@pytest.mark.parametrize(("where", "driver", "mode", "protocol"), CLIENTS)
def test_a_client_that_cannot_ask_gets_a_clear_error_or_the_default(
    where: str, driver: str, mode: str, protocol: str, tmp_path: Path
) -> None:
    assert live("mute", where, driver, mode, tmp_path) == {"protocol": protocol, **MUTE}


@pytest.mark.parametrize(("where", "driver", "mode", "protocol"), CLIENTS)
def test_a_client_is_notified_that_a_tool_was_added(
    where: str, driver: str, mode: str, protocol: str, tmp_path: Path
) -> None:
    granted = {"toolsListChanged": True} if protocol == MODERN else None
    assert live("changes", where, driver, mode, tmp_path) == {
        "protocol": protocol,
        "granted": granted,
        **CHANGED,
    }
