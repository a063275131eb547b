"""`toolwire serve`: serves tools to the host that has started the process."""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

from ...errors import LifespanFailed, LoadError, UsageError
from ...loading.importing import YAML, add_to_path
from ...loading.targets import load
from ...log import LEVELS, configure
from ...server import Server
from ...settings import LIMITS
from ...transport.stdio import NotConnected, claim
from ..options import (
    EXCLUDE,
    HELP_ALL,
    INCLUDE,
    LIST_CACHE,
    LOADING,
    LOCK,
    LOCK_TEXTS,
    OF_SETTINGS,
    RUN_ON,
    SHARE_ENV,
    Option,
    accept_one_of,
    collect_settings,
)
from . import Command

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_tools import Tool

    from ...runtime.loading_filter import LoadingFilter
    from ..options import Words

    AnyServer = TypeVar("AnyServer", bound=Server)


def _read_host(text: str) -> str:
    """Accept a host, or a vendor, whose rules are known."""
    from ...wrapping import DIALECTS_OF  # here, since most servers are started without the option

    name: str = accept_one_of(*DIALECTS_OF)(text)
    return name


COMMAND = Command(
    usage=("toolwire serve TARGET... [OPTIONS]", "toolwire serve --mount [NAME=]COMMAND [OPTIONS]"),
    details=(
        "A TARGET is a file (tools.py, or tools.yaml that describes tools), a folder of files, a"
        " module (package.module) or the name of bundled or installed tools; `:name` after a file"
        " or module picks one function or toolkit. A module offers what it decorates with"
        " @tool_api, or else its public functions."
    ),
    options=(
        Option("--name NAME", "name of the server (default: that of the target)"),
        Option(
            "--server-version TEXT",
            "version of the server (default: that of the module or its distribution)",
            is_rare=True,
        ),
        Option(
            "--instructions TEXT",
            "instructions for clients on how to use the tools",
            is_rare=True,
        ),
        Option(
            "--for HOST",
            "name tools, and write their schemas, as this host or vendor takes them, as in vscode"
            " or gemini",
            _read_host,
        ),
        INCLUDE,
        EXCLUDE,
        *LOADING,
        Option(
            "-m, --module MODULE",
            "with --adopt: a module that runs as by `python -m`; its arguments follow `--`",
            is_rare=True,
        ),
        LOCK,
        LOCK_TEXTS,
        Option(
            "--eager", "start mounted servers at once (default: when first needed)", is_rare=True
        ),
        Option(
            "--idle SECONDS",
            "end a mounted server that no call has used for so long; with --share, the process"
            " that no session has used for so long (default: 60)",
            is_rare=True,
        ),
        Option(
            "--with PACKAGE",
            "add a package that uv installs for this run only; repeatable",
            many=True,
        ),
        Option(
            "--keep-going",
            "serve the other targets if one cannot be loaded (default: exit with status 2)",
        ),
        LIST_CACHE,
        Option("--reload", "reload the tools when their source changes; the connection stays open"),
        Option(
            "--share", "use one process for all sessions that start the same server", is_rare=True
        ),
        SHARE_ENV,
        *(option for option in OF_SETTINGS.values() if option is not RUN_ON),
        Option(
            "--log-level LEVEL",
            "log level on stderr: debug, info, warning, error or off",
            accept_one_of(*LEVELS),
        ),
        Option("--log-json", "write the log as JSON, one object per line", is_rare=True),
        HELP_ALL,
    ),
    examples=(
        "toolwire serve tools.py",
        "toolwire serve tools.py --share",
        "toolwire serve tools.py:add package.module:Search",
        "toolwire serve tools/ --exclude 'debug_*' --timeout 60",
        "toolwire serve Calculator Files tools.py --set Files.roots=notes",
        "toolwire serve tools.py --mount github='npx -y some-mcp-server'",
        "toolwire serve tools.py --limit max_workers=8 --limit grace_seconds=5",
    ),
    limits=LIMITS,
)


def run(words: Words) -> NoReturn:
    """Serve until the host disconnects."""
    targets, options = choose_targets(words), words.options
    if "share" in options:  # but this session cannot
        options.pop("idle", None)
    elif "share_env" in options:
        raise UsageError("--share-env goes with --share")
    try:
        streams = claim(keep_children="keep_children" in options)
    except NotConnected as error:
        raise UsageError(str(error)) from None
    configure(level=options.get("log_level", "info"), as_json="log_json" in options)
    server, settings = make_server(Server, targets, options)
    load = partial(_load, server, targets, options, settings)
    server.serve(streams, load=load, declares=outline(server, targets, options))


def choose_targets(words: Words) -> list[str]:
    """Return the targets in *words*.

    Raises:
        UsageError: if nothing is to be served.
    """
    targets = [*words.words, *(words.command or [])]
    if not targets and not {"mount", "mount_config", "module"} & words.options.keys():
        raise UsageError(
            "name what to serve: a file, a folder, a module or installed tools, as in `serve"
            " tools.py`"
        )
    if {"adopt", "module"} & words.options.keys():
        from ..adopted_targets import list_targets

        return list_targets(words)
    return targets


def make_server(
    kind: type[AnyServer], targets: list[str], options: dict[str, Any]
) -> tuple[AnyServer, dict[str, Any]]:
    """Return a server without tools, and its settings.

    Raises:
        UsageError: for an option with a wrong value.
    """
    host = options.get("for")
    settings = collect_settings(options)
    shape = None
    if host is not None:
        from ..own_host import choose_settings, make_shape

        settings = {**choose_settings(host), **settings}
        shape = make_shape(host)
    try:
        identity = {"name": choose_name(targets), **choose(options, _IDENTITY)}
        return kind(shape=shape, **identity, **settings), settings
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from None


