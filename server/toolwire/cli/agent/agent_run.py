"""Runs an agent for `toolwire ask` and `toolwire chat`: makes it from the options, and adds the
page.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING

from toolwire_schemas.language import say

from ...errors import UsageError
from ..open_client import is_attended, is_typed_at
from ..printing.output_files import check_folders, write_pages
from .agent_options import (
    SETTINGS,
    make_approvals,
    make_budgets,
    make_model,
    make_protocol,
    make_renderer,
    name_transcript,
    speak_language,
)
from .agent_servers import ServersToStart

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator

    from toolwire_agent.agent import AgentSession, Outcome, Recorded
    from toolwire_agent.servers import Trusted
    from toolwire_client import AsyncClient

    from ...inspect.app import Page
    from ..options import Words
    from .live_run import LiveRun

CANCELLED = 130
"""The exit status after Ctrl-C, as in a shell."""


class AgentRun:
    """The model, servers, agent and terminal of one command. `session` and `tools` exist while it
    runs.

    The time limit of *is_one_question* includes the start of the servers.
    """

    def __init__(self, words: Words, *, is_one_question: bool = False) -> None:
        from toolwire_agent.terminal import TerminalRun

        self._options = options = words.options
        for option in ("set", "adopt"):
            if option in options and "tools" not in options:
                raise UsageError(f"--{option} goes with --tools: name the target there")
        check_folders(options, "html")
        speak_language(options.get("language"))
        _name_ourselves_in_warnings()
        self._servers = ServersToStart(words)
        self._model = make_model(options)
        name_transcript(options)
        self._is_one_question = is_one_question
        self._unmatched = [
            (name, pattern) for name in ("allow", "deny") for pattern in options.get(name, ())
        ]
        self.session: AgentSession
        self.tools: dict[str, AsyncClient] = {}
        self.terminal = TerminalRun(
            make_renderer(options, self._model),
            answers=options.get("answer", []),
            # A program that reads events cannot answer.
            is_attended=is_attended() and not options.get("json"),
            reads_input=not is_typed_at(),
        )
        self._note = ""
        self._page: Page | None = None
        self._live_run: LiveRun | None = None

    def run(self, work: Callable[[AgentRun], Awaitable[int]]) -> int:
        """Start everything, and return the result of *work*."""
        return self.terminal.run(partial(self._run, work))

    async def show(self, events: AsyncGenerator[Recorded, None]) -> Outcome:
        """Show a run of the agent, and return its outcome."""
        if self._note:
            self.terminal.tell(self._note)
            self._note = ""
        return await self.terminal.show(self.session, events, self._on_event)

    def _on_event(self, event: Recorded) -> None:
        from toolwire_agent.agent.events import ToolsListed

        if isinstance(event, ToolsListed):
            self._report_unmatched([tool["name"] for tool in event.tools])
        if self._page is None:
            return
        from .live_run import LiveRun

        if self._live_run is None:
            self._live_run = LiveRun(self._page.feed, self._transcript)
        self._live_run.show(self.session.events)

    def _report_unmatched(self, tools: list[str]) -> None:
        """Show which of `--allow` and `--deny` match none of the *tools*, once: later lists may
        have others.
        """
        patterns, self._unmatched = self._unmatched, []
        for option, pattern in patterns:
            if any(fnmatchcase(tool, pattern) for tool in tools):
                continue
            note = say(
                "--{option} {pattern} matches no tool; the tools are {names}",
                option=option,
                pattern=pattern,
                names=", ".join(tools) or say("none"),
            )
            self.terminal.tell(note)

    async def _run(self, work: Callable[[AgentRun], Awaitable[int]]) -> int:
        import anyio
        from toolwire_agent.agent import BrokenTranscript

        started_at = anyio.current_time()
        with self.terminal.leave_at_interrupt():
            async with AsyncExitStack() as stack:
                if "inspect" in self._options:
                    self._page = await stack.enter_async_context(self._open_page())
                self.tools, trusted = await self._start_servers(stack)
                # A model may keep connections open.
                if isinstance(self._model, AbstractAsyncContextManager):
                    await stack.enter_async_context(self._model)
                spent_seconds = anyio.current_time() - started_at if self._is_one_question else 0.0
                try:
                    self.session = self._begin(trusted, spent_seconds)
                    with self._write_page_at_the_end():
                        status = await work(self)
                except BrokenTranscript as error:
                    raise UsageError(str(error)) from None
                if self._page is not None and self._is_one_question:
                    await self._keep_page()
                return status
        return CANCELLED

    async def _keep_page(self) -> None:
        """Wait for Ctrl-C, so that the page can be read."""
        import anyio

        # The last Ctrl-C may have come when the run had just ended: then it is for the page.
        has_been_cancelled = getattr(self.session.events[-1], "status", "") == "cancelled"
        if self.terminal.was_interrupted and not has_been_cancelled:
            return
        with self.terminal.leave_at_interrupt():
            self.terminal.tell(say("the page stays until Ctrl-C"))
            await anyio.sleep_forever()

    def _open_page(self) -> AbstractAsyncContextManager[Page]:
        from ...inspect.traffic import Feed
        from ..local_page import local_page
        from ..printing.terminal import print_error

        return local_page(
            Feed(),
            self._options,
            print_error,
            title=self._transcript or "A run",
            views=["run", "time"],
            status="ready",
            servers_of_run=self._servers.words,
        )

    @property
    def _transcript(self) -> str | None:
        return self._options.get("transcript", self._options.get("resume"))

    async def _start_servers(self, stack: AsyncExitStack) -> tuple[dict[str, AsyncClient], Trusted]:
        if self._servers.are_any:  # a package runner may have to fetch one first
            self.terminal.show_wait(say("starting the servers"))
        limits = [
            self._options[name] for name in ("start_timeout", "timeout") if name in self._options
        ]
        try:
            return await self._servers.start(
                stack, self.terminal.on_form, self.terminal.tell, min(limits, default=None)
            )
        finally:
            self.terminal.hold_still()

    def _begin(self, trusted: Trusted, spent_seconds: float) -> AgentSession:
        from toolwire_agent.agent import Agent
        from toolwire_agent.react import Limits

        options, terminal = self._options, self.terminal
        limits = None
        if "result_limit" in options:
            limits = Limits(max_result_chars=options["result_limit"])
        agent = Agent(
            self._model,
            self.tools,
            protocol=make_protocol(options, self._model),
            limits=limits,
            budgets=make_budgets(options, spent_seconds),
            approval=make_approvals(options, trusted, terminal.on_approval),
            on_ask=terminal.on_question,
            transcript=self._transcript,
            **{name: options[option] for name, option in SETTINGS.items() if option in options},
        )
        if "fork" in options:
            self._note = say(
                "this fork of {source} is written to {file}",
                source=options["fork"],
                file=options["transcript"],
            )
            try:
                return agent.fork(options["fork"], options.get("at"), on_live=terminal.show_live)
            except ValueError as error:
                raise UsageError(str(error)) from None
        if "resume" in options:
            return agent.resume(options["resume"], on_live=terminal.show_live)
        return agent.session(on_live=terminal.show_live)

    @contextmanager
    def _write_page_at_the_end(self) -> Iterator[None]:
        """Write the run as a page, if asked to, however it ends; secrets are hidden as in a
        transcript.
        """
        try:
            yield
        finally:
            if "html" in self._options:
                from toolwire_agent.run_page import write_run_page
                from toolwire_client.redaction.redactor import Redactor

                page = write_run_page([*map(Redactor().redact_event, self.session.events)])
                write_pages(self._options, html=lambda: page)


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
