"""Ends a server that is stuck while it imports the user's modules.

Strategy. C code that a module runs when it is imported may hold the interpreter's lock for ever, so
another process must watch from before the first import: the program of watchdog_process.py.
Starting Python takes a quarter of the time in which an ordinary server is ready, but starting a
shell takes a hundredth. So a shell sleeps first, and becomes the watchdog process only if the
import takes longer. The watchdog of calls is started as always, with the first call.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress

from .. import log
from ..transport.descriptors import open_private_pipe

BEYOND_GRACE_SECONDS = 0.9
"""How long the exit may take beyond the grace: more than it needs if Python runs, less than the
promised second.
"""

_QUICK_SECONDS = 0.1
"""How long the shell sleeps: the import of most files has ended by then."""

_SHELL = "/bin/sh"
_SCRIPT = 'sleep "$0"; exec "$@"'


class LoadingWatch:
    """The process that watches an import; *process* is its number, *pipe* leads to it."""

    def __init__(self, process: int, pipe: int) -> None:
        self._process = process
        self._pipe = pipe

    def send_heartbeat(self) -> None:
        """Report that Python code runs: the end of the input has been noticed."""
        with suppress(OSError):
            os.write(self._pipe, b".")

    def stop(self) -> None:
        """Kill the process and reap it: everything is imported."""
        os.close(self._pipe)
        if sys.platform != "win32":
            with suppress(OSError):  # an imported module has reaped it
                os.killpg(self._process, signal.SIGKILL)
                os.waitpid(self._process, 0)


def watch_loading(
    host: int, wakeup: tuple[int, int], grace_seconds: float, *, ends_children: bool
) -> LoadingWatch | None:
    """Start to watch this process; `None` where that is not possible.

    *host* is the descriptor that the server reads, *wakeup* the two ends of the pipe that signals
    write to. With *ends_children*, what the imported modules have started ends with this process.
    """
    if sys.platform == "win32" or not sys.executable or getattr(sys, "frozen", False):
        return None
    program = os.path.join(os.path.dirname(__file__), "watchdog_process.py")
    options = make_options(grace_seconds, float("inf"), (0, 0), ends_children=ends_children)
    sleeping = [_SHELL, "-c", _SCRIPT, str(_QUICK_SECONDS)]
    theirs = ours = -1
    try:
        theirs, ours = open_private_pipe()
        passed = {0: theirs, 3: host, 4: wakeup[0], 5: wakeup[1]}
        process = os.posix_spawn(
            _SHELL,
            [*sleeping, sys.executable, "-I", "-S", program, *options],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, source, number) for number, source in passed.items()
            ],
            setpgroup=0,  # so that the shell and what sleeps for it are killed together
            setsigmask=[signal.SIGTERM, signal.SIGINT, signal.SIGHUP],
        )
    except (OSError, AttributeError, NotImplementedError) as error:
        log.debug(f"the import is not watched: {error}")
        if ours >= 0:
            os.close(ours)
        return None
    finally:
        if theirs >= 0:
            os.close(theirs)
    os.set_blocking(ours, False)
    return LoadingWatch(process, ours)


def make_options(
    grace_seconds: float, stuck_seconds: float, layout: tuple[int, int], *, ends_children: bool
) -> list[str]:
    """Return the arguments of the program of watchdog_process.py; *layout* is that of the board."""
    level, as_json = log.get_configuration()
    style = "json" if as_json else "text"
    if level in ("error", "off"):
        style = ""
    seconds = min(grace_seconds, threading.TIMEOUT_MAX) + BEYOND_GRACE_SECONDS
    children = _describe_ending() if ends_children else "keep"
    numbers = [str(os.getpid()), str(seconds), str(stuck_seconds)]
    return [*numbers, style, *map(str, layout), children]


def _describe_ending() -> str:
    """Return the argument that makes the watchdog process end children, but no stranger in the
    group.

    This process looks for strangers: once it has ended, its children have another parent too.
    """
    # On Windows no watchdog is started; others cannot enter a session.
    if sys.platform != "win32" and os.getsid(0) != os.getpid():
        from .watchdog_process import find_strangers

        return ",".join(["end", *map(str, sorted(find_strangers(os.getpid())))])
    return "end"
