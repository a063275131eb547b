"""Clients of others and the contract kit find the same behind a search, and in programs, as in a
list; test_conformance.py says it of the official suite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from interop import peers
from interop.test_clients import EVERY_CLIENT, MODERN, SEEN, answer, assert_ended_in_peace
from toolwire_check import CheckSettings, check

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STUB = '''def add(a: int, b: int){}:
    """Add two whole numbers.

    Args:
        a: The first.
        b: The second.
    """'''


def make_editor() -> list[str]:
    return peers.node_driver("vscode-jsonrpc", "vscode_jsonrpc.mjs")


EVERY_CONFIGURATION = pytest.mark.parametrize(
    ("driver", "mode"),
    [
        *EVERY_CLIENT.args[1],
        (lambda: peers.python_driver("mcp2", "mcp2_client.py"), MODERN),
        (make_editor, "plain"),
    ],
)


@EVERY_CONFIGURATION
def test_a_client_calls_every_tool_by_name_as_if_it_were_listed(
    driver: Callable[[], list[str]], mode: str, tmp_path: Path
) -> None:
    server = peers.serve("--show", "search")

    attended = peers.drive(driver(), mode, tmp_path, exercise="searched", server=server)

    seen = {name: attended.report[name] for name in SEEN}
    assert seen == {**SEEN, "tools": ["call_tool", "search_tools"]}
    assert without_meta(attended.report["found"]) == answer(STUB.format(""))
    assert_ended_in_peace(attended.server)


@EVERY_CONFIGURATION
def test_a_client_runs_programs(driver: Callable[[], list[str]], mode: str, tmp_path: Path) -> None:
    server = peers.serve("--show", "code")

    attended = peers.drive(driver(), mode, tmp_path, exercise="programmed", server=server)

    report = attended.report
    assert report["tools"] == ["run_program", "search_tools"]
    assert without_meta(report["found"]) == answer(STUB.format(" -> int"))
    values, wrong, broken, refused = map(without_meta, report["results"])
    assert values == answer("[1, 2, 3]")
    assert (wrong["isError"], broken["isError"]) == (True, True)
    assert read_text(wrong).endswith('ToolFailed: arguments.b: "three" is not an integer')
    assert read_text(broken).endswith("SyntaxError: '(' was never closed")
    assert read_text(refused).startswith("split did not run: it may change something, and this")
    assert without_meta(report["afterwards"]) == answer("42")
    assert_ended_in_peace(attended.server)


def read_text(result: dict[str, Any]) -> str:
    (block,) = result["content"]
    return str(block["text"])


def without_meta(result: dict[str, Any]) -> dict[str, Any]:
    """*result* without the `_meta` of its content, which has seconds."""
    content = []
    for block in result["content"]:
        content.append({name: block[name] for name in block if name != "_meta"})
    return {**result, "content": content}


@pytest.mark.parametrize(
    ("show", "calls"),
    [
        ("search", {"call_tool": {"name": "work", "arguments": {"name": "a"}}}),
        ("code", {"run_program": {"code": "add(a=1, b=2)\nsum(range(10**8))"}}),
    ],
)
def test_every_case_of_the_contract_kit_passes_in_each_mode(
    show: str, calls: dict[str, dict[str, Any]]
) -> None:
    report = check(peers.serve("--show", show), settings=CheckSettings(calls=calls))

    assert [f"{one.case}: {one.came}" for one in report.list_failures("should")] == []
    assert report.count_outcomes()["pass"] > 200
