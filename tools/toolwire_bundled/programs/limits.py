"""The limits of a program, and its functions."""

from __future__ import annotations

import msgspec

from .door import DoorLimits

MEMORY_BYTES = 1024**3
MAX_PROCESSES = 64
"""Processes and threads: those of `asyncio.to_thread` and of pools."""


class ProgramLimits(msgspec.Struct, frozen=True):
    """The limits of a program. Its seconds do not count while the user is asked."""

    seconds: float = 120.0
    max_output_bytes: int = 32 * 1024
    memory_bytes: int = MEMORY_BYTES
    door: DoorLimits = DoorLimits()


class ToolFunction(msgspec.Struct, frozen=True):
    """The *function*, of the object *group* if that is not empty, that calls *tool*."""

    tool: str
    group: str
    function: str
