"""`toolwire ask` and `toolwire chat`: from a command line to an agent's run, and to whoever sits at the terminal."""

from __future__ import annotations

import io
import sys
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing
from functools import partial
from typing import TYPE_CHECKING, Any

from toolwire_tools.suggestions import unknown

from .equipment import ServersToStart, budgets_of, face_of, is_attended, model_of, note
from .errors import UsageError
from .show import Style, tools_table, width

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from toolwire_client import AsyncClient, NoAnswer, Question
    from toolwire_client.agent import Agent, ApprovalRequest, Approvals, Recorded, Session, Verdict
    from toolwire_client.agent.events import Ended

    from .options import Words

_COMMANDS = {
    "/help": "this list",
    "/tools": "the tools that the model may use",
    "/continue": "go on with a question that was interrupted, or waits for you",
    "/quit": "the end, as is Ctrl-D",
}
_CANCELLED = 130
"""The exit status of what Ctrl-C ended, as everywhere in a shell."""


def ask(words: Words, own: Callable[[list[str]], list[str]]) -> int:
    """Answer one question, or go on with that of a transcript, and return the exit status.

    *own* is the command that serves a list of targets.
    """
    question = _question(words)
    exchange = _Exchange(words, own)

    async def work() -> int:
        return await exchange.ask(question)

    return exchange.run(work)


def chat(words: Words, own: Callable[[list[str]], list[str]]) -> int:
    """Answer what is typed until that ends, and return the exit status. *own* is as in `ask`."""
    if words.words:
        raise UsageError("chat asks for its questions itself; `toolwire ask` takes one")
    exchange = _Exchange(words, own)
    return exchange.run(exchange.chat)


def _question(words: Words) -> str | None:
    """The question; `None` if there is that of a transcript instead."""
    given = words.words
    if len(given) > 1:
        raise UsageError(f'put the question in quotes, as in `ask "{" ".join(given)}"`')
    if not given and "resume" not in words.options:
        raise UsageError('say what to ask, as in `ask "What is 2 + 3?"`; `-` reads it from standard input')
    question = _piped() if given == ["-"] else given[0] if given else None
    if question is not None and not question.strip():
        raise UsageError("the question is empty")
    return question


def _piped() -> str:
    return sys.stdin.read() if sys.stdin is not None else ""


