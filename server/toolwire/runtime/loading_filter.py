"""Keeps a client's messages while its server's tools are loaded.

Strategy. Importing the user's modules may take longer than a client waits for the handshake. So the
reading thread starts before the import, answers what needs no tools, and keeps everything else in
its order. When the tools are there, the kept messages take the usual way, as if they had arrived
then. Lists of an earlier start may answer in the meantime. No other part of the server knows of
this.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import msgspec
from toolwire_schemas.wire import messages
from toolwire_schemas.wire.messages import OVERLOADED

from ..protocol.catalog import ALL_CAPABILITIES, LIST_METHODS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from toolwire_schemas.wire.messages import Frame

    from .early_lists import EarlyLists
    from .session import Session
    from .worker_pool import Answers

_HANDSHAKE = frozenset(("initialize", "server/discover", "notifications/initialized"))
"""Methods that need no tools, if it is known what the server declares."""

_LISTS = ("ping", "subscriptions/listen", *LIST_METHODS)
"""Methods that need no tools, if the lists are known. They may overtake messages that wait."""

_MAX_FRAMES = 10_000
"""How many messages are kept: as many as calls may be in flight."""

_OVERLOADED = "Overloaded: too many messages wait until the tools are loaded; send fewer at once"


class _Head(msgspec.Struct):
    """What decides whether a message waits. A batch has no method."""

    method: str = ""
    id: str | int | None = None


_decode_head = msgspec.json.Decoder(_Head).decode


class WaitingMessages:
    """Messages in their order, of at most *max_bytes* in all."""

    def __init__(self, max_bytes: int) -> None:
        self.frames: list[Frame] = []
        self._left_bytes = max_bytes

    def add(self, frame: Frame) -> bool:
        """Keep *frame*; return whether there was room for it."""
        size = len(frame) if isinstance(frame, bytes) else 0
        if size > self._left_bytes or len(self.frames) >= _MAX_FRAMES:
            return False
        self._left_bytes -= size
        self.frames.append(frame)
        return True

    def take(self) -> list[Frame]:
        """Return all messages, and keep none."""
        frames, self.frames = self.frames, []
        return frames


class LoadingFilter:
    """Keeps the messages for *session* that wait for the tools, of at most *max_bytes*.

    Unless it *answers_handshake*, the handshake waits, too: what it declares depends on the tools.
    """

    def __init__(self, session: Session, *, answers_handshake: bool, max_bytes: int) -> None:
        self.session = session
        self._answers_handshake = answers_handshake
        self._waiting = WaitingMessages(max_bytes)
        self.has_requests = False
        """Whether a request, or a message that may hold one, waits."""
        self._is_loaded = False
        self.has_imported = False
        self.is_late = False
        """Whether lists of an earlier start may answer."""
        self._early_lists: EarlyLists | None = None
        self._overtaking: Collection[str] = ("ping",)
        # Held by the thread that decides about messages: only one at a time may.
        self._deciding = threading.Lock()
        session.notifies_of_changes = False
        session.filter_with(self)

    def receive(self, frames: list[Frame]) -> Answers:
        """Decide about those of *frames* that need no tools, and keep the others."""
        with self._deciding:
            if self._is_loaded:
                return self.session.decide(frames)
            return self._sort(frames)

    def use_early(self, lists: EarlyLists) -> None:
        """Answer with *lists* of an earlier start as soon as it is late."""
        self._early_lists = lists
        if self.is_late:
            self._answer(lists.show, _LISTS)

    def answer_late(self) -> None:
        """Answer what a client may not wait for much longer: with lists of an earlier start, or
        else a handshake that declares all lists.
        """
        self.is_late = True
        if self._early_lists is not None:
            self._answer(self._early_lists.show, _LISTS)
        if not self._answers_handshake:
            self._answer(self._declare_all, self._overtaking)

    def note_import(self) -> None:
        """Use no lists of an earlier start from now on: the import has ended."""
        with self._deciding:
            self.has_imported = True

    def serve(self) -> None:
        """Serve what has been kept, and keep nothing from now on: the tools are loaded."""
        session = self.session
        with self._deciding:
            self.has_imported = self._is_loaded = True
            session.notifies_of_changes = True
            session.writer.enqueue_all(session.decide(self._waiting.take()))
            session.remove_filter()
        session.run_accepted()
        if self._early_lists is not None:
            self._early_lists.save()

    def stop(self) -> list[Frame]:
        """Return the messages that have been kept: the tools cannot be loaded."""
        self.note_import()
        if self._early_lists is not None:
            self._early_lists.forget()
        return self._waiting.take()

    def prepare_end(self) -> None:
        """Do nothing: the server ends without its tools."""

    def end(self) -> None:
        """Do nothing: nothing is held but messages."""

    def _declare_all(self) -> bool:
        self.session.declare(ALL_CAPABILITIES)
        return True

    def _answer(self, prepare: Callable[[], bool], overtaking: Collection[str]) -> None:
        """Answer the handshake from now on, and what is *overtaking* messages that wait, unless the
        import has ended or *prepare* returns `False`.
        """
        with self._deciding:
            if self.has_imported or not prepare():
                return
            self._answers_handshake = True
            self._overtaking = overtaking
            self.has_requests = False
            self.session.writer.enqueue_all(self._sort(self._waiting.take()))

    def _sort(self, frames: list[Frame]) -> Answers:
        answers: Answers = []
        for frame in frames:
            head = read_head(frame)
            if self._needs_no_tools(frame, head):
                answers += self.session.decide([frame])
            elif self._waiting.add(frame):
                self.has_requests |= not head.method or head.id is not None
            elif head.id is not None:
                answers.append(messages.encode_error(head.id, OVERLOADED, _OVERLOADED))
        return answers

    def _needs_no_tools(self, frame: Frame, head: _Head) -> bool:
        if head.method in self._overtaking:
            return True
        if self._waiting.frames:
            return False  # after a message that waits, all wait: the client meant this order
        is_fault_of_framing = not isinstance(frame, bytes)
        is_handshake = head.method in _HANDSHAKE
        return is_fault_of_framing or (is_handshake and self._answers_handshake)


def read_head(frame: Frame) -> _Head:
    """Return what decides about *frame*, which may be no JSON-RPC. Never raises."""
    if not isinstance(frame, bytes):
        return _Head()
    try:
        return _decode_head(frame)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # a batch, or no JSON-RPC
        return _Head()
