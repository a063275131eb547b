"""Records the traffic with a server: one entry a line, both directions, what looks like a secret
hidden.

Strategy. A `Recorder` is a transport around another one, so the traffic with any server can be
recorded. An entry is written before its message goes on, so that a crash loses nothing; a failure
to record never stops the traffic. A replay needs arguments and results, so a recording holds what
was sent; `shapes.py` makes a copy that does not.
"""

from __future__ import annotations

import math
import os
import shlex
import threading
from abc import ABC, abstractmethod
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from toolwire_client.waiting.base import Waiting
from toolwire_schemas.wire.codec import DecodingError, decode
from toolwire_schemas.wire.framing import Lines

from .. import log

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from toolwire_client.errors import ServerGone
    from toolwire_client.transport.base import OnData, OnEnd, Transport
    from toolwire_schemas.wire.messages import Frame

MAX_BYTES = 64 * 1024 * 1024
"""The default size at which a recording ends: about a day of a busy host."""

_NOISE_CHARACTERS = 2000
_SEARCHED_NOISE_BYTES = 64 * 1024
"""A secret that the end of the kept noise would cut in two is found in what follows."""

_FROM_OUTSIDE = {"message", "text", "reason", "stderr"}
"""The members of entries that have words of a client or a server."""

_NOTE = (
    "This holds what was sent. For a bug report, make a copy without texts and numbers: {command}"
)

_FIRST_LINE_BYTES = 4 * 1024 * 1024  # longer than any command


