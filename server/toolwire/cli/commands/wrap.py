"""`toolwire wrap`: serves any MCP server so that strict hosts accept it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ...log import LEVELS, configure
from ...settings import settings_of
from ...transport.stdio import NotConnected, claim, serve
from ...wrapping import DIALECTS_OF, FIXES
from ..mounting import open_lock
from ..options import LOCK, LOCK_TEXTS, Option, one_of
from . import Command

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from ...settings import Settings
    from ...wrapping.recording import Recording
    from ..options import Words

COMMAND = Command(
    usage=("toolwire wrap [OPTIONS] -- COMMAND",),
    details=(
        "Serves the MCP server that COMMAND starts. Lines on its output that are no messages go to"
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
            "--heartbeat SECONDS", "time after which a silent call reports progress (default: 10)"
        ),
        Option("--max-result-bytes SIZE", "maximum size of a result (default: just below 10MiB)"),
        Option(
            "--max-result-tokens NUMBER",
            "maximum size of a result for a model, estimated (default: that of the host in --for)",
        ),
        Option(
            "--on-large-result error|truncate|resource",
            "send an error, a part of it or a link (default) instead",
        ),
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
        "toolwire wrap --lock server.lock.json --record server.jsonl -- npx -y some-mcp-server",
    ),
)


def run(words: Words) -> NoReturn:
    """Serve until the host disconnects."""
    from ...wrapping.session import WrappingSession

    if words.words or not words.command:
        raise UsageError(
            "name the server's command after `--`, as in toolwire wrap -- npx -y some-mcp-server"
        )
    given = dict(words.options)
    configure(level=given.pop("log_level", "info"), as_json=given.pop("log_json", False))
    recording = _recording(given)
    lock = open_lock({key: given.pop(key) for key in ("lock", "lock_texts") if key in given})
    host, without = given.pop("for", "any"), given.pop("without", ())
    settings = _settings(given, host, without)
    try:
        streams = claim()
    except NotConnected as error:
        raise UsageError(str(error)) from None
    more = {"host": host, "without": without, "lock": lock, "recording": recording}
    serve(
        partial(WrappingSession, command=words.command, settings=settings, **more),
        settings,
        streams,
    )


def _recording(given: dict[str, Any]) -> Recording | None:
    from ...wrapping.recording import MAX_BYTES, BadRecording, Recording

    name, most = given.pop("record", None), given.pop("max_record_bytes", MAX_BYTES)
    try:
        return None if name is None else Recording(name, most)
    except OSError as error:
        raise UsageError(
            f"{name} cannot be written: {(error.strerror or str(error)).lower()}"
        ) from None
    except BadRecording as problem:
        raise UsageError(f"{name} is no recording, and is left as it is: {problem}") from None


def _settings(given: dict[str, Any], host: str, without: Sequence[str]) -> Settings:
    from ...wrapping.host_results import max_tokens_for

    heartbeat = given.pop("heartbeat", 10.0)
    given["heartbeat_seconds"] = 0.0 if "heartbeat" in without else heartbeat
    given["strict_arguments"] = "arguments" in without
    given.setdefault("on_large_result", "resource")
    if "results" in without:
        given["max_result_bytes"] = 1 << 62
    else:
        given.setdefault("max_result_tokens", max_tokens_for(host))
    return settings_of(given)
