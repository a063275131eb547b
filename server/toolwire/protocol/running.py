"""The parts of a session that a running call knows, as types without a `Call`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from toolwire_tools import Entry

    from ..timers import Timers


class Worker(Protocol):
    """The thread that runs a call; `slot` is its place on the board of the watchdog."""

    slot: int


class Recipient(Protocol):
    """What takes the response of a call in place of the client."""

    @property
    def size(self) -> int:
        """How many bytes of responses it holds that are sent in one message with the next one."""

    def end(self, response: bytes | None) -> bytes | None:
        """Take the *response*, or `None` without one; return what is to be sent now, if
        anything.
        """


class RunningTask(Protocol):
    """The task that a call has become."""

    id: str

    def report(self, done: float, total: float | None, message: str | None) -> None:
        """Take a progress report of the tool. Never blocks."""

    def ask(self, pending: Any) -> None:
        """Show an elicitation of the tool to the client."""

    def remove_question(self, pending: Any) -> None:
        """Show an elicitation no longer."""


class Polls(Protocol):
    """The requests about tasks that a client repeats."""

    def respond(self, frame: bytes) -> bytes | None:
        """Return the response to a request that needs no decision; `None` for all others."""


class Tasks(Protocol):
    """The tasks of a session. The methods return decisions, or raise a `RequestError`."""

    def begin(self, call: Any, params: dict[str, Any]) -> tuple[Any, ...]:
        """Return what to send for a call that has begun, before it runs."""

    def make_task(self, call: Any) -> None:
        """Make a running call a task now, if its client can have one. From any thread."""

    def require(self, params: dict[str, Any], origin: Any) -> None:
        """Check that a call, of a tool that runs only as a task, can be one."""

    def serve(self, request: Any, params: dict[str, Any], origin: Any) -> tuple[Any, ...]:
        """Return what to do about a request of the method `tasks/...`."""

    def subscribe(self, ids: Any, params: dict[str, Any]) -> list[str]:
        """Return those of *ids* that are tasks of the client, whose states it gets soon."""


class Question(Protocol):
    """A question of a tool, which waits for the reply."""

    @property
    def wake(self) -> Callable[[Any], None]:
        """Passes the reply to the tool; never blocks."""


class Outbox(Protocol):
    """Writes messages, whichever thread they come from."""

    def enqueue_made(self, make: Callable[[], bytes | None], size: int) -> None:
        """Write the message that *make* returns soon. Never blocks."""


class Watched(Protocol):
    """The resources that a client watches."""

    def announce(self, uri: str, outbox: Outbox) -> None:
        """Notify the client of a change of the resource at *uri*, if it watches that."""

    def change(self, request: Any, params: dict[str, Any], origin: Any, catalog: Any) -> None:
        """Watch a resource, or watch it no longer, as a request of a legacy client says."""

    def choose(self, uris: Any, catalog: Any) -> list[str]:
        """Return those of *uris*, whatever it is, that a modern client can watch."""


class Suspension(Protocol):
    """A message that a call in another process waits for without a thread."""

    def notify(self, resume: Callable[[bool], None]) -> bool:
        """Have *resume* called once, by the thread that reads the message; false if it has
        arrived already.

        It gets whether the message is the result, so that the rest of the call never blocks.
        """

    def deliver(self, call: Any, outcome: dict[str, Any] | BaseException) -> None:
        """Answer *call*, on the thread that reads the result. It may block only while the host
        leaves far too many responses unread.
        """


class Elicitor(Protocol):
    """Asks the client of a session.

    Both methods raise `CannotAsk`, `NotAnswered` or `Cancelled`.
    """

    def ask(
        self, call: Any, params: dict[str, Any], input_key: str = ..., *, method: str = ...
    ) -> dict[str, Any]:
        """Send the client a request, by default to ask its user; blocks until the reply.

        *input_key* is that of the request among the `inputRequests` of a modern client.
        """

    async def ask_async(
        self, call: Any, params: dict[str, Any], input_key: str, method: str = ...
    ) -> dict[str, Any]:
        """As `ask`, on the event loop."""


class CallServices(Protocol):
    """The services of a session for a running call. Every method may be called from any
    thread.
    """

    timers: Timers
    log_level: int | None
    """The least severe level of log messages that a legacy client wants; `None` if it wants
    none.
    """
    session_state: dict[str, Any]
    session_id: str

    def get_state(self, entry: Entry) -> Any:
        """Return the value of the lifespan of *entry*."""

    def send_notification(self, call: Any, make: Callable[[], bytes | None], size: int) -> None:
        """Send the notification that *make* returns, of about *size* bytes; nothing if it
        returns `None`.
        """

    @property
    def resource_changed(self) -> Callable[[str], None]:
        """Notifies the clients that watch the resource at a URI."""

    def get_elicitations(self) -> Elicitor:
        """Return the way to ask the client."""

    def get_tasks(self) -> Tasks:
        """Return the tasks of the session."""

    def expect_progress(self) -> None:
        """Send heartbeats from now on, while calls with a progress token are in flight. Never
        blocks.
        """

    def accept(self, call: Any) -> None:
        """Keep *call* for a thread that `run_accepted` wakes."""

    def run_accepted(self) -> None:
        """Run the accepted calls on other threads."""

    def deliver(self, call: Any, outcome: dict[str, Any] | BaseException) -> None:
        """Answer *call*. Never blocks."""

    def wait_for_room(self) -> None:
        """Block while the host leaves far too many answers unread."""

    def pause(self, call: Any) -> AbstractContextManager[None]:
        """Stop the time limit of *call*, and do not count its worker, inside the `with`
        block.
        """
