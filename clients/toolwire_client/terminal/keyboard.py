"""Lines that somebody types."""

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
    """Reads standard input line by line; on a terminal with the keys to edit them, and what was typed before.

    Each line is read within *typing*. A prompt never goes to a standard output that is no terminal.
    """

    def __init__(self, typing: Callable[[], AbstractContextManager[None]]) -> None:
        self._typing = typing
        self._is_terminal = sys.stdin is not None and sys.stdin.isatty()
        self._edits = self._is_terminal and sys.stdout.isatty()
        self._readline = _readline() if self._edits else None
        with suppress(AttributeError):  # what stands in for it in a test
            sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]

    def read(self, prompt: str, /, *, prefill: str = "") -> str | None:
        """Return the next line; `None` at the end of the input. It may begin with *prefill*, where that is possible."""
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
        """Go to a new line, since nobody pressed Enter."""
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
        import readline  # which gives `input` its keys
    except ImportError:  # Windows' terminal has some by itself
        return None
    return readline
