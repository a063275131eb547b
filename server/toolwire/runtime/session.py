"""One conversation being served: bytes in, tools run, bytes out. Knows threads, but no file descriptors.

Strategy. The protocol decides; workers read, run synchronous tools and answer (`workers.py`); asynchronous ones run on
the event loop (`loop.py`); what must not be written where it comes up goes through the outbox (`outlet.py`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire.codes import OVERLOADED
from toolwire_schemas.wire.framing import AutoFraming
from toolwire_tools import NotAnswered

from .. import log
from ..errors import RequestError
from ..protocol.call import Call
from ..protocol.elicitation import Asked, Reply
from ..protocol.server_protocol import Cancel, Protocol, Send, Wake
from ..timers import Clock
from ..transport.watchdog import Board
from .event_loop import Loop, Outcome
from .worker_pool import Answers, Workers
from .writer import Outlet, Write

if TYPE_CHECKING:
    from toolwire_schemas.wire.frames import Frame
    from toolwire_tools.tool import Gate

    from ..protocol.catalog import Catalogue
    from ..protocol.lifecycle import Identity
    from ..settings import Settings
    from ..transport.watchdog import Watchdog

Read = Callable[[], bytes]

_CLEAN_UP_SECONDS = 0.2
"""What tools cancelled at the end get for their `finally` blocks: with the grace, still below the two seconds
after which clients send signals."""


_MAX_WAITING_PROGRESS = 1000
"""How many messages may wait in the outbox before an async tool's progress, which nothing slows down, is skipped."""


_MAX_ANSWERS_BYTES = 256 * 1024
"""What may come of one read before it is sent: one answer more than that."""


_GONE = "The client has gone; nobody is left to answer."


