"""A process in the place of a remote server: its standard streams carry what goes over HTTP.

Strategy. Mounts, wraps and checks are made for processes, which can be watched, restarted and
killed. `python -m toolwire_client.bridge URL` is one for a server that has none on this machine.
`--keep-all-tools` before the address is for the contract kit, which judges what the server lists.
"""

from __future__ import annotations

import os
import signal
import sys
from threading import Event
from typing import TYPE_CHECKING, cast

from toolwire_schemas.output import Output, make_printable
from toolwire_schemas.threads import start_thread
from toolwire_schemas.wire import messages
from toolwire_schemas.wire.framing import Lines
from toolwire_schemas.wire.messages import DEFAULT_MAX_MESSAGE_BYTES

from .errors import ClientError
from .remote import KEEP_ALL_TOOLS, read_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

    from .errors import ServerGone
    from .transport.streamable_http import StreamableHttp

_CHUNK = 64 * 1024


def main(words: Sequence[str]) -> int:
    """Carry lines until standard input ends and all requests are answered; return the exit
    status.
    """
    signal.signal(signal.SIGTERM, _exit)
    keeps_all_tools = words[0] == KEEP_ALL_TOOLS
    if keeps_all_tools:
        words = words[1:]
    try:
        server = read_words(words, os.environ)
        opened = server.open(
            DEFAULT_MAX_MESSAGE_BYTES, may_ask=False, keeps_all_tools=keeps_all_tools
        )
    except ClientError as error:
        return _report(error)
    # Imported by `open`, which says which extra is missing where it cannot be.
    transport = cast("StreamableHttp", opened)
    over, problems = Event(), list[ClientError]()

    def end(gone: ServerGone) -> None:
        problems.append(gone)
        over.set()

    def carry_input() -> None:
        for line in _read_lines():
            transport.send(line)
        transport.drain()
        over.set()

    transport.start(_write, end)
    start_thread(carry_input, "toolwire-bridge-input")
    try:
        over.wait()
    finally:
        transport.close()
    return _report(problems[0]) if problems else 0


def _read_lines() -> Iterator[bytes]:
    """Yield the lines of standard input; one that is too long is answered here."""
    lines = Lines(DEFAULT_MAX_MESSAGE_BYTES)
    is_over = False
    while not is_over:
        data = os.read(0, _CHUNK)
        is_over = not data
        for frame in lines.feed(data or b"\n"):
            if isinstance(frame, bytes):
                yield frame
            else:
                _write(messages.encode_error(None, messages.INVALID_REQUEST, frame.message) + b"\n")


def _write(data: bytes) -> None:
    """Write *data* whole; a host that does not read holds back the server, too."""
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[os.write(1, rest) :]
    except BrokenPipeError:
        os._exit(0)


def _report(error: ClientError) -> int:
    Output(sys.stderr).write_line(make_printable(str(error)))
    return 1


def _exit(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
