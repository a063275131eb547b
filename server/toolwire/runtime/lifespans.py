"""Lifespans: resources that a module or a server opens before the first call and closes after the
last.

Strategy. A session enters them when it begins, before it reads, and not at the first call. So a
server that cannot open its database fails as one that cannot be imported: when the host starts it,
not when a model needs it. Resources may belong to a thread or an event loop, so one task enters and
leaves each: a thread of its own for a synchronous one, a task on the loop of the async tools for an
asynchronous one. The process exits in time even if that task hangs.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)
from functools import partial
from typing import TYPE_CHECKING, Any

from toolwire_schemas.threads import start_thread

from .. import log
from ..errors import LifespanFailed

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from toolwire_tools import Tool
    from toolwire_tools.handler import Gate

    from ..protocol.call import Call
    from ..protocol.in_flight import InFlight
    from ..timers import Timers
    from .event_loop import EventLoop

    class SessionServices(Protocol):
        """What lifespans need of a `Session`."""

        lifespans: Lifespans | None
        timers: Timers
        in_flight: InFlight

        def get_event_loop(self) -> EventLoop:
            """Return the event loop of asynchronous tools."""

        def end(self) -> None:
            """End the session, and with it its threads."""

    Manager = AbstractContextManager[object] | AbstractAsyncContextManager[object]
    Lifespan = Callable[..., Any]
    """Returns a context manager, synchronous or not. Takes nothing, or the `Server`."""

_ENTER_SECONDS = 60.0
"""The same as the start of a worker process has. Hosts give up a server that is silent for 10 to 60
seconds.
"""

_LOOK_SECONDS = 0.1
"""How often calls of replaced tools are looked for. The reader may be about to begin one when tools
are replaced.
"""

_EXIT_SECONDS = 0.2
"""The time for leaving if another lifespan fails, or the process ends in another way than by the
end of its session.
"""


def enter(
    session: SessionServices, tools: list[Tool], own: Lifespan | None, server: object
) -> None:
    """Enter in *session* the lifespans of *tools* that are not entered yet, and the server's *own*.

    They get *server* if they take an argument. The worker processes of isolated tools enter their
    own.

    Raises:
        LifespanFailed: if one fails or takes too long; the new ones are left then, and a new
            session ends.
    """
    here = [tool.entry.lifespan for tool in tools if tool.handler.gate is None]
    wanted = dict.fromkeys([*([own] if here or not tools else []), *here])
    is_new = session.lifespans is None
    entered = session.lifespans = session.lifespans or Lifespans(server, session)
    gates: set[Gate[Call]] = set()
    for tool in tools:
        if tool.handler.gate is not None and tool.entry.lifespan is not None:
            gates.add(tool.handler.gate)
    try:
        entered.enter([lifespan for lifespan in wanted if lifespan is not None], gates)
    except BaseException:
        if is_new:
            session.end()
        raise


class Lifespans:
    """The lifespans that a session has entered, by function: modules that share a function share
    the value.
    """

    def __init__(self, server: object, session: SessionServices) -> None:
        self._server = server
        self._session = session
        self._wanted: frozenset[Lifespan] = (
            frozenset()
        )  # those of the tools served, and of the next while they enter
        self._newest = self._wanted
        self._gates: set[Gate[Call]] = set()
        self._entered: dict[Lifespan, _Entered] = {}
        self._lock = (
            threading.Lock()
        )  # for what is wanted, what is entered, and whether a timer looks
        self._looking = False
        self._process = os.getpid()
        atexit.register(self._leave_at_exit)

    def enter(self, wanted: list[Lifespan], gates: set[Gate[Call]]) -> None:
        """Enter those *wanted* that are not entered yet, all or none; raises `LifespanFailed`.

        *gates* are those of worker processes that enter lifespans, which are waited for at the end.
        """
        with self._lock:  # from here on, none of them is left as unused
            before, self._wanted = self._wanted, self._wanted.union(wanted)
            new = [_Entered(lifespan) for lifespan in wanted if lifespan not in self._entered]
        for place, entered in enumerate(new):
            try:
                entered.enter(self._server, self._session.get_event_loop)
            except LifespanFailed:
                self._wanted = before
                entered.leave()
                _leave(new[:place], time.monotonic() + _EXIT_SECONDS)
                raise
        with self._lock:
            self._entered.update({entered.lifespan: entered for entered in new})
        self._newest, self._gates = frozenset(wanted), gates

    def get_value(self, lifespan: Lifespan) -> Any:
        """Return the value of *lifespan*."""
        entered = self._entered.get(lifespan)
        if entered is None or entered.left.is_set():
            raise RuntimeError(
                f"there is no context.state any more: {_name_lifespan(lifespan)} was left"
            )
        return entered.value

    def leave_unused(self) -> None:
        """Leave those not wanted any more, each soon after the last call that uses it. Never
        blocks.
        """
        self._wanted = self._newest
        self._look_later()

    def _look_later(self) -> None:
        with self._lock:
            if not (self._looking or self._wanted.issuperset(self._entered)):
                self._session.timers.after(_LOOK_SECONDS, self._leave_unused)
                self._looking = True

    def _leave_unused(self) -> None:
        used = {call.entry.lifespan for call in self._session.in_flight.list_running()}
        with self._lock:
            self._looking = False
            unused = [
                lifespan
                for lifespan in self._entered
                if lifespan not in self._wanted and lifespan not in used
            ]
            left = [self._entered.pop(lifespan) for lifespan in reversed(unused)]
        for entered in left:
            entered.leave()
        self._look_later()

    def leave(self, deadline: float) -> None:
        """Leave all, the last first; return when that is done, or at *deadline* (monotonic time).

        Half of the time is for calls that were ended and still clean up.
        """
        atexit.unregister(self._leave_at_exit)
        deadline = min(deadline, time.monotonic() + threading.TIMEOUT_MAX)
        with self._lock:
            lifespans, self._entered = self._entered, {}
        for gate in self._gates:
            gate.retire()

        in_flight = self._session.in_flight
        with in_flight.returned:  # a session that ends has given up all its calls
            in_flight.returned.wait_for(
                lambda: not any(call.entry.lifespan in lifespans for call in in_flight.lingering),
                max(0.0, deadline - time.monotonic()) / 2,
            )
        entered = list(lifespans.values())
        _leave(entered, deadline)
        for gate in self._gates:
            gate.wait(deadline)
        late = [each.name for each in entered if not each.left.is_set()]
        if late:
            log.warning(
                f"the server exited before {', '.join(late)} was left; --limit"
                " grace_seconds=SECONDS allows more time"
            )

    def _leave_at_exit(self) -> None:
        if os.getpid() == self._process:  # a fork has none of the threads
            self.leave(time.monotonic() + _EXIT_SECONDS)


def _leave(entered: list[_Entered], deadline: float) -> None:
    """Leave all, the last first, each for no longer than until *deadline*."""
    for each in reversed(entered):
        each.leave()
        each.left.wait(max(0.0, deadline - time.monotonic()))


class _Entered:
    """One lifespan: the task that enters it, waits until it is to be left, and leaves it."""

    def __init__(self, lifespan: Lifespan) -> None:
        self.name = _name_lifespan(lifespan)
        self.value: Any = None
        self.left = threading.Event()
        self.lifespan = lifespan
        self._error: BaseException | None = None
        self._ready = threading.Event()
        self._leaving = threading.Event()
        self._wake: Callable[[], object] = lambda: None  # wakes the task on the loop

    def enter(self, server: object, loop: Callable[[], EventLoop]) -> None:
        """Return when it is entered; raises `LifespanFailed` if it cannot be, from the error of the
        author's code.
        """
        start_thread(self._run, "toolwire-lifespan", server, loop)
        if not self._ready.wait(_ENTER_SECONDS):
            raise LifespanFailed(f"{self.name} was not entered within {_ENTER_SECONDS:g} seconds")
        if (error := self._error) is not None:
            if isinstance(error, LifespanFailed):
                raise error
            raise LifespanFailed(
                f"{self.name} cannot be entered: {type(error).__name__}"
            ) from error

    def leave(self) -> None:
        """Have the task leave it. Never blocks."""
        self._leaving.set()
        self._wake()

    def _run(self, server: object, loop: Callable[[], EventLoop]) -> None:
        try:
            manager = _make_manager(self.lifespan, server)
            if isinstance(manager, AbstractAsyncContextManager):
                the_loop = loop()
                the_loop.spawn(partial(self._run_async, manager, the_loop))
                return
            with manager as self.value:
                self._ready.set()
                self._leaving.wait()
        except BaseException as error:  # the author's code may raise anything
            self._fail(error)
        self.left.set()

    async def _run_async(
        self, manager: AbstractAsyncContextManager[object], loop: EventLoop
    ) -> None:
        from anyio import Event, get_cancelled_exc_class

        leaving = Event()
        self._wake = partial(loop.run_soon, leaving.set)
        try:
            async with manager as self.value:
                self._ready.set()
                if not self._leaving.is_set():
                    await leaving.wait()
        except get_cancelled_exc_class():
            self._ready.set()
            raise
        except BaseException as error:  # anything else would end the loop
            self._fail(error)
        finally:
            self.left.set()

    def _fail(self, error: BaseException) -> None:
        if self._ready.is_set():
            log.traceback(f"{self.name} failed when it was left", error)
        self._error = error
        self._ready.set()


def _make_manager(lifespan: Lifespan, server: object) -> Manager:
    """Return the context manager of *lifespan*; raises `LifespanFailed` if it makes none."""
    import inspect

    from toolwire_schemas.signatures import read_signature

    if not callable(lifespan):
        kind = type(lifespan).__name__
        raise LifespanFailed(
            "a lifespan (`__lifespan__`) must be a function that returns a context manager, not"
            f" {kind}"
        )
    if inspect.isasyncgenfunction(lifespan):
        lifespan = asynccontextmanager(lifespan)
    elif inspect.isgeneratorfunction(lifespan):
        lifespan = contextmanager(lifespan)
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = read_signature(lifespan).parameters.values()
    takes_server = any(
        each.kind in positional and each.default is each.empty for each in parameters
    )
    manager = lifespan(server) if takes_server else lifespan()
    if not isinstance(manager, (AbstractAsyncContextManager, AbstractContextManager)):
        kind = type(manager).__name__
        raise LifespanFailed(
            f"{_name_lifespan(lifespan)} must return a context manager, not {kind}; did you forget"
            " `yield`?"
        )
    return manager


def _name_lifespan(lifespan: Lifespan) -> str:
    inner = lifespan.func if isinstance(lifespan, partial) else lifespan
    named = inner if hasattr(inner, "__qualname__") else type(inner)
    return f"{named.__module__}.{named.__qualname__}"
