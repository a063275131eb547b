"""Why a server could not be asked, or did not answer.

    ClientError
    ├── BadConfiguration a file of servers, or one server in it, does not say how to start it
    ├── NotStarted      the command cannot be run
    ├── ServerGone      the server ended, or closed its output, with answers still owed
    ├── BrokenRules     the server answered, but not as the protocol says
    ├── RequestFailed   the server answered with a JSON-RPC error
    ├── TimedOut        no answer in time (also a `TimeoutError`)
    ├── CallCancelled   the call was cancelled from this side
    └── Closed          the client is not open (any more)

A tool that fails raises nothing: its `CallResult` says `is_error`.
"""

from __future__ import annotations

import signal
from typing import Any, Self


class ClientError(Exception):
    """Asking a server did not work out. The text is one sentence for the person who asked."""

    def again(self) -> Self:
        """Return the same error, to be raised once more: by each of several that wait, in tracebacks of their own."""
        return type(self)(*self.args)


class BadConfiguration(ClientError):
    """A configuration is none, or does not say how to start a server."""


class NotStarted(ClientError):
    """The server's command could not be run."""


class ServerGone(ClientError):
    """The server ended before it answered.

    `exit_status` is negative for a signal, as in `subprocess`, and `None` if the process is still running and
    only closed its output. `stderr` holds the last lines it wrote there, and `noise` the last lines of its output
    that were no messages.
    """

    def __init__(self, exit_status: int | None, stderr: str, noise: str = "") -> None:
        super().__init__(exit_status, stderr, noise)
        self.exit_status = exit_status
        self.stderr = stderr
        self.noise = noise

    def __str__(self) -> str:
        noise = f"; its output ended with what is no message:\n{self.noise}" if self.noise else ""
        if not self.stderr:
            return f"{self.reason}, and wrote nothing to its stderr{noise}"
        return f"{self.reason}; the end of its stderr:\n{self.stderr}{noise}"

    @property
    def reason(self) -> str:
        """What happened, without the server's own words."""
        if self.exit_status is None:
            return "the server closed its output"
        if self.exit_status < 0:
            return f"the server was ended by {_signal_name(-self.exit_status)}"
        return f"the server ended with exit status {self.exit_status}"


class BrokenRules(ClientError):
    """The server's answer is not what the protocol allows, or asks for what this client cannot do."""


class RequestFailed(ClientError):
    """The server answered with a JSON-RPC error. `code`, `message` and `data` are as it sent them."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(code, message, data)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return f"{self.message} (error {self.code})"


class TimedOut(ClientError, TimeoutError):
    """The answer did not come in time. The server has been told that it is no longer wanted."""


class CallCancelled(ClientError):
    """The request was cancelled from this side."""


class Closed(ClientError):
    """The client is not open: it is used outside its `with` block."""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal has none
        return f"signal {number}"
