"""Clients of others see the same of a shared process as of a server of their own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from interop import peers
from interop.test_clients import SEEN
from interop.test_shown import EVERY_CONFIGURATION, without_meta

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WRAP = [sys.executable, "-m", "toolwire", "wrap"]


def start(kind: str, *options: str, show: str = "all") -> list[str]:
    """Return the command that serves, or wraps, the everyday tools with *options*."""
    if kind == "serve":
        return peers.serve("--show", show, *options)
    return [*WRAP, "--show", show, *options, "--", *peers.serve()]


def share(folder: Path) -> list[str]:
    """Return the options that share a process of this test, which soon ends."""
    # The name of a variable makes it another process: `attend.py` kills what stays.
    return ["--share", "--idle", "1", "--share-env", str(folder).replace("/", "_")]


@EVERY_CONFIGURATION
@pytest.mark.parametrize("kind", ["serve", "wrap"])
def test_a_client_sees_the_same_of_a_shared_process(
    driver: Callable[[], list[str]], mode: str, kind: str, tmp_path: Path
) -> None:
    attended = peers.drive(driver(), mode, tmp_path, server=start(kind, *share(tmp_path)))
    assert {name: attended.report[name] for name in SEEN} == SEEN
    assert (attended.server["status"], attended.server["signals"]) == (0, [])


@EVERY_CONFIGURATION
def test_a_client_runs_programs_in_a_shared_process(
    driver: Callable[[], list[str]], mode: str, tmp_path: Path
) -> None:
    alone = start("serve", show="code")
    shared = start("serve", *share(tmp_path), show="code")

    reports = []
    for name, server in (("alone", alone), ("shared", shared)):
        folder = tmp_path / name
        folder.mkdir()
        attended = peers.drive(driver(), mode, folder, exercise="programmed", server=server)
        reports.append([without_meta(result) for result in attended.report["results"]])

    assert reports[0] == reports[1]
