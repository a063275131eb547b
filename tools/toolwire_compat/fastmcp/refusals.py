"""Refuses what FastMCP has and Toolwire has not, by name and line, while the user's file is
loaded.
"""

from __future__ import annotations

import os
import sys
from types import CodeType
from typing import Any

from toolwire_tools.errors import RegistrationError

OWN_PACKAGE = "serve this file with the package it was written for, or remove it"
NO_MIDDLEWARE = "write what it does as a class of your own, derived from Middleware"
USE_MOUNTS = "remove it, and serve the other server with --mount NAME=COMMAND"


class NotSupported(RegistrationError, AttributeError):
    """A feature of FastMCP that Toolwire does not have.

    It is an AttributeError too, so that `hasattr` says no. *where* is `file:line`, by default that
    of the user's code that runs now.
    """

    def __init__(self, what: str, remedy: str = OWN_PACKAGE, *, where: str | None = None) -> None:
        self.problem = f"Toolwire does not support {what}"
        self.tool = what
        self.parameter = None
        self.remedy = remedy
        Exception.__init__(self, f"{where or find_users_line()}: {self.problem}; {remedy}")


_noted: set[str] = set()


def note_without_effect(what: str) -> None:
    """Log, once, that *what* has no effect on a server of standard input and output."""
    log_once(f"{find_users_line()}: {what} has no effect over standard input and output")


def log_once(sentence: str) -> None:
    """Log *sentence* as a warning, unless it was logged before."""
    import logging

    if sentence not in _noted:
        _noted.add(sentence)
        logging.getLogger("toolwire_tools").warning(sentence)


def find_users_line() -> str:
    """Return `file:line` of the innermost frame that is not Toolwire's."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(
        "toolwire_compat.fastmcp"
    ):
        frame = frame.f_back
    return format_line(frame.f_code.co_filename, frame.f_lineno)


def format_line(file: str, line: int) -> str:
    """Return `file:line`, with the file relative to the working folder if it is inside."""
    has_drive = os.path.splitdrive(file)[0] != ""  # there is no relative path to another one
    if os.path.isabs(file) and not has_drive:
        relative = os.path.relpath(file)
        if not relative.startswith(".."):
            file = relative
    return f"{file}:{line}"


class Refused:
    """Takes the place of a class or function that Toolwire does not have.

    It may be imported, stand in annotations and be derived from. To call it, to make an object of
    such a class, or to ask for its members is refused: in many files only the block below
    `if __name__ == "__main__"` uses it, which `toolwire serve` does not run.
    """

    def __init__(self, name: str, remedy: str) -> None:
        self.__name__ = name
        self._remedy = remedy

    def __repr__(self) -> str:
        return f"<{self.__name__}, which Toolwire does not support>"

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise NotSupported(self.__name__, self._remedy)

    def __mro_entries__(self, bases: Any) -> tuple[type]:
        """Allow to derive a class, whose objects are refused."""

        def refuse(*_: Any, **__: Any) -> None:
            raise NotSupported(self.__name__, self._remedy)

        return (type(self.__name__, (), {"__init__": refuse}),)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # which libraries ask of whatever stands in an annotation
            raise AttributeError(name)
        raise NotSupported(f"{self.__name__}.{name}", self._remedy)

    def __getitem__(self, _: Any) -> Refused:
        return self

    def __or__(self, other: Any) -> Any:
        return other

    __ror__ = __or__


def check_names(function: Any) -> None:
    """Refuse *function* if its code, or that of a function inside, uses a global that is `Refused`.

    Raises:
        NotSupported: with the line where *function* begins.
    """
    codes = [function.__code__]
    for code in codes:
        codes += [const for const in code.co_consts if isinstance(const, CodeType)]
        for name in code.co_names:
            value = function.__globals__.get(name)
            if isinstance(value, Refused):
                where = format_line(code.co_filename, code.co_firstlineno)
                use = f"{name}, which {function.__name__} uses"
                raise NotSupported(use, value._remedy, where=where)
