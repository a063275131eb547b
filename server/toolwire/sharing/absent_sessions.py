"""The sessions of a shared process that have ended, while there are tasks for their clients.

Strategy. A call runs in its session, whatever becomes of the client: so the session stays for as
long as a task of its runs, or has a result that no client has got and no store has. Handles cannot
be guessed. So a client is the same as an earlier one if it knows the handle of a task: the task is
handed over to its session, and only the call stays where it is.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

from toolwire_schemas.threads import start_thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..tasks.session_tasks import SessionTasks
    from ..tasks.task import Task
    from ..timers import Timers


class LeavingSession(Protocol):
    """A session whose client has gone."""

    @property
    def runs_task(self) -> bool:
        """Whether the call of a task runs there, whichever session has the task."""

    def end_now(self) -> None:
        """End it, and interrupt its tasks."""


MAX_ABSENT = 64
"""How many sessions stay. Each may keep as many tasks as one with a client."""

_LOOK_SECONDS = 0.5
"""How often to look for sessions that are not needed any more."""


class AbsentSessions:
    """The sessions without a client, which are ended once they are not needed.

    *on_change* is called after the number of them has changed, from any thread; it may block.
    """

    def __init__(self, timers: Timers) -> None:
        self.on_change: Callable[[], None] = lambda: None
        self.is_reachable = True
        """Whether this process takes new sessions: else only tasks that run are needed."""
        self._timers = timers
        self._lock = threading.Lock()
        self._sessions: dict[LeavingSession, SessionTasks] = {}  # the first to end first

    @property
    def count(self) -> int:
        """How many sessions there are."""
        return len(self._sessions)

    def has(self, session: object) -> bool:
        """Return whether *session* is one of them."""
        return session in self._sessions

    def add(self, session: LeavingSession, tasks: SessionTasks) -> bool:
        """Keep *session*, whose client has gone; return false if its *tasks* are not needed, or
        there is no room.
        """
        if not self._is_needed(session, tasks):
            return False
        with self._lock:
            if not self._make_room():
                return False
            self._sessions[session] = tasks
        tasks.open_to_others()
        self.on_change()
        self._timers.after(_LOOK_SECONDS, self._look)
        return True

    def take(self, id: str) -> Task | None:
        """Return the task *id* of a session without a client, which does not keep it."""
        for tasks in list(self._sessions.values()):
            task = tasks.give_up(id)
            if task is not None:
                return task
        return None

    def end_all(self) -> None:
        """End all sessions: the process ends."""
        with self._lock:
            sessions = list(self._sessions)
            self._sessions.clear()
        for session in sessions:
            session.end_now()

    def _make_room(self) -> bool:
        """Return whether there may be one more. Ends the first one of which no call runs. Only with
        the lock.
        """
        if len(self._sessions) < MAX_ABSENT:
            return True
        for session, tasks in self._sessions.items():
            if tasks.has_running or session.runs_task:
                continue
            del self._sessions[session]
            start_thread(session.end_now, "toolwire-session-end")
            return True
        return False

    def _is_needed(self, session: LeavingSession, tasks: SessionTasks) -> bool:
        if tasks.has_running or session.runs_task:
            return True
        return self.is_reachable and tasks.has_undelivered

    def _look(self) -> None:
        """End the sessions that are not needed any more."""
        ended = []
        with self._lock:
            for session, tasks in list(self._sessions.items()):
                if self._is_needed(session, tasks):
                    continue
                del self._sessions[session]
                ended.append(session)
            if self._sessions:
                self._timers.after(_LOOK_SECONDS, self._look)
        if ended:
            start_thread(self._end, "toolwire-session-end", ended)

    def _end(self, sessions: list[LeavingSession]) -> None:
        for session in sessions:
            session.end_now()
        self.on_change()
