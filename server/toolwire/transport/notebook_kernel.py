"""The kernel of a notebook has no standard input that a host writes to."""

from __future__ import annotations

import sys

from ..errors import UsageError


def refuse_kernel() -> None:
    """Raise UsageError if this process is the kernel of a notebook."""
    kernel = sys.modules.get("ipykernel.zmqshell")
    if kernel is None or not kernel.ZMQInteractiveShell.initialized():
        return
    raise UsageError(
        "a notebook has no standard input to serve: call tools with `Server([...]).call(name,"
        " arguments)`, or write them to a file (`%%writefile tools.py`) that a host starts with"
        " `toolwire serve tools.py`"
    )
