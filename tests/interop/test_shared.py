"""Clients of others see the same of a shared process as of a server of their own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from interop import peers
from interop.test_clients import EVERY_CLIENT, SEEN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WRAP = [sys.executable, "-m", "toolwire", "wrap"]


@EVERY_CLIENT
@pytest.mark.parametrize("kind", ["serve", "wrap"])
def test_a_client_sees_the_same_of_a_shared_process(
    driver: Callable[[], list[str]], mode: str, kind: str, tmp_path: Path
) -> None:
    # The name of a variable makes it a process of this test: `attend.py` kills what stays.
    options = ["--share", "--idle", "1", "--share-env", str(tmp_path).replace("/", "_")]
    server = peers.serve(*options)
    if kind == "wrap":
        server = [*WRAP, *options, "--", *peers.serve()]
    attended = peers.drive(driver(), mode, tmp_path, server=server)
    assert {name: attended.report[name] for name in SEEN} == SEEN
    assert (attended.server["status"], attended.server["signals"]) == (0, [])
