"""Prints to the terminal: all output of commands passes through here."""

from __future__ import annotations

import sys

from toolwire_schemas.output import RED, Output, emphasize

# as that of `typing`, which `--version` does not need
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def print_data(text: str) -> None:
    """Write *text* to standard output: data that another program may read."""
    Output(sys.stdout).write_data(text)


def print_report(text: str) -> None:
    """Write *text*, with its emphasis, to standard output: a report for a reader."""
    Output(sys.stdout).write_line(text)


def print_remark(sentence: str) -> None:
    """Write *sentence* to standard error, unless it is empty."""
    if sentence:
        print_error(f"toolwire: {sentence}")


def print_failure(sentence: str) -> None:
    """Write why the command failed: on a terminal with a red `error:`, elsewhere, where it may end
    up in a log, with the name of the program.
    An empty sentence is not written: a server that failed has said why.
    """
    if sentence and sys.stderr is not None and sys.stderr.isatty():
        print_error(f"{emphasize(RED, 'error:')} {sentence}")
    else:
        print_remark(sentence)


def print_error(text: str) -> None:
    """Write *text* to standard error."""
    Output(sys.stderr).write_line(text)


def format_json(value: Any) -> str:
    """Return *value* as JSON that is laid out for reading."""
    import json

    import msgspec

    return json.dumps(value, ensure_ascii=False, indent=2, default=msgspec.to_builtins)
