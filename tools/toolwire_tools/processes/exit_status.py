"""The exit status of a process in words; negative is the number of the signal that ended it."""

from __future__ import annotations

import signal

_SIGNALLED = 128
_LAST_SIGNAL = 64
"""Of Linux."""


def describe_exit(status: int) -> str:
    """Return a clause such as `ended with exit status 3`."""
    if status >= 0:
        return f"ended with exit status {status}"
    return f"was killed by signal {describe_signal(-status)}"


def describe_signal(number: int) -> str:
    """Return the number of a signal and its name, as in `9 (SIGKILL)`; some have no name."""
    try:
        return f"{number} ({signal.Signals(number).name})"
    except ValueError:
        return str(number)


def signal_from_shell(status: int) -> int:
    """Return *status*, or the negative number of the signal in it.

    Shells and bubblewrap add 128 to the number of the signal that ended their child.
    """
    if _SIGNALLED < status <= _SIGNALLED + _LAST_SIGNAL:
        return _SIGNALLED - status
    return status
