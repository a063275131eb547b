"""Record a conversation with a server in order, and show it. Bytes in, events out: no I/O.

Strategy. `CaseConversation` turns what both sides write into one list of events. Everything that
judges a server reads only this list, so a recorded conversation can be judged again, and a test
needs no server. The server is not trusted: its output is limited in bytes, messages and noise, and
output that is no message is an event too.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_client.errors import ECHO, OPENINGS, signal_name
from toolwire_schemas.wire.codec import DecodingError, EncodingError, decode, encode
from toolwire_schemas.wire.content_length import Headers, wrap_with_header
from toolwire_schemas.wire.framing import Lines, wrap_line
from toolwire_schemas.wire.messages import Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from toolwire_schemas.cases import Framing

# Beyond any of these limits the server floods its output, and the rest is ignored.
_MAX_MESSAGE_BYTES = 64 * 1024 * 1024
_MAX_OUTPUT_BYTES = 256 * 1024 * 1024
_MAX_NOISE_BYTES = 1024 * 1024
_MAX_NOISE_LINES = 10_000
_MAX_EVENTS = 200_000

_MAX_END_BYTES = 8 * 1024  # of each end of long data; all of it could fill the memory
_MAX_LINES = 40
_MAX_STDERR_LINES = 5
_MAX_CHARS = 2000

_BOM = b"\xef\xbb\xbf"
# Any of these makes an object a message: a message that lacks `jsonrpc` is judged by a case.
_MESSAGE_KEYS = ("jsonrpc", "method", "result", "error")


class Sent(msgspec.Struct, frozen=True):
    """Bytes sent to the server and their number; only both ends of long ones are kept."""

    data: bytes
    size: int


class Acted(msgspec.Struct, frozen=True):
    """An action on the process, in words."""

    what: str


class Received(msgspec.Struct, frozen=True):
    """A message from the server: an object, or the array of a batch."""

    data: bytes
    value: Any


class Noise(msgspec.Struct, frozen=True):
    """Output of the server that is not a message; only both ends of long ones are kept."""

    data: bytes
    why: str


class ProcessEnded(msgspec.Struct, frozen=True):
    """The server's output ended, and its process too unless the exit status is `None`."""

    status: int | None
    stderr: str = ""

    def __str__(self) -> str:
        if not self.stderr:
            return self.how
        return f"{self.how}; the end of its stderr: {self.stderr}"

    @property
    def how(self) -> str:
        """How it ended, without its stderr."""
        if self.status is None:
            return "closed its output"
        if self.status >= 0:
            return f"ended with status {self.status}"
        return f"was ended by {signal_name(-self.status)}"


Event = Sent | Acted | Received | Noise | ProcessEnded
Message = dict[str, Any]


class CaseConversation:
    """The events of one process in one framing. `ended` is the last of them, once it ended.

    *on_message* receives each message of the server, and its size in bytes, when it is recorded.
    """

    def __init__(
        self, framing: Framing = "lines", on_message: Callable[[Any, int], None] | None = None
    ) -> None:
        self._on_message = on_message
        self.framing: Framing = framing
        self.events: list[Event] = []
        self.ended: ProcessEnded | None = None
        self._frames: Lines | Headers = Lines(_MAX_MESSAGE_BYTES)
        if framing == "headers":
            self._frames = Headers(_MAX_MESSAGE_BYTES)
        self._first_bytes = b""
        self._output_bytes = 0
        self._noise_bytes = 0
        self._noise_lines = 0
        self._is_echo = False

    @property
    def flood(self) -> str:
        """Why further output is ignored; empty if it is not."""
        if self._is_echo:
            return f"it {ECHO}"
        if self._noise_bytes > _MAX_NOISE_BYTES or self._noise_lines > _MAX_NOISE_LINES:
            lines = f"{self._noise_lines:,} lines"
            return f"{lines} on its standard output were not messages: the rest is ignored"
        if self._output_bytes > _MAX_OUTPUT_BYTES or len(self.events) > _MAX_EVENTS:
            limits = f"{_MAX_OUTPUT_BYTES // 1024**2} MiB or {_MAX_EVENTS:,} things"
            return f"it said more than {limits}: the rest is ignored"
        return ""

    def wrap(self, message: bytes) -> bytes:
        """Return *message* in the framing."""
        if self.framing == "headers":
            return wrap_with_header(message)
        return wrap_line(message)

    def record_input(self, data: bytes) -> None:
        """Record *data* sent to the server."""
        self.events.append(Sent(_cut_middle(data), len(data)))

    def record_action(self, what: str) -> None:
        """Record an action on the process."""
        self.events.append(Acted(what))

    def record_output(self, data: bytes) -> None:
        """Record *data*, any chunk of the server's output."""
        if self.flood:
            return
        self._output_bytes += len(data)
        if len(self._first_bytes) < len(_BOM):
            self._first_bytes = (self._first_bytes + data)[: len(_BOM)]
            if self._first_bytes == _BOM:
                self.events.append(Noise(_BOM, "a byte order mark"))
        self._record_frames(self._frames.feed(data))

    def record_end(self, status: int | None, stderr: str = "") -> None:
        """Record the end of the server."""
        # A signal may cut a message off; that is no noise.
        is_killed = status is not None and status < 0
        if not self.flood and not is_killed:
            self._record_frames(self._frames.close())
        self.ended = ProcessEnded(status, stderr)
        self.events.append(self.ended)

    def _record_frames(self, frames: Sequence[bytes | Fault]) -> None:
        for frame in frames:
            if self.flood:
                return
            if isinstance(frame, Fault):  # its bytes were skipped, so they fill no memory
                self._record_noise(Noise(frame.head, frame.message), 0)
                continue
            event = _parse_frame(frame)
            if isinstance(event, Noise):
                self._record_noise(event, len(frame))
            else:
                self._record_message(event)

    def _record_noise(self, noise: Noise, size: int) -> None:
        self.events.append(noise)
        self._noise_lines += 1
        self._noise_bytes += size

    def _record_message(self, message: Received) -> None:
        self.events.append(message)
        self._is_echo = self._is_echo or _is_client_request(message.value)
        if self._on_message is not None:
            self._on_message(message.value, len(message.data))


