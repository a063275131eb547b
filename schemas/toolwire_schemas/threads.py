"""The start of all threads of Toolwire.

The constructor of `Thread` fails if a tool has set `threading.excepthook` or `sys.excepthook` to
None, or deleted it. So nothing else constructs threads, and each function here restores them first.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def start_thread(target: Callable[..., object], name: str, *arguments: Any) -> threading.Thread:
    """Run *target* in a new daemon thread, and return that.

    Raises:
        RuntimeError: if the system allows no more threads.
    """
    restore_hooks()
    thread = threading.Thread(target=target, name=name, args=arguments, daemon=True)
    thread.start()
    return thread


def start_timer(seconds: float, target: Callable[..., object], *arguments: Any) -> threading.Timer:
    """Run *target* after *seconds*, in a new daemon thread, unless the timer that this returns is
    cancelled.

    Raises:
        RuntimeError: if the system allows no more threads.
    """
    restore_hooks()
    timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), target, arguments)
    timer.daemon = True
    timer.start()
    return timer


def restore_hooks() -> None:
    """Replace hooks for exceptions that a tool has set to None or deleted.

    Call it before other code makes threads, such as an executor.
    """
    if getattr(threading, "excepthook", None) is None:
        threading.excepthook = threading.__excepthook__
    if getattr(sys, "excepthook", None) is None:
        sys.excepthook = sys.__excepthook__
