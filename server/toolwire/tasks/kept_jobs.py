"""Jobs of a cluster that go on without their server, and where a later server finds them again.

Strategy. A call on a node becomes a task before or after it was sent there, and either side learns
of it in a thread of its own. So both note what they know here, and the second one has the node keep
the job.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..protocol.call import Call


class KeptJob(msgspec.Struct, frozen=True):
    """How the node of a job finds a later server, and what it waits for."""

    host: str
    port: int
    """The address that the node connects to: whichever server listens there."""
    name: bytes
    """Tells the job from others; it is no secret."""
    key: bytes
    """What both sides prove to have."""
    request: int
    """The id of the call in the worker process."""
    seconds: float = 0.0
    """How long the node waits for a server."""


_lock = threading.Lock()
_running: dict[Call, Callable[[float], KeptJob]] = {}


def note_running(call: Call, keep: Callable[[float], KeptJob]) -> None:
    """Note that *call* runs on a node, which keeps its job for some seconds after *keep*."""
    with _lock:
        _running[call] = keep
    keep_if_task(call, call.task)


def keep_if_task(call: Call, task: Any) -> None:
    """Keep the job of *call*, if it runs on a node and *task* is one of a store."""
    save_job = getattr(task, "save_job", None)
    if save_job is None:
        return
    with _lock:
        keep = _running.pop(call, None)
        if keep is None:
            return
        job = keep(task.keep_seconds)  # under the lock, since `forget_running` comes after it
    save_job(job)


def forget_running(call: Call) -> None:
    """Forget *call*, which has ended."""
    with _lock:
        _running.pop(call, None)
