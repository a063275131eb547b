"""Runs a program in pydantic-monty: an interpreter of a part of Python, in a process of its own.

Strategy. The interpreter stops at each call of a tool: this thread starts the call and goes on with
the outcome. A program with `await` goes on at once, and gets outcomes when all of its tasks wait.
Another thread kills the process when the time is up or the program is cancelled.
"""

from __future__ import annotations

import ast
import os
import queue
import signal
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pydantic_monty as monty
from toolwire_schemas.threads import start_thread
from toolwire_tools.processes.bounded_output import BoundedOutput

from ..python_interpreter.child import cut
from ..python_interpreter.job import Ended
from .direct_door import DirectDoor
from .runner import has_await

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .door import DoorLimits
    from .frames import Outcome, ProgramCall
    from .limits import ProgramLimits, ToolFunction

_PRELUDE = "import asyncio\nToolFailed = RuntimeError"
"""Classes of a program cannot inherit, so that failures of tools are those of Python."""

_LOOK_SECONDS = 0.05
_SPARE_SECONDS = 5.0
"""By so much the interpreter's own time limit is later than that of the program."""

_MAX_CONCURRENT = 64
"""Calls of one program that run at once; a further one fails."""

_CANNOT_CALL = "cannot suspend in this synchronous context"
_ADVICE = (
    "\nHere map, sorted and other functions cannot call tools: use a loop or a comprehension, as in"
    " [tool(x) for x in values]."
)

_THREADS = "toolwire-monty"


class _Group:
    """An object of a program, whose methods call tools."""


