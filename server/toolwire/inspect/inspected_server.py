"""The server that is looked at: starts it, keeps its lists, and makes calls for the page.

Strategy. All of this runs on one event loop. Lists are read when the server is ready or reports a
change, never for a request of the page, so that the page costs the server nothing. A check is busy
with the processor for a minute, and starts servers that may hang: its own process keeps the page
quick, and is killed with all that it has started. The methods that answer the page are named in
`app.py`; a `ClientError` says why they do not.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from toolwire_check.judging.named_rules import find_structure_fault
from toolwire_client.async_client import AsyncClient, ClientSettings
from toolwire_client.errors import BrokenRules, ClientError, RequestFailed, TimedOut
from toolwire_client.pages.result_html import write_result_html
from toolwire_client.remote import as_process
from toolwire_client.session.elicitation import NoAnswer, find_misfit
from toolwire_client.waiting.event_loop import OnEventLoop, make_loop_scheduler
from toolwire_dialects.lint.audit import audit, name_entry
from toolwire_schemas.json_schema.bounded_validator import TooExpensive
from toolwire_schemas.output import make_printable
from toolwire_schemas.tokens import estimate_tokens, write_text_for_models
from toolwire_schemas.wire.codec import EncodingError, decode, encode

from .. import log
from ..errors import UsageError
from ..guarded_process import start_guarded
from ..wrapping.recording import Recorder
from .edits import Edits, reload_command, wait_for_edit
from .form_nodes import FormNode, write_form
from .history import CallHistory
from .mounted_servers import list_known, watch_mounts
from .saved_calls import FILE, SavedCall, read_calls, write_call
from .snippets import write_snippets
from .traffic import Feed, Traffic

if TYPE_CHECKING:
    from toolwire_client.protocol.events import LogEntry
    from toolwire_client.session.elicitation import Elicitation
    from toolwire_client.session.handshake import Era
    from toolwire_client.waiting.base import Inbox

    from ..guarded_process import GuardedProcess

Object = dict[str, Any]
Work = Callable[[Feed], Awaitable[Any]]
"""Adds events to a feed until its end."""

_LIST_SECONDS = 30.0
_PAUSE_SECONDS = (
    0.2  # between two readings of the lists, for a server that reports changes without end
)
MAX_OPEN = 100

_current: ContextVar[Feed | None] = ContextVar("current", default=None)


class InspectedServer:
    """The server of the command in *state*: what the page shows of it goes there, and what happens
    to *feed*.
    """

    def __init__(self, feed: Feed, state: Object, era: Era) -> None:
        self._feed, self._state, self._command, self._traffic = (
            feed,
            state,
            state["command"],
            Traffic(feed, self._read_stderr),
        )
        self._edits = Edits()
        self._history = CallHistory()
        self._open: list[Feed] = []  # of requests of the page
        self._questions: dict[str, tuple[Elicitation, Inbox]] = {}
        self._check: GuardedProcess | None = None
        self._soon, self._changed = make_loop_scheduler(), anyio.Event()
        self._settings = ClientSettings(
            launch=self._launch,
            era=era,
            on_ask=self._ask,
            on_log=self._log,
            on_list_changed=self._wake,
            takes_tasks=True,
        )

    async def run(self) -> None:
        """Start the server, again for `restart`, and read its lists whenever they change, until
        cancelled.
        """
        try:
            while True:
                with anyio.CancelScope() as self._life:
                    await self._live()
                    await anyio.sleep_forever()
        finally:
            if self._check is not None:
                self._check.kill()

    async def _live(self) -> None:
        try:
            async with AsyncClient(self._settings, OnEventLoop()) as client:
                self._client = client
                async with anyio.create_task_group() as tasks:
                    if self._state["servers"]:
                        self._report_mounts(None)
                        tasks.start_soon(watch_mounts, client, self._report_mounts)
                    end = await self._follow(client)
                    tasks.cancel_scope.cancel()
            self._tell("ended", end)
        except (ClientError, OSError) as error:
            self._tell("ended", str(error))
        if self._state["reloads"]:
            await wait_for_edit(self._state["reloads"])
            await self.restart()

    async def _follow(self, client: AsyncClient) -> str:
        """Read the lists whenever they change, until the server ends; return why it did."""
        server = {**client.server_info, "revision": client.version, "pid": client.pid}
        try:
            while client.end is None:
                self._changed = anyio.Event()
                self._tell("ready", await self._read_lists(client), server)
                await self._changed.wait()
                await anyio.sleep(_PAUSE_SECONDS)
        except ClientError as error:
            return str(error)
        return str(client.end)

    def _report_mounts(self, reports: list[Object] | None) -> None:
        """Show which mounted servers have listed nothing, and why; with no *reports*, all start."""
        if reports is None:
            unlisted = [{"prefix": prefix, "problem": ""} for prefix in self._state["servers"]]
        else:
            unlisted = [each for each in reports if each["problem"] or each["is_starting"]]
        self._state["unlisted"] = unlisted
        self._changed.set()

    def _read_stderr(self, line: str) -> None:
        if self._state["reloads"] and self._edits.read(line):
            self._state["edit"] = self._edits.describe()
            if self._edits.problem:
                self._feed.add(
                    "status", status=self._state["status"], problem=self._state["problem"]
                )
            else:
                self._changed.set()

    async def restart(self) -> None:
        """Start the server, again if it runs; calls that are open fail."""
        self._tell("starting")
        self._life.cancel()

    def _launch(self) -> Recorder:
        command = self._command
        if self._state["reloads"]:
            command = reload_command(command)
        process = start_guarded(
            as_process(command), env=dict(os.environ), show_stderr=self._traffic
        )
        return Recorder(process, self._traffic, self._command, self._wake)

    def _wake(self, cause: object) -> None:
        self._soon(lambda: self._changed.set())

    def _tell(self, status: str, problem: str = "", server: Object | None = None) -> None:
        if problem not in ("", self._state["problem"]):
            log.warning(make_printable(problem))
        self._state.update(status=status, problem=problem, server=server)
        self._feed.add("status", status=status, problem=problem)

    def _get_client(self) -> AsyncClient:
        if self._state["status"] != "ready":
            raise ClientError(self._state["problem"] or "the server is starting")
        return self._client

    def _log(self, entry: LogEntry) -> None:
        for feed in [*self._open] if entry.source == "server" else ():
            self._soon(
                partial(feed.add, "log", level=entry.level, logger=entry.logger, data=entry.data)
            )

    async def _ask(self, question: Elicitation) -> Any:
        # A legacy server does not say which call asks, and the client lets any request wait for the
        # answer.
        feed = _current.get() or (self._open[-1] if self._open else None)
        if feed is None:
            return NoAnswer.DISMISSED
        id, answers = secrets.token_hex(8), OnEventLoop().make_inbox()
        self._questions[id] = question, answers
        try:
            form = write_form(question.schema or {})
            feed.add("question", question=id, message=question.message, form=form)
            return await answers.receive(None)
        finally:
            if self._questions.pop(id, None) is not None:
                feed.add("withdrawn", question=id)

    async def _read_lists(self, client: AsyncClient) -> str:
        """Read all lists into the state, and return what is wrong with them."""
        lists, problems = dict[str, list[Any]](), []
        for name, read in _choose_readers(client, has_mounts=bool(self._state["servers"])).items():
            try:
                lists[name] = [
                    getattr(entry, "raw", entry)
                    for entry in await read(timeout_seconds=_LIST_SECONDS)
                ]
                encode(
                    lists[name]
                )  # what is nested too deeply for the page is an error of this list
            except (BrokenRules, EncodingError, RequestFailed, TimedOut) as error:
                lists[name] = []
                problems.append(f"{name}: {error}")
        findings = await anyio.to_thread.run_sync(audit, lists["tools"])
        tools = []
        for number, tool in enumerate(lists["tools"]):
            members = tool if isinstance(tool, dict) else {}
            tools.append({**members, "name": name_entry(tool, number)})
        lists["tools"] = tools
        forms = await anyio.to_thread.run_sync(_write_forms, tools)
        # All at once: the page may ask in between.
        tokens = [estimate_tokens(write_text_for_models(tool)) for tool in tools]
        self._state.update(lists, forms=forms, findings=findings, tokens=tokens)
        return "; ".join(problems)

    async def call(self, tool: str, arguments: Object) -> Work:
        """Call a tool."""
        schema = next(
            (each.get("outputSchema") for each in self._state["tools"] if each["name"] == tool),
            None,
        )
        send = partial(self._get_client().call_tool, tool, arguments)
        return partial(self._call, tool, arguments, partial(self._request, send, schema))

    async def _call(self, tool: str, arguments: Object, work: Work, feed: Feed) -> None:
        """Do the *work* of a call, and keep how it ended."""
        start = time.perf_counter()
        ended: Object = {"outcome": "cancelled"}
        try:
            result, problems = await work(feed)
            outcome = "error" if problems or result.get("isError") is True else "success"
            ended = {"outcome": outcome, "result": result, "problems": problems}
        except (ClientError, ValueError, RecursionError) as error:
            ended = {"outcome": "failure", "message": str(error)}
            raise
        finally:
            seconds = time.perf_counter() - start
            self._history.add(tool, arguments, seconds, **ended)
            self._feed.add("history")

    async def read(self, uri: str) -> Work:
        """Read a resource."""
        return partial(self._request, partial(self._get_client().read_resource, uri), None)

    async def prompt(self, name: str, arguments: dict[str, str]) -> Work:
        """Get the messages of a prompt."""
        return partial(self._request, partial(self._get_client().get_prompt, name, arguments), None)

    async def _request(
        self, send: Callable[..., Awaitable[Any]], schema: Any, feed: Feed
    ) -> tuple[Object, list[str]]:
        """Add the events of the request that *send* makes, and its result, judged by its output
        *schema*; return the result and what is wrong with it.
        """

        def progress(done: float, total: float | None, message: str | None) -> None:
            feed.add("progress", progress=done, total=total, message=message)

        if len(self._open) >= MAX_OPEN:
            raise ClientError(f"{MAX_OPEN} calls are open: wait for one, or cancel one")
        self._open.append(feed)
        _current.set(feed)
        start = time.perf_counter()
        try:
            fault = ""
            try:
                result: Object = (await send(on_progress=progress)).raw
            except BrokenRules as error:
                if not isinstance(error.raw, dict):
                    raise
                result, fault = error.raw, str(error)
            seconds, size = time.perf_counter() - start, len(encode(result))
            problems, note = _judge_structure(schema, result)
            write_html = partial(
                write_result_html, result, problems=problems, fault=fault, note=note
            )
            html = await anyio.to_thread.run_sync(write_html)
            feed.add(
                "result",
                seconds=seconds,
                bytes=size,
                result=result,
                html=html,
                problems=[*problems, fault] if fault else problems,
            )
            return result, problems
        finally:
            self._open.remove(feed)

    async def answer(self, question: str, answer: Object | NoAnswer) -> None:
        """Answer an open question, with fields that fit its form."""
        if question not in self._questions:
            raise ClientError("this question is no longer open")
        if isinstance(answer, dict) and (
            wrong := find_misfit(answer, self._questions[question][0])
        ):
            raise ClientError(wrong)
        self._questions.pop(question)[1].put(answer)

    async def complete(self, name: str, argument: str, value: str) -> Object:
        """Return the values that the server proposes for an argument of a prompt or a URI
        template.
        """
        return {
            "values": await self._get_client().complete(
                name, argument, value, timeout_seconds=_LIST_SECONDS
            )
        }

    async def snippets(self, tool: str, arguments: Object) -> Object:
        """Return texts that make a call again."""
        tools = self._state["tools"]
        return write_snippets(tool, arguments, self._state["target"], self._command, tools)

    async def history(self) -> Object:
        """Return the saved calls, and those that were made, without results."""
        saved, problem = dict[str, SavedCall](), ""
        try:
            saved = read_calls()
        except UsageError as error:
            problem = str(error)
        rows = [
            {"name": name, "tool": call.tool, "arguments": call.arguments}
            for name, call in saved.items()
        ]
        file = FILE.as_posix()
        return {"saved": rows, "calls": self._history.list_rows(), "file": file, "problem": problem}

    async def past(self, id: int) -> Object:
        """Return the arguments and the result of a call that was made."""
        call = self._history.find(id)
        html = ""
        if call.result is not None:
            show = partial(write_result_html, call.result, problems=call.problems)
            html = await anyio.to_thread.run_sync(show)
        return {
            "arguments": call.arguments,
            "result": call.result,
            "message": call.message,
            "html": html,
        }

    async def pin(self, id: int, pinned: bool) -> None:
        """Keep a call when older ones make room, or no longer."""
        self._history.find(id).is_pinned = pinned

    async def keep(self, id: int, name: str) -> None:
        """Save a call under a *name*."""
        past = self._history.find(id)
        target = self._state["target"]
        command = None if target is not None else self._command
        write_call(name, SavedCall(past.tool, past.arguments, target, command))

    async def forget(self, name: str) -> None:
        """Remove a saved call."""
        write_call(name, None)

    async def check(self, only: list[str], destructive: bool) -> Work:
        """Check the server against the contract, and add the verdicts."""
        options = [word for pattern in only for word in ("--only", pattern)] + [
            "--destructive"
        ] * destructive
        return partial(self._run_check, options)

    async def _run_check(self, options: list[str], feed: Feed) -> None:
        if self._check is not None:
            raise ClientError("a check is running: wait for its end, or cancel it")
        arrived, rest = OnEventLoop().make_inbox(), b""
        words = [
            sys.executable,
            "-P",
            "-m",
            "toolwire",
            "check",
            "--events",
            *options,
            "--",
            *self._command,
        ]
        process = self._check = start_guarded(words, env=dict(os.environ))
        process.start(arrived.put, arrived.put)
        try:
            while isinstance(data := await arrived.receive(None), bytes):
                *lines, rest = (rest + data).split(b"\n")
                for event in map(decode, lines):
                    feed.add("report" if "report" in event else "verdict", **event)
                    if "report" in event:
                        return
            feed.add(
                "failure", message=process.get_stderr_tail().removeprefix("toolwire: ") or str(data)
            )
        finally:
            self._check = None
            process.kill()
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(process.close)


def _choose_readers(client: AsyncClient, *, has_mounts: bool) -> dict[str, Callable[..., Any]]:
    """Return what reads each list of the state."""
    if not has_mounts:
        return {
            "tools": client.list_entries,
            "resources": client.list_resources,
            "templates": client.list_resource_templates,
            "prompts": client.list_prompts,
        }
    return {
        "tools": partial(list_known, client, "tools/list", "tools"),
        "resources": partial(list_known, client, "resources/list", "resources"),
        "templates": partial(list_known, client, "resources/templates/list", "resourceTemplates"),
        "prompts": partial(list_known, client, "prompts/list", "prompts"),
    }


def _write_forms(tools: list[Object]) -> list[list[FormNode | None]]:
    return [write_form(tool.get("inputSchema", {})) for tool in tools]


def _judge_structure(schema: Any, result: Object) -> tuple[list[str], str]:
    """Return what is wrong with a *result* by its output *schema*, and why that is not known."""
    try:
        fault = find_structure_fault(schema, result)
    except TooExpensive as error:
        return [], f"Not checked against the output schema: {error}."
    if fault is None:
        return [], ""
    return [fault], ""
