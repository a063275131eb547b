"""Every client in the field lists, calls, hears progress, cancels, sees failures and closes in
peace.
"""

from __future__ import annotations

import base64
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from interop import everyday, peers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LATEST_LEGACY = "2025-11-25"
MODERN = "2026-07-28"

TOOLS = [
    "add",
    "chatter",
    "countdown",
    "divide",
    "doze",
    "greet",
    "picture",
    "refuse",
    "seen",
    "split",
    "steps",
    "stopped",
    "work",
]


def text(words: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": words}]


def answer(words: str, structured: Any = None) -> dict[str, Any]:
    """A result of one text block; with *structured*, the content that the words are the text of."""
    result: dict[str, Any] = {"content": text(words), "isError": False}
    return result if structured is None else {**result, "structuredContent": structured}


def failure(words: str) -> dict[str, Any]:
    return {"content": text(words), "isError": True}


SHARE = answer(
    '{"each":3.33,"remainder":1,"currency":"EUR"}',
    {"each": 3.33, "remainder": 1, "currency": "EUR"},
)
SEEN: dict[str, Any] = {
    "tools": TOOLS,
    "calls": [
        ["add", {"a": 2, "b": 3}, answer("5", {"result": 5})],
        ["add", {"a": 2, "b": "three"}, failure('arguments.b: "three" is not an integer')],
        ["split", {"cents": 1000, "people": 3}, SHARE],
        ["split", {"cents": "1000", "people": "3", "currency": None}, SHARE],  # as models send them
        ["greet", {"name": "Ωmega"}, answer("Grüße, Ωmega! 你好 \U0001f44b")],
        ["refuse", {"reason": "not today"}, failure("not today")],
        ["divide", {"a": 1, "b": 0}, failure("ZeroDivisionError: division by zero")],
        ["chatter", {}, answer("quiet")],
        [
            "picture",
            {},
            {
                "content": [
                    {
                        "type": "image",
                        "mimeType": "image/png",
                        "data": base64.b64encode(everyday.PIXEL).decode(),
                    }
                ],
                "isError": False,
            },
        ],
    ],
    "countdown": {
        "answer": answer("3 2 1 "),
        "progress": [[1, None, "3 "], [2, None, "2 "], [3, None, "1 "]],
    },
    "steps": {
        "answer": answer("done"),
        "progress": [[1, 3, "step 1"], [2, 3, "step 2"], [3, 3, "step 3"]],
    },
    "stopped": answer('["doze","work"]', {"result": ["doze", "work"]}),
    "afterwards": answer("42", {"result": 42}),
}

# What every official client passes on; an empty value was not set in the client's own environment.
INHERITED = {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"}
# What Python (PEP 538) and a shell wrapper round the interpreter add by themselves.
ADDED = ("LC_CTYPE", "PWD", "OLDPWD", "SHLVL", "_", "PYENV_")


def assert_ended_in_peace(server: dict[str, Any]) -> None:
    """The server left by itself when its input ended: nobody had to signal it, and nothing of it
    remains.
    """
    assert {key: server[key] for key in ("status", "signals", "left_behind")} == {
        "status": 0,
        "signals": [],
        "left_behind": 0,
    }
    assert [
        name
        for name in server["environment"]
        if name not in INHERITED and not name.startswith(ADDED)
    ] == []


@pytest.mark.parametrize(
    ("environment", "driver", "mode", "protocol"),
    [
        ("mcp2", "mcp2_client.py", "auto", MODERN),
        ("mcp2", "mcp2_client.py", "legacy", LATEST_LEGACY),
        ("mcp2", "mcp2_client.py", MODERN, MODERN),
        ("mcp1", "mcp1_client.py", "legacy", LATEST_LEGACY),
        ("fastmcp", "fastmcp_client.py", "auto", MODERN),
        ("fastmcp", "fastmcp_client.py", "legacy", LATEST_LEGACY),
    ],
)
def test_a_python_client_is_served(
    environment: str, driver: str, mode: str, protocol: str, tmp_path: Path
) -> None:
    attended = peers.drive(peers.python_driver(environment, driver), mode, tmp_path)

    assert attended.report == {"protocol": protocol, **SEEN}
    assert_ended_in_peace(attended.server)


@pytest.mark.parametrize(
    ("package", "driver", "mode", "protocol"),
    [
        ("@modelcontextprotocol/client", "ts_client.mjs", "legacy", LATEST_LEGACY),
        ("@modelcontextprotocol/sdk", "sdk_client.mjs", "legacy", LATEST_LEGACY),
    ],
)
def test_a_typescript_client_is_served(
    package: str, driver: str, mode: str, protocol: str, tmp_path: Path
) -> None:
    attended = peers.drive(peers.node_driver(package, driver), mode, tmp_path)

    assert attended.report == {"protocol": protocol, **SEEN}
    assert_ended_in_peace(attended.server)


PYTHON_CLIENTS = [
    ("mcp2", "auto"),
    ("mcp2", "legacy"),
    ("mcp1", "legacy"),
    ("fastmcp", "auto"),
    ("fastmcp", "legacy"),
]
JAVASCRIPT_CLIENTS = [("@modelcontextprotocol/client", "ts"), ("@modelcontextprotocol/sdk", "sdk")]
SILENT = """
import threading

_seen = threading.Semaphore(0)

def silent(beats: int) -> str:
    for _ in range(beats):
        _seen.acquire()
    return "done"

def seen() -> None:
    _seen.release()
"""


EVERY_CLIENT = pytest.mark.parametrize(
    ("driver", "mode"),
    [
        *(
            (partial(peers.python_driver, name, f"{name}_client.py"), mode)
            for name, mode in PYTHON_CLIENTS
        ),
        *(
            (partial(peers.node_driver, package, f"{name}_client.mjs"), "legacy")
            for package, name in JAVASCRIPT_CLIENTS
        ),
    ],
)


@EVERY_CLIENT
def test_a_client_receives_progress_of_a_tool_that_reports_none(
    driver: Callable[[], list[str]], mode: str, tmp_path: Path
) -> None:
    tools = tmp_path / "silent.py"
    tools.write_text(SILENT, encoding="utf-8")

    attended = peers.drive(
        driver(),
        mode,
        tmp_path,
        exercise="silent",
        server=peers.serve("--limit", "heartbeat_seconds=0.05", tools=tools),
    )

    assert attended.report["answer"] == answer("done")
    values, totals, messages = zip(*attended.report["progress"], strict=True)
    assert len(values) >= 3
    assert values[0] > 0
    assert all(earlier < later for earlier, later in pairwise(values))
    assert set(totals) == {None}
    assert set(messages) <= {"still running", "waiting for other calls"}  # before its thread starts


@EVERY_CLIENT
def test_a_client_reads_resources_and_gets_prompts(
    driver: Callable[[], list[str]], mode: str, tmp_path: Path
) -> None:
    server = peers.serve(tools=peers.HERE / "documents.py")

    report = peers.drive(driver(), mode, tmp_path, exercise="documents", server=server).report

    pixel = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
    note = "notes://3/a/b%20c?limit=2"
    failures = report.pop("failures")
    assert report == {
        "resources": ["config://app", "pixel://one"],
        "templates": ["notes://{day}/{path*}{?limit}"],
        "prompts": ["review"],
        "contents": [
            [{"uri": "config://app", "mimeType": "application/json", "text": '{"size":3}'}],
            [{"uri": note, "mimeType": "text/markdown", "text": "3 a/b c 2"}],
            [{"uri": "pixel://one", "mimeType": "image/png", "blob": pixel}],
        ],
        "messages": [
            {"role": "assistant", "content": {"type": "text", "text": "I review code."}},
            {"role": "user", "content": {"type": "text", "text": "x = 1 at 3"}},
            {"role": "user", "content": {"type": "image", "data": pixel, "mimeType": "image/png"}},
        ],
    }
    assert "config://app" in failures["config://ap"]
    assert "no day 32" in failures["notes://32/a"]


@pytest.mark.parametrize("mode", ["auto", MODERN])
def test_a_typescript_client_that_probes_starts_the_server_twice(mode: str, tmp_path: Path) -> None:
    driver = peers.node_driver("@modelcontextprotocol/client", "ts_client.mjs")

    attended = peers.drive(driver, mode, tmp_path, probes=1)

    assert attended.report == {"protocol": MODERN, **SEEN}
    assert_ended_in_peace(attended.server)


def test_an_editor_is_served_with_content_length_framing(tmp_path: Path) -> None:
    attended = peers.drive(
        peers.node_driver("vscode-jsonrpc", "vscode_jsonrpc.mjs"), "plain", tmp_path
    )

    request_cancelled = {"code": -32800}
    assert attended.report == {
        "protocol": None,
        **SEEN,
        "cancelled": [["work", request_cancelled], ["doze", request_cancelled]],
        "unknown": {"code": -32601},
        "exit": {"status": 0, "signal": None},
    }
    assert_ended_in_peace(attended.server)
