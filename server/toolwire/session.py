"""One conversation being served: bytes in, tools run, bytes out. Knows threads, but no file descriptors.

`feed` belongs to the thread that reads. It never runs a tool, never writes and never waits, so that cancellation
gets through whatever the tools do and however slowly the host reads. Synchronous tools are answered by the worker
that ran them; everything else (a list, an error, an async tool's answer) by the outbox, one thread of its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import TYPE_CHECKING

from toolwire_schemas.framing import AutoFraming
from toolwire_tools import ToolError

from . import log
from .clock import Clock
from .loop import Loop, Outcome
from .protocol import Cancel, Protocol, Send, Start
from .workers import Workers

if TYPE_CHECKING:
    from toolwire_schemas.framing import Frame

    from .calls import Call
    from .catalogue import Catalogue
    from .lifecycle import Identity
    from .settings import Settings

Write = Callable[[bytes], None]

_CLEAN_UP_SECONDS = 0.2
"""What tools cancelled at the end get for their `finally` blocks: with the grace, still below the two seconds
after which clients send signals."""


_MAX_WAITING_PROGRESS = 1000
"""How many messages may wait in the outbox before an async tool's progress, which nothing slows down, is skipped."""


class Session:
    """Serves one client through *write*, which is given whole messages, framed, by one thread at a time."""

    def __init__(self, catalogue: Catalogue, identity: Identity, settings: Settings, write: Write) -> None:
        self._settings = settings
        self._write = write
        self._write_lock = threading.Lock()
        self._framing = AutoFraming(settings.max_message_bytes)
        self._protocol = Protocol(
            catalogue,
            identity,
            report=self._report,
            coerce=settings.coerce,
            mask_errors=settings.mask_errors,
            max_result_bytes=settings.max_result_bytes,
            max_pending_bytes=settings.max_pending_bytes,
        )
        self._clock = Clock()
        self._workers = Workers(self._run, self._clock, settings.max_workers)
        self._loop = Loop(self._post, coerce=settings.coerce)
        self._outbox: SimpleQueue[bytes | tuple[Call, Outcome] | tuple[Call, bytes] | None] = SimpleQueue()
        self._outbox_thread: threading.Thread | None = None
        self._ending = False

    def feed(self, data: bytes) -> None:
        """Deal with *data*, which may be any part of the stream. Never waits."""
        for frame in self._framing.feed(data):
            self._receive(frame)

    def end(self) -> None:
        """Send the answers still owed, as far as they come within the grace, and nothing else; then stop."""
        grace = self._settings.grace_seconds
        deadline = time.monotonic() + grace
        self._ending = True
        for frame in self._framing.close():
            self._receive(frame)
        idle = threading.Event()
        self._protocol.notify_when_idle(idle.set)
        idle.wait(grace)
        self._workers.finish(deadline)
        self._give_up_the_rest()
        self._loop.finish(_CLEAN_UP_SECONDS)
        if self._outbox_thread is not None:
            self._outbox.put(None)
            self._outbox_thread.join(max(deadline - time.monotonic(), _CLEAN_UP_SECONDS))

    # In

    def _receive(self, frame: Frame) -> None:
        for decision in self._protocol.receive(frame):
            match decision:
                case Start(call):
                    self._start(call)
                case Send(message):
                    self._send(message)
                case Cancel(call):
                    self._stop(call)

    def _start(self, call: Call) -> None:
        if call.tool.is_async:
            self._limit(call)
            self._loop.put(call)
        else:
            self._workers.put(call)

    def _stop(self, call: Call) -> None:
        if call.tool.is_async:
            self._loop.cancel(call)
        else:
            self._workers.abandon(call)

    def _give_up_the_rest(self) -> None:
        calls = self._protocol.abandon_all()
        for call in calls:
            self._stop(call)
        if calls:
            names = ", ".join(sorted({call.tool.name for call in calls}))
            log.warning(f"ended before {len(calls)} running calls did ({names}); --grace gives them longer")

    # Running

    def _run(self, call: Call) -> None:
        """Run a synchronous tool and answer; on a worker."""
        if call.ended:
            return
        self._limit(call)
        try:
            outcome: Outcome = call.tool.call(call.arguments, call, coerce=self._settings.coerce)
        except BaseException as error:  # the outer edge: a tool may raise SystemExit too
            outcome = error
        self._answer(call, outcome)

    def _answer(self, call: Call, outcome: Outcome) -> None:
        try:
            if isinstance(outcome, BaseException):
                message = self._protocol.fail(call, outcome)
            else:
                message = self._protocol.finish(call, outcome)
        except Exception as bug:  # the outer edge of a thread that must go on
            log.traceback(f"no answer could be made for {call.tool.name}; please report this", bug)
            return
        if message is not None:
            self._emit(message)

    def _limit(self, call: Call) -> None:
        seconds = call.tool.timeout_seconds or self._settings.timeout_seconds
        if seconds is not None:
            self._clock.after(seconds, lambda: self._expire(call, seconds))

    def _expire(self, call: Call, seconds: float) -> None:
        message = self._protocol.fail(call, ToolError(f"{call.tool.name} did not finish within {seconds:g} seconds."))
        if message is not None:
            self._send(message)
            self._stop(call)

    # Out

    def _report(self, call: Call, done: float, total: float | None, message: str | None) -> None:
        """Send progress: at once from a thread, which a slow host may slow down, but never from the event loop."""
        if self._ending:
            return
        if not call.tool.is_async:
            self._emit_progress(call, self._protocol.progress(call, done, total, message))
        elif self._outbox.qsize() < _MAX_WAITING_PROGRESS:
            self._put((call, self._protocol.progress(call, done, total, message)))

    def _emit(self, message: bytes) -> None:
        with self._write_lock:
            self._write(self._framing.wrap(message))

    def _emit_progress(self, call: Call, message: bytes) -> None:
        with self._write_lock:
            # Asked under this lock, the answer cannot have been written yet, and progress never follows it.
            if not call.ended:
                self._write(self._framing.wrap(message))

    def _send(self, message: bytes) -> None:
        """Have *message* written by the outbox."""
        self._put(message)

    def _post(self, call: Call, outcome: Outcome) -> None:
        """Have *call* answered by the outbox; on the event loop."""
        self._put((call, outcome))

    def _put(self, item: bytes | tuple[Call, Outcome] | tuple[Call, bytes]) -> None:
        self._outbox.put(item)
        if self._outbox_thread is None:
            with self._write_lock:
                if self._outbox_thread is None:
                    self._outbox_thread = threading.Thread(target=self._send_all, name="toolwire-outbox", daemon=True)
                    self._outbox_thread.start()

    def _send_all(self) -> None:
        while (item := self._outbox.get()) is not None:
            match item:
                case bytes():
                    self._emit(item)
                case (call, bytes() as progress):
                    self._emit_progress(call, progress)
                case (call, outcome):
                    self._answer(call, outcome)
