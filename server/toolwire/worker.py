"""The entry point of a worker process: our own server, on private pipes, for isolated tools."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn, cast

import msgspec
from msgspec.structs import replace
from toolwire_schemas.wire import messages
from toolwire_tools import RegistrationError, Tool
from toolwire_tools.outer_handler import OuterHandler
from toolwire_tools.processes import cgroups, subreaper
from toolwire_tools.processes.subreaper import OUT_OF_MEMORY

from . import log
from .errors import LifespanFailed, LoadError
from .loading import importing
from .loading.modules import find_module_or_installed
from .loading.targets import Target, load, parse
from .runtime.session import Session
from .server import Server
from .transport import stdio
from .workers.worker_spec import META_SESSION_ID, NO_LIMIT, STALE, WorkerSpec, stamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from toolwire_tools import Caller, Entry
    from toolwire_tools.handler import ToolHandler

    from .protocol.call import Call


def main(words: dict[str, Any], cgroup: str) -> NoReturn:
    """Serve *words*, a `WorkerSpec`, until the server hangs up; *cgroup* is the path of our own
    cgroup, if any.
    """
    spec = msgspec.convert(words, WorkerSpec)
    if not subreaper.EXISTS:
        _die_with_the_server()
    streams = stdio.claim(watched=True)
    threading.excepthook = _exit_if_ours
    # The server has logged everything about the targets.
    log.configure(level="error", as_json=spec.log_as_json)
    try:
        tools = load(**spec.loading)
    except (LoadError, RegistrationError) as error:
        log.error(f"the tool's process could not load the tools: {error}")
        os._exit(2)
    if any(stamp(path) != loaded for path, loaded in spec.sources.items()):
        os._exit(STALE)
    log.configure(level=spec.log_level, as_json=spec.log_as_json)
    memory = Memory(spec.memory_limit, [tool.entry.options.memory_limit for tool in tools], cgroup)
    unlimited = {
        "max_message_bytes": NO_LIMIT,
        "max_pending_bytes": NO_LIMIT,
        "ask_seconds": float("inf"),
    }
    settings: dict[str, Any] = {
        "grace_seconds": 0.0,
        "heartbeat_seconds": 0.0,
        **unlimited,
        **spec.settings,
    }
    try:
        lifespan = None if spec.lifespan is None else _load_object(parse(spec.lifespan))
        limited = [_limit(tool, memory) for tool in tools]
        server = Server(limited, lifespan=lifespan, **settings)
        server.make_session = WorkerSession
        server.serve(streams)
    except LifespanFailed as error:
        log.traceback(str(error), error.__cause__ or error)
        os._exit(2)


class WorkerSession(Session):
    """The session with the server, which sends one call at a time, of any of its sessions."""

    def accept(self, call: Call) -> None:
        """As `Session.accept`; take the id of the session that the call is for."""
        session_id = str((call.meta or {}).get(META_SESSION_ID, ""))
        if session_id != self.session_id:
            self.session_state = {}  # no other session may see it
            self.session_id = session_id
        super().accept(call)

    def announce(self, uri: str) -> None:
        """Let the server notify its clients: it knows which of them watch the resource at *uri*.

        Written at once, so before the result of the call; the server always reads.
        """
        self.writer.write(
            messages.encode_notification("notifications/resources/updated", {"uri": uri})
        )


def _load_object(target: Target) -> Any:
    load = importing.import_file if target.is_path else find_module_or_installed
    module = load(target.place)
    return getattr(module, target.name or "")


def _limit(tool: Tool, memory: Memory) -> Tool:
    """Return *tool* as it is inside its process. The server outside enforces its limits of time, by
    killing the process, and size.
    """
    options = replace(
        tool.entry.options, runs_in=None, timeout_seconds=None, max_result_bytes=None, task=None
    )
    entry = replace(tool.entry, options=options)
    return Tool(entry, LimitedHandler(inner=tool.handler, entry=entry, memory=memory))


class LimitedHandler(OuterHandler, frozen=True, eq=False, kw_only=True):
    """Runs the calls of *inner* within the memory limit of *entry*."""

    entry: Entry
    memory: Memory

    def call(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """As `Handler.call`."""
        with self.memory.limit(self.entry), _leave_if_cancelled(caller):
            return self.inner.call(arguments, caller, strict_arguments)

    async def call_async(
        self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """As `Handler.call_async`."""
        with self.memory.limit(self.entry), _leave_if_cancelled(caller):
            return await self.inner.call_async(arguments, caller, strict_arguments)

    def with_arguments(self, change: Callable[[Any], Any]) -> LimitedHandler:
        """As `ToolHandler.with_arguments`."""
        handler = cast("ToolHandler", self.inner)
        return replace(self, inner=handler.with_arguments(change))

    def with_results(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> LimitedHandler:
        """As `ToolHandler.with_results`."""
        handler = cast("ToolHandler", self.inner)
        return replace(self, inner=handler.with_results(change))


@contextmanager
def _leave_if_cancelled(caller: Caller) -> Iterator[None]:
    """End the process as soon as a cancelled tool has cleaned up: the server sends it no more
    calls.
    """
    try:
        yield
    finally:
        if caller.cancelled:
            stdio.leave()


class Memory:
    """The memory limit of tools, beyond what the process holds when the first of them is called.

    It limits the address space of this process and, if it has a cgroup, the memory of all processes
    in that. It is not relative to each call, so that a tool that leaks a little memory each time
    reaches its limit, too, and gets a new process.
    """

    def __init__(self, default: int | None, limits: list[int | None], cgroup: str) -> None:
        self._default = default
        self._base = 0
        self._cgroup = cgroup
        self._base_of_all = 0
        if default is not None or any(limit is not None for limit in limits):
            _share_one_heap()

    @contextmanager
    def limit(self, entry: Entry) -> Iterator[None]:
        """Limit the tool of *entry* inside the `with` block. If it runs out of memory, the process
        ends with `OUT_OF_MEMORY`.
        """
        limit = entry.options.memory_limit or self._default
        if (
            limit is None or sys.platform == "win32"
        ):  # where there are no limits, as the server has logged
            yield
            return
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        self._base = self._base or _read_address_space() + _OWN_BYTES
        wanted = self._base + limit
        try:
            resource.setrlimit(
                resource.RLIMIT_AS, (wanted if hard < 0 else min(wanted, hard), hard)
            )
            if self._cgroup:
                self._base_of_all = (
                    self._base_of_all or cgroups.read_used_bytes(self._cgroup) + _OWN_BYTES
                )
                cgroups.limit(self._cgroup, self._base_of_all + limit)
            try:
                yield
            finally:
                if self._cgroup:
                    cgroups.limit(self._cgroup, None)
        except MemoryError as error:
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
            log.traceback(f"{entry.name} ran out of memory", error)
            os._exit(OUT_OF_MEMORY)
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


_OWN_BYTES = 32 * 1024 * 1024
"""Our own later use: stacks of a few threads, the event loop, the modules for error messages."""


def _read_address_space() -> int:
    if sys.platform == "win32":
        return 0
    try:
        with open("/proc/self/statm", "rb") as file:
            pages = int(file.read().split()[0])
            return pages * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _share_one_heap() -> None:
    """Keep glibc from reserving 64 MiB of address space for each thread, which would count."""
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).mallopt(-8, 1)  # M_ARENA_MAX


def _die_with_the_server() -> None:
    """Kill the process group at exit if the server has gone. Otherwise the server does."""
    leader, server = os.getpid(), os.getppid()

    def end_group() -> None:
        if sys.platform == "win32":
            return
        if os.getpid() == leader and os.getppid() != server:
            os.killpg(leader, signal.SIGKILL)

    atexit.register(end_group)  # the first to be registered is the last to be called


def _exit_if_ours(failure: threading.ExceptHookArgs) -> None:
    """End the process if one of our threads fails, since the server would wait for ever. Threads of
    tools may fail.
    """
    ours = failure.thread is not None and failure.thread.name.startswith("toolwire-")
    if ours and isinstance(failure.exc_value, MemoryError):
        os._exit(OUT_OF_MEMORY)
    threading.__excepthook__(failure)
    if ours:
        os._exit(70)
