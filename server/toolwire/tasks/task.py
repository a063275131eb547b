"""One task: a call that goes on after its request was answered.

Theory of operation. A call that becomes a task is still the same `Call`: it runs, reports, asks and
ends as any other. Only its response has another way: `Origin.recipient` is the task, which keeps
the response until the client asks for it, as a batch keeps those of its members. So all that makes
responses (limits, masked errors, results that are too large) holds for tasks, too.

The states and what changes them:

    working, input_required   ask, `remove_question`; either may follow the other
    completed, failed         `end`: the call has a result, or a JSON-RPC error
    cancelled                 `cancel`

The last three are final: the first of them counts, whatever comes later.
"""

from __future__ import annotations

import threading
import time
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from toolwire_schemas.wire import messages
from toolwire_schemas.wire.tasks import FINAL_STATUSES, Status

from ..protocol.call import STATUS_PROGRESS
from ..protocol.in_flight import make_cancelled_error
from .stored_task import describe

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..protocol.call import Call
    from ..protocol.elicitation import PendingElicitation
    from ..timers import Timer
    from .kept_jobs import KeptJob

MAX_MESSAGE_CHARACTERS = 2000
"""How much of a status message is kept: it is a line for a person, sent with every answer."""


class TaskHome(Protocol):
    """The session that runs the call of a task."""

    def end_call(self, call: Call) -> bool:
        """End a call, which another session may have the task of; return whether it ran."""

    def close_question(self, pending: PendingElicitation) -> bool:
        """Remove an elicitation; return whether it was open."""


class TaskOutcome(NamedTuple):
    """The end of a task."""

    status: Status
    message: str | None
    at: float
    member: bytes
    """As `Task.outcome`."""


class Task:
    """The task *id* of *call*, whose outcome is kept for *keep_seconds* after its end.

    *changed* is called after each change that clients see, from any thread; it must not block.
    *save* is called before the task is seen to be final, and returns whether a store has the
    outcome.
    """

    size = 0
    """As `Recipient.size`: the response is sent in no message with others."""

    def __init__(
        self,
        id: str,
        call: Call,
        keep_seconds: float,
        changed: Callable[[Task], None],
        save: Callable[[Task, TaskOutcome], bool],
    ) -> None:
        assert call.id is not None
        self.id = id
        self.request_id = call.id
        """That of the request that was answered with this task."""
        self.call: Call | None = call
        """`None` once it has ended."""
        self.tool = call.entry.name
        self.keep_seconds = keep_seconds
        self.kept_bytes = 0
        """How many bytes its outcome takes, here or in a store."""
        self.is_modern = call.origin.modern
        self.status: Status = "working"
        self.message = call.status_message
        """The latest status message of its tool."""
        self.progress: dict[str, float] = {}
        """The latest `progress` of its tool and the `total`, if that is known."""
        self.outcome = b""
        """The member `result` or `error` of its response, as JSON: `"result":{...}`."""
        self.questions: dict[str, PendingElicitation] = {}
        """The elicitations that wait, by their keys, none of which is used twice."""
        self.created = self.updated = time.time()
        self.changes = 0
        """How often it has changed in a way that clients see."""
        self.is_delivered = False
        """Whether the client has got the outcome: then it may be forgotten for newer ones."""
        self.is_stored = False
        """Whether its outcome is in a store, too."""
        self.expiry: Timer | None = None
        self.save_job: Callable[[KeptJob], None] | None = None
        """Notes in the store where the job of its call is found again."""
        self.home: TaskHome | None = None
        """The session that runs its call, whichever session has it."""
        self._asked = 0
        self._used_keys = {"answer"}
        """Keys that get a number when they are used again: always, if the author gives none."""
        self._changed = changed
        self._save = save
        self._lock = threading.Lock()
        self._head_bytes = len(messages.encode_response_of_json(call.id, b"")) - len(b'"result":}')

    @property
    def is_final(self) -> bool:
        """Whether its state will never change again."""
        return self.status in FINAL_STATUSES

    def hand_over(
        self,
        changed: Callable[[Task], None],
        save: Callable[[Task, TaskOutcome], bool],
    ) -> None:
        """Report changes to *changed* and the end to *save* from now on: another session has it."""
        self._changed = changed
        self._save = save

    def end(self, response: bytes | None) -> None:
        """Take the *response* of the call, as a `Recipient`: nothing is to be sent now."""
        assert response is not None
        outcome = response[self._head_bytes : -1]
        self._finish("completed" if outcome.startswith(b'"result"') else "failed", outcome)

    def get_outcome(self) -> TaskOutcome:
        """Return the end of the task, which is final."""
        return TaskOutcome(self.status, self.message, self.updated, self.outcome)

    def copy_without_outcome(self) -> Task:
        """Return the same task, whose outcome is in a store. Readers of this one still have it."""
        stored = copy(self)
        stored.outcome = b""
        return stored

    def interrupt(self, outcome: bytes) -> None:
        """Note that the server ends before the call, with this *outcome*."""
        self._finish("failed", outcome)

    def cancel(self) -> None:
        """Note that the client has cancelled the call, which has ended."""
        self._finish("cancelled", b"")

    def report(self, done: float, total: float | None, message: str | None) -> None:
        """Take a progress report of the tool as the status message."""
        if message is None:
            message = f"{done:g}" if total is None else f"{done:g} of {total:g}"
        with self._lock:
            if self.is_final:
                return
            self.message = message[:MAX_MESSAGE_CHARACTERS]
            # A status message has no progress of its own (`Call.status`).
            if total is not None and done > self.progress.get("progress", STATUS_PROGRESS):
                self.progress = {"progress": done, "total": total}
            self.changes += 1
        self._changed(self)

    def ask(self, pending: PendingElicitation) -> None:
        """Show *pending* to the client, until `remove_question`."""
        with self._lock:
            if self.is_final:
                return
            self._asked += 1
            key = pending.input_key
            if key in self._used_keys:
                key = f"{key}-{self._asked}"
            self._used_keys.add(pending.input_key)
            self.questions[key] = pending
            self._set("input_required")
        self._changed(self)

    def remove_question(self, pending: PendingElicitation) -> None:
        """Show *pending* no longer: it was answered, or the tool waits no longer."""
        with self._lock:
            found = [key for key, each in self.questions.items() if each is pending]
            for key in found:
                del self.questions[key]
            if not found or self.is_final:
                return
            self._set("input_required" if self.questions else "working")
        self._changed(self)

    def describe(self) -> dict[str, Any]:
        """Return what both forms on the wire show, under the names of the newer one."""
        with self._lock:
            return describe(self)

    def _finish(self, status: Status, outcome: bytes) -> None:
        if self.is_final:
            return
        end = TaskOutcome(status, self.message, time.time(), outcome)
        is_stored = self._save(self, end)
        with self._lock:
            if self.is_final:
                return
            self.outcome = outcome
            self.is_stored = is_stored
            self.status, self.updated = end.status, end.at
            self.changes += 1
            waiting = list(self.questions.values())
            self.questions.clear()
            call, self.call = self.call, None  # which may hold much
        for pending in waiting:
            if call is not None:
                pending.wake(make_cancelled_error(call))
        self._changed(self)

    def _set(self, status: Status) -> None:
        self.status = status
        self.updated = time.time()
        self.changes += 1