class MontyRun:
    """One run of *code*, whose *functions* call tools."""

    def __init__(self, code: str, functions: Sequence[ToolFunction], limits: ProgramLimits) -> None:
        self._code = code
        self._limits = limits
        self._functions = {(each.group, each.function): each.tool for each in functions}
        self._groups = _make_groups(functions)
        self._is_async = _is_async(code)
        self._outcomes: queue.SimpleQueue[tuple[int, Outcome]] = queue.SimpleQueue()
        self._running = 0
        self._is_done = threading.Event()
        self._is_late = False
        self._stopped_by: BaseException | None = None
        self._pid: int | None = None
        most_at_end = limits.max_output_bytes // 2
        self._printed = BoundedOutput(
            most_at_start=limits.max_output_bytes - most_at_end, most_at_end=most_at_end
        )

    def open_door(self, start: Callable[[ProgramCall], None], limits: DoorLimits) -> DirectDoor:
        """Return the door, on which calls start."""
        self._door = DirectDoor(start, lambda *outcome: self._outcomes.put(outcome), limits)
        return self._door

    def run(self, seconds_left: Callable[[], float], check: Callable[[], object]) -> Ended:
        """Return how the program ended; *check* ends it by raising, and is called all the while."""
        limits: Any = {
            "max_feed_duration_secs": seconds_left() + _SPARE_SECONDS,
            "max_memory": self._limits.memory_bytes,
        }
        try:
            with monty.Monty() as pool, pool.checkout(limits=limits) as session:
                session.feed_run(_PRELUDE)
                self._pid = session.worker_pid
                watching = start_thread(self._watch, _THREADS, seconds_left, check)
                try:
                    kind, text = self._run_in(session)
                finally:
                    self._is_done.set()
                    watching.join()
        except monty.MontyError as error:  # its process was killed
            kind, text = "error", str(error)
        if self._stopped_by is not None:
            raise self._stopped_by
        status = None if self._is_late else 0
        data = kind.encode() + b"\n" + cut(text, self._limits.max_output_bytes)
        return Ended(status, data, self._printed.decode_text())

    def _run_in(self, session: Any) -> tuple[str, str]:
        """Return the kind of the result, as the child of `PythonInterpreter` does, and its text."""
        try:
            value = self._drive(session)
        except monty.MontyCrashedError as error:
            return "error", str(error)
        except (monty.MontyRuntimeError, monty.MontySyntaxError) as error:
            text = error.display().replace('"<python-input-1>"', '"<code>"')
            return "error", text + (_ADVICE if _CANNOT_CALL in text else "")
        except monty.MontyError as error:
            return "error", str(error)
        return ("none", "") if value is None else ("value", str(value))

    def _watch(self, seconds_left: Callable[[], float], check: Callable[[], object]) -> None:
        """Kill the interpreter when *check* raises, or there are no *seconds_left*."""
        while not self._is_done.wait(_LOOK_SECONDS):
            try:
                check()
            except BaseException as error:  # which ends the program
                self._stopped_by = error
            self._is_late = seconds_left() <= 0
            if self._is_late or self._stopped_by is not None:
                self._kill()
                return

    def _kill(self) -> None:
        # Without a number, its own time limit ends it: 0 would be all processes of the group.
        if self._pid:
            with suppress(OSError):
                os.kill(self._pid, getattr(signal, "SIGKILL", signal.SIGTERM))

    def _drive(self, session: Any) -> Any:
        objects: dict[str, Any] = {}
        for group, methods in self._groups.items():
            objects[group] = monty.ClassInstance(_Group(), allowed_methods=methods)
        names = {wrapper.id: group for group, wrapper in objects.items()}
        functions = {name: _stand_in for group, name in self._functions if not group}
        snapshot = session.feed_start(
            self._code, inputs=objects, external_lookup=functions, print_callback=self._print
        )
        while not isinstance(snapshot, monty.MontyComplete):
            match snapshot:
                case monty.NameLookupSnapshot():
                    snapshot = snapshot.resume_auto()
                case monty.FutureSnapshot():
                    number, outcome = self._wait()
                    snapshot = snapshot.resume({number: _get_result(outcome)})
                case _ if snapshot.is_os_function:
                    snapshot = snapshot.resume_not_handled()
                case _:
                    snapshot = self._call(snapshot, names)
        return snapshot.output

    def _call(self, snapshot: Any, names: Mapping[Any, str]) -> Any:
        name = snapshot.function_name
        tool = self._functions.get((names.get(snapshot.object_id, ""), name))
        if tool is None:
            return snapshot.resume({"exception": NameError(f"name {name!r} is not defined")})
        if self._running >= _MAX_CONCURRENT:
            problem = f"{_MAX_CONCURRENT} calls run at once, which is the limit"
            return snapshot.resume({"exception": RuntimeError(problem)})
        line = self._code.encode()[: snapshot.position.start].count(b"\n") + 1
        self._running += 1
        self._door.call(snapshot.call_id, tool, snapshot.args, snapshot.kwargs, line)
        if self._is_async:
            return snapshot.resume({"future": ...})
        _, outcome = self._wait()
        return snapshot.resume(_get_result(outcome))

    def _wait(self) -> tuple[int, Outcome]:
        """Return the next outcome; raises if the program is stopped before it."""
        while True:
            try:
                outcome = self._outcomes.get(timeout=_LOOK_SECONDS)
            except queue.Empty:
                if self._is_late or self._stopped_by is not None:
                    raise monty.MontyError("the program was stopped") from None
                continue
            self._running -= 1
            return outcome

    def _print(self, stream: str, text: str) -> None:
        self._printed.add(text.encode("utf-8", "backslashreplace"))


def _make_groups(functions: Sequence[ToolFunction]) -> dict[str, set[str]]:
    groups: dict[str, set[str]] = {}
    for each in functions:
        if each.group:
            groups.setdefault(each.group, set()).add(each.function)
    return groups


def _is_async(code: str) -> bool:
    try:
        return has_await(compile(code, "<code>", "exec", ast.PyCF_ONLY_AST | _TOP_LEVEL_AWAIT))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False  # the interpreter says what is wrong


_TOP_LEVEL_AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def _stand_in() -> None:
    raise AssertionError("the interpreter stops at each call")


def _get_result(outcome: Outcome) -> Any:
    if outcome.failed is not None:
        return {"exception": RuntimeError(outcome.failed)}
    return {"return_value": outcome.value}
