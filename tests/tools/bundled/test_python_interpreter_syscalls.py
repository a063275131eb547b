"""What the filter for code in a sandbox decides, on every processor that it knows: followed step by
step.
"""

from __future__ import annotations

import errno
import os

import pytest
from support.sandbox_runs import ALLOWED, REFUSED, decided
from toolwire_bundled.python_interpreter.syscalls import _MACHINES, Machine, make_filter

OTHER = 1
"""A number that stands for no call in the tables."""


@pytest.fixture(params=_MACHINES)
def machine(request: pytest.FixtureRequest) -> Machine:
    return _MACHINES[request.param]


def test_on_other_systems_there_is_no_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "toolwire_bundled.python_interpreter.syscalls.open", _no_file, raising=False
    )
    monkeypatch.delattr(os, "uname", raising=False)  # as on Windows
    assert make_filter.__wrapped__() == b""


def _no_file(*arguments: object, **options: object) -> None:
    raise FileNotFoundError


def test_what_is_in_no_table_is_allowed(machine: Machine) -> None:
    assert decided(machine, OTHER) == ALLOWED


def test_what_is_refused_is_not_permitted(machine: Machine) -> None:
    assert {decided(machine, call) for call in machine.refused} == {REFUSED + errno.EPERM}


def test_calls_of_another_kind_of_processor_are_not_there(machine: Machine) -> None:
    assert decided(machine, OTHER, audit=0x40000003) == REFUSED + errno.ENOSYS  # i386
    assert decided(machine, 0x40000000 + OTHER) == REFUSED + errno.ENOSYS  # x32


@pytest.mark.parametrize("flag", [1 << bit for bit in (17, 25, 26, 27, 28, 29, 30)])
def test_processes_are_started_but_not_in_further_namespaces(machine: Machine, flag: int) -> None:
    forks, threads = 0x01200011, 0x003D0F00
    assert (
        decided(machine, machine.clone, forks)
        == decided(machine, machine.clone, threads)
        == ALLOWED
    )
    assert decided(machine, machine.clone, forks | flag) == REFUSED + errno.EPERM
    assert decided(machine, machine.clone3) == REFUSED + errno.ENOSYS


def test_sockets_are_of_families_that_have_namespaces(machine: Machine) -> None:
    families = [
        family for family in range(256) if decided(machine, machine.socket, family) == ALLOWED
    ]
    assert families == [1, 2, 10, 16]
    assert decided(machine, machine.socket, 40) == REFUSED + errno.EAFNOSUPPORT
    assert (
        decided(machine, machine.socket, 1 << 32 | 40) == REFUSED + errno.EAFNOSUPPORT
    )  # the kernel takes an int