class _Exchange:
    """What one command sets up: a model, servers, an agent, and the terminal."""

    def __init__(self, words: Words, own: Callable[[list[str]], list[str]]) -> None:
        from toolwire_client.models import HumanModel
        from toolwire_client.terminal import Keyboard, MainThread, Person

        self._options = options = words.options
        self._servers = ServersToStart(words, own)
        self._model = model_of(options)
        # A program that reads events has no way to answer.
        self._is_attended = is_attended() and not options.get("json")
        self._face = face_of(options, thinks=not isinstance(self._model, HumanModel))
        self._main = MainThread(self._interrupt, self._end)
        self._keyboard = Keyboard(self._main.typing)
        self._person = Person(self._keyboard.read, self._face.tell)
        self._settings = self._agent_settings()
        self._is_running = self._is_ending = False

    def run(self, work: Callable[[], Awaitable[int]]) -> int:
        """Return what *work* returns, which finds everything ready."""
        return self._main.run(partial(self._run, work))

    async def ask(self, question: str | None) -> int:
        """Answer *question*, or the last one of the transcript."""
        if question is None and not self._session.can_go_on:
            raise UsageError(f"the last question in {self._options['resume']} is done; give another one to ask there")
        ended = await self._show(self._session.go_on() if question is None else self._session.run(question))
        if ended.status == "needs_input":
            self._tell(self._how_to_go_on())
        return {"answered": 0, "cancelled": _CANCELLED}.get(ended.status, 1)

    async def chat(self) -> int:
        """Answer one line after the other."""
        if self._is_attended:
            self._tell("/help lists the commands")
        if self._session.can_go_on:
            self._tell("the last question is not answered yet; /continue goes on with it")
        while (line := await self._main.do(self._read_line)) is not None and line.strip() != "/quit":
            if line.strip():
                await self._do(line.strip())
        return 0

    # --- chat ---

    def _read_line(self) -> str | None:
        from toolwire_client.terminal import Interrupted

        try:
            return self._keyboard.read("\n> " if self._is_attended else "")
        except Interrupted:
            note(self._face, "Ctrl-D or /quit ends the chat")
            return ""

    async def _do(self, line: str) -> None:
        match line:
            case "/help":
                self._tell("\n".join(f"{name:<10} {what}" for name, what in _COMMANDS.items()))
            case "/tools":
                await self._show_tools()
            case "/continue" if self._session.can_go_on:
                await self._show(self._session.go_on())
            case "/continue":
                self._tell("the last question is done")
            case _ if line.startswith("/"):
                self._tell(unknown("command", line.split()[0], _COMMANDS))
            case _:
                await self._show(self._session.run(line))

    async def _show_tools(self) -> None:
        from toolwire_client import AsyncToolbox

        tools = [tool.raw for tool in await AsyncToolbox(self._tools).list_tools()] if self._tools else []
        table = tools_table(tools, width() - 2, Style(io.StringIO())) if tools else "There are no tools."
        self._tell(table)

    # --- a run ---

    async def _run(self, work: Callable[[], Awaitable[int]]) -> int:
        import anyio
        from toolwire_client.agent import Agent, BrokenTranscript

        with anyio.CancelScope() as self._scope:
            async with AsyncExitStack() as stack:
                on_ask = self._on_tools_question if self._is_attended else None
                self._tools = await self._start_servers(stack, on_ask)
                if isinstance(self._model, AbstractAsyncContextManager):  # one that keeps connections open
                    await stack.enter_async_context(self._model)
                agent = Agent(self._model, self._tools, **self._settings)
                try:
                    self._session = self._begin(agent)
                    return await work()
                except BrokenTranscript as error:
                    raise UsageError(str(error)) from None
                except OSError as error:
                    if error.filename is None:
                        raise
                    raise UsageError(f"cannot open {error.filename}: {error.strerror}") from None
        return _CANCELLED

    async def _start_servers(self, stack: AsyncExitStack, on_ask: Any) -> dict[str, AsyncClient]:
        if self._servers.are_any:  # a package runner may have to fetch one first
            self._main.soon(partial(self._face.wait, "starting the servers"))
        try:
            return await self._servers.start(stack, on_ask, self._tell)
        finally:
            self._main.soon(self._face.rest)

    def _begin(self, agent: Agent) -> Session:
        def on_live(live: Any) -> None:
            self._main.soon(partial(self._face.live, live))

        if "resume" in self._options:
            return agent.resume(self._options["resume"], on_live=on_live)
        return agent.session(on_live=on_live)

    async def _show(self, events: AsyncGenerator[Recorded, None]) -> Ended:
        from toolwire_client.agent.events import Ended

        self._is_running, self._is_ending = True, False
        try:
            async with aclosing(events):
                async for event in events:
                    await self._main.do(partial(self._face.show, event))
                    if isinstance(event, Ended):
                        return event
        finally:
            self._is_running = False
            self._main.soon(self._face.rest)
        raise AssertionError("every run ends with Ended")

    def _tell(self, text: str) -> None:
        self._main.soon(partial(note, self._face, text))

    def _interrupt(self) -> None:
        """Ctrl-C: end the call under way, or else the run, or else everything."""
        if self._is_running and self._session.cancel_call():
            self._tell("the call is cancelled; Ctrl-C again ends the run")
        elif self._is_running and not self._is_ending:
            self._is_ending = True
            self._session.cancel("Ctrl-C")
        else:
            self._end()

    def _end(self) -> None:
        self._scope.cancel()

    # --- the person ---

    async def _on_tools_question(self, question: Question) -> dict[str, Any] | NoAnswer:
        return await self._main.do(partial(self._attend, self._person.fill_in, question))

    async def _on_model_question(self, question: Question) -> str | None:
        return await self._main.do(partial(self._attend, self._person.reply, question))

    async def _on_approval(self, request: ApprovalRequest) -> Verdict:
        return await self._main.do(partial(self._attend, self._person.approve, request))

    def _attend(self, put: Callable[[Any], Any], question: Any) -> Any:
        self._face.rest()
        return put(question)

    # --- settings ---

    def _agent_settings(self) -> dict[str, Any]:
        given = self._options
        if "resume" in given and given.get("transcript", given["resume"]) != given["resume"]:
            raise UsageError("--resume adds to the transcript that it goes on with: leave out --transcript")
        settings: dict[str, Any] = {"budgets": budgets_of(given), "approval": self._approvals()}
        if "tool_timeout" in given:
            settings["tool_seconds"] = given["tool_timeout"]
        if self._is_attended:
            settings["on_ask"] = self._on_model_question
        if (transcript := given.get("resume", given.get("transcript"))) is not None:
            settings["transcript"] = transcript
        return settings | {name: given[name] for name in ("language", "instructions") if name in given}

    def _approvals(self) -> Approvals:
        from toolwire_client.agent import Approvals

        mode = self._options.get("approve", "ask")
        asks = mode == "ask" and self._is_attended
        return Approvals(
            ask=self._on_approval if asks else None,
            allow=("*",) if mode == "all" else tuple(self._options.get("allow", ())),
            deny=tuple(self._options.get("deny", ())),
            nobody="refuse" if mode == "reads" else "pause",
        )

    def _how_to_go_on(self) -> str:
        alone = "" if self._is_attended else "nobody can be asked here, since this is no terminal; "
        file = self._options.get("resume", self._options.get("transcript"))
        how = f"--resume {file} goes on with it" if file else "--transcript FILE keeps a run that is to go on later"
        return f"{alone}{how}"
