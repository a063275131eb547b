"""Runs an agent for `toolwire ask` and `toolwire chat`, with the user at the terminal."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, contextmanager
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .agent_options import (
    SETTINGS,
    approvals_of,
    budgets_of,
    model_of,
    name_transcript,
    protocol_of,
    renderer_of,
)
from .agent_servers import ServersToStart
from .open_client import is_attended, is_typed_at
from .output import need_folders, write_pages

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator

    from toolwire_agent.agent import AgentSession, Outcome, Recorded
    from toolwire_client import AsyncClient, Elicitation

    from ..inspect.app import Page
    from .options import Words

CANCELLED = 130
"""The exit status after Ctrl-C, as in a shell."""


class AgentRun:
    """The model, servers, agent and terminal of one command. `session` and `tools` exist while it
    runs.

    The time limit of *is_one_question* includes the start of the servers.
    """

    def __init__(self, words: Words, *, is_one_question: bool = False) -> None:
        from toolwire_agent.terminal import Keyboard, MainThread, Person

        self._options = options = words.options
        for option in ("set", "adopt"):
            if option in options and "tools" not in options:
                raise UsageError(f"--{option} goes with --tools: name the target there")
        need_folders(options, "html")
        _name_ourselves_in_warnings()
        self._servers = ServersToStart(words)
        self._model = model_of(options)
        name_transcript(options)
        self._is_one_question = is_one_question
        self._patterns = [
            (name, pattern) for name in ("allow", "deny") for pattern in options.get(name, ())
        ]
        self._answers: list[str] = options.get("answer", [])
        # A program that reads events cannot answer.
        self.is_attended = is_attended() and not options.get("json")
        self.session: AgentSession
        self.tools: dict[str, AsyncClient] = {}
        self._renderer = renderer_of(options, self._model)
        self._main = MainThread(self._interrupt, self._end)
        self._keyboard = Keyboard(self._main.typing)
        self._person = Person(self._keyboard.read, self._renderer.tell)
        self._form_filler = Person(self._line_of_form, self._renderer.tell)
        self._is_running = self._is_ending = False
        self._note = ""
        self._page: Page | None = None

    def run(self, work: Callable[[AgentRun], Awaitable[int]]) -> int:
        """Start everything, and return the result of *work*."""
        return self._main.run(partial(self._run, work))

    async def show(self, events: AsyncGenerator[Recorded, None]) -> Outcome:
        """Show a run of the agent, and return its outcome."""
        from toolwire_agent.agent.events import Ended, Resumed, ToolsListed, outcome_of
        from toolwire_agent.presentation import find_open_steps

        earlier = find_open_steps(self.session.events)
        if self._note:
            self.tell(self._note)
            self._note = ""
        shown: list[Recorded] = []
        self._is_running, self._is_ending = True, False
        try:
            async with aclosing(events):
                async for event in events:
                    if self._page is not None:
                        from toolwire_agent.run_page import event_html

                        if html := event_html(event, shown[-1] if shown else None):
                            self._page.feed.add("run", html=html)
                    await self._main.do(partial(self._renderer.show, event))
                    if isinstance(event, Resumed):
                        await self._main.do(partial(self._renderer.recall, earlier))
                    if isinstance(event, ToolsListed):
                        self._name_idle_patterns([tool["name"] for tool in event.tools])
                    shown.append(event)
                    if isinstance(event, Ended):
                        return outcome_of(event, shown)
        finally:
            self._is_running = False
            self._main.soon(self._renderer.rest)
        raise AssertionError("every run ends with Ended")

    def _name_idle_patterns(self, tools: list[str]) -> None:
        """Show which of `--allow` and `--deny` match none of the *tools*, once: later lists may
        have others.
        """
        patterns, self._patterns = self._patterns, []
        for option, pattern in patterns:
            if not any(fnmatchcase(tool, pattern) for tool in tools):
                self.tell(
                    f"--{option} {pattern} matches no tool; the tools are"
                    f" {', '.join(tools) or 'none'}"
                )

    def tell(self, text: str) -> None:
        """Show a note that is not part of the run."""
        from toolwire_agent.terminal.event_lines import line

        self._main.soon(partial(self._renderer.tell, line("note", text)))

    async def line(self, prompt: str, when_interrupted: str) -> str | None:
        """Return the next line of input, or `None` at the end.

        After Ctrl-C it is empty, and *when_interrupted* is shown.
        """
        from toolwire_agent.terminal import Interrupted

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
        from toolwire_agent.agent import BrokenTranscript

        started_at = anyio.current_time()
        with anyio.CancelScope() as self._scope:
            async with AsyncExitStack() as stack:
                if "inspect" in self._options:
                    self._page = await stack.enter_async_context(self._open_page())
                self.tools, trusted = await self._start_servers(stack)
                if isinstance(
                    self._model, AbstractAsyncContextManager
                ):  # one that keeps connections open
                    await stack.enter_async_context(self._model)
                spent_seconds = anyio.current_time() - started_at if self._is_one_question else 0.0
                try:
                    self.session = self._begin(trusted, spent_seconds)
                    with self._page_at_the_end():
                        status = await work(self)
                    # The last Ctrl-C may have come when the run had just ended: then it is for the
                    # page.
                    is_left = (
                        self._is_ending
                        and getattr(self.session.events[-1], "status", "") != "cancelled"
                    )
                    if self._page is not None and self._is_one_question and not is_left:
                        with anyio.CancelScope() as self._scope:
                            self.tell("the page stays until Ctrl-C")
                            await anyio.sleep_forever()
                    return status
                except BrokenTranscript as error:
                    raise UsageError(str(error)) from None
        return CANCELLED

    def _open_page(self) -> AbstractAsyncContextManager[Page]:
        from ..inspect.traffic import Feed
        from .local_page import local_page
        from .output import complain

        return local_page(
            Feed(), self._options, complain, title="A run", views=["run"], status="ready"
        )

    async def _start_servers(
        self, stack: AsyncExitStack
    ) -> tuple[dict[str, AsyncClient], bool | tuple[str, ...]]:
        if self._servers.are_any:  # a package runner may have to fetch one first
            self._main.soon(partial(self._renderer.wait, "starting the servers"))
        can_ask = self.is_attended or self._answers
        on_ask = partial(self._ask_user, self._form_filler.fill_in) if can_ask else None
        try:
            limits = (
                self._options[name]
                for name in ("start_timeout", "timeout")
                if name in self._options
            )
            return await self._servers.start(stack, on_ask, self.tell, min(limits, default=None))
        finally:
            self._main.soon(self._renderer.rest)

    def _begin(self, trusted: bool | tuple[str, ...], spent_seconds: float) -> AgentSession:
        from toolwire_agent.agent import Agent
        from toolwire_agent.react import Limits

        def on_live(live: Any) -> None:
            self._main.soon(partial(self._renderer.live, live))

        options = self._options
        limits = (
            Limits(max_result_chars=options["result_limit"]) if "result_limit" in options else None
        )
        on_approval = partial(self._ask_user, self._person.approve) if self.is_attended else None
        agent = Agent(
            self._model,
            self.tools,
            protocol=protocol_of(options, self._model),
            limits=limits,
            budgets=budgets_of(options, spent_seconds),
            approval=approvals_of(options, trusted, on_approval),
            on_ask=self._on_model_question,
            transcript=options.get("transcript", options.get("resume")),
            **{name: options[option] for name, option in SETTINGS.items() if option in options},
        )
        if "fork" in options:
            self._note = f"this fork of {options['fork']} is written to {options['transcript']}"
            try:
                return agent.fork(options["fork"], options.get("at"), on_live=on_live)
            except ValueError as error:
                raise UsageError(str(error)) from None
        if "resume" in options:
            return agent.resume(options["resume"], on_live=on_live)
        return agent.session(on_live=on_live)

    @contextmanager
    def _page_at_the_end(self) -> Iterator[None]:
        """Write the run as a page, if asked to, however it ends; secrets are hidden as in a
        transcript.
        """
        try:
            yield
        finally:
            if "html" in self._options:
                from toolwire_agent.run_page import run_page
                from toolwire_client.redaction.redactor import Redactor

                page = run_page([*map(Redactor().event, self.session.events)])
                write_pages(self._options, html=lambda: page)

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

    async def _on_model_question(self, question: Elicitation) -> str | None:
        if self._answers:
            answer = self._answers.pop(0)
            self.tell(f"answer: {answer}")
            return answer
        if not self.is_attended and is_typed_at():
            return None
        reply: str | None = await self._ask_user(self._person.reply, question)
        return reply

    def _line_of_form(self, prompt: str, *, prefill: str = "") -> str | None:
        from toolwire_agent.terminal.event_lines import line

        if self._answers:
            answer = self._answers.pop(0)
            self._renderer.tell(line("note", f"{prompt}{answer}"))
            return answer
        return self._keyboard.read(prompt, prefill=prefill) if self.is_attended else None

    async def _ask_user(self, ask: Callable[[Any], Any], question: Any) -> Any:
        def put() -> Any:
            self._renderer.rest()
            return ask(question)

        return await self._main.do(put)


def _name_ourselves_in_warnings() -> None:
    """Begin what the agent logs, such as that traces cannot be exported, with `toolwire:
    warning:`.
    """
    import logging

    logger = logging.getLogger("toolwire")
    if not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("toolwire: warning: %(message)s"))
        logger.addHandler(handler)
