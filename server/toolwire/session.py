"""One conversation being served: bytes in, tools run, bytes out. Knows threads, but no file descriptors.

Strategy. Workers read, run synchronous tools and answer (`workers.py`); asynchronous ones run on the event loop
(`loop.py`). What must not be written where it comes up, since writing may have to wait for the host (an async tool's
answer on the event loop, a time limit on the clock), is written by the outbox, a thread of its own.

While calls wait, answers are gathered and go out together: each write gives up the interpreter's lock, and getting it
back may take longer than many calls. The monitor sees to it that none is held back for more than two ticks.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeAlias

from toolwire_schemas.framing import AutoFraming
from toolwire_tools import NotAnswered

from . import log
from .asking import Asked, Reply
from .clock import Clock
from .loop import Loop, Outcome
from .protocol import Cancel, Protocol, Send, Start, Wake
from .workers import Answers, Workers

if TYPE_CHECKING:
    from toolwire_schemas.framing import Frame

    from .calls import Call
    from .catalogue import Catalogue
    from .lifecycle import Identity
    from .settings import Settings

Read = Callable[[], bytes]
Write = Callable[[bytes], None]
_Item: TypeAlias = "bytes | tuple[Call, Outcome] | Callable[[], None]"

_CLEAN_UP_SECONDS = 0.2
"""What tools cancelled at the end get for their `finally` blocks: with the grace, still below the two seconds
after which clients send signals."""


_MAX_GATHERED = 256
_MAX_GATHERED_BYTES = 16 * 1024
"""How many answers, and up to which size, may be gathered: beyond that, the worker waits for the host to read."""

_MAX_WAITING_PROGRESS = 1000
"""How many messages may wait in the outbox before an async tool's progress, which nothing slows down, is skipped."""


_GONE = "The client has gone; nobody is left to answer."


