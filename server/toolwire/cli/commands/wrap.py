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
from ..options import LIST_CACHE, LOCK, LOCK_TEXTS, OF_SETTINGS, Option, one_of, settings_in
from . import Command

if TYPE_CHECKING:
    from typing import NoReturn

    from ...showing.tool_search import ToolSearch
    from ...wrapping.recording import Recording
    from ..options import Words

OF_PROGRAMS = tuple(name for name in LIMITS if "program" in name)
"""The limits of programs, for `--show code`."""

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
            one_of(*DIALECTS_OF),
        ),
        Option(
            "--without NAME",
            "leave out what has this name above; repeatable",
            one_of(*FIXES),
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
        Option("--limit NAME=VALUE", "set one of the limits below; repeatable", many=True),
        Option(
            "--log-level LEVEL",
            "log level on stderr: debug, info, warning, error or off",
            one_of(*LEVELS),
        ),
        Option("--log-json", "write the log as JSON, one object per line"),
    ),
    examples=(
        "toolwire wrap -- npx -y some-mcp-server",
        "toolwire wrap --for gemini --without restart -- uvx some-mcp-server",
        "toolwire wrap --show auto --pin 'read_*' -- npx -y some-mcp-server",
        "toolwire wrap --lock server.lock.json --record server.jsonl -- npx -y some-mcp-server",
    ),
    limits=("heartbeat_seconds", "max_result_bytes", "max_result_tokens", *OF_PROGRAMS),
)


def run(words: Words) -> NoReturn:
    """Serve until the host disconnects."""
    from ...wrapping.server_side import WrapSettings
    from ...wrapping.wrap import begin_wrap

    if words.words or not words.command:
        raise UsageError(
            "name the server's command after `--`, as in toolwire wrap -- npx -y some-mcp-server"
        )
    check_remote(words.command)
    options = words.options
    configure(level=options.get("log_level", "info"), as_json="log_json" in options)
    settings = _settings(options)
    recording = _recording(options)
    lock = open_lock(options)
    try:
        streams = claim()
    except NotConnected as error:
        raise UsageError(str(error)) from None
    wrapped = WrapSettings(
        command=words.command,
        host=options.get("for", "any"),
        without=options.get("without", ()),
        lock=lock,
        recording=recording,
        search=_search(settings, options),
        list_cache=options.get("list_cache", "late"),
        options=options,
    )
    begin = partial(begin_wrap, wrapped=wrapped, settings=settings)
    serve(begin, settings, streams)


def _search(settings: Settings, options: dict[str, Any]) -> ToolSearch | None:
    if settings.show == "all":
        return None
    if "schemas" in options.get("without", ()):
        raise UsageError(
            "--show reads the list of tools, and --without schemas leaves it unread: leave one out"
        )
    from ...showing.tool_search import ToolSearch

    if settings.show == "code":
        from ...showing.tool_programs import choose_sandbox

        try:
            choose_sandbox(settings)
        except ValueError as error:
            raise UsageError(str(error)) from None
    return ToolSearch(settings)


def _recording(options: dict[str, Any]) -> Recording | None:
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


def _settings(options: dict[str, Any]) -> Settings:
    from ...wrapping.host_results import max_tokens_for

    settings = settings_in(options)
    for name in settings:
        if name in LIMITS and name not in COMMAND.limits:
            from toolwire_schemas.did_you_mean import unknown_name

            raise UsageError(f"--limit: {unknown_name('limit', name, COMMAND.limits)}")
    without = options.get("without", ())
    settings["strict_arguments"] = "arguments" in without
    settings.setdefault("on_large_result", "resource")
    if "heartbeat" in without:
        settings["heartbeat_seconds"] = 0.0
    if "results" in without:
        settings["max_result_bytes"] = _UNLIMITED_BYTES
    else:
        settings.setdefault("max_result_tokens", max_tokens_for(options.get("for", "any")))
    return Settings(**settings)


_UNLIMITED_BYTES = 1 << 62
