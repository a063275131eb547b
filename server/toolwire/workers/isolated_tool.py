"""Tools that run in worker processes, which import them again."""

from __future__ import annotations

import os
import sys
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_tools import RegistrationError, Tool

from .. import log
from ..protocol.connection_handler import ConnectionHandler
from .import_targets import AT_THE_TOP, NOT_IMPORTABLE, find_import_target, find_target
from .process_pool import KEEP_ALWAYS, ProcessPool
from .session_processes import SessionProcesses
from .worker_spec import WorkerSpec, stamp, start_here

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable
    from concurrent.futures import Executor

    from ..runtime.lifespans import Lifespan
    from ..settings import Settings

    Place = str | Executor
    """Where tools run: `"process"`, the name of an engine or an executor."""

    Pool = ProcessPool | SessionProcesses


def isolate(tool: Tool, pool: Pool, name_there: str) -> Tool:
    """Return the same tool, whose calls run in a process of *pool*, under the name *name_there*."""
    run = partial(pool.run, name_there)
    handler = ConnectionHandler(
        send=run,
        complete=run,
        gate=pool,
        is_generator=tool.handler.is_generator,
        notices_cancellation=tool.handler.notices_cancellation,
    )
    return Tool(tool.entry, handler)


def _is_wanted(tool: Tool, settings: Settings) -> bool:
    is_in_this_process = tool.handler.gate is None and tool.kind != "methods"
    return is_in_this_process and (settings.isolate or tool.entry.options.runs_in is not None)


def isolate_loaded(
    tools: list[Tool], loading: dict[str, Any], settings: Settings, sources: Iterable[str] = ()
) -> list[Tool]:
    """Return *tools*, which `load` has returned for the arguments in *loading*.

    Those to be isolated run in processes that load the same. *sources* are the loaded files that
    may change.
    """
    wanted = [tool for tool in tools if _is_wanted(tool, settings)]
    if not wanted:
        return tools
    spec = _make_spec(loading, tools, settings, sources=sources)
    return _isolate_wanted(tools, wanted, spec, settings)


def isolate_unshared(tools: list[Tool], loading: dict[str, Any], settings: Settings) -> list[Tool]:
    """Return *tools*, as `isolate_loaded`; those that must not be shared run in one process for
    each session, also if they would run in others otherwise.
    """
    wanted = [tool for tool in tools if not tool.entry.options.shared and tool.kind != "methods"]
    spec = _make_spec(loading, tools, settings)
    limited = _has_memory_limits(tools, settings)

    def make_processes(where: Place) -> SessionProcesses:
        make_pool = partial(_make_pool, spec, limited, where, room=1, idle_seconds=KEEP_ALWAYS)
        return SessionProcesses(make_pool)

    return _isolate_in(tools, wanted, settings, make_processes)


def isolate_found(
    found: list[tuple[Tool, object]], settings: Settings, lifespan: Lifespan | None = None
) -> list[Tool]:
    """Return the tools of *found*, pairs of a tool and the object, or list of objects, that it was
    made of.

    Those to be isolated run in processes that import these objects, and *lifespan*.

    Raises:
        RegistrationError: if one cannot be imported, or is to run in an engine that the server does
            not have.
        ValueError: if an engine cannot be used.
    """
    tools = [tool for tool, _ in found]
    targets: dict[Tool, str] = {}
    for tool, thing in found:
        if _is_wanted(tool, settings):
            targets[tool] = find_target(tool, thing)
    if not targets:
        return tools
    lifespan_target = None
    if lifespan is not None:
        lifespan_target = find_import_target(lifespan)
        if lifespan_target is None:
            raise RegistrationError(NOT_IMPORTABLE, tool="lifespan", remedy=AT_THE_TOP)
    loading = {"targets": list(dict.fromkeys(targets.values()))}
    spec = _make_spec(loading, tools, settings, lifespan=lifespan_target)
    return _isolate_wanted(tools, targets, spec, settings)


def _isolate_wanted(
    tools: list[Tool], wanted: Container[Tool], spec: WorkerSpec, settings: Settings
) -> list[Tool]:
    limited = _has_memory_limits(tools, settings)
    make_pool = partial(_make_pool, spec, limited, room=settings.max_processes)
    return _isolate_in(tools, wanted, settings, make_pool)


def _isolate_in(
    tools: list[Tool],
    wanted: Container[Tool],
    settings: Settings,
    make_pool: Callable[[Place], Pool],
) -> list[Tool]:
    pool_at = cache(make_pool)
    placed = []
    for tool in tools:
        if tool in wanted:
            name = tool.entry.name_with(settings.separator)
            tool = isolate(tool, pool_at(_find_place(tool, settings)), name)
        placed.append(tool)
    return placed


