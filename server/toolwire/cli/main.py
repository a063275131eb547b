"""The command `toolwire`: dispatches to a command, and ends the process."""

from __future__ import annotations

import gc
import os
import sys

from ..errors import Failed, LoadError, UsageError
from . import COMMANDS

# as that of `typing`, which takes longer to import than all that `--version` needs
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .commands import Command


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status.

    0: success. 1: the tool or the server failed. 2: the command line or a target is wrong. 130:
    interrupted; without *arguments*, the process ends by the signal instead.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if sys.stdout is None:
            raise Failed("standard output is closed; start it with one, such as > /dev/null", 2)
        status = _dispatch(words)
        sys.stdout.flush()  # so that a broken pipe is noticed here
    except (UsageError, LoadError) as error:
        return _report(str(error), 2)
    except Failed as failure:
        return _report(str(failure), failure.status)
    except KeyboardInterrupt:
        status = INTERRUPTED
    except OSError as error:
        from .printing.output_files import explain_os_error

        return _report(*explain_os_error(error))
    if status == INTERRUPTED and arguments is None:
        end_by_interrupt()
    return status


INTERRUPTED = 130


def end_by_interrupt() -> None:
    """End by SIGINT, not with status 130: only then does a shell also stop the loop that it
    runs.
    """
    if os.name == "posix":
        import signal
        from contextlib import suppress

        with suppress(OSError):  # the reader may be gone
            sys.stdout.flush()
            sys.stderr.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)


def _dispatch(words: list[str]) -> int:
    if not words:
        raise UsageError(
            "say what to do, as in `toolwire serve tools.py`; toolwire --help lists the commands"
        )
    first, *rest = words
    if first in ("-h", "--help", "help"):
        if rest and rest[0] in COMMANDS:
            return _write_help(rest[0])
        from .printing.overview import format_overview

        return _print(format_overview(COMMANDS))
    if first in ("-V", "--version"):
        from .printing.version_text import write_version

        return _print(write_version(is_verbose=bool({"-v", "--verbose"} & set(rest))))
    from .commands import import_command
    from .options import UnknownOption, parse

    command = import_command(first) if first in COMMANDS else _find_announced_command(first)
    if command is None:
        from .other_tools import explain_unknown_command

        raise UsageError(explain_unknown_command(words))
    asked = command.COMMAND
    if not gc.isenabled():  # as in `__main__`
        gc.freeze()  # imported objects stay, and need not be looked at again
        gc.enable()
    try:
        parsed = parse(rest, asked.options, as_text=asked.passes_on)
    except UnknownOption as error:
        from .other_tools import explain_unknown_option

        raise UsageError(explain_unknown_option(error, first, asked)) from None
    shows_all = "help_all" in parsed.options
    if shows_all or "help" in parsed.options:
        return _write_help(first, asked, shows_all=shows_all)
    if "env_file" in parsed.options:
        from ..loading.env_file import apply_env_file

        apply_env_file(parsed.options["env_file"])
    status: int = command.run(parsed)
    return status


def _find_announced_command(name: str) -> Any:
    """Return the module of a command that an installed distribution announces, or None."""
    from toolwire_schemas.extensions import ExtensionFailed, find_extension

    if not name.isidentifier():  # a file, or an option
        return None
    try:
        return find_extension("commands", name)
    except ExtensionFailed as error:
        raise UsageError(f"the command {error}") from None


def _write_help(name: str, command: Command | None = None, *, shows_all: bool = False) -> int:
    from .help import format_help
    from .printing.layout import find_width

    return _print(format_help(name, find_width(), command, shows_all=shows_all))


def _print(text: str) -> int:
    from .printing.terminal import print_data  # imported on use: a server prints nothing

    print_data(text)
    return 0


def _report(sentence: str, status: int) -> int:
    from .printing.terminal import print_failure

    print_failure(sentence)
    return status
