"""Tools that run in worker processes, which import them again."""

from __future__ import annotations

import os
import sys
from functools import cache, partial
from types import MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_tools import RegistrationError, Tool, find_tools, make_tool
from toolwire_tools.discovery import find_finder

from .. import log
from ..protocol.connection_handler import ConnectionHandler
from .process_pool import KEEP_ALWAYS, ProcessPool
from .session_processes import SessionProcesses
from .worker_spec import WorkerSpec, stamp, start_here

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator
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
        return SessionProcesses(
            partial(_make_pool, spec, settings, limited, where, room=1, idle_seconds=KEEP_ALWAYS)
        )

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
    wanted = {
        tool: _make_target(tool, thing) for tool, thing in found if _is_wanted(tool, settings)
    }
    if not wanted:
        return tools
    place = None if lifespan is None else _find_import_path(lifespan)
    if place is None and lifespan is not None:
        raise RegistrationError(_NOT_IMPORTABLE, tool="lifespan", remedy=_AT_THE_TOP)
    loading = {"targets": list(dict.fromkeys(wanted.values()))}
    return _isolate_wanted(
        tools, wanted, _make_spec(loading, tools, settings, lifespan=place), settings
    )


def _isolate_wanted(
    tools: list[Tool], wanted: Container[Tool], spec: WorkerSpec, settings: Settings
) -> list[Tool]:
    limited = _has_memory_limits(tools, settings)
    room = settings.max_processes
    return _isolate_in(
        tools, wanted, settings, partial(_make_pool, spec, settings, limited, room=room)
    )


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
    if name not in settings.run_on:
        only = f"; it has only {', '.join(map(repr, settings.run_on))}" if settings.run_on else ""
        remedy = (
            f"add --run-on {name}=dask:tcp://HOST:PORT, or {name}=process for this machine{only}"
        )
        raise RegistrationError(
            f"it runs in {name!r}, which this server does not have", tool=tool.name, remedy=remedy
        )
    place: Place = settings.run_on[name]
    return place


def _make_pool(
    spec: WorkerSpec,
    settings: Settings,
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

    there = get_engine(where)
    path = [
        entry for entry in sys.path if entry and not entry.startswith((sys.prefix, sys.base_prefix))
    ]
    spec = msgspec.structs.replace(
        spec, path=path, sources={}
    )  # a copy of a file has another stamp
    start = partial(there.start, spec)
    if idle_seconds is None:
        idle_seconds = there.idle_seconds
    return ProcessPool(start, room, end_seconds=end_seconds, idle_seconds=idle_seconds)


def _has_memory_limits(tools: list[Tool], settings: Settings) -> bool:
    limited = settings.memory_limit is not None or any(
        tool.entry.options.memory_limit is not None for tool in tools
    )
    # Windows has no RLIMIT_AS; macOS accepts and ignores it.
    if limited and sys.platform in ("win32", "darwin"):
        log.warning("this system cannot limit the memory of a process: memory_limit has no effect")
        return False
    return limited


def _list_things(found: object) -> Iterator[object]:
    if isinstance(found, list | tuple):
        for thing in found:
            yield from _list_things(thing)
    else:
        yield found


def _is_made_of(tool: Tool, thing: object) -> bool:
    function = tool.entry.function
    owner = getattr(function, "__self__", None)
    if thing is tool or thing is function or thing is owner or thing is type(owner):
        return True
    if isinstance(thing, type):
        return tool.entry.name_with(".").startswith(f"{thing.__name__}.")
    # A container of tools, such as an executor of actions.
    return find_finder(type(thing)) is not None and any(
        tool.name == other.name for other in find_tools(thing)
    )


def _make_target(tool: Tool, things: object) -> str:
    thing = next(
        (thing for thing in _list_things(things) if _is_made_of(tool, thing)), tool.entry.function
    )
    found = _find_import_path(thing)
    if (
        found is None
        and isinstance(thing, Tool)
        and make_tool(thing.entry.function).describe() == thing.describe()
    ):
        found = _find_import_path(thing.entry.function)
    if found is None:
        raise RegistrationError(
            _NOT_IMPORTABLE, tool=tool.name, remedy=f"{_AT_THE_TOP}, and serve that"
        )
    return found


def _find_import_path(thing: object) -> str | None:
    """Return the target, for `load`, that is *thing* in every process; `None` without one.

    *thing* must have a name at the top level of its module, or of the script that runs.
    """
    made_by = thing.func if isinstance(thing, partial) else thing
    for module_name in (getattr(made_by, "__module__", None), type(made_by).__module__, "__main__"):
        module = sys.modules.get(str(module_name))
        if module is None or (place := _find_module_target(module)) is None:
            continue
        for name, value in list(vars(module).items()):
            # Each access makes a new bound method.
            is_same = value is thing or (
                type(value) is type(thing) is MethodType and value == thing
            )
            if is_same and (module_name != "__main__" or name in _list_names_in_script(module)):
                return f"{place}:{name}"
    return None


def _find_module_target(module: ModuleType) -> str | None:
    """Return the target of *module*: its name if `load` finds it by that, or its file."""
    from importlib.machinery import PathFinder

    name = getattr(getattr(module, "__spec__", None), "name", module.__name__)
    file = os.path.realpath(getattr(module, "__file__", None) or "")
    is_file = file.endswith(".py") and os.path.isfile(file)
    if name == "__main__":
        return file if is_file else None
    found = None if "." in name else PathFinder.find_spec(name)
    is_found = "." in name or (found is not None and os.path.realpath(found.origin or "") == file)
    return file if is_file and not is_found else name


def _list_names_in_script(module: ModuleType) -> Collection[str]:
    """Return the names that a script uses at its top level, without those that exist only if it is
    run.
    """
    import ast

    with open(str(module.__file__), "rb") as source:
        script = ast.parse(source.read())
    script.body = [
        part
        for part in script.body
        if not (isinstance(part, ast.If) and "'__name__'" in ast.dump(part.test))
    ]
    return compile(script, "", "exec").co_names


_NOT_IMPORTABLE = "it cannot run in a process of its own: the process could not import it"
_AT_THE_TOP = (
    "define it, or assign it to a name, at the top level of a module and outside of `if __name__ =="
    ' "__main__":`'
)


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
    stamps = {path: stamp(path) for path in sources}
    lives = any(tool.entry.lifespan is not None for tool in tools)
    return WorkerSpec(
        loading=loading,
        lifespan=lifespan,
        folder=os.getcwd(),
        settings={
            name: getattr(settings, name)
            for name in (*_PASSED_ON, *(["grace_seconds"] if lives else []))
        }
        | {"max_result_bytes": _choose_max_bytes(tools, settings)},
        memory_limit=settings.memory_limit,
        sources=dict(sorted(stamps.items(), key=lambda item: item[1], reverse=True)[:_MAX_SOURCES]),
        log_level=level,
        log_as_json=as_json,
    )


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
    kept = 0 if settings.on_large_result == "error" else settings.max_kept_bytes
    return max(
        settings.max_result_bytes,
        kept,
        *(tool.entry.options.max_result_bytes or 0 for tool in tools),
    )
