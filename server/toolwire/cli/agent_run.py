"""What `toolwire ask` and `toolwire chat` have in common: an agent's run meets whoever sits at the terminal."""

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
        "the model to ask: PROVIDER:MODEL, arithmetic (offline), human (you), replay:FILE (a transcript), "
        "MODULE:OBJECT; with --resume by default that of the transcript",
        "NAME",
    ),
    Option("--tools", "let it use these tools, as `serve` takes them; may be given again", "TARGET", many=True),
    SET,
    Option("--server", "let it use those of the MCP server that COMMAND starts; likewise", "COMMAND", many=True),
    Option("--config", "and those of the servers in a host's file, under mcpServers", "FILE"),
    Option(
        "--approve",
        "calls that are no trusted reads: ask (the default), reads (refuse them) or all (allow them)",
        "WHICH",
        one_of("ask", "reads", "all"),
    ),
    Option(
        "--trust-hints",
        "believe read-only hints of: a server (its COMMAND or name), yes (all) or no (none); by default of --tools",
        "WHOSE",
        many=True,
    ),
    Option("--allow", "allow tools whose name matches without asking; may be given again", "PATTERN", many=True),
    Option("--deny", "never call tools whose name matches; may be given again", "PATTERN", many=True),
    Option("--answer", "answer the model's next question so; may be given again for those after it", "TEXT", many=True),
    Option("--transcript", "add all that happens to FILE, as JSON lines", "FILE"),
    Option("--resume", "go on where the transcript FILE stopped, and add to it", "FILE"),
    Option(
        "--language",
        "the language of the prompts: en or zh; by default that of TOOLWIRE_LANG, or en",
        "NAME",
        one_of("en", "zh"),
    ),
    Option("--instructions", "what to tell the model besides", "TEXT"),
    Option("--max-turns", "replies of the model to a question; by default 20", "NUMBER", count),
    Option("--max-tokens", "tokens that a question may cost", "NUMBER", count),
    Option(
        "--timeout",
        "how long a question may take, for ask with the start of the servers, without the time in which you are asked; "
        "the last quarter is kept for the final answer",
        "SECONDS",
        seconds,
    ),
    Option("--tool-timeout", "how long a call of a tool may take; by default 300", "SECONDS", seconds),
    Option("--base-url", "where the model is, if not at its provider's usual address", "URL"),
    Option("--json", "print every event as a line of JSON; nobody is asked at the terminal"),
)

CANCELLED = 130
"""The exit status of what Ctrl-C ended, as everywhere in a shell."""


class Exchange:
    """What one command sets up: a model, servers, an agent, and the terminal.

    `session` and `tools` are there while it runs.
    """

    session: Session
    tools: dict[str, AsyncClient]

    def __init__(self, words: Words, *, is_one_question: bool = False) -> None:
        from toolwire_client.models import HumanModel
        from toolwire_client.terminal import Keyboard, MainThread, Person

        self.options = options = words.options
        self._is_one_question = is_one_question
        self._servers = ServersToStart(words)
        self._model = model_of(options)
        # A program that reads events has no way to answer.
        self.is_attended = is_attended() and not options.get("json")
        self._face = face_of(options, thinks=not isinstance(self._model, HumanModel))
        self._main = MainThread(self._interrupt, self._end)
        self._keyboard = Keyboard(self._main.typing)
        self._person = Person(self._keyboard.read, self._face.tell)
        self._settings = self._agent_settings()
        self._answers: list[str] = list(options.get("answer", ()))
        self._is_running = self._is_ending = False

    def run(self, work: Callable[[], Awaitable[int]]) -> int:
        """Return what *work* returns, which finds everything ready."""
        return self._main.run(partial(self._run, work))

    async def show(self, events: AsyncGenerator[Recorded, None]) -> Outcome:
        """Show a run of the agent, and return what came of it."""
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
        """Tell what is not part of the run."""
        self._main.soon(partial(note, self._face, text))

    def why_nobody_was_asked(self, outcome: Outcome) -> str:
        """Return what to say before a remedy for a run that waits for a person; nothing if there is one."""
        from toolwire_client.agent.events import ApprovalAsked

        if self.is_attended:
            return ""
        if isinstance(outcome.pending, ApprovalAsked) and outcome.pending.interrupted:
            tool = quote(outcome.pending.tool)
            return f"the call may have taken effect: decide at a terminal, or --deny {tool} goes on without it; "
        is_read = "json" in self.options
        told = "nobody is asked with --json" if is_read else "nobody can be asked here, since this is no terminal"
        if not isinstance(outcome.pending, ApprovalAsked):
            told += ": --answer TEXT, or a line of standard input, answers the question"
        else:
            told += f": --allow {quote(outcome.pending.tool)}, or --approve all, says yes beforehand"
        return f"{told}; "

    async def line(self, prompt: str, when_interrupted: str) -> str | None:
        """Return the line that is typed next, or `None` at the end.

        After Ctrl-C it is empty, and *when_interrupted* is told.
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
        from toolwire_client.settings import START_TIMEOUT_SECONDS

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
        """Ctrl-C: end the call under way, or else the run, or else everything."""
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
            raise UsageError("--resume adds to the transcript that it goes on with: leave out --transcript")
        settings: dict[str, Any] = {"budgets": budgets_of(given), "on_ask": self._on_model_question}
        if "tool_timeout" in given:
            settings["tool_seconds"] = given["tool_timeout"]
        if (transcript := given.get("resume", given.get("transcript"))) is not None:
            settings["transcript"] = transcript
        return settings | {name: given[name] for name in ("language", "instructions") if name in given}

    def _approvals(self, trusted: bool | tuple[str, ...]) -> Approvals:
        from toolwire_client.agent import Approvals

        mode = self.options.get("approve", "ask")
        asks = mode != "reads" and self.is_attended  # with "all" about calls that were interrupted
        return Approvals(
            ask=self._on_approval if asks else None,
            allow=("*",) if mode == "all" else tuple(self.options.get("allow", ())),
            deny=tuple(self.options.get("deny", ())),
            trust_hints=trusted,
            nobody="refuse" if mode == "reads" else "pause",
        )
