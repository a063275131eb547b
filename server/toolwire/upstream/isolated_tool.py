"""Tools that run in worker processes, which import them again."""

from __future__ import annotations

import os
import sys
from functools import partial
from types import MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_tools import RegistrationError, Tool, tools_of
from toolwire_tools.discovery import finder

from .. import log
from ..protocol.call import Call
from .process_pool import ProcessPool
from .worker_spec import WorkerSpec, stamp, start_here

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from toolwire_tools import Caller

    from ..settings import Settings


class IsolatedTool(Tool):
    """A tool whose calls run in a process of *pool*, under the name *name_there*.

    The process checks the arguments.
    """

    def __init__(self, tool: Tool, pool: ProcessPool, name_there: str) -> None:
        self._become(tool)
        self._pool = pool
        self.gate = pool
        self._name_there = name_there
        self.is_async = False  # a worker thread waits for the response

    def call(self, arguments: dict[str, Any], caller: Caller, strict_arguments: bool = False) -> dict[str, Any]:
        """As `Tool.call`, for a call of a server."""
        assert isinstance(caller, Call)
        return self._pool.run(self._name_there, arguments, caller)


def _is_wanted(tool: Tool, settings: Settings) -> bool:
    return tool.gate is None and (settings.isolate or tool.runs_in is not None)


def loaded(tools: list[Tool], loading: dict[str, Any], settings: Settings, sources: Iterable[str] = ()) -> list[Tool]:
    """Return *tools*, which `load` has returned for the arguments in *loading*.

    Those to be isolated run in processes that load the same. *sources* are the loaded files that may change.
    """
    if not any(_is_wanted(tool, settings) for tool in tools):
        return tools
    spec = _spec(loading, tools, settings, sources)
    return _isolated(tools, [tool for tool in tools if _is_wanted(tool, settings)], spec, settings)


def given(found: list[tuple[Tool, Any]], settings: Settings, lifespan: Any = None) -> list[Tool]:
    """Return the tools of *found*, pairs of a tool and the object, or list of objects, that it was made of.

    Those to be isolated run in processes that import these objects, and *lifespan*.

    Raises:
        RegistrationError: if one cannot be imported, or is to run in an engine that the server does not have.
        ValueError: if an engine cannot be used.
    """
    tools = [tool for tool, _ in found]
    wanted = {tool: _target(tool, thing) for tool, thing in found if _is_wanted(tool, settings)}
    if not wanted:
        return tools
    loading: dict[str, Any] = {"targets": list(dict.fromkeys(wanted.values()))}
    if lifespan is not None:
        loading["lifespan"] = _import_path_of(lifespan)
        if loading["lifespan"] is None:
            raise RegistrationError(_NOT_IMPORTABLE, tool="lifespan", remedy=_AT_THE_TOP)
    return _isolated(tools, wanted, _spec(loading, tools, settings), settings)


def _isolated(tools: list[Tool], wanted: Container[Tool], spec: WorkerSpec, settings: Settings) -> list[Tool]:
    separator = settings.separator
    limited = _has_memory_limits(tools, settings)
    pools: dict[Any, ProcessPool] = {}
    for tool in tools:
        if tool in wanted and (where := _where(tool, settings)) not in pools:
            pools[where] = _pool(where, spec, settings, limited=limited)
    return [
        IsolatedTool(tool, pools[_where(tool, settings)], tool.name_with(separator)) if tool in wanted else tool
        for tool in tools
    ]


def _where(tool: Tool, settings: Settings) -> Any:
    """Return `"process"` if *tool* runs on this machine, else the engine that it runs on."""
    name = tool.runs_in or "process"
    if name == "process" or not isinstance(name, str):
        return name
    if name not in settings.run_on:
        remedy = f"add --run-on {name}=dask:tcp://HOST:PORT, or {name}=process for this machine"
        raise RegistrationError(f"it runs in {name!r}, which this server does not have", tool=tool.name, remedy=remedy)
    return settings.run_on[name]


def _pool(where: Any, spec: WorkerSpec, settings: Settings, *, limited: bool) -> ProcessPool:
    end_seconds = spec.settings.get("grace_seconds", 0.0)
    if where == "process":
        start_one = partial(start_here, spec, limited)
        return ProcessPool(start_one, settings.max_processes, end_seconds=end_seconds)
    from .cluster.engines import engine

    there = engine(where)
    path = [entry for entry in sys.path if entry and not entry.startswith((sys.prefix, sys.base_prefix))]
    spec = msgspec.structs.replace(spec, path=path, sources={})  # a copy of a file has another stamp
    start = partial(there.start, spec)
    return ProcessPool(start, settings.max_processes, end_seconds=end_seconds, idle_seconds=there.idle_seconds)


def _has_memory_limits(tools: list[Tool], settings: Settings) -> bool:
    limited = settings.memory_limit is not None or any(tool.memory_limit is not None for tool in tools)
    # Windows has no RLIMIT_AS; macOS accepts and ignores it.
    if limited and sys.platform in ("win32", "darwin"):
        log.warning("this system cannot limit the memory of a process: memory_limit has no effect")
        return False
    return limited


def _things(found: Any) -> Iterator[Any]:
    if isinstance(found, list | tuple):
        for thing in found:
            yield from _things(thing)
    else:
        yield found


