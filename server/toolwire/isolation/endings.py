"""Words for how a tool's process came to its end."""

from __future__ import annotations

import signal

from toolwire_tools.byte_sizes import shown
from toolwire_tools.processes.subreaper import OUT_OF_MEMORY


def ending(status: int, memory_limit: int | None, *, by_us: bool) -> str:
    """Return a clause such as `ended with exit status 3`, for a process with this *memory_limit* in bytes.

    A negative *status* is that of a signal; *by_us* says that the server sent it.
    """
    limit = "" if memory_limit is None else f"limit {shown(memory_limit)}"
    if status == OUT_OF_MEMORY and limit:
        return f"ran out of memory ({limit})"
    if status >= 0:
        return f"ended with exit status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        return f"was killed by signal {-status}"
    if name == "SIGKILL":
        hint = "" if by_us else ", as happens when the system's memory runs out"
    else:
        hint = limit and f"; its memory {limit}"
    return f"was killed by signal {-status} ({name}){hint}"