def outline(
    server: Server, targets: list[str], options: dict[str, Any]
) -> Literal["tools", "everything", "unknown"]:
    """Return what *server* can declare before its *targets* are imported; set its version, if that
    is known.
    """
    from ...loading.outline import read_version

    version = read_version(targets)
    if version is None:
        return "unknown"
    server.identify(version=options.get("server_version") or version or None)
    has_mounts = bool(choose(options, _OF_MOUNTS))
    return "everything" if has_mounts else "tools"


def _load(
    server: Server,
    targets: list[str],
    options: dict[str, Any],
    settings: dict[str, Any],
    kept: LoadingFilter,
) -> None:
    """Give *server* its tools, for which the *kept* messages of its client wait."""
    places = [os.path.abspath(target) for target in targets]  # an import may change the folder
    open_lists = partial(_open_lists, server, places, options, kept, time.time())
    if options.get("list_cache") == "always":
        open_lists()
    else:
        kept.session.timers.after(_LONG_SECONDS, open_lists)
    try:
        load_tools(server, targets, options, settings, kept.note_import)
    except (LoadError, LifespanFailed, TypeError, ValueError) as error:
        from ...loading.failed_start import answer_failure

        answer_failure(kept, error)
        _refuse(str(error), getattr(error.__cause__, "status", 2))


def _open_lists(
    server: Server,
    places: list[str],
    options: dict[str, Any],
    kept: LoadingFilter,
    started_at: float,
) -> None:
    """Let lists of an earlier start answer, unless the tools are loaded already."""
    if not kept.has_imported:
        from ...loading.cached_lists import open_lists

        open_lists(server, places, options, kept, started_at)


_LONG_SECONDS = 0.5
"""After this time of an import, lists of an earlier start are read, for when it is late. A shorter
import leaves no lists either.
"""


def load_tools(
    server: Server,
    targets: list[str],
    options: dict[str, Any],
    settings: dict[str, Any],
    note_import: Callable[[], None],
) -> None:
    """Give *server* the tools of *targets*; call *note_import* when they are imported.

    Raises:
        LoadError: if one cannot be loaded.
    """
    selection = choose(options, SELECTION)
    mounts = choose(options, _OF_MOUNTS)
    if packages := options.get("with", ()):
        from ...loading.dependencies import add_packages

        add_packages(packages, add_to_path)
    reloads = "reload" in options
    loading = partial(
        _find_tools, targets, selection, settings, reloads=reloads, may_be_empty=bool(mounts)
    )
    reloader = None
    if reloads:
        from ...loading.reload import make_reloader

        reloader = make_reloader(targets, loading)
    tools = loading()
    if "run_on" in settings or "memory_limit" in settings:
        from ..option_values import check_processes

        check_processes(tools, settings)
    note_import()
    # That of the modules, and not of an earlier start.
    identity: dict[str, Any] = {"name": choose_name(targets), **dict.fromkeys(_FOUND_LATER)}
    if "toolwire_compat.fastmcp" in sys.modules:
        from toolwire_compat.fastmcp.tools import find_identity

        identity |= find_identity(tools)
    identity |= choose(options, _IDENTITY)
    server.identify(**identity)
    server.replace(tools)
    if mounts:
        from ..mounting import mount_all

        mounts["list_cache"] = options.get("list_cache", "late")
        mount_all(server, mounts, selection.get("include", ()), selection.get("exclude", ()))
    if reloader is not None:
        reloader.start(server)


def choose(options: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Return those *options* that have *names*, by their names elsewhere."""
    return {name: options[key] for key, name in names.items() if key in options}


_OF_MOUNTS = {key: key for key in ("mount", "mount_config", "eager", "lock", "lock_texts", "idle")}
_IDENTITY = {"name": "name", "server_version": "version", "instructions": "instructions"}
_FOUND_LATER = ("version", "title", "instructions")
SELECTION = {
    "keep_going": "keep_going",
    "include": "include",
    "exclude": "exclude",
    "adopt": "adopt",
    "set": "tool_settings",
}


def _find_tools(
    targets: list[str],
    words: dict[str, Any],
    settings: dict[str, Any],
    *,
    reloads: bool,
    may_be_empty: bool,
) -> list[Tool]:
    tools = load(targets, **words, may_be_empty=may_be_empty) if targets else []
    if not settings.get("isolate") and not any(tool.entry.options.runs_in for tool in tools):
        return tools
    from ..isolation import isolate

    return isolate(tools, {"targets": targets, **words}, settings, reloads=reloads)


def choose_name(targets: list[str]) -> str:
    """Return the default name of a server: that of its target, or of its first few."""
    if len(targets) == 1:
        return _name_target(targets[0]) or "tools"
    from ...identity import join_names

    return join_names(map(_name_target, targets)) or "tools"


def _name_target(target: str) -> str:
    base = os.path.basename(os.path.abspath(target))
    stem, ending = os.path.splitext(base.partition(":")[0])
    return (stem if ending in (".py", *YAML) else stem + ending).strip(".")


def _refuse(sentence: str, status: int = 2) -> NoReturn:
    """Exit at once: threads that a loaded module started may never end."""
    from ..printing.terminal import print_remark

    print_remark(sentence)
    sys.stderr.flush()
    os._exit(status)
