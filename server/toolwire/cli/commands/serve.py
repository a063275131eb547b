"""`toolwire serve`: serves tools to the host that has started the process."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from toolwire_tools.byte_sizes import size

from ... import log
from ...errors import LoadError, UsageError
from ...loading import importing as imports
from ...loading import targets as load
from ...server import Server
from ...transport.stdio import NotConnected, claim
from ..options import SET, Option, count, one_of, seconds
from . import Command

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_tools import Tool

    from ...loading.reload import Reloader
    from ..options import Words

COMMAND = Command(
    usage=("toolwire serve TARGET... [OPTIONS]",),
    details="A TARGET is a file (tools.py, or tools.yaml that describes tools), a folder of files, a module "
    "(package.module) or the name of bundled or installed tools; `:name` behind a file or module picks one "
    "function or toolkit. A module offers what it decorates with @tool_api, or else its public functions.",
    options=(
        Option("--name", "what the server calls itself; by default like the target", "NAME"),
        Option("--instructions", "what to tell clients about the use of the tools", "TEXT"),
        Option("--include", "serve only tools whose name matches; may be given again", "PATTERN", many=True),
        Option("--exclude", "leave out tools whose name matches; may be given again", "PATTERN", many=True),
        SET,
        Option("--strict", "end with status 2 if a target cannot be loaded (the default)"),
        Option("--keep-going", "serve the rest if a target cannot be loaded"),
        Option("--reload", "follow changes of the tools' source, and keep the connection"),
        Option("--separator", "what stands between a toolkit's name and its method's; by default a dot", "TEXT"),
        Option("--coerce", "decode arguments that a model sent as JSON text"),
        Option("--timeout", "end calls of tools that set no limit of their own after so long", "SECONDS", seconds),
        Option("--mask-errors", "do not tell callers what unexpected exceptions say"),
        Option("--page-size", "list so many tools a page; by default all on one", "NUMBER", count),
        Option("--max-message-bytes", "refuse longer messages; by default 64MiB", "SIZE", size),
        Option("--max-result-bytes", "refuse to send longer results; by default just below 10MiB", "SIZE", size),
        Option(
            "--max-pending-bytes",
            "refuse calls while those under way hold so much input; by default 256MiB",
            "SIZE",
            size,
        ),
        Option("--max-pending-calls", "refuse calls while so many run or wait; by default 100000", "NUMBER", count),
        Option("--max-batch-elements", "refuse longer batches; by default 10000", "NUMBER", count),
        Option("--max-unsent-bytes", "refuse requests while so much is not read; by default 64MiB", "SIZE", size),
        Option("--max-workers", "run so many tools side by side; by default 128", "NUMBER", count),
        Option(
            "--max-abandoned", "threads for calls that were given up and still run; by default 128", "NUMBER", count
        ),
        Option("--max-questions", "put so many questions to the user at a time; by default 128", "NUMBER", count),
        Option("--isolate", "run every tool in a process of its own, so that a crash is one failed call"),
        Option("--memory-limit", "what a tool in a process of its own may use, as in 512MiB", "SIZE", size),
        Option("--max-processes", "have so many of these processes; by default 16", "NUMBER", count),
        Option("--grace", "wait so long for running calls when the host hangs up; by default 1.5", "SECONDS", seconds),
        Option(
            "--log-level", "how much to say on stderr: debug, info, warning, error or off", "LEVEL", one_of(*log.LEVELS)
        ),
        Option("--log-json", "write the log as one JSON object a line"),
    ),
    examples=(
        "toolwire serve tools.py",
        "toolwire serve tools.py:add package.module:Search",
        "toolwire serve tools/ --exclude 'debug_*' --timeout 60",
        "toolwire serve Calculator Files tools.py --set Files.roots=notes",
    ),
)


def run(words: Words) -> NoReturn:
    """Serve until the host hangs up."""
    targets = [*words.words, *(words.command or [])]
    if not targets:
        raise UsageError("name what to serve: a file, a folder, a module or installed tools, as in `serve tools.py`")
    given = dict(words.options)
    strict, keep_going = given.pop("strict", False), given.pop("keep_going", False)
    if strict and keep_going:
        raise UsageError("--strict and --keep-going contradict each other: leave one out")
    try:
        streams = claim()
    except NotConnected as error:
        raise UsageError(str(error)) from None
    log.configure(level=given.pop("log_level", "info"), as_json=given.pop("log_json", False))
    try:
        server = _server(targets, given, keep_going)
    except (LoadError, TypeError, ValueError) as error:
        _refuse(str(error))
    server.serve(streams)


def _server(targets: list[str], given: dict[str, Any], keep_going: bool) -> Server:
    words: dict[str, Any] = {name: given.pop(key) for key, name in _LOADING.items() if key in given}
    identity = {"name": name_of(targets), **{key: given.pop(key) for key in ("name", "instructions") if key in given}}
    reloads = given.pop("reload", False)
    settings = {_SETTINGS.get(key, key): value for key, value in given.items()}
    loading = partial(_tools, targets, {"keep_going": keep_going, **words}, settings, reloads=reloads)
    reloader = _reloader(targets, loading) if reloads else None
    server = Server(loading(), **identity, **settings)
    if reloader is not None:
        reloader.start(server)
    return server


_LOADING = {"include": "include", "exclude": "exclude", "set": "tool_settings"}
_SETTINGS = {"timeout": "timeout_seconds", "grace": "grace_seconds"}


def _tools(targets: list[str], words: dict[str, Any], settings: dict[str, Any], *, reloads: bool) -> list[Tool]:
    """The tools of *targets*; those that are to run in processes of their own will."""
    tools = load.load(targets, **words)
    if not settings.get("isolate") and not any(tool.runs_in for tool in tools):
        return tools
    from ...isolation.isolated_tool import Loading, loaded
    from ...settings import Settings

    return loaded(tools, Loading(targets, **words, reloads=reloads), Settings(**settings))


def _reloader(targets: list[str], loading: Callable[[], list[Tool]]) -> Reloader:
    from ...loading.reload import Reloader

    places = [load.parse(target).place for target in targets]
    folders = [os.path.dirname(place) or "." if place.endswith(imports.YAML) else place for place in places]
    try:
        return Reloader(loading, [path for path in {*places, *folders} if os.path.exists(path)])
    except ImportError:
        raise LoadError("--reload needs watchfiles; install it: pip install 'toolwire[reload]'") from None


def name_of(targets: list[str]) -> str:
    """Return what the server calls itself if nobody says: like the one thing it serves."""
    base = os.path.basename(targets[0].rstrip("/\\")) if len(targets) == 1 else ""
    stem, ending = os.path.splitext(base.partition(":")[0])
    return (stem if ending in (".py", *imports.YAML) else stem + ending).strip(".") or "toolwire"


def _refuse(sentence: str) -> NoReturn:
    """End the process though a module that was loaded may have started threads that never end."""
    from ..output import remark

    remark(sentence)
    sys.stderr.flush()
    os._exit(2)
