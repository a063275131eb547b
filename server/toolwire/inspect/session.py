"""The server that is looked at: starts it, keeps its lists, and makes calls for the page.

Strategy. All of this runs on one event loop. Lists are read when the server is ready or says that they have changed,
never for a request of the page, so that the page costs the server nothing.
"""

from __future__ import annotations

import itertools
import os
import time
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from toolwire_client.async_client import AsyncClient, ClientSettings
from toolwire_client.errors import BrokenRules, ClientError, RequestFailed
from toolwire_client.session.elicitation import NoAnswer, misfit
from toolwire_client.session.request import RequestHandle
from toolwire_client.session.tool_list import pages
from toolwire_client.waiting.deadline import Deadline
from toolwire_client.waiting.event_loop import OnEventLoop, loop_scheduler
from toolwire_schemas.wire.codec import encode

from ..upstream.guarded_process import guarded
from ..wrapping.recording import Recorder
from .traffic import Traffic, now

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from toolwire_client.async_client import Running
    from toolwire_client.errors import ServerGone
    from toolwire_client.protocol.events import LogEntry
    from toolwire_client.session.elicitation import Answer, Question
    from toolwire_client.session.handshake import Era

    from .traffic import Feed

    Object = dict[str, Any]
    Write = Callable[[Object], Awaitable[object]]

LISTS = {"tools": "tools", "resources": "resources", "templates": "resourceTemplates", "prompts": "prompts"}
"""The lists of the page, and the members of the results that hold them."""
_METHODS = {"templates": "resources/templates/list"}

_LIST_SECONDS = 30.0
_MAX_LIST_BYTES = 16 * 1024 * 1024
_PAUSE_SECONDS = 0.2
"""Between two readings of the lists, for a server that reports changes without end."""

MAX_CALLS = 100
_MAX_UNREAD = 1000
"""How many events of a call wait for a slow page; further progress and log messages are dropped."""


class Refused(Exception):
    """A request of the page that cannot be met. The text says why."""


