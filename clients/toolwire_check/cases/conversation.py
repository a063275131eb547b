"""Record a conversation with a server in order, and show it. Bytes in, events out: no I/O."""

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

_MAX_MESSAGE_BYTES = 64 * 1024 * 1024
_MAX_HEARD_BYTES = 256 * 1024 * 1024
_MAX_NOISE_BYTES = 1024 * 1024
_MAX_NOISES = 10_000
_MAX_EVENTS = (
    200_000  # beyond any of these limits the server floods its output, and the rest is ignored
)

_KEPT_BYTES = 8 * 1024
_MAX_LINES = 40
_MAX_LETTERS = 2000

_BOM = b"\xef\xbb\xbf"
_MARKS = ("jsonrpc", "method", "result", "error")


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
        return f"{self.how}; the end of its stderr: {self.stderr}" if self.stderr else self.how

    @property
    def how(self) -> str:
        """How it ended, without its stderr."""
        if self.status is None:
            return "closed its output"
        if self.status >= 0:
            return f"ended with status {self.status}"
        return f"was ended by {signal_name(-self.status)}"


Event = Sent | Acted | Received | Noise | ProcessEnded


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
        self._frames = (
            Lines(_MAX_MESSAGE_BYTES) if framing == "lines" else Headers(_MAX_MESSAGE_BYTES)
        )
        self._start = b""
        self._heard_bytes = self._noise_bytes = self._noises = 0
        self._is_echo = False

    @property
    def flood(self) -> str:
        """Why further output is ignored; empty if it is not."""
        if self._is_echo:
            return f"it {ECHO}"
        if self._noise_bytes > _MAX_NOISE_BYTES or self._noises > _MAX_NOISES:
            return (
                f"{self._noises:,} lines on its standard output were not messages: the rest is"
                " ignored"
            )
        if self._heard_bytes > _MAX_HEARD_BYTES or len(self.events) > _MAX_EVENTS:
            return (
                f"it said more than {_MAX_HEARD_BYTES // 1024**2} MiB or {_MAX_EVENTS:,} things:"
                " the rest is ignored"
            )
        return ""

    def wrap(self, message: bytes) -> bytes:
        """Return *message* in the framing."""
        return wrap_line(message) if self.framing == "lines" else wrap_with_header(message)

    def record_input(self, data: bytes) -> None:
        """Record *data* sent to the server."""
        self.events.append(Sent(_kept(data), len(data)))

    def record_action(self, what: str) -> None:
        """Record an action on the process."""
        self.events.append(Acted(what))

    def record_output(self, data: bytes) -> None:
        """Record *data*, any chunk of the server's output."""
        if self.flood:
            return
        self._heard_bytes += len(data)
        if len(self._start) < len(_BOM):
            self._start = (self._start + data)[: len(_BOM)]
            if self._start == _BOM:
                self.events.append(Noise(_BOM, "a byte order mark"))
        self._take(self._frames.feed(data))

    def record_end(self, status: int | None, stderr: str = "") -> None:
        """Record the end of the server."""
        # A signal may cut a message off; that is no noise.
        if not self.flood and (status is None or status >= 0):
            self._take(self._frames.close())
        self.ended = ProcessEnded(status, stderr)
        self.events.append(self.ended)

    def _take(self, frames: Sequence[bytes | Fault]) -> None:
        for frame in frames:
            if self.flood:
                return
            event = Noise(frame.head, frame.message) if isinstance(frame, Fault) else _read(frame)
            self.events.append(event)
            if isinstance(event, Received):
                self._is_echo = self._is_echo or _opens(event.value)
            if isinstance(event, Received) and self._on_message is not None:
                self._on_message(event.value, len(event.data))
            if isinstance(event, Noise):
                self._noises += 1
                self._noise_bytes += 0 if isinstance(frame, Fault) else len(frame)


def _opens(message: Any) -> bool:
    """Whether *message* is a request that only clients send."""
    return isinstance(message, dict) and message.get("method") in OPENINGS and "id" in message


def _read(frame: bytes) -> Received | Noise:
    try:
        value = decode(frame)
    except DecodingError as error:
        return Noise(_kept(frame), f"no JSON: {error}")
    members = value if isinstance(value, list) and value else [value]
    if all(
        isinstance(member, dict) and any(mark in member for mark in _MARKS) for member in members
    ):
        return Received(frame, value)
    return Noise(_kept(frame), "JSON, but no JSON-RPC message")


def _kept(data: bytes) -> bytes:
    return (
        data
        if len(data) <= 2 * _KEPT_BYTES
        else data[:_KEPT_BYTES] + b" ... " + data[-_KEPT_BYTES:]
    )


def to_text(value: Any) -> str:
    """Return *value* as JSON, or as its `repr` if it cannot be encoded."""
    try:
        return encode(value).decode()
    except EncodingError:
        return repr(value)


def iter_messages(events: Sequence[Event]) -> Iterator[dict[str, Any]]:
    """Yield every message of the server, including those inside batches."""
    for event in events:
        if isinstance(event, Received):
            yield from event.value if isinstance(event.value, list) else (event.value,)


def is_answer(message: dict[str, Any]) -> bool:
    """Whether *message* is a response."""
    return "method" not in message


def is_same_id(left: Any, right: Any) -> bool:
    """Whether two ids are equal and of one JSON type, since `1` is neither `"1"` nor `1.0`."""
    return type(left) is type(right) and bool(left == right)


def find_answers(events: Sequence[Event], to: Any) -> list[dict[str, Any]]:
    """Return the responses to the request with this id. An error without an id counts as one with
    `null`.
    """
    return [
        message
        for message in iter_messages(events)
        if is_answer(message) and is_same_id(message.get("id"), to)
    ]


def format_exchange(events: Sequence[Event], *, is_whole: bool = False) -> list[str]:
    """Return *events* as lines: `-> ` before what was sent, `<- ` before what came, `-- ` before
    what happened.

    The middle of a long exchange is left out, unless it has to be *is_whole*.
    """
    found = [line for event in events for line in _event_lines(event)]
    if is_whole or len(found) <= _MAX_LINES:
        return found
    half = _MAX_LINES // 2
    return [*found[:half], f"-- {len(found) - 2 * half} lines are left out here", *found[-half:]]


def _event_lines(event: Event) -> Iterator[str]:
    match event:
        case Sent(data=data, size=size):
            yield f"-> {_text(data, size)}"
        case Received(data=data):
            yield f"<- {_text(data, len(data))}"
        case Noise(data=data, why=why):
            yield f"<- {_text(data, len(data))}   (noise on stdout: {why})"
        case Acted(what=what):
            yield f"-- {what}"
        case ProcessEnded(how=how, stderr=stderr):
            yield f"-- it {how}"
            for line in stderr.splitlines()[-5:]:
                yield f"-- stderr: {line[:_MAX_LETTERS]}"


def _text(data: bytes, size: int) -> str:
    """*data* as it can be put into `printf '%b'` or a JSON file: what cannot be printed, as escapes
    of JSON.
    """
    # A letter has at most four bytes; the rest of a message of megabytes is not shown, and not
    # looked at.
    text = data.rstrip(b"\n")[: 4 * _MAX_LETTERS + 4].decode(errors="backslashreplace")
    text = "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in text)
    return text if len(text) <= _MAX_LETTERS else f"{text[:_MAX_LETTERS]}… ({size:,} bytes)"
