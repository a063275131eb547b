"""`toolwire wrap`: serves any MCP server so that strict hosts accept it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ...log import LEVELS, configure
from ...transport.stdio import NotConnected, claim
from ...wrapping import DIALECTS_OF, FIXES
from ..options import Option, one_of
from . import Command

if TYPE_CHECKING:
    from typing import NoReturn

    from ...wrapping.wrapping_server import WrappingServer
    from ..options import Words

COMMAND = Command(
    usage=("toolwire wrap [OPTIONS] -- COMMAND",),
    details="Serves the MCP server that COMMAND starts. Lines on its output that are no messages go to stderr (noise); "
    "tools that the host would refuse are renamed (names), and their schemas rewritten (schemas); JSON in strings is "
    "read (arguments); silent calls report progress (heartbeat); large results become links (results); all of its "
    "processes end with it (orphans); after a crash it is restarted (restart); the host may speak any revision of MCP "
    "(eras) and Content-Length framing (framing). A line on stderr counts at the end what was done. All other messages "
    "pass unchanged.",
    options=(
        Option(
            "--for HOST",
            "the host or the vendor of its model, as in vscode or gemini (default: any)",
            one_of(*DIALECTS_OF),
        ),
        Option("--without NAME", "leave out what has this name above; repeatable", one_of(*FIXES), many=True),
        Option("--lock FILE", "refuse tools that have changed since `toolwire lock FILE`"),
        Option("--record FILE", "add the traffic to FILE, without secrets, for `toolwire replay`"),
        Option("--max-record-bytes SIZE", "maximum size of that file (default: 64MiB)"),
        Option("--heartbeat SECONDS", "time after which a silent call reports progress (default: 10)"),
        Option("--max-result-bytes SIZE", "maximum size of a result (default: just below 10MiB)"),
        Option("--on-large-result error|truncate|resource", "send an error, a part of it or a link (default) instead"),
        Option("--log-level LEVEL", "log level on stderr: debug, info, warning, error or off", one_of(*LEVELS)),
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
    if words.words or not words.command:
        raise UsageError("name the server's command after `--`, as in toolwire wrap -- npx -y some-mcp-server")
    given = dict(words.options)
    configure(level=given.pop("log_level", "info"), as_json=given.pop("log_json", False))
    server = _server(words.command, given)
    try:
        streams = claim()
    except NotConnected as error:
        raise UsageError(str(error)) from None
    server.serve(streams)


def _server(command: list[str], given: dict[str, Any]) -> WrappingServer:
    from ...upstream.locking import LockedTools
    from ...wrapping.recording import MAX_BYTES, Recording
    from ...wrapping.wrapping_server import WrappingServer

    without, record = given.pop("without", ()), given.pop("record", None)
    heartbeat, most = given.pop("heartbeat", 10.0), given.pop("max_record_bytes", MAX_BYTES)
    try:
        recording = None if record is None else Recording(record, most)
    except OSError as error:
        raise UsageError(f"{record} cannot be written: {(error.strerror or str(error)).lower()}") from None
    given["lock"] = LockedTools(given["lock"]) if "lock" in given else None
    given["host"] = given.pop("for", "any")
    given["heartbeat_seconds"] = 0.0 if "heartbeat" in without else heartbeat
    given["strict_arguments"] = "arguments" in without
    given.setdefault("on_large_result", "resource")
    if "results" in without:
        given["max_result_bytes"] = 1 << 62
    return WrappingServer(command, without=without, recording=recording, **given)
