"""Reads lines that the user types."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from toolwire_schemas.output import Output, make_printable

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from types import ModuleType


class Keyboard:
    """Reads standard input line by line, on a terminal with editing keys and history.

    Each line is read within *typing*. A prompt never goes to a standard output that is not a
    terminal.
    """

    def __init__(self, typing: Callable[[], AbstractContextManager[None]]) -> None:
        self._typing = typing
        self._is_terminal = sys.stdin is not None and sys.stdin.isatty()
        self._edits = self._is_terminal and sys.stdout.isatty()
        self._readline: ModuleType | None = None
        if self._edits:
            with suppress(ImportError):  # Windows' terminal has editing keys of its own
                import readline  # gives `input` editing keys

                self._readline = readline
        with suppress(AttributeError):  # a substitute in a test
            sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]

    def read(self, prompt: str, /, *, prefill: str = "") -> str | None:
        """Return the next line, initially *prefill* where the terminal supports it; `None` at the
        end of input.
        """
        line: str | None = None
        try:
            with self._typing():
                line = self._read_line(make_printable(prompt), make_printable(prefill))
        finally:
            if line is None and self._is_terminal:  # Enter was not pressed
                Output(sys.stderr).write_prompt("\n")
        return line

    def _read_line(self, prompt: str, prefill: str) -> str | None:
        if not self._edits:
            if self._is_terminal:
                Output(sys.stderr).write_prompt(prompt)
            line = sys.stdin.readline() if sys.stdin is not None else ""
            if line:
                return line.rstrip("\r\n")
            return None
        readline = self._readline
        try:
            if readline is not None:
                readline.set_startup_hook(lambda: readline.insert_text(prefill))
            return input(prompt)
        except EOFError:
            return None
        finally:
            if readline is not None:
                readline.set_startup_hook(None)
