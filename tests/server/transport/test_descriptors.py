"""A tool that closes what is not its own: the protocol is neither written to another file nor read
from one.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.server_process import call, request, served

pytestmark = pytest.mark.process

TOOLS = """
import os
from contextlib import suppress

opened = []

def run(path: str) -> str:
    open(path, "w").close()
    return "ran"

def close(first: int, last: int, path: str) -> int:
    for number in range(first, last):
        if number > 2:
            with suppress(OSError):
                os.close(number)
    with suppress(OSError):
        while len(opened) < last - first:
            opened.append(os.open(path, os.O_RDWR))
    return len(opened)

def replace(path: str, which: list[int]) -> str:
    for number in which:
        os.dup2(os.open(path, os.O_RDWR), number)
    return "replaced"

def high() -> list[int]:
    return sorted(int(name) for name in os.listdir("/proc/self/fd") if int(name) > 63)
"""


def test_low_numbers_are_the_tools_own(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.touch()
    with served(tmp_path, TOOLS) as process:
        for number in range(2):
            answer = process.ask(
                call("close", {"first": 3, "last": 64, "path": str(victim)}, id=number)
            )
            assert answer["result"]["structuredContent"] == {"result": 61}
        assert process.ask(request("ping"))["result"] == {}
        assert process.hang_up() == []
        assert process.wait() == 0
    assert victim.read_bytes() == b""


def poisoned(tmp_path: Path) -> Path:
    """Return a file that holds a request, to be read by nobody."""
    victim = tmp_path / "victim"
    arguments = {"path": str(tmp_path / "it ran")}
    victim.write_text(f"{call('run', arguments)}\n".replace("'", '"') * 100)
    return victim


def test_a_server_whose_numbers_are_used_for_other_files_ends_and_says_so(tmp_path: Path) -> None:
    victim = poisoned(tmp_path)
    before = victim.read_bytes()
    with served(tmp_path, TOOLS) as process:
        process.send(call("close", {"first": 3, "last": 4096, "path": str(victim)}))

        assert process.receive_line() is None
        assert process.wait() == 70
        assert "a tool closed or replaced descriptor" in process.stderr()
    assert victim.read_bytes() == before
    assert not (tmp_path / "it ran").exists()


@pytest.mark.parametrize("which", range(5))
def test_each_private_descriptor_may_be_replaced_without_harm(tmp_path: Path, which: int) -> None:
    victim = poisoned(tmp_path)
    before = victim.read_bytes()
    with served(tmp_path, TOOLS) as process:
        numbers = process.ask(call("high"))["result"]["structuredContent"]["result"]
        assert (
            len(numbers) == 5
        )  # input, output, two ends of what wakes the main thread, and the guard's pipe
        process.send(
            call("replace", {"path": str(victim), "which": [numbers[which]]}), request("ping", id=2)
        )
        process.hang_up()

        assert process.wait() in (0, 70)
    assert not (tmp_path / "it ran").exists()
    assert victim.read_bytes() == before