class Session:
    """Serves one client through *write*, which is given whole messages, framed, by one thread at a time."""

    def __init__(self, catalogue: Catalogue, identity: Identity, settings: Settings, write: Write) -> None:
        self._settings = settings
        self._timeout_seconds = settings.timeout_seconds
        self._framing = AutoFraming(settings.max_message_bytes)
        self.clock = Clock()
        self.board = Board()
        self._loop = Loop(self._limit, self._post, self._release, lambda: not self._outlet.is_full, self.board)
        self._outlet = Outlet(write, self._framing, self.clock, settings.max_unsent_bytes, self._loop.make_room)
        self._protocol = Protocol(
            catalogue,
            identity,
            host=self,
            coerce=settings.coerce,
            mask_errors=settings.mask_errors,
            max_result_bytes=settings.max_result_bytes,
            max_pending_bytes=settings.max_pending_bytes,
            max_pending_calls=settings.max_pending_calls,
            max_batch_elements=settings.max_batch_elements,
            max_questions=settings.max_questions,
        )
        self._workers = Workers(
            self._begin,
            self._outlet.send,
            self._outlet.post_all,
            self._refuse,
            self.clock,
            self.board,
            each_tick=self._outlet.flush_soon,
            max_workers=settings.max_workers,
            max_abandoned=settings.max_abandoned,
        )
        self._backlog = self._workers.backlog
        self.watchdog: Watchdog | None = None
        """What is to know that calls are under way in this process."""
        self._reading = False
        self._refusing = False
        self._ending = False
        self._leave: Callable[[Outcome], None] | None = None

    def start_reading(self, read: Read, at_end: Callable[[], None]) -> None:
        """Serve what *read* returns, which may be any part of the stream, until it returns nothing; then *at_end*."""

        def read_and_decide() -> Answers | None:
            try:
                if self._refusing:
                    self._outlet.wait_for_room()
                data = read()
                if self._ending:
                    return None
                if data:
                    return self._decide(self._framing.feed(data))
                self._reading = False
            except Exception as bug:  # the outer edge: to go on could leave a request without an answer for ever
                log.traceback("reading has failed, and so this is the end", bug)
            at_end()
            return None

        self._reading = True
        self.clock.start()  # which starts again whatever else gets no thread
        self._workers.start_reading(read_and_decide)

    def feed(self, data: bytes) -> None:
        """Deal with *data*, which may be any part of the stream, without waiting for what it leads to."""
        self._outlet.send(self._decide(self._framing.feed(data)))
        self._workers.serve_backlog()

    @property
    def is_ending(self) -> bool:
        """Whether it was told to end."""
        return self._ending

    def is_idle(self) -> bool:
        """Whether no call is under way."""
        return self._protocol.is_idle()

    def end(self) -> None:
        """Send the answers still owed, as far as they come within the grace, and nothing else; then stop."""
        grace = self._settings.grace_seconds
        deadline = time.monotonic() + grace
        self._ending = True
        if not self._reading:  # else it ends for another reason, and what has come belongs to whoever reads
            self._outlet.post_all(self._decide(self._framing.close()))
        self._workers.serve_backlog()
        if grace:  # else there is no time for what tools make of the news
            self._hang_up()
        idle = threading.Event()
        self._protocol.notify_when_idle(idle.set)
        idle.wait(min(grace, threading.TIMEOUT_MAX))
        self._workers.finish(deadline)
        self._outlet.post_all(self._protocol.end_subscriptions())
        self._give_up_the_rest()
        self._hang_up()
        self._loop.finish(_CLEAN_UP_SECONDS)
        self.clock.stop()  # which may be answering a call whose time was up
        self._outlet.finish(max(deadline - time.monotonic(), _CLEAN_UP_SECONDS))

    def replace(self, catalogue: Catalogue) -> None:
        """Serve other tools from the next call on, and tell a client that wants to know."""
        news = self._protocol.replace(catalogue)
        if not self._ending:
            self._outlet.post_all(news)

    def disconnect(self, leave: Callable[[Outcome], None]) -> None:
        """Send nothing any more, and *leave* when a tool comes to its end: this process is a copy that a tool made."""
        if self.watchdog is not None:
            self.watchdog.disconnect()
        self._outlet.mute()
        self._leave = leave

    # In

    def _decide(self, frames: list[Frame]) -> Answers:
        """Decide about *frames*, in their order; return what can be answered at once."""
        answers: Answers = []
        size = 0
        receive, watchdog = self._protocol.receive, self.watchdog
        if self._outlet.is_full is not self._refusing:
            self._refuse_if_unread()
        for frame in frames:
            for decision in receive(frame):
                if type(decision) is Call:
                    if watchdog is not None and watchdog.asleep and decision.tool.gate is None:
                        watchdog.wake()
                    if decision.tool.is_async:
                        self._loop.put(decision)
                    else:
                        self._backlog.append(decision)
                elif type(decision) is Send:
                    answers.append(decision.message)
                    size += len(decision.message)
                    if size > _MAX_ANSWERS_BYTES:
                        self._outlet.post_all(answers)
                        answers, size = [], 0
                        self._refuse_if_unread()
                elif type(decision) is Cancel:
                    self._stop(decision.call)
                elif type(decision) is Wake:
                    decision.asked.wake(decision.reply)
        return answers

    def _refuse_if_unread(self) -> None:
        """Refuse requests while the host lets too much wait that it was answered."""
        self._refusing = self._outlet.is_full
        self._protocol.refuse_requests(self._refusing)
        if self._refusing:
            log.rarely("unsent", f"requests are refused until the host reads: {self._outlet.unread()}")

    def _stop(self, call: Call) -> None:
        if call.tool.is_async:
            self._loop.cancel(call)
        else:
            self._workers.abandon(call)
            stop = call.stop
            if stop is not None:
                stop()

    def _give_up_the_rest(self) -> None:
        calls = self._protocol.abandon_all()
        for call in calls:
            self._stop(call)
        if calls:
            names = ", ".join(sorted({call.tool.name for call in calls}))
            running = "a running call" if len(calls) == 1 else f"{len(calls)} running calls"
            log.warning(f"ended before {running} did ({names}); --grace gives them longer")

    # Running

    def _begin(self, call: Call) -> None:
        """Run a synchronous tool and answer, or leave the call to wait for its turn; on a worker."""
        tool = call.tool
        gate = tool.gate
        if gate is not None and not gate.enter(call):
            return
        if call.ended:
            self._protocol.let_go(call)
        else:
            if tool.timeout_seconds or self._timeout_seconds:
                self._limit(call)
            try:
                outcome: Outcome = tool.call(call.arguments, call, call.coerce)
            except BaseException as error:  # the outer edge: a tool may raise SystemExit too
                outcome = error
            if self._leave is not None:
                self._leave(outcome)
            message = self._message(call, outcome)
            if message is not None and not (self._backlog and self._outlet.gather(message)):
                self._outlet.emit(message)
        if gate is not None:
            self._leave_gate(gate)

    def _leave_gate(self, gate: Gate) -> None:
        following = gate.leave()
        if following is not None:
            self._backlog.append(following)
            self._workers.serve_backlog()

    def _refuse(self, call: Call, problem: str) -> None:
        gate = call.tool.gate
        if gate is not None and gate.enter(call):
            self._leave_gate(gate)
        message = self._protocol.refuse(call, RequestError(OVERLOADED, problem))
        if message is not None:
            self._outlet.post(message)

    def _release(self, call: Call) -> None:
        """Note that the task of *call* has ended: nothing holds it any more if it was given up."""
        if call.given_up:
            self._protocol.let_go(call)

    def _message(self, call: Call, outcome: Outcome) -> bytes | None:
        """What answers *call*; `None` if nothing does any more."""
        if call.limit is not None:
            self.clock.forget(call.limit)
        try:
            if isinstance(outcome, dict):
                return self._protocol.finish(call, outcome)
            return self._protocol.fail(call, outcome)
        except Exception as bug:  # the outer edge of a thread that must go on
            log.traceback(f"no answer could be made for {call.tool.name}; please report this", bug)
            return self._protocol.excuse(call)

    def _limit(self, call: Call, left: float | None = None) -> None:
        """Let the time of *call* run: all of it, or what is *left*."""
        seconds = call.tool.timeout_seconds or self._timeout_seconds
        if seconds is not None:
            call.limit = self.clock.after(seconds if left is None else left, lambda: self._expire(call, seconds))

    def _expire(self, call: Call, seconds: float) -> None:
        message = self._protocol.expire(call, seconds)
        if message is not None:
            self._outlet.post(message)
            self._stop(call)

    @contextmanager
    def pause(self, call: Call) -> Iterator[None]:
        """Let neither the time of *call* run meanwhile nor its worker count."""
        left = None if call.limit is None else self.clock.forget(call.limit)
        with self._workers.one_more():
            yield
        if left is not None and not call.ended:
            self._limit(call, left)

    # Asking

    def ask(self, call: Call, message: str, schema: dict[str, Any]) -> dict[str, Any]:
        """Ask the user for a synchronous tool, on the tool's own thread."""
        replies: SimpleQueue[Reply] = SimpleQueue()
        asked = Asked(call, message, schema, replies.put)
        with self._waiting(asked, self._outlet.emit), self._workers.one_more():
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

        with self._waiting(Asked(call, message, schema, wake), self._outlet.post):
            await came.wait()
        return _given(replies[0])

    @contextmanager
    def _waiting(self, asked: Asked, send: Callable[[bytes], None]) -> Iterator[None]:
        """Put a question; until it is answered, the call's time does not run."""
        if self._ending:
            raise NotAnswered(_GONE)
        call = asked.call
        message = self._protocol.ask(asked)
        left = None if call.limit is None else self.clock.forget(call.limit)
        too_late = self.clock.after(self._settings.ask_seconds, lambda: self._give_up(asked))
        if message is not None:
            send(message)
        try:
            yield
        finally:
            self.clock.forget(too_late)
            told = self._protocol.resume(asked)
            if told is not None and not self._ending:
                self._outlet.post(told)
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

        def made() -> bytes | None:
            # Asked where nothing else is written: the answer has not been, and progress never follows it. Nor do two
            # threads of one tool overtake each other with values that must increase.
            return None if call.ended else self._protocol.progress(call, done, total, message)

        if not call.tool.is_async:
            self._outlet.emit_made(made)
        elif self._outlet.posted() < _MAX_WAITING_PROGRESS and not self._outlet.is_full:
            self._outlet.post(partial(self._outlet.emit_made, made), len(message or ""))

    def _post(self, call: Call, outcome: Outcome) -> None:
        """Have *call* answered by the outbox; on the event loop."""
        if self._leave is not None:
            self._leave(outcome)
        self._outlet.post(partial(self._answer, call, outcome), _size(outcome))

    def _answer(self, call: Call, outcome: Outcome) -> None:
        message = self._message(call, outcome)
        if message is not None:
            self._outlet.emit(message)


def _size(outcome: Outcome) -> int:
    """About how many bytes the answer will take: its content, and as much again for what is structured."""
    content = outcome.get("content", ()) if isinstance(outcome, dict) else ()
    return sum(len(value) * 2 for block in content for value in block.values() if isinstance(value, str))


def _given(reply: Reply) -> dict[str, Any]:
    if isinstance(reply, BaseException):
        raise reply
    return reply
