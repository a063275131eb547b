"""`toolwire replay`: a server that answers from a recording of `wrap --record`."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from ... import log
from ...errors import UsageError
from ...transport.stdio import NotConnected, claim, leave
from ..options import Option
from . import Command

if TYPE_CHECKING:
    from typing import NoReturn

    from ..options import Words

COMMAND = Command(
    usage=("toolwire replay FILE [--strict]",),
    details="Serves what `wrap --record FILE` has recorded, in either framing: a request with the method and arguments "
    "of a recorded one gets the recorded progress, elicitations and response. What was not recorded gets an error that "
    "says what was, and is reported on stderr; then the exit status is 1.",
    options=(Option("--strict", "refuse requests that do not come in the recorded order"),),
    examples=(
        "toolwire wrap --record github.jsonl -- npx -y some-mcp-server",
        "toolwire list -- toolwire replay github.jsonl",
    ),
)


def run(words: Words) -> NoReturn:
    """Serve until the host disconnects."""
    from toolwire_schemas.output import printable
    from toolwire_schemas.wire.framing import AutoFraming

    from ...wrapping.recording import BadRecording, read
    from ...wrapping.replaying import Replay, exchanges

    if len(words.words) != 1 or words.command is not None:
        raise UsageError("name one recording: toolwire replay FILE")
    (name,) = words.words
    refused: list[str] = []

    def report(problem: str) -> None:
        refused.append(problem)
        log.error(printable(problem))

    try:
        replay = Replay(exchanges(read(name)), strictly="strict" in words.options, report=report)
        streams = claim()
    except (OSError, BadRecording) as error:
        raise UsageError(f"{name} cannot be replayed: {getattr(error, 'strerror', None) or error}") from None
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