class Call:
    """An open call of the page."""

    def __init__(self, number: int) -> None:
        self.id = str(number)
        self.scope = anyio.CancelScope()
        self.events: MemoryObjectReceiveStream[Object]
        self._sink: MemoryObjectSendStream[Object]
        self._sink, self.events = anyio.create_memory_object_stream(_MAX_UNREAD)

    def tell(self, kind: str, **members: Any) -> None:
        """Have the page see an event, unless too many are unread."""
        with suppress(anyio.WouldBlock, anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._sink.send_nowait({"type": kind, **members})

    async def end(self, kind: str, **members: Any) -> None:
        """Have the page see the last event."""
        await self._sink.send({"type": kind, **members})
        self._sink.close()


_current: ContextVar[Call | None] = ContextVar("current", default=None)


class _OpenQuestion:
    def __init__(self, question: Question) -> None:
        self.question = question
        self.answered = anyio.Event()
        self.answer: Answer = NoAnswer.DISMISSED


class InspectedServer:
    """The server that *command* starts; what happens goes to *feed*. One that *is_ours* speaks the newest revision."""

    def __init__(self, command: Sequence[str], feed: Feed, *, is_ours: bool = False) -> None:
        self.command, self.feed = list(command), feed
        self.status, self.problem = "starting", ""
        self.lists: dict[str, list[Any]] = {name: [] for name in LISTS}
        self.findings: dict[str, list[Object]] = {}
        self.calls: dict[str, Call] = {}
        self._era: Era = "modern" if is_ours else "auto"
        self._traffic = Traffic(feed)
        self._client: AsyncClient | None = None
        self._starting = anyio.Lock()
        self._numbers = itertools.count(1)
        self._questions: dict[str, _OpenQuestion] = {}
        self._changes = anyio.Event()

    # --- its life ---

    async def run(self) -> None:
        """Start the server, and read its lists whenever they change, until cancelled; then end it."""
        self._soon = loop_scheduler()
        try:
            await self.restart()
            while True:
                await self._changes.wait()
                self._changes = anyio.Event()
                if self.status == "ready":
                    await self._read_lists(self.client)
                    self.feed.add("changed")
                await anyio.sleep(_PAUSE_SECONDS)
        finally:
            with anyio.CancelScope(shield=True):
                if self._client is not None:
                    await self._client.close()

    async def restart(self) -> None:
        """Start the server, again if it has been; calls that are open fail."""
        async with self._starting:
            if self._client is not None:
                self._tell("starting", "")  # before the old one ends
                await self._client.close()
            self._client = client = AsyncClient(self._settings(), OnEventLoop())
            try:
                await client.__aenter__()
            except (ClientError, OSError) as error:
                self._tell("ended", str(error))
                return
            await self._read_lists(client)
            end = client.end
            self._tell("ready" if end is None else "ended", self.problem if end is None else _reason(end))
            self.feed.add("changed")

    def _settings(self) -> ClientSettings:
        return ClientSettings(
            launch=self._launch,
            era=self._era,
            on_ask=self._ask,
            on_log=lambda entry: self._soon(partial(self._log, entry)),
            on_list_changed=lambda what: self._soon(self._changed),
        )

    def _launch(self) -> Recorder:
        transport = guarded(self.command, env=dict(os.environ), show_stderr=self._traffic.stderr)
        return Recorder(transport, self._traffic, self.command, lambda gone: self._soon(partial(self._ended, gone)))

    def _ended(self, gone: ServerGone) -> None:
        if self.status == "ready" and self.client.end is not None:
            self._tell("ended", _reason(gone))

    def _changed(self) -> None:
        self._changes.set()

    def _log(self, entry: LogEntry) -> None:
        for call in self.calls.values() if entry.source == "server" else ():
            call.tell("log", level=entry.level, logger=entry.logger, data=entry.data)

    def _tell(self, status: str, problem: str) -> None:
        self.status, self.problem = status, problem
        self.feed.add(
            "status",
            at=now(),
            status=status,
            problem=problem,
            stderr="" if self._client is None else self._client.stderr,
        )

    @property
    def client(self) -> AsyncClient:
        """The client of the running server. Raises `Refused` if none runs."""
        if self._client is None or self.status != "ready":
            raise Refused(f"the server does not run: {self.problem}" if self.problem else "the server is starting")
        return self._client

    # --- its lists ---

    async def _read_lists(self, client: AsyncClient) -> None:
        problems, left = [], [_MAX_LIST_BYTES]
        for name, member in LISTS.items():
            try:
                running = await client.ready(Deadline(_LIST_SECONDS))
                self.lists[name] = await self._read_list(running, name, member, left)
            except (ClientError, ValueError) as error:
                self.lists[name] = []
                problems.append(f"{name}: {error}")
        self.problem = "; ".join(problems)
        self.findings = await anyio.to_thread.run_sync(_findings, self.lists["tools"])

    async def _read_list(self, running: Running, name: str, member: str, left: list[int]) -> list[Any]:
        method = _METHODS.get(name, f"{name}/list")
        if name == "tools" and running.connection.protocol.is_modern and running.handshake.notifies_of_changes:
            running.tool_list.subscribe(running.connection)
        elif name != "tools" and method.partition("/")[0] not in running.handshake.capabilities:
            return []

        def keep(page: list[Any]) -> list[Any]:
            left[0] -= len(encode(page))
            if left[0] < 0:
                raise BrokenRules(f"the server's lists have more than {_MAX_LIST_BYTES} bytes")
            return page

        with RequestHandle(running.connection, OnEventLoop()) as handle:
            entries, _ = await pages(handle, Deadline(_LIST_SECONDS), method, member, keep)
        return entries

    def state(self) -> Object:
        """Return what the page shows of the server."""
        client = self._client if self.status == "ready" else None
        return {
            "status": self.status,
            "problem": self.problem,
            "server": None if client is None else _details(client),
            "tools": [
                {
                    "tool": entry if isinstance(entry, dict) else {"name": f"#{place}"},
                    "findings": self.findings.get(_name(entry, place), []),
                }
                for place, entry in enumerate(self.lists["tools"], start=1)
            ],
            **{name: [entry for entry in self.lists[name] if isinstance(entry, dict)] for name in [*LISTS][1:]},
        }

    def tool(self, name: str) -> Object:
        """Return the entry of the tool *name*, empty if it is not listed."""
        found = (entry for entry in self.lists["tools"] if isinstance(entry, dict) and entry.get("name") == name)
        return next(found, {})

    # --- calls ---

    async def call(self, write: Write, tool: str, arguments: Object) -> None:
        """Call a tool, and write what happens until its end. The call is cancelled with the caller."""
        client = self.client
        with self._open_call() as call:
            call.tell("started", call=call.id)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._call, client, call, tool, arguments)
                async for event in call.events:
                    await write(event)

    @contextmanager
    def _open_call(self) -> Iterator[Call]:
        if len(self.calls) >= MAX_CALLS:
            raise Refused(f"{MAX_CALLS} calls are open: wait for one, or cancel one")
        call = Call(next(self._numbers))
        self.calls[call.id] = call
        try:
            yield call
        finally:
            del self.calls[call.id]

    async def _call(self, client: AsyncClient, call: Call, tool: str, arguments: Object) -> None:
        def progress(done: float, total: float | None, message: str | None) -> None:
            call.tell("progress", progress=done, total=total, message=message)

        _current.set(call)
        start = time.perf_counter()
        members: Object = {}
        kind = "cancelled"
        with call.scope:
            try:
                result = (await client.call_tool(tool, arguments, on_progress=progress)).raw
                seconds = time.perf_counter() - start
                shown = await anyio.to_thread.run_sync(_shown, result, self.tool(tool).get("outputSchema"))
                kind, members = "result", {"result": result, "seconds": seconds, **shown}
            except (ClientError, ValueError, TypeError) as error:
                kind, members = "failure", failure(error)
        await call.end(kind, **{"seconds": time.perf_counter() - start, **members})

    def cancel(self, call: str) -> None:
        """Cancel an open call."""
        if call not in self.calls:
            raise Refused("this call has ended")
        self.calls[call].scope.cancel()

    # --- questions ---

    async def _ask(self, question: Question) -> Answer:
        # A legacy server does not say which call asks, and the client lets any request wait for the answer.
        call = _current.get() or next(reversed(self.calls.values()), None)
        if call is None:
            return NoAnswer.DISMISSED
        id, asked = str(next(self._numbers)), _OpenQuestion(question)
        self._questions[id] = asked
        call.tell("question", question=id, message=question.message, schema=question.schema, url=None)
        try:
            await asked.answered.wait()
        finally:
            del self._questions[id]
            if not asked.answered.is_set():
                call.tell("withdrawn", question=id)
        return asked.answer

    def answer(self, question: str, action: str, content: Object) -> None:
        """Answer an open question. Raises `Refused` if it is not open, or *content* does not fit its form."""
        if (asked := self._questions.get(question)) is None or asked.answered.is_set():
            raise Refused("this question is no longer open")
        if action == "accept":
            if wrong := misfit(content, asked.question):
                raise Refused(wrong)
            asked.answer = content
        else:
            asked.answer = NoAnswer(action)
        asked.answered.set()

    # --- resources and prompts ---

    async def read(self, uri: str) -> Object:
        """Return what a resource holds, as the page shows it."""
        return await self._shown(self.client.read_resource(uri))

    async def prompt(self, name: str, arguments: dict[str, str]) -> Object:
        """Return the messages of a prompt, as the page shows them."""
        return await self._shown(self.client.get_prompt(name, arguments))

    async def complete(self, ref: Object, argument: str, value: str) -> list[str]:
        """Return the values that the server proposes; none if it fails."""
        name = str(ref.get("name", ref.get("uri")))
        return await self.client.complete(name, argument, value, timeout_seconds=_LIST_SECONDS)

    async def _shown(self, work: Awaitable[Any]) -> Object:
        start = time.perf_counter()
        try:
            result = (await work).raw
        except ClientError as error:
            return {"failure": str(error)}
        seconds = time.perf_counter() - start
        shown = await anyio.to_thread.run_sync(_shown, result, None)
        return {"seconds": seconds, "result": result, **shown}


