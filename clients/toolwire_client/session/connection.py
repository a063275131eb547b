"""The open requests and elicitations of one running server.

Strategy. The reading thread puts each event into the inbox of its request and never blocks; the
caller of the request takes it from there (see `waiting`). All methods may be called from any
thread.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire import messages
from toolwire_schemas.wire.framing import Lines

from ..errors import BrokenRules, ClientError, Closed, RequestFailed, ServerGone
from ..protocol.client_protocol import log_ignored
from ..protocol.events import (
    AutomaticReply,
    ElicitationRequest,
    ElicitationWithdrawn,
    Event,
    Failure,
    LogEntry,
    Progress,
    Result,
    TaskNotified,
)
from ..waiting.base import OpenElicitation

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_schemas.wire.messages import Frame

    from ..protocol.client_protocol import ClientProtocol
    from ..transport.base import Transport
    from ..waiting.base import Inbox

    TakeFrame = Callable[[Frame, ClientProtocol], bool]

_NOISE_KEPT = 10
_MAX_ELICITATIONS = 100
MAX_UNREAD = 10_000
"""The most events in an inbox; further progress and log entries are dropped."""


class TaskWatch:
    """The inbox of a caller that waits for the task *task*, which stays open between its requests.

    *token* is the progress token of the call that became the task, or 0. `has_news`
    is set when the server says that the task has changed, until the caller asks for it.
    """

    def __init__(self, task: str, inbox: Inbox, token: int = 0) -> None:
        self.task = task
        self.inbox = inbox
        self.token = token
        self.has_news = False


class Connection:
    """A conversation over *transport*. The reading thread calls *on_event* with events of no open
    request, and before that *take_frame* with each message: one that it takes goes no further.
    """

    def __init__(
        self,
        transport: Transport,
        protocol: ClientProtocol,
        *,
        max_message_bytes: int,
        on_event: Callable[[Event], None],
        take_frame: TakeFrame | None = None,
    ) -> None:
        self.transport = transport
        self.protocol = protocol
        self.end: ClientError | None = None
        """Why the conversation ended; `None` before that."""
        self._noise: deque[str] = deque(
            maxlen=_NOISE_KEPT
        )  # lines of the server's output that were not messages
        self._on_event = on_event
        self._take_frame = take_frame
        self._lines = Lines(max_message_bytes)
        self._lock = threading.Lock()
        self._inboxes: dict[int, Inbox] = {}
        self._watches: set[TaskWatch] = set()
        self._elicitations: dict[str | int, OpenElicitation] = {}
        self._untaken: deque[OpenElicitation] = deque()
        transport.start(self._read, self._fail_all)

    # From this side

    def begin(
        self, request: tuple[int, bytes], inbox: Inbox, *, more_follows: bool = False
    ) -> None:
        """Send a request, whose events go to *inbox*: with more, if *more_follows*. Raises a
        `ClientError` if the conversation has ended.
        """
        number, message = request
        with self._lock:
            if self.end is not None:
                raise self.end.copy()
            if self.is_full:
                raise ClientError("the server does not read its requests")
            self._inboxes[number] = inbox
        self.send(message, more_follows=more_follows)

    def watch(self, watch: TaskWatch) -> None:
        """Put what arrives about a task into its inbox, until `unwatch`. Raises a `ClientError` if
        the conversation has ended.
        """
        with self._lock:
            if self.end is not None:
                raise self.end.copy()
            self._watches.add(watch)

    def unwatch(self, watch: TaskWatch) -> None:
        with self._lock:
            self._watches.discard(watch)

    @property
    def is_full(self) -> bool:
        """Whether the server leaves so much unread that no request may be sent."""
        return getattr(self.transport, "is_full", False)

    def cancel(self, number: int, reason: str) -> bool:
        """Cancel request *number* unless its response has arrived; return whether it had none."""
        with self._lock:
            if self._inboxes.pop(number, None) is None:
                return False
        # MCP forbids cancelling the handshake; it ends with the process.
        if self.protocol.version is not None:
            self.send(self.protocol.cancel(number, reason))
        return True

    def is_open(self, number: int) -> bool:
        """Return whether request *number* has no response yet."""
        with self._lock:
            return number in self._inboxes

    def send(self, message: bytes, *, more_follows: bool = False) -> None:
        self.transport.send(message + b"\n", more_follows=more_follows)

    def take_elicitation(self) -> OpenElicitation | None:
        """Return an elicitation to answer or to put back; `None` if all are taken.

        All inboxes, those of tasks too, receive `ElicitationRequest` when one arrives.
        """
        with self._lock:
            return self._untaken.popleft() if self._untaken else None

    def put_back(self, elicitation: OpenElicitation) -> None:
        """Offer a taken elicitation to the other waiting calls."""
        with self._lock:
            if not elicitation.is_open:
                return
            self._untaken.append(elicitation)
        self._notify_all(ElicitationRequest(elicitation.id))

    def answer(self, elicitation: OpenElicitation, message: bytes) -> None:
        """Respond to an elicitation, unless the server withdrew it."""
        with self._lock:
            if self._elicitations.pop(elicitation.id, None) is not elicitation:
                return
        self.send(message)

    def close(self) -> None:
        """End the server and fail all open requests."""
        self.fail(Closed("the client was closed"))
        self.transport.close()

    def get_noise(self) -> str:
        """Return the last lines of the server's output that were not messages."""
        return "\n".join(tuple(self._noise))

    def fail(self, error: ClientError) -> None:
        """Fail all open and all later requests with *error*."""
        with self._lock:
            if self.end is None:
                self.end = error
            inboxes, self._inboxes = self._list_inboxes(), {}
            self._watches.clear()
            elicitations, self._elicitations = list(self._elicitations.values()), {}
            self._untaken.clear()
        for inbox in inboxes:
            inbox.put(error.copy())
        for elicitation in elicitations:
            elicitation.close()

    # From the server

    def _read(self, data: bytes) -> None:
        for frame in self._lines.feed(data):
            if self._take_frame is not None and self._take_frame(frame, self.protocol):
                continue
            for event in self.protocol.receive(frame):
                self._take(event)

    def _fail_all(self, gone: ServerGone) -> None:
        try:
            self._read(b"\n")  # the last line may lack its newline
        finally:
            self.fail(gone.with_noise(self.get_noise()))

    def _take(self, event: Event) -> None:
        match event:
            case Result(id=number) | Failure(id=int(number)):
                self._settle(number, event)
            case Progress():
                self._report(event)
            case TaskNotified(id=task):
                self._notify_of_task(task, event)
            case ElicitationRequest():
                self._open(event)
            case ElicitationWithdrawn():
                self._withdraw(event)
            case AutomaticReply(message=message):
                self.send(message)
            case Failure(error=RequestFailed()) if (probe := self.protocol.probe) in self._inboxes:
                # It has no id, but the probe is the only request so far.
                self._settle(probe, event)
            case Failure(error=BrokenRules() as error):
                self.fail(error)
            case LogEntry(source="output", text=text):
                self._noise.append(text)
                self._on_event(event)
            case _:
                self._on_event(event)

    def _settle(self, number: int, event: Event) -> None:
        with self._lock:
            inbox = self._inboxes.pop(number, None)
        if inbox is not None:
            inbox.put(event)
        elif self.end is None:  # cancelled before the response, answered twice, or never sent
            if isinstance(event, Result):
                self._cancel_late_task(event.result)
            self._on_event(log_ignored("response to no open request", number))

    def _cancel_late_task(self, result: Any) -> None:
        """Cancel the task that a call has become, since its caller has gone: else it would run
        without anyone who knows its id.
        """
        from ..protocol.tasks import find_task

        members = find_task(result, is_modern=self.protocol.is_modern)
        if isinstance(members, dict) and isinstance(members.get("taskId"), str):
            _, request = self.protocol.request("tasks/cancel", {"taskId": members["taskId"]})
            self.send(request)  # whose response is ignored, as this one is

    def _report(self, progress: Progress) -> None:
        with self._lock:
            inbox = self._inboxes.get(progress.id)
            for watch in self._watches:
                if watch.token == progress.id:
                    inbox = watch.inbox
        if inbox is not None and len(inbox) < MAX_UNREAD:
            inbox.put(progress)

    def _notify_of_task(self, task: str, event: Event) -> None:
        with self._lock:
            watches = [watch for watch in self._watches if watch.task == task]
        for watch in watches:
            if watch.has_news:  # a single event wakes the caller, who asks for the newest state
                continue
            watch.has_news = True
            watch.inbox.put(event)

    def _list_inboxes(self) -> list[Inbox]:
        """Return each inbox once, with the lock held."""
        inboxes = [*self._inboxes.values(), *(watch.inbox for watch in self._watches)]
        return list({id(inbox): inbox for inbox in inboxes}.values())

    def _open(self, asked: ElicitationRequest) -> None:
        elicitation = OpenElicitation(asked)
        with self._lock:
            refused = asked.id in self._elicitations or len(self._elicitations) >= _MAX_ELICITATIONS
            if not refused:
                self._elicitations[asked.id] = elicitation
                self._untaken.append(elicitation)
        if refused:
            problem = "too many open elicitations, or a duplicate id"
            self.send(messages.encode_error(asked.id, messages.INVALID_REQUEST, problem))
        else:
            self._notify_all(asked)
            self._on_event(asked)

    def _notify_all(self, asked: ElicitationRequest) -> None:
        with self._lock:
            inboxes = self._list_inboxes()
        for inbox in inboxes:
            if len(inbox) < MAX_UNREAD:  # a full inbox wakes its caller anyway
                inbox.put(asked)

    def _withdraw(self, withdrawn: ElicitationWithdrawn) -> None:
        with self._lock:
            elicitation = self._elicitations.pop(withdrawn.id, None)
            if elicitation is not None and elicitation in self._untaken:
                self._untaken.remove(elicitation)
        if elicitation is not None:
            elicitation.close()
