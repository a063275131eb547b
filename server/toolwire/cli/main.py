"""The command `toolwire`: from what was typed to the command that does it, and how the process ends."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING

import toolwire_schemas  # noqa: F401  # before anybody imports msgspec, which that makes quicker

from .. import __version__
from ..errors import Failed, LoadError, UsageError
from ..startup import importing
from .commands import COMMANDS, command, run
from .options import UnknownOption, as_typed, parse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says and return the exit status.

    0: done. 1: the tool or the server failed. 2: the command line or a target is wrong. 130: interrupted; without
    *arguments*, as a program of its own, it is ended by the signal then.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        # What was imported before by a program that calls us is none of our business.
        status = _dispatch(words, importing() if arguments is None else nullcontext())
        sys.stdout.flush()  # a broken pipe is to be noticed here
    except (UsageError, LoadError) as error:
        return _complain(str(error), 2)
    except Failed as failure:
        return _complain(str(failure), failure.status)
    except KeyboardInterrupt:
        status = _INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough. Python would complain when it flushes the rest at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    if status == _INTERRUPTED and arguments is None:
        _end_by_interrupt()
    return status


_INTERRUPTED = 130


def _end_by_interrupt() -> None:
    """End as Ctrl-C ends programs, where that is known: a shell calls it 130 too, and does not go on with its loop."""
    if os.name == "posix":
        import signal

        with suppress(OSError):  # nobody may be reading any longer
            sys.stdout.flush()
            sys.stderr.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)


def _dispatch(words: list[str], while_importing: AbstractContextManager[None]) -> int:
    if not words:
        raise UsageError("say what to do, as in `toolwire serve tools.py`; toolwire --help lists the commands")
    first, *rest = words
    if first in ("-h", "--help", "help"):
        return _help(rest[0] if rest and rest[0] in COMMANDS else None)
    if first in ("-V", "--version"):
        return _say(f"toolwire {__version__}")
    if first not in COMMANDS:
        raise UsageError(_no_command(first))
    with while_importing:
        asked = command(first)
    try:
        parsed = parse(rest, (*asked.options, *map(as_typed, asked.passes_on)))
    except UnknownOption as error:
        remedy = _meant(error, " ".join(asked.usage))
        raise UsageError(f"{error}; {remedy}" if remedy else str(error)) from None
    return _help(first) if parsed.options.get("help") else run(first, parsed)


def _meant(error: UnknownOption, usage: str) -> str:
    """What an option may be that is none of this command's: that of a server, or an argument of a tool."""
    from .open_client import misplaced_command

    if "-- COMMAND" in usage and (remedy := misplaced_command(error.words, error.rest)):
        return remedy
    name = error.rest[0].partition("=")[0].removeprefix("--")
    return f"arguments of the tool are given as {name}=VALUE" if "KEY=VALUE" in usage and name.isidentifier() else ""


def _help(name: str | None) -> int:
    """Tell of one command, or of all."""
    from .help import help_text, overview

    if name is None:
        return _say(overview())
    from .output import width

    return _say(help_text(name, width()))


def _no_command(word: str) -> str:
    from toolwire_schemas.did_you_mean import unknown_name  # only a mistake needs it, and all that comes with it

    if word.startswith("-"):
        return unknown_name("option", word, ["--help", "--version"]) + "; other options go behind a command"
    if word.endswith((".py", ".yaml", ".yml")) or os.path.exists(word):
        return f"say what to do with {word}, as in `toolwire serve {word}`"
    return unknown_name("command", word, COMMANDS)


# Only those who have something to say import how: a server has not.


def _say(text: str) -> int:
    from .output import say

    say(text)
    return 0


def _complain(sentence: str, status: int) -> int:
    from .output import remark

    remark(sentence)
    return status