class Session:
    """Serves one client through *write*, which is given whole messages, framed, by one thread at a time."""

    def __init__(self, catalogue: Catalogue, identity: Identity, settings: Settings, write: Write) -> None:
        self._settings = settings
        self._timeout_seconds = settings.timeout_seconds
        self._write = write
        self._write_lock = threading.Lock()
        self._framing = AutoFraming(settings.max_message_bytes)
        self._protocol = Protocol(
            catalogue,
            identity,
            host=self,
            coerce=settings.coerce,
            mask_errors=settings.mask_errors,
            max_result_bytes=settings.max_result_bytes,
            max_pending_bytes=settings.max_pending_bytes,
        )
        self._clock = Clock()
        self._workers = Workers(
            self._run,
            self._send,
            self._post_all,
            self._clock,
            each_tick=self._flush_soon,
            max_workers=settings.max_workers,
        )
        self._loop = Loop(self._post)
        self._outbox: SimpleQueue[_Item | None] = SimpleQueue()
        self._outbox_thread: threading.Thread | None = None
        self._start_lock = threading.Lock()
        self._gathered: deque[bytes] = deque()
        self._flush_is_due = False
        self._reading = False
        self._ending = False
        self._leave: Callable[[Outcome], None] | None = None

    def start_reading(self, read: Read, at_end: Callable[[], None]) -> None:
        """Serve what *read* returns, which may be any part of the stream, until it returns nothing; then *at_end*."""

        def read_and_decide() -> Answers | None:
            data = read()
            if self._ending:
                return None
            if not data:
                self._reading = False
                at_end()
                return None
            return self._decide(self._framing.feed(data))

        self._reading = True
        self._workers.start_reading(read_and_decide)

    def feed(self, data: bytes) -> None:
        """Deal with *data*, which may be any part of the stream, without waiting for what it leads to."""
        self._send(self._decide(self._framing.feed(data)))
        self._workers.serve_backlog()

    def end(self) -> None:
        """Send the answers still owed, as far as they come within the grace, and nothing else; then stop."""
        grace = self._settings.grace_seconds
        deadline = time.monotonic() + grace
        self._ending = True
        if not self._reading:  # else it ends for another reason, and what has come belongs to whoever reads
            self._post_all(self._decide(self._framing.close()))
        self._workers.serve_backlog()
        self._hang_up()
        idle = threading.Event()
        self._protocol.notify_when_idle(idle.set)
        idle.wait(min(grace, threading.TIMEOUT_MAX))
        self._workers.finish(deadline)
        self._post_all(self._protocol.end_subscriptions())
        self._give_up_the_rest()
        self._loop.finish(_CLEAN_UP_SECONDS)
        if self._gathered or not self._outbox.empty():
            self._put(self._flush)
        with self._start_lock:  # it may just be starting
            outbox = self._outbox_thread
        if outbox is not None:
            self._outbox.put(None)
            left = max(deadline - time.monotonic(), _CLEAN_UP_SECONDS)
            outbox.join(min(left, threading.TIMEOUT_MAX))

    def replace(self, catalogue: Catalogue) -> None:
        """Serve other tools from the next call on, and tell a client that wants to know."""
        news = self._protocol.replace(catalogue)
        if not self._ending:
            self._post_all(news)

    def disconnect(self, leave: Callable[[Outcome], None]) -> None:
        """Send nothing any more, and *leave* when a tool comes to its end: this process is a copy that a tool made."""
        self._write_lock = threading.Lock()  # whoever held the old one is not in this process
        self._write = lambda data: None
        self._leave = leave

    # In

    def _decide(self, frames: list[Frame]) -> Answers:
        """Decide about *frames*, in their order; return what can be answered at once."""
        answers: Answers = []
        backlog = self._workers.backlog
        for frame in frames:
            for decision in self._protocol.receive(frame):
                if type(decision) is Start:
                    call = decision.call
                    if call.tool.is_async:
                        self._limit(call)
                        self._loop.put(call)
                    else:
                        backlog.append(call)
                elif type(decision) is Send:
                    answers.append(decision.message)
                elif type(decision) is Cancel:
                    self._stop(decision.call)
                elif type(decision) is Wake:
                    decision.asked.wake(decision.reply)
        return answers

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
        tool = call.tool
        if tool.timeout_seconds or self._timeout_seconds:
            self._limit(call)
        try:
            outcome: Outcome = tool.call(call.arguments, call, coerce=call.coerce)
        except BaseException as error:  # the outer edge: a tool may raise SystemExit too
            outcome = error
        if self._leave is not None:
            self._leave(outcome)
        message = self._message(call, outcome)
        if message is None:
            return
        if self._workers.backlog and len(message) <= _MAX_GATHERED_BYTES and len(self._gathered) < _MAX_GATHERED:
            self._gathered.append(message)
        else:
            self._emit(message)

    def _message(self, call: Call, outcome: Outcome) -> bytes | None:
        """What answers *call*; `None` if nothing does any more."""
        if call.limit is not None:
            self._clock.forget(call.limit)
        try:
            if isinstance(outcome, BaseException):
                return self._protocol.fail(call, outcome)
            return self._protocol.finish(call, outcome)
        except Exception as bug:  # the outer edge of a thread that must go on
            log.traceback(f"no answer could be made for {call.tool.name}; please report this", bug)
            return None

    def _limit(self, call: Call, left: float | None = None) -> None:
        """Let the time of *call* run: all of it, or what is *left*."""
        seconds = call.tool.timeout_seconds or self._timeout_seconds
        if seconds is not None:
            call.limit = self._clock.after(seconds if left is None else left, lambda: self._expire(call, seconds))

    def _expire(self, call: Call, seconds: float) -> None:
        message = self._protocol.expire(call, seconds)
        if message is not None:
            self._put(message)
            self._stop(call)

    # Asking

    def ask(self, call: Call, message: str, schema: dict[str, Any]) -> dict[str, Any]:
        """Ask the user for a synchronous tool, on the tool's own thread."""
        replies: SimpleQueue[Reply] = SimpleQueue()
        asked = Asked(call, message, schema, replies.put)
        with self._waiting(asked, self._emit), self._workers.one_more():
            reply = replies.get()
        return _given(reply)

    async def ask_async(self, call: Call, message: str, schema: dict[str, Any]) -> dict[str, Any]:
        """Ask the user for an asynchronous tool, on the event loop."""
        from anyio import Event

        replies: list[Reply] = []
        came = Event()

        def wake(reply: Reply) -> None:
            replies.append(reply)
            self._loop.soon(came.set)

        with self._waiting(Asked(call, message, schema, wake), self._put):
            await came.wait()
        return _given(replies[0])

    @contextmanager
    def _waiting(self, asked: Asked, send: Callable[[bytes], None]) -> Iterator[None]:
        """Put a question; until it is answered, the call's time does not run."""
        if self._ending:
            raise NotAnswered(_GONE)
        call = asked.call
        message = self._protocol.ask(asked)
        left = None if call.limit is None else self._clock.forget(call.limit)
        too_late = self._clock.after(self._settings.ask_seconds, lambda: self._give_up(asked))
        if message is not None:
            send(message)
        try:
            yield
        finally:
            self._clock.forget(too_late)
            told = self._protocol.resume(asked)
            if told is not None and not self._ending:
                self._put(told)
            if left is not None and not call.ended:
                self._limit(call, left)

    def _give_up(self, asked: Asked) -> None:
        """Nobody has answered for so long that nobody will."""
        if not asked.call.origin.modern:
            asked.wake(NotAnswered(f"Nobody answered within {self._settings.ask_seconds:g} seconds."))
        elif self._protocol.give_up(asked):
            self._stop(asked.call)

    def _hang_up(self) -> None:
        for asked in self._protocol.hang_up():
            asked.wake(NotAnswered(_GONE))
            if asked.call.given_up:
                self._stop(asked.call)

    # Out

    def report(self, call: Call, done: float, total: float | None, message: str | None) -> None:
        """Send progress: at once from a thread, which a slow host may slow down, but never from the event loop."""
        if self._ending:
            return
        report = partial(self._emit_progress, call, done, total, message)
        if not call.tool.is_async:
            report()
        elif self._outbox.qsize() < _MAX_WAITING_PROGRESS:
            self._put(report)

    def _emit(self, message: bytes) -> None:
        """Write *message*, behind whatever has been gathered."""
        data = self._framing.wrap(message)
        with self._write_lock:
            self._write(self._take_gathered() + data if self._gathered else data)

    def _send(self, messages: Answers) -> None:
        """Write *messages* if nobody else is writing, so that of all who read only one ever waits for the host."""
        if not messages:
            return
        if not self._write_lock.acquire(blocking=False):
            self._post_all(messages)
            return
        try:
            self._write(self._take_gathered() + b"".join(map(self._framing.wrap, messages)))
        finally:
            self._write_lock.release()

    def _post_all(self, messages: Answers) -> None:
        """Have *messages* written by the outbox."""
        for message in messages:
            self._put(message)

    def _emit_progress(self, call: Call, done: float, total: float | None, message: str | None) -> None:
        with self._write_lock:
            # Asked under this lock, the answer cannot have been written yet, and progress never follows it. Nor do
            # two threads of one tool overtake each other with values that must increase.
            if not call.ended:
                self._write(self._framing.wrap(self._protocol.progress(call, done, total, message)))

    def _flush(self) -> None:
        self._flush_is_due = False
        with self._write_lock:
            gathered = self._take_gathered()
            if gathered:
                self._write(gathered)

    def _take_gathered(self) -> bytes:
        gathered, wrap = self._gathered, self._framing.wrap
        if not gathered:
            return b""
        return b"".join([wrap(gathered.popleft()) for _ in range(len(gathered))])

    def _flush_soon(self) -> None:
        """See to it that what has been gathered goes out, though the next call may take its time."""
        if self._gathered and not self._flush_is_due:
            self._flush_is_due = True
            self._put(self._flush)

    def _post(self, call: Call, outcome: Outcome) -> None:
        """Have *call* answered by the outbox; on the event loop."""
        if self._leave is not None:
            self._leave(outcome)
        self._put((call, outcome))

    def _put(self, item: _Item) -> None:
        """Have the outbox deal with *item*."""
        self._outbox.put(item)
        if self._outbox_thread is None:
            self._start_outbox()

    def _start_outbox(self) -> None:
        with self._start_lock:
            if self._outbox_thread is None:
                thread = threading.Thread(target=self._send_all, name="toolwire-outbox", daemon=True)
                thread.start()
                self._outbox_thread = thread

    def _send_all(self) -> None:
        while (item := self._outbox.get()) is not None:
            if isinstance(item, bytes):
                self._emit(item)
            elif not isinstance(item, tuple):
                item()
            elif (message := self._message(item[0], item[1])) is not None:
                self._emit(message)


def _given(reply: Reply) -> dict[str, Any]:
    if isinstance(reply, BaseException):
        raise reply
    return reply