def failure(error: Exception) -> Object:
    """Return the members of an event about *error*."""
    return {"message": str(error), "code": error.code if isinstance(error, RequestFailed) else None}


def _reason(error: ClientError) -> str:
    return str(getattr(error, "reason", error))


def _details(client: AsyncClient) -> Object:
    info = client.server_info
    return {
        "name": info.get("name"),
        "version": info.get("version"),
        "revision": client.version,
        "capabilities": client.capabilities,
        "instructions": client.instructions,
        "pid": client.pid,
    }


def _name(entry: Any, place: int) -> str:
    """Return what findings call the *entry* at a *place*."""
    name = entry.get("name") if isinstance(entry, dict) else None
    return name if isinstance(name, str) and name else f"#{place}"


def _findings(entries: list[Any]) -> dict[str, list[Object]]:
    """Return what is wrong with the *entries* of a list of tools, by their names."""
    from toolwire_schemas.lint.audit import audit

    found: dict[str, list[Object]] = {}
    for finding in audit(entries):
        told = {"rule": finding.where, "severity": finding.severity, "message": f"{finding.problem}; {finding.remedy}"}
        applies_to = finding.concerns.split(", ") if finding.concerns else []
        found.setdefault(finding.tool, []).append({**told, "applies_to": applies_to})
    return found


def _shown(result: Object, schema: Any) -> Object:
    """Return a *result* as the page shows it, and what about it does not fit the output *schema*."""
    from toolwire_client.pages.results import result_html
    from toolwire_client.validation import LenientValidator

    problems: list[str] = []
    if isinstance(schema, dict) and not result.get("isError"):
        if "structuredContent" not in result:
            problems = ["the tool has an output schema, but its result has no structuredContent"]
        else:
            judge = LenientValidator(schema)
            faults = judge.faults(result["structuredContent"], "structuredContent")
            problems = [f"{place}: {sentence}" for place, sentence in faults]
            problems += [f"not judged: {judge.trouble}"] if judge.trouble else []
    return {"html": result_html(result, problems=problems), "problems": problems, "bytes": len(encode(result))}
