"""`toolwire wrap`: serves any MCP server so that strict hosts accept it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ...log import LEVELS, configure
from ...settings import LIMITS, Settings
from ...transport.stdio import NotConnected, claim, serve
from ...wrapping import DIALECTS_OF, FIXES
from ..mounting import open_lock
from ..open_client import check_remote
from ..options import (
    LIST_CACHE,
    LOCK,
    LOCK_TEXTS,
    OF_SETTINGS,
    SHARE_ENV,
    Option,
    accept_one_of,
    collect_settings,
)
from . import Command

if TYPE_CHECKING:
    from typing import NoReturn

    from ...showing.tool_search import ToolSearch
    from ...wrapping.recording import Recording
    from ...wrapping.server_side import WrapSettings
    from ..options import Words

OF_PROGRAMS = tuple(name for name in LIMITS if "program" in name)
"""The limits of programs, for `--show code`."""


def _read_sharing(text: str) -> str:
    """Accept when to share; without a value, servers that may be shared."""
    mode: str = accept_one_of("auto", "always")(text or "auto")
    return mode


SHARE = Option(
    "--share MODE",
    "use one server for all sessions that start the same one: auto (default) for those that do not"
    " keep the state of a session, or always",
    _read_sharing,
    endings=("auto", "always"),
)

COMMAND = Command(
    usage=("toolwire wrap [OPTIONS] -- COMMAND",),
    details=(
        "Serves the MCP server that COMMAND starts, or that at a URL in its place."
        " Lines on its output that are no messages go to"
        " stderr (noise); tools that the host would refuse are renamed (names), and their schemas"
        " rewritten (schemas); JSON in strings is read (arguments); silent calls report progress"
        " (heartbeat); large results become links (results); all of its processes end with it"
        " (orphans); after a crash it is restarted (restart); the host may speak any revision of"
        " MCP (eras) and Content-Length framing (framing). A line on stderr counts at the end what"
        " was done. All other messages pass unchanged. A recording holds what was sent: arguments"
        " and results stay in it, and only what looks like a secret is hidden. For a bug report,"
        " make a copy without texts and numbers: `toolwire replay FILE --shapes OUT`."
    ),
    options=(
        Option(
            "--for HOST",
            "the host or the vendor of its model, as in vscode or gemini (default: any)",
            accept_one_of(*DIALECTS_OF),
        ),
        Option(
            "--without NAME",
            "leave out what has this name above; repeatable",
            accept_one_of(*FIXES),
            many=True,
        ),
        LOCK,
        LOCK_TEXTS,
        Option(
            "--record FILE",
            "add the traffic to FILE, for `toolwire replay`: it holds what was sent",
        ),
        Option("--max-record-bytes SIZE", "maximum size of that file (default: 64MiB)"),
        Option(
            "--on-large-result error|truncate|resource",
            "send an error, a part of it or a link (default) instead",
        ),
        *(OF_SETTINGS[name] for name in ("show", "show_tokens", "pin", "sandbox", "trust_hints")),
        LIST_CACHE,
        *(OF_SETTINGS[name] for name in ("task_after_seconds", "task_store")),
        SHARE,
        SHARE_ENV,
        Option(
            "--idle SECONDS",
            "with --share: end what no session has used for so long (default: 60)",
            is_rare=True,
        ),
        Option("--limit NAME=VALUE", "set one of the limits below; repeatable", many=True),
        Option(
            "--log-level LEVEL",
            "log level on stderr: debug, info, warning, error or off",
            accept_one_of(*LEVELS),
        ),
        Option("--log-json", "write the log as JSON, one object per line"),
    ),
    examples=(
        "toolwire wrap -- npx -y some-mcp-server",
        "toolwire wrap --for gemini --without restart -- uvx some-mcp-server",
        "toolwire wrap --show auto --pin 'read_*' -- npx -y some-mcp-server",
        "toolwire wrap --share -- npx -y some-mcp-server",
        "toolwire wrap --task-after 5 --task-store tasks.db -- npx -y some-mcp-server",
        "toolwire wrap --lock server.lock.json --record server.jsonl -- npx -y some-mcp-server",
    ),
    limits=(
        "heartbeat_seconds",
        "max_message_bytes",
        "max_result_bytes",
        "max_result_tokens",
        "max_tasks",
        "max_task_bytes",
        "task_ttl_seconds",
        *OF_PROGRAMS,
    ),
)


def run(words: Words) -> NoReturn:
    """Serve until the host disconnects."""
    from ...wrapping.wrap import begin_wrap

    wrapped, settings = read_settings(words)
    try:
        streams = claim()
    except NotConnected as error:
        raise UsageError(str(error)) from None
    begin = partial(begin_wrap, wrapped=wrapped, settings=settings)
    serve(begin, settings, streams)


def read_settings(words: Words) -> tuple[WrapSettings, Settings]:
    """Return what to wrap, as *words* say, and the settings of its sessions; set up the log.

    Raises:
        UsageError: if something in *words* is wrong.
    """
    from ...wrapping.server_side import WrapSettings

    if words.words or not words.command:
        raise UsageError(
            "name the server's command after `--`, as in toolwire wrap -- npx -y some-mcp-server"
        )
    check_remote(words.command)
    options = words.options
    _check_sharing(options)
    configure(level=options.get("log_level", "info"), as_json="log_json" in options)
    settings = _read_settings(options)
    _check_search(settings, options)
    wrapped = WrapSettings(
        command=words.command,
        host=options.get("for", "any"),
        without=options.get("without", ()),
        lock=open_lock(options),
        recording=_make_recording(options),
        search=make_search(settings),
        list_cache=options.get("list_cache", "late"),
        options=options,
        max_message_bytes=settings.max_message_bytes,
        offers_tasks="task_after" in options,
    )
    return wrapped, settings


def _check_sharing(options: dict[str, Any]) -> None:
    """Refuse what sessions with one server cannot have."""
    if "share" not in options:
        if "share_env" in options:
            raise UsageError("--share-env goes with --share")
        return
    if "record" in options:
        raise UsageError(
            "--record is for the traffic of one session: leave out --share or --record"
        )
    if "restart" in options.get("without", ()):
        raise UsageError(
            "--share starts a lost server for the next request, and --without restart does not:"
            " leave one out"
        )


def _check_search(settings: Settings, options: dict[str, Any]) -> None:
    """Refuse a search that cannot work.

    Raises:
        UsageError: if lists stay unread, or nothing here can confine programs.
    """
    if settings.show == "all":
        return
    if "schemas" in options.get("without", ()):
        raise UsageError(
            "--show reads the list of tools, and --without schemas leaves it unread: leave one out"
        )
    if settings.show == "code":
        from ...showing.tool_programs import choose_sandbox

        try:
            choose_sandbox(settings)
        except ValueError as error:
            raise UsageError(str(error)) from None


def make_search(settings: Settings) -> ToolSearch | None:
    """Return what chooses the tools that a list shows; `None` for all."""
    if settings.show == "all":
        return None
    from ...showing.tool_search import ToolSearch

    return ToolSearch(settings)


def _make_recording(options: dict[str, Any]) -> Recording | None:
    from ...wrapping.recording import MAX_BYTES, BadRecording, Recording

    name = options.get("record")
    if name is None:
        return None
    try:
        return Recording(name, options.get("max_record_bytes", MAX_BYTES))
    except OSError as error:
        raise UsageError(
            f"{name} cannot be written: {(error.strerror or str(error)).lower()}"
        ) from None
    except BadRecording as problem:
        raise UsageError(f"{name} is no recording, and is left as it is: {problem}") from None


def _read_settings(options: dict[str, Any]) -> Settings:
    from ...wrapping.host_results import find_max_tokens

    settings = collect_settings(options)
    for name in settings:
        if name in LIMITS and name not in COMMAND.limits:
            from toolwire_schemas.did_you_mean import explain_unknown_name

            raise UsageError(f"--limit: {explain_unknown_name('limit', name, COMMAND.limits)}")
    without = options.get("without", ())
    settings["strict_arguments"] = "arguments" in without
    settings.setdefault("on_large_result", "resource")
    if "heartbeat" in without:
        settings["heartbeat_seconds"] = 0.0
    if "results" in without:
        settings["max_result_bytes"] = _UNLIMITED_BYTES
    else:
        settings.setdefault("max_result_tokens", find_max_tokens(options.get("for", "any")))
    return Settings(**settings)


_UNLIMITED_BYTES = 1 << 62
