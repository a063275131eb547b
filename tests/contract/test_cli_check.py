"""`toolwire check`: what is printed and written, and how it ends."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from support import SUPPORT
from toolwire.cli.main import main
from toolwire_schemas.cases import load_cases
from toolwire_schemas.published import load_validator

pytestmark = pytest.mark.process

STUBBORN = [sys.executable, str(SUPPORT / "stubborn_server.py")]
ONE = ["check", "--only", "ids/*", "--framing", "lines", "--timeout", "5"]


def run_check(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(words)
    told = capsys.readouterr()
    return status, told.out, told.err


def test_check_prints_failures_and_counts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, out, err = run_check(capsys, *ONE, "--", *STUBBORN)
    assert (status, err) == (0, "")
    assert "warn  ids/fraction  (2025-11-25, lines)" in out
    assert "expected  a JSON-RPC error -32600" in out
    assert '-> {"jsonrpc":"2.0","id":1.5,' not in out
    assert "stubborn 1 speaks MCP 2025-11-25; lines; 1 tool. 8 pass, 3 warn" in out


def test_exchanges_of_warnings_are_shown_on_demand(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, out, _ = run_check(capsys, *ONE, "--verbose", "--", *STUBBORN)
    assert '    -> {"jsonrpc":"2.0","id":1.5,' in out


def test_exit_status_depends_on_the_severity(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_check(capsys, *ONE, "--fail-on", "should", "--", *STUBBORN)[0] == 1
    status, out, _ = run_check(capsys, *ONE, "--", *STUBBORN, "dies")
    assert status == 1
    *_, told, stderr, advice = out.splitlines()
    assert (told, stderr) == (
        "FAIL  lifecycle/answers: it ended with status 1",
        "  stderr  there is no key in the environment",
    )
    assert advice.startswith("  try     run it by hand: ")


def test_server_that_does_not_answer_is_reported_with_the_option_for_slow_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, out, _ = run_check(capsys, *ONE, "--start-timeout", "0.3", "--", *STUBBORN, "hangs")
    assert (status, len(out.splitlines())) == (1, 3)
    assert "--start-timeout SECONDS" in out


LOSES_PINGS = """
import json, sys
about = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "a", "version": "1"}}
results = {"initialize": about, "tools/list": {"tools": []}}
for line in sys.stdin:
    message = json.loads(line)
    if isinstance(message, dict) and message.get("method") in results:
        result = results[message["method"]]
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""  # noqa: E501


def test_request_without_a_response_times_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["check", "--only", "ids/zero", "--framing", "lines", "--timeout", "0.3"]
    status, out, _ = run_check(capsys, *words, "--", sys.executable, "-c", LOSES_PINGS)
    assert status == 1
    assert "nothing in 0.9 s" in out  # it is repeated with three times the limit