def _is_client_request(message: Any) -> bool:
    """Whether *message* is a request that only clients send."""
    return isinstance(message, dict) and message.get("method") in OPENINGS and "id" in message


def _parse_frame(frame: bytes) -> Received | Noise:
    try:
        value = decode(frame)
    except DecodingError as error:
        return Noise(_cut_middle(frame), f"no JSON: {error}")
    members = [value]
    is_batch = isinstance(value, list) and value != []
    if is_batch:
        members = value
    if all(map(_is_message, members)):
        return Received(frame, value)
    return Noise(_cut_middle(frame), "JSON, but no JSON-RPC message")


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and any(key in value for key in _MESSAGE_KEYS)


def _cut_middle(data: bytes) -> bytes:
    if len(data) <= 2 * _MAX_END_BYTES:
        return data
    return data[:_MAX_END_BYTES] + b" ... " + data[-_MAX_END_BYTES:]


def to_text(value: Any) -> str:
    """Return *value* as JSON, or as its `repr` if it cannot be encoded."""
    try:
        return encode(value).decode()
    except EncodingError:
        return repr(value)


def iter_messages(events: Sequence[Event]) -> Iterator[Message]:
    """Yield every message of the server, including those inside batches."""
    for event in events:
        if not isinstance(event, Received):
            continue
        if isinstance(event.value, list):
            yield from event.value
        else:
            yield event.value


def is_answer(message: Message) -> bool:
    """Whether *message* is a response."""
    return "method" not in message


def find_called_tool(message: Any) -> str | None:
    """Return the name of the tool that *message* calls; `None` if it is no call."""
    match message:
        case {"method": "tools/call", "params": {"name": str(name)}}:
            return name
    return None


def is_same_id(left: Any, right: Any) -> bool:
    """Whether two ids are equal and of one JSON type, since `1` is neither `"1"` nor `1.0`."""
    return type(left) is type(right) and bool(left == right)


def find_answers(events: Sequence[Event], to: Any) -> list[Message]:
    """Return the responses to the request with this id. An error without an id counts as one with
    `null`.
    """
    found = []
    for message in iter_messages(events):
        if is_answer(message) and is_same_id(message.get("id"), to):
            found.append(message)
    return found


def format_exchange(events: Sequence[Event], *, is_whole: bool = False) -> list[str]:
    """Return *events* as lines: `-> ` before what was sent, `<- ` before what came, `-- ` before
    what happened.

    The middle of a long exchange is left out, unless it has to be *is_whole*.
    """
    lines: list[str] = []
    for event in events:
        lines += _format_event(event)
    if is_whole or len(lines) <= _MAX_LINES:
        return lines
    half = _MAX_LINES // 2
    omission = f"-- {len(lines) - 2 * half} lines are left out here"
    return [*lines[:half], omission, *lines[-half:]]


def _format_event(event: Event) -> Iterator[str]:
    match event:
        case Sent(data=data, size=size):
            yield f"-> {_escape(data, size)}"
        case Received(data=data):
            yield f"<- {_escape(data, len(data))}"
        case Noise(data=data, why=why):
            yield f"<- {_escape(data, len(data))}   (noise on stdout: {why})"
        case Acted(what=what):
            yield f"-- {what}"
        case ProcessEnded(how=how, stderr=stderr):
            yield f"-- it {how}"
            for line in stderr.splitlines()[-_MAX_STDERR_LINES:]:
                yield f"-- stderr: {line[:_MAX_CHARS]}"


def _escape(data: bytes, size: int) -> str:
    """Return *data*, of *size* bytes, as text for `printf '%b'` or a JSON file: characters that
    cannot be printed are escapes of JSON.
    """
    # A character has at most four bytes: the rest of a long message does not have to be decoded.
    start = data.rstrip(b"\n")[: 4 * _MAX_CHARS + 4]
    text = ""
    for char in start.decode(errors="backslashreplace"):
        if not char.isprintable():
            char = json.dumps(char)[1:-1]
        text += char
    if len(text) <= _MAX_CHARS:
        return text
    return f"{text[:_MAX_CHARS]}… ({size:,} bytes)"