class RecordedLine(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A line of a recording (the schema `recording-entry`): *type* decides which members it has."""

    type: Literal["Started", "Message", "Noise", "Cut", "Ended"]
    at: Annotated[datetime, msgspec.Meta(tz=True)] = msgspec.field(
        default_factory=lambda: datetime.now(UTC)
    )
    version: Literal[0, 1] = 0
    command: list[str] | None = None
    environment: list[str] | None = None
    note: str = ""
    sender: Literal["client", "server", ""] = ""
    message: dict[str, Any] | list[Any] | None = None
    text: str | None = None
    max_bytes: int = 0
    reason: str = ""
    stderr: str | None = None


class BadRecording(ValueError):
    """A file is not a recording. The message says where and why."""


def read(path: str) -> list[tuple[int, RecordedLine]]:
    """Return the entries of the file *path* with the numbers of their lines, without a last line
    that was cut off.

    Raises:
        BadRecording: if another line is not an entry.
        OSError: if it cannot be read.
    """
    lines = Path(path).read_bytes().split(b"\n")
    entries = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entries.append((number, _make_entry(line, number)))
        except BadRecording:
            if number < len(lines) or not entries:
                raise
    if not entries:
        raise BadRecording("it has no entries")
    return entries


def _make_entry(line: bytes, number: int) -> RecordedLine:
    try:
        return msgspec.convert(decode(line), RecordedLine)
    except (DecodingError, msgspec.ValidationError) as error:
        raise BadRecording(f"line {number} is not an entry of a recording: {error}") from None


class Entries(ABC):
    """Makes an entry of each message, without what looks like a secret. A subclass keeps them.

    All values in *environ*, the environment of the server (default: ours), are secrets, apart from
    paths and those that a system sets itself.
    """

    _name = "FILE"
    """That of the recording, in the command that copies it."""

    def __init__(
        self, max_message_bytes: float = math.inf, environ: Mapping[str, str] | None = None
    ) -> None:
        from toolwire_client.redaction.redactor import Redactor

        self._environ = dict(os.environ if environ is None else environ)
        self._redactor = Redactor(self._environ, hides_all=True)
        self._max_message_bytes = max_message_bytes

    def add_start(self, command: Sequence[str]) -> None:
        """Add that the server was started by *command*. Never raises."""
        from toolwire_client.redaction.command_words import hide_in_command

        words = hide_in_command([str(word) for word in command], self._redactor)
        share = f"toolwire replay {shlex.quote(self._name)} --shapes OUT"
        note = _NOTE.format(command=share)
        self._encode(
            RecordedLine(
                type="Started",
                version=1,
                command=words,
                environment=sorted(self._environ),
                note=note,
            )
        )

    def add_frame(self, sender: Literal["client", "server"], frame: Frame) -> None:
        """Add a message of *sender*, or the noise in its place. Never raises."""
        data = frame if isinstance(frame, bytes) else frame.head
        if (
            len(data) > self._max_message_bytes
        ):  # before secrets are looked for, which takes a second for some MiB
            self.add(type="Noise", text=f"[not kept: a message of {len(data):,} bytes]")
            return
        try:
            message = decode(data)
            if isinstance(message, dict | list):
                self.add(type="Message", sender=sender, message=message)
                return
        except (DecodingError, RecursionError):
            pass
        text = self._redactor.redact_text(data[:_SEARCHED_NOISE_BYTES].decode(errors="replace"))
        self._encode(RecordedLine(type="Noise", text=text[:_NOISE_CHARACTERS]))

    def add(self, **members: Any) -> None:
        """Add an entry, its texts without secrets. Never raises."""
        try:
            for name in _FROM_OUTSIDE & members.keys():
                members[name] = self._redactor.redact_value(members[name])
        except RecursionError as error:
            members = {"type": "Noise", "text": f"[not kept: {error}]"}
        self._encode(RecordedLine(**members))

    def _encode(self, entry: RecordedLine) -> None:
        try:
            self._keep(msgspec.json.encode(entry))
        except (ValueError, RecursionError) as error:
            self._keep(msgspec.json.encode(RecordedLine(type="Noise", text=f"[not kept: {error}]")))

    @abstractmethod
    def _keep(self, line: bytes) -> None:
        """Keep the entry in *line*."""


class Recording(Entries):
    """The file *path*, to which entries are added until it has *max_bytes*; readable only by its
    owner.

    After a failure, nothing more is written.

    Raises:
        BadRecording: if it exists, and its first line is not an entry.
        OSError: if it cannot be written, or another process is writing it.
    """

    def __init__(self, path: str, max_bytes: int = MAX_BYTES) -> None:
        from toolwire_client.file_lock import lock

        super().__init__()
        self._path, self._max_bytes = path, max_bytes
        self._name = Path(path).name
        self._writing = threading.Lock()
        self._file = open(  # noqa: SIM115
            path, "ab", buffering=0, opener=lambda name, flags: os.open(name, flags, 0o600)
        )
        self.close = self._file.close
        try:
            lock(self._file.fileno(), Path(path))
            if self._file.tell():
                with open(path, "rb") as file:
                    _make_entry(file.readline(_FIRST_LINE_BYTES), 1)
        except (OSError, BadRecording):
            self.close()
            raise
        self._left = max_bytes - self._file.tell()

    def _keep(self, line: bytes) -> None:
        with self._writing:
            if self._left <= 0:
                return
            try:
                if len(line) >= self._left:
                    line = msgspec.json.encode(RecordedLine(type="Cut", max_bytes=self._max_bytes))
                    log.warning(
                        f"{self._path} has reached {self._max_bytes} bytes: nothing more is"
                        " recorded"
                    )
                    self._left = 0
                self._left -= self._file.write(line + b"\n")
            except (OSError, ValueError) as error:
                log.error(f"{self._path} cannot be written, nothing more is recorded: {error}")
                self._left = 0


class Recorder:
    """The transport that carries what *transport* carries, and records it; *on_end* receives its
    end, too.
    """

    def __init__(
        self,
        transport: Transport,
        recording: Entries | None,
        command: Sequence[str],
        on_end: OnEnd = lambda gone: None,
    ) -> None:
        self._transport, self._recording, self._on_end = transport, recording, on_end
        self.close, self.get_stderr_tail = transport.close, transport.get_stderr_tail
        self.flush = transport.flush
        if recording is not None:
            recording.add_start(command)

    @property
    def pid(self) -> int | None:
        return self._transport.pid

    @property
    def is_full(self) -> bool:
        """As of the transport."""
        return getattr(self._transport, "is_full", False)

    @property
    def waiting(self) -> Waiting:
        """As of the transport."""
        waiting: Waiting = getattr(self._transport, "waiting", Waiting())
        return waiting

    def start(self, on_data: OnData, on_end: OnEnd) -> None:
        lines = Lines()

        def record_data(data: bytes) -> None:
            self._record("server", lines.feed(data))
            on_data(data)

        def record_end(gone: ServerGone) -> None:
            self._record("server", lines.close())
            if self._recording is not None:
                self._recording.add(type="Ended", reason=gone.reason, stderr=gone.stderr)
            on_end(gone)
            self._on_end(gone)

        self._transport.start(on_data if self._recording is None else record_data, record_end)

    def send(self, data: bytes, *, more_follows: bool = False) -> None:
        if self._recording is not None:
            self._record("client", [line for line in data.split(b"\n") if line.strip()])
        self._transport.send(data, more_follows=more_follows)

    def _record(self, sender: Literal["client", "server"], frames: Iterable[Frame]) -> None:
        if self._recording is not None:
            for frame in frames:
                self._recording.add_frame(sender, frame)
