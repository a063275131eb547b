"""The inside of a worker process: our own server, on private pipes, for tools that are kept apart from the others."""

from __future__ import annotations

import atexit
import os
import signal
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec
from toolwire_tools import RegistrationError, Tool
from toolwire_tools.processes import cgroups, subreaper
from toolwire_tools.processes.subreaper import OUT_OF_MEMORY

from . import log
from .errors import LoadError
from .isolation.worker_protocol import NO_LIMIT
from .isolation.worker_spec import STALE, Order, stamp
from .loading.targets import load
from .server import Server
from .transport import stdio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolwire_tools import Caller


def main(words: dict[str, Any], cgroup: str) -> NoReturn:
    """Serve what *words*, an `Order`, says, until the server hangs up; *cgroup* is the path of our own, if any."""
    order = msgspec.convert(words, Order)
    if not subreaper.EXISTS:
        _die_with_the_server()
    streams = stdio.claim(watched=True)
    threading.excepthook = _give_up
    # What there is to say about the targets, the server has said.
    log.configure(level="error", as_json=order.log_as_json)
    try:
        tools = load(
            order.targets,
            keep_going=order.keep_going,
            include=order.include,
            exclude=order.exclude,
            tool_settings=order.tool_settings,
        )
    except (LoadError, RegistrationError) as error:
        log.error(f"the process of a tool: {error}")
        os._exit(2)
    if any(stamp(path) != loaded for path, loaded in order.sources.items()):
        os._exit(STALE)
    log.configure(level=order.log_level, as_json=order.log_as_json)
    memory = Memory(order.memory_limit, [tool.memory_limit for tool in tools], cgroup)
    unlimited = {"max_message_bytes": NO_LIMIT, "max_pending_bytes": NO_LIMIT, "ask_seconds": float("inf")}
    settings: dict[str, Any] = {"grace_seconds": 0.0, **unlimited, **order.settings}
    Server([KeptTool(tool, memory) for tool in tools], **settings).serve(streams)


class KeptTool(Tool):
    """A tool inside its process. The server outside keeps the time, and ends the process if need be."""

    __slots__ = ("_memory",)

    def __init__(self, tool: Tool, memory: Memory) -> None:
        for slot in Tool.__slots__:
            setattr(self, slot, getattr(tool, slot))
        self.timeout_seconds = None
        self._memory = memory

    @property
    def runs_in(self) -> str | None:
        """Here."""
        return None

    def renamed(self, name: str) -> Tool:
        """As `Tool.renamed`."""
        return KeptTool(super().renamed(name), self._memory)

    def call(self, arguments: dict[str, Any], caller: Caller, coerce: bool = False) -> dict[str, Any]:
        """As `Tool.call`."""
        with self._memory.limited(self), _leaving_if_cancelled(caller):
            return super().call(arguments, caller, coerce)

    async def call_async(self, arguments: dict[str, Any], caller: Caller, coerce: bool = False) -> dict[str, Any]:
        """As `Tool.call_async`."""
        with self._memory.limited(self), _leaving_if_cancelled(caller):
            return await super().call_async(arguments, caller, coerce)


@contextmanager
def _leaving_if_cancelled(caller: Caller) -> Iterator[None]:
    """End the process as soon as a tool has cleaned up behind itself: the server gives it no more calls."""
    try:
        yield
    finally:
        if caller.cancelled:
            stdio.leave()


class Memory:
    """What tools may use beyond what the process holds when the first of them is called.

    What is measured and limited is the address space of this process and, if it has a cgroup, the memory of all
    processes in that. It counts from there on, not from each call, so that a tool that loses a little memory each time
    comes to its limit, too, and gets a new process.
    """

    def __init__(self, default: int | None, limits: list[int | None], cgroup: str) -> None:
        self._default = default
        self._base = 0
        self._cgroup = cgroup
        self._base_of_all = 0
        if default is not None or any(limit is not None for limit in limits):
            _share_one_heap()

    @contextmanager
    def limited(self, tool: Tool) -> Iterator[None]:
        """Hold *tool* to its limit meanwhile. If it runs out of memory, the process ends and its status says so."""
        limit = tool.memory_limit or self._default
        if limit is None:
            yield
            return
        try:
            import resource
        except ImportError:  # Windows; the server has said so
            yield
            return
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        self._base = self._base or _address_space() + _OWN_BYTES
        wanted = self._base + limit
        try:
            resource.setrlimit(resource.RLIMIT_AS, (wanted if hard < 0 else min(wanted, hard), hard))
            with self._limited_together(limit):
                yield
        except MemoryError as error:
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
            log.traceback(f"{tool.name} ran out of memory", error)
            os._exit(OUT_OF_MEMORY)
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))

    @contextmanager
    def _limited_together(self, limit: int) -> Iterator[None]:
        if not self._cgroup:
            yield
            return
        self._base_of_all = self._base_of_all or cgroups.used(self._cgroup) + _OWN_BYTES
        cgroups.limit(self._cgroup, self._base_of_all + limit)
        try:
            yield
        finally:
            cgroups.limit(self._cgroup, None)


_OWN_BYTES = 32 * 1024 * 1024
"""What is ours and may come later: stacks of a few threads, the event loop, what words errors."""


def _address_space() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _share_one_heap() -> None:
    """Keep glibc from reserving 64 MiB of address space for each thread, which would count."""
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).mallopt(-8, 1)  # M_ARENA_MAX


def _die_with_the_server() -> None:
    """Kill the process group at the end of this process if the server has gone. While there is one, it does that."""
    leader, server = os.getpid(), os.getppid()

    def end_group() -> None:
        if os.getpid() == leader and os.getppid() != server and hasattr(os, "killpg"):
            os.killpg(leader, signal.SIGKILL)

    atexit.register(end_group)  # the first to be registered is the last to be called


def _give_up(failure: threading.ExceptHookArgs) -> None:
    """A thread of ours that is lost would leave the server waiting; that of a tool is the tool's own affair."""
    ours = failure.thread is not None and failure.thread.name.startswith("toolwire-")
    if ours and isinstance(failure.exc_value, MemoryError):
        os._exit(OUT_OF_MEMORY)
    threading.__excepthook__(failure)
    if ours:
        os._exit(70)
