"""What code in a sandbox cannot ask of the kernel, as a program for seccomp(2). Runs nothing.

Strategy. Namespaces do not keep everything apart: a socket of AF_VSOCK leads to the hypervisor
whatever network there is, and the keys that the server's session has, of Kerberos for one, can be
read by all that it starts. So these are refused, and with them some that sandboxes leave out
because of the faults they have had (as Flatpak and Docker do). All else is allowed. The program is
one of the classic Berkeley Packet Filter's, which looks at a call's number and arguments
(linux/seccomp.h, linux/filter.h). A processor that is not in the table has no filter.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
from functools import cache
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of processor: its number in linux/audit.h, and those of calls in asm/unistd.h.
    *refused* are, in this order: add_key, request_key, keyctl, unshare, setns, perf_event_open,
    bpf, userfaultfd, io_uring_setup."""

    audit: int
    refused: tuple[int, ...]
    clone: int
    clone3: int
    socket: int


_MACHINES = {
    "x86_64": Machine(
        audit=0xC000003E,
        refused=(248, 249, 250, 272, 308, 298, 321, 323, 425),
        clone=56,
        clone3=435,
        socket=41,
    ),
    "aarch64": Machine(
        audit=0xC00000B7,
        refused=(217, 218, 219, 97, 268, 241, 280, 282, 425),
        clone=220,
        clone3=435,
        socket=198,
    ),
}

_NUMBER, _MACHINE, _FIRST_ARGUMENT = (
    0,
    4,
    16,
)  # where they are in struct seccomp_data; of arguments the lower half
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000  # to which the number of the error is added
_X32 = 0x40000000
"""From here on: the same calls by other numbers (x86 only)."""
_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, CLONE_NEWUSER and the others. The kernel takes them in clone3 as well, where no
filter can look: without that, libraries use clone."""
_FAMILIES = (1, 2, 10, 16)
"""Sockets that there may be: AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK, which lists the interfaces.
"""


@cache
def make_filter() -> bytes:
    """Return the program for this machine; empty for an unknown machine, or a kernel without such
    programs.
    """
    if (
        sys.platform == "win32" or not _are_known_here() or sys.maxsize < 2**32
    ):  # Python of 32 bits makes other calls than its kernel's own
        return b""
    machine = _MACHINES.get(os.uname().machine)
    return b"".join(_list_steps(machine)) if machine else b""


def _are_known_here() -> bool:
    """Whether there is a kernel that takes such programs: Linux, mostly."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:
            return "\nSeccomp:" in status.read()
    except OSError:
        return False


def _list_steps(machine: Machine) -> Iterator[bytes]:
    yield _encode_step(_LOAD, _MACHINE)
    yield from _do_unless(_IF_EQUAL, machine.audit, _encode_refusal(errno.ENOSYS))
    yield _encode_step(_LOAD, _NUMBER)
    yield from _do_if(_IF_AT_LEAST, _X32, _encode_refusal(errno.ENOSYS))
    for call in machine.refused:
        yield from _do_if(_IF_EQUAL, call, _encode_refusal(errno.EPERM))
    yield from _do_if(_IF_EQUAL, machine.clone3, _encode_refusal(errno.ENOSYS))
    namespaces = [*_do_if(_IF_ANY_BIT, _NAMESPACES, _encode_refusal(errno.EPERM))]
    yield from _check_first_argument(machine.clone, [*namespaces, _encode_step(_RETURN, _ALLOW)])
    families = [
        step
        for family in _FAMILIES
        for step in _do_if(_IF_EQUAL, family, _encode_step(_RETURN, _ALLOW))
    ]
    yield from _check_first_argument(
        machine.socket, [*families, _encode_refusal(errno.EAFNOSUPPORT)]
    )
    yield _encode_step(_RETURN, _ALLOW)


def _check_first_argument(call: int, steps: list[bytes]) -> Iterator[bytes]:
    """Return the check of the first argument of *call*."""
    yield _encode_step(_IF_EQUAL, call, otherwise=1 + len(steps))
    yield _encode_step(_LOAD, _FIRST_ARGUMENT)
    yield from steps


def _do_if(condition: int, value: int, step: bytes) -> Iterator[bytes]:
    yield _encode_step(condition, value, otherwise=1)
    yield step


def _do_unless(condition: int, value: int, step: bytes) -> Iterator[bytes]:
    yield _encode_step(condition, value, then=1)
    yield step


def _encode_refusal(error: int) -> bytes:
    return _encode_step(_RETURN, _REFUSE + error)


def _encode_step(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    """One instruction; *then* and *otherwise* are how many of those behind it are passed over."""
    return struct.pack("HBBI", code, then, otherwise, value)
