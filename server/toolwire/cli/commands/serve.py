"""`toolwire serve`: serves tools to the host that has started the process."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from ...errors import LifespanFailed, LoadError, UsageError
from ...loading.importing import YAML, add_to_path
from ...loading.targets import load, parse
from ...log import LEVELS, configure, warning
from ...server import Server
from ...transport.stdio import NotConnected, claim
from ..options import EXCLUDE, INCLUDE, LOADING, LOCK, LOCK_TEXTS, Option, one_of
from . import Command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from toolwire_tools import Tool

    from ...loading.reload import Reloader
    from ..options import Words


def _host(text: str) -> str:
    """Accept a host, or a vendor, whose rules are known."""
    from ...wrapping import DIALECTS_OF  # here, since most servers are started without the option

    name: str = one_of(*DIALECTS_OF)(text)
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
        ),
        Option("--instructions TEXT", "instructions for clients on how to use the tools"),
        Option(
            "--for HOST",
            "name tools, and write their schemas, as this host or vendor takes them, as in vscode"
            " or gemini",
            _host,
        ),
        INCLUDE,
        EXCLUDE,
        *LOADING,
        LOCK,
        LOCK_TEXTS,
        Option("--eager", "start mounted servers at once (default: when first needed)"),
        Option(
            "--with PACKAGE",
            "add a package that uv installs for this run only; repeatable",
            many=True,
        ),
        Option(
            "--keep-going",
            "serve the other targets if one cannot be loaded (default: exit with status 2)",
        ),
        Option("--reload", "reload the tools when their source changes; the connection stays open"),
        Option("--separator TEXT", "text between a toolkit's name and its method's (default: _)"),
        Option(
            "--strict-arguments", "refuse arguments sent as JSON text, and null for optional ones"
        ),
        Option("--timeout SECONDS", "time limit for calls of tools without a limit of their own"),
        Option(
            "--heartbeat SECONDS",
            "time after which a silent call reports progress (default: 10; 0: never)",
        ),
        Option("--mask-errors", "hide the messages of unexpected exceptions from callers"),
        Option(
            "--no-structured",
            "leave out output schemas and structured content: some hosts send both to the model",
        ),
        Option("--page-size NUMBER", "tools per page (default: all)"),
        Option("--max-message-bytes SIZE", "maximum size of a message (default: 64MiB)"),
        Option("--max-result-bytes SIZE", "maximum size of a result (default: just below 10MiB)"),
        Option(
            "--max-result-tokens NUMBER",
            "maximum size of a result for a model, estimated (default: that of the host in --for)",
        ),
        Option(
            "--on-large-result error|truncate|resource",
            "send an error, a part of it or a link instead (default: error; truncate beyond the"
            " host's tokens)",
        ),
        Option(
            "--max-kept-bytes SIZE",
            "maximum size of large results that are kept to be read (default: 64MiB)",
        ),
        Option(
            "--max-pending-bytes SIZE", "maximum input held by unfinished calls (default: 256MiB)"
        ),
        Option(
            "--max-pending-calls NUMBER", "maximum number of unfinished calls (default: 100000)"
        ),
        Option(
            "--max-batch-elements NUMBER", "maximum number of messages in a batch (default: 10000)"
        ),
        Option(
            "--max-unsent-bytes SIZE",
            "maximum output that the client has not read (default: 64MiB)",
        ),
        Option("--max-workers NUMBER", "maximum number of concurrent calls (default: 128)"),
        Option(
            "--max-abandoned NUMBER",
            "maximum number of threads that still run an abandoned call (default: 128)",
        ),
        Option(
            "--max-questions NUMBER", "maximum number of concurrent elicitations (default: 128)"
        ),
        Option(
            "--isolate", "run tools in processes of their own, so that a crash fails only one call"
        ),
        Option(
            "--keep-children",
            "let processes that tools have started live on when the server ends (Linux)",
        ),
        Option(
            "--memory-limit SIZE",
            "memory limit of a tool process, as in 512MiB; goes with --isolate or runs_in",
        ),
        Option("--max-processes NUMBER", "maximum number of tool processes (default: 16)"),
        Option(
            "--grace SECONDS",
            "time for running calls to finish after the host disconnects (default: 1.5)",
        ),
        Option(
            "--log-level LEVEL",
            "log level on stderr: debug, info, warning, error or off",
            one_of(*LEVELS),
        ),
        Option("--log-json", "write the log as JSON, one object per line"),
    ),
    examples=(
        "toolwire serve tools.py",
        "toolwire serve tools.py:add package.module:Search",
        "toolwire serve tools/ --exclude 'debug_*' --timeout 60",
        "toolwire serve Calculator Files tools.py --set Files.roots=notes",
        "toolwire serve tools.py --mount github='npx -y some-mcp-server'",
    ),
)


def run(words: Words) -> NoReturn:
    """Serve until the host disconnects."""
    targets = [*words.words, *(words.command or [])]
    if not targets and not {"mount", "mount_config"} & words.options.keys():
        raise UsageError(
            "name what to serve: a file, a folder, a module or installed tools, as in `serve"
            " tools.py`"
        )
    given = dict(words.options)
    given.pop("env_file", None)  # `main` has applied it
    try:
        streams = claim(keep_children="keep_children" in given)
    except NotConnected as error:
        raise UsageError(str(error)) from None
    configure(level=given.pop("log_level", "info"), as_json=given.pop("log_json", False))
    try:
        server = _server(targets, given)
    except (LoadError, TypeError, ValueError) as error:
        _refuse(str(error))
    try:
        server.serve(streams)
    except LifespanFailed as error:
        from ...loading.import_errors import print_users_part

        print_users_part(error.__cause__)
        _refuse(str(error))


def _server(targets: list[str], given: dict[str, Any]) -> Server:
    mounts: dict[str, Any] = {key: given.pop(key) for key in _OF_MOUNTS if key in given}
    selected = {name: given.pop(key) for key, name in _SELECTION.items() if key in given}
    named = {name: given.pop(key) for key, name in _IDENTITY.items() if key in given}
    host = given.pop("for", None)
    if packages := given.pop("with", ()):
        from ...loading.dependencies import add

        add(packages, add_to_path)
    reloads = given.pop("reload", False)
    given["structured"] = not given.pop("no_structured", False)
    settings = {_SETTINGS.get(key, key): value for key, value in given.items()}
    if host is not None:
        settings = {**_settings_for(host), **settings}
    settings["run_on"] = dict(text.partition("=")[::2] for text in given.get("run_on", ()))
    loading = partial(
        _tools, targets, selected, settings, reloads=reloads, may_be_empty=bool(mounts)
    )
    reloader = _reloader(targets, loading) if reloads else None
    tools = loading()
    for name in settings["run_on"]:
        if all(tool.runs_in != name for tool in tools):
            warning(f"--run-on {name}=… has no effect: no tool has runs_in={name!r}")
    if (
        "memory_limit" in settings
        and not settings.get("isolate")
        and all(tool.runs_in is None for tool in tools)
    ):
        raise LoadError(
            '--memory-limit is for processes of tools: add --isolate, or runs_in="process" to a'
            " tool"
        )
    identity: dict[str, Any] = {"name": name_of(targets)}
    if "toolwire_compat.fastmcp" in sys.modules:
        from toolwire_compat.fastmcp.tools import identity_of

        identity |= identity_of(tools)
    server = Server(tools, shape=_shape_for(host), **identity | named, **settings)
    if mounts:
        from ..mounting import mount_all

        mount_all(server, mounts, selected.get("include", ()), selected.get("exclude", ()))
    if reloader is not None:
        reloader.start(server)
    return server


def _settings_for(host: str) -> dict[str, Any]:
    """Return the defaults of settings that the limits of *host* give."""
    from ...wrapping.host_results import max_tokens_for

    tokens = max_tokens_for(host)
    if tokens is None:
        return {}
    return {"max_result_tokens": tokens, "on_large_result": "truncate"}


def _shape_for(host: str | None) -> Callable[[Sequence[Tool]], list[Tool]] | None:
    if host is None:
        return None
    from ...wrapping.host_rules import shape_own

    return partial(shape_own, host=host)


_OF_MOUNTS = ("mount", "mount_config", "eager", "lock", "lock_texts")
_IDENTITY = {"name": "name", "server_version": "version", "instructions": "instructions"}
_SELECTION = {
    **{key: key for key in ("keep_going", "include", "exclude", "adopt")},
    "set": "tool_settings",
}
_SETTINGS = {
    "timeout": "timeout_seconds",
    "grace": "grace_seconds",
    "heartbeat": "heartbeat_seconds",
}


def _tools(
    targets: list[str],
    words: dict[str, Any],
    settings: dict[str, Any],
    *,
    reloads: bool,
    may_be_empty: bool,
) -> list[Tool]:
    tools = load(targets, **words, may_be_empty=may_be_empty) if targets else []
    if not settings.get("isolate") and not any(tool.runs_in for tool in tools):
        return tools
    from ...settings import Settings
    from ...workers.isolated_tool import loaded

    sources: Iterable[str] = ()
    if reloads:
        from ...loading import reload

        sources = reload.sources()
    return loaded(tools, {"targets": targets, **words}, Settings(**settings), sources)


def _reloader(targets: list[str], loading: Callable[[], list[Tool]]) -> Reloader:
    from ...loading.reload import Reloader

    places = [parse(target).place for target in targets]
    folders = [os.path.dirname(place) or "." if place.endswith(YAML) else place for place in places]
    return Reloader(loading, [path for path in {*places, *folders} if os.path.exists(path)])


def name_of(targets: list[str]) -> str:
    """Return the default name of a server: that of its target, or of its first few."""
    if len(targets) == 1:
        return _name_of(targets[0]) or "tools"
    from ...identity import joined

    return joined(map(_name_of, targets)) or "tools"


def _name_of(target: str) -> str:
    base = os.path.basename(os.path.abspath(target))
    stem, ending = os.path.splitext(base.partition(":")[0])
    return (stem if ending in (".py", *YAML) else stem + ending).strip(".")


def _refuse(sentence: str) -> NoReturn:
    """Exit at once: threads that a loaded module started may never end."""
    from ..output import remark

    remark(sentence)
    sys.stderr.flush()
    os._exit(2)
