"""The official conformance suite passes, except for the checks that `conformance.json` lists with
their reasons.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from interop import peers
from interop.bridge import bridge
from interop.test_shared import share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    MakeServer = Callable[[str, Path], list[str]]

SERVER = peers.HERE / "servers" / "conformance_server.py"
LIST = json.loads((peers.HERE / "conformance.json").read_text("utf-8"))
PAGE = (peers.HERE.parents[1] / "docs" / "contract.md").read_text("utf-8")
BAD = ("FAILURE", "WARNING")

Check = tuple[str, str]
"""A scenario of the suite, and the id of one of its checks."""
Results = dict[Check, list[str]]
"""The statuses of each check, which may be made several times."""


@dataclass(frozen=True)
class Suite:
    """One release of the suite, and the options that choose what it runs."""

    shown: str
    package: str
    options: tuple[str, ...]
    one_scenario: tuple[str, ...] = ()

    def run(self, server: list[str], patterns: list[Check], folder: Path) -> Results:
        """Run the suite with *server*, and what fails and is not of *patterns* once more, alone: in
        places, the suite waits half a second.
        """
        with bridge(server) as url:
            results = self._run(url, folder / "all", *self.options)
            for scenario in sorted(
                {name for (name, _), found in unlisted(results, patterns).items() if found}
            ):
                results |= self._run(
                    url, folder / scenario, "--scenario", scenario, *self.one_scenario
                )
        return results

    def _run(self, url: str, folder: Path, *options: str) -> Results:
        program = peers.installed_package(self.package) / "dist" / "index.js"
        folder.mkdir()
        done = peers.run(
            [
                peers.node(newest=True),
                str(program),
                "server",
                "--url",
                url,
                "--output-dir",
                str(folder),
                *options,
            ],
            folder,
        )
        results: Results = {}
        for file in folder.glob("server-*/checks.json"):
            scenario = re.sub(r"^server-|-\d{4}-\d\d-\d\dT.*", "", file.parent.name)
            for check in json.loads(file.read_text("utf-8")):
                results.setdefault((scenario, check["id"]), []).append(check["status"])
        assert results, done.stdout + done.stderr
        return results


SUITES = [
    Suite("0.1.16, every scenario", "@modelcontextprotocol/conformance", ("--suite", "all")),
    *(
        Suite(
            f"0.2.0-alpha.12, {revision}",
            "conformance-0.2",
            ("--requirements", revision),
            ("--spec-version", revision),
        )
        for revision in ("2025-11-25", "2026-07-28")
    ),
]


def listed(*members: str) -> Iterator[Check]:
    """Yield the patterns of the scenarios and checks that *members* of the list have."""
    for member in members:
        for scenario, checks in LIST[member].items():
            for check in checks:
                yield scenario, check


def is_of(check: Check, pattern: Check) -> bool:
    return all(map(fnmatchcase, check, pattern))


def failed(results: Results) -> dict[Check, bool]:
    """Return for each check whether it failed or warned."""
    return {check: any(status in BAD for status in statuses) for check, statuses in results.items()}


def unlisted(results: Results, patterns: list[Check]) -> dict[Check, bool]:
    return {
        check: bad
        for check, bad in failed(results).items()
        if not any(is_of(check, one) for one in patterns)
    }


def own_server(show: str, folder: Path) -> list[str]:
    """Return the command of a program that serves its tools itself."""
    return [sys.executable, str(SERVER), show]


def shared_process(show: str, folder: Path) -> list[str]:
    """Return the command of a session of a process that soon ends; *folder* makes it a new one."""
    options = ["--show", show, "--pin", "json_schema_2020_12_tool", "--task-after", "0.2"]
    options += ["--limit", "task_ttl_seconds=20"]  # the suite leaves tasks, which keep the process
    return peers.serve(*options, *share(folder), tools=SERVER)


NEWEST = SUITES[-1]  # has the most checks
RUNS = [
    *((suite, suite.shown, own_server, "all") for suite in SUITES),
    (NEWEST, f"{NEWEST.shown}, shared", shared_process, "search"),
    (NEWEST, NEWEST.shown, own_server, "code"),
]


@pytest.mark.parametrize(
    ("suite", "row", "make_server", "show"),
    RUNS,
    ids=[f"{row}, {show}" for _, row, _, show in RUNS],
)
def test_every_check_passes_or_is_listed_with_its_reason(
    suite: Suite, row: str, make_server: MakeServer, show: str, tmp_path: Path
) -> None:
    members = ["listed"]
    if make_server is shared_process:
        members.append("listed_for_files")
    patterns = list(listed(*members))

    results = suite.run(make_server(show, tmp_path), patterns, tmp_path)

    outcomes = failed(results)
    assert [check for check, bad in unlisted(results, patterns).items() if bad] == []
    asked = [one for one in patterns if any(is_of(check, one) for check in outcomes)]
    assert [
        one for one in asked if not any(bad for check, bad in outcomes.items() if is_of(check, one))
    ] == []
    passed = sum(statuses.count("SUCCESS") for statuses in results.values())
    assert f"| {row} | {passed} | {sum(outcomes.values())} |" in PAGE


def test_the_page_has_every_reason_with_its_scenarios() -> None:
    for key, reason in LIST["reasons"].items():
        both = [*LIST["listed"].items(), *LIST["listed_for_files"].items()]
        scenarios = [name for name, checks in both if key in checks.values()]
        assert scenarios, key
        assert f"- {', '.join(f'`{name}`' for name in scenarios)}: {reason}." in " ".join(
            PAGE.split()
        )