def _find_place(tool: Tool, settings: Settings) -> Place:
    """Return `"process"` if *tool* runs on this machine, else the engine that it runs on."""
    name: Place = tool.entry.options.runs_in or "process"
    if name == "process" or not isinstance(name, str):
        return name
    if name in settings.run_on:
        place: Place = settings.run_on[name]
        return place
    remedy = f"add --run-on {name}=dask:tcp://HOST:PORT, or {name}=process for this machine"
    if settings.run_on:
        remedy += f"; it has only {', '.join(map(repr, settings.run_on))}"
    raise RegistrationError(
        f"it runs in {name!r}, which this server does not have", tool=tool.name, remedy=remedy
    )


def _make_pool(
    spec: WorkerSpec,
    limited: bool,
    where: Place,
    *,
    room: int,
    idle_seconds: float | None = None,
) -> ProcessPool:
    end_seconds = spec.settings.get("grace_seconds", 0.0)
    if where == "process":
        start_one = partial(start_here, spec, limited)
        return ProcessPool(start_one, room, end_seconds=end_seconds, idle_seconds=idle_seconds)
    from .cluster.engines import get_engine

    engine = get_engine(where)
    # Without sources: a copy of a file has another stamp.
    there = msgspec.structs.replace(spec, path=_list_own_path(), sources={})
    if idle_seconds is None:
        idle_seconds = engine.idle_seconds
    return ProcessPool(
        partial(engine.start, there), room, end_seconds=end_seconds, idle_seconds=idle_seconds
    )


def _list_own_path() -> list[str]:
    """Return the entries of the import path that do not belong to this Python."""
    path = []
    for entry in sys.path:
        if entry and not entry.startswith((sys.prefix, sys.base_prefix)):
            path.append(entry)
    return path


def _has_memory_limits(tools: list[Tool], settings: Settings) -> bool:
    has_own = any(tool.entry.options.memory_limit is not None for tool in tools)
    if settings.memory_limit is None and not has_own:
        return False
    # Windows has no RLIMIT_AS; macOS accepts and ignores it.
    if sys.platform in ("win32", "darwin"):
        log.warning("this system cannot limit the memory of a process: memory_limit has no effect")
        return False
    return True


def _make_spec(
    loading: dict[str, Any],
    tools: list[Tool],
    settings: Settings,
    *,
    sources: Iterable[str] = (),
    lifespan: str | None = None,
) -> WorkerSpec:
    level, as_json = log.get_configuration()
    assert not isinstance(settings.memory_limit, str)
    return WorkerSpec(
        loading=loading,
        lifespan=lifespan,
        folder=os.getcwd(),
        settings=_select_settings(tools, settings),
        memory_limit=settings.memory_limit,
        sources=_stamp_sources(sources),
        log_level=level,
        log_as_json=as_json,
    )


def _select_settings(tools: list[Tool], settings: Settings) -> dict[str, Any]:
    """Return the settings for a worker."""
    selected = {name: getattr(settings, name) for name in _PASSED_ON}
    if any(tool.entry.lifespan is not None for tool in tools):
        selected["grace_seconds"] = settings.grace_seconds
    selected["max_result_bytes"] = _choose_max_bytes(tools, settings)
    return selected


def _stamp_sources(sources: Iterable[str]) -> dict[str, list[int]]:
    """Return the last changed ones of *sources*, each with its stamp, the latest first."""
    stamps = {path: stamp(path) for path in sources}
    latest = sorted(stamps, key=lambda path: stamps[path], reverse=True)
    return {path: stamps[path] for path in latest[:_MAX_SOURCES]}


_MAX_SOURCES = 400
"""How many files, the last changed, a worker compares: a command line on Linux has room for some
128 KiB of them.
"""


_PASSED_ON = ("separator", "strict_arguments", "mask_errors", "structured")
"""The settings that a worker must share with its server, to respond in the same way."""


def _choose_max_bytes(tools: list[Tool], settings: Settings) -> int:
    """Return how large a result of a worker may be: the server cuts or keeps it, or refuses it by
    its tool's limit.
    """
    limits = [settings.max_result_bytes]
    if settings.on_large_result != "error":
        limits.append(settings.max_kept_bytes)
    for tool in tools:
        limits.append(tool.entry.options.max_result_bytes or 0)
    return max(limits)
