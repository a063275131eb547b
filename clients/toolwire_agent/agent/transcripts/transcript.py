"""Transcripts: one event a line, each on disk before the run continues.

The published schema `transcript-event` describes the lines for other languages.

Strategy. A file has one writer at a time: it is locked from the first event of a run to its
`Ended`, and a session continues only where the file still ends as it left it. Reading finds the
traces of two writers, or of edits by hand: each kind of event can follow only certain others.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from toolwire_client.file_lock import lock
from toolwire_client.redaction.redactor import Redactor
from toolwire_schemas.wire import codec

from .. import events

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class BrokenTranscript(ValueError):
    """A file is not a transcript, has an unknown version, or was written by two runs at once."""


class Transcript:
    """The file *path*, to which events are added; created at the first event, readable only by its
    owner.

    A last line cut off by a crash is removed first. Secrets are hidden: keys, members named like
    `password`, and the values of variables in *environ* named like `..._KEY`. *end* is the expected
    size of the file at the next event (see `load_session`), `None` if it may have grown.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        end: int | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._file: int | None = None
        self._path = Path(path)
        self._end = end
        self._redactor = Redactor(environ)

    def add(self, event: events.Recorded) -> None:
        """Write *event* and return when it is on disk. The file stays locked until an `Ended`.

        Raises:
            BlockingIOError: if another run is writing the file.
            BrokenTranscript: if another run has written to it since, or it is not a transcript.
            OSError: if it cannot be written.
        """
        if self._file is None:
            self._file = self._open()
        line = codec.encode(msgspec.to_builtins(self._redactor.redact_event(event))) + b"\n"
        if os.write(self._file, line) < len(line):
            raise OSError(f"{self._path} could not be written: the disk is full")
        os.fsync(self._file)
        if isinstance(event, events.Ended):
            self._end = os.fstat(self._file).st_size
            self.close()

    def close(self) -> None:
        """Close the file; the next event opens it again."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __del__(self) -> None:
        self.close()

    def _open(self) -> int:
        file = os.open(
            self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600
        )
        try:
            lock(file, self._path)
            if os.fstat(file).st_size != self._end:
                _end_with_whole_line(file, self._path)
            if self._end not in (None, os.fstat(file).st_size):
                raise BrokenTranscript(
                    f"another run has written to {self._path} since this one read it"
                )
        except BaseException:
            os.close(file)
            raise
        return file


class Loaded(msgspec.Struct, frozen=True):
    """The last session in a file: its events, their line numbers, and the end of the file."""

    events: list[events.Recorded]
    lines: list[int]
    end: int


def load(path: str | os.PathLike[str]) -> list[events.Recorded]:
    """Return the events of the last session in the file *path*, without a last line that was cut
    off.

    Raises:
        OSError: if it cannot be read.
        BrokenTranscript: if it is not a transcript; the text names the wrong line.
    """
    return load_session(path).events


def load_session(path: str | os.PathLike[str], at: int | None = None) -> Loaded:
    """As `load`, with what is needed to continue in the same file; with *at* the session of that
    line.

    Raises:
        ValueError: if there is no line *at*.
    """
    *_, session = load_sessions(path, at)
    return session


def load_sessions(path: str | os.PathLike[str], at: int | None = None) -> list[Loaded]:
    """As `load_session`, with all sessions in the file, or those up to that of line *at*.

    Raises:
        ValueError: if there is no line *at*.
    """
    *lines, last = Path(path).read_bytes().split(b"\n")
    with suppress(codec.DecodingError):  # a crash may have cut it off
        codec.decode(last)
        lines.append(last)
    if at is not None and not 0 < at <= len(lines):
        raise ValueError(f"{path} has {len(lines)} lines, and no line {at}")
    session = Loaded([], [], sum(len(line) + 1 for line in lines))
    found: list[Loaded] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        event = _read_event(line, f"{path}, line {number}")
        if isinstance(event, events.Started):
            if at is not None and number > at:
                break
            session = Loaded([], [], session.end)
            found.append(session)
        before = session.events[-1] if session.events else None
        if before is None and not may_follow(before, event):
            raise BrokenTranscript(
                f"{path}, line {number}: a transcript starts with Started, not {_name_kind(event)}"
            )
        if before is not None and not may_follow(before, event):
            raise BrokenTranscript(
                f"{path}, line {number}, cannot follow the event before it, {_name_kind(before)}: "
                f"it is {_name_kind(event)}; the line is doubled or from another run"
            )
        session.events.append(event)
        session.lines.append(number)
    if not found:
        raise BrokenTranscript(f"{path} is not a transcript: no line has the type Started")
    return found


def copy_for_fork(
    transcript: str | os.PathLike[str] | Sequence[events.Recorded], at: int | None
) -> Loaded:
    """Return the events of *transcript* up to line *at* of the file, or as many of a sequence, as a
    fork shares them.

    A call that has started is shared with its end, since its effect is. A last approval is not: it
    was for one call.

    Raises:
        ValueError: if there is no line *at*.
        OSError, BrokenTranscript: as `load`.
    """
    if isinstance(transcript, str | os.PathLike):
        session = load_session(transcript, at)
    else:
        session = Loaded(list(transcript), [*range(1, len(transcript) + 1)], 0)
    end = len([line for line in session.lines if at is None or line <= at])
    if end == 0:
        raise ValueError(f"there is no event {at}")
    while end < len(session.events) and _has_open_call(session.events[:end]):
        end += 1
    while isinstance(session.events[end - 1], events.Approved):
        end -= 1
    return Loaded(session.events[:end], session.lines[:end], session.end)


def _has_open_call(record: list[events.Recorded]) -> bool:
    """Whether a call of the last reply has started and not finished."""
    finished = set()
    for event in reversed(record):
        match event:
            case events.ModelReplied() | events.Ended():
                return False
            case events.CallFinished(call=call):
                finished.add(call)
            case events.CallStarted(call=call) if call not in finished:
                return True
    return False


def _read_event(line: bytes, where: str) -> events.Recorded:
    try:
        event: events.Recorded = msgspec.convert(codec.decode(line), events.Recorded)
    except (codec.DecodingError, msgspec.ValidationError) as error:
        raise BrokenTranscript(f"{where}, is not an event of a transcript: {error}") from None
    return event


def _name_kind(event: events.Recorded) -> str:
    return type(event).__name__


# --- which events follow one another ---

_TURN = (events.ModelAsked, events.FinalForced)
_AFTER_CALL = (*_TURN, events.ActionChosen, events.ReplyRefused)  # a reply may have several calls
_CALL = (events.ApprovalAsked, events.CallStarted, events.CallFinished, events.Refused)
_DURING_CALL = (
    events.TaskStarted,
    events.ToolAsked,
    events.FormAnswered,
    events.CallFinished,
    events.Approved,  # of another call, as `Refused`
    events.Refused,
)
_GOES_ON = (*_TURN, *_CALL, events.ActionChosen, events.ReplyRefused, events.UserAsked)
_NEXT: dict[type[events.Recorded], tuple[type[events.Recorded], ...]] = {
    events.Started: (events.ToolsListed, events.QuestionAsked),
    events.ToolsListed: (events.ToolsListed, events.QuestionAsked, events.Resumed, *_GOES_ON),
    events.Resumed: (events.ToolsListed, *_GOES_ON, *_DURING_CALL),
    events.QuestionAsked: _TURN,
    events.ModelAsked: (events.ModelReplied, events.ModelFailed),
    events.ModelReplied: (
        events.ActionChosen,
        events.UserAsked,
        events.ReplyRefused,
        events.FinalForced,
    ),
    events.ModelFailed: _TURN,
    events.ReplyRefused: _AFTER_CALL,
    events.ActionChosen: (*_CALL, events.ActionChosen),
    events.ApprovalAsked: _DURING_CALL,
    events.Approved: (events.CallStarted, *_DURING_CALL),
    events.Refused: (*_AFTER_CALL, *_DURING_CALL),
    events.CallStarted: (*_DURING_CALL, events.ActionChosen),
    events.TaskStarted: (*_DURING_CALL, events.ActionChosen, events.CallStarted),
    events.ToolAsked: _DURING_CALL,
    events.FormAnswered: _DURING_CALL,
    events.CallFinished: (*_AFTER_CALL, *_CALL, *_DURING_CALL),
    events.UserAsked: (events.UserAnswered,),
    events.UserAnswered: _TURN,
    events.FinalForced: (events.ModelAsked,),
    events.Ended: (events.ToolsListed, events.QuestionAsked, events.Resumed),
}


def may_follow(before: events.Recorded | None, event: events.Recorded) -> bool:
    """Whether *event* may be recorded after *before*, or as the first one."""
    if before is None:
        return isinstance(event, events.Started)
    if events.NEVER < event.at < before.at or event == before:
        return False
    if isinstance(event, events.Ended):  # a run may be cancelled at any time
        return not isinstance(before, events.Ended | events.Started)
    return isinstance(event, _NEXT[type(before)])


# --- the file ---


def _end_with_whole_line(file: int, path: Path) -> None:
    """Remove a last line that was cut off.

    Raises:
        BrokenTranscript: if the file is not a transcript; it stays unchanged.
    """
    data = path.read_bytes()
    is_begun = b'{"type":"Started"'.startswith(
        data.strip()
    )  # a crash at the very beginning left this, or nothing
    end = 0 if is_begun else load_session(path).end
    if end > len(data):
        os.write(file, b"\n")
    else:
        os.ftruncate(file, end)
