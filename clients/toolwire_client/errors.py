"""The errors of a client.

    ClientError
    ├── BadConfiguration a configuration file, or a server in it, is malformed
    ├── NotStarted      the command cannot be run
    ├── ServerGone      the server ended, or closed its output, before it answered
    │   └── Unreachable a remote server cannot be reached, or refuses this client
    ├── BrokenRules     the response violates the protocol
    ├── RequestFailed   the response is a JSON-RPC error
    ├── ToolFailed      the tool failed; only typed clients raise it
    ├── NoTasks         the server has no tasks, or does not list them
    ├── TimedOut        no response in time (also a `TimeoutError`)
    ├── CallCancelled   the call was cancelled by this client, or its task was
    └── Closed          the client is not open

A tool that fails in `call_tool` raises nothing: the `CallResult` says `is_error`.
"""

from __future__ import annotations

import signal
from typing import Any, Self

OPENINGS = ("initialize", "server/discover")
"""The requests that begin a conversation: only clients send them, so one from a server is an echo.
"""

ECHO = "repeats what it gets, as `cat` does: it is no MCP server"


class ClientError(Exception):
    """The base of all errors of a client. The text is one sentence for users."""

    @property
    def reason(self) -> str:
        """The text, without what the server wrote last."""
        return str(self)

    def copy(self) -> Self:
        """Return a copy to raise, since each of several waiting callers needs a traceback of its
        own.
        """
        return type(self)(*self.args)


class BadConfiguration(ClientError):
    """A configuration is malformed, or does not say how to start a server."""


class NotStarted(ClientError):
    """The server's command could not be run."""


class ServerGone(ClientError):
    """The server ended before it answered.

    `exit_status` is negative for a signal, as in `subprocess`, and `None` if the process still runs
    with its output closed. `stderr` holds the last lines it wrote there, and `noise` the last lines
    of its output that were not messages. `has_read` is false if it is known that it did not read
    all that was sent, or that nothing was.
    """

    def __init__(
        self, exit_status: int | None, stderr: str, noise: str = "", has_read: bool = True
    ) -> None:
        super().__init__(exit_status, stderr, noise, has_read)
        self.exit_status = exit_status
        self.stderr = stderr
        self.noise = noise
        self.has_read = has_read

    def __str__(self) -> str:
        return with_output(self.reason, self.stderr, self.noise)

    @property
    def reason(self) -> str:
        """How the server ended, without its stderr."""
        if self.exit_status is None:
            return "the server closed its output"
        if self.exit_status < 0:
            return f"the server was ended by {signal_name(-self.exit_status)}"
        return f"the server ended with exit status {self.exit_status}"

    def with_noise(self, noise: str) -> ServerGone:
        """Return a copy with the last lines of the output that were not messages."""
        return ServerGone(self.exit_status, self.stderr, noise, self.has_read)


class Unreachable(ServerGone):
    """A remote server cannot be reached, or refuses this client; `problem` says which."""

    def __init__(self, problem: str) -> None:
        super().__init__(None, "", has_read=False)
        self.args = (problem,)
        self.problem = problem

    def __str__(self) -> str:
        return self.problem

    @property
    def reason(self) -> str:
        return self.problem

    def with_noise(self, noise: str) -> ServerGone:
        return self


class BrokenRules(ClientError):
    """The response violates the protocol, or asks for what this client cannot do.

    `raw` is the result, if there is one that is malformed.
    """

    def __init__(self, problem: str, raw: Any = None) -> None:
        super().__init__(problem)
        self.raw = raw


class RequestFailed(ClientError):
    """The response is a JSON-RPC error, with the server's `code`, `message` and `data`."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(code, message, data)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return f"{self.message} (error {self.code})"


class ToolFailed(ClientError):
    """The tool *tool* failed. `text` says why; `data` is the structured content of the failure, or
    None.
    """

    def __init__(self, tool: str, text: str, data: Any = None) -> None:
        super().__init__(tool, text, data)
        self.tool = tool
        self.text = text
        self.data = data

    def __str__(self) -> str:
        return self.text or f"the tool {self.tool!r} failed"


class NoTasks(ClientError):
    """The server does not turn calls into tasks, or does not list them."""


class TimedOut(ClientError, TimeoutError):
    """The response did not arrive in time. The request was cancelled."""


class CallCancelled(ClientError):
    """The request was cancelled by this client, or its task was cancelled."""


class Closed(ClientError):
    """The client is used outside its `with` block."""


def with_output(reason: str, stderr: str, noise: str) -> str:
    """Return *reason* with the last lines of a server's stderr and of its output that were not
    messages.
    """
    text = f"{reason}, and wrote nothing to its stderr"
    if stderr:
        text = f"{reason}; the end of its stderr:\n{stderr}"
    if noise:
        text += f"; its output ended with lines that are not messages:\n{noise}"
    return text


def signal_name(number: int) -> str:
    """Return the name of a signal."""
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal has none
        return f"signal {number}"
