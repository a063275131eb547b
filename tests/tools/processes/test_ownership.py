"""What a process owns ends with it, and not with its forks."""

from __future__ import annotations

import subprocess
import sys

import pytest
from toolwire_tools.processes.ownership import disown, own

OWNER = """
import os, sys
from toolwire_tools.processes.ownership import disown, own

class Thing:
    def __init__(self, name, fails=False):
        self.name = name
        self.fails = fails

    def end(self):
        print("end", self.name, flush=True)
        disown(self)
        if self.fails:
            raise OSError(self.name)

    def abandon(self):
        print("abandon", self.name, flush=True)

first, second, third = Thing("first"), Thing("second", fails=True), Thing("third")
for thing in (first, second, third):
    own(thing)
"""


class Thing:
    def end(self) -> None: ...

    def abandon(self) -> None: ...


def printed_by(script: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", OWNER + script],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    return done.stdout.splitlines()


def test_a_thing_is_disowned_once() -> None:
    thing = Thing()
    own(thing)

    assert disown(thing)
    assert not disown(thing)


@pytest.mark.process
def test_the_last_thing_ends_first_and_an_error_keeps_none_from_ending() -> None:
    assert printed_by("") == ["end third", "end second", "end first"]


@pytest.mark.process
def test_a_disowned_thing_does_not_end_at_exit() -> None:
    assert printed_by("disown(third)") == ["end second", "end first"]


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_a_fork_abandons_every_thing_and_ends_none() -> None:
    fork = """
disown(third)
child = os.fork()
if child == 0:
    sys.exit()
os.waitpid(child, 0)
"""
    abandoned = ["abandon first", "abandon second"]
    assert printed_by(fork) == [*abandoned, "end second", "end first"]
