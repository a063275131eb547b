"""Reads lines that the user types."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from toolwire_schemas.output import Output, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from types import ModuleType


class Keyboard:
    """Reads standard input line by line, on a terminal with editing keys and history.

    Each line is read within *typing*. A prompt never goes to a standard output that is not a terminal.
    """

    def __init__(self, typing: Callable[[], AbstractContextManager[None]]) -> None:
        self._typing = typing
        self._is_terminal = sys.stdin is not None and sys.stdin.isatty()
        self._edits = self._is_terminal and sys.stdout.isatty()
        self._readline = _readline() if self._edits else None
        with suppress(AttributeError):  # a substitute in a test
            sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]

    def read(self, prompt: str, /, *, prefill: str = "") -> str | None:
        """Return the next line, initially *prefill* where the terminal supports it; `None` at the end of input."""
        try:
            with self._typing(), self._filled_in(printable(prefill)):
                line = self._line(printable(prompt))
        except BaseException:
            self._end_line()
            raise
        if line is None:
            self._end_line()
        return line

    def _line(self, prompt: str) -> str | None:
        if self._edits:
            try:
                return input(prompt)
            except EOFError:
                return None
        if self._is_terminal:
            Output(sys.stderr).prompt(prompt)
        line = sys.stdin.readline() if sys.stdin is not None else ""
        return line.rstrip("\r\n") if line else None

    def _end_line(self) -> None:
        """Start a new line, because Enter was not pressed."""
        if self._is_terminal:
            Output(sys.stderr).prompt("\n")

    @contextmanager
    def _filled_in(self, text: str) -> Iterator[None]:
        readline = self._readline
        if readline is None or not text:
            yield
            return
        readline.set_startup_hook(lambda: readline.insert_text(text))
        try:
            yield
        finally:
            readline.set_startup_hook(None)


def _readline() -> ModuleType | None:
    try:
        import readline  # gives `input` editing keys
    except ImportError:  # Windows' terminal has editing keys of its own
        return None
    return readline
