"""Tests that tool authors write for their own servers: runs of pytest in a temporary folder."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from support import SUPPORT
from toolwire_check import Report, check, contract_cases
from toolwire_check.pytest_support import cases as pytest_cases
from toolwire_schemas.cases import Case

SERVER = [sys.executable, "-IS", str(SUPPORT / "fuzzed_server.py")]
QUICK = "CheckSettings(framings=('lines',), eras=('legacy',))"

TOOLS = '''
from toolwire import tool_api

@tool_api(read_only=True)
def add(a: int, b: int = 0) -> int:
    """Add two numbers."""
    return a + b
'''
TOOLS_CHANGED = (
    TOOLS.replace("b: int = 0", "b: int")
    + '''
@tool_api
def greet(name: str) -> str:
    """Greet a person."""
    return name
'''
)


def contract(pytester: pytest.Pytester, arguments: str, command: list[str]) -> None:
    """A module with the cases as its tests."""
    pytester.makepyfile(
        test_server=f"from toolwire_check import CheckSettings, Fuzzing, contract_cases\n"
        f"test_contract = contract_cases({command!r}, settings={QUICK}, {arguments})"
    )


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest("-p", "no:cacheprovider", "-rA", *arguments)


@pytest.mark.process
def test_each_case_is_a_test_with_its_id_and_outcome(
    pytester: pytest.Pytester,
) -> None:
    only = [
        "ids/zero",
        "ids/null",
        "jsonrpc/params-list",
        "malformed/number",
        "cancellation/running",
    ]
    pytester.path.joinpath("gaps.json").write_text(
        '{"gaps": [{"case": "malformed/*", "reason": "it is a sample"}]}'
    )
    contract(pytester, f"only={only!r}, baseline='gaps.json'", [*SERVER, "none"])
    done = pytester.runpytest_subprocess("-rA")  # in this process warnings are errors
    done.assert_outcomes(passed=2, failed=1, skipped=1, xfailed=1, warnings=1)
    done.stdout.fnmatch_lines_random(
        [
            "PASSED test_server.py::test_contract[[]ids/zero]",
            # it should, but need not: a warning tells of it
            "PASSED test_server.py::test_contract[[]ids/null]",
            "*ContractWarning: ids/null (2025-11-25, lines): *",
            "SKIPPED * no call that was tried takes 0.25 s",
            "XFAIL test_server.py::test_contract[[]malformed/number]*it is a sample",
            "FAILED test_server.py::test_contract[[]jsonrpc/params-list]*",
            "  expected  *",
            "  came      *",
            '  -> {*"params":[[]"a",{}[]]}',
        ]
    )
    done.stdout.no_fnmatch_line(
        "*pytest_cases.py:*: Failed*"
    )  # our own code is no news to its readers


@pytest.mark.parametrize("patterns", [{"only": ["id/*"]}, {"skip": ["ids/zerro"]}])
def test_pattern_that_matches_no_case_is_an_error_of_collection(
    patterns: dict[str, list[str]],
) -> None:
    with pytest.raises(ValueError, match="no case matches 'id"):
        contract_cases(["there-is-no-such-program"], **patterns)


@pytest.mark.process
def test_only_selected_cases_are_played(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[str] = []

    def told(*command: Any, cases: list[Case], **options: Any) -> Report:
        played.extend(case.id for case in cases)
        return check(*command, cases=cases, **options)

    monkeypatch.setattr(pytest_cases, "check", told)
    contract(pytester, "", [*SERVER, "none"])
    run(pytester, "-k", "ids/zero or ids/empty-text").assert_outcomes(passed=2)
    assert sorted(played) == ["ids/empty-text", "ids/zero"]


@pytest.mark.process
def test_fuzzing_adds_two_tests(pytester: pytest.Pytester) -> None:
    contract(
        pytester, "only=['ids/zero'], fuzzing=Fuzzing(20, seed=1)", [*SERVER, "has no structure"]
    )
    done = run(pytester)
    done.assert_outcomes(passed=2, failed=1)
    done.stdout.fnmatch_lines_random(
        [
            "PASSED test_server.py::test_contract[[]fuzz/invalid]",
            "fuzz/valid/count (2025-11-25, lines): *",
            "  came      a result without structuredContent*",
            "  -- found with --seed 1",
        ]
    )


@pytest.mark.process
@pytest.mark.parametrize(
    "command", [["no-such-program"], [sys.executable, "-c", "pass"]], ids=["no program", "dies"]
)
def test_no_test_passes_or_is_skipped_if_there_is_no_server(
    pytester: pytest.Pytester, command: list[str]
) -> None:
    contract(pytester, "", command)
    run(pytester, "-k", "ids/zero or cancellation/running").assert_outcomes(failed=2)


@pytest.mark.process
def test_changed_tool_fails_with_its_changes_until_the_flag_updates_the_file(
    pytester: pytest.Pytester,
) -> None:
    tools = pytester.makepyfile(tools=TOOLS)
    command = [sys.executable, "-m", "toolwire", "serve", str(tools)]
    pytester.makepyfile(
        test_tools=f"def test_tools(tool_list_snapshot):\n    tool_list_snapshot({command!r})"
    )
    snapshot = pytester.path / "snapshots" / "test_tools.json"

    first = run(pytester)
    first.assert_outcomes(failed=1)
    first.stdout.fnmatch_lines(
        ["*SnapshotMismatch: there is no *test_tools.json yet: --toolwire-update-tools writes it*"]
    )

    run(pytester, "--toolwire-update-tools").assert_outcomes(passed=1)
    assert [tool["name"] for tool in json.loads(snapshot.read_text())["tools"]] == ["add"]
    run(pytester).assert_outcomes(passed=1)

    tools.write_text(TOOLS_CHANGED)
    changed = run(pytester)
    changed.assert_outcomes(failed=1)
    changed.stdout.fnmatch_lines(
        [
            "*SnapshotMismatch: the tools are not those in *; breaking: a new major version",
            "* major: add arguments.b: *",
            "* minor: greet: new",
            "*--toolwire-update-tools writes the file anew.",
        ]
    )
    changed.stdout.no_fnmatch_line("*snapshots.py*")  # the user's own line, and none of ours
    run(pytester, "--toolwire-update-tools").assert_outcomes(passed=1)
    assert [tool["name"] for tool in json.loads(snapshot.read_text())["tools"]] == ["add", "greet"]

    tools.unlink()
    gone = run(pytester)
    gone.stdout.fnmatch_lines(["*SnapshotMismatch: the server cannot be asked for its tools: *"])
    gone.stdout.fnmatch_lines(["*has no file 'tools.py'*"])
    gone.stdout.no_fnmatch_line("*toolwire_check/*.py*")  # no file of ours in the traceback


def test_plugin_can_be_disabled(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(): pass")
    run(pytester, "--toolwire-update-tools").assert_outcomes(passed=1)
    assert (
        run(pytester, "-p", "no:toolwire", "--toolwire-update-tools").ret
        == pytest.ExitCode.USAGE_ERROR
    )


@pytest.mark.process
def test_plugin_imports_nothing_in_a_project_that_does_not_use_it(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_it():
            found = {name.partition(".")[0] for name in sys.modules if name.startswith("toolwire")}
            assert found == {"toolwire_pytest"}
            assert not {"msgspec", "hypothesis"} & set(sys.modules)
        """
    )
    # Hypothesis has a plugin of its own, which is in the environment of this test.
    done = pytester.runpytest_subprocess(
        "-W", "error", "-p", "no:hypothesispytest", "-p", "no:cacheprovider"
    )
    done.assert_outcomes(passed=1)


