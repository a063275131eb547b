"""A run of an agent with its user at the terminal: shows events, asks, and handles Ctrl-C.

Strategy. The agent runs on an event loop in another thread. The main thread alone writes to the
terminal and reads from it, since only there Ctrl-C can interrupt typing; so everything here that
touches the terminal is a job for `MainThread`.
"""

from __future__ import annotations

from contextlib import aclosing, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from toolwire_client.waiting.main_thread import Interrupted, MainThread
from toolwire_schemas.language import say

from ..agent.events import Ended, EventRecorded, Resumed, make_outcome
from ..presentation import find_open_steps
from .event_lines import make_line
from .keyboard import Keyboard
from .prompts import Person

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterator

    from toolwire_client.session.elicitation import Elicitation

    from ..agent import AgentSession, Outcome, Recorded
    from ..agent.approvals import OnApproval
    from .renderers import Renderer


class TerminalRun:
    """Shows runs with *renderer*, and asks the user.

    *answers* are given to the first questions in place of the user. Without *is_attended* there is
    no user: calls are not approved. With *reads_input* lines of standard input answer questions of
    the model even then.
    """

    def __init__(
        self, renderer: Renderer, *, answers: list[str], is_attended: bool, reads_input: bool
    ) -> None:
        self.is_attended = is_attended
        self._renderer = renderer
        self._answers = answers
        self._reads_input = reads_input
        self._main = MainThread(self._interrupt, self.leave)
        self._keyboard = Keyboard(self._main.allow_interrupt)
        self._person = Person(self._keyboard.read, renderer.tell)
        self._form_filler = Person(self._read_field, renderer.tell)
        self._scope: anyio.CancelScope | None = None
        self._is_left_early = False
        self._running: AgentSession | None = None
        self._early: list[Recorded] = []  # events that are shown before the run yields them
        self._on_event: Callable[[Recorded], object] = lambda event: None
        self.was_interrupted = False
        """Whether Ctrl-C was to cancel the last run, which may have ended just before."""

    def run(self, work: Callable[[], Coroutine[Any, Any, int]]) -> int:
        """Return the result of *work*, which runs on an event loop."""
        return self._main.run(work)

    @contextmanager
    def leave_at_interrupt(self) -> Iterator[None]:
        """Leave the block at a Ctrl-C that does not end a run."""
        with anyio.CancelScope() as self._scope:
            if self._is_left_early:
                self._scope.cancel()
            yield

    def leave(self) -> None:
        """Leave the innermost block of `leave_at_interrupt`."""
        if self._scope is None:  # Ctrl-C while the event loop starts
            self._is_left_early = True
        else:
            self._scope.cancel()

    # --- what is shown ---

    async def show(
        self,
        session: AgentSession,
        events: AsyncGenerator[Recorded, None],
        on_event: Callable[[Recorded], object],
    ) -> Outcome:
        """Show a run of *session*, and return its outcome.

        *on_event* receives each event before it is shown.
        """
        open_steps = find_open_steps(session.events)
        shown: list[Recorded] = []
        self._running = session
        self._early = []
        self._on_event = on_event
        self.was_interrupted = False
        try:
            async with aclosing(events):
                async for event in events:
                    if self._early and self._early[0] is event:
                        self._early.pop(0)
                    else:
                        on_event(event)
                        await self._main.do(partial(self._renderer.show, event))
                    if isinstance(event, Resumed):
                        await self._main.do(partial(self._renderer.recall, open_steps))
                    shown.append(event)
                    if isinstance(event, Ended):
                        return make_outcome(event, shown)
        finally:
            self._running = None
            self.hold_still()
        raise AssertionError("every run ends with Ended")

    def show_live(self, live: Any) -> None:
        """Show an update between two events, or an event while calls run."""
        if isinstance(live, EventRecorded):
            self._early.append(live.event)
            self._on_event(live.event)
            self._main.queue(partial(self._renderer.show, live.event))
            return
        self._main.queue(partial(self._renderer.show_live, live))

    def show_wait(self, text: str) -> None:
        """Show a wait, until the next event or `hold_still`."""
        self._main.queue(partial(self._renderer.wait, text))

    def hold_still(self) -> None:
        """Stop everything that moves."""
        self._main.queue(self._renderer.hold_still)

    def tell(self, text: str) -> None:
        """Show a note that is not part of the run."""
        self._main.queue(partial(self._renderer.tell, make_line("note", text)))

    # --- the user ---

    async def read_line(self, prompt: str, when_interrupted: str) -> str | None:
        """Return the next line of input, or `None` at the end.

        After Ctrl-C it is empty, and *when_interrupted* is shown.
        """

        def read() -> str | None:
            try:
                return self._keyboard.read(prompt)
            except Interrupted:
                self.tell(when_interrupted)
                return ""

        return await self._main.do(read)

    @property
    def on_approval(self) -> OnApproval | None:
        """Asks the user to approve calls; `None` if there is no user."""
        if self.is_attended:
            return partial(self._ask, self._person.approve)
        return None

    @property
    def on_form(self) -> Callable[[Elicitation], Awaitable[Any]] | None:
        """Asks the user to fill in the forms of tools; `None` if nothing can answer."""
        can_answer = self.is_attended or self._answers
        if can_answer:
            return partial(self._ask, self._form_filler.fill_in)
        return None

    async def on_question(self, question: Elicitation) -> str | None:
        """Answer a question of the model; `None` if there is no user."""
        if self._answers:
            answer = self._answers.pop(0)
            self.tell(say("answer: {answer}", answer=answer))
            return answer
        if not self.is_attended and not self._reads_input:
            return None
        reply: str | None = await self._ask(self._person.reply, question)
        return reply

    async def _ask(self, ask: Callable[[Any], Any], question: Any) -> Any:
        def ask_in_main_thread() -> Any:
            self._renderer.hold_still()
            return ask(question)

        return await self._main.do(ask_in_main_thread)

    def _read_field(self, prompt: str, *, prefill: str = "") -> str | None:
        if self._answers:
            answer = self._answers.pop(0)
            self._renderer.tell(make_line("note", f"{prompt}{answer}"))
            return answer
        if self.is_attended:
            return self._keyboard.read(prompt, prefill=prefill)
        return None

    # --- Ctrl-C ---

    def _interrupt(self) -> None:
        """Handle Ctrl-C: cancel the running call, else the run, else leave."""
        session = self._running
        if session is not None and session.cancel_call():
            self.tell(say("the call is cancelled; Ctrl-C again ends the run"))
        elif session is not None and not self.was_interrupted:
            self.was_interrupted = True
            session.cancel("Ctrl-C")
        else:
            self.leave()
