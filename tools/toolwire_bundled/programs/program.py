"""Runs a program in the sandbox, with a door to its tools."""

from __future__ import annotations

import time
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_tools.errors import ToolError

from ..python_interpreter.child import without_fence
from ..python_interpreter.job import Job
from ..python_interpreter.outcome import outcome
from ..python_interpreter.process import code_of, execute
from ..python_interpreter.sandbox_probe import protection
from .door import Door, DoorLimits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import CodeType


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


class Clock:
    """Counts the seconds of a program, but for those inside `pause`. Thread-safe."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._paused_at: float | None = None

    def seconds_left(self) -> float:
        """Return the seconds that are left; negative after the end."""
        now = time.monotonic() if self._paused_at is None else self._paused_at
        return self._end - now

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Let no time pass inside the `with` block. Not for two threads at once."""
        self._paused_at = paused_at = time.monotonic()
        try:
            yield
        finally:
            self._end += time.monotonic() - paused_at
            self._paused_at = None


class Program:
    """A program of Python, its *functions* for tools, and its `clock`."""

    def __init__(self, code: str, functions: Sequence[ToolFunction], limits: ProgramLimits) -> None:
        self.code = without_fence(code.lstrip("\ufeff"))
        self.clock = Clock(limits.seconds)
        self._functions = functions
        self._limits = limits

    def run(
        self,
        open_door: Callable[[DoorLimits], Door],
        end_calls: Callable[[], None],
        check: Callable[[], object],
    ) -> list[str]:
        """Return the value of the last expression, if it has one, and what the program printed.

        *check* is called all the while, and ends the program by raising. *end_calls* is called when
        it has ended, and ends its calls.

        Raises:
            ToolError: if it failed or was ended; with what it had printed.
        """
        door = open_door(self._limits.door)
        job = self._job(door.inside)
        try:
            ended = execute(
                job,
                sandboxed=True,
                check=check,
                inherited=door,
                seconds_left=self.clock.seconds_left,
            )
        finally:
            door.stop_reading()
            end_calls()
            door.close()
        try:
            return outcome(ended, job)
        except ToolError as error:
            if not door.problem:
                raise
            why = f"The connection to the tools was closed: {door.problem}."
            raise ToolError(f"{error}\n\n{why}") from None

    def _job(self, descriptor: int) -> Job:
        functions = [(each.tool, each.group, each.function) for each in self._functions]
        limits = self._limits
        return Job(
            code=self.code,
            timeout_seconds=limits.seconds,
            memory_bytes=limits.memory_bytes,
            max_processes=MAX_PROCESSES,
            max_output_bytes=limits.max_output_bytes,
            extra={"runner": _runner(), "door": descriptor, "functions": functions},
        )


@cache
def _runner() -> CodeType:
    return code_of(f"{__package__}.runner")


def why_no_sandbox() -> str:
    """Return why programs cannot run here; empty if they can."""
    found = protection("auto")
    return "" if found.sandboxed else found.reason


def describe_line(code: str, line: int, around: int = 2) -> str:
    """Return the lines of the program *code* around *line*, with their numbers."""
    lines = code.splitlines()
    if not 1 <= line <= len(lines):
        return ""
    shown = []
    for number in range(max(1, line - around), min(len(lines), line + around) + 1):
        mark = ">" if number == line else " "
        shown.append(f"{mark} {number}  {lines[number - 1][:200]}")
    return "\n".join(shown)


def read_result(result: dict[str, Any]) -> Any:
    """Return the data of a tool's *result*: its structured content, or else its text or blocks.

    Values that are no objects are the only member, `result`, of structured content.
    """
    structured = result.get("structuredContent")
    if isinstance(structured, dict):
        return structured["result"] if structured.keys() == {"result"} else structured
    content = result.get("content") or []
    if not content:
        return None
    if len(content) == 1 and content[0].get("type") == "text":
        return content[0].get("text")
    return content


def read_failure(result: dict[str, Any]) -> str:
    """Return why a tool failed: the text of its *result*."""
    texts = []
    for block in result.get("content") or []:
        if block.get("type") == "text":
            texts.append(str(block.get("text")))
    return "\n".join(texts) or "The tool failed without a text."
