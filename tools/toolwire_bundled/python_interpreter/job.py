"""The request to the process that runs a piece of code, and its outcome."""

from __future__ import annotations

from typing import Any

import msgspec

DEFAULT_MAX_OUTPUT_BYTES = 8192
"""As much as Lagent's interpreters let a model read."""

FOLDER_BYTES = 256 * 1024**2
"""Limit of all files of a sandboxed call together. They are in memory."""

SHARED_MEMORY_BYTES = 64 * 1024**2
"""Docker's default for /dev/shm."""

_OPEN_FILES = 1024
_SECONDS_OF_PROCESSORS = 64
"""How many processors may be busy all the time. Time runs out first, unless a process has got away.
"""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of code, how its answer is found, and what it may use.

    *timeout_seconds* is for all of it, the start of the process included. *memory_bytes* is for
    each process. *readable* are folders that it can read in addition to Python's own. *extra* is
    for a runner of the code in place of the child's own.
    """

    code: str
    answer_symbol: str | None = None
    answer_expr: str | None = None
    answer_from_stdout: bool = False
    timeout_seconds: float = 20
    memory_bytes: int = 2 * 1024**3
    max_processes: int = 256
    max_output_bytes: int = DEFAULT_MAX_OUTPUT_BYTES
    readable: tuple[str, ...] = ()
    extra: dict[str, Any] = {}

    def make_order(self, *, sandboxed: bool) -> dict[str, Any]:
        """The arguments of `child.main`."""
        limits = {
            "RLIMIT_AS": self.memory_bytes,
            "RLIMIT_CORE": 0,
            "RLIMIT_CPU": int(self.timeout_seconds * _SECONDS_OF_PROCESSORS) + 1,
            "RLIMIT_FSIZE": FOLDER_BYTES,
            "RLIMIT_NOFILE": _OPEN_FILES,
        }
        if (
            sandboxed
        ):  # else all processes of the server's user count, and the limit would be anywhere
            limits["RLIMIT_NPROC"] = self.max_processes
        return {
            "code": self.code,
            "answer_symbol": self.answer_symbol,
            "answer_expr": self.answer_expr,
            "answer_from_stdout": self.answer_from_stdout,
            "max_bytes": self.max_output_bytes,
            "limits": limits,
            **self.extra,
        }


class Ended(msgspec.Struct, frozen=True):
    """How a process ended.

    A negative *status* is that of a signal, None says that its time was up. *result* is what it
    wrote as its result, in which the code had a hand; *output* is what it printed, cut if it was
    too much.
    """

    status: int | None
    result: bytes
    output: str
