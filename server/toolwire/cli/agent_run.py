"""Runs an agent for `toolwire ask` and `toolwire chat`, with the user at the terminal."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .agent_options import ServersToStart, budgets_of, face_of, is_attended, is_typed_at, model_of, note
from .options import SET, Option, count, one_of, seconds

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from toolwire_client import AsyncClient, NoAnswer, Question
    from toolwire_client.agent import Agent, ApprovalRequest, Approvals, Outcome, Recorded, Session, Verdict

    from .options import Words

OPTIONS = (
    Option(
        "--model",
        "model: PROVIDER:MODEL, arithmetic (offline), human (you), replay:FILE (a transcript) or MODULE:OBJECT "
        "(default with --resume: that of the transcript)",
        "NAME",
    ),
    Option("--tools", "let it use these tools, given as for `serve`; repeatable", "TARGET", many=True),
    SET,
    Option("--server", "let it use the tools of the MCP server that COMMAND starts; repeatable", "COMMAND", many=True),
    Option("--config", "let it use the servers under mcpServers in a host's config FILE", "FILE"),
    Option(
        "--approve",
        "calls other than trusted reads: ask (default), reads (refuse them) or all (allow them)",
        "WHICH",
        one_of("ask", "reads", "all"),
    ),
    Option(
        "--trust-hints",
        "trust read-only hints of a server (its COMMAND or name), yes (all) or no (none) (default: those of --tools)",
        "WHOSE",
        many=True,
    ),
    Option("--allow", "allow tools whose name matches without asking; repeatable", "PATTERN", many=True),
    Option("--deny", "never call tools whose name matches; repeatable", "PATTERN", many=True),
    Option("--answer", "answer to the model's next question; repeatable for the following ones", "TEXT", many=True),
    Option("--transcript", "append all events to FILE, as JSON lines", "FILE"),
    Option("--resume", "resume the transcript FILE, and append to it", "FILE"),
    Option(
        "--language",
        "language of the prompts: en or zh (default: TOOLWIRE_LANG, or en)",
        "NAME",
        one_of("en", "zh"),
    ),
    Option("--instructions", "additional instructions for the model", "TEXT"),
    Option("--max-turns", "maximum number of replies to a question (default: 20)", "NUMBER", count),
    Option("--max-tokens", "maximum number of tokens for a question", "NUMBER", count),
    Option(
        "--timeout",
        "time limit of a question; for ask including the start of the servers; without the time you need to answer; "
        "the last quarter is kept for the final answer",
        "SECONDS",
        seconds,
    ),
    Option("--tool-timeout", "time limit of a tool call (default: 300)", "SECONDS", seconds),
    Option("--base-url", "URL of the model's API (default: its provider's)", "URL"),
    Option("--json", "print every event as a line of JSON, without prompts at the terminal"),
)

CANCELLED = 130
"""The exit status after Ctrl-C, as in a shell."""


class AgentRun:
    """The model, servers, agent and terminal of one command. `session` and `tools` exist while it runs."""

    session: Session
    tools: dict[str, AsyncClient]

    def __init__(self, words: Words, *, is_one_question: bool = False) -> None:
        from toolwire_client.models import HumanModel
        from toolwire_client.terminal import Keyboard, MainThread, Person

        self.options = options = words.options
        self._is_one_question = is_one_question
        self._servers = ServersToStart(words)
        self._model = model_of(options)
        # A program that reads events cannot answer.
        self.is_attended = is_attended() and not options.get("json")
        self._face = face_of(options, thinks=not isinstance(self._model, HumanModel))
        self._main = MainThread(self._interrupt, self._end)
        self._keyboard = Keyboard(self._main.typing)
        self._person = Person(self._keyboard.read, self._face.tell)
        self._settings = self._agent_settings()
        self._answers: list[str] = list(options.get("answer", ()))
        self._is_running = self._is_ending = False

    def run(self, work: Callable[[], Awaitable[int]]) -> int:
        """Set everything up, and return the result of *work*."""
        return self._main.run(partial(self._run, work))

    async def show(self, events: AsyncGenerator[Recorded, None]) -> Outcome:
        """Show a run of the agent, and return its outcome."""
        from toolwire_client.agent.events import Ended, outcome_of

        shown: list[Recorded] = []
        self._is_running, self._is_ending = True, False
        try:
            async with aclosing(events):
                async for event in events:
                    await self._main.do(partial(self._face.show, event))
                    shown.append(event)
                    if isinstance(event, Ended):
                        return outcome_of(event, shown)
        finally:
            self._is_running = False
            self._main.soon(self._face.rest)
        raise AssertionError("every run ends with Ended")

    def tell(self, text: str) -> None:
        """Show a note that is not part of the run."""
        self._main.soon(partial(note, self._face, text))

    def why_no_user_was_asked(self, outcome: Outcome) -> str:
        """Return why a run waits for a user, to print before the remedy; empty if a user is at the terminal."""
        from toolwire_client.agent.events import ApprovalAsked

        if self.is_attended:
            return ""
        if isinstance(outcome.pending, ApprovalAsked) and outcome.pending.interrupted:
            tool = quote(outcome.pending.tool)
            return f"the call may have taken effect: decide at a terminal, or --deny {tool} goes on without it; "
        is_read = "json" in self.options
        reason = "--json asks no user" if is_read else "no user can be asked, since this is no terminal"
        if not isinstance(outcome.pending, ApprovalAsked):
            reason += ": --answer TEXT, or a line of standard input, answers the question"
        else:
            reason += f": --allow {quote(outcome.pending.tool)}, or --approve all, says yes beforehand"
        return f"{reason}; "

    async def line(self, prompt: str, when_interrupted: str) -> str | None:
        """Return the next line of input, or `None` at the end.

        After Ctrl-C it is empty, and *when_interrupted* is shown.
        """
        return await self._main.do(partial(self._read_line, prompt, when_interrupted))

    def _read_line(self, prompt: str, when_interrupted: str) -> str | None:
        from toolwire_client.terminal import Interrupted

        try:
            return self._keyboard.read(prompt)
        except Interrupted:
            note(self._face, when_interrupted)
            return ""

    # --- a run ---

    async def _run(self, work: Callable[[], Awaitable[int]]) -> int:
        import anyio
        from toolwire_client.agent import Agent, BrokenTranscript

        started_at = anyio.current_time()
        with anyio.CancelScope() as self._scope:
            async with AsyncExitStack() as stack:
                on_ask = self._on_tools_question if self.is_attended else None
                self.tools = await self._start_servers(stack, on_ask)
                if isinstance(self._model, AbstractAsyncContextManager):  # one that keeps connections open
                    await stack.enter_async_context(self._model)
                if self._is_one_question:  # which the start of the servers is a part of
                    self._settings["budgets"] = budgets_of(self.options, anyio.current_time() - started_at)
                approval = self._approvals(self._servers.trusted)
                agent = Agent(self._model, self.tools, approval=approval, **self._settings)
                try:
                    self.session = self._begin(agent)
                    return await work()
                except BrokenTranscript as error:
                    raise UsageError(str(error)) from None
                except OSError as error:
                    if error.filename is None:
                        raise
                    raise UsageError(f"cannot open {error.filename}: {error.strerror}") from None
        return CANCELLED

    async def _start_servers(self, stack: AsyncExitStack, on_ask: Any) -> dict[str, AsyncClient]:
        from toolwire_client.async_client import START_TIMEOUT_SECONDS

        if self._servers.are_any:  # a package runner may have to fetch one first
            self._main.soon(partial(self._face.wait, "starting the servers"))
        try:
            most = self.options.get("timeout", START_TIMEOUT_SECONDS)
            return await self._servers.start(stack, on_ask, self.tell, most)
        finally:
            self._main.soon(self._face.rest)

    def _begin(self, agent: Agent) -> Session:
        def on_live(live: Any) -> None:
            self._main.soon(partial(self._face.live, live))

        if "resume" in self.options:
            return agent.resume(self.options["resume"], on_live=on_live)
        return agent.session(on_live=on_live)

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

    # --- the person ---

    async def _on_tools_question(self, question: Question) -> dict[str, Any] | NoAnswer:
        return await self._main.do(partial(self._attend, self._person.fill_in, question))

    async def _on_model_question(self, question: Question) -> str | None:
        if self._answers:
            return self._answers.pop(0)
        if not self.is_attended and is_typed_at():
            return None
        return await self._main.do(partial(self._attend, self._person.reply, question))

    async def _on_approval(self, request: ApprovalRequest) -> Verdict:
        return await self._main.do(partial(self._attend, self._person.approve, request))

    def _attend(self, put: Callable[[Any], Any], question: Any) -> Any:
        self._face.rest()
        return put(question)

    # --- settings ---

    def _agent_settings(self) -> dict[str, Any]:
        given = self.options
        if "resume" in given and given.get("transcript", given["resume"]) != given["resume"]:
            raise UsageError("--resume appends to the transcript that it resumes: leave out --transcript")
        settings: dict[str, Any] = {"budgets": budgets_of(given), "on_ask": self._on_model_question}
        if "tool_timeout" in given:
            settings["tool_seconds"] = given["tool_timeout"]
        if (transcript := given.get("resume", given.get("transcript"))) is not None:
            settings["transcript"] = transcript
        return settings | {name: given[name] for name in ("language", "instructions") if name in given}

    def _approvals(self, trusted: bool | tuple[str, ...]) -> Approvals:
        from toolwire_client.agent import Approvals

        mode = self.options.get("approve", "ask")
        asks = mode != "reads" and self.is_attended  # with "all" only about interrupted calls
        return Approvals(
            ask=self._on_approval if asks else None,
            allow=("*",) if mode == "all" else tuple(self.options.get("allow", ())),
            deny=tuple(self.options.get("deny", ())),
            trust_hints=trusted,
            nobody="refuse" if mode == "reads" else "pause",
        )
