"""The server that is looked at: starts it, keeps its lists, and makes calls for the page.

Strategy. All of this runs on one event loop. Lists are read when the server is ready or reports a change, never for a
request of the page, so that the page costs the server nothing. The methods that answer the page are named in `app.py`.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import anyio
import msgspec
from toolwire_client.async_client import AsyncClient, ClientSettings
from toolwire_client.contract.cases.named_rules import structure_fault
from toolwire_client.errors import ClientError, RequestFailed
from toolwire_client.pages.results import result_html
from toolwire_client.session.elicitation import NoAnswer, misfit
from toolwire_client.waiting.event_loop import OnEventLoop, loop_scheduler
from toolwire_schemas.lint.audit import audit

from ..upstream.guarded_process import guarded
from ..wrapping.recording import Recorder
from . import checking
from .guard import Rejected
from .snippets import snippets
from .traffic import Traffic

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectSendStream
    from toolwire_client.protocol.events import LogEntry
    from toolwire_client.session.elicitation import Answer, Question

    from .traffic import Feed

Object = dict[str, Any]
Write = Callable[[Object], Awaitable[object]]

LISTS = ("tools", "resources", "templates", "prompts")
_LIST_SECONDS = 30.0
_PAUSE_SECONDS = 0.2
"""Between two readings of the lists, for a server that reports changes without end."""
MAX_CALLS = 100
MAX_UNREAD = 1000
"""How many events of a call wait for a slow page; further progress and log messages are dropped."""


class _Call:
    """An open call."""

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self.sink, self.events = anyio.create_memory_object_stream[Object](MAX_UNREAD)

    def tell(self, kind: str, **members: Any) -> None:
        with suppress(anyio.WouldBlock, anyio.BrokenResourceError, anyio.ClosedResourceError):
            self.sink.send_nowait({"type": kind, **members})


_current: ContextVar[_Call | None] = ContextVar("current", default=None)


class InspectedServer:
    """The server that *command* starts; what happens goes to *feed*. One of a *target* speaks the newest revision."""

    def __init__(self, command: list[str], target: str | None, feed: Feed, *, is_ours: bool) -> None:
        self._command, self._target, self._feed, self._traffic = command, target, feed, Traffic(feed)
        self._status, self._problem, self._end = "starting", "", ""
        self._transport: Recorder | None = None
        self._lists: dict[str, list[Any]] = {name: [] for name in LISTS}
        self._findings: dict[str, list[Object]] = {}
        self._starting, self._checking, self._changed = anyio.Lock(), anyio.Lock(), anyio.Event()
        self._numbers = map(str, itertools.count(1))
        self._calls: dict[str, _Call] = {}
        self._questions: dict[str, tuple[Question, MemoryObjectSendStream[Any]]] = {}
        soon = self._soon = loop_scheduler()
        self._settings = ClientSettings(
            launch=self._launch,
            era="modern" if is_ours else "auto",
            on_ask=self._ask,
            on_log=lambda entry: soon(partial(self._log, entry)),
            on_list_changed=lambda what: soon(lambda: self._changed.set()),
        )
        self._client = AsyncClient(self._settings, OnEventLoop())

    # --- its life ---

    async def run(self) -> None:
        """Start the server, and read its lists whenever they change, until cancelled; then end it."""
        try:
            await self.restart()
            while True:
                await self._changed.wait()
                self._changed = anyio.Event()
                if self._status == "ready":
                    await self._read_lists()
                    self._feed.add("changed")
                await anyio.sleep(_PAUSE_SECONDS)
        finally:
            with anyio.CancelScope(shield=True):
                await self._client.close()

    async def restart(self) -> Object:
        """Start the server, again if it has been; calls that are open fail."""
        self._tell("starting")
        await self._client.close()  # first, since it may hang while it starts
        async with self._starting:
            self._tell("starting")
            self._client = AsyncClient(self._settings, OnEventLoop())
            try:
                await self._client.__aenter__()
                await self._read_lists()
                self._tell("ready")
                self._ended()
            except (ClientError, OSError) as error:
                self._tell("ended", str(error))
            self._feed.add("changed")
        return {}

    def _launch(self) -> Recorder:
        process = guarded(self._command, env=dict(os.environ), show_stderr=self._traffic.stderr)
        self._transport = Recorder(process, self._traffic, self._command, lambda gone: self._soon(self._ended))
        return self._transport

    def _ended(self) -> None:
        if self._status == "ready" and (end := self._client.end) is not None:
            self._tell("ended", str(getattr(end, "reason", end)))

    def _tell(self, status: str, end: str = "") -> None:
        self._status, self._end = status, end
        stderr = "" if self._transport is None else self._transport.stderr_tail()
        self._feed.add("status", status=status, problem=end or self._problem, stderr=stderr)

    def _ready(self) -> AsyncClient:
        if self._status != "ready":
            raise Rejected(409, f"the server does not run: {self._end}" if self._end else "the server is starting")
        return self._client

    def _log(self, entry: LogEntry) -> None:
        for call in self._calls.values() if entry.source == "server" else ():
            call.tell("log", level=entry.level, logger=entry.logger, data=entry.data)

    # --- its lists ---

    async def _read_lists(self) -> None:
        client, lists, findings, problems = self._client, dict[str, list[Any]](), dict[str, list[Object]](), []
        reads: list[Any] = [client.list_entries, client.list_resources]
        reads += [client.list_resource_templates, client.list_prompts]
        for name, read in zip(LISTS, reads, strict=True):
            try:
                lists[name] = [getattr(entry, "raw", entry) for entry in await read(timeout_seconds=_LIST_SECONDS)]
            except ClientError as error:
                problems.append(f"{name}: {error}")
        for finding in await anyio.to_thread.run_sync(audit, lists.get("tools", [])):
            told = {"rule": finding.where, "message": f"{finding.problem}; {finding.remedy}"}
            more = {"severity": finding.severity, "applies_to": finding.concerns.split(", ")}
            findings.setdefault(finding.tool, []).append({**told, **more})
        # All at once: the page may ask in between.
        self._lists = {name: lists.get(name, []) for name in LISTS}
        self._findings, self._problem = findings, "; ".join(problems)

    def state(self) -> Object:
        """Return what the page shows of the server."""
        client = self._client
        details: Object = {name: client.server_info.get(name) for name in ("name", "version")}
        details |= {"revision": client.version, "capabilities": client.capabilities, "pid": client.pid}
        tools = [
            entry if isinstance(entry, dict) and entry.get("name") else {"name": f"#{place}"}
            for place, entry in enumerate(self._lists["tools"], start=1)
        ]
        return {
            **self._lists,
            "status": self._status,
            "problem": self._end or self._problem,
            "server": {**details, "instructions": client.instructions} if self._status == "ready" else None,
            "tools": [{"tool": tool, "findings": self._findings.get(str(tool["name"]), [])} for tool in tools],
        }

    def _schema(self, tool: str, member: str) -> Any:
        entries = [entry for entry in self._lists["tools"] if isinstance(entry, dict) and entry.get("name") == tool]
        return entries[0].get(member) if entries else None

    # --- calls ---

    async def call(self, write: Write, tool: str, arguments: Object) -> None:
        """Call a tool, and write what happens until its end. The call is cancelled with the caller."""
        client, id, call = self._ready(), next(self._numbers), _Call()
        if len(self._calls) >= MAX_CALLS:
            raise Rejected(409, f"{MAX_CALLS} calls are open: wait for one, or cancel one")
        self._calls[id] = call
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._call, client, call, tool, arguments)
                await write({"type": "started", "call": id})
                async for event in call.events:
                    await write(event)
        finally:
            del self._calls[id]

    async def _call(self, client: AsyncClient, call: _Call, tool: str, arguments: Object) -> None:
        def progress(done: float, total: float | None, message: str | None) -> None:
            call.tell("progress", progress=done, total=total, message=message)

        _current.set(call)
        start = time.perf_counter()
        last: Object = {"type": "cancelled"}
        with call.scope:
            try:
                work = client.call_tool(tool, arguments, on_progress=progress)
                last = {"type": "result", **await _fetched(work, self._schema(tool, "outputSchema"))}
            except (ClientError, ValueError) as error:
                code = error.code if isinstance(error, RequestFailed) else None
                last = {"type": "failure", "message": str(error), "code": code}
        async with call.sink as sink:
            await sink.send({"seconds": time.perf_counter() - start, **last})

    async def cancel(self, call: str) -> Object:
        """Cancel an open call."""
        if call not in self._calls:
            raise Rejected(409, "this call has ended")
        self._calls[call].scope.cancel()
        return {}

    # --- questions ---

    async def _ask(self, question: Question) -> Answer:
        # A legacy server does not say which call asks, and the client lets any request wait for the answer.
        call = _current.get() or next(reversed(self._calls.values()), None)
        if call is None:
            return NoAnswer.DISMISSED
        id, (sink, answers) = next(self._numbers), anyio.create_memory_object_stream[Any](1)
        self._questions[id] = question, sink
        try:
            call.tell("question", question=id, message=question.message, schema=question.schema, url=None)
            answer: Answer = await answers.receive()
            return answer
        finally:
            if self._questions.pop(id, None) is not None:
                call.tell("withdrawn", question=id)

    async def answer(
        self, question: str, action: Literal["accept", "decline", "cancel"], content: Object | None = None
    ) -> Object:
        """Answer an open question, with a *content* that fits its form."""
        if question not in self._questions:
            raise Rejected(409, "this question is no longer open")
        if action == "accept" and (wrong := misfit(content or {}, self._questions[question][0])):
            raise Rejected(409, wrong)
        self._questions.pop(question)[1].send_nowait(content or {} if action == "accept" else NoAnswer(action))
        return {}

    # --- the rest of what the page asks ---

    async def read(self, uri: str) -> Object:
        """Return what a resource holds."""
        return await _fetched(self._ready().read_resource(uri))

    async def prompt(self, name: str, arguments: dict[str, str]) -> Object:
        """Return the messages of a prompt."""
        return await _fetched(self._ready().get_prompt(name, arguments))

    async def complete(self, ref: Object, argument: str, value: str) -> Object:
        """Return the values that the server proposes for an argument of a prompt or a URI template."""
        name = str(ref.get("name", ref.get("uri")))
        return {"values": await self._ready().complete(name, argument, value, timeout_seconds=_LIST_SECONDS)}

    async def snippets(self, tool: str, arguments: Object) -> Object:
        """Return texts that make a call again."""
        return snippets(tool, arguments, self._schema(tool, "inputSchema"), self._target, self._command)

    async def check(self, write: Write, only: list[str], destructive: bool) -> None:
        """Check the server against the contract, and write the verdicts."""
        if self._checking.locked():
            raise Rejected(409, "a check is running: wait for its end, or cancel it")
        async with self._checking:
            options = [word for pattern in only for word in ("--only", pattern)] + ["--destructive"] * destructive
            await checking.check(write, self._command, options)


async def _fetched(work: Awaitable[Any], schema: Any = None) -> Object:
    """Return the result of *work* as the page shows it, judged by its output *schema*."""
    start = time.perf_counter()
    result: Object = (await work).raw
    seconds, problem = time.perf_counter() - start, structure_fault(schema, result)
    problems, size = [problem] if problem else [], len(msgspec.json.encode(result))
    html = await anyio.to_thread.run_sync(partial(result_html, result, problems=problems))
    return {"seconds": seconds, "result": result, "html": html, "problems": problems, "bytes": size}
