"""Runs an agent for `toolwire ask` and `toolwire chat`, with the user at the terminal."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .open_client import is_typed_at

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from toolwire_client import AsyncClient, Question
    from toolwire_client.agent import Agent, Outcome, Recorded, Session
    from toolwire_client.models import Model
    from toolwire_client.terminal import Renderer

    from .agent_servers import ServersToStart

CANCELLED = 130
"""The exit status after Ctrl-C, as in a shell."""


@dataclass
class AgentRun:
    """The model, servers, agent and terminal of one command. `session` and `tools` exist while it runs.

    *make_agent* gets the tools when the servers have started. *answers* are for the model's next questions.
    """

    model: Model
    servers: ServersToStart
    renderer: Renderer
    make_agent: Callable[..., Agent]
    resume: str | None
    answers: list[str]
    is_attended: bool
    start_seconds: float | None

    def __post_init__(self) -> None:
        from toolwire_client.terminal import Keyboard, MainThread, Person

        self.session: Session
        self.tools: dict[str, AsyncClient] = {}
        self._main = MainThread(self._interrupt, self._end)
        self._keyboard = Keyboard(self._main.typing)
        self._person = Person(self._keyboard.read, self.renderer.tell)
        self._is_running = self._is_ending = False

    def run(self, work: Callable[[AgentRun], Awaitable[int]]) -> int:
        """Start everything, and return the result of *work*."""
        return self._main.run(partial(self._run, work))

    async def show(self, events: AsyncGenerator[Recorded, None]) -> Outcome:
        """Show a run of the agent, and return its outcome."""
        from toolwire_client.agent.events import Ended, outcome_of

        shown: list[Recorded] = []
        self._is_running, self._is_ending = True, False
        try:
            async with aclosing(events):
                async for event in events:
                    await self._main.do(partial(self.renderer.show, event))
                    shown.append(event)
                    if isinstance(event, Ended):
                        return outcome_of(event, shown)
        finally:
            self._is_running = False
            self._main.soon(self.renderer.rest)
        raise AssertionError("every run ends with Ended")

    def tell(self, text: str) -> None:
        """Show a note that is not part of the run."""
        from toolwire_client.terminal.event_lines import line

        self._main.soon(partial(self.renderer.tell, line("note", text)))

    async def line(self, prompt: str, when_interrupted: str) -> str | None:
        """Return the next line of input, or `None` at the end.

        After Ctrl-C it is empty, and *when_interrupted* is shown.
        """
        from toolwire_client.terminal import Interrupted

        def read() -> str | None:
            try:
                return self._keyboard.read(prompt)
            except Interrupted:
                self.tell(when_interrupted)
                return ""

        return await self._main.do(read)

    # --- a run ---

    async def _run(self, work: Callable[[AgentRun], Awaitable[int]]) -> int:
        import anyio
        from toolwire_client.agent import BrokenTranscript

        started_at = anyio.current_time()
        with anyio.CancelScope() as self._scope:
            async with AsyncExitStack() as stack:
                self.tools, trusted = await self._start_servers(stack)
                if isinstance(self.model, AbstractAsyncContextManager):  # one that keeps connections open
                    await stack.enter_async_context(self.model)
                agent = self.make_agent(
                    self.tools,
                    trusted=trusted,
                    started_seconds=anyio.current_time() - started_at,
                    on_ask=self._on_model_question,
                    on_approval=partial(self._ask_user, self._person.approve) if self.is_attended else None,
                )
                try:
                    self.session = self._begin(agent)
                    return await work(self)
                except BrokenTranscript as error:
                    raise UsageError(str(error)) from None
        return CANCELLED

    async def _start_servers(self, stack: AsyncExitStack) -> tuple[dict[str, AsyncClient], bool | tuple[str, ...]]:
        if self.servers.are_any:  # a package runner may have to fetch one first
            self._main.soon(partial(self.renderer.wait, "starting the servers"))
        on_ask = partial(self._ask_user, self._person.fill_in) if self.is_attended else None
        try:
            return await self.servers.start(stack, on_ask, self.tell, self.start_seconds)
        finally:
            self._main.soon(self.renderer.rest)

    def _begin(self, agent: Agent) -> Session:
        def on_live(live: Any) -> None:
            self._main.soon(partial(self.renderer.live, live))

        return agent.session(on_live=on_live) if self.resume is None else agent.resume(self.resume, on_live=on_live)

    def _interrupt(self) -> None:
        """Handle Ctrl-C: cancel the running call, else the run, else end the command."""
        if self._is_running and self.session.cancel_call():
            self.tell("the call is cancelled; Ctrl-C again ends the run")
        elif self._is_running and not self._is_ending:
            self._is_ending = True
            self.session.cancel("Ctrl-C")
        else:
            self._end()

    def _end(self) -> None:
        self._scope.cancel()

    # --- the user ---

    async def _on_model_question(self, question: Question) -> str | None:
        if self.answers:
            return self.answers.pop(0)
        if not self.is_attended and is_typed_at():
            return None
        reply: str | None = await self._ask_user(self._person.reply, question)
        return reply

    async def _ask_user(self, ask: Callable[[Any], Any], question: Any) -> Any:
        def put() -> Any:
            self.renderer.rest()
            return ask(question)

        return await self._main.do(put)
