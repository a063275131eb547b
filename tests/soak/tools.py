"""The tools of the soak test; a server of its own, run as a script."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import anyio
import toolwire
import toolwire.runtime.worker_pool
from toolwire_tools import AsyncContext, Context, ToolError, tool_api

PATIENCE_SECONDS = 60.0

_lingering = 0
_news = threading.Condition()
_changes = threading.Lock()
_before: tracemalloc.Snapshot | None = None


@tool_api
def add(a: int, b: int) -> int:
    return a + b


@tool_api
async def add_async(a: int, b: int) -> int:
    return a + b


@tool_api
def swallow(text: str) -> int:
    return len(text)


@tool_api
def produce(size: int) -> str:
    return "x" * size


@tool_api
def count(to: int) -> Iterator[str]:
    for number in range(to):
        yield f"{number} "


@tool_api
async def count_async(to: int) -> AsyncIterator[str]:
    for number in range(to):
        yield f"{number} "
        await anyio.lowlevel.checkpoint()


@tool_api
def report(total: int, context: Context) -> str:
    for step in range(1, total + 1):
        context.progress(step, total)
    return "done"


@tool_api
def fail(reason: str) -> None:
    raise ToolError(reason)


@tool_api
async def crash(reason: str) -> None:
    raise ValueError(reason)


@tool_api
def linger(context: Context) -> None:
    """Work in a thread until the call is cancelled."""
    context.progress(1)
    _linger(context)


@tool_api
async def sleep(context: AsyncContext) -> None:
    """Sleep on the event loop until the call is cancelled."""
    context.progress(1)
    await anyio.sleep_forever()


@tool_api(timeout_seconds=0.05)
def late(context: Context) -> None:
    _linger(context)


@tool_api(timeout_seconds=0.05)
async def late_async() -> None:
    await anyio.sleep_forever()


@tool_api
def ask(question: str, context: Context) -> int:
    return context.ask(question, int)


@tool_api
async def ask_async(question: str, context: AsyncContext) -> int:
    return await context.ask(question, int)


@tool_api(runs_in="process")
def add_apart(a: int, b: int) -> int:
    return a + b


@tool_api(runs_in="process")
def report_apart(total: int, context: Context) -> str:
    for step in range(1, total + 1):
        context.progress(step, total)
    return "done"


@tool_api(runs_in="process")
def linger_apart(context: Context) -> None:
    """Work in a process until the call is cancelled."""
    context.progress(1)
    never = threading.Event()
    while True:
        context.check()
        never.wait(0.001)


@tool_api(runs_in="process")
def die() -> None:
    os._exit(3)


@tool_api
def change() -> str:
    """Offer one more tool, or one less."""
    with _changes:
        if any(tool.name == "extra" for tool in server.tools):
            server.remove("extra")
        else:
            server.add(extra)
    return "changed"


@tool_api
def extra() -> str:
    return "extra"


@tool_api
def settle() -> dict[str, int]:
    """Wait until what was cancelled and what is idle has ended; tell what the interpreter and the C
    library hold.
    """
    with _news:
        _news.wait_for(lambda: _lingering == 0, PATIENCE_SECONDS)
    _wait_for_idle_workers()
    gc.collect()
    return {
        "blocks": sys.getallocatedblocks(),
        "heap_bytes": _heap_bytes(),
        "lingering": _lingering,
    }


@tool_api
def trace() -> list[str]:
    """Begin to trace memory; later, tell where the most was taken since that is still held."""
    global _before
    gc.collect()
    if _before is None:
        tracemalloc.start(12)
        _before = tracemalloc.take_snapshot()
        return []
    ours = (tracemalloc.Filter(False, tracemalloc.__file__),)
    now = tracemalloc.take_snapshot().filter_traces(ours)
    grown = now.compare_to(_before.filter_traces(ours), "traceback")
    return ["\n".join([str(place), *place.traceback.format()]) for place in grown[:12]]


def _wait_for_idle_workers() -> None:
    """Wait until of the workers only this one and the one that reads are left, and no process is
    about to be killed.

    A process whose call was cancelled has a timer, a thread, that kills it if it does not end by
    itself.
    """
    never = threading.Event()
    for _ in range(int(PATIENCE_SECONDS * 10)):
        threads = threading.enumerate()
        workers = sum(thread.name == "toolwire-worker" for thread in threads)
        if workers <= 2 and not any(isinstance(thread, threading.Timer) for thread in threads):
            return
        never.wait(0.1)


_MALL_INFO = (
    *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
    *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
)


class _MallInfo(ctypes.Structure):
    """What glibc's mallinfo2 returns."""

    _fields_ = tuple((name, ctypes.c_size_t) for name in _MALL_INFO)


def _heap_bytes() -> int:
    """What has been allocated by malloc and not freed; 0 where the C library does not tell."""
    try:
        tell = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return 0
    tell.restype = _MallInfo
    found = tell()
    return int(found.hblkhd + found.uordblks)  # in mappings of their own, and in the arenas


@contextmanager
def _counted() -> Iterator[None]:
    global _lingering
    with _news:
        _lingering += 1
    try:
        yield
    finally:
        with _news:
            _lingering -= 1
            _news.notify_all()


def _linger(context: Context) -> None:
    never = threading.Event()
    with _counted():
        while not context.cancelled:
            never.wait(0.001)


OFFERED = [
    *(
        add,
        add_async,
        swallow,
        produce,
        count,
        count_async,
        report,
        fail,
        crash,
        linger,
        sleep,
        late,
        late_async,
    ),
    *(ask, ask_async, change, settle, trace),
    *(add_apart, report_apart, linger_apart, die),
]
server = toolwire.Server(OFFERED, name="soak")

# A look waits for workers that are idle to end, and need not wait long.
toolwire.runtime.worker_pool._IDLE_SECONDS = 0.25

if __name__ == "__main__":
    server.serve()