def _is_made_of(tool: Tool, thing: Any) -> bool:
    function = tool.function
    owner = getattr(function, "__self__", None)
    if thing is tool or thing is function or thing is owner or thing is type(owner):
        return True
    if isinstance(thing, type):
        return tool.name_with(".").startswith(f"{thing.__name__}.")
    # A container of tools, such as an executor of actions.
    return finder(type(thing)) is not None and any(tool.name == other.name for other in tools_of(thing))


def _target(tool: Tool, things: Any) -> str:
    thing = next((thing for thing in _things(things) if _is_made_of(tool, thing)), tool.function)
    found = _import_path_of(thing)
    if found is None and isinstance(thing, Tool) and Tool(thing.function).describe() == thing.describe():
        found = _import_path_of(thing.function)
    if found is None:
        raise RegistrationError(_NOT_IMPORTABLE, tool=tool.name, remedy=f"{_AT_THE_TOP}, and serve that")
    return found


def _import_path_of(thing: Any) -> str | None:
    """Return the target, for `load`, that is *thing* in every process; `None` without one.

    *thing* must have a name at the top level of its module, or of the script that runs.
    """
    for module in _modules(thing):
        place = _place(module)
        if place is None:
            continue
        names = [name for name, value in list(vars(module).items()) if _same(value, thing) and name.isidentifier()]
        own = getattr(thing, "__name__", None)
        for name in sorted(names, key=lambda name: name != own):
            if module.__name__ != "__main__" or name in _names_in_script(module):
                return f"{place}:{name}"
    return None


def _modules(thing: Any) -> Iterator[ModuleType]:
    """Yield the modules where *thing* may have a name, the likeliest first."""
    while isinstance(thing, partial):
        thing = thing.func
    names = [getattr(thing, "__module__", None), type(thing).__module__, "__main__"]
    for name in dict.fromkeys(name for name in names if isinstance(name, str)):
        module = sys.modules.get(name)
        if module is not None:
            yield module


def _same(value: object, thing: object) -> bool:
    # Each access makes a new bound method.
    return value is thing or (type(value) is type(thing) is MethodType and value == thing)


def _place(module: ModuleType) -> str | None:
    """Return the target of *module*: its name if `load` finds it by that, or its file."""
    from importlib.machinery import PathFinder

    spec = getattr(module, "__spec__", None)
    name = module.__name__ if module.__name__ != "__main__" or spec is None else spec.name
    file = getattr(module, "__file__", None)
    file = os.path.realpath(file) if isinstance(file, str) and os.path.isfile(file) else None
    if name != "__main__" and ("." in name or file is None):
        return name
    found = None if name == "__main__" else PathFinder.find_spec(name)
    if found is not None and found.origin and os.path.realpath(found.origin) == file:
        return name
    return file if file is not None and file.endswith(".py") else None


def _names_in_script(module: ModuleType) -> set[str]:
    """Return the names that a script defines, without those that exist only if it is run."""
    import ast

    file = getattr(module, "__file__", None)
    if not isinstance(file, str):
        return set()
    with open(file, "rb") as source:
        statements = ast.parse(source.read()).body
    names = set()
    for statement in statements:
        if isinstance(statement, ast.If) and "'__name__'" in ast.dump(statement.test):
            continue  # only if the file is run
        for node in ast.walk(statement):
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    names.add(name)
                case ast.Name(id=name, ctx=ast.Store()):
                    names.add(name)
                case ast.alias():
                    names.add((node.asname or node.name).partition(".")[0])
    return names


_NOT_IMPORTABLE = "it cannot run in a process of its own: the process could not import it"
_AT_THE_TOP = (
    'define it, or assign it to a name, at the top level of a module and outside of `if __name__ == "__main__":`'
)


def _spec(loading: dict[str, Any], tools: list[Tool], settings: Settings, sources: Iterable[str] = ()) -> WorkerSpec:
    level, as_json = log.configured()
    assert not isinstance(settings.memory_limit, str)
    stamps = {path: stamp(path) for path in sources}
    lives = any(tool.lifespan is not None for tool in tools)
    return WorkerSpec(
        **loading,
        folder=_folder(),
        settings={name: getattr(settings, name) for name in (*_PASSED_ON, *(["grace_seconds"] if lives else []))}
        | {"max_result_bytes": _most_bytes(tools, settings)},
        memory_limit=settings.memory_limit,
        sources=dict(sorted(stamps.items(), key=lambda item: item[1], reverse=True)[:_MAX_SOURCES]),
        log_level=level,
        log_as_json=as_json,
    )


_MAX_SOURCES = 400
"""How many files, the last changed, a worker compares: a command line on Linux has room for some 128 KiB of them."""


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return "."


_PASSED_ON = ("separator", "strict_arguments", "mask_errors", "structured")
"""The settings that a worker must share with its server, to respond in the same way."""


def _most_bytes(tools: list[Tool], settings: Settings) -> int:
    """Return how large a result of a worker may be: the server cuts or keeps it, or refuses it by its tool's limit."""
    kept = 0 if settings.on_large_result == "error" else settings.max_kept_bytes
    return max(settings.max_result_bytes, kept, *(tool.max_result_bytes or 0 for tool in tools))
