"""The client against servers that fail, in every way at every step: what it says, and that nothing
is left behind.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from support import SUPPORT
from support.client_backends import FACES, WAIT, ask, nothing_leaks
from support.running_processes import running_in_group
from support.server_process import wait_until
from toolwire_client import AsyncClient, ServerGone, TimedOut, connect

pytestmark = pytest.mark.process

FAULTY = str(SUPPORT / "faulty_server.py")
FINE = "fine"

# What each fault leads to if it is of an answer that is waited for.
FAULTS: dict[str, Any] = {
    "dies": (ServerGone, 7),
    "crashes": (ServerGone, -9),
    "hangs": (TimedOut, None),
    "is_silent": (TimedOut, None),
    "talks_rubbish": (TimedOut, None),
    "floods": FINE,
    "goes_on_and_on": FINE,
    "says_what_it_should_not": FINE,
    "closes_its_output": (ServerGone, None),
    "leaves_a_child_and_dies": (ServerGone, 7),
    "ignores_everything": (TimedOut, None),
}
STEPS = ("server/discover", "initialize", "tools/list", "tools/call", "end")


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody who will never answer is waited for as long as in earnest."""
    monkeypatch.setattr("toolwire_client.session.handshake.PROBE_SECONDS", 0.3)
    monkeypatch.setattr("toolwire_client.session.handshake.RECOVERY_SECONDS", 0.3)


class Attempt:
    """One server with a fault, and what came of asking it."""

    def __init__(self, folder: Path, fault: str, step: str) -> None:
        self._pids, self._mark = folder / "pids", folder / "mark"
        for file in (self._pids, self._mark):
            file.touch()
        never = FAULTS[fault] != FINE and FAULTS[fault][0] is TimedOut
        self.limits = {"list": 0.3 if never and step == "tools/list" else WAIT}
        self.limits["call"] = 0.3 if never and step == "tools/call" else WAIT
        self.opening = connect(
            [sys.executable, "-IS", FAULTY, fault, step],
            env={"PIDS": str(self._pids), "MARK": str(self._mark)},
            start_timeout_seconds=0.6 if never and step == "initialize" else WAIT,
        )

    def came_to_its_fault(self) -> bool:
        return bool(self._mark.read_text())

    def nothing_runs(self) -> bool:
        return not any(running_in_group(int(pid)) for pid in self._pids.read_text().split())


def everything(limits: dict[str, float]) -> Any:
    async def scenario(client: AsyncClient) -> None:
        assert [tool.name for tool in await client.list_tools(timeout_seconds=limits["list"])] == [
            "echo"
        ]
        assert (await client.call_tool("echo", timeout_seconds=limits["call"])).text == "done"

    return scenario


@pytest.mark.parametrize(
    ("face", "step"),
    # The loops differ from the threads in how they wait and in nothing else, so one step of theirs
    # tells enough.
    [("threads", step) for step in STEPS] + [(face, "tools/call") for face in FACES[1:]],
)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_reported_and_leaves_nothing_behind(
    face: str, fault: str, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fault == "closes_its_output":  # and does not end
        monkeypatch.setattr("toolwire_client.transport.child_process.LAST_SECONDS", 0.1)
    attempt = Attempt(tmp_path, fault, step)
    # Whatever happens to the probe, there is another way; and what happens at the end is nobody's
    # concern.
    expected = FINE if step in ("server/discover", "end") else FAULTS[fault]
    with nothing_leaks():
        if expected == FINE:
            ask(face, attempt.opening, everything(attempt.limits))
        else:
            error, status = expected
            with pytest.raises(error) as caught:
                ask(face, attempt.opening, everything(attempt.limits))
            assert getattr(caught.value, "exit_status", None) == status
            assert ("out of ideas" in str(caught.value)) == (fault == "dies")
    assert attempt.came_to_its_fault()
    wait_until(attempt.nothing_runs)
