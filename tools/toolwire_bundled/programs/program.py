"""Runs a program in the sandbox, with a door to its tools."""

from __future__ import annotations

import time
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from toolwire_tools.errors import ToolError

from ..python_interpreter.child import without_fence
from ..python_interpreter.job import Job
from ..python_interpreter.outcome import write_outcome
from ..python_interpreter.process import execute, read_code
from ..python_interpreter.sandbox_probe import find_protection
from ..requirements import explain_how_to_install
from .door import ProgramDoor
from .limits import MAX_PROCESSES, ProgramLimits, ToolFunction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import CodeType

    from .direct_door import DirectDoor
    from .frames import ProgramCall

    AnyDoor = ProgramDoor | DirectDoor

Sandbox = Literal["bubblewrap", "monty"]


class NoSandbox(ValueError):
    """There is nothing here that could confine programs."""


class Clock:
    """Counts the seconds of a program, but for those inside `pause`. Thread-safe."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._paused_at: float | None = None

    def count_seconds_left(self) -> float:
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

    def __init__(
        self,
        code: str,
        functions: Sequence[ToolFunction],
        limits: ProgramLimits,
        sandbox: Sandbox = "bubblewrap",
    ) -> None:
        self.code = without_fence(code.lstrip("\ufeff"))
        self.clock = Clock(limits.seconds)
        self._functions = functions
        self._limits = limits
        self._sandbox = sandbox

    def run(
        self,
        start: Callable[[ProgramCall], None],
        attach: Callable[[AnyDoor], None],
        end_calls: Callable[[], None],
        check: Callable[[], object],
    ) -> list[str]:
        """Return the value of the last expression, if it has one, and what the program printed.

        *attach* gets the door, at which calls *start*. *check* is called all the while, and ends
        the program by raising. *end_calls* is called when it has ended, and ends its calls.

        Raises:
            ToolError: if it failed or was ended; with what it had printed.
        """
        if self._sandbox == "monty":
            return self._run_in_monty(start, attach, end_calls, check)
        door = ProgramDoor(start, self._limits.door)
        attach(door)
        job = self._make_job(door.inside)
        try:
            ended = execute(
                job,
                sandboxed=True,
                check=check,
                inherited=door,
                seconds_left=self.clock.count_seconds_left,
            )
        finally:
            door.stop_reading()
            end_calls()
            door.close()
        try:
            return write_outcome(ended, job)
        except ToolError as error:
            if not door.problem:
                raise
            why = f"The connection to the tools was closed: {door.problem}."
            raise ToolError(f"{error}\n\n{why}") from None

    def _run_in_monty(
        self,
        start: Callable[[ProgramCall], None],
        attach: Callable[[AnyDoor], None],
        end_calls: Callable[[], None],
        check: Callable[[], object],
    ) -> list[str]:
        from .monty import MontyRun

        running = MontyRun(self.code, self._functions, self._limits)
        attach(running.open_door(start, self._limits.door))
        try:
            ended = running.run(self.clock.count_seconds_left, check)
        finally:
            end_calls()
        return write_outcome(ended, self._make_job(0))

    def _make_job(self, descriptor: int) -> Job:
        functions = [(each.tool, each.group, each.function) for each in self._functions]
        limits = self._limits
        return Job(
            code=self.code,
            timeout_seconds=limits.seconds,
            memory_bytes=limits.memory_bytes,
            max_processes=MAX_PROCESSES,
            max_output_bytes=limits.max_output_bytes,
            extra={"runner": _compile_runner(), "door": descriptor, "functions": functions},
        )


@cache
def _compile_runner() -> CodeType:
    return read_code(f"{__package__}.runner")


def find_sandbox(wanted: str) -> Sandbox:
    """Return the sandbox *wanted*; for `auto` bubblewrap, or else monty.

    Raises:
        NoSandbox: with the reason, without one here.
    """
    has_monty = find_spec("pydantic_monty") is not None
    if wanted == "monty" and has_monty:
        return "monty"
    remedy = f"for monty, {explain_how_to_install('monty')}"
    if wanted == "monty":
        raise NoSandbox(remedy)
    found = find_protection("auto")
    if found.sandboxed:
        return "bubblewrap"
    if wanted == "auto" and has_monty:
        return "monty"
    raise NoSandbox(f"programs need a sandbox: {found.reason}; {remedy}")


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
