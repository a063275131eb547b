"""Regular expressions in a process of their own, which can be ended: some patterns would take for
ever.

`(a+)+$` takes time that doubles with each letter, and nothing in Python's `re` stops it. No look at
a pattern can tell which ones do (some are just slow on long lines), so that time is the only judge:
the processor's, which the process limits itself, since on a busy machine an innocent pattern waits,
too. The clock's is limited more generously.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.language import say
from toolwire_schemas.threads import start_timer
from toolwire_tools.errors import ToolError
from toolwire_tools.processes.child_group import ChildGroup

from .limits import MAX_LINE, MAX_PATTERN_SECONDS, MAX_SECONDS

if TYPE_CHECKING:
    from types import TracebackType

_OUT_OF_TIME: int | None = None
"""The status of the process after its time, where the system can limit that."""
if sys.platform != "win32":
    _OUT_OF_TIME = -signal.SIGPROF

_PROGRAM = os.path.join(os.path.dirname(__file__), "regex_process.py")


class Pattern:
    """A pattern that finds lines, for as long as it is entered.

    Raises:
        ToolError: when entered, if it is no regular expression.
    """

    def __init__(self, pattern: str, *, ignores_case: bool) -> None:
        limits = {"shown": MAX_LINE, "seconds": MAX_PATTERN_SECONDS}
        self._settings = {"pattern": pattern, "ignores_case": ignores_case, **limits}
        self._left = MAX_SECONDS
        self._late = False

    def __enter__(self) -> Pattern:
        self._group = ChildGroup()
        try:
            self._process = self._group.start(
                [sys.executable, "-I", "-S", _PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except BaseException:
            self._group.close()
            raise
        try:
            problem = self._answer(self._settings)
            if problem:
                raise ToolError(
                    say("the text is no regular expression: {problem}", problem=problem)
                )
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._close()

    def find_hits(self, text: str, limit: int) -> list[tuple[int, str]]:
        """The first lines of *text* that the pattern finds, by their numbers.

        Raises:
            ToolError: if it takes too long.
        """
        return [(line, said) for line, said in self._answer({"text": text, "limit": limit})]

    def _answer(self, question: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        started = monotonic()
        timer = start_timer(self._left, self._end)
        try:
            self._process.stdin.write(msgspec.json.encode(question) + b"\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = b""
        finally:
            timer.cancel()
            self._left -= monotonic() - started
        if not answer:
            is_late = self._process.wait() == _OUT_OF_TIME or self._late
            much = say("too much memory")
            if is_late:
                much = say("more than {seconds:g} seconds", seconds=MAX_PATTERN_SECONDS)
            raise ToolError(
                say(
                    "the regular expression takes {much}: make it simpler, or search less",
                    much=much,
                )
            )
        return msgspec.json.decode(answer)

    def _end(self) -> None:
        self._late = True
        self._group.kill()

    def _close(self) -> None:
        self._group.kill()
        self._process.wait()
        self._group.close()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):  # of what was not written
                    pipe.close()
