"""`toolwire ask` and `toolwire chat`: from a command line to an agent's run, and to whoever sits at the terminal."""

from __future__ import annotations

import io
import os
import shlex
import sys
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing
from functools import partial
from typing import TYPE_CHECKING, Any

from toolwire_tools.suggestions import unknown

from .errors import Failed, UsageError
from .show import Style, printable, tools_table, width

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from toolwire_client import AsyncClient, ClientError, NoAnswer, Question, Servers
    from toolwire_client.agent import Agent, ApprovalRequest, Approvals, Recorded, Session, Verdict
    from toolwire_client.agent.events import Ended
    from toolwire_client.models import Model
    from toolwire_client.terminal import Face

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
    question = sys.stdin.read() if given == ["-"] else given[0] if given else None
    if question is not None and not question.strip():
        raise UsageError("the question is empty")
    return question


class _Exchange:
    """What one command sets up: a model, servers, an agent, and the terminal."""

    def __init__(self, words: Words, own: Callable[[list[str]], list[str]]) -> None:
        from toolwire_client.models import HumanModel
        from toolwire_client.terminal import Keyboard, MainThread, Person

        self._options = options = words.options
        self._servers = _Servers(words, own)
        self._model = _model(options)
        # A program that reads events has no way to answer.
        self._is_attended = sys.stdin.isatty() and sys.stderr.isatty() and not options.get("json")
        self._face = _face(options, thinks=not isinstance(self._model, HumanModel))
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
            _note(self._face, "Ctrl-D or /quit ends the chat")
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
                self._tools = await self._servers.start(stack, on_ask, self._tell)
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
        self._main.soon(partial(_note, self._face, text))

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
        from toolwire_client.agent import Budgets

        given = self._options
        if "resume" in given and given.get("transcript", given["resume"]) != given["resume"]:
            raise UsageError("--resume adds to the transcript that it goes on with: leave out --transcript")
        limits = {"turns": "max_turns", "tokens": "max_tokens", "seconds": "timeout"}
        try:
            budgets = Budgets(**{name: given[option] for name, option in limits.items() if option in given})
        except ValueError as error:
            raise UsageError(f"the limits are too small: {error}") from None
        settings: dict[str, Any] = {"budgets": budgets, "approval": self._approvals()}
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


class _Servers:
    """The servers of a command line."""

    def __init__(self, words: Words, own: Callable[[list[str]], list[str]]) -> None:
        self._config: str | None = words.options.get("config")
        self._commands = {text: _command(text) for text in words.options.get("server", ())}
        if words.command is not None:
            if not words.command:
                raise UsageError("the server's command is missing after `--`")
            self._commands[shlex.join(words.command)] = words.command
        targets = words.options.get("tools", [])
        self._own = shlex.join(["toolwire", "serve", *targets]) if targets else None
        if self._own:
            self._commands[self._own] = own(targets)

    async def start(self, stack: AsyncExitStack, on_ask: Any, tell: Callable[[str], object]) -> dict[str, AsyncClient]:
        """Return the clients of all of them, which *stack* closes.

        One that was typed has to start; of a file's, those are told that do not.
        """
        from toolwire_client import ServersOpening, connect

        openings = {
            text: connect(
                command,
                # Whoever types a command expects it to see their environment.
                inherit_env=True,
                # Our own says why it cannot load a target, and shows tracebacks of the user's tools.
                show_stderr=text == self._own,
                era="modern" if text == self._own else "auto",
                restart=True,
                on_ask=on_ask,
            )
            for text, command in self._commands.items()
        }
        configured = await stack.enter_async_context(self._configured(on_ask))
        for name, error in configured.errors.items():
            tell(f"{name} does not start: {error}")
        typed: Servers[AsyncClient] = await stack.enter_async_context(ServersOpening(openings, {}))
        for text, error in typed.errors.items():
            raise self._failure(text, error)
        clients = dict(configured)
        for client in typed.values():
            clients[_free(str(client.server_info.get("name") or "server"), clients)] = client
        return clients

    def _configured(self, on_ask: Any) -> AbstractAsyncContextManager[Servers[AsyncClient]]:
        from toolwire_client import BadConfiguration, connect_config

        try:
            return connect_config(self._config or {"mcpServers": {}}, restart=True, on_ask=on_ask)
        except BadConfiguration as error:
            raise UsageError(str(error)) from None
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise UsageError(f"cannot read {self._config}: {reason}") from None

    def _failure(self, text: str, error: ClientError) -> Failed:
        from toolwire_client import NotStarted, ServerGone

        if text == self._own and isinstance(error, ServerGone):
            refused = error.exit_status == 2  # and it has said why
            return Failed("" if refused else error.reason, 2 if refused else 1)
        return Failed(printable(f"{text} does not start: {error}"), 2 if isinstance(error, NotStarted) else 1)


def _note(face: Face, text: str) -> None:
    from toolwire_client.terminal import Line

    face.tell(Line("note", printable(text)))


def _command(text: str) -> list[str]:
    try:
        command = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--server wants a command, and in {text!r} there is {str(error).lower()}") from None
    if not command:
        raise UsageError('--server wants a command, as in --server "npx -y some-mcp-server"')
    return command


def _free(name: str, taken: dict[str, Any]) -> str:
    """*name*, with a number behind it if another server is called so."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


def _model(options: dict[str, Any]) -> Model:
    from toolwire_client.models import ModelError, known_names, model_from_name

    if "model" not in options:
        raise UsageError(f"say which model to ask, with --model NAME. Known: {', '.join(known_names())}")
    settings = {"base_url": options["base_url"]} if "base_url" in options else {}
    try:
        return model_from_name(options["model"], **settings)
    except (ModelError, OSError) as error:
        raise UsageError(str(error)) from None


def _face(options: dict[str, Any], *, thinks: bool) -> Face:
    from toolwire_client.terminal import JsonFace, PlainFace

    if options.get("json"):
        return JsonFace(sys.stdout, sys.stderr)
    plain = PlainFace(sys.stdout, sys.stderr)
    if not (sys.stdout.isatty() and sys.stderr.isatty()) or os.environ.get("TERM") == "dumb":
        return plain
    try:
        from toolwire_client.terminal.rich_face import RichFace
    except ImportError:
        _note(plain, "with rich this looks better: pip install 'toolwire[agent]'")
        return plain
    return RichFace(thinks=thinks)
