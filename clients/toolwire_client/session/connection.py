"""What is under way with one running server: who waits for which answer, which questions of its own are open.

Strategy. The thread that reads hands each event to the inbox of the request it belongs to, and waits for nobody;
whoever made the request takes it from there in its own way (`waiting.py`). Used from any thread.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

from toolwire_schemas.wire import codes, messages
from toolwire_schemas.wire.framing import Lines

from ..errors import BrokenRules, ClientError, Closed, ServerGone
from ..protocol.events import Answer, Asked, Event, Failure, Noise, Notice, Progress, Reply, Unreadable, Withdrawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..protocol.client_protocol import Session
    from ..transport.base import Wire
    from ..waiting.base import Inbox

Arrival = Event | ClientError

_NOISE_KEPT = 10
_MAX_QUESTIONS = 100
_MAX_UNREAD = 10_000
"""How much progress may wait for whoever is to hear of it, before the rest is left out."""


class Nowhere:
    """The inbox of answers that nobody waits for."""

    def put(self, arrival: Arrival) -> None:
        """Forget it."""

    def __len__(self) -> int:
        return 0


class OpenQuestion:
    """A question of the server's that has not been answered."""

    def __init__(self, asked: Asked) -> None:
        self.id = asked.id
        self.params = asked.params
        self.is_open = True
        self.on_closed: Callable[[], None] | None = None
        """Called, on any thread, when the answer is no longer wanted."""

    def close(self) -> None:
        """Note that no answer is wanted any more."""
        self.is_open = False
        if self.on_closed is not None:
            self.on_closed()


class Connection:
    """A conversation over *wire*. *hear* is told, by the thread that reads, of what belongs to no request.

    `noise` counts the lines that were no messages, and `noise_tail` holds the last of them.
    """

    def __init__(self, wire: Wire, session: Session, *, max_message_bytes: int, hear: Callable[[Event], None]) -> None:
        self.wire = wire
        self.session = session
        self.end: ClientError | None = None
        """Why there are no more answers; `None` while there are."""
        self.noise = 0
        self.noise_tail: list[str] = []
        self._hear = hear
        self._lines = Lines(max_message_bytes)
        self._lock = threading.Lock()
        self._inboxes: dict[int, Inbox] = {}
        self._questions: dict[str | int, OpenQuestion] = {}
        self._untaken: deque[OpenQuestion] = deque()
        wire.start(self._read, self._ended)

    # From this side

    def begin(self, request: tuple[int, bytes], inbox: Inbox) -> None:
        """Send a request; what comes back for it goes to *inbox*.

        Raises:
            ClientError: why there can be no answer.
        """
        number, message = request
        with self._lock:
            if self.end is not None:
                raise self.end.again()
            self._inboxes[number] = inbox
        self.send(message)

    def cancel(self, number: int, reason: str) -> None:
        """Tell the server that the answer to request *number* is no longer wanted, unless it has come."""
        with self._lock:
            if self._inboxes.pop(number, None) is None:
                return
        # MCP forbids to cancel the handshake, which ends with the process anyway.
        if self.session.version is not None:
            self.send(self.session.cancelled(number, reason))

    def send(self, message: bytes) -> None:
        """Send a message that nobody waits for."""
        self.wire.send(message + b"\n")

    @property
    def has_questions(self) -> bool:
        """Whether there is a question that nobody has taken yet. Everybody who waits is sent `Asked` when one comes."""
        return bool(self._untaken)

    def take_question(self) -> OpenQuestion | None:
        """Return a question that nobody has taken yet; whoever takes it answers it, or puts it back."""
        with self._lock:
            return self._untaken.popleft() if self._untaken else None

    def put_back(self, question: OpenQuestion) -> None:
        """Leave a question that was taken to the others who wait."""
        with self._lock:
            if not question.is_open:
                return
            self._untaken.append(question)
        self._tell_all(Asked(question.id))

    def answer(self, question: OpenQuestion, message: bytes) -> None:
        """Send the answer to a question, if it is still wanted."""
        with self._lock:
            if self._questions.pop(question.id, None) is not question:
                return
        self.send(message)

    def close(self) -> None:
        """End the server. Whoever still waits is told."""
        self.fail(Closed("the client was closed"))
        self.wire.close()

    def fail(self, error: ClientError) -> None:
        """Tell everybody who waits, and everybody who asks from now on."""
        with self._lock:
            if self.end is None:
                self.end = error
            inboxes, self._inboxes = list(self._inboxes.values()), {}
            questions, self._questions = list(self._questions.values()), {}
            self._untaken.clear()
        for inbox in inboxes:
            inbox.put(error.again())
        for question in questions:
            question.close()

    # From the server

    def _read(self, data: bytes) -> None:
        for frame in self._lines.feed(data):
            for event in self.session.receive(frame):
                self._take(event)

    def _ended(self, gone: ServerGone) -> None:
        try:
            self._read(b"\n")  # a last line may lack its end
        finally:
            self.fail(ServerGone(gone.exit_status, gone.stderr, "\n".join(self.noise_tail)))

    def _take(self, event: Event) -> None:
        match event:
            case Answer(id=int(number)) | Failure(id=int(number)) | Unreadable(id=int(number)):
                self._settle(number, event)
            case Progress():
                self._report(event)
            case Asked():
                self._open(event)
            case Withdrawn():
                self._withdraw(event)
            case Reply(message=message):
                self.send(message)
            case Failure() if (probe := self.session.probe) in self._inboxes:
                # Without an id, but nothing else has been said yet: it can only be about that.
                self._settle(probe, event)
            case Unreadable(reason=reason):
                self.fail(BrokenRules(reason))
            case Noise(text=text):
                self.noise += 1
                self.noise_tail = [*self.noise_tail, text][-_NOISE_KEPT:]
                self._hear(event)
            case _:
                self._hear(event)

    def _settle(self, number: int, event: Event) -> None:
        with self._lock:
            inbox = self._inboxes.pop(number, None)
        if inbox is not None:
            inbox.put(event)
        elif self.end is None:  # it was cancelled while its answer was on the way, or answered twice, or never asked
            self._hear(Notice("an answer that nobody waits for", number))

    def _report(self, progress: Progress) -> None:
        with self._lock:
            inbox = self._inboxes.get(progress.id)
        if inbox is not None and len(inbox) < _MAX_UNREAD:
            inbox.put(progress)

    def _open(self, asked: Asked) -> None:
        question = OpenQuestion(asked)
        with self._lock:
            refused = asked.id in self._questions or len(self._questions) >= _MAX_QUESTIONS
            if not refused:
                self._questions[asked.id] = question
                self._untaken.append(question)
        if refused:
            self.send(messages.error(asked.id, codes.INVALID_REQUEST, "too many questions, or two under one id"))
        else:
            self._tell_all(asked)

    def _tell_all(self, asked: Asked) -> None:
        with self._lock:
            inboxes = list(self._inboxes.values())
        for inbox in inboxes:
            if len(inbox) < _MAX_UNREAD:  # else whoever it belongs to has something to look at already
                inbox.put(asked)

    def _withdraw(self, withdrawn: Withdrawn) -> None:
        if not isinstance(withdrawn.id, str | int):
            return
        with self._lock:
            question = self._questions.pop(withdrawn.id, None)
            if question is None:
                return
            if question in self._untaken:
                self._untaken.remove(question)
        question.close()