@pytest.mark.process
def test_without_hypothesis_only_fuzzing_fails_and_names_the_extra(
    pytester: pytest.Pytester,
) -> None:
    contract(pytester, "only=['ids/*'], fuzzing=Fuzzing(20)", [*SERVER, "none"])
    pytester.makeconftest(
        "import sys\nsys.modules['hypothesis'] = sys.modules['hypothesis.configuration'] = None"
    )
    done = pytester.runpytest_subprocess(
        "-W", "ignore", "-p", "no:hypothesispytest", "-p", "no:cacheprovider"
    )
    assert done.parseoutcomes()["failed"] == 1
    assert done.parseoutcomes()["passed"] > 5
    done.stdout.fnmatch_lines(["fuzzing needs the package hypothesis; run: *toolwire[[]contract]*"])
    assert len(done.outlines) < 20


@pytest.mark.process
def test_cases_without_fuzzing_need_no_hypothesis(pytester: pytest.Pytester) -> None:
    contract(pytester, "only=['ids/zero']", [*SERVER, "none"])
    pytester.makeconftest(
        "import sys\nsys.modules['hypothesis'] = sys.modules['hypothesis.configuration'] = None"
    )
    done = pytester.runpytest_subprocess("-p", "no:hypothesispytest", "-p", "no:cacheprovider")
    done.assert_outcomes(passed=1)


@pytest.mark.process
def test_a_server_of_the_fixture_ends_with_its_test(pytester: pytest.Pytester) -> None:
    tools = pytester.makepyfile(tools=TOOLS)
    command = [sys.executable, "-m", "toolwire", "serve", str(tools)]
    pytester.makepyfile(
        test_tools=f"""
        clients = []

        def test_call(tool_server):
            client = tool_server({command!r})
            clients.append(client)
            assert client.call_tool("add", {{"a": 2, "b": 40}}).text == "42"
            assert client.pid is not None

        def test_end():
            assert clients[0].pid is None
        """
    )
    run(pytester).assert_outcomes(passed=2)