def test_command_that_cannot_be_started_is_a_usage_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, out, err = run_check(capsys, *ONE, "--", "there-is-no-such-program")
    assert (status, out) == (2, "")
    assert "there-is-no-such-program" in err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, ": no file tools.py"),
        ("def (:\n", "cannot be loaded: SyntaxError in tools.py, line 1 (traceback above)"),
    ],
)
def test_target_that_cannot_be_loaded_is_a_usage_error(
    text: str | None,
    told: str,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path("tools.py").write_text(text, "utf-8")
    status, out, err = run_check(capfd, "check", "tools.py", "--json")
    assert (status, out) == (2, "")
    assert told in err.splitlines()[-1]


def test_target_that_ends_the_server_is_a_failure(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "tools.py").write_text("import os\nos._exit(9)\n", "utf-8")
    status, out, _ = run_check(capsys, *ONE, str(tmp_path / "tools.py"))
    assert status == 1
    assert "it ended with status 9" in out


def test_json_report_fits_its_published_schema(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, out, _ = run_check(capsys, *ONE, "--json", "--", *STUBBORN)
    report = json.loads(out)
    assert status == 0
    assert load_validator("contract-report").is_valid(report)
    assert report["counts"]["pass"] == 8


def test_json_report_may_have_a_revision_of_the_servers_choice(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, out, _ = run_check(
        capsys, "check", "--only", "batch/answered", "--json", "--", *STUBBORN
    )
    (verdict,) = json.loads(out)["verdicts"]
    assert (status, verdict["outcome"]) == (0, "not applicable")
    assert verdict["reason"] == "offered 2025-03-26, the server speaks 2025-11-25"


def test_failure_is_printed_with_the_command_that_replays_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    server = [*STUBBORN, "resents a zero"]
    _, out, _ = run_check(capsys, "check", "--only", "ids/*", "--", *server)
    (again,) = [
        shlex.split(line.partition("again")[2])
        for line in out.splitlines()
        if "--replay ids/unicode" in line
    ]
    assert again[:2] == ["toolwire", "check"]
    status, out, _ = run_check(capsys, *again[1:])
    assert status == 1
    assert "pass  ids/zero  (2025-11-25, lines)" in out
    assert "FAIL  ids/unicode  (2025-11-25, lines)" in out
    assert '    -> {"jsonrpc":"2.0","id":"open","method":"initialize"' in out


def test_failures_of_an_sdk_are_one_line_and_do_not_fail_the_check(
    capsys: pytest.CaptureFixture[str],
) -> None:
    strict = ["check", "--only", "ids/*", "--fail-on", "advice", "--framing", "lines"]
    status, out, _ = run_check(capsys, *strict, "--", *STUBBORN, "is of an SDK")
    assert status == 0
    assert "ids/null" not in out
    told = " ".join(out.split())
    assert "gap 3 findings: it comes from the Python SDK, mcp 2 (as seen in " in told
    status, out, _ = run_check(capsys, *strict, "--sdk", "--", *STUBBORN, "is of an SDK")
    assert status == 1
    assert "warn  ids/null" in out


def test_gaps_in_a_baseline_do_not_fail_and_are_reported_when_closed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    known, xml = tmp_path / "known.json", tmp_path / "report.xml"
    run_check(capsys, *ONE, "--write-baseline", str(known), "--", *STUBBORN)
    gaps = json.loads(known.read_text("utf-8"))["gaps"]
    assert [gap["case"] for gap in gaps] == ["ids/null", "ids/fraction", "ids/object"]
    known.write_text(
        json.dumps({"gaps": [*gaps, {"case": "ids/zero", "reason": "it was so"}]}), "utf-8"
    )
    again = [
        *ONE,
        "--fail-on",
        "advice",
        "--baseline",
        str(known),
        "--junit",
        str(xml),
        "--",
        *STUBBORN,
    ]
    status, out, _ = run_check(capsys, *again)
    assert status == 0
    assert "The gap ids/zero is closed: remove it from the baseline." in out
    assert ET.parse(xml).getroot().get("failures") == "0"


def test_rewritten_baseline_keeps_its_reasons(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    known = tmp_path / "known.json"
    reason = {"case": "ids/null", "reason": "the SDK does it"}
    known.write_text(
        json.dumps({"gaps": [reason, {"case": "ids/zero", "reason": "it was so"}]}), "utf-8"
    )
    run_check(capsys, *ONE, "--write-baseline", str(known), "--", *STUBBORN)
    gaps = json.loads(known.read_text("utf-8"))["gaps"]
    assert gaps[0] == reason
    assert [gap["case"] for gap in gaps] == ["ids/null", "ids/fraction", "ids/object"]


def test_file_that_is_no_baseline_is_not_overwritten(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "tools.py").write_text("import toolwire\n", "utf-8")
    status, _, err = run_check(
        capsys, *ONE, "--write-baseline", str(tmp_path / "tools.py"), "--", *STUBBORN
    )
    assert (status, "tools.py is not a baseline" in err) == (2, True)
    assert (tmp_path / "tools.py").read_text("utf-8") == "import toolwire\n"


def test_cases_are_listed_as_text_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run_check(capsys, "check", "--list", "--only", "batch/*")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines() if "/" in line.split()[0]] == [
        "batch/answered",
        "batch/no-harm",
    ]
    listed = json.loads(run_check(capsys, "check", "--list", "--json")[1])
    assert len(listed) == len(load_cases())
    assert all(load_validator("contract-case").is_valid(case) for case in listed)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--only", "id/*"], "no case 'id/*', did you mean 'ids/*'?"),
        (["--only", "ids"], "no case 'ids', did you mean 'ids/*'? Known: "),
        (["--only", "ids/zerro"], "did you mean 'ids/zero'?"),
        (["--seed", "7"], "--seed goes with --fuzz"),
        (["--replay", "ids/zerro"], "no case 'ids/zerro', did you mean 'ids/zero'?"),
        (["--replay", "stdout/only-messages"], "use --only stdout/only-messages"),
        (
            ["--call", "add=7"],
            """--call takes NAME={"argument": value, ...}, or NAME for the simplest arguments""",
        ),
        (["--call", "add="], """--call takes NAME={"argument": value, ...}"""),
        (["--call", "add=null"], """--call takes NAME={"argument": value, ...}"""),
        (
            ["--baseline", "/nowhere/known.json"],
            "cannot open /nowhere/known.json: No such file or directory",
        ),
        (["--era", "old"], "--era takes one of legacy, modern, both"),
        (["tools.py"], "either a target or a command"),
    ],
)
def test_usage_error_is_reported_before_a_server_starts(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = run_check(capsys, "check", *words, "--", "there-is-no-such-program")
    assert status == 2
    assert told in err


def test_call_of_an_unknown_tool_is_a_usage_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    server = [sys.executable, str(SUPPORT / "fuzzed_server.py"), "none"]
    status, _, err = run_check(capsys, *ONE, "--era", "legacy", "--call", "cuont", "--", *server)
    assert status == 2
    assert "no tool 'cuont', did you mean 'count'? Known: count, wipe" in err


def test_named_call_without_arguments_gets_sample_arguments(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "tools.py").write_text(
        "def half(even: int) -> int:\n    return even // 2\n", "utf-8"
    )
    asked = ["check", "--only", "calls/result", "--framing", "lines", "--era", "legacy", "--json"]

    def verdict(*call: str) -> tuple[str, str]:
        _, out, _ = run_check(capsys, *asked, *call, str(tmp_path / "tools.py"))
        (first,) = json.loads(out)["verdicts"]
        return first["outcome"], first.get("reason", "")

    assert verdict()[0] == "not applicable"
    refused = "no call that was tried succeeds; name arguments that do with --call"
    assert verdict("--call", "half={}") == ("not applicable", refused)
    assert verdict("--call", "half") == ("pass", "")


def test_report_is_also_written_as_a_page_and_as_markdown(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    files = [str(tmp_path / name) for name in ("report.html", "report.md")]
    status, out, _ = run_check(
        capsys, *ONE, "--html", files[0], "--markdown", files[1], "--", *STUBBORN
    )
    page, markdown = (Path(name).read_text("utf-8") for name in files)
    assert (status, "warn  ids/fraction" in out) == (0, True)
    assert "<h1>stubborn 1</h1>" in page
    assert "toolwire check --replay ids/fraction --era legacy --framing lines" in page
    assert "contract/ids/fraction.md) | `a JSON-RPC error -32600` |" in markdown
    assert run_check(capsys, *ONE, "--markdown", "-", "--", *STUBBORN)[1].startswith(
        "### Contract of `stubborn 1`\n"
    )


@pytest.mark.parametrize(
    ("option", "file", "reason"),
    [
        ("--html", "no/such.html", "there is no folder no"),
        ("--junit", "no/such.xml", "there is no folder no"),
        ("--write-baseline", "no/gaps.json", "there is no folder no"),
        ("--badge", ".", "this is a folder, and no file"),
    ],
)
def test_unwritable_file_is_refused_before_the_check(
    capsys: pytest.CaptureFixture[str], option: str, file: str, reason: str
) -> None:
    status, out, err = run_check(capsys, *ONE, option, file, "--", "there-is-no-such-program")
    assert (status, out, f"{option} {file}: {reason}" in err) == (2, "", True)


def test_report_has_the_cost_of_each_tool(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "tools.py").write_text(
        "from toolwire import tool_api\n"
        "@tool_api(read_only=True)\ndef short() -> str:\n    'Short.'\n    return 'x' * 2000\n"
        "@tool_api\ndef long(a: int, b: int) -> int:\n    'Long, and not called.'\n    return a\n",
        "utf-8",
    )
    only = ("--only", "calls/*", "--framing", "lines", "--era", "legacy")
    _, out, _ = run_check(capsys, "check", *only, "--json", str(tmp_path / "tools.py"))
    long, short = json.loads(out)["costs"]
    assert (long["name"], long["calls"], long["seconds"]) == ("long", 0, 0)
    assert short["name"] == "short"
    assert 0 < short["tokens"] < long["tokens"]
    assert 0 < short["seconds"] <= short["slowest_seconds"]
    assert 2000 < short["result_bytes"] <= short["largest_result_bytes"]
