"""`toolwire replay`: a server that answers from a recording of `wrap --record`, and copies of one
for bug reports.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ... import log
from ...errors import Failed, UsageError
from ...transport.stdio import NotConnected, claim, leave
from ..options import Option
from ..printing.layout import format_count
from ..printing.output_files import check_folders
from ..printing.terminal import print_data
from . import Command

if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ..options import Words

COMMAND = Command(
    usage=("toolwire replay FILE [--strict]", "toolwire replay FILE --shapes OUT"),
    details=(
        "Serves what `wrap --record FILE` has recorded, in either framing: a request with the"
        " method and arguments of a recorded one gets the recorded progress, elicitations and"
        " response, in the MCP revision that the host asks for. A request that was not recorded"
        " gets an error that says which were, and is"
        " reported on stderr; then the exit status is 1. A recording holds what was sent,"
        " arguments and results; only what looks like a secret is hidden. --shapes writes a copy"
        " for a bug report, with types, lengths and digests in place of all texts and numbers;"
        " digests of different copies cannot be compared."
    ),
    options=(
        Option("--strict", "refuse calls that do not come in the recorded order"),
        Option("--shapes OUT", "write a copy without texts and numbers to OUT, and serve nothing"),
    ),
    examples=(
        "toolwire wrap --record github.jsonl -- npx -y some-mcp-server",
        "toolwire list -- toolwire replay github.jsonl",
        "toolwire replay github.jsonl --shapes github-shapes.jsonl",
    ),
)


def run(words: Words) -> int:
    """Serve until the host disconnects, or write a copy."""
    if len(words.words) != 1 or words.command is not None:
        raise UsageError("name one recording: toolwire replay FILE")
    (name,) = words.words
    if "shapes" not in words.options:
        _serve(name, is_strict="strict" in words.options)
    if "strict" in words.options:
        raise UsageError("--shapes serves nothing, so --strict has no effect: leave it out")
    return _write_shapes(name, words.options)


def _write_shapes(name: str, options: dict[str, Any]) -> int:
    from ...wrapping.recording import BadRecording, read
    from ...wrapping.shapes import copy_shapes

    check_folders(options, "shapes")
    out = Path(options["shapes"])
    if out.exists() and out.samefile(name):
        raise UsageError(
            f"{out} is the recording, which the copy would overwrite: name another file"
        )
    try:
        copy = copy_shapes(entry for _, entry in read(name))
    except (OSError, BadRecording) as error:
        raise UsageError(
            f"{name} cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from None
    try:
        out.write_bytes(copy)
    except OSError as error:
        raise Failed(
            f"{out} cannot be written: {(error.strerror or str(error)).lower()}", 2
        ) from None
    lines = format_count(copy.count(b"\n"), "line")
    print_data(f"Wrote {out}: {lines} without texts and numbers.")
    return 0


def _serve(name: str, *, is_strict: bool) -> NoReturn:
    from toolwire_schemas.output import make_printable
    from toolwire_schemas.wire.framing import AutoFraming

    from ...wrapping.exchanges import read_exchanges
    from ...wrapping.recording import BadRecording, read
    from ...wrapping.replaying import Replay

    refused: list[str] = []

    def report(problem: str) -> None:
        refused.append(problem)
        log.error(make_printable(problem))

    try:
        replay = Replay(read_exchanges(read(name)), strictly=is_strict, report=report)
        streams = claim()
    except (OSError, BadRecording) as error:
        raise UsageError(
            f"{name} cannot be replayed: {getattr(error, 'strerror', None) or error}"
        ) from None
    except NotConnected as error:
        raise UsageError(str(error)) from None
    framing = AutoFraming()
    with suppress(BrokenPipeError), os.fdopen(streams.write, "wb") as sink:
        data = b"-"
        while data:
            data = os.read(streams.read, 64 * 1024)
            for frame in framing.feed(data) if data else framing.close():
                for message in replay.receive(frame):
                    sink.write(framing.wrap(message))
            sink.flush()
    leave(1 if refused else 0)
