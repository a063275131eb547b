"""Answers polls: requests for the state of a task that has not changed since the last one.

Strategy. A client that polls sends the same bytes again, but for the id. So a request is looked up
by its other bytes, before it is decoded. All that decides about it is the same as before, since its
revision, its capabilities and its task are in these bytes. Only the state may have changed
(`KnownState.is_current`); whether requests are served at all is for the caller to know.
"""

from __future__ import annotations

import math
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolwire_schemas.wire.messages import Id

    from .task import Task

_HEAD = b'{"jsonrpc":"2.0","id":'
_START = len(_HEAD)
_MEMBER = b'"id":'
_ZERO = ord("0")
_MAX_ID_BYTES = 16

_MAX_REQUEST_BYTES = 2048
"""Longer requests are decoded each time."""

_MAX_POLLS = 1000
"""How many requests are kept. All are forgotten beyond, which costs each task one decoding."""


class KnownState:
    """The *result* of `tasks/get` for *task*, after its first *changes*."""

    def __init__(self, task: Task, changes: int, result: bytes) -> None:
        self.result = result
        self.rest_of_response = b',"result":' + result + b"}"
        """What follows the id in a response."""
        self._task = task
        self._changes = changes
        # The time to live of a task that runs grows with its age: a client must not see an old one.
        lasts = math.inf if task.is_final else task.keep_seconds / 2
        self._end = monotonic() + lasts

    def is_current(self) -> bool:
        """Return whether this is still the state of the task."""
        return self._changes == self._task.changes and monotonic() < self._end

    def forget(self) -> None:
        """Note that the task is unknown from now on."""
        self._changes = -1


class Polls:
    """The states that a client asks for again and again. Only for the thread that reads."""

    def __init__(self) -> None:
        self._states: dict[bytes, KnownState] = {}  # by the request without its id
        self._frame = b""

    def respond(self, frame: bytes) -> bytes | None:
        """Return the response to a request that differs from an earlier one in its id only, and
        has the same result; `None` if it has to be decoded.
        """
        self._frame = frame
        if len(frame) > _MAX_REQUEST_BYTES:
            return None
        id, rest = _take_out_id(frame)
        state = self._states.get(rest)
        if state is None or not id.isdigit() or not state.is_current():
            return None
        if id[0] == _ZERO:  # 0 itself, or no JSON
            return None
        return _HEAD + id + state.rest_of_response

    def remember(self, sent_id: Id, state: KnownState) -> None:
        """Note that *state* answers the latest request, which was decoded and has *sent_id*."""
        if type(sent_id) is not int or len(self._frame) > _MAX_REQUEST_BYTES:
            return
        id, rest = _take_out_id(self._frame)
        if id != b"%d" % sent_id:  # written in another way, or there are two
            return
        if len(self._states) >= _MAX_POLLS:
            self._states.clear()
        self._states[rest] = state


def _take_out_id(frame: bytes) -> tuple[bytes, bytes]:
    """Return what may be the id of a request, and its other bytes.

    Most clients write it second; those of the official SDKs write it last.
    """
    if frame.startswith(_HEAD):
        end = frame.find(b",", _START, _START + _MAX_ID_BYTES)
        return frame[_START:end], frame[end:]
    start = frame.rfind(_MEMBER, -_MAX_ID_BYTES - len(_MEMBER)) + len(_MEMBER)
    return frame[start:-1], frame[:start]
