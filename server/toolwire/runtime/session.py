"""The session with one client: bytes in, tools run, bytes out. Knows threads, but no file
descriptors.

Theory of operation. A session joins five parts and decides nothing itself:

- The framing cuts the input into frames, and the protocol turns each frame into decisions: send
  this, run this call, stop that one (`decide`). One thread at a time does this, in the order of
  arrival. A filter may take the frames first: a wrap, or one that waits for an import.
- Workers (`worker_pool.py`) take turns at reading. A call of a synchronous tool goes to the
  backlog, from which the worker that has read it usually runs it, and writes its response.
- The event loop (`event_loop.py`) runs calls of asynchronous tools. It never writes, since the
  host may be slow to read: its responses go through the outbox.
- The writer (`writer.py`) writes whole messages, one thread at a time. Its outbox, with a thread of
  its own, is for every thread that must not block.
- Timers end calls whose time is up.

However a call ends, `in_flight` accepts the first end alone; later ones send nothing.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire.framing import AutoFraming, Lines, wrap_line

from .. import log
from ..protocol.call import Call, Cancel, ElicitationReply, Send
from ..protocol.server_protocol import ServerProtocol
from ..timers import Timers
from .worker_pool import WorkerPool
from .writer import MessageWriter, Write

if TYPE_CHECKING:
    from toolwire_schemas.wire.messages import Frame
    from toolwire_tools import Entry
    from toolwire_tools.handler import Gate

    from ..protocol.catalog import Catalog
    from ..protocol.lifecycle import Identity
    from ..settings import Settings
    from ..tasks.session_tasks import SessionTasks
    from ..watchdog.board import Board
    from .client_filter import ClientFilter
    from .event_loop import EventLoop
    from .heartbeat import Heartbeat
    from .lifespans import Lifespans
    from .open_elicitations import OpenElicitations
    from .worker_pool import Answers

Outcome = dict[str, Any] | BaseException
Read = Callable[[], bytes | list[bytes]]
"""Waits for input of the client, and returns it, nothing at the end; or returns responses to calls
that are complete now.
"""

_CLEAN_UP_SECONDS = 0.2
"""The time for `finally` blocks of tools that are cancelled at the end: with the grace, still below
the two seconds after which clients send signals."""

_MAX_WAITING_NOTIFICATIONS = 1000
"""How many messages may wait in the outbox before notifications that nothing slows down are
skipped: heartbeats, and the progress and log messages of async tools."""

_MAX_ANSWERS_BYTES = 256 * 1024
"""How many bytes of responses one read may collect before they are sent."""


class Session:
    """Serves one client through *write*, which gets whole framed messages, from one thread at a
    time. *takes_headers* is whether the client may choose `Content-Length` headers.
    """

    watch_calls: Callable[[], None] | None = None
    """Called before a call runs in this process, unless `are_calls_watched`: starts the watchdog.
    """
    are_calls_watched = False
    board: Board | None = None
    log_level: int | None = None
    reader: Any = None
    """The `Reader` of standard input, if the client is there."""
    notifies_of_changes = True
    """False while the client cannot have seen a list."""

    def __init__(
        self,
        catalog: Catalog,
        identity: Identity,
        settings: Settings,
        write: Write,
        *,
        takes_headers: bool = True,
    ) -> None:
        self._settings = settings
        self._default_seconds = settings.timeout_seconds
        framing = AutoFraming if takes_headers else Lines
        self._framing = framing(settings.max_message_bytes)
        self._filter: ClientFilter | None = None
        self._receive = self.decide
        self.timers = Timers()
        self._protocol = ServerProtocol(catalog, identity, settings, host=self)
        self.in_flight = self._protocol.in_flight
        self.eras = self._protocol.eras
        self.is_idle = self.in_flight.is_idle
        self.writer = MessageWriter(
            write, self._framing, self.timers, settings.max_unsent_bytes, self._make_room
        )
        self.wait_for_room = self.writer.wait_for_room
        self._workers = WorkerPool(self._run, self._refuse, self.writer, self.timers, settings)
        self.backlog = self._workers.backlog
        self.loop: EventLoop | None = None
        self._heartbeat: Heartbeat | None = None
        self._open_elicitations: OpenElicitations | None = None
        self._tasks: SessionTasks | None = None
        self._reading = False
        self._refusing = False
        self.is_ending = False
        self.session_id = os.urandom(8).hex()
        self.session_state: dict[str, Any] = {}
        """Values that tools keep for each other: while the client is connected, in this process."""
        self.lifespans: Lifespans | None = None
        self.resource_changed = self.announce  # a server replaces it, to notify all its sessions
        # Set in a copy of the process that a tool has forked: ends it when the tool returns.
        self._leave: Callable[[Outcome], None] | None = None
        if any(name.startswith("OTEL_") for name in os.environ):
            from ..tracing import trace

            trace(self, identity)

    def start_reading(self, read: Read, at_end: Callable[[], None]) -> None:
        """Serve the stream that *read* returns in pieces, until it returns nothing; then call
        *at_end*.
        """

        def read_and_decide() -> Answers | None:
            try:
                if self.writer.is_full:
                    self.writer.wait_for_room()
                data = read()
                if isinstance(data, list):
                    return data
                if self.is_ending:
                    return None
                if data:
                    return self._receive(self._framing.feed(data))
                self._reading = False
            # The outer edge: going on could leave a request without a response for ever.
            except Exception as bug:
                log.traceback("reading failed, so the server exits", bug)
            at_end()
            return None

        self._reading = True
        self.timers.start()  # which retries for everything else that gets no thread
        self._workers.start_reading(read_and_decide)

    def get_state(self, entry: Entry) -> Any:
        """Return `context.state` for a call of *entry*: the value of its lifespan."""
        if entry.lifespan is None or self.lifespans is None:
            raise RuntimeError(
                f"{entry.name} has no context.state: define __lifespan__ in its module"
            )
        return self.lifespans.get_value(entry.lifespan)

    def feed(self, data: bytes) -> None:
        """Process *data*, any part of the stream, without waiting for the calls in it."""
        self.writer.write_or_enqueue(self._receive(self._framing.feed(data)))
        self._workers.serve_backlog()

    def end(self) -> None:
        """Send the responses that are ready within the grace, and nothing else; then stop.

        The order matters: input ends before calls, calls before what they use (lifespans, the event
        loop, timers), and the writer last, since each of these may still send something.
        """
        if self._filter is not None:
            self._filter.prepare_end()
        grace = self._settings.grace_seconds
        deadline = time.monotonic() + grace
        self.is_ending = True
        # Else it ends for another reason, and the input belongs to the reader.
        if not self._reading:
            self.writer.enqueue_all(self._receive(self._framing.close()))
        self._workers.serve_backlog()
        if grace:  # else tools have no time to react
            self._fail_open_elicitations()
        # Calls may finish within the grace.
        idle = threading.Event()
        self.in_flight.notify_when_idle(idle.set)
        idle.wait(min(grace, threading.TIMEOUT_MAX))
        self._workers.finish(deadline)
        # Those that have not finished get no response.
        self.writer.enqueue_all(self._protocol.end_subscriptions())
        self._end_open_calls()
        self._fail_open_elicitations()
        if self._tasks is not None:
            self._tasks.close()
        until = max(deadline, time.monotonic() + _CLEAN_UP_SECONDS)
        if self.lifespans is not None:
            self.lifespans.leave(until)
        if self.loop is not None:
            self.loop.finish(min(max(until - time.monotonic(), 0.0), _CLEAN_UP_SECONDS))
        self.timers.stop()  # one may be answering a call whose time was up
        self.writer.finish(max(deadline - time.monotonic(), _CLEAN_UP_SECONDS))
        if self._filter is not None:
            self._filter.end()

    def replace(self, catalog: Catalog) -> None:
        """Serve other tools from the next call on, and notify the client."""
        news = self._protocol.replace(catalog, notifies=self.notifies_of_changes)
        if self.lifespans is not None:
            self.lifespans.leave_unused()
        if not self.is_ending:
            self.writer.enqueue_all(news)

    def detach_after_fork(self, leave: Callable[[Outcome], None]) -> None:
        """Write nothing from now on, and *leave* when a tool ends: this process is a copy that a
        tool has forked.
        """
        self.writer.mute()
        self._leave = leave

    @property
    def is_copy(self) -> bool:
        """Whether a tool has forked this process."""
        return self._leave is not None

    def show_calls(self, board: Board) -> None:
        """Mark running calls on *board* from now on."""
        self.board = self._workers.board = board

    # In

    def run_accepted(self) -> None:
        """Run the calls that `decide` has accepted on another thread than the reading one."""
        self._workers.serve_backlog()

    @property
    def heartbeats_sent(self) -> int:
        """How many heartbeats were sent."""
        return 0 if self._heartbeat is None else self._heartbeat.sent

    @property
    def has_headers(self) -> bool:
        """Whether the client has chosen `Content-Length` headers."""
        return self._framing.wrap is not wrap_line

    @property
    def methods(self) -> Collection[str]:
        """All methods that this server has."""
        return self._protocol.methods

    def filter_with(self, client_filter: ClientFilter) -> None:
        """Pass all frames to *client_filter* from now on."""
        self._filter = client_filter
        self._receive = client_filter.receive

    def remove_filter(self) -> None:
        """Take all frames directly from now on."""
        self._filter = None
        self._receive = self.decide

    def declare(self, capabilities: dict[str, Any]) -> None:
        """Declare *capabilities* from now on: what there is, is not known yet."""
        self._protocol.declare(capabilities)

    def decide(self, frames: list[Frame]) -> Answers:
        """Decide about *frames*, in their order; return the immediate responses.

        One thread at a time calls this.
        """
        answers: Answers = []
        size = 0
        receive = self._protocol.receive
        if self.writer.is_full is not self._refusing:  # has changed since the last input
            self._refuse_if_unread()
        for frame in frames:
            for decision in receive(frame):
                if type(decision) is Call:
                    self.accept(decision)
                elif type(decision) is Send:
                    answers.append(decision.message)
                    size += len(decision.message)
                    if size > _MAX_ANSWERS_BYTES:
                        self.writer.enqueue_all(answers)
                        answers, size = [], 0
                        self._refuse_if_unread()
                elif type(decision) is Cancel:
                    self.stop(decision.call)
                elif type(decision) is ElicitationReply:
                    decision.wake(decision.reply)
        return answers

    def accept(self, call: Call) -> None:
        """Start *call*, or keep it for the worker that has read it, or that `run_accepted`
        wakes.
        """
        handler = call.handler
        if not self.are_calls_watched and handler.gate is None and self.watch_calls is not None:
            self.watch_calls()
        if handler.is_async:
            self._start_async(call)
        else:
            self.backlog.append(call)

    def _refuse_if_unread(self) -> None:
        """Refuse requests while the host leaves too many responses unread."""
        self._refusing = self.writer.is_full
        self._protocol.refuse_requests(self._refusing)
        if self._refusing:
            log.warn_rarely(
                "unsent",
                f"requests are refused until the host reads: {self.writer.describe_unread()}",
            )

    def stop(self, call: Call) -> None:
        """Stop the tool of *call*, which has ended. Never blocks."""
        if call.handler.is_async:
            if self.loop is not None:
                self.loop.cancel(call)
        else:
            self._workers.abandon(call)
            stop = call.stop
            if stop is not None:
                stop()

    def _end_open_calls(self) -> None:
        calls = self.in_flight.end_all()
        for call in calls:
            self.stop(call)
        if calls:
            names = ", ".join(sorted({call.entry.name for call in calls}))
            running = "a running call" if len(calls) == 1 else f"{len(calls)} running calls"
            log.warning(
                f"the server exited before {running} finished ({names}); --limit"
                " grace_seconds=SECONDS allows more time"
            )

    # Running

    def _run(self, call: Call) -> None:
        """Run a synchronous tool and answer, or queue the call at its gate; on a worker.

        A gate is before handlers that forward calls to other processes, of which there are few.
        """
        handler = call.handler
        gate = handler.gate
        if gate is not None and not gate.enter(call):
            return
        if call.ended and call.rest is None:
            self.in_flight.release(call)
        else:
            if call.limit is None and (call.entry.options.timeout_seconds or self._default_seconds):
                self._limit(call)
            try:
                outcome: Outcome | None = handler.call(call.arguments, call, call.strict_arguments)
            except BaseException as error:  # the outer edge: a tool may raise SystemExit too
                outcome = error
            if outcome is None:  # it waits without a thread, and the handler continues it
                return
            if self._leave is not None:
                self._leave(outcome)
            message = self.end_call(call, outcome)
            # While more calls wait, responses are collected: one write for many quick calls.
            if message is not None and not (self.backlog and self.writer.buffer(message)):
                self.writer.write(message)
        if gate is not None:
            self._leave_gate(gate, call)

    def _leave_gate(self, gate: Gate[Call], call: Call) -> None:
        following = gate.leave(call)
        if following is not None:
            self.backlog.append(following)
            self._workers.serve_backlog()

    def _refuse(self, call: Call, problem: str) -> None:
        # No worker is left to run the call.
        gate = call.handler.gate
        if gate is not None and gate.enter(call):
            self._leave_gate(gate, call)
        message = self.in_flight.refuse(call, problem)
        if message is not None:
            self.writer.enqueue(message)

    def end_call(self, call: Call, outcome: Outcome) -> bytes | None:
        """End *call* and return its response; `None` if nothing waits for one."""
        if call.limit is not None:
            self.timers.cancel(call.limit)
        try:
            if isinstance(outcome, dict):
                return self.in_flight.finish(call, outcome)
            return self.in_flight.fail(call, outcome)
        except Exception as bug:  # the outer edge of a thread that must continue
            log.traceback(
                f"no response could be built for {call.entry.name}; please report this", bug
            )
            return self.in_flight.respond_internal_error(call)

    # Asynchronous tools

    def get_event_loop(self) -> EventLoop:
        """Return the event loop, which its first task starts."""
        if self.loop is None:
            from .event_loop import EventLoop
            from .loop_responses import LoopResponses

            with self.in_flight.lock:  # a lifespan may need it in its own thread
                self.loop = self.loop or EventLoop(
                    self.timers,
                    self.begin_async,
                    LoopResponses(self, estimate_size).deliver,
                    self.end_async,
                    lambda call: not self.writer.is_full,
                )
        return self.loop

    def _start_async(self, call: Call) -> None:
        try:
            loop = self.get_event_loop()
        except (ImportError, OSError) as error:  # a tool has used up the descriptors
            self.deliver(call, error)
        else:
            loop.put(call)

    def _make_room(self) -> None:
        if self.loop is not None:
            self.loop.make_room()

    def begin_async(self, call: Call) -> None:
        """Count the time of *call* from now on, and show it to the watchdog; on the event loop."""
        if self.board is not None:
            call.slot = self.board.take_slot(call.entry.name)
        self._limit(call)

    def end_async(self, call: Call) -> None:
        """Free what *call* holds: its task has ended; on the event loop."""
        if call.slot and self.board is not None:
            self.board.give_back(call.slot)
        if call.given_up:
            self.in_flight.release(call)

    def deliver(self, call: Call, outcome: Outcome) -> None:
        """Have the outbox answer *call*; on a thread that must not wait for the host."""
        if self._leave is not None:
            self._leave(outcome)
        self.writer.enqueue(partial(self.end_call, call, outcome), estimate_size(outcome))

    # The host of running calls

    def send_notification(self, call: Call, make: Callable[[], bytes | None], size: int) -> None:
        """Send progress or a log message: at once from a thread, but never from the event loop.

        A slow host may block the thread.
        """
        if call.handler.is_async:
            self.enqueue_notification(make, size)
        elif not self.is_ending:
            self.writer.write_made(make)

    def enqueue_notification(self, make: Callable[[], bytes | None], size: int) -> None:
        """Send the notification that *make* returns, unless too much is waiting. Never blocks."""
        if self.writer.count_waiting() < _MAX_WAITING_NOTIFICATIONS and not (
            self.writer.is_full or self.is_ending
        ):
            self.writer.enqueue_made(make, size)

    def announce(self, uri: str) -> None:
        """Notify the client if it watches the resource at *uri*. Never blocks."""
        watched = self.in_flight.watched
        if watched is not None:
            watched.announce(uri, self.writer)

    def expect_progress(self) -> None:
        """Send heartbeats while calls with a progress token are in flight. Only for the reading
        thread.
        """
        if self._heartbeat is not None:
            self._heartbeat.watch()
        elif seconds := self._settings.heartbeat_seconds:
            from .heartbeat import Heartbeat  # few hosts ask for progress

            self._heartbeat = Heartbeat(
                seconds, self.in_flight, self.timers, self.enqueue_notification
            )
            self._heartbeat.watch()

    # Time limits

    def _limit(self, call: Call, left: float | None = None) -> None:
        """Start the time of *call*: all of it, or the *left* seconds."""
        seconds = call.entry.options.timeout_seconds or self._default_seconds
        if seconds is not None:
            call.limit = self.timers.after(
                seconds if left is None else left, lambda: self._expire(call, seconds)
            )

    def _expire(self, call: Call, seconds: float) -> None:
        message = self.in_flight.expire(call, seconds)
        if message is not None:
            self.writer.enqueue(message)
        if call.given_up:
            self.stop(call)

    @contextmanager
    def without_limit(self, call: Call) -> Iterator[None]:
        """Stop the time of *call* inside the `with` block."""
        left = None if call.limit is None else self.timers.cancel(call.limit)
        try:
            yield
        finally:
            if left is not None and not call.ended:
                self._limit(call, left)

    @contextmanager
    def pause(self, call: Call) -> Iterator[None]:
        """Stop the time limit of *call*, and do not count its worker, inside the `with` block."""
        with self.without_limit(call), self._workers.allow_one_more():
            yield

    # Elicitations

    def get_elicitations(self) -> OpenElicitations:
        """Return the way to ask the client, whose module is imported for the first elicitation."""
        if self._open_elicitations is None:
            from .open_elicitations import OpenElicitations

            self._open_elicitations = OpenElicitations(
                self,
                self._protocol.get_elicitations(),
                self.writer,
                self._workers,
                self._settings.ask_seconds,
            )
        return self._open_elicitations

    def get_tasks(self) -> SessionTasks:
        """Return the tasks of the client, whose module is imported for the first client that can
        have some. Only for the reading thread.
        """
        if self._tasks is None:
            from ..tasks.session_tasks import SessionTasks

            self._tasks = SessionTasks(self, self._protocol, self._settings)
        return self._tasks

    def _fail_open_elicitations(self) -> None:
        if self._open_elicitations is not None:
            self._open_elicitations.fail_all()


def estimate_size(outcome: Outcome) -> int:
    """Return about how many bytes the response takes: its content, and as much again for what is
    structured.
    """
    if not isinstance(outcome, dict):
        return 0
    size = 0
    for block in outcome.get("content") or outcome.get("contents", ()):
        for value in block.values():
            if isinstance(value, str):
                size += len(value) * 2
    return size
