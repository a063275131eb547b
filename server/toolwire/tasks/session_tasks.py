"""The tasks of one session: how calls become tasks, and the requests about them.

Theory of operation. `begin` is called for each call of a client that can have tasks. In the newer
form the server decides: a call becomes a task at once, or when it has not ended for a while
(`SlowCalls`). In the older one the client asks for it. `_detach` is the only step from a call to a
task: it answers the request with the handle, and whatever answers the call goes to the task.

Handles are random, so that no client can guess another's, and only this session finds them. In a
process with several sessions, another one may take over a task whose session has ended.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import UNSET, UnsetType
from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import encode_plain
from toolwire_schemas.wire.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    META_CLIENT_CAPABILITIES,
    METHOD_NOT_FOUND,
    OVERLOADED,
)
from toolwire_schemas.wire.tasks import (
    MISSING_CLIENT_CAPABILITY,
    REQUIRED_CAPABILITIES,
    TASKS_EXTENSION,
    TASKS_REVISION,
    declares_tasks,
)

from .. import log
from ..errors import RequestError
from ..protocol.call import Cancel, ElicitationReply, Origin, Send
from ..protocol.lifecycle import complete_modern_result
from ..protocol.subscriptions import (
    RESULT,
    TASK,
    find_subscriptions,
    open_request,
    take_open_requests,
)
from . import forms
from .kept_jobs import keep_if_task
from .polls import KnownState, Polls
from .slow_calls import SlowCalls
from .stored_task import StoredTask, StoreError, encode_interruption
from .task import Task

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_schemas.wire.messages import Id

    from ..protocol.call import Call, Decision, Request
    from ..protocol.elicitation import PendingElicitation
    from ..protocol.server_protocol import ServerProtocol
    from ..settings import Settings
    from ..timers import Timers
    from .kept_jobs import KeptJob
    from .store import TaskStore
    from .task import TaskOutcome

    Decisions = tuple[Decision, ...]
    AnyTask = Task | StoredTask


class Outbox(Protocol):
    """Writes messages, whichever thread they come from."""

    def enqueue(self, item: bytes, size: int = 0, /) -> None:
        """Write a message soon. Never blocks."""


class TaskHost(Protocol):
    """What tasks need of their session."""

    timers: Timers

    @property
    def writer(self) -> Outbox:
        """Writes the messages of the session."""

    def enqueue_notification(self, make: Callable[[], bytes | None], size: int) -> None:
        """Send the notification that *make* returns, unless too much is waiting. Never blocks."""


class AbsentTasks(Protocol):
    """The tasks of sessions of this process that have ended."""

    def take(self, id: str) -> Task | None:
        """Return the task *id*, which its session does not keep."""


_NOTIFICATION_BYTES = 400
"""About the size of a notification without an outcome."""


_IMMEDIATE = ("always", "required")
"""What `Options.task` says of tools whose calls become tasks at once."""

_MAX_STATE_BYTES = 4096
"""Up to this size, a state is kept as it was sent: a larger one has a result, and is asked for
once."""


_LOOK_SECONDS = 0.5
"""How often the store is asked for the end of a job that an earlier server has begun."""

_UNKNOWN = "Unknown task: it has expired, or was made by another client or an earlier server"


class SessionTasks:
    """Makes, keeps and reports the tasks of the client of *protocol*, within the limits of
    *settings*.
    """

    absent: AbsentTasks | None = None
    """The tasks that this session may take over."""

    def __init__(self, host: TaskHost, protocol: ServerProtocol, settings: Settings) -> None:
        self._host = host
        self._protocol = protocol
        self._in_flight = protocol.in_flight
        self._identity = protocol.identity
        self._settings = settings
        self._makes_all_tasks = settings.task_after_seconds == 0
        self._lock = threading.Lock()
        self._tasks: dict[str, Task] = {}  # the oldest first
        self._states: dict[tuple[str, bool], KnownState] = {}  # by task and form
        self._polls = protocol.polls = Polls()
        self._kept_bytes = 0
        self._reason = "the call has ended"
        self._session = os.urandom(16).hex()
        self._store = _open_store(settings)
        self._announced: set[tuple[str, Id | None]] = set()  # waiting to be written
        self._slow_calls = SlowCalls(
            settings.task_after_seconds, self._find_candidates, self._detach_slow, host.timers
        )
        self._modern_methods = {
            "tasks/get": self._get,
            "tasks/update": self._update,
            "tasks/cancel": self._cancel,
        }
        self._legacy_methods = {
            "tasks/get": self._get_legacy,
            "tasks/result": self._respond_with_outcome,
            "tasks/cancel": self._cancel_legacy,
            "tasks/list": self._list,
        }

    # Calls that become tasks

    def begin(self, call: Call, params: dict[str, Any]) -> Decisions:
        """Return what to send for *call*, which is in flight, before it runs: the handle of its
        task, if it becomes one at once.

        Raises:
            RequestError: if it has to be a task, or must not be one; it has ended then.
        """
        support = call.entry.options.task
        is_immediate = support in _IMMEDIATE or self._makes_all_tasks
        if call.origin.modern and not is_immediate:
            # The way of most calls: whether this one may become a task is asked if it takes long.
            self._slow_calls.watch()
            return ()
        if call.id is None:
            return ()
        begun = self._in_flight.get(call.id)  # if *call* continues a parked one, that
        if begun is None:
            return ()
        call = begun
        try:
            if call.origin.modern:
                return self._begin_modern(call)
            if "task" in params:
                return self._begin_legacy(call, params["task"])
        except RequestError:
            self._in_flight.end(call)
            raise
        return ()

    def _begin_modern(self, call: Call) -> Decisions:
        if not _may_become_task(call):
            return ()
        task = self._detach(call, self._settings.task_ttl_seconds)
        if task is not None:
            return (Send(self._encode_created(task)),)
        if call.entry.options.task == "required":
            raise self._make_refusal()
        return ()

    def _begin_legacy(self, call: Call, asked: Any) -> Decisions:
        if self._protocol.eras.version != TASKS_REVISION or call.origin.recipient is not None:
            return ()  # a batch, or a revision in which the parameter means nothing
        keep_seconds = self._read_ttl(asked)
        if call.entry.options.task not in ("auto", *_IMMEDIATE):
            raise RequestError(
                METHOD_NOT_FOUND, f"{call.entry.name} cannot be a task: call it without `task`"
            )
        task = self._detach(call, keep_seconds)
        if task is None:
            raise self._make_refusal()
        return (Send(self._encode_created(task)),)

    def _read_ttl(self, asked: Any) -> float:
        """Return how many seconds the outcome is kept, as the client *asked* for it."""
        most = self._settings.task_ttl_seconds
        if not isinstance(asked, dict):
            raise RequestError(INVALID_PARAMS, "params.task must be an object, such as {}")
        ttl = asked.get("ttl")
        if ttl is None:
            return most
        if type(ttl) is not int or ttl < 1:
            raise RequestError(
                INVALID_PARAMS, "params.task.ttl must be a positive integer: milliseconds"
            )
        return min(ttl, most * 1000) / 1000

    def require(self, params: dict[str, Any], origin: Origin) -> None:
        """Raise a `RequestError` unless a call with *params*, of a tool that runs only as a task,
        can be one.
        """
        if origin.modern:
            _check_declared(params)
        elif self._protocol.eras.version != TASKS_REVISION or "task" not in params:
            raise RequestError(
                METHOD_NOT_FOUND, "This tool runs only as a task: call it with params.task"
            )

    def _find_candidates(self) -> list[Call]:
        return [call for call in self._in_flight.list_running() if _may_become_task(call)]

    def make_task(self, call: Call) -> None:
        """Make *call* a task now, if its client waits for it and there is room. From any thread."""
        if _may_become_task(call):
            self._detach_slow(call)

    def _detach_slow(self, call: Call) -> None:
        task = self._detach(call, self._settings.task_ttl_seconds)
        if task is not None:
            self._host.writer.enqueue(self._encode_created(task))

    def _detach(self, call: Call, keep_seconds: float) -> Task | None:
        """Let *call* go on as a task; `None` if there is no room for one, or it has just ended."""
        task = Task(os.urandom(16).hex(), call, keep_seconds, self._note_change, self._save_outcome)
        task.home = self
        with self._lock:
            if not self._make_room() or not self._save(task, call):
                return None
            self._tasks[task.id] = task
        if self._store is not None:
            task.save_job = partial(self._save_job, self._store, task.id)
        with self._in_flight.lock:
            is_awaited = not call.ended and self._in_flight.get(task.request_id) is call
            if is_awaited:
                self._in_flight.park(call)
                call.task = task
                call.origin = Origin(call.origin.size, task, call.origin.modern)
        if is_awaited:
            keep_if_task(call, task)
            return task
        with self._lock:
            self._forget(task)
        return None

    def _save_job(self, store: TaskStore, id: str, job: KeptJob) -> None:
        """Note where a later server finds the job of the task *id*, if it can be written."""
        try:
            store.keep_job(id, job)
        except StoreError as error:
            log.warn_rarely("kept job", f"a job will not be found after a crash: {error}")

    def _save(self, task: Task, call: Call) -> bool:
        """Write a new task into the store, if there is one; return whether it will survive."""
        if self._store is None:
            return True
        try:
            self._store.add(task, call.entry.name, self._session)
        except StoreError as error:
            self._refuse_tasks(f"the task store cannot be used ({error})")
            return False
        return True

    def _make_room(self) -> bool:
        """Return whether there may be one more task. Forgets outcomes that the client has got, the
        oldest first. Only with the lock.
        """
        settings = self._settings
        while len(self._tasks) >= settings.max_tasks or self._kept_bytes > settings.max_task_bytes:
            delivered = next((task for task in self._tasks.values() if task.is_delivered), None)
            if delivered is None:
                self._refuse_tasks(self._describe_limit())
                return False
            self._forget(delivered)
        return True

    def _refuse_tasks(self, reason: str) -> None:
        """Log why no calls become tasks, for the error of one that must be a task."""
        self._reason = reason
        log.warn_rarely("tasks", f"no calls become tasks: {reason}")

    def _make_refusal(self) -> RequestError:
        return RequestError(OVERLOADED, f"No task could be made: {self._reason}; retry later")

    def _describe_limit(self) -> str:
        return (
            f"{len(self._tasks)} tasks with {self._kept_bytes} bytes of results are kept, and the"
            " limit is reached (--limit max_tasks and max_task_bytes)"
        )

    def _encode_created(self, task: Task) -> bytes:
        if task.is_modern:
            result = forms.encode_created(task, self._identity)
        else:
            result = forms.encode_legacy_created(task)
        return messages.encode_response_of_json(task.request_id, result)

    # Requests

    def serve(self, request: Request, params: dict[str, Any], origin: Origin) -> Decisions:
        """Return what to do about a request of the method `tasks/...`.

        Raises:
            RequestError: if the client may not send it, or it means no task of its own.
        """
        methods = self._modern_methods if origin.modern else self._legacy_methods
        handle = methods.get(request.method)
        if handle is None or not (origin.modern or self._protocol.eras.version == TASKS_REVISION):
            raise RequestError(METHOD_NOT_FOUND, f"Method not found: {request.method}")
        if request.id is UNSET or origin.recipient is not None:
            raise RequestError(INVALID_REQUEST, f"{request.method} must be a request of its own")
        if origin.modern:
            _check_declared(params)
        return handle(request, params)

    def _get(self, request: Request, params: dict[str, Any]) -> Decisions:
        return self._answer(request, self._encode_state(request, params, is_modern=True))

    def _get_legacy(self, request: Request, params: dict[str, Any]) -> Decisions:
        return self._answer(request, self._encode_state(request, params, is_modern=False))

    def _encode_state(self, request: Request, params: dict[str, Any], *, is_modern: bool) -> bytes:
        """Return the state of a task. As long as it stays the same, it is not made again: polling
        costs no more than pings.
        """
        id = params.get("taskId")
        kept = self._tasks.get(id) if type(id) is str else None
        known = None if kept is None else self._states.get((kept.id, is_modern))
        if known is not None and known.is_current():
            self._polls.remember(_get_id(request), known)
            return known.result
        changes = 0 if kept is None else kept.changes  # before the state is made
        task = self._find(params)
        if is_modern:
            self._note_delivery(task)
            result = forms.encode_detailed(task, self._identity)
        else:
            result = encode_plain(forms.describe_legacy_state(task))
        if kept is not None and len(result) <= _MAX_STATE_BYTES:
            self._states[kept.id, is_modern] = KnownState(kept, changes, result)
        return result

    def _update(self, request: Request, params: dict[str, Any]) -> Decisions:
        """Pass the user's answers to the tool. Those that nothing waits for are ignored."""
        task = self._find(params)
        responses = params.get("inputResponses")
        if not isinstance(responses, dict):
            raise RequestError(INVALID_PARAMS, "params.inputResponses must be an object of answers")
        if not isinstance(task, Task):  # of an earlier session: nothing waits
            return self._acknowledge(request)
        replies: list[Decision] = []
        for key, reply in responses.items():
            pending = task.questions.get(key)
            if pending is None:
                continue
            if not isinstance(reply, dict):
                raise RequestError(
                    INVALID_PARAMS, f"params.inputResponses[{key!r}] must be an object"
                )
            assert task.home is not None
            if task.home.close_question(pending):
                replies.append(ElicitationReply(pending.wake, reply, pending.call))
                task.remove_question(pending)
        return (*replies, *self._acknowledge(request))

    def _cancel(self, request: Request, params: dict[str, Any]) -> Decisions:
        return (*self._stop(self._find(params)), *self._acknowledge(request))

    def _cancel_legacy(self, request: Request, params: dict[str, Any]) -> Decisions:
        task = self._find(params)
        if task.is_final:
            raise RequestError(INVALID_PARAMS, f"The task has ended already: it is {task.status}")
        stopped = self._stop(task)
        return (*stopped, *self._answer(request, encode_plain(forms.describe_legacy_state(task))))

    def _stop(self, found: AnyTask) -> Decisions:
        """End the call of a task; return the decision to stop its tool, if it runs."""
        task = self._tasks.get(found.id)
        call = None if task is None else task.call
        if task is None and self._store is not None and not found.is_final:
            self._store.cancel_job(found.id)
        if task is None or call is None:
            return ()
        assert task.home is not None
        if not task.home.end_call(call):
            return ()
        task.cancel()
        task.is_delivered = True
        return (Cancel(call),)

    def _respond_with_outcome(self, request: Request, params: dict[str, Any]) -> Decisions:
        """Respond when the task is final. Until then, the request is open as a subscription is, so
        that it can be cancelled, and counts for the same limit.
        """
        task = self._find(params)
        id = _get_id(request)
        with self._lock:
            is_final = task.is_final
            if not is_final:
                open_request(self._in_flight, id, frozenset((RESULT + task.id,)))
        if not is_final:
            if isinstance(task, StoredTask):
                self._look_again(task.id)
            return ()
        self._note_delivery(task)
        return (Send(forms.encode_legacy_outcome(task, id)),)

    def _look_again(self, id: str) -> None:
        """Respond to what waits for the job *id* of an earlier server, or look again later: its end
        is noted in the store only.
        """
        found = None if self._store is None else self._store.find(id, self._session)
        if found is None or found.is_final:
            self._respond_from_store(id, found)
        elif find_subscriptions(self._in_flight, RESULT + id):
            with suppress(RuntimeError):  # no thread for the timers
                self._host.timers.after(_LOOK_SECONDS, partial(self._look_again, id))

    def _respond_from_store(self, id: str, found: StoredTask | None) -> None:
        with self._lock:
            waiting = take_open_requests(self._in_flight, RESULT + id)
        for request_id in waiting:
            if found is None:
                response = messages.encode_error(request_id, INVALID_PARAMS, _UNKNOWN)
            else:
                response = forms.encode_legacy_outcome(found, request_id)
            self._host.writer.enqueue(response)

    def _list(self, request: Request, params: dict[str, Any]) -> Decisions:
        if params.get("cursor") is not None:  # one page has all that there may be
            raise RequestError(INVALID_PARAMS, "Unknown cursor: there is only one page of tasks")
        with self._lock:
            tasks = list(self._tasks.values())
        listed = [forms.describe_legacy_state(task) for task in tasks]
        return self._answer(request, encode_plain({"tasks": listed}))

    def _note_delivery(self, task: AnyTask) -> None:
        """Note that the client gets the outcome of *task* now."""
        kept = self._tasks.get(task.id)
        if kept is not None:
            kept.is_delivered = kept.is_final

    def _find(self, params: dict[str, Any]) -> AnyTask:
        id = params.get("taskId")
        if type(id) is not str:
            raise RequestError(INVALID_PARAMS, "params.taskId must be a string")
        kept = self._find_own(id)
        task: AnyTask | None = kept
        if self._store is not None and (kept is None or kept.is_stored):
            task = self._store.find(id, self._session) or kept
        if task is None:
            raise RequestError(INVALID_PARAMS, _UNKNOWN)
        return task

    def _acknowledge(self, request: Request) -> Decisions:
        return self._answer(request, encode_plain(complete_modern_result(self._identity, {})))

    def _answer(self, request: Request, result: bytes) -> Decisions:
        return (Send(messages.encode_response_of_json(_get_id(request), result)),)

    # Changes

    def subscribe(self, ids: Any, params: dict[str, Any]) -> list[str]:
        """Return those of *ids*, whatever it is, that are tasks of this client.

        Their states are sent soon, so that a subscriber misses no change.

        Raises:
            RequestError: if the client does not declare the extension.
        """
        _check_declared(params)
        if not isinstance(ids, list):
            raise RequestError(INVALID_PARAMS, "params.notifications.taskIds must be a list")
        known = [id for id in ids if isinstance(id, str) and self._find_own(id) is not None]
        self._host.timers.after(0, partial(self._announce_all, known))
        return known

    def _announce_all(self, ids: list[str]) -> None:
        for id in ids:
            task = self._tasks.get(id)
            if task is not None:
                self._announce(task)

    # Tasks of sessions that have ended

    @property
    def has_running(self) -> bool:
        """Whether a task has not ended."""
        return any(not task.is_final for task in list(self._tasks.values()))

    @property
    def has_undelivered(self) -> bool:
        """Whether a task has an outcome that neither the client nor a store has got."""
        tasks = list(self._tasks.values())
        return not all(task.is_delivered or task.is_stored for task in tasks if task.is_final)

    def open_to_others(self) -> None:
        """Let others find the tasks in the store: the client has gone."""
        if self._store is not None:
            with suppress(StoreError):
                self._store.open_to_others(self._session)

    def give_up(self, id: str) -> Task | None:
        """Return the task *id*, and keep it no longer."""
        with self._lock:
            task = self._tasks.get(id)
            if task is None:
                return None
            self._remove(task)
            task.kept_bytes = 0
            task.expiry = None
            return task

    def end_call(self, call: Call) -> bool:
        """As `TaskHome.end_call`."""
        return self._in_flight.end(call, given_up=True)

    def close_question(self, pending: PendingElicitation) -> bool:
        """As `TaskHome.close_question`."""
        return self._protocol.get_elicitations().close(pending)

    def _find_own(self, id: str) -> Task | None:
        """Return the task *id* of this session, or of one that has ended: then it is of this one
        from now on.
        """
        kept = self._tasks.get(id)
        if kept is not None or self.absent is None:
            return kept
        task = self.absent.take(id)
        if task is not None:
            self._adopt(task)
        return task

    def _adopt(self, task: Task) -> None:
        with self._lock:
            self._tasks[task.id] = task
        task.hand_over(self._note_change, self._save_outcome)
        if task.is_final:
            self._keep(task)

    def close(self) -> None:
        """Forget all tasks: the session has ended. A store keeps them for later sessions."""
        with self._lock:
            tasks = list(self._tasks.values())
            self._tasks.clear()
        if self._store is None:
            return
        for task in tasks:
            task.interrupt(encode_interruption(task.tool))
            if not task.is_stored:  # it was locked or full then
                self._save_outcome(task, task.get_outcome())
        with suppress(StoreError):
            self._store.release(self._session)

    def _save_outcome(self, task: Task, end: TaskOutcome) -> bool:
        """Write the *end* of *task* into the store, if there is one; return whether it has it."""
        if self._store is None:
            return False
        try:
            self._store.finish(task.id, end)
        except StoreError as error:  # it stays in memory
            log.warn_rarely(
                "task outcome", f"the result of {task.tool} cannot be written to the store: {error}"
            )
            return False
        return True

    def _note_change(self, task: Task) -> None:
        if task.is_final:
            self._keep(task)
            self._respond_to_waiting(task)
        self._announce(task)

    def _keep(self, task: Task) -> None:
        """Count the outcome of *task*, and forget it in time."""
        expire = partial(self._expire, task)
        left = task.updated + task.keep_seconds - time.time()
        seconds = min(max(left, 0.0), task.keep_seconds)  # also if the clock has been set
        with self._lock:
            if task.id not in self._tasks or task.expiry is not None:
                return
            with suppress(RuntimeError):  # no thread for the timers: it is forgotten for newer ones
                task.expiry = self._host.timers.after(seconds, expire)
            self._kept_bytes += len(task.outcome) - task.kept_bytes
            task.kept_bytes = len(task.outcome)
            if task.is_stored:
                self._tasks[task.id] = task.copy_without_outcome()

    def _expire(self, task: Task) -> None:
        with self._lock:
            self._forget(task)

    def _forget(self, task: Task) -> None:
        """Remove *task* for good. Only with the lock."""
        if task.id not in self._tasks:
            return
        self._remove(task)
        if self._store is not None:
            with suppress(StoreError):  # it is removed there later, for its age
                self._store.forget(task.id)

    def _remove(self, task: Task) -> None:
        del self._tasks[task.id]
        for is_modern in (True, False):
            state = self._states.pop((task.id, is_modern), None)
            if state is not None:
                state.forget()
        self._kept_bytes -= task.kept_bytes
        if task.expiry is not None:
            self._host.timers.cancel(task.expiry)

    def _respond_to_waiting(self, task: Task) -> None:
        """Respond to the requests that wait for the outcome of *task*."""
        with self._lock:
            waiting = take_open_requests(self._in_flight, RESULT + task.id)
        for id in waiting:
            task.is_delivered = True
            self._host.writer.enqueue(forms.encode_legacy_outcome(task, id))

    def _announce(self, task: Task) -> None:
        """Notify the client of the state that *task* has when the notification is written.

        So one that waits to be written is enough, however often the state changes before.
        """
        for id in find_subscriptions(self._in_flight, TASK + task.id):
            self._notify_soon(
                task, id, partial(forms.encode_notification, task, self._identity, id)
            )
        if not task.is_modern:
            self._notify_soon(task, None, partial(forms.encode_legacy_notification, task))

    def _notify_soon(self, task: Task, to: Id | None, make: Callable[[], bytes]) -> None:
        key = (task.id, to)
        with self._lock:
            if key in self._announced:
                return
            self._announced.add(key)

        def make_and_note() -> bytes:
            with self._lock:
                self._announced.discard(key)
            return make()

        self._host.enqueue_notification(make_and_note, _NOTIFICATION_BYTES + len(task.outcome))


def _open_store(settings: Settings) -> TaskStore | None:
    if settings.task_store is None:
        return None
    from .store import open_store  # sqlite3 takes 10 ms to import

    return open_store(settings.task_store)


def _may_become_task(call: Call) -> bool:
    """Return whether *call*, of a modern client, waits for a response that may be a task."""
    return (
        call.task is None
        and not call.lingers
        and call.id is not None
        and call.origin.modern
        and call.origin.recipient is None
        and call.entry.kind == "tools"
        and call.entry.options.task != "never"
        and declares_tasks(call.capabilities)
    )


def _check_declared(params: dict[str, Any]) -> None:
    """Raise a `RequestError` unless a modern request declares the extension."""
    if not declares_tasks(params["_meta"][META_CLIENT_CAPABILITIES]):
        raise RequestError(
            MISSING_CLIENT_CAPABILITY,
            f"Missing required client capability: the extension {TASKS_EXTENSION}",
            REQUIRED_CAPABILITIES,
        )


def _get_id(request: Request) -> Id:
    assert not isinstance(request.id, UnsetType)  # `serve` has checked it
    return request.id
