"""`toolwire list --lint`: what is said of anybody's tools, and with which exit status."""

from __future__ import annotations

import json
import sys

import pytest
from support import SUPPORT
from toolwire.cli import main as cli
from toolwire.cli.commands.demo import EXAMPLE

pytestmark = pytest.mark.process

BAD = ["--", sys.executable, str(SUPPORT / "lint_server.py")]


def lint(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    status = cli.main(["list", "--lint", *words])
    captured = capsys.readouterr()
    assert captured.err == ""
    return status, captured.out


def test_errors_give_status_1_and_come_first(capsys: pytest.CaptureFixture[str]) -> None:
    status, told = lint(capsys, *BAD, "errors")
    first, *rest = told.splitlines()
    assert (status, first.split()[0], rest[0].startswith("error")) == (1, "where", True)
    for place in ("twice name", "null title", "bare inputSchema", "choice", "#6 name", "#7"):
        assert place in told
    assert "7 tools: 6 errors," in rest[-1]


def test_warnings_alone_give_status_0(capsys: pytest.CaptureFixture[str]) -> None:
    status, told = lint(capsys, *BAD, "warnings")
    assert (status, "4 tools: no errors, 4 warnings, " in told) == (0, True)
    assert "OpenAI, Anthropic" in told


def test_what_steers_a_terminal_does_not_reach_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert "\x1b" not in lint(capsys, *BAD, "warnings")[1]


def test_json_has_every_finding_with_its_place_remedy_and_whom_it_concerns(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, told = lint(capsys, "--json", *BAD, "errors")
    findings = json.loads(told)
    assert status == 1
    assert {"tool", "where", "problem", "remedy", "severity", "concerns"} == set(findings[0])
    assert {finding["severity"] for finding in findings} >= {"error", "note"}


def test_our_own_tools_are_clean(capsys: pytest.CaptureFixture[str]) -> None:
    status, told = lint(capsys, EXAMPLE)
    assert status == 0
    assert told.startswith("8 tools: no errors, no warnings, ")


def test_notes_are_shown_if_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert "strict mode" not in lint(capsys, EXAMPLE)[1]
    assert "strict mode" in lint(capsys, "--notes", EXAMPLE)[1]


def test_a_server_without_tools_has_nothing_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert lint(capsys, *BAD, "none") == (0, "no tools: no errors, no warnings, no notes.\n")


def test_notes_go_with_lint(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list", "--notes", EXAMPLE]) == 2
    assert "--notes goes with --lint" in capsys.readouterr().err
